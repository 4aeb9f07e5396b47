/* Rule text, constraints and policies: what is read, printed, refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "cq/cq.h"

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

static struct cq *read_rule(struct fixture *f, const char *text)
{
    struct cq *q = NULL;
    if (cq_read(&f->arena, &f->schema, str_of(text), &q, &f->err) != OK)
        return NULL;
    return q;
}

/* text -> query -> text is the expected text, and a fixed point */
static void prints(struct fixture *f, const char *in, const char *want)
{
    struct cq *q = read_rule(f, in);
    if (!q)
        fail_msg("%s: %s", in, f->err.message);
    assert_string_equal(cq_text(&f->arena, q).p, want);
    struct cq *again = read_rule(f, want);
    if (!again)
        fail_msg("%s: %s", want, f->err.message);
    assert_string_equal(cq_text(&f->arena, again).p, want);
}

static void round_trips(void **state)
{
    struct fixture *f = *state;
    prints(f, "Q(x,y) :- R(x,'O',z), S(z,_), x != y, z < 5, T(y).",
           "Q(x,y) :- R(x,'O',z), S(z,_), T(y), x != y, z < 5.");
    prints(f, "Q() :- U(x), 5 > x", "Q() :- U(x), x < 5.");
    prints(f, "Q(x) :- U(x), V(y), x = y.", "Q(x) :- U(x), V(x).");
    prints(f, "Q(x) :- W(x,y), y = 'it''s'.", "Q(x) :- W(x,'it''s').");
    prints(f, "Q(g; r) :- B@r(g, n), {or(like(n, 'a%'), isnull(n))}.",
           "Q(g;r) :- B@r(g,n), {or(like(n, 'a%'), isnull(n))}.");
    prints(f, "Q(x) :- W(x,y), v := {add(y, 5)}, W(z, v).",
           "Q(x) :- W(x,y), W(z,v), v := {add(y, 5)}.");
    prints(f, "Q(x) :- W(x,y), y = 1, y = 2.", "Q(x) :- W(x,1), false.");
    prints(f, "Q(x) :- W(x,_), W(x,_).", "Q(x) :- W(x,_).");
    prints(f, "Q(x) :- W(x, date '2020-02-29'), W(x, -1.50).",
           "Q(x) :- W(x,date '2020-02-29'), W(x,-1.5).");
}

static void refuses(struct fixture *f, const char *text, enum status want)
{
    struct cq *q;
    enum status st = cq_read(&f->arena, &f->schema, str_of(text), &q, &f->err);
    if (st != want)
        fail_msg("%s: status %d, not %d", text, st, want);
}

static void refusals(void **state)
{
    struct fixture *f = *state;
    refuses(f, "Q(x) :- R(x", E_SYNTAX);
    refuses(f, "Q(x) :- R(y).", E_SYNTAX);
    refuses(f, "Q(x) :- R(x), R(x, y).", E_NAME);
    refuses(f, "Q(x) :- R(x), not S(x).", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R(x), !S(x).", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R(x) ; S(x).", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R(x) or S(x).", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R(x) | S(x).", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R(x). Q(x) :- S(x).", E_UNSUPPORTED);
    assert_string_equal(f->err.message, "disjunction is not supported");
    refuses(f, "Q(x) :- R(x). ;", E_SYNTAX);
    refuses(f, "Q(x) :- R(x), x != 'unclosed.", E_SYNTAX);
    refuses(f, "", E_SYNTAX);
    refuses(f, "Q(_) :- R(x).", E_SYNTAX);
    refuses(f, "Q(x) :- R(x), S(y), {eq(x, y)}.", E_UNSUPPORTED);
}

/* A row id is no value: positions change when a row is added. */
static void row_ids(void **state)
{
    struct fixture *f = *state;
    refuses(f, "Q(r) :- R@r(x), r < 5.", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R@r(x), r != 3.", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R@r(x), r = 3.", E_UNSUPPORTED);
    refuses(f, "Q(r) :- R@r(x), T(y), r <= y, y <= r.", E_UNSUPPORTED);
    refuses(f, "Q(r,s) :- R@r(x), R@s(x), r < s.", E_UNSUPPORTED);
    refuses(f, "Q(r,s) :- R@r(x), R@s(x), r = s.", E_UNSUPPORTED);
    refuses(f, "Q(r,s) :- R@r(x), T@s(x), r != s.", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R@r(x), T(r).", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R@r(x), R@r(y).", E_UNSUPPORTED);
    refuses(f, "Q(x) :- R@r(x), {lt(r, 3)}.", E_UNSUPPORTED);
    assert_non_null(read_rule(f, "Q(r,s) :- R@r(x), R@s(x), r != s."));
}

static void nonnull_is_kept(void **state)
{
    struct fixture *f = *state;
    struct cq *q = read_rule(f, "Q(x) :- R(x,y), S(y,z), z < 3, S(u,_).");
    assert_non_null(q);
    unsigned flags = 0;
    for (uint32_t i = 0; i < q->n_vars; i++)
        flags |= (unsigned)q->vars[i].nonnull << i;
    assert_int_equal(flags, 6); /* y and z, not x, not u */
}

static void shapes(void **state)
{
    struct fixture *f = *state;
    struct cq *tri = read_rule(f, "Q(a,b,c) :- E(a,b), E(b,c), E(a,c).");
    struct cq *path = read_rule(f, "Q(a) :- E(a,b), E(b,c), E(c,d).");
    struct cq *two = read_rule(f, "Q(a) :- E(a,'k'), E('k',b).");
    assert_false(cq_is_acyclic(tri));
    assert_true(cq_is_acyclic(path));
    assert_true(cq_is_full(tri));
    assert_false(cq_is_full(path));
    assert_true(cq_is_connected(tri));
    assert_false(cq_is_connected(two));
}

static void constraints(void **state)
{
    struct fixture *f = *state;
    static const char *const good[] = {"R: 1 -> 2", "R: (1, 2) -> 3 <= 7",
                                       "|R| <= 1000", "R: () -> 2 <= 50",
                                       "R: (1,2) -> *"};
    struct sb b;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(
            schema_read_constraint(&f->schema, str_of(good[i]), &f->err), OK);
    assert_non_null(read_rule(f, "Q(x) :- R(x,y,z,w)."));
    struct table *t = &f->schema.tables.p[0];
    static const char *const text[] = {"R: 1 -> 2", "R: (1, 2) -> 3 <= 7",
                                       "|R| <= 1000", "R: () -> 2 <= 50",
                                       "R: (1, 2) -> *"};
    assert_int_equal(t->degrees.n, 5);
    for (size_t i = 0; i < 5; i++) {
        sb_init(&b, &f->arena);
        degree_print(&b, t, &t->degrees.p[i]);
        assert_string_equal(b.p, text[i]);
    }
    static const char *const wrong[] = {
        "R: 9 -> 1", "R 1 -> 2",    "|R| <= 0", "R: 1 -> 2 <= x",
        "R: a -> 2", "R: 1 -> 2 3", "|R <= 3",  ""};
    for (size_t i = 0; i < 8; i++)
        assert_int_not_equal(
            schema_read_constraint(&f->schema, str_of(wrong[i]), &f->err), OK);
}

static void policies(void **state)
{
    struct fixture *f = *state;
    const char *text = "neighbours: change-one\n"
                       "budget: {epsilon: 10, delta: 1e-6}\n"
                       "limits: {respond_after: 3, ladder: 2, strict: no}\n"
                       "tables:\n"
                       "  hos: {privacy: public, columns: [id, city]}\n"
                       "  pat:\n"
                       "    columns: {id: integer, sex: text}\n"
                       "    key: [id]\n"
                       "    rows_at_most: 100\n"
                       "    at_most: [{per: [sex], of: [id], k: 3}]\n"
                       "    values: {sex: [F, M]}\n";
    assert_int_equal(
        schema_read_policy(&f->schema, str_of(text), "p.yaml", &f->err), OK);
    struct table *hos = &f->schema.tables.p[0], *pat = &f->schema.tables.p[1];
    assert_false(table_is_private(hos));
    assert_true(table_is_private(pat));
    assert_true(table_has_key(pat));
    assert_int_equal(pat->degrees.n, 3);
    assert_int_equal(pat->cols[1].n_domain, 2);
    assert_int_equal(f->schema.neighbours, CHANGE_ONE);
    assert_true(str_is(f->schema.limits.respond_after, "3") &&
                str_is(f->schema.limits.ladder, "2") &&
                str_is(f->schema.limits.strict, "no") &&
                !f->schema.limits.memory.n);
    assert_int_equal(schema_read_policy(&f->schema, STR("limits: {wait: 3}"),
                                        "p.yaml", &f->err),
                     E_POLICY);
    assert_int_equal(schema_read_policy(&f->schema,
                                        STR("tables:\n  pat: {privat: x}\n"),
                                        "p.yaml", &f->err),
                     E_POLICY);
    assert_int_equal(f->err.line, 2);
    assert_int_equal(f->err.column, 9);
    assert_int_equal(
        schema_read_policy(&f->schema, STR("tables: [a"), "p", &f->err),
        E_SYNTAX);
}

static void value_order(void **state)
{
    struct fixture *f = *state;
    static const char *const rising[] = {"-12345678901234567890",
                                         "-2",
                                         "-1.5",
                                         "0",
                                         "0.001",
                                         "1",
                                         "1.5",
                                         "2",
                                         "10",
                                         "9223372036854775807",
                                         "9223372036854775807.5",
                                         "9223372036854775808"};
    struct value v[12];
    for (int i = 0; i < 12; i++)
        assert_true(value_parse_number(&f->arena, str_of(rising[i]), &v[i]));
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) {
            int c = value_cmp(&v[i], &v[j]);
            assert_int_equal((c > 0) - (c < 0), (i > j) - (i < j));
        }
    struct value real = {.type = T_REAL, .f = 1.5}, one = value_int(1);
    assert_true(value_eq(&real, &v[6]));
    assert_true(value_hash(&real) == value_hash(&v[6]));
    assert_true(value_cmp(&one, &real) < 0);
    struct value d, t;
    assert_true(value_parse(&f->arena, STR("2020-02-29"), T_DATE, &d));
    assert_true(
        value_parse(&f->arena, STR("2020-02-29 00:00:00"), T_TIMESTAMP, &t));
    assert_true(value_eq(&d, &t));
    assert_false(value_parse(&f->arena, STR("2021-02-29"), T_DATE, &d));
}

/* Every allocation may fail: an error each time, never a crash. */
static void allocation_failures(void **state)
{
    struct fixture *f = *state;
    const char *rule = "Q(g;x) :- R@r(x,'O',z), S(z,g), x != z, {lt(g, 3)}.";
    bool ok = false;
    for (long n = 0; !ok && n < 200; n++) {
        struct arena a;
        struct schema s;
        struct cq *q;
        arena_init(&a, &f->mem);
        schema_init(&s, &a);
        atomic_store(&f->mem.fail_after, n);
        enum status st = cq_read(&a, &s, str_of(rule), &q, &f->err);
        atomic_store(&f->mem.fail_after, -1);
        ok = st == OK;
        assert_true(ok || st == E_NOMEM || st == E_SYNTAX);
        arena_fini(&a);
    }
    assert_true(ok);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(round_trips),     T(refusals),    T(row_ids),
        T(nonnull_is_kept), T(shapes),      T(constraints),
        T(policies),        T(value_order), T(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
