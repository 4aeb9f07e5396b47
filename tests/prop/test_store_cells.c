/*
 * The dictionary of a column against a plain one: random cells of every look
 * (short and long decimals, exponents, blanks around, texts, many or few
 * distinct) loaded as text must be the values that value_parse gives cell by
 * cell, whatever else the column holds; and codes must compare as values do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness/load_rows.h"
#include "store/builder.h"
#include "store/dict.h"
#include "store/packed.h"
#include "store/store.h"

enum { ROWS = 3000, CELL = 80 };

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

static const char *digits(uint64_t *s, char out[static 12])
{
    for (size_t i = 0; i < 11; i++)
        out[i] = (char)('0' + pick(s, 10));
    out[11] = 0;
    return out;
}

/* A number in one of many spellings; few digits, so that values meet. */
static int number(uint64_t *s, char *out)
{
    static const unsigned long sizes[] = {3, 12, 1000, 1000000};
    unsigned long n = sizes[pick(s, 4)], a = pick(s, n), b = pick(s, n);
    const char *sign = pick(s, 3) ? "" : "-";
    char a_digits[12], b_digits[12];
    switch (pick(s, 10)) {
    case 0:
        return sprintf(out, "%s%lu", sign, a);
    case 1:
        return sprintf(out, "%s%lu.%lu", sign, a, b);
    case 2:
        return sprintf(out, "%s%lu.%lu00", sign, a, b);
    case 3:
        return sprintf(out, "%s00%lu.%03lu", sign, a, b);
    case 4:
        return sprintf(out, "%s.%lu", sign, b);
    case 5:
        return sprintf(out, "%s%lu.", sign, a);
    case 6:
        return sprintf(out, "%s%lue%d", sign, a, (int)pick(s, 9) - 4);
    case 7: /* around the longest that is packed */
        return sprintf(out, "%s%.*s.%.*s", sign, (int)(5 + pick(s, 5)),
                       digits(s, a_digits), (int)(5 + pick(s, 5)),
                       digits(s, b_digits));
    case 8:
        return sprintf(out, " %s%lu.%lu ", pick(s, 2) ? "+" : sign, a, b);
    default: /* beyond 64 bits, and beyond what a double tells apart */
        return sprintf(out, "%s900000000000000000%lu.%lu", sign, a, b);
    }
}

static int text(uint64_t *s, char *out)
{
    static const char *const odd[] = {"",    ".",     "-",   "-.", "1.2.3",
                                      "1-2", "--1",   "NaN", "1e", "e1",
                                      "0x1", "1_000", "..",  "- 1"};
    if (pick(s, 2))
        return sprintf(out, "%s", odd[pick(s, 14)]);
    size_t n = pick(s, 40);
    for (size_t i = 0; i < n; i++)
        out[i] = "abz\xff"[pick(s, 4)];
    return (int)n;
}

struct cells {
    char bytes[ROWS][CELL];
    struct str at[ROWS];
    size_t n;
};

static void make_cells(struct cells *c, uint64_t *s, unsigned long texts_in_9)
{
    c->n = 1 + pick(s, ROWS);
    for (size_t i = 0; i < c->n; i++) {
        if (i && !pick(s, 3)) {
            c->at[i] = c->at[pick(s, i)];
            continue;
        }
        int n = pick(s, 9) < texts_in_9 ? text(s, c->bytes[i])
                                        : number(s, c->bytes[i]);
        c->at[i] = (struct str){c->bytes[i], (size_t)n};
        if (!pick(s, 20))
            c->at[i] = (struct str){NULL, 0};
    }
}

/* What a cell of a column of that declared type means, by itself. */
static struct value meaning(struct arena *a, struct str s, enum type t)
{
    struct value v;
    if (!s.p)
        return value_null();
    if (t == T_TEXT)
        return value_text(s);
    if (t == T_UNKNOWN && value_parse_number(a, s, &v))
        return v;
    if (t == T_DEC && value_parse(a, s, T_DEC, &v))
        return v;
    return value_text(s);
}

static struct store *load(struct mem *m, struct schema *sc,
                          const struct cells *c)
{
    struct store *st;
    struct store_loader *l;
    struct err err;
    assert_int_equal(store_new(m, sc, &st, &err), OK);
    assert_int_equal(store_load_begin(st, 0, NULL, &l, &err), OK);
    for (size_t i = 0; i < c->n; i++)
        assert_int_equal(store_load_text(l, &c->at[i], &err), OK);
    assert_int_equal(store_load_end(l, &err), OK);
    return st;
}

static bool same(const struct value *a, const struct value *b)
{
    if (a->is_null || b->is_null)
        return a->is_null == b->is_null;
    if ((a->type == T_TEXT) != (b->type == T_TEXT))
        return false;
    return value_cmp(a, b) == 0;
}

static void check_column(const struct store_column *c, struct arena *a,
                         const struct cells *cells, enum type t)
{
    for (size_t i = 0; i < cells->n; i++) {
        struct value got = column_value(c, i);
        struct value want = meaning(a, cells->at[i], t);
        if (!same(&got, &want))
            fail_msg("row %zu: \"%.*s\"", i, PSTR(cells->at[i]));
        if (t == T_UNKNOWN && !got.is_null)
            assert_int_equal(got.type, want.type);
    }
    for (size_t i = 0; i + 1 < c->n_dict; i++) {
        struct value x = column_dict_value(c, i);
        struct value y = column_dict_value(c, i + 1);
        bool border = (x.type == T_TEXT) != (y.type == T_TEXT);
        assert_true(border ? i + 1 == c->n_numeric : value_cmp(&x, &y) < 0);
        if (x.type == T_DEC) { /* canonical: reading it gives it back */
            struct value again;
            assert_true(value_parse(a, x.s, T_DEC, &again));
            assert_true(str_eq(again.s, x.s));
        }
    }
}

static void one_round(struct cells *c, uint64_t *s, enum type t)
{
    struct mem m;
    struct arena a;
    struct schema sc;
    struct err err;
    size_t index;
    mem_init(&m, 0);
    arena_init(&a, &m);
    schema_init(&sc, &a);
    assert_int_equal(schema_add_table(&sc, STR("t"), 1, &index, &err), OK);
    sc.tables.p[0].cols[0] = (struct column){.name = STR("c"), .type = t};
    make_cells(c, s, t == T_DEC ? 0 : pick(s, 3));
    struct store *st = load(&m, &sc, c);
    check_column(&st->tables[0].cols[0], &a, c, t);
    store_free(st);
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

static void columns(void **state)
{
    static const enum type types[] = {T_UNKNOWN, T_DEC, T_TEXT};
    struct cells *c = calloc(1, sizeof *c);
    uint64_t seed = 20011;
    (void)state;
    for (int round = 0; round < 150; round++)
        one_round(c, &seed, types[round % 3]);
    free(c);
}

/* Packed numbers: the text, the double and the word of random ones. */
static void packed(void **state)
{
    struct mem m;
    struct arena a;
    uint64_t seed = 77, hits = 0;
    (void)state;
    mem_init(&m, 0);
    arena_init(&a, &m);
    for (int i = 0; i < 20000; i++) {
        char raw[CELL], out[PACKED_TEXT];
        uint64_t w, again;
        struct value v;
        int n = pick(&seed, 4) ? number(&seed, raw) : text(&seed, raw);
        struct str s = {raw, (size_t)n};
        if (!packed_read(s, &w))
            continue;
        hits++;
        struct str canonical = {out, packed_print(w, out)};
        assert_true(value_parse(&a, s, T_DEC, &v));
        assert_true(str_eq(v.s, canonical));
        out[canonical.n] = 0;
        assert_true(packed_double(w) == strtod(out, NULL));
        assert_true(packed_read(canonical, &again) && again == w);
    }
    assert_true(hits > 8000);
    arena_fini(&a);
}

/* Batches against one key at a time, across many sizes of the table. */
static void batches(void **state)
{
    enum { N = 60000 };
    struct mem m;
    struct arena a;
    struct dict now, later;
    uint64_t seed = 3;
    uint32_t *codes = calloc(N, sizeof *codes), *want = calloc(N, sizeof *want);
    (void)state;
    mem_init(&m, 0);
    arena_init(&a, &m);
    dict_init(&now, &m, &a);
    dict_init(&later, &m, &a);
    for (size_t i = 0; i < N; i++) {
        char buf[5000];
        size_t n = (size_t)sprintf(buf, "%lu", pick(&seed, i + 1));
        size_t full = pick(&seed, 500) ? n : n + pick(&seed, 4500);
        memset(buf + n, 'x', full - n);
        struct str key = {buf, full};
        if (pick(&seed, 2))
            key = dict_number(packed_of((int64_t)pick(&seed, i + 1), 0));
        assert_true(dict_put(&now, key, &want[i]));
        assert_true(dict_later(&later, key, codes, i));
    }
    assert_true(dict_flush(&later, codes));
    assert_int_equal(now.n, later.n);
    for (size_t i = 0; i < N; i++) {
        struct str x = now.entries[want[i]], y = later.entries[codes[i]];
        assert_true(x.n == y.n && !x.p == !y.p);
        assert_true(!x.p || memcmp(x.p, y.p, x.n) == 0);
    }
    dict_fini(&now);
    dict_fini(&later);
    arena_fini(&a);
    free(codes);
    free(want);
}

/* Columns that were promised numbers of 32 bits, beside one that cannot be
 * and one that is told too late. */
static void promised(void **state)
{
    enum { N_ROWS = 70000, N_COLS = 4 };
    static const enum type types[N_COLS] = {T_INT, T_UNKNOWN, T_TEXT, T_INT};
    struct mem m;
    struct arena a;
    struct schema sc;
    struct err err;
    struct store *st;
    struct store_loader *l;
    size_t index;
    (void)state;
    mem_init(&m, 0);
    arena_init(&a, &m);
    schema_init(&sc, &a);
    assert_int_equal(schema_add_table(&sc, STR("t"), N_COLS, &index, &err), OK);
    for (size_t c = 0; c < N_COLS; c++)
        sc.tables.p[0].cols[c] =
            (struct column){.name = STR("c"), .type = types[c]};
    assert_int_equal(store_new(&m, &sc, &st, &err), OK);
    assert_int_equal(store_load_begin(st, 0, NULL, &l, &err), OK);
    for (size_t c = 0; c < N_COLS - 1; c++)
        loader_narrow(l, c);
    for (size_t r = 0; r < N_ROWS; r++) {
        int64_t v = r % 3 ? INT32_MIN + (int64_t)r : INT32_MAX - (int64_t)r;
        assert_int_equal(loader_room(l, &err), OK);
        for (size_t c = 0; c < N_COLS; c++)
            assert_int_equal(r % 7 == 5 ? cell_null(l, c, &err)
                                        : cell_int(l, c, v, &err),
                             OK);
        l->n_rows++;
        loader_narrow(l, N_COLS - 1);
    }
    /* a promise that is not kept is an error of the program, no wrong value */
    assert_int_equal(loader_room(l, &err), OK);
    assert_int_not_equal(cell_text(l, 0, STR("7"), &err), OK);
    assert_int_not_equal(cell_int(l, 0, (int64_t)INT32_MAX + 1, &err), OK);
    assert_int_equal(store_load_end(l, &err), OK);
    for (size_t r = 0; r < N_ROWS; r++)
        for (size_t c = 0; c < N_COLS; c++) {
            int64_t v = r % 3 ? INT32_MIN + (int64_t)r : INT32_MAX - (int64_t)r;
            struct value got = column_value(&st->tables[0].cols[c], r);
            assert_int_equal(got.is_null, r % 7 == 5);
            if (got.is_null && c < 2) /* its cell is 0 */
                assert_int_equal(st->tables[0].cols[c].i32[r], 0);
            if (!got.is_null && types[c] != T_TEXT)
                assert_true(got.type == T_INT && got.i == v);
        }
    store_free(st);
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

/* One UUID written in two ways is one entry. */
static void spellings(void **state)
{
    static const char *texts[] = {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                                  "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                                  "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"};
    struct mem m;
    struct arena a;
    struct schema sc;
    struct err err;
    size_t index;
    struct cells *c = calloc(1, sizeof *c);
    (void)state;
    mem_init(&m, 0);
    arena_init(&a, &m);
    schema_init(&sc, &a);
    assert_int_equal(schema_add_table(&sc, STR("t"), 1, &index, &err), OK);
    sc.tables.p[0].cols[0] = (struct column){.name = STR("c"), .type = T_UUID};
    for (c->n = 0; c->n < 3; c->n++)
        c->at[c->n] = str_of(texts[c->n]);
    struct store *st = load(&m, &sc, c);
    const struct store_column *u = &st->tables[0].cols[0];
    assert_int_equal(u->n_dict, 2);
    assert_int_equal(u->code[0], u->code[2]);
    assert_int_not_equal(u->code[0], u->code[1]);
    store_free(st);
    arena_fini(&a);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns),   cmocka_unit_test(packed),
        cmocka_unit_test(batches),   cmocka_unit_test(promised),
        cmocka_unit_test(spellings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
