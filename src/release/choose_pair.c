/*
 * The two numbers of an average with one draw (noise/joint.c) where both have a
 * bound that holds whatever the data: half the variance for the same price.
 *
 * PRIVACY: what the pair changes by (noise.h, noise_calibrate_joint). Without
 * groups each number is within its own bound. With groups an answer that comes
 * or goes changes the number of one group by one, and the sum of that group
 * by the width of the range at most; l1_upper of the number bounds how many
 * come and go, if its query is conjunctive (PROOF.md, averages).
 */
#include "release/choose.h"

static bool is_average(const struct prepared *p, size_t i)
{
    return i + 1 < p->n_counts && p->counts[i].average && p->counts[i].half &&
           p->counts[i + 1].half && !p->counts[i + 1].average;
}

static bool is_laplace(const struct choice *c)
{
    return c->kind == CHOICE_GLOBAL &&
           c->noise.kind == NOISE_DISCRETE_LAPLACE &&
           c->total.kind != PRIVACY_ZCDP;
}

/* Twice the range is added up, in units of the values (sql/sum.c). */
static u128 width_of(const struct sql_average *v)
{
    return (u128)((__int128)v->hi - v->lo);
}

/* The sensitivities; false: two draws are as good, or it is not known. */
static bool sensitivities(const struct priced *sum, const struct priced *number,
                          u128 *a, u128 *b)
{
    const struct count *q = number->q;
    *a = sum->q->bound.l1_upper;
    *b = q->bound.l1_upper;
    if (!q->query->n_group)
        return true;
    u128 all = u128_mul_inf(width_of(sum->q->average), *b);
    bool smaller = all <= *a;
    *a = all;
    return !q->tree && smaller && sum->keys.n == number->keys.n;
}

static bool fits(const struct prepared *p, const struct priced *sum, u128 *a,
                 u128 *b)
{
    const struct priced *number = sum + 1;
    return !p->schema.has_entities && !p->session->opt.mechanism.n &&
           !sum->keys.found && !number->keys.found &&
           is_laplace(&sum->choice) && is_laplace(&number->choice) &&
           sensitivities(sum, number, a, b) && *a && *b && *a != U128_INF &&
           *b != U128_INF;
}

static enum status tell(struct priced *c, struct count *sum, struct err *err)
{
    c->choice.joint = sum;
    choose_guarantee_text(c->q, &c->choice);
    if (!c->choice.guarantee.p)
        return err_nomem(err);
    return noise_error(&c->choice.noise, &c->choice.error, err);
}

/* PRIVACY: the draw has the whole price; each number pays half of it. */
static enum status make_pair(struct priced *sum, u128 a, u128 b,
                             struct err *err)
{
    struct priced *number = sum + 1;
    struct guarantee g;
    mpz_t x, y;
    guarantee_init(&g);
    mpz_inits(x, y, NULL);
    mpq_mul_2exp(g.epsilon, sum->choice.total.epsilon, 1);
    mpz_set_u128(x, a);
    mpz_set_u128(y, b);
    enum status st = noise_calibrate_joint(&g, x, y, &sum->choice.noise,
                                           &number->choice.noise, err);
    mpz_clears(x, y, NULL);
    guarantee_fini(&g);
    if (st == OK)
        st = tell(sum, sum->q, err);
    return st == OK ? tell(number, sum->q, err) : st;
}

enum status choose_pairs(struct prepared *p, struct priced *c, struct err *err)
{
    for (size_t i = 0; i < p->n_counts; i++) {
        u128 a, b;
        if (!is_average(p, i))
            continue;
        if (fits(p, &c[i], &a, &b))
            TRY(make_pair(&c[i], a, b, err));
        i++;
    }
    return OK;
}

enum status choose_apart(struct prepared *p, struct priced *c, struct err *err)
{
    for (size_t i = 0; i < p->n_counts; i++) {
        if (!c[i].choice.joint)
            continue;
        choice_fini(&c[i].choice);
        choice_init(&c[i].choice);
        TRY(choose(c[i].q, &c[i].keys, &c[i].choice, err));
    }
    return OK;
}
