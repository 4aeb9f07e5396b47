/* Single bounds, neighbours, bags, intervals, advice, witnesses, checker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bound/bound.h"
#include "witness/checker.h"
#include "harness/rules.h"

static struct bound analyse(struct rules *r, const char *rule)
{
    struct bound b;
    struct bound_options opt = {
        .want_lower = true, .want_advice = true, .want_words = true};
    struct cq *q = rules_read(r, rule);
    if (bound_analyze(&r->arena, q, &opt, &b, &r->err) != OK)
        fail_msg("%s: %s", rule, r->err.message);
    return b;
}

static void is(u128 got, u128 want)
{
    char a[U128_DIGITS], b[U128_DIGITS];
    if (got != want)
        fail_msg("%s, expected %s", u128_text(got, a), u128_text(want, b));
}

static void add_table(struct rules *r, const char *name,
                      const char *const *cols, size_t n, enum type type)
{
    size_t t;
    assert_int_equal(schema_add_table(&r->schema, str_of(name), n, &t, &r->err),
                     OK);
    for (size_t i = 0; i < n; i++) {
        r->schema.tables.p[t].cols[i].name = str_of(cols[i]);
        r->schema.tables.p[t].cols[i].type = type;
        r->schema.tables.p[t].cols[i].not_null = true;
    }
    r->schema.tables.p[t].declared = true;
}

static void hospital(struct rules *r)
{
    static const char *const pat[] = {"id", "sex", "hos"};
    static const char *const doc[] = {"id", "spec", "hos"};
    static const char *const patdoc[] = {"pat", "doc"};
    add_table(r, "Pat", pat, 3, T_TEXT);
    add_table(r, "Doc", doc, 3, T_TEXT);
    add_table(r, "PatDoc", patdoc, 2, T_TEXT);
}

static const char running[] =
    "Q(d) :- Doc(d,'O',h), Pat(p,'F',h), PatDoc(p,d).";

static void advice(void **state)
{
    (void)state;
    struct rules r;
    rules_init(&r);
    hospital(&r);
    struct bound b = analyse(&r, running);
    is(b.upper, U128_INF);
    assert_true(b.n_advice >= 2);
    assert_string_equal(b.advice[0].constraint.p, "PatDoc: pat -> doc <= k");
    assert_string_equal(b.advice[0].upper.p, "k");
    assert_string_equal(b.advice[1].constraint.p, "Doc: hos -> id <= k");
    assert_true(rules_fini(&r));
}

/* What the advice says comes true for several k. */
static void advice_holds(void **state)
{
    (void)state;
    for (int k = 1; k < 5; k++) {
        struct rules r;
        char text[64];
        rules_init(&r);
        hospital(&r);
        snprintf(text, sizeof text, "PatDoc: pat -> doc <= %d", k);
        rules_constraint(&r, text);
        is(analyse(&r, running).upper, (u128)k);
        assert_true(rules_fini(&r));
    }
}

static void advice_with_letters(void **state)
{
    (void)state;
    struct rules r;
    rules_init(&r);
    struct bound b = analyse(&r, "Q(z) :- A(x), R(x,y), S(y,z).");
    assert_string_equal(b.advice[0].constraint.p,
                        "R: 1 -> 2 <= k1; S: 1 -> 2 <= k2");
    assert_string_equal(b.advice[0].upper.p, "k1*k2");
    b = analyse(&r, "Q(x) :- A(x), B('c').");
    assert_string_equal(b.advice[0].constraint.p, "A: () -> 1 <= k");
    assert_string_equal(b.advice[0].upper.p, "k");
    b = analyse(&r, "Q(a) :- E(a,b), E(b,c).");
    assert_string_equal(b.advice[0].constraint.p, "E: 2 -> 1 <= k");
    assert_string_equal(b.advice[0].upper.p, "1 + k");
    assert_true(rules_fini(&r));
}

static void neighbours(void **state)
{
    (void)state;
    struct rules r;
    rules_init(&r);
    rules_constraint(&r, "R: 1 -> 2 <= 3");
    rules_constraint(&r, "G: 1 -> 2");
    r.schema.order = 4;
    struct bound b = analyse(&r, "Q(y) :- P(x), R(x,y).");
    is(b.upper, 12);
    is(b.l2_squared_upper, 144);
    r.schema.order = 1;
    r.schema.neighbours = CHANGE_ONE;
    b = analyse(&r, "Q(y) :- P(x), R(x,y).");
    is(b.upper, 3);
    is(b.l1_upper, 3);
    /* groups: what leaves one cell may enter another */
    b = analyse(&r, "Q(g; y) :- G(x,g), R(x,y).");
    is(b.upper, 3);
    is(b.l1_upper, 6);
    is(b.l2_squared_upper, 18);
    r.schema.neighbours = ADD_DROP_ONE;
    b = analyse(&r, "Q(g; y) :- G(x,g), R(x,y).");
    is(b.l1_upper, 3);
    is(b.l2_squared_upper, 9);
    assert_true(rules_fini(&r));
}

static void bags(void **state)
{
    (void)state;
    struct rules r;
    rules_init(&r);
    /* rows counted: a dependency between values does not bound duplicates */
    rules_constraint(&r, "R: 1 -> 2");
    is(analyse(&r, "Q(r) :- P(x), R@r(x,y).").upper, U128_INF);
    rules_constraint(&r, "|R| <= 5");
    is(analyse(&r, "Q(r) :- P(x), R@r(x,y).").upper, 5);
    rules_constraint(&r, "S: 1 -> *");
    is(analyse(&r, "Q(s) :- P(x), S@s(x,y).").upper, 1);
    /* one row joined with itself: 2n - 1 new pairs, but n is unbounded */
    is(analyse(&r, "Q(r,s) :- T@r(x), T@s(x).").upper, U128_INF);
    struct bound b = analyse(&r, "Q(r) :- T@r(x).");
    is(b.upper, 1);
    assert_true(b.exact);
    assert_true(rules_fini(&r));
}

static void intervals(void **state)
{
    (void)state;
    static const char *const cols[] = {"id", "age"};
    struct rules r;
    rules_init(&r);
    add_table(&r, "person", cols, 2, T_INT);
    add_table(&r, "visit", cols, 2, T_INT);
    is(analyse(&r, "Q(a) :- person(i,a), visit(i,v), 18 <= a, a < 30.").upper,
       12);
    is(analyse(&r, "Q(a) :- person(i,a), visit(i,v), 18 <= a.").upper,
       U128_INF);
    /* an undeclared column may hold fractions */
    is(analyse(&r, "Q(a) :- P(i,a), V(i,v), 18 <= a, a < 30.").upper, U128_INF);
    assert_true(rules_fini(&r));
}

static void witness_families(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 60; n = 3 * n + 1) {
        struct rules r;
        struct bound b;
        struct bound_options opt = {.want_lower = true, .witness_n = n};
        rules_init(&r);
        struct cq *q = rules_read(&r, running);
        assert_int_equal(bound_analyze(&r.arena, q, &opt, &b, &r.err), OK);
        is(b.lower, U128_INF);
        assert_true(b.exact && b.has_witness && b.witness.family);
        assert_true(b.witness.after - b.witness.before >= n);
        assert_true(rules_fini(&r));
    }
}

/* Filters: unbounded where any number of values passes them. */
static void families_with_filters(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        bool unbounded;
    } cases[] = {
        {"Q(x) :- R(x,y), S(y,z), x != z.", true},
        {"Q(x) :- R(x,y), S(y,z), x < z.", true},
        {"Q(x) :- R(x,y), S(y,z), 5 <= z, y < x.", true},
        {"Q(x) :- R(x,y), S(y,z), x < 5, z < x, y != 5.", true},
        {"Q(x) :- R(x,y), S(y,z), 'b' < x, z < 'd'.", true},
        {"Q(x) :- R(x,y), S(y,z), 5 < x, x < 9.", false},
        {"Q(x) :- R(x,y), S(y,z), 5 < z, z < x, x < y, y < 9.", false},
        /* x is new only if it is the only other one: sensitivity 2 */
        {"Q(x) :- R(x), R(y), x != y.", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rules r;
        rules_init(&r);
        struct bound b = analyse(&r, cases[i].rule);
        is(b.upper, U128_INF);
        if ((b.lower == U128_INF) != cases[i].unbounded)
            fail_msg("%s", cases[i].rule);
        assert_int_equal(b.exact, cases[i].unbounded);
        assert_true(b.has_witness);
        assert_true(rules_fini(&r));
    }
}

/* Predicates and computed columns: a witness of one answer is found. */
static void predicates(void **state)
{
    (void)state;
    static const char *const rules[] = {
        "Q(i) :- P(i,n), {like(n, 'a%')}.",
        "Q(i) :- P(i,n), {eq(lower(n), 'x')}, i != 'b'.",
        "Q(v) :- P(i,n), S(i), v := {lower(n)}.",
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct rules r;
        rules_init(&r);
        rules_constraint(&r, "P: 1 -> *");
        struct bound b = analyse(&r, rules[i]);
        is(b.upper, 1);
        is(b.lower, 1);
        assert_true(b.exact && b.has_witness);
        assert_true(rules_fini(&r));
    }
}

/* The checker is not easily fooled. */
static struct checker_result recount(struct rules *r, const char *rule,
                                     const char rows[][3], size_t n,
                                     size_t insert)
{
    struct cq *q = rules_read(r, rule);
    struct checker_result c;
    struct checker_row row[8];
    struct value v[8][2];
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < 2; j++)
            v[i][j] = value_text((struct str){&rows[i][j], 1});
        row[i] = (struct checker_row){q->atoms[0].table, v[i], 2};
    }
    assert_int_equal(
        checker_run(&r->arena, q, NULL, row, n, insert, n, 100000, &c, &r->err),
        OK);
    return c;
}

static void checker(void **state)
{
    (void)state;
    struct rules r;
    rules_init(&r);
    rules_constraint(&r, "R: 1 -> 2 <= 2");
    static const char path[][3] = {"ua", "ab", "bv"};
    struct checker_result c =
        recount(&r, "Q(x) :- R(x,y), R(z,x).", path, 3, 1);
    assert_true(c.holds);
    is(c.after, 2);
    is(c.before, 0);
    c = recount(&r, "Q(x) :- R(x,y), R(z,x), y < z.", path, 3, 1);
    is(c.after, 1);
    is(c.before, 0);
    c = recount(&r, "Q(x) :- R(x,y), R(z,x), z != y, x < 'b'.", path, 3, 1);
    is(c.after, 1);
    static const char star[][3] = {"ua", "ub", "uc"};
    assert_false(recount(&r, "Q(y) :- R(x,y).", star, 3, 1).holds);
    static const char twice[][3] = {"ua", "ua"};
    assert_false(recount(&r, "Q(y) :- R(x,y).", twice, 2, 1).holds);
    assert_true(rules_fini(&r));
}

static void outputs(void **state)
{
    (void)state;
    struct rules r;
    u128 n;
    rules_init(&r);
    rules_constraint(&r, "R: 1 -> 2 <= 3");
    rules_constraint(&r, "|S| <= 7");
    struct cq *q = rules_read(&r, "Q(x,y,z) :- R(x,y), S(y,z).");
    vset x = vset_one(0), y = vset_one(1), z = vset_one(2);
    assert_int_equal(bound_outputs(&r.arena, q, 1, x, y, &n, &r.err), OK);
    is(n, 3);
    assert_int_equal(bound_outputs(&r.arena, q, 1, x, z, &n, &r.err), OK);
    is(n, U128_INF);
    assert_int_equal(bound_outputs(&r.arena, q, 3, x, y | z, &n, &r.err), OK);
    is(n, 7);
    assert_int_equal(bound_outputs(&r.arena, q, 2, 0, y | z, &n, &r.err), OK);
    is(n, 7);
    assert_int_equal(bound_outputs(&r.arena, q, 0, x, x, &n, &r.err), OK);
    is(n, 1);
    assert_true(rules_fini(&r));
}

static void small_budget(void **state)
{
    (void)state;
    struct rules r;
    struct bound b;
    struct bound_options opt = {.work = 1, .want_lower = true};
    rules_init(&r);
    struct cq *q = rules_read(&r, "Q(x) :- R(x,'c'), R(y,x), R(z,y), R(z,x).");
    assert_int_equal(bound_analyze(&r.arena, q, &opt, &b, &r.err), OK);
    assert_true(b.gave_up);
    assert_true(b.upper >= 1 && !b.exact);
    assert_true(rules_fini(&r));
}

static void words(void **state)
{
    (void)state;
    struct rules r;
    rules_init(&r);
    hospital(&r);
    rules_constraint(&r, "PatDoc: pat -> doc <= 3");
    struct bound b = analyse(&r, running);
    assert_non_null(strstr(b.explanation.p,
                           "one row of Pat changes the count by at most 3"));
    assert_non_null(strstr(b.explanation.p,
                           "d: at most 3 values (PatDoc: pat -> doc <= 3)"));
    assert_true(rules_fini(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advice),
        cmocka_unit_test(advice_holds),
        cmocka_unit_test(advice_with_letters),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(bags),
        cmocka_unit_test(intervals),
        cmocka_unit_test(witness_families),
        cmocka_unit_test(families_with_filters),
        cmocka_unit_test(predicates),
        cmocka_unit_test(checker),
        cmocka_unit_test(outputs),
        cmocka_unit_test(small_budget),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
