/*
 * A session: options, the last error, and the memory all of it lives in. The
 * options are kept as texts exactly as given; each is read where it is used,
 * so that its error names it.
 */
#ifndef RELEASE_SESSION_H
#define RELEASE_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "source/source.h"

typedef VEC(struct str) str_list;

/* One field for each line of options.def. */
struct options {
#define TEXT(field, ...) struct str field;
#define LIST(field, ...) str_list field;
#define FLAG(field, ...) bool field;
#define SELF(...)
#include "release/options.def"
};

enum option_kind { OPTION_TEXT, OPTION_LIST, OPTION_FLAG, OPTION_SELF };
enum option_side { OPTION_OWNER, OPTION_ANALYST };

/* A line of options.def. */
struct option_row {
    const char *name;
    enum option_kind kind;
    enum option_side side;
    const char *arg; /* NULL: a flag */
    const char *section, *commands, *since, *help, *manual;
    size_t offset; /* of the field in struct options */
};
extern const struct option_row option_rows[];
extern const size_t n_option_rows;

struct session {
    struct mem mem;
    struct arena arena;
    struct options opt;
    struct progress progress;    /* tick may be NULL */
    void (*user_progress)(void); /* of the public interface, its own type */
    void *user_ctx;
    struct err err;
    /* Of the call that runs now: which thread made it (the others only read
     * `stop`), and when it last told the user something. */
    pthread_t caller;
    int64_t told_ns;
    bool tell_always; /* tests: every time it is asked */
    atomic_bool stop;
    /* set while a release runs: CLOCK_MONOTONIC nanoseconds; 0: none */
    int64_t deadline_ns;
    bool discreet; /* a release runs: progress shows no numbers */
};

/* What a call gives back. It has memory of its own: results outlive their
 * session. */
struct result {
    struct mem mem;
    struct arena arena;
    struct sb json, text;
    str_list answers;
    str_list keys; /* of groups: JSON arrays, one for each answer */
};

enum status session_new(struct session **out, struct err *err) WARN_UNUSED;
void session_free(struct session *s);
/* E_USAGE for an unknown name, E_NOMEM. */
enum status session_set(struct session *s, struct str name,
                        struct str value) WARN_UNUSED;
/* A call begins on this thread. */
void session_begin(struct session *s);
/* Did the user cancel, or did the deadline pass? For long computations, from
 * any thread; only the one that called tells the user and asks the clock, ten
 * times a second at most. */
bool session_cancelled(void *session);
/* Progress that ends at the deadline too. PRIVACY: during a release it tells
 * the user that work goes on, not which work nor how many rows. */
struct progress session_progress(struct session *s);
/* Reads the limits (memory, threads) before work starts. */
enum status session_limits(struct session *s, unsigned *out_threads,
                           struct err *err) WARN_UNUSED;
/* "512M" in bytes. E_VALUE. */
enum status session_read_size(struct str v, size_t *out,
                              struct err *err) WARN_UNUSED;
/* A whole file (or standard input for "-") into the arena. E_SOURCE. */
enum status session_read_file(struct arena *a, struct str path,
                              const char *what, struct str *out,
                              struct err *err) WARN_UNUSED;

struct result *result_new(void); /* NULL when memory is out */
void result_free(struct result *r);

#endif
