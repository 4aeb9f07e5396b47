/*
 * Columns, constants and expressions as SQL. The database must compute just
 * what the embedded engine does; what it might do differently (other
 * collations, inexact comparisons, locale) is forced or refused.
 */
#include "source/pushdown.h"

#include <math.h>
#include <string.h>
#include "source/pg.h"

enum status sql_refuse_expr(struct err *err, const char *what)
{
    err_set(err, E_UNSUPPORTED, "the database cannot compute %s exactly", what);
    err_hint(err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

static enum status refuse(struct err *err, const char *what)
{
    return sql_refuse_expr(err, what);
}

bool sql_same_order(enum type a, enum type b)
{
    bool ra = a == T_REAL, rb = b == T_REAL;
    return a != T_UNKNOWN && b != T_UNKNOWN && ra == rb &&
           type_comparable(a, b);
}

/* --- columns ---------------------------------------------------------------*/

static bool same_type(enum type declared, const struct src_column *c)
{
    return declared == c->type && c->type != T_UNKNOWN;
}

enum status sql_column(struct source_counter *c, uint32_t atom, uint32_t col,
                       struct sb *b, struct err *err)
{
    const struct atom *at = &c->q->atoms[atom];
    const struct src_table *t = source_find_table(c->src, at->table);
    const struct table *st = &c->q->schema->tables.p[at->table];
    const struct src_column *sc = NULL;
    for (size_t i = 0; t && i < t->n_cols; i++)
        if (t->to[i] == col)
            sc = &t->cols[i];
    if (!sc)
        return err_internal(err, "sql_column");
    if (!same_type(st->cols[col].type, sc))
        return refuse(err, "a column with another declared type");
    if (sc->type == T_TEXT && !pg_is_utf8(c->src))
        return refuse(err, "text that is not in UTF-8");
    sb_char(b, '(');
    sql_ident(b, sc->name);
    if (sc->type_oid == OID_TIMESTAMPTZ)
        sb_cstr(b, " AT TIME ZONE 'UTC'");
    if (sc->type_oid == OID_OID) /* PRIVACY: bigint would become oid, or fail */
        sb_cstr(b, "::bigint");
    if (sc->type == T_TEXT) /* bytewise; also strips the padding of char(n) */
        sb_cstr(b, "::text COLLATE \"C\"");
    sb_char(b, ')');
    return OK;
}

enum status sql_var(struct source_counter *c, uint32_t atom, uint32_t var,
                    struct sb *b, struct err *err)
{
    const struct atom *at = &c->q->atoms[atom];
    for (uint32_t i = 0; i < at->n_args; i++)
        if (at->args[i].kind == TERM_VAR && at->args[i].id == var)
            return sql_column(c, atom, i, b, err);
    for (uint32_t i = 0; i < c->q->n_calcs; i++)
        if (c->q->calcs[i].atom == atom && c->q->calcs[i].var == var)
            return sql_expr(c, atom, c->q->calcs[i].e, b, err);
    return err_internal(err, "sql_var");
}

/* --- constants
 * ---------------------------------------------------------------*/

/* E'' understands the same escapes whatever the server's settings. */
void sql_text(struct sb *b, struct str s)
{
    sb_cstr(b, "E'");
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'' || s.p[i] == '\\')
            sb_char(b, s.p[i]);
        sb_char(b, s.p[i]);
    }
    sb_char(b, '\'');
}

/* Infinite, or from year 1 on and within the database's last one. */
static bool in_calendar(const struct value *v)
{
    const int64_t day = v->type == T_DATE ? 1 : INT64_C(86400000000);
    const int64_t first = -719162, last = 2145031948;
    if (v->i == INT64_MIN || v->i == INT64_MAX)
        return true;
    return v->i >= first * day && (v->type == T_TIMESTAMP || v->i <= last);
}

enum status sql_const(const struct value *v, struct sb *b, struct err *err)
{
    if (v->is_null) {
        sb_cstr(b, "NULL");
        return OK;
    }
    switch (v->type) {
    case T_INT:
        sb_printf(b, "(%lld)::bigint", (long long)v->i);
        /* -2^63 has no literal of its own type */
        if (v->i == INT64_MIN) {
            b->n -= sizeof "(-9223372036854775808)::bigint" - 1;
            sb_cstr(b, "'-9223372036854775808'::bigint");
        }
        return OK;
    case T_DEC:
        sql_text(b, v->s);
        sb_cstr(b, "::numeric");
        return OK;
    case T_REAL:
        /* the same order on both sides: NaN is one value, above infinity */
        if (isfinite(v->f))
            sb_printf(b, "'%.17g'::float8", v->f);
        else
            sb_printf(b, "'%s'::float8",
                      isnan(v->f) ? "NaN"
                      : v->f > 0  ? "Infinity"
                                  : "-Infinity");
        return OK;
    case T_BOOL:
        sb_cstr(b, v->i ? "true" : "false");
        return OK;
    case T_TEXT:
    case T_UNKNOWN:
        if (memchr(v->s.p, 0, v->s.n))
            return refuse(err, "a text with a zero byte");
        sb_char(b, '(');
        sql_text(b, v->s);
        sb_cstr(b, "::text COLLATE \"C\")");
        return OK;
    case T_DATE:
    case T_TIMESTAMP:
        if (!in_calendar(v))
            return refuse(err, "with a date before year 1 or so late");
        value_print(b, v);
        return OK;
    case T_UUID:
    case T_TIME:
        value_print(b, v); /* date '2020-01-01' and the like are SQL */
        return OK;
    }
    return err_internal(err, "sql_const");
}

/* --- expressions
 * ---------------------------------------------------------------*/

static enum status joined(struct source_counter *c, uint32_t atom,
                          const struct expr *e, const char *open,
                          const char *between, const char *close, struct sb *b,
                          struct err *err)
{
    sb_cstr(b, open);
    for (uint32_t i = 0; i < e->n_args; i++) {
        sb_cstr(b, i ? between : "");
        TRY(sql_expr(c, atom, e->args[i], b, err));
    }
    sb_cstr(b, close);
    return OK;
}

static bool is_null_const(const struct expr *e)
{
    return e->op == X_CONST && e->val.is_null;
}

/* All arguments from `from` on compare with the first as the engine does. */
static bool args_comparable(const struct expr *e, uint32_t from)
{
    for (uint32_t i = from; i < e->n_args; i++)
        if (!is_null_const(e->args[i]) && !is_null_const(e->args[0]) &&
            !sql_same_order(e->args[0]->type, e->args[i]->type))
            return false;
    return true;
}

/* Sums of dates may leave the database's calendar: days are compared. */
static bool by_days(const struct expr *e)
{
    bool sums = false;
    for (uint32_t i = 0; i < e->n_args; i++)
        sums |= sql_is_date_sum(e->args[i]);
    return sums;
}

static enum status compared(struct source_counter *c, uint32_t atom,
                            const struct expr *e, const char *op, struct sb *b,
                            struct err *err)
{
    if (!args_comparable(e, 1))
        return refuse(err, "this comparison");
    if (by_days(e)) {
        sb_char(b, '(');
        TRY(sql_days(c, atom, e->args[0], b, err));
        sb_cstr(b, op);
        TRY(sql_days(c, atom, e->args[1], b, err));
        sb_char(b, ')');
        return OK;
    }
    return joined(c, atom, e, "(", op, ")", b, err);
}

static enum status in_list(struct source_counter *c, uint32_t atom,
                           const struct expr *e, struct sb *b, struct err *err)
{
    if (!args_comparable(e, 1))
        return refuse(err, "this IN");
    enum status (*one)(struct source_counter *, uint32_t, const struct expr *,
                       struct sb *, struct err *) =
        by_days(e) ? sql_days : sql_expr;
    sb_char(b, '(');
    TRY(one(c, atom, e->args[0], b, err));
    for (uint32_t i = 1; i < e->n_args; i++) {
        sb_cstr(b, i > 1 ? ", " : " IN (");
        TRY(one(c, atom, e->args[i], b, err));
    }
    sb_cstr(b, "))");
    return OK;
}

/* Arithmetic of integers widens instead of overflowing: as numeric. */
static enum status arithmetic(struct source_counter *c, uint32_t atom,
                              const struct expr *e, const char *op,
                              struct sb *b, struct err *err)
{
    if (e->op == X_SUB && e->args[0]->type == T_DATE &&
        e->args[1]->type == T_DATE)
        return sql_function(c, atom, e, b, err);
    if (e->op == X_NEG && e->args[0]->type == T_REAL)
        return joined(c, atom, e, "(- ", "", ")", b, err);
    TRY(sql_check_digits(e, err));
    sb_char(b, '(');
    if (e->n_args == 1)
        sb_cstr(b, op);
    for (uint32_t i = 0; i < e->n_args; i++) {
        sb_cstr(b, i ? op : "");
        TRY(sql_numeric(c, atom, e->args[i], b, err));
    }
    sb_char(b, ')');
    return OK;
}

enum status sql_expr(struct source_counter *c, uint32_t atom,
                     const struct expr *e, struct sb *b, struct err *err)
{
    switch (e->op) {
    case X_CONST:
        return sql_const(&e->val, b, err);
    case X_VAR:
        return sql_var(c, atom, e->var, b, err);
    case X_AND:
        return joined(c, atom, e, "(", " AND ", ")", b, err);
    case X_OR:
        return joined(c, atom, e, "(", " OR ", ")", b, err);
    case X_NOT:
        return joined(c, atom, e, "(NOT ", "", ")", b, err);
    case X_EQ:
        return compared(c, atom, e, " = ", b, err);
    case X_NE:
        return compared(c, atom, e, " <> ", b, err);
    case X_LT:
        return compared(c, atom, e, " < ", b, err);
    case X_LE:
        return compared(c, atom, e, " <= ", b, err);
    case X_GT:
        return compared(c, atom, e, " > ", b, err);
    case X_GE:
        return compared(c, atom, e, " >= ", b, err);
    case X_DISTINCT:
        return compared(c, atom, e, " IS DISTINCT FROM ", b, err);
    case X_ISNULL:
        return joined(c, atom, e, "(", "", " IS NULL)", b, err);
    case X_ISTRUE:
        return joined(c, atom, e, "(", "", " IS TRUE)", b, err);
    case X_ISFALSE:
        return joined(c, atom, e, "(", "", " IS FALSE)", b, err);
    case X_IN:
        return in_list(c, atom, e, b, err);
    case X_ADD:
        return arithmetic(c, atom, e, " + ", b, err);
    case X_SUB:
        return arithmetic(c, atom, e, " - ", b, err);
    case X_MUL:
        return arithmetic(c, atom, e, " * ", b, err);
    case X_NEG:
        return arithmetic(c, atom, e, " - ", b, err);
    default:
        return sql_function(c, atom, e, b, err);
    }
}
