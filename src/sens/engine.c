/*
 * The two counters of a program: the embedded join engine over rows that are
 * loaded, and a database that is sent SQL.
 */
#include "sens/sens.h"

static enum status engine_max(void *ctx, aset f, vset boundary, vset outs,
                              u128 *out, struct err *err)
{
    return join_max(ctx, f, boundary, outs, out, err);
}

static enum status engine_max_exact(void *ctx, aset f, vset boundary, vset outs,
                                    u128 *out, struct err *err)
{
    return join_max_exact(ctx, f, boundary, outs, out, err);
}

static enum status engine_count(void *ctx, struct secret_count *out,
                                struct err *err)
{
    return join_count(ctx, out, err);
}

static enum status engine_groups(void *ctx, const struct value *keys, size_t n,
                                 struct secret_count *out, struct err *err)
{
    return join_count_groups(ctx, keys, n, out, err);
}

struct sens_counter sens_engine(struct join *j)
{
    return (struct sens_counter){.ctx = j,
                                 .max = engine_max,
                                 .max_exact = engine_max_exact,
                                 .count = engine_count,
                                 .groups = engine_groups};
}

struct sens_counter sens_database(struct pushdown *p)
{
    return (struct sens_counter){.ctx = p,
                                 .max = pushdown_max,
                                 .max_exact = pushdown_max_exact,
                                 .prepare = pushdown_prepare,
                                 .count = pushdown_count,
                                 .groups = pushdown_groups};
}
