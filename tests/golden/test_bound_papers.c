/*
 * Every example of "Sensitivity of Counting Queries" (numbers of the version
 * with proofs), the published statements that are wrong, with the smallest
 * query that shows it, and the examples on bounded sizes of "A Nearly
 * Instance-optimal Differentially Private Mechanism for Conjunctive Queries".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bound/bound.h"
#include "harness/rules.h"

#define INF (-1L)
#define ANY (-2L)

struct example {
    const char *name, *rule, *constraints; /* separated by ';' */
    const char *public_tables;
    long upper, lower; /* INF: unbounded; lower ANY: not checked */
};

static const struct example examples[] = {
    /* Examples 1, 2, 5, 7, 9: the running example, nothing declared */
    {"2", "Q(d) :- Doc(d,'O',h), Pat(p,'F',h), PatDoc(p,d).", "", "", INF, INF},
    /* Example 3 leaves the place unquantified; here it is a constant */
    {"3", "Q(p) :- Doc(d,'O',h), Hos(h,'NY'), Pat(p,s,h), PatDoc(p,d).", "", "",
     INF, INF},
    /* Example 6: its core without regard to the outputs is smaller */
    {"6", "Q(x1,x2) :- S(x1,x1), S(x1,y2), R(x1,y1), R(x2,y1).", "", "", INF,
     INF},
    /* Example 10: the path of four steps, and a shorter one of two */
    {"10", "Q(d) :- U(a), R(a,b,c), R(a,d,f), S(e,f), T(c,e,d).",
     "R: 1 -> 3 <= 2; T: 1 -> 2 <= 2; S: 1 -> 2 <= 2; R: 3 -> 2 <= 2", "R,S,T",
     4, ANY},
    /* Example 12: a path of n edges with keys both ways costs n */
    {"12", "Q(a) :- R(a,b), R(b,c), R(c,d), R(d,e).", "R: 1 -> 2; R: 2 -> 1",
     "", 4, 4},
    {"12, three edges", "Q(a) :- R(a,b), R(b,c), R(c,d).",
     "R: 1 -> 2; R: 2 -> 1", "", 3, 3},
    {"13", "Q(d) :- Doc(d,'O',h), Pat(p,'F',h), PatDoc(p,d).", "PatDoc: 1 -> 2",
     "", 1, 1},
    {"14, 16", "Q(d) :- Doc(d,'O',h), Pat(p,'F',h), PatDoc(p,d).",
     "PatDoc: 1 -> 2 <= 3", "", 3, 3},
    /* small ones beside the examples */
    {"one relation", "Q(x) :- R(x,y).", "", "", 1, 1},
    {"Boolean path", "Q() :- R(x,y), R(y,z).", "", "", 1, 1},
    {"two-cycle", "Q(x) :- R(x,y), R(y,x).", "", "", 2, 2},
    {"components", "Q(x) :- R(x), S(y).", "", "", INF, INF},
    {"components fold", "Q(x) :- R(x,y), R(z,w).", "", "", 1, 1},
    {"product", "Q(x,y) :- R(x), S(y).", "", "", INF, INF},

    /* Proposition 1 says 1 */
    {"prop 1", "Q(x) :- R(x,y), R(z,x).", "", "", 2, 2},
    {"prop 1, two outputs", "Q(x,y) :- R(x,y), R(y,x).", "", "", 2, 2},
    {"prop 1, constants", "Q(x) :- R(x,'c'), R('d',x).", "", "", 2, 2},
    {"prop 1, three", "Q(x) :- T(x,_,_), T(_,x,_), T(_,_,x).", "", "", 3, 3},
    {"prop 1, six",
     "Q(x,y) :- T(x,y,_), T(y,x,_), T(x,_,y), T(y,_,x), T(_,x,y), T(_,y,x).",
     "", "", 6, 6},
    {"theorem 8", "Q(x) :- R(x,y), R(y,x), R(u,v).", "", "", 2, 2},
    /* Proposition 2 and Theorem 8 say unbounded */
    {"prop 2", "Q(x) :- R(x), R(y).", "", "", 1, 1},
    {"prop 2, fd", "Q(x) :- R(x,y), R(u,v).", "R: 1 -> 2", "", 1, 1},
    {"theorem 8, Boolean", "Q() :- R(x), S(y).", "", "", 1, 1},
    {"lemma 23", "Q(x) :- E(x,y), E(y,y).", "", "", INF, INF},
    {"constant links", "Q(x) :- R(x,'c'), S(y,'c').", "", "", INF, INF},
    {"constant folds", "Q(x) :- R(x,'c'), R(y,'c').", "", "", 1, 1},
    {"constant apart", "Q(x) :- U(x), V('c').", "", "", INF, INF},
    /* The printed chase drops an output: it says 1 */
    {"chase", "Q(x) :- R(z,x,v), R(z,y,w), U(w).", "R: 1 -> 2", "", INF, INF},
    {"chase, order", "Q(x) :- R(z,x), R(z,y).", "R: 1 -> 2", "", 1, 1},
    /* Theorem 11, lower bound: simple paths miss the constant */
    {"theorem 11", "Q(x) :- P(w), S(w,x), R(x,'c').", "R: 2 -> 1", "", 1, 1},
    /* Theorem 17: common prefixes are paid once */
    {"theorem 17", "Q(x,y) :- A(u), P(u,x), T(x,y).",
     "P: 1 -> 2 <= 2; T: 1 -> 2", "", 2, 2},
    /* Pigeonhole: three values where two are allowed */
    {"pigeonhole", "Q(x) :- R(u,'b'), R(u,'d'), R(u,x), S(v,u), T(v).",
     "R: 1 -> 2 <= 2", "", 2, 2},
    {"no pigeonhole", "Q(x) :- R(u,'b'), R(u,'d'), R(u,x), S(v,u), T(v).",
     "R: 1 -> 2 <= 3", "", INF, INF},
    /* Self-joins that cost less than the sum */
    {"newness", "Q(x) :- R(x,'c'), R(y,x).", "", "", 1, 1},
    {"same column", "Q(x) :- R(x,y), R(x,z), S(y,z).", "S: 1 -> 2", "", INF,
     INF},
    {"incompatible", "Q(x) :- R(x,'a'), R(x,'b').", "", "", 1, 1},
    {"overlap", "Q(x,y) :- R(z,x), R(z,y).", "R: 1 -> 2 <= 3", "", 5, 5},
    {"sum attained", "Q(a) :- R(a,b), R(b,c), R(c,d).", "R: 2 -> 1 <= 2", "", 7,
     7},
    /* Filters: a core that ignores them says 1 */
    {"filter", "Q(x) :- R(x), R(y), x != y.", "", "", INF, 2},
    {"filter kills", "Q(x) :- R(x,y), R(x,z), y != z.", "R: 1 -> 2", "", 0, 0},
    /* Composite: no walk, but a plan */
    {"composite", "Q(x) :- A(y), B(y,z), R(y,z,x).",
     "B: 1 -> 2 <= 2; R: (1, 2) -> 3 <= 2", "", 4, 4},
    /* Polymatroid below plan */
    {"triangle gate", "Q(x,y,z) :- A('c'), R(x,y), S(y,z), T(z,x).",
     "|R| <= 4; |S| <= 4; |T| <= 4", "", 8, 8},
    {"Steiner gap",
     "Q(x,y,z) :- A(r), P(r,u), S(r,v), T(r,w), F(u,x,y), G(v,y,z), H(w,x,z).",
     "P: 1 -> 2 <= 4; S: 1 -> 2 <= 4; T: 1 -> 2 <= 4; F: 1 -> 2, 3; "
     "G: 1 -> 2, 3; H: 1 -> 2, 3",
     "P,S,T,F,G,H", 8, 8},
    {"public", "Q(x) :- R(x,y), S(y).", "", "S", 1, 1},
    {"public only", "Q(x) :- R(x,y), S(y).", "", "S,R", 0, 0},

    /* Global sensitivity through bounded sizes: N and N^2 */
    {"3.6", "Q(x,y,z) :- E(x,y), E(y,z), E(z,x).", "|E| <= 1000", "", 3000,
     ANY},
    {"A.1", "Q(a,b,c,d,e) :- E(a,b), E(b,c), E(c,d), E(d,e).", "|E| <= 1000",
     "", 4000000, ANY},
    {"3.6, all different",
     "Q(x,y,z) :- E(x,y), E(y,z), E(z,x), x != y, y != z, x != z.",
     "|E| <= 1000", "", 3000, ANY},

    /* orders JOIN customers: the customer's row carries all its orders */
    {"FLEX", "Q(o) :- orders(o,c), customers(c,n).",
     "customers: 1 -> *; orders: 1 -> *", "", INF, INF},
    {"FLEX, bounded", "Q(o) :- orders(o,c), customers(c,n).",
     "customers: 1 -> *; orders: 1 -> *; orders: 2 -> 1 <= 20", "", 20, 20},
    {"FLEX, public customers", "Q(o) :- orders(o,c), customers(c,n).",
     "customers: 1 -> *; orders: 1 -> *", "customers", 1, 1},
};

static u128 expected(long v)
{
    return v == INF ? U128_INF : (u128)v;
}

static void declare(struct rules *r, const char *list)
{
    char buf[400];
    strncpy(buf, list, sizeof buf - 1);
    buf[sizeof buf - 1] = 0;
    char *save = NULL;
    for (char *p = strtok_r(buf, ";", &save); p; p = strtok_r(NULL, ";", &save))
        rules_constraint(r, p);
}

static void compare(const struct example *e, const char *what, u128 got,
                    long want)
{
    char b1[U128_DIGITS], b2[U128_DIGITS];
    if (want == ANY || got == expected(want))
        return;
    fail_msg("example %s: %s is %s, expected %s", e->name, what,
             got == U128_INF ? "inf" : u128_text(got, b1),
             want == INF ? "inf" : u128_text((u128)want, b2));
}

static void all_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        struct rules r;
        struct bound b;
        struct bound_options opt = {
            .want_lower = true, .want_advice = true, .want_words = true};
        rules_init(&r);
        declare(&r, e->constraints);
        if (*e->public_tables)
            rules_public(&r, e->public_tables);
        struct cq *q = rules_read(&r, e->rule);
        assert_int_equal(bound_analyze(&r.arena, q, &opt, &b, &r.err), OK);
        compare(e, "upper", b.upper, e->upper);
        compare(e, "lower", b.lower, e->lower);
        assert_int_equal(b.exact, b.upper == b.lower);
        assert_true(b.explanation.n > 0);
        assert_true(rules_fini(&r));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
