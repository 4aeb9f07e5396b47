/*
 * Types and nodes: constants without a type of their own, and bringing
 * operands to a common type, as PostgreSQL's rules for operators do.
 *
 * A string literal, a parameter or NULL is a constant of type T_UNKNOWN until
 * it meets a value with a type. Numbers: integer and decimal compare exactly;
 * with a real the other side becomes the nearest double.
 */
#include <ctype.h>
#include <string.h>

#include "sql/sql_int.h"

bool is_untyped(const struct expr *e)
{
    return e->op == X_CONST && e->type == T_UNKNOWN;
}

enum status make_const(struct lower *l, struct value v, struct expr **out)
{
    *out = expr_const(l->arena, v);
    return *out ? OK : err_nomem(l->err);
}

static bool all_const(uint32_t n, struct expr *const *args)
{
    for (uint32_t i = 0; i < n; i++)
        if (args[i]->op != X_CONST)
            return false;
    return true;
}

const struct column *lower_column(const struct lower *l, uint32_t var)
{
    if (l->after)
        return NULL;
    const struct atom *a = &l->b.atoms.p[l->var_atom.p[var]];
    const struct table *t = &l->schema->tables.p[a->table];
    for (uint32_t i = 0; i < a->n_args && i < t->n_cols; i++)
        if (a->args[i].kind == TERM_VAR && a->args[i].id == var)
            return &t->cols[i];
    return NULL;
}

/* The column without a declared type whose value this is; NULL: there is
 * none, or a function has made a text of it. */
static const struct expr *undeclared_in(const struct expr *e)
{
    if (e->op == X_VAR)
        return e->type == T_UNKNOWN ? e : NULL;
    bool choice = e->op == X_COALESCE || e->op == X_CASE || e->op == X_NULLIF;
    const struct expr *found = NULL;
    for (uint32_t i = 0; choice && !found && i < e->n_args; i++)
        if (e->op != X_CASE || i % 2 || i + 1 == e->n_args)
            found = undeclared_in(e->args[i]);
    return found;
}

enum status sql_need_type(struct lower *l, const struct expr *e, long position)
{
    const struct expr *v = l->after ? NULL : undeclared_in(e);
    const struct column *c = v ? lower_column(l, v->var) : NULL;
    if (!v)
        return OK;
    struct str name = c ? c->name : STR("");
    err_set(l->err, E_TYPE, "the type of column \"%.*s\" is not declared",
            PSTR(name));
    err_at(l->err, position);
    err_detail(l->err, "Order, arithmetic and dates need one: as it is, a cell "
                       "like 180,5 or 31.12.2023 would be a text.");
    err_hint(l->err,
             "The owner declares it in the policy, as in columns: {%.*s: "
             "integer}, or with --schema. Equality needs no type.",
             PSTR(name));
    return E_TYPE;
}

/* Is the result wrong on a text where a number or a date was meant? */
static bool needs_types(enum expr_op op)
{
    switch (op) {
    case X_LT:
    case X_LE:
    case X_GT:
    case X_GE:
    case X_ADD:
    case X_SUB:
    case X_MUL:
    case X_NEG:
    case X_ABS:
    case X_DIV:
    case X_MOD:
    case X_EXTRACT:
    case X_DATE_TRUNC:
    case X_ROUND:
    case X_FLOOR:
    case X_CEIL:
    case X_LEAST:
    case X_GREATEST:
    case X_SHIFT:
    case X_YEARS:
    case X_TO_CHAR:
    case X_BIN:
        return true;
    default:
        return false;
    }
}

enum status make(struct lower *l, enum expr_op op, uint32_t n,
                 struct expr *const *args, struct expr **out)
{
    for (uint32_t i = 0; needs_types(op) && i < n; i++)
        TRY(sql_need_type(l, args[i], l->position));
    if (expr_count_nodes(n, args) > EXPR_MAX_NODES)
        return expr_refuse_size(l->err, l->position);
    struct expr *e = expr_new(l->arena, op, n, args);
    if (!e)
        return err_nomem(l->err);
    *out = e;
    /* the digits that a released decimal shows follow from its parts */
    if (!all_const(n, args) || (l->after && e->type == T_DEC))
        return OK;
    struct value v;
    TRY(expr_eval(l->arena, e, NULL, &v, l->err));
    enum type t = e->type;
    TRY(make_const(l, v, out));
    (*out)->type = t; /* a folded NULL keeps its type */
    return OK;
}

enum status make2(struct lower *l, enum expr_op op, struct expr *x,
                  struct expr *y, struct expr **out)
{
    struct expr *args[] = {x, y};
    return make(l, op, 2, args, out);
}

enum status make1(struct lower *l, enum expr_op op, struct expr *x,
                  struct expr **out)
{
    return make(l, op, 1, &x, out);
}

static bool is_time(enum type t)
{
    return t == T_DATE || t == T_TIMESTAMP;
}

static const char *mismatch_hint(enum type x, enum type y)
{
    if (x == T_BOOL || y == T_BOOL)
        return "A boolean stands alone, as in WHERE insured, or is compared "
               "with true or false.";
    if (is_time(x) || is_time(y))
        return "Write a date as DATE '2024-01-31', or compare a part of it, as "
               "in extract(year FROM born) = 1990.";
    return "Compare values of the same type; columns of different types never "
           "match.";
}

/* As it stands in the query; of IN, CASE and the like: =. */
static const char *operator_at(const struct lower *l, long position,
                               char buf[static 3])
{
    size_t n = 0, at = (size_t)position;
    while (position >= 0 && n < 2 && at + n < l->text_n &&
           strchr("<>=!", l->text[at + n]) && l->text[at + n]) {
        buf[n] = l->text[at + n];
        n++;
    }
    buf[n] = 0;
    return n ? buf : "=";
}

enum status sql_type_error(struct lower *l, long position, const char *what,
                           const struct expr *x, const struct expr *y)
{
    TRY(sql_need_type(l, x, position));
    if (y)
        TRY(sql_need_type(l, y, position));
    if (y)
        err_set(l->err, E_TYPE, "operator does not exist: %s %s %s",
                type_name(x->type), what, type_name(y->type));
    else
        err_set(l->err, E_TYPE, "%s does not take a value of type %s", what,
                type_name(x->type));
    err_at(l->err, position);
    if (y)
        err_hint(l->err, "%s", mismatch_hint(x->type, y->type));
    return E_TYPE;
}

/* Behind a time of day: Z, +01, -03:30. */
static size_t without_zone(struct str s)
{
    size_t n = s.n;
    if (n && (s.p[n - 1] == 'Z' || s.p[n - 1] == 'z'))
        return n - 1;
    while (n && (isdigit((unsigned char)s.p[n - 1]) || s.p[n - 1] == ':'))
        n--;
    if (!n || (s.p[n - 1] != '+' && s.p[n - 1] != '-') || n + 1 >= s.n)
        return s.n;
    return n - 1;
}

/* A text as a value of this type. As PostgreSQL has it, a zone behind the time
 * of a timestamp does not matter, nor the time of day behind a date. */
static bool read_literal(struct lower *l, struct str s, enum type t,
                         struct value *out)
{
    size_t day = 0;
    if (value_parse(l->arena, s, t, out))
        return true;
    while (day < s.n && s.p[day] != ' ' && s.p[day] != 'T')
        day++;
    if (!is_time(t) || day == s.n)
        return false;
    struct str plain = {s.p, without_zone(s)};
    if (plain.n <= day || !value_parse(l->arena, plain, T_TIMESTAMP, out))
        return false;
    return t == T_TIMESTAMP ||
           value_parse(l->arena, (struct str){s.p, day}, T_DATE, out);
}

enum status give_type(struct lower *l, struct expr **e, enum type t,
                      long position)
{
    struct value v = (*e)->val;
    if (v.i > 0 && l->opt && l->opt->types) /* a parameter */
        l->opt->types[v.i - 1] = t;
    v.i = 0;
    if (v.is_null || t == T_UNKNOWN) {
        /* a cell without declared type is a number if it looks like one, so
         * a literal that meets it is read the same way */
        if (!v.is_null && !value_parse_number(l->arena, v.s, &v))
            v.type = T_TEXT;
        t = v.is_null ? t : v.type;
    } else if (t == T_TEXT) {
        v.type = T_TEXT;
    } else if (!read_literal(l, v.s, t, &v)) {
        err_set(l->err, E_TYPE, "invalid input syntax for type %s: \"%.*s\"",
                type_name(t), PSTR((*e)->val.s));
        err_at(l->err, position);
        err_hint(l->err, "A text takes the type of what it is compared with.");
        return E_TYPE;
    }
    TRY(make_const(l, v, e));
    (*e)->type = t;
    return OK;
}

struct texts { /* which types of text occur */
    bool padded, varchar, text_only;
};

/* Of a column, or of a choice among columns. */
static void find_texts(const struct lower *l, const struct expr *e,
                       struct texts *out)
{
    if (e->op == X_VAR) {
        const struct column *c = lower_column(l, e->var);
        out->padded |= c && c->is_padded;
        out->varchar |= c && c->is_varchar;
        out->text_only |= c && c->text_only;
    }
    if (e->op != X_COALESCE && e->op != X_CASE && e->op != X_NULLIF &&
        e->op != X_GREATEST && e->op != X_LEAST)
        return;
    for (uint32_t i = 0; i < e->n_args; i++)
        find_texts(l, e->args[i], out);
}

bool is_padded(const struct lower *l, const struct expr *e)
{
    struct texts t = {0};
    find_texts(l, e, &t);
    return t.padded;
}

bool is_text_only(const struct lower *l, const struct expr *e)
{
    struct texts t = {0};
    find_texts(l, e, &t);
    return t.text_only;
}

static struct str without_blanks(struct str s)
{
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

/* A literal takes the type char(n) from what it meets, if all of that has it:
 * then its blanks at the end do not count. Next to a choice or to a text as
 * well, PostgreSQL decides by rules that are not followed here; a varchar
 * becomes char(n) and loses blanks that count elsewhere. */
static enum status strip_literals(struct lower *l, struct expr **v, size_t n,
                                  size_t step, long position)
{
    struct texts some = {0};
    bool all = true;
    for (size_t i = 0; i < n; i += step) {
        find_texts(l, v[i], &some);
        all &= is_untyped(v[i]) || (v[i]->op == X_VAR && is_padded(l, v[i]));
    }
    if (some.text_only)
        return sql_refuse(l->err, NO_TEXT_ONLY, position);
    if (some.padded && some.varchar)
        return sql_refuse(l->err, NO_PADDED, position);
    for (size_t i = 0; some.padded && i < n; i += step) {
        if (!is_untyped(v[i]) || v[i]->val.is_null)
            continue;
        struct value c = v[i]->val;
        c.s = without_blanks(c.s);
        if (c.s.n != v[i]->val.s.n && !all)
            return sql_refuse(l->err, NO_PADDED, position);
        TRY(make_untyped(l, c, &v[i]));
    }
    return OK;
}

static bool is_exact(enum type t)
{
    return t == T_INT || t == T_DEC;
}

/* Is the literal one of the values that the enum lists? */
static enum status check_label(struct lower *l, const struct column *c,
                               const struct expr *e, long position)
{
    struct sb b;
    if (!is_untyped(e) || e->val.is_null)
        return OK;
    sb_init(&b, l->arena);
    for (size_t i = 0; i < c->n_domain; i++) {
        if (value_eq(&c->domain[i], &e->val))
            return OK;
        sb_printf(&b, "%s'%.*s'", i ? ", " : "", PSTR(c->domain[i].s));
    }
    err_set(l->err, E_TYPE,
            "invalid input value for enum column \"%.*s\": "
            "\"%.*s\"",
            PSTR(c->name), PSTR(e->val.s));
    err_at(l->err, position);
    if (!b.failed)
        err_hint(l->err, "Its values are %.*s.", PSTR(sb_view(&b)));
    return E_TYPE;
}

static enum status check_labels(struct lower *l, struct expr *const *v,
                                size_t n, size_t step, long position)
{
    for (size_t i = 0; i < n; i += step) {
        const struct column *c =
            v[i]->op == X_VAR ? lower_column(l, v[i]->var) : NULL;
        if (!c || !c->is_enum || !c->own_domain || !c->n_domain)
            continue;
        for (size_t k = 0; k < n; k += step)
            TRY(check_label(l, c, v[k], position));
    }
    return OK;
}

/* The type in which values of types a and b compare; false: in none. */
static bool common_type(enum type a, enum type b, enum type *out)
{
    if (a == b || b == T_UNKNOWN || a == T_UNKNOWN)
        *out = a == T_UNKNOWN ? b : a;
    else if (is_exact(a) && is_exact(b))
        *out = T_DEC;
    else if ((a == T_REAL && is_exact(b)) || (b == T_REAL && is_exact(a)))
        *out = T_REAL;
    else if ((a == T_DATE && b == T_TIMESTAMP) ||
             (a == T_TIMESTAMP && b == T_DATE))
        *out = T_TIMESTAMP;
    else
        return false;
    return true;
}

static enum status convert(struct lower *l, struct expr **e, enum type t)
{
    enum type from = (*e)->type;
    if (t == T_TEXT && from == T_UNKNOWN && (*e)->op != X_CONST)
        return make1(l, X_TO_TEXT, *e, e);
    if (t == T_REAL && (is_exact(from) || from == T_UNKNOWN))
        return make1(l, X_TO_REAL, *e, e);
    if (t == T_TIMESTAMP && (*e)->type == T_DATE)
        return make1(l, X_TO_TIMESTAMP, *e, e);
    return OK;
}

/* A cell of an undeclared column is a number if it looks like one, else a
 * text; a literal next to such a column is read the same way. */
static enum status as_cell(struct lower *l, struct expr **e)
{
    struct value v = (*e)->val, number;
    if (!v.is_null && value_parse_number(l->arena, v.s, &number))
        v = number;
    return make_const(l, v, e);
}

static bool is_cell_type(enum type t)
{
    return t == T_UNKNOWN || is_exact(t) || t == T_REAL || t == T_TEXT;
}

/* A parameter that says 12.5 where an integer is expected: clients declare it
 * as a decimal number, and integers compare with those. */
static bool is_fraction(struct lower *l, const struct expr *e)
{
    struct value v;
    return is_untyped(e) && e->val.i > 0 && !e->val.is_null &&
           !value_parse(l->arena, e->val.s, T_INT, &v) &&
           value_parse(l->arena, e->val.s, T_DEC, &v);
}

enum status unify(struct lower *l, struct expr **v, size_t n, size_t step,
                  long position)
{
    enum type t = T_UNKNOWN;
    const struct expr *first = NULL;
    char op[3];
    bool cells = false;
    TRY(strip_literals(l, v, n, step, position));
    TRY(check_labels(l, v, n, step, position));
    for (size_t i = 0; i < n; i += step) {
        if (!first || first->type == T_UNKNOWN)
            first = v[i];
        if (is_untyped(v[i]))
            continue;
        cells |= v[i]->type == T_UNKNOWN;
        if (!common_type(t, v[i]->type, &t))
            return sql_type_error(l, position, operator_at(l, position, op),
                                  first, v[i]);
    }
    for (size_t i = 0; t == T_INT && i < n; i += step)
        if (is_fraction(l, v[i]))
            t = T_DEC;
    for (size_t i = 0; cells && !is_cell_type(t) && i < n; i += step)
        TRY(sql_need_type(l, v[i], position));
    for (size_t i = 0; i < n; i += step) {
        if (is_untyped(v[i]) && t == T_UNKNOWN && cells)
            TRY(as_cell(l, &v[i]));
        else if (is_untyped(v[i]))
            TRY(give_type(l, &v[i], t, position));
        TRY(convert(l, &v[i], t));
    }
    return OK;
}

enum status unify2(struct lower *l, struct expr **x, struct expr **y,
                   long position)
{
    struct expr *v[] = {*x, *y};
    TRY(unify(l, v, 2, 1, position));
    *x = v[0];
    *y = v[1];
    return OK;
}

bool sql_type_of_name(const char *name, enum type *out)
{
    static const struct {
        const char *name;
        enum type type;
    } types[] = {
        {"int2", T_INT},
        {"int4", T_INT},
        {"int8", T_INT},
        {"int", T_INT},
        {"integer", T_INT},
        {"bigint", T_INT},
        {"smallint", T_INT},
        {"serial", T_INT},
        {"bigserial", T_INT},
        {"smallserial", T_INT},
        {"serial4", T_INT},
        {"serial8", T_INT},
        {"tinyint", T_INT},
        {"mediumint", T_INT},
        {"numeric", T_DEC},
        {"decimal", T_DEC},
        {"float4", T_REAL},
        {"float8", T_REAL},
        {"real", T_REAL},
        {"double", T_REAL},
        {"text", T_TEXT},
        {"varchar", T_TEXT},
        {"bpchar", T_TEXT},
        {"char", T_TEXT},
        {"clob", T_TEXT},
        {"name", T_TEXT},
        {"bool", T_BOOL},
        {"boolean", T_BOOL},
        {"date", T_DATE},
        {"timestamp", T_TIMESTAMP},
        {"timestamptz", T_TIMESTAMP},
        {"datetime", T_TIMESTAMP},
        {"time", T_TIME},
        {"uuid", T_UUID},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0) {
            *out = types[i].type;
            return true;
        }
    return false;
}
