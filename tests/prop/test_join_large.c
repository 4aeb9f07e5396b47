/*
 * The engine against the backtracking join where its loops for large graphs
 * work: more ids than threads share out at once, hubs with hundreds of
 * neighbours in common, skewed, bipartite and directed tables, numbers near and
 * far, and two threads. Every request is asked, forgotten and asked again among
 * others, so that scratch kept from one to the next shows where it was not
 * cleared. Weights of pairs around 2^16, 2^32 and beyond by closed formulas.
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

enum { TABLES = 3, COLS = 3, MOST = 1 << 17, POLLS = 3, TAIL = 4200 };

struct rows {
    int64_t v[TABLES][COLS][MOST];
    int32_t small[TABLES][COLS][MOST];
    size_t n[TABLES];
    int64_t step, first; /* id i is the value first + i * step */
    bool narrow;
};

static void add(struct rows *r, int k, int64_t x, int64_t y, int64_t z)
{
    if (r->n[k] == MOST)
        return;
    int64_t v[COLS] = {x, y, z};
    for (int c = 0; c < COLS; c++) {
        int64_t w = r->first + v[c] * r->step;
        r->v[k][c][r->n[k]] = w;
        r->small[k][c][r->n[k]] = (int32_t)w;
    }
    r->n[k]++;
}

static void add_edge(struct rows *r, int k, struct jc_rng *g, bool both,
                     uint32_t x, uint32_t y)
{
    uint32_t times = k == 2 && jc_below(g, 3) == 0 ? 1 + jc_below(g, 5) : 1;
    for (uint32_t i = 0; i < times; i++) {
        add(r, k, x, y, i);
        if (both)
            add(r, k, y, x, jc_below(g, 4));
    }
}

/* --- tables --------------------------------------------------------------- */

static uint32_t skewed(struct jc_rng *g, uint32_t n)
{
    return jc_below(g, 1 + jc_below(g, 1 + jc_below(g, n)));
}

static void add_skewed(struct rows *r, int k, struct jc_rng *g, bool both)
{
    uint32_t n = 30 + jc_below(g, 300), edges = n * (1 + jc_below(g, 4));
    bool left = jc_below(g, 2), loops = jc_below(g, 2);
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t x = left ? skewed(g, n) : jc_below(g, n), y = skewed(g, n);
        if (x != y || loops)
            add_edge(r, k, g, both, x, y);
    }
}

/* A few hubs over the same many neighbours: large counts at few roots. */
static void add_hubs(struct rows *r, int k, struct jc_rng *g, bool both)
{
    uint32_t hubs = 1 + jc_below(g, 4), n = 100 + jc_below(g, 700);
    uint32_t at = jc_below(g, 50);
    bool out = jc_below(g, 2);
    for (uint32_t h = 0; h < hubs; h++)
        for (uint32_t i = 0; i < n; i++)
            if (jc_below(g, 8))
                add_edge(r, k, g, both, out ? at + h : 400 + i,
                         out ? 400 + i : at + h);
}

static void add_bipartite(struct rows *r, int k, struct jc_rng *g, bool both)
{
    uint32_t left = 2 + jc_below(g, 40), right = 50 + jc_below(g, 400);
    for (uint32_t i = 0; i < right; i++)
        for (uint32_t d = jc_below(g, 4); d > 0; d--)
            add_edge(r, k, g, both, jc_below(g, left), 600 + i);
}

static void add_clique(struct rows *r, int k, struct jc_rng *g)
{
    uint32_t n = 4 + jc_below(g, 12), at = jc_below(g, 900);
    for (uint32_t x = 0; x < n; x++)
        for (uint32_t y = 0; y < n; y++)
            if (x != y && jc_below(g, 9))
                add_edge(r, k, g, false, at + x, at + y);
}

/* Triangles around one id, and a heavier id with none: the best way from an
 * id leads back to it, and bounds tell to look elsewhere first. */
static void add_windmill(struct rows *r, int k, struct jc_rng *g)
{
    uint32_t at = jc_below(g, 800), mills = 1 + jc_below(g, 3);
    for (; mills > 0; mills--, at += 100) {
        uint32_t blades = 3 + jc_below(g, 30);
        for (uint32_t i = 0; i < blades; i++) {
            uint32_t x = at + 1 + 2 * i, y = x + 1;
            add_edge(r, k, g, true, at, x);
            add_edge(r, k, g, true, at, y);
            add_edge(r, k, g, true, x, y);
        }
    }
    for (uint32_t d = jc_below(g, 3), hub = 1200; d > 0; d--, hub += 200)
        for (uint32_t i = 0, n = jc_below(g, 190); i < n; i++)
            add_edge(r, k, g, true, hub, hub + 1 + i);
}

/* Light ids that make the domain long. */
static void add_tail(struct rows *r, int k, bool both)
{
    for (uint32_t i = 0; i < TAIL; i++) {
        add(r, k, 2000 + i, 2000 + i / 2 * 2 + !(i & 1), 0);
        if (both && i % 3 == 0)
            add(r, k, 2000 + i + 1, 2000 + i, 0);
    }
}

static void make_table(struct rows *r, int k, struct jc_rng *g)
{
    bool both = jc_below(g, 3) > 0;
    uint32_t kind = jc_below(g, 20);
    if (!kind)
        return;
    if (kind >= 16) {
        add_windmill(r, k, g);
        return;
    }
    if (kind & 1)
        add_skewed(r, k, g, both);
    if (kind & 2)
        add_hubs(r, k, g, both);
    if (kind & 4)
        add_bipartite(r, k, g, both);
    if (kind & 8)
        add_clique(r, k, g);
    if (k == 0 && jc_below(g, 2))
        add_tail(r, k, both);
}

static void make_rows(struct rows *r, struct jc_rng *g)
{
    static const int64_t steps[] = {1, -1, 7, 100003, (int64_t)1 << 40};
    memset(r->n, 0, sizeof r->n);
    r->step = steps[jc_below(g, 5)];
    r->first = (int64_t)jc_below(g, 3) * 1000 - 1000;
    r->narrow = r->step < 1 << 20 && jc_below(g, 2);
    for (int k = 0; k < TABLES; k++)
        make_table(r, k, g);
}

/* --- questions -------------------------------------------------------------
 */

static void world_open(struct world *w, const char *rule,
                       const struct rows *rows, unsigned threads)
{
    world_read(w, rule);
    for (size_t k = 0; k < w->st->n_tables; k++) {
        size_t from = (size_t)(w->schema.tables.p[k].name.p[0] - 'E');
        const int64_t *wide[COLS];
        const int32_t *narrow[COLS];
        for (int i = 0; i < COLS; i++) {
            wide[i] = rows->v[from][i];
            narrow[i] = rows->small[from][i];
        }
        world_lend(w, k, rows->n[from], wide, rows->narrow ? narrow : NULL);
    }
    world_join(w, threads, rows->n[0] % 2);
}

static const char *const bodies[] = {
    "E(a,b), E(b,c), E(a,c)",
    "E(a,b), F(b,c), E(a,c)",
    "F(a,b), E(b,c), G(c,a,_)",
    "E(a,b), E(b,c), E(c,d), E(d,a)",
    "E(a,b), F(c,b), E(a,d), F(c,d)",
    "E(a,b), E(a,c), E(b,c), E(a,d), E(b,d)",
    "E(a,b), F(a,c), F(b,c), F(a,d), F(b,d), F(a,e), F(b,e)",
    "E(a,b), F(c,b), E(a,d), F(c,d), E(a,e), F(c,e)",
    "E(a,b), F(d,b), G(c,b,_), E(a,e), F(d,e)",
    "E(a,b), E(a,c), E(a,d)",
    "E(a,b), E(b,c), E(c,d)",
    "E(a,b), E(b,c), E(c,d), E(d,e)",
    "E(a,b), E(b,c), E(b,d), E(c,d), E(d,e), E(c,e)",
    "E(a,b), F(b,c), E(c,d)",
    "E(a,b), F(b,c), E(c,d), F(d,e), E(e,a)",
    "E(a,b), E(b,c), E(c,d), E(d,a), E(a,c)",
    "E(a,b), E(a,c), E(a,d), E(b,c), E(b,d), E(c,d)",
    "G(a,b,x), F(b,c), G(a,c,y)",
    "G(a,b,x), F(c,b), G(a,d,y), F(c,d)",
    "G(a,b,x), G(b,a,y), F(b,c), E(c,a)",
    "G(a,b,x), G(a,b,y), G(a,c,z), E(b,c)",
    "F(a,b), G(b,c,x), E(c,d), F(d,a), G(b,d,y)",
    "G(a,b,c), G(a,d,e)",
    "G(a,b,c), F(c,d), G(d,e,x)",
    "G(a,b,c), G(b,c,d), G(c,d,e), E(b,x)",
    "F(a,b), E(c,d), F(d,e)",
};
enum { BODIES = sizeof bodies / sizeof bodies[0] };

static size_t put_vars(char *out, const char *body)
{
    static const char names[] = "abcdexyz";
    size_t n = 0;
    for (const char *v = names; *v; v++)
        if (strchr(body, *v)) {
            if (n)
                out[n++] = ',';
            out[n++] = *v;
        }
    return n;
}

/* Patterns that read the same from both ends, as do their inequalities. */
static const char *const paths[] = {
    "E(a,b), E(b,c), E(c,d)",
    "E(a,b), E(b,c), E(c,d), E(d,e)",
    "E(a,b), E(b,c), E(c,d), E(a,e), E(d,e)",
    "E(a,b), E(c,b), E(c,d), F(b,e), F(c,e)",
    "E(a,b), E(a,c), E(b,c), E(d,b), E(d,c)",
};
enum { PATHS = sizeof paths / sizeof paths[0] };

static uint8_t turned(const char *body, uint8_t v)
{
    static const char there[] = "abcde", *back = "dcbae";
    if (strcmp(body, paths[1]) == 0)
        back = "edcba";
    return (uint8_t)back[strchr(there, v) - there];
}

/* Either all of them or, for a path, none that its reverse has not. */
static bool wanted(const char *body, bool path, uint32_t often, uint64_t coin,
                   uint8_t x, uint8_t y)
{
    uint8_t p = path ? turned(body, x) : x, q = path ? turned(body, y) : y;
    uint32_t one = (uint32_t)(x < y ? x * 7 + y : y * 7 + x);
    uint32_t two = (uint32_t)(p < q ? p * 7 + q : q * 7 + p);
    uint64_t h = (one < two ? one : two) * 0x9e3779b97f4a7c15u ^ coin;
    struct jc_rng g = {h};
    return jc_below(&g, 3) < often;
}

/* Returns whether it is a path. */
static bool make_rule(char *out, size_t room, struct jc_rng *g)
{
    bool path = jc_below(g, 3) == 0;
    const char *body =
        path ? paths[jc_below(g, PATHS)] : bodies[jc_below(g, BODIES)];
    char head[32];
    static const char *const ops[] = {"!=", "<", "<=", "<"};
    uint32_t often = jc_below(g, 4), coin = jc_below(g, UINT32_MAX);
    uint32_t kinds = path || jc_below(g, 3) ? 1 : 4;
    size_t vars = put_vars(head, body);
    head[vars] = 0;
    int n = snprintf(out, room, "Q(%s) :- %s", head, body);
    for (size_t i = 0; i < vars; i += 2)
        for (size_t k = 0; k < i; k += 2)
            if (head[i] <= 'e' && wanted(body, path, often, coin,
                                         (uint8_t)head[i], (uint8_t)head[k]))
                n += snprintf(out + n, room - (size_t)n, ", %c %s %c", head[i],
                              ops[jc_below(g, kinds)], head[k]);
    snprintf(out + n, room - (size_t)n, ".");
    return path;
}

struct question {
    aset f;
    vset boundary, outs;
    bool walked;
    u128 want;
};

static void make_question(const struct world *w, struct jc_rng *g, bool path,
                          struct question *x)
{
    uint32_t often = jc_below(g, 5), keep = jc_below(g, 4);
    aset all = aset_first_n(w->q->n_atoms);
    x->f = 0;
    while (!x->f)
        for (uint32_t i = 0; i < w->q->n_atoms; i++)
            x->f |= jc_below(g, 6) ? aset_one(i) : 0;
    vset vars = cq_vars_of(w->q, x->f);
    x->boundary = 0;
    x->outs = vars;
    VSET_EACH (v, vars) {
        if (jc_below(g, 5) < often)
            x->boundary |= vset_one(v);
        if (!keep && jc_below(g, 2))
            x->outs &= ~vset_one(v);
    }
    if (jc_below(g, 3) == 0) /* as sensitivity asks */
        x->boundary = vars & cq_vars_of(w->q, all & ~x->f);
    if (path && jc_below(g, 2)) { /* its ends */
        bool longer = w->q->n_atoms == 4 && w->q->n_vars == 5;
        x->f = all;
        x->outs = cq_vars_of(w->q, all);
        x->boundary = vset_one(0) | vset_one(longer ? 4 : 3);
    }
}

static bool ask(struct world *w, const struct question *x, const char *rule,
                uint64_t seed)
{
    u128 got = 0;
    if (!x->walked)
        return false;
    assert_int_equal(join_max(w->j, x->f, x->boundary, x->outs, &got, &w->err),
                     OK);
    if (got != x->want)
        fail_msg("seed %llu: %s F %llx boundary %llx outs %llx: %llu, not %llu",
                 (unsigned long long)seed, rule, (unsigned long long)x->f,
                 (unsigned long long)x->boundary, (unsigned long long)x->outs,
                 (unsigned long long)got, (unsigned long long)x->want);
    return got > 1;
}

static void walk(struct world *w, struct question *x)
{
    w->polls = POLLS;
    enum status s =
        join_max_walked(w->j, x->f, x->boundary, x->outs, &x->want, &w->err);
    w->polls = -1;
    x->walked = s == OK;
    assert_true(s == OK || s == E_CANCELLED);
}

static unsigned one_round(const struct rows *rows, struct jc_rng *g,
                          uint64_t seed)
{
    enum { ASKED = 10, AGAIN = 12 };
    struct question x[ASKED];
    struct world w;
    char rule[1024];
    unsigned agree = 0;
    bool path = make_rule(rule, sizeof rule, g);
    world_open(&w, rule, rows, 1 + (unsigned)(seed & 1));
    for (int i = 0; i < ASKED; i++) {
        make_question(&w, g, path, &x[i]);
        walk(&w, &x[i]);
        agree += ask(&w, &x[i], rule, seed);
    }
    for (int i = 0; i < AGAIN; i++) {
        join_forget(w.j);
        ask(&w, &x[jc_below(g, ASKED)], rule, seed);
    }
    world_close(&w);
    return agree;
}

static void test_random(void **state)
{
    static struct rows rows;
    const char *first = getenv("DPC_SEED"), *many = getenv("DPC_ROUNDS");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    unsigned n = many ? (unsigned)strtoul(many, NULL, 10) : test_size(14);
    unsigned agree = 0;
    (void)state;
    for (unsigned i = 0; i < n; i++, seed++) {
        struct jc_rng g = {seed * 0x9e3779b97f4a7c15u + 3};
        make_rows(&rows, &g);
        agree += one_round(&rows, &g, seed);
    }
    print_message("%u values above one agree\n", agree);
    assert_true(agree > 2 * n);
}

static u128 value(struct world *w, aset f, vset boundary)
{
    u128 v = 0;
    assert_int_equal(
        join_max(w->j, f, boundary, cq_vars_of(w->q, f), &v, &w->err), OK);
    return v;
}

/* --- hubs ------------------------------------------------------------------
 * Ids with so many neighbours that those of a few do not go into one list of
 * pairs (see kernel.c): it ends, and the next begins, between two pairs of
 * one id. All ids joined with one another, and two sides joined across. */

static void test_hubs(void **state)
{
    enum { ALL = 300, LEFT = 40, RIGHT = 700 };
    static const char *differ =
        "a != b, a != c, a != d, b != c, b != d, c != d";
    static const char *atoms[] = {"E(a,b), E(b,c), E(c,d), E(d,a)",
                                  "E(a,b), E(a,c), E(b,c), E(a,d), E(b,d)"};
    static struct rows rows;
    struct jc_rng g = {1};
    (void)state;
    rows.step = 1;
    rows.first = 0;
    for (int across = 0; across < 2; across++) {
        memset(rows.n, 0, sizeof rows.n);
        for (uint32_t x = 0; x < (across ? LEFT : ALL); x++)
            for (uint32_t y = across ? LEFT : x + 1;
                 y < (across ? LEFT + RIGHT : ALL); y++)
                add_edge(&rows, 0, &g, true, x, y);
        assert_true(rows.n[0] < MOST);
        u128 two = LEFT * (LEFT - 1), four = RIGHT * (RIGHT - 1);
        u128 all = (u128)ALL * (ALL - 1) * (ALL - 2) * (ALL - 3);
        for (int i = 0; i < 4; i++) {
            char rule[256];
            struct world w;
            u128 want = !across ? all : i % 2 ? 0 : 2 * two * four;
            snprintf(rule, sizeof rule, "Q(a,b,c,d) :- %s, %s.", atoms[i % 2],
                     differ);
            world_open(&w, rule, &rows, 1 + (unsigned)i / 2);
            assert_true(value(&w, aset_first_n(w.q->n_atoms), 0) == want);
            world_close(&w);
        }
    }
}

/* --- ends that meet --------------------------------------------------------
 * Ways of three steps that do not turn back, between two ends that can be
 * exchanged: most lead from the middle of a windmill to itself, while every id
 * of a larger star has the larger bound. */

static void test_ends_meet(void **state)
{
    enum { BLADES = 10, LEAVES = 100 };
    static struct rows rows;
    struct jc_rng g = {1};
    struct world w;
    (void)state;
    memset(rows.n, 0, sizeof rows.n);
    rows.step = 1;
    rows.first = 0;
    for (uint32_t i = 0; i < BLADES; i++) {
        add_edge(&rows, 0, &g, true, 0, 1 + 2 * i);
        add_edge(&rows, 0, &g, true, 0, 2 + 2 * i);
        add_edge(&rows, 0, &g, true, 1 + 2 * i, 2 + 2 * i);
    }
    for (uint32_t i = 0; i < LEAVES; i++)
        add_edge(&rows, 0, &g, true, 500, 501 + i);
    for (uint32_t i = 0; i < 3; i++)
        add_edge(&rows, 0, &g, true, 501 + 2 * i, 502 + 2 * i);
    for (unsigned threads = 1; threads < 3; threads++) {
        world_open(&w, "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), a != c, b != d.",
                   &rows, threads);
        assert_true(value(&w, 7, vset_one(0) | vset_one(3)) == 2 * BLADES);
        world_close(&w);
    }
}

/* --- numbers near the end ---------------------------------------------------
 * The largest value is above 2^61, and so is that of the id with the largest
 * bound, which is tried first. */

static u128 sixth_power(u128 v)
{
    return v * v * v * v * v * v;
}

static void test_near_the_end(void **state)
{
    /* from b to c, from c to d: two ways from 3 to 33; of the three ways to 31
     * two begin at 1 */
    static const int64_t steps[][2] = {{11, 21}, {11, 22}, {12, 23}, {21, 31},
                                       {22, 31}, {23, 31}, {13, 24}, {13, 25},
                                       {24, 33}, {25, 33}};
    static struct rows rows;
    struct world w;
    (void)state;
    memset(rows.n, 0, sizeof rows.n);
    rows.step = 1;
    rows.first = 0;
    for (int i = 0; i < 10; i++)
        add(&rows, 0, steps[i][0], steps[i][1], 0);
    for (int64_t i = 0; i < 3; i++)
        add(&rows, 1, 1 + i, 11 + i, 0);
    for (int64_t i = 0; i < 1064; i++)
        add(&rows, 2, 31, 0, i);
    for (int64_t i = 0; i < 1122; i++)
        add(&rows, 2, 33, 0, i);
    /* trying all ids would cost more than bounds do */
    for (int64_t i = 0; i < 900; i++)
        add(&rows, 1, 1000 + i, 200, 0);
    for (int64_t i = 0; i < 200; i++)
        add(&rows, 0, 200, 300 + i, 0);
    world_open(&w,
               "Q(a,b,c,d,p,q,r,s,t,u) :- F(a,b), E(b,c), E(c,d), G(d,_,p), "
               "G(d,_,q), G(d,_,r), G(d,_,s), G(d,_,t), G(d,_,u), b != d.",
               &rows, 1);
    aset all = aset_first_n(w.q->n_atoms);
    assert_true(value(&w, all, vset_one(0) | vset_one(3)) ==
                2 * sixth_power(1122));
    world_close(&w);
}

/* On the way from one end of a path to the other a number leaves 64 bits,
 * at rows that lead nowhere. */
static void test_beyond_the_end(void **state)
{
    enum { FIRST = 1000 };
    static struct rows rows;
    struct world w;
    (void)state;
    memset(rows.n, 0, sizeof rows.n);
    rows.step = 1;
    rows.first = 0;
    for (int64_t i = 0; i < FIRST; i++)
        add(&rows, 0, 1, 10 + i, 0);
    add(&rows, 1, 5000, 7000, 0); /* 2^63 leaves, and no way on */
    add(&rows, 1, 5001, 7001, 0);
    for (int64_t i = 0; i < 512; i++)
        add(&rows, 2, 5000, 0, i);
    add(&rows, 2, 5001, 0, 0);
    add(&rows, 2, 7001, 9, 0);
    world_open(&w,
               "Q(a,b,c,d,e,p,q,r,s,t,u,v) :- G(c,d,_), F(e,c), G(e,_,p), "
               "G(e,_,q), G(e,_,r), G(e,_,s), G(e,_,t), G(e,_,u), G(e,_,v), "
               "E(a,b), b < e.",
               &rows, 1);
    aset all = aset_first_n(w.q->n_atoms);
    assert_true(value(&w, all, vset_one(0) | vset_one(3)) == FIRST);
    world_close(&w);
}

/* --- weights ---------------------------------------------------------------
 */

/* One pair of weight n, another of weight 1 that shares its ends. */
static void heavy_pair(struct rows *r, uint32_t n)
{
    memset(r->n, 0, sizeof r->n);
    r->step = 1;
    r->first = 0;
    r->narrow = true;
    for (uint32_t i = 0; i < n; i++)
        add(r, 2, 1, 2, i);
    add(r, 2, 1, 3, 0);
    add(r, 2, 4, 2, 0);
    add(r, 0, 2, 2, 0);
    add(r, 0, 2, 3, 0);
    add(r, 0, 3, 3, 0);
}

/* Weights n, n^2, n^3, n^4 of one pair; sums over a neighbour more. */
static void test_weights(void **state)
{
    static struct rows rows;
    static const uint32_t sizes[] = {65535, 65536, 65537, 100000};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct world w;
        u128 n = sizes[i];
        heavy_pair(&rows, sizes[i]);
        world_open(&w,
                   "Q(a,b,c,x,y,z,u) :- G(a,b,x), G(a,b,y), G(a,b,z), "
                   "G(a,b,u), E(b,c), G(a,c,_).",
                   &rows, 1);
        vset a = vset_one(0), b = vset_one(1), c = vset_one(2);
        for (aset f = 1; f < 16; f++) {
            u128 p = 1;
            for (aset s = f; s; s &= s - 1)
                p *= n;
            assert_true(value(&w, f, 0) == p + 2);
            assert_true(value(&w, f, a) == p + 1);
            assert_true(value(&w, f, b) == p + 1);
            assert_true(value(&w, f, a | b) == p);
            /* 1-2-2, 1-2-3 and 1-3-3; 4-2-2 and 4-2-3 */
            assert_true(value(&w, f | 16, 0) == 2 * p + 3);
            assert_true(value(&w, f | 16, a) == 2 * p + 1);
            assert_true(value(&w, f | 16, c) == p + 2);
            /* the last atom takes away 4-2-3 */
            assert_true(value(&w, f | 48, 0) == 2 * p + 2);
            assert_true(value(&w, f | 48, a) == 2 * p + 1);
            assert_true(value(&w, f | 48, c) == p + 1);
        }
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_hubs),
        cmocka_unit_test(test_ends_meet),
        cmocka_unit_test(test_near_the_end),
        cmocka_unit_test(test_beyond_the_end),
        cmocka_unit_test(test_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
