#include "harness/residual_sql.h"

/* The first place of a variable: a0.c1, or a0.rowid. */
static void place(struct sb *b, const struct cq *q, aset f, unsigned v,
                  const char *rowid)
{
    ASET_EACH (i, f) {
        const struct atom *a = &q->atoms[i];
        for (uint32_t j = 0; j < a->n_args; j++)
            if (a->args[j].kind == TERM_VAR && a->args[j].id == v) {
                sb_printf(b, "a%u.c%u", i, j);
                return;
            }
        if (a->rowid == (int32_t)v) {
            sb_printf(b, "a%u.%s", i, rowid);
            return;
        }
    }
}

static void term(struct sb *b, const struct cq *q, aset f, struct term t,
                 const char *rowid)
{
    if (t.kind == TERM_CONST)
        value_print(b, &q->consts[t.id]);
    else
        place(b, q, f, t.id, rowid);
}

static void conditions(struct sb *b, const struct cq *q, aset f,
                       const char *rowid)
{
    static const char *const ops[] = {"<>", "<", "<="};
    vset vars = cq_vars_of(q, f);
    sb_cstr(b, " WHERE 1 = 1");
    ASET_EACH (i, f)
        for (uint32_t j = 0; j < q->atoms[i].n_args; j++) {
            if (q->atoms[i].args[j].kind == TERM_ANY)
                continue;
            sb_printf(b, " AND a%u.c%u = ", i, j);
            term(b, q, f, q->atoms[i].args[j], rowid);
        }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if ((c->l.kind == TERM_VAR && !vset_has(vars, c->l.id)) ||
            (c->r.kind == TERM_VAR && !vset_has(vars, c->r.id)))
            continue;
        sb_cstr(b, " AND ");
        term(b, q, f, c->l, rowid);
        sb_printf(b, " %s ", ops[c->op]);
        term(b, q, f, c->r, rowid);
    }
}

void residual_sql(struct sb *b, const struct cq *q, aset f, vset boundary,
                  vset outs, const char *rowid)
{
    const char *comma = "";
    sb_cstr(b, "SELECT COALESCE(MAX(n), 0) FROM (SELECT COUNT(*) AS n FROM "
               "(SELECT DISTINCT 1 AS one");
    VSET_EACH (v, boundary | outs) {
        sb_cstr(b, ", ");
        place(b, q, f, v, rowid);
        sb_printf(b, " AS v%u", v);
    }
    sb_cstr(b, " FROM ");
    ASET_EACH (i, f) {
        struct str t = q->schema->tables.p[q->atoms[i].table].name;
        sb_printf(b, "%s%.*s AS a%u", comma, PSTR(t), i);
        comma = ", ";
    }
    conditions(b, q, f, rowid);
    sb_cstr(b, ") AS d");
    comma = " GROUP BY ";
    VSET_EACH (v, boundary) {
        sb_printf(b, "%sv%u", comma, v);
        comma = ", ";
    }
    sb_cstr(b, ") AS g");
}
