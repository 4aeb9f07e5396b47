/* What a SUM adds up: units, clips, ranges that filters narrow, rule text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "cq/cq.h"
#include "tree/tree.h"

struct fixture {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct err err;
};

static int setup(void **state)
{
    static struct fixture f;
    mem_init(&f.mem, 0);
    arena_init(&f.arena, &f.mem);
    schema_init(&f.schema, &f.arena);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_fini(&f->arena);
    return atomic_load(&f->mem.used) != 0;
}

static int64_t clipped(const char *lo, const char *hi, const char *decimal)
{
    struct cq_weight w = {.on = true};
    struct value v = {.type = T_DEC, .s = str_of(decimal)};
    assert_true(cq_weight_range(str_of(lo), str_of(hi), &w));
    return cq_weight_clip(&w, &v);
}

static void units(void **state)
{
    (void)state;
    assert_int_equal(clipped("0.00", "50.00", "10.25"), 1025);
    assert_int_equal(clipped("0", "50.00", "10.2"), 1020);
    assert_int_equal(clipped("0", "50", "10.5"), 11); /* away from zero */
    assert_int_equal(clipped("-50", "50", "-10.5"), -11);
    assert_int_equal(clipped("-50", "50", "-10.49"), -10);
    assert_int_equal(clipped("0", "50", "50.4"), 50);
    assert_int_equal(clipped("10", "50", "9"), 10);
    assert_int_equal(clipped("0", "50",
                             "99999999999999999999999999999999999999999999"
                             "99999999999999999999999999999999999999999999"),
                     50);
    assert_int_equal(clipped("-7", "50",
                             "-9999999999999999999999999999999999999999999"
                             "99999999999999999999999999999999999999999999"),
                     -7);
    assert_int_equal(clipped("-7", "50", "NaN"), 50);
    assert_int_equal(clipped("-7", "50", "Infinity"), 50);
    assert_int_equal(clipped("-7", "50", "-Infinity"), -7);
}

static void odd_values(void **state)
{
    struct cq_weight w = {.on = true, .lo = 10, .hi = 50, .scale = 2};
    struct value none = value_null(), text = value_text(STR("12"));
    struct value large = value_int(INT64_MAX), small = value_int(INT64_MIN);
    (void)state;
    assert_int_equal(cq_weight_clip(&w, &none), 0); /* not lo */
    assert_int_equal(cq_weight_clip(&w, &text), 0);
    assert_int_equal(cq_weight_clip(&w, &large), 50);
    assert_int_equal(cq_weight_clip(&w, &small), 10);
    w = (struct cq_weight){.on = true, .lo = -50, .scale = 1};
    assert_int_equal(cq_weight_of(&w, &small), 50);
    assert_true(cq_weight_negative(&w));
}

static void ranges(void **state)
{
    struct cq_weight w = {0};
    (void)state;
    assert_false(cq_weight_range(STR("5"), STR("4"), &w));
    assert_false(cq_weight_range(STR("0"), STR("1000000000000000001"), &w));
    assert_false(cq_weight_range(STR("0"), STR("0.0000000000001"), &w));
    assert_false(cq_weight_range(STR("x"), STR("4"), &w));
    assert_true(cq_weight_range(STR("-1.5"), STR("4"), &w));
    assert_int_equal(w.lo, -15);
    assert_int_equal(w.hi, 40);
}

static struct cq *body(struct fixture *f, const char *text, size_t branches)
{
    struct cq *q = NULL;
    struct ctree *t = NULL;
    enum status st =
        tree_read(&f->arena, &f->schema, str_of(text), &q, &t, &f->err);
    if (st != OK)
        fail_msg("%s: %s", text, f->err.message);
    assert_non_null(t);
    assert_int_equal(t->n_branches, branches);
    assert_string_equal(cq_check(q) ? cq_check(q) : "", "");
    return q;
}

static void narrowed(struct fixture *f, const char *filter, int64_t lo,
                     int64_t hi)
{
    char text[160];
    snprintf(text, sizeof text, "Q(x, sum(y in 0..50)) :- N(x, y)%s.", filter);
    struct cq *q = body(f, text, 1);
    assert_int_equal(q->weight.lo, lo);
    assert_int_equal(q->weight.hi, hi);
    assert_int_equal(cq_weight_most(q), hi);
}

/* Of whole numbers y < 24 is 23 at most; a filter beyond the range leaves its
 * end, to which every value is cut. */
static void filters(void **state)
{
    struct fixture *f = *state;
    size_t t;
    assert_int_equal(schema_add_table(&f->schema, STR("N"), 2, &t, &f->err),
                     OK);
    f->schema.tables.p[t].cols[1].type = T_INT;
    narrowed(f, "", 0, 50);
    narrowed(f, ", y < 24", 0, 23);
    narrowed(f, ", y <= 24", 0, 24);
    narrowed(f, ", y > 3, y < 24.5", 4, 25);
    narrowed(f, ", y > 100", 50, 50);
    narrowed(f, ", y != 3", 0, 50);
}

static void texts(void **state)
{
    struct fixture *f = *state;
    struct cq *q = body(f, "Q(sum(q in 0..50)) :- L(o, l, q).", 1);
    assert_int_equal(q->n_outs, 3);
    assert_string_equal(cq_text(&f->arena, q).p,
                        "Q(q,o,l,sum(q in 0..50)) :- L(o,l,q).");
    q = body(f, "Q(q, sum(q in 0.50..1.25)) :- L(o, l, q).", 1);
    assert_int_equal(q->n_outs, 1);
    assert_string_equal(cq_text(&f->arena, q).p,
                        "Q(q,sum(q in 0.50..1.25)) :- L(o,l,q).");
    q = body(f, "Q(o; l, sum(q in -2..5)) :- L(o, l, q), not { M(o) }.", 2);
    assert_int_equal(q->n_group, 1);
    assert_int_equal(q->weight.hi, 5);
    assert_int_equal(q->weight.lo, 0);
}

static void refusals(void **state)
{
    static const char *const bad[] = {
        "Q(sum(q in 5..4)) :- L(o, l, q).", "Q(sum(q)) :- L(o, l, q).",
        "Q(sum(q in 0..)) :- L(o, l, q).", "Q(sum(_ in 0..4)) :- L(o, l, q).",
        "Q(sum(q in 0..4), sum(l in 0..4)) :- L(o, l, q)."};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cq *q;
        struct ctree *t;
        assert_int_not_equal(
            tree_read(&f->arena, &f->schema, str_of(bad[i]), &q, &t, &f->err),
            OK);
    }
    /* one conjunctive query has weights of one sign */
    struct cq *q;
    assert_int_equal(cq_read(&f->arena, &f->schema,
                             STR("Q(q, sum(q in -1..4)) :- L(o, l, q)."), &q,
                             &f->err),
                     E_UNSUPPORTED);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(units), T(odd_values), T(ranges), T(filters), T(texts), T(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
