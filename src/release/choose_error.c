/*
 * The price for a wanted error (--error): the smallest epsilon of three digits
 * for which 95 % of the answers lie within it. Everything is public: the noise
 * on the global sensitivity has an error that everybody may compute. Where
 * there is no bound, the least that the data can make of the noise says below
 * which price the error is out of reach.
 */
#include <math.h>
#include <stdio.h>

#include "release/choose.h"

enum { FIRST_EXPONENT = -8 }; /* 100e-8 = 1e-6 */

struct str choose_epsilon_text(struct arena *a, unsigned i)
{
    int exponent = FIRST_EXPONENT + (int)(i / 900);
    double v = (100 + i % 900) * pow(10, exponent); /* display */
    return str_printf(a, "%.*f", exponent < 0 ? -exponent : 0, v);
}

/* The p95 of a count with this price; infinite if there is none. */
static enum status p95_at(const struct priced *x, struct str epsilon,
                          double *out, struct err *err)
{
    struct choice c;
    struct count *q = x->q;
    bool bounded = q->bound.l1_upper != U128_INF;
    choice_init(&c);
    c.n_groups = x->keys.found ? 0 : x->keys.n;
    enum status s =
        choose_guarantee(epsilon, q->p->delta, (struct str){0}, &c.total, err);
    *out = INFINITY;
    if (s == OK && bounded)
        s = choose_global(q, CHOICE_GLOBAL, NOISE_DISCRETE_LAPLACE, &c, err);
    else if (s == OK)
        s = choose_smooth(q, &c, err);
    double least = 1; /* display */
    if (c.kind == CHOICE_SMOOTH)
        least = mpq_get_d(c.smooth.floor) * mpq_get_d(c.smooth.factor);
    if (s == OK)
        *out = ceil(c.error.p95 * least - 1e-9);
    choice_fini(&c);
    return s == E_TOO_LARGE ? OK : s;
}

static enum status all_within(struct prepared *p, const struct priced *counts,
                              struct str epsilon, double p95, bool *out,
                              struct err *err)
{
    *out = epsilon.p != NULL;
    for (size_t i = 0; *out && i < p->n_counts; i++) {
        double at;
        if (!counts[i].q->bound.l1_upper)
            continue; /* exact */
        TRY(p95_at(&counts[i], epsilon, &at, err));
        *out = at <= p95;
    }
    return epsilon.p ? OK : err_nomem(err);
}

enum status choose_epsilon_for(struct prepared *p, const struct priced *counts,
                               double p95, unsigned *out, struct err *err)
{
    unsigned low = 0, high = CHOOSE_EPSILONS;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        bool within;
        TRY(all_within(p, counts, choose_epsilon_text(&p->arena, middle), p95,
                       &within, err));
        if (within)
            high = middle;
        else
            low = middle + 1;
    }
    *out = low;
    return OK;
}

static enum status read_wish(struct prepared *p, struct err *err)
{
    struct str v = str_trim(p->session->opt.error);
    mpq_t q;
    p->wish.percent = v.n && v.p[v.n - 1] == '%';
    v.n -= p->wish.percent;
    mpq_init(q);
    enum status s = rat_read(v, "error", q, err);
    p->wish.value = s == OK ? mpq_get_d(q) : 0; /* display */
    mpq_clear(q);
    if (s != OK)
        err_hint(err, "Write a number such as 10, or a part of the count such "
                      "as 5%%.");
    TRY(s);
    if (p->wish.value <= 0)
        return err_set(err, E_VALUE, "error must be greater than zero");
    p->wish.given = true;
    return OK;
}

static enum status check_wish(struct prepared *p, const struct priced *counts,
                              struct err *err)
{
    if (p->epsilon.n || p->session->opt.rho.n)
        return err_set(err, E_USAGE, "give --error or a price, not both");
    if (p->schema.has_entities) {
        err_set(err, E_UNSUPPORTED,
                "--error is not offered where entities are protected");
        err_hint(err,
                 "How much noise there is depends on the threshold that is "
                 "elected: ask quote with --epsilon.");
        return E_UNSUPPORTED;
    }
    for (size_t i = 0; i < p->n_counts; i++)
        if (counts[i].q->half || tree_is_signed(counts[i].q->tree)) {
            err_set(err, E_UNSUPPORTED, "--error is not offered for averages");
            err_hint(err, "Ask quote with --epsilon.");
            return E_UNSUPPORTED;
        }
    for (size_t i = 0; i < p->n_counts; i++)
        p->wish.at_least |= counts[i].q->bound.l1_upper == U128_INF;
    if (p->wish.at_least && p->wish.percent) {
        err_set(err, E_UNSUPPORTED,
                "the noise of this question is measured on the data");
        err_hint(err,
                 "Ask with a number, as in --error 100, or for an epsilon.");
        return E_UNSUPPORTED;
    }
    return OK;
}

enum status choose_for_error(struct prepared *p, const struct priced *counts,
                             struct err *err)
{
    enum { USUAL_COUNT = 1000 };
    unsigned i;
    TRY(read_wish(p, err));
    TRY(check_wish(p, counts, err));
    double p95 =
        p->wish.percent ? p->wish.value / 100 * USUAL_COUNT : p->wish.value;
    TRY(choose_epsilon_for(p, counts, p95, &i, err));
    if (i == CHOOSE_EPSILONS)
        return err_set(err, E_VALUE, "no price gives so small an error");
    p->epsilon = choose_epsilon_text(&p->arena, i);
    return p->epsilon.p ? OK : err_nomem(err);
}
