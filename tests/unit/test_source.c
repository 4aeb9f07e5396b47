/*
 * Sources: dialects of delimited files, type inference, NULLs, errors with
 * lines, folders, SQLite catalogues, merging with a declared schema.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/source.h"

struct fix {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct source *src;
    struct store *st;
    struct err err;
    char dir[64];
};

static int setup(void **state)
{
    struct fix *f = calloc(1, sizeof *f);
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    schema_init(&f->schema, &f->arena);
    strcpy(f->dir, "dpc-source-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    *state = f;
    return 0;
}

static void shut(struct fix *f)
{
    store_free(f->st);
    source_close(f->src);
    f->st = NULL;
    f->src = NULL;
}

static int teardown(void **state)
{
    struct fix *f = *state;
    char cmd[100];
    shut(f);
    arena_fini(&f->arena);
    assert_int_equal(atomic_load(&f->mem.used), 0);
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", f->dir);
    assert_int_equal(system(cmd), 0);
    free(f);
    return 0;
}

static void write_file(struct fix *f, const char *name, const char *text,
                       size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, n, out), n);
    fclose(out);
}

static enum status open_table(struct fix *f, const char *spec)
{
    char text[256];
    snprintf(text, sizeof text, "%s=%s/t.txt", spec, f->dir);
    struct str one = str_of(text);
    struct source_spec s = {.tables = &one, .n_tables = 1};
    enum status st = source_open(&f->mem, &s, &f->schema, &f->src, &f->err);
    if (st == OK)
        st = store_new(&f->mem, &f->schema, &f->st, &f->err);
    if (st == OK)
        st = source_load(f->src, NULL, f->st, NULL, &f->err);
    return st;
}

static enum status open_text(struct fix *f, const char *spec, const char *text)
{
    write_file(f, "t.txt", text, strlen(text));
    return open_table(f, spec);
}

/* Rows as "a|b;c|d", NULL as "-". */
static const char *dump(struct fix *f, size_t table)
{
    struct sb b;
    sb_init(&b, &f->arena);
    const struct store_table *t = &f->st->tables[table];
    for (size_t r = 0; r < t->n_rows; r++) {
        for (size_t c = 0; c < t->n_cols; c++) {
            sb_cstr(&b, c ? "|" : r ? ";" : "");
            struct value v = column_value(&t->cols[c], r);
            if (v.is_null)
                sb_char(&b, '-');
            else
                value_print(&b, &v);
        }
    }
    return b.n ? b.p : "";
}

static const struct store_column *col(struct fix *f, size_t c)
{
    return &f->st->tables[0].cols[c];
}

#define CHECK_ROWS(f, spec, text, want)                                        \
    do {                                                                       \
        assert_int_equal(open_text(f, spec, text), OK);                        \
        assert_string_equal(dump(f, 0), want);                                 \
    } while (0)

static void tabs(void **state)
{
    struct fix *f = *state;
    CHECK_ROWS(f, "edge(src,dst)",
               "# a comment\n# FromNodeId\tToNodeId\n1\t2\n\n#x\n3\t-4\n",
               "1|2;3|-4");
    assert_int_equal(col(f, 0)->type, T_INT);
    assert_false(table_is_private(&f->schema.tables.p[0]) == false);
    assert_false(table_has_key(&f->schema.tables.p[0]));
}

static void commas_and_crlf(void **state)
{
    CHECK_ROWS(*state, "e(a,b)", "1,x\r\n2,y\r\n\r\n3,z", "1|'x';2|'y';3|'z'");
}

static void blanks(void **state)
{
    CHECK_ROWS(*state, "e(a,b)", "a b\n  1   2  \n3 \t 4\r\n   \n5 6",
               "1|2;3|4;5|6");
}

static void blanks_by_themselves(void **state)
{
    CHECK_ROWS(*state, "e(a,b)", "  1   2  \n3\t4\r\n   \n5 6", "1|2;3|4;5|6");
}

static void quotes(void **state)
{
    CHECK_ROWS(
        *state, "e(a,b)",
        "\"x,1\",\"he said \"\"hi\"\"\"\n\"two\nlines\",\"\"\n,plain\"q\n",
        "'x,1'|'he said \"hi\"';'two\nlines'|'';-|'plain\"q'");
}

static void unicode_and_mark(void **state)
{
    CHECK_ROWS(*state, "e(a,b)",
               "\xEF\xBB\xBF"
               "1,\xC3\xA9t\xC3\xA9\n",
               "1|'\xC3\xA9t\xC3\xA9'");
}

static void header_by_names(void **state)
{
    CHECK_ROWS(*state, "e(src,dst)", "Src,Dst\n1,2\n", "1|2");
}

static void header_without_list(void **state)
{
    struct fix *f = *state;
    CHECK_ROWS(f, "e", "# c\nid,name\n1,x\n", "1|'x'");
    assert_true(str_is(f->schema.tables.p[0].cols[1].name, "name"));
}

static void decimals(void **state)
{
    struct fix *f = *state;
    CHECK_ROWS(f, "e(a,b)", "1.50,1\n1.5,2\n-3,3\n100000000000000000000,4\n",
               "1.5|1;1.5|2;-3|3;100000000000000000000|4");
    assert_int_equal(col(f, 0)->type, T_DEC);
    assert_int_equal(col(f, 0)->n_dict, 3);
}

static void odd_integers(void **state)
{
    struct fix *f = *state;
    CHECK_ROWS(f, "e(a)",
               "1\n007\n+5\n-0\n9223372036854775807\n"
               "-9223372036854775808\n7.0\n",
               "1;7;5;0;9223372036854775807;-9223372036854775808;7");
    assert_int_equal(col(f, 0)->type, T_INT);
}

/* A number stays the same number whatever the other rows hold. */
static void mixed_is_row_local(void **state)
{
    struct fix *f = *state;
    CHECK_ROWS(f, "e(a)", "7\n007\nx7\n7.0\n10\n9\n", "7;7;'x7';7;10;9");
    const struct store_column *c = col(f, 0);
    assert_int_equal(c->type, T_TEXT);
    assert_int_equal(c->n_dict, 4);
    assert_int_equal(c->n_numeric, 3);
    for (size_t i = 0; i + 1 < c->n_dict; i++) {
        struct value a = column_dict_value(c, i);
        struct value b = column_dict_value(c, i + 1);
        assert_true(value_cmp(&a, &b) < 0);
    }
    struct value seven = value_int(7), first = column_value(c, 0);
    assert_true(value_eq(&seven, &first));
}

static void nulls(void **state)
{
    struct fix *f = *state;
    CHECK_ROWS(f, "e(a,b,c)", "1,,x\n,2,\n,,\n", "1|-|'x';-|2|-;-|-|-");
}

static void expect_line(struct fix *f, const char *spec, const char *text,
                        long line, const char *part)
{
    assert_int_equal(open_text(f, spec, text), E_DATA);
    assert_int_equal(f->err.line, line);
    assert_non_null(strstr(f->err.message, part));
    assert_non_null(strstr(f->err.file, "t.txt"));
    shut(f);
    schema_init(&f->schema, &f->arena);
}

static void malformed(void **state)
{
    struct fix *f = *state;
    expect_line(f, "e(a,b)", "1,2\n# c\n3\n", 3, "expected 2 columns, found 1");
    expect_line(f, "e(a,b)", "1,2\n\n3,4,5\n", 3, "at least 3");
    expect_line(f, "e(a,b)", "1 2\n3\n", 2, "found 1");
    expect_line(f, "e(a,b)", "1 2\n3 4 5\n", 2, "at least 3");
    expect_line(f, "e(a,b)", "1,\"x\ny\n\"\n2,\"open\n\n", 4, "not closed");
    expect_line(f, "e(a,b)", "1,\"x\"y\n", 1, "after closing quote");
    expect_line(f, "e(a,b)", "1,\"a\nb\"\n2,\"x\"y\n", 3, "closing quote");
}

static void usage_errors(void **state)
{
    struct fix *f = *state;
    assert_int_equal(open_text(f, "e(a,", "1\n"), E_USAGE);
    assert_int_equal(open_text(f, "(a)", "1\n"), E_USAGE);
    assert_int_equal(open_text(f, "e(a,)", "1\n"), E_USAGE);
    assert_int_equal(open_text(f, "e(a,A)", "1\n"), E_SOURCE);
    struct str t = STR("e(a)=no/such/file");
    struct source_spec s = {.tables = &t, .n_tables = 1};
    schema_init(&f->schema, &f->arena);
    assert_int_equal(source_open(&f->mem, &s, &f->schema, &f->src, &f->err),
                     OK);
    assert_int_equal(store_new(&f->mem, &f->schema, &f->st, &f->err), OK);
    assert_int_equal(source_load(f->src, NULL, f->st, NULL, &f->err), E_SOURCE);
}

static void declare(struct fix *f, const char *name, const char *c0,
                    enum type t0, const char *c1, enum type t1)
{
    size_t i;
    assert_int_equal(schema_add_table(&f->schema, str_of(name), 2, &i, &f->err),
                     OK);
    struct table *t = &f->schema.tables.p[i];
    t->declared = t->arity_known = true;
    t->cols[0] = (struct column){.name = str_of(c0), .type = t0};
    t->cols[1] = (struct column){.name = str_of(c1), .type = t1};
}

static void declared_types(void **state)
{
    struct fix *f = *state;
    declare(f, "e", "day", T_DATE, "zip", T_TEXT);
    assert_int_equal(
        open_text(f, "e(zip,day)", "007,2020-02-29\n7,1970-01-02\n"), OK);
    assert_string_equal(dump(f, 0),
                        "date '2020-02-29'|'007';date '1970-01-02'|'7'");
    assert_int_equal(column_int(col(f, 0), 1), 1);
    shut(f);
    assert_int_equal(open_text(f, "e(zip,day)", "7,2020-01-01\n8,soon\n"), OK);
    assert_string_equal(dump(f, 0), "date '2020-01-01'|'7';-|'8'");
    assert_int_equal(col(f, 0)->odd.n_converted, 1);
    assert_int_equal(col(f, 0)->odd.first, 2);
    assert_int_equal(col(f, 1)->odd.n_converted, 0);
}

static void declared_not_null(void **state)
{
    struct fix *f = *state;
    declare(f, "e", "a", T_INT, "b", T_INT);
    f->schema.tables.p[0].cols[1].not_null = true;
    assert_int_equal(open_text(f, "e(a,b)", "1,2\n3,\n4,x\n5,6\n"), OK);
    assert_string_equal(dump(f, 0), "1|2;5|6");
    assert_int_equal(f->st->tables[0].n_dropped, 2);
    assert_int_equal(col(f, 1)->odd.n_missing, 1);
    assert_int_equal(col(f, 1)->odd.n_converted, 1);
}

static void missing_column(void **state)
{
    struct fix *f = *state;
    declare(f, "e", "a", T_INT, "b", T_INT);
    assert_int_equal(open_text(f, "e(a,c)", "1,2\n"), E_NAME);
}

/* Records larger than the window, and records across its end. */
static void long_records(void **state)
{
    struct fix *f = *state;
    size_t n = 3 << 20, used = 0;
    char *text = malloc(n + 100);
    used += (size_t)sprintf(text, "1,\"");
    for (; used < n; used++)
        text[used] = used % 1000 ? 'x' : '\n';
    used += (size_t)sprintf(text + used, "\"\n2,y\n");
    write_file(f, "t.txt", text, used);
    assert_int_equal(open_table(f, "e(a,b)"), OK);
    assert_int_equal(f->st->tables[0].n_rows, 2);
    struct value v = column_value(col(f, 1), 0);
    assert_int_equal(v.s.n, n - 3);
    assert_memory_equal(v.s.p, text + 3, v.s.n);
    free(text);
}

static void many_rows(void **state)
{
    struct fix *f = *state;
    size_t rows = 300000, used = 0;
    char *text = malloc(rows * 24);
    for (size_t i = 0; i < rows; i++)
        used += (size_t)sprintf(text + used, "%zu,\"n%zu\"\n", i * 7, i % 100);
    write_file(f, "t.txt", text, used);
    assert_int_equal(open_table(f, "e(a,b)"), OK);
    assert_int_equal(f->st->tables[0].n_rows, rows);
    assert_int_equal(col(f, 1)->n_dict, 100);
    for (size_t i = 0; i < rows; i++) {
        char want[24];
        struct value v = column_value(col(f, 1), i);
        snprintf(want, sizeof want, "n%zu", i % 100);
        assert_int_equal(column_int(col(f, 0), i), i * 7);
        assert_true(str_is(v.s, want));
    }
    free(text);
}

/* Rows of the first window promise more or fewer rows than come, and what was
 * a column of numbers is none in the last row. */
static void windows_that_differ(void **state)
{
    struct fix *f = *state;
    size_t rows = 120000, used = 0, room;
    char *text = malloc(rows * 64);
    for (int longer_first = 0; longer_first < 2; longer_first++) {
        used = 0;
        for (size_t i = 0; i < rows; i++) {
            bool wide = (i < rows / 2) == longer_first;
            used += (size_t)sprintf(text + used, "%zu,%s%zu,\n", i,
                                    wide ? "a text of some length - " : "x", i);
        }
        used += (size_t)sprintf(text + used, "last,last,last\n");
        write_file(f, "t.txt", text, used);
        assert_int_equal(open_table(f, "e(a,b,c)"), OK);
        assert_int_equal(f->st->tables[0].n_rows, rows + 1);
        for (size_t i = 0; i < rows; i++) {
            char want[64];
            bool wide = (i < rows / 2) == longer_first;
            struct value a = column_value(col(f, 0), i);
            struct value b = column_value(col(f, 1), i);
            snprintf(want, sizeof want, "%s%zu",
                     wide ? "a text of some length - " : "x", i);
            assert_true(a.type == T_INT && a.i == (int64_t)i);
            assert_true(str_is(b.s, want));
            assert_true(column_is_null(col(f, 2), i));
        }
        struct value c = column_value(col(f, 2), rows);
        assert_true(str_is(c.s, "last"));
        room = atomic_load(&f->mem.used);
        assert_true(room < 8 * used); /* what was too much is given back */
        shut(f);
        schema_init(&f->schema, &f->arena);
    }
    free(text);
}

/* Half the room where every number fits; the numbers are the same. */
static void narrow_numbers(void **state)
{
    struct fix *f = *state;
    const char *text = "2147483647,2147483648,-2147483648,-2147483649,007\n"
                       "-5,-5,-5,-5,-5\n,,,,\n";
    write_file(f, "t.txt", text, strlen(text));
    assert_int_equal(open_table(f, "e(a,b,c,d,g)"), OK);
    for (size_t i = 0; i < 5; i++) {
        assert_true(i % 2 ? col(f, i)->i64 && !col(f, i)->i32
                          : col(f, i)->i32 && !col(f, i)->i64);
        assert_int_equal(column_int(col(f, i), 1), -5);
        assert_true(column_is_null(col(f, i), 2));
    }
    assert_int_equal(column_int(col(f, 0), 0), 2147483647);
    assert_int_equal(column_int(col(f, 1), 0), 2147483648);
    assert_true(column_int(col(f, 2), 0) == INT32_MIN);
    assert_true(column_int(col(f, 3), 0) == (int64_t)INT32_MIN - 1);
    assert_int_equal(column_int(col(f, 4), 0), 7);
}

static void only_wanted_columns(void **state)
{
    struct fix *f = *state;
    struct cq *q;
    write_file(f, "t.txt", "1,x,2\n3,y,4\n", 12);
    char text[128];
    snprintf(text, sizeof text, "e(a,b,c)=%s/t.txt", f->dir);
    struct str one = str_of(text);
    struct source_spec s = {.tables = &one, .n_tables = 1};
    assert_int_equal(source_open(&f->mem, &s, &f->schema, &f->src, &f->err),
                     OK);
    assert_int_equal(
        cq_read(&f->arena, &f->schema, STR("Q(x) :- e(_, _, x)."), &q, &f->err),
        OK);
    assert_int_equal(store_new(&f->mem, &f->schema, &f->st, &f->err), OK);
    assert_int_equal(source_load(f->src, q, f->st, NULL, &f->err), OK);
    assert_false(col(f, 0)->present);
    assert_false(col(f, 1)->present);
    assert_int_equal(column_int(col(f, 2), 1), 4);
    assert_int_equal(f->st->tables[0].n_rows, 2);
}

static void folder(void **state)
{
    struct fix *f = *state;
    write_file(f, "Pat.csv", "id,Sex\n1,F\n2,\n", 14);
    write_file(f, "doc.csv", "id\n#7\n8\n", 8);
    write_file(f, "readme.txt", "x", 1);
    struct source_spec s = {.db = str_of(f->dir)};
    assert_int_equal(source_open(&f->mem, &s, &f->schema, &f->src, &f->err),
                     OK);
    assert_int_equal(f->schema.tables.n, 2);
    assert_int_equal(store_new(&f->mem, &f->schema, &f->st, &f->err), OK);
    assert_int_equal(source_load(f->src, NULL, f->st, NULL, &f->err), OK);
    long pat = schema_find(&f->schema, STR("Pat"));
    long doc = schema_find(&f->schema, STR("doc"));
    assert_string_equal(dump(f, (size_t)pat), "1|'F';2|-");
    assert_string_equal(dump(f, (size_t)doc), "'#7';8");
}

static bool stop(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    ++*(int *)ctx;
    (void)what;
    (void)done;
    (void)total;
    return false;
}

static void cancelled(void **state)
{
    struct fix *f = *state;
    int calls = 0;
    struct progress p = {stop, &calls};
    assert_int_equal(open_text(f, "e(a,b)", "1,2\n"), OK);
    assert_int_equal(source_load(f->src, NULL, f->st, &p, &f->err),
                     E_CANCELLED);
    assert_int_equal(calls, 1);
}

static void memory_limit(void **state)
{
    struct fix *f = *state;
    size_t rows = 200000, used = 0;
    char *text = malloc(rows * 16);
    for (size_t i = 0; i < rows; i++)
        used += (size_t)sprintf(text + used, "%zu,%zu\n", i, i);
    write_file(f, "t.txt", text, used);
    free(text);
    f->mem.limit = (size_t)2 << 20;
    assert_int_equal(open_table(f, "e(a,b)"), E_LIMIT);
}

/* --- SQLite --------------------------------------------------------------*/

static void make_db(struct fix *f, const char *sql)
{
    char path[128];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/x.db", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static enum status open_db(struct fix *f)
{
    char path[128];
    snprintf(path, sizeof path, "%s/x.db", f->dir);
    struct source_spec s = {.db = str_of(path)};
    TRY(source_open(&f->mem, &s, &f->schema, &f->src, &f->err));
    TRY(store_new(&f->mem, &f->schema, &f->st, &f->err));
    return source_load(f->src, NULL, f->st, NULL, &f->err);
}

static const char *constraints(struct fix *f, size_t table)
{
    struct sb b;
    sb_init(&b, &f->arena);
    const struct table *t = &f->schema.tables.p[table];
    for (size_t i = 0; i < t->degrees.n; i++) {
        sb_cstr(&b, i ? "; " : "");
        degree_print(&b, t, &t->degrees.p[i]);
    }
    return b.n ? b.p : "";
}

static void sqlite_catalogue(void **state)
{
    struct fix *f = *state;
    make_db(f,
            "CREATE TABLE Hos(id INTEGER PRIMARY KEY, name TEXT NOT NULL "
            "UNIQUE, nick TEXT UNIQUE);"
            "CREATE TABLE PatDoc(pat INT NOT NULL, doc INT NOT NULL, since "
            "DATE, ok BOOLEAN, price NUMERIC, PRIMARY KEY (pat, doc), FOREIGN "
            "KEY (pat) REFERENCES Hos(id));"
            "CREATE UNIQUE INDEX part ON PatDoc(doc) WHERE doc > 3;"
            "CREATE UNIQUE INDEX ex ON PatDoc(pat + doc);"
            "INSERT INTO Hos VALUES (1, 'a', NULL), (2, 'b', NULL);"
            "INSERT INTO PatDoc VALUES (1, 3, '2020-01-01', 1, 1.5),"
            "(2, 3, NULL, 0, 2);");
    assert_int_equal(open_db(f), OK);
    long hos = schema_find(&f->schema, STR("Hos"));
    long pd = schema_find(&f->schema, STR("PatDoc"));
    assert_true(hos >= 0 && pd >= 0);
    assert_string_equal(constraints(f, (size_t)hos),
                        "Hos: id -> *; Hos: nick -> *; Hos: name -> *");
    assert_string_equal(constraints(f, (size_t)pd), "PatDoc: (pat, doc) -> *");
    assert_string_equal(dump(f, (size_t)hos), "1|'a'|-;2|'b'|-");
    assert_string_equal(dump(f, (size_t)pd),
                        "1|3|date '2020-01-01'|true|1.5;2|3|-|false|2");
    assert_int_equal(f->schema.tables.p[pd].fks.n, 1);
    assert_true(str_is(f->schema.tables.p[pd].fks.p[0].ref_table, "Hos"));
    assert_true(table_is_private(&f->schema.tables.p[pd]));
}

/* The policy that is written can be read, and says what the catalogue says. */
static void policy_reads_back(void **state)
{
    struct fix *f = *state;
    struct sb b;
    struct schema again;
    make_db(f, "CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT NOT NULL UNIQUE,"
               "\"no\" INT UNIQUE, \"odd: name\" TEXT);"
               "CREATE TABLE \"select # 1\"(v INT REFERENCES a(id), w DATE);");
    assert_int_equal(open_db(f), OK);
    sb_init(&b, &f->arena);
    source_policy(&f->schema, f->src, &b);
    assert_false(b.failed);
    assert_non_null(strstr(b.p, "per: [v], of: [w]"));
    /* a key of a policy has no NULL, a unique column may */
    assert_non_null(strstr(b.p, "keys: [[id], [x]]"));
    const struct table *first = &f->schema.tables.p[0];
    size_t n_degrees = first->degrees.n;
    again = f->schema;
    assert_int_equal(
        schema_read_policy(&again, sb_view(&b), "policy.yaml", &f->err), OK);
    for (size_t i = 0; i < again.tables.n; i++)
        assert_int_equal(again.tables.p[i].privacy, PRIVACY_PRIVATE);
    assert_int_equal(again.tables.p[0].degrees.n, n_degrees);
    assert_int_equal(n_degrees, 3);
}

static void sqlite_bad_cell(void **state)
{
    struct fix *f = *state;
    make_db(f, "CREATE TABLE t(a INT); INSERT INTO t VALUES (1), ('x');");
    assert_int_equal(open_db(f), OK);
    assert_string_equal(dump(f, 0), "1;-");
}

static void sqlite_null_key(void **state)
{
    struct fix *f = *state;
    make_db(f, "CREATE TABLE t(a TEXT PRIMARY KEY);"
               "INSERT INTO t VALUES (NULL), ('x'), (NULL), (x'41');");
    assert_int_equal(open_db(f), OK);
    assert_string_equal(dump(f, 0), "'x'");
}

/* One snapshot from the open on, while another connection writes. */
static void sqlite_snapshot(void **state)
{
    struct fix *f = *state;
    make_db(f, "PRAGMA journal_mode = WAL; CREATE TABLE t(a INT);"
               "INSERT INTO t VALUES (1);");
    assert_int_equal(open_db(f), OK);
    make_db(f, "INSERT INTO t VALUES (2);");
    assert_int_equal(source_load(f->src, NULL, f->st, NULL, &f->err), OK);
    assert_string_equal(dump(f, 0), "1");
    shut(f);
    assert_int_equal(open_db(f), OK);
    assert_string_equal(dump(f, 0), "1;2");
}

static void not_a_database(void **state)
{
    struct fix *f = *state;
    write_file(f, "x.db", "this is no database, by far, is it? no it is not",
               48);
    assert_int_equal(open_db(f), E_SOURCE);
    struct source_spec s = {.db = STR("no-such.db")};
    assert_int_equal(source_open(&f->mem, &s, &f->schema, &f->src, &f->err),
                     E_SOURCE);
}

/* Every allocation may fail; nothing leaks, nothing is taken for good. */
static void allocation_failures(void **state)
{
    struct fix *f = *state;
    const char *text = "1,x\n007,2.5\n,\"q\"\"\"\n7,abc\n";
    write_file(f, "t.txt", text, strlen(text));
    bool done = false;
    for (long n = 0; !done; n++) {
        shut(f);
        arena_fini(&f->arena);
        schema_init(&f->schema, &f->arena);
        assert_int_equal(atomic_load(&f->mem.used), 0);
        atomic_store(&f->mem.fail_after, n);
        enum status s = open_table(f, "e(a,b)");
        atomic_store(&f->mem.fail_after, -1);
        done = s == OK;
        assert_true(s == OK || s == E_NOMEM);
        assert_true(n < 10000);
    }
    assert_string_equal(dump(f, 0), "1|'x';7|2.5;-|'q\"';7|'abc'");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(tabs),
        T(commas_and_crlf),
        T(blanks),
        T(blanks_by_themselves),
        T(quotes),
        T(unicode_and_mark),
        T(header_by_names),
        T(header_without_list),
        T(decimals),
        T(odd_integers),
        T(mixed_is_row_local),
        T(nulls),
        T(malformed),
        T(usage_errors),
        T(declared_types),
        T(declared_not_null),
        T(missing_column),
        T(long_records),
        T(many_rows),
        T(windows_that_differ),
        T(only_wanted_columns),
        T(narrow_numbers),
        T(folder),
        T(cancelled),
        T(memory_limit),
        T(sqlite_catalogue),
        T(policy_reads_back),
        T(sqlite_bad_cell),
        T(sqlite_null_key),
        T(sqlite_snapshot),
        T(not_a_database),
        T(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
