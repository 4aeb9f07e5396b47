/* Chase, core, homomorphisms, unification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/rules.h"
#include "logic/logic.h"

enum how { CHASE, CORE, BOTH };

/* `constraints` are separated by ';'. */
static void becomes(enum how how, const char *rule, const char *constraints,
                    const char *want)
{
    struct rules r;
    struct work w = {.left = 1000000};
    struct cq *out;
    rules_init(&r);
    struct str left = str_of(constraints);
    while (left.n > 0) {
        size_t n = 0;
        while (n < left.n && left.p[n] != ';')
            n++;
        rules_constraint(&r, str_copy(&r.arena, (struct str){left.p, n}).p);
        left.p += n < left.n ? n + 1 : n;
        left.n -= n < left.n ? n + 1 : n;
    }
    struct cq *q = rules_read(&r, rule);
    enum status st = how == CHASE ? logic_chase(&r.arena, q, &out, &r.err)
                     : how == CORE
                         ? logic_core(&r.arena, q, &w, &out, &r.err)
                         : logic_normalise(&r.arena, q, &w, &out, &r.err);
    assert_int_equal(st, OK);
    assert_null(cq_check(out));
    assert_string_equal(out->unsat ? "none" : cq_text(&r.arena, out).p, want);
    assert_true(rules_fini(&r));
}

static void chase(void **state)
{
    (void)state;
    /* an output is never replaced by a variable that is not counted */
    becomes(CHASE, "Q(x) :- R(z,y), R(z,x).", "R: 1 -> 2", "Q(x) :- R(z,x).");
    becomes(CHASE, "Q(x) :- R(z,y,w), R(z,x,v), U(w).", "R: 1 -> 2",
            "Q(x) :- R(z,x,w), R(z,x,v), U(w).");
    /* constants win */
    becomes(CHASE, "Q(x) :- R('a','b'), R('a',x).", "R: 1 -> 2",
            "Q('b') :- R('a','b').");
    becomes(CHASE, "Q(x) :- R('a','b'), R('a','d'), R(x,y).", "R: 1 -> 2",
            "none");
    becomes(CHASE, "Q(x,y) :- R(z,x), R(z,y), U(z).", "R: 1 -> 2",
            "Q(x,x) :- R(z,x), U(z).");
    becomes(CHASE, "Q(x,w) :- R(y,z,w), R(y,z,x), S(y).", "R: (1, 2) -> 3",
            "Q(x,x) :- R(y,z,x), S(y).");
    becomes(CHASE, "Q(x) :- R(x,y), R(x,z), y != z.", "R: 1 -> 2", "none");
    becomes(CHASE, "Q(x) :- R(x,y), R(x,z), y < z.", "R: 1 -> 2", "none");
    /* constants of two kinds compare too: numbers come before texts */
    becomes(CHASE, "Q(x) :- R(x), x < 'a', x <= 1, 1 <= x.", "",
            "Q(1) :- R(1).");
    becomes(CHASE, "Q(x) :- R(x), x != 'a', x <= 1, 1 <= x.", "",
            "Q(1) :- R(1).");
    becomes(CHASE, "Q(x) :- R(x), 'a' < x, x <= 1, 1 <= x.", "", "none");
    becomes(CHASE, "Q(x) :- R(x), 'a' < x, x < 1.", "", "none");
    /* columns that nobody named are merged as well */
    becomes(CHASE, "Q(x) :- R(x,_,'a'), R(x,'c',_).", "R: 1 -> 2",
            "Q(x) :- R(x,'c','a'), R(x,'c',_).");
    /* no constraint, no change */
    becomes(CHASE, "Q(x) :- R(z,y), R(z,x).", "R: 1 -> 2 <= 2",
            "Q(x) :- R(z,y), R(z,x).");
}

static void order_cycles(void **state)
{
    (void)state;
    becomes(CHASE, "Q(x,y,z) :- R(x,y,z), x <= y, y <= z, z <= x.", "",
            "Q(x,x,x) :- R(x,x,x).");
    becomes(CHASE, "Q(x,y,z) :- R(x,y,z), x <= y, y < z, z <= x.", "", "none");
    becomes(CHASE, "Q(x) :- R(x), 5 <= x, x <= 3.", "", "none");
    becomes(CHASE, "Q(x) :- R(x), x < 3, 2 < x.", "",
            "Q(x) :- R(x), x < 3, 2 < x.");
    /* through the order of constants, which nobody wrote */
    becomes(CHASE, "Q(x,y) :- R(x,y), x <= y, y <= 3, 4 <= x.", "", "none");
    becomes(CHASE, "Q(x,y) :- R(x,y), y <= 3, 4 <= x, x <= 5, 2 < y.", "",
            "Q(x,y) :- R(x,y), y <= 3, 4 <= x, x <= 5, 2 < y.");
    becomes(CHASE, "Q(x,y) :- R(x,y), x <= 3, 3 <= x, y <= 3, 4.5 <= y.", "",
            "none");
    becomes(CHASE, "Q(x,y) :- R(x,y), x <= 3, 3 <= x, x <= y, y <= 4.", "",
            "Q(3,y) :- R(3,y), 3 <= y, y <= 4.");
    /* two cycles that touch, and one that does not close */
    becomes(CHASE,
            "Q(x,y,z,w) :- R(x,y,z,w), x <= y, y <= x, y <= z, z <= y, "
            "z <= w.",
            "", "Q(x,x,x,w) :- R(x,x,x,w), x <= w.");
    /* no order: different constants, texts beside numbers */
    becomes(CHASE, "Q(x) :- R(x), x != 3, x != 4.", "",
            "Q(x) :- R(x), x != 3, x != 4.");
    becomes(CHASE, "Q(x,y) :- R(x,y), x <= 'a', 3 <= y, y < 4, 'a' <= x.", "",
            "Q('a',y) :- R('a',y), 3 <= y, y < 4.");
}

/* Of the bounds on one side the tightest is kept, a strict one before the
 * same that is not. */
static void tightest_bounds(void **state)
{
    (void)state;
    becomes(CHASE, "Q(x) :- R(x), x < 9, x < 7, x < 8, x <= 7, 1 < x, 2 <= x.",
            "", "Q(x) :- R(x), x < 7, 2 <= x.");
    becomes(CHASE, "Q(x) :- R(x), x <= 7, x < 7, 2 <= x, 2 < x, x != 2.", "",
            "Q(x) :- R(x), x < 7, 2 < x, x != 2.");
    becomes(CHASE, "Q(x) :- R(x), x < 7.5, x <= 7.25, -1 < x, -2.5 < x.", "",
            "Q(x) :- R(x), x <= 7.25, -1 < x.");
    becomes(CHASE, "Q(x,y) :- R(x,y), 7 < x, y < 'b', x < y, x < 'a'.", "",
            "Q(x,y) :- R(x,y), 7 < x, y < 'b', x < y, x < 'a'.");
    becomes(CHASE, "Q(x,y) :- R(x,y), x < 7, y < 8, x < y, 'a' < x.", "",
            "none");
}

static void core(void **state)
{
    (void)state;
    becomes(CORE, "Q(x) :- R(x), R(y).", "", "Q(x) :- R(x).");
    becomes(CORE, "Q(x) :- R(x), R(y), x != y.", "",
            "Q(x) :- R(x), R(y), x != y.");
    becomes(CORE, "Q(x) :- R(x,'c'), R(y,'c').", "", "Q(x) :- R(x,'c').");
    becomes(CORE, "Q(x) :- E(x,y), E(y,y).", "", "Q(x) :- E(x,y), E(y,y).");
    becomes(CORE, "Q() :- E(x,y), E(y,y).", "", "Q() :- E(y,y).");
    becomes(CORE, "Q(x) :- R(x,y), R(y,z), R(u,v).", "",
            "Q(x) :- R(x,y), R(y,z).");
    becomes(CORE, "Q(x,y) :- R(x,y), R(x,z), R(w,y).", "", "Q(x,y) :- R(x,y).");
    becomes(BOTH, "Q(x) :- R(x,'c'), R(x,y), S('c'), S(y).", "R: 1 -> 2",
            "Q(x) :- R(x,'c'), S('c').");
    /* odd cycles do not fold, even ones fold to an edge and back */
    becomes(CORE, "Q() :- E(a,b), E(b,c), E(c,a).", "",
            "Q() :- E(a,b), E(b,c), E(c,a).");
}

static void bags_are_not_merged(void **state)
{
    (void)state;
    becomes(BOTH, "Q(r) :- R@r(x,y), R@s(x,z).", "",
            "Q(r) :- R@r(x,y), R@s(x,z).");
    becomes(BOTH, "Q(x) :- R@r(x,y), R@s(x,z).", "R: 1 -> 2",
            "Q(x) :- R@r(x,y), R@s(x,y).");
}

static bool unifies(const char *rule)
{
    struct rules r;
    rules_init(&r);
    struct cq *q = rules_read(&r, rule);
    bool u = logic_unifiable(q, aset_first_n(2));
    assert_true(rules_fini(&r));
    return u;
}

static void unification(void **state)
{
    (void)state;
    assert_true(unifies("Q(x) :- R(x,y), R(y,z)."));
    assert_false(unifies("Q(x) :- R(x,y), R(y,z), x != y."));
    assert_true(unifies("Q(x) :- R(x,y), R(y,z), x <= y."));
    assert_false(unifies("Q(x) :- R(x,y), R(y,z), S(z), x < z."));
    assert_true(unifies("Q(x) :- R(x,y), R(x,'1'), x != y."));
    assert_false(unifies("Q(y) :- R('1',y), R(y,'2')."));
    assert_false(unifies("Q(x) :- R('1',x), R('2',x)."));
    assert_true(unifies("Q(x) :- R(_,x), R('2',x)."));
    assert_false(unifies("Q(x) :- R(x), R(3), x < 3."));
    assert_true(unifies("Q(r,s) :- R@r(x,y), R@s(x,z)."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chase),
        cmocka_unit_test(order_cycles),
        cmocka_unit_test(tightest_bounds),
        cmocka_unit_test(core),
        cmocka_unit_test(bags_are_not_merged),
        cmocka_unit_test(unification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
