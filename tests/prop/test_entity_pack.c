/*
 * The packing solver against an exact simplex that shares no code: intervals
 * hold the optimum, are narrow, and are points where that is promised; wrong
 * proposals only widen; the toys; what happens at the ends of the range.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "entity/collapse.h"
#include "entity/score.h"
#include "harness/oom.h"
#include "harness/pack_oracle.h"
#include "harness/size.h"

static uint64_t seed = 12345;
static uint64_t below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

enum { N = 14, K = 4 };
struct made {
    struct pack_input in;
    uint32_t ids[N * K], answer[N];
    u128 weight[N];
};

/* Random tuples over few entities, so that constraints bind. */
static void make(struct made *d, unsigned k, bool witnesses)
{
    *d = (struct made){.in = {.k = k}};
    d->in.entities = 2 + (uint32_t)below(5);
    d->in.n = 1 + below(N);
    d->in.ids = d->ids;
    for (size_t i = 0; i < d->in.n; i++) {
        for (unsigned j = 0; j < k; j++)
            d->ids[i * k + j] = (uint32_t)below(d->in.entities);
        d->weight[i] = 1 + below(9);
        d->answer[i] = (uint32_t)below(6);
    }
    d->in.weight = d->weight;
    d->in.answer = witnesses ? d->answer : NULL;
    d->in.answers = witnesses ? 6 : 0;
}

static void value(const struct pack_input *in, uint64_t t,
                  struct pack_interval *out)
{
    struct mem m;
    struct pack *p;
    struct err err;
    mem_init(&m, 0);
    assert_int_equal(pack_open(&m, in, NULL, &p, &err), OK);
    assert_int_equal(pack_value(p, t, out, &err), OK);
    pack_close(p);
    assert_int_equal(m.used, 0);
}

static void check(const struct made *d, uint64_t t)
{
    struct pack_interval v;
    mpq_t limit, q, lo, hi;
    mpq_inits(limit, q, lo, hi, NULL);
    mpq_set_ui(limit, t, 1);
    oracle_pack(&d->in, limit, q);
    value(&d->in, t, &v);
    oracle_units(v.lo, lo);
    oracle_units(v.hi, hi);
    if (mpq_cmp(lo, q) > 0 || mpq_cmp(q, hi) > 0)
        fail_msg("k %u t %d: %f not in [%f, %f]", d->in.k, (int)t, mpq_get_d(q),
                 mpq_get_d(lo), mpq_get_d(hi));
    assert_true(v.hi - v.lo <= ((u128)t << PACK_UNIT) / PACK_ETA);
    if (pack_exact(d->in.k, d->in.answer != NULL))
        assert_true(v.lo == v.hi);
    mpq_clears(limit, q, lo, hi, NULL);
}

static void intervals_hold_the_optimum(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_size(1500); i++) {
        struct made d;
        make(&d, 1 + i % K, false);
        check(&d, 1 + below(20));
    }
}

static void witnesses_too(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_size(1000); i++) {
        struct made d;
        make(&d, 1 + i % 3, true);
        check(&d, 1 + below(4));
    }
}

/* --- the certificate alone ------------------------------------------------ */

/* Random x and y: the interval gets wide, and still holds the optimum. */
static void certify_nonsense(const struct made *d, uint64_t t, bool *wide)
{
    struct mem m;
    struct arena a;
    struct err err;
    struct packing p;
    struct pack_interval v;
    struct by_answer none = {0};
    u128 load[8] = {0}, base, x[N], col[N], row[8];
    uint64_t y[8];
    mem_init(&m, 0);
    arena_init(&a, &m);
    for (size_t i = 0; i < d->in.n; i++) { /* as if nobody were light */
        for (unsigned j = 0; j < d->in.k; j++)
            load[d->ids[i * d->in.k + j]] = U128_MAX;
        x[i] = (u128)below(1 << 24) << (20 + below(24));
    }
    for (unsigned u = 0; u < 8; u++)
        y[u] = below(3) ? below((uint64_t)1 << 40) : 0;
    assert_int_equal(
        packing_collapse(&d->in, load, &none, NULL, t, &a, &p, &base, &err),
        OK);
    packing_certify(&p, &(struct proposal){x, y}, (struct scratch){col, row},
                    &v);
    mpq_t limit, q, lo, hi;
    mpq_inits(limit, q, lo, hi, NULL);
    mpq_set_ui(limit, t, 1);
    oracle_pack(&d->in, limit, q);
    oracle_units(v.lo + (base << PACK_UNIT), lo);
    oracle_units(v.hi + (base << PACK_UNIT), hi);
    assert_true(mpq_cmp(lo, q) <= 0 && mpq_cmp(q, hi) <= 0);
    *wide = *wide || !packing_closed(&p, &v);
    mpq_clears(limit, q, lo, hi, NULL);
    arena_fini(&a);
}

static void wrong_proposals_only_widen(void **state)
{
    (void)state;
    bool wide = false;
    for (unsigned i = 0; i < test_size(1000); i++) {
        struct made d;
        make(&d, 1 + i % K, false);
        certify_nonsense(&d, 1 + below(20), &wide);
    }
    assert_true(wide);
}

/* A way in for problems that the flow does not take. */
static void simplex_closes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_size(200); i++) {
        struct made d;
        struct mem m;
        struct arena a;
        struct err err;
        struct packing p;
        struct by_answer none = {0};
        u128 load[8] = {0}, base;
        make(&d, 3 + i % 2, false);
        mem_init(&m, 0);
        arena_init(&a, &m);
        for (size_t j = 0; j < d.in.n * d.in.k; j++)
            load[d.ids[j]] = U128_MAX;
        uint64_t t = 1 + below(20);
        assert_int_equal(
            packing_collapse(&d.in, load, &none, NULL, t, &a, &p, &base, &err),
            OK);
        struct pack_interval v = {0, U128_MAX}, w;
        struct solver s = {&m, NULL, &err};
        assert_int_equal(packing_simplex(&p, &s, &v), OK);
        assert_true(packing_closed(&p, &v));
        assert_int_equal(packing_climb(&p, &s, &w), OK);
        assert_true(v.lo <= w.hi && w.lo <= v.hi);
        arena_fini(&a);
    }
}

/* --- toys ------------------------------------------------------------------
 */

/* Q at t, times two, of a problem whose values are halves. */
static long twice(const struct pack_input *in, uint64_t t)
{
    struct pack_interval v;
    value(in, t, &v);
    assert_true(v.lo == v.hi);
    return (long)(v.lo >> (PACK_UNIT - 1));
}

/* K4 on a, b, c, d and edges ae, af, ag; doubled, so that t may be halved. */
static void four_friends(void **state)
{
    (void)state;
    static const uint32_t ids[] = {0, 1, 0, 2, 0, 3, 1, 2, 1,
                                   3, 2, 3, 0, 4, 0, 5, 0, 6};
    static const u128 two[] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
    static const struct {
        uint64_t t; /* twice the threshold */
        long q;     /* four times the value */
    } want[] = {{1, 5},  {2, 10}, {3, 15},  {4, 20},
                {6, 24}, {8, 28}, {10, 32}, {12, 36}};
    struct pack_input in = {
        .k = 2, .entities = 7, .n = 9, .ids = ids, .weight = two};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(twice(&in, want[i].t), want[i].q);
}

/* ab 5, bc 7, ac 4, a 3: a tuple may name an owner twice. */
static void mixed_owners(void **state)
{
    (void)state;
    static const uint32_t ids[] = {0, 1, 1, 2, 0, 2, 0, 0};
    static const u128 w[] = {5, 7, 4, 3};
    static const uint64_t t[] = {1, 2, 3, 4, 5, 6, 8, 11, 12};
    static const long q[] = {4, 8, 12, 15, 18, 21, 27, 36, 38};
    struct pack_input in = {
        .k = 2, .entities = 3, .n = 4, .ids = ids, .weight = w};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_int_equal(twice(&in, t[i]), q[i]);
}

/* The triangles of K5: 5 t / 3, then 10. */
static void five_friends(void **state)
{
    (void)state;
    uint32_t ids[30], n = 0;
    for (uint32_t a = 0; a < 5; a++)
        for (uint32_t b = a + 1; b < 5; b++)
            for (uint32_t c = b + 1; c < 5; c++, n += 3)
                ids[n] = a, ids[n + 1] = b, ids[n + 2] = c;
    struct pack_input in = {.k = 3, .entities = 5, .n = 10, .ids = ids};
    for (uint64_t t = 1; t < 9; t++) {
        struct pack_interval v;
        u128 q = t < 6 ? ((u128)5 * t << PACK_UNIT) / 3 : (u128)10 << PACK_UNIT;
        value(&in, t, &v);
        assert_true(v.lo <= q && q <= v.hi);
    }
}

/* What an entity gains is not monotone in t: 5, 8, 10, 5, 0, 0. */
static void gain_is_not_monotone(void **state)
{
    (void)state;
    static const uint64_t t[] = {5, 8, 10, 11, 12, 14};
    static const long gain[] = {5, 8, 10, 5, 0, 0};
    uint32_t ids[26];
    u128 w[13];
    for (uint32_t i = 0; i < 6; i++) {
        ids[4 * i] = 0, ids[4 * i + 1] = 2 + i, w[2 * i] = 50;
        ids[4 * i + 2] = ids[4 * i + 3] = 2 + i, w[2 * i + 1] = 10;
    }
    ids[24] = 1, ids[25] = 0, w[12] = 50;
    struct pack_input in = {
        .k = 2, .entities = 8, .n = 13, .ids = ids, .weight = w};
    for (size_t i = 0; i < 6; i++) {
        struct pack_input out = in;
        out.n = 12;
        assert_int_equal(twice(&in, t[i]) - twice(&out, t[i]), 2 * gain[i]);
    }
}

/* --- ends of the range -----------------------------------------------------
 */

static void large_numbers(void **state)
{
    (void)state;
    static const uint32_t ids[] = {0, 1, 2, 0, 1, 2, 0, 3, 3};
    static const u128 w[] = {U128_MAX, (u128)1 << 100, U128_MAX};
    for (unsigned k = 1; k <= 3; k++) {
        struct pack_input in = {
            .k = k, .entities = 4, .n = 3, .ids = ids, .weight = w};
        struct pack_interval v;
        value(&in, PACK_T_MAX, &v);
        u128 most = (u128)(k == 1 ? 3 : 4) * PACK_T_MAX;
        assert_true(v.hi <= most << PACK_UNIT && v.lo > 0);
        assert_true(v.hi - v.lo <= ((u128)PACK_T_MAX << PACK_UNIT) / PACK_ETA);
    }
}

static void nothing_at_all(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 3; k++) {
        struct pack_interval v;
        value(&(struct pack_input){.k = k}, 4, &v);
        assert_true(v.lo == 0 && v.hi == 0);
    }
}

/* Entities below the floor may be left out: nothing changes. */
static void light_owners_may_be_unnamed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_size(300); i++) {
        struct made d;
        struct mem m;
        struct pack *p;
        struct err err;
        make(&d, 2 + i % 2, false);
        mem_init(&m, 0);
        assert_int_equal(pack_open(&m, &d.in, NULL, &p, &err), OK);
        uint64_t t = 4 + below(20);
        struct made e = d;
        e.in.ids = e.ids, e.in.weight = e.weight, e.in.floor = t;
        for (size_t j = 0; j < d.in.n * d.in.k; j++)
            if (pack_load(p, d.ids[j]) <= t)
                e.ids[j] = PACK_NONE;
        struct pack_interval v, w;
        assert_int_equal(pack_value(p, t, &v, &err), OK);
        value(&e.in, t, &w);
        assert_true(v.lo <= w.hi && w.lo <= v.hi);
        assert_true(pack_above_value(p, t) >= v.lo);
        pack_close(p);
    }
}

/* Lists again with half the floor. */
struct listing {
    struct made all, now;
    const struct pack *loads;
    unsigned times;
};

static void list_above(struct listing *l, u128 floor)
{
    l->now = l->all;
    l->now.in.ids = l->now.ids, l->now.in.weight = l->now.weight;
    l->now.in.floor = floor;
    for (size_t j = 0; j < l->all.in.n * l->all.in.k; j++)
        if (pack_load(l->loads, l->all.ids[j]) <= floor)
            l->now.ids[j] = PACK_NONE;
}

static enum status lower(void *from, struct pack_input *in, struct err *err)
{
    struct listing *l = from;
    (void)err;
    l->times++;
    list_above(l, l->now.in.floor / 2);
    *in = l->now.in;
    return OK;
}

static void floors_are_lowered(void **state)
{
    (void)state;
    unsigned times = 0;
    for (unsigned i = 0; i < test_size(300); i++) {
        struct listing l = {0};
        struct mem m;
        struct pack *p, *q;
        struct err err;
        struct pack_interval v, w;
        make(&l.all, 2 + i % 2, false);
        l.all.in.ids = l.all.ids, l.all.in.weight = l.all.weight;
        mem_init(&m, 0);
        assert_int_equal(pack_open(&m, &l.all.in, NULL, &p, &err), OK);
        l.loads = p;
        list_above(&l, 1 << below(6));
        struct pack_options opt = {.lower = lower, .from = &l};
        assert_int_equal(pack_open(&m, &l.now.in, &opt, &q, &err), OK);
        for (uint64_t t = 64; t > 0; t /= 2) {
            assert_int_equal(pack_value(p, t, &v, &err), OK);
            assert_true(pack_above_value(q, t) >= v.lo);
            assert_int_equal(pack_value(q, t, &w, &err), OK);
            assert_true(v.lo <= w.hi && w.lo <= v.hi);
        }
        times += l.times;
        pack_close(q);
        pack_close(p);
    }
    assert_true(times > 100);
}

enum { GRID = 6 };

/* Each entity keeps t at most; or what its results are, whichever is less. */
static u128 by_loads(const void *ctx, uint64_t t)
{
    const struct listing *l = ctx;
    u128 sum = 0;
    for (uint32_t u = 0; u < l->all.in.entities; u++) {
        u128 has = pack_load(l->loads, u);
        sum += has < t ? has : t;
    }
    return sum;
}

/* What is said of scores without solving is never more than they are, whatever
 * is listed; and it says something. */
static void bounds_lie_below_the_scores(void **state)
{
    (void)state;
    unsigned told = 0;
    uint64_t t[GRID];
    mpq_t score[GRID], least[GRID], divisor[GRID], cap;
    struct score_grid g = {GRID, t, divisor, cap};
    mpq_init(cap);
    mpq_set_ui(cap, 1000, 1);
    for (unsigned j = 0; j < GRID; j++) {
        mpq_inits(score[j], least[j], divisor[j], NULL);
        t[j] = (uint64_t)2 << j;
        mpq_set_ui(divisor[j], 5 * 66 * t[j], 2 * 64);
        mpq_canonicalize(divisor[j]);
    }
    for (unsigned i = 0; i < test_size(300); i++) {
        struct listing l = {0};
        struct mem m;
        struct pack *p, *q;
        struct err err;
        bool some;
        make(&l.all, 2 + i % 2, false);
        l.all.in.ids = l.all.ids, l.all.in.weight = l.all.weight;
        mem_init(&m, 0);
        for (unsigned j = 0; j < GRID; j++)
            mpq_set_ui(least[j], 0, 1);
        assert_int_equal(pack_open(&m, &l.all.in, NULL, &p, &err), OK);
        assert_int_equal(entity_scores(p, 2, &g, score, &err), OK);
        l.loads = p;
        list_above(&l, 1 << below(6));
        struct pack_options opt = {.lower = lower, .from = &l};
        assert_int_equal(pack_open(&m, &l.now.in, &opt, &q, &err), OK);
        struct score_above above = {by_loads, &l};
        for (unsigned j = GRID; j-- > 0;) {
            assert_int_equal(
                entity_least(q, &g, j, &above, below(2), least, &some, &err),
                OK);
            assert_int_equal(some, 2 * t[j] >= l.now.in.floor);
            for (unsigned k = 0; some && k <= j; k++) {
                assert_true(mpq_cmp(least[k], score[k]) <= 0);
                told += mpq_sgn(least[k]) > 0;
            }
        }
        assert_int_equal(l.times, 0);
        pack_close(q);
        pack_close(p);
    }
    assert_true(told > test_size(300));
    for (unsigned j = 0; j < GRID; j++)
        mpq_clears(score[j], least[j], divisor[j], NULL);
    mpq_clear(cap);
}

/* A score is the cap only where it is at least that, but for what values within
 * their intervals move it: below 1/64 for both. */
static void caps_are_certain(void **state)
{
    (void)state;
    unsigned capped = 0, free_ = 0;
    uint64_t t[GRID];
    mpq_t score[GRID], whole[GRID], divisor[GRID], cap, off;
    struct score_grid g = {GRID, t, divisor, cap};
    mpq_inits(cap, off, NULL);
    for (unsigned j = 0; j < GRID; j++) {
        mpq_inits(score[j], whole[j], divisor[j], NULL);
        t[j] = (uint64_t)2 << j;
        mpq_set_ui(divisor[j], 5 * 66 * t[j], 2 * 64);
        mpq_canonicalize(divisor[j]);
    }
    for (unsigned i = 0; i < test_size(200); i++) {
        struct listing l = {0};
        struct mem m;
        struct pack *p;
        struct err err;
        make(&l.all, 2 + i % 2, false);
        l.all.in.ids = l.all.ids, l.all.in.weight = l.all.weight;
        mem_init(&m, 0);
        for (unsigned round = 0; round < 2; round++) {
            mpq_set_ui(cap, round ? 1 + below(4) : 1000, round ? 4 : 1);
            mpq_canonicalize(cap);
            assert_int_equal(pack_open(&m, &l.all.in, NULL, &p, &err), OK);
            assert_int_equal(
                entity_scores(p, 2, &g, round ? score : whole, &err), OK);
            pack_close(p);
        }
        for (unsigned j = 0; j < GRID; j++) {
            mpq_set_ui(off, 1, 64);
            mpq_add(off, whole[j], off);
            assert_true(mpq_cmp(score[j], off) <= 0);
            capped += mpq_equal(score[j], cap) != 0;
            free_ += mpq_cmp(score[j], cap) < 0;
        }
    }
    assert_true(capped > 20 && free_ > 20);
    for (unsigned j = 0; j < GRID; j++)
        mpq_clears(score[j], whole[j], divisor[j], NULL);
    mpq_clears(cap, off, NULL);
}

static enum status work(struct mem *m, void *with, struct err *err)
{
    struct pack *p;
    struct pack_interval v;
    const struct made *d = with;
    TRY(pack_open(m, &d->in, NULL, &p, err));
    enum status st = pack_value(p, 3, &v, err);
    pack_close(p);
    return st;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 3; k++) {
        struct made d;
        make(&d, k, false);
        d.in.n = N;
        for (size_t i = 0; i < N * k; i++)
            d.ids[i] = (uint32_t)(i % d.in.entities);
        for (size_t i = 0; i < N; i++)
            d.weight[i] = 3;
        assert_true(oom_sweep(work, &d) >= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_the_optimum),
        cmocka_unit_test(witnesses_too),
        cmocka_unit_test(wrong_proposals_only_widen),
        cmocka_unit_test(simplex_closes),
        cmocka_unit_test(four_friends),
        cmocka_unit_test(mixed_owners),
        cmocka_unit_test(five_friends),
        cmocka_unit_test(gain_is_not_monotone),
        cmocka_unit_test(large_numbers),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(light_owners_may_be_unnamed),
        cmocka_unit_test(floors_are_lowered),
        cmocka_unit_test(bounds_lie_below_the_scores),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(caps_are_certain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
