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

/* How the groups of GROUP BY share elections (choose_entity.c). */
enum elected_by {
    GROUPS_NONE, /* no GROUP BY */
    GROUPS_EACH, /* an election each, at the whole price: no entity is in two */
    GROUPS_VECTOR, /* one election; an entity's vector over groups is cut */
    GROUPS_SPLIT   /* an election each, that share the price */
};

/* What the noise is for. A choice becomes one of these (choice_become) and has
 * the fields of that one alone. */
enum choice_kind {
    CHOICE_GLOBAL,    /* a bound that holds whatever the data */
    CHOICE_EXACT,     /* nothing private is read: no noise, no price */
    CHOICE_SMOOTH,    /* measured on the data: `smooth` */
    CHOICE_THRESHOLD, /* keys found in private rows: `threshold` */
    CHOICE_ENTITY     /* how much an entity contributes is elected: `entity` */
};

struct choice_smooth {
    unsigned degree;
    mpq_t beta;          /* of the smooth sensitivity S */
    mpq_t factor;        /* noise is drawn with factor * S */
    mpq_t floor;         /* S is at least this, whatever the data */
    u128 most;           /* and at most this, the global one; or U128_INF */
    mpq_t error_epsilon; /* for the error estimate; 0: none */
};

struct choice_entity {
    struct election election;
    enum elected_by grouping;
    bool keys_found; /* in private rows */
    mpz_t threshold; /* keys_found: of a key, at the largest candidate */
};

struct choice {
    enum choice_kind kind;
    struct guarantee total; /* asked for, and paid */
    struct price price;
    struct noise noise; /* of each answer */
    uint64_t n_groups;  /* 0: no GROUP BY, or keys found in the data */
    union {
        struct choice_smooth smooth;
        mpz_t threshold; /* noisy counts below it stay hidden */
        struct choice_entity entity;
    };
    struct count *joint; /* the sum of an average, drawn together with its
                            number: of both; NULL: a draw of its own */
    bool is_signed;      /* a total may be negative */
    uint32_t scale;      /* numbers are in units of 10^-scale */
    u128 clamped_at; /* C, if so many rows could be counted; else U128_INF */
    /* display; in units of S if CHOICE_SMOOTH, of the threshold if ENTITY */
    struct noise_error error;
    struct str reason;    /* a sentence */
    struct str guarantee; /* a sentence */
};
void choice_init(struct choice *c);
void choice_fini(struct choice *c);
/* Gives up what it was, noise and all; the fields of the new kind are zero,
 * `factor` one and `most` no bound. */
void choice_become(struct choice *c, enum choice_kind kind);
/* Keys are found in private rows. */
bool choice_finds_keys(const struct choice *c);

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
/* choose_pair.c: averages get one draw for both numbers where that is better;
 * and two again, for ledgers that add up rho: there one draw costs twice what
 * two halves do. */
enum status choose_pairs(struct prepared *p, struct priced *counts,
                         struct err *err) WARN_UNUSED;
enum status choose_apart(struct prepared *p, struct priced *counts,
                         struct err *err) WARN_UNUSED;
/* guarantee_text.c: what is guaranteed, in words, and clamped_at. */
void choose_guarantee_text(struct count *q, struct choice *c);
/* choose_threshold.c: the mechanism for keys that are found in private rows. */
enum status choose_threshold(struct count *q, struct choice *c,
                             struct err *err) WARN_UNUSED;
/* choose_error.c: epsilon by --error, where it is given. */
enum status choose_for_error(struct prepared *p, const struct priced *counts,
                             struct err *err) WARN_UNUSED;
/* So many epsilons of three digits are looked through; as a text. */
enum { CHOOSE_EPSILONS = 9 * 900 };
struct str choose_epsilon_text(struct arena *a, unsigned i);
/* The first of them that gives the error, for all counts; CHOOSE_EPSILONS: none
 * does. */
enum status choose_epsilon_for(struct prepared *p, const struct priced *counts,
                               double p95, unsigned *out,
                               struct err *err) WARN_UNUSED;
/* Noise measured on the data. */
enum status choose_smooth(struct count *q, struct choice *c,
                          struct err *err) WARN_UNUSED;
/* choose_entity.c: where the unit is an entity with its rows. */
enum status choose_entity(struct count *q, const struct group_keys *k,
                          struct choice *c, struct err *err) WARN_UNUSED;
/* "election", "discrete-laplace", ...; "none" */
const char *choice_mechanism(const struct choice *c);
/* Becomes `as` (GLOBAL, THRESHOLD) with noise for the global bound. */
enum status choose_global(struct count *q, enum choice_kind as,
                          enum noise_kind kind, struct choice *c,
                          struct err *err) WARN_UNUSED;
enum status choose_unbounded(struct count *q, const char *why,
                             struct err *err) WARN_UNUSED;
/* Noise by the global bound, which is finite, in place of noise measured on the
 * data: strict.c. The price stays. */
enum status choose_without_data(struct count *q, struct choice *c,
                                struct err *err) WARN_UNUSED;
/* Restates a price in rho as (epsilon, delta), if delta was given: for ledgers
 * that add those. */
void choose_price_for_sums(struct choice *c);

#endif
