/*
 * The stored cases of global sensitivity (file static.json in the folder
 * DPC_CASES): sound always, the best known bound in 95 %, the exact lower
 * bound in 90 %, never a wrong "exact". Skipped when the folder is not set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "bound/bound.h"
#include "harness/rules.h"

struct score {
    int n, sound, best, known, low, wrong_exact;
};

static u128 number(const json_t *v)
{
    return json_is_string(v) ? U128_INF : (u128)json_integer_value(v);
}

static bool listed(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), name) == 0)
            return true;
    return false;
}

static void declare(struct rules *r, const json_t *c)
{
    const json_t *k = json_object_get(c, "constraints");
    for (size_t i = 0; i < json_array_size(k); i++)
        rules_constraint(r, json_string_value(json_array_get(k, i)));
    const json_t *priv = json_object_get(c, "private");
    const json_t *rel = json_object_get(c, "relations");
    for (size_t i = 0; json_is_array(priv) && i < json_array_size(rel); i++) {
        const char *name = json_string_value(json_array_get(rel, i));
        if (!listed(priv, name))
            rules_public(r, name);
    }
}

static void report(const json_t *c, const char *what, u128 got, u128 want)
{
    char b1[U128_DIGITS], b2[U128_DIGITS];
    printf("%s %s: %s (expected %s)  %s\n",
           json_string_value(json_object_get(c, "id")), what,
           got == U128_INF ? "inf" : u128_text(got, b1),
           want == U128_INF ? "inf" : u128_text(want, b2),
           json_string_value(json_object_get(c, "query")));
}

static void judge(const json_t *c, const struct bound *b, struct score *s)
{
    const json_t *exact = json_object_get(c, "exact");
    u128 best = number(json_object_get(c, "best_upper"));
    u128 floor = json_is_null(exact) ? number(json_object_get(c, "lower_found"))
                                     : number(exact);
    s->n++;
    if (b->upper >= floor)
        s->sound++;
    else
        report(c, "UNSOUND", b->upper, floor);
    if (b->upper <= best)
        s->best++;
    else
        report(c, "loose", b->upper, best);
    if (json_is_null(exact))
        return;
    s->known++;
    if (b->lower == number(exact))
        s->low++;
    else
        report(c, "lower", b->lower, number(exact));
    if (b->lower > number(exact) || (b->exact && b->upper != number(exact)))
        s->wrong_exact++;
}

static void run_case(const json_t *c, struct score *s)
{
    struct rules r;
    struct bound b;
    struct bound_options opt = {.want_lower = true};
    rules_init(&r);
    declare(&r, c);
    struct cq *q =
        rules_read(&r, json_string_value(json_object_get(c, "query")));
    if (bound_analyze(&r.arena, q, &opt, &b, &r.err) != OK)
        fail_msg("%s", r.err.message);
    judge(c, &b, s);
    assert_true(rules_fini(&r));
}

static void all_cases(void **state)
{
    (void)state;
    char path[4096];
    const char *folder = getenv("DPC_CASES");
    snprintf(path, sizeof path, "%s/static.json", folder ? folder : "");
    json_t *root = folder ? json_load_file(path, 0, NULL) : NULL;
    if (!root) {
        printf("DPC_CASES has no static.json; skipped\n");
        skip();
    }
    struct score s = {0};
    const json_t *cases = json_object_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++)
        run_case(json_array_get(cases, i), &s);
    json_decref(root);
    printf("sound %d/%d, best %d, lower exact %d/%d, wrong exact %d\n", s.sound,
           s.n, s.best, s.low, s.known, s.wrong_exact);
    assert_int_equal(s.sound, s.n);
    assert_int_equal(s.wrong_exact, 0);
    assert_true(s.best * 100 >= s.n * 95);
    assert_true(s.low * 100 >= s.known * 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
