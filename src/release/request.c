/*
 * The public half of a release: the request, its price, what the ledger knows
 * of it. PRIVACY: no private row is read here, so every failure may be shown
 * and costs nothing.
 */
#include "num/mpz_text.h"
#include "release/release_int.h"
#include "release/strict.h"

/* --- the key of a stored answer ------------------------------------------- */

static void print_found(struct sb *b, const struct priced *c)
{
    const struct choice *x = &c->choice;
    bool elected = x->kind == CHOICE_ENTITY;
    sb_cstr(b, "; groups found, one-sided ");
    sb_u128(b, c->q->p->schema.has_entities ? c->q->entity.upper
                                            : c->q->bound.upper);
    sb_cstr(b, ", threshold ");
    if (elected || x->kind == CHOICE_THRESHOLD)
        rat_print_mpz(b, elected ? x->entity.threshold : x->threshold);
    else
        sb_cstr(b, "0");
    if (elected) { /* that of the largest T: it tells delta */
        sb_cstr(b, " at most, delta ");
        rat_print(b, x->total.delta);
    }
    for (size_t col = 0; col < c->keys.n_cols; col++)
        for (size_t i = 0; i < c->keys.only[col].n; i++) {
            if (i)
                sb_cstr(b, ", ");
            else /* which column: the same list may be of another */
                sb_printf(b, "; key %zu among ", col + 1);
            value_print(b, &c->keys.only[col].vals[i]);
        }
}

/* The constants of an election: they decide the law of the answer. */
static void print_election(struct sb *b, const struct priced *c)
{
    const struct election *e = &c->choice.entity.election;
    sb_printf(b, "; election, %u owners, %s, grid of %u up to %llu, flat to %u",
              e->q.owners, e->q.exact ? "exact" : "certified", e->n,
              (unsigned long long)e->grid[e->n - 1], e->flat);
    static const char *const groups[] = {[GROUPS_NONE] = "",
                                         [GROUPS_EACH] = ", each group",
                                         [GROUPS_VECTOR] = ", one vector",
                                         [GROUPS_SPLIT] = ", groups share"};
    sb_cstr(b, groups[c->choice.entity.grouping]);
    sb_cstr(b, e->q.nested ? ", nested" : "");
    sb_cstr(b, ", weight ");
    rat_print(b, e->e1);
    sb_cstr(b, ", lambda ");
    rat_print(b, e->lambda);
    sb_cstr(b, ", answer ");
    rat_print(b, e->concentrated ? e->answer.rho : e->answer.epsilon);
    sb_cstr(b, ", lost ");
    rat_print(b, e->concentrated ? e->lost.rho : e->lost.epsilon);
}

static void print_sensitivity(struct sb *b, const struct priced *c)
{
    const struct choice *x = &c->choice;
    if (x->kind == CHOICE_ENTITY) {
        print_election(b, c);
        return;
    }
    sb_cstr(b, "; sensitivity ");
    if (x->kind != CHOICE_SMOOTH) {
        sb_u128(b, c->q->p->schema.has_entities ? c->q->entity.l1_upper
                                                : c->q->bound.l1_upper);
        return;
    }
    sb_cstr(b, "residual, beta ");
    rat_print(b, x->smooth.beta);
    sb_cstr(b, c->q->p->filters_exact ? ", filters exact" : "");
    sb_cstr(b, ", error estimate ");
    rat_print(b, x->smooth.error_epsilon);
}

/* What was measured on a public table that the question does not have changes
 * nothing; on a server it changes often. */
static void print_constraints(struct sb *b, const struct priced *c, uint32_t t)
{
    const struct schema *s = &c->q->p->schema;
    const struct table *d = &s->tables.p[t];
    bool counts = s->has_entities || prepare_count_uses(c->q, t) ||
                  cq_atoms_of_table(c->q->normal, t);
    for (size_t i = 0; i < d->degrees.n; i++) {
        if (d->degrees.p[i].measured && !counts)
            continue;
        sb_cstr(b, "; ");
        degree_print(b, d, &d->degrees.p[i]);
    }
}

/* PRIVACY: a number that was drawn with one sum is no number for another. */
static void print_pair(struct sb *b, const struct priced *c)
{
    sb_cstr(b, ", drawn together, ");
    rat_print(b, c->choice.noise.a);
    sb_cstr(b, " beside ");
    rat_print(b, c->choice.noise.b);
    sb_cstr(b, " of: ");
    sb_str(b, prepare_count_text(c->choice.joint));
}

/* Everything that decides the law of the answer, so that a stored answer is
 * given again only for the very same question. */
static struct str settings(const struct priced *c)
{
    struct sb b;
    struct prepared *p = c->q->p;
    sb_init(&b, &p->arena);
    sb_str(&b,
           prepare_neighbours_text(c->choice.joint ? c->choice.joint : c->q));
    print_sensitivity(&b, c);
    if (c->choice.joint)
        print_pair(&b, c);
    for (size_t i = 0; i < c->keys.n * c->keys.n_cols; i++) {
        sb_cstr(&b, i ? ", " : "; groups ");
        value_print(&b, &c->keys.vals[i]);
    }
    if (c->keys.found)
        print_found(&b, c);
    for (uint32_t t = 0; t < p->schema.tables.n; t++)
        print_constraints(&b, c, t);
    sb_cstr(&b, "; ");
    cq_print(&b, c->q->normal);
    if (c->q->tree) /* the body alone is not the question */
        tree_print(&b, c->q->tree);
    return b.failed ? (struct str){0} : sb_view(&b);
}

struct str release_law(const struct priced *c)
{
    struct sb b;
    const struct choice *x = &c->choice;
    struct str what = settings(c);
    sb_init(&b, &c->q->p->arena);
    sb_cstr(&b, choice_mechanism(x));
    sb_cstr(&b, ", epsilon ");
    rat_print(&b, x->total.epsilon);
    sb_cstr(&b, ", delta ");
    rat_print(&b, x->total.delta);
    sb_cstr(&b, ", rho ");
    rat_print(&b, x->total.rho);
    sb_cstr(&b, "; ");
    sb_str(&b, what);
    return b.failed || !what.p ? (struct str){0} : sb_view(&b);
}

static enum status make_requests(struct release *r, struct err *err)
{
    const struct options *o = &r->session->opt;
    TRY(validity_open(&r->p, r->ledger, &r->validity, err));
    for (size_t i = 0; i < r->p.n_counts; i++) {
        struct released *x = &r->counts[i];
        x->request = (struct ledger_request){
            .dataset = o->dataset,
            .analyst = o->analyst,
            .source = r->validity.source,
            .query = prepare_count_text(x->c->q),
            .mechanism = str_of(choice_mechanism(&x->c->choice)),
            .settings = settings(x->c),
            .version = r->validity.version,
            .sql = r->p.text,
            .at_most = o->spend_at_most,
        };
        if (!x->request.query.p || !x->request.settings.p)
            return err_nomem(err);
    }
    return OK;
}

/* --- the ledger ----------------------------------------------------------- */

static bool all_exact(const struct release *r)
{
    for (size_t i = 0; i < r->p.n_counts; i++)
        if (r->priced[i].choice.kind != CHOICE_EXACT)
            return false;
    return true;
}

/* The one that was open for the question before, if it is still what a new one
 * would be. */
static enum status take_ledger(struct release *r, struct err *err)
{
    struct kept_ledger *k = r->session->kept;
    const char *path = r->session->opt.ledger.p;
    struct ledger_access access = {.anchor = r->session->opt.anchor.p,
                                   .busy = r->session->detached,
                                   .group = k ? k->group : NULL};
    struct err why;
    if (k && k->ledger) {
        r->ledger = k->ledger;
        k->ledger = NULL;
        if (ledger_reopen(r->ledger, path, &access, &why) == OK)
            return OK;
        ledger_close(r->ledger);
        r->ledger = NULL;
    }
    return ledger_open(k ? &k->mem : &r->session->mem, path, &access,
                       &r->ledger, err);
}

void release_leave_ledger(struct release *r, bool whole)
{
    struct kept_ledger *k = r->session->kept;
    if (k && whole && r->ledger && !k->ledger)
        k->ledger = r->ledger;
    else
        ledger_close(r->ledger);
    r->ledger = NULL;
}

enum status release_open_ledger(struct release *r, struct err *err)
{
    const struct options *o = &r->session->opt;
    if (!r->ledger)
        TRY(take_ledger(r, err));
    return ledger_balance(r->ledger, o->dataset, o->analyst, &r->budget.balance,
                          err);
}

/* PRIVACY: what costs nothing because a policy calls tables public is told
 * under the policy that the ledger is bound to, and under no other. */
static enum status check_bound(struct release *r, struct err *err)
{
    const struct options *o = &r->session->opt;
    if (!o->ledger.n)
        return OK;
    TRY(binding_of(&r->p, &r->policy, err));
    TRY(release_open_ledger(r, err));
    enum status s = ledger_bound(r->ledger, o->dataset, &r->policy, err);
    release_leave_ledger(r, s == OK);
    return s;
}

static enum status open_ledger(struct release *r, struct err *err)
{
    if (all_exact(r))
        return check_bound(r, err);
    if (!r->session->opt.ledger.n) {
        err_set(err, E_USAGE, "no ledger was given");
        err_hint(err, "Name it with --ledger FILE; the owner makes it with: "
                      "dpcount budget init --ledger FILE --epsilon E");
        return E_USAGE;
    }
    TRY(binding_of(&r->p, &r->policy, err));
    TRY(release_open_ledger(r, err));
    r->apart = r->budget.balance.composition != COMPOSE_SUM;
    if (r->apart)
        TRY(choose_apart(&r->p, r->priced, err));
    else
        for (size_t i = 0; i < r->p.n_counts; i++)
            choose_price_for_sums(&r->priced[i].choice);
    return OK;
}

/* A release needs one price, and one that gives the error. */
static enum status check_wish(const struct prepared *p, struct err *err)
{
    const struct error_wish *w = &p->wish;
    if (!w->given || (!w->percent && !w->at_least))
        return OK;
    err_set(err, E_UNSUPPORTED,
            w->percent ? "what a percentage of the count is, is private"
                       : "the noise of this question is measured on the data: "
                         "its error is not known beforehand");
    if (w->percent)
        err_hint(err,
                 "Say a number, as in --error 50; quote --error %g%% lists "
                 "prices for counts of several sizes.",
                 w->value);
    else
        err_hint(err,
                 "Release with an --epsilon. Below %.*s this error is out of "
                 "reach, whatever the data.",
                 PSTR(p->epsilon));
    return E_UNSUPPORTED;
}

/* Strict mode, of the ledger or the policy. */
static enum status admit_work(struct release *r, struct err *err)
{
    struct ledger_limits l = {0};
    if (r->ledger)
        TRY(ledger_limits(r->ledger, &r->p.arena, r->session->opt.dataset, &l,
                          err));
    r->strict = (struct strict_limits){l.strict, l.work_at_most, l.memory};
    return strict_admit(&r->p, r->priced, &r->strict, err);
}

enum status release_derive(struct release *r, struct str text,
                           enum source_need need, struct err *err)
{
    TRY(prepare_schema(&r->p, need, err));
    TRY(prepare_query(&r->p, text, err));
    TRY(prepare_bounds(&r->p, false, err));
    TRY(release_told_guess(r, err));
    TRY(choose_all(&r->p, &r->priced, err));
    TRY(check_wish(&r->p, err));
    r->counts = NEWS(&r->p.arena, struct released, r->p.n_counts);
    if (!r->counts)
        return err_nomem(err);
    for (size_t i = 0; i < r->p.n_counts; i++)
        r->counts[i].c = &r->priced[i];
    return OK;
}

enum status release_quote(struct release *r, struct str text, struct err *err)
{
    TRY(release_derive(r, text, SOURCE_REQUIRED, err));
    TRY(open_ledger(r, err));
    TRY(admit_work(r, err));
    return make_requests(r, err);
}

/* --- what is known already ------------------------------------------------ */

static size_t n_answers(const struct released *x)
{
    return x->c->keys.found          ? x->answer.keys.n
           : x->c->q->query->n_group ? x->c->keys.n
                                     : 1;
}

/* One, or one for each group. */
static size_t n_thresholds(const struct released *x)
{
    const struct choice *c = &x->c->choice;
    if (c->kind != CHOICE_ENTITY)
        return 0;
    bool each =
        c->entity.grouping == GROUPS_EACH || c->entity.grouping == GROUPS_SPLIT;
    return each ? x->answer.numbers.n : 1;
}

/* Found keys have the values that the question asks for. */
static enum status keys_fit(const struct released *x, struct err *err)
{
    const struct value *vals;
    return x->c->keys.found ? release_key_values(x, &vals, err) : OK;
}

enum status release_fits(const struct released *x, struct err *err)
{
    const struct answer *y = &x->answer;
    if (y->numbers.n != n_answers(x) || (y->keys.n && !x->c->keys.found) ||
        y->thresholds.n != n_thresholds(x))
        return err_set(err, E_LEDGER,
                       "the ledger holds an answer to another question");
    return keys_fit(x, err);
}

static enum status stored_answer(struct release *r, struct released *x,
                                 struct err *err)
{
    struct ledger_found found;
    if (r->session->opt.fresh || x->c->choice.kind == CHOICE_EXACT)
        return OK;
    TRY(ledger_find(r->ledger, &r->p.arena, &x->request, &x->c->choice.price,
                    &found, err));
    if (!found.answer.p)
        return OK;
    /* PRIVACY: what is repeated is on the disk, like what is given first */
    TRY(ledger_settle(r->ledger, err));
    TRY(answer_read(&r->p.arena, found.answer, &x->answer, err));
    TRY(release_fits(x, err));
    x->answer.receipt = found.receipt;
    x->answer.as_of = found.as_of;
    x->answer.repeated = true;
    x->done = true;
    return OK;
}

/* An exact answer that private tables take part in: no row of them changes
 * it, and without rows it is 0. PRIVACY: they are not read, for a failure
 * while reading would be an answer that nobody paid for. */
static enum status constant_answer(struct release *r, struct released *x,
                                   struct err *err)
{
    const struct cq *q = x->c->q->query;
    size_t n = q->n_group ? x->c->keys.n : 1;
    if (x->c->choice.kind != CHOICE_EXACT || !cq_private_atoms(q))
        return OK;
    for (size_t i = 0; i < n; i++)
        if (!VEC_PUSH(&r->p.arena, &x->answer.numbers, STR("0")))
            return err_nomem(err);
    answer_public_error(&x->c->choice, &x->answer);
    x->done = true;
    return OK;
}

/* PRIVACY: a draw for both numbers is for both, whatever is stored of one. */
static void keep_pair(struct released *sum, struct released *number)
{
    if (!release_is_pair(sum) || sum->done == number->done)
        return;
    sum->done = number->done = false;
    sum->answer = number->answer = (struct answer){0};
}

enum status release_known(struct release *r, struct err *err)
{
    for (size_t i = 0; i < r->p.n_counts; i++) {
        if (r->counts[i].done) /* when it is asked again */
            continue;
        r->counts[i].answer = (struct answer){0};
        TRY(stored_answer(r, &r->counts[i], err));
        TRY(constant_answer(r, &r->counts[i], err));
    }
    for (size_t i = 0; i + 1 < r->p.n_counts; i++)
        keep_pair(&r->counts[i], &r->counts[i + 1]);
    return OK;
}

bool release_left(const struct release *r)
{
    for (size_t i = 0; i < r->p.n_counts; i++)
        if (!r->counts[i].done)
            return true;
    return false;
}

bool release_is_pair(const struct released *x)
{
    return x->c->choice.joint && x->c->choice.joint == x->c->q;
}

bool release_charged(const struct released *x)
{
    return !x->done && x->c->choice.kind != CHOICE_EXACT;
}

bool release_costs(const struct release *r)
{
    for (size_t i = 0; i < r->p.n_counts; i++)
        if (release_charged(&r->counts[i]))
            return true;
    return false;
}
