/*
 * Stretches (polystep.h).
 *
 * A try: degree + 1 steps are taken and kept; P_F is the polynomial through
 * them. PRIVACY: that T_F goes on as P_F is proved, not assumed. If for all
 * 0 <= j <= m
 *     P_F(j+1) = min(max over i of sum_i(j), cap, products at j+1),
 * then T_F(j) = P_F(j) for j <= m by induction. All sides are polynomials of
 * degree at most 2 * degree, given by their values at n_points places:
 *   - equal at so many places is equal everywhere;
 *   - nonnegative: with D(j) = sum of c_i binom(j, i), forward differences c_i,
 *     D is at least c_0 + sum of the negative c_i binom(m, i) for j <= m.
 * It suffices that no cap and no product is below P_F(j+1), and that either
 * one sum equals it and none is above it, or one cap or product equals it and
 * one sum is not below it.
 *
 * Cost of a try: that of some hundred steps; tries get rarer geometrically
 * while they fail.
 */
#include "sens/numbers.h"
#include "sens/polystep.h"

#include "num/rat.h"

enum {
    LEAST = 64, /* a shorter stretch is not worth it */
    MOST_NUMBERS = 1 << 17,
    MOST_WORK = 1 << 22, /* numbers touched by a try */
};
static const uint64_t no_end = (uint64_t)1 << 40;

static bool affordable(const struct sens_plan *p, size_t n_points)
{
    size_t n = p->n_coords;
    for (size_t i = 0; i < p->n_coords; i++)
        n += p->coords[i].n_terms + p->coords[i].n_splits;
    return p->n_coords * n_points <= MOST_NUMBERS && n * n_points <= MOST_WORK;
}

enum status sens_stretch_init(struct sens_stretch *r, struct arena *a,
                              struct sens_state *s, struct err *err)
{
    const struct sens_plan *p = s->p;
    unsigned degree = p->n_priv, points = 2 * degree + 2;
    *r = (struct sens_stretch){
        .s = s, .degree = degree, .n_points = points, .next_try = LEAST};
    mpz_inits(r->x, r->y, (mpz_ptr)NULL);
    if (!affordable(p, points))
        return OK;
    r->n_top = p->n_tables ? p->n_tables : 1;
    r->diff = sens_numbers(a, (degree + 1) * p->n_coords);
    r->value = sens_numbers(a, points * p->n_coords);
    r->top = sens_numbers(a, (degree + 1) * r->n_top);
    r->work = sens_numbers(a, points);
    r->tries = r->diff && r->value && r->top && r->work;
    if (r->tries)
        return OK;
    sens_stretch_fini(r);
    return err_nomem(err);
}

void sens_stretch_fini(struct sens_stretch *r)
{
    size_t n = r->s->p->n_coords;
    sens_drop(r->diff, (r->degree + 1) * n);
    sens_drop(r->value, r->n_points * n);
    sens_drop(r->top, (r->degree + 1) * r->n_top);
    sens_drop(r->work, r->n_points);
    mpz_wipe_clear(r->x);
    mpz_wipe_clear(r->y);
}

/* --- polynomials -----------------------------------------------------------*/

/* Values at 0, 1, ... to forward differences at 0; `step` apart in memory. */
static void differences(mpz_t *v, size_t n, size_t step)
{
    for (size_t level = 1; level < n; level++)
        for (size_t i = n - 1; i >= level; i--)
            mpz_sub(v[i * step], v[i * step], v[(i - 1) * step]);
}

/* The differences one place further. */
static void move_on(mpz_t *d, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        mpz_add(d[i], d[i], d[i + 1]);
}

static mpz_t *values(struct sens_stretch *r, uint32_t coord)
{
    return r->value + (size_t)coord * r->n_points;
}

/* Is c_0 + sum of the negative c_i binom(m, i) >= 0? */
static bool holds_until(struct sens_stretch *r, size_t n, uint64_t m)
{
    mpz_set(r->x, r->work[0]);
    for (size_t i = 1; i < n; i++)
        if (mpz_sgn(r->work[i]) < 0) {
            mpz_set_ui(r->y, m);
            mpz_bin_ui(r->y, r->y, i);
            mpz_addmul(r->x, r->work[i], r->y);
        }
    return mpz_sgn(r->x) >= 0;
}

/* The polynomial with the values work[0 .. n_points - 2]: some m <= *m such
 * that it is not negative for 0 <= j <= m is put there; 0: none worth it. */
static void nonnegative(struct sens_stretch *r, uint64_t *m)
{
    size_t n = r->n_points - 1;
    differences(r->work, n, 1);
    while (*m && !holds_until(r, n, *m))
        *m = *m / 2 >= LEAST ? *m / 2 : 0;
}

static bool all_zero(const struct sens_stretch *r)
{
    for (size_t j = 0; j + 1 < r->n_points; j++)
        if (mpz_sgn(r->work[j]))
            return false;
    return true;
}

/* --- the proof -------------------------------------------------------------*/

/* work := the sum of the relation of term `from` - P(j+1); the next term. */
static size_t sum_less_next(struct sens_stretch *r, uint32_t coord, size_t from)
{
    const struct sens_coord *c = &r->s->p->coords[coord];
    const mpz_t *v = (const mpz_t *)values(r, coord);
    size_t i = from;
    for (size_t j = 0; j + 1 < r->n_points; j++)
        mpz_sub(r->work[j], v[j], v[j + 1]);
    for (; i < c->n_terms && c->terms[i].relation == c->terms[from].relation;
         i++) {
        mpz_t *t = values(r, c->terms[i].from);
        uint64_t times = sens_times(r->s->p, &c->terms[i]);
        for (size_t j = 0; j + 1 < r->n_points; j++)
            mpz_addmul_ui(r->work[j], t[j], times);
    }
    return i;
}

static void negate(struct sens_stretch *r)
{
    for (size_t j = 0; j + 1 < r->n_points; j++)
        mpz_neg(r->work[j], r->work[j]);
}

/* No sum is above P(j+1) for j <= *m, and one is equal to it. */
static bool sums_decide(struct sens_stretch *r, uint32_t coord, uint64_t *m)
{
    const struct sens_coord *c = &r->s->p->coords[coord];
    bool equal = false;
    size_t i = 0;
    do { /* also without terms: then the sum is P(j) */
        i = sum_less_next(r, coord, i);
        equal = all_zero(r) || equal;
        negate(r);
        nonnegative(r, m);
    } while (*m && i < c->n_terms);
    return *m && equal;
}

/* Some sum is not below P(j+1) for j <= *m: the one that shows it longest. */
static void some_sum_above(struct sens_stretch *r, uint32_t coord, uint64_t *m)
{
    const struct sens_coord *c = &r->s->p->coords[coord];
    uint64_t best = 0;
    size_t i = 0;
    do {
        uint64_t here = *m;
        i = sum_less_next(r, coord, i);
        nonnegative(r, &here);
        best = here > best ? here : best;
    } while (i < c->n_terms);
    *m = best;
}

/* Caps and products are not below P(j+1) for j <= *m; *equal: one is it. */
static void caps_above(struct sens_stretch *r, uint32_t coord, uint64_t *m,
                       bool *equal)
{
    const struct sens_coord *c = &r->s->p->coords[coord];
    mpz_t *v = values(r, coord);
    *equal = false;
    if (c->cap != U128_INF) {
        mpz_set_u128(r->x, c->cap);
        for (size_t j = 0; j + 1 < r->n_points; j++)
            mpz_sub(r->work[j], r->x, v[j + 1]);
        *equal = all_zero(r);
        nonnegative(r, m);
    }
    for (size_t i = 0; *m && i < c->n_splits; i++) {
        mpz_t *a = values(r, c->splits[i].a), *b = values(r, c->splits[i].b);
        for (size_t j = 0; j + 1 < r->n_points; j++) {
            mpz_mul(r->work[j], a[j + 1], b[j + 1]);
            mpz_sub(r->work[j], r->work[j], v[j + 1]);
        }
        *equal = all_zero(r) || *equal;
        nonnegative(r, m);
    }
}

/* Is P of a coordinate that follows from others that sum or product of their
 * polynomials, everywhere? */
static bool follows(struct sens_stretch *r, uint32_t coord)
{
    const struct sens_coord *c = &r->s->p->coords[coord];
    mpz_t *v = values(r, coord);
    for (size_t j = 0; j < r->n_points; j++) {
        mpz_t *a = values(r, c->n_splits ? c->splits[0].a : 0);
        mpz_t *b = values(r, c->n_splits ? c->splits[0].b : 0);
        if (c->kind == COORD_SUM)
            mpz_add(r->x, a[j], b[j]);
        else if (c->kind == COORD_PRODUCT)
            mpz_mul(r->x, a[j], b[j]);
        else
            mpz_set_ui(r->x, 1);
        if (mpz_cmp(r->x, v[j]))
            return false;
    }
    return true;
}

/* How long P goes on as T for one coordinate: at most m steps. */
static uint64_t proved(struct sens_stretch *r, uint32_t coord, uint64_t m)
{
    bool equal;
    if (r->s->p->coords[coord].kind != COORD_ASKED)
        return follows(r, coord) ? m : 0;
    caps_above(r, coord, &m, &equal);
    uint64_t by_sums = m;
    if (m && sums_decide(r, coord, &by_sums) && (by_sums == m || !equal))
        return by_sums;
    if (!m || !equal)
        return 0;
    some_sum_above(r, coord, &m);
    return m;
}

/* Values of every polynomial at n_points places, from the differences. */
static void fill_values(struct sens_stretch *r)
{
    size_t n = r->s->p->n_coords, d = r->degree;
    for (uint32_t c = 0; c < n; c++) {
        mpz_t *v = values(r, c);
        for (size_t i = 0; i <= d; i++)
            mpz_set(r->work[i], r->diff[i * n + c]);
        for (size_t j = 0; j < r->n_points; j++) {
            mpz_set(v[j], r->work[0]);
            move_on(r->work, d + 1);
        }
    }
}

uint64_t sens_stretch_proved(struct sens_stretch *r)
{
    uint64_t m = no_end;
    fill_values(r);
    for (uint32_t c = 0; m && c < r->s->p->n_coords; c++)
        m = proved(r, c, m);
    return m;
}

/* --- riding ----------------------------------------------------------------*/

/* g of each relation, from the base to where the samples end. */
static void fill_top(struct sens_stretch *r)
{
    const struct sens_coord *top = &r->s->p->top;
    size_t n = r->s->p->n_coords, d = r->degree, k = 0;
    for (size_t i = 0; i < r->n_top * (d + 1); i++)
        mpz_set_ui(r->top[i], 0);
    for (size_t t = 0; t < top->n_terms; t++) {
        k += t && top->terms[t].relation != top->terms[t - 1].relation;
        for (size_t i = 0; i <= d; i++)
            mpz_addmul_ui(r->top[k * (d + 1) + i],
                          r->diff[i * n + top->terms[t].from],
                          sens_times(r->s->p, &top->terms[t]));
    }
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < r->n_top; i++)
            move_on(r->top + i * (d + 1), d + 1);
}

/* T := P(end). */
static void get_off(struct sens_stretch *r)
{
    size_t n = r->s->p->n_coords;
    for (size_t c = 0; c < n; c++) {
        mpz_set_ui(r->x, 0);
        for (size_t i = 0; i <= r->degree; i++) {
            mpz_set_ui(r->y, r->end);
            mpz_bin_ui(r->y, r->y, i);
            mpz_addmul(r->x, r->y, r->diff[i * n + c]);
        }
        mpz_set(r->s->t[c], r->x);
    }
    r->end = 0;
    r->next_try = r->taken + 1;
}

static void look(struct sens_stretch *r)
{
    size_t n = r->s->p->n_coords;
    for (size_t c = 0; c < n; c++)
        differences(r->diff + c, r->degree + 1, n);
    uint64_t m = sens_stretch_proved(r);
    r->n_samples = 0;
    r->next_try = r->taken + r->taken / 4;
    if (m <= r->degree)
        return;
    fill_top(r);
    r->at = r->degree;
    r->end = m;
}

static void sample(struct sens_stretch *r)
{
    size_t n = r->s->p->n_coords;
    for (size_t c = 0; c < n; c++)
        mpz_set(r->diff[r->n_samples * n + c], r->s->t[c]);
    if (++r->n_samples > r->degree)
        look(r);
}

void sens_stretch_step(struct sens_stretch *r)
{
    r->taken++;
    if (r->end) {
        for (size_t i = 0; i < r->n_top; i++)
            move_on(r->top + i * (r->degree + 1), r->degree + 1);
        if (++r->at == r->end)
            get_off(r);
        return;
    }
    sens_state_step(r->s);
    if (r->tries && r->taken >= r->next_try)
        sample(r);
}

void sens_stretch_local(struct sens_stretch *r, mpz_t out)
{
    if (!r->end) {
        sens_state_local(r->s, out);
        return;
    }
    mpz_set_ui(out, 0);
    for (size_t i = 0; i < r->n_top; i++)
        if (mpz_cmp(r->top[i * (r->degree + 1)], out) > 0)
            mpz_set(out, r->top[i * (r->degree + 1)]);
}

void sens_stretch_relations(struct sens_stretch *r, mpz_t *out)
{
    const struct sens_plan *p = r->s->p;
    size_t k = 0;
    for (size_t i = 0; i < p->n_tables; i++)
        mpz_set_ui(out[i], 0);
    for (size_t i = 0; i < p->top.n_terms; i++) {
        uint32_t rel = p->top.terms[i].relation;
        bool first = !i || p->top.terms[i - 1].relation != rel;
        k += i && first;
        if (!r->end)
            mpz_addmul_ui(out[rel], r->s->t[p->top.terms[i].from],
                          sens_times(p, &p->top.terms[i]));
        else if (first)
            mpz_set(out[rel], r->top[k * (r->degree + 1)]);
    }
}
