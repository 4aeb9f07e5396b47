/*
 * dpcount's join engine as one of the peers: loads once, then answers.
 *
 *     bench-serve DATA RULE ...
 *
 * DATA is a delimited file of two columns, read as table E, or a folder of
 * tables, which may hold their schema.sql. A rule may be a SELECT. Each line of
 * standard input is a request: `count R`, the count of rule R (from 0); `max R
 * MASK`, its T_F with the atoms of MASK kept; `all R`, the count and every T_F.
 * The answer is one line of JSON with the value, CPU and wall time in
 * milliseconds. Nothing but the indexes is remembered between requests, as a
 * database keeps its indexes and not its answers: the first time a request is
 * made, it is made twice, and the second is timed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "join/join.h"
#include "source/source.h"
#include "base/open_count.h"
#include "sql/sql.h"

enum { MOST_RULES = 16 };

struct rule {
    struct schema schema;
    struct cq *q;
    struct source *src;
    struct store *st;
    struct join *j;
    bool counted, all;
    bool asked[1 << 8];
};

struct server {
    struct mem mem;
    struct arena arena;
    struct err err;
    struct rule rules[MOST_RULES];
    size_t n;
};

static void check(struct server *s, enum status st, const char *what)
{
    if (st == OK)
        return;
    fprintf(stderr, "bench-serve: %s: %s\n", what, s->err.message);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

/* DATA/schema.sql, if there is one. */
static void read_schema(struct server *s, const char *data,
                        struct schema *schema)
{
    static char text[1 << 16];
    struct str path = str_printf(&s->arena, "%s/schema.sql", data);
    FILE *f = fopen(path.p, "r");
    if (!f)
        return;
    struct str ddl = {text, fread(text, 1, sizeof text, f)};
    fclose(f);
    check(s, sql_read_ddl(schema, ddl, path.p, &s->err), path.p);
}

static void read_query(struct server *s, struct rule *r, const char *text)
{
    struct sql_statement sql;
    if (strncmp(text, "SELECT", 6) != 0) {
        check(s, cq_read(&s->arena, &r->schema, str_of(text), &r->q, &s->err),
              text);
        return;
    }
    check(s, sql_read(&s->arena, &r->schema, str_of(text), NULL, &sql, &s->err),
          text);
    r->q = sql.counts[0].q;
}

static void open_rule(struct server *s, const char *data, const char *text)
{
    struct rule *r = &s->rules[s->n++];
    struct str table = str_printf(&s->arena, "E(src,dst)=%s", data);
    struct source_spec spec = {.tables = &table, .n_tables = 1};
    struct join_options opt = {.threads = 1};
    struct stat info;
    schema_init(&r->schema, &s->arena);
    if (stat(data, &info) == 0 && S_ISDIR(info.st_mode)) {
        spec = (struct source_spec){.db = str_of(data)};
        read_schema(s, data, &r->schema);
    }
    check(s, source_open(&s->mem, &spec, &r->schema, &r->src, &s->err), data);
    read_query(s, r, text);
    check(s, store_new(&s->mem, &r->schema, &r->st, &s->err), data);
    check(s, source_load(r->src, r->q, r->st, NULL, &s->err), data);
    check(s, join_open(&s->mem, r->q, r->st, &opt, &r->j, &s->err), text);
}

static u128 ask_max(struct server *s, struct rule *r, aset f)
{
    u128 v;
    aset rest = aset_first_n(r->q->n_atoms) & ~f;
    vset vars = cq_vars_of(r->q, f);
    check(s,
          join_max(r->j, f, vars & cq_vars_of(r->q, rest), cq_free(r->q) & vars,
                   &v, &s->err),
          "join_max");
    return v;
}

static u128 ask_count(struct server *s, struct rule *r)
{
    struct secret_count n;
    check(s, join_count(r->j, &n, &s->err), "join_count");
    return secret_count_open(&n);
}

static u128 ask(struct server *s, struct rule *r, char what, aset f)
{
    if (what == 'm')
        return ask_max(s, r, f);
    u128 v = ask_count(s, r);
    for (aset e = 1; what == 'a' && e < aset_first_n(r->q->n_atoms); e++)
        ask_max(s, r, e);
    return v;
}

static void print_answer(u128 v, double cpu, double wall)
{
    char digits[40], *p = digits + sizeof digits;
    for (*--p = 0; v || !*p; v /= 10)
        *--p = (char)('0' + (int)(v % 10));
    printf("{\"answer\": \"%s\", \"cpu\": %.6f, \"wall\": %.6f}\n", p, cpu,
           wall);
    fflush(stdout);
}

static void serve(struct server *s, const char *what, size_t i, aset f)
{
    struct rule *r = &s->rules[i];
    bool *warm = what[0] == 'm'   ? &r->asked[f & 255]
                 : what[0] == 'a' ? &r->all
                                  : &r->counted;
    if (!*warm)
        ask(s, r, what[0], f);
    *warm = true;
    join_forget(r->j);
    double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    u128 v = ask(s, r, what[0], f);
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    print_answer(v, cpu, now(CLOCK_MONOTONIC) - wall);
}

int main(int argc, char **argv)
{
    static struct server s;
    char line[256], what[16];
    unsigned long f, i;
    if (argc < 3 || argc - 2 > MOST_RULES) {
        fprintf(stderr, "usage: bench-serve DATA RULE ...\n");
        return 2;
    }
    mem_init(&s.mem, 0);
    arena_init(&s.arena, &s.mem);
    for (int k = 2; k < argc; k++)
        open_rule(&s, argv[1], argv[k]);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        f = 0;
        if (sscanf(line, "%15s %lu %lu", what, &i, &f) < 2 || i >= s.n)
            return 2;
        serve(&s, what, i, (aset)f);
    }
    return 0;
}
