/*
 * The count of a tree by one statement: answers of branches with one tag are
 * united by UNION, others added up; what is subtracted comes as a number of its
 * own.
 *
 * Numbers are those of release/tree_count.c; types and expressions that the
 * database might treat otherwise are E_UNSUPPORTED, as everywhere here.
 */
#include "pushdown/pushdown_tree.h"

#include "source/postgres/pg_lib.h"
#include <stdlib.h>
#include <string.h>

#include "pushdown/pushdown_int.h"

enum { TREE_KEYS_AT_ONCE = 20000 };

static void write_units(struct sb *b, int64_t v, uint32_t scale)
{
    sb_cstr(b, "(");
    cq_weight_print_units(b, v, scale);
    sb_cstr(b, ")::numeric");
}

void pushdown_write_clip(struct sb *b, const struct cq_weight *w,
                         const char *number)
{
    sb_printf(b,
              "CASE WHEN (%s) IS NULL THEN 0 ELSE abs(least(greatest(round("
              "least(greatest((%s)::numeric, ",
              number, number);
    write_units(b, w->lo - 1, w->scale);
    sb_cstr(b, "), ");
    write_units(b, w->hi + 1, w->scale);
    sb_cstr(b, ") * 1");
    for (uint32_t i = 0; i < w->scale; i++)
        sb_char(b, '0');
    sb_printf(b, "), %lld), %lld)) END", (long long)w->lo, (long long)w->hi);
}

struct tree_sql {
    struct source *src;
    const struct ctree *t;
    struct sb *b;
    struct err *err;
};

static enum status check_table(struct tree_sql *x, uint32_t table)
{
    const struct src_table *t = source_find_table(x->src, table);
    if (t && t->kind == SRC_PG && !t->refused)
        return OK;
    if (t && t->refused)
        return source_refuse(t, x->err);
    err_set(x->err, E_UNSUPPORTED,
            "table \"%.*s\" is not in a PostgreSQL database",
            PSTR(x->t->branches[0]->b.schema->tables.p[table].name));
    err_hint(x->err, "Use --engine embedded.");
    return E_UNSUPPORTED;
}

static enum status one_branch(struct tree_sql *x, const struct tree_branch *t,
                              bool united)
{
    for (size_t i = 0; i < t->b.atoms.n; i++)
        TRY(check_table(x, t->b.atoms.p[i].table));
    return pushdown_write_branch(x->src, x->t, t, united, x->b, x->err);
}

/* What an answer weighs: cq_weight_of. Cut before it is multiplied, so that no
 * number is too long for the database. */
static enum status write_weight(struct tree_sql *x, const struct tree_branch *t)
{
    const struct cq_weight *w = &t->b.weight;
    struct sb *b = x->b;
    char name[16];
    if (!w->on) {
        sb_char(b, '1');
        return OK;
    }
    struct term out = t->b.outs.p[w->out];
    enum type type = out.kind == TERM_VAR ? t->b.vars.p[out.id].type
                                          : t->b.consts.p[out.id].type;
    if (type != T_INT && type != T_DEC) {
        sb_char(b, '0');
        return OK;
    }
    snprintf(name, sizeof name, "o%u", w->out);
    pushdown_write_clip(b, w, name);
    return OK;
}

/* The branches of one tag: keys, what they add, what they subtract. */
static enum status one_tag(struct tree_sql *x, size_t first)
{
    const struct tree_branch *t = x->t->branches[first];
    uint32_t n_group = t->b.n_group, n = 0;
    bool minus = cq_weight_negative(&t->b.weight);
    size_t same = 0;
    for (size_t i = 0; i < x->t->n_branches; i++)
        same += x->t->branches[i]->tag == t->tag;
    sb_cstr(x->b, "SELECT ");
    for (uint32_t i = 0; i < n_group; i++)
        sb_printf(x->b, "o%u AS g%u, ", i, i);
    sb_cstr(x->b, minus ? "0::numeric AS p, " : "");
    bool capped = t->nodes.p[0].cap;
    sb_cstr(x->b, t->b.weight.on || capped ? "sum(" : "count(");
    if (capped)
        sb_char(x->b, 'm');
    else
        TRY(write_weight(x, t));
    sb_cstr(x->b,
            minus ? ")::numeric AS m" : ")::numeric AS p, 0::numeric AS m");
    sb_cstr(x->b, " FROM (");
    for (size_t i = first; i < x->t->n_branches; i++) {
        if (x->t->branches[i]->tag != t->tag)
            continue;
        sb_cstr(x->b, n++ ? ") UNION (" : "(");
        TRY(one_branch(x, x->t->branches[i], same > 1));
    }
    sb_cstr(x->b, ")) u");
    for (uint32_t i = 0; i < n_group; i++)
        sb_printf(x->b, "%so%u", i ? ", " : " GROUP BY ", i);
    return OK;
}

/* g0, g1, ..., p, m: perhaps several rows for a key. */
static enum status write_tree(struct tree_sql *x)
{
    bool any = false;
    for (size_t i = 0; i < x->t->n_branches; i++) {
        size_t first = 0;
        while (x->t->branches[first]->tag != x->t->branches[i]->tag)
            first++;
        if (first != i)
            continue;
        sb_cstr(x->b, any ? " UNION ALL " : "");
        TRY(one_tag(x, i));
        any = true;
    }
    return x->b->failed ? err_nomem(x->err) : OK;
}

/* --- asking ----------------------------------------------------------------
 */

struct tree_asking {
    struct sqlgen sql;
    struct tree_sql x;
    struct str tree;
    const struct value *keys;
    size_t n_keys;
    uint32_t n_cols;
    bool *asked;
    bool plan_only;
    const struct progress *progress;
    struct secret_count *out;
};

static bool tree_same_nulls(const struct tree_asking *s, size_t a, size_t b)
{
    for (uint32_t c = 0; c < s->n_cols; c++)
        if (s->keys[a * s->n_cols + c].is_null !=
            s->keys[b * s->n_cols + c].is_null)
            return false;
    return true;
}

enum type pushdown_out_type(const struct ctree *t, uint32_t col)
{
    for (size_t i = 0; i < t->n_branches; i++) {
        const struct cq_builder *b = &t->branches[i]->b;
        struct term o = b->outs.p[col];
        if (o.kind == TERM_VAR)
            return b->vars.p[o.id].type;
        if (!b->consts.p[o.id].is_null)
            return b->consts.p[o.id].type;
    }
    return T_UNKNOWN;
}

/* Could the key be one of the query's? */
static enum status check_key(const struct tree_asking *s, size_t key,
                             bool *possible)
{
    *possible = true;
    for (uint32_t c = 0; c < s->n_cols; c++) {
        const struct value *v = &s->keys[key * s->n_cols + c];
        enum type t = pushdown_out_type(s->x.t, c);
        if (v->is_null)
            continue;
        *possible &= t != T_UNKNOWN && type_comparable(t, v->type);
        if (*possible && !sqlgen_same_order(t, v->type))
            return pushdown_refuse_types(s->x.err);
    }
    return OK;
}

static enum status write_keys(struct tree_asking *s, size_t like, size_t *n)
{
    struct sb *b = s->x.b;
    for (size_t k = like; k < s->n_keys && *n < TREE_KEYS_AT_ONCE; k++) {
        bool possible;
        if (s->asked[k] || !tree_same_nulls(s, like, k))
            continue;
        s->asked[k] = true;
        TRY(check_key(s, k, &possible));
        if (!possible)
            continue;
        sb_printf(b, "%s(%zu", (*n)++ ? ", " : "", k);
        for (uint32_t c = 0; c < s->n_cols; c++) {
            const struct value *v = &s->keys[k * s->n_cols + c];
            if (v->is_null)
                continue;
            sb_cstr(b, ", ");
            TRY(sqlgen_const(&s->sql, v, b, s->x.err));
        }
        sb_char(b, ')');
    }
    return OK;
}

static void write_on(struct tree_asking *s, size_t like)
{
    struct sb *b = s->x.b;
    sb_cstr(b, ") k(i");
    for (uint32_t c = 0; c < s->n_cols; c++)
        if (!s->keys[like * s->n_cols + c].is_null)
            sb_printf(b, ", a%u", c);
    sb_cstr(b, ") ON true");
    for (uint32_t c = 0; c < s->n_cols; c++)
        if (s->keys[like * s->n_cols + c].is_null)
            sb_printf(b, " AND t.g%u IS NULL", c);
        else
            sb_printf(b, " AND t.g%u = k.a%u", c, c);
}

static enum status take_totals(struct tree_asking *s, PGresult *res)
{
    for (int i = 0; i < PQntuples(res); i++) {
        const char *p = PQgetvalue(res, i, 1), *m = PQgetvalue(res, i, 2);
        size_t k = strtoul(PQgetvalue(res, i, 0), NULL, 10);
        u128 plus, minus;
        if (k >= (s->n_cols ? s->n_keys : 1) ||
            !count_read(p, strlen(p), &plus) ||
            !count_read(m, strlen(m), &minus))
            return err_internal(s->x.err, "pushdown: not the counts of a tree");
        s->out[k] = secret_count_of(plus - minus);
    }
    return OK;
}

static enum status send_tree(struct tree_asking *s)
{
    struct ticker t;
    PGresult *res;
    if (s->x.b->failed)
        return err_nomem(s->x.err);
    if (!s->out)
        return s->plan_only ? pg_explain(s->x.src, sb_view(s->x.b), s->x.err)
                            : OK;
    ticker_init(&t, s->progress, "counting in the database", 0);
    TRY(pg_query(s->x.src, s->x.b->p, &t, &res, s->x.err));
    enum status st = take_totals(s, res);
    PQclear(res);
    return st;
}

static enum status ask_total(struct tree_asking *s)
{
    s->x.b->n = 0;
    sb_cstr(s->x.b,
            "SELECT 0, COALESCE(sum(p), 0), COALESCE(sum(m), 0) FROM (");
    sb_str(s->x.b, s->tree);
    sb_cstr(s->x.b, ") t");
    return send_tree(s);
}

static enum status ask_keys(struct tree_asking *s)
{
    for (size_t k = 0; k < s->n_keys; k++) {
        size_t n = 0;
        while (k < s->n_keys && s->asked[k])
            k++;
        if (k == s->n_keys)
            return OK;
        s->x.b->n = 0;
        sb_cstr(s->x.b, "SELECT k.i, COALESCE(sum(t.p), 0), COALESCE(sum(t.m), "
                        "0) FROM (");
        sb_str(s->x.b, s->tree);
        sb_cstr(s->x.b, ") t JOIN (VALUES ");
        TRY(write_keys(s, k, &n));
        write_on(s, k);
        sb_cstr(s->x.b, " GROUP BY k.i");
        if (n)
            TRY(send_tree(s));
        k--; /* more keys with these NULLs may be left */
    }
    return OK;
}

static enum status ask_tree(struct tree_asking *s, struct arena *a)
{
    struct sb tree, b;
    sb_init(&tree, a);
    sb_init(&b, a);
    s->x.b = &tree;
    TRY(write_tree(&s->x));
    s->tree = sb_view(&tree);
    s->x.b = &b;
    if (!s->n_cols)
        return ask_total(s);
    s->asked = NEWS(a, bool, s->n_keys + 1);
    return s->asked ? ask_keys(s) : err_nomem(s->x.err);
}

enum status pushdown_tree(struct source *src, const struct ctree *t,
                          const struct pushdown_tree_ask *ask,
                          struct secret_count *out, struct err *err)
{
    struct arena a;
    struct tree_asking s = {.x = {.src = src, .t = t, .err = err},
                            .keys = ask->keys,
                            .n_keys = ask->n_keys,
                            .n_cols =
                                ask->total ? 0 : t->branches[0]->b.n_group,
                            .plan_only = ask->plan_only,
                            .progress = ask->progress,
                            .out = out};
    size_t n = s.n_cols ? ask->n_keys : 1;
    if (src->pg)
        pg_sqlgen(src, NULL, &s.sql);
    for (size_t i = 0; out && i < n; i++)
        out[i] = secret_count_of(0);
    arena_init(&a, src->mem);
    a.wipe = true;
    enum status st = ask_tree(&s, &a);
    arena_fini(&a);
    return st;
}
