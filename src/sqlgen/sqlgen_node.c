/*
 * Expressions as SQL, part by part. Many operations need an argument more than
 * once: to test the length of a text or number before it is made, or for want
 * of a function that cannot fail. Written out each time, a text would grow
 * with the power of the depth. So the SQL of an argument is either short, or
 * it becomes a column of a subquery of its own and its name is written:
 *
 *   (SELECT f("dpc:1") FROM (SELECT "dpc:s".*, g("dpc:0") AS "dpc:1" FROM
 *       (SELECT h(x) AS "dpc:0" OFFSET 0) "dpc:s" OFFSET 0) "dpc:s")
 *
 * OFFSET 0 keeps the server from merging the levels, so each part is computed
 * once for a row. Columns of the table are seen from inside; their names are
 * others than ours (sqlgen_column sees to it). Equal parts are one column.
 *
 * PRIVACY: parts are computed whether or not they are needed (a branch of a
 * CASE that is not taken), so no part may fail on any row; see sqlgen_func.c.
 *
 * Cost: linear in the nodes of the expression.
 */
#include "sqlgen/sqlgen.h"

enum {
    MAX_SHORT = 300,  /* bytes that may be written several times */
    MAX_COLUMNS = 250 /* of one expression; the server's lists end at 1664 */
};

struct sqlgen_node {
    struct str text;
    unsigned level; /* one more than those that its text names; from 1 */
};

struct calc_text { /* a computed variable that another one uses */
    uint32_t var;
    struct str text;
    unsigned level;
};

struct sqlgen_nodes {
    struct arena *arena;
    struct map ids; /* text -> index */
    VEC(struct sqlgen_node) list;
    VEC(struct calc_text) calcs;
    unsigned level; /* the highest that was named since it was set */
};

static enum status name_of(struct sqlgen_nodes *n, size_t i, struct str *out,
                           struct err *err)
{
    unsigned level = n->list.p[i].level;
    n->level = n->level > level ? n->level : level;
    *out = str_printf(n->arena, "\"dpc:%zu\"", i);
    return out->p ? OK : err_nomem(err);
}

/* The name of the column that holds `text`. */
static enum status column_of(const struct sqlgen_out *o, struct str text,
                             struct str *out)
{
    struct sqlgen_nodes *n = o->nodes;
    bool is_new;
    uint64_t *id = map_put(&n->ids, text, n->list.n, &is_new);
    if (!id)
        return err_nomem(o->err);
    if (!is_new)
        return name_of(n, *id, out, o->err);
    if (n->list.n == MAX_COLUMNS)
        return sqlgen_refuse_expr(o->err, "an expression of this size");
    struct sqlgen_node node = {text, n->level + 1};
    if (!VEC_PUSH(n->arena, &n->list, node))
        return err_nomem(o->err);
    return name_of(n, n->list.n - 1, out, o->err);
}

/* Truth values are written once by whoever has them, so they may be long. */
static enum status settle(const struct sqlgen_out *o, const struct expr *e,
                          struct str text, struct str *out)
{
    *out = text;
    if (text.n <= MAX_SHORT || e->type == T_BOOL || e->op == X_CONST)
        return OK;
    return column_of(o, text, out);
}

static enum status write_part(const struct sqlgen_out *o, const struct expr *e,
                              struct str *out)
{
    struct sb b;
    struct sqlgen_out inner = *o;
    sb_init(&b, o->nodes->arena);
    inner.b = &b;
    TRY(sqlgen_write(&inner, e));
    return b.failed ? err_nomem(o->err) : settle(o, e, sb_view(&b), out);
}

enum status sqlgen_part(const struct sqlgen_out *o, const struct expr *e,
                        struct str *out)
{
    unsigned before = o->nodes->level;
    o->nodes->level = 0;
    enum status s = write_part(o, e, out);
    if (o->nodes->level < before)
        o->nodes->level = before;
    return s;
}

/* What computes the variable is written once, however often it is used. */
static enum status calc_part(const struct sqlgen_out *o, const struct calc *k,
                             struct str *out)
{
    struct sqlgen_nodes *n = o->nodes;
    for (size_t i = 0; i < n->calcs.n; i++)
        if (n->calcs.p[i].var == k->var) {
            unsigned level = n->calcs.p[i].level;
            n->level = n->level > level ? n->level : level;
            *out = n->calcs.p[i].text;
            return OK;
        }
    unsigned before = n->level;
    n->level = 0;
    TRY(write_part(o, k->e, out));
    if (out->n > MAX_SHORT) /* a truth value: it may be used several times */
        TRY(column_of(o, *out, out));
    struct calc_text c = {k->var, *out, n->level};
    n->level = n->level > before ? n->level : before;
    return VEC_PUSH(n->arena, &n->calcs, c) ? OK : err_nomem(o->err);
}

enum status sqlgen_write_var(const struct sqlgen_out *o, uint32_t var)
{
    const struct cq *q = o->c->q;
    const struct atom *at = &q->atoms[o->atom];
    if (o->c->write_var)
        return o->c->write_var(o->c->vars, var, o->b, o->err);
    for (uint32_t i = 0; i < at->n_args; i++)
        if (at->args[i].kind == TERM_VAR && at->args[i].id == var)
            return sqlgen_column(o->c, o->atom, i, o->b, o->err);
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].atom == o->atom && q->calcs[i].var == var) {
            struct str text;
            TRY(calc_part(o, &q->calcs[i], &text));
            sb_str(o->b, text);
            return OK;
        }
    return err_internal(o->err, "sql_write_var");
}

/* --- whole expressions --------------------------------------------------- */

/* One subquery for each level, the innermost first. */
static void write_levels(const struct sqlgen_nodes *n, struct sb *b)
{
    for (unsigned level = n->level; level > 0; level--) {
        sb_cstr(b, level > 1 ? "(SELECT \"dpc:s\".*" : "(SELECT ");
        bool first = level == 1;
        for (size_t i = 0; i < n->list.n; i++) {
            if (n->list.p[i].level != level)
                continue;
            sb_printf(b, "%s%.*s AS \"dpc:%zu\"", first ? "" : ", ",
                      PSTR(n->list.p[i].text), i);
            first = false;
        }
        sb_cstr(b, level > 1 ? " FROM " : " OFFSET 0");
    }
    sb_cstr(b, ") \"dpc:s\"");
    for (unsigned level = 1; level < n->level; level++)
        sb_cstr(b, " OFFSET 0) \"dpc:s\"");
}

static enum status write_whole(struct sqlgen_nodes *n, struct str root,
                               struct sb *b, struct err *err)
{
    if (!n->list.n) {
        sb_str(b, root);
        return OK;
    }
    /* parts that were refused later may be among them: all levels */
    for (size_t i = 0; i < n->list.n; i++)
        if (n->level < n->list.p[i].level)
            n->level = n->list.p[i].level;
    sb_cstr(b, "(SELECT ");
    sb_str(b, root);
    sb_cstr(b, " FROM ");
    write_levels(n, b);
    sb_char(b, ')');
    return b->failed ? err_nomem(err) : OK;
}

enum status sqlgen_expr(const struct sqlgen *c, uint32_t atom,
                        const struct expr *e, struct sb *b, struct err *err)
{
    struct sqlgen_nodes nodes = {.arena = b->arena};
    struct sb root;
    struct sqlgen_out o = {c, atom, &nodes, &root, err};
    map_init(&nodes.ids, b->arena);
    sb_init(&root, b->arena);
    TRY(sqlgen_write(&o, e));
    if (root.failed)
        return err_nomem(err);
    if (c->duckdb && nodes.list.n) /* it would join for each subquery */
        return sqlgen_refuse_expr(err, "an expression of this size");
    return write_whole(&nodes, sb_view(&root), b, err);
}

enum status sqlgen_var(const struct sqlgen *c, uint32_t atom, uint32_t var,
                       struct sb *b, struct err *err)
{
    struct expr e = {.op = X_VAR, .n_nodes = 1, .var = var};
    return sqlgen_expr(c, atom, &e, b, err);
}
