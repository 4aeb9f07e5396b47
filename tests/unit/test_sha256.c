/* SHA-256 and HMAC: the vectors of FIPS 180-4, RFC 4231, and any cut of the
 * input into pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/sha256.h"

static void vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hash;
    } cases[] = {
        {"",
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char out[SHA256_HEX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sha256_text(cases[i].text, strlen(cases[i].text), out);
        assert_string_equal(out, cases[i].hash);
    }
}

static void a_million(void **state)
{
    (void)state;
    struct sha256 h;
    unsigned char hash[SHA256_BYTES];
    char out[SHA256_HEX], a[1000];
    memset(a, 'a', sizeof a);
    sha256_init(&h);
    for (int i = 0; i < 1000; i++)
        sha256_add(&h, a, sizeof a);
    sha256_end(&h, hash);
    sha256_hex(hash, out);
    assert_string_equal(
        out,
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Every length around the block, whole and in two pieces. */
static void any_cut(void **state)
{
    (void)state;
    unsigned char bytes[200], hash[SHA256_BYTES];
    char whole[SHA256_HEX], cut[SHA256_HEX];
    struct sha256 h;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + 1);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        sha256_text(bytes, n, whole);
        for (size_t at = 0; at <= n; at++) {
            sha256_init(&h);
            sha256_add(&h, bytes, at);
            sha256_add(&h, bytes + at, n - at);
            sha256_end(&h, hash);
            sha256_hex(hash, cut);
            assert_string_equal(whole, cut);
        }
    }
}

static void mac(const void *key, size_t n_key, const void *text, size_t n,
                const char *want)
{
    struct hmac h;
    unsigned char hash[SHA256_BYTES];
    char out[SHA256_HEX];
    hmac_init(&h, key, n_key);
    hmac_add(&h, text, n / 2);
    hmac_add(&h, (const char *)text + n / 2, n - n / 2);
    hmac_end(&h, hash);
    sha256_hex(hash, out);
    assert_string_equal(out, want);
}

static void hmac_vectors(void **state)
{
    (void)state;
    unsigned char key[131];
    memset(key, 0x0b, 20);
    mac(key, 20, "Hi There", 8,
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    mac("Jefe", 4, "what do ya want for nothing?", 28,
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    mac(key, sizeof key,
        "Test Using Larger Than Block-Size Key - Hash Key First", 54,
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),
        cmocka_unit_test(a_million),
        cmocka_unit_test(any_cut),
        cmocka_unit_test(hmac_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
