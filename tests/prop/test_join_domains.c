/*
 * Domains against the values themselves: three columns of random cells, of
 * whole numbers near or far, decimals, texts, or any of them mixed, or of a
 * declared type, with NULLs and a constant, compared with each other. The
 * values of the domain must be the distinct ones, each found under the id that
 * rows get for it, rising where an order is asked.
 */
#include "harness/load_rows.h"
#include "harness/join_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/join_int.h"

enum { COLUMNS = 3, ROWS = 40 };

enum look {
    L_NEAR,
    L_FAR,
    L_WIDE,
    L_DEC,
    L_TEXT,
    L_MIXED,
    /* declared from here on */
    L_INT,
    L_NUMERIC,
    L_REAL,
    L_DATE,
    L_TIMESTAMP,
    L_UUID,
    LOOKS
};

static enum type type_of(enum look look)
{
    static const enum type declared[] = {T_INT,  T_DEC,       T_REAL,
                                         T_DATE, T_TIMESTAMP, T_UUID};
    return look < L_INT ? T_UNKNOWN : declared[look - L_INT];
}

static const char *declared_cell(struct jc_rng *r, enum look look, char out[48])
{
    uint32_t v = jc_below(r, 9), part = jc_below(r, 3);
    const char *sign = jc_below(r, 2) ? "-" : "";
    static const char *const large[] = {"2147483647", "2147483648",
                                        "9007199254740993"};
    if (look == L_INT || jc_below(r, 6) == 0)
        snprintf(out, 48, "%s%s", sign,
                 part ? large[jc_below(r, 3)] : large[0] + 9 - v % 3);
    else
        snprintf(out, 48, "%s%u.%u%s", sign, v / 3, part * 25,
                 jc_below(r, 2) ? "0" : "");
    if (look == L_DATE)
        snprintf(out, 48, "19%u-01-0%u", 69 + part, 1 + v);
    else if (look == L_TIMESTAMP)
        snprintf(out, 48, "19%u-01-0%u 0%u:00:00", 69 + part, 1 + v,
                 jc_below(r, 3) % 2);
    else if (look == L_UUID)
        snprintf(out, 48, "%08x-0000-0000-0000-00000000000%c", v,
                 "aAbBcC"[jc_below(r, 6)]);
    return out;
}

static const char *cell(struct jc_rng *r, enum look look, char out[48])
{
    int v = (int)jc_below(r, 30) - 15;
    if (look >= L_INT)
        return declared_cell(r, look, out);
    if (look == L_MIXED)
        look = jc_below(r, L_MIXED);
    if (look == L_NEAR)
        snprintf(out, 48, "%d", v);
    else if (look == L_FAR)
        snprintf(out, 48, "%d", v * 100000007);
    else if (look == L_WIDE)
        snprintf(out, 48, "%lld", v * 400000000000000007LL);
    else if (look == L_DEC)
        snprintf(out, 48, "%d.%u", v, jc_below(r, 2) * 5);
    else
        snprintf(out, 48, "%c%u", 'a' + v / 4, jc_below(r, 3));
    return out;
}

static void load_column(struct store *st, struct jc_rng *r, size_t table,
                        enum look look)
{
    bool wanted[1] = {true};
    struct store_loader *l;
    struct err err;
    size_t rows = jc_below(r, ROWS);
    assert_int_equal(store_load_begin(st, table, wanted, &l, &err), OK);
    for (size_t i = 0; i < rows; i++) {
        char text[48];
        struct str s = {NULL, 0};
        if (jc_below(r, 8))
            s = str_of(cell(r, look, text));
        if (store_load_text(l, &s, &err) != OK)
            fail_msg("%s", err.message);
    }
    assert_int_equal(store_load_end(l, &err), OK);
}

/* The first type that compares with it. */
static int kind(enum type t)
{
    int k = T_UNKNOWN + 1;
    while (!type_comparable((enum type)k, t))
        k++;
    return k;
}

/* As the engine orders what does not compare: by kind. */
static int compare(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    if (!type_comparable(x->type, y->type))
        return kind(x->type) < kind(y->type) ? -1 : 1;
    return value_cmp(x, y);
}

static size_t distinct_values(const struct store *st, const struct cq *q,
                              struct value *out)
{
    size_t n = 0, k = 0;
    for (size_t t = 0; t < COLUMNS; t++)
        for (size_t i = 0; i < st->tables[t].n_rows; i++)
            if (!column_is_null(&st->tables[t].cols[0], i))
                out[n++] = column_value(&st->tables[t].cols[0], i);
    for (uint32_t i = 0; i < q->n_consts; i++)
        out[n++] = q->consts[i];
    qsort(out, n, sizeof *out, compare);
    for (size_t i = 0; i < n; i++)
        if (!k || compare(&out[k - 1], &out[i]) != 0)
            out[k++] = out[i];
    return k;
}

static void check_values(const struct dom *d, const struct value *want,
                         size_t n)
{
    uint8_t seen[COLUMNS * ROWS + 8] = {0};
    assert_int_equal(d->n_vals, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t id = dom_find(d, &want[i]);
        assert_true(id < d->n && id >= d->has_null && !seen[id]);
        seen[id] = 1;
        struct value back = dom_value(d, id);
        assert_int_equal(compare(&back, &want[i]), 0);
        if (d->ordered)
            assert_int_equal(id, i + d->has_null);
    }
}

static void check_column(const struct join *j, const struct dom *d, size_t t)
{
    const struct store_column *c = &j->st->tables[t].cols[0];
    uint32_t ids[ROWS];
    struct err err;
    assert_int_equal(
        dom_encode(d, j->mem, c, j->st->tables[t].n_rows, false, ids, &err),
        OK);
    for (size_t i = 0; i < j->st->tables[t].n_rows; i++) {
        struct value v = column_value(c, i);
        assert_int_equal(ids[i], dom_find(d, &v));
    }
}

/* What rows got while the tables for encoding were there. */
static void check_relation(const struct join *j, const struct dom *d, size_t t)
{
    const struct store_column *c = &j->st->tables[t].cols[0];
    const struct rel *r = j->atoms[t].rel;
    bool *hit = calloc(d->n + 1, sizeof *hit);
    uint32_t n = 0;
    for (size_t i = 0; i < j->st->tables[t].n_rows; i++) {
        struct value v = column_value(c, i);
        uint32_t id = v.is_null ? NO_ID : dom_find(d, &v);
        if (id != NO_ID && !hit[id]) {
            hit[id] = true;
            n++;
        }
    }
    assert_int_equal(r->n, n);
    for (uint32_t i = 0; i < r->n; i++)
        assert_true(hit[r->cols[0][i]]);
    free(hit);
}

static void one_case(struct jc_rng *r, uint32_t number)
{
    static const char *const rules[] = {
        "Q(x,y,z) :- A(x), B(y), C(z), x != y, y != z.",
        "Q(x,y,z) :- A(x), B(y), C(z), x < y, y <= z.",
        "Q(x,y,z) :- A(x), B(y), C(z), x < y, y != z, x != 7.",
    };
    struct mem m;
    struct arena a;
    struct schema schema;
    struct cq *q;
    struct store *st;
    struct join *j;
    struct err err;
    struct value want[COLUMNS * ROWS + 8];
    mem_init(&m, 0);
    arena_init(&a, &m);
    schema_init(&schema, &a);
    assert_int_equal(cq_read(&a, &schema, str_of(rules[number % 3]), &q, &err),
                     OK);
    for (size_t t = 0; t < COLUMNS; t++)
        schema.tables.p[t].cols[0].not_null = false;
    enum look looks[COLUMNS], look = jc_below(r, LOOKS);
    for (size_t t = 0; t < COLUMNS; t++) {
        looks[t] = jc_below(r, 3) ? look : jc_below(r, LOOKS);
        schema.tables.p[t].cols[0].type = type_of(looks[t]);
    }
    assert_int_equal(store_new(&m, &schema, &st, &err), OK);
    for (size_t t = 0; t < COLUMNS; t++)
        load_column(st, r, t, looks[t]);
    assert_int_equal(join_open(&m, q, st, NULL, &j, &err), OK);
    const struct dom *d = &j->doms[j->dom_of[0]];
    check_values(d, want, distinct_values(st, q, want));
    for (size_t t = 0; t < COLUMNS; t++) {
        check_column(j, d, t);
        if (!q->n_consts || t) /* the constant selects rows of the first */
            check_relation(j, d, t);
    }
    join_close(j);
    store_free(st);
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

static void test_domains(void **state)
{
    struct jc_rng r = {.s = 20240611};
    (void)state;
    for (uint32_t i = 0; i < 3000; i++)
        one_case(&r, i);
}

/* Atoms that select alike share their rows, whether or not a variable refuses
 * NULL, unless there is one. */
static void test_shared(void **state)
{
    (void)state;
    for (int nulls = 0; nulls < 2; nulls++) {
        struct mem m;
        struct arena a;
        struct schema schema;
        struct cq *q;
        struct store *st;
        struct join *j;
        struct store_loader *l;
        struct err err;
        bool wanted[2] = {true, true};
        struct value v[2] = {value_int(1), value_int(2)};
        mem_init(&m, 0);
        arena_init(&a, &m);
        schema_init(&schema, &a);
        assert_int_equal(
            cq_read(&a, &schema, STR("Q(x,y,z) :- R(x,y), R(y,z)."), &q, &err),
            OK);
        schema.tables.p[0].cols[0].not_null = false;
        assert_int_equal(store_new(&m, &schema, &st, &err), OK);
        assert_int_equal(store_load_begin(st, 0, wanted, &l, &err), OK);
        assert_int_equal(store_load_values(l, v, &err), OK);
        v[0] = nulls ? value_null() : v[0];
        assert_int_equal(store_load_values(l, v, &err), OK);
        assert_int_equal(store_load_end(l, &err), OK);
        assert_int_equal(join_open(&m, q, st, NULL, &j, &err), OK);
        assert_true((j->atoms[0].rel == j->atoms[1].rel) == !nulls);
        assert_int_equal(j->atoms[0].rel->n, nulls ? 2 : 1);
        assert_int_equal(j->atoms[1].rel->n, 1);
        join_close(j);
        store_free(st);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_domains),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
