/*
 * SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side, with PostgreSQL's
 * stored form of a password:
 *
 *     SCRAM-SHA-256$4096:<salt>$<StoredKey>:<ServerKey>
 *
 * Whoever steals it cannot sign in with it. For a name that nobody has, the
 * same messages are made from a salt that depends on the name and a secret of
 * the server, so that neither texts nor work tell whether the name exists.
 */
#ifndef WIRE_SCRAM_H
#define WIRE_SCRAM_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SCRAM_KEY = 32,         /* bytes of a key */
    SCRAM_SALT_MOST = 64,   /* bytes of a salt that is accepted */
    SCRAM_NONCE = 24,       /* characters of ours */
    SCRAM_MESSAGE = 1024,   /* characters of a message, at most */
    SCRAM_ITERATIONS = 4096 /* of new verifiers, as PostgreSQL; the least */
};

struct scram_verifier {
    unsigned iterations;
    unsigned char salt[SCRAM_SALT_MOST];
    size_t n_salt;
    unsigned char stored_key[SCRAM_KEY], server_key[SCRAM_KEY];
};

/* False if the text is not of the stored form, or made with so few iterations
 * (or so many) that it is refused. */
bool scram_verifier_read(const char *text, struct scram_verifier *out);
/* Writes the stored form. False if `size` is too small. */
bool scram_verifier_write(const struct scram_verifier *v, char *out,
                          size_t size);
/* Of a password and 16 fresh random bytes of salt. False without random bytes,
 * or if the password is empty or has a byte that is not printable ASCII: those
 * would need a normalisation that clients do and this program does not. */
bool scram_verifier_make(const char *password, struct scram_verifier *out);
/* For a name that nobody has; `secret` is random and stays in the server. */
void scram_verifier_mock(const char *user,
                         const unsigned char secret[SCRAM_KEY],
                         struct scram_verifier *out);
/* Does the password fit? In constant time. For sign-in without SCRAM (HTTP
 * over TLS). */
bool scram_password_fits(const struct scram_verifier *v, const char *password);

/* What of TLS the exchange is bound to. data NULL: no TLS. */
struct scram_binding {
    const unsigned char *data; /* hash of the server's certificate */
    size_t n;
};

/* One exchange. The texts are those of SASL messages, without NUL. */
struct scram {
    struct scram_verifier verifier;
    struct scram_binding binding;
    bool exists; /* false: a mock verifier, which never fits */
    char gs2[64];
    char first_bare[SCRAM_MESSAGE]; /* of the client */
    char server_first[SCRAM_MESSAGE];
    char nonce[SCRAM_MESSAGE]; /* the client's, then ours */
};

/* The client's first message under `mechanism` ("SCRAM-SHA-256" or
 * "SCRAM-SHA-256-PLUS"). Fills server_first. False: malformed, or an attempt
 * to take channel binding away. s->verifier, binding and exists are set by the
 * caller. */
bool scram_first(struct scram *s, const char *mechanism, const char *message);
/* The client's last message; writes "v=..." to out. False: wrong proof, or
 * malformed. */
bool scram_final(struct scram *s, const char *message, char *out, size_t size);

#endif
