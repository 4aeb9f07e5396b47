/*
 * A mutant must die: if lengths and digits are limited at the root of an
 * expression alone, the table of cases at every node finds it. The mutated
 * functions are compiled into this program and take the place of the
 * library's; what the root gives is limited here.
 */
#include "cq/expr_int.h"

#define EXPR_MAX_TEXT (1 << 30)
#define EXPR_MAX_DIGITS 100000
#include "cq/expr_num.c"
#include "cq/expr_text.c"
#include "cq/expr_eval.c" /* keeps what is that long */
#undef EXPR_MAX_TEXT
#undef EXPR_MAX_DIGITS

static enum status root_only(struct arena *a, const struct expr *e,
                             const struct value *vals, struct value *out,
                             struct err *err)
{
    TRY(expr_eval(a, e, vals, out, err));
    struct value v = *out;
    bool is_long = v.type == T_TEXT && v.s.n > EXPR_MAX_TEXT;
    if (v.type == T_DEC) {
        const char *point = memchr(v.s.p, '.', v.s.n);
        size_t whole = point ? (size_t)(point - v.s.p) : v.s.n;
        whole -= v.s.p[0] == '-';
        is_long = whole > EXPR_MAX_DIGITS ||
                  (point && v.s.n > whole + EXPR_MAX_DIGITS + 2);
    }
    if (!v.is_null && is_long)
        *out = value_null();
    return OK;
}

#define expr_eval root_only
#include "harness/expr_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void dies(void **state)
{
    (void)state;
    assert_true(limits_wrong(false) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
