/*
 * Truncation: how much of a count or sum is left when no entity may have more
 * than t of it.
 *
 *   Q(D, t) = max sum of x_r,  0 <= x_r <= w_r,
 *             for every entity u: the x_r of u's results sum to at most t
 *
 * over results r with weights w_r and owners. With witnesses (COUNT(DISTINCT)
 * whose answers do not determine their owners) x stands for witnesses and an
 * answer counts at most once, however many witnesses it has. Inserting or
 * deleting an entity changes Q(D, t) by at most t (PROOF.md, claim 1).
 *
 * A value is an interval that certainly holds Q(D, t), in units of 2^-30, not
 * wider than t/64; exact with one owner and, without witnesses, with two. The
 * floating-point solver inside proposes, integers decide.
 * Knows nothing of epsilon. One thread at a time.
 */
#ifndef ENTITY_PACK_H
#define ENTITY_PACK_H

#include <stdint.h>
#include "base/checked.h"
#include "base/err.h"
#include "base/mem.h"

/* In the place of an owner that has at most `floor`; with two or more owners
 * only. Results of public rows alone are no tuples. */
#define PACK_NONE UINT32_MAX
enum { PACK_UNIT = 30, PACK_OWNERS_MAX = 16, PACK_ETA = 64 };
/* Larger thresholds are not asked for. */
#define PACK_T_MAX ((uint64_t)1 << 63)

/*
 * What is packed: n tuples of k owners. The same owner twice in a tuple is one
 * owner; the same tuple twice is two results. Everything stays the caller's
 * and must outlive the struct pack.
 */
struct pack_input {
    unsigned k;             /* 1 .. PACK_OWNERS_MAX */
    uint32_t entities;      /* ids are below this */
    size_t n;               /* below 2^32 */
    const uint32_t *ids;    /* k of each tuple */
    const u128 *weight;     /* NULL: 1 each; ignored with witnesses */
    u128 floor;             /* entities with at most that may stand as NONE */
    const uint32_t *answer; /* NULL, or: what tuple i is a witness of */
    uint32_t answers;       /* `answer` is below this */
};

struct pack_interval {
    u128 lo, hi; /* in units of 2^-PACK_UNIT */
};

/* What is left to pack at one threshold t when `peeled` entities were set aside
 * with t each (PROOF.md, claim 13). */
struct pack_core {
    bool listed; /* `in` has it all; floor 0 */
    struct pack_input in;
    uint32_t peeled;
};

struct pack_options {
    bool (*cancelled)(void *ctx);
    void *ctx;
    /* Lists again with a smaller floor, for values below it; NULL if the floor
     * is 0. What `in` pointed to before may be gone then. */
    enum status (*lower)(void *from, struct pack_input *in, struct err *err);
    void *from;
    /* Not NULL: asked first at every threshold; `in` of pack_open may then be
     * empty, with a floor above PACK_T_MAX. Where it does not list, `lower`
     * does. */
    enum status (*core)(void *from, uint64_t t, struct pack_core *out,
                        struct err *err);
};

struct pack;
enum status pack_open(struct mem *m, const struct pack_input *in,
                      const struct pack_options *opt, struct pack **out,
                      struct err *err) WARN_UNUSED;
void pack_close(struct pack *p);

/* Is every value exact (lo = hi)? Known from k and the kind of query. */
bool pack_exact(unsigned k, bool witnesses);
/* The interval of Q(D, t), 1 <= t <= PACK_T_MAX. Remembered.
 * Fails only for want of memory, or when cancelled. */
enum status pack_value(struct pack *p, uint64_t t, struct pack_interval *out,
                       struct err *err) WARN_UNUSED;
/* Can Q(D, t) be had from what is listed? */
bool pack_listed(const struct pack *p, uint64_t t);
/* The interval, if it was had already. */
bool pack_known(const struct pack *p, uint64_t t, struct pack_interval *out);
/* An upper bound of Q(D, t) as above, by what is listed: below the floor too,
 * where constraints of light entities are left out. U128_INF where a core does
 * not list. */
enum status pack_upper(struct pack *p, uint64_t t, u128 *out,
                       struct err *err) WARN_UNUSED;
/* An upper bound of Q(D, t) in units of 2^-PACK_UNIT that needs no solving;
 * t < 2^62. */
u128 pack_above_value(const struct pack *p, uint64_t t);

/* Entities with a result, those with more than t, the largest. With floor > 0
 * only entities above it are sure to be seen. */
uint64_t pack_entities(const struct pack *p);
uint64_t pack_exceeding(const struct pack *p, uint64_t t);
u128 pack_largest(const struct pack *p);
/* What one entity has: its results' weights, or its answers. */
u128 pack_load(const struct pack *p, uint32_t entity);

#endif
