/*
 * The choice where an entity is protected with all its rows: a static bound,
 * where promises make it small, or an election of how much one entity may
 * contribute (noise/elect.h).
 *
 * The public rule: a static bound of up to STATIC_MOST is taken, since noise
 * for it is smaller than what an election costs; else a threshold is elected.
 * An election relies on no promise; a bound only shortens its grid.
 */
#include "release/choose.h"

#include "entity/pack.h"

enum { STATIC_MOST = 16, QUOTED = 20 };

static enum status no_groups(struct err *err)
{
    err_set(err, E_UNSUPPORTED,
            "GROUP BY is not answered yet where entities are protected");
    err_hint(err, "Ask for each key with a WHERE of its own.");
    return E_UNSUPPORTED;
}

/* --- the static way ------------------------------------------------------- */

static enum status use_static(struct count *q, enum noise_kind kind,
                              struct choice *c, struct err *err)
{
    mpz_t l1, l2;
    mpz_inits(l1, l2, NULL);
    mpz_set_u128(l1, q->entity.l1_upper);
    mpz_mul(l2, l1, l1);
    enum status st =
        noise_calibrate_global(&c->total, kind, l1, l2, &c->noise, err);
    mpz_clears(l1, l2, NULL);
    return st == OK ? noise_error(&c->noise, &c->error, err) : st;
}

static enum noise_kind static_kind(const struct choice *c)
{
    return c->total.kind == PRIVACY_ZCDP ? NOISE_DISCRETE_GAUSSIAN
                                         : NOISE_DISCRETE_LAPLACE;
}

/* --- election ------------------------------------------------------------- */

/* The share of the price for what was cut: a tenth, or --error-budget. */
static enum status lost_share(struct count *q, const struct choice *c,
                              mpq_t out, struct err *err)
{
    struct str v = q->p->session->opt.error_budget;
    bool rho = c->total.kind == PRIVACY_ZCDP;
    mpq_set_ui(out, v.n ? 0 : 1, 10);
    if (!v.n || str_is(v, "none") || str_is(v, "0"))
        return OK;
    TRY(rat_read(v, "error-budget", out, err));
    mpq_div(out, out, rho ? c->total.rho : c->total.epsilon);
    if (mpq_sgn(out) <= 0 || mpq_cmp_ui(out, 1, 1) >= 0)
        return err_set(err, E_VALUE,
                       "the error budget must lie between 0 and %s",
                       rho ? "rho" : "epsilon");
    return OK;
}

/* PRIVACY: a guess comes from people; nothing here has seen a row. */
static enum status read_guess(struct count *q, u128 *out, struct err *err)
{
    struct str v = q->p->session->opt.guess;
    *out = 0;
    if (!v.n)
        return OK;
    if (!u128_read(v.p, v.n, out) || *out == 0) {
        err_set(err, E_VALUE, "the guess must be a whole number from 1 on");
        err_hint(err, "It says how many results one entity has at most, about; "
                      "too small a guess does no harm.");
        return E_VALUE;
    }
    return OK;
}

static enum status plan(struct count *q, struct choice *c, mpq_srcptr lost,
                        struct err *err)
{
    const struct schema *s = &q->p->schema;
    struct elect_question e = {
        .owners = q->owners.k,
        .exact = pack_exact(q->owners.k, !q->owners.determined),
        .bound = q->entity.upper,
        .order = s->order,
        .change = s->neighbours == CHANGE_ENTITY,
        .lost = mpq_sgn(lost) ? lost : NULL,
    };
    TRY(read_guess(q, &e.guess, err));
    TRY(elect_plan(&c->total, &e, &c->election, err));
    c->elected = true;
    return OK;
}

/* The error in units of the threshold, for a quote: at a large one, where
 * rounding does not show. */
static enum status quote_units(struct choice *c, struct err *err)
{
    unsigned j = 0;
    while (j + 1 < c->election.n && c->election.grid[j] >> QUOTED == 0)
        j++;
    TRY(elect_error(&c->election, j, false, &c->error, err));
    double t = (double)c->election.grid[j]; /* display */
    c->error.std /= t;
    c->error.p50 /= t;
    c->error.p90 /= t;
    c->error.p95 /= t;
    c->error.p99 /= t;
    return OK;
}

static enum status use_election(struct count *q, struct choice *c,
                                struct err *err)
{
    mpq_t lost;
    mpq_init(lost);
    enum status st = lost_share(q, c, lost, err);
    if (st == OK)
        st = plan(q, c, lost, err);
    if (st == OK)
        st = quote_units(c, err);
    mpq_clear(lost);
    return st;
}

/* --- the rule ------------------------------------------------------------- */

static enum status by_name(struct count *q, struct choice *c, struct err *err)
{
    struct str name = q->p->session->opt.mechanism;
    enum noise_kind kind;
    c->reason = STR("It was asked for.");
    if (str_is(name, "election"))
        return use_election(q, c, err);
    if (!noise_find(name, &kind) ||
        (kind != NOISE_DISCRETE_LAPLACE && kind != NOISE_DISCRETE_GAUSSIAN)) {
        err_set(err, E_VALUE, "there is no mechanism \"%.*s\" for entities",
                PSTR(name));
        err_hint(err, "Choose election, discrete-laplace or "
                      "discrete-gaussian.");
        return E_VALUE;
    }
    if (q->entity.l1_upper == U128_INF) {
        err_set(err, E_UNBOUNDED,
                "one entity can change this count without limit");
        err_hint(err, "Use election, or declare how many rows one entity has "
                      "at most.");
        return E_UNBOUNDED;
    }
    return use_static(q, kind, c, err);
}

static enum status by_rule(struct count *q, struct choice *c, struct err *err)
{
    char text[U128_DIGITS];
    if (q->entity.l1_upper <= STATIC_MOST) {
        c->reason =
            str_printf(&q->p->arena,
                       "One entity changes the count by at most %s, by what "
                       "is declared.",
                       u128_text(q->entity.l1_upper, text));
        return use_static(q, static_kind(c), c, err);
    }
    c->reason = STR("How much one entity may contribute is elected privately; "
                    "what it has beyond that is cut, and the noise is for "
                    "that much.");
    return use_election(q, c, err);
}

enum status choose_entity(struct count *q, const struct group_keys *k,
                          struct choice *c, struct err *err)
{
    if (q->query->n_group || k->found)
        return no_groups(err);
    if (q->p->session->opt.mechanism.n)
        return by_name(q, c, err);
    return by_rule(q, c, err);
}
