/*
 * A component of a request: what each variable is for, and a description that
 * is the same for all components that differ only in the names of variables
 * and the order of atoms.
 */
#include "pushdown/pushdown_int.h"

#include <stdio.h>
#include <string.h>

/* --- roles -----------------------------------------------------------------*/

/* All key columns are constants or known variables, and none is NULL. */
static bool key_known(const struct cq *q, const struct atom *at,
                      const struct degree *d, vset known)
{
    const struct table *t = &q->schema->tables.p[at->table];
    if (!d->is_key || d->k != 1)
        return false;
    for (size_t i = 0; i < d->n_x; i++) {
        struct term x = at->args[d->x[i]];
        if (!t->cols[d->x[i]].not_null || x.kind == TERM_ANY)
            return false;
        if (x.kind == TERM_VAR && !vset_has(known, x.id))
            return false;
    }
    return true;
}

static bool row_known(const struct cq *q, uint32_t atom, vset known)
{
    const struct atom *at = &q->atoms[atom];
    const struct table *t = &q->schema->tables.p[at->table];
    if (at->rowid >= 0 && vset_has(known, (unsigned)at->rowid))
        return true;
    for (size_t i = 0; i < t->degrees.n; i++)
        if (key_known(q, at, &t->degrees.p[i], known))
            return true;
    return false;
}

/*
 * The number of distinct values of `outs` for one value of the boundary does
 * not change when variables are added that those determine: all variables of
 * a row whose key or row id is among them, and what is computed from them.
 * Then they are summed over, and no DISTINCT is needed.
 */
static vset closure(const struct part *p, vset known)
{
    const struct cq *q = p->q;
    for (bool grown = true; grown;) {
        vset before = known;
        for (size_t i = 0; i < p->n_atoms; i++)
            if (row_known(q, p->atoms[i], known))
                known |= atom_vars(q, p->atoms[i]);
        for (uint32_t i = 0; i < q->n_calcs; i++)
            if (vset_has(p->vars, q->calcs[i].var) &&
                vset_sub(expr_vars(q->calcs[i].e), known))
                known |= vset_one(q->calcs[i].var);
        grown = known != before;
    }
    return known;
}

static enum status too_many(struct err *err)
{
    err_set(err, E_UNSUPPORTED,
            "the query has too many comparisons for the database");
    err_hint(err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

enum status part_init(struct part *p, const struct cq *q, const struct ask *ask,
                      struct err *err)
{
    vset all = cq_vars_of(q, ask->atoms), rowids = 0;
    *p = (struct part){.q = q, .vars = all, .outside = ask->outside};
    p->weighs = ask->outs & all & cq_weight_var(q);
    ASET_EACH (a, ask->atoms)
        p->atoms[p->n_atoms++] = a;
    vset known = closure(p, (ask->outs | ask->boundary) & all);
    ASET_EACH (a, ask->atoms)
        if (q->atoms[a].rowid >= 0) {
            vset r = vset_one((unsigned)q->atoms[a].rowid);
            rowids |= r;
            if (known & r)
                p->weighted |= aset_one(a);
        }
    if (ask->boundary & rowids)
        return err_internal(err, "pushdown: a row id in a boundary");
    if (q->n_cmps > MAX_PUSHDOWN_CMPS)
        return too_many(err);
    p->vars = (all & ~rowids) | ask->outside;
    /* What the boundary determines has one value for each of its values: the
     * maximum may range over it too, and its atoms need not be joined. */
    p->boundary = (closure(p, ask->boundary & all) & ~rowids) | ask->outside;
    p->outs = known & p->vars & ~p->boundary;
    p->exists = p->vars & ~p->outs & ~p->boundary;
    for (uint32_t i = 0; i < q->n_cmps; i++)
        p->cmps[i] = vset_sub(cmp_vars(&q->cmps[i]), p->vars);
    return OK;
}

/* --- description
 * -------------------------------------------------------------*/

struct namer {
    struct part *p;
    unsigned next;
};

static unsigned number(struct namer *n, uint32_t var)
{
    if (n->p->num[var] == UINT8_MAX)
        n->p->num[var] = (uint8_t)n->next++;
    return n->p->num[var];
}

static char role(const struct part *p, uint32_t var)
{
    if (vset_has(p->boundary, var))
        return 'b';
    return vset_has(p->outs, var) ? 'o' : 'e';
}

static void put_var(struct sb *b, struct namer *n, uint32_t var)
{
    bool weighs = n->p->weighs && vset_has(cq_weight_var(n->p->q), var);
    sb_printf(b, "v%u%c%s%s", number(n, var), role(n->p, var),
              n->p->q->vars[var].nonnull ? "!" : "", weighs ? "$" : "");
}

static void put_term(struct sb *b, struct namer *n, struct term t)
{
    if (t.kind == TERM_VAR)
        put_var(b, n, t.id);
    else if (t.kind == TERM_CONST)
        sb_printf(b, "c%u", t.id);
    else
        sb_char(b, '_');
}

struct print_ctx {
    struct namer *n;
    char buf[8][16];
    unsigned at;
};

static struct str expr_var_name(const void *ctx, uint32_t var)
{
    struct print_ctx *c = (struct print_ctx *)(uintptr_t)ctx;
    char *buf = c->buf[c->at++ % 8];
    int n = snprintf(buf, 16, "v%u", number(c->n, var));
    return (struct str){buf, (size_t)n};
}

static void put_exprs(struct sb *b, struct namer *n, uint32_t atom)
{
    const struct cq *q = n->p->q;
    struct print_ctx ctx = {.n = n};
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (q->preds[i].atom == atom) {
            sb_cstr(b, " {");
            expr_print(b, q->preds[i].e, expr_var_name, &ctx);
            sb_char(b, '}');
        }
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].atom == atom) {
            sb_char(b, ' ');
            put_var(b, n, q->calcs[i].var);
            sb_cstr(b, ":={");
            expr_print(b, q->calcs[i].e, expr_var_name, &ctx);
            sb_char(b, '}');
        }
}

static void put_atom(struct sb *b, struct namer *n, uint32_t atom)
{
    const struct atom *at = &n->p->q->atoms[atom];
    sb_printf(b, "%u%s(", at->table, aset_has(n->p->weighted, atom) ? "*" : "");
    for (uint32_t i = 0; i < at->n_args; i++) {
        sb_cstr(b, i ? "," : "");
        put_term(b, n, at->args[i]);
    }
    sb_char(b, ')');
    put_exprs(b, n, atom);
}

/* Comparisons, in an order that does not depend on their place in the query:
 * by the numbers of their sides. */
static void put_cmps(struct sb *b, struct namer *n)
{
    const struct cq *q = n->p->q;
    char text[64], last[64] = "", best[64];
    for (;;) {
        best[0] = 0;
        for (uint32_t i = 0; i < q->n_cmps; i++) {
            const struct cmp *c = &q->cmps[i];
            if (!n->p->cmps[i])
                continue;
            unsigned l =
                c->l.kind == TERM_VAR ? number(n, c->l.id) : 1000 + c->l.id;
            unsigned r =
                c->r.kind == TERM_VAR ? number(n, c->r.id) : 1000 + c->r.id;
            if (c->op == CMP_NE && l > r) {
                unsigned t = l;
                l = r;
                r = t;
            }
            snprintf(text, sizeof text, " %010u/%010u/%d", l, r, (int)c->op);
            if (strcmp(text, last) > 0 && (!best[0] || strcmp(text, best) < 0))
                memcpy(best, text, sizeof best);
        }
        if (!best[0])
            return;
        sb_cstr(b, best);
        memcpy(last, best, sizeof last);
    }
}

/* What no atom says about a variable outside. */
static void put_outside(struct sb *b, const struct part *p)
{
    for (unsigned n = 0; n < MAX_VARS; n++)
        VSET_EACH (v, p->outside)
            if (p->num[v] == n)
                sb_printf(b, " out v%u %d", n,
                          part_exact_whole(p->q, v) ? (int)p->q->vars[v].type
                                                    : -1);
}

static void describe(struct sb *b, struct part *p)
{
    struct namer n = {.p = p};
    memset(p->num, UINT8_MAX, sizeof p->num);
    for (size_t i = 0; i < p->n_atoms; i++)
        put_atom(b, &n, p->atoms[i]);
    put_cmps(b, &n);
    put_outside(b, p);
}

struct part_search {
    struct arena *a;
    struct part *p;
    struct str best;
    uint32_t best_atoms[MAX_ATOMS];
    bool failed;
};

static void try_order(struct part_search *s)
{
    struct sb b;
    sb_init(&b, s->a);
    describe(&b, s->p);
    s->failed |= b.failed;
    if (b.failed || (s->best.p && str_cmp(s->best, sb_view(&b)) <= 0))
        return;
    s->best = sb_view(&b);
    memcpy(s->best_atoms, s->p->atoms, sizeof s->best_atoms);
}

static void permute(struct part_search *s, size_t from)
{
    uint32_t *at = s->p->atoms;
    if (from + 1 >= s->p->n_atoms) {
        try_order(s);
        return;
    }
    for (size_t i = from; i < s->p->n_atoms && !s->failed; i++) {
        uint32_t t = at[from];
        at[from] = at[i];
        at[i] = t;
        permute(s, from + 1);
        at[i] = at[from];
        at[from] = t;
    }
}

enum status part_describe(struct arena *a, struct part *p, struct str *out,
                          struct err *err)
{
    enum { ALL_ORDERS = 5 }; /* 120 of them; beyond, as they stand */
    struct part_search s = {.a = a, .p = p};
    struct sb b;
    if (p->n_atoms <= ALL_ORDERS)
        permute(&s, 0);
    else
        try_order(&s);
    if (s.failed || !s.best.p)
        return err_nomem(err);
    memcpy(p->atoms, s.best_atoms, sizeof p->atoms);
    sb_init(&b, a);
    describe(&b, p); /* sets the numbers of this order */
    *out = s.best;
    return b.failed ? err_nomem(err) : OK;
}
