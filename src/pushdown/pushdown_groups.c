/*
 * GROUP BY: one count for each given key. The group's variables are left in
 * the relations; each relation is then asked for the keys, a few thousand in
 * a statement, and the count of a key is the product over the relations. So
 * what comes back is as large as the list of keys, not as the data.
 *
 * The keys are public: comparisons between two of a key's own values are
 * decided here.
 */
#include "pushdown/pushdown_gen.h"

#include <stdlib.h>
#include <string.h>

/* The relation is computed anew for each statement; one with so many keys is
 * read in a fraction of a second. */
enum { KEYS_AT_ONCE = 20000 };

struct groups {
    struct pushdown *c;
    const struct value *keys;
    size_t n_keys;
    u128 *out;   /* product so far */
    u128 *found; /* in the relation that is asked */
    bool *asked;
    struct err *err;
};

/* The column of the key that holds the variable. */
static const struct value *key_value(const struct groups *s, size_t key,
                                     uint32_t var)
{
    const struct cq *q = s->c->q;
    uint32_t i = 0;
    while (q->outs[i].kind != TERM_VAR || q->outs[i].id != var)
        i++;
    return &s->keys[key * q->n_group + i];
}

static bool same(const struct value *a, const struct value *b)
{
    if (a->is_null || b->is_null)
        return a->is_null == b->is_null;
    return type_comparable(a->type, b->type) && value_cmp(a, b) == 0;
}

/* Could a row have this key? By the head of the query and the types. */
static bool key_possible(const struct groups *s, size_t key)
{
    const struct cq *q = s->c->q;
    for (uint32_t i = 0; i < q->n_group; i++) {
        const struct value *v = &s->keys[key * q->n_group + i];
        struct term t = q->outs[i];
        if (t.kind == TERM_CONST && !same(v, &q->consts[t.id]))
            return false;
        if (t.kind != TERM_VAR)
            continue;
        if (v->is_null ? q->vars[t.id].nonnull
                       : !type_comparable(v->type, cq_column_type(q, t.id)))
            return false;
        if (!same(v, key_value(s, key, t.id)))
            return false;
    }
    return true;
}

static bool holds(const struct gcmp *c, const struct value *l,
                  const struct value *r)
{
    if (l->is_null || r->is_null || !type_comparable(l->type, r->type))
        return false;
    int x = value_cmp(l, r);
    return c->op == CMP_NE ? x != 0 : c->op == CMP_LT ? x < 0 : x <= 0;
}

/* Comparisons that no relation has both sides of: between key columns. */
static enum status decide_cmps(struct groups *s, const struct gen *g)
{
    for (uint32_t i = 0; i < g->n_cmps; i++) {
        const struct gcmp *c = &g->cmps[i];
        if (g->applied[i])
            continue;
        if (!vset_sub(gcmp_vars(c), g->boundary))
            return err_internal(s->err, "pushdown: an open comparison");
        for (size_t k = 0; k < s->n_keys; k++)
            if (!holds(c, key_value(s, k, c->l), key_value(s, k, c->r)))
                s->out[k] = 0;
    }
    return OK;
}

/* --- asking ----------------------------------------------------------------*/

static bool same_nulls(const struct groups *s, size_t a, size_t b, vset vars)
{
    VSET_EACH (v, vars)
        if (key_value(s, a, v)->is_null != key_value(s, b, v)->is_null)
            return false;
    return true;
}

static enum status key_const(struct groups *s, size_t key, uint32_t var,
                             struct sb *b)
{
    const struct value *v = key_value(s, key, var);
    enum type t = cq_column_type(s->c->q, var);
    if (sqlgen_same_order(t, v->type))
        return sqlgen_const(&s->c->sql, v, b, s->err);
    err_set(s->err, E_UNSUPPORTED,
            "the database cannot compare group keys of this type exactly");
    err_hint(s->err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

/* (number, values that are not NULL), for the keys with the NULLs of `like` */
static enum status key_rows(struct groups *s, struct sb *b, size_t like,
                            vset vars)
{
    unsigned n = 0;
    for (size_t k = like; k < s->n_keys && n < KEYS_AT_ONCE; k++) {
        if (s->asked[k] || !s->out[k] || !same_nulls(s, like, k, vars))
            continue;
        s->asked[k] = true;
        sb_printf(b, "%s(%zu", n++ ? ", " : "", k);
        VSET_EACH (v, vars) {
            if (key_value(s, k, v)->is_null)
                continue;
            sb_cstr(b, ", ");
            TRY(key_const(s, k, v, b));
        }
        sb_char(b, ')');
    }
    return OK;
}

static enum status key_statement(struct groups *s, struct gen *g, unsigned r,
                                 size_t like)
{
    vset vars = g->rels[r].vars;
    unsigned n = 0;
    g->n_deps = 0;
    const char *w = g->rels[r].ones ? "1" : "r.w";
    sb_printf(g->b,
              s->c->duck ? "SELECT k.i::varchar, %s::varchar FROM "
                         : "SELECT k.i, %s FROM ",
              w);
    gen_from(g, g->rels[r].id, "r");
    sb_cstr(g->b, " JOIN (VALUES ");
    TRY(key_rows(s, g->b, like, vars));
    sb_cstr(g->b, ") k(i");
    VSET_EACH (v, vars)
        if (!key_value(s, like, v)->is_null)
            sb_printf(g->b, ", a%u", n++);
    sb_cstr(g->b, ") ON ");
    n = 0;
    const char *between = "";
    VSET_EACH (v, vars) {
        sb_cstr(g->b, between);
        gen_ref(g, &g->rels[r], "r", gen_col(&g->rels[r], v));
        if (key_value(s, like, v)->is_null)
            sb_cstr(g->b, " IS NULL");
        else
            sb_printf(g->b, " = k.a%u", n++);
        between = " AND ";
    }
    between = " WHERE ";
    gen_where(g, g->rels[r].id, "r", &between);
    return g->b->failed ? err_nomem(s->err) : OK;
}

static enum status take_key(void *ctx, const struct str *cells, struct err *err)
{
    struct groups *s = ctx;
    u128 k;
    if (!count_read(cells[0].p, cells[0].n, &k) || k >= s->n_keys ||
        s->found[k] || !count_read(cells[1].p, cells[1].n, &s->found[k]))
        return err_internal(err, "pushdown: not the counts of keys");
    return OK;
}

static enum status send(struct groups *s, struct gen *g)
{
    return pushdown_query(s->c, g->b->p, 2, take_key, s, s->err);
}

static enum status multiply(struct groups *s)
{
    if (s->c->planning)
        return OK; /* the next relation is asked for all keys, too */
    for (size_t k = 0; k < s->n_keys; k++)
        s->out[k] = count_mul(s->out[k], s->found[k]);
    return OK;
}

/* A relation without variables has one weight, the same for all keys. */
static enum status ask_scalar(struct groups *s, struct gen *g, unsigned r)
{
    memset(s->found, 0, s->n_keys * sizeof *s->found);
    sb_cstr(g->b, s->c->duck ? "SELECT '0', COALESCE((SELECT max(w) FROM "
                             : "SELECT 0, COALESCE((SELECT max(w) FROM ");
    gen_from(g, g->rels[r].id, "r");
    sb_cstr(g->b, s->c->duck ? "), 0)::varchar" : "), 0)");
    if (g->b->failed)
        return err_nomem(s->err);
    TRY(send(s, g));
    for (size_t k = 1; k < s->n_keys; k++)
        s->found[k] = s->found[0];
    return multiply(s);
}

static enum status ask_relation(struct groups *s, struct gen *g, unsigned r)
{
    gen_begin(g);
    pool_with(g->pool, &g->rels[r].id, 1, g->b);
    size_t mark = g->b->n;
    if (!g->rels[r].vars)
        return ask_scalar(s, g, r);
    memset(s->found, 0, s->n_keys * sizeof *s->found);
    memset(s->asked, 0, s->n_keys * sizeof *s->asked);
    for (size_t k = 0; k < s->n_keys; k++) {
        if (s->asked[k] || !s->out[k])
            continue;
        g->b->n = mark;
        TRY(key_statement(s, g, r, k));
        TRY(send(s, g));
        k--; /* more keys with these NULLs may be left behind this one */
    }
    g->b->n = mark;
    return multiply(s);
}

static enum status answer_component(struct groups *s, const struct ask *ask)
{
    struct arena *a = &s->c->scratch;
    struct part *p = NEW(a, struct part);
    struct gen *g = NEW(a, struct gen);
    struct pool pool;
    struct str text;
    bool never = false;
    if (!p || !g)
        return store_nomem(s->c->src->mem, s->err);
    pool_init(&pool, a);
    TRY(part_init(p, s->c->q, ask, s->err));
    /* only the key stays; what it determines is summed over */
    p->outs |= p->boundary & ~ask->boundary;
    p->boundary &= ask->boundary;
    TRY(part_describe(a, p, &text, s->err));
    gen_init(g, s->c, p, &pool, s->err);
    TRY(gen_relations(g, &never));
    if (pool.failed)
        return err_nomem(s->err);
    if (never) {
        memset(s->out, 0, s->n_keys * sizeof *s->out);
        return OK;
    }
    TRY(decide_cmps(s, g));
    for (unsigned r = 0; r < g->n; r++)
        if (g->rels[r].live)
            TRY(ask_relation(s, g, r));
    return OK;
}

enum status pushdown_groups(void *ctx, const struct value *keys, size_t n_keys,
                            struct secret_count *out, struct err *err)
{
    struct pushdown *c = ctx;
    const struct cq *q = c->q;
    struct groups s = {c, keys, n_keys, NULL, NULL, NULL, err};
    struct arena a;
    arena_init(&a, c->src->mem);
    a.wipe = true;
    s.out = NEWS(&a, u128, n_keys + 1);
    s.found = NEWS(&a, u128, n_keys + 1);
    s.asked = NEWS(&a, bool, n_keys + 1);
    enum status st =
        s.out && s.found && s.asked ? OK : store_nomem(c->src->mem, err);
    for (size_t k = 0; st == OK && k < n_keys; k++)
        s.out[k] = !q->unsat && key_possible(&s, k);
    struct ask left = {.atoms = aset_first_n(q->n_atoms), .outs = cq_free(q)};
    for (uint32_t i = 0; i < q->n_group; i++)
        if (q->outs[i].kind == TERM_VAR)
            left.boundary |= vset_one(q->outs[i].id);
    while (left.atoms && st == OK && n_keys) {
        struct ask one = part_cut(q, &left);
        st = answer_component(&s, &one);
        arena_fini(&c->scratch);
    }
    for (size_t k = 0; st == OK && k < n_keys; k++)
        out[k] = secret_count_of(s.out[k]);
    arena_fini(&a);
    return st;
}
