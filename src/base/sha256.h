/*
 * SHA-256 (FIPS 180-4) and HMAC over it (RFC 2104): the ledger's chain, the
 * fingerprints of data, the policy a ledger is bound to. OpenSSL's, in the form
 * that neither allocates nor fails, and uses the processor's own instructions:
 * every charged release over files hashes them twice.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#define OPENSSL_SUPPRESS_DEPRECATED /* the newer form allocates */
#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };

struct sha256 {
    SHA256_CTX state;
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *p, size_t n);
void sha256_end(struct sha256 *h, unsigned char out[SHA256_BYTES]);

struct hmac {
    struct sha256 inner;
    unsigned char outer[64];
};

void hmac_init(struct hmac *h, const void *key, size_t n);
void hmac_add(struct hmac *h, const void *p, size_t n);
void hmac_end(struct hmac *h, unsigned char out[SHA256_BYTES]);

/* Lower case, with a terminating NUL. */
void sha256_hex(const unsigned char hash[SHA256_BYTES], char out[SHA256_HEX]);
void sha256_text(const void *p, size_t n, char out[SHA256_HEX]);

#endif
