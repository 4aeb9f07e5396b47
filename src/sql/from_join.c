/*
 * Joins of FROM: USING, NATURAL, ON, inner and outer. A join's ON sees the two
 * sides only, so each join has a scope of its own that is then merged into the
 * one around it.
 */
#include <string.h>

#include "sql/sql_int.h"

static enum status check_one(struct lower *l, size_t n, struct str name,
                             const char *side, long at)
{
    if (n == 1)
        return OK;
    if (n > 1)
        err_set(l->err, E_NAME,
                "common column name \"%.*s\" appears more than "
                "once in %s table",
                PSTR(name), side);
    else
        err_set(l->err, E_NAME,
                "column \"%.*s\" specified in USING clause does "
                "not exist in %s table",
                PSTR(name), side);
    err_at(l->err, at);
    err_hint(l->err, n > 1 ? "Write JOIN ... ON and name the table of each "
                             "column."
                           : "Write JOIN ... ON with the names that the "
                             "columns have in each table.");
    return E_NAME;
}

/* Whether NATURAL takes the two for the same column. */
static bool same_column(const struct rcol *x, const struct rcol *y)
{
    return str_eq(x->name, y->name) ||
           ((x->any_case || y->any_case) && str_eq_nocase(x->name, y->name));
}

/* Number of columns that are the same as c, the first in *out. */
static size_t match_column(const rcols *cols, const struct rcol *c,
                           const struct rcol **out)
{
    size_t n = 0;
    for (size_t i = 0; i < cols->n; i++)
        if (same_column(&cols->p[i], c) && n++ == 0)
            *out = &cols->p[i];
    return n;
}

static bool among(const rcols *cols, const struct rcol *c)
{
    const struct rcol *found;
    return match_column(cols, c, &found) > 0;
}

static enum status merge_pair(struct lower *l, const struct rcol *x,
                              const struct rcol *y, long at, rcols *merged)
{
    struct expr *ex, *ey;
    TRY(rcol_expr(l, x, &ex));
    TRY(rcol_expr(l, y, &ey));
    TRY(add_comparison(l, X_EQ, ex, ey, at));
    struct rcol both = *x;
    both.any_case |= y->any_case;
    return VEC_PUSH(l->arena, merged, both) ? OK : err_nomem(l->err);
}

static enum status merge_using(struct lower *l, const struct scope *a,
                               const struct scope *b, const char *name, long at,
                               rcols *merged)
{
    const struct rcol *x = NULL, *y = NULL;
    struct from_part part = {name, false};
    struct str s = str_of(name);
    TRY(check_one(l, sql_match_name(&a->visible, part, &x), s, "left", at));
    TRY(check_one(l, sql_match_name(&b->visible, part, &y), s, "right", at));
    return merge_pair(l, x, y, at, merged);
}

static enum status merge_natural(struct lower *l, const struct scope *a,
                                 const struct scope *b, const struct rcol *c,
                                 long at, rcols *merged)
{
    const struct rcol *x = NULL, *y = NULL;
    size_t n = match_column(&b->visible, c, &y);
    if (n == 0 || among(merged, c))
        return OK;
    TRY(check_one(l, match_column(&a->visible, c, &x), c->name, "left", at));
    TRY(check_one(l, n, c->name, "right", at));
    return merge_pair(l, x, y, at, merged);
}

static enum status merge_columns(struct lower *l, const json_t *join,
                                 const struct scope *a, const struct scope *b,
                                 long at, rcols *merged)
{
    const json_t *names = get(join, "usingClause");
    size_t n = json_array_size(names);
    for (size_t i = 0; i < n; i++)
        TRY(merge_using(l, a, b, string_of(json_array_get(names, i)), at,
                        merged));
    if (!get_flag(join, "isNatural"))
        return OK;
    for (size_t i = 0; i < a->visible.n; i++)
        TRY(merge_natural(l, a, b, &a->visible.p[i], at, merged));
    return OK;
}

/* The columns of a join: merged ones first, then left, then right. */
static enum status join_visible(struct lower *l, const struct scope *a,
                                const struct scope *b, const rcols *merged,
                                rcols *out)
{
    TRY(sql_push_columns(l, merged, out));
    TRY(lower_work(l, (a->visible.n + b->visible.n) * WORK_COLUMN,
                   l->position));
    const rcols *sides[] = {&a->visible, &b->visible};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sides[k]->n; i++)
            if (!among(merged, &sides[k]->p[i]) &&
                !VEC_PUSH(l->arena, out, sides[k]->p[i]))
                return err_nomem(l->err);
    return OK;
}

static enum status merge_rels(struct lower *l, struct scope *to,
                              const struct scope *from, long at)
{
    for (size_t i = 0; i < from->rels.n; i++)
        TRY(sql_push_rel(l, to, from->rels.p[i], at));
    return OK;
}

static enum status lower_left(struct lower *l, const json_t *join,
                              struct scope *a)
{
    return lower_from(l, a, get(join, "larg"));
}

/* LATERAL on the right sees the left. */
static enum status lower_right(struct lower *l, const json_t *join,
                               struct scope *a, struct scope *b)
{
    const json_t *right = node_as(get(join, "rarg"), "RangeSubselect");
    struct scope *parent = b->parent;
    if (right && get_flag(right, "lateral"))
        b->parent = a;
    enum status st = lower_from(l, b, get(join, "rarg"));
    b->parent = parent;
    return st;
}

/* Both sides and ON; one of them may be absent. */
static enum status lower_sides(struct lower *l, const json_t *join, long at,
                               enum join_side side, struct scope *a,
                               struct scope *b, struct scope *both,
                               rcols *merged)
{
    struct absent gone;
    bool inner = strcmp(get_text(join, "jointype"), "JOIN_INNER") == 0;
    TRY(side == JOIN_RIGHT_ALONE ? lower_right(l, join, a, b)
                                 : lower_left(l, join, a));
    if (side != JOIN_BOTH)
        TRY(sql_absent_begin(l, &gone));
    TRY(side == JOIN_RIGHT_ALONE ? lower_left(l, join, a)
                                 : lower_right(l, join, a, b));
    bool used = l->t.uses_absent;
    TRY(merge_columns(l, join, a, b, at, merged));
    TRY(merge_rels(l, both, a, at));
    TRY(merge_rels(l, both, b, at));
    TRY(join_visible(l, a, b, merged, &both->visible));
    if (get(join, "quals"))
        TRY(lower_condition(l, both, get(join, "quals"), false));
    /* ON that a NULL makes false: there are no partners of an absent side */
    if (!inner && l->b.unsat)
        l->t.uses_absent = used;
    return side != JOIN_BOTH ? sql_absent_end(l, &gone) : OK;
}

/* The scope of the join once a side is known to be absent: NULLs in its place,
 * and columns of USING from the other. */
static enum status without(struct lower *l, enum join_side side, long at,
                           struct scope *a, struct scope *b, rcols *merged,
                           struct scope *both)
{
    if (side == JOIN_BOTH)
        return OK;
    bool right = side == JOIN_RIGHT_ALONE;
    TRY(sql_null_scope(l, right ? a : b));
    for (size_t i = 0; right && i < merged->n; i++) {
        const struct rcol *y = NULL;
        if (match_column(&b->visible, &merged->p[i], &y))
            merged->p[i] = *y;
    }
    *both = (struct scope){.parent = both->parent};
    TRY(merge_rels(l, both, a, at));
    TRY(merge_rels(l, both, b, at));
    return join_visible(l, a, b, merged, &both->visible);
}

enum status sql_lower_join(struct lower *l, struct scope *sc,
                           const json_t *join)
{
    struct scope a = {.parent = sc->parent}, b = {.parent = sc->parent};
    struct scope both = {.parent = sc->parent};
    rcols merged = {0};
    enum join_side side;
    long at = node_location(get(join, "rarg"));
    if (get(join, "join_using_alias"))
        return sql_refuse(l->err, NO_JOIN_ALIAS, at);
    TRY(sql_join_side(l, get_text(join, "jointype"), at, &side));
    TRY(lower_sides(l, join, at, side, &a, &b, &both, &merged));
    TRY(without(l, side, at, &a, &b, &merged, &both));
    const json_t *alias = get(join, "alias");
    if (!alias) {
        TRY(sql_push_columns(l, &both.visible, &sc->visible));
        return merge_rels(l, sc, &both, at);
    }
    struct sql_rel r = {.cols = both.visible};
    return sql_add_item(l, sc, &r, alias, at);
}
