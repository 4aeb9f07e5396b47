/*
 * The embedded join engine as the source of the T_F.
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

struct sens_counter sens_engine(struct join *j)
{
    return (struct sens_counter){j, engine_max, engine_max_exact, NULL};
}

enum status sens_compute(struct arena *a, const struct cq *q, struct join *j,
                         const struct sens_options *opt, struct sens *out,
                         struct err *err)
{
    struct sens_counter c = sens_engine(j);
    return sens_compute_with(a, q, &c, opt, out, err);
}
