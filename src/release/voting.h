/*
 * An election on its way: scores of the thresholds, the one that is elected,
 * the truncated count at it. What draw_entity.c and draw_groups.c share.
 * PRIVACY: after the hold only.
 */
#ifndef RELEASE_VOTING_H
#define RELEASE_VOTING_H

#include "entity/contrib.h"
#include "entity/listed.h"
#include "entity/score.h"
#include "release/release_int.h"

struct voting {
    struct released *r;
    const struct election *e;
    struct session *session;
    struct listed *listed; /* by the database; NULL: from rows */
    struct contrib_lister lister;
    struct contrib *from;
    struct pack *pack; /* of all results, or of those of one group */
    /* Lists again with a smaller floor; NULL: all results of `from`. */
    enum status (*lower)(void *from, struct pack_input *in, struct err *err);
    void *lower_from;
    /* What is left at a threshold; NULL: all is listed (pack.h). */
    enum status (*core)(void *from, uint64_t t, struct pack_core *out,
                        struct err *err);
    struct entropy *rng;
    mpq_t score[ELECT_GRID_MAX], least[ELECT_GRID_MAX];
    mpq_t divisor[ELECT_GRID_MAX];
    struct secret_scale m;
    mpz_t out; /* the last number that was drawn */
};

/* Who contributes what, by `group` if it is not NULL. */
enum status
release_voting_open(struct voting *v, struct evaluated *data,
                    enum status (*group)(void *ctx, const struct value *key,
                                         uint32_t *out, struct err *err),
                    void *ctx, struct err *err) WARN_UNUSED;
/* Weighs the thresholds by the results of `in`, and elects: grid[*out]. */
enum status release_elect(struct voting *v, const struct pack_input *in,
                          unsigned *out, struct err *err) WARN_UNUSED;
/* The truncated count at grid[j] with noise: v->out. */
enum status release_elected_number(struct voting *v, unsigned j,
                                   struct err *err) WARN_UNUSED;
/* The number in v->m with noise for grid[j]: v->out. */
enum status release_add_noise(struct voting *v, unsigned j,
                              struct err *err) WARN_UNUSED;
/* Adds grid[j], and for its share of the price what was cut, to the answer. */
enum status release_elected_facts(struct voting *v, unsigned j,
                                  struct err *err) WARN_UNUSED;

/* draw_groups.c: all groups of GROUP BY. */
enum status release_draw_groups(struct voting *v, struct evaluated *data,
                                struct err *err) WARN_UNUSED;

#endif
