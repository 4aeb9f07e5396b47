#include "harness/tiny.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RESULTS = 1 << 20, NO_VALUE = -100 };

struct pair {
    uint64_t key, out;
};

struct loops {
    struct tiny *t;
    unsigned atoms[MAX_ATOMS];
    unsigned n;
    vset vars, boundary, outs;
    vset outside; /* variables that comparisons reach, exact treatment */
    int val[MAX_VARS];
    struct pair *found;
    size_t n_found;
    bool full;
};

static uint64_t pack(const struct loops *l, vset vars)
{
    uint64_t x = 0;
    VSET_EACH (v, vars)
        x = x * 61 + (uint64_t)(l->val[v] + 8);
    return x;
}

static bool known(const struct loops *l, struct term t)
{
    return t.kind == TERM_CONST || vset_has(l->vars | l->outside, t.id);
}

static int64_t term_value(const struct loops *l, struct term t)
{
    return t.kind == TERM_CONST ? l->t->q->consts[t.id].i : l->val[t.id];
}

static bool passes(const struct loops *l)
{
    const struct cq *q = l->t->q;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        struct cmp c = q->cmps[i];
        if (!known(l, c.l) || !known(l, c.r))
            continue;
        int64_t x = term_value(l, c.l), y = term_value(l, c.r);
        if (c.op == CMP_NE ? x == y : c.op == CMP_LT ? x >= y : x > y)
            return false;
    }
    return true;
}

static void emit(struct loops *l)
{
    if (!passes(l))
        return;
    if (l->n_found == MAX_RESULTS) {
        l->full = true;
        return;
    }
    l->found[l->n_found++] =
        (struct pair){pack(l, l->boundary | l->outside), pack(l, l->outs)};
}

/* Every value a variable outside may have, up to what comparisons can tell. */
static void each_outside(struct loops *l, vset left)
{
    if (!left) {
        emit(l);
        return;
    }
    unsigned v = vset_min(left);
    int last = TINY_GAP * l->t->domain;
    for (int x = -TINY_GAP; x <= last; x++) {
        l->val[v] = x;
        each_outside(l, left & (left - 1));
    }
    l->val[v] = NO_VALUE;
}

static bool bind(struct loops *l, struct term t, int x, vset *bound)
{
    if (t.kind == TERM_ANY)
        return true;
    if (t.kind == TERM_CONST)
        return l->t->q->consts[t.id].i == x;
    if (l->val[t.id] != NO_VALUE)
        return l->val[t.id] == x;
    l->val[t.id] = x;
    *bound |= vset_one(t.id);
    return true;
}

static void each_row(struct loops *l, unsigned depth)
{
    if (depth == l->n) {
        each_outside(l, l->outside);
        return;
    }
    const struct atom *a = &l->t->q->atoms[l->atoms[depth]];
    const struct tiny_table *t = &l->t->tables[a->table];
    for (size_t r = 0; r < t->n_rows; r++) {
        vset bound = 0;
        bool ok = true;
        for (uint32_t j = 0; ok && j < a->n_args; j++)
            ok = bind(l, a->args[j], t->rows[r][j], &bound);
        if (ok && a->rowid >= 0) {
            struct term id = {TERM_VAR, (uint32_t)a->rowid};
            ok = bind(l, id, (int)r, &bound);
        }
        if (ok)
            each_row(l, depth + 1);
        VSET_EACH (v, bound)
            l->val[v] = NO_VALUE;
    }
}

static int by_pair(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->out < b->out ? -1 : a->out > b->out;
}

static u128 largest_group(struct pair *p, size_t n)
{
    u128 best = 0, now = 0;
    qsort(p, n, sizeof *p, by_pair);
    for (size_t i = 0; i < n; i++) {
        if (i && p[i].key == p[i - 1].key)
            now += p[i].out != p[i - 1].out;
        else
            now = 1;
        best = now > best ? now : best;
    }
    return best;
}

static vset reached(const struct cq *q, vset vars)
{
    vset out = 0;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        struct cmp c = q->cmps[i];
        if (c.l.kind != TERM_VAR || c.r.kind != TERM_VAR)
            continue;
        if (vset_has(vars, c.l.id) && !vset_has(vars, c.r.id))
            out |= vset_one(c.r.id);
        if (vset_has(vars, c.r.id) && !vset_has(vars, c.l.id))
            out |= vset_one(c.l.id);
    }
    return out;
}

static enum status run(struct tiny *t, aset f, vset boundary, vset outs,
                       bool exact, u128 *out, struct err *err)
{
    struct loops l = {.t = t, .boundary = boundary, .outs = outs};
    ASET_EACH (i, f)
        l.atoms[l.n++] = i;
    l.vars = cq_vars_of(t->q, f);
    if (exact)
        l.outside = reached(t->q, l.vars);
    for (unsigned v = 0; v < MAX_VARS; v++)
        l.val[v] = NO_VALUE;
    static struct pair found[MAX_RESULTS];
    l.found = found;
    each_row(&l, 0);
    *out = largest_group(l.found, l.n_found);
    return l.full ? err_internal(err, "tiny: too many results") : OK;
}

enum status tiny_max(void *ctx, aset f, vset boundary, vset outs, u128 *out,
                     struct err *err)
{
    struct tiny *t = ctx;
    bool exact = t->mixed_filters && aset_count(f) == 1;
    return run(t, f, boundary, outs, exact, out, err);
}

enum status tiny_max_exact(void *ctx, aset f, vset boundary, vset outs,
                           u128 *out, struct err *err)
{
    return run(ctx, f, boundary, outs, true, out, err);
}

uint64_t tiny_count(struct tiny *t)
{
    u128 n = 0;
    struct err err;
    aset all = aset_first_n(t->q->n_atoms);
    if (run(t, all, 0, cq_free(t->q), false, &n, &err) != OK)
        abort();
    return (uint64_t)n;
}

enum status tiny_sealed(void *ctx, struct secret_count *out, struct err *err)
{
    (void)err;
    *out = secret_count_of(tiny_count(ctx));
    return OK;
}
