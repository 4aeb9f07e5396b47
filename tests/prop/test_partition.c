/*
 * Groups of rows against a comparison of every pair of rows: dictionaries,
 * integers near and far apart, doubles with NaN and both zeros, NULLs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness/load_rows.h"
#include "store/partition.h"

enum { COLS = 5, MOST = 300 };

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static unsigned long pick(uint64_t *s, unsigned long n)
{
    return (unsigned long)(next(s) >> 11) % n;
}

static const enum type types[COLS] = {T_UNKNOWN, T_INT, T_INT, T_REAL, T_TEXT};

static struct value cell(uint64_t *s, size_t col, unsigned long spread)
{
    static const double reals[] = {0, -0.0, 1.5, -1.5, NAN, INFINITY};
    static char buf[24];
    unsigned long v = pick(s, spread);
    struct value x = {.type = T_INT, .i = (int64_t)v};
    if (!pick(s, 8))
        return value_null();
    switch (col) {
    case 0: /* numbers and texts in one column */
        snprintf(buf, sizeof buf, v % 2 ? "%lu.5" : "t%lu", v);
        return value_text(str_of(buf));
    case 2: /* far apart, negative ones too; products that collide */
        x.i = (int64_t)(v * UINT64_C(0x4000000000000001) - (v & 1));
        return x;
    case 3:
        return (struct value){.type = T_REAL, .f = reals[v % 6]};
    case 4:
        snprintf(buf, sizeof buf, "%lu", v);
        return value_text(str_of(buf));
    default:
        return x;
    }
}

static struct store *fill(struct mem *m, struct schema *sc, uint64_t *s,
                          size_t rows)
{
    struct store *st;
    struct store_loader *l;
    struct err err;
    unsigned long spread = 1 + pick(s, 12);
    assert_int_equal(store_new(m, sc, &st, &err), OK);
    assert_int_equal(store_load_begin(st, 0, NULL, &l, &err), OK);
    for (size_t r = 0; r < rows; r++) {
        struct value v[COLS];
        char kept[COLS][24];
        for (size_t c = 0; c < COLS; c++) {
            v[c] = cell(s, c, spread);
            if (v[c].type == T_TEXT && !v[c].is_null) {
                memcpy(kept[c], v[c].s.p, v[c].s.n);
                v[c].s.p = kept[c];
            }
        }
        assert_int_equal(store_load_values(l, v, &err), OK);
    }
    assert_int_equal(store_load_end(l, &err), OK);
    return st;
}

static bool agree(const struct store_table *t, const size_t *cols, size_t n,
                  size_t a, size_t b)
{
    for (size_t i = 0; i < n; i++) {
        struct value x = column_value(&t->cols[cols[i]], a);
        struct value y = column_value(&t->cols[cols[i]], b);
        if ((x.is_null || y.is_null)
                ? x.is_null != y.is_null
                : (x.type == T_TEXT) != (y.type == T_TEXT) || value_cmp(&x, &y))
            return false;
    }
    return true;
}

static void check(const struct store_table *t, const size_t *cols, size_t n,
                  const struct partition *p)
{
    uint32_t groups = 0;
    for (size_t b = 0; b < t->n_rows; b++) {
        size_t a = 0;
        while (!agree(t, cols, n, a, b))
            a++;
        if (a == b) /* the first of its group: the next number */
            assert_int_equal(p->group[b], groups++);
        else
            assert_int_equal(p->group[b], p->group[a]);
    }
    assert_int_equal(p->n_groups, groups);
}

static void random_tables(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (int round = 0; round < 120; round++) {
        struct mem m;
        struct arena a;
        struct schema sc;
        struct err err;
        struct partition p;
        size_t index, cols[COLS], n = 1 + pick(&seed, COLS);
        mem_init(&m, 0);
        arena_init(&a, &m);
        schema_init(&sc, &a);
        assert_int_equal(schema_add_table(&sc, STR("t"), COLS, &index, &err),
                         OK);
        for (size_t c = 0; c < COLS; c++)
            sc.tables.p[0].cols[c] =
                (struct column){.name = STR("c"), .type = types[c]};
        struct store *st = fill(&m, &sc, &seed, pick(&seed, MOST));
        const struct store_table *t = &st->tables[0];
        assert_int_equal(partition_new(&m, t->n_rows, &p, &err), OK);
        for (size_t i = 0; i < n; i++) {
            cols[i] = pick(&seed, COLS);
            assert_int_equal(partition_refine(&p, &t->cols[cols[i]], &err), OK);
            check(t, cols, i + 1, &p);
        }
        partition_free(&p);
        store_free(st);
        arena_fini(&a);
        assert_int_equal(atomic_load(&m.used), 0);
    }
}

/* More groups than the first table of slots has, and no memory. */
static void many(void **state)
{
    enum { N = 20000 };
    struct mem m;
    struct partition p;
    struct err err;
    int64_t *v = calloc(N, sizeof *v);
    (void)state;
    mem_init(&m, 0);
    for (size_t i = 0; i < N; i++)
        v[i] = (int64_t)((i % (N / 2)) * UINT64_C(1000000007) * 97);
    struct store_column c = {.present = true, .type = T_INT, .i64 = v};
    assert_int_equal(partition_new(&m, N, &p, &err), OK);
    assert_int_equal(partition_refine(&p, &c, &err), OK);
    assert_int_equal(p.n_groups, N / 2);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(p.group[i], i % (N / 2));
    m.limit = atomic_load(&m.used) + 5000;
    assert_int_equal(partition_refine(&p, &c, &err), E_LIMIT);
    partition_free(&p);
    assert_int_equal(atomic_load(&m.used), 0);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tables),
        cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
