/*
 * The rows of a SELECT as JSON and as a table for people. PRIVACY: these
 * functions get what was released, no secrets.
 */
#include <math.h>
#include <string.h>

#include "release/answer.h"
#include "release/answer_table.h"

/* --- JSON ----------------------------------------------------------------- */

static enum type shown_type(const struct expr *e)
{
    return e->type == T_UNKNOWN ? T_TEXT : e->type;
}

void answer_columns_json(struct json *j, const struct sql_after *after)
{
    json_key(j, "columns");
    json_begin(j, '[');
    for (size_t i = 0; i < after->n_columns; i++) {
        json_begin(j, '{');
        json_key(j, "name");
        json_str(j, after->columns[i].name);
        json_key(j, "type");
        json_cstr(j, type_name(shown_type(after->columns[i].e)));
        json_end(j, '}');
    }
    json_end(j, ']');
}

/* PRIVACY: counts of any width are JSON integers, decimals are texts. */
static void json_cell(struct json *j, const struct value *v, enum type type)
{
    struct sb t;
    if (v->is_null) {
        json_null(j);
    } else if (v->type == T_INT) {
        json_i64(j, v->i);
    } else if (v->type == T_BOOL) {
        json_bool(j, v->i != 0);
    } else if (v->type == T_REAL && isfinite(v->f)) {
        json_double(j, v->f);
    } else if (v->type == T_DEC && type == T_INT &&
               !memchr(v->s.p, '.', v->s.n)) {
        json_raw(j, v->s);
    } else {
        sb_init(&t, j->out->arena);
        value_plain(&t, v);
        j->out->failed |= t.failed;
        json_str(j, sb_view(&t));
    }
}

static void json_errors(struct json *j, const struct answer_table *t)
{
    json_key(j, "errors");
    json_begin(j, '[');
    for (size_t r = 0; r < t->n_rows; r++) {
        json_begin(j, '[');
        for (size_t c = 0; c < t->n_cols; c++) {
            double e = t->errors[r * t->n_cols + c];
            if (e < 0)
                json_null(j);
            else
                json_double(j, e);
        }
        json_end(j, ']');
    }
    json_end(j, ']');
}

/* Counts as they are have their error beside them already. */
static bool has_computed(const struct answer_table *t)
{
    for (size_t c = 0; c < t->n_cols; c++)
        if (t->computed[c])
            return true;
    return false;
}

void answer_rows_json(struct json *j, const struct answer_table *t)
{
    json_key(j, "rows");
    json_begin(j, '[');
    for (size_t r = 0; r < t->n_rows; r++) {
        json_begin(j, '[');
        for (size_t c = 0; c < t->n_cols; c++)
            json_cell(j, &t->cells[r * t->n_cols + c],
                      t->after->columns[c].e->type);
        json_end(j, ']');
    }
    json_end(j, ']');
    if (has_computed(t))
        json_errors(j, t);
}

/* --- text ----------------------------------------------------------------- */

/* Characters, not bytes: a name may hold any. */
static size_t width(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static bool is_number(enum type t)
{
    return t == T_INT || t == T_DEC || t == T_REAL;
}

void text_grouped(struct sb *b, struct str s)
{
    size_t sign = s.n && s.p[0] == '-', end = 0;
    while (end < s.n && s.p[end] != '.' && s.p[end] != 'e')
        end++;
    for (size_t i = 0; i < s.n; i++) {
        if (i > sign && i < end && (end - i) % 3 == 0)
            sb_char(b, ',');
        sb_char(b, s.p[i]);
    }
}

void text_number(struct sb *b, double v, int digits)
{
    struct sb t;
    sb_init(&t, b->arena);
    sb_printf(&t, "%.*f", digits, v);
    b->failed |= t.failed;
    text_grouped(b, sb_view(&t));
}

/* One line whatever a text holds: control characters are shown as dots. */
static void print_line(struct sb *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        sb_char(b, (unsigned char)s.p[i] < ' ' || s.p[i] == 127 ? '.' : s.p[i]);
}

/* Released counts have their error in a line below; what was computed from
 * them has it beside it. */
static struct str cell_text(struct arena *a, const struct answer_table *t,
                            size_t r, size_t c)
{
    struct sb b, plain;
    const struct value *v = &t->cells[r * t->n_cols + c];
    const struct expr *e = t->after->columns[c].e;
    double error = t->errors[r * t->n_cols + c];
    sb_init(&b, a);
    sb_init(&plain, a);
    if (v->is_null)
        sb_cstr(&plain, "NULL");
    else
        value_plain(&plain, v);
    bool count = e->op == X_VAR && e->var >= t->n_keys;
    if (is_number(v->type) && (count || e->op != X_VAR))
        text_grouped(&b, sb_view(&plain));
    else
        print_line(&b, sb_view(&plain));
    if (t->computed[c] && error > 0 && !v->is_null)
        sb_printf(&b, " ±%.2g", error);
    return b.failed || plain.failed ? (struct str){0} : sb_view(&b);
}

static void print_padded(struct sb *b, struct str s, size_t to, bool right,
                         bool last)
{
    size_t pad = to > width(s) ? to - width(s) : 0;
    if (right)
        sb_printf(b, "%*s", (int)pad, "");
    sb_str(b, s);
    if (!right && !last)
        sb_printf(b, "%*s", (int)pad, "");
    sb_cstr(b, last ? "\n" : "  ");
}

void answer_table_text(struct sb *b, const struct answer_table *t)
{
    size_t n = t->n_cols;
    struct str *cells = NEWS(b->arena, struct str, (t->n_rows + 1) * n + 1);
    size_t *wide = NEWS(b->arena, size_t, n + 1);
    b->failed |= !cells || !wide;
    for (size_t r = 0; !b->failed && r <= t->n_rows; r++)
        for (size_t c = 0; c < n; c++) {
            struct str *s = &cells[r * n + c];
            *s = r ? cell_text(b->arena, t, r - 1, c)
                   : t->after->columns[c].name;
            b->failed |= !s->p && s->n;
            if (width(*s) > wide[c])
                wide[c] = width(*s);
        }
    for (size_t r = 0; !b->failed && r <= t->n_rows; r++)
        for (size_t c = 0; c < n; c++)
            print_padded(b, cells[r * n + c], wide[c],
                         is_number(t->after->columns[c].e->type), c + 1 == n);
}
