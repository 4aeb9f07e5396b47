/* The law of an election: see elect_law.h. */
#include "harness/elect_law.h"

static void open_all(struct iv *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        iv_init(&v[i], ELECT_LAW_BITS);
}

static void close_all(struct iv *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        iv_fini(&v[i]);
}

/* p_j = exp(-(x_j - least)) */
static void weights(const mpq_t *x, unsigned n, struct iv *p)
{
    unsigned least = 0;
    mpq_t d;
    mpq_init(d);
    for (unsigned j = 0; j < n; j++)
        if (mpq_cmp(x[j], x[least]) < 0)
            least = j;
    for (unsigned j = 0; j < n; j++) {
        mpq_sub(d, x[least], x[j]);
        iv_set_q(&p[j], d);
        iv_exp(&p[j], &p[j]);
    }
    mpq_clear(d);
}

/* The integral of prod (1 - p_i u), i != j, from its coefficients. */
static void integral(const struct iv *p, unsigned n, unsigned j, struct iv *out)
{
    struct iv c[ELECT_LAW_MAX + 1], t;
    mpq_t f;
    open_all(c, ELECT_LAW_MAX + 1);
    iv_init(&t, ELECT_LAW_BITS);
    mpq_init(f);
    for (unsigned i = 0; i <= ELECT_LAW_MAX; i++)
        iv_set_ui(&c[i], i == 0);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = n; i != j && k > 0; k--) {
            iv_mul(&t, &c[k - 1], &p[i]);
            iv_sub(&c[k], &c[k], &t);
        }
    iv_set_ui(out, 0);
    for (unsigned k = 0; k <= n; k++) {
        mpq_set_ui(f, 1, k + 1);
        iv_mul_q(&t, &c[k], f);
        iv_add(out, out, &t);
    }
    mpq_clear(f);
    iv_fini(&t);
    close_all(c, ELECT_LAW_MAX + 1);
}

void elect_law(const mpq_t *x, unsigned n, bool permute, struct iv *out)
{
    struct iv p[ELECT_LAW_MAX], sum;
    open_all(p, n);
    iv_init(&sum, ELECT_LAW_BITS);
    weights(x, n, p);
    iv_set_ui(&sum, 0);
    for (unsigned j = 0; j < n; j++)
        iv_add(&sum, &sum, &p[j]);
    for (unsigned j = 0; j < n; j++) {
        if (permute) {
            integral(p, n, j, &out[j]);
            iv_mul(&out[j], &out[j], &p[j]);
        } else {
            iv_div(&out[j], &p[j], &sum);
        }
    }
    iv_fini(&sum);
    close_all(p, n);
}

double elect_log_ratio(const struct iv *p, const struct iv *q)
{
    struct iv r;
    iv_init(&r, ELECT_LAW_BITS);
    iv_div(&r, p, q);
    iv_log(&r, &r);
    double most = mpfr_get_d(r.hi, MPFR_RNDU);
    iv_fini(&r);
    return most;
}
