/*
 * From a structure to steps (degree_steps.h). Variables that are neither asked
 * for nor read by a constraint are left out: a polymatroid or a plan on the
 * rest extends to them without cost, so no bound changes.
 */
#include "bound/degree_steps.h"

struct steps_builder {
    struct arena *a;
    const struct tab *t;
    const bool *atoms;
    struct steps *s;
    size_t cap;
};

static bool in_use(const struct steps_builder *b, uint32_t atom)
{
    return !b->atoms || b->atoms[atom];
}

static bool number(struct steps *s, uint32_t e)
{
    if (s->of_el[e] >= 0)
        return true;
    if (s->n_vars == MAX_VARS)
        return false;
    s->el[s->n_vars] = e;
    s->of_el[e] = (int32_t)s->n_vars++;
    return true;
}

static bool is_const(const struct tab *t, uint32_t e)
{
    return t->flag[e] & EL_CONST;
}

/* All elements that the constraint reads get numbers, or it is not used. */
static bool number_all(struct steps_builder *b, const uint32_t *els, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!is_const(b->t, els[i]) && !number(b->s, els[i]))
            return false;
    return true;
}

vset steps_set(const struct steps *s, const uint32_t *els, uint32_t n)
{
    vset set = 0;
    for (uint32_t i = 0; i < n; i++)
        if (s->of_el[els[i]] >= 0)
            set |= vset_one((unsigned)s->of_el[els[i]]);
    return set;
}

static void number_inputs(struct steps_builder *b)
{
    const struct tab *t = b->t;
    for (uint32_t i = 0; i < t->n_atoms; i++)
        for (size_t j = 0; in_use(b, i) && j < t->n_deps; j++) {
            const struct dep *d = &t->deps[j];
            if (!tab_dep_applies(t, d, &t->atoms[i]))
                continue;
            for (uint32_t c = 0; c < d->n_x; c++)
                if (!number_all(b, &t->atoms[i].el[d->x[c]], 1))
                    break;
        }
    for (uint32_t i = 0; i < t->n_calcs; i++)
        number_all(b, t->calcs[i].in, t->calcs[i].n_in);
}

static void add_step(struct steps_builder *b, struct degree_step st)
{
    st.y |= st.x;
    if (st.y == st.x || b->s->n == b->cap)
        return;
    b->s->p[b->s->n++] = st;
}

static void add_dep(struct steps_builder *b, uint32_t atom, const struct dep *d)
{
    const struct tab *t = b->t;
    const struct tab_atom *at = &t->atoms[atom];
    struct degree_step st = {.k = d->k, .atom = atom, .dep = d};
    for (uint32_t c = 0; c < d->n_x; c++) {
        uint32_t e = at->el[d->x[c]];
        if (!is_const(t, e) && b->s->of_el[e] < 0)
            return;
        st.x |= steps_set(b->s, &e, 1);
    }
    for (uint32_t c = 0; c < d->n_y; c++)
        st.y |= steps_set(b->s, &at->el[d->y[c]], 1);
    add_step(b, st);
}

static void add_calc(struct steps_builder *b, const struct tab_calc *c)
{
    struct degree_step st = {.k = 1, .why = STEP_CALC, .atom = NO_ATOM};
    for (uint32_t i = 0; i < c->n_in; i++)
        if (!is_const(b->t, c->in[i]) && b->s->of_el[c->in[i]] < 0)
            return;
    st.x = steps_set(b->s, c->in, c->n_in);
    st.y = steps_set(b->s, &c->out, 1);
    add_step(b, st);
}

/* --- intervals of whole numbers ------------------------------------------- */

static bool whole(const struct value *v)
{
    return v->type == T_INT || v->type == T_DATE;
}

/* Lowers *hi or raises *lo by one comparison with a constant. */
static void narrow(const struct tab *t, uint32_t e, const struct tab_cmp *c,
                   __int128 *lo, __int128 *hi)
{
    bool upper = c->l == e, strict = c->op == CMP_LT;
    uint32_t other = upper ? c->r : c->l;
    if (c->op == CMP_NE || (c->l != e && c->r != e) || !is_const(t, other))
        return;
    const struct value *v = &t->q->consts[other];
    if (!whole(v))
        return;
    __int128 x = v->i;
    if (upper && x - strict < *hi)
        *hi = x - strict;
    if (!upper && x + strict > *lo)
        *lo = x + strict;
}

/* PRIVACY: only for a variable declared as a whole number; an undeclared
 * column may hold fractions. */
static void add_interval(struct steps_builder *b, uint32_t i)
{
    const struct tab *t = b->t;
    uint32_t e = b->s->el[i];
    enum type type = t->var[e] < 0 ? T_UNKNOWN : t->q->vars[t->var[e]].type;
    struct degree_step st = {.y = vset_one(i), .atom = NO_ATOM, .k = 2};
    if (type == T_BOOL && t->flag[e] & EL_NONNULL) {
        st.why = STEP_BOOL;
        add_step(b, st);
    }
    if (type != T_INT && type != T_DATE)
        return;
    const __int128 none = (__int128)1 << 100;
    __int128 lo = -none, hi = none;
    for (uint32_t c = 0; c < t->n_cmps; c++)
        narrow(t, e, &t->cmps[c], &lo, &hi);
    if (lo == -none || hi == none)
        return;
    st.k = hi >= lo ? (u128)(hi - lo) + 1 : 1;
    st.why = STEP_INTERVAL;
    add_step(b, st);
}

enum status steps_of_tab(struct arena *a, const struct tab *t,
                         const bool *atoms, const bool *keep, struct steps *out,
                         struct err *err)
{
    struct steps_builder b = {.a = a, .t = t, .atoms = atoms, .s = out};
    *out = (struct steps){.n = 0};
    b.cap = (size_t)t->n_atoms * t->n_deps + t->n_calcs + 2 * MAX_VARS;
    out->p = NEWS(a, struct degree_step, b.cap);
    out->of_el = NEWS(a, int32_t, t->n_el);
    if (!out->p || !out->of_el)
        return err_nomem(err);
    for (uint32_t e = 0; e < t->n_el; e++)
        out->of_el[e] = -1;
    for (uint32_t e = 0; e < t->n_el; e++)
        if (keep[e] && !is_const(t, e) && !number(out, e))
            return err_set(err, E_TOO_LARGE, "the query has too many outputs");
    number_inputs(&b);
    for (uint32_t i = 0; i < t->n_atoms; i++)
        for (size_t j = 0; in_use(&b, i) && j < t->n_deps; j++)
            if (tab_dep_applies(t, &t->deps[j], &t->atoms[i]))
                add_dep(&b, i, &t->deps[j]);
    for (uint32_t i = 0; i < t->n_calcs; i++)
        add_calc(&b, &t->calcs[i]);
    for (uint32_t i = 0; i < out->n_vars; i++)
        add_interval(&b, i);
    return OK;
}

static vset closure(const struct steps *s, vset d, bool fd_only)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->n; i++) {
            const struct degree_step *st = &s->p[i];
            if ((fd_only && st->k != 1) || !vset_sub(st->x, d) ||
                vset_sub(st->y, d))
                continue;
            d |= st->y;
            changed = true;
        }
    }
    return d;
}

vset steps_closure(const struct steps *s, vset from)
{
    return closure(s, from, false);
}

vset steps_closure_fd(const struct steps *s, vset from)
{
    return closure(s, from, true);
}
