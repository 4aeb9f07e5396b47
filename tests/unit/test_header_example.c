/*
 * The example in dpcount.h, word for word: the test takes these lines from
 * here, the header shows them, and tests/e2e/test_headers.sh compares the two.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dpcount.h"
#include "harness/scratch.h"

static char dir[SCRATCH_PATH];
static char said[256];

/* What the example prints is looked at. */
#define printf(...) snprintf(said, sizeof said, __VA_ARGS__)
#define fprintf(to, ...) fail_msg(__VA_ARGS__)

/* clang-format off */
static void example(void)
{
    /* example: begin */
    dpc_dataset *d = NULL;
    dpc_question *q = NULL;
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    if (!dpc_dataset_new(&d) &&
        !dpc_dataset_set(d, "db", "hospital.db", &e) &&
        !dpc_dataset_set(d, "policy", "policy.yaml", &e) &&
        !dpc_dataset_set(d, "ledger", "hospital.ledger", &e) &&
        !dpc_dataset_open(d, 0, &e) &&
        !dpc_question_new("SELECT COUNT(*) FROM pat", &q) &&
        !dpc_question_set(q, "epsilon", "0.5", &e) &&
        !dpc_release(d, q, "ann", &r, &e))
        printf("about %s\n", dpc_result_cell(r, 0, 0));
    else
        fprintf(stderr, "%s\n", dpc_error_message(e));
    dpc_error_free(e);
    dpc_result_free(r);
    dpc_question_free(q);
    dpc_dataset_free(d);
    /* example: end */
}
/* clang-format on */

static void budget(void)
{
    dpc_dataset *d;
    dpc_result *r;
    assert_int_equal(dpc_dataset_new(&d), DPC_OK);
    assert_int_equal(dpc_dataset_set(d, "ledger", "hospital.ledger", NULL), 0);
    assert_int_equal(dpc_budget_init(d, "10", NULL, &r, NULL), DPC_OK);
    dpc_result_free(r);
    dpc_dataset_free(d);
}

static void test_example(void **state)
{
    (void)state;
    char path[4096];
    assert_int_equal(scratch_make(dir), 0);
    snprintf(path, sizeof path, "%s/examples/hospital.db", getenv("DPC_BUILD"));
    char *db = realpath(path, NULL);
    assert_non_null(db);
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(symlink(db, "hospital.db"), 0);
    FILE *f = fopen("policy.yaml", "w");
    assert_non_null(f);
    fputs("tables:\n  hos: {privacy: public}\n", f);
    fclose(f);
    budget();
    example();
    assert_memory_equal(said, "about ", 6);
    assert_int_equal(chdir("/"), 0);
    free(db);
    scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_example)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
