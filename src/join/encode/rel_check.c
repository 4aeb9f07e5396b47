/*
 * What a relation promises, looked at again: for builds that check their
 * objects (DPC_CHECKS).
 */
#include "join/join_int.h"

static bool ids_inside(const struct join *j, const struct rel *r)
{
    for (uint32_t c = 0; c < r->n_cols; c++)
        for (uint32_t i = 0; i < r->n; i++)
            if (r->cols[c][i] >= j->doms[r->dom[c]].n)
                return false;
    return true;
}

/* Row i comes strictly after the one before it. */
static bool is_after(const struct rel *r, uint32_t i)
{
    for (uint32_t c = 0; c < r->n_cols; c++)
        if (r->cols[c][i - 1] != r->cols[c][i])
            return r->cols[c][i - 1] < r->cols[c][i];
    return false;
}

const char *rel_check(const struct join *j, const struct rel *r)
{
    if (r->id >= j->rels.n || j->rels.p[r->id] != r)
        return "rel: its number is another's";
    for (uint32_t c = 0; c < r->n_cols; c++)
        if (r->dom[c] >= j->n_doms)
            return "rel: a column without a domain";
    if (!ids_inside(j, r))
        return "rel: an id outside of its domain";
    for (uint32_t i = 1; i < r->n; i++)
        if (!is_after(r, i))
            return "rel: rows not sorted, or not distinct";
    return NULL;
}
