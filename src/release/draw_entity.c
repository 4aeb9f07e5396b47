/*
 * Drawing where entities are protected: who contributes what, the scores of
 * the thresholds, the election, the truncated count with noise for the elected
 * threshold, and for a share of the price a hint at what was cut. After the
 * hold only. What an election needs is computed before its first random bit is
 * used, but for thresholds far too small, whose scores and truncated counts are
 * needed with a probability below e^-10 each.
 */
#include "release/voting.h"

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

static enum status list_core(void *from, uint64_t t, struct pack_core *out,
                             struct err *err)
{
    struct voting *v = from;
    return contrib_core(v->from, t, out, err);
}

static bool cancelled(void *session)
{
    return session_cancelled(session);
}

static void release_voting_init(struct voting *v, struct released *r,
                                struct entropy *rng)
{
    *v = (struct voting){.r = r,
                         .e = &r->c->choice.entity.election,
                         .session = r->c->q->p->session,
                         .lower = list_lower,
                         .rng = rng};
    v->lower_from = v;
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++)
        mpq_inits(v->score[j], v->least[j], v->divisor[j], NULL);
    for (unsigned j = 0; j < v->e->n; j++)
        elect_divisor(v->e, j, v->divisor[j]);
    secret_scale_init(&v->m);
    mpz_init(v->out);
}

static void release_voting_fini(struct voting *v)
{
    pack_close(v->pack);
    contrib_close(v->from);
    listed_close(v->listed);
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++) {
        mpq_wipe_clear(v->score[j]);
        mpq_wipe_clear(v->least[j]);
        mpq_clear(v->divisor[j]);
    }
    secret_scale_fini(&v->m);
    mpz_wipe_clear(v->out);
}

enum status
release_voting_open(struct voting *v, struct evaluated *data,
                    enum status (*group)(void *ctx, const struct value *key,
                                         uint32_t *out, struct err *err),
                    void *ctx, struct err *err)
{
    const struct count *q = v->r->c->q;
    struct contrib_options from = {.join = {.threads = q->p->threads,
                                            .cancelled = cancelled,
                                            .ctx = v->session},
                                   .peel = !group,
                                   .group = group,
                                   .group_ctx = ctx};
    TRY(evaluate_listed(v->r->c->q, data, &v->listed, err));
    if (v->listed) {
        v->lister = listed_lister(v->listed);
        from.lister = &v->lister;
    }
    return contrib_open(&v->session->mem, q->query, &q->owners, data->store,
                        &from, &v->from, err);
}

/* --- the election --------------------------------------------------------- */

static struct score_grid grid_of(const struct voting *v)
{
    return (struct score_grid){v->e->n, v->e->grid, v->divisor, v->e->cap};
}

/* A score that nobody thought would be needed. */
static enum status ask_score(void *ctx, unsigned j, mpq_t out, struct err *err)
{
    struct voting *v = ctx;
    struct score_grid g = grid_of(v);
    bool capped;
    return entity_score(v->pack, &g, j, out, &capped, err);
}

static u128 owned_at_most(const void *from, uint64_t t)
{
    return contrib_above(from, t);
}

/* An interval of Q(D, t) in units that needs no listing. */
static enum status bounds_at(struct voting *v, uint64_t t,
                             struct pack_interval *out, struct err *err)
{
    if (pack_known(v->pack, t, out))
        return OK;
    TRY(contrib_bounds(v->from, t, &out->lo, &out->hi, err));
    out->lo <<= PACK_UNIT;
    out->hi = out->hi >> (127 - PACK_UNIT) ? U128_INF : out->hi << PACK_UNIT;
    return OK;
}

/* The same where owners have too many combinations to be listed: from j down,
 * as long as it helps. */
static enum status enough_by_bounds(struct voting *v,
                                    const struct score_grid *g, unsigned j,
                                    bool *out, struct err *err)
{
    struct pack_interval more, at, less;
    TRY(bounds_at(v, 2 * g->t[j], &more, err));
    TRY(bounds_at(v, g->t[j], &at, err));
    for (unsigned i = j + 1; !*out && i-- > 0;) {
        TRY(bounds_at(v, g->t[i] / 2, &less, err));
        entity_least_by(g, i, more.lo, less.hi, v->least);
        *out = elect_enough(v->e, v->score, 0, j + 1, v->least);
        if (!elect_enough(v->e, v->score, i, j + 1, v->least))
            return OK;
        more = at;
        at = less;
    }
    return OK;
}

/* Is what lies below j + 1 surely too bad to matter? Without solving first. */
static enum status surely_enough(struct voting *v, const struct score_grid *g,
                                 unsigned j, bool *out, struct err *err)
{
    struct score_above above = {owned_at_most, v->from};
    struct pack_interval known;
    *out = false;
    if (j + 1 >= g->n)
        return OK;
    for (int solve = 0; !*out && solve <= 1; solve++) {
        TRY(entity_least(v->pack, g, j, &above, solve, v->least, out, err));
        if (!*out)
            return OK; /* more has to be listed */
        *out = elect_enough(v->e, v->score, 0, j + 1, v->least);
    }
    if (*out || !v->core || pack_known(v->pack, g->t[j] / 2, &known))
        return OK;
    return enough_by_bounds(v, g, j, out, err);
}

/* From the largest threshold down, until those below are surely so bad that
 * one of them is elected with a probability below e^-10: what they score is
 * asked for only then. The law is that of all scores. */
static enum status weigh(struct voting *v, unsigned *known, struct err *err)
{
    struct score_grid g = grid_of(v);
    bool capped = false, enough;
    *known = 0;
    for (unsigned j = 0; j < v->e->n; j++)
        mpq_set_ui(v->least[j], 0, 1);
    if (v->e->q.owners == 1)
        return entity_scores(v->pack, 1, &g, v->score, err);
    for (unsigned j = v->e->n; j-- > 0;) {
        if (capped) {
            mpq_set(v->score[j], v->e->cap);
            continue;
        }
        TRY(surely_enough(v, &g, j, &enough, err));
        *known = enough ? j + 1 : 0;
        if (enough)
            return OK;
        TRY(entity_score(v->pack, &g, j, v->score[j], &capped, err));
    }
    return OK;
}

static enum status draw_threshold(struct voting *v, unsigned *out,
                                  struct err *err)
{
    struct elect_lazy s = {
        .scores = v->score, .least = v->least, .ask = ask_score, .ctx = v};
    TRY(weigh(v, &s.known, err));
    enum status st;
    do /* PRIVACY: a draw that gives up is drawn again, never an outcome */
        st = elect_draw_lazily(v->r->hold, v->e, &s, v->rng, out, err);
    while (st == E_ENTROPY);
    return st;
}

enum status release_elect(struct voting *v, const struct pack_input *in,
                          unsigned *out, struct err *err)
{
    struct pack_options opt = {cancelled, v->session, v->lower, v->lower_from,
                               v->core};
    pack_close(v->pack);
    v->pack = NULL;
    TRY(pack_open(&v->session->mem, in, &opt, &v->pack, err));
    return draw_threshold(v, out, err);
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
    if (v->e->q.owners == 1) {
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

enum status release_elected_number(struct voting *v, unsigned j,
                                   struct err *err)
{
    mpq_t m;
    mpq_init(m);
    enum status st = value_at(v, v->e->grid[j], m, err);
    secret_scale_set(&v->m, m);
    mpq_wipe_clear(m);
    return st == OK ? release_add_noise(v, j, err) : st;
}

enum status release_add_noise(struct voting *v, unsigned j, struct err *err)
{
    enum status st;
    do
        st = elect_answer(v->r->hold, v->e, j, &v->m, v->rng, v->out, err);
    while (st == E_ENTROPY);
    return st;
}

static enum status push_u64(struct arena *a, str_list *to, uint64_t v,
                            struct err *err)
{
    struct str text = str_printf(a, "%llu", (unsigned long long)v);
    return text.p && VEC_PUSH(a, to, text) ? OK : err_nomem(err);
}

static enum status keep_lost(struct voting *v, uint64_t t, struct err *err)
{
    mpq_t lost;
    mpq_init(lost);
    enum status st = lost_at(v, t, lost, err);
    secret_scale_set(&v->m, lost);
    mpq_wipe_clear(lost);
    return st;
}

enum status release_elected_facts(struct voting *v, unsigned j, struct err *err)
{
    struct arena *a = &v->r->c->q->p->arena;
    struct answer *x = &v->r->answer;
    TRY(push_u64(a, &x->thresholds, v->e->grid[j], err));
    if (!elect_tells_lost(v->e))
        return OK;
    TRY(keep_lost(v, v->e->grid[j], err));
    enum status st;
    do
        st = elect_lost(v->r->hold, v->e, j, &v->m, v->rng, v->out, err);
    while (st == E_ENTROPY);
    TRY(st);
    return release_push_number(a, &x->lost, v->out, err);
}

static enum status draw_plain(struct voting *v, struct evaluated *data,
                              struct err *err)
{
    struct answer *x = &v->r->answer;
    unsigned j;
    TRY(release_voting_open(v, data, NULL, NULL, err));
    v->core = contrib_peels(v->from) ? list_core : NULL;
    TRY(release_elect(v, contrib_input(v->from), &j, err));
    TRY(release_elected_number(v, j, err));
    TRY(release_push_number(&v->r->c->q->p->arena, &x->numbers, v->out, err));
    TRY(release_elected_facts(v, j, err));
    return answer_elected_error(&v->r->c->choice, x, err);
}

enum status release_draw_entity(struct released *r, struct evaluated *data,
                                struct entropy *rng, struct err *err)
{
    struct voting v;
    release_voting_init(&v, r, rng);
    enum status st = r->c->choice.entity.grouping == GROUPS_NONE
                         ? draw_plain(&v, data, err)
                         : release_draw_groups(&v, data, err);
    release_voting_fini(&v);
    return st;
}
