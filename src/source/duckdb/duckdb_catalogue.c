/*
 * What a DuckDB file or Parquet files hold: tables, columns, keys, references.
 * Parquet knows neither keys nor NOT NULL; the policy can say them, and the
 * whole content is checked before any question.
 *
 * Types that are not ours are read as DuckDB prints them and can only be
 * counted, not compared: an interval of 30 days equals one of a month there.
 * Views and tables of attached databases are rows of other tables too.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "source/duckdb/duckdb_int.h"
#include "sqlgen/sqlgen.h"

static const char columns_sql[] =
    "SELECT t.schema_name, t.table_name, t.kind, c.column_name, c.data_type, "
    "CASE WHEN c.is_nullable THEN '' ELSE 'n' END FROM (SELECT "
    "database_name, schema_name, table_name, 't' AS kind FROM duckdb_tables() "
    "WHERE NOT internal UNION ALL SELECT database_name, schema_name, "
    "view_name, 'v' FROM duckdb_views() WHERE NOT internal) t "
    "JOIN duckdb_columns() c ON c.database_name = t.database_name "
    "AND c.schema_name = t.schema_name AND c.table_name = t.table_name "
    "WHERE t.database_name = current_database() "
    "ORDER BY t.schema_name <> 'main', t.schema_name, t.table_name, "
    "c.column_index";

/* Names of columns, each on a line of its own: no name has a line's end in
 * practice, and one that has makes a key that is not found. */
static const char constraints_sql[] =
    "SELECT schema_name, table_name, constraint_type, "
    "array_to_string(constraint_column_names, chr(10)), "
    "coalesce(referenced_table, ''), "
    "CASE WHEN constraint_type = 'CHECK' THEN expression ELSE "
    "coalesce(array_to_string(referenced_column_names, chr(10)), '') END "
    "FROM duckdb_constraints() WHERE database_name = current_database() "
    "AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY', "
    "'CHECK') "
    "ORDER BY schema_name, table_name, constraint_index";

struct duck_type_row {
    const char *name; /* or its beginning, where `longer` */
    bool longer;
    enum type type;
    enum { AS_IS, AS_TEXT, AS_TIMESTAMP } how;
};

static const struct duck_type_row type_rows[] = {
    {"BOOLEAN", false, T_BOOL, AS_IS},
    {"TINYINT", false, T_INT, AS_IS},
    {"SMALLINT", false, T_INT, AS_IS},
    {"INTEGER", false, T_INT, AS_IS},
    {"BIGINT", false, T_INT, AS_IS},
    {"UTINYINT", false, T_INT, AS_IS},
    {"USMALLINT", false, T_INT, AS_IS},
    {"UINTEGER", false, T_INT, AS_IS},
    {"UBIGINT", false, T_DEC, AS_IS},
    {"HUGEINT", false, T_DEC, AS_IS},
    {"UHUGEINT", false, T_DEC, AS_TEXT},
    {"FLOAT", false, T_REAL, AS_IS},
    {"DOUBLE", false, T_REAL, AS_IS},
    {"VARCHAR", false, T_TEXT, AS_IS},
    {"UUID", false, T_UUID, AS_TEXT},
    {"DATE", false, T_DATE, AS_IS},
    {"TIME", false, T_TIME, AS_IS},
    {"TIMESTAMP", false, T_TIMESTAMP, AS_IS},
    {"TIMESTAMP WITH TIME ZONE", false, T_TIMESTAMP, AS_IS},
    {"TIMESTAMP_S", false, T_TIMESTAMP, AS_TIMESTAMP},
    {"TIMESTAMP_MS", false, T_TIMESTAMP, AS_TIMESTAMP},
};

static bool is_array(struct str name)
{
    return name.n && name.p[name.n - 1] == ']';
}

static bool begins(struct str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && !memcmp(s.p, with, n);
}

static void set_type(struct src_column *c, struct str name)
{
    c->type = T_TEXT;
    c->as_text = true;
    if (!is_array(name) && begins(name, "DECIMAL(")) {
        c->type = T_DEC;
        c->as_text = false;
        return;
    }
    c->is_enum = !is_array(name) && begins(name, "ENUM(");
    c->text_only = !c->is_enum;
    for (size_t i = 0; i < sizeof type_rows / sizeof *type_rows; i++) {
        const struct duck_type_row *r = &type_rows[i];
        if (!str_is(name, r->name))
            continue;
        c->type = r->type;
        c->as_text = r->how == AS_TEXT;
        c->as_timestamp = r->how == AS_TIMESTAMP;
        c->text_only = false;
    }
}

void duck_select(struct sb *b, const struct src_column *c)
{
    sb_cstr(b, c->as_text ? "CAST(" : c->as_timestamp ? "TRY_CAST(" : "");
    sqlgen_ident(b, c->name);
    sb_cstr(b, c->as_text        ? " AS VARCHAR)"
               : c->as_timestamp ? " AS TIMESTAMP)"
                                 : "");
}

/* Days and moments before the calendar that all sources share, and after it,
 * are no values (duckdb_load.c). */
static void put_in_calendar(struct sb *b, struct str x, const char *type,
                            const char *first, const char *last)
{
    sb_printf(b,
              "CASE WHEN %.*s BETWEEN %s '%s' AND %s '%s' OR %.*s IN (%s "
              "'infinity', %s '-infinity') THEN %.*s END",
              PSTR(x), type, first, type, last, PSTR(x), type, type, PSTR(x));
}

static void put_value(struct sb *b, const struct src_column *c, struct str name,
                      struct str type)
{
    if (c->type == T_DATE)
        put_in_calendar(b, name, "DATE", "4714-11-24 (BC)", "5874897-12-31");
    else if (c->type == T_TIMESTAMP)
        put_in_calendar(b, name, "TIMESTAMP", "4714-11-24 (BC) 00:00:00",
                        "294247-01-10 04:00:54.775806");
    else if (c->is_enum)
        sb_printf(b, "%.*s::VARCHAR", PSTR(name));
    else if (c->type == T_TEXT)
        sb_printf(b, "%.*s COLLATE \"C\"", PSTR(name));
    else if (str_is(type, "FLOAT"))
        sb_printf(b, "%.*s::DOUBLE", PSTR(name));
    else
        sb_str(b, name);
}

/* Compared with others of up to 18 digits, and with 64-bit integers, a decimal
 * is brought to a scale of theirs: that never needs more than 38 digits.
 * PRIVACY: of longer ones it might, and would fail on some rows. */
static bool is_short_decimal(struct str type)
{
    unsigned digits = 0;
    if (!begins(type, "DECIMAL(") || is_array(type))
        return false;
    for (size_t i = sizeof "DECIMAL(" - 1; i < type.n && type.p[i] != ','; i++)
        digits = 10 * digits + (unsigned)(type.p[i] - '0');
    return digits <= 18;
}

/* The column's value in SQL, where DuckDB compares it as we do. Moments with a
 * zone are read by its settings. */
static enum status set_sql(struct arena *a, struct src_column *c,
                           struct str type, struct err *err)
{
    struct sb name, b;
    sb_init(&name, a);
    sb_init(&b, a);
    sb_printf(&name, "%c.", SQLGEN_MARK);
    sqlgen_ident(&name, c->name);
    if (memchr(c->name.p, SQLGEN_MARK, c->name.n) || c->text_only ||
        (c->type == T_DEC && !is_short_decimal(type)) || c->as_timestamp ||
        str_is(type, "TIMESTAMP WITH TIME ZONE"))
        return OK;
    if (!name.failed)
        put_value(&b, c, sb_view(&name), type);
    if (name.failed || b.failed)
        return err_nomem(err);
    c->sql = sb_view(&b);
    return OK;
}

/* The descriptors' names: DuckDB opens what is open here. */
void duck_from(struct sb *b, const struct src_table *t)
{
    if (!t->parquet) {
        sqlgen_ident(b, t->namespace_);
        sb_char(b, '.');
        sqlgen_ident(b, t->name);
        return;
    }
    sb_cstr(b, "read_parquet([");
    for (size_t i = 0; i < t->parquet->n; i++)
        sb_printf(b, "%s'/proc/self/fd/%d'", i ? ", " : "", t->parquet->fds[i]);
    sb_cstr(b, "], hive_partitioning = false)");
}

/* --- tables of a database ------------------------------------------------- */

static struct src_table *find_table(const struct source *src, struct str schema,
                                    struct str name)
{
    for (size_t i = 0; i < src->tables.n; i++) {
        struct src_table *t = &src->tables.p[i];
        if (t->kind == SRC_DUCKDB && str_eq_nocase(t->name, name) &&
            (!schema.n || str_eq(t->namespace_, schema)))
            return t;
    }
    return NULL;
}

static void refuse_ambiguous(struct src_table *t)
{
    t->refused = "in more than one schema";
    t->refused_why = "A name stands for one table, and none of the schemas is "
                     "\"main\".";
    t->refused_hint = "Copy the table that is meant into a database of its "
                      "own, or into the schema \"main\".";
}

/* NULL without error: hidden by one of the same name. */
static enum status table_for(struct source *src, const struct duck_vector *v,
                             uint64_t row, struct src_table **out,
                             struct err *err)
{
    struct str schema = duck_text_at(&v[0], row);
    struct str name = duck_text_at(&v[1], row);
    *out = find_table(src, schema, name);
    if (*out)
        return OK;
    struct src_table *other = find_table(src, STR(""), name);
    if (other) {
        if (!str_is(other->namespace_, "main"))
            refuse_ambiguous(other);
        return OK;
    }
    struct src_table *t = source_add(src);
    if (!t)
        return err_nomem(err);
    t->kind = SRC_DUCKDB;
    t->name = str_copy(&src->arena, name);
    t->namespace_ = str_copy(&src->arena, schema);
    t->refused = str_is(duck_text_at(&v[2], row), "v") ? "a view" : NULL;
    *out = t;
    return t->name.p && t->namespace_.p ? OK : err_nomem(err);
}

/* ENUM('a', 'b') */
static enum status add_enum(struct source *src, struct src_table *t,
                            struct str column, struct str type, struct err *err)
{
    struct str list = {type.p + strlen("ENUM"), type.n - strlen("ENUM")};
    struct str text = str_printf(&src->arena, "VALUE IN %.*s", PSTR(list));
    return text.p ? source_add_list(src, t, column, text, err) : err_nomem(err);
}

/* Rows come table by table, so that a table's columns grow at the end. */
enum status duck_add_column(struct source *src, struct src_table *t,
                            struct str name, struct str type, bool not_null,
                            struct err *err)
{
    struct src_column *c = source_add_column(src, t);
    if (!c)
        return err_nomem(err);
    c->name = str_copy(&src->arena, name);
    c->not_null = not_null;
    set_type(c, type);
    if (!c->name.p)
        return err_nomem(err);
    TRY(set_sql(&src->arena, c, type, err));
    return c->is_enum ? add_enum(src, t, c->name, type, err) : OK;
}

enum { MAX_CATALOGUE_COLS = 6 };

enum status duck_each_row(struct source *src, const struct duck *d,
                          const char *sql, uint64_t n_cols, duck_row_fn fn,
                          struct err *err)
{
    struct duck_rows r;
    bool more = true;
    TRY(duck_begin(d, sql, &r, err));
    enum status s = duck_next(&r, &more, err);
    while (s == OK && more) {
        struct duck_vector v[MAX_CATALOGUE_COLS];
        for (uint64_t i = 0; i < n_cols; i++)
            v[i] = duck_column(&r, i);
        for (uint64_t row = 0; s == OK && row < r.n; row++)
            s = fn(src, v, row, err);
        if (s == OK)
            s = duck_next(&r, &more, err);
    }
    duck_end(&r);
    return s;
}

static enum status column_row(struct source *src, const struct duck_vector *v,
                              uint64_t row, struct err *err)
{
    struct src_table *t;
    TRY(table_for(src, v, row, &t, err));
    return t ? duck_add_column(src, t, duck_text_at(&v[3], row),
                               duck_text_at(&v[4], row),
                               duck_text_at(&v[5], row).n > 0, err)
             : OK;
}

static struct str next_line(struct str *rest)
{
    const char *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    struct str line = {rest->p, n};
    rest->p += n + (end != NULL);
    rest->n -= n + (end != NULL);
    return line;
}

/* Positions of the names; 0: one is not there, and it is no key. */
static size_t positions(const struct src_table *t, struct str names,
                        uint32_t *out)
{
    size_t n = 0;
    while (names.n) {
        struct str name = next_line(&names);
        uint32_t c = 0;
        while (c < t->n_cols && !str_eq_nocase(t->cols[c].name, name))
            c++;
        if (c == t->n_cols || n == t->n_cols)
            return 0;
        out[n++] = c;
    }
    return n;
}

static enum status add_fk(struct source *src, struct src_table *t,
                          const uint32_t *cols, size_t n, struct str table,
                          struct str names, struct err *err)
{
    struct arena *a = &src->arena;
    struct src_fk f = {.n_cols = n, .ref_table = str_copy(a, table)};
    f.cols = NEWS(a, uint32_t, n + 1);
    f.ref_cols = NEWS(a, struct str, n + 1);
    if (!f.ref_table.p || !f.cols || !f.ref_cols)
        return err_nomem(err);
    memcpy(f.cols, cols, n * sizeof *cols);
    for (size_t i = 0; i < n; i++) {
        f.ref_cols[i] = str_copy(a, next_line(&names));
        if (!f.ref_cols[i].p)
            return err_nomem(err);
    }
    return VEC_PUSH(a, &t->fks, f) ? OK : err_nomem(err);
}

static enum status constraint_row(struct source *src,
                                  const struct duck_vector *v, uint64_t row,
                                  struct err *err)
{
    struct src_table *t =
        find_table(src, duck_text_at(&v[0], row), duck_text_at(&v[1], row));
    if (!t || t->refused)
        return OK;
    if (str_is(duck_text_at(&v[2], row), "CHECK"))
        return source_add_list(src, t, STR(""), duck_text_at(&v[5], row), err);
    uint32_t *cols = NEWS(&src->arena, uint32_t, t->n_cols + 1);
    if (!cols)
        return err_nomem(err);
    size_t n = positions(t, duck_text_at(&v[3], row), cols);
    if (!n)
        return OK;
    if (str_is(duck_text_at(&v[2], row), "FOREIGN KEY"))
        return add_fk(src, t, cols, n, duck_text_at(&v[4], row),
                      duck_text_at(&v[5], row), err);
    struct src_key k = {.cols = cols, .n_cols = n};
    return VEC_PUSH(&src->arena, &t->keys, k) ? OK : err_nomem(err);
}

static const char sizes_sql[] =
    "SELECT schema_name, table_name, estimated_size::varchar "
    "FROM duckdb_tables() WHERE database_name = current_database()";

static enum status size_row(struct source *src, const struct duck_vector *v,
                            uint64_t row, struct err *err)
{
    u128 n = 0;
    struct str size = duck_text_at(&v[2], row);
    struct src_table *t =
        find_table(src, duck_text_at(&v[0], row), duck_text_at(&v[1], row));
    (void)err;
    if (t && !duck_is_null(&v[2], row) && count_read(size.p, size.n, &n))
        t->believed_rows = (double)n;
    return OK;
}

enum status duckdb_open(struct source *src, const char *path, struct err *err)
{
    if (access(path, R_OK) != 0) {
        err_set(err, E_SOURCE, "could not open DuckDB database \"%s\": %m",
                path);
        return E_SOURCE;
    }
    TRY(duck_connect(src, path, &src->duckdb, err));
    TRY(duck_each_row(src, src->duckdb, columns_sql, 6, column_row, err));
    TRY(duck_each_row(src, src->duckdb, constraints_sql, 6, constraint_row,
                      err));
    return duck_each_row(src, src->duckdb, sizes_sql, 3, size_row, err);
}

struct str duckdb_path(const struct source *src)
{
    return src->duckdb->path;
}

void duckdb_close(struct source *src)
{
    duck_disconnect(src->duckdb);
    duck_disconnect(src->parquet);
    src->duckdb = src->parquet = NULL;
    for (size_t i = 0; i < src->tables.n; i++) {
        struct duck_files *f = src->tables.p[i].parquet;
        for (size_t k = 0; f && k < f->n; k++)
            close(f->fds[k]);
        if (f)
            f->n = 0;
    }
}
