/*
 * Memory that runs out in the middle of a request and is there again for the
 * next: every allocation of every request fails once, and whatever was begun,
 * the same engine must then answer as one that never failed. Opening the
 * engine fails at every allocation, too, and leaves nothing behind.
 */
#include "harness/load_rows.h"
#include "harness/join_case.h"
#include "harness/join_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 500, TABLES = 4, ASKED = 12 };

/* E and F: pairs; G: pairs with a third column; D: decimals and texts. */
static const char *const rules[] = {
    "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), a != c, b != d, a != d.",
    "Q(a,b,c) :- E(a,b), F(b,c), E(c,a), a != b.",
    "Q(a,b,c,d) :- E(a,b), F(c,b), E(a,d), F(c,d), b != d.",
    "Q(a,b,c,x,y) :- G(a,b,x), G(a,b,y), E(b,c), F(c,a).",
    "Q(a,b,c,x) :- G(a,b,x), E(b,c).",
    "Q(a,x) :- G(a,b,x), E(b,c), a < c.",
    "Q(a,b,c) :- D(a,b), E(b,c), D(c,a), a != c.",
    "Q(a,b,c) :- D(a,b), E(c,7), a < c.",
    "Q(a,b,c,d) :- E(a,b), E(a,c), F(a,d), b != c, c != d, b != d.",
    "Q(a;b,c) :- E(a,b), F(b,c).",
};
enum { RULES = sizeof rules / sizeof rules[0] };

static struct str cell(struct jc_rng *g, char table, char out[24])
{
    uint32_t v = jc_below(g, 1 + jc_below(g, 800));
    if (table != 'D' || jc_below(g, 2))
        snprintf(out, 24, "%u", v);
    else if (jc_below(g, 2))
        snprintf(out, 24, "%u.5", v);
    else
        snprintf(out, 24, "t%u", v);
    return str_of(out);
}

static void load(struct world *w, size_t table, struct jc_rng *g)
{
    const struct table *t = &w->schema.tables.p[table];
    bool wanted[4] = {true, true, true, true};
    struct store_loader *l;
    assert_int_equal(store_load_begin(w->st, table, wanted, &l, &w->err), OK);
    for (int i = 0; i < ROWS; i++) {
        char text[4][24];
        struct str vals[4];
        for (size_t c = 0; c < t->n_cols; c++)
            vals[c] = cell(g, t->name.p[0], text[c]);
        assert_int_equal(store_load_text(l, vals, &w->err), OK);
    }
    assert_int_equal(store_load_end(l, &w->err), OK);
}

static void world_open(struct world *w, const char *rule)
{
    struct jc_rng g = {77};
    world_read(w, rule);
    for (size_t t = 0; t < w->st->n_tables; t++)
        load(w, t, &g);
}

struct question {
    aset f;
    vset boundary, outs;
    bool exact;
    u128 want;
};

static enum status ask(struct world *w, const struct question *x, u128 *out)
{
    return x->exact
               ? join_max_exact(w->j, x->f, x->boundary, x->outs, out, &w->err)
               : join_max(w->j, x->f, x->boundary, x->outs, out, &w->err);
}

static void make_questions(struct world *w, struct question *x)
{
    struct jc_rng g = {5};
    for (int i = 0; i < ASKED; i++) {
        aset all = aset_first_n(w->q->n_atoms);
        x[i].f = 1 + jc_below(&g, (uint32_t)all);
        vset vars = cq_vars_of(w->q, x[i].f);
        x[i].boundary = jc_below(&g, 2) ? vars & cq_vars_of(w->q, all & ~x[i].f)
                                        : vars & jc_below(&g, 256);
        x[i].outs = jc_below(&g, 3) ? vars : vars & jc_below(&g, 256);
        x[i].exact = jc_below(&g, 3) == 0;
        assert_int_equal(ask(w, &x[i], &x[i].want), OK);
    }
}

/* Opens with every allocation failing in turn; returns how many there are. */
static long open_after_failures(struct world *w)
{
    for (long n = 0;; n++) {
        size_t before = atomic_load(&w->mem.used);
        atomic_store(&w->mem.fail_after, n);
        enum status s = join_open(&w->mem, w->q, w->st, NULL, &w->j, &w->err);
        atomic_store(&w->mem.fail_after, -1);
        if (s == OK)
            return n;
        assert_int_equal(s, E_NOMEM);
        assert_int_equal(atomic_load(&w->mem.used), before);
        w->j = NULL;
    }
}

static long ask_after_failures(struct world *w, const struct question *x,
                               const struct question *other)
{
    for (long n = 0;; n++) {
        u128 got = 0, also = 0;
        join_forget(w->j);
        atomic_store(&w->mem.fail_after, n);
        enum status s = ask(w, x, &got);
        atomic_store(&w->mem.fail_after, -1);
        assert_true(s == OK || s == E_NOMEM);
        assert_int_equal(ask(w, other, &also), OK);
        assert_true(also == other->want);
        bool done = s == OK;
        assert_int_equal(ask(w, x, &got), OK);
        assert_true(got == x->want);
        if (done)
            return n;
    }
}

static void test_requests(void **state)
{
    long failures = 0;
    (void)state;
    for (int i = 0; i < RULES; i++) {
        struct world w;
        struct question x[ASKED];
        world_open(&w, rules[i]);
        assert_int_equal(join_open(&w.mem, w.q, w.st, NULL, &w.j, &w.err), OK);
        make_questions(&w, x);
        for (int k = 0; k < ASKED; k++) {
            /* an engine that knows nothing yet: what it keeps is made now */
            join_close(w.j);
            failures += open_after_failures(&w);
            failures += ask_after_failures(&w, &x[k], &x[(k + 5) % ASKED]);
        }
        world_close(&w);
    }
    print_message("%ld failures survived\n", failures);
    assert_true(failures > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
