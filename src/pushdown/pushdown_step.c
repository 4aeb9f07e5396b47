/*
 * One step of the elimination: the relations that hold a variable are joined
 * and the variable goes, together with all that no other relation holds.
 *
 *   exists     a variable that is neither counted nor in the boundary:
 *              SELECT DISTINCT the others
 *   counted    sum(product of weights) GROUP BY the others
 *   boundary   max(product of weights) GROUP BY the others
 *
 * Where a key of the join is among the others, every group is one row, and
 * nothing is grouped. A counted step that would leave two columns or more
 * first looks up what it can by key: that multiplies no rows, and one column
 * with few values takes the place of a key with many. With one column left the
 * step is a message, worth being shared, and stands as it is.
 *
 * A comparison is applied as soon as both sides are in one relation. A step
 * whose variable is compared (<>) with one that it does not hold yet is done
 * by subtraction, all pairs less the equal ones, so that no pairs are formed;
 * with < or several comparisons the other relation is joined.
 *
 * A step over relations whose weights are all 1 counts rows; counts are
 * bigint, their sums and all products numeric: nothing overflows.
 */
#include <stdio.h>

#include "pushdown/pushdown_gen.h"

struct step_bucket {
    unsigned rels[MAX_ATOMS + 2 * MAX_VARS];
    unsigned n;
    vset vars;
};

static void take(const struct gen *g, struct step_bucket *k, unsigned r)
{
    k->rels[k->n++] = r;
    k->vars |= g->rels[r].vars;
}

static bool taken(const struct step_bucket *k, unsigned r)
{
    for (unsigned i = 0; i < k->n; i++)
        if (k->rels[i] == r)
            return true;
    return false;
}

static void bucket_of(const struct gen *g, unsigned v, struct step_bucket *k)
{
    *k = (struct step_bucket){0};
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live && vset_has(g->rels[r].vars, v))
            take(g, k, r);
}

static void consume(struct gen *g, const struct step_bucket *k)
{
    for (unsigned i = 0; i < k->n; i++)
        g->rels[k->rels[i]].live = false;
}

/* --- the text
 * ------------------------------------------------------------------*/

static const char *op_text(enum cmp_op op)
{
    return op == CMP_NE ? " <> " : op == CMP_LT ? " < " : " <= ";
}

/* The relation of the bucket, among the first n, that has v; n: none. */
static unsigned holder(const struct gen *g, const struct step_bucket *k,
                       unsigned n, unsigned v)
{
    for (unsigned i = 0; i < n; i++)
        if (vset_has(g->rels[k->rels[i]].vars, v))
            return i;
    return n;
}

/* Column col of the bucket's relation i. */
static void ref(struct gen *g, const struct step_bucket *k, unsigned i,
                unsigned col)
{
    char alias[16];
    snprintf(alias, sizeof alias, "a%u", i);
    gen_ref(g, &g->rels[k->rels[i]], alias, col);
}

static void column(struct gen *g, const struct step_bucket *k, unsigned v)
{
    unsigned i = holder(g, k, k->n, v);
    ref(g, k, i, gen_col(&g->rels[k->rels[i]], v));
}

/* How many relations of the bucket have weights other than 1. */
static unsigned n_weights(const struct gen *g, const struct step_bucket *k)
{
    unsigned n = 0;
    for (unsigned i = 0; i < k->n; i++)
        n += !g->rels[k->rels[i]].ones;
    return n;
}

/* The product of those. */
static void weights(struct gen *g, const struct step_bucket *k)
{
    unsigned n = 0, all = n_weights(g, k);
    for (unsigned i = 0; i < k->n; i++)
        if (!g->rels[k->rels[i]].ones)
            sb_printf(g->b, "%sa%u.w%s", n++ ? " * " : "", i,
                      all > 1 ? "::numeric" : "");
}

/* The product of the weights of the bucket, as DuckDB computes it. */
static enum status duck_weights(struct gen *g, const struct step_bucket *k,
                                struct gen_weight *out)
{
    struct gen_weight list[MAX_ATOMS + 2 * MAX_VARS];
    size_t n = 0;
    for (unsigned i = 0; i < k->n; i++) {
        const struct gen_rel *r = &g->rels[k->rels[i]];
        if (r->ones)
            continue;
        list[n].bits = r->bits;
        list[n].sql = str_printf(g->pool->arena, "a%u.w", i);
        if (!list[n++].sql.p)
            return err_nomem(g->err);
    }
    return gen_product(g, list, n, out);
}

/* *bits: of the weights that come out. */
static enum status duck_step_weight(struct gen *g, const struct step_bucket *k,
                                    enum gen_step step, bool grouped,
                                    unsigned *bits)
{
    struct gen_weight w;
    TRY(duck_weights(g, k, &w));
    if (step == SUM && grouped)
        TRY(gen_sum(g, &w));
    *bits = w.bits;
    sb_printf(g->b, step == MAX && grouped ? "max(%.*s) AS w" : "%.*s AS w",
              PSTR(w.sql));
    return OK;
}

static enum status step_weight(struct gen *g, const struct step_bucket *k,
                               enum gen_step step, bool grouped, unsigned *bits)
{
    *bits = 0;
    if (!n_weights(g, k)) {
        *bits = step == SUM && grouped ? gen_count_bits : 0;
        sb_cstr(g->b, step == SUM && grouped ? "count(*) AS w" : "1 AS w");
        return OK;
    }
    if (g->c->duck)
        return duck_step_weight(g, k, step, grouped, bits);
    sb_cstr(g->b, step == EXISTS || !grouped ? "("
                  : step == SUM              ? "sum("
                                             : "max(");
    weights(g, k);
    sb_cstr(g->b, ") AS w");
    return OK;
}

static void from_clause(struct gen *g, const struct step_bucket *k)
{
    char alias[16];
    for (unsigned i = 0; i < k->n; i++) {
        const struct gen_rel *r = &g->rels[k->rels[i]];
        unsigned n = 0;
        snprintf(alias, sizeof alias, "a%u", i);
        sb_cstr(g->b, i ? " JOIN " : " FROM ");
        gen_from(g, r->id, alias);
        sb_cstr(g->b, i ? " ON " : "");
        for (unsigned c = 0; i && c < r->n; c++) {
            unsigned h = holder(g, k, i, r->cols[c]);
            if (h == i)
                continue;
            sb_cstr(g->b, n++ ? " AND " : "");
            ref(g, k, h, gen_col(&g->rels[k->rels[h]], r->cols[c]));
            sb_cstr(g->b, " = ");
            ref(g, k, i, c);
        }
        sb_cstr(g->b, i && !n ? "true" : "");
    }
}

static void where_clause(struct gen *g, const struct step_bucket *k)
{
    const char *between = " WHERE ";
    for (unsigned i = 0; i < k->n; i++) {
        char alias[16];
        snprintf(alias, sizeof alias, "a%u", i);
        gen_where(g, g->rels[k->rels[i]].id, alias, &between);
    }
    for (uint32_t i = 0; i < g->n_cmps; i++) {
        const struct gcmp *c = &g->cmps[i];
        if (g->applied[i] || !vset_sub(gcmp_vars(c), k->vars))
            continue;
        sb_cstr(g->b, between);
        between = " AND ";
        column(g, k, c->l);
        sb_cstr(g->b, op_text(c->op));
        column(g, k, c->r);
        g->applied[i] = true;
    }
}

static void group_by(struct gen *g)
{
    for (unsigned i = 1; i <= g->n_cols; i++)
        sb_printf(g->b, "%s%u", i > 1 ? ", " : " GROUP BY ", i);
    if (!g->n_cols)
        sb_cstr(g->b, " HAVING count(*) > 0");
}

/* The columns, in the order of the relations they come from. */
static void select_columns(struct gen *g, const struct step_bucket *k,
                           vset vars)
{
    for (unsigned i = 0; i < k->n; i++) {
        const struct gen_rel *r = &g->rels[k->rels[i]];
        for (unsigned c = 0; c < r->n; c++) {
            if (!vset_has(vars, r->cols[c]))
                continue;
            vars &= ~vset_one(r->cols[c]);
            ref(g, k, i, c);
            gen_as(g, r->cols[c]);
            sb_cstr(g->b, ", ");
        }
    }
}

/* Of two equal relations, the one that the other is joined to by an earlier
 * column comes first: so that a join has one text. */
static bool swapped(const struct gen *g, unsigned x, unsigned y)
{
    const struct gen_rel *a = &g->rels[x], *b = &g->rels[y];
    unsigned first_a = UINT32_MAX, first_b = UINT32_MAX;
    if (a->id != b->id)
        return a->id > b->id;
    VSET_EACH (v, a->vars & b->vars) {
        unsigned ca = gen_col(a, v), cb = gen_col(b, v);
        first_a = ca < first_a ? ca : first_a;
        first_b = cb < first_b ? cb : first_b;
    }
    return first_a > first_b;
}

/* By number, but each joined to an earlier one where that is possible. */
static void arrange(const struct gen *g, struct step_bucket *k)
{
    vset seen = 0;
    for (unsigned i = 0; i < k->n; i++) {
        unsigned best = i;
        for (unsigned j = i + 1; j < k->n; j++) {
            bool here = g->rels[k->rels[best]].vars & seen;
            bool there = g->rels[k->rels[j]].vars & seen;
            if (here != there ? there : swapped(g, k->rels[best], k->rels[j]))
                best = j;
        }
        unsigned r = k->rels[best];
        k->rels[best] = k->rels[i];
        k->rels[i] = r;
        seen |= g->rels[r].vars;
    }
}

/* Every row of the join is the only one with its values of `vars`: one
 * relation has its key there, and the others follow by theirs. */
static bool rows_single(const struct gen *g, const struct step_bucket *k,
                        vset vars, vset *key)
{
    for (unsigned i = 0; i < k->n; i++) {
        const struct gen_rel *root = &g->rels[k->rels[i]];
        vset known = root->vars, before = 0;
        unsigned n = 0;
        if (!vset_sub(root->key, vars))
            continue;
        while (known != before) {
            before = known;
            for (unsigned j = 0; j < k->n; j++)
                if (vset_sub(g->rels[k->rels[j]].key, known))
                    known |= g->rels[k->rels[j]].vars;
        }
        for (unsigned j = 0; j < k->n; j++)
            n += j == i || vset_sub(g->rels[k->rels[j]].key, known);
        *key = root->key;
        if (n == k->n)
            return true;
    }
    return false;
}

static enum status step_rel(struct gen *g, struct step_bucket *k,
                            enum gen_step step, vset vars,
                            struct gen_rel **out);

static bool is_message(const struct gen *g, unsigned r)
{
    return !g->pool->failed && !g->pool->list.p[g->rels[r].id].plain;
}

/* Variables of the tables that are needed outside of their join. */
static vset needed(const struct gen *g, const struct step_bucket *tables,
                   const struct step_bucket *others, vset vars)
{
    vset all = tables->vars | others->vars, keep = vars | others->vars;
    for (uint32_t i = 0; i < g->n_cmps; i++) {
        vset both = gcmp_vars(&g->cmps[i]);
        if (!g->applied[i] && vset_sub(both, all) &&
            !vset_sub(both, tables->vars))
            keep |= both;
    }
    return keep & tables->vars;
}

/*
 * A cluster joins tables that are not stored together by sending their rows
 * about, and what was computed before with tables, but not both in one join. So
 * tables that meet a message are joined among themselves first, and grouped,
 * since a subquery without a group is taken apart again.
 */
static enum status tables_first(struct gen *g, struct step_bucket *k,
                                enum gen_step step, vset vars)
{
    struct step_bucket tables = {0}, rest = {0};
    struct gen_rel *made;
    for (unsigned i = 0; i < k->n; i++)
        take(g, is_message(g, k->rels[i]) ? &rest : &tables, k->rels[i]);
    if (!source_is_distributed(g->c->src) || tables.n < 2 || !rest.n)
        return OK;
    vset keep = needed(g, &tables, &rest, vars);
    g->groups_all = true;
    enum status s = step_rel(g, &tables, step, keep, &made);
    g->groups_all = false;
    TRY(s);
    take(g, &rest, (unsigned)(made - g->rels));
    *k = rest;
    return OK;
}

/* SELECT vars, step(weights) over the join of the bucket, which is used up. */
static enum status step_rel(struct gen *g, struct step_bucket *k,
                            enum gen_step step, vset vars, struct gen_rel **out)
{
    unsigned bits;
    vset key = 0;
    TRY(tables_first(g, k, step, vars));
    bool single = !g->groups_all && rows_single(g, k, vars, &key);
    bool ones = !n_weights(g, k) && (step != SUM || single);
    bool some = !single && step == MAX && ones && !vars && k->n == 1;
    arrange(g, k);
    gen_begin(g);
    sb_cstr(g->b, step == EXISTS && !single ? "SELECT DISTINCT " : "SELECT ");
    select_columns(g, k, vars);
    /* Where only existence is asked, a weight other than 1 belongs to a bag
     * that a comparison brought in; all its columns stay, so it is the same
     * in equal rows. */
    TRY(step_weight(g, k, step, !single, &bits));
    from_clause(g, k);
    where_clause(g, k);
    if (some)
        sb_cstr(g->b, " LIMIT 1");
    else if (step != EXISTS && !single)
        group_by(g);
    consume(g, k);
    struct gen_rel *r = gen_end(g, single);
    r->ones = ones;
    r->bits = bits;
    if (single)
        r->key = key;
    *out = r;
    return OK;
}

/* --- comparisons with what the bucket lacks
 * ---------------------------------------*/

/* Open comparisons of v with variables that the bucket lacks: their number,
 * and one of them, with <> if there is one. */
static unsigned open_cmps(const struct gen *g, unsigned v, vset have,
                          uint32_t *one)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < g->n_cmps; i++) {
        vset vars = gcmp_vars(&g->cmps[i]);
        if (g->applied[i] || !vset_has(vars, v) || vset_sub(vars, have))
            continue;
        if (!n++ || g->cmps[*one].op != CMP_NE)
            *one = i;
    }
    return n;
}

static void join_partner(const struct gen *g, unsigned v, uint32_t cmp,
                         struct step_bucket *k)
{
    vset other = gcmp_vars(&g->cmps[cmp]) & ~vset_one(v);
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live && vset_sub(other, g->rels[r].vars)) {
            take(g, k, r);
            return;
        }
}

static bool nullable(const struct gen *g, unsigned v)
{
    const struct cq *q = g->p->q;
    return v < q->n_vars && !q->vars[v].nonnull;
}

/* What P's row weighs times what is left of T; *bits: of T, then of that. */
static enum status difference(struct gen *g, const struct gen_rel *p,
                              unsigned *bits)
{
    struct gen_weight w, both[] = {{STR("(a1.w - COALESCE(m.w, 0))"), *bits},
                                   {STR("a0.w"), p->bits}};
    if (!g->c->duck && !p->ones) /* a table itself has no weight */
        sb_cstr(g->b, "a0.w::numeric * ");
    TRY(gen_product(g, both, g->c->duck && !p->ones ? 2 : 1, &w));
    sb_printf(g->b, "%.*s AS w", PSTR(w.sql));
    *bits = w.bits;
    return OK;
}

/*
 * v <> u, u elsewhere. M = the bucket, summed to v and the rest; T = M summed
 * over v. Then for each row of the relation P that has u:
 * P.w * (T.w - M.w where M.v = P.u). T and M share the columns `rest`; P joins
 * them on what it shares with them.
 */
static enum status subtract(struct gen *g, struct step_bucket *k, unsigned v,
                            uint32_t cmp)
{
    vset rest = k->vars & ~vset_one(v);
    unsigned u = vset_min(gcmp_vars(&g->cmps[cmp]) & ~vset_one(v));
    struct step_bucket p = {0}, one = {0};
    struct gen_rel *m, *t;
    TRY(step_rel(g, k, SUM, k->vars, &m));
    take(g, &one, (unsigned)(m - g->rels));
    TRY(step_rel(g, &one, SUM, rest, &t));
    join_partner(g, v, cmp, &p);
    if (!p.n)
        return err_internal(g->err, "pushdown: comparison without partner");
    g->applied[cmp] = true;
    take(g, &p, (unsigned)(t - g->rels));
    gen_begin(g);
    sb_cstr(g->b, "SELECT ");
    select_columns(g, &p, p.vars);
    unsigned bits = t->bits;
    TRY(difference(g, &g->rels[p.rels[0]], &bits));
    from_clause(g, &p);
    sb_cstr(g->b, " LEFT JOIN ");
    gen_from(g, m->id, "m");
    sb_printf(g->b, " ON m.c%u = ", gen_col(m, v));
    ref(g, &p, 0, gen_col(&g->rels[p.rels[0]], u));
    VSET_EACH (x, rest)
        sb_printf(g->b, " AND m.c%u%sa1.c%u", gen_col(m, x),
                  nullable(g, x) ? " IS NOT DISTINCT FROM " : " = ",
                  gen_col(t, x));
    where_clause(g, &p);
    consume(g, &p);
    gen_end(g, false)->bits = bits;
    return OK;
}

/* --- order
 * ---------------------------------------------------------------------*/

/* Those of `vars` that only the bucket holds and nothing outside compares:
 * one step does for all of them. */
static vset only_here(const struct gen *g, const struct step_bucket *k,
                      vset vars)
{
    vset here = vars & k->vars, elsewhere = 0;
    uint32_t cmp;
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live && !taken(k, r))
            elsewhere |= g->rels[r].vars;
    here &= ~elsewhere;
    VSET_EACH (v, here)
        if (open_cmps(g, v, k->vars, &cmp))
            here &= ~vset_one(v);
    return here;
}

/* Would looking up r by its key spare a column of the key, and leave no more
 * columns than before? */
static bool worth_looking_up(struct gen *g, const struct step_bucket *k,
                             unsigned r, vset vars, vset *gone)
{
    vset key = g->rels[r].key, left = k->vars & ~*gone;
    struct step_bucket more = *k;
    if (!g->rels[r].live || taken(k, r) || !vset_sub(key, k->vars))
        return false;
    take(g, &more, r);
    vset now = *gone | only_here(g, &more, vars), then = more.vars & ~now;
    if (!(key & left & ~then) || vset_count(then) > vset_count(left))
        return false;
    *gone = now;
    return true;
}

/* gone: what the step eliminates; more of `vars` may be among it then. */
static void look_up(struct gen *g, struct step_bucket *k, vset vars, vset *gone)
{
    for (bool found = true; found;) {
        found = false;
        for (unsigned r = 0; r < g->n && !found; r++) {
            if (vset_count(k->vars & ~*gone) < 2)
                return;
            found = worth_looking_up(g, k, r, vars, gone);
            if (found)
                take(g, k, r);
        }
    }
}

/* One left over that would not be grouped again is subtracted. */
bool gen_splits(const struct gen *g, unsigned v, vset boundary, uint32_t *cmp)
{
    struct step_bucket k, p = {0};
    bucket_of(g, v, &k);
    unsigned open = k.n ? open_cmps(g, v, k.vars, cmp) : 0;
    if (!open || g->cmps[*cmp].op != CMP_NE)
        return false;
    join_partner(g, v, *cmp, &p);
    vset left = (k.vars & ~vset_one(v)) | p.vars;
    return open > 1 || !vset_sub(left, boundary);
}

static unsigned all_bits(const struct gen *g, const struct step_bucket *k)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < k->n; i++)
        bits += g->rels[k->rels[i]].ones ? 0 : g->rels[k->rels[i]].bits;
    return bits;
}

enum status gen_eliminate_one(struct gen *g, unsigned v, enum gen_step step,
                              vset *vars)
{
    struct step_bucket k;
    uint32_t cmp = 0;
    bucket_of(g, v, &k);
    *vars &= ~vset_one(v);
    if (!k.n)
        return OK; /* only existed in an atom that dropped it */
    unsigned open = open_cmps(g, v, k.vars, &cmp);
    if (step == SUM && open == 1 && g->cmps[cmp].op == CMP_NE &&
        (!g->c->duck || gen_subtracts(all_bits(g, &k))))
        return subtract(g, &k, v, cmp);
    while (open) {
        join_partner(g, v, cmp, &k);
        open = open_cmps(g, v, k.vars, &cmp);
    }
    vset gone = vset_one(v) | only_here(g, &k, *vars);
    if (step == SUM)
        look_up(g, &k, *vars, &gone);
    struct gen_rel *made;
    TRY(step_rel(g, &k, step, k.vars & ~gone, &made));
    *vars &= ~gone;
    return OK;
}

/* How many relations of the bucket, but one, are joined otherwise than by
 * their key: each may multiply the rows. */
static unsigned multiplied(const struct gen *g, const struct step_bucket *k)
{
    unsigned n = 0;
    for (unsigned i = 0; i < k->n; i++) {
        vset others = 0;
        for (unsigned j = 0; j < k->n; j++)
            others |= i == j ? 0 : g->rels[k->rels[j]].vars;
        n += !vset_sub(g->rels[k->rels[i]].key, others);
    }
    return n ? n - 1 : 0;
}

/* A variable whose step joins nothing, if there is one: what is joined later
 * has fewer rows then. Otherwise the one whose step joins by keys and leaves
 * the fewest columns, and of those the one that joins the fewest relations. */
unsigned gen_cheapest(struct gen *g, vset vars, enum gen_step step)
{
    unsigned best = vset_min(vars), best_cost = UINT32_MAX;
    VSET_EACH (v, vars) {
        struct step_bucket k;
        uint32_t cmp = 0;
        bucket_of(g, v, &k);
        unsigned open = open_cmps(g, v, k.vars, &cmp);
        vset gone = vset_one(v) | only_here(g, &k, vars);
        if (step == SUM && !open)
            look_up(g, &k, vars, &gone);
        unsigned cost = 64 * vset_count(k.vars & ~gone) +
                        256 * multiplied(g, &k) + 256 * open +
                        (k.n > 1 ? (1U << 16) + k.n : 0);
        if (cost < best_cost) {
            best = v;
            best_cost = cost;
        }
    }
    return best;
}

enum status gen_eliminate(struct gen *g, vset vars, enum gen_step step)
{
    while (vars) {
        unsigned v = gen_cheapest(g, vars, step);
        TRY(gen_eliminate_one(g, v, step, &vars));
    }
    return OK;
}

enum status gen_join(struct gen *g, vset vars, struct gen_rel **out)
{
    struct step_bucket k = {0};
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live)
            take(g, &k, r);
    return step_rel(g, &k, SUM, vars, out);
}
