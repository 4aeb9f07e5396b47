/*
 * Constraints say the same in every order. A rule's relations have no declared
 * columns: a bound on rows or a key comes before anything tells how many there
 * are, and must not be taken for a bound on the columns named so far.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bound/bound.h"
#include "harness/rules.h"

enum { MOST = 4 };

struct task {
    const char *rule;
    const char *constraints[MOST];
    uint64_t upper;
};

static const struct task tasks[] = {
    {"Q(x,y) :- R(x,y), S(z).", {"R: () -> 1 <= 4", "|R| <= 4"}, 4},
    {"Q(x,y) :- R(x,y), S(z).", {"|R| <= 4", "R: () -> 2 <= 9"}, 4},
    {"Q(x,y,z) :- R(x,y,z), S(x).", {"R: 1 -> 1, 2", "R: 1 -> *"}, 1},
    {"Q(x,y,z) :- R(x,y,z), S(x).",
     {"R: 1 -> 1, 2 <= 5", "R: 1 -> * <= 5", "R: 1 -> 2 <= 7"},
     5},
    {"Q(r,x) :- R@r(x), S(x).", {"R: () -> 1 <= 2", "|R| <= 3"}, 3},
    {"Q(r,x,y) :- R@r(x,y), S(x).", {"R: 1 -> 1, 2", "R: 1 -> *"}, 1},
    {"Q(x,y) :- R(x,y), S(z), T(x).",
     {"R: 1 -> 1 <= 1", "|R| <= 6", "R: 1 -> * <= 2", "|S| <= 3"},
     6},
};

static void analyse(const struct task *t, const size_t *order, size_t n)
{
    struct rules r;
    struct bound b;
    struct bound_options opt = {.want_lower = true};
    rules_init(&r);
    for (size_t i = 0; i < n; i++)
        rules_constraint(&r, t->constraints[order[i]]);
    struct cq *q = rules_read(&r, t->rule);
    assert_int_equal(bound_analyze(&r.arena, q, &opt, &b, &r.err), OK);
    if (b.upper != t->upper || b.lower > b.upper)
        fail_msg("%s with %s first: %llu", t->rule, t->constraints[order[0]],
                 (unsigned long long)b.upper);
    assert_true(b.lower == b.upper || !b.exact);
    assert_true(rules_fini(&r));
}

/* Heap's algorithm without recursion: all orders of the first n. */
static void every_order(const struct task *t, size_t n)
{
    size_t order[MOST], turn[MOST] = {0};
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    analyse(t, order, n);
    for (size_t i = 0; i < n;) {
        if (turn[i] == i) {
            turn[i++] = 0;
            continue;
        }
        size_t j = i % 2 ? turn[i] : 0, keep = order[j];
        order[j] = order[i];
        order[i] = keep;
        turn[i]++;
        analyse(t, order, n);
        i = 0;
    }
}

static void orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        size_t n = 0;
        while (n < MOST && tasks[i].constraints[n])
            n++;
        every_order(&tasks[i], n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
