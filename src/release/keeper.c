/*
 * The keeper: from the hold to the stored answer.
 *
 *   this process          keeper                        worker
 *   closes ledger, source
 *   starts the keeper --> opens the ledger, holds
 *   waits, may be told    starts the worker ----------> opens the source,
 *   to stop               waits until the reply is due   loads, counts, draws
 *                         commits, or locks      <------ noisy answers
 *   answers        <----- receipts, noisy answers
 *
 * The keeper outlives this process: a charge that is held is worked off and
 * its answer stored, whatever the terminal says. PRIVACY: this process and the
 * keeper never have a private row; the worker has limits and no descriptors,
 * and its end in whatever way but with an answer is one outcome, a lock.
 * Neither SQLite nor libpq may be carried through a fork, so each process
 * opens what it needs; files are opened once, and the processes carry on with
 * their descriptors.
 *
 * Where the data set is open for many questions the worker is a child of the
 * engine, which has the rows (row_engine.h), and a child of the steward
 * (steward.h), which outlives who asked, is the keeper: a program may then have
 * threads. In a program
 * that had threads before it opened the data set nothing can be forked safely:
 * all of it happens there, and the answer says isolation "none".
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "release/row_engine.h"
#include "release/release_int.h"

static enum status too_little(struct err *err)
{
    return err_set(err, E_CHILD, "the evaluation gave too little");
}

/* --- the owner's log ------------------------------------------------------ */

static struct str receipt_of(const struct release *r)
{
    for (size_t i = 0; i < r->p.n_counts; i++)
        if (release_charged(&r->counts[i]))
            return r->counts[i].answer.receipt;
    return STR("");
}

void release_log(const struct release *r, const struct err *e)
{
    const struct options *o = &r->session->opt;
    if (!o->owner_log.n)
        return;
    int fd = open(o->owner_log.p,
                  O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    struct str receipt = receipt_of(r);
    dprintf(fd, "%.*s: %s: %s. %s\n",
            PSTR(receipt.n ? receipt : STR("not charged")),
            status_code(e->status), e->message, e->detail);
    close(fd);
}

static void log_engine(const struct release *r)
{
    struct err note = {.status = OK};
    if (!str_is(r->session->opt.engine, "auto"))
        return;
    snprintf(note.message, sizeof note.message, "auto chose the engine %s",
             evaluated_engine(&r->data));
    release_log(r, &note);
}

/* --- the worker ----------------------------------------------------------- */

/* Which keys and NOT NULLs there are decided the noise. */
static enum status same_catalogue(struct release *r, struct err *err)
{
    struct str now;
    TRY(release_catalogue(r, &now, err));
    return str_eq(now, r->catalogue)
               ? OK
               : err_set(err, E_DATA, "the catalogue changed meanwhile");
}

static enum status write_answers(struct release *r, struct str *out,
                                 struct err *err)
{
    struct sb b;
    struct str text;
    sb_init(&b, &r->p.arena);
    for (size_t i = 0; i < r->p.n_counts; i++) {
        if (r->counts[i].done)
            continue;
        TRY(answer_write(&r->p.arena, &r->counts[i].answer, &text, err));
        bytes_put_str(&b, text);
    }
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

/* The owner's limits hold for what a server does, too. */
static enum status limit_server(const struct release *r, struct err *err)
{
    uint64_t seconds = moment_processor_seconds(r, 1);
    return source_limit(r->p.source, seconds * 1000, r->session->mem.limit,
                        err);
}

static enum status open_rows(struct release *r, struct err *err)
{
    TRY(prepare_reopen(&r->p, err));
    TRY(same_catalogue(r, err));
    if (r->validity.print.n)
        TRY(source_expect(r->p.source, &r->validity.print, err));
    return limit_server(r, err);
}

enum status release_work(void *release, struct str *out, struct err *err)
{
    struct release *r = release;
    if (!r->data.store)
        TRY(open_rows(r, err));
    TRY(release_draw(r, err));
    /* PRIVACY: what was counted is the content that was checked, or nothing */
    if (r->data.sql)
        TRY(source_unchanged(r->p.source, err));
    return write_answers(r, out, err);
}

/* --- the keeper ----------------------------------------------------------- */

static enum status hold(struct release *r, struct err *err)
{
    struct ledger_charge *c = NULL;
    size_t n = 0, k = 0;
    TRY(release_charges(r, &c, &n, err));
    TRY(ledger_hold(r->ledger, &r->p.arena, c, n, &r->policy, &r->hold, err));
    for (size_t i = 0; i < r->p.n_counts; i++)
        if (release_charged(&r->counts[i]))
            r->counts[i].answer.receipt = ledger_hold_receipt(r->hold, k++);
    return OK;
}

static unsigned threads_of(const struct release *r)
{
    return r->p.threads ? r->p.threads
                        : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Stacks and the allocator's arenas are address space, hardly memory. */
static size_t address_space(const struct release *r)
{
    size_t memory = r->session->mem.limit;
    return memory ? memory + threads_of(r) * ((size_t)80 << 20) : 0;
}

static enum status evaluate(struct release *r, struct str *out, struct err *err)
{
    int kept[SOURCE_KEPT];
    struct child_limits l = {.memory = address_space(r),
                             .keep = kept,
                             .n_keep = prepare_kept(&r->p, kept),
                             .seconds =
                                 moment_processor_seconds(r, threads_of(r)),
                             .most = SIZE_MAX / 2,
                             .wait = r->after_ns ? moment_left : NULL,
                             .ctx = r};
    r->session->progress.tick = NULL; /* nobody can stop it any more */
    r->session->deadline_ns = r->isolated ? 0 : moment_due(r);
    enum status s = engine_serves(r) ? engine_evaluate(r, &l, out, err)
                    : r->isolated
                        ? child_run(&r->p.arena, &l, release_work, r, out, err)
                        : release_work(r, out, err);
    if (!r->isolated) { /* all that rows occupied is given back */
        evaluated_fini(&r->data);
        prepare_close_source(&r->p);
    }
    return s;
}

/* What the worker says is an answer to this question, and nothing else: it has
 * rows and may be broken, and what is stored is shown for ever. */
static enum status check_answer(struct release *r, const struct released *x,
                                struct str text, struct err *err)
{
    struct released y = *x;
    y.answer = (struct answer){0};
    TRY(answer_read(&r->p.arena, text, &y.answer, err));
    return release_fits(&y, err);
}

static enum status commit(struct release *r, struct str answers, struct sb *out,
                          struct err *err)
{
    struct str *texts = NEWS(&r->p.arena, struct str, r->p.n_counts);
    struct bytes from = {&r->p.arena, answers, false};
    size_t n = 0;
    if (!texts)
        return err_nomem(err);
    for (size_t i = 0; i < r->p.n_counts; i++) {
        const struct released *x = &r->counts[i];
        if (x->done)
            continue;
        struct str text = bytes_str(&from);
        if (from.failed)
            return too_little(err);
        TRY(check_answer(r, x, text, err));
        if (release_charged(x))
            texts[n++] = text;
        bytes_put_str(out, x->answer.receipt);
        bytes_put_str(out, text);
    }
    if (from.left.n)
        return err_set(err, E_CHILD, "the evaluation gave too much");
    const struct ledger_head *head = ledger_hold_head(r->hold);
    bytes_put_str(out, (struct str){(const char *)head, sizeof *head});
    if (out->failed)
        return err_nomem(err);
    return ledger_commit(r->hold, texts, err);
}

/* PRIVACY: that the ledger is locked or cannot be written is the ledger's word,
 * of a commit. A worker that says so is a worker that failed. */
static enum status answered(struct release *r, struct str *out, struct err *err)
{
    struct str answers;
    struct sb b;
    sb_init(&b, &r->p.arena);
    bool found = evaluate(r, &answers, err) == OK;
    moment_wait(r); /* the ledger tells when the commit was */
    if (!found)
        return E_CHILD;
    TRY(commit(r, answers, &b, err));
    *out = sb_view(&b);
    return OK;
}

/* PRIVACY: nothing is uncharged behind the hold, nothing is drawn before. */
static enum status held(struct release *r, struct str *out, struct err *err)
{
    struct err why;
    log_engine(r);
    enum status s = answered(r, out, &why);
    if (s == OK)
        return OK;
    release_log(r, &why);
    if (s == E_LEDGER_IO || s == E_LOCKED) {
        *err = why;
        return s;
    }
    if (ledger_lock(r->hold, str_of(why.message), &why) != OK)
        release_log(r, &why);
    return ledger_locked(err);
}

static enum status keep(void *ctx, struct str *out, struct err *err)
{
    struct release *r = ctx;
    /* PRIVACY: who changed his mind is not charged; from here on nobody can
     * stop it, for what it had come to would show. */
    if (session_stopped(r->session))
        return err_set(err, E_CANCELLED, "cancelled");
    session_go_on(r->session);
    TRY(release_open_ledger(r, err));
    enum status s = moment_read(r, err);
    if (s == OK)
        s = hold(r, err);
    if (s == OK)
        s = held(r, out, err);
    return s;
}

static int go_on(void *ctx)
{
    return session_cancelled(ctx) ? -1 : 100;
}

/* SQLite is not carried through a fork. */
static enum status keep_apart(struct release *r, struct str *out,
                              struct err *err)
{
    int kept[SOURCE_KEPT + 1];
    size_t n = prepare_kept(&r->p, kept);
    kept[n++] = r->session->engine;
    struct child_limits l = {.most = SIZE_MAX / 2,
                             .wait = go_on,
                             .ctx = r->session,
                             .keep = kept,
                             .n_keep = n,
                             .detached = true};
    ledger_leave(r->ledger);
    r->ledger = NULL;
    return child_run(&r->p.arena, &l, keep, r, out, err);
}

/* --- this process --------------------------------------------------------- */

static enum status read_answers(struct release *r, struct str from,
                                struct err *err)
{
    struct bytes b = {&r->p.arena, from, false};
    for (size_t i = 0; i < r->p.n_counts; i++) {
        struct released *x = &r->counts[i];
        if (x->done)
            continue;
        x->answer = (struct answer){0};
        x->answer.receipt = bytes_str(&b);
        struct str one = bytes_str(&b);
        if (b.failed)
            return too_little(err);
        TRY(answer_read(&r->p.arena, one, &x->answer, err));
    }
    struct str text = bytes_str(&b);
    if (b.failed || text.n != sizeof r->budget.head)
        return too_little(err);
    memcpy(&r->budget.head, text.p, text.n);
    r->budget.isolation = r->isolated ? "process" : "none";
    return OK;
}

enum status release_detached(struct err *err)
{
    err_set(err, E_CANCELLED, "cancelled");
    err_detail(err, "If the release was charged already it runs to its end "
                    "and its answer is stored.");
    err_hint(err, "The same question asked again gets it, at no price.");
    return E_CANCELLED;
}

enum status release_keep(struct release *r, struct err *err)
{
    struct str out;
    r->isolated = child_possible(NULL) == OK;
    /* a child of the steward has no terminal: it is the keeper itself */
    bool here = !r->isolated || r->session->detached;
    if (here && session_cancelled(r->session))
        return release_detached(err);
    enum status s = here ? keep(r, &out, err) : keep_apart(r, &out, err);
    if (s == E_CHILD) /* the keeper itself was killed */
        return ledger_locked(err);
    if (s == E_CANCELLED)
        return release_detached(err);
    TRY(s);
    return read_answers(r, out, err);
}
