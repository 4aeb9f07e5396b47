/*
 * One release, from the request to the answer. What the files of the pipeline
 * share: request.c asks and admit.c refuses (public), keeper.c charges,
 * waits and stores, draw.c counts and draws (private), release.c answers.
 */
#ifndef RELEASE_RELEASE_INT_H
#define RELEASE_RELEASE_INT_H

#include "release/answer.h"
#include "release/binding.h"
#include "release/evaluate.h"
#include "release/strict.h"
#include "release/validity.h"

/* row_engine.c: which columns the question needs. */
struct engine_wishes {
    struct engine_wish *list;
    size_t n;
};

struct release {
    struct session *session;
    struct prepared p;           /* the request: schema, source, counts */
    struct priced *priced;       /* p.n_counts of them; NULL before */
    struct released *counts;     /* as many: requests to the ledger, answers */
    struct ledger *ledger;       /* NULL: nothing is to be paid, or not open */
    struct ledger_policy policy; /* that the prices are for */
    struct ledger_hold *hold;    /* NULL: nothing is paid yet */
    struct budget_view budget;
    struct evaluated data;       /* private rows */
    struct ledger_limits limits; /* the owner's */
    /* Nanoseconds: when the question came (CLOCK_MONOTONIC), and how long
     * after that the reply is due (0: when it is ready). */
    int64_t start_ns, after_ns;
    bool apart;               /* averages get two draws: the ledger adds rho */
    bool isolated;            /* rows are read in a process of their own */
    struct str catalogue;     /* of the source, when the question came */
    struct validity validity; /* of its content */
    struct engine_wishes wishes;
    struct strict_limits strict; /* of the ledger */
};

/* request.c: everything that is public. Reads the query, chooses, opens the
 * ledger. */
enum status release_quote(struct release *r, struct str text,
                          struct err *err) WARN_UNUSED;
/* Its first half, which needs no ledger: the query, its bounds, the choice. */
enum status release_derive(struct release *r, struct str text,
                           enum source_need need, struct err *err) WARN_UNUSED;
/* Everything that decides the law of a count's answer, as a text; p is NULL
 * without memory. */
struct str release_law(const struct priced *c);
/* told_guess.c: --guess earlier, from the ledger. */
enum status release_told_guess(struct release *r, struct err *err) WARN_UNUSED;
/* Opens the ledger, and reads the balance. */
enum status release_open_ledger(struct release *r, struct err *err) WARN_UNUSED;
/* Closes it, or, if nothing of the question is left in it, keeps it for the
 * next one. */
void release_leave_ledger(struct release *r, bool whole);
/* Takes what the ledger has stored, and answers that no private row can
 * change: sets `done`. */
enum status release_known(struct release *r, struct err *err) WARN_UNUSED;
/* Is x->answer, which somebody else wrote, one to this question? E_LEDGER. */
enum status release_fits(const struct released *x, struct err *err) WARN_UNUSED;
/* Is anything left to count, and to pay? */
bool release_left(const struct release *r);
bool release_costs(const struct release *r);
/* Must this count be paid and drawn? */
bool release_charged(const struct released *x);
/* Is it drawn together with the next one? */
bool release_is_pair(const struct released *x);

/* admit.c: what else can be refused before the hold, from public facts: the
 * engine, what a server's planner refuses, random bytes, the budget. It closes
 * the source. */
enum status release_admit(struct release *r, struct err *err) WARN_UNUSED;
/* The counts that are paid for, in their order. */
enum status release_charges(struct release *r, struct ledger_charge **out,
                            size_t *n, struct err *err) WARN_UNUSED;
/* What the noise hangs on: columns, types and keys of the tables asked. */
enum status release_catalogue(struct release *r, struct str *out,
                              struct err *err) WARN_UNUSED;

/* moment.c: the question begins; what the open ledger and the options say of
 * limits; when the reply is due (0: when it is ready). */
void moment_begin(struct release *r);
enum status moment_read(struct release *r, struct err *err) WARN_UNUSED;
int64_t moment_due(const struct release *r);
/* For child_run: milliseconds to wait for the worker, or -1 to end it. Takes a
 * struct release that has its hold; books a miss. */
int moment_left(void *release);
/* Sleeps until the reply is due. PRIVACY: everything whose time depends on rows
 * is over by then. */
void moment_wait(struct release *r);
uint64_t moment_processor_seconds(const struct release *r, unsigned threads);

/* keeper.c: holds the charge, has the answers drawn, and stores them: in a
 * process of its own that goes on when this one is told to stop. PRIVACY:
 * after the hold it ends with OK, E_LOCKED, or E_LEDGER_IO. */
enum status release_keep(struct release *r, struct err *err) WARN_UNUSED;
/* What the worker does: loads, unless r->data has the rows, counts and draws;
 * the answers as the keeper takes them. The only function that has private
 * rows. A child_fn of a struct release. */
enum status release_work(void *release, struct str *out, struct err *err);
/* Nobody waits any more, or could know how it ended. */
enum status release_detached(struct err *err);

/* To the file of --owner-log: reasons that only the owner may see. */
void release_log(const struct release *r, const struct err *e);

/* draw.c: loads, counts and draws what is left. PRIVACY: after the hold only,
 * where something is charged; a failure may depend on private rows. */
enum status release_draw(struct release *r, struct err *err) WARN_UNUSED;
/* draw_entity.c: a count whose threshold is elected. */
enum status release_draw_entity(struct released *r, struct evaluated *data,
                                struct entropy *rng,
                                struct err *err) WARN_UNUSED;
/* public_number.c: a count that no private row changes. E_INTERNAL for any
 * other choice. */
enum status release_public_number(const struct choice *c,
                                  const struct secret_count *count, mpz_t out,
                                  struct err *err) WARN_UNUSED;
/* A key that passed the threshold; only the first so many are kept. */
enum status release_show_key(struct released *r, struct value *key,
                             mpz_srcptr number, struct err *err) WARN_UNUSED;
enum status release_push_number(struct arena *a, str_list *to, mpz_srcptr v,
                                struct err *err) WARN_UNUSED;

#endif
