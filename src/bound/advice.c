/*
 * Advice: the smallest sets of cardinality dependencies that would bound the
 * query. Candidates are read off the query's atoms, single columns on both
 * sides; bounds on distinct values come last. A set helps if from every
 * private atom all outputs are reached. The bound it gives is the sum of the
 * plans' products with k kept as a letter.
 *
 * Cost: candidates to the power of the set size, within a work budget.
 */
#include <stdlib.h>

#include "bound/advice.h"
#include "bound/bound_explain.h"

enum { MAX_SET = 3, MAX_CANDIDATES = 200, MAX_ADVICE = 6, LARGE = 1000 };
enum { GUESS = 7 }; /* stands for k where a plan must be chosen */

struct advice_candidate {
    uint32_t table, x, y;
    bool has_x;    /* false: a bound on distinct values */
    bool constant; /* x is a constant in the query: less natural */
    uint32_t width;
};

struct monomial {
    u128 coef;
    uint32_t exp[MAX_SET];
};

struct poly {
    struct monomial m[MAX_ATOMS];
    uint32_t n;
    bool full; /* more than there is room for */
};

/* A polynomial for what each private table gains, and for what it loses. */
struct advice_sums {
    struct poly *gain, *loss; /* by table of the schema */
    uint32_t n;
};

struct adviser {
    struct arena *a;
    const struct advised *parts;
    size_t n_parts;
    bool both;
    u128 now;
    const struct upper *up; /* of the part that is being looked at */
    struct work *work;
    struct bound *out;
    struct advice_candidate list[MAX_CANDIDATES];
    uint32_t n;
    struct tab trial; /* the query with the dependencies under trial */
    uint32_t set[MAX_SET];
    uint32_t n_set;
    struct advice_sums sums;
};

/* --- candidates ----------------------------------------------------------- */

static void add_candidate(struct adviser *s, struct advice_candidate c)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct advice_candidate *o = &s->list[i];
        if (o->table == c.table && o->has_x == c.has_x && o->y == c.y &&
            (!c.has_x || o->x == c.x)) {
            o->constant &= c.constant;
            return;
        }
    }
    if (s->n < MAX_CANDIDATES)
        s->list[s->n++] = c;
}

static void list_candidates(struct adviser *s, bool with_x)
{
    const struct tab *t = s->up->t;
    for (uint32_t i = 0; i < t->n_atoms; i++) {
        const struct tab_atom *at = &t->atoms[i];
        const struct table *tb = &t->q->schema->tables.p[at->table];
        uint32_t width = (uint32_t)tb->n_cols;
        if (!with_x && at->n > width) /* a bag: only rows can be bounded */
            add_candidate(s, (struct advice_candidate){at->table, 0, width,
                                                       false, false, width});
        for (uint32_t y = 0; y < width && y < at->n; y++) {
            struct advice_candidate c = {at->table, 0, y, with_x, false, width};
            if (t->flag[at->el[y]] & EL_CONST)
                continue;
            if (!with_x)
                add_candidate(s, c);
            for (c.x = 0; with_x && c.x < width; c.x++) {
                uint32_t e = at->el[c.x];
                c.constant = t->flag[e] & EL_CONST;
                if (e != at->el[y] && t->flag[e] & EL_NONNULL)
                    add_candidate(s, c);
            }
        }
    }
}

static int by_nature(const void *p, const void *q)
{
    const struct advice_candidate *a = p, *b = q;
    if (a->has_x != b->has_x)
        return a->has_x ? -1 : 1;
    if (a->constant != b->constant)
        return a->constant ? 1 : -1;
    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return a->y < b->y ? -1 : a->y > b->y;
}

/* --- trying a set --------------------------------------------------------- */

static enum status try_set(struct adviser *s, struct steps *st, vset *goal,
                           struct err *err)
{
    const struct tab *t = s->up->t;
    bool *keep = NEWS(s->a, bool, t->n_el);
    s->trial = *t;
    s->trial.deps = NEWS(s->a, struct dep, t->n_deps + s->n_set);
    if (!keep || !s->trial.deps)
        return err_nomem(err);
    for (size_t i = 0; i < t->n_deps; i++)
        s->trial.deps[i] = t->deps[i];
    for (uint32_t i = 0; i < s->n_set; i++) {
        struct advice_candidate *c = &s->list[s->set[i]];
        s->trial.deps[t->n_deps + i] = (struct dep){.table = c->table,
                                                    .n_x = c->has_x,
                                                    .n_y = 1,
                                                    .x = &c->x,
                                                    .y = &c->y,
                                                    .k = GUESS};
    }
    s->trial.n_deps = t->n_deps + s->n_set;
    for (uint32_t i = 0; i < t->n_outs; i++)
        keep[t->outs[i]] = true;
    TRY(steps_of_tab(s->a, &s->trial, NULL, keep, st, err));
    *goal = steps_set(st, t->outs, t->n_outs);
    return OK;
}

static vset row_vars(const struct steps *st, const struct tab *t, uint32_t i)
{
    return steps_closure_fd(st, steps_set(st, t->atoms[i].el, t->atoms[i].n));
}

static bool bounded(const struct adviser *s, aset own, const struct steps *st,
                    vset goal)
{
    const struct tab *t = s->up->t;
    ASET_EACH (i, own)
        if (tab_private_atom(t, i) &&
            !vset_sub(goal, steps_closure(st, row_vars(st, t, i))))
            return false;
    return true;
}

/* --- the bound with letters ----------------------------------------------- */

static void poly_add(struct poly *p, const struct monomial *m)
{
    for (uint32_t i = 0; i < p->n; i++) {
        bool same = true;
        for (uint32_t j = 0; j < MAX_SET; j++)
            same &= p->m[i].exp[j] == m->exp[j];
        if (same) {
            p->m[i].coef = u128_add_inf(p->m[i].coef, m->coef);
            return;
        }
    }
    p->full |= p->n == MAX_ATOMS;
    if (!p->full)
        p->m[p->n++] = *m;
}

/* p <= q for all k >= 1, shown term by term. */
static bool poly_below(const struct poly *p, const struct poly *q)
{
    struct poly rest = *q;
    for (uint32_t i = 0; i < p->n; i++) {
        u128 need = p->m[i].coef;
        for (uint32_t j = 0; j < rest.n && need > 0; j++) {
            bool over = true;
            for (uint32_t k = 0; k < MAX_SET; k++)
                over &= p->m[i].exp[k] <= rest.m[j].exp[k];
            u128 take = over ? rest.m[j].coef : 0;
            take = take < need ? take : need;
            need -= take;
            rest.m[j].coef -= take;
        }
        if (need > 0)
            return false;
    }
    return true;
}

static enum status row_bound(struct adviser *s, const struct steps *st,
                             vset goal, uint32_t atom, struct monomial *m,
                             struct err *err)
{
    struct step_plan p = {0};
    size_t first = s->up->t->n_deps;
    TRY(steps_plan(s->a, st, row_vars(st, s->up->t, atom), goal, s->work, &p,
                   err));
    *m = (struct monomial){.coef = 1};
    for (size_t i = 0; i < p.n_steps; i++) {
        const struct degree_step *e = &st->p[p.steps[i]];
        long which = e->why == STEP_DEP ? e->dep - s->trial.deps : -1;
        if (which >= (long)first)
            m->exp[(size_t)which - first]++;
        else
            m->coef = u128_mul_inf(m->coef, e->k);
    }
    return OK;
}

static void print_letter(struct sb *b, uint32_t i, uint32_t n, uint32_t exp)
{
    sb_char(b, 'k');
    if (n > 1)
        sb_printf(b, "%u", i + 1);
    if (exp > 1)
        sb_printf(b, "^%u", exp);
}

static void print_monomial(struct sb *b, const struct monomial *m, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i < MAX_SET; i++)
        any |= m->exp[i] > 0;
    if (m->coef != 1 || !any) {
        sb_u128(b, m->coef);
        any = true;
    } else {
        any = false;
    }
    for (uint32_t i = 0; i < MAX_SET; i++)
        if (m->exp[i] > 0) {
            if (any)
                sb_char(b, '*');
            print_letter(b, i, n, m->exp[i]);
            any = true;
        }
}

static void print_poly(struct sb *b, const struct poly *p, uint32_t n)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (i > 0)
            sb_cstr(b, " + ");
        print_monomial(b, &p->m[i], n);
    }
}

static enum status sum_part(struct adviser *s, const struct advised *p,
                            struct advice_sums *sums, bool *fits,
                            struct err *err)
{
    struct steps st;
    vset goal = 0;
    s->up = p->up;
    TRY(try_set(s, &st, &goal, err));
    *fits = bounded(s, p->own, &st, goal);
    if (!*fits)
        return OK;
    ASET_EACH (i, p->own) {
        uint32_t table = s->up->t->atoms[i].table;
        struct monomial m;
        if (!tab_private_atom(s->up->t, i))
            continue;
        TRY(row_bound(s, &st, goal, i, &m, err));
        m.coef = u128_mul_inf(m.coef, p->unit);
        if (p->gain || s->both)
            poly_add(&sums->gain[table], &m);
        if (p->gain && p->loss && s->both)
            poly_add(&sums->gain[table], &m);
        if (p->loss && !s->both)
            poly_add(&sums->loss[table], &m);
    }
    return OK;
}

/* Those below another are dropped. */
static enum status list_polys(struct adviser *s, const struct advice_sums *sums,
                              struct poly **out, uint32_t *n, struct err *err)
{
    uint32_t n_all = 0;
    struct poly *all = NEWS(s->a, struct poly, 2 * sums->n + 1);
    struct poly *top = NEWS(s->a, struct poly, 2 * sums->n + 1);
    if (!all || !top)
        return err_nomem(err);
    for (uint32_t t = 0; t < sums->n; t++) {
        if (sums->gain[t].n)
            all[n_all++] = sums->gain[t];
        if (sums->loss[t].n)
            all[n_all++] = sums->loss[t];
    }
    *n = 0;
    for (size_t k = 0; k < n_all; k++) {
        bool below = false;
        for (size_t j = 0; j < n_all && !below; j++)
            below = j != k && poly_below(&all[k], &all[j]) &&
                    (j < k || !poly_below(&all[j], &all[k]));
        if (!below)
            top[(*n)++] = all[k];
    }
    *out = top;
    return OK;
}

static u128 at_one(const struct poly *p, uint32_t n)
{
    u128 max = 0;
    for (uint32_t i = 0; i < n; i++) {
        u128 sum = 0;
        for (uint32_t j = 0; j < p[i].n; j++)
            sum = u128_add_inf(sum, p[i].m[j].coef);
        max = sum > max ? sum : max;
    }
    return max;
}

/* --- words ---------------------------------------------------------------- */

static void print_set(struct sb *b, const struct adviser *s)
{
    const struct schema *sc = s->up->t->q->schema;
    for (uint32_t i = 0; i < s->n_set; i++) {
        const struct advice_candidate *c = &s->list[s->set[i]];
        const struct table *t = &sc->tables.p[c->table];
        if (i > 0)
            sb_cstr(b, "; ");
        if (c->y == c->width) {
            sb_printf(b, "|%.*s| <= ", PSTR(t->name));
            print_letter(b, i, s->n_set, 1);
            continue;
        }
        sb_str(b, t->name);
        sb_cstr(b, ": ");
        if (c->has_x)
            bound_print_column(b, t, c->x);
        else
            sb_cstr(b, "()");
        sb_cstr(b, " -> ");
        bound_print_column(b, t, c->y);
        sb_cstr(b, " <= ");
        print_letter(b, i, s->n_set, 1);
    }
}

static enum status write_advice(struct adviser *s, const struct poly *p,
                                uint32_t n, struct err *err)
{
    struct sb c, u;
    sb_init(&c, s->a);
    sb_init(&u, s->a);
    print_set(&c, s);
    if (n > 1)
        sb_cstr(&u, "max(");
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            sb_cstr(&u, ", ");
        print_poly(&u, &p[i], s->n_set);
    }
    if (n > 1)
        sb_char(&u, ')');
    if (c.failed || u.failed)
        return err_nomem(err);
    s->out->advice[s->out->n_advice++] =
        (struct bound_advice){sb_view(&c), sb_view(&u)};
    return OK;
}

static enum status consider(struct adviser *s, struct err *err)
{
    struct poly *p = NULL;
    uint32_t n = 0;
    struct advice_sums *sums = &s->sums;
    if (s->work->left < 2000 * s->n_parts) {
        s->work->left = 0;
        return OK;
    }
    s->work->left -= 2000 * s->n_parts;
    for (uint32_t t = 0; t < sums->n; t++)
        sums->gain[t].n = sums->loss[t].n = 0;
    for (size_t i = 0; i < s->n_parts; i++) {
        bool fits;
        TRY(sum_part(s, &s->parts[i], sums, &fits, err));
        if (!fits)
            return OK;
    }
    for (uint32_t t = 0; t < sums->n; t++)
        if (sums->gain[t].full || sums->loss[t].full)
            return OK;
    TRY(list_polys(s, sums, &p, &n, err));
    if (s->now != U128_INF && at_one(p, n) >= s->now / 2)
        return OK;
    return write_advice(s, p, n, err);
}

static enum status sets_of(struct adviser *s, uint32_t size, uint32_t first,
                           struct err *err)
{
    if (s->n_set == size)
        return consider(s, err);
    for (uint32_t i = first; i < s->n; i++) {
        if (s->out->n_advice == MAX_ADVICE || s->work->left == 0)
            return OK;
        s->set[s->n_set++] = i;
        TRY(sets_of(s, size, i + 1, err));
        s->n_set--;
    }
    return OK;
}

static void list_all(struct adviser *s, bool with_x)
{
    for (size_t i = 0; i < s->n_parts; i++) {
        s->up = s->parts[i].up;
        list_candidates(s, with_x);
    }
}

enum status bound_advise(struct arena *a, const struct advised *parts, size_t n,
                         bool both, u128 now, struct work *work,
                         struct bound *out, struct err *err)
{
    if (!n || (now != U128_INF && now < LARGE))
        return OK;
    struct adviser *s = NEW(a, struct adviser);
    out->advice = NEWS(a, struct bound_advice, MAX_ADVICE);
    if (!s || !out->advice)
        return err_nomem(err);
    *s = (struct adviser){.a = a,
                          .parts = parts,
                          .n_parts = n,
                          .both = both,
                          .now = now,
                          .work = work,
                          .out = out};
    s->sums.n = (uint32_t)parts[0].up->t->q->schema->tables.n;
    s->sums.gain = NEWS(a, struct poly, s->sums.n + 1);
    s->sums.loss = NEWS(a, struct poly, s->sums.n + 1);
    if (!s->sums.gain || !s->sums.loss)
        return err_nomem(err);
    for (int last = 0; last < 2 && out->n_advice == 0; last++) {
        list_all(s, !last);
        qsort(s->list, s->n, sizeof s->list[0], by_nature);
        for (uint32_t size = 1; size <= MAX_SET && out->n_advice == 0; size++)
            TRY(sets_of(s, size, 0, err));
    }
    return OK;
}
