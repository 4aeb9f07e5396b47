/*
 * What is public about an election: the grid of thresholds, the shares of the
 * price, the prior, the noise for each threshold.
 *
 * PRIVACY: the constants influence accuracy only. Scores of neighbours differ
 * by a range of one (two, where an entity is changed and a result may belong to
 * several, or entities to entities), so that a weight e1
 * costs e1 (2 e1), or e1^2/8 (e1^2/2) of rho (PROOF.md, claims 12 and 13).
 */
#include "noise/elect.h"

#include "noise/calibrate.h"

struct share {
    unsigned long num, den;
};
/* Of the price without the share for what was cut. */
static const struct elect_constants {
    bool thirds;         /* the grid holds 3 * 2^i, too */
    struct share elect;  /* of epsilon, for the election */
    struct share lambda; /* the prior falls by exp(-lambda) a step */
    unsigned first;      /* smallest threshold */
} constants[2] = {
    {true, {1, 4}, {9, 10}, 1}, /* one owner */
    {false, {2, 5}, {9, 5}, 2}, /* several */
};
static const struct share elect_rho = {1, 16};
enum { CAP_SLACK = 20 };

static const struct elect_constants *constants_of(const struct election *e)
{
    return &constants[e->q.owners > 1];
}

void elect_init(struct election *e)
{
    *e = (struct election){0};
    mpq_inits(e->e1, e->lambda, e->cap, NULL);
    guarantee_init(&e->answer);
    guarantee_init(&e->lost);
}

void elect_fini(struct election *e)
{
    mpq_clears(e->e1, e->lambda, e->cap, NULL);
    guarantee_fini(&e->answer);
    guarantee_fini(&e->lost);
}

/* 1, 2, 3, 4, 6, 8, ... or 2, 4, 8, ... up to the first value that is at
 * least the bound, and never beyond 2^62. */
static void fill_grid(struct election *e)
{
    const struct elect_constants *c = constants_of(e);
    u128 bound = e->q.bound < 2 ? 2 : e->q.bound;
    e->n = 0;
    for (uint64_t t = c->first; t <= (uint64_t)1 << ELECT_TOP_BITS; t *= 2) {
        e->grid[e->n++] = t;
        if (t >= bound)
            return;
        if (c->thirds && t >= 2 && t < (uint64_t)1 << ELECT_TOP_BITS) {
            e->grid[e->n++] = t / 2 * 3;
            if (t / 2 * 3 >= bound)
                return;
        }
    }
}

/* The largest grid value that is not above the guess. */
static unsigned place_of(const struct election *e, u128 guess)
{
    unsigned j = 0;
    while (j + 1 < e->n && e->grid[j + 1] <= guess)
        j++;
    return j;
}

static void multiply(mpq_t v, unsigned long num, unsigned long den)
{
    mpq_t f;
    mpq_init(f);
    mpq_set_ui(f, num, den);
    mpq_canonicalize(f);
    mpq_mul(v, v, f);
    mpq_clear(f);
}

/* The price for one entity of difference: group privacy divides epsilon by
 * the order, rho by its square. */
static mpq_ptr price_of(struct guarantee *g)
{
    return g->kind == PRIVACY_ZCDP ? g->rho : g->epsilon;
}

static void divide_price(const struct guarantee *g, unsigned long order,
                         mpq_t out)
{
    bool rho = g->kind == PRIVACY_ZCDP;
    mpq_set(out, rho ? g->rho : g->epsilon);
    multiply(out, 1, order);
    if (rho)
        multiply(out, 1, order);
}

/* PRIVACY: with one owner an entity that is changed has more results before or
 * after, so that no score rises where another one falls (claim 13). */
static bool range_is_two(const struct election *e)
{
    return e->q.change && (e->q.owners > 1 || e->q.nested);
}

/* e1 such that the election costs exactly `price`, or a little less where a
 * root is rounded down. */
static void weigh(struct election *e, mpq_srcptr price)
{
    struct guarantee g;
    if (!e->concentrated) {
        mpq_set(e->e1, price);
        if (range_is_two(e))
            multiply(e->e1, 1, 2);
        return;
    }
    guarantee_init(&g);
    g.kind = PRIVACY_ZCDP;
    mpq_set(g.rho, price); /* e1 = sqrt(8 rho), or sqrt(2 rho) */
    if (!range_is_two(e))
        multiply(g.rho, 4, 1);
    pure_epsilon(&g, e->e1);
    guarantee_fini(&g);
}

static void split(const struct guarantee *g, struct election *e)
{
    mpq_t all, part;
    mpq_inits(all, part, NULL);
    struct share s = e->concentrated ? elect_rho : constants_of(e)->elect;
    enum privacy_kind kind = e->concentrated ? PRIVACY_ZCDP : PRIVACY_PURE;
    e->answer.kind = e->lost.kind = kind;
    divide_price(g, e->q.order, all);
    if (e->q.lost) {
        mpq_mul(price_of(&e->lost), all, e->q.lost);
        mpq_sub(all, all, price_of(&e->lost));
    }
    mpq_set(part, all);
    multiply(part, s.num, s.den);
    weigh(e, part);
    mpq_sub(price_of(&e->answer), all, part);
    mpq_clears(all, part, NULL);
}

/* lambda n + 20, in units of the weight: what is further down is elected
 * with a probability that does not matter. */
static void set_cap(struct election *e)
{
    mpq_t slack;
    mpq_init(slack);
    mpq_set(e->cap, e->lambda);
    multiply(e->cap, e->n, 1);
    mpq_set_ui(slack, CAP_SLACK, 1);
    mpq_add(e->cap, e->cap, slack);
    mpq_div(e->cap, e->cap, e->e1);
    mpq_clear(slack);
}

enum status elect_plan(const struct guarantee *g,
                       const struct elect_question *q, struct election *out,
                       struct err *err)
{
    TRY(noise_check_guarantee(g, err));
    if (q->owners == 0 || q->order == 0 || (q->owners == 1 && !q->exact) ||
        (q->lost &&
         (mpq_sgn(q->lost) <= 0 || mpq_cmp_ui(q->lost, 1, 1) >= 0)) ||
        (q->vector && q->owners > 1))
        return err_internal(err, "elect_plan");
    out->q = *q;
    out->concentrated = g->kind == PRIVACY_ZCDP;
    fill_grid(out);
    out->flat = q->guess ? place_of(out, q->guess) : 0;
    const struct share *l = &constants_of(out)->lambda;
    mpq_set_ui(out->lambda, l->num, l->den);
    split(g, out);
    out->q.lost = NULL;
    if (q->owners > 1)
        set_cap(out);
    return OK;
}

/* (5T/2), with inexact values (5T/2)(1 + 2/64). */
void elect_divisor(const struct election *e, unsigned j, mpq_t out)
{
    mpz_set_ui(mpq_numref(out), e->grid[j]);
    mpz_set_ui(mpq_denref(out), 1);
    multiply(out, 5, 2);
    if (!e->q.exact)
        multiply(out, ELECT_ETA + 2, ELECT_ETA);
}

unsigned elect_lattice(const struct election *e)
{
    return e->q.exact ? 1 : ELECT_ETA;
}

/* Noise for whole numbers that differ by `times` T; squares differ by
 * `squares` T^2. */
static enum status noise_for(const struct guarantee *g, uint64_t t,
                             unsigned long times, unsigned long squares,
                             struct noise *out, struct err *err)
{
    mpz_t l1, l2;
    mpz_init_set_ui(l1, t);
    mpz_init_set_ui(l2, t);
    mpz_mul(l2, l2, l1);
    mpz_mul_ui(l2, l2, squares);
    mpz_mul_ui(l1, l1, times);
    enum noise_kind kind = g->kind == PRIVACY_ZCDP ? NOISE_DISCRETE_GAUSSIAN
                                                   : NOISE_DISCRETE_LAPLACE;
    enum status st = noise_calibrate_global(g, kind, l1, l2, out, err);
    mpz_clears(l1, l2, NULL);
    return st;
}

/* PRIVACY: T; 64 T (1 + 1/64) on the lattice; of vectors, 2 T where an entity
 * is changed, and 2 T^2 for the square; twice as much where an entity may have
 * a part of another one's results (claim 14). */
enum status elect_noise(const struct election *e, unsigned j, struct noise *out,
                        struct err *err)
{
    unsigned long times = e->q.exact ? 1 : ELECT_ETA + 1;
    unsigned long ways =
        e->q.vector ? (e->q.change ? 2UL : 1UL) * (e->q.nested ? 2 : 1) : 1;
    return noise_for(&e->answer, e->grid[j], ways * times, ways * times * times,
                     out, err);
}

/* PRIVACY: claim 16. Of a vector, keys that vanish have T in all, 2 T where two
 * entities that have parts of others' results are exchanged; `order` entities
 * as often. Elected each for itself, an entity has one key, with T at most,
 * and the keys of `order` entities share delta. */
enum status elect_key_threshold(const struct election *e, unsigned j,
                                mpq_srcptr delta, mpz_t out, struct err *err)
{
    struct noise n;
    mpz_t mass, keys;
    mpq_t share;
    mpz_init_set_ui(mass, e->grid[j]);
    mpz_mul_ui(mass, mass, e->q.order);
    mpz_init_set_ui(keys, 1);
    mpq_init(share);
    mpq_set(share, delta);
    noise_init(&n);
    if (e->q.vector) {
        mpz_mul_ui(mass, mass, e->q.nested && e->q.change ? 2 : 1);
        mpz_set(keys, mass);
    } else {
        multiply(share, 1, e->q.order);
    }
    enum status st = e->q.owners == 1 && !e->concentrated
                         ? elect_noise(e, j, &n, err)
                         : err_internal(err, "elect_key_threshold");
    if (st == OK)
        st = noise_threshold(&n, mass, keys, share, out, err);
    noise_fini(&n);
    mpq_clear(share);
    mpz_clears(mass, keys, NULL);
    return st;
}

bool elect_tells_lost(const struct election *e)
{
    return mpq_sgn(e->concentrated ? e->lost.rho : e->lost.epsilon) > 0;
}

/* PRIVACY: one owner: 1. Several: m(2T) - m(T) moves within [-T, 2T], or by
 * 3T where an entity is changed, and 3T/64 with inexact values (claim 15). */
enum status elect_lost_noise(const struct election *e, unsigned j,
                             struct noise *out, struct err *err)
{
    if (!elect_tells_lost(e))
        return err_internal(err, "elect_lost_noise");
    if (e->q.owners == 1)
        return noise_for(&e->lost, 1, 1, 1, out, err);
    unsigned long times = e->q.change ? 3 : 2;
    if (!e->q.exact)
        times = times * ELECT_ETA + 3;
    return noise_for(&e->lost, e->grid[j], times, times * times, out, err);
}
