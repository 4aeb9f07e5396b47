/* SHA-256: see sha256.h. Names of variables are those of FIPS 180-4. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t word(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
    for (int t = 0; t < 16; t++)
        w[t] = word(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[t - 7] +
               (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
    }
}

static void compress(struct sha256 *h, const unsigned char *block)
{
    uint32_t w[64], v[8];
    schedule(block, w);
    memcpy(v, h->state, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t a = v[0], e = v[4];
        uint32_t t1 = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                      ((e & v[5]) ^ (~e & v[6])) + k[t] + w[t];
        uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h->state[i] += v[i];
}

void sha256_init(struct sha256 *h)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                      0xa54ff53a, 0x510e527f, 0x9b05688c,
                                      0x1f83d9ab, 0x5be0cd19};
    memset(h, 0, sizeof *h);
    memcpy(h->state, start, sizeof start);
}

void sha256_add(struct sha256 *h, const void *p, size_t n)
{
    const unsigned char *from = p;
    while (n) {
        size_t at = (size_t)(h->n % 64), take = 64 - at < n ? 64 - at : n;
        if (take == 64) {
            compress(h, from);
        } else {
            memcpy(h->block + at, from, take);
            if (at + take == 64)
                compress(h, h->block);
        }
        h->n += take;
        from += take;
        n -= take;
    }
}

void sha256_end(struct sha256 *h, unsigned char out[SHA256_BYTES])
{
    static const unsigned char pad[64] = {0x80};
    unsigned char length[8];
    uint64_t bits = h->n * 8;
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(h, pad, 1 + (119 - h->n % 64) % 64);
    sha256_add(h, length, sizeof length);
    for (int i = 0; i < SHA256_BYTES; i++)
        out[i] = (unsigned char)(h->state[i / 4] >> (24 - 8 * (i % 4)));
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
