/*
 * Pushdown: the database computes counts and residual maxima with SQL that is
 * written here; no row is loaded. PostgreSQL and engines with its protocol.
 * The numbers are those of join_max (join.h); what the database might compute
 * differently is E_UNSUPPORTED, said when the counter is opened. The functions
 * fit struct sens_counter (sens.h). exact: pushdown_max_exact will be
 * asked too.
 */
#ifndef PUSHDOWN_PUSHDOWN_H
#define PUSHDOWN_PUSHDOWN_H

#include "base/secret_count.h"
#include "source/source.h"

struct pushdown;
enum status pushdown_open(struct source *src, const struct cq *q, bool exact,
                          const struct progress *p, struct pushdown **out,
                          struct err *err) WARN_UNUSED;
void pushdown_close(struct pushdown *c); /* NULL allowed */
/* A request to pushdown_max or, if exact, pushdown_max_exact. */
struct pushdown_ask {
    aset f;
    vset boundary, outs;
    bool exact;
};
/* Will be asked: the database answers them together, and what several need it
 * computes once. The answers are remembered. */
enum status pushdown_prepare(void *ctx, const struct pushdown_ask *asks,
                             size_t n, struct err *err) WARN_UNUSED;
/* ctx is the struct pushdown. */
enum status pushdown_max(void *ctx, aset f, vset boundary, vset outs, u128 *out,
                         struct err *err) WARN_UNUSED;
enum status pushdown_max_exact(void *ctx, aset f, vset boundary, vset outs,
                               u128 *out, struct err *err) WARN_UNUSED;
enum status pushdown_count(void *ctx, struct secret_count *out,
                           struct err *err) WARN_UNUSED;
/* GROUP BY: one count for each of the keys, as join_count_groups. */
enum status pushdown_groups(void *ctx, const struct value *keys, size_t n_keys,
                            struct secret_count *out,
                            struct err *err) WARN_UNUSED;
/* From now on statements are planned by the database and not run: E_UNSUPPORTED
 * where its planner refuses one, and all answers are 0 and not remembered.
 * PRIVACY: so that what a planner refuses is refused before a charge. Planners
 * go by catalogue and statistics; that no row decides is assumed of them. */
void pushdown_plan_only(struct pushdown *c, bool yes);
/* Statements sent so far: equal components are asked once. */
uint64_t pushdown_statements(const struct pushdown *c);

#endif
