/*
 * Builds the plan: which sets F there are, their boundaries and outputs, which
 * terms a step adds to T_F, and which caps hold (PROOF.md, steps and caps).
 *
 * Every decision here is taken from the query and the schema, never from
 * rows: a choice that looked at data would break smoothness.
 *
 * Cost: with p private atoms 2^p coordinates and at most 3^p terms and splits;
 * hence only up to SENS_ALL_SETS private atoms; wide_plan.c has the others.
 */
#include "sens/plan.h"

#include <stdlib.h>
#include "base/map.h"
#include "bound/bound.h"
#include "logic/logic.h"
#include "sens/sens.h"
#include "sens/wide_plan.h"

struct plan_builder {
    struct arena *a;
    struct sens_plan *p;
    VEC(aset) sets;
    VEC(aset) matches[SENS_ALL_SETS]; /* unifiable sets by relation */
    struct map seen;
};

vset sens_boundary(const struct cq *q, aset f)
{
    aset all = aset_first_n(q->n_atoms);
    return cq_vars_of(q, f) & cq_vars_of(q, all & ~f);
}

/* The atoms of `left` that hang on `reach`, which grows by them. */
static aset grow_part(const struct cq *q, aset left, vset fixed, bool exact,
                      vset *reach)
{
    aset got = 0;
    for (uint32_t i = 0; exact && i < q->n_cmps; i++) {
        vset l = term_var(q->cmps[i].l), r = term_var(q->cmps[i].r);
        if (!l || !r || ((l | r) & fixed))
            continue;
        if ((l | r) & *reach)
            *reach |= l | r;
    }
    ASET_EACH (i, left)
        if (atom_vars(q, i) & ~fixed & *reach) {
            got |= aset_one(i);
            *reach |= atom_vars(q, i) & ~fixed;
        }
    return got;
}

size_t sens_parts(const struct cq *q, aset f, vset fixed, bool exact,
                  aset parts[MAX_ATOMS])
{
    size_t n = 0;
    /* A variable outside has one value for the whole of f. */
    fixed |= ~cq_vars_of(q, f);
    while (f) {
        unsigned first = (unsigned)__builtin_ctzll(f);
        aset part = aset_one(first);
        vset reach = atom_vars(q, first) & ~fixed, before;
        aset got;
        do {
            before = reach;
            got = grow_part(q, f & ~part, fixed, exact, &reach);
            part |= got;
        } while (got || reach != before);
        parts[n++] = part;
        f &= ~part;
    }
    return n;
}

static enum status add_set(struct plan_builder *b, aset f, struct err *err)
{
    bool is_new;
    aset *key = NEW(b->a, aset);
    if (!key)
        return err_nomem(err);
    *key = f;
    struct str k = {(const char *)key, sizeof *key};
    if (!map_put(&b->seen, k, 0, &is_new))
        return err_nomem(err);
    if (is_new && !VEC_PUSH(b->a, &b->sets, f))
        return err_nomem(err);
    return OK;
}

static bool has_set(const struct plan_builder *b, aset f)
{
    struct str k = {(const char *)&f, sizeof f};
    return map_find(&b->seen, k) != NULL;
}

/* The sets that `f` shrinks to when rows of private atoms are taken out: all
 * of them or, beyond the limit, none. */
static enum status add_family(struct plan_builder *b, aset f, struct err *err)
{
    aset priv = f & b->p->priv;
    if (has_set(b, f) ||
        b->sets.n + ((size_t)1 << aset_count(priv)) > SENS_MAX_COORDS)
        return OK;
    for (aset x = priv;; x = (x - 1) & priv) {
        TRY(add_set(b, f & ~x, err));
        if (!x)
            return OK;
    }
}

static bool capped_at_one(const struct sens_coord *c)
{
    return vset_sub(c->outs, c->boundary);
}

static void describe(const struct sens_plan *p, aset f, struct sens_coord *c)
{
    c->atoms = f;
    c->boundary = sens_boundary(p->q, f);
    c->outs = cq_free(p->q) & cq_vars_of(p->q, f);
    c->keeps_public = vset_sub(p->all & ~p->priv, f);
    c->weighted = c->outs & cq_weight_var(p->q);
    c->cap = !capped_at_one(c) ? U128_INF : c->weighted ? p->unit : 1;
}

/* Calls `use` on each way to cut `f` into two independent sets. With more
 * parts than SENS_ALL_SPLITS only one part against the rest. */
static enum status
each_split(struct plan_builder *b, const struct sens_coord *c,
           enum status (*use)(struct plan_builder *, struct sens_coord *, aset,
                              struct err *),
           struct sens_coord *arg, struct err *err)
{
    aset parts[MAX_ATOMS];
    size_t n =
        sens_parts(b->p->q, c->atoms, c->boundary, b->p->filters_exact, parts);
    if (n < 2 || capped_at_one(c))
        return OK;
    if (n > SENS_ALL_SPLITS) {
        for (size_t i = 0; i < n; i++)
            TRY(use(b, arg, parts[i], err));
        return OK;
    }
    for (unsigned mask = 1; mask < (1u << n) - 1; mask += 2) {
        aset x = 0;
        for (size_t i = 0; i < n; i++)
            x |= mask >> i & 1 ? parts[i] : 0;
        TRY(use(b, arg, x, err));
    }
    return OK;
}

static enum status collect_split(struct plan_builder *b, struct sens_coord *c,
                                 aset x, struct err *err)
{
    TRY(add_family(b, x, err));
    return add_family(b, c->atoms & ~x, err);
}

static enum status collect_sets(struct plan_builder *b, struct err *err)
{
    struct sens_plan *p = b->p;
    TRY(add_set(b, 0, err));
    for (aset x = p->priv; x; x = (x - 1) & p->priv)
        TRY(add_set(b, p->all & ~x, err));
    for (size_t i = 0; i < b->sets.n; i++) {
        struct sens_coord c;
        describe(p, b->sets.p[i], &c);
        TRY(each_split(b, &c, collect_split, &c, err));
    }
    return OK;
}

static int by_size(const void *x, const void *y)
{
    aset a = *(const aset *)x, b = *(const aset *)y;
    unsigned na = aset_count(a), nb = aset_count(b);
    if (na != nb)
        return na < nb ? -1 : 1;
    return a < b ? -1 : a > b;
}

long sens_plan_find(const struct sens_plan *p, aset atoms)
{
    size_t lo = 0, hi = p->n_coords;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = by_size(&p->coords[mid].atoms, &atoms);
        if (c == 0)
            return (long)mid;
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return -1;
}

static enum status find_matches(struct plan_builder *b, struct err *err)
{
    struct sens_plan *p = b->p;
    for (size_t i = 0; i < p->n_tables; i++) {
        aset d = cq_atoms_of_table(p->q, p->tables[i]);
        for (aset e = d; e; e = (e - 1) & d)
            if (logic_unifiable(p->q, e) && !VEC_PUSH(b->a, &b->matches[i], e))
                return err_nomem(err);
    }
    return OK;
}

static enum status add_terms(struct plan_builder *b, struct sens_coord *c,
                             struct err *err)
{
    VEC(struct sens_term) terms = {0};
    for (uint32_t i = 0; i < b->p->n_tables; i++)
        for (size_t j = 0; j < b->matches[i].n; j++) {
            aset e = b->matches[i].p[j];
            if (e & ~c->atoms)
                continue;
            long from = sens_plan_find(b->p, c->atoms & ~e);
            /* PRIVACY: a missing term would understate the growth of T. */
            if (from < 0)
                return err_internal(err, "sens plan: a residual is missing");
            /* the whole query is weighted, also by a constant */
            bool whole = c == &b->p->top || c->weighted;
            bool weighs = whole && !b->p->coords[from].weighted;
            struct sens_term t = {i, (uint32_t)from, weighs};
            if (!VEC_PUSH(b->a, &terms, t))
                return err_nomem(err);
        }
    c->terms = terms.p;
    c->n_terms = terms.n;
    return OK;
}

static enum status store_split(struct plan_builder *b, struct sens_coord *c,
                               aset x, struct err *err)
{
    long l = sens_plan_find(b->p, x);
    long r = sens_plan_find(b->p, c->atoms & ~x);
    if (l < 0 || r < 0)
        return OK;
    size_t cap = (size_t)1 << SENS_ALL_SPLITS;
    if (!c->splits && !(c->splits = NEWS(b->a, struct sens_split,
                                         cap > MAX_ATOMS ? cap : MAX_ATOMS)))
        return err_nomem(err);
    c->splits[c->n_splits++] = (struct sens_split){(uint32_t)l, (uint32_t)r};
    return OK;
}

bool sens_may_be_bounded(const struct cq *q, aset f)
{
    ASET_EACH (i, f)
        if (q->schema->tables.p[q->atoms[i].table].degrees.n)
            return true;
    return false;
}

/* A set that falls apart is capped by the product of its parts, whose own
 * bounds multiply to the bound of the set: it is not asked for, since of many
 * tables that share nothing there are too many unions. */
static enum status add_caps(struct plan_builder *b, struct sens_coord *c,
                            struct err *err)
{
    const struct cq *q = b->p->q;
    TRY(each_split(b, c, store_split, c, err));
    if (c->n_splits || capped_at_one(c) || !sens_may_be_bounded(q, c->atoms))
        return OK;
    TRY(bound_outputs(b->a, q, c->atoms, c->boundary, c->outs, &c->cap, err));
    if (c->weighted)
        c->cap = u128_mul_inf(c->cap, b->p->unit);
    return OK;
}

static enum status build_coords(struct plan_builder *b, struct err *err)
{
    struct sens_plan *p = b->p;
    qsort(b->sets.p, b->sets.n, sizeof *b->sets.p, by_size);
    p->n_coords = b->sets.n;
    p->coords = NEWS(b->a, struct sens_coord, p->n_coords);
    if (!p->coords)
        return err_nomem(err);
    for (size_t i = 0; i < p->n_coords; i++)
        describe(p, b->sets.p[i], &p->coords[i]);
    for (size_t i = 0; i < p->n_coords; i++) {
        TRY(add_terms(b, &p->coords[i], err));
        TRY(add_caps(b, &p->coords[i], err));
    }
    describe(p, p->all, &p->top);
    return add_terms(b, &p->top, err);
}

static enum status find_private(struct plan_builder *b, struct err *err)
{
    struct sens_plan *p = b->p;
    p->all = aset_first_n(p->q->n_atoms);
    p->priv = cq_private_atoms(p->q);
    p->n_priv = aset_count(p->priv);
    unsigned most =
        p->unit > 1 || cq_weight_var(p->q) ? SENS_ALL_SETS : SENS_MAX_PRIVATE;
    if (p->n_priv > most) {
        err_set(err, E_TOO_LARGE,
                "the query has %u atoms over private tables, at most %d can "
                "be analysed",
                p->n_priv, (int)most);
        err_hint(err, "Ask about fewer private tables at a time.");
        return E_TOO_LARGE;
    }
    p->tables = NEWS(b->a, uint32_t, p->n_priv);
    if (!p->tables)
        return err_nomem(err);
    aset seen = 0;
    ASET_EACH (i, p->priv)
        if (!aset_has(seen, i)) {
            p->tables[p->n_tables++] = p->q->atoms[i].table;
            seen |= cq_atoms_of_table(p->q, p->q->atoms[i].table);
        }
    return OK;
}

/* An empty plan that knows the private atoms. */
static enum status start(struct plan_builder *b, struct arena *a,
                         const struct cq *q, bool filters_exact,
                         struct err *err)
{
    *b = (struct plan_builder){.a = a, .p = NEW(a, struct sens_plan)};
    if (!b->p)
        return err_nomem(err);
    b->p->q = q;
    b->p->filters_exact = filters_exact;
    b->p->unit = cq_weight_most(q); /* 0, nothing weighs: no less than 1 */
    b->p->unit += !b->p->unit;
    map_init(&b->seen, a);
    return find_private(b, err);
}

enum status sens_plan_new(struct arena *a, const struct cq *q,
                          bool filters_exact, struct sens_plan **out,
                          struct err *err)
{
    struct plan_builder b;
    TRY(start(&b, a, q, filters_exact, err));
    *out = b.p;
    if (b.p->n_priv > SENS_ALL_SETS)
        return sens_wide_plan(a, b.p, err);
    TRY(find_matches(&b, err));
    TRY(collect_sets(&b, err));
    TRY(build_coords(&b, err));
    b.p->n_asked = b.p->n_coords - 1;
    return OK;
}

enum status sens_plan_wide(struct arena *a, const struct cq *q,
                           bool filters_exact, struct sens_plan **out,
                           struct err *err)
{
    struct plan_builder b;
    TRY(start(&b, a, q, filters_exact, err));
    *out = b.p;
    return sens_wide_plan(a, b.p, err);
}
