/*
 * GROUP BY where entities are protected (entity/PROOF.md, claim 11): groups get
 * numbers while the results are listed; then one election for all, an entity's
 * contributions cut in the order of the keys' values, or one election for each.
 * After the hold only.
 * PRIVACY: a key that was found in private rows is a candidate if something is
 * left in its group after the cut, and shown if its noisy count reaches the
 * threshold for the elected T. Of a group that stays hidden nothing is shown,
 * its T neither.
 */
#include <stdlib.h>

#include "entity/entity_groups.h"
#include "entity/lookup.h"
#include "release/voting.h"

struct grouped {
    struct voting *v;
    const struct count *q;
    const struct group_keys *k;
    struct arena arena, scratch; /* of keys; of one form */
    struct arena_mark start;     /* of scratch */
    struct map numbers;          /* by forms of keys */
    VEC(struct value *) keys;    /* by number */
    uint32_t *rank, *by_rank;    /* place among the keys by value, and back */
    struct entity_parts parts;
    uint32_t part;                   /* the group at hand, by rank */
    mpz_t threshold[ELECT_GRID_MAX]; /* of keys; 0: not asked for yet */
};

static void grouped_init(struct grouped *x, struct voting *v)
{
    *x = (struct grouped){.v = v, .q = v->r->c->q, .k = &v->r->c->keys};
    arena_init(&x->arena, &v->session->mem);
    arena_init(&x->scratch, &v->session->mem);
    x->arena.wipe = x->scratch.wipe = true;
    x->start = arena_mark(&x->scratch);
    map_init(&x->numbers, &x->arena);
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++)
        mpz_init(x->threshold[j]);
}

static void grouped_fini(struct grouped *x)
{
    entity_parts_fini(&x->parts);
    arena_fini(&x->scratch);
    arena_fini(&x->arena);
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++)
        mpz_clear(x->threshold[j]);
}

/* --- numbers of groups ---------------------------------------------------- */

/* The one form that equal keys have; in x->scratch. */
static enum status form_of(struct grouped *x, const struct value *key,
                           struct str *out, struct err *err)
{
    struct sb b;
    arena_release(&x->scratch, x->start);
    sb_init(&b, &x->scratch);
    for (size_t i = 0; i < x->k->n_cols; i++)
        if (!lookup_put_value(&b, &x->scratch, &key[i]))
            return err_nomem(err);
    sb_char(&b, '.');
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

static enum status add_key(struct grouped *x, struct str form,
                           struct value *key, uint32_t *out, struct err *err)
{
    struct str copy = str_copy(&x->arena, form);
    *out = key ? (uint32_t)x->keys.n : CONTRIB_NO_GROUP;
    if (!copy.p || !map_put(&x->numbers, copy, *out, NULL) ||
        (key && !VEC_PUSH(&x->arena, &x->keys, key)))
        return err_nomem(err);
    return OK;
}

static enum status number_key(void *ctx, const struct value *key, uint32_t *out,
                              struct err *err)
{
    struct grouped *x = ctx;
    struct str form;
    struct value *copy;
    TRY(form_of(x, key, &form, err));
    const uint64_t *at = map_find(&x->numbers, form);
    *out = at ? (uint32_t)*at : CONTRIB_NO_GROUP;
    if (at || !x->k->found)
        return OK;
    TRY(evaluate_key(x->q, x->k, &x->arena, key, &copy, err));
    return add_key(x, form, copy, out, err);
}

static enum status number_public(struct grouped *x, struct err *err)
{
    struct str form;
    uint32_t number;
    for (size_t i = 0; !x->k->found && i < x->k->n; i++) {
        struct value *key = &x->k->vals[i * x->k->n_cols];
        TRY(form_of(x, key, &form, err));
        TRY(add_key(x, form, key, &number, err));
    }
    return OK;
}

static int compare_numbers(const void *a, const void *b, void *ctx)
{
    const struct grouped *x = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return evaluate_compare_keys(x->keys.p[i], x->keys.p[j], x->k->n_cols);
}

/* PRIVACY: which of two groups is filled first is a matter of their keys'
 * values, whatever else there is. */
static enum status rank_keys(struct grouped *x, struct err *err)
{
    size_t n = x->keys.n;
    x->rank = NEWS(&x->arena, uint32_t, n + 1);
    x->by_rank = NEWS(&x->arena, uint32_t, n + 1);
    if (!x->rank || !x->by_rank)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        x->by_rank[i] = i;
    if (n)
        qsort_r(x->by_rank, n, sizeof *x->by_rank, compare_numbers, x);
    for (uint32_t i = 0; i < n; i++)
        x->rank[x->by_rank[i]] = i;
    return contrib_renumber(x->v->from, x->rank, n, err);
}

/* --- what is shown -------------------------------------------------------- */

/* Of a key that was found: does its noisy count, v->out, reach the threshold?
 */
static enum status passes(struct grouped *x, unsigned j, bool *out,
                          struct err *err)
{
    const struct choice *c = &x->v->r->c->choice;
    *out = true;
    if (!x->k->found)
        return OK;
    if (!mpz_sgn(x->threshold[j]))
        TRY(elect_key_threshold(x->v->e, j, c->total.delta, x->threshold[j],
                                err));
    *out = mpz_cmp(x->v->out, x->threshold[j]) >= 0;
    return OK;
}

static enum status show(struct grouped *x, uint32_t i, struct err *err)
{
    struct released *r = x->v->r;
    return x->k->found
               ? release_show_key(r, x->keys.p[i], x->v->out, err)
               : release_push_number(&r->c->q->p->arena, &r->answer.numbers,
                                     x->v->out, err);
}

/* Public keys in their order, keys that were found by value. */
static uint32_t at_place(const struct grouped *x, size_t i)
{
    return x->k->found ? x->by_rank[i] : (uint32_t)i;
}

static enum status in_time(struct grouped *x, struct err *err)
{
    return session_cancelled(x->v->session)
               ? err_set(err, E_CANCELLED, "cancelled")
               : OK;
}

/* --- one election for all ------------------------------------------------- */

static enum status draw_sum(struct grouped *x, unsigned j, uint32_t i,
                            u128 value, struct err *err)
{
    struct voting *v = x->v;
    bool pass;
    if (x->k->found && !value)
        return OK;
    TRY(in_time(x, err));
    struct secret_count left = secret_count_of(value);
    secret_scale_set_count(&v->m, &left);
    TRY(release_add_noise(v, j, err));
    TRY(passes(x, j, &pass, err));
    return pass ? show(x, i, err) : OK;
}

static enum status draw_vector(struct grouped *x, struct err *err)
{
    struct voting *v = x->v;
    unsigned j;
    size_t n = x->keys.n;
    u128 *sum = NEWS(&x->arena, u128, n + 1);
    if (!sum)
        return err_nomem(err);
    const struct pack_input *in = contrib_input(v->from);
    TRY(release_elect(v, in, &j, err));
    TRY(entity_cut_groups(&v->session->mem, in, contrib_group(v->from), n,
                          v->e->grid[j], sum, err));
    for (size_t i = 0; i < n; i++) {
        uint32_t at = at_place(x, i);
        TRY(draw_sum(x, j, at, sum[x->rank[at]], err));
    }
    return release_elected_facts(v, j, err);
}

/* --- an election for each ------------------------------------------------- */

static enum status make_part(struct grouped *x, struct pack_input *in,
                             struct err *err)
{
    struct voting *v = x->v;
    return entity_part_of(&x->parts, contrib_input(v->from),
                          contrib_group(v->from), x->part, in, err);
}

static enum status part_lower(void *from, struct pack_input *in,
                              struct err *err)
{
    struct grouped *x = from;
    bool lower;
    TRY(contrib_lower(x->v->from, &lower, err));
    if (!lower)
        return err_internal(err, "part_lower");
    entity_parts_fini(&x->parts);
    TRY(entity_parts_init(&x->parts, &x->v->session->mem,
                          contrib_input(x->v->from), err));
    return make_part(x, in, err);
}

static enum status draw_part(struct grouped *x, uint32_t i, struct err *err)
{
    struct voting *v = x->v;
    struct pack_input in;
    unsigned j;
    bool pass;
    x->part = x->rank[i];
    TRY(in_time(x, err));
    TRY(make_part(x, &in, err));
    TRY(release_elect(v, &in, &j, err));
    if (x->k->found && !pack_entities(v->pack))
        return OK; /* its results weigh nothing */
    TRY(release_elected_number(v, j, err));
    TRY(passes(x, j, &pass, err));
    if (!pass || v->r->answer.keys.n == MAX_FOUND_KEYS) {
        v->r->answer.keys_cut |= pass;
        return OK;
    }
    TRY(show(x, i, err));
    return release_elected_facts(v, j, err);
}

static enum status draw_each(struct grouped *x, struct err *err)
{
    struct voting *v = x->v;
    v->lower = part_lower;
    v->lower_from = x;
    TRY(entity_parts_init(&x->parts, &v->session->mem, contrib_input(v->from),
                          err));
    for (size_t i = 0; i < x->keys.n; i++)
        TRY(draw_part(x, at_place(x, i), err));
    return OK;
}

/* --- all of it ------------------------------------------------------------ */

static enum status draw_all(struct grouped *x, struct evaluated *data,
                            struct err *err)
{
    const struct choice *c = &x->v->r->c->choice;
    TRY(number_public(x, err));
    TRY(release_voting_open(x->v, data, number_key, x, err));
    TRY(rank_keys(x, err));
    TRY(c->entity.grouping == GROUPS_VECTOR ? draw_vector(x, err)
                                            : draw_each(x, err));
    return answer_elected_error(c, &x->v->r->answer, err);
}

enum status release_draw_groups(struct voting *v, struct evaluated *data,
                                struct err *err)
{
    struct grouped x;
    grouped_init(&x, v);
    enum status st = draw_all(&x, data, err);
    grouped_fini(&x);
    return st;
}
