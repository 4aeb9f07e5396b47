/*
 * What a call works with: options, the last error, and the memory all of it
 * lives in. The options are kept as texts exactly as given; each is read where
 * it is used, so that its error names it.
 */
#ifndef RELEASE_SESSION_H
#define RELEASE_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "release/result.h"
#include "source/source.h"

/* One field for each line of options.def. */
struct options {
#define TEXT(field, ...) struct str field;
#define LIST(field, ...) str_list field;
#define FLAG(field, ...) bool field;
#define SELF(...)
#include "release/options.def"
};

enum option_kind { OPTION_TEXT, OPTION_LIST, OPTION_FLAG, OPTION_SELF };
/* OPTION_CALL: said by whoever makes the call, in neither object. */
enum option_side { OPTION_OWNER, OPTION_ANALYST, OPTION_CALL };

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
/* Sets one of that side's options; the texts go to the arena. E_USAGE for an
 * unknown name and for one of another side, E_NOMEM. */
enum status option_set(struct options *o, struct arena *a,
                       enum option_side side, struct str name, struct str value,
                       struct err *err) WARN_UNUSED;
/* Those of the question and of the call as bytes, and back. */
struct bytes;
void option_write(struct sb *b, const struct options *o);
enum status option_read(struct options *o, struct bytes *b,
                        struct err *err) WARN_UNUSED;

struct prepared;
struct ledger;

/* A ledger between two questions of one process. */
struct kept_ledger {
    struct mem mem;
    struct ledger_group *group; /* who share their syncs; NULL: nobody */
    struct ledger *ledger;      /* NULL: none, or it is in use */
};

/*
 * One call: the options of both sides together, the memory it may use, and how
 * to stop it.
 */
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
    atomic_bool *cancel; /* set from elsewhere; NULL: cannot be */
    int asker;           /* in a server's child: who waits for it; 0: nobody */
    /* What an open data set has read already; NULL: nothing. */
    const struct prepared *base;
    int steward, engine; /* its processes: descriptors; 0: none */
    bool detached; /* in a child of the steward, which outlives who asked */
    struct kept_ledger *kept; /* where a ledger stays open; NULL: nowhere */
    void *known; /* fingerprints of its files: validity.h; may be NULL */
    /* set while a release runs: CLOCK_MONOTONIC nanoseconds; 0: none */
    int64_t deadline_ns;
    bool discreet; /* a release runs: progress shows no numbers */
};

enum status session_new(struct session **out, struct err *err) WARN_UNUSED;
void session_free(struct session *s);
/* A call begins on this thread. */
void session_begin(struct session *s);
/* Did the user cancel, or did the deadline pass? For long computations, from
 * any thread; only the one that called tells the user and asks the clock, ten
 * times a second at most. */
bool session_cancelled(void *session);
/* Was it told to stop? Neither clock nor user is asked. */
bool session_stopped(const struct session *s);
/* From now on nobody can stop it but the deadline. */
void session_go_on(struct session *s);
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

#endif
