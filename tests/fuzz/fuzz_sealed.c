/*
 * Sealed copies from anywhere (the file of seal --out): opening and loading
 * never crash or leak, and every error has a message.
 *
 * An input that starts with '=' is lines of text, put into the catalogue and
 * the cells of a sound copy; any other is the file itself.
 */
#include <sqlite3.h>
#include <stdint.h>

#include "fuzz/read_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char sound[1 << 17];
static size_t n_sound;

/* A copy of two small tables, with every kind of cell. */
static void write_sound(struct mem *m)
{
    struct arena a;
    struct schema s;
    struct source *src = NULL;
    struct source_copy *copy = NULL;
    struct store *st = NULL;
    struct err err;
    char file[96];
    snprintf(file, sizeof file, "%s.csv", path);
    FILE *f = fopen(file, "w");
    must(f && fputs("a,b,c\n1,x,2.5\n2,,\n-3,'y',1e9\n", f) >= 0 && !fclose(f));
    char spec[128];
    snprintf(spec, sizeof spec, "t(a,b,c)=%s", file);
    struct str one = str_of(spec);
    struct source_spec sp = {.tables = &one, .n_tables = 1};
    arena_init(&a, m);
    schema_init(&s, &a);
    must(source_open(m, &sp, &s, &src, &err) == OK);
    must(store_new(m, &s, &st, &err) == OK);
    must(source_copy_begin(src, path, STR("v"), &copy, &err) == OK);
    must(source_load_whole(src, 0, st, NULL, &err) == OK);
    must(source_copy_table(copy, 0, &st->tables[0], &err) == OK);
    must(source_copy_end(copy, &err) == OK);
    store_free(st);
    source_close(src);
    arena_fini(&a);
    unlink(file);
}

static void prepare(void)
{
    struct mem m;
    make_folder("copy.db");
    mem_init(&m, 0);
    write_sound(&m);
    FILE *f = fopen(path, "rb");
    must(f && (n_sound = fread(sound, 1, sizeof sound, f)) && !fclose(f));
}

static struct str line(struct str *rest)
{
    const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct str out = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
    rest->p += out.n + (end != NULL);
    rest->n -= out.n + (end != NULL);
    return out;
}

/* A line that starts with # is a number, one that starts with % bytes. */
static void bind(sqlite3_stmt *st, int i, struct str s)
{
    char digits[32] = "";
    if (s.n && s.p[0] == '#') {
        memcpy(digits, s.p + 1, s.n - 1 < 31 ? s.n - 1 : 31);
        sqlite3_bind_int64(st, i, atoll(digits));
    } else if (s.n && s.p[0] == '%') {
        sqlite3_bind_blob(st, i, s.p + 1, (int)s.n - 1, SQLITE_TRANSIENT);
    } else {
        sqlite3_bind_text(st, i, s.p, (int)s.n, SQLITE_TRANSIENT);
    }
}

static void put_lines(struct str text)
{
    static const char *const sql[] = {
        "UPDATE dpcount_columns SET k = ?1, name = ?2, type = ?3, flags = ?4"
        " WHERE k = 1",
        "INSERT INTO dpcount_keys VALUES(?1, ?2, ?3)",
        "UPDATE t0 SET c0 = ?1, c1 = ?2, c2 = ?3 WHERE row = 2",
        "INSERT INTO dpcount_tables VALUES(?1, ?2, ?3)",
        "UPDATE dpcount_seal SET version = ?1",
        "INSERT INTO dpcount_columns VALUES(?1, ?2, ?3, ?4, ?5)"};
    sqlite3 *db = NULL;
    put_file(sound, n_sound);
    must(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF",
                 NULL, NULL, NULL);
    for (int k = 0; k < 6 && text.n; k++) {
        sqlite3_stmt *st;
        must(sqlite3_prepare_v2(db, sql[k], -1, &st, NULL) == SQLITE_OK);
        for (int i = 1; i <= sqlite3_bind_parameter_count(st); i++)
            bind(st, i, line(&text));
        sqlite3_step(st);
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    if (!folder[0])
        prepare();
    if (size && text.p[0] == '=')
        put_lines((struct str){text.p + 1, text.n - 1});
    else
        put_file(data, size);
    struct source_spec sp = {.db = str_of(path)};
    read_source(&sp, 64 << 20);
    return 0;
}
