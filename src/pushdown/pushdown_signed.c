/*
 * What is counted under x <> y, as a difference: all rows less those with x =
 * y. The latter are counted with one variable in place of the two. So a
 * comparison between tables costs no join of its own, and what is left is
 * eliminated without it. Each comparison doubles the terms, those that
 * contradict another one fall away; the answer is
 *
 *     SELECT boundary, sum(w) FROM (terms with their signs) GROUP BY boundary
 *
 * Sums are exact (numeric; in DuckDB as far as pushdown_weight.c knows them to
 * be), so no difference is taken of clamped numbers.
 *
 * Where only the existence of rows is asked they are counted in the same way,
 * and the answer is 1 if there are any: pairs need not be formed then to see
 * that none is allowed.
 */
#include <stdio.h>

#include "pushdown/pushdown_gen.h"

/* Beyond, comparisons are joined as pushdown_step.c does. */
enum { MAX_TERMS = 64 };

struct signed_term {
    struct gen_rel rel;
    int factor;
};

struct signed_sum {
    struct gen *out; /* whose boundary it is */
    struct signed_term terms[MAX_TERMS];
    size_t n;
    bool split; /* was anything? Otherwise there is nothing to add up */
    bool many;  /* more terms than are written, or too wide for DuckDB */
};

static bool same_columns(const struct gen_rel *a, const struct gen_rel *b)
{
    bool same = a->id == b->id && a->n == b->n;
    for (unsigned i = 0; same && i < a->n; i++)
        same = a->cols[i] == b->cols[i];
    return same;
}

static void add_term(struct signed_sum *s, const struct gen_rel *r, int sign)
{
    for (size_t i = 0; i < s->n; i++)
        if (same_columns(&s->terms[i].rel, r)) {
            s->terms[i].factor += sign;
            return;
        }
    if (s->n == MAX_TERMS)
        s->many = true;
    else
        s->terms[s->n++] = (struct signed_term){*r, sign};
}

/* --- one variable in place of two -----------------------------------------*/

static vset renamed(vset vars, unsigned v, unsigned u)
{
    return vset_has(vars, v) ? (vars & ~vset_one(v)) | vset_one(u) : vars;
}

static void rename_column(struct gen_rel *r, unsigned v, unsigned u)
{
    r->cols[gen_col(r, v)] = (uint8_t)u;
    r->vars = renamed(r->vars, v, u);
    r->key = renamed(r->key, v, u);
}

/* Is comparison i said by an earlier one that is still open? */
static bool said_before(const struct gen *g, uint32_t i)
{
    const struct gcmp *c = &g->cmps[i];
    for (uint32_t k = 0; k < i; k++) {
        const struct gcmp *d = &g->cmps[k];
        bool turned = c->op == CMP_NE && d->l == c->r && d->r == c->l;
        if (!g->applied[k] && d->op == c->op &&
            (turned || (d->l == c->l && d->r == c->r)))
            return true;
    }
    return false;
}

/* false: v = u contradicts another comparison, there are no such rows. */
static bool rename_cmps(struct gen *g, unsigned v, unsigned u)
{
    for (uint32_t i = 0; i < g->n_cmps; i++) {
        struct gcmp *c = &g->cmps[i];
        if (g->applied[i])
            continue;
        c->l = c->l == v ? u : c->l;
        c->r = c->r == v ? u : c->r;
        if (c->l == c->r && c->op != CMP_LE)
            return false;
        g->applied[i] = c->l == c->r || said_before(g, i);
    }
    return true;
}

/* No relation holds both: their comparison would not be open. */
static bool identify(struct gen *g, unsigned v, unsigned u)
{
    if (!rename_cmps(g, v, u))
        return false;
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live && vset_has(g->rels[r].vars, v))
            rename_column(&g->rels[r], v, u);
    return true;
}

/* --- terms ----------------------------------------------------------------*/

static enum status terms(struct signed_sum *s, struct gen *g, vset vars,
                         int sign);

static struct gen *copy(struct gen *g)
{
    struct gen *t = NEW(&g->c->scratch, struct gen);
    if (t) {
        *t = *g;
        t->b = &t->body;
    }
    return t;
}

static enum status split(struct signed_sum *s, struct gen *g, vset vars,
                         unsigned v, uint32_t cmp, int sign)
{
    unsigned u = vset_min(gcmp_vars(&g->cmps[cmp]) & ~vset_one(v));
    struct gen *equal = copy(g);
    if (!equal)
        return err_nomem(g->err);
    s->split = true;
    g->applied[cmp] = equal->applied[cmp] = true;
    TRY(terms(s, g, vars, sign));
    return identify(equal, v, u) ? terms(s, equal, vars & ~vset_one(v), -sign)
                                 : OK;
}

/* What is left of a term is one relation over the boundary. */
static enum status end_term(struct signed_sum *s, struct gen *g, int sign)
{
    struct gen_rel *r;
    /* a cluster adds up what was computed, not tables */
    g->groups_all = source_is_distributed(g->c->src);
    TRY(gen_join(g, s->out->boundary, &r));
    s->many |= g->c->duck && !gen_adds(r->bits);
    add_term(s, r, sign);
    return OK;
}

static enum status terms(struct signed_sum *s, struct gen *g, vset vars,
                         int sign)
{
    uint32_t cmp = 0;
    while (vars && !s->many) {
        unsigned v = gen_cheapest(g, vars, SUM);
        if (gen_splits(g, v, s->out->boundary, &cmp))
            return split(s, g, vars, v, cmp, sign);
        TRY(gen_eliminate_one(g, v, SUM, &vars));
    }
    return s->many || !s->split ? OK : end_term(s, g, sign);
}

/* --- their sum ------------------------------------------------------------*/

/* The columns in the order of the first term's. */
static void put_term(struct gen *g, const struct signed_term *t,
                     const struct gen_rel *first)
{
    const char *between = " WHERE ";
    sb_cstr(g->b, "SELECT ");
    for (unsigned c = 0; c < first->n; c++) {
        gen_ref(g, &t->rel, "a", gen_col(&t->rel, first->cols[c]));
        sb_printf(g->b, " AS c%u, ", c);
    }
    sb_printf(g->b, "%d * %s", t->factor, t->rel.ones ? "1" : "a.w");
    sb_cstr(g->b, g->c->duck ? "::hugeint AS w FROM " : "::numeric AS w FROM ");
    gen_from(g, t->rel.id, "a");
    gen_where(g, t->rel.id, "a", &between);
}

static void put_sum(struct gen *g, const struct signed_sum *s, bool exists)
{
    const struct gen_rel *first = &s->terms[0].rel;
    const char *between = " FROM (";
    gen_begin(g);
    sb_cstr(g->b, "SELECT ");
    for (unsigned c = 0; c < first->n; c++) {
        sb_printf(g->b, "s.c%u", c);
        gen_as(g, first->cols[c]);
        sb_cstr(g->b, ", ");
    }
    sb_cstr(g->b, exists ? "1 AS w" : "sum(s.w) AS w");
    for (size_t i = 0; i < s->n; i++) {
        if (!s->terms[i].factor)
            continue;
        sb_cstr(g->b, between);
        put_term(g, &s->terms[i], first);
        between = " UNION ALL ";
    }
    sb_cstr(g->b, ") s");
    for (unsigned c = 0; c < first->n; c++)
        sb_printf(g->b, "%s%u", c ? ", " : " GROUP BY ", c + 1);
    sb_cstr(g->b, " HAVING sum(s.w) > 0");
}

static void add_up(struct gen *g, const struct signed_sum *s, bool exists)
{
    unsigned bits = 0;
    for (unsigned r = 0; r < g->n; r++)
        g->rels[r].live = false;
    for (uint32_t i = 0; i < g->n_cmps; i++)
        g->applied[i] = true;
    for (size_t i = 0; i < s->n; i++)
        bits = s->terms[i].rel.bits > bits ? s->terms[i].rel.bits : bits;
    put_sum(g, s, exists);
    struct gen_rel *r = gen_end(g, false);
    r->ones = exists;
    r->bits = bits;
}

/* Does not touch g unless the terms were added up. */
static enum status try_terms(struct gen *g, vset vars, bool exists, bool *done)
{
    struct signed_sum *s = NEW(&g->c->scratch, struct signed_sum);
    struct gen *t = copy(g);
    *done = false;
    if (!s || !t)
        return err_nomem(g->err);
    s->out = g;
    TRY(terms(s, t, vars, 1));
    *done = s->split && !s->many;
    if (*done)
        add_up(g, s, exists);
    return OK;
}

enum status gen_count_out(struct gen *g)
{
    bool done = false;
    if (!g->p->outside && g->n_cmps)
        TRY(try_terms(g, g->outs, false, &done));
    return done ? OK : gen_eliminate(g, g->outs, SUM);
}

static bool counts_nothing(const struct gen *g)
{
    bool nothing = !g->outs && !g->exists && !g->p->outside;
    for (unsigned r = 0; r < g->n; r++)
        nothing &= !g->rels[r].live || g->rels[r].ones;
    return nothing;
}

enum status gen_any(struct gen *g)
{
    bool done;
    vset vars = g->boundary;
    if (!g->n_cmps || !counts_nothing(g))
        return OK;
    g->boundary = 0;
    TRY(try_terms(g, vars, true, &done));
    if (!done)
        g->boundary = vars;
    return OK;
}
