/*
 * Smooth noise on a vector of counts with one scale (GROUP BY).
 *
 * A change of scale by e^lambda is paid in every coordinate, a shift only
 * once (its l1 norm is at most S). With smooth-laplace of (e, e/m), kappa 1,
 * in each of g coordinates and a sensitivity of smoothness beta <= e/m the
 * loss is at most e + (g-1) m beta (PROOF.md, claim 6): every further group
 * costs m beta. Here e = epsilon - (g-1) m beta, and m from 3 to 16 is chosen
 * for the smallest standard deviation.
 */
#include "noise/calibrate.h"

enum { M_MIN = 3, M_MAX = 16 };

/* 1000 times the standard deviation in units of S/e, for m = 3, 4, ... */
static const unsigned short std_of[] = {3122, 2380, 2092, 1937, 1839,
                                        1773, 1724, 1687, 1658, 1635,
                                        1616, 1599, 1586, 1574};

/* e for this m, or false when nothing is left or beta exceeds e/m. */
static bool epsilon_left(mpq_srcptr epsilon, mpq_srcptr beta, uint64_t groups,
                         unsigned long m, mpq_t out)
{
    mpq_t cost;
    mpq_init(cost);
    mpq_set_ui(cost, groups - 1, 1);
    mpq_mul(cost, cost, beta);
    mpz_mul_ui(mpq_numref(cost), mpq_numref(cost), m);
    mpq_canonicalize(cost);
    mpq_sub(out, epsilon, cost);
    mpq_set_ui(cost, m, 1);
    mpq_mul(cost, cost, beta);
    bool enough = mpq_cmp(out, cost) >= 0;
    mpq_clear(cost);
    return enough;
}

/* The best m, or 0; `out` gets its e. */
static unsigned long choose_m(mpq_srcptr epsilon, mpq_srcptr beta,
                              uint64_t groups, mpq_t out)
{
    unsigned long best = 0;
    mpq_t e, std, least;
    mpq_inits(e, std, least, NULL);
    for (unsigned long m = M_MIN; m <= M_MAX; m++) {
        if (!epsilon_left(epsilon, beta, groups, m, e))
            continue;
        mpq_set_ui(std, std_of[m - M_MIN], 1);
        mpq_div(std, std, e);
        if (best == 0 || mpq_cmp(std, least) < 0) {
            best = m;
            mpq_set(least, std);
            mpq_set(out, e);
        }
    }
    mpq_clears(e, std, least, NULL);
    return best;
}

enum status noise_calibrate_smooth_groups(const struct guarantee *g,
                                          uint64_t groups, mpq_srcptr beta,
                                          struct noise *out, struct err *err)
{
    TRY(noise_check_guarantee(g, err));
    TRY(noise_check_parameter(beta, "beta", err));
    TRY(noise_check_beta_min(beta, err));
    if (groups == 0)
        return err_internal(err, "noise_calibrate_smooth_groups");
    mpq_t epsilon;
    mpq_init(epsilon);
    pure_epsilon(g, epsilon);
    slack_beta(beta, out->scale_beta);
    unsigned long m = choose_m(epsilon, out->scale_beta, groups, out->epsilon);
    mpq_clear(epsilon);
    if (m == 0) {
        err_set(err, E_VALUE, "beta is too large for %llu groups",
                (unsigned long long)groups);
        err_hint(err, "The change of scale is paid once per group: use a beta "
                      "of about epsilon / (8 groups).");
        return E_VALUE;
    }
    out->kind = NOISE_SMOOTH_LAPLACE;
    out->smooth = true;
    mpq_set_ui(out->a, 1, 1);
    mpq_set_ui(out->b, m, 1);
    mpq_div(out->beta, out->epsilon, out->b);
    return OK;
}

void noise_choose_beta_groups(const struct guarantee *g, unsigned degree,
                              uint64_t groups, mpq_t out_beta)
{
    mpq_t share;
    struct guarantee pure; /* vectors take smooth-laplace in any case */
    mpq_init(share);
    guarantee_init(&pure);
    pure_epsilon(g, pure.epsilon);
    noise_choose_beta(&pure, degree, out_beta);
    guarantee_fini(&pure);
    mpz_set_ui(mpq_numref(share), groups);
    mpz_mul_2exp(mpq_numref(share), mpq_numref(share), 1);
    mpz_sub_ui(mpq_numref(share), mpq_numref(share), 1);
    mpq_div(out_beta, out_beta, share);
    mpq_clear(share);
}
