/*
 * Filters treated exactly, row by row (see exact.c): a variable outside F is
 * an atom of one column, the positions that it may take, and in the boundary.
 *
 * Nothing is counted in such an atom, so most of them go before anything is:
 *
 *   one that is compared with another of them only matters by whether the
 *   other leaves it a position;
 *   one that is only a lower bound, or only an upper bound, of what it is
 *   compared with: at its least, or largest, position every row passes that
 *   passes at any other. Counts never fall when more rows pass, so no other
 *   position has to be tried.
 *
 * What is left is searched like any other boundary.
 *
 * The last rule is also that of an atom of F with variables of the boundary
 * only. Where another atom has the rest of it, and at most one of its own
 * variables is compared, and from one side: the rest says which value of that
 * is the least (or largest) beside it, so that it only matters whether there is
 * a row. An atom of one variable that none other has (a key table) may be
 * compared with several.
 */
#include "join/rows/rows.h"

static enum status open_positions(struct rows *x, uint32_t v,
                                  struct rows_atom *e, struct err *err)
{
    uint32_t most = rows_ids(x, v) - 1; /* see walk_plan.c */
    uint32_t *pos = NEWS(x->a, uint32_t, most);
    e->vars = NEWS(x->a, uint32_t, 1);
    e->cols = NEWS(x->a, const uint32_t *, 1);
    if (!pos || !e->vars || !e->cols)
        return err_nomem(err);
    for (uint32_t at = 0; at < most; at++)
        if (exact_allows(x->j, x->r, v, at))
            pos[e->n++] = at;
    e->is_outside = true;
    e->set = vset_one(v);
    e->n_cols = 1;
    e->vars[0] = v;
    e->cols[0] = pos;
    return OK;
}

enum status rows_open_outside(struct rows *x, struct err *err)
{
    VSET_EACH (v, x->r->outside)
        TRY(open_positions(x, v, &x->atoms[x->n++], err));
    return OK;
}

/* --- which way it is compared -----------------------------------------------
 */

enum way { WAY_NONE, WAY_LEAST, WAY_LARGEST, WAY_BOTH };

static vset live_vars(const struct rows *x, bool outside)
{
    vset s = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (!x->atoms[i].gone && x->atoms[i].is_outside == outside)
            s |= x->atoms[i].set;
    return s;
}

/* How the variable is compared with variables of F, if with those only. */
static enum way way_of(const struct rows *x, uint32_t v)
{
    vset inside = live_vars(x, false), outside = live_vars(x, true);
    unsigned way = WAY_NONE;
    for (uint32_t i = 0; i < x->r->n_cmps; i++) {
        const struct jcmp *c = &x->r->cmps[i];
        uint32_t other = c->l == v ? c->r : c->l;
        if ((c->l != v && c->r != v) || !vset_has(inside | outside, other))
            continue;
        if (c->op == CMP_NE || vset_has(outside, other))
            return WAY_BOTH;
        way |= c->l == v ? WAY_LEAST : WAY_LARGEST;
    }
    return (enum way)way;
}

/* The only value worth trying becomes the only row. */
static void keep_extreme(const struct rows *x, struct rows_atom *e,
                         enum way way)
{
    const uint32_t *col = e->cols[0];
    uint32_t best = e->n;
    for (uint32_t i = 0; i < e->n; i++)
        if (rows_counts(x, e, i) &&
            (best == e->n ||
             (way == WAY_LARGEST ? col[i] > col[best] : col[i] < col[best])))
            best = i;
    if (best < e->n)
        e->cols[0] += best;
    e->n = best < e->n;
    e->w = NULL;
}

/* --- going ------------------------------------------------------------------
 */

/* The one row of e against every atom of F that it is compared with; without
 * one there is no result. */
static enum status apply(struct rows *x, const struct rows_atom *e,
                         struct err *err)
{
    for (uint32_t i = 0; i < x->n && x->fits; i++) {
        struct rows_atom *f = &x->atoms[i];
        if (!f->gone && f != e && !f->is_outside)
            TRY(rows_fold(x, e, f, true, err));
    }
    return OK;
}

/* The atom takes part no more, and its variables are no boundary. */
static void leave(struct rows *x, struct rows_atom *e)
{
    e->gone = true;
    x->boundary &= ~e->set;
}

/* Gone, unless values on both sides have to be tried. */
static enum status settle(struct rows *x, struct rows_atom *e, struct err *err)
{
    enum way way = way_of(x, e->vars[0]);
    if (way == WAY_BOTH)
        return OK;
    keep_extreme(x, e, way);
    TRY(apply(x, e, err));
    leave(x, e);
    return OK;
}

static enum status go(struct rows *x, struct rows_atom *e, struct err *err)
{
    for (uint32_t i = 0; i < x->n && !e->gone; i++) {
        struct rows_atom *f = &x->atoms[i];
        if (f == e || f->gone || !f->is_outside || !rows_is_ear(x, e, f))
            continue;
        TRY(rows_fold(x, e, f, true, err));
        leave(x, e);
    }
    return e->gone || !live_vars(x, false) ? OK : settle(x, e, err);
}

enum status rows_fold_outside(struct rows *x, struct err *err)
{
    bool went = true;
    while (went && x->fits) {
        went = false;
        for (uint32_t i = 0; i < x->n && x->fits; i++) {
            struct rows_atom *e = &x->atoms[i];
            if (!e->is_outside || e->gone)
                continue;
            TRY(go(x, e, err));
            went = went || e->gone;
        }
    }
    return OK;
}

/* All of the boundary, and no row weighs more than another: which values are
 * taken matters to the others alone. */
static bool only_asked(const struct rows *x, const struct rows_atom *e)
{
    return !e->gone && !e->is_outside && !e->is_keys && !e->counts &&
           vset_sub(e->set, x->boundary);
}

/* Of the values that its own variables take beside the same common ones, does
 * one leave to f all that any leaves it? */
static bool one_serves(const struct rows *x, const struct rows_atom *e,
                       const struct rows_atom *f)
{
    vset own = e->set & ~f->set;
    uint32_t n_compared = 0;
    VSET_EACH (v, own) {
        enum way way = way_of(x, v);
        if (way == WAY_BOTH)
            return false;
        n_compared += way != WAY_NONE;
    }
    return n_compared < 2;
}

static bool alone(const struct rows *x, const struct rows_atom *e)
{
    vset others = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (!x->atoms[i].gone && &x->atoms[i] != e)
            others |= x->atoms[i].set;
    return !(others & e->set);
}

/* The atom into which e can go, with its own variables. */
static struct rows_atom *place_of(const struct rows *x,
                                  const struct rows_atom *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        struct rows_atom *f = &x->atoms[i];
        if (f != e && !f->gone && !f->is_outside && rows_is_ear(x, e, f) &&
            one_serves(x, e, f))
            return f;
    }
    return NULL;
}

enum status rows_fold_extreme(struct rows *x, bool *went, struct err *err)
{
    for (uint32_t i = 0; i < x->n && x->fits; i++) {
        struct rows_atom *e = &x->atoms[i], *f;
        if (!only_asked(x, e))
            continue;
        if ((f = place_of(x, e))) {
            vset own = e->set & ~f->set;
            TRY(rows_fold(x, e, f, true, err));
            e->gone = true;
            x->boundary &= ~own;
        } else if (e->n_cols == 1 && alone(x, e)) {
            TRY(settle(x, e, err));
        }
        *went = *went || e->gone;
    }
    return OK;
}
