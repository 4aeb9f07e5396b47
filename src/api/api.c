/*
 * The public surface: thin, no logic. Every question goes through `ask`,
 * which makes the result, runs the question, and turns the outcome into what
 * dpcount.h promises.
 */
#include "dpcount.h"

#include "release/release.h"
#include "report/report.h"

struct dpc_session {
    struct session s;
};
struct dpc_result {
    struct result r;
};

const char *dpc_version(void)
{
    return DPC_VERSION;
}

dpc_status dpc_session_new(dpc_session **out)
{
    struct session *s;
    enum status st = session_new(&s, NULL);
    *out = (dpc_session *)s;
    return (dpc_status)status_exit(st);
}

void dpc_session_free(dpc_session *s)
{
    session_free((struct session *)s);
}

dpc_status dpc_set(dpc_session *s, const char *name, const char *value)
{
    return (dpc_status)status_exit(
        session_set(&s->s, str_of(name), str_of(value)));
}

int dpc_option_at(size_t i, dpc_option *out)
{
    if (i >= n_option_rows)
        return 0;
    const struct option_row *r = &option_rows[i];
    *out = (dpc_option){.name = r->name,
                        .argument = r->arg,
                        .repeats = r->kind == OPTION_LIST,
                        .analyst = r->side == OPTION_ANALYST,
                        .program = r->kind == OPTION_SELF,
                        .commands = r->commands,
                        .section = r->section,
                        .since = r->since,
                        .help = r->help,
                        .manual = r->manual};
    return 1;
}

/* The two callback types differ in what they return. */
static bool tick(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    struct session *s = ctx;
    dpc_progress_fn fn = (dpc_progress_fn)s->user_progress;
    return fn(s->user_ctx, what, done, total) != 0;
}

void dpc_set_progress(dpc_session *s, dpc_progress_fn fn, void *ctx)
{
    s->s.user_progress = (void (*)(void))fn;
    s->s.user_ctx = ctx;
    s->s.progress = (struct progress){fn ? tick : NULL, &s->s};
}

/* --- errors --------------------------------------------------------------- */

const char *dpc_error_code(const dpc_session *s)
{
    return status_code(s->s.err.status);
}

const char *dpc_error_message(const dpc_session *s)
{
    return s->s.err.message;
}

const char *dpc_error_detail(const dpc_session *s)
{
    return s->s.err.detail;
}

const char *dpc_error_hint(const dpc_session *s)
{
    return s->s.err.hint;
}

long dpc_error_position(const dpc_session *s)
{
    return s->s.err.position;
}

const char *dpc_error_file(const dpc_session *s, long *line, long *column)
{
    if (line)
        *line = s->s.err.line;
    if (column)
        *column = s->s.err.column;
    return s->s.err.file;
}

const char *dpc_error_json(dpc_session *s)
{
    struct sb b;
    sb_init(&b, &s->s.arena);
    report_error_json(&b, &s->s.err);
    return b.failed ? "{\"error\": {\"code\": \"memory\", \"message\": \"out "
                      "of memory\", \"detail\": \"\", \"hint\": \"\", "
                      "\"position\": null}}"
                    : b.p;
}

/* --- questions ------------------------------------------------------------ */

static dpc_status ask(dpc_session *s, ask_fn *fn, const char *query,
                      dpc_result **out)
{
    struct result *r = result_new();
    unsigned threads;
    *out = NULL;
    if (!r)
        return (dpc_status)status_exit(err_nomem(&s->s.err));
    enum status st = session_limits(&s->s, &threads, &s->s.err);
    if (st == OK)
        st = fn(&s->s, str_of(query), r, &s->s.err);
    if (st == OK && (r->json.failed || r->text.failed))
        st = err_nomem(&s->s.err);
    /* check tells what does not hold in its result */
    bool keep = st == OK || (st == E_CONSTRAINT && fn == ask_check);
    if (keep)
        *out = (dpc_result *)r;
    else
        result_free(r);
    return (dpc_status)status_exit(st);
}

#define QUESTION(name, fn)                                                     \
    dpc_status name(dpc_session *s, const char *query, dpc_result **out)       \
    {                                                                          \
        return ask(s, fn, query, out);                                         \
    }
#define COMMAND(name, fn)                                                      \
    dpc_status name(dpc_session *s, dpc_result **out)                          \
    {                                                                          \
        return ask(s, fn, NULL, out);                                          \
    }

QUESTION(dpc_analyze, ask_analyze)
QUESTION(dpc_quote, ask_quote)
QUESTION(dpc_explain, ask_explain)
QUESTION(dpc_release, ask_release)
QUESTION(dpc_count, ask_count)
QUESTION(dpc_sensitivity, ask_sensitivity)
COMMAND(dpc_check, ask_check)
COMMAND(dpc_seal, ask_seal)
COMMAND(dpc_policy_init, ask_policy)
COMMAND(dpc_budget_init, ask_budget_init)
COMMAND(dpc_budget_show, ask_budget_show)
COMMAND(dpc_budget_history, ask_budget_history)
COMMAND(dpc_budget_grant, ask_budget_grant)
COMMAND(dpc_budget_bind, ask_budget_bind)
COMMAND(dpc_budget_unlock, ask_budget_unlock)
COMMAND(dpc_budget_verify, ask_budget_verify)
COMMAND(dpc_budget_adopt, ask_budget_adopt)

/* --- results -------------------------------------------------------------- */

const char *dpc_result_json(const dpc_result *r)
{
    return r->r.json.p ? r->r.json.p : "";
}

const char *dpc_result_text(const dpc_result *r)
{
    return r->r.text.p ? r->r.text.p : "";
}

size_t dpc_result_count(const dpc_result *r)
{
    return r->r.answers.n;
}

const char *dpc_result_key(const dpc_result *r, size_t i)
{
    return i < r->r.keys.n ? r->r.keys.p[i].p : NULL;
}

const char *dpc_result_answer(const dpc_result *r, size_t i)
{
    return i < r->r.answers.n ? r->r.answers.p[i].p : NULL;
}

void dpc_result_free(dpc_result *r)
{
    result_free((struct result *)r);
}
