/*
 * The choice where an entity is protected with all its rows: a static bound,
 * where promises make it small, or an election of how much one entity may
 * contribute (noise/elect.h).
 *
 * The public rule: a static bound of up to STATIC_MOST is taken, since noise
 * for it is smaller than what an election costs; else a threshold is elected.
 * An election relies on no promise; a bound only shortens its grid.
 *
 * Groups (entity/PROOF.md, claim 11). Where the one owner of a result
 * determines the key, no entity is in two groups: an election for each, at the
 * whole price (half of it where an entity is changed, since it may change
 * groups). Else, with one owner, one election for all, and an entity's
 * contributions to all groups together are cut. With several owners an election
 * for each group, which share the price.
 */
#include "release/choose.h"

#include "entity/pack.h"

enum { STATIC_MOST = 16, QUOTED = 20, SPLIT_MOST = 1000 };

/* --- groups --------------------------------------------------------------- */

static enum elected_by grouping_of(const struct count *q)
{
    const struct completion *o = &q->owners;
    if (!q->query->n_group)
        return GROUPS_NONE;
    if (o->k == 1 && o->key_determined)
        return GROUPS_EACH;
    return o->k == 1 && o->determined ? GROUPS_VECTOR : GROUPS_SPLIT;
}

static enum status check_split(const struct group_keys *k, struct err *err)
{
    if (k->found) {
        err_set(err, E_UNSUPPORTED,
                "keys from private rows are not offered where a result can "
                "belong to several entities");
        err_hint(err, "Name the keys with --groups, or join a public table "
                      "that lists them.");
        return E_UNSUPPORTED;
    }
    if (!k->known)
        return err_set(err, E_UNSUPPORTED,
                       "the number of groups that share the price is not "
                       "known without the data");
    if (k->n > SPLIT_MOST) {
        err_set(err, E_TOO_LARGE,
                "%zu groups would share the price; where a result can belong "
                "to several entities at most %d do",
                k->n, (int)SPLIT_MOST);
        err_hint(err, "Name fewer keys with --groups.");
        return E_TOO_LARGE;
    }
    return OK;
}

static enum status check_found(const struct choice *c, struct err *err)
{
    if (c->total.kind != PRIVACY_ZCDP)
        return OK;
    err_set(err, E_UNSUPPORTED,
            "keys from private rows are not offered under zCDP");
    err_hint(err, "Ask with --epsilon and --delta in place of --rho.");
    return E_UNSUPPORTED;
}

/* PRIVACY: the price of one election, of those that groups have. Changing an
 * entity takes one away from one group and adds one to another: half for each
 * of the two (claim 11). */
static void share_price(const struct choice *c, bool change,
                        struct guarantee *out)
{
    mpq_t by;
    mpq_init(by);
    mpq_set_ui(by, 1, 1);
    if (c->entity.grouping == GROUPS_SPLIT && c->n_groups)
        mpq_set_ui(by, 1, c->n_groups);
    if (c->entity.grouping == GROUPS_EACH && change)
        mpq_set_ui(by, 1, 2);
    out->kind = c->total.kind;
    mpq_mul(out->epsilon, c->total.epsilon, by);
    mpq_mul(out->rho, c->total.rho, by);
    mpq_set(out->delta, c->total.delta);
    mpq_clear(by);
}

/* --- the static way ------------------------------------------------------- */

/* PRIVACY: keys that vanish with an entity have `upper` results in all, and
 * are at most as many (release/PROOF.md, claim 2, with entities for rows). */
static enum status static_threshold(struct count *q, struct choice *c,
                                    struct err *err)
{
    mpz_t mass;
    if (c->kind != CHOICE_THRESHOLD)
        return OK;
    if (c->noise.kind != NOISE_DISCRETE_LAPLACE)
        return err_set(err, E_UNSUPPORTED,
                       "%s noise is not offered for keys from private rows",
                       noise_name(c->noise.kind));
    mpz_init(mass);
    mpz_set_u128(mass, q->entity.upper);
    enum status st = noise_threshold(&c->noise, mass, mass, c->total.delta,
                                     c->threshold, err);
    mpz_clear(mass);
    return st;
}

static enum status use_static(struct count *q, enum noise_kind kind, bool found,
                              struct choice *c, struct err *err)
{
    mpz_t l1, l2;
    choice_become(c, found ? CHOICE_THRESHOLD : CHOICE_GLOBAL);
    mpz_inits(l1, l2, NULL);
    mpz_set_u128(l1, q->entity.l1_upper);
    mpz_mul(l2, l1, l1);
    enum status st =
        noise_calibrate_global(&c->total, kind, l1, l2, &c->noise, err);
    mpz_clears(l1, l2, NULL);
    TRY(st);
    TRY(noise_error(&c->noise, &c->error, err));
    return static_threshold(q, c, err);
}

static enum noise_kind static_kind(const struct choice *c)
{
    return c->total.kind == PRIVACY_ZCDP ? NOISE_DISCRETE_GAUSSIAN
                                         : NOISE_DISCRETE_LAPLACE;
}

/* --- election ------------------------------------------------------------- */

/* The share of the price for what was cut: a tenth, or --error-budget. With
 * several owners none by default: noise for the estimate is twice that of the
 * answer and its price is small, so that it hardly ever tells anything. */
static enum status lost_share(struct count *q, const struct choice *c,
                              mpq_t out, struct err *err)
{
    struct str v = q->p->session->opt.error_budget;
    bool rho = c->total.kind == PRIVACY_ZCDP;
    mpq_set_ui(out, v.n || q->owners.k > 1 ? 0 : 1, 10);
    if (!v.n || str_is(v, "none") || str_is(v, "0"))
        return OK;
    TRY(rat_read(v, "error-budget", out, err));
    mpq_div(out, out, rho ? c->total.rho : c->total.epsilon);
    if (mpq_sgn(out) <= 0 || mpq_cmp_ui(out, 1, 1) >= 0)
        return err_set(err, E_VALUE,
                       "the error budget must lie between 0 and %s",
                       rho ? "rho" : "epsilon");
    return OK;
}

/* Of a sum in units of its last digit. */
static u128 in_units(const struct count *q, u128 v)
{
    for (uint32_t i = 0; i < q->scale; i++)
        v = u128_mul_inf(v, 10);
    return v;
}

/* PRIVACY: a guess comes from people; nothing here has seen a row. */
static enum status read_guess(struct count *q, u128 *out, struct err *err)
{
    struct str v = q->p->session->opt.guess;
    *out = in_units(q, q->p->schema.guess);
    if (!v.n)
        return OK;
    if (str_is(v, "earlier")) { /* else told_guess.c has put it there */
        err_set(err, E_VALUE,
                "no earlier answer told a threshold for such a question");
        err_hint(err, "A release with --ledger finds those that were told to "
                      "the same analyst, for the same query with other "
                      "constants.");
        return E_VALUE;
    }
    if (!u128_read(v.p, v.n, out) || *out == 0) {
        err_set(err, E_VALUE, "the guess must be a whole number from 1 on");
        err_hint(err, "It says how many results one entity has at most, about; "
                      "too small a guess does no harm.");
        return E_VALUE;
    }
    *out = in_units(q, *out);
    return OK;
}

static enum status plan_with(struct count *q, struct choice *c,
                             const struct guarantee *g, mpq_srcptr lost,
                             struct err *err)
{
    const struct schema *s = &q->p->schema;
    bool change = s->neighbours == CHANGE_ENTITY;
    /* PRIVACY: half the price pays for two groups with an entity more or less
     * each, and under epsilon for one group whose entity changes (2 e1 + e2 is
     * less than 2 (e1 + e2)); rho needs the plan for a change, besides. */
    if (c->entity.grouping == GROUPS_EACH && g->kind != PRIVACY_ZCDP)
        change = false;
    struct elect_question e = {
        .owners = q->owners.k,
        .exact = pack_exact(q->owners.k, !q->owners.determined),
        .bound = q->entity.upper,
        .order = s->order,
        .change = change,
        .vector = c->entity.grouping == GROUPS_VECTOR,
        .nested = q->owners.nested,
        .lost = mpq_sgn(lost) ? lost : NULL,
    };
    TRY(read_guess(q, &e.guess, err));
    return elect_plan(g, &e, &c->entity.election, err);
}

static enum status plan(struct count *q, struct choice *c, mpq_srcptr lost,
                        struct err *err)
{
    struct guarantee g;
    guarantee_init(&g);
    share_price(c, q->p->schema.neighbours == CHANGE_ENTITY, &g);
    enum status st = plan_with(q, c, &g, lost, err);
    guarantee_fini(&g);
    return st;
}

/* Whatever a threshold for keys could refuse, it refuses here: for the ends of
 * the grid, before the hold. */
static enum status try_thresholds(struct choice *c, struct err *err)
{
    struct choice_entity *x = &c->entity;
    if (!x->keys_found)
        return OK;
    TRY(elect_key_threshold(&x->election, 0, c->total.delta, x->threshold,
                            err));
    return elect_key_threshold(&x->election, x->election.n - 1, c->total.delta,
                               x->threshold, err);
}

/* The error in units of the threshold, for a quote: at a large one, where
 * rounding does not show. */
static enum status quote_units(struct choice *c, struct err *err)
{
    const struct election *e = &c->entity.election;
    unsigned j = 0;
    while (j + 1 < e->n && e->grid[j] >> QUOTED == 0)
        j++;
    TRY(elect_error(e, j, false, &c->error, err));
    double t = (double)e->grid[j]; /* display */
    c->error.std /= t;
    c->error.p50 /= t;
    c->error.p90 /= t;
    c->error.p95 /= t;
    c->error.p99 /= t;
    return OK;
}

static enum status use_election(struct count *q, struct choice *c,
                                struct err *err)
{
    mpq_t lost;
    mpq_init(lost);
    enum status st = lost_share(q, c, lost, err);
    if (st == OK)
        st = plan(q, c, lost, err);
    if (st == OK)
        st = quote_units(c, err);
    if (st == OK)
        st = try_thresholds(c, err);
    mpq_clear(lost);
    return st;
}

/* --- the rule ------------------------------------------------------------- */

static enum status choose_election(struct count *q, const struct group_keys *k,
                                   struct choice *c, struct err *err)
{
    choice_become(c, CHOICE_ENTITY);
    c->entity.keys_found = k->found;
    c->entity.grouping = grouping_of(q);
    if (c->entity.grouping == GROUPS_SPLIT)
        TRY(check_split(k, err));
    return use_election(q, c, err);
}

/* PRIVACY: an election's candidates are keys with something left in their sum;
 * a threshold for noise on all keys that occur does not hide one whose rows
 * weigh nothing. */
static bool hides_in_sum(const struct count *q, const struct group_keys *k)
{
    return q->is_sum && k->found;
}

static enum status by_name(struct count *q, const struct group_keys *k,
                           struct choice *c, struct err *err)
{
    struct str name = q->p->session->opt.mechanism;
    enum noise_kind kind;
    c->reason = STR("It was asked for.");
    if (str_is(name, "election"))
        return choose_election(q, k, c, err);
    if (!noise_find(name, &kind) ||
        (kind != NOISE_DISCRETE_LAPLACE && kind != NOISE_DISCRETE_GAUSSIAN)) {
        err_set(err, E_VALUE, "there is no mechanism \"%.*s\" for entities",
                PSTR(name));
        err_hint(err, "Choose election, discrete-laplace or "
                      "discrete-gaussian.");
        return E_VALUE;
    }
    if (hides_in_sum(q, k)) {
        err_set(err, E_UNSUPPORTED,
                "the keys of a SUM cannot be found in private rows by this "
                "mechanism");
        err_hint(err, "Use election, or name the keys with --groups.");
        return E_UNSUPPORTED;
    }
    if (q->entity.l1_upper == U128_INF) {
        err_set(err, E_UNBOUNDED,
                "one entity can change this count without limit");
        err_hint(err, "Use election, or declare how many rows one entity has "
                      "at most.");
        return E_UNBOUNDED;
    }
    return use_static(q, kind, k->found, c, err);
}

static const char *election_reason(enum elected_by g)
{
    static const char *const text[] = {
        [GROUPS_NONE] = "",
        [GROUPS_EACH] = " For each group by itself, at the whole price: an "
                        "entity is in one group only.",
        [GROUPS_VECTOR] = " Once for all groups: what an entity has in all of "
                          "them together is cut, in the order of the keys.",
        [GROUPS_SPLIT] = " For each group, and the groups share the price: a "
                         "result can belong to several entities, or to one "
                         "of several.",
    };
    return text[g];
}

/* What noise for a static bound is taken up to: groups that share a price get
 * as many times the noise of an election. */
static u128 static_most(const struct count *q, const struct choice *c)
{
    bool split = grouping_of(q) == GROUPS_SPLIT && c->n_groups;
    return STATIC_MOST * (split ? (u128)c->n_groups : 1);
}

static enum status by_bound(struct count *q, bool found, struct choice *c,
                            struct err *err)
{
    char text[U128_DIGITS];
    c->reason = str_printf(&q->p->arena,
                           "One entity changes the count by at most %s, by "
                           "what is declared.",
                           u128_text(q->entity.l1_upper, text));
    return use_static(q, static_kind(c), found, c, err);
}

static enum status by_rule(struct count *q, const struct group_keys *k,
                           struct choice *c, struct err *err)
{
    if (q->entity.l1_upper <= static_most(q, c) && !hides_in_sum(q, k))
        return by_bound(q, k->found, c, err);
    c->reason = str_printf(
        &q->p->arena,
        "How much one entity may contribute is elected privately; what it has "
        "beyond that is cut, and the noise is for that much.%s",
        election_reason(grouping_of(q)));
    return choose_election(q, k, c, err);
}

static enum status refuse_sum(struct err *err)
{
    err_set(err, E_UNSUPPORTED,
            "with entities, a sum is offered of numbers that cannot be "
            "negative, over the rows of a join");
    err_detail(err, "What one entity adds is cut at a threshold; of numbers of "
                    "both signs, of distinct values and of unions it cannot be "
                    "told apart.");
    err_hint(err, "Write SUM(GREATEST(x, 0)), and a second sum of GREATEST(-x, "
                  "0) where numbers are negative; or declare how many rows one "
                  "entity has at most.");
    return E_UNSUPPORTED;
}

/*
 * PRIVACY: with negation and unions the rows of one entity can decide about
 * results of others, so that none can be cut: a bound from promises, or
 * nothing (entity/PROOF.md, claim 12). Keys can come and go at once.
 */
static enum status check_tree(const struct count *q, const struct group_keys *k,
                              struct err *err)
{
    bool elect = str_is(q->p->session->opt.mechanism, "election");
    if (prepare_can_cut(q) ||
        (!k->found && !elect && q->entity.l1_upper != U128_INF))
        return OK;
    if (q->is_sum)
        return refuse_sum(err);
    err_set(err, E_UNSUPPORTED,
            k->found ? "keys from private rows are offered for conjunctive "
                       "queries only"
            : elect  ? "an election is offered for conjunctive queries only"
                     : "with entities, a query with negation, alternatives or "
                       "unions needs a bound on what one entity can change");
    err_detail(err, "One entity's rows could decide about answers of many "
                    "others.");
    err_hint(err, k->found ? "Name the keys with --groups, or join a public "
                             "table that lists them."
                           : "Count entities (COUNT(DISTINCT owner)), declare "
                             "how many rows one has at most, or count the "
                             "parts one by one.");
    return E_UNSUPPORTED;
}

enum status choose_entity(struct count *q, const struct group_keys *k,
                          struct choice *c, struct err *err)
{
    TRY(check_tree(q, k, err));
    if (!prepare_can_cut(q) && !q->p->session->opt.mechanism.n)
        return by_bound(q, false, c, err);
    if (k->found)
        TRY(check_found(c, err));
    if (q->p->session->opt.mechanism.n)
        return by_name(q, k, c, err);
    return by_rule(q, k, c, err);
}
