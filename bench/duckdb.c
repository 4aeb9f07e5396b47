/*
 * Transfer from DuckDB: the rows of a table through our reader into a store,
 * against a bare loop over DuckDB's chunks that looks at every cell of the same
 * columns and keeps nothing. CPU seconds of one thread, best of five.
 *
 *     bench-duckdb [ROWS]        DPCOUNT_LIBDUCKDB names the library
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "source/duckdb/duckdb_lib.h"
#include "source/source.h"

static const struct shape {
    const char *name, *make;
} shapes[] = {
    {"integers", "(i * 7919 % 4000003)::INTEGER AS a, (i * 104729 % "
                 "4000037)::INTEGER AS b"},
    {"long integers",
     "(i * 7919 % 4000003)::BIGINT AS a, (i * 104729)::BIGINT AS b"},
    {"integers with NULLs", "CASE WHEN i % 5 <> 0 THEN (i * 7919 % "
                            "4000003)::INTEGER END AS a, i::INTEGER AS b"},
    {"decimals",
     "(i % 4000003)::INTEGER AS a, (i % 99991 / 100)::DECIMAL(12, 2) AS b"},
    {"dates", "(i % 4000003)::INTEGER AS a, DATE '1990-01-01' + (i % "
              "9999)::INTEGER AS b"},
    {"few texts",
     "(i % 4000003)::INTEGER AS a, 'name ' || (i * 7919 % 5000) AS b"},
    {"distinct texts",
     "(i % 4000003)::INTEGER AS a, 'user-' || i || '@example' AS b"},
};

static double cpu(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench-duckdb: %s\n", what);
    exit(1);
}

/* --- the bare loop -------------------------------------------------------- */

struct bare {
    const struct duck_lib *lib;
    duck_handle db, con;
};

static void open_bare(struct bare *b, const char *path)
{
    struct err err;
    duck_handle config = NULL;
    if (duck_lib_open(&b->lib, &err) != OK)
        fail(err.message);
    b->lib->create_config(&config);
    b->lib->set_config(config, "threads", "1");
    if (b->lib->open_ext(path, &b->db, config, NULL) ||
        b->lib->connect(b->db, &b->con))
        fail("no database");
    b->lib->destroy_config(&config);
}

static void close_bare(struct bare *b)
{
    b->lib->disconnect(&b->con);
    b->lib->close(&b->db);
}

static void begin(struct bare *b, const char *sql, struct duck_result *res)
{
    duck_handle st = NULL;
    if (b->lib->prepare(b->con, sql, &st) ||
        b->lib->execute_prepared_streaming(st, res))
        fail(sql);
    b->lib->destroy_prepare(&st);
}

static void run(const char *path, const char *sql)
{
    struct bare b;
    struct duck_result res;
    open_bare(&b, path);
    begin(&b, sql, &res);
    for (duck_handle c; (c = b.lib->fetch_chunk(res));)
        b.lib->destroy_data_chunk(&c);
    b.lib->destroy_result(&res);
    close_bare(&b);
}

static uint64_t sum_vector(const struct bare *b, duck_handle v, int type,
                           uint64_t n)
{
    const uint64_t *valid = b->lib->vector_get_validity(v);
    const void *data = b->lib->vector_get_data(v);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (valid && !(valid[i / 64] >> i % 64 & 1))
            continue;
        if (type == DUCK_VARCHAR) {
            const union duck_text *t = (const union duck_text *)data + i;
            const char *p = t->n <= 12 ? t->inside : t->outside;
            for (uint32_t k = 0; k < t->n; k++)
                sum += (unsigned char)p[k];
        } else if (type == DUCK_BIGINT || type == DUCK_DECIMAL) {
            sum += ((const uint64_t *)data)[i];
        } else {
            sum += ((const uint32_t *)data)[i];
        }
    }
    return sum;
}

static double bare(const char *path, uint64_t *sum)
{
    struct bare b;
    struct duck_result res;
    int type[2];
    open_bare(&b, path);
    double start = cpu();
    begin(&b, "SELECT a, b FROM t", &res);
    for (uint64_t i = 0; i < 2; i++) {
        duck_handle t = b.lib->column_logical_type(&res, i);
        type[i] = b.lib->get_type_id(t);
        b.lib->destroy_logical_type(&t);
    }
    for (duck_handle c; (c = b.lib->fetch_chunk(res));) {
        uint64_t n = b.lib->data_chunk_get_size(c);
        for (uint64_t i = 0; i < 2; i++)
            *sum +=
                sum_vector(&b, b.lib->data_chunk_get_vector(c, i), type[i], n);
        b.lib->destroy_data_chunk(&c);
    }
    double took = cpu() - start;
    b.lib->destroy_result(&res);
    close_bare(&b);
    return took;
}

/* --- ours ----------------------------------------------------------------- */

static double load(const char *path, size_t *rows)
{
    struct mem m;
    struct arena a;
    struct schema sc;
    struct source *src;
    struct store *st;
    struct cq *q;
    struct err err;
    char name[4200];
    mem_init(&m, 0);
    arena_init(&a, &m);
    schema_init(&sc, &a);
    snprintf(name, sizeof name, "duckdb:%s", path);
    struct source_spec spec = {.db = str_of(name)};
    if (source_open(&m, &spec, &sc, &src, &err) != OK ||
        cq_read(&a, &sc, STR("Q(x, y) :- t(x, y)."), &q, &err) != OK ||
        store_new(&m, &sc, &st, &err) != OK)
        fail(err.message);
    double start = cpu();
    if (source_load(src, q, st, NULL, &err) != OK)
        fail(err.message);
    double took = cpu() - start;
    *rows = st->tables[0].n_rows;
    store_free(st);
    source_close(src);
    arena_fini(&a);
    return took;
}

static void compare(const struct shape *s, const char *path, long n)
{
    double least = 1e9, ours = 1e9, t;
    uint64_t sum = 0;
    size_t rows = 0;
    char sql[400];
    unlink(path);
    snprintf(sql, sizeof sql,
             "CREATE TABLE t AS SELECT %s FROM range(%ld) r(i)", s->make, n);
    run(path, sql);
    for (int i = 0; i < 5; i++) {
        least = (t = bare(path, &sum)) < least ? t : least;
        ours = (t = load(path, &rows)) < ours ? t : ours;
    }
    unlink(path);
    printf("| %-20s | %9zu | %6.3f | %6.3f | %4.0f %% |\n", s->name, rows,
           least, ours, 100 * least / ours);
    fflush(stdout);
    if (!sum || rows != (size_t)n)
        fail("rows are missing");
}

int main(int argc, char **argv)
{
    char folder[] = "bench-duckdb-XXXXXX", path[64];
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 5000000;
    if (!mkdtemp(folder))
        fail("no folder");
    snprintf(path, sizeof path, "%s/t.db", folder);
    puts("| columns              |      rows | bare s | ours s | speed  |");
    puts("|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        compare(&shapes[i], path, n);
    rmdir(folder);
    return 0;
}
