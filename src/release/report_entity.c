/*
 * What an analyst reads about an election: the threshold, the error of the
 * noise, and beside it, every time, that entities with more were cut.
 * PRIVACY: "cut" is always true; whether anything was cut is not told but by
 * the estimate that was paid for.
 */
#include "release/answer.h"

#include <math.h>
#include <stdlib.h>

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

/* 95 % of the noise of the estimate of what was cut. */
static double lost_p95(const struct choice *c, const struct answer *x)
{
    struct noise_error e = {0};
    struct err err;
    unsigned j = place_of(&c->election, x->thresholds.p[0]);
    bool ok = elect_error(&c->election, j, true, &e, &err) == OK;
    return ok ? ceil(e.p95) : INFINITY;
}

void answer_elected_json(struct json *j, const struct choice *c,
                         const struct answer *x)
{
    if (!c->elected || !x->thresholds.n)
        return;
    json_key(j, "threshold");
    json_raw(j, x->thresholds.p[0]);
    json_key(j, "cut");
    json_bool(j, true);
    json_key(j, "cut_estimate");
    if (!x->lost.n) {
        json_null(j);
        return;
    }
    json_begin(j, '{');
    json_key(j, c->election.q.owners == 1 ? "entities" : "results_at_least");
    json_raw(j, x->lost.p[0]);
    json_key(j, "p95");
    json_double(j, lost_p95(c, x));
    json_end(j, '}');
}

void answer_elected_text(struct sb *b, const struct choice *c,
                         const struct answer *x)
{
    if (!c->elected || !x->thresholds.n)
        return;
    sb_printf(b,
              "counted     at most %.*s for one entity: entities with more "
              "were cut, so the answer can be\n"
              "            too small, by more than the error of the noise\n",
              PSTR(x->thresholds.p[0]));
    if (!x->lost.n)
        return;
    if (c->election.q.owners == 1)
        sb_printf(b, "cut         about %.*s entities had more",
                  PSTR(x->lost.p[0]));
    else
        sb_printf(b,
                  "cut         twice the threshold would count about %.*s "
                  "more",
                  PSTR(x->lost.p[0]));
    sb_printf(b, " (95 %% of such estimates lie within %.0f)\n",
              lost_p95(c, x));
}

/* Before spending: all in units of a threshold that nobody knows yet. */
void answer_quote_json(struct json *j, const struct choice *c)
{
    const struct election *e = &c->election;
    json_begin(j, '{');
    json_key(j, "p50_in_units_of_threshold");
    json_double(j, c->error.p50);
    json_key(j, "p95_in_units_of_threshold");
    json_double(j, c->error.p95);
    json_key(j, "largest_threshold");
    json_u128(j, e->grid[e->n - 1]);
    json_key(j, "owners");
    json_i64(j, e->q.owners);
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
              "most %llu. What entities have\n"
              "            beyond T is not counted, and nobody can say "
              "beforehand how much that is\n",
              c->error.p50, c->error.p95,
              (unsigned long long)c->election.grid[c->election.n - 1]);
    if (elect_tells_lost(&c->election))
        sb_cstr(b, "            A part of the price buys an estimate of what "
                   "was cut (--error-budget)\n");
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
