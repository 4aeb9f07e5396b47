/*
 * Drawing where entities are protected: who contributes what, the scores of
 * the thresholds, the election, the truncated count with noise for the elected
 * threshold, and for a share of the price a hint at what was cut. After the
 * hold only. Everything secret is computed before the first random bit is
 * used, but for a truncated count at a threshold far too small, which is
 * elected with a probability below e^-20.
 */
#include "release/release_int.h"

#include "entity/contrib.h"
#include "entity/score.h"

struct voting {
    const struct choice *c;
    unsigned owners;
    struct contrib *from;
    struct pack *pack;
    mpq_t score[ELECT_GRID_MAX], divisor[ELECT_GRID_MAX];
};

static enum status list_lower(void *from, struct pack_input *in,
                              struct err *err)
{
    struct voting *v = from;
    bool lower;
    TRY(contrib_lower(v->from, &lower, err));
    if (!lower)
        return err_internal(err, "list_lower");
    *in = *contrib_input(v->from);
    return OK;
}

static bool cancelled(void *session)
{
    return session_cancelled(session);
}

static void voting_init(struct voting *v, const struct priced *c)
{
    *v = (struct voting){.c = &c->choice, .owners = c->q->owners.k};
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++)
        mpq_inits(v->score[j], v->divisor[j], NULL);
}

static void voting_fini(struct voting *v)
{
    pack_close(v->pack);
    contrib_close(v->from);
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++) {
        mpq_wipe_clear(v->score[j]);
        mpq_clear(v->divisor[j]);
    }
}

static enum status voting_open(struct voting *v, struct count *q,
                               struct evaluated *data, struct err *err)
{
    struct session *s = q->p->session;
    struct contrib_options from = {.join = {q->p->threads, cancelled, s}};
    struct pack_options opt = {cancelled, s, list_lower, v};
    TRY(contrib_open(&s->mem, q->query, &q->owners, data->store, &from,
                     &v->from, err));
    TRY(pack_open(&s->mem, contrib_input(v->from), &opt, &v->pack, err));
    const struct election *e = &v->c->election;
    for (unsigned j = 0; j < e->n; j++)
        elect_divisor(e, j, v->divisor[j]);
    struct score_grid g = {e->n, e->grid, v->divisor, e->cap};
    return entity_scores(v->pack, v->owners, &g, v->score, err);
}

/* m(T) */
static enum status value_at(struct voting *v, uint64_t t, mpq_t out,
                            struct err *err)
{
    struct pack_interval at;
    TRY(pack_value(v->pack, t, &at, err));
    pack_middle(&at, out);
    return OK;
}

/* One owner: entities above T. Several: m(2T) - m(T). */
static enum status lost_at(struct voting *v, uint64_t t, mpq_t out,
                           struct err *err)
{
    mpq_t m;
    if (v->owners == 1) {
        mpq_set_ui(out, pack_exceeding(v->pack, t), 1);
        return OK;
    }
    mpq_init(m);
    enum status st = value_at(v, 2 * t, out, err);
    if (st == OK)
        st = value_at(v, t, m, err);
    mpq_sub(out, out, m);
    mpq_wipe_clear(m);
    return st;
}

static enum status push_u64(struct arena *a, str_list *to, uint64_t v,
                            struct err *err)
{
    struct str text = str_printf(a, "%llu", (unsigned long long)v);
    return text.p && VEC_PUSH(a, to, text) ? OK : err_nomem(err);
}

static enum status draw_lost(struct voting *v, struct released *r, unsigned j,
                             struct secret_rat *m, struct entropy *rng,
                             mpz_t out, struct err *err)
{
    const struct election *e = &v->c->election;
    if (!elect_tells_lost(e))
        return OK;
    TRY(lost_at(v, e->grid[j], m->hidden_, err));
    TRY(elect_lost(e, j, m, rng, out, err));
    return release_push_number(&r->c->q->p->arena, &r->answer.lost, out, err);
}

static enum status draw_elected(struct voting *v, struct released *r,
                                struct secret_rat *m, struct entropy *rng,
                                mpz_t out, struct err *err)
{
    const struct election *e = &v->c->election;
    struct arena *a = &r->c->q->p->arena;
    unsigned j;
    TRY(elect_draw(e, v->score, rng, &j, err));
    TRY(value_at(v, e->grid[j], m->hidden_, err));
    TRY(elect_answer(e, j, m, rng, out, err));
    TRY(release_push_number(a, &r->answer.numbers, out, err));
    TRY(push_u64(a, &r->answer.thresholds, e->grid[j], err));
    TRY(draw_lost(v, r, j, m, rng, out, err));
    return answer_elected_error(v->c, j, &r->answer, err);
}

enum status release_draw_entity(struct released *r, struct evaluated *data,
                                struct entropy *rng, struct err *err)
{
    struct voting v;
    struct secret_rat m;
    mpz_t out;
    mpz_init(out);
    secret_rat_init(&m);
    voting_init(&v, r->c);
    enum status st = voting_open(&v, r->c->q, data, err);
    if (st == OK)
        st = draw_elected(&v, r, &m, rng, out, err);
    voting_fini(&v);
    secret_rat_fini(&m);
    mpz_clear(out);
    return st;
}
