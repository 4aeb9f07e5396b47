/*
 * The upper bound of one structure: chase, core, then for each private atom
 * what one row in its part can bring about, and for each table the sum over
 * its atoms, tightened (selfjoin_tighten.c).
 *
 * Cases. If the query itself, read as a database, breaks a constraint (three
 * values where two are allowed), every match identifies two of them. The
 * answers are then the union over the pairs, and so are the new ones: the
 * bounds of the cases add up. A case contained in another is left out.
 */
#include "bound/upper.h"
#include "witness/selfjoin_glue.h"

enum { MAX_DEPTH = 3, MAX_ROWS = 6 };

/* --- atoms and tables ----------------------------------------------------- */

static enum status bound_atom(struct arena *a, struct upper *u, uint32_t i,
                              struct work *work, struct err *err)
{
    struct upper_atom *at = &u->atoms[i];
    vset from = steps_set(&u->steps, u->t->atoms[i].el, u->t->atoms[i].n);
    from = steps_closure_fd(&u->steps, from);
    at->is_private = tab_private_atom(u->t, i);
    at->walk = at->plan = at->lp = U128_INF;
    if (!vset_sub(u->goal, steps_closure(&u->steps, from)))
        return OK;
    at->walk = steps_walk_product(&u->steps, from, u->goal);
    TRY(steps_plan(a, &u->steps, from, u->goal, work, &at->path, err));
    at->plan = at->path.cost;
    return upper_lp(a, &u->steps, from, u->goal, at->plan, work, &at->lp, err);
}

static struct upper_table *table_entry(struct upper *u, uint32_t table)
{
    for (size_t i = 0; i < u->n_tables; i++)
        if (u->tables[i].table == table)
            return &u->tables[i];
    u->tables[u->n_tables] = (struct upper_table){.table = table};
    return &u->tables[u->n_tables++];
}

const struct upper_table *upper_find(const struct upper *u, uint32_t table)
{
    for (size_t i = 0; i < u->n_tables; i++)
        if (u->tables[i].table == table)
            return &u->tables[i];
    return NULL;
}

u128 upper_max(const struct upper *u)
{
    u128 max = 0;
    for (size_t i = 0; i < u->n_tables; i++)
        if (u->tables[i].upper > max)
            max = u->tables[i].upper;
    return max;
}

static u128 least(u128 a, u128 b)
{
    return a < b ? a : b;
}

static enum status tighten_table(struct arena *a, struct upper *u,
                                 struct upper_table *tb, u128 total,
                                 struct work *work, struct err *err)
{
    u128 *each = NEWS(a, u128, u->t->n_atoms);
    if (!each)
        return err_nomem(err);
    for (uint32_t i = 0; i < u->t->n_atoms; i++)
        each[i] = u->atoms[i].lp;
    tb->upper = least(tb->lp, total);
    if (tb->lp == U128_INF || tb->upper <= 1)
        return OK;
    u128 tight;
    TRY(upper_tighten(a, u->t, tb->table, each, work, &tight, err));
    tb->upper = least(tb->upper, tight);
    return OK;
}

static enum status bound_tables(struct arena *a, struct upper *u,
                                struct work *work, struct err *err)
{
    u128 total;
    for (uint32_t i = 0; i < u->t->n_atoms; i++) {
        if (!tab_private_atom(u->t, i))
            continue;
        struct upper_table *tb = table_entry(u, u->t->atoms[i].table);
        TRY(bound_atom(a, u, i, work, err));
        tb->walk = u128_add_inf(tb->walk, u->atoms[i].walk);
        tb->plan = u128_add_inf(tb->plan, u->atoms[i].plan);
        tb->lp = u128_add_inf(tb->lp, u->atoms[i].lp);
    }
    /* No row can change the count by more than the count can be. */
    TRY(steps_outputs(a, &u->steps, 0, u->goal, work, &total, err));
    for (size_t i = 0; i < u->n_tables; i++)
        TRY(tighten_table(a, u, &u->tables[i], total, work, err));
    return OK;
}

/* A Boolean query is 0 or 1. */
static void bound_boolean(struct upper *u)
{
    for (uint32_t i = 0; i < u->t->n_atoms; i++) {
        u->atoms[i] = (struct upper_atom){
            1, 1, 1, {1, NULL, 0}, tab_private_atom(u->t, i)};
        if (!u->atoms[i].is_private)
            continue;
        struct upper_table *tb = table_entry(u, u->t->atoms[i].table);
        tb->walk = tb->plan = tb->lp = tb->upper = 1;
    }
}

/* --- cases ---------------------------------------------------------------- */

/* Is every answer of q one of p? A homomorphism from p to q that keeps the
 * answer shows it. */
static enum status contains(struct arena *a, const struct tab *p,
                            const struct tab *q, struct work *work, bool *yes,
                            struct err *err)
{
    uint32_t *map = NEWS(a, uint32_t, p->n_el);
    if (!map)
        return err_nomem(err);
    for (uint32_t e = 0; e < p->n_el; e++)
        map[e] = p->flag[e] & EL_CONST ? e : NO_EL;
    *yes = false;
    for (uint32_t i = 0; i < p->n_outs; i++) {
        uint32_t e = p->outs[i], f = q->outs[i];
        if (map[e] != NO_EL && map[e] != f)
            return OK;
        map[e] = f;
    }
    if (tab_has_filters(p))
        return OK;
    enum hom h;
    TRY(tab_hom(a, p, q, NO_ATOM, work, map, NULL, &h, err));
    *yes = h == HOM_YES;
    return OK;
}

static enum status add_case(struct arena *a, struct upper *u, struct tab *c,
                            struct work *work, struct err *err)
{
    size_t n = 0;
    bool yes;
    for (size_t i = 0; i < u->n_cases; i++) {
        TRY(contains(a, u->cases[i], c, work, &yes, err));
        if (yes)
            return OK;
    }
    for (size_t i = 0; i < u->n_cases; i++) {
        TRY(contains(a, c, u->cases[i], work, &yes, err));
        if (!yes)
            u->cases[n++] = u->cases[i];
    }
    u->cases[n++] = c;
    u->n_cases = n;
    return OK;
}

static enum status make_cases(struct arena *a, struct upper *u,
                              const struct dep *d, const uint32_t *rows,
                              uint32_t n, struct work *work, struct err *err)
{
    u->cases = NEWS(a, struct tab *, (size_t)n * n);
    if (!u->cases)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            struct tab *c;
            TRY(tab_copy(a, u->t, &c, err));
            const uint32_t *p = c->atoms[rows[i]].el;
            const uint32_t *q = c->atoms[rows[j]].el;
            for (uint32_t k = 0; k < d->n_y; k++)
                tab_union(c, p[d->y[k]], q[d->y[k]]);
            TRY(tab_chase(a, c, err));
            if (!c->unsat)
                TRY(add_case(a, u, c, work, err));
        }
    return OK;
}

static enum status sum_cases(struct arena *a, struct upper *u,
                             struct work *work, unsigned depth, struct err *err)
{
    u128 *sum = NEWS(a, u128, u->n_tables);
    if (!sum)
        return err_nomem(err);
    for (size_t i = 0; i < u->n_cases; i++) {
        struct upper c;
        TRY(upper_make(a, u->cases[i], work, depth + 1, &c, err));
        for (size_t k = 0; k < u->n_tables; k++) {
            const struct upper_table *tb = upper_find(&c, u->tables[k].table);
            if (tb)
                sum[k] = u128_add_inf(sum[k], tb->upper);
        }
    }
    u->pigeonhole = true;
    for (size_t k = 0; k < u->n_tables; k++)
        u->tables[k].upper = least(u->tables[k].upper, sum[k]);
    return OK;
}

/* Case distinction on a dependency that the tableau violates: two of its rows
 * must be one. The bound is the sum over the cases. */
static enum status split(struct arena *a, struct upper *u, struct work *work,
                         unsigned depth, struct err *err)
{
    uint32_t rows[MAX_ROWS], n;
    const struct dep *d = tab_violation(u->t, rows, MAX_ROWS, &n);
    if (!d || depth >= MAX_DEPTH)
        return OK;
    TRY(make_cases(a, u, d, rows, n, work, err));
    return sum_cases(a, u, work, depth, err);
}

/* --- all of it ------------------------------------------------------------ */

/* Chase and core, once; then steps and goal over what is left. */
static enum status prepare(struct arena *a, struct tab *t, struct work *work,
                           struct upper *u, struct err *err)
{
    TRY(tab_chase(a, t, err));
    if (!t->is_core)
        TRY(tab_core(a, t, work, err));
    u->t = t;
    u->complete_core = !work->exhausted;
    u->atoms = NEWS(a, struct upper_atom, t->n_atoms);
    u->tables = NEWS(a, struct upper_table, t->n_atoms);
    bool *keep = NEWS(a, bool, t->n_el);
    if (!u->atoms || !u->tables || !keep)
        return err_nomem(err);
    for (uint32_t i = 0; i < t->n_outs; i++)
        keep[t->outs[i]] = true;
    TRY(steps_of_tab(a, t, NULL, keep, &u->steps, err));
    u->goal = steps_set(&u->steps, t->outs, t->n_outs);
    return OK;
}

enum status upper_make(struct arena *a, struct tab *t, struct work *work,
                       unsigned depth, struct upper *out, struct err *err)
{
    *out = (struct upper){.t = t};
    TRY(prepare(a, t, work, out, err));
    if (t->unsat)
        return OK;
    if (out->goal == 0) {
        bound_boolean(out);
        return OK;
    }
    TRY(bound_tables(a, out, work, err));
    if (upper_max(out) > 1)
        TRY(split(a, out, work, depth, err));
    return OK;
}

/* --- the own atoms of a path ---------------------------------------------- */

static enum status bound_own(struct arena *a, struct upper *u, aset own,
                             struct work *work, struct err *err)
{
    u128 total;
    ASET_EACH (i, own) {
        if (!tab_private_atom(u->t, i))
            continue;
        struct upper_table *tb = table_entry(u, u->t->atoms[i].table);
        if (u->goal == 0) {
            tb->walk = tb->plan = tb->lp = tb->upper = 1;
            continue;
        }
        TRY(bound_atom(a, u, i, work, err));
        tb->walk = u128_add_inf(tb->walk, u->atoms[i].walk);
        tb->plan = u128_add_inf(tb->plan, u->atoms[i].plan);
        tb->lp = u128_add_inf(tb->lp, u->atoms[i].lp);
    }
    if (u->goal == 0)
        return OK;
    TRY(steps_outputs(a, &u->steps, 0, u->goal, work, &total, err));
    for (size_t i = 0; i < u->n_tables; i++)
        u->tables[i].upper = least(u->tables[i].lp, total);
    return OK;
}

enum status upper_make_own(struct arena *a, struct tab *t, aset own,
                           struct work *work, struct upper *out,
                           struct err *err)
{
    *out = (struct upper){.t = t};
    t->is_core = true;
    TRY(prepare(a, t, work, out, err));
    return t->unsat ? OK : bound_own(a, out, own, work, err);
}
