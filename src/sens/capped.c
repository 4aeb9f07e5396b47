/*
 * The capped sequence (capped.h).
 *
 * A minimum of smooth sequences is smooth, so each bound may lower L(k) on
 * its own. PRIVACY: whether the paper's value is known at k depends on the
 * query and beta only (the table's length), never on rows.
 *
 * Stop rule: V(k) of paper.h bounds every sequence, also with r steps for one
 * k, and e^{-beta k} V(rk + t) falls once rk exceeds
 * 1 / (1 - exp(-beta / (r (n_P - 1)))).
 */
#include "sens/capped.h"

#include "num/rat.h"

/* Additions and products that a scan may take: under a minute. */
enum { SCAN_WORK = 2000000000 };

static uint64_t work_of_step(const struct sens_plan *p)
{
    uint64_t n = p->n_coords + p->top.n_terms;
    for (size_t i = 0; i < p->n_coords; i++)
        n += p->coords[i].n_terms + p->coords[i].n_splits;
    return n;
}

enum status sens_capped_from(const struct sens_plan *p, mpq_srcptr beta,
                             uint32_t order, uint64_t *out, struct err *err)
{
    unsigned long degree = p->n_priv > 1 ? p->n_priv - 1 : 0;
    TRY(sens_falls_from(beta, degree * order, 1, out, err));
    if (*out * work_of_step(p) > SCAN_WORK) {
        err_set(
            err, E_TOO_LARGE,
            "epsilon is too small for noise measured on the data: beyond the "
            "distances that can be looked at");
        err_hint(err, "Ask with a larger epsilon (or beta), or about fewer "
                      "tables.");
        return E_TOO_LARGE;
    }
    *out = (*out + order - 1) / order;
    return OK;
}

enum status sens_paper_range(const struct sens_plan *p, mpq_srcptr beta,
                             uint32_t order, uint64_t *out_k_hat,
                             uint64_t *out_up_to, struct err *err)
{
    unsigned most = 0;
    for (size_t i = 0; i < p->n_tables; i++) {
        unsigned n = aset_count(cq_atoms_of_table(p->q, p->tables[i]));
        most = n > most ? n : most;
    }
    uint64_t from, k_hat;
    TRY(sens_capped_from(p, beta, order, &from, err));
    TRY(sens_falls_from(beta, (unsigned long)most * order, p->n_tables, &k_hat,
                        err));
    k_hat = (k_hat + order - 1) / order;
    uint64_t last = k_hat > from ? k_hat : from;
    if (last < SENS_LIST)
        last = SENS_LIST;
    *out_k_hat = k_hat;
    *out_up_to = (last + 1) * order;
    return OK;
}

/* The paper's bound for the same k; false: not tabulated. */
static bool paper_value(struct sens_capped *c, uint64_t k)
{
    mpz_set_ui(c->sum, 0);
    for (uint32_t t = 0; t < c->order; t++) {
        if (!sens_paper_at(c->paper, k * c->order + t, c->part))
            return false;
        mpz_add(c->sum, c->sum, c->part);
    }
    return true;
}

static void capped_value(void *ctx, uint64_t k, mpz_t out)
{
    struct sens_capped *c = ctx;
    mpz_set_ui(out, 0);
    for (uint32_t t = 0; t < c->order; t++) {
        if (k || t)
            sens_stretch_step(&c->steps);
        sens_stretch_local(&c->steps, c->part);
        mpz_add(out, out, c->part);
    }
    /* With one private relation step alone is at most the paper's. */
    if (c->paper->n_tables > 1 && paper_value(c, k) && mpz_cmp(c->sum, out) < 0)
        mpz_set(out, c->sum);
    if (mpz_sgn(c->global) >= 0 && mpz_cmp(c->global, out) < 0)
        mpz_set(out, c->global);
}

static void capped_bound(void *ctx, uint64_t k, mpz_t out)
{
    struct sens_capped *c = ctx;
    mpz_set_ui(out, 0);
    for (uint32_t t = 0; t < c->order; t++) {
        sens_paper_bound(c->paper, k * c->order + t, c->part);
        mpz_add(out, out, c->part);
    }
}

enum status sens_capped_init(struct sens_capped *c, struct arena *a,
                             struct sens_state *state, struct sens_paper *paper,
                             mpq_srcptr beta, uint32_t order, u128 global_upper,
                             struct err *err)
{
    uint64_t from;
    TRY(sens_capped_from(state->p, beta, order, &from, err));
    *c = (struct sens_capped){
        .paper = paper,
        .order = order,
        .seq = {.value = capped_value,
                .bound = capped_bound,
                .from = from,
                .zero_after = state->p->n_priv},
    };
    c->seq.ctx = c;
    TRY(sens_stretch_init(&c->steps, a, state, err));
    mpz_inits(c->global, c->part, c->sum, c->seq.limit, (mpz_ptr)NULL);
    mpz_set_si(c->global, -1);
    if (global_upper != U128_INF)
        mpz_set_u128(c->global, global_upper);
    mpz_set(c->seq.limit, c->global);
    return OK;
}

void sens_capped_fini(struct sens_capped *c)
{
    sens_stretch_fini(&c->steps);
    mpz_wipe_clear(c->global);
    mpz_wipe_clear(c->part);
    mpz_wipe_clear(c->sum);
    mpz_wipe_clear(c->seq.limit);
}
