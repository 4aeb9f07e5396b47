/*
 * Discrete Laplace and discrete Gaussian on the integers, exact in integer
 * arithmetic: Algorithms 2 and 3 of Canonne, Kamath, Steinke (2020).
 * Expected number of rounds: below 3.2 for either, whatever the scale.
 */
#include "noise/sampler.h"

#include "num/secret_scale.h"

/* U + tV with U below t kept with probability exp(-U/t) and V geometric with
 * ratio 1/e, divided by s. */
enum status sample_geometric(struct draw *d, mpz_srcptr t, mpz_srcptr s,
                             mpz_t out)
{
    bool keep = false;
    while (!keep) {
        TRY(draw_below(d, t, out));
        TRY(draw_exp(d, out, t, &keep));
    }
    bool more = true;
    while (true) {
        TRY(draw_exp(d, t, t, &more));
        if (!more)
            break;
        mpz_add(out, out, t);
    }
    mpz_fdiv_q(out, out, s);
    return OK;
}

enum status sample_discrete_laplace(struct draw *d, mpz_srcptr t, mpz_srcptr s,
                                    mpz_t out)
{
    bool minus = false;
    do {
        TRY(sample_geometric(d, t, s, out));
        TRY(draw_flip(d, &minus));
        /* PRIVACY: without this rejection zero would come twice as often. */
    } while (minus && mpz_sgn(out) == 0);
    if (minus)
        mpz_neg(out, out);
    return OK;
}

/* The numbers of Algorithm 3 that depend on sigma2 = a/b only. */
struct gauss {
    mpz_t t;     /* floor(sigma) + 1 */
    mpz_t bt;    /* b t */
    mpz_t twice; /* 2 a b t^2 */
    mpz_t num;
    mpz_t one;
};

static void gauss_init(struct gauss *g, mpq_srcptr sigma2)
{
    mpz_inits(g->t, g->bt, g->twice, g->num, NULL);
    mpz_init_set_ui(g->one, 1);
    mpz_fdiv_q(g->t, mpq_numref(sigma2), mpq_denref(sigma2));
    mpz_sqrt(g->t, g->t);
    mpz_add_ui(g->t, g->t, 1);
    mpz_mul(g->bt, mpq_denref(sigma2), g->t);
    mpz_mul(g->twice, g->bt, g->t);
    mpz_mul(g->twice, g->twice, mpq_numref(sigma2));
    mpz_mul_2exp(g->twice, g->twice, 1);
}

static void gauss_fini(struct gauss *g)
{
    mpz_wipe_clear(g->num);
    mpz_clears(g->t, g->bt, g->twice, g->one, NULL);
}

/* Keeps y with probability exp(-(|y| - sigma2/t)^2 / (2 sigma2)). */
static enum status gauss_round(struct draw *d, struct gauss *g,
                               mpq_srcptr sigma2, mpz_t y, bool *keep)
{
    TRY(sample_discrete_laplace(d, g->t, g->one, y));
    mpz_abs(g->num, y);
    mpz_mul(g->num, g->num, g->bt);
    mpz_sub(g->num, g->num, mpq_numref(sigma2));
    mpz_mul(g->num, g->num, g->num);
    return draw_exp(d, g->num, g->twice, keep);
}

enum status sample_discrete_gaussian(struct draw *d, mpq_srcptr sigma2,
                                     mpz_t out)
{
    struct gauss g;
    gauss_init(&g, sigma2);
    bool keep = false;
    enum status st = OK;
    while (st == OK && !keep)
        st = gauss_round(d, &g, sigma2, out, &keep);
    gauss_fini(&g);
    return st;
}
