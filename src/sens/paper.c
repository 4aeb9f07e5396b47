/*
 * The paper's LS-hat (paper.h).
 *
 * In the sum over nonempty E inside D_i and E' inside the rest, a set of
 * lacking atoms with r_j atoms of relation j has the factor
 * ((s_i+1)^{r_i} - s_i^{r_i}) times the product of s_j^{r_j} over j != i. So
 * only the sums of T_F with equal (r_1, ..., r_m) matter. For m > 1 all
 * (s_1, ..., s_m) with sum below up_to are visited, one relation after the
 * other, with the coefficients of the relations done so far multiplied in.
 *
 * Cost: m C(up_to + m, m) visits, kept below VISITS.
 */
#include "sens/numbers.h"
#include "sens/paper.h"

#include <string.h>
#include "num/rat.h"
#include "sens/wide_plan.h"

enum { VISITS = 1000000 };

/* (s+1)^r - s^r for the relation that changes, else s^r. */
static void power_gap(struct sens_paper *p, uint64_t s, unsigned r, bool gap,
                      mpz_t out)
{
    if (!gap) {
        mpz_ui_pow_ui(out, s, r);
        return;
    }
    mpz_ui_pow_ui(out, s + 1, r);
    mpz_ui_pow_ui(p->y, s, r);
    mpz_sub(out, out, p->y);
}

void sens_paper_bound(struct sens_paper *p, uint64_t k, mpz_t out)
{
    mpz_set_ui(out, 0);
    for (unsigned j = 1; j <= p->n_priv; j++) {
        power_gap(p, k, j, true, p->x);
        mpz_addmul(out, p->x, p->by_size[j]);
    }
}

bool sens_paper_at(struct sens_paper *p, uint64_t k, mpz_t out)
{
    if (p->n_tables <= 1) {
        sens_paper_bound(p, k, out);
        return true;
    }
    if (k >= p->n_table)
        return false;
    mpz_set(out, p->table[k]);
    return true;
}

/* Multiplies the factor of relation j with s_j = s into the coefficients:
 * from[r_j, rest] to to[rest]. */
static void fix_relation(struct sens_paper *p, size_t j, uint64_t s, bool gap,
                         mpz_t *from, mpz_t *to, size_t rest)
{
    for (size_t i = 0; i < rest; i++)
        mpz_set_ui(to[i], 0);
    for (unsigned r = gap ? 1 : 0; r <= p->copies[j]; r++) {
        power_gap(p, s, r, gap, p->x);
        if (!mpz_sgn(p->x))
            continue;
        for (size_t i = 0; i < rest; i++)
            mpz_addmul(to[i], p->x, from[r * rest + i]);
    }
}

/* levels[j]: coefficients with relations 0..j-1 fixed; `chosen` is i. */
static void visit(struct sens_paper *p, mpz_t **levels, const size_t *rest,
                  size_t j, size_t chosen, uint64_t used)
{
    if (j == p->n_tables) {
        if (mpz_cmp(levels[j][0], p->table[used]) > 0)
            mpz_set(p->table[used], levels[j][0]);
        return;
    }
    for (uint64_t s = 0; used + s < p->n_table; s++) {
        fix_relation(p, j, s, j == chosen, levels[j], levels[j + 1], rest[j]);
        visit(p, levels, rest, j + 1, chosen, used + s);
    }
}

static enum status visit_all(struct arena *a, struct sens_paper *p,
                             const size_t *rest, struct err *err)
{
    size_t m = p->n_tables;
    mpz_t *levels[SENS_ALL_SETS + 1] = {p->coef};
    bool ok = true;
    for (size_t j = 0; j < m; j++) {
        levels[j + 1] = sens_numbers(a, rest[j]);
        ok = ok && levels[j + 1];
    }
    for (size_t i = 0; ok && i < m; i++)
        visit(p, levels, rest, 0, i, 0);
    for (size_t j = 0; j < m; j++)
        sens_drop(levels[j + 1], levels[j + 1] ? rest[j] : 0);
    return ok ? OK : err_nomem(err);
}

/*
 * The same in machine words, for the usual case that nothing can exceed 127
 * bits: an order of magnitude faster, and the same numbers.
 */
struct words {
    const struct sens_paper *p;
    const size_t *rest;
    u128 *levels[SENS_ALL_SETS + 1];
    u128 *best; /* by distance */
};

static void visit_words(struct words *w, size_t j, size_t chosen, uint64_t used)
{
    const struct sens_paper *p = w->p;
    if (j == p->n_tables) {
        if (w->levels[j][0] > w->best[used])
            w->best[used] = w->levels[j][0];
        return;
    }
    size_t rest = w->rest[j];
    for (uint64_t s = 0; used + s < p->n_table; s++) {
        u128 *from = w->levels[j], *to = w->levels[j + 1];
        u128 power = 1, next = 1; /* s^r and (s+1)^r */
        memset(to, 0, rest * sizeof *to);
        for (unsigned r = 0; r <= p->copies[j]; r++) {
            u128 factor = j == chosen ? next - power : power;
            for (size_t i = 0; factor && i < rest; i++)
                to[i] += factor * from[r * rest + i];
            power *= s;
            next *= s + 1;
        }
        visit_words(w, j + 1, chosen, used + s);
    }
}

/* No sum exceeds (sum of all coefficients) * (n_table + 1)^n_priv, nor does a
 * power that is computed one step too far. */
static bool fits_words(struct sens_paper *p)
{
    mpz_set_ui(p->x, 1);
    for (size_t i = 0; i < p->n_coef; i++)
        mpz_add(p->x, p->x, p->coef[i]);
    mpz_ui_pow_ui(p->y, p->n_table + 1, p->n_priv + 1);
    mpz_mul(p->x, p->x, p->y);
    return mpz_sizeinbase(p->x, 2) <= 126;
}

static enum status visit_all_words(struct arena *a, struct sens_paper *p,
                                   const size_t *rest, struct err *err)
{
    struct words w = {.p = p, .rest = rest};
    bool ok = true;
    w.best = NEWS(a, u128, p->n_table);
    w.levels[0] = NEWS(a, u128, p->n_coef);
    for (size_t j = 0; j < p->n_tables; j++)
        ok = (w.levels[j + 1] = NEWS(a, u128, rest[j])) && ok;
    if (!ok || !w.best || !w.levels[0])
        return err_nomem(err);
    for (size_t i = 0; i < p->n_coef; i++)
        if (!mpz_get_u128(p->coef[i], &w.levels[0][i]))
            return err_internal(err, "sens: a sum is not a count");
    for (size_t i = 0; i < p->n_tables; i++)
        visit_words(&w, 0, i, 0);
    for (uint64_t k = 0; k < p->n_table; k++)
        mpz_set_u128(p->table[k], w.best[k]);
    mem_wipe(w.best, p->n_table * sizeof *w.best);
    return OK;
}

/* m C(n + m, m), or more than VISITS. */
static u128 visits(size_t m, uint64_t n)
{
    u128 v = 1;
    for (size_t i = 1; i <= m && v <= VISITS; i++)
        v = v * (n + i) / i;
    return v * m;
}

/* How much of the table the budget allows. */
static uint64_t affordable(size_t m, uint64_t up_to)
{
    uint64_t n = 0;
    while (n < up_to && visits(m, n) <= VISITS)
        n++;
    return n;
}

static enum status fill_table(struct arena *a, struct sens_paper *p,
                              uint64_t up_to, struct err *err)
{
    size_t rest[SENS_ALL_SETS] = {0}, left = p->n_coef;
    uint64_t n = affordable(p->n_tables, up_to);
    p->table = sens_numbers(a, n);
    if (!p->table)
        return err_nomem(err);
    p->n_table = n;
    for (size_t j = 0; j < p->n_tables; j++) {
        left /= p->copies[j] + 1;
        rest[j] = left;
    }
    return fits_words(p) ? visit_all_words(a, p, rest, err)
                         : visit_all(a, p, rest, err);
}

static void sum_up(const struct sens_state *s, struct sens_paper *p)
{
    const struct sens_plan *plan = s->p;
    for (size_t c = 0; c < plan->n_coords; c++) {
        if (!plan->coords[c].keeps_public)
            continue;
        aset lacking = plan->all & ~plan->coords[c].atoms;
        size_t index = 0;
        for (size_t j = 0; j < p->n_tables; j++) {
            aset d = cq_atoms_of_table(plan->q, plan->tables[j]);
            index = index * (p->copies[j] + 1) + aset_count(lacking & d);
        }
        unsigned size = aset_count(lacking);
        /* answers without the weight weigh one unit each at most */
        uint64_t unit =
            plan->coords[c].weighted || !plan->unit ? 1 : plan->unit;
        mpz_addmul_ui(p->coef[index], s->t[c], unit);
        mpz_addmul_ui(p->by_size[size], s->t[c], unit);
    }
}

/* Only V: as if there were several relations and a table of no length. */
static enum status new_wide(struct arena *a, const struct sens_state *s,
                            struct sens_paper *p, struct err *err)
{
    *p = (struct sens_paper){.n_tables = 2, .n_priv = s->p->n_priv};
    p->by_size = sens_numbers(a, p->n_priv + 1);
    if (!p->by_size)
        return err_nomem(err);
    mpz_init(p->x);
    mpz_init(p->y);
    p->ready = true;
    return sens_wide_sums(a, s->p, s->t, p->by_size, err);
}

enum status sens_paper_new(struct arena *a, const struct sens_state *s,
                           uint64_t up_to, struct sens_paper *p,
                           struct err *err)
{
    const struct sens_plan *plan = s->p;
    if (plan->wide)
        return new_wide(a, s, p, err);
    *p =
        (struct sens_paper){.n_tables = plan->n_tables, .n_priv = plan->n_priv};
    p->copies = NEWS(a, unsigned, plan->n_tables);
    if (!p->copies)
        return err_nomem(err);
    size_t n_coef = 1;
    for (size_t j = 0; j < p->n_tables; j++) {
        p->copies[j] = aset_count(cq_atoms_of_table(plan->q, plan->tables[j]));
        n_coef *= p->copies[j] + 1;
    }
    p->coef = sens_numbers(a, n_coef);
    p->by_size = sens_numbers(a, p->n_priv + 1);
    if (!p->coef || !p->by_size)
        return err_nomem(err);
    p->n_coef = n_coef;
    mpz_init(p->x);
    mpz_init(p->y);
    p->ready = true;
    sum_up(s, p);
    return p->n_tables > 1 ? fill_table(a, p, up_to, err) : OK;
}

void sens_paper_fini(struct sens_paper *p)
{
    if (!p->ready)
        return;
    sens_drop(p->coef, p->n_coef);
    sens_drop(p->by_size, p->n_priv + 1);
    sens_drop(p->table, p->table ? p->n_table : 0);
    mpz_wipe_clear(p->x);
    mpz_wipe_clear(p->y);
    p->ready = false;
}
