/*
 * What a policy says of files: separator, header line, markers of NULL, and
 * how the cells of a column are written. It is read before any file is opened.
 * PRIVACY: how a file is read is then no matter of its rows.
 */
#include "schema/policy_int.h"

#include <stdio.h>
#include <string.h>

bool type_find(struct str s, enum type *out)
{
    static const struct {
        const char *name;
        enum type type;
    } names[] = {
        {"integer", T_INT},  {"int", T_INT},   {"bigint", T_INT},
        {"numeric", T_DEC},  {"real", T_REAL}, {"text", T_TEXT},
        {"boolean", T_BOOL}, {"date", T_DATE}, {"timestamp", T_TIMESTAMP},
        {"time", T_TIME},    {"uuid", T_UUID}, {"double precision", T_REAL},
        {"decimal", T_DEC},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_eq_nocase(s, str_of(names[i].name))) {
            *out = names[i].type;
            return true;
        }
    return false;
}

static enum status read_name(struct policy_reader *r, const yaml_node_t *n,
                             enum type *out)
{
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "a type"));
    if (type_find(policy_scalar(n), out))
        return OK;
    policy_bad(r, n, E_POLICY, "unknown type \"%.*s\"", PSTR(policy_scalar(n)));
    err_hint(r->err, "Types are integer, numeric, real, text, boolean, date, "
                     "time, timestamp, uuid.");
    return E_POLICY;
}

static enum status read_yes(struct policy_reader *r, const yaml_node_t *n,
                            bool *out)
{
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "yes or no"));
    struct str s = policy_scalar(n);
    *out = str_is(s, "yes") || str_is(s, "true");
    if (*out || str_is(s, "no") || str_is(s, "false"))
        return OK;
    return policy_bad(r, n, E_POLICY, "expected yes or no, not \"%.*s\"",
                      PSTR(s));
}

/* --- formats of dates ----------------------------------------------------- */

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, N_PARTS };
static const char *const parts[N_PARTS] = {"YYYY", "MM", "DD",
                                           "HH",   "MI", "SS"};

/* The part that the format goes on with, or -1: a character of its own. */
static int part_at(struct str f, size_t i)
{
    for (int p = 0; p < N_PARTS; p++) {
        size_t n = strlen(parts[p]);
        if (f.n - i >= n && !memcmp(f.p + i, parts[p], n))
            return p;
    }
    return -1;
}

/* Which parts it has; 0: one of them twice, or a letter or digit that is none.
 */
static unsigned parts_of(struct str f)
{
    unsigned seen = 0;
    for (size_t i = 0; i < f.n;) {
        int p = part_at(f, i);
        unsigned char c = (unsigned char)f.p[i];
        bool own = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z' && c != 'T');
        if (p < 0 ? own : (seen >> p) & 1)
            return 0;
        if (p >= 0)
            seen |= 1u << p;
        i += p >= 0 ? strlen(parts[p]) : 1;
    }
    return seen;
}

static enum status check_format(struct policy_reader *r, const yaml_node_t *at,
                                enum type t, struct str f)
{
    unsigned date = 1u << YEAR | 1u << MONTH | 1u << DAY;
    unsigned minute = date | 1u << HOUR | 1u << MINUTE;
    unsigned has = f.n < CELL_FORM_TEXT / 2 ? parts_of(f) : 0;
    if (t != T_DATE && t != T_TIMESTAMP)
        return policy_bad(r, at, E_POLICY,
                          "a format is for columns of type date or timestamp");
    if (t == T_DATE ? has == date
                    : has == minute || has == (minute | 1u << SECOND))
        return OK;
    policy_bad(r, at, E_POLICY, "no format of a %s: \"%.*s\"", type_name(t),
               PSTR(f));
    err_hint(r->err, "Write it with YYYY, MM, DD%s, each once, as in %s.",
             t == T_DATE ? "" : ", HH, MI and perhaps SS",
             t == T_DATE ? "DD.MM.YYYY" : "DD.MM.YYYY HH:MI");
    return E_POLICY;
}

/* --- {type: decimal, comma: yes} ------------------------------------------ */

static enum status known_form(struct policy_reader *r, yaml_node_t *key,
                              yaml_node_t *val, size_t unused)
{
    struct str k = policy_scalar(key);
    (void)val;
    (void)unused;
    if (str_is(k, "type") || str_is(k, "comma") || str_is(k, "format"))
        return OK;
    return policy_unknown_key(r, key, "type, comma, format");
}

enum status policy_read_type(struct policy_reader *r, yaml_node_t *n,
                             enum type *out, struct cell_form *form)
{
    *form = (struct cell_form){0};
    if (n->type != YAML_MAPPING_NODE)
        return read_name(r, n, out);
    TRY(policy_pairs(r, n, 0, known_form));
    yaml_node_t *type = policy_lookup(r, n, "type");
    yaml_node_t *comma = policy_lookup(r, n, "comma");
    yaml_node_t *format = policy_lookup(r, n, "format");
    if (!type)
        return policy_bad(r, n, E_POLICY, "a column needs its \"type\"");
    TRY(read_name(r, type, out));
    if (comma)
        TRY(read_yes(r, comma, &form->comma));
    if (form->comma && *out != T_DEC && *out != T_REAL && *out != T_INT)
        return policy_bad(r, comma, E_POLICY,
                          "a comma is for columns of numbers");
    if (!format)
        return OK;
    TRY(policy_need(r, format, YAML_SCALAR_NODE, "a format"));
    form->format = str_copy(r->s->arena, policy_scalar(format));
    if (!form->format.p)
        return err_nomem(r->err);
    return check_format(r, format, *out, form->format);
}

/* --- of files ------------------------------------------------------------- */

static enum status read_delimiter(struct policy_reader *r, const yaml_node_t *n,
                                  char *out)
{
    static const struct {
        const char *name;
        char is;
    } known[] = {{",", ','},    {";", ';'}, {"|", '|'},     {"\t", '\t'},
                 {"tab", '\t'}, {" ", ' '}, {"blanks", ' '}};
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "a delimiter"));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(policy_scalar(n), known[i].name)) {
            *out = known[i].is;
            return OK;
        }
    policy_bad(r, n, E_POLICY, "unknown delimiter \"%.*s\"",
               PSTR(policy_scalar(n)));
    err_hint(r->err, "Delimiters are ',', ';', '|', tab and blanks.");
    return E_POLICY;
}

static enum status read_nulls(struct policy_reader *r, yaml_node_t *n,
                              struct file_form *f)
{
    TRY(policy_need(r, n, YAML_SEQUENCE_NODE, "a list of markers"));
    size_t count =
        (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
    f->nulls = NEWS(r->s->arena, struct str, count + 1);
    if (!f->nulls)
        return err_nomem(r->err);
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *item = policy_node(r, n->data.sequence.items.start[i]);
        TRY(policy_need(r, item, YAML_SCALAR_NODE, "a marker of NULL"));
        f->nulls[f->n_nulls] = str_copy(r->s->arena, policy_scalar(item));
        if (!f->nulls[f->n_nulls++].p)
            return err_nomem(r->err);
    }
    return OK;
}

static enum status read_names(struct policy_reader *r, yaml_node_t *n,
                              struct file_form *f)
{
    bool typed = n->type == YAML_MAPPING_NODE;
    if (!typed && n->type != YAML_SEQUENCE_NODE)
        return OK; /* the reader of the whole policy says what is wrong */
    size_t count =
        typed
            ? (size_t)(n->data.mapping.pairs.top - n->data.mapping.pairs.start)
            : (size_t)(n->data.sequence.items.top -
                       n->data.sequence.items.start);
    f->columns = NEWS(r->s->arena, struct str, count + 1);
    if (!f->columns)
        return err_nomem(r->err);
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *name =
            policy_node(r, typed ? n->data.mapping.pairs.start[i].key
                                 : n->data.sequence.items.start[i]);
        TRY(policy_need(r, name, YAML_SCALAR_NODE, "a column name"));
        f->columns[f->n_columns] = str_copy(r->s->arena, policy_scalar(name));
        if (!f->columns[f->n_columns++].p)
            return err_nomem(r->err);
    }
    return OK;
}

enum status policy_read_form(struct policy_reader *r, yaml_node_t *key,
                             yaml_node_t *val, size_t unused)
{
    (void)unused;
    if (val->type != YAML_MAPPING_NODE)
        return OK;
    struct file_form f = {.table = str_copy(r->s->arena, policy_scalar(key)),
                          .header = -1};
    yaml_node_t *columns = policy_lookup(r, val, "columns");
    yaml_node_t *delimiter = policy_lookup(r, val, "delimiter");
    yaml_node_t *header = policy_lookup(r, val, "header");
    yaml_node_t *nulls = policy_lookup(r, val, "nulls");
    yaml_node_t *any = delimiter ? delimiter : header ? header : nulls;
    bool yes;
    if (columns)
        TRY(read_names(r, columns, &f));
    if (delimiter)
        TRY(read_delimiter(r, delimiter, &f.delimiter));
    if (header) {
        TRY(read_yes(r, header, &yes));
        f.header = yes;
    }
    if (nulls)
        TRY(read_nulls(r, nulls, &f));
    if (any)
        f.at = policy_place_of(any);
    if (f.header == 0 && !f.n_columns)
        return policy_bad(r, header, E_POLICY,
                          "without a header line the columns are to be named, "
                          "as in columns: [a, b]");
    return f.table.p && VEC_PUSH(r->s->arena, &r->s->forms, f)
               ? OK
               : err_nomem(r->err);
}

const struct file_form *schema_form(const struct schema *s, struct str table)
{
    for (size_t i = 0; i < s->forms.n; i++)
        if (str_eq_nocase(s->forms.p[i].table, table))
            return &s->forms.p[i];
    return NULL;
}

static void print_text(struct sb *b, const char *what, struct str s)
{
    sb_printf(b, "%s %zu:%.*s", what, s.n, PSTR(s));
}

void schema_print_form(struct sb *b, const struct schema *s,
                       const struct table *t)
{
    const struct file_form *f = schema_form(s, t->name);
    for (size_t i = 0; i < t->n_cols; i++) {
        const struct cell_form *c = &t->cols[i].form;
        if (c->comma || c->format.n)
            print_text(b, c->comma ? " comma" : " format", t->cols[i].name);
        if (c->format.n)
            print_text(b, " as", c->format);
    }
    if (!f || !f->at.line)
        return;
    sb_printf(b, " delimiter %d header %d", f->delimiter, f->header);
    for (size_t i = 0; i < f->n_nulls; i++)
        print_text(b, " null", f->nulls[i]);
}

/* --- cells ---------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* 1.234,56: dots stand before three digits, and before the comma only. */
static bool with_comma(struct str s, char *buf, struct str *out)
{
    size_t n = 0, i = s.n && (s.p[0] == '-' || s.p[0] == '+'), run = 0;
    bool dots = false, behind = false;
    if (s.n >= CELL_FORM_TEXT || i == s.n)
        return false;
    if (i && s.p[0] == '-')
        buf[n++] = '-';
    for (; i < s.n; i++) {
        bool dot = s.p[i] == '.', comma = s.p[i] == ',';
        if (is_digit(s.p[i])) {
            buf[n++] = s.p[i];
            run++;
            continue;
        }
        if ((!dot && !comma) || behind || !run ||
            (dots ? run != 3 : dot && run > 3))
            return false;
        dots |= dot;
        behind = comma;
        run = 0;
        if (comma)
            buf[n++] = '.';
    }
    *out = (struct str){buf, n};
    return run && (behind || !dots || run == 3);
}

static bool take_number(struct str *s, size_t most, bool all, unsigned *out)
{
    size_t n = 0;
    *out = 0;
    while (n < most && n < s->n && is_digit(s->p[n]))
        *out = *out * 10 + (unsigned)(s->p[n++] - '0');
    s->p += n;
    s->n -= n;
    return all ? n == most : n > 0;
}

static bool with_format(struct str f, struct str s, char *buf, struct str *out)
{
    unsigned v[N_PARTS] = {0};
    bool time = false;
    for (size_t i = 0; i < f.n;) {
        int p = part_at(f, i);
        if (p < 0) {
            if (!s.n || s.p[0] != f.p[i++])
                return false;
            s = (struct str){s.p + 1, s.n - 1};
            continue;
        }
        i += strlen(parts[p]);
        /* a month of one digit only where something ends it */
        bool all = p == YEAR || (i < f.n && part_at(f, i) >= 0);
        time |= p == HOUR;
        if (!take_number(&s, p == YEAR ? 4 : 2, all, &v[p]))
            return false;
    }
    if (s.n)
        return false;
    int n = snprintf(buf, CELL_FORM_TEXT, "%04u-%02u-%02u", v[YEAR], v[MONTH],
                     v[DAY]);
    if (time)
        n += snprintf(buf + n, CELL_FORM_TEXT - (size_t)n, " %02u:%02u:%02u",
                      v[HOUR], v[MINUTE], v[SECOND]);
    *out = (struct str){buf, (size_t)n};
    return true;
}

bool schema_read_cell(const struct cell_form *f, struct str cell,
                      char buf[static CELL_FORM_TEXT], struct str *out)
{
    *out = cell;
    if (f->comma)
        return with_comma(cell, buf, out);
    return !f->format.n || with_format(f->format, cell, buf, out);
}
