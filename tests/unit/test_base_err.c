/* base/err: the error object and the table of codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"

static void story_is_kept(void **state)
{
    (void)state;
    struct err e;
    memset(&e, 0x55, sizeof e); /* need not be initialised */
    assert_int_equal(err_set(&e, E_NAME, "unknown table \"%s\"", "t"), E_NAME);
    err_detail(&e, "There are %d tables.", 3);
    err_hint(&e, "Check the spelling.");
    err_at(&e, 17);
    err_in_file(&e, "policy.yaml", 4, 9);
    assert_int_equal(e.status, E_NAME);
    assert_string_equal(e.message, "unknown table \"t\"");
    assert_string_equal(e.detail, "There are 3 tables.");
    assert_string_equal(e.hint, "Check the spelling.");
    assert_int_equal(e.position, 17);
    assert_string_equal(e.file, "policy.yaml");
    assert_int_equal(e.line, 4);
    assert_int_equal(e.column, 9);
}

static void new_error_forgets_the_old(void **state)
{
    (void)state;
    struct err e;
    err_set(&e, E_NAME, "first");
    err_hint(&e, "h");
    err_at(&e, 3);
    err_set(&e, E_TYPE, "second");
    assert_string_equal(e.message, "second");
    assert_string_equal(e.hint, "");
    assert_int_equal(e.position, -1);
}

static void error_may_quote_itself(void **state)
{
    (void)state;
    struct err e;
    err_set(&e, E_SYNTAX, "bad line");
    err_set(&e, E_SOURCE, "could not read: %s", e.message);
    assert_string_equal(e.message, "could not read: bad line");
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    struct err e;
    char text[4000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    err_set(&e, E_VALUE, "%s", text);
    err_detail(&e, "%s", text);
    err_hint(&e, "%s", text);
    err_in_file(&e, text, 1, 1);
    assert_int_equal(strlen(e.message), sizeof e.message - 1);
    assert_int_equal(strlen(e.detail), sizeof e.detail - 1);
    assert_int_equal(strlen(e.hint), sizeof e.hint - 1);
    assert_int_equal(strlen(e.file), sizeof e.file - 1);
}

static void nobody_need_listen(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, E_TYPE, "x"), E_TYPE);
    err_clear(NULL);
    err_detail(NULL, "x");
    err_hint(NULL, "x");
    err_at(NULL, 1);
    err_in_file(NULL, "x", 1, 1);
    assert_int_equal(err_nomem(NULL), E_NOMEM);
    assert_int_equal(err_internal(NULL, "x"), E_INTERNAL);
}

static const enum status all[] = {
#define ERR(name, number, code, exit, vis, text) name,
#include "base/errors.def"
#undef ERR
};
enum { N_ALL = sizeof all / sizeof *all };

static void codes_are_distinct(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ALL; i++)
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(all[i], all[j]);
            assert_string_not_equal(status_code(all[i]), status_code(all[j]));
        }
}

static void exit_statuses_are_the_documented_ones(void **state)
{
    (void)state;
    assert_int_equal(status_exit(OK), 0);
    assert_int_equal(status_exit(E_USAGE), 2);
    assert_int_equal(status_exit(E_UNSUPPORTED), 3);
    assert_int_equal(status_exit(E_UNBOUNDED), 3);
    assert_int_equal(status_exit(E_BUDGET), 4);
    assert_int_equal(status_exit(E_SOURCE), 5);
    assert_int_equal(status_exit(E_LIMIT), 6);
    assert_int_equal(status_exit(E_INTERNAL), 70);
    for (size_t i = 0; i < N_ALL; i++) {
        int s = status_exit(all[i]);
        assert_true((s >= 2 && s <= 6) || s == 70);
        assert_true(strlen(status_meaning(all[i])) > 0);
    }
}

/* What depends on rows must not reach the analyst. */
static void data_errors_are_the_owners(void **state)
{
    (void)state;
    assert_int_equal(status_visibility(E_DATA), OWNER);
    assert_int_equal(status_visibility(E_CONSTRAINT), OWNER);
    assert_int_equal(status_visibility(E_LIMIT), OWNER);
    assert_int_equal(status_visibility(E_SYNTAX), ANALYST);
    assert_int_equal(status_visibility(OK), ANALYST);
}

static void unknown_status_is_a_defect(void **state)
{
    (void)state;
    assert_string_equal(status_code((enum status)9999), "internal");
    assert_int_equal(status_exit((enum status)9999), 70);
    assert_string_equal(status_code(OK), "ok");
    assert_string_equal(status_meaning(OK), "done");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(story_is_kept),
        cmocka_unit_test(new_error_forgets_the_old),
        cmocka_unit_test(error_may_quote_itself),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(nobody_need_listen),
        cmocka_unit_test(codes_are_distinct),
        cmocka_unit_test(exit_statuses_are_the_documented_ones),
        cmocka_unit_test(data_errors_are_the_owners),
        cmocka_unit_test(unknown_status_is_a_defect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
