/*
 * The checks of finished objects (builds with DPC_CHECKS make them wherever one
 * is finished): a sound object passes, and each promise, broken, is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "join/message/message.h"

/* (0,1) (0,2) (2,0) over domains of three ids. */
struct made_rel {
    struct join j;
    struct dom doms[2];
    uint32_t of[2], a[3], b[3];
    uint32_t *cols[2];
    struct rel r;
    struct rel *list[1];
};

static void make_rel(struct made_rel *m)
{
    *m = (struct made_rel){.doms = {{.n = 3}, {.n = 3}},
                           .of = {0, 1},
                           .a = {0, 0, 2},
                           .b = {1, 2, 0}};
    m->cols[0] = m->a;
    m->cols[1] = m->b;
    m->r = (struct rel){.n_cols = 2, .n = 3, .dom = m->of, .cols = m->cols};
    m->list[0] = &m->r;
    m->j.doms = m->doms;
    m->j.n_doms = 2;
    m->j.rels.p = m->list;
    m->j.rels.n = 1;
}

static void test_rel(void **state)
{
    (void)state;
    struct made_rel m;
    make_rel(&m);
    assert_null(rel_check(&m.j, &m.r));
    m.b[1] = 3; /* no such id */
    assert_non_null(rel_check(&m.j, &m.r));
    m.b[1] = 1; /* twice */
    assert_non_null(rel_check(&m.j, &m.r));
    m.b[1] = 0; /* not sorted */
    assert_non_null(rel_check(&m.j, &m.r));
    make_rel(&m);
    m.of[1] = 2; /* no such domain */
    assert_non_null(rel_check(&m.j, &m.r));
    make_rel(&m);
    m.r.id = 1;
    assert_non_null(rel_check(&m.j, &m.r));
}

/* Pairs (0,1) (1,0) (1,1): their own reverse. */
struct made_graph {
    uint32_t off[3], adj[3];
    struct csr c;
    struct graph g;
};

static void make_graph(struct made_graph *m)
{
    *m = (struct made_graph){.off = {0, 1, 3}, .adj = {1, 0, 1}};
    m->c = (struct csr){.n_left = 2,
                        .n_right = 2,
                        .n = 3,
                        .off = m->off,
                        .adj = m->adj,
                        .max_deg = 2,
                        .flip = &m->c};
    m->g = (struct graph){.n_vars = 2, .n_edges = 1, .n_nes = 1, .scalar = 1};
    m->g.v[0] = m->g.v[1] = (struct gvar){.n = 2, .kind = W_SUM};
    m->g.e[0] = (struct gedge){0, 1, &m->c};
    m->g.ne[0] = (struct gpair){0, 1};
}

static void test_graph(void **state)
{
    (void)state;
    struct made_graph m;
    make_graph(&m);
    assert_null(graph_check(&m.g));
    m.g.e[0].b = 0; /* a loop */
    assert_non_null(graph_check(&m.g));
    make_graph(&m);
    m.g.v[1].n = 5; /* another domain */
    assert_non_null(graph_check(&m.g));
    make_graph(&m);
    m.adj[1] = 1; /* not rising */
    assert_non_null(graph_check(&m.g));
    make_graph(&m);
    m.off[1] = 2; /* more than the largest degree, then a pair less */
    m.c.max_deg = 1;
    assert_non_null(graph_check(&m.g));
    make_graph(&m);
    m.g.ne[0].b = 7;
    assert_non_null(graph_check(&m.g));
}

static void make_plan(struct made_graph *m, struct sterm *t, struct plan *p)
{
    make_graph(m);
    *p = (struct plan){
        .g = m->g, .live = 3, .n_x = 1, .x_set = 1, .root = -1, .n_terms = 1};
    p->terms = t;
}

static void test_plan(void **state)
{
    (void)state;
    struct made_graph m;
    struct sterm term;
    struct plan p;
    memset(&term, 0, sizeof term);
    make_plan(&m, &term, &p);
    assert_null(plan_check(&p));
    p.x_set = 2; /* another variable */
    assert_non_null(plan_check(&p));
    make_plan(&m, &term, &p);
    p.n_max = 1; /* said to be of the boundary */
    assert_non_null(plan_check(&p));
    make_plan(&m, &term, &p);
    p.root = 0; /* fixed */
    assert_non_null(plan_check(&p));
    make_plan(&m, &term, &p);
    p.live = 2; /* gone */
    assert_non_null(plan_check(&p));
    make_plan(&m, &term, &p);
    p.n_terms = 0;
    assert_non_null(plan_check(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rel),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
