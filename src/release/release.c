/*
 * The release, on one screen: read `run` below.
 *
 *   parse -> policy -> normalise -> bound -> keys -> choose -> quote
 *     everything that can fail for public reasons fails here, uncharged;
 *   load
 *     files that are no database (malformed) fail here, uncharged, with one
 *     fixed message: no neighbouring database has such a file;
 *   hold -> check constraints -> evaluate -> draw -> commit
 *     PRIVACY: from here on a failure may depend on private rows. It is one
 *     fixed message, it is charged, and its reason goes to the owner's log.
 *
 * With --deadline the hold comes before the load, and the commit and the
 * answer (or the fixed failure) when the deadline passes, not before, so
 * their times say nothing. docs/threat-model.md.
 */
#include "release/release.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "release/release_int.h"

/* --- failures ------------------------------------------------------------- */

static void log_for_owner(const struct session *s, struct str receipt,
                          const struct err *e)
{
    if (!s->opt.owner_log.n)
        return;
    int fd = open(s->opt.owner_log.p,
                  O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    dprintf(fd, "%.*s: %s: %s. %s\n", PSTR(receipt), status_code(e->status),
            e->message, e->detail);
    close(fd);
}

/* Of the first count that was charged. */
static struct str receipt_of(const struct release *r)
{
    for (size_t i = 0; i < r->p.n_counts; i++)
        if (!r->counts[i].done && r->counts[i].answer.receipt.n)
            return r->counts[i].answer.receipt;
    return STR("");
}

static void log_engine(const struct release *r)
{
    struct err note = {.status = OK};
    snprintf(note.message, sizeof note.message, "auto chose the engine %s",
             evaluated_engine(&r->data));
    log_for_owner(r->session, receipt_of(r), &note);
}

/* PRIVACY: one text for every reason. */
static enum status withhold(struct release *r, const struct err *why,
                            struct err *err)
{
    log_for_owner(r->session, receipt_of(r), why);
    err_set(err, E_WITHHELD, "the release failed after it was charged");
    err_detail(err,
               "The reason may depend on private rows, so it is not "
               "shown. Receipt %.*s.",
               PSTR(receipt_of(r)));
    err_hint(err, "The owner finds it in the file of --owner-log, or with "
                  "dpcount check.");
    return E_WITHHELD;
}

/* Is what stopped the loading a property of the files rather than of a
 * database in them? */
static bool not_a_database(enum status s)
{
    return s == E_SOURCE || s == E_DATA || s == E_NAME || s == E_TYPE ||
           s == E_SYNTAX || s == E_UNSUPPORTED;
}

static enum status refuse_load(struct release *r, const struct err *why,
                               struct err *err)
{
    log_for_owner(r->session, STR("not charged"), why);
    if (status_visibility(why->status) == ANALYST) {
        *err = *why;
        return why->status;
    }
    err_set(err, why->status, "the data could not be read");
    err_detail(err, "A file is malformed. Nothing was charged.");
    err_hint(err, "The owner finds the place with dpcount check.");
    return why->status;
}

/* --- the pipeline --------------------------------------------------------- */

/* PRIVACY: everything whose time depends on rows is done before, giving back
 * their memory included. */
static void wait_for_deadline(struct session *s)
{
    struct timespec until = {.tv_sec = (time_t)(s->deadline_ns / 1000000000),
                             .tv_nsec = s->deadline_ns % 1000000000};
    if (s->deadline_ns)
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
               EINTR)
            ;
    s->deadline_ns = 0;
}

static bool is_charged(const struct released *x)
{
    return !x->done && !x->c->choice.exact;
}

/* All counts, or none. */
static enum status afford(struct release *r, struct err *err)
{
    struct price sum;
    const struct ledger_request *request = NULL;
    price_init(&sum);
    for (size_t i = 0; i < r->p.n_counts; i++) {
        const struct price *one = &r->priced[i].choice.price;
        if (!is_charged(&r->counts[i]))
            continue;
        request = &r->counts[i].request;
        mpq_add(sum.epsilon, sum.epsilon, one->epsilon);
        mpq_add(sum.delta, sum.delta, one->delta);
        mpq_add(sum.rho, sum.rho, one->rho);
    }
    enum status s = request ? ledger_afford(r->ledger, request, &sum, err) : OK;
    price_fini(&sum);
    return s;
}

static enum status hold(struct release *r, struct err *err)
{
    for (size_t i = 0; i < r->p.n_counts; i++)
        if (is_charged(&r->counts[i]))
            TRY(ledger_hold(r->ledger, &r->p.arena, &r->counts[i].request,
                            &r->priced[i].choice.price,
                            &r->counts[i].answer.receipt, err));
    return OK;
}

static enum status commit(struct release *r, struct err *err)
{
    struct str text;
    for (size_t i = 0; i < r->p.n_counts; i++) {
        const struct released *x = &r->counts[i];
        if (!is_charged(x))
            continue;
        TRY(answer_write(&r->p.arena, &x->answer, &text, err));
        TRY(ledger_commit(r->ledger, x->answer.receipt, text, err));
    }
    return OK;
}

/* Load and hold. PRIVACY: anybody can see in the ledger when a charge was
 * made. With a deadline it is made before loading, whose time depends on rows,
 * and then pays for files that are no database too. *s: how the loading
 * ended. */
static enum status load_and_hold(struct release *r, enum status *s,
                                 struct err *why, struct err *err)
{
    bool early = r->session->deadline_ns && release_costs(r);
    *s = evaluate_engine(&r->p, &r->data, why);
    if (early && *s == OK)
        TRY(hold(r, err));
    if (*s == OK)
        *s = evaluate_load(&r->p, &r->data, why);
    if (!receipt_of(r).n && not_a_database(*s))
        return refuse_load(r, why, err);
    return receipt_of(r).n ? OK : hold(r, err);
}

static enum status run(struct release *r, struct str text, struct err *err)
{
    struct err why;
    enum status s;
    TRY(release_quote(r, text, err));
    TRY(release_known(r, err));
    if (!release_left(r))
        return OK;
    TRY(afford(r, err));
    TRY(load_and_hold(r, &s, &why, err));
    /* PRIVACY: nothing below is uncharged, and nothing is drawn above. */
    if (s == OK && str_is(r->session->opt.engine, "auto"))
        log_engine(r);
    if (s == OK)
        s = release_draw(r, &why);
    evaluated_fini(&r->data);
    wait_for_deadline(r->session); /* the ledger tells when the commit was */
    if (s == OK)
        s = commit(r, &why);
    return s == OK ? OK : withhold(r, &why, err);
}

/* --- around it ------------------------------------------------------------ */

static enum status read_deadline(struct session *s, struct err *err)
{
    struct timespec now;
    mpq_t v;
    struct str text = s->opt.deadline;
    s->deadline_ns = 0;
    if (!text.n)
        return OK;
    mpq_init(v);
    enum status st = rat_read(text, "deadline", v, err);
    double seconds = mpq_get_d(v); /* display: no privacy hangs on it */
    mpq_clear(v);
    TRY(st);
    if (!(seconds > 0 && seconds <= 86400))
        return err_set(err, E_VALUE,
                       "the deadline must be a number of seconds up to 86400");
    clock_gettime(CLOCK_MONOTONIC, &now);
    s->deadline_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec +
                     (int64_t)(seconds * 1e9);
    return OK;
}

/* The answer is paid for and stored: that the balance cannot be read now does
 * not take it away. */
static void budget_now(struct release *r)
{
    struct err why;
    const struct options *o = &r->session->opt;
    r->budget.known =
        r->ledger && ledger_balance(r->ledger, o->dataset, o->analyst,
                                    &r->budget.balance, &why) == OK;
}

static enum status timed(struct release *r, struct str text, struct err *err)
{
    TRY(read_deadline(r->session, err));
    enum status s = run(r, text, err);
    if (s == OK)
        budget_now(r);
    return s;
}

enum status ask_release(struct session *s, struct str query, struct result *out,
                        struct err *err)
{
    struct release r = {.session = s};
    prepared_init(&r.p, s);
    s->discreet = true;
    r.p.arena.wipe = true;
    balance_init(&r.budget.balance);
    enum status st = timed(&r, query, err);
    if (st == OK)
        report_release(&r.p, r.counts, &r.budget, out);
    evaluated_fini(&r.data);
    ledger_close(r.ledger);
    balance_fini(&r.budget.balance);
    priced_fini(&r.p, r.priced);
    prepared_fini(&r.p);
    wait_for_deadline(s);
    s->discreet = false;
    return st;
}
