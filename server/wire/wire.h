/*
 * PostgreSQL's wire protocol, version 3.0, server side: bytes to messages and
 * messages to bytes. Knows nothing of queries, budgets or passwords.
 *
 * Every length is checked before it is used and before memory is asked for:
 * whoever connects may send anything. A reader never fails half way: it sets
 * `bad`, gives zeros and empty texts from then on, and the caller looks once,
 * at the end.
 */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- one message, being read ---------------------------------------------- */

struct wire_in {
    const unsigned char *p;
    size_t n, at;
    bool bad; /* something was missing or too long */
};

struct wire_in wire_in_of(const void *p, size_t n);
uint8_t wire_get8(struct wire_in *in);
uint16_t wire_get16(struct wire_in *in);
uint32_t wire_get32(struct wire_in *in);
/* A text that ends with NUL inside the message; "" and bad if none does. */
const char *wire_get_text(struct wire_in *in);
/* n bytes; NULL and bad if there are fewer. */
const unsigned char *wire_get_bytes(struct wire_in *in, size_t n);
/* Was everything read, and nothing missing? */
bool wire_at_end(const struct wire_in *in);

/* --- messages, being written ---------------------------------------------- */

/* Any number of messages, one after the other. Grows up to `most` bytes;
 * `failed` is set when memory or the limit ends, and later calls do nothing. */
struct wire_out {
    unsigned char *p;
    size_t n, cap, most;
    size_t start; /* of the length word of the message that is open */
    bool failed;
};

void wire_out_init(struct wire_out *out, size_t most);
void wire_out_fini(struct wire_out *out);
void wire_begin(struct wire_out *out, char type);
void wire_put8(struct wire_out *out, uint8_t v);
void wire_put16(struct wire_out *out, uint16_t v);
void wire_put32(struct wire_out *out, uint32_t v);
void wire_put_text(struct wire_out *out, const char *s); /* with its NUL */
void wire_put_bytes(struct wire_out *out, const void *p, size_t n);
void wire_end(struct wire_out *out);
/* A message of type and one 32-bit word; one without a body. */
void wire_message32(struct wire_out *out, char type, uint32_t v);
void wire_message0(struct wire_out *out, char type);

/* --- the first packet ------------------------------------------------------
 */

enum {
    WIRE_STARTUP_LEAST = 8,
    WIRE_STARTUP_MOST = 10000,                /* as PostgreSQL */
    WIRE_BEFORE_MOST = 10000,                 /* a message before sign-in */
    WIRE_AFTER_MOST = (1 << 20) + (64 << 10), /* and after it */
    WIRE_PARAMETERS_MOST = 64
};

enum wire_first {
    WIRE_FIRST_BAD, /* not a first packet of this protocol */
    WIRE_FIRST_TLS, /* asks for TLS */
    WIRE_FIRST_GSS, /* asks for GSSAPI encryption */
    WIRE_FIRST_CANCEL,
    WIRE_FIRST_OLD,    /* another major version */
    WIRE_FIRST_STARTUP /* version 3, with parameters */
};

struct wire_parameter {
    const char *name, *value;
};

/* Points into the packet. */
struct wire_startup {
    enum wire_first kind;
    uint32_t pid, key; /* CANCEL */
    uint16_t minor;    /* STARTUP: above 0 needs a negotiation */
    struct wire_parameter parameters[WIRE_PARAMETERS_MOST];
    size_t n_parameters; /* without those that begin with _pq_. */
    const char *unknown[WIRE_PARAMETERS_MOST]; /* names that begin with _pq_. */
    size_t n_unknown;
};

/* Reads the packet that follows the length word. */
void wire_read_startup(const void *p, size_t n, struct wire_startup *out);
/* The value of a parameter, or NULL. */
const char *wire_parameter(const struct wire_startup *s, const char *name);

/* --- errors and notices ----------------------------------------------------
 */

/* Texts may be NULL, but not severity, state and message. position: from 1, in
 * characters; 0: none. */
struct wire_report {
    const char *severity; /* "ERROR", "FATAL", "NOTICE" */
    const char *state;    /* "42601" */
    const char *message, *detail, *hint;
    unsigned long position;
};
void wire_put_report(struct wire_out *out, const struct wire_report *r);

/* Characters of UTF-8 text before byte `at`: PostgreSQL counts positions in
 * characters from 1. */
unsigned long wire_position(const char *text, size_t at);

#endif
