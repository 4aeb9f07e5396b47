/*
 * The policy file (YAML): what is private, keys, dependencies, neighbours,
 * budget. Read with libyaml's document tree, whose nodes know their line and
 * column, so that every mistake is reported where it stands. Unknown keys are
 * errors: a misspelt "privacy" must not pass as silence.
 *
 *     neighbours: add-drop-one          order: 1
 *     budget: {epsilon: 10, delta: 1e-6}
 *     limits: {respond_after: 10, ladder: 3, memory: 4G}   # also least_price,
 *                                # most_price, strict: yes, work_at_most
 *     tables:
 *       patient:
 *         privacy: private              # or public; private if absent
 *         columns: {id: integer, sex: text}   # or [id, sex]; the types of
 *                                       # columns that nothing else types
 *         key: [id]                     # or keys: [[id], [ssn]]
 *         not_null: [sex]
 *         at_most: [{per: [pat], of: [doc], k: 3}]
 *         rows_at_most: 100000
 *         values: {sex: [F, M]}         # public list of keys for GROUP BY
 */
#include "schema/schema.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

typedef VEC(uint32_t) cols_vec;

struct reader {
    struct schema *s;
    yaml_document_t doc;
    const char *file;
    VEC(uint32_t) seen; /* tables read so far */
    bool budget_only;
    struct err *err;
};

static enum status bad(struct reader *r, const yaml_node_t *at, enum status st,
                       const char *fmt, ...) PRINTF(4, 5);

static enum status bad(struct reader *r, const yaml_node_t *at, enum status st,
                       const char *fmt, ...)
{
    char msg[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    long line = (long)at->start_mark.line + 1;
    long column = (long)at->start_mark.column + 1;
    err_set(r->err, st, "%s", msg);
    err_in_file(r->err, r->file, line, column);
    return st;
}

/* An error made elsewhere gets its place; its hint stays. */
static enum status place(struct reader *r, const yaml_node_t *at)
{
    if (!r->err)
        return E_NAME;
    struct err was = *r->err;
    bad(r, at, was.status, "%s", was.message);
    err_hint(r->err, "%s", was.hint);
    return was.status;
}

static yaml_node_t *node(struct reader *r, int id)
{
    return yaml_document_get_node(&r->doc, id);
}

static struct str scalar(const yaml_node_t *n)
{
    return (struct str){(const char *)n->data.scalar.value,
                        n->data.scalar.length};
}

static enum status need(struct reader *r, const yaml_node_t *n,
                        yaml_node_type_t type, const char *what)
{
    return n->type == type ? OK : bad(r, n, E_POLICY, "expected %s", what);
}

static enum status unknown_key(struct reader *r, const yaml_node_t *key,
                               const char *known)
{
    struct str k = scalar(key);
    bad(r, key, E_POLICY, "unknown key \"%.*s\"", PSTR(k));
    err_hint(r->err, "Known here: %s.", known);
    return E_POLICY;
}

/* Calls f for each pair of a mapping. */
typedef enum status (*pair_fn)(struct reader *r, yaml_node_t *key,
                               yaml_node_t *val, size_t table);

static enum status each_pair(struct reader *r, yaml_node_t *map, size_t table,
                             pair_fn f)
{
    TRY(need(r, map, YAML_MAPPING_NODE, "a mapping (key: value)"));
    yaml_node_pair_t *p = map->data.mapping.pairs.start;
    for (; p < map->data.mapping.pairs.top; p++) {
        yaml_node_t *key = node(r, p->key);
        TRY(need(r, key, YAML_SCALAR_NODE, "a plain key"));
        for (yaml_node_pair_t *q = map->data.mapping.pairs.start; q < p; q++)
            if (str_eq(scalar(node(r, q->key)), scalar(key)))
                return bad(r, key, E_POLICY, "key \"%.*s\" is given twice",
                           PSTR(scalar(key)));
        TRY(f(r, key, node(r, p->value), table));
    }
    return OK;
}

static enum status number(struct reader *r, const yaml_node_t *n, u128 *out)
{
    TRY(need(r, n, YAML_SCALAR_NODE, "a whole number"));
    struct str s = scalar(n);
    if (!u128_read(s.p, s.n, out) || *out == 0 || *out == U128_INF)
        return bad(r, n, E_POLICY,
                   "expected a whole number from 1, not \"%.*s\"", PSTR(s));
    return OK;
}

static enum status column(struct reader *r, const yaml_node_t *n, size_t table,
                          uint32_t *out)
{
    TRY(need(r, n, YAML_SCALAR_NODE, "a column"));
    struct table *t = &r->s->tables.p[table];
    struct str name = scalar(n);
    long c = table_match_column(t, name);
    if (c < 0)
        return bad(r, n, E_NAME, "table \"%.*s\" has no column \"%.*s\"",
                   PSTR(t->name), PSTR(name));
    *out = (uint32_t)c;
    return OK;
}

/* A column or a list of columns. */
static enum status columns(struct reader *r, yaml_node_t *n, size_t table,
                           cols_vec *out)
{
    uint32_t c = 0;
    if (n->type == YAML_SCALAR_NODE) {
        TRY(column(r, n, table, &c));
        return VEC_PUSH(r->s->arena, out, c) ? OK : err_nomem(r->err);
    }
    TRY(need(r, n, YAML_SEQUENCE_NODE, "a list of columns"));
    yaml_node_item_t *i = n->data.sequence.items.start;
    for (; i < n->data.sequence.items.top; i++) {
        TRY(column(r, node(r, *i), table, &c));
        if (!VEC_PUSH(r->s->arena, out, c))
            return err_nomem(r->err);
    }
    return OK;
}

static enum status read_key(struct reader *r, yaml_node_t *n, size_t table)
{
    cols_vec x = {0};
    TRY(columns(r, n, table, &x));
    if (x.n == 0)
        return bad(r, n, E_POLICY, "a key needs a column");
    for (size_t i = 0; i < x.n; i++)
        r->s->tables.p[table].cols[x.p[i]].not_null = true;
    return table_add_whole(r->s, table, x.p, x.n, 1, true, STR(""), r->err);
}

static yaml_node_t *lookup(struct reader *r, yaml_node_t *map, const char *key)
{
    yaml_node_pair_t *p = map->data.mapping.pairs.start;
    for (; p < map->data.mapping.pairs.top; p++)
        if (str_is(scalar(node(r, p->key)), key))
            return node(r, p->value);
    return NULL;
}

static enum status known_at_most(struct reader *r, yaml_node_t *key,
                                 yaml_node_t *val, size_t table)
{
    struct str k = scalar(key);
    (void)val;
    (void)table;
    if (str_is(k, "per") || str_is(k, "of") || str_is(k, "k"))
        return OK;
    return unknown_key(r, key, "per, of, k");
}

/* {per: [pat], of: [doc], k: 3}; per may be absent (distinct values). */
static enum status read_at_most(struct reader *r, yaml_node_t *n, size_t table)
{
    cols_vec x = {0}, y = {0};
    u128 k;
    TRY(each_pair(r, n, table, known_at_most));
    yaml_node_t *per = lookup(r, n, "per"), *of = lookup(r, n, "of");
    yaml_node_t *limit = lookup(r, n, "k");
    if (!of || !limit)
        return bad(r, n, E_POLICY, "at_most needs \"of\" and \"k\"");
    if (per)
        TRY(columns(r, per, table, &x));
    TRY(columns(r, of, table, &y));
    TRY(number(r, limit, &k));
    if (y.n == 0)
        return bad(r, of, E_POLICY, "\"of\" needs a column");
    return table_add_degree(r->s, table, x.p, x.n, y.p, y.n, k, STR(""),
                            r->err);
}

typedef enum status (*item_fn)(struct reader *r, yaml_node_t *n, size_t table);

static enum status each_item(struct reader *r, yaml_node_t *n, size_t table,
                             item_fn f)
{
    TRY(need(r, n, YAML_SEQUENCE_NODE, "a list"));
    yaml_node_item_t *i = n->data.sequence.items.start;
    for (; i < n->data.sequence.items.top; i++)
        TRY(f(r, node(r, *i), table));
    return OK;
}

static enum status read_rows(struct reader *r, yaml_node_t *n, size_t table)
{
    u128 k;
    TRY(number(r, n, &k));
    return table_add_whole(r->s, table, NULL, 0, k, false, STR(""), r->err);
}

static enum status read_values(struct reader *r, yaml_node_t *key,
                               yaml_node_t *val, size_t table)
{
    uint32_t c = 0;
    TRY(column(r, key, table, &c));
    TRY(need(r, val, YAML_SEQUENCE_NODE, "a list of values"));
    struct column *col = &r->s->tables.p[table].cols[c];
    size_t n =
        (size_t)(val->data.sequence.items.top - val->data.sequence.items.start);
    struct value *vals = NEWS(r->s->arena, struct value, n + 1);
    if (!vals)
        return err_nomem(r->err);
    for (size_t i = 0; i < n; i++) {
        yaml_node_t *item = node(r, val->data.sequence.items.start[i]);
        TRY(need(r, item, YAML_SCALAR_NODE, "a value"));
        struct str s = str_copy(r->s->arena, scalar(item));
        if (!s.p)
            return err_nomem(r->err);
        bool plain = item->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        if (col->type == T_UNKNOWN && plain &&
            value_parse_number(r->s->arena, s, &vals[i]))
            continue;
        if (!value_parse(r->s->arena, s, col->type, &vals[i]))
            return bad(r, item, E_TYPE, "\"%.*s\" is no %s", PSTR(s),
                       type_name(col->type));
    }
    col->domain = vals;
    col->n_domain = n;
    col->own_domain = false;
    return OK;
}

static enum status read_privacy(struct reader *r, yaml_node_t *n, size_t table)
{
    TRY(need(r, n, YAML_SCALAR_NODE, "private or public"));
    struct table *t = &r->s->tables.p[table];
    if (str_is(scalar(n), "private"))
        t->privacy = PRIVACY_PRIVATE;
    else if (str_is(scalar(n), "public"))
        t->privacy = PRIVACY_PUBLIC;
    else
        return bad(r, n, E_POLICY, "privacy is private or public, not \"%.*s\"",
                   PSTR(scalar(n)));
    return OK;
}

static enum status read_not_null(struct reader *r, yaml_node_t *n, size_t table)
{
    cols_vec x = {0};
    TRY(columns(r, n, table, &x));
    for (size_t i = 0; i < x.n; i++)
        r->s->tables.p[table].cols[x.p[i]].not_null = true;
    return OK;
}

static bool type_by_name(struct str s, enum type *out)
{
    static const struct {
        const char *name;
        enum type type;
    } names[] = {
        {"integer", T_INT},  {"int", T_INT},   {"bigint", T_INT},
        {"numeric", T_DEC},  {"real", T_REAL}, {"text", T_TEXT},
        {"boolean", T_BOOL}, {"date", T_DATE}, {"timestamp", T_TIMESTAMP},
        {"time", T_TIME},    {"uuid", T_UUID}, {"double precision", T_REAL},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_eq_nocase(s, str_of(names[i].name))) {
            *out = names[i].type;
            return true;
        }
    return false;
}

static enum status read_type(struct reader *r, const yaml_node_t *n,
                             enum type *out)
{
    TRY(need(r, n, YAML_SCALAR_NODE, "a type"));
    if (type_by_name(scalar(n), out))
        return OK;
    bad(r, n, E_POLICY, "unknown type \"%.*s\"", PSTR(scalar(n)));
    err_hint(r->err, "Types are integer, numeric, real, text, boolean, date, "
                     "time, timestamp, uuid.");
    return E_POLICY;
}

/* A column whose type its source leaves open (a CSV file does) gets one. */
static enum status set_type(struct reader *r, yaml_node_t *key,
                            yaml_node_t *val, size_t table)
{
    uint32_t c = 0;
    enum type type;
    TRY(column(r, key, table, &c));
    TRY(read_type(r, val, &type));
    struct column *col = &r->s->tables.p[table].cols[c];
    col->guessed = false;
    if (col->type == T_UNKNOWN)
        col->type = type;
    if (col->type == type)
        return OK;
    bad(r, val, E_POLICY, "column \"%.*s\" is of type %s, not %.*s",
        PSTR(col->name), type_name(col->type), PSTR(scalar(val)));
    err_hint(r->err, "The catalogue or the schema file says so: leave it out "
                     "here.");
    return E_POLICY;
}

/* The columns of a table that is known: their names must be right. */
static enum status match_columns(struct reader *r, yaml_node_t *n, size_t table)
{
    cols_vec x = {0};
    if (n->type == YAML_MAPPING_NODE)
        return each_pair(r, n, table, set_type);
    TRY(columns(r, n, table, &x));
    for (size_t i = 0; i < x.n; i++)
        r->s->tables.p[table].cols[x.p[i]].guessed = false;
    return OK;
}

static enum status read_table_key(struct reader *r, yaml_node_t *key,
                                  yaml_node_t *val, size_t table)
{
    struct str k = scalar(key);
    if (str_is(k, "columns"))
        return OK; /* read before the others, by find_table */
    if (str_is(k, "privacy"))
        return read_privacy(r, val, table);
    if (str_is(k, "key"))
        return read_key(r, val, table);
    if (str_is(k, "keys"))
        return each_item(r, val, table, read_key);
    if (str_is(k, "at_most"))
        return each_item(r, val, table, read_at_most);
    if (str_is(k, "rows_at_most"))
        return read_rows(r, val, table);
    if (str_is(k, "not_null"))
        return read_not_null(r, val, table);
    if (str_is(k, "values"))
        return each_pair(r, val, table, read_values);
    return unknown_key(r, key,
                       "privacy, columns, key, keys, at_most, rows_at_most, "
                       "not_null, values");
}

/* columns: [a, b] or {a: integer, b: text}. */
static enum status read_columns(struct reader *r, yaml_node_t *n, size_t table)
{
    bool typed = n->type == YAML_MAPPING_NODE;
    if (!typed)
        TRY(need(r, n, YAML_SEQUENCE_NODE, "a list of columns"));
    size_t count =
        typed
            ? (size_t)(n->data.mapping.pairs.top - n->data.mapping.pairs.start)
            : (size_t)(n->data.sequence.items.top -
                       n->data.sequence.items.start);
    struct table *t = &r->s->tables.p[table];
    t->cols = NEWS(r->s->arena, struct column, count + 1);
    if (!t->cols)
        return err_nomem(r->err);
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *name = node(r, typed ? n->data.mapping.pairs.start[i].key
                                          : n->data.sequence.items.start[i]);
        TRY(need(r, name, YAML_SCALAR_NODE, "a column name"));
        t->cols[i].name = str_copy(r->s->arena, scalar(name));
        if (!t->cols[i].name.p)
            return err_nomem(r->err);
        if (!typed)
            continue;
        yaml_node_t *type = node(r, n->data.mapping.pairs.start[i].value);
        TRY(read_type(r, type, &t->cols[i].type));
    }
    t->n_cols = count;
    t->arity_known = t->declared = true;
    return OK;
}

static enum status unknown_table(struct reader *r, const yaml_node_t *key)
{
    struct sb b;
    size_t n = 0;
    enum { SHOWN = 12 };
    bad(r, key, E_NAME, "unknown table \"%.*s\"", PSTR(scalar(key)));
    sb_init(&b, r->s->arena);
    for (size_t i = 0; i < r->s->tables.n; i++) {
        const struct table *t = &r->s->tables.p[i];
        if (t->declared && !t->is_refused && n++ < SHOWN)
            sb_printf(&b, "%s%.*s", n > 1 ? ", " : "", PSTR(t->name));
    }
    if (n && !b.failed)
        err_hint(r->err,
                 "The tables are %.*s%s. A database shows only those that "
                 "its user may read.",
                 PSTR(sb_view(&b)), n > SHOWN ? ", ..." : "");
    else
        err_hint(r->err, "Give the tables with --schema or --db, or list "
                         "\"columns:\" here.");
    return E_NAME;
}

static enum status find_table(struct reader *r, yaml_node_t *key,
                              yaml_node_t *val, size_t *out)
{
    yaml_node_t *cols = lookup(r, val, "columns");
    long t;
    if (schema_find_declared(r->s, scalar(key), &t, r->err) != OK)
        return place(r, key);
    if (t >= 0 && r->s->tables.p[t].arity_known) {
        *out = (size_t)t;
        return cols ? match_columns(r, cols, *out) : OK;
    }
    if (!cols)
        return unknown_table(r, key);
    if (t >= 0)
        *out = (size_t)t;
    else
        TRY(schema_add_table(r->s, scalar(key), 0, out, r->err));
    return read_columns(r, cols, *out);
}

static enum status read_table(struct reader *r, yaml_node_t *key,
                              yaml_node_t *val, size_t unused)
{
    size_t table;
    (void)unused;
    TRY(need(r, val, YAML_MAPPING_NODE, "the table's properties"));
    TRY(find_table(r, key, val, &table));
    for (size_t i = 0; i < r->seen.n; i++)
        if (r->seen.p[i] == table)
            return bad(r, key, E_POLICY, "table \"%.*s\" is given twice",
                       PSTR(r->s->tables.p[table].name));
    if (!VEC_PUSH(r->s->arena, &r->seen, (uint32_t)table))
        return err_nomem(r->err);
    return each_pair(r, val, table, read_table_key);
}

static enum status read_budget(struct reader *r, yaml_node_t *key,
                               yaml_node_t *val, size_t unused)
{
    struct str k = scalar(key);
    (void)unused;
    TRY(need(r, val, YAML_SCALAR_NODE, "a number"));
    struct str v = str_copy(r->s->arena, scalar(val));
    if (!v.p)
        return err_nomem(r->err);
    if (str_is(k, "epsilon"))
        r->s->epsilon = v;
    else if (str_is(k, "delta"))
        r->s->delta = v;
    else
        return unknown_key(r, key, "epsilon, delta");
    return OK;
}

static enum status read_limit(struct reader *r, yaml_node_t *key,
                              yaml_node_t *val, size_t unused)
{
    struct policy_limits *l = &r->s->limits;
    struct {
        const char *name;
        struct str *to;
    } known[] = {{"respond_after", &l->respond_after},
                 {"ladder", &l->ladder},
                 {"memory", &l->memory},
                 {"least_price", &l->least_price},
                 {"most_price", &l->most_price},
                 {"strict", &l->strict},
                 {"work_at_most", &l->work_at_most}};
    (void)unused;
    TRY(need(r, val, YAML_SCALAR_NODE, "a number or a word"));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (str_is(scalar(key), known[i].name)) {
            *known[i].to = str_copy(r->s->arena, scalar(val));
            return known[i].to->p ? OK : err_nomem(r->err);
        }
    return unknown_key(r, key,
                       "respond_after, ladder, memory, least_price, "
                       "most_price, strict, work_at_most");
}

static enum status read_neighbours(struct reader *r, yaml_node_t *n)
{
    TRY(need(r, n, YAML_SCALAR_NODE, "add-drop-one or change-one"));
    if (str_is(scalar(n), "add-drop-one"))
        r->s->neighbours = ADD_DROP_ONE;
    else if (str_is(scalar(n), "change-one"))
        r->s->neighbours = CHANGE_ONE;
    else
        return bad(r, n, E_POLICY,
                   "neighbours is add-drop-one or change-one, not \"%.*s\"",
                   PSTR(scalar(n)));
    return OK;
}

static enum status read_top(struct reader *r, yaml_node_t *key,
                            yaml_node_t *val, size_t unused)
{
    struct str k = scalar(key);
    u128 order;
    if (r->budget_only && !str_is(k, "budget") && !str_is(k, "limits"))
        return OK;
    if (str_is(k, "neighbours"))
        return read_neighbours(r, val);
    if (str_is(k, "tables"))
        return each_pair(r, val, unused, read_table);
    if (str_is(k, "budget"))
        return each_pair(r, val, unused, read_budget);
    if (str_is(k, "limits"))
        return each_pair(r, val, unused, read_limit);
    if (str_is(k, "order")) {
        TRY(number(r, val, &order));
        if (order > 1000000)
            return bad(r, val, E_POLICY, "order is at most 1000000");
        r->s->order = (uint32_t)order;
        return OK;
    }
    return unknown_key(r, key, "neighbours, order, tables, budget, limits");
}

static enum status not_yaml(struct reader *r, const yaml_parser_t *p)
{
    long line = (long)p->problem_mark.line + 1;
    long column = (long)p->problem_mark.column + 1;
    err_set(r->err, E_SYNTAX, "%s", p->problem ? p->problem : "malformed YAML");
    err_in_file(r->err, r->file, line, column);
    return E_SYNTAX;
}

static enum status read_document(struct schema *s, struct str text,
                                 const char *file, bool budget_only,
                                 struct err *err)
{
    struct reader r = {
        .s = s, .file = file, .budget_only = budget_only, .err = err};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return err_nomem(err);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p,
                                 text.n);
    enum status st;
    if (!yaml_parser_load(&parser, &r.doc)) {
        st = parser.error == YAML_MEMORY_ERROR ? err_nomem(err)
                                               : not_yaml(&r, &parser);
    } else {
        yaml_node_t *root = yaml_document_get_root_node(&r.doc);
        st = root ? each_pair(&r, root, 0, read_top)
                  : err_set(err, E_POLICY, "%s: the policy is empty", file);
        yaml_document_delete(&r.doc);
    }
    yaml_parser_delete(&parser);
    return st;
}

enum status schema_read_policy(struct schema *s, struct str text,
                               const char *file, struct err *err)
{
    return read_document(s, text, file, false, err);
}

enum status schema_read_budget(struct schema *s, struct str text,
                               const char *file, struct err *err)
{
    return read_document(s, text, file, true, err);
}
