/* The analysis with every allocation failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "bound/bound.h"
#include "harness/oom.h"

struct job {
    const char *rule, *constraint;
};

static enum status run(struct arena *a, const struct job *j, struct err *err)
{
    struct schema s;
    struct cq *q;
    struct bound b;
    struct bound_options opt = {.want_lower = true,
                                .want_advice = true,
                                .want_words = true,
                                .work = 3000};
    schema_init(&s, a);
    TRY(schema_read_constraint(&s, str_of(j->constraint), err));
    TRY(cq_read(a, &s, str_of(j->rule), &q, err));
    return bound_analyze(a, q, &opt, &b, err);
}

static enum status work(struct mem *m, void *with, struct err *err)
{
    struct arena a;
    arena_init(&a, m);
    enum status st = run(&a, with, err);
    arena_fini(&a);
    return st;
}

static void sweep(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"Q(x) :- R(x,y), R(z,x).", "R: 1 -> 2 <= 2"},
        {"Q(x) :- R(x,'c'), R(y,x).", "R: 1 -> 2"},
        {"Q(x) :- R(x,y), S(y,z), x < z.", "R: 1 -> 2 <= 2"},
        {"Q(x,y,z) :- A('c'), R(x,y), R(y,z), R(z,x).", "|R| <= 4"},
        {"Q(x) :- R(u,'b'), R(u,'d'), R(u,x), T(u).", "R: 1 -> 2 <= 2"},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        assert_true(oom_sweep(work, &jobs[i]) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
