/*
 * The choice of mechanism: see choose.h.
 *
 * The public rule: what keeps 95 % of the answers closer, as far as public
 * facts tell. Discrete Laplace noise on a global sensitivity GS keeps them
 * within 3 GS / epsilon. Smooth noise keeps them within c S with S between a
 * floor that the query alone decides (no data give less) and GS. With groups c
 * is larger, since a change of scale is paid in each of them, and so is the
 * floor. Nothing public says where S lies in between: any order of magnitude is
 * taken for as likely as any other, so that S is expected to be (GS - floor) /
 * ln(GS / floor). Smooth noise is taken when it is then smaller: a promise with
 * room should not make answers worse than none. A floor below 1 is one that
 * public tables decide, whose sizes are in GS already; it counts as 1, and
 * smooth noise must then be expected to be less than half as large. Doubles
 * appear in this comparison only: both outcomes are private.
 */
#include "release/choose.h"

#include "release/answer_table.h"

#include <math.h>

/* --- prices --------------------------------------------------------------- */

/* PRIVACY: the price is the guarantee of the whole release. Pure mechanisms
 * use no delta, so none is charged; a threshold uses all of it. */
static void set_price(struct choice *c)
{
    enum noise_kind k = c->noise.kind;
    bool uses_delta = k == NOISE_DISCRETE_GAUSSIAN ||
                      k == NOISE_ARSINH_NORMAL || choice_finds_keys(c);
    if (c->total.kind != PRIVACY_ZCDP) {
        mpq_set(c->price.epsilon, c->total.epsilon);
        if (uses_delta)
            mpq_set(c->price.delta, c->total.delta);
        return;
    }
    mpq_set(c->price.rho, c->total.rho);
}

void choose_price_for_sums(struct choice *c)
{
    if (!mpq_sgn(c->price.rho) || !mpq_sgn(c->total.delta))
        return;
    compose_rho_to_epsilon(c->price.rho, c->total.delta, c->price.epsilon);
    mpq_set(c->price.delta, c->total.delta);
    mpq_set_ui(c->price.rho, 0, 1);
    price_round(&c->price); /* up, to the digits of a price */
}

/* --- the global way ------------------------------------------------------- */

enum status choose_global(struct count *q, enum choice_kind as,
                          enum noise_kind kind, struct choice *c,
                          struct err *err)
{
    mpz_t l1, l2;
    choice_become(c, as);
    mpz_inits(l1, l2, NULL);
    mpz_set_u128(l1, q->bound.l1_upper);
    /* PRIVACY: a square beyond 128 bits is marked as infinite, which is no
     * number to calibrate by; the l2 norm is at most the l1 norm. */
    if (q->bound.l2_squared_upper == U128_INF)
        mpz_mul(l2, l1, l1);
    else
        mpz_set_u128(l2, q->bound.l2_squared_upper);
    enum status s =
        noise_calibrate_global(&c->total, kind, l1, l2, &c->noise, err);
    mpz_clears(l1, l2, NULL);
    if (s == OK)
        s = noise_error(&c->noise, &c->error, err);
    return s;
}

/* --- the smooth way ------------------------------------------------------- */

/* What was asked for. *given: a part of epsilon was named; error_epsilon stays
 * 0 where no estimate is wanted or offered. */
static enum status read_error_budget(struct count *q, struct choice *c,
                                     bool *given, bool *wanted, struct err *err)
{
    struct str v = q->p->session->opt.error_budget;
    *given = false;
    *wanted =
        !str_is(v, "none") && !str_is(v, "0") && c->total.kind != PRIVACY_ZCDP;
    if (!*wanted || !v.n)
        return OK;
    TRY(rat_read(v, "error-budget", c->smooth.error_epsilon, err));
    *given = true;
    if (mpq_sgn(c->smooth.error_epsilon) <= 0 ||
        mpq_cmp(c->smooth.error_epsilon, c->total.epsilon) >= 0) {
        err_set(err, E_VALUE,
                "the error budget must lie between 0 and epsilon");
        err_hint(err, "It is a part of epsilon, chosen by the query unless "
                      "given; \"none\" leaves the error estimate out.");
        return E_VALUE;
    }
    return OK;
}

/* What is left for the answers. PRIVACY: estimate and answers together cost
 * the total. */
static void answer_guarantee(const struct choice *c, struct guarantee *out)
{
    out->kind = c->total.kind == PRIVACY_ZCDP ? PRIVACY_ZCDP : PRIVACY_PURE;
    mpq_sub(out->epsilon, c->total.epsilon, c->smooth.error_epsilon);
    mpq_set(out->rho, c->total.rho);
}

static enum status degree(struct count *q, unsigned *out, struct err *err)
{
    struct arena *a = &q->p->arena;
    return q->tree ? sens_degree_parts(a, q->bound.parts, q->bound.n_parts, out,
                                       err)
                   : sens_degree(a, q->normal, U128_INF, out, err);
}

static enum status floor_at(struct count *q, mpq_srcptr beta, mpq_t out,
                            struct err *err)
{
    const struct schema *s = &q->p->schema;
    struct arena *a = &q->p->arena;
    struct sens_options opt = {.beta = beta,
                               .order = s->order,
                               .both_signs = q->query->n_group ||
                                             s->neighbours == CHANGE_ONE,
                               .global_upper = q->bound.upper};
    return q->tree ? sens_floor_parts(a, q->bound.parts, q->bound.n_parts, &opt,
                                      out, err)
                   : sens_floor(a, q->normal, beta, s->order, q->bound.upper,
                                out, err);
}

/* --- beta and the split of epsilon ---------------------------------------
 *
 * The estimate of ln S is off by a Laplace variable of scale beta over its own
 * epsilon. With a spread of 4/5 the middle is right within a factor of 3.6 in
 * nine of ten cases. So the estimate costs (5/4) beta: where one is bought, a
 * smaller beta than by noise_choose_beta is best, and both are chosen together,
 * by the degree alone: beta = e/7, e/5, e/4, e/4, e/3 of the answer's e. These
 * lie between what is best where S is a large degree of the data (0) and where
 * it is all growth (about twice as much). With G groups beta is divided by 2G -
 * 1, and the estimate is cheap.
 */

static const unsigned char parts_of_epsilon[] = {7, 5, 4, 4, 3};
enum { N_PARTS = sizeof parts_of_epsilon };

/* beta over the answer's epsilon. */
static void beta_share(const struct choice *c, mpq_t out)
{
    unsigned d = c->smooth.degree ? c->smooth.degree : 1;
    unsigned long m = parts_of_epsilon[(d < N_PARTS ? d : N_PARTS) - 1];
    mpq_set_ui(out, 1, m);
    if (c->n_groups > 1)
        mpz_mul_ui(mpq_denref(out), mpq_denref(out), 2 * c->n_groups - 1);
}

/* The share of epsilon that goes to the estimate: r / (r + 4/5), at least a
 * fiftieth, in thousandths. */
static void estimate_share(mpq_srcptr r, mpq_t out)
{
    mpq_t x;
    mpq_init(x);
    mpq_set_ui(x, 4, 5);
    mpq_add(x, x, r);
    mpq_div(out, r, x);
    mpz_mul_ui(mpq_numref(out), mpq_numref(out), 1000);
    mpz_cdiv_q(mpq_numref(out), mpq_numref(out), mpq_denref(out));
    if (mpz_cmp_ui(mpq_numref(out), 20) < 0)
        mpz_set_ui(mpq_numref(out), 20);
    mpz_set_ui(mpq_denref(out), 1000);
    mpq_canonicalize(out);
    mpq_clear(x);
}

/* Of a beta that was given: (5/4) beta, at most three tenths of epsilon. */
static void estimate_for_beta(struct choice *c)
{
    mpq_t most;
    mpq_init(most);
    mpq_set_ui(most, 5, 4);
    mpq_mul(c->smooth.error_epsilon, c->smooth.beta, most);
    mpq_set_ui(most, 3, 10);
    mpq_mul(most, most, c->total.epsilon);
    if (mpq_cmp(c->smooth.error_epsilon, most) > 0)
        mpq_set(c->smooth.error_epsilon, most);
    mpq_clear(most);
}

static enum status given_beta(struct count *q, struct choice *c,
                              struct err *err)
{
    TRY(rat_read(q->p->session->opt.beta, "beta", c->smooth.beta, err));
    return mpq_sgn(c->smooth.beta) > 0
               ? OK
               : err_set(err, E_VALUE, "beta must be greater than zero");
}

/* beta, error_epsilon and what is left for the answers. */
static enum status split_epsilon(struct count *q, struct choice *c,
                                 struct guarantee *g, struct err *err)
{
    bool given, wanted, has_beta = q->p->session->opt.beta.n;
    mpq_t r;
    TRY(degree(q, &c->smooth.degree, err));
    TRY(read_error_budget(q, c, &given, &wanted, err));
    if (has_beta)
        TRY(given_beta(q, c, err));
    mpq_init(r);
    beta_share(c, r);
    if (wanted && !given && has_beta) {
        estimate_for_beta(c);
    } else if (wanted && !given) {
        estimate_share(r, c->smooth.error_epsilon);
        mpq_mul(c->smooth.error_epsilon, c->smooth.error_epsilon,
                c->total.epsilon);
    }
    answer_guarantee(c, g);
    unsigned least = c->smooth.degree ? c->smooth.degree : 1;
    if (!has_beta && wanted && !given)
        mpq_mul(c->smooth.beta, r, g->epsilon);
    else if (!has_beta && c->n_groups)
        noise_choose_beta_groups(g, least, c->n_groups, c->smooth.beta);
    else if (!has_beta)
        noise_choose_beta(g, least, c->smooth.beta);
    mpq_clear(r);
    return OK;
}

static enum status smooth(struct count *q, enum noise_kind kind,
                          struct choice *c, struct guarantee *g,
                          struct err *err)
{
    choice_become(c, CHOICE_SMOOTH);
    TRY(split_epsilon(q, c, g, err));
    c->smooth.most = q->bound.upper;
    /* a public choice too: epsilon and beta decide it */
    if (!q->p->session->opt.mechanism.n && kind == NOISE_SMOOTH_LAPLACE &&
        !c->n_groups)
        kind = noise_best_smooth(g, c->smooth.beta);
    if (c->n_groups && kind == NOISE_SMOOTH_LAPLACE)
        TRY(noise_calibrate_smooth_groups(g, c->n_groups, c->smooth.beta,
                                          &c->noise, err));
    else if (c->n_groups)
        return err_set(err, E_UNSUPPORTED, "%s noise is not offered for groups",
                       noise_name(kind));
    else
        TRY(noise_calibrate_smooth(g, kind, c->smooth.beta, &c->noise, err));
    TRY(noise_error(&c->noise, &c->error, err));
    /* a row that is substituted leaves one group and enters another: twice S
     * bounds the sum of both changes */
    if (c->n_groups && q->p->schema.neighbours == CHANGE_ONE)
        mpq_set_ui(c->smooth.factor, 2, 1);
    return floor_at(q, c->smooth.beta, c->smooth.floor, err);
}

static enum status use_smooth(struct count *q, enum noise_kind kind,
                              struct choice *c, struct err *err)
{
    struct guarantee g;
    guarantee_init(&g);
    enum status s = smooth(q, kind, c, &g, err);
    guarantee_fini(&g);
    return s;
}

static enum noise_kind smooth_kind(const struct choice *c)
{
    if (c->total.kind == PRIVACY_ZCDP && !c->n_groups)
        return NOISE_ARSINH_NORMAL;
    return NOISE_SMOOTH_LAPLACE;
}

enum status choose_smooth(struct count *q, struct choice *c, struct err *err)
{
    return use_smooth(q, smooth_kind(c), c, err);
}

/* --- the rule ------------------------------------------------------------- */

static bool is_smooth_kind(enum noise_kind k)
{
    return k != NOISE_DISCRETE_LAPLACE && k != NOISE_DISCRETE_GAUSSIAN;
}

static enum noise_kind global_kind(const struct choice *c)
{
    return c->total.kind == PRIVACY_ZCDP ? NOISE_DISCRETE_GAUSSIAN
                                         : NOISE_DISCRETE_LAPLACE;
}

static enum status by_bound(struct count *q, struct choice *c, struct err *err)
{
    return choose_global(q, CHOICE_GLOBAL, global_kind(c), c, err);
}

/* Of a number between these, each order of magnitude as likely as another. */
static double expected_between(double low, double high)
{
    return high > low * 1.000001 ? (high - low) / log(high / low) : low;
}

/* GS is finite: compare as the head of the file says. */
static enum status compare(struct count *q, struct choice *c, struct err *err)
{
    char gs[U128_DIGITS];
    struct str units = str_of(u128_text(q->bound.upper, gs));
    struct str shown = answer_decimal(&q->p->arena, units, q->scale);
    if (!shown.p)
        return err_nomem(err);
    const char *gs_text = arena_strdup(&q->p->arena, shown.p, shown.n);
    const char *what = q->is_sum ? "sum" : "count";
    if (!gs_text)
        return err_nomem(err);
    TRY(by_bound(q, c, err));
    double fixed = c->error.p95, global = (double)q->bound.upper;
    struct err why;
    bool ok = use_smooth(q, smooth_kind(c), c, &why) == OK;
    double least = mpq_get_d(c->smooth.floor),
           factor = mpq_get_d(c->smooth.factor);
    double expected =
        c->error.p95 * factor * expected_between(fmax(least, 1), global);
    if (ok && expected * (least >= 1 ? 1 : 2) < fixed) {
        c->reason = str_printf(
            &q->p->arena,
            "The global sensitivity %s is large; the smooth one, measured on "
            "the data in secret, lies between %.3g and %s.",
            gs_text, least * factor * pow(10, -(double)q->scale), gs_text);
        return OK;
    }
    TRY(by_bound(q, c, err));
    uint32_t rows = q->p->schema.order;
    struct str who = rows > 1 ? str_printf(&q->p->arena, "%u rows change", rows)
                              : STR("One row changes");
    c->reason = str_printf(
        &q->p->arena,
        "%.*s the %s by at most %s, whatever the data; noise measured on "
        "the data would hardly be smaller.",
        PSTR(who), what, gs_text);
    return OK;
}

/* What was declared and is not used is told with the choice it weighs on. */
static void tell_left_out(struct prepared *p, struct choice *c)
{
    if (p->left_out.n && c->reason.p)
        c->reason = str_printf(
            &p->arena,
            "%.*s Not used, since the database does not enforce it and no "
            "seal has checked it: %.*s.",
            PSTR(c->reason), PSTR(p->left_out));
}

enum status choose_without_data(struct count *q, struct choice *c,
                                struct err *err)
{
    char gs[U128_DIGITS];
    TRY(by_bound(q, c, err));
    c->reason = str_printf(
        &q->p->arena,
        "The global sensitivity is %s; measuring the noise on the data could "
        "take more work than the owner admits.",
        u128_text(q->bound.upper, gs));
    tell_left_out(q->p, c);
    return c->reason.p ? OK : err_nomem(err);
}

enum status choose_unbounded(struct count *q, const char *why, struct err *err)
{
    err_set(err, E_UNBOUNDED,
            "one row of a private table can change this count without limit");
    err_detail(err, "%s", why);
    if (prepare_advice(q, NULL) == OK && q->bound.n_advice)
        err_hint(err, "Declare a bound if one holds, for example: %.*s.",
                 PSTR(q->bound.advice[0].constraint));
    return E_UNBOUNDED;
}

static enum status by_rule(struct count *q, struct choice *c, struct err *err)
{
    struct err why;
    if (q->bound.l1_upper != U128_INF)
        return compare(q, c, err);
    enum status s = use_smooth(q, smooth_kind(c), c, &why);
    if (s == E_UNSUPPORTED)
        return choose_unbounded(q, why.message, err);
    if (s != OK && err)
        *err = why;
    if (s == E_TOO_LARGE)
        err_detail(err, "Nothing declared limits what one row can change, so "
                        "the noise would have to be measured on the data.");
    c->reason = STR("No bound on the data limits what one row can do, so the "
                    "noise is measured on the data, in secret.");
    return s;
}

static enum status by_name(struct count *q, struct choice *c, struct err *err)
{
    struct str name = q->p->session->opt.mechanism;
    enum noise_kind kind;
    if (!noise_find(name, &kind)) {
        err_set(err, E_VALUE, "there is no mechanism \"%.*s\"", PSTR(name));
        err_hint(err, "Choose discrete-laplace, discrete-gaussian, "
                      "smooth-laplace, generalized-cauchy or arsinh-normal.");
        return E_VALUE;
    }
    c->reason = STR("It was asked for.");
    if (is_smooth_kind(kind))
        return use_smooth(q, kind, c, err);
    if (q->bound.l1_upper == U128_INF)
        return choose_unbounded(q, "", err);
    return choose_global(q, CHOICE_GLOBAL, kind, c, err);
}

/* The price was found for this noise. */
static enum status by_error(struct count *q, struct choice *c, struct err *err)
{
    c->reason = STR("The price was chosen for the error that was asked for.");
    return by_bound(q, c, err);
}

/* PRIVACY: the two numbers of an AVG cost together what one does. */
static void halve(struct guarantee *g)
{
    mpq_div_2exp(g->epsilon, g->epsilon, 1);
    mpq_div_2exp(g->delta, g->delta, 1);
    mpq_div_2exp(g->rho, g->rho, 1);
}

enum status choose(struct count *q, const struct group_keys *k,
                   struct choice *c, struct err *err)
{
    TRY(choose_guarantee(q->p->epsilon, q->p->delta, q->p->session->opt.rho,
                         &c->total, err));
    if (q->half)
        halve(&c->total);
    c->n_groups = k->found ? 0 : k->n;
    c->is_signed = tree_is_signed(q->tree);
    c->scale = q->scale;
    bool entity = q->p->schema.has_entities;
    bool exact = (entity ? q->entity.l1_upper : q->bound.l1_upper) == 0;
    if (exact)
        choice_become(c, CHOICE_EXACT);
    if (exact)
        c->reason = STR("No private row can change this count.");
    else if (entity)
        TRY(choose_entity(q, k, c, err));
    else if (k->found)
        TRY(choose_threshold(q, c, err));
    else if (q->p->session->opt.mechanism.n)
        TRY(by_name(q, c, err));
    else if (q->p->wish.given && !q->p->wish.at_least)
        TRY(by_error(q, c, err));
    else
        TRY(by_rule(q, c, err));
    if (!exact)
        set_price(c);
    c->price.half = q->half;
    choose_guarantee_text(q, c);
    if (!exact)
        tell_left_out(q->p, c);
    return c->reason.p && c->guarantee.p ? OK : err_nomem(err);
}

enum status choose_all(struct prepared *p, struct priced **out, struct err *err)
{
    struct priced *c = NEWS(&p->arena, struct priced, p->n_counts);
    *out = c;
    if (!c)
        return err_nomem(err);
    for (size_t i = 0; i < p->n_counts; i++) {
        c[i].q = &p->counts[i];
        choice_init(&c[i].choice);
    }
    for (size_t i = 0; i < p->n_counts; i++)
        TRY(group_keys(c[i].q, &c[i].keys, err));
    if (p->session->opt.error.n)
        TRY(choose_for_error(p, c, err));
    for (size_t i = 0; i < p->n_counts; i++)
        TRY(choose(c[i].q, &c[i].keys, &c[i].choice, err));
    return choose_pairs(p, c, err);
}

void priced_fini(struct prepared *p, struct priced *counts)
{
    for (size_t i = 0; counts && i < p->n_counts; i++)
        choice_fini(&counts[i].choice);
}
