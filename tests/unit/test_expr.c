/*
 * Evaluation of expressions: a table of texts and the values they must have,
 * as PostgreSQL 15 gives them (the exact arithmetic is wider than its own).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cq/cq.h"

struct fixture {
    struct mem mem;
    struct arena arena;
    struct schema schema;
};

static void begin(struct fixture *f)
{
    mem_init(&f->mem, 0);
    arena_init(&f->arena, &f->mem);
    schema_init(&f->schema, &f->arena);
}

/* Prints the value of `text` where x is NULL and every other variable 7. */
static struct str value_of(struct fixture *f, const char *text)
{
    struct err err;
    struct cq *q;
    struct str rule = str_printf(
        &f->arena, "Q() :- T(x, y), {isnull(coalesce(%s, x, y))}", text);
    enum status st = cq_read(&f->arena, &f->schema, rule, &q, &err);
    if (st != OK)
        fail_msg("%s: %s", text, err.message);
    struct value vals[2], out;
    for (uint32_t v = 0; v < q->n_vars; v++)
        vals[v] = str_is(q->vars[v].name, "x") ? value_null() : value_int(7);
    const struct expr *e = q->preds[0].e->args[0]->args[0];
    assert_int_equal(expr_eval(&f->arena, e, vals, &out, &err), OK);
    struct sb b;
    sb_init(&b, &f->arena);
    value_print(&b, &out);
    return sb_view(&b);
}

static const struct {
    const char *text, *want;
} cases[] = {
    /* three-valued logic */
    {"and(true, isnull(x))", "true"},
    {"and(true, eq(x, 1))", "null"},
    {"and(false, eq(x, 1))", "false"},
    {"or(true, eq(x, 1))", "true"},
    {"or(false, eq(x, 1))", "null"},
    {"not(eq(x, 1))", "null"},
    {"not(false)", "true"},
    {"in(1, 2, 1, x)", "true"},
    {"in(1, 2, x)", "null"},
    {"in(1, 2, 3)", "false"},
    {"in(x, 2, 3)", "null"},
    {"distinct(x, 1)", "true"},
    {"distinct(x, x)", "false"},
    {"distinct(y, 7)", "false"},
    {"istrue(eq(x, 1))", "false"},
    {"isfalse(eq(x, 1))", "false"},
    {"isfalse(false)", "true"},
    {"case(eq(x, 1), 'a', eq(y, 7), 'b', 'c')", "'b'"},
    {"case(eq(x, 1), 'a', eq(y, 8), 'b', 'c')", "'c'"},
    {"coalesce(x, x, 3, 4)", "3"},
    {"nullif(3, 3)", "null"},
    {"nullif(3, x)", "3"},
    {"least(x, 4, 3)", "3"},
    {"greatest(x, 4, 3)", "4"},
    {"le(2, 2.0)", "true"},
    {"lt('a', 'B')", "false"},
    {"eq('1', 1)", "false"},
    {"lt(5, '1')", "true"},
    /* exact arithmetic */
    {"add(y, 5)", "12"},
    {"add(9223372036854775807, 1)", "9223372036854775808"},
    {"sub(-9223372036854775808, 1)", "-9223372036854775809"},
    {"mul(9223372036854775807, 9223372036854775807)",
     "85070591730234615847396907784232501249"},
    {"sub(9223372036854775808, 1)", "9223372036854775807"},
    {"neg(-9223372036854775808)", "9223372036854775808"},
    {"add(0.1, 0.2)", "0.3"},
    {"sub(0.3, 0.3)", "0"},
    {"sub(1, 1.05)", "-0.05"},
    {"mul(1.5, -0.02)", "-0.03"},
    {"div(7, 2)", "3"},
    {"div(-7, 2)", "-3"},
    {"div(-9223372036854775808, -1)", "9223372036854775808"},
    {"mod(-7, 2)", "-1"},
    {"mod(7, -2)", "1"},
    {"mod(-9223372036854775808, -1)", "0"},
    {"mod(mul(9223372036854775807, 10), 7)", "0"},
    {"div(mul(9223372036854775807, 10), -10)", "-9223372036854775807"},
    {"div(7, 0)", "null"},
    {"abs(-2.5)", "2.5"},
    {"round(2.5)", "3"},
    {"round(-2.5)", "-3"},
    {"round(2.449, 1)", "2.4"},
    {"round(2.45, 1)", "2.5"},
    {"round(9.99, 1)", "10"},
    {"round(1250, -2)", "1300"},
    {"round(49, -2)", "0"},
    {"round(51, -2)", "100"},
    {"round(0.004, 2)", "0"},
    {"round(51, -9)", "0"},
    {"round(real '2.5')", "real '2'"},
    {"floor(-2.5)", "-3"},
    {"floor(2.5)", "2"},
    {"floor(-2.0)", "-2"},
    {"ceil(2.1)", "3"},
    {"ceil(-2.1)", "-2"},
    {"ceil(0.5)", "1"},
    {"floor(-0.5)", "-1"},
    {"to_real(0.1)", "real '0.1'"},
    {"eq(to_real(0.1), real '0.1')", "true"},
    {"eq(0.1, real '0.1')", "false"},
    {"div(real '1', real '0')", "null"},
    {"add('a', 1)", "null"},
    /* text */
    {"like('abc', 'a%')", "true"},
    {"like('abc', 'b%')", "false"},
    {"like('abc', '_b_')", "true"},
    {"like('\xc3\xa9"
     "b', '_b')",
     "true"},
    {"like('a%b', 'a\\%b')", "true"},
    {"like('axb', 'a\\%b')", "false"},
    {"like('axb', 'a!%b', '!')", "false"},
    {"like('a%b', 'a!%b', '!')", "true"},
    {"like('a_b', 'a__b', '_')", "true"},
    {"like('axb', 'a__b', '_')", "false"},
    {"like('', '%')", "true"},
    {"like('', '')", "true"},
    {"like('mississippi', '%iss%ip%i')", "true"},
    {"like('mississippi', '%iss%ip')", "false"},
    {"like('ABC', 'abc')", "false"},
    {"ilike('ABC', 'abc')", "true"},
    {"like(x, '%')", "null"},
    {"lower('ABC\xc3\x84')", "'abc\xc3\x84'"},
    {"upper('abc')", "'ABC'"},
    {"length('\xc3\xa9t\xc3\xa9')", "3"},
    {"substr('hello', 2)", "'ello'"},
    {"substr('hello', 2, 3)", "'ell'"},
    {"substr('hello', -1, 4)", "'he'"},
    {"substr('hello', 9, 2)", "''"},
    {"substr('\xc3\xa9t\xc3\xa9', 2, 2)", "'t\xc3\xa9'"},
    {"concat('a', 'b')", "'ab'"},
    {"concat('a', x)", "null"},
    {"trim('  a ')", "'a'"},
    {"ltrim('xxabx', 'x')", "'abx'"},
    {"rtrim('xxabx', 'x')", "'xxab'"},
    {"trim('abcba', 'ab')", "'c'"},
    {"replace('aXbX', 'X', 'yy')", "'ayybyy'"},
    {"replace('abc', '', 'y')", "'abc'"},
    {"position('hello', 'l')", "3"},
    {"position('hello', 'z')", "0"},
    {"position('hello', '')", "1"},
    {"to_text(12)", "'12'"},
    {"to_text(true)", "'true'"},
    /* dates and times */
    {"extract('year', date '2024-02-29')", "2024"},
    {"extract('doy', date '2024-12-31')", "366"},
    {"extract('dow', date '2024-02-25')", "0"},
    {"extract('isodow', date '2024-02-25')", "7"},
    {"extract('week', date '2021-01-03')", "53"},
    {"extract('isoyear', date '2021-01-03')", "2020"},
    {"extract('week', date '2018-12-31')", "1"},
    {"extract('quarter', date '2024-07-01')", "3"},
    {"extract('epoch', date '1969-12-31')", "-86400"},
    {"extract('epoch', timestamp '1969-12-31 23:59:59.5')", "-0.5"},
    {"extract('hour', timestamp '1969-12-31 23:59:59.5')", "23"},
    {"extract('second', timestamp '1969-12-31 23:59:59.5')", "59.5"},
    {"extract('hour', date '2024-01-01')", "null"},
    {"extract('hour', time '24:00:00')", "24"},
    {"extract('year', timestamp '1969-12-31 23:59:59.5')", "1969"},
    {"date_trunc('month', timestamp '2024-02-29 12:30:00')",
     "timestamp '2024-02-01 00:00:00'"},
    {"date_trunc('week', date '2024-02-29')",
     "timestamp '2024-02-26 00:00:00'"},
    {"date_trunc('hour', timestamp '1960-01-01 12:30:00')",
     "timestamp '1960-01-01 12:00:00'"},
    {"date_trunc('quarter', date '2024-12-31')",
     "timestamp '2024-10-01 00:00:00'"},
    {"to_date(timestamp '1969-12-31 23:59:59')", "date '1969-12-31'"},
    {"to_timestamp(date '1969-12-31')", "timestamp '1969-12-31 00:00:00'"},
    {"add(date '2024-02-28', 2)", "date '2024-03-01'"},
    {"add(2, date '2024-02-28')", "date '2024-03-01'"},
    {"sub(date '2024-03-01', 1)", "date '2024-02-29'"},
    {"sub(date '2024-03-01', date '2024-02-01')", "29"},
};

static void evaluation(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str got = value_of(&f, cases[i].text);
        if (!str_is(got, cases[i].want))
            fail_msg("%s is %.*s, not %s", cases[i].text, PSTR(got),
                     cases[i].want);
    }
    arena_fini(&f.arena);
}

static void arguments_are_counted(void **state)
{
    (void)state;
    static const char *const bad[] = {"like(x)", "not(x, x)", "add(1)",
                                      "case(x)", "substr('a', 1, 2, 3)"};
    struct fixture f;
    begin(&f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cq *q;
        struct err err;
        struct str rule =
            str_printf(&f.arena, "Q() :- T(x), {isnull(%s)}", bad[i]);
        assert_int_equal(cq_read(&f.arena, &f.schema, rule, &q, &err),
                         E_SYNTAX);
    }
    arena_fini(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation),
        cmocka_unit_test(arguments_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
