/*
 * Contributions: the results of a query by their owners, as the packing
 * problem (pack.h) takes them.
 *
 * With one owner a tuple is an entity and what it has. With several, owners
 * that have little are not told apart while the join runs: first what each
 * owner has at most (one grouped count for each owner variable; a result is
 * counted once for each of its owner variables that is the entity, which is
 * harmless, PROOF.md claim 2), then one grouped count in which owners with at
 * most `floor` are one. So the number of tuples depends on the heavy owners,
 * not on the results.
 *
 * With GROUP BY the caller numbers the groups, and the tuples come sorted by
 * those numbers (entity_groups.h).
 *
 * OWNER: everything here is secret.
 */
#ifndef ENTITY_CONTRIB_H
#define ENTITY_CONTRIB_H

#include "entity/pack.h"
#include "entity/view.h"
#include "join/join.h"

struct contrib;

typedef enum status (*contrib_each)(void *ctx, const struct value *key,
                                    u128 count, struct err *err);
/* Owners with more than the floor: has[i] is what owner i has. */
struct contrib_heavy {
    const u128 *has;
    u128 floor;
};
/* One count for each value of the owner variables `vars` and of the first
 * `more` of what is counted (view_query). */
struct contrib_question {
    uint32_t vars, more;
    /* All other owners are CONTRIB_LIGHT; NULL: all are told apart. */
    const struct contrib_heavy *heavy;
};
enum { CONTRIB_LIGHT = -1 };
/* Who answers in place of the rows (listed.h). Owners come as numbers from 0,
 * below `owners`, each owner with one in all answers. */
struct contrib_lister {
    enum status (*list)(void *ctx, const struct contrib_question *what,
                        contrib_each each, void *each_ctx, struct err *err);
    uint32_t (*owners)(const void *ctx);
    void *ctx;
};

struct contrib_options {
    /* NULL: the rows of the store. */
    const struct contrib_lister *lister;
    struct join_options join;
    /* Entities to be told apart, about; 0: fewer, the more owners a result
     * has, since tuples are of all of them. */
    uint32_t heavy;
    /* Where the query allows it (join/census.h) nothing is listed until
     * contrib_lower asks, and contrib_core tells what is left at a threshold.
     * Several owners, no groups, no witnesses. */
    bool peel;
    /* The number of a group by its key (q->n_group values): results of
     * CONTRIB_NO_GROUP are left out. NULL: groups are not told apart. */
    enum status (*group)(void *ctx, const struct value *key, uint32_t *out,
                         struct err *err);
    void *group_ctx;
};
#define CONTRIB_NO_GROUP UINT32_MAX

/* Opens the rows of a query. `c` is its completion; all stay the caller's, the
 * lister too. */
enum status contrib_open(struct mem *m, const struct cq *q,
                         const struct completion *c, const struct store *st,
                         const struct contrib_options *opt,
                         struct contrib **out, struct err *err) WARN_UNUSED;
void contrib_close(struct contrib *x); /* NULL allowed */

/* What there is to pack, for thresholds from `floor` on, which the first call
 * chooses. It lives until the next call of contrib_lower or the close. */
const struct pack_input *contrib_input(const struct contrib *x);
/* The group of each tuple, rising; NULL: they are not told apart. */
const uint32_t *contrib_group(const struct contrib *x);
/* Gives group i the number to[i] (a permutation of 0 .. n-1), now and after
 * contrib_lower; once, where all numbers are below n. */
enum status contrib_renumber(struct contrib *x, const uint32_t *to, size_t n,
                             struct err *err) WARN_UNUSED;
/* Halves the floor at least once; false in *done: it is 0 already. */
enum status contrib_lower(struct contrib *x, bool *done,
                          struct err *err) WARN_UNUSED;
/* Is there a contrib_core? Then there are no tuples at first, and the floor is
 * above PACK_T_MAX. */
bool contrib_peels(const struct contrib *x);
/* What is left to pack at t (peel.h); until the next call. */
enum status contrib_core(struct contrib *x, uint64_t t, struct pack_core *out,
                         struct err *err) WARN_UNUSED;
/* An interval of Q(D, t), with a core: peel_bounds. */
enum status contrib_bounds(struct contrib *x, uint64_t t, u128 *lo, u128 *hi,
                           struct err *err) WARN_UNUSED;
/* Entities with a result; known with several owners only. */
uint64_t contrib_entities(const struct contrib *x);
/* At least Q(D, t), for a power of two t, several owners: with the results of
 * each value of one owner variable cut at t, the least over the variables. */
u128 contrib_above(const struct contrib *x, uint64_t t);

#endif
