/*
 * Errors: a status that is returned and a story that the caller owns.
 *
 * Every fallible function returns enum status and takes a struct err * that
 * it fills when it fails. Texts follow PostgreSQL's style: the message is
 * short, lower case, without full stop; detail and hint are sentences; "could
 * not" may work next time, "cannot" never will. The struct holds its texts in
 * place, so that reporting an error never allocates.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

enum status {
    OK = 0,
#define ERR(name, number, code, exit, vis, text) name = number,
#include "base/errors.def"
#undef ERR
};

enum visibility { ANALYST, OWNER };

struct err {
    enum status status;
    char message[512];
    char detail[1024];
    char hint[512];
    long position;     /* byte offset in the query text, from 0; -1: none */
    char file[256];    /* file the error is in, empty: none */
    long line, column; /* from 1; 0: none */
};

#define WARN_UNUSED __attribute__((warn_unused_result))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Clears `e`. A struct err need not be initialised before err_set. */
void err_clear(struct err *e);

/* Replaces the content of `e` and returns `s`. `e` may be NULL. The arguments
 * may be texts of `e`, so that a caller can wrap what it was told. */
enum status err_set(struct err *e, enum status s, const char *fmt, ...)
    PRINTF(3, 4);

/* Add to an error that err_set has filled; all accept NULL. */
void err_detail(struct err *e, const char *fmt, ...) PRINTF(2, 3);
void err_hint(struct err *e, const char *fmt, ...) PRINTF(2, 3);
void err_at(struct err *e, long position);
void err_in_file(struct err *e, const char *file, long line, long column);

/* Out of memory and defects: the two errors that every module raises. */
enum status err_nomem(struct err *e);
enum status err_internal(struct err *e, const char *where);

const char *status_code(enum status s); /* "unknown-name" */
int status_exit(enum status s);         /* 2 */
enum visibility status_visibility(enum status s);
const char *status_meaning(enum status s);

#if defined(__clang_analyzer__) && !defined(ERR_ITSELF)
/* For tools/lint only: the analyzer does not look into other files, and would
 * take these functions to return OK at times. */
#define err_set(e, s, ...) ((void)err_set(e, s, __VA_ARGS__), (s))
#define err_nomem(e) ((void)err_nomem(e), E_NOMEM)
#define err_internal(e, where) ((void)err_internal(e, where), E_INTERNAL)
#endif

/* Propagates a failure: TRY(f(x, err)); */
#define TRY(call)                                                              \
    do {                                                                       \
        enum status try_status_ = (call);                                      \
        if (try_status_ != OK)                                                 \
            return try_status_;                                                \
    } while (0)

#endif
