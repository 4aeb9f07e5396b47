/*
 * A mutant must die: the chase as printed replaces s[j] by t[j] whichever of
 * the two is an output, and an output that is gone is no longer counted. The
 * oracle finds a database that breaks the bound of the query so obtained.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "harness/oracle.h"

static void replace(struct o_query *q, int from, int to)
{
    for (int i = 0; i < q->n_atoms; i++)
        for (int j = 0; j < O_ARITY; j++)
            if (q->atom[i].term[j] == from)
                q->atom[i].term[j] = to;
}

static bool occurs(const struct o_query *q, int v)
{
    for (int i = 0; i < q->n_atoms; i++)
        for (int j = 0; j < q->arity[q->atom[i].rel]; j++)
            if (q->atom[i].term[j] == v)
                return true;
    return false;
}

/* One step of the printed rule for a dependency x -> y between columns. */
static void printed_chase(struct o_query *q, int x, int y)
{
    for (int i = 0; i < q->n_atoms; i++)
        for (int k = 0; k < q->n_atoms; k++)
            if (q->atom[i].rel == 0 && q->atom[k].rel == 0 &&
                q->atom[i].term[x] == q->atom[k].term[x])
                replace(q, q->atom[i].term[y], q->atom[k].term[y]);
    int n = 0;
    for (int i = 0; i < q->n_free; i++)
        if (occurs(q, q->free[i]))
            q->free[n++] = q->free[i];
    q->n_free = n;
}

static void dies(void **state)
{
    (void)state;
    /* Q(x) :- R(z,x,v), R(z,y,w), S(w) with R: 1 -> 2; x is 0, z is 2 */
    struct o_query q = {.arity = {3, 1}, .n_atoms = 3, .n_free = 1};
    static const int terms[3][3] = {{2, 0, 4}, {2, 1, 3}, {3, 0, 0}};
    for (int i = 0; i < 3; i++)
        memcpy(q.atom[i].term, terms[i], sizeof terms[i]);
    q.atom[2].rel = 1;
    q.n_cons = 1;
    q.con[0].x = 1;
    q.con[0].y = 2;
    q.con[0].k = 1;
    struct o_query wrong = q;
    struct o_result good, bad;
    struct o_random r = {3};
    printed_chase(&wrong, 0, 1);
    o_analyse(&q, false, &good);
    o_analyse(&wrong, false, &bad);
    long found = o_search(&r, &q, 400, NULL);
    assert_true((u128)found > bad.upper);
    assert_true((u128)found <= good.upper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
