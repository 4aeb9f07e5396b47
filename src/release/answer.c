/*
 * Answers: their stored form and their error.
 *
 * The error of smooth noise is a multiple of the secret S. Its estimate is a
 * release of its own: ln S plus noise, raised so that it is too small in at
 * most one of twenty. It uses a smaller beta than the answer does: that S is
 * larger, but its logarithm is steadier, so it needs less noise.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "release/answer.h"

enum status answer_write(struct arena *a, const struct answer *x,
                         struct str *out, struct err *err)
{
    struct sb b;
    struct json j;
    sb_init(&b, a);
    json_init(&j, &b);
    json_begin(&j, '{');
    json_key(&j, "answers");
    json_begin(&j, '[');
    for (size_t i = 0; i < x->numbers.n; i++)
        json_raw(&j, x->numbers.p[i]);
    json_end(&j, ']');
    json_key(&j, "error");
    json_begin(&j, '[');
    if (x->has_error) {
        json_double(&j, x->p50);
        json_double(&j, x->p95);
        json_bool(&j, x->released);
    }
    json_end(&j, ']');
    json_end(&j, '}');
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

/* The next element of an array; false at its end. */
static bool next_item(struct str *s, struct str *out)
{
    size_t i = 0;
    while (s->n && (s->p[0] == ' ' || s->p[0] == ','))
        s->p++, s->n--;
    while (i < s->n && s->p[i] != ',' && s->p[i] != ']')
        i++;
    *out = (struct str){s->p, i};
    s->p += i;
    s->n -= i;
    return i > 0;
}

static bool find_array(struct str text, const char *key, struct str *out)
{
    const char *p = memmem(text.p, text.n, key, strlen(key));
    const char *end = text.p + text.n;
    p = p ? memchr(p, '[', (size_t)(end - p)) : NULL;
    if (!p)
        return false;
    *out = (struct str){p + 1, (size_t)(end - p - 1)};
    return true;
}

static double number(struct str s)
{
    char buf[64];
    double v = 0;
    if (s.n < sizeof buf) {
        memcpy(buf, s.p, s.n);
        buf[s.n] = 0;
        sscanf(buf, "%lf", &v);
    }
    return v;
}

enum status answer_read(struct arena *a, struct str text, struct answer *out,
                        struct err *err)
{
    struct str list, item;
    if (!find_array(text, "\"answers\"", &list))
        return err_set(err, E_LEDGER, "the ledger holds a malformed answer");
    while (next_item(&list, &item)) {
        struct str copy = str_copy(a, item);
        if (!copy.p || !VEC_PUSH(a, &out->numbers, copy))
            return err_nomem(err);
    }
    if (find_array(text, "\"error\"", &list) && next_item(&list, &item)) {
        out->has_error = true;
        out->p50 = number(item);
        if (next_item(&list, &item))
            out->p95 = number(item);
        out->released = next_item(&list, &item) && str_is(item, "true");
    }
    return OK;
}

void answer_public_error(const struct choice *c, struct answer *out)
{
    out->has_error = true;
    out->p50 = c->exact ? 0 : ceil(c->error.p50);
    out->p95 = c->exact ? 0 : ceil(c->error.p95);
}

enum status answer_estimate_error(const struct choice *c,
                                  const struct secret_rat *s,
                                  struct entropy *rng, struct answer *out,
                                  struct err *err)
{
    struct guarantee g;
    struct noise steady; /* tolerates error_beta: that is all it is for */
    mpq_t miss;
    double upper = 0; /* display */
    guarantee_init(&g);
    noise_init(&steady);
    mpq_init(miss);
    mpq_set_ui(miss, 1, 20);
    g.kind = PRIVACY_PURE;
    mpq_set(g.epsilon, c->total.epsilon);
    enum status st = noise_calibrate_smooth(&g, NOISE_SMOOTH_LAPLACE,
                                            c->error_beta, &steady, err);
    if (st == OK)
        st = noise_release_scale(&steady, s, c->error_epsilon, miss, rng,
                                 &upper, err);
    out->has_error = out->released = st == OK;
    out->p50 = ceil(c->error.p50 * upper);
    out->p95 = ceil(c->error.p95 * upper);
    mpq_clear(miss);
    noise_fini(&steady);
    guarantee_fini(&g);
    return st;
}
