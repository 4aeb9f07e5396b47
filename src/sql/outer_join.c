/*
 * LEFT, RIGHT and FULL JOIN: a sum of cases, each lowered by itself as the
 * sides of a UNION ALL are. Either both sides match (an inner join), or a row
 * of the one has no partner: a negated subquery over the other side and ON,
 * whose columns are NULL everywhere else. Conditions, keys and what is counted
 * then see NULLs as SQL's rules have it.
 */
#include <string.h>

#include "sql/sql_int.h"

enum status sql_join_side(struct lower *l, const char *type, long at,
                          enum join_side *out)
{
    bool full = strcmp(type, "JOIN_FULL") == 0;
    bool right = strcmp(type, "JOIN_RIGHT") == 0;
    unsigned alone, which = right;
    *out = JOIN_BOTH;
    if (strcmp(type, "JOIN_INNER") == 0)
        return OK;
    /* a case is one of the whole count */
    if ((!full && !right && strcmp(type, "JOIN_LEFT") != 0) || l->t.at)
        return sql_refuse(l->err, NO_OUTER_JOIN, at);
    l->t.n_outer++;
    l->t.has_full |= full;
    TRY(sql_choose(l, &alone));
    if (alone && full)
        TRY(sql_choose(l, &which));
    if (alone)
        *out = which ? JOIN_RIGHT_ALONE : JOIN_LEFT_ALONE;
    return OK;
}

static enum status null_column(struct lower *l, struct rcol *c)
{
    struct expr *null;
    enum type t = c->group ? T_INT
                  : c->e   ? c->e->type
                           : l->schema->tables.p[l->b.atoms.p[c->atom].table]
                               .cols[c->col]
                               .type;
    TRY(make_const(l, value_null(), &null));
    null->type = t;
    c->e = null;
    c->absent = true;
    c->group = NULL;
    return OK;
}

static enum status null_columns(struct lower *l, rcols *cols)
{
    rcols own = {0};
    for (size_t i = 0; i < cols->n; i++) {
        struct rcol c = cols->p[i];
        TRY(null_column(l, &c));
        if (!VEC_PUSH(l->arena, &own, c))
            return err_nomem(l->err);
    }
    *cols = own;
    return OK;
}

enum status sql_null_scope(struct lower *l, struct scope *sc)
{
    TRY(null_columns(l, &sc->visible));
    for (size_t i = 0; i < sc->rels.n; i++)
        TRY(null_columns(l, &sc->rels.p[i].cols));
    return OK;
}

enum status sql_absent_begin(struct lower *l, struct absent *x)
{
    x->counting = l->counting;
    l->counting = false;
    TRY(tree_enter(l->arena, &l->t, &x->node, l->err));
    l->t.nodes.p[x->node].absent = true;
    return OK;
}

enum status sql_absent_end(struct lower *l, const struct absent *x)
{
    l->counting = x->counting;
    TRY(tree_leave(l->arena, &l->t, l->err));
    return tree_require(l->arena, &l->t, formula_child(l->arena, x->node, true),
                        l->err);
}
