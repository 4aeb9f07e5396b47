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
 *                                       # columns that nothing else types, as
 *                                       # in {born: {type: date, format:
 *                                       # DD.MM.YYYY}}
 *         key: [id]                     # or keys: [[id], [ssn]]
 *         not_null: [sex]
 *         at_most: [{per: [pat], of: [doc], k: 3}]
 *         rows_at_most: 100000
 *         values: {sex: [F, M]}         # public list of keys for GROUP BY
 *         clip: {age: [0, 110]}         # SUM and AVG cut values to this range
 *         delimiter: '|'                # of its file, as are
 *         header: no                    # the columns are those of `columns`
 *         nulls: ['\N', 'NULL']         # what stands for NULL
 *
 * Entities (owners.h): above the tables `entities: [patient]`, `guess: 30` (how
 * many results one of them has at most, about), and of a table
 *         owned_by: [{via: [pat], table: patient}]   # key: [id] if it has two
 *         not_owned: [doctor]           # refers to one, is not theirs
 */
#include "schema/policy_int.h"

#include <stdio.h>
#include <string.h>

enum status policy_bad(struct policy_reader *r, const yaml_node_t *at,
                       enum status st, const char *fmt, ...)
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
enum status policy_place(struct policy_reader *r, const yaml_node_t *at)
{
    if (!r->err)
        return E_NAME;
    struct err was = *r->err;
    policy_bad(r, at, was.status, "%s", was.message);
    err_hint(r->err, "%s", was.hint);
    return was.status;
}

yaml_node_t *policy_node(struct policy_reader *r, int id)
{
    return yaml_document_get_node(&r->doc, id);
}

struct str policy_scalar(const yaml_node_t *n)
{
    return (struct str){(const char *)n->data.scalar.value,
                        n->data.scalar.length};
}

enum status policy_need(struct policy_reader *r, const yaml_node_t *n,
                        yaml_node_type_t type, const char *what)
{
    return n->type == type ? OK
                           : policy_bad(r, n, E_POLICY, "expected %s", what);
}

enum status policy_unknown_key(struct policy_reader *r, const yaml_node_t *key,
                               const char *known)
{
    struct str k = policy_scalar(key);
    policy_bad(r, key, E_POLICY, "unknown key \"%.*s\"", PSTR(k));
    err_hint(r->err, "Known here: %s.", known);
    return E_POLICY;
}

enum status policy_pairs(struct policy_reader *r, yaml_node_t *map,
                         size_t table, pair_fn f)
{
    TRY(policy_need(r, map, YAML_MAPPING_NODE, "a mapping (key: value)"));
    yaml_node_pair_t *p = map->data.mapping.pairs.start;
    for (; p < map->data.mapping.pairs.top; p++) {
        yaml_node_t *key = policy_node(r, p->key);
        TRY(policy_need(r, key, YAML_SCALAR_NODE, "a plain key"));
        for (yaml_node_pair_t *q = map->data.mapping.pairs.start; q < p; q++)
            if (str_eq(policy_scalar(policy_node(r, q->key)),
                       policy_scalar(key)))
                return policy_bad(r, key, E_POLICY,
                                  "key \"%.*s\" is given twice",
                                  PSTR(policy_scalar(key)));
        TRY(f(r, key, policy_node(r, p->value), table));
    }
    return OK;
}

static enum status number(struct policy_reader *r, const yaml_node_t *n,
                          u128 *out)
{
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "a whole number"));
    struct str s = policy_scalar(n);
    if (!u128_read(s.p, s.n, out) || *out == 0 || *out == U128_INF)
        return policy_bad(r, n, E_POLICY,
                          "expected a whole number from 1, not \"%.*s\"",
                          PSTR(s));
    return OK;
}

static enum status column(struct policy_reader *r, const yaml_node_t *n,
                          size_t table, uint32_t *out)
{
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "a column"));
    struct table *t = &r->s->tables.p[table];
    struct str name = policy_scalar(n);
    long c = table_match_column(t, name);
    if (c < 0)
        return policy_bad(r, n, E_NAME, "table \"%.*s\" has no column \"%.*s\"",
                          PSTR(t->name), PSTR(name));
    *out = (uint32_t)c;
    return OK;
}

/* A column or a list of columns. */
enum status policy_read_columns(struct policy_reader *r, yaml_node_t *n,
                                size_t table, cols_vec *out)
{
    uint32_t c = 0;
    if (n->type == YAML_SCALAR_NODE) {
        TRY(column(r, n, table, &c));
        return VEC_PUSH(r->s->arena, out, c) ? OK : err_nomem(r->err);
    }
    TRY(policy_need(r, n, YAML_SEQUENCE_NODE, "a list of columns"));
    yaml_node_item_t *i = n->data.sequence.items.start;
    for (; i < n->data.sequence.items.top; i++) {
        TRY(column(r, policy_node(r, *i), table, &c));
        if (!VEC_PUSH(r->s->arena, out, c))
            return err_nomem(r->err);
    }
    return OK;
}

static enum status read_key(struct policy_reader *r, yaml_node_t *n,
                            size_t table)
{
    cols_vec x = {0};
    TRY(policy_read_columns(r, n, table, &x));
    if (x.n == 0)
        return policy_bad(r, n, E_POLICY, "a key needs a column");
    for (size_t i = 0; i < x.n; i++)
        r->s->tables.p[table].cols[x.p[i]].not_null = true;
    return table_add_whole(r->s, table, x.p, x.n, 1, true, STR(""), r->err);
}

yaml_node_t *policy_lookup(struct policy_reader *r, yaml_node_t *map,
                           const char *key)
{
    yaml_node_pair_t *p = map->data.mapping.pairs.start;
    for (; p < map->data.mapping.pairs.top; p++)
        if (str_is(policy_scalar(policy_node(r, p->key)), key))
            return policy_node(r, p->value);
    return NULL;
}

static enum status known_at_most(struct policy_reader *r, yaml_node_t *key,
                                 yaml_node_t *val, size_t table)
{
    struct str k = policy_scalar(key);
    (void)val;
    (void)table;
    if (str_is(k, "per") || str_is(k, "of") || str_is(k, "k"))
        return OK;
    return policy_unknown_key(r, key, "per, of, k");
}

/* {per: [pat], of: [doc], k: 3}; per may be absent (distinct values). */
static enum status read_at_most(struct policy_reader *r, yaml_node_t *n,
                                size_t table)
{
    cols_vec x = {0}, y = {0};
    u128 k;
    TRY(policy_pairs(r, n, table, known_at_most));
    yaml_node_t *per = policy_lookup(r, n, "per"),
                *of = policy_lookup(r, n, "of");
    yaml_node_t *limit = policy_lookup(r, n, "k");
    if (!of || !limit)
        return policy_bad(r, n, E_POLICY, "at_most needs \"of\" and \"k\"");
    if (per)
        TRY(policy_read_columns(r, per, table, &x));
    TRY(policy_read_columns(r, of, table, &y));
    TRY(number(r, limit, &k));
    if (y.n == 0)
        return policy_bad(r, of, E_POLICY, "\"of\" needs a column");
    return table_add_degree(r->s, table, x.p, x.n, y.p, y.n, k, STR(""),
                            r->err);
}

enum status policy_items(struct policy_reader *r, yaml_node_t *n, size_t table,
                         item_fn f)
{
    TRY(policy_need(r, n, YAML_SEQUENCE_NODE, "a list"));
    yaml_node_item_t *i = n->data.sequence.items.start;
    for (; i < n->data.sequence.items.top; i++)
        TRY(f(r, policy_node(r, *i), table));
    return OK;
}

static enum status read_rows(struct policy_reader *r, yaml_node_t *n,
                             size_t table)
{
    u128 k;
    TRY(number(r, n, &k));
    return table_add_whole(r->s, table, NULL, 0, k, false, STR(""), r->err);
}

static enum status read_bytes(struct policy_reader *r, yaml_node_t *n,
                              size_t table)
{
    u128 k;
    TRY(number(r, n, &k));
    r->s->tables.p[table].bytes_at_most =
        k < UINT64_MAX ? (uint64_t)k : UINT64_MAX;
    return OK;
}

static enum status read_values(struct policy_reader *r, yaml_node_t *key,
                               yaml_node_t *val, size_t table)
{
    uint32_t c = 0;
    TRY(column(r, key, table, &c));
    TRY(policy_need(r, val, YAML_SEQUENCE_NODE, "a list of values"));
    struct column *col = &r->s->tables.p[table].cols[c];
    size_t n =
        (size_t)(val->data.sequence.items.top - val->data.sequence.items.start);
    struct value *vals = NEWS(r->s->arena, struct value, n + 1);
    if (!vals)
        return err_nomem(r->err);
    for (size_t i = 0; i < n; i++) {
        yaml_node_t *item = policy_node(r, val->data.sequence.items.start[i]);
        TRY(policy_need(r, item, YAML_SCALAR_NODE, "a value"));
        struct str s = str_copy(r->s->arena, policy_scalar(item));
        if (!s.p)
            return err_nomem(r->err);
        bool plain = item->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        if (plain && (str_is(s, "null") || str_is(s, "~"))) {
            vals[i] = value_null();
            continue;
        }
        if (col->type == T_UNKNOWN && plain &&
            value_parse_number(r->s->arena, s, &vals[i]))
            continue;
        if (!value_parse(r->s->arena, s, col->type, &vals[i]))
            return policy_bad(r, item, E_TYPE, "\"%.*s\" is no %s", PSTR(s),
                              type_name(col->type));
    }
    col->domain = vals;
    col->n_domain = n;
    col->own_domain = false;
    return OK;
}

static bool is_number(struct str s)
{
    size_t digits = 0, points = 0;
    for (size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+'); i < s.n; i++) {
        digits += s.p[i] >= '0' && s.p[i] <= '9';
        points += s.p[i] == '.';
        if (!(s.p[i] >= '0' && s.p[i] <= '9') && s.p[i] != '.')
            return false;
    }
    return digits && points <= 1;
}

static enum status read_end(struct policy_reader *r, yaml_node_t *n,
                            struct str *out)
{
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "a number"));
    struct str s = policy_scalar(n);
    if (!is_number(s) || s.n > 20)
        return policy_bad(r, n, E_POLICY, "expected a number, not \"%.*s\"",
                          PSTR(s));
    if (s.p[0] == '+')
        s = (struct str){s.p + 1, s.n - 1};
    *out = str_copy(r->s->arena, s);
    return out->p ? OK : err_nomem(r->err);
}

/* age: [0, 110] */
static enum status read_clip(struct policy_reader *r, yaml_node_t *key,
                             yaml_node_t *val, size_t table)
{
    uint32_t c = 0;
    struct value lo, hi;
    TRY(column(r, key, table, &c));
    TRY(policy_need(r, val, YAML_SEQUENCE_NODE, "a range [least, largest]"));
    if (val->data.sequence.items.top - val->data.sequence.items.start != 2)
        return policy_bad(r, val, E_POLICY,
                          "expected a range [least, largest]");
    struct column *col = &r->s->tables.p[table].cols[c];
    bool number = col->type == T_INT || col->type == T_DEC ||
                  col->type == T_UNKNOWN || col->type == T_REAL;
    if (!number)
        return policy_bad(r, key, E_TYPE, "column \"%.*s\" is no number",
                          PSTR(col->name));
    yaml_node_item_t *at = val->data.sequence.items.start;
    TRY(read_end(r, policy_node(r, at[0]), &col->clip_lo));
    TRY(read_end(r, policy_node(r, at[1]), &col->clip_hi));
    if (!value_parse_number(r->s->arena, col->clip_lo, &lo) ||
        !value_parse_number(r->s->arena, col->clip_hi, &hi) ||
        value_cmp(&lo, &hi) > 0)
        return policy_bad(r, val, E_POLICY, "the range does not rise");
    return OK;
}

static enum status read_privacy(struct policy_reader *r, yaml_node_t *n,
                                size_t table)
{
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "private or public"));
    struct table *t = &r->s->tables.p[table];
    if (str_is(policy_scalar(n), "private"))
        t->privacy = PRIVACY_PRIVATE;
    else if (str_is(policy_scalar(n), "public"))
        t->privacy = PRIVACY_PUBLIC;
    else
        return policy_bad(r, n, E_POLICY,
                          "privacy is private or public, not \"%.*s\"",
                          PSTR(policy_scalar(n)));
    return OK;
}

static enum status read_not_null(struct policy_reader *r, yaml_node_t *n,
                                 size_t table)
{
    cols_vec x = {0};
    TRY(policy_read_columns(r, n, table, &x));
    for (size_t i = 0; i < x.n; i++)
        r->s->tables.p[table].cols[x.p[i]].not_null = true;
    return OK;
}

/* A column whose type its source leaves open (a CSV file does) gets one. */
static enum status set_type(struct policy_reader *r, yaml_node_t *key,
                            yaml_node_t *val, size_t table)
{
    uint32_t c = 0;
    enum type type;
    struct cell_form form;
    TRY(column(r, key, table, &c));
    TRY(policy_read_type(r, val, &type, &form));
    struct column *col = &r->s->tables.p[table].cols[c];
    col->guessed = false;
    col->form = form;
    if (col->type == T_UNKNOWN || col->retypes)
        col->type = type;
    if (col->type == type)
        return OK;
    policy_bad(r, val, E_POLICY, "column \"%.*s\" is of type %s, not %s",
               PSTR(col->name), type_name(col->type), type_name(type));
    err_hint(r->err, "The catalogue or the schema file says so: leave it out "
                     "here.");
    return E_POLICY;
}

/* The columns of a table that is known: their names must be right. */
static enum status match_columns(struct policy_reader *r, yaml_node_t *n,
                                 size_t table)
{
    cols_vec x = {0};
    if (n->type == YAML_MAPPING_NODE)
        return policy_pairs(r, n, table, set_type);
    TRY(policy_read_columns(r, n, table, &x));
    for (size_t i = 0; i < x.n; i++)
        r->s->tables.p[table].cols[x.p[i]].guessed = false;
    return OK;
}

enum status policy_unknown_table(struct policy_reader *r,
                                 const yaml_node_t *key)
{
    struct sb b;
    size_t n = 0;
    enum { SHOWN = 12 };
    policy_bad(r, key, E_NAME, "unknown table \"%.*s\"",
               PSTR(policy_scalar(key)));
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

static enum status read_table_key(struct policy_reader *r, yaml_node_t *key,
                                  yaml_node_t *val, size_t table)
{
    struct str k = policy_scalar(key);
    if (str_is(k, "columns"))
        return OK; /* read before the others, by find_table */
    if (str_is(k, "delimiter") || str_is(k, "header") || str_is(k, "nulls"))
        return OK; /* read before the source, by schema_read_forms */
    if (str_is(k, "privacy"))
        return read_privacy(r, val, table);
    if (str_is(k, "key"))
        return read_key(r, val, table);
    if (str_is(k, "keys"))
        return policy_items(r, val, table, read_key);
    if (str_is(k, "at_most"))
        return policy_items(r, val, table, read_at_most);
    if (str_is(k, "rows_at_most"))
        return read_rows(r, val, table);
    if (str_is(k, "bytes_at_most"))
        return read_bytes(r, val, table);
    if (str_is(k, "not_null"))
        return read_not_null(r, val, table);
    if (str_is(k, "values"))
        return policy_pairs(r, val, table, read_values);
    if (str_is(k, "clip"))
        return policy_pairs(r, val, table, read_clip);
    if (str_is(k, "owned_by"))
        return policy_read_owned_by(r, val, table);
    if (str_is(k, "not_owned"))
        return policy_read_not_owned(r, val, table);
    return policy_unknown_key(
        r, key,
        "privacy, columns, key, keys, at_most, rows_at_most, "
        "bytes_at_most, not_null, values, clip, owned_by, not_owned, "
        "delimiter, header, nulls");
}

/* columns: [a, b] or {a: integer, b: text}. */
static enum status read_columns(struct policy_reader *r, yaml_node_t *n,
                                size_t table)
{
    bool typed = n->type == YAML_MAPPING_NODE;
    if (!typed)
        TRY(policy_need(r, n, YAML_SEQUENCE_NODE, "a list of columns"));
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
        yaml_node_t *name =
            policy_node(r, typed ? n->data.mapping.pairs.start[i].key
                                 : n->data.sequence.items.start[i]);
        TRY(policy_need(r, name, YAML_SCALAR_NODE, "a column name"));
        t->cols[i].name = str_copy(r->s->arena, policy_scalar(name));
        if (!t->cols[i].name.p)
            return err_nomem(r->err);
        if (!typed)
            continue;
        yaml_node_t *type =
            policy_node(r, n->data.mapping.pairs.start[i].value);
        TRY(policy_read_type(r, type, &t->cols[i].type, &t->cols[i].form));
    }
    t->n_cols = count;
    t->arity_known = t->declared = true;
    return OK;
}

static enum status find_table(struct policy_reader *r, yaml_node_t *key,
                              yaml_node_t *val, size_t *out)
{
    yaml_node_t *cols = policy_lookup(r, val, "columns");
    long t;
    if (schema_find_declared(r->s, policy_scalar(key), &t, r->err) != OK)
        return policy_place(r, key);
    if (t >= 0 && r->s->tables.p[t].arity_known) {
        *out = (size_t)t;
        return cols ? match_columns(r, cols, *out) : OK;
    }
    if (!cols)
        return policy_unknown_table(r, key);
    if (t >= 0)
        *out = (size_t)t;
    else
        TRY(schema_add_table(r->s, policy_scalar(key), 0, out, r->err));
    return read_columns(r, cols, *out);
}

static enum status read_table(struct policy_reader *r, yaml_node_t *key,
                              yaml_node_t *val, size_t unused)
{
    size_t table;
    (void)unused;
    TRY(policy_need(r, val, YAML_MAPPING_NODE, "the table's properties"));
    TRY(find_table(r, key, val, &table));
    for (size_t i = 0; i < r->seen.n; i++)
        if (r->seen.p[i] == table)
            return policy_bad(r, key, E_POLICY, "table \"%.*s\" is given twice",
                              PSTR(r->s->tables.p[table].name));
    if (!VEC_PUSH(r->s->arena, &r->seen, (uint32_t)table))
        return err_nomem(r->err);
    r->s->tables.p[table].at = policy_place_of(key);
    return policy_pairs(r, val, table, read_table_key);
}

static enum status read_budget(struct policy_reader *r, yaml_node_t *key,
                               yaml_node_t *val, size_t unused)
{
    struct str k = policy_scalar(key);
    (void)unused;
    TRY(policy_need(r, val, YAML_SCALAR_NODE, "a number"));
    struct str v = str_copy(r->s->arena, policy_scalar(val));
    if (!v.p)
        return err_nomem(r->err);
    if (str_is(k, "epsilon"))
        r->s->epsilon = v;
    else if (str_is(k, "delta"))
        r->s->delta = v;
    else
        return policy_unknown_key(r, key, "epsilon, delta");
    return OK;
}

static enum status read_limit(struct policy_reader *r, yaml_node_t *key,
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
    TRY(policy_need(r, val, YAML_SCALAR_NODE, "a number or a word"));
    /* PRIVACY: who asks for admission by public sizes must not believe to have
     * it. */
    if (str_is(policy_scalar(key), "strict") &&
        !str_is(policy_scalar(val), "yes") && !str_is(policy_scalar(val), "no"))
        return policy_bad(r, val, E_POLICY, "strict is yes or no");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (str_is(policy_scalar(key), known[i].name)) {
            *known[i].to = str_copy(r->s->arena, policy_scalar(val));
            return known[i].to->p ? OK : err_nomem(r->err);
        }
    return policy_unknown_key(r, key,
                              "respond_after, ladder, memory, least_price, "
                              "most_price, strict, work_at_most");
}

static enum status read_limits(struct policy_reader *r, yaml_node_t *n)
{
    TRY(policy_pairs(r, n, 0, read_limit));
    if (r->s->limits.work_at_most.n && !str_is(r->s->limits.strict, "yes"))
        return policy_bad(r, n, E_POLICY, "work_at_most needs strict: yes");
    return OK;
}

static enum status read_neighbours(struct policy_reader *r, yaml_node_t *n)
{
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "add-drop-one or change-one"));
    if (!schema_set_neighbours(r->s, policy_scalar(n)))
        return policy_bad(r, n, E_POLICY, "neighbours is %s, not \"%.*s\"",
                          NEIGHBOURS_KNOWN, PSTR(policy_scalar(n)));
    r->s->neighbours_at = policy_place_of(n);
    return OK;
}

static enum status read_top(struct policy_reader *r, yaml_node_t *key,
                            yaml_node_t *val, size_t unused)
{
    struct str k = policy_scalar(key);
    u128 order; /* or guess */
    if (r->budget_only && !str_is(k, "budget") && !str_is(k, "limits"))
        return OK;
    if (r->forms_only)
        return str_is(k, "tables")
                   ? policy_pairs(r, val, unused, policy_read_form)
                   : OK;
    if (str_is(k, "neighbours"))
        return read_neighbours(r, val);
    if (str_is(k, "tables"))
        return policy_pairs(r, val, unused, read_table);
    if (str_is(k, "entities"))
        return OK; /* after the tables */
    if (str_is(k, "budget"))
        return policy_pairs(r, val, unused, read_budget);
    if (str_is(k, "limits"))
        return read_limits(r, val);
    if (str_is(k, "order")) {
        TRY(number(r, val, &order));
        if (order > 1000000)
            return policy_bad(r, val, E_POLICY, "order is at most 1000000");
        r->s->order = (uint32_t)order;
        return OK;
    }
    if (str_is(k, "guess")) {
        TRY(number(r, val, &order));
        r->s->guess = order >> 62 ? (uint64_t)1 << 62 : (uint64_t)order;
        return OK;
    }
    return policy_unknown_key(r, key,
                              "neighbours, order, entities, guess, tables, "
                              "budget, limits");
}

static enum status read_root(struct policy_reader *r, yaml_node_t *root)
{
    TRY(policy_pairs(r, root, 0, read_top));
    yaml_node_t *entities = policy_lookup(r, root, "entities");
    yaml_node_t *guess = policy_lookup(r, root, "guess");
    if (guess && !entities)
        return policy_bad(r, guess, E_POLICY,
                          "a guess is about entities, and there are none");
    bool all = !r->budget_only && !r->forms_only;
    return entities && all ? policy_read_entities(r, entities) : OK;
}

static enum status not_yaml(struct policy_reader *r, const yaml_parser_t *p)
{
    long line = (long)p->problem_mark.line + 1;
    long column = (long)p->problem_mark.column + 1;
    err_set(r->err, E_SYNTAX, "%s", p->problem ? p->problem : "malformed YAML");
    err_in_file(r->err, r->file, line, column);
    return E_SYNTAX;
}

enum policy_part { PART_ALL, PART_BUDGET, PART_FORMS };

static enum status read_document(struct schema *s, struct str text,
                                 const char *file, enum policy_part part,
                                 struct err *err)
{
    struct policy_reader r = {.s = s,
                              .file = file,
                              .budget_only = part == PART_BUDGET,
                              .forms_only = part == PART_FORMS,
                              .err = err};
    s->policy = part == PART_ALL ? file : s->policy;
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
        st = root ? read_root(&r, root)
                  : err_set(err, E_POLICY, "%s: the policy is empty", file);
        yaml_document_delete(&r.doc);
    }
    yaml_parser_delete(&parser);
    return st;
}

enum status schema_read_policy(struct schema *s, struct str text,
                               const char *file, struct err *err)
{
    return read_document(s, text, file, PART_ALL, err);
}

enum status schema_read_budget(struct schema *s, struct str text,
                               const char *file, struct err *err)
{
    return read_document(s, text, file, PART_BUDGET, err);
}

enum status schema_read_forms(struct schema *s, struct str text,
                              const char *file, struct err *err)
{
    return read_document(s, text, file, PART_FORMS, err);
}
