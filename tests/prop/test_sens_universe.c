/*
 * The claims of PROOF.md by brute force: on every instance of small universes
 * the capped sequence, the paper's and the elastic one are at least the local
 * sensitivity at distance 0, 1, 2 (by definition) and never above the next
 * value of a neighbour. Random queries of every class; the long suite runs
 * many more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include "harness/size.h"
#include "harness/plain.h"
#include "harness/universe_check.h"

static void run_class(enum gen_class c, unsigned rounds)
{
    uint64_t seed = 77 + (uint64_t)c, pairs = 0;
    for (unsigned i = 0; i < test_size(rounds); i++)
        pairs += check_random_query(c, &seed);
    print_message("class %d: %llu (query, instance) pairs\n", (int)c,
                  (unsigned long long)pairs);
    assert_true(pairs > (test_size(200) == 200 ? 200 : 0));
}

static void full_queries(void **state)
{
    (void)state;
    run_class(GEN_FULL, 12);
}

static void projections(void **state)
{
    (void)state;
    run_class(GEN_PROJECTION, 12);
}

static void filters(void **state)
{
    (void)state;
    run_class(GEN_FILTERS, 12);
}

static void several_relations(void **state)
{
    (void)state;
    run_class(GEN_SEVERAL, 12);
}

static void constraints(void **state)
{
    (void)state;
    run_class(GEN_CONSTRAINTS, 20);
}

static void bags(void **state)
{
    (void)state;
    run_class(GEN_BAGS, 10);
}

static void exact_filters(void **state)
{
    (void)state;
    run_class(GEN_EXACT, 25);
}

static void pieces(void **state)
{
    (void)state;
    run_class(GEN_PIECES, 10);
}

/* S itself, scan and rounding included: |q(I) - q(I')| <= S(I) and
 * S(I) <= e^beta S(I') between neighbours. */
static void check_values(const char *rule, const char *constraint,
                         const char *public, unsigned beta_den)
{
    static struct universe u;
    static double value[INSTANCES];
    uint64_t seed = 9;
    struct rules r;
    mpq_t beta;
    rules_init(&r);
    struct cq *q = rules_read(&r, rule);
    if (constraint)
        rules_constraint(&r, constraint);
    if (public)
        rules_public(&r, public);
    assert_true(universe_init(&u, q, 2, 1, &seed));
    mpq_init(beta);
    mpq_set_ui(beta, 1, beta_den);
    struct sens_options opt = {.beta = beta, .global_upper = U128_INF};
    unsigned n = 1u << u.n_slots;
    for (unsigned x = 0; x < n; x++) {
        if (!u.valid[x])
            continue;
        struct tiny t;
        struct sens s;
        struct arena a;
        universe_instance(&u, x, &t);
        struct sens_counter c = {.ctx = &t,
                                 .max = tiny_max,
                                 .max_exact = tiny_max_exact,
                                 .count = tiny_sealed};
        arena_init(&a, &r.mem);
        assert_int_equal(sens_compute(&a, q, &c, &opt, &s, &r.err), OK);
        assert_int_equal(secret_count_open(&s.count), u.count[x]);
        value[x] = s.value;
        sens_fini(&s);
        arena_fini(&a);
    }
    double slack = exp(1.0 / beta_den) * (1 + 1e-12);
    for (unsigned x = 0; x < n; x++)
        for (unsigned y = 0; y < n; y++) {
            if (!u.valid[x] || !u.valid[y] || universe_distance(&u, x, y) != 1)
                continue;
            double d = fabs((double)u.count[x] - (double)u.count[y]);
            assert_true(d <= value[x]);
            assert_true(value[x] <= slack * value[y]);
        }
    mpq_clear(beta);
    assert_true(rules_fini(&r));
}

static void values(void **state)
{
    (void)state;
    check_values("Q(x,y,z) :- R(x,y), R(y,z).", NULL, NULL, 2);
    check_values("Q(x,y,z) :- R(x,y), R(y,z), x != z.", NULL, NULL, 10);
    check_values("Q(x,y,z) :- R(x,y), S(y,z), R(z,x).", NULL, NULL, 4);
    check_values("Q(x) :- R(x,y), S(y,z), S(z,x).", NULL, NULL, 1);
    check_values("Q(x,y,z) :- R(x,y), S(y,z).", "S: 1 -> 2", NULL, 5);
    check_values("Q(x,y,z) :- R(x,y), P(y,z), R(z,x).", NULL, "P", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_queries),  cmocka_unit_test(projections),
        cmocka_unit_test(filters),       cmocka_unit_test(several_relations),
        cmocka_unit_test(constraints),   cmocka_unit_test(bags),
        cmocka_unit_test(exact_filters), cmocka_unit_test(pieces),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
