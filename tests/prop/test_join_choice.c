/*
 * Which engine takes a part: on joins along keys and on graph patterns every
 * engine that can solve a request is tried, and none may be more than three
 * times faster than the one that was chosen. Of requests that take more than
 * MOST_SMALL; CPU time of this thread, the best of several rounds where one
 * seems slow. A second opinion is stopped once it has lost. Where something
 * else takes the time (valgrind, sanitizers) only the answers are compared.
 */
#include "harness/join_case.h"
#include "harness/join_world.h"
#include "harness/plain.h"
#include "join/join_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

enum {
    TABLES = 5,
    MOST_ROWS = 96000,
    MOST_ATOMS_HERE = 6,
    REQUESTS = 4,
    EDGES = 24000
};
#define MOST_SMALL 5e-3 /* seconds */
#define TOO_SLOW 3.0

/* A table: an id, and up to two columns that refer to tables before it. */
static const struct {
    uint32_t rows, n_refs, ref[2];
} shape[TABLES] = {
    {12000, 0, {0, 0}}, {24000, 1, {0, 0}}, {36000, 2, {0, 1}},
    {60000, 2, {1, 0}}, {96000, 2, {2, 3}},
};

static int64_t cells[TABLES][3][MOST_ROWS];
static int64_t src[EDGES], dst[EDGES], node[EDGES];

/* Small numbers are referred to more often. */
static uint32_t skewed(struct jc_rng *r, uint32_t n)
{
    return jc_below(r, 1 + jc_below(r, n));
}

static void make_tables(struct jc_rng *r)
{
    for (uint32_t t = 0; t < TABLES; t++)
        for (uint32_t i = 0; i < shape[t].rows; i++) {
            cells[t][0][i] = i;
            for (uint32_t k = 0; k < shape[t].n_refs; k++)
                cells[t][1 + k][i] = skewed(r, shape[shape[t].ref[k]].rows);
        }
    for (uint32_t i = 0; i < EDGES; i++) {
        src[i] = skewed(r, 4000);
        dst[i] = skewed(r, 4000);
        node[i] = i;
    }
}

/* --- requests ------------------------------------------------------------ */

struct rule {
    char text[512];
    size_t n;
    uint32_t atoms, vars, of[MOST_ATOMS_HERE]; /* table of an atom */
    uint32_t var[MOST_ATOMS_HERE][3];
};

static void add_atom(struct rule *q, uint32_t table, uint32_t at, uint32_t var)
{
    uint32_t *v = q->var[q->atoms];
    q->of[q->atoms++] = table;
    for (uint32_t c = 0; c <= shape[table].n_refs; c++)
        v[c] = c == at ? var : q->vars++;
}

/* One more atom, which refers to one that is there or is referred to. */
static bool grow(struct rule *q, struct jc_rng *r)
{
    uint32_t a = jc_below(r, q->atoms), t = jc_below(r, TABLES);
    uint32_t c = jc_below(r, 3), d = jc_below(r, 3), to = q->of[a];
    if (c > shape[to].n_refs || d > shape[t].n_refs || (!c && !d))
        return false;
    uint32_t here = c ? shape[to].ref[c - 1] : to;
    uint32_t there = d ? shape[t].ref[d - 1] : t;
    if (here != there || (c && d && jc_below(r, 4)))
        return false;
    add_atom(q, t, d, q->var[a][c]);
    return true;
}

static void say(struct rule *q, const char *form, uint32_t x, uint32_t y)
{
    q->n += (size_t)snprintf(q->text + q->n, sizeof q->text - q->n, form, x, y);
}

static void write_rule(struct rule *q, struct jc_rng *r)
{
    say(q, "Q(", 0, 0);
    for (uint32_t v = 0; v < q->vars; v++)
        say(q, v ? ",v%u" : "v%u", v, 0);
    say(q, ") :- ", 0, 0);
    for (uint32_t i = 0; i < q->atoms; i++) {
        say(q, i ? ", T%u(" : "T%u(", q->of[i], 0);
        for (uint32_t c = 0; c <= shape[q->of[i]].n_refs; c++)
            say(q, c ? ",v%u" : "v%u", q->var[i][c], 0);
        say(q, ")", 0, 0);
    }
    for (uint32_t i = 1; i < q->atoms; i++)
        if (!jc_below(r, 4) && q->of[i] == q->of[0])
            say(q, jc_below(r, 2) ? ", v%u < v%u" : ", v%u != v%u",
                q->var[0][0], q->var[i][0]);
    say(q, ".", 0, 0);
}

static void random_rule(struct rule *q, struct jc_rng *r)
{
    memset(q, 0, sizeof *q);
    uint32_t n = 2 + jc_below(r, MOST_ATOMS_HERE - 1);
    add_atom(q, jc_below(r, TABLES), 0, q->vars++);
    for (uint32_t tries = 0; q->atoms < n && tries < 1000; tries++)
        (void)grow(q, r);
    write_rule(q, r);
}

static const char *const patterns[] = {
    "Q(a,b,c) :- E(a,b), E(b,c), E(c,a), a < b.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), a < c.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), N(a), N(d), a < d, b != d.",
    "Q(a,b,c) :- E(a,b), E(b,c), N(a), N(b), N(c), a < c.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), N(b), b < c, c < d.",
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,a), E(a,d), E(b,d), c != d.",
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* --- how long ------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double stop_at;

static bool out_of_time(void *ctx)
{
    (void)ctx;
    return now() > stop_at;
}

struct asked {
    aset f;
    vset boundary, vars;
    u128 value;
};

enum { LATE = -1, NEVER = -2 };

/* Seconds with indexes but without answers; LATE, or NEVER by this engine. */
static double ask(struct world *w, struct asked *q, uint32_t engine,
                  double limit)
{
    u128 value = 0;
    double took = 0;
    w->j->only_engine = engine;
    for (int turn = 0; turn < 2; turn++) {
        join_forget(w->j);
        double from = now();
        stop_at = from + (turn ? limit : 3 * limit + 0.1);
        enum status s =
            join_max(w->j, q->f, q->boundary, q->vars, &value, &w->err);
        if (s != OK)
            return s == E_CANCELLED ? LATE : NEVER;
        took = now() - from;
    }
    assert_true(!engine || value == q->value);
    q->value = value;
    return took;
}

/* The best of a few more, so that what the machine did besides counts less. */
static double ask_again(struct world *w, struct asked *q, uint32_t engine,
                        double best)
{
    for (int i = 0; i < 3; i++) {
        double t = ask(w, q, engine, best * 4);
        best = t >= 0 && t < best ? t : best;
    }
    return best;
}

static bool times_count(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return !getenv("DPC_SLOW");
#endif
}

static void compare(struct world *w, const char *rule, struct asked *q,
                    uint32_t *compared)
{
    const char *name;
    uint64_t parts;
    double chosen = ask(w, q, 0, 60);
    assert_true(chosen >= 0);
    if (chosen <= MOST_SMALL)
        return;
    for (uint32_t e = 1; join_engine_parts(w->j, e, &name, &parts); e++) {
        double other = ask(w, q, e, chosen / TOO_SLOW);
        *compared += other != NEVER;
        if (other < 0 || other * TOO_SLOW >= chosen || !times_count())
            continue;
        chosen = ask_again(w, q, 0, chosen);
        other = ask_again(w, q, e, other);
        if (other * TOO_SLOW < chosen && chosen > MOST_SMALL)
            fail_msg("%s f=%llx boundary=%llx: %.1f ms, by %s %.1f ms\n", rule,
                     (unsigned long long)q->f, (unsigned long long)q->boundary,
                     chosen * 1e3, name, other * 1e3);
    }
}

static void open_world(struct world *w, const char *rule)
{
    world_read(w, rule);
    for (size_t t = 0; t < w->schema.tables.n; t++) {
        struct str name = w->schema.tables.p[t].name;
        uint32_t k = name.n > 1 ? (uint32_t)(name.p[1] - '0') : 0;
        const int64_t *t_cols[3] = {cells[k][0], cells[k][1], cells[k][2]};
        const int64_t *e_cols[2] = {src, dst}, *n_cols[1] = {node};
        if (name.p[0] == 'T')
            world_lend(w, t, shape[k].rows, t_cols, NULL);
        else
            world_lend(w, t, name.p[0] == 'E' ? EDGES : 4000,
                       name.p[0] == 'E' ? e_cols : n_cols, NULL);
    }
    struct join_options opt = {.threads = 1, .cancelled = out_of_time};
    stop_at = 1e18;
    assert_int_equal(join_open(&w->mem, w->q, w->st, &opt, &w->j, &w->err), OK);
}

static void ask_one(struct world *w, const char *rule, aset f,
                    uint32_t *compared)
{
    aset all = aset_first_n(w->q->n_atoms);
    struct asked q = {.f = f, .vars = cq_vars_of(w->q, f)};
    q.boundary = q.vars & cq_vars_of(w->q, all & ~f);
    compare(w, rule, &q, compared);
}

static void check_rule(const char *rule, struct jc_rng *r, uint32_t *compared)
{
    struct world w;
    open_world(&w, rule);
    aset all = aset_first_n(w.q->n_atoms);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        aset f = i ? (1 + jc_below(r, (uint32_t)all)) & all : all;
        ask_one(&w, rule, f, compared);
    }
    world_close(&w);
}

static void test_choice(void **state)
{
    (void)state;
    struct jc_rng r = {11};
    const char *s = getenv("DPC_CASES_N");
    uint32_t n = s ? (uint32_t)atol(s) : getenv("DPC_SLOW") ? 12 : 96;
    uint32_t compared = 0;
    make_tables(&r);
    for (uint32_t i = 0; i < n; i++) {
        struct rule q;
        struct jc_rng own = {i * 7919 + 3};
        random_rule(&q, &own);
        check_rule(i % 6 ? q.text : patterns[i / 6 % PATTERNS], &own,
                   &compared);
    }
    print_message("%u compared\n", compared);
    assert_true(compared >= n / 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
