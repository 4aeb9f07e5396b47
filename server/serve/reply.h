/*
 * Questions and answers as messages: from a front to its desk, from there to a
 * clerk, and back. A question is what an analyst may say, and nothing else: who
 * asks is known by the channel.
 */
#ifndef SERVE_REPLY_H
#define SERVE_REPLY_H

#include "dpcount.h"
#include "wire/wire.h"

enum {
    QUESTION_SETTINGS_MOST = 64,
    QUESTION_PARAMETERS_MOST = 256,
    QUESTION_FLAG_SPEND = 1 /* may be charged for */
};

/* Texts point into the message. */
struct question_text {
    const char *sql;
    bool spend, error_columns;
    struct wire_parameter settings[QUESTION_SETTINGS_MOST];
    size_t n_settings;
    const char *parameters[QUESTION_PARAMETERS_MOST]; /* NULL: NULL */
    size_t n_parameters;
};

/* After the number of the request. False: malformed. */
bool question_read(struct wire_in *in, struct question_text *out);
void question_write(struct wire_out *out, const struct question_text *q);
/* As a question of the library. NULL: refused, with why. */
dpc_question *question_make(const struct question_text *q, dpc_error **err);

/* What a call ended with, in place of its number. */
void reply_write_error(struct wire_out *out, const char *code,
                       const char *message, const char *detail,
                       const char *hint, long position);
void reply_write_failure(struct wire_out *out, const dpc_error *e);
void reply_write_result(struct wire_out *out, const dpc_result *r);
/* A JSON text and nothing else. */
void reply_write_json(struct wire_out *out, const char *json);

struct reply_column {
    const char *name;
    dpc_type type;
    dpc_role role;
};

/* Points into the bytes it was read from; columns and cells are allocated. */
struct reply {
    bool ok, repeated;
    /* not ok */
    const char *code, *message, *detail, *hint;
    long position; /* bytes from 0; -1: none */
    /* ok */
    struct reply_column *columns;
    size_t n_columns, n_rows, n_parameters;
    const char **cells;
    dpc_type *parameters;
    const char *json, *epsilon, *delta, *guarantee, *receipt;
    void *bytes; /* of a reply that owns them */
};

bool reply_read(struct wire_in *in, struct reply *out);
void reply_free(struct reply *r);

#endif
