/*
 * Rows that no atom of the query would keep need not be sent: the conditions
 * of single atoms as a WHERE for the transfer. A row is sent if the conditions
 * of some atom over its table hold; they are evaluated here again, so a
 * condition that the server does not get costs time and nothing else.
 *
 * A condition is given to the server only if SQL of it exists that means just
 * what it means here and never fails (sqlgen_expr.c refuses the others).
 *
 * PRIVACY: whether a row is sent depends on the row and the query alone. So
 * neighbours stay neighbours (or become equal), constraints survive, the count
 * is the same, and a release from the rows that were sent is one from all
 * rows, residuals included.
 *
 * PRIVACY: a declared constraint must be checked on all rows. A table is
 * filtered only if the database enforces every constraint that is declared on
 * it, so that there is nothing left to check.
 */
#include "source/postgres/pg.h"
#include "sqlgen/sqlgen.h"

struct filter {
    struct sqlgen sql;
    struct sb *b;
    unsigned n; /* conditions of the atom so far */
    size_t mark;
};

static void open_condition(struct filter *f)
{
    f->mark = f->b->n;
    sb_cstr(f->b, f->n ? " AND " : "");
}

/* Takes back what was written of a condition that cannot be pushed. */
static enum status close_condition(struct filter *f, enum status s)
{
    if (s == E_UNSUPPORTED) {
        f->b->n = f->mark;
        return OK;
    }
    f->n += s == OK;
    return s;
}

/* A term inside the atom; *ok is false if it is not there. */
static enum status term_sql(struct filter *f, uint32_t atom, struct term t,
                            enum type *type, bool *ok, struct err *err)
{
    const struct cq *q = f->sql.q;
    const struct atom *at = &q->atoms[atom];
    *ok = t.kind == TERM_CONST;
    if (*ok) {
        *type = q->consts[t.id].type;
        return sqlgen_const(&f->sql, &q->consts[t.id], f->b, err);
    }
    for (uint32_t i = 0; i < at->n_args; i++)
        if (at->args[i].kind == TERM_VAR && at->args[i].id == t.id) {
            *ok = true;
            *type = q->schema->tables.p[at->table].cols[i].type;
            return sqlgen_column(&f->sql, atom, i, f->b, err);
        }
    return OK;
}

static enum status compare_terms(struct filter *f, uint32_t atom, struct term l,
                                 const char *op, struct term r, struct err *err)
{
    enum type lt = T_UNKNOWN, rt = T_UNKNOWN;
    bool lok = false, rok = false;
    open_condition(f);
    enum status s = term_sql(f, atom, l, &lt, &lok, err);
    sb_cstr(f->b, op);
    if (s == OK)
        s = term_sql(f, atom, r, &rt, &rok, err);
    if (s == OK && (!lok || !rok || !sqlgen_same_order(lt, rt)))
        s = E_UNSUPPORTED;
    return close_condition(f, s);
}

/* Constants, repeated variables, NOT NULL. */
static enum status argument(struct filter *f, uint32_t atom, uint32_t i,
                            struct err *err)
{
    const struct cq *q = f->sql.q;
    struct term x = q->atoms[atom].args[i];
    const struct column *col =
        &q->schema->tables.p[q->atoms[atom].table].cols[i];
    open_condition(f);
    enum status s = sqlgen_column(&f->sql, atom, i, f->b, err);
    if (s == OK && x.kind == TERM_CONST &&
        sqlgen_same_order(col->type, q->consts[x.id].type)) {
        sb_cstr(f->b, " = ");
        s = sqlgen_const(&f->sql, &q->consts[x.id], f->b, err);
    } else if (s == OK && x.kind == TERM_VAR && q->vars[x.id].nonnull &&
               !col->not_null) {
        sb_cstr(f->b, " IS NOT NULL");
    } else if (s == OK) {
        s = E_UNSUPPORTED; /* nothing to ask */
    }
    return close_condition(f, s);
}

static enum status atom_conditions(struct filter *f, uint32_t atom,
                                   struct err *err)
{
    const struct cq *q = f->sql.q;
    f->n = 0;
    for (uint32_t i = 0; i < q->atoms[atom].n_args; i++)
        if (q->atoms[atom].args[i].kind != TERM_ANY)
            TRY(argument(f, atom, i, err));
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (q->preds[i].atom == atom) {
            open_condition(f);
            TRY(close_condition(
                f, sqlgen_expr(&f->sql, atom, q->preds[i].e, f->b, err)));
        }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        TRY(compare_terms(f, atom, c->l,
                          c->op == CMP_NE   ? " <> "
                          : c->op == CMP_LT ? " < "
                                            : " <= ",
                          c->r, err));
    }
    return OK;
}

/* One disjunct for each atom over the table; *all: one atom wants all rows. */
static enum status query_conditions(struct filter *f, size_t table, bool *all,
                                    struct err *err)
{
    const struct cq *q = f->sql.q;
    for (uint32_t a = 0; a < q->n_atoms && !*all; a++) {
        if (q->atoms[a].table != table)
            continue;
        sb_cstr(f->b, f->b->n ? " OR (" : "(");
        TRY(atom_conditions(f, a, err));
        sb_char(f->b, ')');
        *all = !f->n;
    }
    return OK;
}

enum status pg_filter(struct source *src, const struct src_table *t,
                      const struct cq *const *qs, size_t n, struct sb *out,
                      struct err *err)
{
    struct err why = {0};
    bool all = !source_enforces_all(t, &src->schema->tables.p[t->table]);
    enum status s = OK;
    for (size_t i = 0; i < n && !all && s == OK; i++) {
        struct filter f = {.b = out};
        if (!qs[i])
            continue;
        pg_sqlgen(src, qs[i], &f.sql);
        /* what cannot be pushed is no error of the user's */
        s = query_conditions(&f, t->table, &all, &why);
    }
    if (s != OK)
        *err = why;
    if (all)
        out->n = 0;
    if (s == OK && out->failed)
        return err_nomem(err);
    return s;
}
