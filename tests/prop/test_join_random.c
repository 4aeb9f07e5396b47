/*
 * The engine against the backtracking join on random rules of two to six atoms,
 * over tables in which the heaviest value is often not the best: hubs whose
 * neighbours have no others, dense parts among light values, skewed and
 * symmetric tables, loops, functional keys, empty tables. Every request is a
 * random F with random boundary and outputs. A bound that is none, a counter
 * that is too narrow or scratch that was not cleared shows as a difference.
 *
 * What the backtracking join would take too long for is left out.
 */
#include "harness/join_case.h"
#include "harness/join_world.h"
#include "harness/size.h"
#include "join/join_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { TABLES = 3, COLS = 3, MOST = 700, RULE = 1024, POLLS = 4 };
static const char names[TABLES] = {'E', 'F', 'G'}; /* arity 2, 2, 3 */
static const uint32_t arity[TABLES] = {2, 2, 3};

struct rows {
    int64_t v[TABLES][COLS][MOST];
    size_t n[TABLES];
};

/* --- data ----------------------------------------------------------------- */

/* The third column of some pairs has several values: weights, where it is
 * aggregated out. */
static void add(struct rows *r, int k, struct jc_rng *g, int64_t x, int64_t y)
{
    uint32_t n = k == 2 && jc_below(g, 3) == 0 ? 1 + jc_below(g, 6) : 1;
    for (; n > 0 && r->n[k] < MOST; n--) {
        r->v[k][0][r->n[k]] = x;
        r->v[k][1][r->n[k]] = y;
        r->v[k][2][r->n[k]++] = (int64_t)jc_below(g, 1 + jc_below(g, 20));
    }
}

static uint32_t pick(struct jc_rng *g, uint32_t n, bool skewed)
{
    return skewed ? jc_below(g, 1 + jc_below(g, 1 + jc_below(g, n)))
                  : jc_below(g, n);
}

/* Neighbours that nobody else has: heavy, but on no cycle. */
static void add_hub(struct rows *r, int k, struct jc_rng *g, uint32_t n)
{
    uint32_t hub = jc_below(g, n), spokes = 5 + jc_below(g, 80);
    uint32_t way = jc_below(g, 3);
    for (uint32_t i = 0; i < spokes; i++) {
        if (way != 1)
            add(r, k, g, hub, n + i);
        if (way != 0)
            add(r, k, g, n + i, hub);
    }
}

static void add_dense(struct rows *r, int k, struct jc_rng *g, uint32_t n)
{
    uint32_t first = jc_below(g, n), size = 3 + jc_below(g, 4);
    for (uint32_t a = 0; a < size; a++)
        for (uint32_t b = 0; b < size; b++)
            if (a != b && jc_below(g, 5))
                add(r, k, g, (first + a) % n, (first + b) % n);
}

static void add_edges(struct rows *r, int k, struct jc_rng *g, uint32_t n)
{
    uint32_t edges = 10 + jc_below(g, 150);
    bool both = jc_below(g, 3) == 0, loops = jc_below(g, 2);
    bool left = jc_below(g, 2), right = jc_below(g, 2);
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t x = pick(g, n, left), y = pick(g, n, right);
        if (x == y && !loops)
            continue;
        add(r, k, g, x, y);
        if (both)
            add(r, k, g, y, x);
    }
}

/* One side is a key, as that of a foreign key is; some values dangle. */
static void add_keyed(struct rows *r, int k, struct jc_rng *g, uint32_t n)
{
    bool first = jc_below(g, 2), skewed = jc_below(g, 2);
    for (uint32_t i = 0, rows = n + jc_below(g, 2 * n); i < rows; i++) {
        uint32_t y = pick(g, n, skewed);
        if (jc_below(g, 9))
            add(r, k, g, first ? i : y, first ? y : i);
    }
}

static void make_rows(struct rows *r, struct jc_rng *g)
{
    uint32_t n = 5 + jc_below(g, 60);
    memset(r->n, 0, sizeof r->n);
    for (int k = 0; k < TABLES; k++) {
        uint32_t kind = jc_below(g, 30);
        if (kind && kind < 10)
            add_keyed(r, k, g, n);
        if (kind < 10) /* 0: empty */
            continue;
        add_edges(r, k, g, n);
        for (uint32_t i = jc_below(g, 3); i > 0; i--)
            add_hub(r, k, g, n);
        for (uint32_t i = jc_below(g, 3); i > 0; i--)
            add_dense(r, k, g, n);
    }
}

/* --- rules ---------------------------------------------------------------- */

struct rule {
    char text[RULE];
    size_t n;
    uint32_t vars; /* bit set of those in use */
};

static void put(struct rule *r, const char *s)
{
    size_t n = strlen(s);
    assert_true(r->n + n < RULE);
    memcpy(r->text + r->n, s, n + 1);
    r->n += n;
}

static void put_var(struct rule *r, uint32_t v)
{
    char s[2] = {(char)('a' + v), 0};
    put(r, s);
    r->vars |= 1u << v;
}

static uint32_t some_var(struct jc_rng *g, uint32_t among)
{
    uint32_t v;
    do
        v = jc_below(g, 10);
    while (!(among >> v & 1));
    return v;
}

static void put_atom(struct rule *r, struct jc_rng *g, int k, uint32_t n_vars)
{
    char open[3] = {names[k], '(', 0};
    uint32_t joined = r->vars ? jc_below(g, 2) : 9, first = r->vars;
    put(r, open);
    for (uint32_t i = 0; i < arity[k]; i++) {
        if (i)
            put(r, ",");
        if (i == 2 && jc_below(g, 2))
            put(r, "_");
        else if (i == joined || (first && jc_below(g, 3) == 0))
            put_var(r, some_var(g, first));
        else
            put_var(r, jc_below(g, n_vars));
    }
    put(r, ")");
}

static void put_inequalities(struct rule *r, struct jc_rng *g, uint32_t n_vars)
{
    uint32_t often = jc_below(g, 2) ? 0 : 1 + jc_below(g, 3);
    for (uint32_t a = 0; a < n_vars; a++)
        for (uint32_t b = 0; b < a; b++) {
            char text[16];
            if (!(r->vars >> a & r->vars >> b & 1) || jc_below(g, 3) >= often)
                continue;
            snprintf(text, sizeof text, ", %c != %c", 'a' + (char)a,
                     'a' + (char)b);
            put(r, text);
        }
}

static void make_rule(struct rule *out, struct jc_rng *g)
{
    struct rule body = {0};
    uint32_t n = 2 + jc_below(g, 5), n_vars = 2 + jc_below(g, n + 1);
    bool one = jc_below(g, 2);
    for (uint32_t i = 0; i < n; i++) {
        put(&body, i ? ", " : "");
        put_atom(&body, g, one ? 0 : (int)jc_below(g, TABLES), n_vars);
    }
    put_inequalities(&body, g, n_vars);
    memset(out, 0, sizeof *out);
    put(out, "Q(");
    for (uint32_t v = 0; v < n_vars; v++)
        if (body.vars >> v & 1) {
            put(out, out->vars ? "," : "");
            put_var(out, v);
        }
    put(out, ") :- ");
    put(out, body.text);
    put(out, ".");
}

/* --- both opinions ---------------------------------------------------------
 */

static void world_open(struct world *w, const char *rule,
                       const struct rows *rows, unsigned threads)
{
    world_read(w, rule);
    for (size_t k = 0; k < w->st->n_tables; k++) {
        size_t from = (size_t)(w->schema.tables.p[k].name.p[0] - 'E');
        const int64_t *cols[COLS];
        for (int i = 0; i < COLS; i++)
            cols[i] = rows->v[from][i];
        world_lend(w, k, rows->n[from], cols, NULL);
    }
    world_join(w, threads, rows->n[0] % 2);
}

static unsigned compare(struct world *w, struct jc_rng *g, const char *rule,
                        uint64_t seed)
{
    aset f = 0;
    u128 want = 0, got = 0;
    while (!f)
        for (uint32_t i = 0; i < w->q->n_atoms; i++)
            f |= jc_below(g, 4) ? aset_one(i) : 0;
    vset vars = cq_vars_of(w->q, f), boundary = 0, outs = vars;
    uint32_t often = jc_below(g, 4), keep = jc_below(g, 3);
    VSET_EACH (v, vars) {
        if (jc_below(g, 4) < often)
            boundary |= vset_one(v);
        if (!keep && jc_below(g, 2))
            outs &= ~vset_one(v);
    }
    w->polls = POLLS;
    enum status s = join_max_walked(w->j, f, boundary, outs, &want, &w->err);
    w->polls = -1;
    if (s == E_CANCELLED)
        return 0;
    assert_int_equal(s, OK);
    assert_int_equal(join_max(w->j, f, boundary, outs, &got, &w->err), OK);
    u128 wide = 0;
    assert_int_equal(join_max_wide(w->j, f, boundary, outs, &wide, &w->err),
                     OK);
    if (wide != want)
        fail_msg("seed %llu: %s F %llx boundary %llx outs %llx: with words "
                 "%llu, not %llu",
                 (unsigned long long)seed, rule, (unsigned long long)f,
                 (unsigned long long)boundary, (unsigned long long)outs,
                 (unsigned long long)wide, (unsigned long long)want);
    if (got != want)
        fail_msg("seed %llu: %s F %llx boundary %llx outs %llx: %llu, not %llu",
                 (unsigned long long)seed, rule, (unsigned long long)f,
                 (unsigned long long)boundary, (unsigned long long)outs,
                 (unsigned long long)got, (unsigned long long)want);
    return want > 1;
}

static void test_random(void **state)
{
    (void)state;
    const char *first = getenv("DPC_SEED"), *many = getenv("DPC_ROUNDS");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    unsigned n = many ? (unsigned)strtoul(many, NULL, 10) : test_size(4000);
    unsigned compared = 0;
    static struct rows rows;
    for (unsigned i = 0; i < n; i++, seed++) {
        struct jc_rng g = {seed * 0x9e3779b97f4a7c15u + 1};
        struct rule rule;
        struct world w;
        make_rows(&rows, &g);
        make_rule(&rule, &g);
        world_open(&w, rule.text, &rows, 1 + (unsigned)(seed & 1));
        for (int k = 0; k < 12; k++)
            compared += compare(&w, &g, rule.text, seed);
        world_close(&w);
    }
    print_message("%u values above one agree\n", compared);
    assert_true(compared > 2 * n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
