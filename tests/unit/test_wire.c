/* wire: cursors, messages, the first packet; SCRAM with the exchange of RFC
 * 7677, with every byte of an exchange changed, and for a name nobody has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "wire/scram.h"
#include "wire/wire.h"

static void cursor_stays_bad(void **state)
{
    (void)state;
    unsigned char bytes[] = {1, 2, 3, 4, 5, 'a', 0, 'b'};
    struct wire_in in = wire_in_of(bytes, sizeof bytes);
    assert_int_equal(wire_get8(&in), 1);
    assert_int_equal(wire_get32(&in), 0x02030405);
    assert_string_equal(wire_get_text(&in), "a");
    assert_false(wire_at_end(&in));
    assert_string_equal(wire_get_text(&in), ""); /* no NUL follows */
    assert_true(in.bad);
    assert_int_equal(wire_get8(&in), 0); /* though a byte is left */
    assert_false(wire_at_end(&in));
    in = wire_in_of(bytes, 1);
    assert_int_equal(wire_get16(&in), 0);
    assert_true(in.bad);
    in = wire_in_of(bytes, 3);
    assert_null(wire_get_bytes(&in, SIZE_MAX));
    assert_true(in.bad);
}

static void message_has_its_length(void **state)
{
    (void)state;
    struct wire_out out;
    wire_out_init(&out, 1 << 20);
    wire_message32(&out, 'R', 10);
    wire_begin(&out, 'S');
    wire_put_text(&out, "TimeZone");
    wire_put_text(&out, "UTC");
    wire_end(&out);
    static const unsigned char want[] = {
        'R', 0,   0,   0,   8,   0,   0,   0,   10, 'S', 0,   0,   0, 17,
        'T', 'i', 'm', 'e', 'Z', 'o', 'n', 'e', 0,  'U', 'T', 'C', 0};
    assert_false(out.failed);
    assert_int_equal(out.n, sizeof want);
    assert_memory_equal(out.p, want, sizeof want);
    wire_out_fini(&out);
    wire_out_init(&out, 7); /* the limit ends it, and it stays ended */
    wire_message32(&out, 'R', 10);
    assert_true(out.failed);
    assert_true(out.n <= 7);
    wire_out_fini(&out);
}

static size_t packet(unsigned char *out, uint32_t code, const char *rest,
                     size_t n)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(code >> (8 * (3 - i)));
    memcpy(out + 4, rest, n);
    return n + 4;
}

static enum wire_first first(uint32_t code, const char *rest, size_t n)
{
    unsigned char bytes[256];
    struct wire_startup s;
    wire_read_startup(bytes, packet(bytes, code, rest, n), &s);
    return s.kind;
}

static void first_packet(void **state)
{
    (void)state;
    unsigned char bytes[256];
    struct wire_startup s;
    static const char text[] = "user\0ann\0database\0hospital\0"
                               "_pq_.test\0x\0options\0-c a=b\0";
    size_t n = packet(bytes, 3 << 16 | 9999, text, sizeof text);
    wire_read_startup(bytes, n, &s);
    assert_int_equal(s.kind, WIRE_FIRST_STARTUP);
    assert_int_equal(s.minor, 9999);
    assert_string_equal(wire_parameter(&s, "user"), "ann");
    assert_string_equal(wire_parameter(&s, "options"), "-c a=b");
    assert_null(wire_parameter(&s, "_pq_.test"));
    assert_int_equal(s.n_unknown, 1);
    assert_string_equal(s.unknown[0], "_pq_.test");
    for (size_t k = 0; k < n; k++) { /* no part of it is a whole one */
        wire_read_startup(bytes, k, &s);
        assert_int_equal(s.kind, WIRE_FIRST_BAD);
    }
    assert_int_equal(first(80877103, "", 0), WIRE_FIRST_TLS);
    assert_int_equal(first(80877103, "x", 1), WIRE_FIRST_BAD);
    assert_int_equal(first(80877104, "", 0), WIRE_FIRST_GSS);
    assert_int_equal(first(80877102, "\0\0\0\1\0\0\0\2", 8), WIRE_FIRST_CANCEL);
    assert_int_equal(first(80877102, "\0\0\0\1", 4), WIRE_FIRST_BAD);
    assert_int_equal(first(2 << 16, "", 0), WIRE_FIRST_OLD);
    assert_int_equal(first(3 << 16, "a\0b\0\0x", 6), WIRE_FIRST_BAD);
}

static void report_and_position(void **state)
{
    (void)state;
    struct wire_out out;
    wire_out_init(&out, 1000);
    struct wire_report r = {"ERROR", "42601", "syntax error", NULL, "", 7};
    wire_put_report(&out, &r);
    static const char want[] = "SERROR\0VERROR\0C42601\0Msyntax error\0P7\0";
    assert_int_equal(out.p[0], 'E');
    assert_int_equal(out.n, 5 + sizeof want);
    assert_memory_equal(out.p + 5, want, sizeof want);
    wire_out_fini(&out);
    /* an umlaut is two bytes and one character */
    assert_int_equal(wire_position("SELECT '\xc3\xa4' FRM", 12), 12);
    assert_int_equal(wire_position("abc", 0), 1);
    assert_int_equal(wire_position("abc", 99), 4);
}

/* --- SCRAM -----------------------------------------------------------------
 */

static size_t unbase(const char *s, unsigned char *out)
{
    size_t n = strlen(s);
    int k = EVP_DecodeBlock(out, (const unsigned char *)s, (int)n);
    return (size_t)k - (s[n - 1] == '=') - (s[n - 2] == '=');
}

static void mac(const unsigned char *key, const char *text, unsigned char *out)
{
    HMAC(EVP_sha256(), key, 32, (const unsigned char *)text, strlen(text), out,
         NULL);
}

/* A client: the last message for what the server said. */
static void client_final(const struct scram *s, const char *password,
                         const char *header, char *out, size_t size)
{
    unsigned char salt[64], salted[32], key[32], stored[32], sig[32];
    char auth[4096], b64[128], proof[64], salt64[128];
    const char *at = strstr(s->server_first, ",s=") + 3;
    size_t n = strcspn(at, ",");
    memcpy(salt64, at, n);
    salt64[n] = 0;
    n = unbase(salt64, salt);
    PKCS5_PBKDF2_HMAC(password, (int)strlen(password), salt, (int)n,
                      atoi(strstr(s->server_first, ",i=") + 3), EVP_sha256(),
                      32, salted);
    mac(salted, "Client Key", key);
    SHA256(key, 32, stored);
    EVP_EncodeBlock((unsigned char *)b64, (const unsigned char *)header,
                    (int)strlen(header));
    int k = snprintf(out, size, "c=%s,r=%s", b64, s->nonce);
    snprintf(auth, sizeof auth, "%s,%s,%s", s->first_bare, s->server_first,
             out);
    mac(stored, auth, sig);
    for (int i = 0; i < 32; i++)
        key[i] ^= sig[i];
    EVP_EncodeBlock((unsigned char *)proof, key, 32);
    snprintf(out + k, size - (size_t)k, ",p=%s", proof);
}

static struct scram exchange(const char *password, bool exists)
{
    struct scram s = {.exists = exists};
    assert_true(scram_verifier_make(password, &s.verifier));
    assert_true(scram_first(&s, "SCRAM-SHA-256", "n,,n=,r=abcdefgh"));
    return s;
}

/* The numbers of RFC 7677, section 3. */
static void rfc_exchange(void **state)
{
    (void)state;
    struct scram s = {.exists = true};
    unsigned char salted[32], client[32];
    char out[128];
    s.verifier.iterations = 4096;
    s.verifier.n_salt = unbase("W22ZaJ0SNY7soEsUEjb6gQ==", s.verifier.salt);
    PKCS5_PBKDF2_HMAC("pencil", 6, s.verifier.salt, 16, 4096, EVP_sha256(), 32,
                      salted);
    mac(salted, "Client Key", client);
    SHA256(client, 32, s.verifier.stored_key);
    mac(salted, "Server Key", s.verifier.server_key);
    assert_true(
        scram_first(&s, "SCRAM-SHA-256", "n,,n=user,r=rOprNGfwEbeRWgbNEkqO"));
    strcpy(s.nonce, "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
    sprintf(s.server_first, "r=%s,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", s.nonce);
    assert_true(scram_final(
        &s,
        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        out, sizeof out));
    assert_string_equal(out, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

static void right_and_wrong(void **state)
{
    (void)state;
    char last[512], out[128];
    struct scram s = exchange("secret", true);
    client_final(&s, "secret", "n,,", last, sizeof last);
    assert_true(scram_final(&s, last, out, sizeof out));
    size_t n = strlen(last);
    for (size_t i = 0; i < n; i++) { /* any other byte is another message */
        char bad[512];
        memcpy(bad, last, n + 1);
        bad[i] = bad[i] == 'A' ? 'B' : 'A';
        assert_false(scram_final(&s, bad, out, sizeof out));
        memcpy(bad, last, i);
        bad[i] = 0;
        assert_false(scram_final(&s, bad, out, sizeof out));
    }
    client_final(&s, "Secret", "n,,", last, sizeof last);
    assert_false(scram_final(&s, last, out, sizeof out));
    s = exchange("secret", false); /* a mock fits nothing */
    client_final(&s, "secret", "n,,", last, sizeof last);
    assert_false(scram_final(&s, last, out, sizeof out));
}

static void binding(void **state)
{
    (void)state;
    char last[512], out[128];
    struct scram s = {.exists = true};
    struct scram_binding tls = {(const unsigned char *)"hash", 4};
    static const char bound[] = "p=tls-server-end-point,,";
    assert_true(scram_verifier_make("x", &s.verifier));
    assert_false(scram_first(&s, "SCRAM-SHA-256-PLUS",
                             "p=tls-server-end-point,,n=,r=abc"));
    s.binding = tls;
    assert_false(scram_first(&s, "SCRAM-SHA-256", "y,,n=,r=abc"));
    assert_false(scram_first(&s, "SCRAM-SHA-256-PLUS", "n,,n=,r=abc"));
    assert_false(
        scram_first(&s, "SCRAM-SHA-256", "p=tls-server-end-point,,n=,r=abc"));
    assert_true(scram_first(&s, "SCRAM-SHA-256-PLUS",
                            "p=tls-server-end-point,,n=,r=abc"));
    client_final(&s, "x", "p=tls-server-end-point,,hash", last, sizeof last);
    assert_true(scram_final(&s, last, out, sizeof out));
    client_final(&s, "x", "p=tls-server-end-point,,HASH", last, sizeof last);
    assert_false(scram_final(&s, last, out, sizeof out));
    client_final(&s, "x", bound, last, sizeof last);
    assert_false(scram_final(&s, last, out, sizeof out));
}

static void first_messages(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "n",
                                      "n,,",
                                      "n,,n=",
                                      "n,,n=,r=",
                                      "n,a=x,n=,r=a",
                                      "n,,m=x,n=,r=a",
                                      "n,,n=,r=a,b=c",
                                      "n,,n=,r= a",
                                      "x,,n=,r=a",
                                      "n,,n=,r=\x80"};
    struct scram s = {.exists = true};
    assert_true(scram_verifier_make("x", &s.verifier));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(scram_first(&s, "SCRAM-SHA-256", bad[i]));
    assert_false(scram_first(&s, "SCRAM-SHA-1", "n,,n=,r=a"));
    char longest[2000] = "n,,n=,r=";
    memset(longest + 8, 'a', 1900);
    assert_false(scram_first(&s, "SCRAM-SHA-256", longest));
}

static void verifiers(void **state)
{
    (void)state;
    char text[256], again[256];
    struct scram_verifier v, w;
    assert_true(scram_verifier_make("pass word", &v));
    assert_true(scram_verifier_write(&v, text, sizeof text));
    assert_true(scram_verifier_read(text, &w));
    assert_true(scram_verifier_write(&w, again, sizeof again));
    assert_string_equal(text, again);
    assert_true(scram_password_fits(&w, "pass word"));
    assert_false(scram_password_fits(&w, "pass word "));
    for (size_t i = 0; text[i]; i++) { /* no part of it is a whole one */
        char part[256];
        memcpy(part, text, i);
        part[i] = 0;
        assert_false(scram_verifier_read(part, &w));
    }
    assert_false(scram_verifier_read("md5aaaa", &w));
    assert_false(scram_verifier_make("", &v));
    assert_false(scram_verifier_make("p\xc3\xa4ss", &v));
    unsigned char secret[SCRAM_KEY] = {1};
    struct scram_verifier a, b;
    scram_verifier_mock("ann", secret, &a);
    scram_verifier_mock("ann", secret, &b);
    assert_memory_equal(&a, &b, sizeof a);
    scram_verifier_mock("bob", secret, &b);
    assert_true(memcmp(a.salt, b.salt, 16) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursor_stays_bad),
        cmocka_unit_test(message_has_its_length),
        cmocka_unit_test(first_packet),
        cmocka_unit_test(report_and_position),
        cmocka_unit_test(rfc_exchange),
        cmocka_unit_test(right_and_wrong),
        cmocka_unit_test(binding),
        cmocka_unit_test(first_messages),
        cmocka_unit_test(verifiers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
