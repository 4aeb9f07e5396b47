/*
 * jtree_least_degree against adding up the largest values one by one: with
 * small and large values, weights of pairs, powers, marks; and the trees for
 * which it has to say that it knows nothing.
 */
#include "harness/join_case.h"
#include "join/jointree/jointree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 40 };

struct made {
    struct jtree t;
    struct twork w;
    struct csr up;
    uint64_t val[MOST];
    uint32_t ids[MOST];
    uint8_t mark[MOST];
};

static void make(struct made *m, struct jc_rng *g)
{
    static const uint64_t sizes[] = {2, 9, 300, 5000, 1u << 30};
    uint64_t size = sizes[jc_below(g, 5)];
    memset(m, 0, sizeof *m);
    m->t.n_nodes = 2;
    m->t.node[0].n_kids = 1;
    m->t.node[0].kids[0] = 1;
    m->t.node[1].kind = W_SUM;
    m->t.node[1].power = (uint8_t)(1 + jc_below(g, 3));
    m->t.node[1].falling = jc_below(g, 2);
    m->t.node[1].up = &m->up;
    m->up.max_w = 1 + jc_below(g, 3);
    m->w.node[1].val = m->val;
    m->w.node[1].ids = m->ids;
    m->w.node[1].n_ids = jc_below(g, MOST);
    if (!jc_below(g, 4))
        m->w.node[1].mark = m->mark;
    for (uint32_t i = 0; i < m->w.node[1].n_ids; i++) {
        m->ids[i] = i;
        m->mark[i] = 1;
        m->val[i] = m->w.node[1].mark ? 1 : 1 + jc_below(g, (uint32_t)size);
    }
}

static int falling(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static bool exceeds(const struct made *m, uint64_t sum, uint64_t above)
{
    long double p = 1;
    for (int i = 0; i < m->t.node[1].power; i++)
        p *= (long double)sum * (long double)m->up.max_w;
    return p > (long double)above;
}

/* How many of the largest values it takes; more than there are: none do. */
static uint32_t needed(const struct made *m, uint64_t above)
{
    uint64_t v[MOST], sum = 0;
    uint32_t n = m->w.node[1].n_ids;
    memcpy(v, m->val, sizeof v);
    qsort(v, n, sizeof *v, falling);
    for (uint32_t d = 0; d < n; d++) {
        sum += v[d];
        if (exceeds(m, sum, above))
            return d + 1;
    }
    return UINT32_MAX;
}

static void test_bound(void **state)
{
    struct made m;
    unsigned told = 0;
    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        struct jc_rng g = {i * 31 + 7};
        make(&m, &g);
        uint64_t most = 0;
        for (uint32_t k = 0; k < m.w.node[1].n_ids; k++)
            most = m.val[k] > most ? m.val[k] : most;
        uint64_t above = jc_below(&g, 1 + jc_below(&g, 1u << jc_below(&g, 31)));
        above *= 1 + jc_below(&g, 1u << jc_below(&g, 20));
        uint32_t got = jtree_least_degree(&m.t, &m.w, above);
        uint32_t want = needed(&m, above);
        /* never more; just that where classes hold one value each */
        assert_true(got <= want);
        if (most < 256)
            assert_int_equal(got, want);
        told += got > 1 && want != UINT32_MAX;
    }
    assert_true(told > 20000);
}

/* Classes are a sixteenth of a doubling wide. */
static void test_close(void **state)
{
    struct made m;
    struct jc_rng g = {1};
    (void)state;
    make(&m, &g);
    m.w.node[1].mark = NULL;
    m.w.node[1].n_ids = MOST;
    m.t.node[1].power = 1;
    m.up.max_w = 1;
    for (uint32_t i = 0; i < MOST; i++) {
        m.ids[i] = i;
        m.val[i] = 1600;
    }
    assert_int_equal(jtree_least_degree(&m.t, &m.w, 1600 * 30), 29);
    assert_int_equal(jtree_least_degree(&m.t, &m.w, 0), 1);
    assert_int_equal(jtree_least_degree(&m.t, &m.w, UINT64_MAX >> 2),
                     UINT32_MAX);
}

static void test_knows_nothing(void **state)
{
    struct made m;
    struct jc_rng g = {3};
    uint64_t ones[1] = {1};
    (void)state;
    make(&m, &g);
    m.t.node[0].n_kids = 2;
    assert_int_equal(jtree_least_degree(&m.t, &m.w, 1u << 20), 0);
    make(&m, &g);
    m.t.node[0].unary = ones;
    assert_int_equal(jtree_least_degree(&m.t, &m.w, 1u << 20), 0);
    make(&m, &g);
    m.t.node[0].n_lists = 1;
    assert_int_equal(jtree_least_degree(&m.t, &m.w, 1u << 20), 0);
    make(&m, &g);
    m.t.node[1].is_free = true;
    assert_int_equal(jtree_least_degree(&m.t, &m.w, 1u << 20), 0);
    make(&m, &g);
    m.t.node[1].kind = W_EXISTS;
    assert_int_equal(jtree_least_degree(&m.t, &m.w, 1u << 20), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_knows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
