/*
 * Calls: see dpcount.h. Every one goes through `call`, which puts the two sides
 * together, runs the question, and turns the outcome into what dpcount.h
 * promises.
 */
#include "api/api_int.h"

#include <string.h>

#include "report/report.h"

const char *dpc_version(void)
{
    return DPC_VERSION;
}

int dpc_option_at(size_t i, dpc_option *out)
{
    if (i >= n_option_rows)
        return 0;
    const struct option_row *r = &option_rows[i];
    *out = (dpc_option){.name = r->name,
                        .argument = r->arg,
                        .repeats = r->kind == OPTION_LIST,
                        .side = (dpc_side)r->side,
                        .program = r->kind == OPTION_SELF,
                        .commands = r->commands,
                        .section = r->section,
                        .since = r->since,
                        .help = r->help,
                        .manual = r->manual};
    return 1;
}

/* --- both sides together -------------------------------------------------- */

static bool tick(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    const struct watcher *w = ctx;
    return w->fn(w->ctx, what, done, total) != 0;
}

static struct watcher *watcher_of(const dpc_dataset *d, dpc_question *q)
{
    /* its flag is the one thing of an open data set that changes */
    return q ? &q->watcher : &((dpc_dataset *)(uintptr_t)d)->watcher;
}

static void add_side(struct options *to, const struct options *from,
                     enum option_side side)
{
    static const size_t sizes[] = {[OPTION_TEXT] = sizeof(struct str),
                                   [OPTION_LIST] = sizeof(str_list),
                                   [OPTION_FLAG] = sizeof(bool)};
    for (size_t i = 0; i < n_option_rows; i++) {
        const struct option_row *o = &option_rows[i];
        if (o->side == side && o->kind != OPTION_SELF)
            memcpy((char *)to + o->offset, (const char *)from + o->offset,
                   sizes[o->kind]);
    }
}

void dpc_begin(struct session *s, const dpc_dataset *d, dpc_question *q)
{
    struct watcher *w = watcher_of(d, q);
    mem_init(&s->mem, 0);
    arena_init(&s->arena, &s->mem);
    err_clear(&s->err);
    s->opt = d->opt;
    if (q)
        add_side(&s->opt, &q->opt, OPTION_ANALYST);
    s->progress = (struct progress){w->fn ? tick : NULL, w};
    s->cancel = &w->cancelled;
    s->base = d->base;
    s->steward = d->steward;
}

void dpc_end(struct session *s, const dpc_dataset *d, dpc_question *q)
{
    atomic_store(&watcher_of(d, q)->cancelled, false);
    arena_fini(&s->arena);
}

/* What a call says besides the two objects. */
struct arguments {
    const char *analyst, *epsilon, *delta;
    bool ledger; /* of the ledger alone: the data set need not be open */
};

static enum status check_open(const dpc_dataset *d, struct arguments x,
                              struct err *err)
{
    if (x.ledger || d->opened)
        return OK;
    err_set(err, E_USAGE, "the data set is not open");
    err_hint(err, "Call dpc_dataset_open first.");
    return E_USAGE;
}

static dpc_status call(const dpc_dataset *d, dpc_question *q, ask_fn *fn,
                       struct arguments x, dpc_result **out, dpc_error **err)
{
    struct err e;
    struct session s = {0};
    struct result *r = result_new();
    unsigned threads;
    *out = NULL;
    enum status st = r ? check_open(d, x, &e) : err_nomem(&e);
    if (st != OK) {
        result_free(r);
        return dpc_fail(&e, err);
    }
    dpc_begin(&s, d, q);
    s.opt.analyst = str_of(x.analyst);
    if (!q) {
        s.opt.epsilon = str_of(x.epsilon);
        s.opt.delta = str_of(x.delta);
    }
    r->error_columns = q && q->error_columns;
    st = session_limits(&s, &threads, &e);
    if (st == OK)
        st = fn(&s, q ? q->query : STR(""), r, &e);
    if (st == OK && result_failed(r))
        st = err_nomem(&e);
    dpc_end(&s, d, q);
    /* check tells what does not hold in its result */
    bool keep = st == OK || (st == E_CONSTRAINT && fn == ask_check);
    if (keep)
        *out = (dpc_result *)r;
    else
        result_free(r);
    return st == OK ? DPC_OK : dpc_fail(&e, err);
}

/* --- the calls ------------------------------------------------------------ */

#define QUESTION(name, fn)                                                     \
    dpc_status name(const dpc_dataset *d, dpc_question *q, dpc_result **out,   \
                    dpc_error **err)                                           \
    {                                                                          \
        return call(d, q, fn, (struct arguments){0}, out, err);                \
    }
#define COMMAND(name, fn)                                                      \
    dpc_status name(const dpc_dataset *d, dpc_result **out, dpc_error **err)   \
    {                                                                          \
        return call(d, NULL, fn, (struct arguments){0}, out, err);             \
    }
#define BOOK(name, fn)                                                         \
    dpc_status name(const dpc_dataset *d, dpc_result **out, dpc_error **err)   \
    {                                                                          \
        return call(d, NULL, fn, (struct arguments){.ledger = true}, out,      \
                    err);                                                      \
    }
#define ACCOUNT(name, fn)                                                      \
    dpc_status name(const dpc_dataset *d, const char *analyst,                 \
                    dpc_result **out, dpc_error **err)                         \
    {                                                                          \
        struct arguments x = {.analyst = analyst, .ledger = true};             \
        return call(d, NULL, fn, x, out, err);                                 \
    }

QUESTION(dpc_describe, ask_describe)
QUESTION(dpc_analyze, ask_analyze)
QUESTION(dpc_quote, ask_quote)
QUESTION(dpc_explain, ask_explain)
QUESTION(dpc_count, ask_count)
QUESTION(dpc_sensitivity, ask_sensitivity)
COMMAND(dpc_check, ask_check)
COMMAND(dpc_seal, ask_seal)
BOOK(dpc_calibrate, ask_calibrate)
COMMAND(dpc_policy_init, ask_policy)
COMMAND(dpc_policy_suggest, ask_suggest)
ACCOUNT(dpc_budget_show, ask_budget_show)
ACCOUNT(dpc_budget_history, ask_budget_history)
BOOK(dpc_budget_bind, ask_budget_bind)
BOOK(dpc_budget_unlock, ask_budget_unlock)
BOOK(dpc_budget_verify, ask_budget_verify)
BOOK(dpc_budget_adopt, ask_budget_adopt)

dpc_status dpc_release(const dpc_dataset *d, dpc_question *q,
                       const char *analyst, dpc_result **out, dpc_error **err)
{
    return call(d, q, ask_release, (struct arguments){.analyst = analyst}, out,
                err);
}

dpc_status dpc_budget_init(const dpc_dataset *d, const char *epsilon,
                           const char *delta, dpc_result **out, dpc_error **err)
{
    struct arguments x = {.epsilon = epsilon, .delta = delta, .ledger = true};
    return call(d, NULL, ask_budget_init, x, out, err);
}

dpc_status dpc_budget_grant(const dpc_dataset *d, const char *analyst,
                            const char *epsilon, const char *delta,
                            dpc_result **out, dpc_error **err)
{
    struct arguments x = {analyst, epsilon, delta, true};
    return call(d, NULL, ask_budget_grant, x, out, err);
}
