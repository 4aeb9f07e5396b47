/*
 * What an analyst reads about an election: the threshold, the error of the
 * noise, and beside it, every time, that entities with more were cut.
 * PRIVACY: "cut" is always true; whether anything was cut is not told but by
 * the estimate that was paid for.
 */
#include "num/mpz_text.h"
#include "release/answer.h"
#include "release/answer_table.h"

#include <math.h>

#include "schema/owners.h"

/* The grid value of a stored threshold. */
static unsigned place_of(const struct election *e, struct str text)
{
    u128 t = 0;
    unsigned j = 0;
    if (u128_read(text.p, text.n, &t))
        while (j + 1 < e->n && e->grid[j] < t)
            j++;
    return j;
}

/* Quantiles of the noise of the i-th answer, or of its estimate of what was
 * cut. */
static struct noise_error error_of(const struct choice *c,
                                   const struct answer *x, size_t i, bool lost)
{
    struct noise_error e = {0};
    struct err err;
    unsigned j = place_of(&c->entity.election, x->thresholds.p[i]);
    if (elect_error(&c->entity.election, j, lost, &e, &err) != OK)
        e.p50 = e.p95 = INFINITY;
    e.p50 = ceil(e.p50);
    e.p95 = ceil(e.p95);
    return e;
}

/* Thresholds are in units of a sum's last digit: as the sum is shown. */
static double shown(const struct choice *c, double units)
{
    return units * pow(10, -(double)c->scale);
}

/* What was cut: entities with one owner, else parts of the number. */
static uint32_t lost_scale(const struct choice *c)
{
    return c->entity.election.q.owners == 1 ? 0 : c->scale;
}

enum status answer_elected_error(const struct choice *c, struct answer *out,
                                 struct err *err)
{
    (void)err;
    out->has_error = out->thresholds.n > 0;
    for (size_t i = 0; i < out->thresholds.n; i++) {
        struct noise_error e = error_of(c, out, i, false);
        out->p50 = e.p50 > out->p50 ? e.p50 : out->p50;
        out->p95 = e.p95 > out->p95 ? e.p95 : out->p95;
    }
    return OK;
}

static bool for_each(const struct choice *c)
{
    return c->entity.grouping == GROUPS_EACH ||
           c->entity.grouping == GROUPS_SPLIT;
}

/* The estimate as it is shown: what was cut is not negative, so neither is the
 * estimate. The noisy number stays in the ledger. */
static struct str lost_number(const struct answer *x, size_t i)
{
    struct str v = x->lost.p[i];
    return v.n && *v.p == '-' ? STR("0") : v;
}

static void json_lost(struct json *j, const struct choice *c,
                      const struct answer *x, size_t i)
{
    json_key(j, "cut_estimate");
    if (!x->lost.n) {
        json_null(j);
        return;
    }
    json_begin(j, '{');
    json_key(j, c->entity.election.q.owners == 1 ? "entities"
                                                 : "results_at_least");
    answer_number_json(j, lost_number(x, i), lost_scale(c));
    json_key(j, "p95");
    json_double(j,
                error_of(c, x, i, true).p95 * pow(10, -(double)lost_scale(c)));
    json_end(j, '}');
}

/* Of keys that were found, at the i-th threshold. */
static void json_key_threshold(struct json *j, const struct choice *c,
                               const struct answer *x, size_t i)
{
    struct err err;
    mpz_t v;
    if (!c->entity.keys_found)
        return;
    mpz_init(v);
    unsigned at = place_of(&c->entity.election, x->thresholds.p[i]);
    enum status st =
        elect_key_threshold(&c->entity.election, at, c->total.delta, v, &err);
    struct str text = mpz_text(j->out->arena, v);
    j->out->failed |= !text.p || st != OK;
    json_key(j, "key_threshold");
    if (text.p)
        answer_number_json(j, text, c->scale);
    else
        json_null(j);
    mpz_clear(v);
}

void answer_elected_group(struct json *j, const struct choice *c,
                          const struct answer *x, size_t i)
{
    if (c->kind != CHOICE_ENTITY || !for_each(c) || i >= x->thresholds.n)
        return;
    struct noise_error e = error_of(c, x, i, false);
    json_key(j, "threshold");
    answer_number_json(j, x->thresholds.p[i], c->scale);
    json_key_threshold(j, c, x, i);
    json_lost(j, c, x, i);
    json_key(j, "p95");
    json_double(j, shown(c, e.p95));
}

/* One threshold for all; with one for each group it stands there. */
void answer_elected_json(struct json *j, const struct choice *c,
                         const struct answer *x)
{
    if (c->kind != CHOICE_ENTITY)
        return;
    bool one = !for_each(c) && x->thresholds.n;
    json_key(j, "threshold");
    if (one)
        answer_number_json(j, x->thresholds.p[0], c->scale);
    else
        json_null(j);
    json_key(j, "cut");
    json_bool(j, true);
    if (!one)
        return;
    json_key_threshold(j, c, x, 0);
    json_lost(j, c, x, 0);
}

/* "8", "8, 12, 8, ..." */
static void text_list(struct sb *b, const str_list *l, uint32_t scale)
{
    enum { SHOWN = 12 };
    for (size_t i = 0; i < l->n && i < SHOWN; i++)
        sb_printf(b, "%s%.*s", i ? ", " : "",
                  PSTR(answer_decimal(b->arena, l->p[i], scale)));
    if (l->n > SHOWN)
        sb_cstr(b, ", ...");
}

static void text_lost(struct sb *b, const struct choice *c,
                      const struct answer *x)
{
    if (!x->lost.n) {
        sb_cstr(b, "cut         how much was cut is not estimated "
                   "(--error-budget buys an estimate)\n");
        return;
    }
    double p95 = 0; /* display */
    for (size_t i = 0; i < x->thresholds.n; i++) {
        double e = error_of(c, x, i, true).p95;
        p95 = e > p95 ? e : p95;
    }
    str_list shown_lost = {0};
    for (size_t i = 0; i < x->lost.n; i++)
        b->failed |= !VEC_PUSH(b->arena, &shown_lost, lost_number(x, i));
    bool one = c->entity.election.q.owners == 1;
    sb_cstr(b, one ? "cut         about "
                   : "cut         twice the threshold would count about ");
    text_list(b, &shown_lost, lost_scale(c));
    sb_printf(b, " %s (95 %% of such estimates lie within %.*f)\n",
              one ? "entities had more" : "more", (int)lost_scale(c),
              p95 * pow(10, -(double)lost_scale(c)));
}

void answer_elected_text(struct sb *b, const struct choice *c,
                         const struct answer *x)
{
    if (c->kind != CHOICE_ENTITY || !x->thresholds.n)
        return;
    sb_cstr(b, "counted     at most ");
    text_list(b, &x->thresholds, c->scale);
    sb_printf(b,
              " for one entity%s: entities with more were cut, so the answer "
              "can be\n"
              "            too small, by more than the error of the noise\n",
              c->entity.grouping == GROUPS_NONE     ? ""
              : c->entity.grouping == GROUPS_VECTOR ? " in all groups together"
                                                    : ", group by group");
    text_lost(b, c, x);
}

static struct str top_of(struct arena *a, const struct election *e)
{
    char text[U128_DIGITS];
    return str_copy(a, str_of(u128_text(e->grid[e->n - 1], text)));
}

/* Before spending: all in units of a threshold that nobody knows yet. */
void answer_quote_json(struct json *j, const struct choice *c)
{
    const struct election *e = &c->entity.election;
    json_begin(j, '{');
    json_key(j, "p50_in_units_of_threshold");
    json_double(j, c->error.p50);
    json_key(j, "p95_in_units_of_threshold");
    json_double(j, c->error.p95);
    json_key(j, "largest_threshold");
    answer_number_json(j, top_of(j->out->arena, e), c->scale);
    json_key(j, "owners");
    json_i64(j, e->q.owners);
    json_key(j, "elections");
    json_cstr(j, for_each(c) ? "one for each group" : "one");
    json_key(j, "estimates_cut");
    json_bool(j, elect_tells_lost(e));
    json_key(j, "basis");
    json_cstr(j, "public");
    json_end(j, '}');
}

void answer_quote_text(struct sb *b, const struct choice *c)
{
    sb_printf(b,
              "error       half of all answers will lie within %.3g T of the "
              "truncated count, 95 %% within %.3g T,\n"
              "            T the elected threshold: told with the answer, at "
              "most %.*s. What entities have\n"
              "            beyond T is not counted, and nobody can say "
              "beforehand how much that is\n",
              c->error.p50, c->error.p95,
              PSTR(answer_decimal(
                  b->arena, top_of(b->arena, &c->entity.election), c->scale)));
    if (elect_tells_lost(&c->entity.election))
        sb_cstr(b, "            A part of the price buys an estimate of what "
                   "was cut (--error-budget)\n");
    else
        sb_cstr(b, "            No estimate of what was cut is bought "
                   "(--error-budget does; with several owners of a\n"
                   "            result it is mostly noise)\n");
}

/* --- whose rows ------------------------------------------------------------
 */

static void json_unit(struct json *j, const struct schema *s)
{
    json_key(j, "unit");
    json_begin(j, '[');
    for (size_t i = 0; i < s->tables.n; i++)
        if (s->tables.p[i].is_entity)
            json_str(j, s->tables.p[i].name);
    json_end(j, ']');
}

void answer_entity_tables(struct json *j, const struct schema *s)
{
    json_key(j, "tables");
    json_begin(j, '{');
    for (uint32_t t = 0; t < s->tables.n; t++) {
        if (!s->tables.p[t].paths.n)
            continue;
        json_key_str(j, s->tables.p[t].name);
        json_begin(j, '[');
        for (size_t p = 0; p < s->tables.p[t].paths.n; p++) {
            struct sb b;
            sb_init(&b, j->out->arena);
            owner_path_print(&b, s, t, p);
            json_str(j, sb_view(&b));
        }
        json_end(j, ']');
    }
    json_end(j, '}');
}

void answer_entity_head(struct json *j, const struct count *q)
{
    json_unit(j, &q->p->schema);
    json_key(j, "owners");
    json_i64(j, q->owners.k);
    json_key(j, "static_upper");
    json_bound(j, q->entity.upper);
}

void answer_entity_json(struct json *j, const struct count *q)
{
    if (!q->p->schema.has_entities)
        return;
    json_key(j, "entity");
    json_begin(j, '{');
    answer_entity_head(j, q);
    answer_entity_tables(j, &q->p->schema);
    json_end(j, '}');
}
