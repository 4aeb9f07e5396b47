/*
 * What the analyst asks for: epsilon, delta, rho and their limits, and what
 * they mean in words.
 */
#include "release/choose.h"

/* More digits than this mean a mistake (or an attack on the samplers). */
enum { MAX_DIGITS = 20, MAX_DELTA_DIGITS = 60 };

void choice_init(struct choice *c)
{
    *c = (struct choice){0};
    guarantee_init(&c->total);
    price_init(&c->price);
    noise_init(&c->noise);
}

static void begin_kind(struct choice *c)
{
    struct choice_smooth *s = &c->smooth;
    switch (c->kind) {
    case CHOICE_SMOOTH:
        *s = (struct choice_smooth){.most = U128_INF};
        mpq_inits(s->beta, s->factor, s->floor, s->error_epsilon, NULL);
        mpq_set_ui(s->factor, 1, 1);
        break;
    case CHOICE_THRESHOLD:
        mpz_init(c->threshold);
        break;
    case CHOICE_ENTITY:
        c->entity = (struct choice_entity){.grouping = GROUPS_NONE};
        elect_init(&c->entity.election);
        mpz_init(c->entity.threshold);
        break;
    case CHOICE_GLOBAL:
    case CHOICE_EXACT:
        break;
    }
}

static void end_kind(struct choice *c)
{
    struct choice_smooth *s = &c->smooth;
    switch (c->kind) {
    case CHOICE_SMOOTH:
        mpq_clears(s->beta, s->factor, s->floor, s->error_epsilon, NULL);
        break;
    case CHOICE_THRESHOLD:
        mpz_clear(c->threshold);
        break;
    case CHOICE_ENTITY:
        elect_fini(&c->entity.election);
        mpz_clear(c->entity.threshold);
        break;
    case CHOICE_GLOBAL:
    case CHOICE_EXACT:
        break;
    }
}

void choice_become(struct choice *c, enum choice_kind kind)
{
    end_kind(c);
    noise_fini(&c->noise);
    noise_init(&c->noise);
    c->kind = kind;
    begin_kind(c);
}

bool choice_finds_keys(const struct choice *c)
{
    return c->kind == CHOICE_THRESHOLD ||
           (c->kind == CHOICE_ENTITY && c->entity.keys_found);
}

void choice_fini(struct choice *c)
{
    guarantee_fini(&c->total);
    price_fini(&c->price);
    noise_fini(&c->noise);
    end_kind(c);
}

const char *choice_mechanism(const struct choice *c)
{
    return c->kind == CHOICE_EXACT    ? "none"
           : c->kind == CHOICE_ENTITY ? "election"
                                      : noise_name(c->noise.kind);
}

static enum status positive(struct str text, const char *what, size_t digits,
                            mpq_t out, struct err *err)
{
    TRY(rat_read(text, what, out, err));
    if (mpq_sgn(out) <= 0)
        return err_set(err, E_VALUE, "%s must be greater than zero", what);
    if (mpz_sizeinbase(mpq_numref(out), 10) > digits ||
        mpz_sizeinbase(mpq_denref(out), 10) > digits + 1) {
        err_set(err, E_VALUE, "%s has too many digits", what);
        err_hint(err, "Write it with at most %zu digits.", digits);
        return E_VALUE;
    }
    return OK;
}

static enum status need_epsilon(struct err *err)
{
    err_set(err, E_USAGE, "no epsilon was given");
    err_hint(err, "Add --epsilon E (or --rho R): the price in privacy. 1 is "
                  "common, 0.1 is strict.");
    return E_USAGE;
}

enum status choose_guarantee(struct str epsilon, struct str delta,
                             struct str rho, struct guarantee *out,
                             struct err *err)
{
    if (!epsilon.p && !rho.p)
        return need_epsilon(err);
    if (epsilon.p && rho.p)
        return err_set(err, E_USAGE, "give --epsilon or --rho, not both");
    out->kind = PRIVACY_PURE;
    if (delta.n && !str_is(delta, "0")) {
        TRY(positive(delta, "delta", MAX_DELTA_DIGITS, out->delta, err));
        if (mpq_cmp_ui(out->delta, 1, 2) > 0)
            return err_set(err, E_VALUE, "delta must be at most one half");
        out->kind = PRIVACY_APPROX;
    }
    if (rho.p) {
        TRY(positive(rho, "rho", MAX_DIGITS, out->rho, err));
        out->kind = PRIVACY_ZCDP;
    } else {
        TRY(positive(epsilon, "epsilon", MAX_DIGITS, out->epsilon, err));
    }
    if (mpq_cmp_ui(out->epsilon, NOISE_EPSILON_MAX, 1) > 0 ||
        mpq_cmp_ui(out->rho, NOISE_EPSILON_MAX, 1) > 0)
        return err_set(err, E_VALUE,
                       "%s must be at most %d: more is no privacy at all",
                       rho.p ? "rho" : "epsilon", NOISE_EPSILON_MAX);
    return OK;
}
