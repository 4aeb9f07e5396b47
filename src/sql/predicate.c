/*
 * LIKE, IN and BETWEEN as expressions. A pattern must be a constant: its
 * mistakes are then the query's and show at once, not on some row.
 */
#include <string.h>

#include "base/pattern.h"
#include "sql/sql_int.h"

/* --- LIKE --- */

/* PostgreSQL reports a pattern that ends with its escape character only when
 * it gets there: on some rows. We say it at once. */
static enum status check_pattern(struct lower *l, struct str p, struct str esc,
                                 long position)
{
    size_t i = 0;
    while (esc.n && i < p.n) {
        if (p.n - i >= esc.n && memcmp(p.p + i, esc.p, esc.n) == 0) {
            i += esc.n;
            if (i >= p.n) {
                err_set(l->err, E_VALUE,
                        "LIKE pattern must not end with escape character");
                err_at(l->err, position);
                return E_VALUE;
            }
        }
        i++;
    }
    return OK;
}

static size_t count_chars(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

/* pattern, or like_escape(pattern, escape) */
static enum status lower_pattern(struct lower *l, struct scope *sc,
                                 const json_t *node, struct expr **pattern,
                                 struct expr **escape, long position)
{
    const json_t *call = node_as(node, "FuncCall");
    bool given =
        call && strcmp(last_name(get(call, "funcname")), "like_escape") == 0;
    const json_t *args = get(call, "args");
    TRY(lower_scalar(l, sc, given ? json_array_get(args, 0) : node, pattern));
    TRY(make_untyped(l, value_text(STR("\\")), escape));
    if (given)
        TRY(lower_scalar(l, sc, json_array_get(args, 1), escape));
    struct expr *both[] = {*pattern, *escape};
    for (int i = 0; i < 2; i++) {
        if (both[i]->op != X_CONST || both[i]->val.is_null ||
            (both[i]->val.type != T_TEXT))
            return sql_refuse(l->err, NO_LIKE_PATTERN, position);
        both[i]->type = T_TEXT;
    }
    if (count_chars((*escape)->val.s) > 1) {
        err_set(l->err, E_VALUE,
                "the escape string must be empty or one character");
        err_at(l->err, position);
        return E_VALUE;
    }
    return check_pattern(l, (*pattern)->val.s, (*escape)->val.s, position);
}

enum status lower_like(struct lower *l, struct scope *sc, const json_t *e,
                       bool icase, struct expr **out)
{
    long at = get_location(e);
    struct expr *args[3];
    TRY(lower_scalar(l, sc, get(e, "lexpr"), &args[0]));
    if (is_untyped(args[0]))
        TRY(give_type(l, &args[0], T_TEXT, at));
    if (is_padded(l, args[0]))
        return sql_refuse(l->err, NO_PADDED, at);
    if (is_text_only(l, args[0]))
        return sql_refuse(l->err, NO_TEXT_ONLY, at);
    if (args[0]->type == T_UNKNOWN)
        TRY(make1(l, X_TO_TEXT, args[0], &args[0]));
    if (args[0]->type != T_TEXT)
        return sql_type_error(l, at, "LIKE", args[0], NULL);
    TRY(lower_pattern(l, sc, get(e, "rexpr"), &args[1], &args[2], at));
    bool plain = str_is(args[2]->val.s, "\\");
    TRY(make(l, icase ? X_ILIKE : X_LIKE, plain ? 2 : 3, args, out));
    if (last_name(get(e, "name"))[0] == '!')
        return make1(l, X_NOT, *out, out);
    return OK;
}

/* --- IN, BETWEEN, IS ... --- */

static enum status lower_row_list(struct lower *l, struct scope *sc,
                                  const json_t *row, const json_t *items,
                                  long position, struct expr **out)
{
    size_t n = json_array_size(items);
    struct expr **parts = NEWS(l->arena, struct expr *, n + 1);
    if (!parts)
        return err_nomem(l->err);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = node_as(json_array_get(items, i), "RowExpr");
        if (!item)
            return sql_refuse(l->err, NO_EXPRESSION, position);
        TRY(lower_rows(l, sc, row, item, X_EQ, position, &parts[i]));
    }
    return make(l, X_OR, (uint32_t)n, parts, out);
}

static enum status lower_in_items(struct lower *l, struct scope *sc,
                                  const json_t *left, const json_t *items,
                                  long position, struct expr **out)
{
    size_t n = json_array_size(items);
    const json_t *row = node_as(left, "RowExpr");
    if (row)
        return lower_row_list(l, sc, row, items, position, out);
    struct expr **args = NEWS(l->arena, struct expr *, n + 1);
    if (!args)
        return err_nomem(l->err);
    TRY(lower_scalar(l, sc, left, &args[0]));
    for (size_t i = 0; i < n; i++)
        TRY(lower_scalar(l, sc, json_array_get(items, i), &args[i + 1]));
    TRY(unify(l, args, n + 1, 1, position));
    if (n == 1)
        return make2(l, X_EQ, args[0], args[1], out);
    return make(l, X_IN, (uint32_t)n + 1, args, out);
}

enum status lower_in(struct lower *l, struct scope *sc, const json_t *e,
                     struct expr **out)
{
    const json_t *list = node_as(get(e, "rexpr"), "List");
    TRY(lower_in_items(l, sc, get(e, "lexpr"), get(list, "items"),
                       get_location(e), out));
    if (strcmp(last_name(get(e, "name")), "<>") == 0)
        return make1(l, X_NOT, *out, out);
    return OK;
}

/* x = ANY (ARRAY[...]) */
enum status lower_any(struct lower *l, struct scope *sc, const json_t *e,
                      struct expr **out)
{
    const json_t *array = node_as(get(e, "rexpr"), "A_ArrayExpr");
    if (!array || get_size(array, "elements") == 0 ||
        strcmp(last_name(get(e, "name")), "=") != 0)
        return sql_refuse(l->err, NO_EXPRESSION, get_location(e));
    struct expr *x;
    TRY(lower_scalar(l, sc, get(e, "lexpr"), &x));
    if (is_padded(l, x)) /* literals in an array are of type text */
        return sql_refuse(l->err, NO_PADDED, get_location(e));
    return lower_in_items(l, sc, get(e, "lexpr"), get(array, "elements"),
                          get_location(e), out);
}

static enum status between(struct lower *l, struct expr *x, struct expr *low,
                           struct expr *high, long position, struct expr **out)
{
    struct expr *a = x, *b = x, *both[2];
    TRY(unify2(l, &a, &low, position));
    TRY(unify2(l, &b, &high, position));
    TRY(make2(l, X_GE, a, low, &both[0]));
    TRY(make2(l, X_LE, b, high, &both[1]));
    return make(l, X_AND, 2, both, out);
}

enum status lower_between(struct lower *l, struct scope *sc, const json_t *e,
                          bool symmetric, bool negated, struct expr **out)
{
    const json_t *ends = get(node_as(get(e, "rexpr"), "List"), "items");
    long at = get_location(e);
    struct expr *x, *low, *high, *ways[2];
    TRY(lower_scalar(l, sc, get(e, "lexpr"), &x));
    TRY(lower_scalar(l, sc, json_array_get(ends, 0), &low));
    TRY(lower_scalar(l, sc, json_array_get(ends, 1), &high));
    TRY(between(l, x, low, high, at, out));
    if (symmetric) {
        ways[0] = *out;
        TRY(between(l, x, high, low, at, &ways[1]));
        TRY(make(l, X_OR, 2, ways, out));
    }
    return negated ? make1(l, X_NOT, *out, out) : OK;
}

/* PRIVACY: the pattern is a constant, so whether it is refused depends on the
 * query alone. */
enum status lower_regex(struct lower *l, struct scope *sc, const json_t *x,
                        const json_t *pattern, const char *kind, long at,
                        struct expr **out)
{
    struct expr *v[3];
    struct pattern p;
    TRY(lower_scalar(l, sc, x, &v[0]));
    TRY(lower_scalar(l, sc, pattern, &v[1]));
    for (int i = 0; i < 2; i++)
        if (is_untyped(v[i]))
            TRY(give_type(l, &v[i], T_TEXT, at));
    if (v[0]->type == T_UNKNOWN)
        TRY(make1(l, X_TO_TEXT, v[0], &v[0]));
    if (v[0]->type != T_TEXT)
        return sql_type_error(l, at, kind, v[0], v[1]);
    if (is_padded(l, v[0]))
        return sql_refuse(l->err, NO_PADDED, at);
    if (v[1]->op != X_CONST || v[1]->val.is_null || v[1]->val.type != T_TEXT)
        return sql_refuse(l->err, NO_REGEX, at);
    bool similar = strcmp(kind, "similar") == 0;
    bool icase = strcmp(kind, "~*") == 0;
    const char *why =
        pattern_compile(&p, v[1]->val.s.p, v[1]->val.s.n,
                        similar ? PATTERN_SIMILAR : PATTERN_POSIX, icase);
    if (why) {
        enum status st = sql_refuse(l->err, NO_REGEX, at);
        err_detail(l->err, "Here: %s.", why);
        return st;
    }
    struct str name = similar ? STR("similar") : icase ? STR("~*") : STR("~");
    TRY(make_const(l, value_text(name), &v[2]));
    return make(l, X_REGEX, 3, v, out);
}
