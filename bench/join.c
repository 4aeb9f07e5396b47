/*
 * The join engine on a graph: the count and every T_F of patterns, timed.
 *
 *     bench-join [--threads N] [--repeat N] [--each] DATA [RULE ...]
 *
 * DATA is a delimited file of two columns, read as table E, or a database as
 * dpcount's --db takes it (a folder, a SQLite file). Without rules
 * the four patterns of Dong and Yi are taken. For each rule: the time to open
 * (encode, sort), of the count alone, and of the count with every T_F as the
 * residual sensitivity asks for them; with --each also each T_F alone. Times
 * are medians, in milliseconds; a JSON document is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "join/join.h"
#include "source/source.h"
#include "base/open_count.h"

static const char *const patterns[] = {
    "Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, a != c, b != c.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), a != b, a != c, a != d, "
    "b != c, b != d, c != d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), a != b, a != c, "
    "a != d, b != c, b != d, c != d.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), a != b, "
    "a != c, a != d, b != c, b != d, c != d.",
};

enum { MOST_REPEATS = 99 };

struct bench {
    unsigned threads, repeat;
    bool each;
    struct mem mem;
    struct arena arena;
    struct json out;
    struct sb text;
    struct err err;
};

static void die(struct bench *b, const char *what)
{
    fprintf(stderr, "bench-join: %s: %s\n", what, b->err.message);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct times {
    double wall[MOST_REPEATS], cpu[MOST_REPEATS];
    double own[MOST_REPEATS]; /* of the thread that asks; 0: not taken */
    unsigned n;
};

static void put_times(struct bench *b, const char *name, struct times *t)
{
    char key[64];
    qsort(t->wall, t->n, sizeof(double), cmp_double);
    qsort(t->cpu, t->n, sizeof(double), cmp_double);
    qsort(t->own, t->n, sizeof(double), cmp_double);
    snprintf(key, sizeof key, "%s_ms", name);
    json_key(&b->out, key);
    json_double(&b->out, t->wall[t->n / 2]);
    snprintf(key, sizeof key, "%s_cpu_ms", name);
    json_key(&b->out, key);
    json_double(&b->out, t->cpu[t->n / 2]);
    snprintf(key, sizeof key, "%s_own_cpu_ms", name);
    json_key(&b->out, key);
    json_double(&b->out, t->own[t->n / 2]);
}

/* The boundary of the kept atoms f. */
static vset boundary_of(const struct cq *q, aset f)
{
    aset rest = aset_first_n(q->n_atoms) & ~f;
    return cq_vars_of(q, f) & cq_vars_of(q, rest);
}

static void one_t(struct bench *b, struct join *j, const struct cq *q, aset f,
                  u128 *out)
{
    if (join_max(j, f, boundary_of(q, f), cq_free(q) & cq_vars_of(q, f), out,
                 &b->err) != OK)
        die(b, "join_max");
}

enum ask { ASK_COUNT, ASK_ONE };

static u128 ask(struct bench *b, struct join *j, const struct cq *q,
                enum ask what, aset f)
{
    u128 v = 0;
    struct secret_count n;
    if (what == ASK_ONE) {
        one_t(b, j, q, f, &v);
        return v;
    }
    if (join_count(j, &n, &b->err) != OK)
        die(b, "join_count");
    return secret_count_open(&n);
}

/* One request with nothing remembered but the indexes. */
static u128 measure(struct bench *b, struct join *j, const struct cq *q,
                    enum ask what, aset f, const char *name)
{
    struct times t = {.n = 0};
    u128 v = ask(b, j, q, what, f); /* builds the indexes */
    for (unsigned i = 0; i < b->repeat; i++) {
        join_forget(j);
        double w = now(CLOCK_MONOTONIC), c = now(CLOCK_PROCESS_CPUTIME_ID);
        double own = now(CLOCK_THREAD_CPUTIME_ID);
        v = ask(b, j, q, what, f);
        t.own[t.n] = now(CLOCK_THREAD_CPUTIME_ID) - own;
        t.wall[t.n] = now(CLOCK_MONOTONIC) - w;
        t.cpu[t.n++] = now(CLOCK_PROCESS_CPUTIME_ID) - c;
    }
    put_times(b, name, &t);
    return v;
}

/* A new engine, then the count and every T_F; the engine of the last. */
static struct join *measure_all(struct bench *b, const struct cq *q,
                                const struct store *st)
{
    struct times open = {.n = 0}, all = {.n = 0};
    struct join_options opt = {.threads = b->threads};
    struct join *j = NULL;
    aset atoms = aset_first_n(q->n_atoms);
    for (unsigned i = 0; i < b->repeat; i++) {
        u128 v;
        join_close(j);
        double w = now(CLOCK_MONOTONIC), c = now(CLOCK_PROCESS_CPUTIME_ID);
        if (join_open(&b->mem, q, st, &opt, &j, &b->err) != OK)
            die(b, "join_open");
        open.wall[open.n] = now(CLOCK_MONOTONIC) - w;
        open.cpu[open.n++] = now(CLOCK_PROCESS_CPUTIME_ID) - c;
        w = now(CLOCK_MONOTONIC);
        c = now(CLOCK_PROCESS_CPUTIME_ID);
        ask(b, j, q, ASK_COUNT, 0);
        for (aset e = 1; e <= atoms; e++)
            one_t(b, j, q, atoms & ~e, &v);
        all.wall[all.n] = now(CLOCK_MONOTONIC) - w;
        all.cpu[all.n++] = now(CLOCK_PROCESS_CPUTIME_ID) - c;
    }
    put_times(b, "open", &open);
    put_times(b, "all", &all);
    return j;
}

static void each_residual(struct bench *b, struct join *j, const struct cq *q)
{
    aset all = aset_first_n(q->n_atoms);
    json_key(&b->out, "residuals");
    json_begin(&b->out, '[');
    for (aset f = 1; f < all; f++) {
        char kept[MAX_ATOMS * 3 + 1];
        size_t n = 0;
        ASET_EACH (i, f)
            n += (size_t)snprintf(kept + n, sizeof kept - n, "%s%u",
                                  n ? " " : "", i + 1);
        json_begin(&b->out, '{');
        json_key(&b->out, "kept");
        json_cstr(&b->out, kept);
        u128 v = measure(b, j, q, ASK_ONE, f, "time");
        json_key(&b->out, "t");
        json_u128(&b->out, v);
        json_end(&b->out, '}');
    }
    json_end(&b->out, ']');
}

static void one_rule(struct bench *b, const char *file, const char *rule)
{
    struct schema schema;
    struct source *src = NULL;
    struct store *st = NULL;
    struct cq *q = NULL;
    struct str table = str_printf(&b->arena, "E(src,dst)=%s", file);
    struct source_spec spec = {.tables = &table, .n_tables = 1};
    struct stat info;
    size_t name = strlen(file);
    if ((stat(file, &info) == 0 && S_ISDIR(info.st_mode)) ||
        (name > 3 && !strcmp(file + name - 3, ".db"))) {
        spec.db = str_of(file);
        spec.n_tables = 0;
    }
    schema_init(&schema, &b->arena);
    if (source_open(&b->mem, &spec, &schema, &src, &b->err) != OK ||
        cq_read(&b->arena, &schema, str_of(rule), &q, &b->err) != OK ||
        store_new(&b->mem, &schema, &st, &b->err) != OK ||
        source_load(src, q, st, NULL, &b->err) != OK)
        die(b, file);
    json_begin(&b->out, '{');
    json_key(&b->out, "rule");
    json_cstr(&b->out, rule);
    json_key(&b->out, "rows");
    size_t rows = 0;
    for (size_t i = 0; i < st->n_tables; i++)
        rows += st->tables[i].loaded ? st->tables[i].n_rows : 0;
    json_u128(&b->out, rows);
    struct join *j = measure_all(b, q, st);
    u128 n = measure(b, j, q, ASK_COUNT, 0, "count");
    json_key(&b->out, "count");
    json_u128(&b->out, n);
    if (b->each)
        each_residual(b, j, q);
    join_close(j);
    json_end(&b->out, '}');
    store_free(st);
    source_close(src);
}

int main(int argc, char **argv)
{
    struct bench b = {.threads = 1, .repeat = 5};
    const char *file = NULL, *rules[64];
    size_t n = 0;
    mem_init(&b.mem, 0);
    arena_init(&b.arena, &b.mem);
    sb_init(&b.text, &b.arena);
    json_init(&b.out, &b.text);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            b.threads = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--repeat") && i + 1 < argc)
            b.repeat = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--each"))
            b.each = true;
        else if (!file)
            file = argv[i];
        else if (n < 64)
            rules[n++] = argv[i];
    }
    if (!file || !b.repeat || b.repeat > MOST_REPEATS) {
        fprintf(stderr, "usage: bench-join [--threads N] [--repeat N] "
                        "[--each] DATA [RULE ...]\n");
        return 2;
    }
    for (size_t i = 0; !n && i < 4; i++)
        rules[i] = patterns[i];
    json_begin(&b.out, '[');
    for (size_t i = 0; i < (n ? n : 4); i++)
        one_rule(&b, file, rules[i]);
    json_end(&b.out, ']');
    printf("%s\n", b.text.p);
    fprintf(stderr, "peak %zu MB\n", atomic_load(&b.mem.peak) >> 20);
    arena_fini(&b.arena);
    return 0;
}
