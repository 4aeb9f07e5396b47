/*
 * Golden values of four patterns on two collaboration networks (GrQc, HepTh):
 * from the stored T_F the whole sequence, the residual sensitivity (the
 * paper's and the capped one), elastic and star sensitivities at every stored
 * beta. The folder is in DPC_DATA; without it the test is skipped. Then
 * everything again from the tables, with the join engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/load_rows.h"
#include "harness/rules.h"
#include "harness/plain.h"
#include "num/rat.h"
#include "sens/sens.h"

static const struct pattern {
    const char *name, *rule;
} patterns[] = {
    {"tri", "Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, a != c, b != c."},
    {"3star", "Q(a,b,c,d) :- E(a,b), E(a,c), E(a,d), a != b, a != c, a != d, "
              "b != c, b != d, c != d."},
    {"rect", "Q(a,b,c,d) :- E(a,b), E(b,c), E(c,d), E(d,a), a != b, a != c, "
             "a != d, b != c, b != d, c != d."},
    {"2tri", "Q(a,b,c,d) :- E(a,b), E(a,c), E(b,c), E(a,d), E(b,d), a != b, "
             "a != c, a != d, b != c, b != d, c != d."},
};

/* A counter that answers from the golden file. */
struct book {
    json_t *t;
    json_int_t count, degree, rows;
    unsigned n_atoms;
};

static enum status from_book(void *ctx, aset f, vset boundary, vset outs,
                             u128 *out, struct err *err)
{
    struct book *b = ctx;
    char key[16] = "";
    (void)outs;
    if (f == aset_first_n(b->n_atoms)) {
        *out = (u128)b->count;
        return OK;
    }
    if (aset_count(f) == 1 && vset_count(boundary) == 1) {
        *out = (u128)b->degree; /* for elastic and stars */
        return OK;
    }
    for (unsigned i = 0; i < b->n_atoms; i++)
        if (aset_has(f, i)) {
            char c[2] = {(char)('1' + i), 0};
            strcat(key, c);
        }
    json_t *v = json_object_get(b->t, key);
    if (aset_count(f) == 1 && !boundary) {
        *out = (u128)b->rows;
        return OK;
    }
    if (!v)
        return err_internal(err, key);
    *out = (u128)json_integer_value(v);
    return OK;
}

static void near(double got, json_t *want, const char *what)
{
    double w = json_number_value(want);
    if (!want || fabs(got - w) > 1e-9 * fmax(1, fabs(w)))
        fail_msg("%s: %.12g instead of %.12g", what, got, w);
}

static void equal_list(mpz_t *got, size_t n, json_t *want, const char *what)
{
    assert_true(json_array_size(want) > 0 && n >= json_array_size(want));
    for (size_t i = 0; i < json_array_size(want); i++)
        if (mpz_cmp_si(got[i], json_integer_value(json_array_get(want, i))))
            fail_msg("%s: LS-hat at %zu differs", what, i);
}

static void at_beta(const struct cq *q, struct book *b, json_t *gold,
                    const char *beta, const char *what)
{
    struct mem m;
    struct arena a;
    struct err err;
    struct sens s;
    struct sens_counter c = {.ctx = b, .max = from_book};
    struct sens_options opt = {.global_upper = U128_INF,
                               .want_baselines = true};
    mpq_t x;
    mem_init(&m, 0);
    arena_init(&a, &m);
    mpq_init(x);
    assert_int_equal(rat_read(str_of(beta), "beta", x, &err), OK);
    opt.beta = x;
    if (sens_compute(&a, q, &c, &opt, &s, &err) != OK)
        fail_msg("%s: %s", what, err.message);
    json_t *rs = json_object_get(json_object_get(gold, "RS_beta"), beta);
    near(s.paper, json_array_get(rs, 0), what);
    assert_int_equal(s.paper_k, json_integer_value(json_array_get(rs, 1)));
    json_t *es = json_object_get(json_object_get(gold, "ES_beta"), beta);
    near(s.elastic, json_array_get(es, 0), what);
    assert_int_equal(s.elastic_k, json_integer_value(json_array_get(es, 1)));
    json_t *cap = json_object_get(json_object_get(gold, "RS_capped"), beta);
    if (cap) {
        near(s.value, json_array_get(cap, 0), what);
        assert_int_equal(s.k, json_integer_value(json_array_get(cap, 1)));
    }
    equal_list(s.paper_ls_hat, s.n_paper_ls_hat, json_object_get(gold, "LShat"),
               what);
    equal_list(s.ls_hat, s.n_ls_hat, json_object_get(gold, "LShat_capped"),
               what);
    if (q->n_vars == 4 && q->n_atoms == 3 && strcmp(beta, "0.1") == 0) {
        assert_true(s.has_smooth);
        near(s.smooth, json_object_get(gold, "SS"), what);
    }
    sens_fini(&s);
    mpq_clear(x);
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

static json_t *golden(void)
{
    const char *folder = getenv("DPC_DATA");
    char path[4096];
    snprintf(path, sizeof path, "%s/golden.json", folder ? folder : ".");
    json_t *g = folder ? json_load_file(path, 0, NULL) : NULL;
    if (!g) {
        print_message("skipped: DPC_DATA names no folder with golden.json\n");
        skip();
    }
    return g;
}

static void sequences(void **state)
{
    (void)state;
    json_t *g = golden(), *data;
    const char *name, *beta;
    unsigned checked = 0;
    json_object_foreach(g, name, data)
    {
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            struct rules r;
            rules_init(&r);
            struct cq *q = rules_read(&r, patterns[i].rule);
            json_t *gold = json_object_get(json_object_get(data, "queries"),
                                           patterns[i].name);
            json_t *stats = json_object_get(data, "stats");
            json_t *dmax = json_object_get(stats, "dmax");
            json_t *rows = json_object_get(stats, "directed_edges");
            struct book b = {
                .t = json_object_get(gold, "T"),
                .count = json_integer_value(json_object_get(gold, "count")),
                .degree = json_integer_value(dmax),
                .rows = json_integer_value(rows),
                .n_atoms = q->n_atoms};
            json_t *ignored;
            json_object_foreach(json_object_get(gold, "RS_beta"), beta, ignored)
            {
                char what[64];
                snprintf(what, sizeof what, "%s %s beta %s", name,
                         patterns[i].name, beta);
                at_beta(q, &b, gold, beta, what);
                checked++;
            }
            assert_true(rules_fini(&r));
        }
    }
    json_decref(g);
    assert_true(checked >= 72);
}

/* --- with the engine, from the tables themselves -------------------------- */

static struct store *graph(struct rules *r, const char *name)
{
    char path[4096], line[256];
    struct store *st;
    struct store_loader *l;
    bool wanted[2] = {true, true};
    snprintf(path, sizeof path, "%s/ca-%s.txt", getenv("DPC_DATA"), name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(store_new(&r->mem, &r->schema, &st, &r->err), OK);
    assert_int_equal(store_load_begin(st, 0, wanted, &l, &r->err), OK);
    while (fgets(line, sizeof line, f)) {
        long long u, v;
        if (line[0] == '#' || sscanf(line, "%lld %lld", &u, &v) != 2)
            continue;
        struct value row[2] = {value_int(u), value_int(v)};
        assert_int_equal(store_load_values(l, row, &r->err), OK);
    }
    fclose(f);
    assert_int_equal(store_load_end(l, &r->err), OK);
    return st;
}

static void check_residuals(const struct sens *s, const struct cq *q,
                            json_t *gold, const char *what)
{
    assert_int_equal(s->n_residuals, ((size_t)1 << q->n_atoms) - 1);
    for (size_t i = 0; i < s->n_residuals; i++) {
        char key[16] = "";
        for (unsigned a = 0; a < q->n_atoms; a++)
            if (!aset_has(s->residuals[i].removed, a)) {
                char c[2] = {(char)('1' + a), 0};
                strcat(key, c);
            }
        json_t *t = json_object_get(json_object_get(gold, "T"), key);
        if (!t || s->residuals[i].t != (u128)json_integer_value(t))
            fail_msg("%s: T of %s is %llu", what, key,
                     (unsigned long long)s->residuals[i].t);
    }
}

static void from_tables(json_t *data, const char *name, size_t pattern)
{
    struct rules r;
    struct join *j;
    struct sens s;
    mpq_t beta;
    rules_init(&r);
    struct cq *q = rules_read(&r, patterns[pattern].rule);
    struct store *st = graph(&r, name);
    struct sens_options opt = {
        .global_upper = U128_INF, .want_baselines = true, .store = st};
    json_t *gold = json_object_get(json_object_get(data, "queries"),
                                   patterns[pattern].name);
    mpq_init(beta);
    mpq_set_ui(beta, 1, 10);
    opt.beta = beta;
    if (join_open(&r.mem, q, st, NULL, &j, &r.err) != OK)
        fail_msg("%s: %s", name, r.err.message);
    struct sens_counter rows = sens_engine(j);
    if (sens_compute(&r.arena, q, &rows, &opt, &s, &r.err) != OK)
        fail_msg("%s %s: %s", name, patterns[pattern].name, r.err.message);
    assert_int_equal(secret_count_open(&s.count),
                     json_integer_value(json_object_get(gold, "count")));
    check_residuals(&s, q, gold, patterns[pattern].name);
    near(s.paper, json_object_get(gold, "RS"), name);
    near(s.elastic, json_object_get(gold, "ES"), name);
    json_t *cap = json_object_get(json_object_get(gold, "RS_capped"), "0.1");
    near(s.value, json_array_get(cap, 0), name);
    assert_int_equal(s.has_smooth, json_object_get(gold, "SS") != NULL);
    if (s.has_smooth)
        near(s.smooth, json_object_get(gold, "SS"), name);
    print_message("%s %s: count %.1f ms, residuals %.1f ms, baselines %.1f "
                  "ms\n",
                  name, patterns[pattern].name, 1e3 * s.seconds_count,
                  1e3 * s.seconds_residuals, 1e3 * s.seconds_baselines);
    sens_fini(&s);
    mpq_clear(beta);
    join_close(j);
    store_free(st);
    assert_true(rules_fini(&r));
}

static void tables(void **state)
{
    (void)state;
    json_t *g = golden(), *data;
    const char *name;
    json_object_foreach(g, name, data)
    {
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
            from_tables(data, name, i);
    }
    json_decref(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sequences),
                                       cmocka_unit_test(tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
