/*
 * Loading speed: writes a delimited file of about the given size for each of
 * several shapes and loads it, best of three, in CPU seconds of one thread.
 *
 *     bench-load [MEGABYTES [PART-OF-A-NAME]]
 *
 * Then the same rows in SQLite tables, against a bare loop of sqlite3_step
 * that reads the same columns of the same table and keeps nothing.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "source/source.h"

static double cpu(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

struct shape {
    const char *name, *spec, *query;
};

static const struct shape shapes[] = {
    {"graph, tabs", "edge(src,dst)", "Q(x, y) :- edge(x, y)."},
    {"graph, blanks", "edge(src,dst)", "Q(x, y) :- edge(x, y)."},
    {"graph, CRLF", "edge(src,dst)", "Q(x, y) :- edge(x, y)."},
    {"wide, 2 of 8 columns", "t(a,b,c,d,e,f,g,h)",
     "Q(x, y) :- t(x, _, _, _, _, _, _, y)."},
    {"quoted names", "t(a,b)", "Q(x, y) :- t(x, y)."},
    {"decimals", "t(a,b)", "Q(x, y) :- t(x, y)."},
    {"distinct texts", "t(a,b)", "Q(x, y) :- t(x, y)."},
};

static int write_row(FILE *f, size_t shape, uint64_t *seed)
{
    unsigned long a = next(seed) % 4000000, b = next(seed) % 4000000;
    switch (shape) {
    case 0:
        return fprintf(f, "%lu\t%lu\n", a, b);
    case 1:
        return fprintf(f, "%lu %lu\n", a, b);
    case 2:
        return fprintf(f, "%lu,%lu\r\n", a, b);
    case 3:
        return fprintf(f, "%lu,some text,%lu,x,2020-01-01,%lu.50,yes,%lu\n", a,
                       b, a, b);
    case 4:
        return fprintf(f, "%lu,\"name, %lu\"\n", a, b % 5000);
    case 5:
        return fprintf(f, "%lu,%lu.%02lu\n", a, b % 1000, a % 100);
    default:
        return fprintf(f, "%lu,user-%lu@example\n", a, b);
    }
}

static void fail(const struct err *e)
{
    fprintf(stderr, "bench-load: %s\n", e->message);
    exit(1);
}

/* CPU seconds, rows and peak memory of one load. */
static double load(const char *path, const struct shape *s, bool sqlite,
                   size_t *rows, size_t *peak)
{
    struct mem m;
    struct arena a;
    struct schema sc;
    struct source *src;
    struct store *st;
    struct cq *q;
    struct err err;
    char text[512];
    mem_init(&m, 0);
    arena_init(&a, &m);
    schema_init(&sc, &a);
    snprintf(text, sizeof text, "%s=%s", s->spec, path);
    struct str one = str_of(text);
    struct source_spec spec = {.tables = &one, .n_tables = 1};
    if (sqlite)
        spec = (struct source_spec){.db = str_of(path)};
    double start = cpu();
    if (source_open(&m, &spec, &sc, &src, &err) != OK ||
        cq_read(&a, &sc, str_of(s->query), &q, &err) != OK ||
        store_new(&m, &sc, &st, &err) != OK ||
        source_load(src, q, st, NULL, &err) != OK)
        fail(&err);
    double took = cpu() - start;
    *rows = st->tables[0].n_rows;
    *peak = atomic_load(&m.peak);
    store_free(st);
    source_close(src);
    arena_fini(&a);
    return took;
}

/* --- SQLite
 * -----------------------------------------------------------------*/

static const struct shape kept[] = {
    {"integers", "a INTEGER, b INTEGER", "Q(x, y) :- t(x, y)."},
    {"decimals", "a INTEGER, b REAL", "Q(x, y) :- t(x, y)."},
    {"few texts", "a INTEGER, b TEXT", "Q(x, y) :- t(x, y)."},
    {"distinct texts", "a INTEGER, b TEXT", "Q(x, y) :- t(x, y)."},
};

static void sql(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "bench-load: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, text, -1, &st, NULL) != SQLITE_OK) {
        fprintf(stderr, "bench-load: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
    return st;
}

static void fill_table(sqlite3 *db, size_t shape, size_t rows)
{
    uint64_t seed = 88172645463325252u;
    char text[128];
    snprintf(text, sizeof text, "CREATE TABLE t (%s); BEGIN", kept[shape].spec);
    sql(db, text);
    sqlite3_stmt *st = prepare(db, "INSERT INTO t VALUES (?, ?)");
    for (size_t i = 0; i < rows; i++) {
        int64_t a = (int64_t)(next(&seed) % 4000000);
        int64_t b = (int64_t)(next(&seed) % 4000000);
        sqlite3_bind_int64(st, 1, a);
        snprintf(text, sizeof text,
                 shape == 2 ? "name %ld" : "user-%ld@example",
                 (long)(shape == 2 ? b % 5000 : b));
        if (shape == 0)
            sqlite3_bind_int64(st, 2, b);
        else if (shape == 1)
            sqlite3_bind_double(st, 2, (double)(b % 100000) / 100);
        else
            sqlite3_bind_text(st, 2, text, -1, SQLITE_TRANSIENT);
        (void)sqlite3_step(st);
        sqlite3_reset(st);
    }
    sqlite3_finalize(st);
    sql(db, "COMMIT");
}

/* CPU seconds of a scan that looks at every cell. */
static double bare_scan(const char *path)
{
    sqlite3 *db;
    double start = cpu();
    int64_t sum = 0;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        exit(1);
    sqlite3_stmt *st = prepare(db, "SELECT a, b FROM t");
    while (sqlite3_step(st) == SQLITE_ROW)
        for (int c = 0; c < 2; c++)
            switch (sqlite3_column_type(st, c)) {
            case SQLITE_INTEGER:
                sum += sqlite3_column_int64(st, c);
                break;
            case SQLITE_FLOAT:
                sum += sqlite3_column_double(st, c) > 0;
                break;
            default:
                sum += *sqlite3_column_text(st, c);
                sum += sqlite3_column_bytes(st, c);
            }
    sqlite3_finalize(st);
    sqlite3_close(db);
    double took = cpu() - start;
    return sum ? took : took + 1e-9; /* the sum is used */
}

static void run_sqlite(size_t shape, size_t rows)
{
    char path[] = "bench-load-XXXXXX";
    int fd = mkstemp(path);
    sqlite3 *db;
    double bare = 1e9, ours = 1e9;
    size_t n = 0, peak = 0;
    if (fd < 0 || sqlite3_open(path, &db) != SQLITE_OK) {
        perror(path);
        exit(1);
    }
    close(fd);
    fill_table(db, shape, rows);
    sqlite3_close(db);
    for (int i = 0; i < 3; i++) {
        double t = bare_scan(path);
        bare = t < bare ? t : bare;
        t = load(path, &kept[shape], true, &n, &peak);
        ours = t < ours ? t : ours;
    }
    unlink(path);
    printf("| %-22s | %9zu | %6.3f | %6.3f | %5.2f | %6.1f |\n",
           kept[shape].name, n, bare, ours, ours / bare, (double)peak / 1e6);
    fflush(stdout);
}

static void run(size_t shape, double megabytes)
{
    char path[] = "bench-load-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    uint64_t seed = 88172645463325252u;
    size_t rows = 0, peak = 0;
    if (!f) {
        perror(path);
        exit(1);
    }
    double size = 0, best = 1e9;
    while (size < megabytes * 1e6)
        size += write_row(f, shape, &seed);
    fclose(f);
    for (int i = 0; i < 3; i++) {
        double t = load(path, &shapes[shape], false, &rows, &peak);
        best = t < best ? t : best;
    }
    unlink(path);
    printf("| %-22s | %9zu | %6.1f | %6.3f | %7.0f | %6.1f |\n",
           shapes[shape].name, rows, size / 1e6, best, size / 1e6 / best,
           (double)peak / 1e6);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double megabytes = argc > 1 ? strtod(argv[1], NULL) : 100;
    puts("| file                   |      rows |     MB |  CPU s |    MB/s | "
         "peak MB |");
    puts("|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (argc <= 2 || strstr(shapes[i].name, argv[2]))
            run(i, megabytes);
    puts("\n| SQLite table           |      rows | scan s | load s | ratio | "
         "peak MB |");
    puts("|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (argc <= 2 || strstr(kept[i].name, argv[2]))
            run_sqlite(i, (size_t)(megabytes * 2e4));
    return 0;
}
