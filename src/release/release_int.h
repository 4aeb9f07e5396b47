/*
 * One release, from the request to the answer. What the files of the pipeline
 * share: request.c asks (public), draw.c counts and draws (private),
 * release.c charges and answers.
 */
#ifndef RELEASE_RELEASE_INT_H
#define RELEASE_RELEASE_INT_H

#include "release/answer.h"
#include "release/evaluate.h"

struct release {
    struct session *session;
    struct prepared p;       /* the request: schema, source, counts */
    struct priced *priced;   /* p.n_counts of them; NULL before */
    struct released *counts; /* as many: requests to the ledger, answers */
    struct ledger *ledger;   /* NULL: nothing is to be paid */
    struct budget_view budget;
    struct evaluated data; /* private rows */
};

/* request.c: everything that is public. Reads the query, chooses, opens the
 * ledger. */
enum status release_quote(struct release *r, struct str text,
                          struct err *err) WARN_UNUSED;
/* Takes what the ledger has stored, and answers that no private row can
 * change: sets `done`. */
enum status release_known(struct release *r, struct err *err) WARN_UNUSED;
/* Is anything left to count, and to pay? */
bool release_left(const struct release *r);
bool release_costs(const struct release *r);

/* draw.c: counts and draws what is left. PRIVACY: after the hold only; a
 * failure may depend on private rows. */
enum status release_draw(struct release *r, struct err *err) WARN_UNUSED;

#endif
