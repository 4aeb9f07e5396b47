/*
 * GROUP BY over keys that are found in private rows: (epsilon, delta)
 * thresholding. Each key that occurs gets discrete Laplace noise on its
 * count, and is shown if the noisy count reaches a public threshold. See
 * PROOF.md for why, src/noise/threshold.c for the number.
 *
 * PRIVACY: everything here is fixed before a row is read. Only a bound that
 * holds for all data will do: with a sensitivity measured on the data, that a
 * key is shown would tell the measurement.
 */
#include "num/mpz_text.h"
#include "release/choose.h"

static enum status check_asked(struct count *q, const struct choice *c,
                               struct err *err)
{
    struct str name = q->p->session->opt.mechanism;
    enum noise_kind kind = NOISE_DISCRETE_LAPLACE;
    if (c->total.kind == PRIVACY_ZCDP) {
        err_set(err, E_UNSUPPORTED,
                "keys from private rows are not offered under zCDP");
        err_hint(err, "Ask with --epsilon and --delta in place of --rho.");
        return E_UNSUPPORTED;
    }
    if (name.n &&
        (!noise_find(name, &kind) || kind != NOISE_DISCRETE_LAPLACE)) {
        err_set(err, E_UNSUPPORTED,
                "%.*s noise is not offered for keys from private rows",
                PSTR(name));
        err_hint(err, "Leave out --mechanism: they get discrete-laplace; or "
                      "name the keys with --groups.");
        return E_UNSUPPORTED;
    }
    return OK;
}

/* How many keys can come or go with one row (or `order` rows): what the
 * number of distinct keys can change by. */
static enum status most_keys(struct count *q, u128 *out, struct err *err)
{
    struct cq keys = *q->query;
    struct bound_options opt = {0};
    struct bound b = {0};
    keys.n_outs = keys.n_group;
    keys.n_group = 0;
    TRY(bound_analyze(&q->p->arena, &keys, &opt, &b, err));
    *out = b.upper < q->bound.upper ? b.upper : q->bound.upper;
    *out = *out ? *out : 1;
    return OK;
}

static enum status threshold(struct count *q, struct choice *c, struct err *err)
{
    mpz_t mass, keys;
    u128 most;
    TRY(most_keys(q, &most, err));
    mpz_inits(mass, keys, NULL);
    mpz_set_u128(mass, q->bound.upper);
    mpz_set_u128(keys, most);
    enum status s = noise_threshold(&c->noise, mass, keys, c->total.delta,
                                    c->threshold, err);
    mpz_clears(mass, keys, NULL);
    return s;
}

static enum status refuse_tree(struct err *err)
{
    err_set(err, E_UNSUPPORTED,
            "keys from private rows are offered for conjunctive queries only");
    err_detail(err, "With negation, OR or unions one row can make keys come "
                    "and go at once.");
    err_hint(err, "Name the keys with --groups, or join a public table that "
                  "lists them.");
    return E_UNSUPPORTED;
}

enum status choose_threshold(struct count *q, struct choice *c, struct err *err)
{
    TRY(check_asked(q, c, err));
    /* PRIVACY: with negation a row can make keys come and go at once, which
     * the threshold does not reckon with. */
    if (q->tree)
        return refuse_tree(err);
    if (q->bound.l1_upper == U128_INF)
        return choose_unbounded(
            q,
            "Keys from private rows need a bound that holds whatever the data.",
            err);
    TRY(choose_global(q, CHOICE_THRESHOLD, NOISE_DISCRETE_LAPLACE, c, err));
    TRY(threshold(q, c, err));
    struct str text = mpz_text(&q->p->arena, c->threshold);
    if (!text.p)
        return err_nomem(err);
    c->reason = str_printf(
        &q->p->arena,
        "The keys are found in private rows: those whose noisy count is at "
        "least %s are shown; the others, and their number, stay hidden.",
        text.p);
    return OK;
}
