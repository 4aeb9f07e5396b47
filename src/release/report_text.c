/*
 * What releases and quotes say to people: error, guarantee, price, mechanism,
 * budget, a line each. PRIVACY: these functions get public facts and the
 * answer, no secrets.
 */
#include <math.h>

#include "num/rat.h"
#include "release/answer.h"
#include "release/counts.h"
#include "release/release.h"

/* What one unit of a count's numbers stands for. */
double answer_unit(const struct count *q)
{
    return pow(10, -(double)q->scale);
}

void answer_text_price(struct sb *b, const struct price *p)
{
    if (mpq_sgn(p->rho)) {
        sb_cstr(b, "rho ");
        text_rat(b, p->rho, true);
        return;
    }
    sb_cstr(b, "epsilon ");
    text_rat(b, p->epsilon, true);
    sb_cstr(b, ", delta ");
    text_rat(b, p->delta, true);
}

/* Why, only with --explain; what a reader must know of the answer stands in
 * lines of its own. */
static void text_mechanism(struct sb *b, const struct count *q,
                           const struct choice *c)
{
    sb_printf(b, "mechanism   %s%s", choice_mechanism(c),
              c->kind == CHOICE_ENTITY   ? ""
              : c->kind == CHOICE_SMOOTH ? " on the residual sensitivity"
                                         : " on the global sensitivity");
    if (q->p->session->opt.explain)
        sb_printf(b, ". %.*s", PSTR(c->reason));
    sb_char(b, '\n');
    if (c->kind == CHOICE_THRESHOLD) {
        sb_cstr(b, "keys        those with a noisy count of at least ");
        rat_print_mpz(b, c->threshold);
        sb_cstr(b, " are shown; the others stay hidden\n");
    }
    if (q->p->left_out.n)
        sb_printf(b,
                  "not used    declared, but not enforced by the database: "
                  "%.*s\n",
                  PSTR(q->p->left_out));
}

void answer_text_public(struct sb *b, const struct count *q,
                        const struct choice *c)
{
    sb_printf(b, "guarantee   %.*s\n", PSTR(c->guarantee));
    if (c->kind == CHOICE_EXACT)
        return;
    sb_cstr(b, "price       ");
    answer_text_price(b, &c->price);
    sb_char(b, '\n');
    text_mechanism(b, q, c);
}

/* Digits behind the point that an error of a sum is told with. */
static int digits_of(const struct count *q)
{
    return (int)q->scale;
}

static void text_within(struct sb *b, const struct count *q,
                        const struct choice *c, const struct answer *x)
{
    const char *about = x->released ? "about " : "";
    sb_printf(b, "error       half of all answers lie within %s", about);
    text_number(b, x->p50 * answer_unit(q), digits_of(q));
    sb_printf(b, " of the %s%s, 95 %% within %s",
              c->kind == CHOICE_ENTITY ? "truncated " : "",
              q->is_sum ? "sum" : "count", about);
    text_number(b, x->p95 * answer_unit(q), digits_of(q));
    sb_cstr(b, x->thresholds.n > 1 ? " or less\n" : "\n");
}

void answer_text_error(struct sb *b, const struct count *q,
                       const struct choice *c, const struct answer *x)
{
    if (c->kind == CHOICE_EXACT)
        sb_cstr(b, "error       none\n");
    else if (!x->has_error && c->kind == CHOICE_ENTITY)
        return; /* no group is shown */
    else if (!x->has_error)
        sb_cstr(b, "error       not known: the scale of the noise is secret "
                   "(--error-budget buys an estimate)\n");
    else
        text_within(b, q, c, x);
    if (c->kind == CHOICE_EXACT || !x->has_error || !x->released)
        return;
    sb_cstr(b, "            (estimated from the data, as part of the price; in "
               "19 of 20 cases the 95 % lie within ");
    text_number(b, x->at_most_p95 * answer_unit(q), digits_of(q));
    sb_cstr(b, ")\n");
}

static void text_spent(struct sb *b, const char *what, mpq_srcptr spent,
                       mpq_srcptr total)
{
    mpq_t left;
    mpq_init(left);
    mpq_sub(left, total, spent);
    sb_printf(b, "%s ", what);
    text_rat(b, spent, true);
    sb_cstr(b, " of ");
    text_rat(b, total, false);
    sb_cstr(b, ", ");
    text_rat(b, left, false);
    sb_cstr(b, " remains");
    mpq_clear(left);
}

void answer_text_budget(struct sb *b, const struct budget_view *v)
{
    const struct ledger_balance *x = &v->balance;
    if (!v->known)
        return;
    text_spent(b, "budget      spent epsilon", x->epsilon_spent,
               x->epsilon_total);
    if (mpq_sgn(x->delta_total))
        text_spent(b, "; delta", x->delta_spent, x->delta_total);
    sb_char(b, '\n');
}
