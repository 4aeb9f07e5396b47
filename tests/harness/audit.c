/* Exact audit: see audit.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/audit.h"
#include "harness/law.h"

enum { PREC = 256 };

struct pair {
    struct law law;
    mpq_t s, s2, eps; /* scales of the two, bound on the loss */
    mpz_t shift;      /* f - f' */
};

/* Compares output f + k under both. */
static void compare(const struct pair *p, mpz_srcptr k, struct audit *out)
{
    struct iv a, b;
    mpz_t k2;
    iv_init(&a, p->law.prec);
    iv_init(&b, p->law.prec);
    mpz_init(k2);
    mpz_add(k2, k, p->shift);
    law_mass(&p->law, p->s, k, &a);
    law_mass(&p->law, p->s2, k2, &b);
    if (mpfr_sgn(b.lo) <= 0 || mpfr_sgn(a.lo) <= 0) {
        out->uncertain++;
    } else {
        iv_div(&a, &a, &b);
        iv_log(&a, &a);
        out->compared++;
        if (mpfr_cmp_q(a.lo, p->eps) > 0)
            out->violated++;
        else if (mpfr_cmp_q(a.hi, p->eps) > 0)
            out->uncertain++;
        double ratio = mpfr_get_d(a.hi, MPFR_RNDU) / mpq_get_d(p->eps);
        out->worst = ratio > out->worst ? ratio : out->worst;
    }
    mpz_clear(k2);
    iv_fini(&a);
    iv_fini(&b);
}

static void compare_at(const struct pair *p, mpq_srcptr s, unsigned long num,
                       unsigned long den, struct audit *out)
{
    mpq_t at;
    mpz_t k;
    mpq_init(at);
    mpz_init(k);
    mpq_set_ui(at, num, den);
    mpq_canonicalize(at);
    mpq_mul(at, at, s);
    mpz_fdiv_q(k, mpq_numref(at), mpq_denref(at));
    compare(p, k, out);
    mpz_neg(k, k);
    compare(p, k, out);
    mpz_clear(k);
    mpq_clear(at);
}

/* Just inside the bands' ends of either neighbour, where the staircase is at
 * its worst: the integers around (z_k - 1/1000) s and around those that the
 * shift maps there. */
static void scan_bands(const struct pair *p, struct audit *out)
{
    mpz_t k;
    mpfr_t at;
    mpz_init(k);
    mpfr_init2(at, PREC);
    for (unsigned band = 1; band < 6; band++) {
        for (int other = 0; other < 2; other++) {
            mpfr_mul_q(at, p->law.z[band].lo, other ? p->s2 : p->s, MPFR_RNDN);
            for (int sign = 0; sign < 2; sign++) {
                for (int inside = -1; inside <= 1; inside++) {
                    mpfr_get_z(k, at, MPFR_RNDD);
                    if (sign)
                        mpz_neg(k, k);
                    if (other)
                        mpz_sub(k, k, p->shift);
                    mpz_add_ui(k, k, 1);
                    mpz_sub_ui(k, k, (unsigned)(1 - inside));
                    compare(p, k, out);
                }
            }
        }
    }
    mpz_clear(k);
    mpfr_clear(at);
}

/* Centre finely, then ever coarser to 10^5 scales, and the very next
 * integers around zero and around the shift. */
static void scan(const struct pair *p, unsigned dense, struct audit *out)
{
    mpz_t k;
    mpz_init(k);
    for (long i = -3; i <= 3; i++) {
        mpz_set_si(k, i);
        compare(p, k, out);
        mpz_sub(k, k, p->shift);
        compare(p, k, out);
    }
    mpz_clear(k);
    for (unsigned i = 1; i <= 6 * dense; i++)
        compare_at(p, p->s, i, dense, out);
    if (p->law.n->kind == NOISE_STAIRCASE)
        scan_bands(p, out);
    for (unsigned i = 7; i < 100000; i += 1 + i / 4)
        compare_at(p, p->s, i, 1, out);
}

/* s2 = s e^(+-beta), rounded towards s. */
static void other_scale(const struct noise *n, mpq_srcptr s, int way, mpq_t s2)
{
    struct iv grow;
    mpq_t q;
    mpq_init(q);
    iv_init(&grow, PREC);
    iv_set_q(&grow, n->scale_beta);
    iv_exp(&grow, &grow);
    mpfr_prec_round(grow.lo, 128, MPFR_RNDD);
    iv_lo_q(q, &grow);
    if (way > 0)
        mpq_mul(s2, s, q);
    else if (way < 0)
        mpq_div(s2, s, q);
    else
        mpq_set(s2, s);
    iv_fini(&grow);
    mpq_clear(q);
}

/* Bands are summed with an absolute error, so the precision must reach the
 * mass at 10^5 scales, about 10^(-5 epsilon/beta). */
static mpfr_prec_t audit_prec(const struct noise *n)
{
    double m = mpq_get_d(n->epsilon) / mpq_get_d(n->beta);
    return n->kind == NOISE_STAIRCASE ? (mpfr_prec_t)(160 + 18 * m) : PREC;
}

void audit_smooth(const struct noise *n, mpq_srcptr s, const char *shrink,
                  unsigned dense, struct audit *out)
{
    struct pair p;
    mpq_t factor, s2;
    mpq_inits(p.s, p.s2, p.eps, factor, s2, NULL);
    mpz_init(p.shift);
    law_open(&p.law, n, audit_prec(n));
    mpq_set(p.eps, n->epsilon);
    assert_int_equal(rat_read(str_of(shrink), "factor", factor, NULL), OK);
    for (int way = -1; way <= 1; way++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            other_scale(n, s, way, s2);
            mpq_srcptr least = mpq_cmp(s, s2) < 0 ? s : s2;
            mpz_fdiv_q(p.shift, mpq_numref(least), mpq_denref(least));
            mpz_mul_si(p.shift, p.shift, sign);
            mpq_mul(p.s, s, factor);
            mpq_mul(p.s2, s2, factor);
            scan(&p, dense, out);
        }
    }
    mpq_clears(p.s, p.s2, p.eps, factor, s2, NULL);
    mpz_clear(p.shift);
    law_close(&p.law);
}
