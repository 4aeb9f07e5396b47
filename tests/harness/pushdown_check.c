/*
 * Pushdown against nested loops: random queries (self-joins, constants,
 * projections, filters, several tables, bags, keys) on random small tables,
 * every set of atoms, with its natural boundary and with random ones.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "harness/pushdown_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness/pg_server.h"
#include "harness/rule_gen.h"
#include "harness/tiny.h"
#include "harness/universe.h"
#include "pushdown/pushdown.h"

static const char *const names[] = {"p", "r", "s"};

uint64_t pushdown_check_most;
bool pushdown_check_mutant;
unsigned pushdown_check_wrong, pushdown_check_clamped;

/* Does a row have this key, its first columns? */
static bool has_key(const struct tiny_table *t, unsigned key, int a, int b)
{
    for (size_t i = 0; key && i < t->n_rows; i++)
        if (t->rows[i][0] == a && (key == 1 || t->rows[i][1] == b))
            return true;
    return false;
}

/* key: so many columns are one; 0: none. */
static void random_rows(struct tiny_table *t, int domain, unsigned key,
                        uint64_t *seed)
{
    size_t n = universe_random(seed, 8);
    t->n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        int a = (int)universe_random(seed, (uint64_t)domain) * TINY_GAP;
        int b = (int)universe_random(seed, (uint64_t)domain) * TINY_GAP;
        if (has_key(t, key, a, b))
            continue;
        t->rows[t->n_rows][0] = a;
        t->rows[t->n_rows++][1] = b;
    }
}

static void fill_server(const struct tiny *t)
{
    char sql[4000];
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        n += (size_t)snprintf(sql + n, sizeof sql - n, "DELETE FROM %s;",
                              names[i]);
        for (size_t r = 0; r < t->tables[i].n_rows; r++)
            n += (size_t)snprintf(
                sql + n, sizeof sql - n, "INSERT INTO %s VALUES (%d, %d);",
                names[i], t->tables[i].rows[r][0], t->tables[i].rows[r][1]);
    }
    assert_true(pg_server_run(sql));
}

/* Variables that f shares with the rest of the query. */
static vset shared(const struct cq *q, aset f)
{
    aset rest = aset_first_n(q->n_atoms) & ~f;
    return cq_vars_of(q, f) & cq_vars_of(q, rest);
}

static vset rowids(const struct cq *q)
{
    vset s = 0;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (q->atoms[i].rowid >= 0)
            s |= vset_one((unsigned)q->atoms[i].rowid);
    return s;
}

static void compare_as(struct pushdown *c, struct tiny *t, bool exact, aset f,
                       vset boundary, vset outs, const char *rule)
{
    u128 want = 0, got = 0;
    struct err err = {0};
    assert_int_equal(
        (exact ? tiny_max_exact : tiny_max)(t, f, boundary, outs, &want, &err),
        OK);
    enum status s = (exact ? pushdown_max_exact
                           : pushdown_max)(c, f, boundary, outs, &got, &err);
    if (pushdown_check_most && want > pushdown_check_most) {
        want = pushdown_check_most;
        pushdown_check_clamped++;
    }
    pushdown_check_wrong += s != OK || want != got;
    if (pushdown_check_mutant)
        return;
    if (s != OK || want != got)
        fprintf(stderr,
                "%s%s: atoms %llx boundary %llx outs %llx: %llu, not "
                "%llu %s\n",
                rule, exact ? " (exact)" : "", (unsigned long long)f,
                (unsigned long long)boundary, (unsigned long long)outs,
                (unsigned long long)got, (unsigned long long)want, err.message);
    assert_int_equal(s, OK);
    assert_true(want == got);
}

struct asks {
    struct pushdown_ask list[1024];
    size_t n;
};

static void add(struct asks *a, const struct tiny *t, aset f, vset boundary,
                vset outs)
{
    for (int exact = 0; exact <= (t->q->n_cmps > 0); exact++) {
        assert_true(a->n < sizeof a->list / sizeof *a->list);
        a->list[a->n++] = (struct pushdown_ask){f, boundary, outs, exact};
    }
}

/* One by one, or prepared together: then nothing is left to be sent. */
static void compare_all(struct pushdown *c, struct tiny *t, const char *rule,
                        uint64_t *seed)
{
    const struct cq *q = t->q;
    struct asks a = {.n = 0};
    struct err err = {0};
    for (aset f = 1; f < aset_one(q->n_atoms); f++) {
        vset vars = cq_vars_of(q, f);
        add(&a, t, f, shared(q, f), cq_free(q) & vars);
        vset boundary = universe_random(seed, 1 << 12) & vars & ~rowids(q);
        vset outs = universe_random(seed, 1 << 12) & vars;
        add(&a, t, f, boundary, outs);
        add(&a, t, f, 0, outs);
        /* rows counted, their columns not asked for */
        if (vars & rowids(q))
            add(&a, t, f, shared(q, f), vars & rowids(q));
    }
    bool together = universe_random(seed, 4) > 0;
    enum status s = together ? pushdown_prepare(c, a.list, a.n, &err) : OK;
    if (s != OK && pushdown_check_mutant) { /* numbers below 0 */
        pushdown_check_wrong++;
        return;
    }
    assert_int_equal(s, OK);
    uint64_t sent = pushdown_statements(c);
    for (size_t i = 0; i < a.n; i++)
        compare_as(c, t, a.list[i].exact, a.list[i].f, a.list[i].boundary,
                   a.list[i].outs, rule);
    assert_true(!together || pushdown_statements(c) == sent);
}

static void check_rule(const char *rule, int domain, bool keyed, uint64_t *seed)
{
    struct rules r;
    struct source *src;
    struct pushdown *c;
    struct tiny t = {.domain = domain};
    rules_init(&r);
    struct source_spec spec = {.db = str_of(pg_server())};
    for (size_t i = 0; i < 3; i++)
        random_rows(&t.tables[i], domain, keyed ? (unsigned)i : 0, seed);
    fill_server(&t);
    assert_int_equal(source_open(&r.mem, &spec, &r.schema, &src, &r.err), OK);
    struct cq *q = rules_read(&r, rule);
    assert_int_equal(q->schema->tables.n, 3);
    t.q = q;
    assert_int_equal(pushdown_open(src, q, true, NULL, &c, &r.err), OK);
    compare_all(c, &t, rule, seed);
    pushdown_close(c);
    source_close(src);
    assert_true(rules_fini(&r));
}

static void one(enum gen_class class, bool keyed, uint64_t *seed)
{
    struct gen g;
    gen_rule(class, seed, &g);
    check_rule(g.rule, g.domain + 1, keyed, seed);
}

static void make_tables(bool keyed)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "DROP TABLE IF EXISTS p, r, s; CREATE TABLE p(a int, b int); "
             "CREATE TABLE r(a int%s, b int%s); "
             "CREATE TABLE s(a int, b int%s)",
             keyed ? " PRIMARY KEY" : "", keyed ? " NOT NULL" : "",
             keyed ? ", PRIMARY KEY (a, b)" : "");
    assert_true(pg_server_run(sql));
}

void pushdown_check(bool keyed, uint64_t seed, unsigned each)
{
    static const enum gen_class classes[] = {
        GEN_FULL, GEN_PROJECTION, GEN_FILTERS, GEN_SEVERAL, GEN_BAGS};
    if (!pg_server())
        skip();
    make_tables(keyed);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        for (unsigned n = 0; n < each; n++)
            one(classes[i], keyed, &seed);
}

void pushdown_check_differences(uint64_t seed, unsigned each)
{
    static const char *const rules[] = {
        "Q(x,y,z,i,j) :- r@i(x,y), s@j(x,z), y != z.",
        "Q(y,z,i,j) :- r@i(x,y), s@j(u,z), y != z.",
        "Q(x,y,z,w,i,j,k) :- r@i(x,y), s@j(x,z), p@k(x,w), y != z, z != w."};
    if (!pg_server())
        skip();
    make_tables(false);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (unsigned n = 0; n < each; n++)
            check_rule(rules[i], 2, false, &seed);
}

/* --- patterns whose values must differ
 * ----------------------------------------*/

struct pattern {
    char text[400];
    size_t n;
    unsigned vars, atoms;
    bool bags;
};

static void put(struct pattern *p, const char *format, unsigned a, unsigned b)
{
    p->n +=
        (size_t)snprintf(p->text + p->n, sizeof p->text - p->n, format, a, b);
}

static void put_head(struct pattern *p, uint64_t *seed)
{
    unsigned left_out = (unsigned)universe_random(seed, 5 * p->vars);
    const char *between = "Q(";
    for (unsigned v = 0; v < p->vars; v++) {
        if (v == left_out)
            continue;
        put(p, between, 0, 0);
        put(p, "v%u", v, 0);
        between = ", ";
    }
    for (unsigned a = 0; p->bags && a < p->atoms; a++)
        put(p, ", i%u", a, 0);
    put(p, ") :- ", 0, 0);
}

/* Each variable hangs on an earlier one; further atoms close cycles. */
static void put_atoms(struct pattern *p, uint64_t *seed)
{
    for (unsigned a = 0; a < p->atoms; a++) {
        unsigned x = a + 1 < p->vars
                         ? a + 1
                         : 1 + (unsigned)universe_random(seed, p->vars - 1);
        unsigned y = (unsigned)universe_random(seed, x);
        bool back = universe_random(seed, 2) == 0;
        put(p, universe_random(seed, 4) ? "r" : "s", 0, 0);
        if (p->bags)
            put(p, "@i%u", a, 0);
        put(p, "(v%u, v%u), ", back ? y : x, back ? x : y);
    }
}

static void random_pattern(struct pattern *p, uint64_t *seed)
{
    const char *between = "";
    *p = (struct pattern){.n = 0};
    p->vars = 3 + (unsigned)universe_random(seed, 2);
    p->atoms = p->vars - 1 + (unsigned)universe_random(seed, 2);
    p->bags = universe_random(seed, 4) == 0;
    put_head(p, seed);
    put_atoms(p, seed);
    for (unsigned x = 1; x < p->vars; x++)
        for (unsigned y = 0; y < x; y++) {
            uint64_t kind = universe_random(seed, 10);
            if (kind > 6)
                continue;
            put(p, between, 0, 0);
            put(p, kind ? "v%u != v%u" : "v%u < v%u", x, y);
            between = ", ";
        }
    if (!*between)
        put(p, "v0 != v1", 0, 0);
    put(p, ".", 0, 0);
}

void pushdown_check_patterns(uint64_t seed, unsigned n)
{
    static const char *const known[] = {
        "Q(a,b,c,d) :- r(a,b), r(a,c), r(a,d), b != c, b != d, c != d.",
        "Q(a,b,c,d) :- r(a,b), r(b,c), r(c,d), r(d,a), a != c, b != d, a != b.",
        "Q(a,b,c,d) :- r(a,b), r(a,c), r(b,c), r(a,d), r(b,d), c != d."};
    if (!pg_server())
        skip();
    make_tables(false);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        check_rule(known[i], 3, false, &seed);
    for (unsigned i = 0; i < n; i++) {
        struct pattern p;
        random_pattern(&p, &seed);
        check_rule(p.text, 3, false, &seed);
    }
}
