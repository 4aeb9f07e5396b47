/*
 * The answers of one branch of a tree as SQL: subqueries stay subqueries, so
 * that the database's own semi-joins and anti-joins do the work. Every atom is
 * a SELECT of its variables, named a and its number; inside a subquery the
 * variables of the bodies around it are seen.
 */
#include "pushdown/pushdown_gen.h"
#include "pushdown/pushdown_tree.h"

/* One branch, while it is written. */
struct branch_sql {
    struct source *src;
    const struct ctree *tree;
    const struct tree_branch *t;
    struct cq view; /* of the builder: for columns and computed variables */
    struct sqlgen sql, outer;
    struct sb *b;
    struct err *err;
    uint32_t node; /* whose conditions are written */
    uint32_t atom; /* variables are its columns; UINT32_MAX: of any atom */
};

/* --- variables -------------------------------------------------------------
 */

static bool atom_has(const struct branch_sql *s, uint32_t atom, uint32_t var,
                     enum type *type)
{
    const struct atom *at = &s->view.atoms[atom];
    *type = T_UNKNOWN;
    for (uint32_t i = 0; i < at->n_args; i++)
        if (at->args[i].kind == TERM_VAR && at->args[i].id == var) {
            *type = s->view.schema->tables.p[at->table].cols[i].type;
            return true;
        }
    for (uint32_t i = 0; i < s->view.n_calcs; i++)
        if (s->view.calcs[i].atom == atom && s->view.calcs[i].var == var) {
            *type = s->view.calcs[i].e->type;
            return true;
        }
    return at->rowid >= 0 && (uint32_t)at->rowid == var;
}

static unsigned depth_of(const struct tree_branch *t, uint32_t node)
{
    unsigned n = 0;
    for (; node; node = t->nodes.p[node].parent)
        n++;
    return n;
}

/* The first atom that has the variable, from the root down to `node`. */
static uint32_t holder_of(const struct branch_sql *s, uint32_t node,
                          uint32_t var, enum type *type)
{
    uint32_t best = UINT32_MAX;
    unsigned least = 0;
    for (uint32_t i = 0; i < s->view.n_atoms; i++) {
        uint32_t at = s->t->atom_node.p[i];
        enum type t;
        if (!tree_is_above(s->t, at, node) || !atom_has(s, i, var, &t))
            continue;
        unsigned depth = depth_of(s->t, at);
        if (best != UINT32_MAX && depth >= least)
            continue;
        best = i;
        least = depth;
        *type = t;
    }
    return best;
}

/* sqlgen's variables, where an expression stands outside of its atom. */
static enum status write_outer(const void *ctx, uint32_t var, struct sb *b,
                               struct err *err)
{
    const struct branch_sql *s = ctx;
    enum type t;
    uint32_t atom = s->atom;
    if (atom == UINT32_MAX)
        atom = holder_of(s, s->node, var, &t);
    if (atom == UINT32_MAX)
        return err_internal(err, "pushdown: a variable without an atom");
    sb_printf(b, "a%u.v%u", atom, var);
    return OK;
}

static enum status write_term(struct branch_sql *s, struct term t,
                              enum type *type)
{
    if (t.kind == TERM_CONST) {
        *type = s->view.consts[t.id].type;
        return sqlgen_const(&s->sql, &s->view.consts[t.id], s->b, s->err);
    }
    s->atom = UINT32_MAX;
    if (holder_of(s, s->node, t.id, type) == UINT32_MAX)
        return err_internal(s->err, "pushdown: a variable without an atom");
    return write_outer(s, t.id, s->b, s->err);
}

/* "l op r"; never true of types that do not compare. */
static enum status write_compared(struct branch_sql *s, const char *op,
                                  struct term l, struct term r)
{
    enum type x, y;
    size_t mark = s->b->n;
    TRY(write_term(s, l, &x));
    sb_cstr(s->b, op);
    TRY(write_term(s, r, &y));
    if (x == T_UNKNOWN && y == T_UNKNOWN) /* row ids */
        return OK;
    if (type_comparable(x, y))
        return sqlgen_same_order(x, y) ? OK : pushdown_refuse_types(s->err);
    s->b->n = mark;
    sb_cstr(s->b, "false");
    return OK;
}

/* --- atoms -----------------------------------------------------------------
 */

static enum status refuse_bag(struct err *err)
{
    err_set(err, E_UNSUPPORTED,
            "the database cannot tell equal rows of a distributed table apart");
    err_hint(err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

/* A row of a table without key: where it stands, in this statement's view. */
static enum status write_rowid(struct branch_sql *s, const struct atom *at,
                               unsigned *n)
{
    if (at->rowid < 0)
        return OK;
    if (s->src->pg->is_citus)
        return refuse_bag(s->err);
    sb_printf(s->b, "%s(tableoid::text || ctid::text) COLLATE \"C\" AS v%d",
              (*n)++ ? ", " : "", (int)at->rowid);
    return OK;
}

static enum status write_columns(struct branch_sql *s, uint32_t atom)
{
    const struct atom *at = &s->view.atoms[atom];
    unsigned n = 0;
    for (uint32_t v = 0; v < s->view.n_vars; v++) {
        enum type t;
        if (!atom_has(s, atom, v, &t) ||
            (at->rowid >= 0 && (uint32_t)at->rowid == v))
            continue;
        sb_cstr(s->b, n++ ? ", " : "");
        TRY(sqlgen_var(&s->sql, atom, v, s->b, s->err));
        sb_printf(s->b, " AS v%u", v);
    }
    TRY(write_rowid(s, at, &n));
    sb_cstr(s->b, n ? "" : "1 AS one");
    return OK;
}

static enum status write_equal(struct branch_sql *s, uint32_t atom,
                               uint32_t col, enum type other)
{
    const struct atom *at = &s->view.atoms[atom];
    enum type t = s->view.schema->tables.p[at->table].cols[col].type;
    if (!type_comparable(t, other)) {
        sb_cstr(s->b, " AND false");
        return OK;
    }
    if (!sqlgen_same_order(t, other))
        return pushdown_refuse_types(s->err);
    sb_cstr(s->b, " AND ");
    TRY(sqlgen_column(&s->sql, atom, col, s->b, s->err));
    sb_cstr(s->b, " = ");
    if (at->args[col].kind == TERM_CONST)
        return sqlgen_const(&s->sql, &s->view.consts[at->args[col].id], s->b,
                            s->err);
    return sqlgen_var(&s->sql, atom, at->args[col].id, s->b, s->err);
}

/* Constants, and columns that are one variable. */
static enum status write_equals(struct branch_sql *s, uint32_t atom)
{
    const struct atom *at = &s->view.atoms[atom];
    for (uint32_t i = 0; i < at->n_args; i++) {
        enum type t;
        if (at->args[i].kind == TERM_CONST)
            TRY(write_equal(s, atom, i, s->view.consts[at->args[i].id].type));
        if (at->args[i].kind != TERM_VAR)
            continue;
        uint32_t first = 0;
        while (at->args[first].kind != TERM_VAR ||
               at->args[first].id != at->args[i].id)
            first++;
        if (first < i && atom_has(s, atom, at->args[i].id, &t))
            TRY(write_equal(s, atom, i, t));
    }
    return OK;
}

/* A computed variable that the atom has as a column, or computes twice. */
static enum status write_calcs(struct branch_sql *s, uint32_t atom)
{
    for (uint32_t i = 0; i < s->view.n_calcs; i++) {
        const struct calc *k = &s->view.calcs[i];
        const struct atom *at = &s->view.atoms[atom];
        bool again = false;
        for (uint32_t c = 0; c < at->n_args; c++)
            again |= at->args[c].kind == TERM_VAR && at->args[c].id == k->var;
        for (uint32_t j = 0; j < i; j++)
            again |=
                s->view.calcs[j].atom == atom && s->view.calcs[j].var == k->var;
        if (k->atom != atom || !again)
            continue;
        enum type t = T_UNKNOWN;
        (void)atom_has(s, atom, k->var, &t);
        if (!sqlgen_same_order(t, k->e->type))
            return pushdown_refuse_types(s->err);
        sb_cstr(s->b, " AND ");
        TRY(sqlgen_expr(&s->sql, atom, k->e, s->b, s->err));
        sb_cstr(s->b, " = ");
        TRY(sqlgen_var(&s->sql, atom, k->var, s->b, s->err));
    }
    return OK;
}

static enum status write_atom(struct branch_sql *s, uint32_t atom)
{
    const struct src_table *t =
        source_find_table(s->src, s->view.atoms[atom].table);
    sb_cstr(s->b, "(SELECT ");
    TRY(write_columns(s, atom));
    sb_cstr(s->b, " FROM ");
    sqlgen_ident(s->b, t->namespace_);
    sb_char(s->b, '.');
    sqlgen_ident(s->b, t->name);
    sb_cstr(s->b, " WHERE true");
    TRY(write_equals(s, atom));
    TRY(write_calcs(s, atom));
    sb_printf(s->b, ") a%u", atom);
    return OK;
}

/* --- nodes -----------------------------------------------------------------
 */

static void write_joined(struct branch_sql *s, uint32_t atom, uint32_t to,
                         uint32_t var)
{
    sb_printf(s->b, " AND a%u.v%u = a%u.v%u", atom, var, to, var);
}

/* A variable of several atoms is one value; NULL is none. */
static enum status write_joins(struct branch_sql *s)
{
    for (uint32_t i = 0; i < s->view.n_atoms; i++) {
        if (s->t->atom_node.p[i] != s->node)
            continue;
        for (uint32_t v = 0; v < s->view.n_vars; v++) {
            enum type mine, first;
            if (!atom_has(s, i, v, &mine))
                continue;
            uint32_t to = holder_of(s, s->node, v, &first);
            if (to == i && s->view.vars[v].nonnull)
                sb_printf(s->b, " AND a%u.v%u IS NOT NULL", i, v);
            if (to == i)
                continue;
            if (!type_comparable(mine, first))
                sb_cstr(s->b, " AND false");
            else if (!sqlgen_same_order(mine, first))
                return pushdown_refuse_types(s->err);
            else
                write_joined(s, i, to, v);
        }
    }
    return OK;
}

static enum status write_filters(struct branch_sql *s)
{
    const struct tree_branch *t = s->t;
    for (size_t i = 0; i < t->b.cmps.n; i++) {
        const struct cmp *c = &t->b.cmps.p[i];
        if (t->cmp_node.p[i] != s->node)
            continue;
        sb_cstr(s->b, " AND ");
        TRY(write_compared(s,
                           c->op == CMP_NE   ? " <> "
                           : c->op == CMP_LT ? " < "
                                             : " <= ",
                           c->l, c->r));
    }
    for (size_t i = 0; i < t->b.equals.n; i++) {
        const struct cmp *c = &t->b.equals.p[i];
        if (t->equal_node.p[i] != s->node)
            continue;
        sb_cstr(s->b, " AND ");
        TRY(write_compared(s, " = ", c->l, c->r));
    }
    for (size_t i = 0; i < t->b.preds.n; i++) {
        if (t->pred_node.p[i] != s->node)
            continue;
        s->atom = t->b.preds.p[i].atom;
        sb_cstr(s->b, " AND ");
        TRY(sqlgen_expr(&s->outer, s->atom, t->b.preds.p[i].e, s->b, s->err));
    }
    s->atom = UINT32_MAX;
    return OK;
}

static enum status write_formula(struct branch_sql *s, const struct formula *f);

/* FROM and WHERE of the node's body. */
static enum status write_body(struct branch_sql *s, uint32_t node)
{
    uint32_t before = s->node;
    const char *between = " FROM ";
    s->node = node;
    for (uint32_t i = 0; i < s->view.n_atoms; i++) {
        if (s->t->atom_node.p[i] != node)
            continue;
        sb_cstr(s->b, between);
        TRY(write_atom(s, i));
        between = ", ";
    }
    sb_cstr(s->b, s->t->nodes.p[node].unsat ? " WHERE false" : " WHERE true");
    TRY(write_joins(s));
    TRY(write_filters(s));
    if (s->t->nodes.p[node].f) {
        sb_cstr(s->b, " AND ");
        TRY(write_formula(s, s->t->nodes.p[node].f));
    }
    s->node = before;
    return OK;
}

static enum status write_terms(struct branch_sql *s, uint32_t node,
                               const struct term *terms, size_t n,
                               const char *name)
{
    uint32_t before = s->node;
    s->node = node;
    for (size_t i = 0; i < n; i++) {
        enum type t;
        sb_cstr(s->b, i ? ", " : "");
        TRY(write_term(s, terms[i], &t));
        sb_printf(s->b, " AS %s%zu", name, i);
    }
    s->node = before;
    return OK;
}

static enum status write_child(struct branch_sql *s, const struct formula *f)
{
    const struct tree_node *n = &s->t->nodes.p[f->child];
    sb_cstr(s->b, f->negated ? "(NOT " : "(");
    if (!tree_counts(n)) {
        sb_cstr(s->b, "EXISTS (SELECT 1");
        TRY(write_body(s, f->child));
        sb_cstr(s->b, "))");
        return OK;
    }
    sb_cstr(s->b, "((SELECT count(*) FROM (SELECT DISTINCT ");
    TRY(write_terms(s, f->child, n->ids.p, n->ids.n, "i"));
    sb_cstr(s->b, n->ids.n ? "" : "1 AS one");
    TRY(write_body(s, f->child));
    sb_printf(s->b, " LIMIT %u) ids) >= %u))", n->at_least, n->at_least);
    return OK;
}

static enum status write_formula(struct branch_sql *s, const struct formula *f)
{
    if (f->kind == F_CHILD)
        return write_child(s, f);
    if (f->kind == F_PRED) {
        s->atom = UINT32_MAX;
        sb_cstr(s->b, "(");
        TRY(sqlgen_expr(&s->outer, 0, f->e, s->b, s->err));
        sb_cstr(s->b, " IS TRUE)");
        return OK;
    }
    sb_cstr(s->b, f->kind == F_AND ? "(true" : "(false");
    for (uint32_t i = 0; i < f->n_args; i++) {
        sb_cstr(s->b, f->kind == F_AND ? " AND " : " OR ");
        TRY(write_formula(s, f->args[i]));
    }
    sb_cstr(s->b, ")");
    return OK;
}

static const char *sql_type(enum type t)
{
    switch (t) {
    case T_INT:
        return "bigint";
    case T_DEC:
        return "numeric";
    case T_REAL:
        return "float8";
    case T_BOOL:
        return "boolean";
    case T_DATE:
        return "date";
    case T_TIMESTAMP:
        return "timestamp";
    case T_TIME:
        return "time";
    case T_UUID:
        return "uuid";
    default:
        return "text";
    }
}

/* A NULL takes the type that the output has in other branches. */
static enum status write_out(struct branch_sql *s, size_t i)
{
    struct term o = s->t->b.outs.p[i];
    enum type t;
    if (o.kind != TERM_CONST || !s->view.consts[o.id].is_null)
        return write_term(s, o, &t);
    t = pushdown_out_type(s->tree, (uint32_t)i);
    sb_printf(s->b, "(NULL::%s%s)", sql_type(t),
              t == T_TEXT || t == T_UNKNOWN ? " COLLATE \"C\"" : "");
    return OK;
}

static enum status write_outs(struct branch_sql *s)
{
    s->node = 0;
    for (size_t i = 0; i < s->t->b.outs.n; i++) {
        sb_cstr(s->b, i ? ", " : "");
        TRY(write_out(s, i));
        sb_printf(s->b, " AS o%zu", i);
    }
    return OK;
}

/* --- branches --------------------------------------------------------------
 */

static bool among_outs(const struct tree_branch *t, uint32_t var)
{
    for (size_t i = 0; i < t->b.outs.n; i++)
        if (t->b.outs.p[i].kind == TERM_VAR && t->b.outs.p[i].id == var)
            return true;
    return false;
}

static bool has_key(const struct branch_sql *s, const struct atom *at,
                    const struct src_key *key)
{
    const struct src_table *t = source_find_table(s->src, at->table);
    for (size_t i = 0; i < key->n_cols; i++) {
        uint32_t col = t->to[key->cols[i]];
        if (col == UINT32_MAX || at->args[col].kind == TERM_ANY ||
            (at->args[col].kind == TERM_VAR &&
             !among_outs(s->t, at->args[col].id)))
            return false;
    }
    return true;
}

/* Do the outputs tell all rows of the root's tables apart? */
static bool is_identity(const struct branch_sql *s)
{
    for (uint32_t i = 0; i < s->view.n_atoms; i++) {
        const struct atom *at = &s->view.atoms[i];
        const struct src_table *t = source_find_table(s->src, at->table);
        bool told = at->rowid >= 0 && among_outs(s->t, (uint32_t)at->rowid);
        for (size_t k = 0; !told && k < t->keys.n; k++)
            told = has_key(s, at, &t->keys.p[k]);
        if (!told && !s->t->atom_node.p[i])
            return false;
    }
    return true;
}

/* Answers with so many ids: HAVING COUNT(*). */
static enum status write_having(struct branch_sql *s)
{
    const struct tree_node *n = &s->t->nodes.p[0];
    size_t outs = s->t->b.outs.n;
    sb_cstr(s->b, "SELECT ");
    for (size_t i = 0; i < outs; i++)
        sb_printf(s->b, "o%zu, ", i);
    if (n->cap == UINT32_MAX)
        sb_cstr(s->b, "count(*) AS m");
    else
        sb_printf(s->b, "least(count(*), %u) AS m", n->cap);
    sb_cstr(s->b, " FROM (SELECT DISTINCT ");
    TRY(write_outs(s));
    sb_cstr(s->b, outs && n->ids.n ? ", " : "");
    TRY(write_terms(s, 0, n->ids.p, n->ids.n, "i"));
    sb_cstr(s->b, outs || n->ids.n ? "" : "1 AS i0");
    TRY(write_body(s, 0));
    sb_cstr(s->b, ") ids");
    for (size_t i = 0; i < outs; i++)
        sb_printf(s->b, "%so%zu", i ? ", " : " GROUP BY ", i);
    sb_printf(s->b, " HAVING count(*) > 0 AND %s(count(*) >= %u",
              n->outside ? "NOT " : "", n->at_least);
    if (n->at_most)
        sb_printf(s->b, " AND count(*) <= %u", n->at_most);
    sb_char(s->b, ')');
    return OK;
}

static enum status write_branch(struct branch_sql *s, bool united)
{
    bool plain = !united && is_identity(s);
    size_t outs = s->t->b.outs.n;
    if (tree_counts(&s->t->nodes.p[0]))
        return write_having(s);
    sb_cstr(s->b, plain ? "SELECT " : "SELECT DISTINCT ");
    TRY(write_outs(s));
    sb_cstr(s->b, outs ? "" : "1 AS one");
    return write_body(s, 0);
}

enum status pushdown_write_branch(struct source *src, const struct ctree *tree,
                                  const struct tree_branch *t, bool united,
                                  struct sb *out, struct err *err)
{
    const struct cq_builder *b = &t->b;
    struct branch_sql s = {.src = src,
                           .tree = tree,
                           .t = t,
                           .b = out,
                           .err = err,
                           .atom = UINT32_MAX};
    s.view = (struct cq){.schema = b->schema,
                         .vars = b->vars.p,
                         .n_vars = (uint32_t)b->vars.n,
                         .consts = b->consts.p,
                         .n_consts = (uint32_t)b->consts.n,
                         .atoms = b->atoms.p,
                         .n_atoms = (uint32_t)b->atoms.n,
                         .calcs = b->calcs.p,
                         .n_calcs = (uint32_t)b->calcs.n};
    pg_sqlgen(src, &s.view, &s.sql);
    s.outer = s.sql;
    s.outer.write_var = write_outer;
    s.outer.vars = &s;
    return write_branch(&s, united);
}
