/*
 * UNION, INTERSECT and EXCEPT in FROM.
 *
 * A union is lowered once for each of its sides: the statement becomes several
 * branches, whose answers are united as sets (UNION) or added (UNION ALL, told
 * apart by the branch's tag). INTERSECT and EXCEPT are the distinct rows of the
 * left side with a condition: to be (not to be) among those of the right one,
 * NULLs being equal.
 *
 * Equal NULLs: for each column that may be NULL on both sides there are two
 * cases, both equal or both NULL. Each case is a conjunctive subquery.
 */
#include <string.h>

#include "sql/sql_int.h"

enum { MAX_NULLABLE = 3 };

bool sql_is_setop(const json_t *select, const char **op)
{
    const char *s = get_text(select, "op");
    if (op)
        *op = s;
    return s[0] && strcmp(s, "SETOP_NONE") != 0;
}

bool sql_next_choice(struct choices *c)
{
    while (c->n && c->pick[c->n - 1] == 1)
        c->n--;
    if (!c->n)
        return false;
    c->pick[c->n - 1] = 1;
    c->seen = 0;
    return true;
}

/* --- membership --- */

struct set_member {
    struct scope *sc;
    const json_t *select;
    const rcols *xs;
};

static enum status same_width(struct lower *l, size_t x, size_t y)
{
    if (x == y)
        return OK;
    return err_set(l->err, E_SYNTAX,
                   "each side of a set operation must have the same number of "
                   "columns, not %zu and %zu",
                   x, y);
}

/* The columns that may be NULL on both sides. PRIVACY: found before any of them
 * is compared, so that all cases are the cases of the same columns. */
static enum status find_nullable(struct lower *l, const rcols *xs,
                                 const rcols *ys, bool *both)
{
    for (size_t i = 0; i < ys->n; i++) {
        struct expr *x, *y;
        TRY(rcol_expr(l, &xs->p[i], &x));
        TRY(rcol_expr(l, &ys->p[i], &y));
        if (is_text_only(l, x) || is_text_only(l, y))
            return sql_refuse(l->err, NO_TEXT_ONLY, -1);
        both[i] = !sql_is_never_null(l, x) && !sql_is_never_null(l, y);
    }
    return OK;
}

static enum status both_null(struct lower *l, struct expr *x, struct expr *y)
{
    struct expr *null;
    TRY(make1(l, X_ISNULL, x, &null));
    TRY(add_predicate(l, null, -1));
    TRY(make1(l, X_ISNULL, y, &null));
    return add_predicate(l, null, -1);
}

/* One case: bit i of `nulls` says that the i-th column that may be NULL on
 * both sides is. *n_nullable: how many such columns there are. */
static enum status member_case(struct lower *l, const struct set_member *m,
                               unsigned nulls, unsigned *n_nullable)
{
    rcols ys = {0};
    *n_nullable = 0;
    TRY(lower_subquery(l, m->sc, m->select, &ys));
    TRY(same_width(l, m->xs->n, ys.n));
    bool *both = NEWS(l->arena, bool, ys.n + 1);
    if (!both)
        return err_nomem(l->err);
    TRY(find_nullable(l, m->xs, &ys, both));
    for (size_t i = 0; i < ys.n; i++) {
        struct expr *x, *y;
        TRY(rcol_expr(l, &m->xs->p[i], &x));
        TRY(rcol_expr(l, &ys.p[i], &y));
        bool null = both[i] && (nulls >> *n_nullable & 1);
        *n_nullable += both[i];
        TRY(null ? both_null(l, x, y) : add_comparison(l, X_EQ, x, y, -1));
    }
    return OK;
}

static enum status too_many_nulls(struct lower *l)
{
    err_set(l->err, E_TOO_LARGE,
            "a set operation compares more than %d columns that may be NULL",
            MAX_NULLABLE);
    err_hint(l->err, "Declare the columns NOT NULL, or compare fewer.");
    return E_TOO_LARGE;
}

static enum status member_of(struct lower *l, const struct set_member *m,
                             bool negate, struct formula **out)
{
    unsigned n = 0;
    bool counting = l->counting;
    l->counting = false;
    *out = NULL;
    for (unsigned nulls = 0; nulls < 1u << n; nulls++) {
        uint32_t node;
        TRY(tree_enter(l->arena, &l->t, &node, l->err));
        TRY(member_case(l, m, nulls, &n));
        if (n > MAX_NULLABLE)
            return too_many_nulls(l);
        TRY(tree_leave(l->arena, &l->t, l->err));
        struct formula *f = formula_child(l->arena, node, negate);
        *out = *out && f ? formula_new(l->arena, negate ? F_AND : F_OR, *out, f)
                         : f;
        if (!*out)
            return err_nomem(l->err);
    }
    l->counting = counting;
    return OK;
}

enum status lower_member(struct lower *l, struct scope *sc,
                         const json_t *select, const rcols *xs, bool negate,
                         struct formula **out)
{
    const char *op = "";
    struct set_member m = {sc, select, xs};
    struct formula *x, *y;
    if (!sql_is_setop(select, &op))
        return member_of(l, &m, negate, out);
    TRY(sql_check_clauses(l, select, true));
    bool any = strcmp(op, "SETOP_UNION") == 0;
    bool except = strcmp(op, "SETOP_EXCEPT") == 0;
    if ((get_flag(select, "all") && !any) || get(select, "withClause"))
        return sql_refuse(l->err, NO_SETOP_ALL, -1);
    TRY(lower_member(l, sc, get(select, "larg"), xs, negate, &x));
    TRY(lower_member(l, sc, get(select, "rarg"), xs, negate != except, &y));
    *out = formula_new(l->arena, any != negate ? F_OR : F_AND, x, y);
    return *out ? OK : err_nomem(l->err);
}

/* --- in FROM --- */

static enum status restrict_rows(struct lower *l, struct scope *parent,
                                 const json_t *select, bool except, rcols *out)
{
    struct formula *f;
    if (get_flag(select, "all"))
        return sql_refuse(l->err, NO_SETOP_ALL, -1);
    TRY(lower_subquery(l, parent, get(select, "larg"), out));
    TRY(lower_member(l, parent, get(select, "rarg"), out, except, &f));
    return tree_require(l->arena, &l->t, f, l->err);
}

/* Types of both sides: those that compare as they are. */
static bool same_type(const struct expr *x, const struct expr *y)
{
    bool exact_x = x->type == T_INT || x->type == T_DEC;
    bool exact_y = y->type == T_INT || y->type == T_DEC;
    bool null = (x->op == X_CONST && x->val.is_null) ||
                (y->op == X_CONST && y->val.is_null);
    return x->type == y->type || (exact_x && exact_y) || null;
}

/* The columns of the left side give the names; both must fit. */
static enum status fit_sides(struct lower *l, struct lower *left,
                             const rcols *xs, rcols *ys)
{
    TRY(same_width(l, xs->n, ys->n));
    for (size_t i = 0; i < ys->n; i++) {
        struct expr *x, *y;
        TRY(rcol_expr(left, &xs->p[i], &x));
        TRY(rcol_expr(l, &ys->p[i], &y));
        if (!same_type(x, y))
            return sql_type_error(l, -1, "UNION", x, y);
        if (is_padded(left, x) != is_padded(l, y))
            return sql_refuse(l->err, NO_PADDED, -1);
        ys->p[i].name = xs->p[i].name;
        ys->p[i].any_case = xs->p[i].any_case;
    }
    return OK;
}

/* The leftmost side, lowered aside: its names and types. */
static enum status left_side(struct lower *l, const json_t *select,
                             struct lower *left, rcols *cols)
{
    static const struct choices none = {0};
    struct choices *first = NEW(l->arena, struct choices);
    if (!first)
        return err_nomem(l->err);
    *first = none;
    *left = *l;
    left->choices = first;
    left->t = (struct tree_branch){0};
    cqb_init(&left->b, l->arena, l->schema);
    memset(&left->var_atom, 0, sizeof left->var_atom);
    memset(&left->atom_counted, 0, sizeof left->atom_counted);
    memset(&left->identity, 0, sizeof left->identity);
    left->counting = false;
    TRY(tree_begin(l->arena, &left->t, l->err));
    return lower_subquery(left, NULL, get(select, "larg"), cols);
}

static enum status pick(struct lower *l, unsigned *out)
{
    struct choices *c = l->choices;
    if (c->seen == c->n) {
        if (c->n == MAX_CHOICES) {
            err_set(l->err, E_TOO_LARGE, "the query has too many unions");
            err_hint(l->err, "Count the parts one by one.");
            return E_TOO_LARGE;
        }
        c->pick[c->n++] = 0;
    }
    *out = c->pick[c->seen++];
    return OK;
}

enum status sql_choose(struct lower *l, unsigned *out)
{
    TRY(pick(l, out));
    if (l->counting)
        l->t.tag = 2 * l->t.tag + *out;
    else
        l->choices->sets = true;
    return OK;
}

static enum status one_side(struct lower *l, struct scope *parent,
                            const json_t *select, rcols *out)
{
    bool counting = l->counting, all = get_flag(select, "all");
    unsigned side;
    /* a branch is a branch of the whole count */
    if (l->t.at || parent)
        return sql_refuse(l->err, NO_UNION, -1);
    TRY(pick(l, &side));
    l->choices->united = true;
    l->counting = counting && all;
    if (counting && all)
        l->t.tag = 2 * l->t.tag + side;
    else
        l->choices->sets = true;
    TRY(lower_subquery(l, parent, get(select, side ? "rarg" : "larg"), out));
    l->counting = counting;
    if (!side)
        return OK;
    struct lower left;
    rcols names = {0};
    TRY(left_side(l, select, &left, &names));
    return fit_sides(l, &left, &names, out);
}

enum status lower_setop(struct lower *l, struct scope *parent,
                        const json_t *select, rcols *out)
{
    const char *op = "";
    bool counting = l->counting;
    (void)sql_is_setop(select, &op);
    if (strcmp(op, "SETOP_UNION") == 0) {
        TRY(one_side(l, parent, select, out));
        return counting && !get_flag(select, "all") ? sql_count_columns(l, out)
                                                    : OK;
    }
    l->counting = false;
    TRY(restrict_rows(l, parent, select, strcmp(op, "SETOP_EXCEPT") == 0, out));
    l->counting = counting;
    return counting ? sql_count_columns(l, out) : OK;
}
