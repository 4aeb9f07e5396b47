/*
 * The whole analysis of one query, readable from top to bottom: normal form,
 * upper bounds, lower bounds, advice, words.
 */
#include "bound/bound.h"
#include "bound/lower_ways.h"
#include "bound/upper.h"
#include "bound/advice.h"
#include "bound/bound_explain.h"

enum { WIDE = 8 /* atoms */, FEW = 2 /* tables */ };
enum { CHECK_STEPS = 20000000, WIDE_STEPS = 400000 };
enum { DEFAULT_WORK = 100000000, LOWER_WORK = 3000000, WIDE_WORK = 600000 };
enum { ADVICE_WORK = 3000000 };

/* What all tables of a query share: the time does not grow with them. What one
 * does not need the next may use. */
struct lower_budget {
    uint64_t work, check_steps, canonical;
    uint32_t tables; /* still to come */
};

struct analysis {
    struct arena *a;
    const struct cq *q;
    const struct bound_options *opt;
    struct work work;
    struct tab *core; /* of the query: normalised once, for both sides */
    struct upper up;
    struct bound *out;
};

static enum status shape(struct analysis *s, struct err *err)
{
    struct bound *b = s->out;
    struct cq *simple;
    struct work w = s->work;
    TRY(tab_of_cq(s->a, s->q, &s->core, err));
    TRY(tab_chase(s->a, s->core, err));
    TRY(tab_core(s->a, s->core, &w, err));
    TRY(tab_to_cq(s->a, s->core, &simple, err));
    b->query = s->q;
    b->simplified = simple;
    b->satisfiable = !simple->unsat;
    b->connected = cq_is_connected(simple);
    b->acyclic = cq_is_acyclic(simple);
    b->full = cq_is_full(simple);
    b->n_free = vset_count(cq_free(s->q));
    return OK;
}

static bool uses_table(const struct cq *q, uint32_t table)
{
    return cq_atoms_of_table(q, table) != 0;
}

static enum status list_relations(struct analysis *s, struct err *err)
{
    const struct schema *sc = s->q->schema;
    struct bound *b = s->out;
    b->relations = NEWS(s->a, struct bound_relation, sc->tables.n);
    if (!b->relations)
        return err_nomem(err);
    for (uint32_t i = 0; i < sc->tables.n; i++) {
        if (!uses_table(s->q, i))
            continue;
        const struct upper_table *tb = upper_find(&s->up, i);
        b->relations[b->n_relations++] = (struct bound_relation){
            .table = i,
            .is_private = table_is_private(&sc->tables.p[i]),
            .upper = tb ? tb->upper : 0,
            .gain = tb ? tb->upper : 0};
    }
    return OK;
}

static void single_bounds(struct analysis *s)
{
    struct bound *b = s->out;
    for (size_t i = 0; i < s->up.n_tables; i++) {
        const struct upper_table *tb = &s->up.tables[i];
        b->paper = tb->walk > b->paper ? tb->walk : b->paper;
        b->plan = tb->plan > b->plan ? tb->plan : b->plan;
        b->polymatroid = tb->lp > b->polymatroid ? tb->lp : b->polymatroid;
    }
}

/*
 * PRIVACY: neighbours. Rows can be taken away one by one down to what both
 * databases have in common and added again, and every database in between
 * satisfies the constraints. So `order` rows cost order * D, and exchanging
 * a row costs no more than taking one away or adding one. For a vector of
 * counts, though, what is lost and what is gained lie in different cells.
 */
static void for_neighbours(struct analysis *s)
{
    struct bound *b = s->out;
    const struct schema *sc = s->q->schema;
    u128 d = u128_mul_inf(upper_max(&s->up), sc->order ? sc->order : 1);
    u128 twice = s->q->n_group > 0 && sc->neighbours == CHANGE_ONE ? 2 : 1;
    b->upper = d;
    b->l1_upper = u128_mul_inf(twice, d);
    b->l2_squared_upper = u128_mul_inf(twice, u128_mul_inf(d, d));
}

/* The bounds reason about rows, where a NULL equals itself: what follows from
 * that is added to the normal form that is there. */
static enum status upper_side(struct analysis *s, struct err *err)
{
    s->core->plain = true;
    TRY(upper_make(s->a, s->core, &s->work, 0, &s->up, err));
    single_bounds(s);
    TRY(list_relations(s, err));
    for_neighbours(s);
    return OK;
}

/* --- lower bounds --------------------------------------------------------- */

static struct lower_budget lower_budget(const struct analysis *s)
{
    const struct bound *b = s->out;
    struct lower_budget all = {.check_steps = CHECK_STEPS,
                               .canonical = CANONICAL_WORK};
    for (size_t i = 0; i < b->n_relations; i++)
        all.tables += b->relations[i].is_private && b->relations[i].upper > 0;
    bool wide = s->q->n_atoms > WIDE && all.tables > FEW;
    if (s->opt->witness_n <= BOUND_FAMILY && wide)
        all.check_steps = WIDE_STEPS;
    all.work = s->opt->work ? s->opt->work : wide ? WIDE_WORK : 2 * LOWER_WORK;
    return all;
}

static enum status lower_of(struct analysis *s, struct bound_relation *r,
                            struct lower_budget *all, struct witness_search *l,
                            bool *unbounded, struct err *err)
{
    u128 *most = NEWS(s->a, u128, s->up.t->n_atoms + 1);
    if (!most)
        return err_nomem(err);
    for (uint32_t i = 0; i < s->up.t->n_atoms; i++)
        most[i] = s->up.atoms[i].lp;
    struct work work = {.left = all->work / all->tables};
    struct work canonical = {.left = all->canonical / all->tables};
    uint64_t steps = all->check_steps / all->tables, given = work.left;
    *l = (struct witness_search){.a = s->a,
                                 .q = s->q,
                                 .adm = s->opt->adm,
                                 .t = s->up.t,
                                 .most = most,
                                 .cases = s->up.cases,
                                 .n_cases = s->up.n_cases,
                                 .work = &work,
                                 .canonical = &canonical,
                                 .check_steps = steps,
                                 .admit_work = ADMIT_WORK / all->tables,
                                 .table = r->table,
                                 .target = r->upper};
    *unbounded = false;
    TRY(kinds_make(s->a, s->up.t, &l->kinds, err));
    TRY(bound_lower_ways(l, s->opt->witness_n, unbounded, err));
    all->check_steps -= steps - l->check_steps;
    all->work -= given - work.left;
    all->canonical -= all->canonical / all->tables - canonical.left;
    all->tables--;
    return OK;
}

static enum status lower_side(struct analysis *s, struct err *err)
{
    struct bound *b = s->out;
    struct lower_budget all = lower_budget(s);
    if (s->up.t->unsat)
        return OK;
    for (size_t i = 0; i < b->n_relations; i++) {
        struct bound_relation *r = &b->relations[i];
        struct witness_search l;
        bool unbounded;
        if (!r->is_private || r->upper == 0)
            continue;
        TRY(lower_of(s, r, &all, &l, &unbounded, err));
        r->lower = unbounded ? U128_INF : l.best;
        if (l.best == 0 || (b->has_witness && r->lower <= b->lower))
            continue;
        b->lower = r->lower;
        b->has_witness = true;
        b->witness = l.witness;
        b->witness.family = unbounded;
        b->witness.n = unbounded ? l.best : 0;
    }
    return OK;
}

enum status bound_analyze(struct arena *a, const struct cq *q,
                          const struct bound_options *opt, struct bound *out,
                          struct err *err)
{
    struct analysis s = {.a = a, .q = q, .opt = opt, .out = out};
    *out = (struct bound){.query = q, .monotone = true, .one_signed = true};
    s.work.left = opt->work ? opt->work : DEFAULT_WORK;
    TRY(shape(&s, err));
    TRY(upper_side(&s, err));
    if (opt->want_lower)
        TRY(lower_side(&s, err));
    out->gave_up = s.work.exhausted;
    out->exact = out->lower == out->upper;
    struct work words = {.left = ADVICE_WORK};
    struct advised all = {.up = &s.up,
                          .own = aset_first_n(s.up.t->n_atoms),
                          .unit = 1,
                          .gain = true};
    if (opt->want_advice && !s.up.t->unsat)
        TRY(bound_advise(a, &all, 1, false, upper_max(&s.up), &words, out,
                         err));
    return opt->want_words ? bound_explain(a, &s.up, out, err) : OK;
}
