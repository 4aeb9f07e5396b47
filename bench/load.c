/*
 * Loading speed: writes a delimited file of about the given size for each of
 * several shapes and loads it, best of three, in CPU seconds of one thread.
 *
 *     bench-load [MEGABYTES [PART-OF-A-NAME]]
 */
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
static double load(const char *path, const struct shape *s, size_t *rows,
                   size_t *peak)
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
        double t = load(path, &shapes[shape], &rows, &peak);
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
    return 0;
}
