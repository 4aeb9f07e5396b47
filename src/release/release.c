/*
 * The release, on one screen: read `run` below.
 *
 *   parse -> policy -> normalise -> bound -> keys -> choose -> quote
 *     -> what is stored -> engine, planner, random bytes, budget
 *     everything that can fail for public reasons fails here, uncharged;
 *   hold -> load -> evaluate -> draw -> commit            (keeper.c, draw.c)
 *     PRIVACY: the charge is durable before a private row is read for the
 *     query. From here on a failure may depend on private rows: it is one
 *     fixed outcome, and its reason goes to the owner's log.
 *
 * Where the owner says when replies come, the commit and the answer (or the
 * failure) come then, not before, so their times say nothing: moment.c,
 * docs/threat-model.md.
 */
#include "release/release.h"

#include <time.h>

#include "release/release_int.h"
#include "release/steward.h"

/* Only public tables are read: failures may be shown. */
static enum status run_free(struct release *r, struct err *err)
{
    TRY(evaluate_engine(&r->p, &r->data, err));
    return release_draw(r, err);
}

/* Until the same question, which somebody else asked, has ended. */
static enum status wait_for_same(struct release *r, struct err *err)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    struct ledger_charge *c = NULL;
    size_t n = 0;
    bool open = true;
    TRY(release_open_ledger(r, err));
    TRY(release_charges(r, &c, &n, err));
    while (open) {
        TRY(ledger_on_its_way(r->ledger, &r->p.arena, c, n, &open, err));
        if (open && session_cancelled(r->session))
            return err_set(err, E_CANCELLED, "cancelled");
        if (open)
            nanosleep(&pause, NULL);
    }
    return OK;
}

/* What is asked while it is on its way for somebody is paid once: its answer is
 * a stored one then. If it was locked the hold says so. */
static enum status keep_or_join(struct release *r, struct err *err)
{
    enum status s = release_keep(r, err);
    while (s == E_ON_ITS_WAY) {
        TRY(wait_for_same(r, err));
        TRY(release_known(r, err));
        s = release_costs(r) ? release_keep(r, err) : OK;
    }
    return s;
}

/* Only what was paid for is wanted. */
static enum status unpaid(struct err *err)
{
    err_set(err, E_UNPAID, "this question was not asked before");
    err_detail(err, "Nothing was charged.");
    err_hint(err, "Ask without \"stored\" to pay for an answer.");
    return E_UNPAID;
}

static enum status run(struct release *r, struct str text, struct err *err)
{
    TRY(release_quote(r, text, err));
    TRY(release_known(r, err));
    if (!release_left(r))
        return OK;
    if (!release_costs(r))
        return run_free(r, err);
    if (r->session->opt.stored)
        return unpaid(err);
    TRY(release_admit(r, err));
    return keep_or_join(r, err);
}

/* --- around it ------------------------------------------------------------ */

/* When what was just stored was held. */
static void tell_moment(struct release *r, struct released *x)
{
    struct ledger_found found;
    struct err why;
    if (release_charged(x) &&
        ledger_find(r->ledger, &r->p.arena, &x->request, &x->c->choice.price,
                    &found, &why) == OK)
        x->answer.as_of = found.as_of;
}

/* The answer is paid for and stored: that the balance cannot be read now does
 * not take it away. */
static void budget_now(struct release *r)
{
    struct err why;
    const struct options *o = &r->session->opt;
    if (!r->ledger && release_costs(r) && release_open_ledger(r, &why) != OK)
        return;
    r->budget.known =
        r->ledger && ledger_balance(r->ledger, o->dataset, o->analyst,
                                    &r->budget.balance, &why) == OK;
    for (size_t i = 0; r->ledger && i < r->p.n_counts; i++)
        tell_moment(r, &r->counts[i]);
}

enum status ask_release(struct session *s, struct str query, struct result *out,
                        struct err *err)
{
    if (s->steward > 0)
        return steward_release(s, query, out, err);
    struct release r = {.session = s};
    struct progress progress = s->progress;
    prepared_init(&r.p, s);
    s->discreet = true;
    r.p.arena.wipe = true;
    balance_init(&r.budget.balance);
    moment_begin(&r);
    enum status st = run(&r, query, err);
    if (st == OK)
        budget_now(&r);
    if (st == OK)
        st = report_release(&r.p, r.counts, &r.budget, out, err);
    evaluated_fini(&r.data);
    /* PRIVACY: a hold that could not be ended is left to whoever comes next,
     * which takes that this process is done with it. */
    release_leave_ledger(&r, st == OK || st == E_UNPAID || st == E_BUDGET);
    balance_fini(&r.budget.balance);
    priced_fini(&r.p, r.priced);
    prepared_fini(&r.p);
    s->discreet = false;
    s->progress = progress;
    s->deadline_ns = 0;
    return st;
}
