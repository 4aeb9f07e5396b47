/*
 * Golden files of the SQL front end. Each FILE.sql in golden/sql holds queries
 * between lines of dashes; FILE.expect holds each query and what became of
 * it: the rules of its counts, or the message. The tables are in schema.ddl.
 *
 *     test_sql            compares
 *     test_sql --bless    writes the .expect files anew, for review with git
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/sql.h"

static struct mem mem;
static struct arena arena;
static struct schema schema;

static struct str read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct sb b;
    char buf[4096];
    size_t n;
    sb_init(&b, &arena);
    if (!f)
        return (struct str){0};
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        sb_add(&b, buf, n);
    fclose(f);
    return b.n ? sb_view(&b) : STR("");
}

static const struct str params[] = {{"5", 1}, {"F", 1}, {NULL, 0}};

static void show_error(struct sb *b, const struct err *e)
{
    sb_printf(b, "  %s: %s\n", status_code(e->status), e->message);
    if (e->position >= 0)
        sb_printf(b, "  at %ld\n", e->position);
    if (e->detail[0])
        sb_printf(b, "  detail: %s\n", e->detail);
    if (e->hint[0])
        sb_printf(b, "  hint: %s\n", e->hint);
}

static void print_statement(struct sb *b, const struct sql_statement *s)
{
    if (s->epsilon.n || s->delta.n)
        sb_printf(b, "  epsilon %.*s, delta %.*s\n", PSTR(s->epsilon),
                  PSTR(s->delta));
    for (size_t i = 0; i < s->n_group; i++)
        sb_printf(b, "  group %.*s\n", PSTR(s->group_names[i]));
    for (size_t i = 0; i < s->n_counts; i++) {
        sb_printf(b, "  %.*s: ", PSTR(s->counts[i].label));
        if (s->counts[i].tree)
            tree_print(b, s->counts[i].tree);
        else
            cq_print(b, s->counts[i].q);
        sb_char(b, '\n');
        const char *bad = cq_check(s->counts[i].q);
        if (bad)
            sb_printf(b, "  DEFECT %s\n", bad);
        /* what is printed reads back as the same query */
        struct cq *again;
        struct err err;
        struct str text = cq_text(&arena, s->counts[i].q);
        if (cq_read(&arena, &schema, text, &again, &err) != OK)
            sb_printf(b, "  does not read back: %s\n", err.message);
        else if (!str_eq(cq_text(&arena, again), text))
            sb_printf(b, "  reads back as %.*s\n",
                      PSTR(cq_text(&arena, again)));
    }
}

static void run_query(struct sb *b, struct str query)
{
    struct sql_statement s;
    struct err err;
    struct sql_options opt = {.params = params,
                              .n_params = sizeof params / sizeof *params,
                              .today = 20000};
    sb_str(b, query);
    sb_char(b, '\n');
    if (sql_read(&arena, &schema, query, &opt, &s, &err) == OK)
        print_statement(b, &s);
    else
        show_error(b, &err);
    sb_char(b, '\n');
}

static struct str run_file(const char *path)
{
    struct str text = read_file(path);
    struct sb b;
    sb_init(&b, &arena);
    while (text.n) {
        const char *end = memmem(text.p, text.n, "\n----", 5);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        struct str q = str_trim((struct str){text.p, n});
        run_query(&b, q);
        if (!end)
            break;
        const char *next = memchr(end + 1, '\n', text.n - n - 1);
        if (!next)
            break;
        text.n -= (size_t)(next + 1 - text.p);
        text.p = next + 1;
    }
    return sb_view(&b);
}

static void begin(void)
{
    struct err err;
    mem_init(&mem, 0);
    arena_init(&arena, &mem);
    schema_init(&schema, &arena);
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/golden/sql/schema.ddl",
             getenv("DPC_SOURCE"));
    struct str ddl = read_file(path);
    assert_non_null(ddl.p);
    if (sql_read_ddl(&schema, ddl, path, &err) != OK)
        fail_msg("%s:%ld:%ld: %s", err.file, err.line, err.column, err.message);
}

static void each_file(bool bless)
{
    glob_t g;
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s/tests/golden/sql/*.sql",
             getenv("DPC_SOURCE"));
    assert_int_equal(glob(pattern, 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        char expect[4096];
        size_t n = strlen(g.gl_pathv[i]) - 4;
        snprintf(expect, sizeof expect, "%.*s.expect", (int)n, g.gl_pathv[i]);
        struct str got = run_file(g.gl_pathv[i]);
        if (bless) {
            FILE *f = fopen(expect, "wb");
            assert_non_null(f);
            assert_int_equal(fwrite(got.p, 1, got.n, f), got.n);
            fclose(f);
        } else if (!str_eq(got, read_file(expect))) {
            fail_msg("%s differs; got:\n%.*s", expect, PSTR(got));
        }
    }
    globfree(&g);
}

static void golden_files(void **state)
{
    (void)state;
    begin();
    each_file(false);
    arena_fini(&arena);
}

static void doc_path(char *path, size_t n)
{
    snprintf(path, n, "%s/%s", getenv("DPC_SOURCE"), "docs/sql.md");
}

/* docs/sql.md is what the program prints. */
static void document(void **state)
{
    (void)state;
    char path[4096];
    struct sb b;
    begin();
    doc_path(path, sizeof path);
    sb_init(&b, &arena);
    sql_print_doc(&b);
    assert_true(str_eq(sb_view(&b), read_file(path)));
    arena_fini(&arena);
}

static int bless(void)
{
    char path[4096];
    struct sb b;
    begin();
    each_file(true);
    doc_path(path, sizeof path);
    sb_init(&b, &arena);
    sql_print_doc(&b);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b.p, 1, b.n, f) != b.n)
        return 1;
    return fclose(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files),
        cmocka_unit_test(document),
    };
    if (argc > 1 && strcmp(argv[1], "--bless") == 0)
        return bless();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
