/*
 * Large queries: 20 atoms and 40 variables are analysed within the limit,
 * with a sound bound also when the work ends early.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "bound/bound.h"
#include "harness/rules.h"

enum { ATOMS = 20 };

static long analyse(const char *name, const char *rule, const char *const *cons,
                    size_t n_cons)
{
    struct rules r;
    struct bound b;
    struct timespec t0, t1;
    char u[U128_DIGITS], l[U128_DIGITS];
    struct bound_options opt = {
        .want_lower = true, .want_advice = true, .want_words = true};
    rules_init(&r);
    struct cq *q = rules_read(&r, rule);
    for (size_t i = 0; i < n_cons; i++)
        rules_constraint(&r, cons[i]);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    if (bound_analyze(&r.arena, q, &opt, &b, &r.err) != OK)
        fail_msg("%s: %s", name, r.err.message);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    long ms =
        (t1.tv_sec - t0.tv_sec) * 1000 + (t1.tv_nsec - t0.tv_nsec) / 1000000;
    printf("%s: upper %s lower %s%s%s, %zu advice, %ld ms\n", name,
           b.upper == U128_INF ? "inf" : u128_text(b.upper, u),
           b.lower == U128_INF ? "inf" : u128_text(b.lower, l),
           b.exact ? " exact" : "", b.gave_up ? " gave up" : "", b.n_advice,
           ms);
    assert_true(b.lower <= b.upper);
    assert_true(ms < 10000 || getenv("DPC_SLOW")); /* valgrind */
    assert_true(rules_fini(&r));
    return ms;
}

/* One atom for each i: the format gets the numbers i, i + 1, i + 20. */
static const char *build(char *buf, const char *head, const char *fmt, int n)
{
    char *p = buf + sprintf(buf, "%s :- ", head);
    for (int i = 0; i < n; i++) {
        p += sprintf(p, "%s", i ? ", " : "");
        for (const char *f = fmt; *f; f++)
            p += *f == 'i'   ? sprintf(p, "v%d", i)
                 : *f == 'n' ? sprintf(p, "v%d", i + 1)
                 : *f == 'c' ? sprintf(p, "v%d", (i + 1) % n)
                 : *f == 'w' ? sprintf(p, "v%d", i + 21)
                 : *f == '#' ? sprintf(p, "%d", i)
                             : sprintf(p, "%c", *f);
    }
    sprintf(p, ".");
    return buf;
}

static void large(void **state)
{
    (void)state;
    char b[4000];
    const char *deg[] = {"E: 1 -> 2 <= 3", "E: 2 -> 1 <= 2"};
    const char *fd[] = {"E: 1 -> 2", "E: 2 -> 1"};
    const char *size[] = {"|E| <= 1000"};
    const char *t3[] = {"T: 1 -> 2 <= 2", "T: (1, 2) -> 3 <= 3",
                        "T: 3 -> 1 <= 2"};
    analyse("path", build(b, "Q(v0)", "E(i,n)", ATOMS), deg, 2);
    analyse("path, all out", build(b, "Q(v0,v5,v10,v15,v20)", "E(i,n)", ATOMS),
            deg, 2);
    analyse("path, free", build(b, "Q(v0,v20)", "E(i,n)", ATOMS), NULL, 0);
    analyse("path, fd", build(b, "Q(v0)", "E(i,n)", ATOMS), fd, 2);
    analyse("cycle", build(b, "Q(v0)", "E(i,c)", ATOMS), deg, 2);
    analyse("cycle, fd", build(b, "Q(v0)", "E(i,c)", ATOMS), fd, 2);
    analyse("odd cycle", build(b, "Q()", "E(i,c)", 19), NULL, 0);
    analyse("cycle, size", build(b, "Q(v0,v1,v2,v3)", "E(i,c)", ATOMS), size,
            1);
    analyse("wide", build(b, "Q(v0,v20)", "T(i,n,w)", ATOMS), t3, 3);
    analyse("wide, no constraint", build(b, "Q(v0,v30)", "T(i,n,w)", ATOMS),
            NULL, 0);
    analyse("star", build(b, "Q(s)", "E(s,i)", ATOMS), deg, 2);
    analyse("different", build(b, "Q(v0,v20)", "R#(i,n,w)", ATOMS), NULL, 0);
}

static void cliques(void **state)
{
    (void)state;
    char b[4000], *p = b + sprintf(b, "Q(v0,v1,v2,v3,v4,v5) :- ");
    const char *size[] = {"|E| <= 1000", "E: 1 -> 2 <= 50"};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            p += sprintf(p, "%sE(v%d,v%d)", i + j > 1 ? ", " : "", i, j);
    strcpy(p, ".");
    analyse("6-clique", b, size, 2);
}

/*
 * A join of seventeen wide tables with filters on texts that no witness may
 * reach: the searches share one budget, and do not each take their own (6.4 s
 * before, 0.2 s now; the limit leaves room for sanitizers).
 */
static void seventeen(void **state)
{
    (void)state;
    char b[4000], *p = b + sprintf(b, "Q(c,d,e) :- T(c, y, 'x', a1, a2)");
    for (int i = 0; i < 8; i++)
        p += sprintf(p, ", R%d(i%d, c, k%d, n%d, 'w%d'), D%d(k%d, 'u%d', z%d)",
                     i, i, i, i, i, i, i, i, i);
    strcpy(p, ", y > 1990, y < 2010, n0 = d, n1 = e.");
    long ms = analyse("seventeen", b, NULL, 0);
    assert_true(ms < 3000 || getenv("DPC_SLOW"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large),
        cmocka_unit_test(cliques),
        cmocka_unit_test(seventeen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
