/*
 * Strict mode: a question is admitted only if its work, from the query,
 * declared bounds and the sizes of public tables alone, is within what the
 * owner allows. Then whether it is done in time depends on no private row.
 */
#ifndef RELEASE_STRICT_H
#define RELEASE_STRICT_H

#include "release/choose.h"

struct strict_limits {
    struct str strict, work_at_most, memory; /* texts as the owner wrote them */
};

/*
 * Nothing unless one of the two says so. Else sets p->steady and p->work, and
 * turns a choice of noise measured on the data, where that is too costly and
 * nobody asked for it, into noise by the global bound. E_TOO_COSTLY, with what
 * would help; E_UNSUPPORTED for questions whose work nothing bounds.
 */
enum status strict_admit(struct prepared *p, struct priced *counts,
                         const struct strict_limits *ledger,
                         struct err *err) WARN_UNUSED;

/* The order that the work was bounded for, for a join over q. */
enum status strict_order(struct prepared *p, const struct cq *q,
                         struct join_options *out, struct err *err) WARN_UNUSED;

/* strict_cost.c: the most steps and bytes of one count, with or without the
 * sensitivity. U128_INF: no bound. rows: by table, what is known beside
 * declarations; enough: beyond so much it may stop. */
struct strict_cost {
    u128 work, memory;
};
enum status strict_cost(const struct priced *c, const u128 *rows, bool measured,
                        u128 enough, struct strict_cost *out,
                        struct err *err) WARN_UNUSED;

#endif
