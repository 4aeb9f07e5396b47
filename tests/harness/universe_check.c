#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/universe_check.h"

static void require(const struct universe *u, const struct gen *g,
                    unsigned order, universe_sequence *seq, const char *what)
{
    unsigned bad = universe_violations(u, order, seq);
    if (bad)
        fail_msg("%s, order %u: %u violations of %s [%s; %s]", what, order, bad,
                 g->rule, g->constraint[0], g->constraint[1]);
}

/* The same for the plan that queries of many atoms get. */
static void check_wide(struct universe *u, const struct gen *g, struct rules *r,
                       const struct cq *q, universe_sequence *seq)
{
    struct sens_plan *p;
    if (sens_plan_wide(&r->arena, q, g->exact, &p, &r->err) != OK)
        fail_msg("%s: %s", g->rule, r->err.message);
    for (unsigned order = 1; order <= 2; order++) {
        universe_local(u, order);
        if (!universe_capped(u, p, order, U128_INF, false, false, seq, &r->err))
            fail_msg("many atoms: %s [%s]: %s", g->rule, g->constraint[0],
                     r->err.message);
        require(u, g, order, seq, "many atoms");
    }
}

uint64_t check_query(const struct gen *g, uint64_t *seed)
{
    static struct universe u;
    static universe_sequence seq;
    struct rules r;
    rules_init(&r);
    struct cq *q = gen_read(&r, g);
    struct sens_plan *p;
    uint64_t pairs = 0;
    if (!q->unsat && universe_init(&u, q, g->domain, g->copies, seed)) {
        if (sens_plan_new(&r.arena, q, g->exact, &p, &r.err) != OK)
            fail_msg("%s: %s", g->rule, r.err.message);
        for (unsigned order = 1; order <= 2; order++) {
            universe_local(&u, order);
            if (!universe_capped(&u, p, order, U128_INF, false, false, &seq,
                                 &r.err))
                fail_msg("%s [%s]: %s", g->rule, g->constraint[0],
                         r.err.message);
            require(&u, g, order, &seq, "capped");
        }
        check_wide(&u, g, &r, q, &seq);
        universe_local(&u, 1);
        if (!universe_paper(&u, p, &seq, &r.err))
            fail_msg("%s: %s", g->rule, r.err.message);
        require(&u, g, 1, &seq, "paper");
        if (!g->exact && universe_elastic(&u, &seq, &r.err))
            require(&u, g, 1, &seq, "elastic");
        for (unsigned set = 0; set < 1u << u.n_slots; set++)
            pairs += u.valid[set];
    }
    assert_true(rules_fini(&r));
    return pairs;
}

uint64_t check_random_query(enum gen_class c, uint64_t *seed)
{
    struct gen g;
    gen_rule(c, seed, &g);
    return check_query(&g, seed);
}
