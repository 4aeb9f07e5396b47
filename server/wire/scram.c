/* SCRAM-SHA-256: see scram.h. */
#include "wire/scram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

static const char prefix[] = "SCRAM-SHA-256$";

/* --- base64, strict --------------------------------------------------------
 */

static bool encode64(const unsigned char *p, size_t n, char *out, size_t size)
{
    if ((n + 2) / 3 * 4 + 1 > size)
        return false;
    EVP_EncodeBlock((unsigned char *)out, p, (int)n);
    return true;
}

/* OpenSSL's decoder passes over blanks and pads with zeros; the text must be
 * the very one that encoding gives. */
static bool decode64(const char *s, size_t n, unsigned char *out, size_t size,
                     size_t *out_n)
{
    unsigned char raw[SCRAM_MESSAGE];
    char again[SCRAM_MESSAGE + 4];
    if (!n || n % 4 || n > SCRAM_MESSAGE)
        return false;
    int got = EVP_DecodeBlock(raw, (const unsigned char *)s, (int)n);
    if (got < 0)
        return false;
    size_t k = (size_t)got - (s[n - 1] == '=') - (s[n - 2] == '=');
    if (k > size || !encode64(raw, k, again, sizeof again) ||
        strlen(again) != n || memcmp(again, s, n))
        return false;
    memcpy(out, raw, k);
    *out_n = k;
    return true;
}

/* --- keys ------------------------------------------------------------------
 */

static bool hmac(const unsigned char key[SCRAM_KEY], const char *text,
                 unsigned char out[SCRAM_KEY])
{
    return HMAC(EVP_sha256(), key, SCRAM_KEY, (const unsigned char *)text,
                strlen(text), out, NULL) != NULL;
}

/* StoredKey and ServerKey of a password. */
static bool derive(const char *password, const struct scram_verifier *v,
                   unsigned char stored[SCRAM_KEY],
                   unsigned char server[SCRAM_KEY])
{
    unsigned char salted[SCRAM_KEY], client[SCRAM_KEY];
    bool ok = PKCS5_PBKDF2_HMAC(password, (int)strlen(password), v->salt,
                                (int)v->n_salt, (int)v->iterations,
                                EVP_sha256(), SCRAM_KEY, salted) == 1 &&
              hmac(salted, "Client Key", client) &&
              hmac(salted, "Server Key", server);
    SHA256(client, SCRAM_KEY, stored);
    OPENSSL_cleanse(salted, sizeof salted);
    OPENSSL_cleanse(client, sizeof client);
    return ok;
}

/* --- verifiers -------------------------------------------------------------
 */

enum { ITERATIONS_MOST = 1000000 };

static bool read_key(const char *s, size_t n, unsigned char out[SCRAM_KEY])
{
    size_t got;
    return decode64(s, n, out, SCRAM_KEY, &got) && got == SCRAM_KEY;
}

bool scram_verifier_read(const char *text, struct scram_verifier *out)
{
    char *end;
    memset(out, 0, sizeof *out);
    if (strncmp(text, prefix, sizeof prefix - 1))
        return false;
    text += sizeof prefix - 1;
    unsigned long n =
        *text >= '1' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (n < SCRAM_ITERATIONS || n > ITERATIONS_MOST || *end != ':')
        return false;
    const char *salt = end + 1, *dollar = strchr(salt, '$');
    const char *colon = dollar ? strchr(dollar, ':') : NULL;
    if (!colon)
        return false;
    out->iterations = (unsigned)n;
    return decode64(salt, (size_t)(dollar - salt), out->salt, sizeof out->salt,
                    &out->n_salt) &&
           read_key(dollar + 1, (size_t)(colon - dollar - 1),
                    out->stored_key) &&
           read_key(colon + 1, strlen(colon + 1), out->server_key);
}

bool scram_verifier_write(const struct scram_verifier *v, char *out,
                          size_t size)
{
    char salt[128], stored[64], server[64];
    if (!encode64(v->salt, v->n_salt, salt, sizeof salt) ||
        !encode64(v->stored_key, SCRAM_KEY, stored, sizeof stored) ||
        !encode64(v->server_key, SCRAM_KEY, server, sizeof server))
        return false;
    int n = snprintf(out, size, "%s%u:%s$%s:%s", prefix, v->iterations, salt,
                     stored, server);
    return n > 0 && (size_t)n < size;
}

static bool plain(const char *password)
{
    for (const char *p = password; *p; p++)
        if (*p < 0x20 || *p > 0x7e)
            return false;
    return *password;
}

bool scram_verifier_make(const char *password, struct scram_verifier *out)
{
    memset(out, 0, sizeof *out);
    out->iterations = SCRAM_ITERATIONS;
    out->n_salt = 16;
    return plain(password) && RAND_bytes(out->salt, 16) == 1 &&
           derive(password, out, out->stored_key, out->server_key);
}

/* The keys are never used: a mock fits nothing. */
void scram_verifier_mock(const char *user,
                         const unsigned char secret[SCRAM_KEY],
                         struct scram_verifier *out)
{
    unsigned char salt[SCRAM_KEY];
    memset(out, 0, sizeof *out);
    hmac(secret, user, salt);
    out->iterations = SCRAM_ITERATIONS;
    out->n_salt = 16;
    memcpy(out->salt, salt, 16);
    memcpy(out->stored_key, secret, SCRAM_KEY);
    memcpy(out->server_key, secret, SCRAM_KEY);
}

bool scram_password_fits(const struct scram_verifier *v, const char *password)
{
    unsigned char stored[SCRAM_KEY], server[SCRAM_KEY];
    bool ok = derive(password, v, stored, server) &&
              !CRYPTO_memcmp(stored, v->stored_key, SCRAM_KEY);
    OPENSSL_cleanse(stored, sizeof stored);
    OPENSSL_cleanse(server, sizeof server);
    return ok;
}

/* --- the client's first message --------------------------------------------
 */

/* A nonce is printable and has no comma. */
static bool printable(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~' || s[i] == ',')
            return false;
    return n;
}

static bool plus(const char *mechanism)
{
    return !strcmp(mechanism, "SCRAM-SHA-256-PLUS");
}

/* The header before the bare message: "n,,", "y,," or
 * "p=tls-server-end-point,,". NULL: not allowed here. A client that could bind
 * to the channel but thinks the server cannot ("y") was lied to when the server
 * can. */
static const char *read_gs2(struct scram *s, const char *mechanism,
                            const char *m)
{
    static const char bound[] = "p=tls-server-end-point,,";
    const char *wanted = plus(mechanism) ? bound : *m == 'y' ? "y,," : "n,,";
    size_t n = strlen(wanted);
    if (plus(mechanism) && !s->binding.data)
        return NULL;
    if (*m == 'y' && s->binding.data)
        return NULL;
    if (strncmp(m, wanted, n))
        return NULL;
    memcpy(s->gs2, wanted, n + 1);
    return m + n;
}

static bool make_nonce(struct scram *s, const char *client, size_t n)
{
    unsigned char raw[18];
    char ours[SCRAM_NONCE + 1];
    if (n + sizeof ours > sizeof s->nonce || RAND_bytes(raw, sizeof raw) != 1 ||
        !encode64(raw, sizeof raw, ours, sizeof ours))
        return false;
    memcpy(s->nonce, client, n);
    memcpy(s->nonce + n, ours, sizeof ours);
    return true;
}

static bool write_first(struct scram *s)
{
    char salt[128];
    if (!encode64(s->verifier.salt, s->verifier.n_salt, salt, sizeof salt))
        return false;
    int n = snprintf(s->server_first, sizeof s->server_first, "r=%s,s=%s,i=%u",
                     s->nonce, salt, s->verifier.iterations);
    return n > 0 && (size_t)n < sizeof s->server_first;
}

/* The name in the message is ignored, as PostgreSQL does: the one of the
 * startup packet counts. */
bool scram_first(struct scram *s, const char *mechanism, const char *message)
{
    if (!plus(mechanism) && strcmp(mechanism, "SCRAM-SHA-256"))
        return false;
    const char *bare = read_gs2(s, mechanism, message);
    if (!bare || strncmp(bare, "n=", 2) || strlen(bare) >= sizeof s->first_bare)
        return false;
    memcpy(s->first_bare, bare, strlen(bare) + 1);
    const char *r = strchr(bare, ',');
    if (!r || strncmp(r, ",r=", 3))
        return false;
    r += 3;
    size_t n = strcspn(r, ",");
    return !r[n] && printable(r, n) && make_nonce(s, r, n) && write_first(s);
}

/* --- and its last -----------------------------------------------------------
 */

/* "c=" and the base64 of the header and what the channel is bound to. */
static bool binding_fits(const struct scram *s, const char *c, size_t n)
{
    unsigned char want[SCRAM_MESSAGE], got[SCRAM_MESSAGE];
    size_t k = strlen(s->gs2), n_got;
    memcpy(want, s->gs2, k);
    if (*s->gs2 == 'p') {
        if (s->binding.n > sizeof want - k)
            return false;
        memcpy(want + k, s->binding.data, s->binding.n);
        k += s->binding.n;
    }
    return decode64(c, n, got, sizeof got, &n_got) && n_got == k &&
           !CRYPTO_memcmp(got, want, k);
}

/* ClientKey = proof xor HMAC(StoredKey, AuthMessage); its hash must be the
 * StoredKey. */
static bool proof_fits(const struct scram *s, const char *auth,
                       const unsigned char proof[SCRAM_KEY])
{
    unsigned char key[SCRAM_KEY], hash[SCRAM_KEY];
    bool ok = hmac(s->verifier.stored_key, auth, key);
    for (size_t i = 0; i < SCRAM_KEY; i++)
        key[i] ^= proof[i];
    SHA256(key, SCRAM_KEY, hash);
    bool same = !CRYPTO_memcmp(hash, s->verifier.stored_key, SCRAM_KEY);
    OPENSSL_cleanse(key, sizeof key);
    return ok & same & s->exists;
}

static bool write_final(const struct scram *s, const char *auth, char *out,
                        size_t size)
{
    unsigned char signature[SCRAM_KEY];
    char text[64];
    if (!hmac(s->verifier.server_key, auth, signature) ||
        !encode64(signature, SCRAM_KEY, text, sizeof text))
        return false;
    int n = snprintf(out, size, "v=%s", text);
    return n > 0 && (size_t)n < size;
}

bool scram_final(struct scram *s, const char *message, char *out, size_t size)
{
    char auth[4 * SCRAM_MESSAGE];
    unsigned char proof[SCRAM_KEY];
    const char *r = strstr(message, ",r="), *p = strstr(message, ",p=");
    if (strlen(message) >= SCRAM_MESSAGE || strncmp(message, "c=", 2) || !r ||
        !p || p < r)
        return false;
    size_t n_nonce = (size_t)(p - r - 3);
    bool ok = binding_fits(s, message + 2, (size_t)(r - message - 2));
    ok &= n_nonce == strlen(s->nonce) && !memcmp(r + 3, s->nonce, n_nonce);
    ok &= read_key(p + 3, strlen(p + 3), proof);
    if (!ok)
        return false;
    int n = snprintf(auth, sizeof auth, "%s,%s,%.*s", s->first_bare,
                     s->server_first, (int)(p - message), message);
    return n > 0 && (size_t)n < sizeof auth && proof_fits(s, auth, proof) &&
           write_final(s, auth, out, size);
}
