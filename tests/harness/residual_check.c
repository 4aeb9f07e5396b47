#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/residual_check.h"
#include "harness/plain.h"
#include "harness/residual_sql.h"
#include "harness/rule_gen.h"
#include "harness/tiny_store.h"
#include "harness/universe.h"

static void fill(const struct residual_peer *peer, struct rules *r,
                 const struct tiny *t)
{
    for (size_t i = 0; i < r->schema.tables.n; i++) {
        struct str name = r->schema.tables.p[i].name;
        struct sb sql;
        sb_init(&sql, &r->arena);
        sb_printf(&sql,
                  "DROP TABLE IF EXISTS %.*s; %s %.*s "
                  "(c0 integer, c1 integer)",
                  PSTR(name), peer->create, PSTR(name));
        for (size_t k = 0; k < t->tables[i].n_rows; k++)
            sb_printf(&sql, "; INSERT INTO %.*s VALUES (%d, %d)", PSTR(name),
                      t->tables[i].rows[k][0], t->tables[i].rows[k][1]);
        peer->run(peer->db, sql.p);
    }
}

static void agree(const struct residual_peer *peer, struct rules *r,
                  const struct cq *q, u128 got, const char *sql)
{
    int64_t want = peer->ask(peer->db, sql);
    if (got != (u128)want)
        fail_msg("%s\n%s: %llu, not %lld", cq_text(&r->arena, q).p, sql,
                 (unsigned long long)got, (long long)want);
}

static unsigned compare(const struct residual_peer *peer, struct rules *r,
                        struct cq *q, const struct tiny *t)
{
    struct store *st = tiny_store(r, t);
    struct join *j;
    struct sens_plan *p;
    struct sb sql;
    u128 got;
    fill(peer, r, t);
    assert_int_equal(join_open(&r->mem, q, st, NULL, &j, &r->err), OK);
    assert_int_equal(sens_plan_new(&r->arena, q, false, &p, &r->err), OK);
    for (size_t c = 1; c < p->n_coords; c++) {
        const struct sens_coord *x = &p->coords[c];
        sb_init(&sql, &r->arena);
        residual_sql(&sql, q, x->atoms, x->boundary, x->outs, peer->rowid);
        if (join_max(j, x->atoms, x->boundary, x->outs, &got, &r->err) != OK)
            fail_msg("%s", r->err.message);
        agree(peer, r, q, got, sql.p);
    }
    sb_init(&sql, &r->arena);
    residual_sql(&sql, q, p->all, 0, cq_free(q), peer->rowid);
    assert_int_equal(plain_count(j, &got, &r->err), OK);
    agree(peer, r, q, got, sql.p);
    unsigned n = (unsigned)p->n_coords;
    join_close(j);
    store_free(st);
    return n;
}

void residual_check(const struct residual_peer *peer, uint64_t seed, int rounds)
{
    unsigned compared = 0;
    for (int round = 0; round < rounds; round++) {
        struct gen g;
        struct rules r;
        struct tiny t;
        enum gen_class c = (enum gen_class)(round % GEN_CLASSES);
        gen_rule(c, &seed, &g);
        g.n_constraints = 0;
        rules_init(&r);
        struct cq *q = gen_read(&r, &g);
        tiny_random(&t, q, 2 + (int)universe_random(&seed, 3),
                    c == GEN_BAGS ? 2 : 1, &seed);
        if (!q->unsat)
            compared += compare(peer, &r, q, &t);
        assert_true(rules_fini(&r));
    }
    print_message("%u residual counts agree\n", compared);
    assert_true(compared > 2 * (unsigned)rounds);
}
