/*
 * Which queries have a known smooth sensitivity, and the one of stars
 * (smooth.h).
 *
 * Star: a row (c, x) takes part in t d (d-1) ... results of a centre with d
 * other leaves, and k rows can raise d by k, no faster. So LS at distance k
 * is t (d+k)(d+k-1)...(d+k-t+2).
 */
#include "sens/smooth.h"

#include "num/rat.h"
#include "sens/state.h"

static bool all_pairs_differ(const struct cq *q)
{
    vset pairs[MAX_VARS] = {0};
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        struct cmp c = q->cmps[i];
        if (c.op != CMP_NE || c.l.kind != TERM_VAR || c.r.kind != TERM_VAR)
            return false;
        pairs[c.l.id] |= vset_one(c.r.id);
        pairs[c.r.id] |= vset_one(c.l.id);
    }
    for (uint32_t v = 0; v < q->n_vars; v++)
        if (pairs[v] != (vset_first_n(q->n_vars) & ~vset_one(v)))
            return false;
    return true;
}

/* As if there were infinitely many nodes: true and false are two. */
static bool has_few_values(const struct table *t)
{
    for (size_t i = 0; i < t->n_cols; i++)
        if (t->cols[i].type == T_BOOL)
            return true;
    return false;
}

/* One private table of two columns, used as a set, without constraints; no
 * atom is a loop, whose rows the algorithms do not look at. */
static bool is_graph_query(const struct cq *q)
{
    if (!q->n_atoms || q->n_preds || q->n_calcs || q->n_group || q->unsat ||
        !cq_is_full(q) || !all_pairs_differ(q))
        return false;
    uint32_t table = q->atoms[0].table;
    const struct table *t = &q->schema->tables.p[table];
    if (!table_is_private(t) || t->degrees.n || has_few_values(t))
        return false;
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        const struct atom *a = &q->atoms[i];
        if (a->table != table || a->n_args != 2 || a->rowid >= 0 ||
            a->args[0].kind != TERM_VAR || a->args[1].kind != TERM_VAR ||
            a->args[0].id == a->args[1].id)
            return false;
    }
    return true;
}

static bool is_star(const struct cq *q, unsigned side, uint32_t *centre)
{
    if (q->n_vars != q->n_atoms + 1)
        return false;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (q->atoms[i].args[side].id != q->atoms[0].args[side].id)
            return false;
    *centre = q->atoms[0].args[side].id;
    return true;
}

enum sens_shape sens_shape_of(const struct cq *q, uint32_t *centre)
{
    if (!is_graph_query(q))
        return SHAPE_OTHER;
    if (is_star(q, 0, centre) || is_star(q, 1, centre))
        return SHAPE_STAR;
    if (q->n_atoms != 3 || q->n_vars != 3)
        return SHAPE_OTHER;
    /* Three different variables: each pair must have its own atom. */
    vset ends[3], sources = 0;
    for (uint32_t i = 0; i < 3; i++) {
        ends[i] = atom_vars(q, i);
        sources |= vset_one(q->atoms[i].args[0].id);
    }
    if (ends[0] == ends[1] || ends[1] == ends[2] || ends[0] == ends[2])
        return SHAPE_OTHER;
    return vset_count(sources) == 3 ? SHAPE_CYCLE : SHAPE_TRANSITIVE;
}

void sens_star_at(unsigned t, u128 d, uint64_t k, mpz_t out)
{
    mpz_t x;
    mpz_init(x);
    mpz_set_u128(x, d);
    mpz_add_ui(x, x, k);
    mpz_set_ui(out, t);
    for (unsigned i = 1; i < t; i++) {
        mpz_mul(out, out, x);
        if (mpz_sgn(x) > 0)
            mpz_sub_ui(x, x, 1);
    }
    mpz_wipe_clear(x);
}

struct star {
    unsigned t;
    u128 d;
};

static void star_value(void *ctx, uint64_t k, mpz_t out)
{
    struct star *s = ctx;
    sens_star_at(s->t, s->d, k, out);
}

static void star_bound(void *ctx, uint64_t k, mpz_t out)
{
    struct star *s = ctx;
    mpz_set_u128(out, s->d);
    mpz_add_ui(out, out, k);
    mpz_pow_ui(out, out, s->t - 1);
    mpz_mul_ui(out, out, s->t);
}

enum status sens_star_peak(struct arena *a, unsigned t, u128 d, mpq_srcptr beta,
                           struct sens_peak *out, struct err *err)
{
    struct star s = {t, d};
    struct sens_sequence seq = {.ctx = &s,
                                .value = star_value,
                                .bound = star_bound,
                                .zero_after = UINT64_MAX};
    TRY(sens_falls_from(beta, t - 1, 1, &seq.from, err));
    mpz_init_set_si(seq.limit, -1);
    enum status st = sens_scan(a, beta, &seq, out, err);
    mpz_clear(seq.limit);
    return st;
}
