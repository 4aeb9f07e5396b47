/*
 * One draw for two numbers that the same rows change, as the sum and the number
 * of an average: see PROOF.md, claim 17.
 *
 * With sensitivities A, B and g steps let the level of (x, y) be the least j >=
 * 0 with |x| <= floor(j A / g) and |y| <= floor(j B / g). The noise is (x, y)
 * with probability proportional to exp(-level epsilon / g): a level j with
 * probability proportional to exp(-j epsilon / g) times the number of points of
 * its rectangle, then one of those points, all alike.
 *
 * A level is the sum of three geometric numbers, kept with a probability that
 * turns its weight (j + 1)(j + 2)/2 into the number of points; at least about
 * one in eight is kept.
 */
#include "noise/calibrate.h"
#include "noise/sampler.h"

/* --- calibration ---------------------------------------------------------- */

enum { JOINT_STEPS = 16 };

/* A multiple of B, at least JOINT_STEPS. */
static void steps_for(mpz_srcptr b, mpz_t out)
{
    mpz_t n;
    mpz_init_set_ui(n, JOINT_STEPS);
    mpz_cdiv_q(n, n, b);
    mpz_mul(out, n, b);
    mpz_clear(n);
}

static void fill(const struct guarantee *g, mpz_srcptr own, mpz_srcptr other,
                 mpz_srcptr steps, struct noise *out)
{
    out->kind = NOISE_JOINT_LAPLACE;
    out->smooth = false;
    mpq_set(out->epsilon, g->epsilon);
    mpq_set_z(out->a, own);
    mpq_set_z(out->b, other);
    mpq_set_z(out->beta, steps);
}

enum status noise_calibrate_joint(const struct guarantee *g, mpz_srcptr a,
                                  mpz_srcptr b, struct noise *first,
                                  struct noise *second, struct err *err)
{
    mpz_t steps;
    if (g->kind == PRIVACY_ZCDP)
        return err_set(err, E_UNSUPPORTED,
                       "joint noise is not offered under zCDP");
    TRY(noise_check_guarantee(g, err));
    TRY(noise_check_sensitivity(a, err));
    TRY(noise_check_sensitivity(b, err));
    mpz_init(steps);
    steps_for(b, steps);
    fill(g, a, b, steps, first);
    fill(g, b, a, steps, second);
    mpz_clear(steps);
    return OK;
}

/* --- sampling ------------------------------------------------------------- */

struct joint {
    mpz_t a, b, g;   /* A, B, steps */
    mpz_t t, s;      /* t / s = g / epsilon, the scale of a level */
    mpz_t most;      /* max(2 A, g) max(2 B, g) */
    mpz_t j, ja, jb; /* a level; 2 floor(j A / g) + 1, the same of B */
    mpz_t x, y;
};

static void joint_init(struct joint *w, const struct noise *n)
{
    mpz_inits(w->a, w->b, w->g, w->t, w->s, w->most, w->j, w->ja, w->jb, w->x,
              w->y, NULL);
    mpz_set(w->a, mpq_numref(n->a));
    mpz_set(w->b, mpq_numref(n->b));
    mpz_set(w->g, mpq_numref(n->beta));
    mpz_mul(w->t, w->g, mpq_denref(n->epsilon));
    mpz_set(w->s, mpq_numref(n->epsilon));
    mpz_mul_2exp(w->x, w->a, 1);
    mpz_mul_2exp(w->y, w->b, 1);
    mpz_mul(w->most, mpz_cmp(w->x, w->g) > 0 ? w->x : w->g,
            mpz_cmp(w->y, w->g) > 0 ? w->y : w->g);
}

static void joint_fini(struct joint *w)
{
    mpz_wipe_clear(w->j);
    mpz_wipe_clear(w->ja);
    mpz_wipe_clear(w->jb);
    mpz_wipe_clear(w->x);
    mpz_wipe_clear(w->y);
    mpz_clears(w->a, w->b, w->g, w->t, w->s, w->most, NULL);
}

/* Points of one side of the rectangle of level j. */
static void side(const struct joint *w, mpz_srcptr sensitivity, mpz_t out)
{
    mpz_mul(out, w->j, sensitivity);
    mpz_fdiv_q(out, out, w->g);
    mpz_mul_2exp(out, out, 1);
    mpz_add_ui(out, out, 1);
}

/* With probability ja jb g^2 / (most (j + 1) (j + 2)), which is at most 1: ja
 * is at most (j + 1) max(2 A, g) / g, jb likewise. */
static enum status keep_level(struct draw *d, struct joint *w, bool *keep)
{
    mpz_add_ui(w->x, w->j, 1);
    mpz_add_ui(w->y, w->j, 2);
    mpz_mul(w->x, w->x, w->y);
    mpz_mul(w->x, w->x, w->most);
    TRY(draw_below(d, w->x, w->y));
    mpz_mul(w->x, w->ja, w->jb);
    mpz_mul(w->x, w->x, w->g);
    mpz_mul(w->x, w->x, w->g);
    *keep = mpz_cmp(w->y, w->x) < 0;
    return OK;
}

static enum status draw_level(struct draw *d, struct joint *w)
{
    for (bool keep = false; !keep;) {
        mpz_set_ui(w->j, 0);
        for (int i = 0; i < 3; i++) {
            TRY(sample_geometric(d, w->t, w->s, w->x));
            mpz_add(w->j, w->j, w->x);
        }
        side(w, w->a, w->ja);
        side(w, w->b, w->jb);
        TRY(keep_level(d, w, &keep));
    }
    return OK;
}

/* Uniform on n numbers around 0; n is odd. */
static enum status draw_around(struct draw *d, mpz_t n, mpz_t out)
{
    TRY(draw_below(d, n, out));
    mpz_fdiv_q_2exp(n, n, 1);
    mpz_sub(out, out, n);
    return OK;
}

enum status sample_joint(struct draw *d, const struct noise *n, mpz_t x,
                         mpz_t y)
{
    struct joint w;
    joint_init(&w, n);
    enum status st = draw_level(d, &w);
    if (st == OK)
        st = draw_around(d, w.ja, x);
    if (st == OK)
        st = draw_around(d, w.jb, y);
    joint_fini(&w);
    return st;
}
