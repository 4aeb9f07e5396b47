/*
 * The brute-force checks notice mistakes: each test breaks the plan (or the
 * counter) in one way that the proof forbids, and the same checks that pass on
 * the right plan must report violations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "harness/rules.h"
#include "harness/universe.h"

struct subject {
    struct rules r;
    struct cq *q;
    struct sens_plan *p;
    struct universe *u;
};

static struct universe the_universe;
static universe_sequence seq;

static void setup(struct subject *s, const char *rule, const char *public,
                  int domain, int copies, bool exact)
{
    uint64_t seed = 5;
    rules_init(&s->r);
    s->q = rules_read(&s->r, rule);
    if (public)
        rules_public(&s->r, public);
    s->u = &the_universe;
    assert_true(universe_init(s->u, s->q, domain, copies, &seed));
    assert_int_equal(sens_plan_new(&s->r.arena, s->q, exact, &s->p, &s->r.err),
                     OK);
}

static unsigned violations(struct subject *s, bool mixed)
{
    universe_local(s->u, 1);
    if (!universe_capped(s->u, s->p, 1, U128_INF, mixed, true, &seq, &s->r.err))
        fail_msg("%s", s->r.err.message);
    return universe_violations(s->u, 1, &seq);
}

static void finish(struct subject *s, unsigned found, const char *what)
{
    print_message("%s: %u violations\n", what, found);
    assert_true(found > 0);
    assert_true(rules_fini(&s->r));
}

static void drop_term(struct sens_coord *c, size_t i)
{
    memmove(&c->terms[i], &c->terms[i + 1],
            (c->n_terms - i - 1) * sizeof *c->terms);
    c->n_terms--;
}

static void missing_term_of_g(void **state)
{
    (void)state;
    struct subject s;
    setup(&s, "Q(x,y,z) :- R(x,y), R(y,z).", NULL, 2, 1, false);
    assert_int_equal(violations(&s, false), 0);
    assert_int_equal(s.p->top.n_terms, 3);
    unsigned all = s.p->n_coords ? 3 : 0, caught = 0;
    for (unsigned i = 0; i < all; i++) {
        struct sens_term saved[3];
        memcpy(saved, s.p->top.terms, sizeof saved);
        drop_term(&s.p->top, i);
        caught += violations(&s, false) > 0;
        memcpy(s.p->top.terms, saved, sizeof saved);
        s.p->top.n_terms = 3;
    }
    assert_int_equal(caught, 3);
    finish(&s, caught, "a term missing from g");
}

static void missing_term_of_step(void **state)
{
    (void)state;
    struct subject s;
    setup(&s, "Q(x,y,z) :- R(x,y), R(y,z).", NULL, 2, 1, false);
    for (size_t i = 0; i < s.p->n_coords; i++)
        if (aset_count(s.p->coords[i].atoms) == 1)
            s.p->coords[i].n_terms = 0;
    finish(&s, violations(&s, false), "no growth of single atoms");
}

static void wrong_unifiability(void **state)
{
    (void)state;
    struct subject s;
    /* A loop (a, a) matches both atoms at once. */
    setup(&s, "Q(x,y,z) :- R(x,y), R(y,z), S(z).", NULL, 2, 1, false);
    assert_int_equal(violations(&s, false), 0);
    struct sens_coord *top = &s.p->top;
    for (size_t i = top->n_terms; i-- > 0;)
        if (aset_count(s.p->coords[top->terms[i].from].atoms) == 1)
            drop_term(top, i);
    finish(&s, violations(&s, false), "only single atoms match a row");
}

static void one_relation_only(void **state)
{
    (void)state;
    struct subject s;
    setup(&s, "Q(x,y,z) :- R(x,y), S(y,z).", NULL, 2, 1, false);
    assert_int_equal(violations(&s, false), 0);
    for (size_t i = 0; i < s.p->n_coords; i++)
        for (size_t t = s.p->coords[i].n_terms; t-- > 0;)
            if (s.p->coords[i].terms[t].relation == 1)
                drop_term(&s.p->coords[i], t);
    finish(&s, violations(&s, false), "rows of the second relation forgotten");
}

/* Adds T_F <= T_a * T_b where a and b share a variable inside F. */
static void product_across_a_variable(void **state)
{
    (void)state;
    struct subject s;
    setup(&s, "Q(x,y,z) :- R(x,y), S(y,z), P(z).", NULL, 2, 1, false);
    long f = sens_plan_find(s.p, 3), a = sens_plan_find(s.p, 1),
         b = sens_plan_find(s.p, 2);
    assert_true(f > 0 && a > 0 && b > 0);
    assert_int_equal(s.p->coords[f].n_splits, 0);
    struct sens_split bad = {(uint32_t)a, (uint32_t)b};
    s.p->coords[f].splits = &bad;
    s.p->coords[f].n_splits = 1;
    finish(&s, violations(&s, false), "product across an inner variable");
}

/* x < z < y < u joins R and S although they share no variable: with exact
 * filters their counts do not multiply. */
static void product_across_a_filter(void **state)
{
    (void)state;
    struct subject s;
    setup(&s, "Q(x,y,z,u,v) :- R(x,y), S(z,u), P(v), x < z, z < y, y < u.",
          "R,S", 2, 1, true);
    static const int r[2][2] = {{0, 8}, {8, 16}}, t[2][2] = {{4, 12}, {12, 20}};
    s.u->base.domain = 6;
    for (int i = 0; i < 2; i++) {
        memcpy(s.u->base.tables[0].rows[i], r[i], sizeof r[i]);
        memcpy(s.u->base.tables[1].rows[i], t[i], sizeof t[i]);
    }
    s.u->base.tables[0].n_rows = s.u->base.tables[1].n_rows = 2;
    universe_recount(s.u);
    assert_int_equal(violations(&s, false), 0);
    /* What the plan would be without the condition on filters. */
    struct sens_plan *loose;
    assert_int_equal(sens_plan_new(&s.r.arena, s.q, false, &loose, &s.r.err),
                     OK);
    long f = sens_plan_find(loose, 3);
    assert_true(f > 0 && loose->coords[f].n_splits == 1);
    loose->filters_exact = true;
    s.p = loose;
    finish(&s, violations(&s, false), "product across an exact filter");
}

static void cap_one_on_bags(void **state)
{
    (void)state;
    struct subject s;
    setup(&s, "Q(x, y, i1, i2) :- R@i1(x,y), S@i2(x,y).", NULL, 1, 4, false);
    assert_int_equal(violations(&s, false), 0);
    for (size_t i = 0; i < s.p->n_coords; i++) {
        struct sens_coord *c = &s.p->coords[i];
        vset ids = 0;
        for (uint32_t v = 0; v < s.q->n_vars; v++)
            ids |= s.q->vars[v].is_rowid ? vset_one(v) : 0;
        if (vset_sub(c->outs & ~ids, c->boundary))
            c->cap = 1;
    }
    finish(&s, violations(&s, false), "cap 1 on bags");
}

static void filters_by_set(void **state)
{
    (void)state;
    struct subject s;
    setup(&s, "Q(x,y,u,w) :- R(x,y), S(u), P(w), x < w, w < y.", "R", 3, 1,
          false);
    static const int r[2][2] = {{0, 4}, {4, 8}};
    for (int i = 0; i < 2; i++)
        memcpy(s.u->base.tables[0].rows[i], r[i], sizeof r[i]);
    s.u->base.tables[0].n_rows = 2;
    universe_recount(s.u);
    assert_int_equal(violations(&s, false), 0);
    finish(&s, violations(&s, true), "filters treated by the size of the set");
}

static void global_bound_too_small(void **state)
{
    (void)state;
    struct subject s;
    setup(&s, "Q(x,y,z) :- R(x,y), R(y,z).", NULL, 2, 1, false);
    universe_local(s.u, 1);
    assert_true(universe_capped(s.u, s.p, 1, 2, false, false, &seq, &s.r.err));
    finish(&s, universe_violations(s.u, 1, &seq), "global bound too small");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_term_of_g),
        cmocka_unit_test(missing_term_of_step),
        cmocka_unit_test(wrong_unifiability),
        cmocka_unit_test(one_relation_only),
        cmocka_unit_test(product_across_a_variable),
        cmocka_unit_test(product_across_a_filter),
        cmocka_unit_test(cap_one_on_bags),
        cmocka_unit_test(filters_by_set),
        cmocka_unit_test(global_bound_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
