/*
 * Columns, constants and operators as SQL. The database must compute just
 * what the embedded engine does; what it might do differently (other
 * collations, inexact comparisons, locale) is forced or refused.
 */
#include "sqlgen/sqlgen.h"

#include <math.h>
#include <string.h>

enum { MAX_NUMBER = 16000 }; /* digits; the server's end at 16383 */

enum status sqlgen_refuse_expr(struct err *err, const char *what)
{
    err_set(err, E_UNSUPPORTED, "the database cannot compute %s exactly", what);
    err_hint(err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

static enum status refuse(struct err *err, const char *what)
{
    return sqlgen_refuse_expr(err, what);
}

bool sqlgen_same_order(enum type a, enum type b)
{
    bool ra = a == T_REAL, rb = b == T_REAL;
    return a != T_UNKNOWN && b != T_UNKNOWN && ra == rb &&
           type_comparable(a, b);
}

/* --- columns ---------------------------------------------------------------*/

static bool same_type(enum type declared, const struct sqlgen_col *c)
{
    return declared == c->type && c->type != T_UNKNOWN;
}

void sqlgen_ident(struct sb *b, struct str name)
{
    sb_char(b, '"');
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '"')
            sb_char(b, '"');
        sb_char(b, name.p[i]);
    }
    sb_char(b, '"');
}

void sqlgen_marked(const struct sqlgen *c, struct str sql, struct sb *b)
{
    for (size_t i = 0; i < sql.n; i++)
        if (sql.p[i] != SQLGEN_MARK || c->marked)
            sb_char(b, sql.p[i]);
        else
            i++; /* the point behind it */
}

enum status sqlgen_column(const struct sqlgen *c, uint32_t atom, uint32_t col,
                          struct sb *b, struct err *err)
{
    uint32_t table = c->q->atoms[atom].table;
    struct sqlgen_col sc = {0};
    if (!c->column(c->ctx, table, col, &sc))
        return err_internal(err, "sql_column");
    if (!same_type(c->q->schema->tables.p[table].cols[col].type, &sc))
        return refuse(err, "a column with another declared type");
    if (sc.type == T_TEXT && !c->is_utf8)
        return refuse(err, "text that is not in UTF-8");
    /* parts of expressions are columns with such names (sqlgen_node.c) */
    if ((sc.name.n >= 4 && memcmp(sc.name.p, "dpc:", 4) == 0) ||
        memchr(sc.name.p, SQLGEN_MARK, sc.name.n))
        return refuse(err, "a column of this name");
    if (c->duckdb && !sc.sql.n)
        return refuse(err, "with a column of this type");
    sb_char(b, '(');
    if (c->duckdb) {
        sqlgen_marked(c, sc.sql, b);
        sb_char(b, ')');
        return OK;
    }
    if (c->marked)
        sb_printf(b, "%c.", SQLGEN_MARK);
    sqlgen_ident(b, sc.name);
    if (sc.has_zone)
        sb_cstr(b, " AT TIME ZONE 'UTC'");
    if (sc.is_oid) /* PRIVACY: bigint would become oid, or fail */
        sb_cstr(b, "::bigint");
    if (sc.type == T_TEXT) /* bytewise; also strips the padding of char(n) */
        sb_cstr(b, "::text COLLATE \"C\"");
    sb_char(b, ')');
    return OK;
}

/* --- constants
 * ---------------------------------------------------------------*/

/* E'' understands the same escapes whatever the server's settings. */
void sqlgen_text(struct sb *b, struct str s)
{
    sb_cstr(b, "E'");
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'' || s.p[i] == '\\')
            sb_char(b, s.p[i]);
        if (s.p[i] == SQLGEN_MARK)
            sb_cstr(b, "\\001");
        else
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

/* DuckDB's numeric has three digits behind the point unless it is told, and the
 * widest that meets any other decimal without failing has 18 in all. */
static enum status duckdb_decimal(struct str s, struct sb *b, struct err *err)
{
    const char *dot = memchr(s.p, '.', s.n);
    size_t behind = dot ? (size_t)(s.p + s.n - dot) - 1 : 0;
    if (s.n > 18 || memchr(s.p, 'e', s.n) || memchr(s.p, 'N', s.n) ||
        memchr(s.p, 'I', s.n))
        return refuse(err, "with a decimal of this length");
    sqlgen_text(b, s);
    sb_printf(b, "::decimal(18, %zu)", behind);
    return OK;
}

enum status sqlgen_const(const struct sqlgen *c, const struct value *v,
                         struct sb *b, struct err *err)
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
        if (v->s.n > MAX_NUMBER)
            return refuse(err, "a number of this length");
        if (c->duckdb)
            return duckdb_decimal(v->s, b, err);
        sqlgen_text(b, v->s);
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
        sqlgen_text(b, v->s);
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

static enum status put(const struct sqlgen_out *o, const struct expr *e)
{
    struct str text;
    TRY(sqlgen_part(o, e, &text));
    sb_str(o->b, text);
    return OK;
}

static enum status joined(const struct sqlgen_out *o, const struct expr *e,
                          const char *open, const char *between,
                          const char *close)
{
    sb_cstr(o->b, open);
    for (uint32_t i = 0; i < e->n_args; i++) {
        sb_cstr(o->b, i ? between : "");
        TRY(put(o, e->args[i]));
    }
    sb_cstr(o->b, close);
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
            !sqlgen_same_order(e->args[0]->type, e->args[i]->type))
            return false;
    return true;
}

static bool is_computed(const struct cq *q, uint32_t var)
{
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].var == var)
            return true;
    return false;
}

/* Sums of dates may leave the database's calendar: days are compared. */
static bool by_days(const struct expr *e)
{
    bool sums = false;
    for (uint32_t i = 0; i < e->n_args; i++)
        sums |= sqlgen_is_date_sum(e->args[i]);
    return sums;
}

/* DuckDB: computed integers are too wide to be brought to a decimal's scale. */
static bool too_wide(const struct sqlgen_out *o, const struct expr *e)
{
    bool decimal = false, computed = false;
    for (uint32_t i = 0; o->c->duckdb && i < e->n_args; i++) {
        const struct expr *x = e->args[i];
        decimal |= x->type == T_DEC;
        computed |= x->type == T_INT && x->op != X_CONST &&
                    (x->op != X_VAR || is_computed(o->c->q, x->var));
    }
    return decimal && computed;
}

static enum status compared(const struct sqlgen_out *o, const struct expr *e,
                            const char *op)
{
    if (!args_comparable(e, 1) || too_wide(o, e))
        return refuse(o->err, "this comparison");
    if (by_days(e)) {
        sb_char(o->b, '(');
        TRY(sqlgen_days(o, e->args[0]));
        sb_cstr(o->b, op);
        TRY(sqlgen_days(o, e->args[1]));
        sb_char(o->b, ')');
        return OK;
    }
    return joined(o, e, "(", op, ")");
}

static enum status in_list(const struct sqlgen_out *o, const struct expr *e)
{
    if (!args_comparable(e, 1) || too_wide(o, e))
        return refuse(o->err, "this IN");
    enum status (*one)(const struct sqlgen_out *, const struct expr *) =
        by_days(e) ? sqlgen_days : put;
    sb_char(o->b, '(');
    TRY(one(o, e->args[0]));
    for (uint32_t i = 1; i < e->n_args; i++) {
        sb_cstr(o->b, i > 1 ? ", " : " IN (");
        TRY(one(o, e->args[i]));
    }
    sb_cstr(o->b, "))");
    return OK;
}

enum status sqlgen_write(const struct sqlgen_out *o, const struct expr *e)
{
    switch (e->op) {
    case X_CONST:
        return sqlgen_const(o->c, &e->val, o->b, o->err);
    case X_VAR:
        return sqlgen_write_var(o, e->var);
    case X_AND:
        return joined(o, e, "(", " AND ", ")");
    case X_OR:
        return joined(o, e, "(", " OR ", ")");
    case X_NOT:
        return joined(o, e, "(NOT ", "", ")");
    case X_EQ:
        return compared(o, e, " = ");
    case X_NE:
        return compared(o, e, " <> ");
    case X_LT:
        return compared(o, e, " < ");
    case X_LE:
        return compared(o, e, " <= ");
    case X_GT:
        return compared(o, e, " > ");
    case X_GE:
        return compared(o, e, " >= ");
    case X_DISTINCT:
        return compared(o, e, " IS DISTINCT FROM ");
    case X_ISNULL:
        return joined(o, e, "(", "", " IS NULL)");
    case X_ISTRUE:
        return joined(o, e, "(", "", " IS TRUE)");
    case X_ISFALSE:
        return joined(o, e, "(", "", " IS FALSE)");
    case X_IN:
        return in_list(o, e);
    case X_NEG:
        if (e->args[0]->type == T_REAL)
            return joined(o, e, "(- ", "", ")");
        return sqlgen_arithmetic(o, e);
    default:
        return sqlgen_function(o, e);
    }
}
