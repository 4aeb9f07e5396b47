/*
 * The choice of mechanism and its price, from public facts only: the query,
 * the policy, the options, the number of groups. The quote is this and
 * nothing else; the release does exactly what the quote said.
 */
#ifndef RELEASE_CHOOSE_H
#define RELEASE_CHOOSE_H

#include "ledger/ledger.h"
#include "noise/elect.h"
#include "release/group_keys.h"
#include "release/prepare.h"
#include "sens/sens.h"

struct choice {
    struct guarantee total; /* asked for, and paid */
    struct price price;
    bool exact;         /* nothing private is read: no noise, no price */
    struct noise noise; /* of each answer */
    uint64_t n_groups;  /* 0: no GROUP BY, or keys found in the data */
    bool thresholded;   /* keys are found in private rows */
    bool elected;       /* of entities: how much each may contribute */
    struct election election;
    mpz_t threshold;     /* thresholded: noisy counts below it stay hidden */
    unsigned degree;     /* smooth only, as all below */
    mpq_t beta;          /* of the smooth sensitivity S */
    mpq_t factor;        /* noise is drawn with factor * S */
    mpq_t floor;         /* S is at least this, whatever the data */
    mpq_t error_epsilon; /* for the error estimate; 0: none */
    mpq_t error_beta;
    u128 clamped_at; /* C, if so many rows could be counted; else U128_INF */
    /* display; in units of S if smooth, of the threshold if elected */
    struct noise_error error;
    struct str reason;    /* a sentence */
    struct str guarantee; /* a sentence */
};
void choice_init(struct choice *c);
void choice_fini(struct choice *c);

/* Reads epsilon, delta, rho; E_VALUE, E_USAGE. */
enum status choose_guarantee(struct str epsilon, struct str delta,
                             struct str rho, struct guarantee *out,
                             struct err *err) WARN_UNUSED;
/* E_UNBOUNDED with advice if no mechanism has a guarantee. `q` is bounded. */
enum status choose(struct count *q, const struct group_keys *k,
                   struct choice *out, struct err *err) WARN_UNUSED;
/* A count with its keys and its price. */
struct priced {
    struct count *q;
    struct group_keys keys;
    struct choice choice;
};
/* For every count of the request. Release with priced_fini, also after a
 * failure; *out is NULL without memory. */
enum status choose_all(struct prepared *p, struct priced **out,
                       struct err *err) WARN_UNUSED;
void priced_fini(struct prepared *p, struct priced *counts);
/* choose_threshold.c: the mechanism for keys that are found in private rows. */
enum status choose_threshold(struct count *q, struct choice *c,
                             struct err *err) WARN_UNUSED;
/* choose_entity.c: where the unit is an entity with its rows. */
enum status choose_entity(struct count *q, const struct group_keys *k,
                          struct choice *c, struct err *err) WARN_UNUSED;
/* "election", "discrete-laplace", ...; "none" */
const char *choice_mechanism(const struct choice *c);
/* What choose and choose_threshold share. */
enum status choose_global(struct count *q, enum noise_kind kind,
                          struct choice *c, struct err *err) WARN_UNUSED;
enum status choose_unbounded(struct count *q, const char *why,
                             struct err *err) WARN_UNUSED;
/* Restates a price in rho as (epsilon, delta), if delta was given: for ledgers
 * that add those. */
void choose_price_for_sums(struct choice *c);

#endif
