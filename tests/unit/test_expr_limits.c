/*
 * What one row can cost: values beyond the limits are NULL at every node, and
 * neither time nor memory grows with what a row holds. Products against GMP.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include <gmp.h>

#include "harness/expr_limits.h"

static void every_node(void **state)
{
    (void)state;
    assert_int_equal(limits_wrong(true), 0);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* f(f(...f(x))) with the given text around it, `depth` times. */
static const struct expr *nested(struct arena *a, const char *before,
                                 const char *after, int depth,
                                 const char *inner)
{
    struct sb b;
    sb_init(&b, a);
    for (int i = 0; i < depth; i++)
        sb_cstr(&b, before);
    sb_cstr(&b, inner);
    for (int i = 0; i < depth; i++)
        sb_cstr(&b, after);
    return limit_read(a, str_copy(a, sb_view(&b)).p);
}

/* x op x of the one before, `levels` times: 2^levels leaves. */
static const struct expr *tower(struct arena *a, enum expr_op op, uint32_t var,
                                enum type t, int levels)
{
    struct expr *e = expr_var(a, var, t);
    for (int i = 0; i < levels; i++) {
        struct expr *both[] = {e, e};
        e = expr_new(a, op, 2, both);
    }
    return e;
}

/* Evaluates once; returns the most memory that it took at a time. */
static size_t peak_of(const struct expr *e, const struct value *row,
                      bool is_null)
{
    struct mem mem;
    struct arena a;
    struct value out = {0};
    struct err err;
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    assert_int_equal(expr_eval(&a, e, row, &out, &err), OK);
    assert_int_equal(out.is_null, is_null);
    arena_fini(&a);
    assert_int_equal(mem.used, 0);
    return mem.peak;
}

static void towers_are_cheap(void **state)
{
    (void)state;
    struct mem mem;
    struct arena a;
    struct value row[LIMIT_VARS];
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    limits_row(&a, row);
    double start = seconds();
    const struct expr *grow =
        nested(&a, "replace(", ", 'R', 'RRRRRRRRRR')", 8, "'RARE'");
    assert_in_range(peak_of(grow, row, true), 0, 2 << 20);
    const struct expr *r = tower(&a, X_CONCAT, 7, T_TEXT, 12);
    row[7] = value_text(STR("RARE"));
    assert_in_range(peak_of(r, row, false), 0, 2 << 20);
    row[7] = value_text(STR("0123456789abcdefg")); /* 17 * 2^12 bytes */
    assert_in_range(peak_of(r, row, true), 0, 2 << 20);
    const struct expr *m = tower(&a, X_MUL, 7, T_INT, 12);
    row[7] = value_int(99999999);
    assert_in_range(peak_of(m, row, true), 0, 1 << 20);
    row[7] = value_int(1);
    assert_in_range(peak_of(m, row, false), 0, 1 << 20);
    /* a product of 500 digits, a thousand times */
    row[7] = (struct value){.type = T_DEC, .s = {row[5].s.p, 500}};
    m = tower(&a, X_GREATEST, 7, T_DEC, 11);
    struct expr *twice[] = {(struct expr *)(uintptr_t)m,
                            (struct expr *)(uintptr_t)m};
    m = expr_new(&a, X_MUL, 2, twice);
    assert_in_range(peak_of(m, row, false), 0, 1 << 20);
    /* generous: the machine may be busy, and this may run under valgrind */
    assert_true(seconds() - start < 1);
    arena_fini(&a);
}

/* Long values that are needed no more are given back while the row goes on. */
static void scratch_is_given_back(void **state)
{
    (void)state;
    struct mem mem;
    struct arena a;
    struct value row[LIMIT_VARS];
    struct expr *args[1001];
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    limits_row(&a, row);
    static const enum expr_op wide[] = {X_OR, X_IN, X_COALESCE, X_GREATEST,
                                        X_CASE};
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) {
        bool truth = wide[k] == X_OR || wide[k] == X_CASE;
        for (size_t i = 0; i < 1001; i++) {
            struct expr *two[] = {
                expr_var(&a, 0, T_TEXT),
                expr_const(&a, value_text(i ? STR("x") : STR("y")))};
            struct expr *e = expr_new(&a, X_CONCAT, 2, two);
            struct expr *cmp[] = {e, two[1]};
            if (wide[k] == X_COALESCE && i < 1000)
                e = expr_new(&a, X_CONCAT, 2, cmp); /* one byte too many */
            args[i] = truth ? expr_new(&a, X_EQ, 2, cmp) : e;
        }
        const struct expr *e = expr_new(&a, wide[k], 1001, args);
        assert_in_range(peak_of(e, row, false), 0, 4 << 20);
    }
    arena_fini(&a);
}

/* --- products against GMP ------------------------------------------------ */

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* A random decimal; its digits without the point go to z. */
static struct value random_number(struct arena *a, uint64_t *rng, mpz_t z,
                                  size_t *scale)
{
    size_t whole = 1 + next_random(rng) % 800, n = 0;
    *scale = next_random(rng) % 800;
    char *digits = arena_alloc(a, whole + *scale + 2);
    char *text = arena_alloc(a, whole + *scale + 3);
    bool nines = next_random(rng) % 4 == 0;
    for (size_t i = 0; i < whole + *scale; i++)
        digits[i] = (char)('0' + (nines ? 9 : next_random(rng) % 10));
    if (next_random(rng) % 2)
        text[n++] = '-';
    memcpy(text + n, digits, whole);
    n += whole;
    text[n] = '.';
    memcpy(text + n + 1, digits + whole, *scale);
    n += *scale ? *scale + 1 : 0;
    mpz_set_str(z, digits, 10);
    if (text[0] == '-')
        mpz_neg(z, z);
    struct value v;
    assert_true(value_parse(a, (struct str){text, n}, T_DEC, &v));
    return v;
}

/* The number z / 10^scale as a canonical decimal; NULL beyond the limits. */
static struct value of_mpz(struct arena *a, const mpz_t z, size_t scale)
{
    struct sb b;
    mpz_t m;
    mpz_init(m);
    mpz_abs(m, z);
    while (scale && mpz_divisible_ui_p(m, 10)) {
        mpz_divexact_ui(m, m, 10);
        scale--;
    }
    char *s = mpz_get_str(NULL, 10, m);
    size_t n = strlen(s);
    sb_init(&b, a);
    sb_cstr(&b, mpz_sgn(z) < 0 ? "-" : "");
    for (size_t i = n; i <= scale; i++)
        sb_char(&b, '0'); /* zeros in front, one before the point */
    sb_cstr(&b, s);
    struct str digits = sb_view(&b);
    struct value v = value_null();
    if (scale <= 1000 && (n <= scale || n - scale <= 1000))
        assert_true(value_parse(
            a,
            str_printf(a, "%.*s.%.*s0", (int)(digits.n - scale), digits.p,
                       (int)scale, digits.p + digits.n - scale),
            T_DEC, &v));
    free(s);
    mpz_clear(m);
    return v;
}

static void products_and_sums(void **state)
{
    (void)state;
    struct mem mem;
    uint64_t rng = 20240117;
    unsigned nulls = 0;
    mpz_t x, y, z, p;
    mpz_inits(x, y, z, p, NULL);
    mem_init(&mem, 0);
    for (int i = 0; i < 1500; i++) {
        struct arena a;
        struct err err;
        struct value row[2], out;
        size_t sx, sy;
        arena_init(&a, &mem);
        row[0] = random_number(&a, &rng, x, &sx);
        row[1] = random_number(&a, &rng, y, &sy);
        enum expr_op op = i % 3 == 0 ? X_ADD : i % 3 == 1 ? X_SUB : X_MUL;
        struct expr *args[] = {expr_var(&a, 0, T_DEC), expr_var(&a, 1, T_DEC)};
        const struct expr *e = expr_new(&a, op, 2, args);
        size_t scale = op == X_MUL ? sx + sy : sx > sy ? sx : sy;
        if (op == X_MUL) {
            mpz_mul(z, x, y);
        } else {
            mpz_ui_pow_ui(p, 10, scale - sx);
            mpz_mul(x, x, p);
            mpz_ui_pow_ui(p, 10, scale - sy);
            mpz_mul(y, y, p);
            op == X_ADD ? mpz_add(z, x, y) : mpz_sub(z, x, y);
        }
        struct value want = of_mpz(&a, z, scale);
        assert_int_equal(expr_eval(&a, e, row, &out, &err), OK);
        nulls += want.is_null;
        assert_int_equal(out.is_null, want.is_null);
        assert_true(out.is_null || value_eq(&out, &want));
        arena_fini(&a);
    }
    assert_in_range(nulls, 50, 450); /* both sides of the limit were met */
    mpz_clears(x, y, z, p, NULL);
}

/* --- sizes --------------------------------------------------------------- */

static void nodes_are_counted(void **state)
{
    (void)state;
    struct mem mem;
    struct arena a;
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    assert_int_equal(tower(&a, X_MUL, 0, T_INT, 3)->n_nodes, 15);
    assert_int_equal(tower(&a, X_MUL, 0, T_INT, 40)->n_nodes, UINT32_MAX);
    arena_fini(&a);
}

static enum status read_rule(size_t n, struct err *err)
{
    struct mem mem;
    struct arena a;
    struct schema s;
    struct cq *q;
    struct sb b;
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    schema_init(&s, &a);
    sb_init(&b, &a);
    sb_cstr(&b, "Q(x) :- R(x), {in(x");
    for (size_t i = 0; i < n; i++)
        sb_cstr(&b, ", 1");
    sb_cstr(&b, ")}.");
    enum status st = cq_read(&a, &s, sb_view(&b), &q, err);
    arena_fini(&a);
    return st;
}

static void rules_are_limited(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(read_rule(EXPR_MAX_NODES - 2, &err), OK);
    assert_int_equal(read_rule(EXPR_MAX_NODES - 1, &err), E_TOO_LARGE);
    assert_true(err.position > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node),
        cmocka_unit_test(towers_are_cheap),
        cmocka_unit_test(scratch_is_given_back),
        cmocka_unit_test(products_and_sums),
        cmocka_unit_test(nodes_are_counted),
        cmocka_unit_test(rules_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
