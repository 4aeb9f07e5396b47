/*
 * Counting and drawing: the private half of a release. Everything here runs
 * after the hold, and what leaves it is in struct answer: noisy numbers and
 * keys that passed the threshold.
 */
#include "num/mpz_text.h"
#include "release/release_int.h"

enum status release_push_number(struct arena *a, str_list *to, mpz_srcptr v,
                                struct err *err)
{
    struct str text = mpz_text(a, v);
    return text.p && VEC_PUSH(a, to, text) ? OK : err_nomem(err);
}

/* PRIVACY: by the hold, or not at all; where no private row is counted there is
 * nothing to pay. A draw that gives up is drawn again, never an outcome. */
static enum status draw_number(const struct released *r,
                               const struct secret_count *count,
                               const struct secret_scale *s,
                               struct entropy *rng, mpz_t out, struct err *err)
{
    const struct choice *c = &r->c->choice;
    if (c->kind == CHOICE_EXACT)
        return release_public_number(c, count, out, err);
    enum status st;
    do
        st = noise_answer(r->hold, &c->noise, count, s, rng, out, err);
    while (st == E_ENTROPY);
    return st;
}

static enum status draw_one(struct arena *a, struct released *r,
                            const struct secret_count *count,
                            const struct secret_scale *s, struct entropy *rng,
                            struct err *err)
{
    mpz_t out;
    mpz_init(out);
    enum status st = draw_number(r, count, s, rng, out, err);
    if (st == OK)
        st = release_push_number(a, &r->answer.numbers, out, err);
    mpz_clear(out);
    return st;
}

/* --- keys that are found in the data (PROOF.md) --------------------------- */

enum { KEYS_PER_POLL = 1024 };

/* The text up to a limit, not within a character of UTF-8. */
static bool cut_text(struct value *v)
{
    size_t n = MAX_KEY_TEXT;
    if (v->type != T_TEXT || v->is_null || v->s.n <= n)
        return false;
    while (n && ((unsigned char)v->s.p[n] & 0xc0) == 0x80)
        n--;
    v->s.n = n;
    return true;
}

static enum status push_key(struct arena *a, struct released *r,
                            struct value *vals, struct err *err)
{
    struct sb b;
    struct json j;
    for (size_t i = 0; i < r->c->keys.n_cols; i++)
        r->answer.keys_cut |= cut_text(&vals[i]);
    sb_init(&b, a);
    json_init(&j, &b);
    json_key_values(&j, vals, r->c->keys.n_cols);
    if (b.failed || !VEC_PUSH(a, &r->answer.keys, sb_view(&b)))
        return err_nomem(err);
    return OK;
}

enum status release_show_key(struct released *r, struct value *key,
                             mpz_srcptr number, struct err *err)
{
    struct arena *a = &r->c->q->p->arena;
    if (r->answer.keys.n == MAX_FOUND_KEYS) {
        r->answer.keys_cut = true;
        return OK;
    }
    TRY(push_key(a, r, key, err));
    return release_push_number(a, &r->answer.numbers, number, err);
}

/* How many keys there are is secret, so drawing ends at the deadline too. */
static enum status in_time(struct session *s, struct err *err)
{
    return session_cancelled(s) ? err_set(err, E_CANCELLED, "cancelled") : OK;
}

/* PRIVACY: a key is shown only if its noisy count reaches the threshold. The
 * draw comes first and is the same for every key. */
static enum status draw_found(struct released *r, const struct found_keys *keys,
                              struct entropy *rng, struct err *err)
{
    const struct choice *c = &r->c->choice;
    struct prepared *p = r->c->q->p;
    mpz_t out;
    enum status st = OK;
    mpz_init(out);
    for (size_t i = 0; st == OK && i < keys->list.n; i++) {
        const struct found_key *k = &keys->list.p[i];
        if (i % KEYS_PER_POLL == 0)
            st = in_time(p->session, err);
        if (st == OK)
            st = draw_number(r, &k->count, NULL, rng, out, err);
        if (st != OK ||
            (c->kind == CHOICE_THRESHOLD && mpz_cmp(out, c->threshold) < 0))
            continue;
        st = release_show_key(r, k->vals, out, err);
    }
    mpz_wipe_clear(out);
    answer_public_error(c, &r->answer);
    return st;
}

static enum status draw_keys(struct released *r, struct evaluated *data,
                             struct entropy *rng, struct err *err)
{
    struct found_keys keys = {0};
    struct count *q = r->c->q;
    struct arena a; /* given back before the deadline */
    arena_init(&a, &q->p->session->mem);
    a.wipe = true;
    enum status st = evaluate_found(q, data, &r->c->keys, &a, &keys, err);
    if (st == OK)
        st = draw_found(r, &keys, rng, err);
    arena_fini(&a);
    return st;
}

/* --- keys that are public, or none ---------------------------------------- */

/* Everything secret is computed before the first random bit is used. */
static enum status draw_counts(struct released *r, const struct engine *e,
                               const struct secret_count *counts, size_t n,
                               struct secret_scale *s, struct entropy *rng,
                               struct err *err)
{
    const struct choice *c = &r->c->choice;
    struct arena *a = &r->c->q->p->arena;
    bool smooth = c->kind == CHOICE_SMOOTH;
    if (smooth)
        TRY(evaluate_smooth(r->c->q, e, c->smooth.beta, c->smooth.factor, s,
                            err));
    for (size_t i = 0; i < n; i++)
        TRY(draw_one(a, r, &counts[i], smooth ? s : NULL, rng, err));
    if (!smooth)
        answer_public_error(c, &r->answer);
    else if (mpq_sgn(c->smooth.error_epsilon))
        TRY(answer_estimate_error(r->hold, c, s, rng, &r->answer, err));
    return OK;
}

static enum status count_and_draw(struct released *r, struct evaluated *data,
                                  const struct engine *e, struct entropy *rng,
                                  struct err *err)
{
    struct count *q = r->c->q;
    size_t n = q->query->n_group ? r->c->keys.n : 1;
    struct secret_scale s;
    struct secret_count *counts =
        NEWS(&q->p->arena, struct secret_count, n + 1);
    if (!counts)
        return err_nomem(err);
    if (r->c->choice.kind == CHOICE_SMOOTH)
        TRY(evaluate_prepare(q, e, err));
    TRY(evaluate_counts(q, data, e, &r->c->keys, counts, err));
    secret_scale_init(&s);
    enum status st = draw_counts(r, e, counts, n, &s, rng, err);
    secret_scale_fini(&s);
    return st;
}

static enum status draw_public(struct released *r, struct evaluated *data,
                               struct entropy *rng, struct err *err)
{
    struct engine e;
    TRY(evaluate_open(r->c->q->p, data, r->c->q->normal, &e, err));
    enum status st = count_and_draw(r, data, &e, rng, err);
    engine_close(&e);
    return st;
}

/* --- the two numbers of an average ---------------------------------------- */

static size_t n_numbers(const struct released *r)
{
    return r->c->q->query->n_group ? r->c->keys.n : 1;
}

static enum status count_exactly(struct released *r, struct evaluated *data,
                                 struct secret_count **out, struct err *err)
{
    struct engine e;
    struct count *q = r->c->q;
    *out = NEWS(&q->p->arena, struct secret_count, n_numbers(r) + 1);
    if (!*out)
        return err_nomem(err);
    TRY(evaluate_open(q->p, data, q->normal, &e, err));
    enum status st = evaluate_counts(q, data, &e, &r->c->keys, *out, err);
    engine_close(&e);
    return st;
}

static enum status draw_both(struct released *r, const struct secret_count *sum,
                             const struct secret_count *number,
                             struct entropy *rng, struct err *err)
{
    mpz_t x, y;
    struct arena *a = &r->c->q->p->arena;
    enum status st;
    mpz_inits(x, y, NULL);
    do
        st = noise_answer_pair(r->hold, &r->c->choice.noise, sum, number, rng,
                               x, y, err);
    while (st == E_ENTROPY);
    if (st == OK)
        st = release_push_number(a, &r[0].answer.numbers, x, err);
    if (st == OK)
        st = release_push_number(a, &r[1].answer.numbers, y, err);
    mpz_clears(x, y, NULL);
    return st;
}

/* Everything secret is computed before the first random bit is used. */
static enum status draw_pair(struct released *r, struct evaluated *data,
                             struct entropy *rng, struct err *err)
{
    struct secret_count *sums, *numbers;
    size_t n = n_numbers(r);
    if (r[1].done || r[1].c->choice.joint != r->c->q || n_numbers(&r[1]) != n)
        return err_internal(err, "half a pair");
    TRY(count_exactly(r, data, &sums, err));
    TRY(count_exactly(&r[1], data, &numbers, err));
    for (size_t i = 0; i < n; i++)
        TRY(draw_both(r, &sums[i], &numbers[i], rng, err));
    answer_public_error(&r[0].c->choice, &r[0].answer);
    answer_public_error(&r[1].c->choice, &r[1].answer);
    return OK;
}

static enum status draw_left(struct release *r, struct entropy *rng,
                             struct err *err)
{
    for (size_t i = 0; i < r->p.n_counts; i++) {
        struct released *x = &r->counts[i];
        if (x->done)
            continue;
        x->hold = release_charged(x) ? r->hold : NULL;
        if (release_charged(x) && !x->hold)
            return err_internal(err, "a draw without a hold");
        if (release_is_pair(x)) {
            TRY(draw_pair(x, &r->data, rng, err));
            i++;
            continue;
        }
        TRY(x->c->choice.joint ? err_internal(err, "half a pair")
            : x->c->choice.kind == CHOICE_ENTITY
                ? release_draw_entity(x, &r->data, rng, err)
            : x->c->keys.found ? draw_keys(x, &r->data, rng, err)
                               : draw_public(x, &r->data, rng, err));
    }
    return OK;
}

enum status release_draw(struct release *r, struct err *err)
{
    struct entropy *rng = NULL;
    TRY(evaluate_load(&r->p, &r->data, err));
    TRY(evaluate_sizes(&r->p, &r->data, err));
    TRY(entropy_open(&rng, err));
    enum status st = draw_left(r, rng, err);
    entropy_close(rng);
    return st;
}
