/* See cell_rule.h. */
#include "harness/load_rows.h"
#include "harness/cell_rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "source/source.h"
#include "store/builder.h"

enum { MAX_ROWS = 14, MAX_COLS = 4, N_TYPES = 7 };

static const enum type types[N_TYPES] = {T_INT,  T_DEC,  T_REAL,   T_BOOL,
                                         T_DATE, T_TEXT, T_UNKNOWN};

/* The meaning as value_print writes it; NULL: not of that type. In the order
 * of `types`. */
static const struct sample {
    const char *text;
    const char *as[N_TYPES];
} samples[] = {
    {"7", {"7", "7", "real '7'", NULL, NULL, "'7'", "7"}},
    {"1", {"1", "1", "real '1'", "true", NULL, "'1'", "1"}},
    {"-3", {"-3", "-3", "real '-3'", NULL, NULL, "'-3'", "-3"}},
    {"007", {"7", "7", "real '7'", NULL, NULL, "'007'", "7"}},
    {"1.5", {NULL, "1.5", "real '1.5'", NULL, NULL, "'1.5'", "1.5"}},
    {"x", {NULL, NULL, NULL, NULL, NULL, "'x'", "'x'"}},
    {"soon", {NULL, NULL, NULL, NULL, NULL, "'soon'", "'soon'"}},
    {"t", {NULL, NULL, NULL, "true", NULL, "'t'", "'t'"}},
    {"no", {NULL, NULL, NULL, "false", NULL, "'no'", "'no'"}},
    {"2020-02-29",
     {NULL, NULL, NULL, NULL, "date '2020-02-29'", "'2020-02-29'",
      "'2020-02-29'"}},
    {"2021-02-29",
     {NULL, NULL, NULL, NULL, NULL, "'2021-02-29'", "'2021-02-29'"}},
    {"99999999999999999999",
     {NULL, "99999999999999999999", "real '1e+20'", NULL, NULL,
      "'99999999999999999999'", "99999999999999999999"}},
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0], NONE = N_SAMPLES };

struct world {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    unsigned n_cols, n_rows;
    unsigned type[MAX_COLS];           /* index in types */
    unsigned cell[MAX_ROWS][MAX_COLS]; /* index in samples, or NONE: NULL */
    bool wanted[MAX_COLS];
};

static uint64_t pick(uint64_t *s, uint64_t n)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return (*s >> 11) % n;
}

static void make_world(struct world *w, uint64_t *s)
{
    struct err err;
    size_t index;
    mem_init(&w->mem, 0);
    arena_init(&w->arena, &w->mem);
    schema_init(&w->schema, &w->arena);
    w->n_cols = 1 + (unsigned)pick(s, MAX_COLS);
    w->n_rows = (unsigned)pick(s, MAX_ROWS + 1);
    assert_int_equal(
        schema_add_table(&w->schema, STR("t"), w->n_cols, &index, &err), OK);
    struct table *t = &w->schema.tables.p[0];
    t->declared = t->arity_known = true;
    for (unsigned c = 0; c < w->n_cols; c++) {
        static const char *const names[MAX_COLS] = {"a", "b", "c", "d"};
        w->type[c] = (unsigned)pick(s, N_TYPES);
        w->wanted[c] = pick(s, 3) > 0;
        t->cols[c] = (struct column){.name = str_of(names[c]),
                                     .type = types[w->type[c]],
                                     .not_null = pick(s, 3) == 0};
    }
    for (unsigned r = 0; r < w->n_rows; r++)
        for (unsigned c = 0; c < w->n_cols; c++)
            /* a file of one column cannot hold a NULL: empty lines are none */
            w->cell[r][c] = (unsigned)pick(
                s, w->n_cols > 1 ? N_SAMPLES + 1 : (uint64_t)N_SAMPLES);
}

static void end_world(struct world *w)
{
    arena_fini(&w->arena);
    assert_int_equal(atomic_load(&w->mem.used), 0);
}

/* --- what the list says ----------------------------------------------------*/

static const char *meaning(const struct world *w, unsigned r, unsigned c)
{
    unsigned i = w->cell[r][c];
    return i == NONE ? NULL : samples[i].as[w->type[c]];
}

static bool exists(const struct world *w, unsigned r)
{
    for (unsigned c = 0; c < w->n_cols; c++)
        if (w->schema.tables.p[0].cols[c].not_null && !meaning(w, r, c))
            return false;
    return true;
}

/* Rows that exist, one text each, of the wanted columns or of all. */
static size_t expected(const struct world *w, bool all, char out[][400])
{
    size_t n = 0;
    for (unsigned r = 0; r < w->n_rows; r++) {
        if (!exists(w, r))
            continue;
        out[n][0] = 0;
        for (unsigned c = 0; c < w->n_cols; c++) {
            const char *m = meaning(w, r, c);
            if (!all && !w->wanted[c])
                continue;
            strcat(out[n], m ? m : "NULL");
            strcat(out[n], "|");
        }
        n++;
    }
    return n;
}

/* --- what was loaded -------------------------------------------------------*/

static size_t loaded(struct world *w, const struct store *st, char out[][400])
{
    const struct store_table *t = &st->tables[0];
    for (size_t r = 0; r < t->n_rows; r++) {
        out[r][0] = 0;
        for (size_t c = 0; c < t->n_cols; c++) {
            struct sb b;
            if (!t->cols[c].present)
                continue;
            struct value v = column_value(&t->cols[c], r);
            sb_init(&b, &w->arena);
            if (v.is_null)
                sb_cstr(&b, "NULL");
            else
                value_print(&b, &v);
            strcat(out[r], b.p);
            strcat(out[r], "|");
        }
    }
    return t->n_rows;
}

static bool as_expected(struct world *w, const struct store *st, bool all)
{
    static char want[MAX_ROWS + 1][400], got[MAX_ROWS + 1][400];
    size_t n = expected(w, all, want);
    if (n != st->tables[0].n_rows)
        return false;
    loaded(w, st, got);
    for (size_t i = 0; i < n; i++)
        if (strcmp(want[i], got[i]) != 0)
            return false;
    return true;
}

/* --- three ways to load ----------------------------------------------------*/

static struct str text_of(const struct world *w, unsigned r, unsigned c)
{
    unsigned i = w->cell[r][c];
    return i == NONE ? (struct str){0} : str_of(samples[i].text);
}

/* only: just the rows that exist. */
static struct store *load_texts(struct world *w, bool only)
{
    struct store *st;
    struct store_loader *l;
    struct err err;
    assert_int_equal(store_new(&w->mem, &w->schema, &st, &err), OK);
    assert_int_equal(store_load_begin(st, 0, NULL, &l, &err), OK);
    for (unsigned r = 0; r < w->n_rows; r++) {
        struct str vals[MAX_COLS];
        for (unsigned c = 0; c < w->n_cols; c++)
            vals[c] = text_of(w, r, c);
        if (!only || exists(w, r))
            assert_int_equal(store_load_text(l, vals, &err), OK);
    }
    assert_int_equal(store_load_end(l, &err), OK);
    return st;
}

static const char *write_csv(const struct world *w, int *out_fd)
{
    static char spec[80];
    int fd = memfd_create("cells", 0);
    FILE *f = fdopen(dup(fd), "w");
    assert_non_null(f);
    for (unsigned r = 0; r < w->n_rows; r++)
        for (unsigned c = 0; c < w->n_cols; c++) {
            struct str s = text_of(w, r, c);
            fprintf(f, "%.*s%s", PSTR(s), c + 1 < w->n_cols ? "," : "\n");
        }
    fclose(f);
    snprintf(spec, sizeof spec, "t(%.*s)=/proc/self/fd/%d",
             (int)(2 * w->n_cols - 1), "a,b,c,d", fd);
    *out_fd = fd;
    return spec;
}

/* Columns as the query asks; the others only decide whether rows exist. */
static struct cq *question(struct world *w)
{
    struct cq *q = NEW(&w->arena, struct cq);
    q->schema = &w->schema;
    q->n_atoms = 1;
    q->atoms = NEW(&w->arena, struct atom);
    q->atoms[0].n_args = w->n_cols;
    q->atoms[0].args = NEWS(&w->arena, struct term, w->n_cols);
    for (unsigned c = 0; c < w->n_cols; c++)
        q->atoms[0].args[c].kind = w->wanted[c] ? TERM_VAR : TERM_ANY;
    return q;
}

static struct store *load_source(struct world *w, const struct source_spec *sp)
{
    struct source *src;
    struct store *st;
    struct err err = {0};
    if (source_open(&w->mem, sp, &w->schema, &src, &err) != OK)
        fail_msg("%s", err.message);
    assert_int_equal(store_new(&w->mem, &w->schema, &st, &err), OK);
    if (source_load(src, question(w), st, NULL, &err) != OK)
        fail_msg("%s", err.message);
    source_close(src);
    return st;
}

static struct store *load_csv(struct world *w)
{
    int fd;
    struct str spec = str_of(write_csv(w, &fd));
    struct source_spec sp = {.tables = &spec, .n_tables = 1};
    struct store *st = load_source(w, &sp);
    close(fd);
    return st;
}

/* Columns without affinity keep each text as it is; every other NULL that
 * stands for an ill-typed cell is a BLOB. */
static struct store *load_sqlite(struct world *w, const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *st;
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    struct sb b;
    sb_init(&b, &w->arena);
    sb_printf(&b, "CREATE TABLE t(%.*s)", (int)(2 * w->n_cols - 1), "a,b,c,d");
    assert_int_equal(sqlite3_exec(db, b.p, NULL, NULL, NULL), SQLITE_OK);
    sb_init(&b, &w->arena);
    sb_printf(&b, "INSERT INTO t VALUES (%.*s)", (int)(2 * w->n_cols - 1),
              "?,?,?,?");
    assert_int_equal(sqlite3_prepare_v2(db, b.p, -1, &st, NULL), SQLITE_OK);
    for (unsigned r = 0; r < w->n_rows; r++) {
        for (unsigned c = 0; c < w->n_cols; c++) {
            struct str s = text_of(w, r, c);
            int at = (int)c + 1;
            if (s.p && !meaning(w, r, c) && r % 2)
                sqlite3_bind_blob(st, at, s.p, (int)s.n, SQLITE_STATIC);
            else if (s.p)
                sqlite3_bind_text(st, at, s.p, (int)s.n, SQLITE_STATIC);
            else
                sqlite3_bind_null(st, at);
        }
        assert_int_equal(sqlite3_step(st), SQLITE_DONE);
        sqlite3_reset(st);
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    struct source_spec sp = {.db = str_of(path)};
    return load_source(w, &sp);
}

/* --- comparisons -----------------------------------------------------------*/

static bool same_column(const struct store_column *x,
                        const struct store_column *y, size_t n)
{
    if (x->type != y->type || x->n_dict != y->n_dict || !x->i32 != !y->i32 ||
        !x->i64 != !y->i64 || x->n_numeric != y->n_numeric ||
        !x->nulls != !y->nulls)
        return false;
    for (size_t i = 0; i < x->n_dict; i++)
        if (!str_eq(x->dict[i], y->dict[i]))
            return false;
    for (size_t r = 0; r < n; r++) {
        bool null = column_is_null(x, r);
        if (null != column_is_null(y, r))
            return false;
        if (!null && x->code && x->code[r] != y->code[r])
            return false;
    }
    return true;
}

/* As if rows that do not exist had never been there. */
static bool no_trace(struct world *w, const struct store *st)
{
    struct store *other = load_texts(w, true);
    const struct store_table *x = &st->tables[0], *y = &other->tables[0];
    bool same = x->n_rows == y->n_rows;
    for (size_t c = 0; same && c < x->n_cols; c++)
        same = same_column(&x->cols[c], &y->cols[c], x->n_rows);
    store_free(other);
    return same;
}

/* Without its last row the source gives a table that has at most one row
 * less, and the others as they were. */
static bool near(struct world *w, const struct store *st)
{
    static char all[MAX_ROWS + 1][400], less[MAX_ROWS + 1][400];
    size_t n = loaded(w, st, all);
    if (!w->n_rows)
        return true;
    w->n_rows--;
    struct store *other = load_texts(w, false);
    w->n_rows++;
    size_t m = loaded(w, other, less);
    store_free(other);
    bool same = m == n || m + 1 == n;
    for (size_t i = 0; same && i < m; i++)
        same = strcmp(all[i], less[i]) == 0;
    return same;
}

static void tally(const struct store *st, struct cell_rule_tally *out)
{
    const struct store_table *t = &st->tables[0];
    out->dropped += (unsigned)t->n_dropped;
    for (size_t c = 0; c < t->n_cols; c++)
        out->converted += (unsigned)t->cols[c].odd.n_converted;
}

static void compare(struct world *w, const char *path,
                    struct cell_rule_tally *out)
{
    struct store *st = load_texts(w, false);
    tally(st, out);
    out->wrong += !as_expected(w, st, true) || !no_trace(w, st);
    out->far += !near(w, st);
    store_free(st);
    st = load_csv(w);
    out->wrong += !as_expected(w, st, false);
    store_free(st);
    st = load_sqlite(w, path);
    out->wrong += !as_expected(w, st, false);
    store_free(st);
    out->tables += 3;
}

void cell_rule_run(uint64_t seed, unsigned rounds, struct cell_rule_tally *out)
{
    char path[] = "/tmp/dpcount_cells_XXXXXX";
    struct world *w = calloc(1, sizeof *w);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && w);
    close(fd);
    *out = (struct cell_rule_tally){0};
    for (unsigned i = 0; i < rounds; i++) {
        make_world(w, &seed);
        compare(w, path, out);
        end_world(w);
    }
    unlink(path);
    free(w);
}
