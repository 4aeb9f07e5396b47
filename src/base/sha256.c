/* SHA-256 and HMAC: see sha256.h. */
#include "base/sha256.h"

#include <string.h>

void sha256_init(struct sha256 *h)
{
    SHA256_Init(&h->state);
}

void sha256_add(struct sha256 *h, const void *p, size_t n)
{
    SHA256_Update(&h->state, p, n);
}

void sha256_end(struct sha256 *h, unsigned char out[SHA256_BYTES])
{
    SHA256_Final(out, &h->state);
}

void hmac_init(struct hmac *h, const void *key, size_t n)
{
    unsigned char inner[64] = {0};
    if (n > 64) {
        sha256_init(&h->inner);
        sha256_add(&h->inner, key, n);
        sha256_end(&h->inner, inner);
    } else if (n) {
        memcpy(inner, key, n);
    }
    for (int i = 0; i < 64; i++) {
        h->outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    sha256_init(&h->inner);
    sha256_add(&h->inner, inner, sizeof inner);
}

void hmac_add(struct hmac *h, const void *p, size_t n)
{
    sha256_add(&h->inner, p, n);
}

void hmac_end(struct hmac *h, unsigned char out[SHA256_BYTES])
{
    struct sha256 outer;
    sha256_end(&h->inner, out);
    sha256_init(&outer);
    sha256_add(&outer, h->outer, sizeof h->outer);
    sha256_add(&outer, out, SHA256_BYTES);
    sha256_end(&outer, out);
}

void sha256_hex(const unsigned char hash[SHA256_BYTES], char out[SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[2 * SHA256_BYTES] = 0;
}

void sha256_text(const void *p, size_t n, char out[SHA256_HEX])
{
    struct sha256 h;
    unsigned char hash[SHA256_BYTES];
    sha256_init(&h);
    sha256_add(&h, p, n);
    sha256_end(&h, hash);
    sha256_hex(hash, out);
}
