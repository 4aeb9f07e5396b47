/*
 * Questions on their way through the desk: see desk_int.h.
 *
 *   ASK -> a clerk looks for a stored answer -> reply
 *            none: -> first come, first served, one running per analyst (as
 *                     many as there are seats, where replies have no moment)
 *                  -> a clerk with a seat -> reply
 *
 * PRIVACY: nothing here depends on rows. A seat is held until the reply is
 * due, whoever left meanwhile, so how long others wait depends on the moments
 * alone, which are public. The same question asked again by the same analyst
 * waits until the first is stored, and then costs nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/desk_int.h"
#include "serve/proc.h"
#include "serve/reply.h"

/* --- replies ----------------------------------------------------------------
 */

static void begin_reply(struct desk_session *s, uint32_t number)
{
    ipc_begin(&s->ipc, IPC_REPLY);
    wire_put32(&s->ipc.out, number);
}

static void refuse(struct desk_session *s, uint32_t number, const char *code,
                   const char *message, const char *detail)
{
    if (!s)
        return;
    begin_reply(s, number);
    reply_write_error(&s->ipc.out, code, message, detail, "", -1);
    ipc_end(&s->ipc);
}

static void forget(struct desk *d, struct desk_question *q)
{
    struct desk_question **p = &d->questions;
    while (*p && *p != q)
        p = &(*p)->next;
    if (*p)
        *p = q->next;
    free(q->body);
    free(q);
}

/* --- taking questions -------------------------------------------------------
 */

static unsigned waiting_of(const struct desk *d, const char *analyst)
{
    unsigned n = 0;
    for (const struct desk_question *q = d->questions; q; q = q->next)
        n += q->stage != STAGE_SEATED && !strcmp(q->analyst, analyst);
    return n;
}

static struct desk_question *make(struct desk_session *s, uint32_t number,
                                  enum clerk_job job, const struct wire_in *in)
{
    struct desk_question *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    *q = (struct desk_question){.from = s,
                                .number = number,
                                .session = s->number,
                                .job = job,
                                .n = in->n - in->at,
                                .sql = ""};
    memcpy(q->analyst, s->analyst, sizeof q->analyst);
    q->body = malloc(q->n + 1);
    if (!q->body) {
        free(q);
        return NULL;
    }
    memcpy(q->body, in->p + in->at, q->n);
    return q;
}

static void assign(struct desk *d);

static void enqueue(struct desk *d, struct desk_question *q)
{
    struct desk_question **p = &d->questions;
    while (*p)
        p = &(*p)->next;
    *p = q;
    assign(d);
}

/* Is it a question at all? Nobody behind this desk is sent nonsense. */
static bool check(struct desk_question *q)
{
    static struct question_text text; /* large */
    struct wire_in in = wire_in_of(q->body, q->n);
    if (q->job == CLERK_BUDGET || q->job == CLERK_HISTORY ||
        q->job == CLERK_OWNER)
        return !q->n;
    if (!question_read(&in, &text))
        return false;
    q->spend = text.spend;
    q->sql = text.sql;
    return true;
}

static void take(struct desk *d, struct desk_session *s, enum clerk_job job,
                 struct wire_in *in)
{
    uint32_t number = wire_get32(in);
    struct desk_question *q = in->bad ? NULL : make(s, number, job, in);
    if (!q || !check(q)) {
        s->ipc.closed = true;
        if (q) {
            free(q->body);
            free(q);
        }
        return;
    }
    const char *why = d->draining ? "the service is being stopped"
                      : !d->ready ? "the data set is not loaded"
                      : waiting_of(d, s->analyst) > d->conf->waiting
                          ? "too many questions of this analyst are waiting"
                          : NULL;
    if (!why) {
        enqueue(d, q);
        return;
    }
    refuse(s, number, d->ready && !d->draining ? "waiting" : "not-loaded", why,
           "Nothing was charged.");
    free(q->body);
    free(q);
}

static struct desk_question *find(struct desk *d, const struct desk_session *s,
                                  uint32_t number)
{
    for (struct desk_question *q = d->questions; q; q = q->next)
        if (q->from == s && q->number == number)
            return q;
    return NULL;
}

/* Cancelled: what waits is dropped, what has a seat goes on without us. */
static void detach(struct desk *d, struct desk_session *s, struct wire_in *in)
{
    uint32_t number = wire_get32(in);
    struct desk_question *q = find(d, s, number);
    if (in->bad || !q)
        return; /* its reply is on the way */
    bool seated = q->stage == STAGE_SEATED;
    q->from = NULL;
    refuse(s, number, seated ? "detached" : "cancelled",
           "canceling statement due to user request",
           seated ? "" : "Nothing was charged.");
    if (q->stage == STAGE_LOOK || q->stage == STAGE_SEAT)
        forget(d, q);
}

void desk_message(struct desk *d, struct desk_session *s, char type,
                  struct wire_in *in)
{
    if (s->owner && type == IPC_OWNER)
        take(d, s, CLERK_OWNER, in);
    else if (s->owner)
        s->ipc.closed = true;
    else if (type == IPC_ASK)
        take(d, s, CLERK_RELEASE, in);
    else if (type == IPC_BUDGET)
        take(d, s, CLERK_BUDGET, in);
    else if (type == IPC_HISTORY)
        take(d, s, CLERK_HISTORY, in);
    else if (type == IPC_DETACH)
        detach(d, s, in);
    else
        s->ipc.closed = true;
}

void desk_forget_session(struct desk *d, struct desk_session *s)
{
    for (struct desk_question *q = d->questions, *next; q; q = next) {
        next = q->next;
        if (q->from != s)
            continue;
        q->from = NULL;
        if (q->stage == STAGE_LOOK || q->stage == STAGE_SEAT)
            forget(d, q);
    }
}

bool desk_is_idle(const struct desk *d)
{
    return !d->questions;
}

/* --- giving them to clerks --------------------------------------------------
 */

static unsigned seats_of(const struct desk *d, const char *analyst)
{
    unsigned n = 0;
    for (size_t i = 0; i < d->n_clerks; i++)
        n += d->clerks[i].seat && d->clerks[i].busy &&
             !strcmp(d->clerks[i].busy->analyst, analyst);
    return n;
}

static const struct conf_grant *grant_of(const struct desk *d,
                                         const char *analyst)
{
    const struct conf_person *p = conf_person(d->conf, analyst);
    const struct conf_dataset *set = conf_dataset(d->conf, d->dataset->name);
    return p && set ? conf_grant(p, set) : NULL;
}

/* Where replies have moments an analyst has one seat at most, so that others
 * wait for no more than that; and where a day's spending is looked up before
 * the charge, so that two questions do not both find the last of it. */
static bool may_sit(const struct desk *d, const char *analyst, unsigned seats)
{
    const struct conf_grant *g = grant_of(d, analyst);
    return !seats || (d->dataset->pace <= 0 && g && !g->per_day);
}

/* For the owner: who may spend, and the policy's file. */
static void put_analysts(const struct desk *d, struct wire_out *out)
{
    wire_put_text(out, d->dataset->policy ? d->dataset->policy : "");
    for (size_t i = 0; i < d->conf->n_people; i++)
        if (conf_grant(&d->conf->people[i], d->dataset))
            wire_put_text(out, d->conf->people[i].name);
    wire_put_text(out, "");
}

static void send_job(struct desk *d, struct desk_clerk *c,
                     struct desk_question *q)
{
    const struct conf_grant *g = grant_of(d, q->analyst);
    enum clerk_job job =
        !c->seat && q->job == CLERK_RELEASE ? CLERK_STORED : q->job;
    q->stage = c->seat ? STAGE_SEATED : STAGE_LOOKING;
    c->busy = q;
    ipc_begin(&c->ipc, IPC_ASK);
    wire_put8(&c->ipc.out, (uint8_t)job);
    wire_put_text(&c->ipc.out, q->analyst);
    wire_put_text(&c->ipc.out, g ? g->epsilon : "0");
    wire_put_text(&c->ipc.out, g && g->per_day ? g->per_day : "");
    wire_put_bytes(&c->ipc.out, q->body, q->n);
    if (job == CLERK_OWNER)
        put_analysts(d, &c->ipc.out);
    ipc_end(&c->ipc);
    if (c->seat)
        desk_spin(c);
}

/* Where replies have no moment a question need not be looked up first: who has
 * the seat finds the stored answer, too. */
static bool fits(const struct desk *d, const struct desk_clerk *c,
                 const struct desk_question *q)
{
    bool straight = q->stage == STAGE_LOOK && q->job == CLERK_RELEASE &&
                    q->spend && d->dataset->pace <= 0;
    return c->seat ? q->stage == STAGE_SEAT || straight
                   : q->stage == STAGE_LOOK;
}

/* First come, first served; but a seat goes to the analyst who has the
 * fewest. */
static struct desk_question *next_for(struct desk *d,
                                      const struct desk_clerk *c)
{
    struct desk_question *best = NULL;
    unsigned fewest = 0;
    for (struct desk_question *q = d->questions; q; q = q->next) {
        if (!fits(d, c, q))
            continue;
        if (!c->seat)
            return q;
        unsigned seats = seats_of(d, q->analyst);
        if (may_sit(d, q->analyst, seats) && (!best || seats < fewest)) {
            best = q;
            fewest = seats;
        }
    }
    return best;
}

/* Gives waiting questions to clerks that are free. */
static void assign(struct desk *d)
{
    for (size_t i = d->n_clerks; i-- > 0;) { /* seats first */
        struct desk_clerk *c = &d->clerks[i];
        struct desk_question *q =
            c->running && !c->busy ? next_for(d, c) : NULL;
        if (q)
            send_job(d, c, q);
    }
}

/* --- what comes back --------------------------------------------------------
 */

static void log_reply(const struct desk *d, const struct desk_question *q,
                      const struct reply *r)
{
    proc_log(r->ok ? "answered" : "refused", "#session", (int64_t)q->session,
             "analyst", q->analyst, "dataset", d->dataset->name, "sql", q->sql,
             "price", r->ok ? r->epsilon : NULL, "delta",
             r->ok ? r->delta : NULL, "repeated",
             r->ok ? (r->repeated ? "yes" : "no") : NULL, "receipt",
             r->ok ? r->receipt : NULL, "code", r->ok ? NULL : r->code, NULL);
}

static void pass_on(struct desk_question *q, const struct wire_in *body)
{
    if (!q->from)
        return;
    begin_reply(q->from, q->number);
    wire_put_bytes(&q->from->ipc.out, body->p, body->n);
    ipc_end(&q->from->ipc);
}

/* Nothing is stored: it may be paid for, if its analyst wants to. */
static bool unpaid(const struct reply *r)
{
    return !r->ok && !strcmp(r->code, "unpaid");
}

static void finish(struct desk *d, struct desk_question *q,
                   const struct wire_in *body)
{
    struct wire_in in = *body;
    struct reply r;
    if (!reply_read(&in, &r)) {
        refuse(q->from, q->number, "internal", "the reply was malformed", "");
        forget(d, q);
        return;
    }
    if (q->stage == STAGE_LOOKING && q->job == CLERK_RELEASE && unpaid(&r) &&
        q->spend && q->from) {
        q->stage = STAGE_SEAT;
    } else {
        if (q->job == CLERK_RELEASE)
            log_reply(d, q, &r);
        pass_on(q, body);
        forget(d, q);
    }
    reply_free(&r);
}

void desk_replied(struct desk *d, struct desk_clerk *c, struct wire_in *in)
{
    struct desk_question *q = c->busy;
    desk_stop_spinning(c);
    c->busy = NULL;
    if (q)
        finish(d, q, in);
    assign(d);
}

void desk_clerk_lost(struct desk *d, struct desk_clerk *c)
{
    struct desk_question *q = c->busy;
    desk_stop_spinning(c);
    c->busy = NULL;
    c->running = false;
    if (!q)
        return;
    refuse(q->from, q->number, "internal",
           "the process that asked ended without an answer",
           "If the release was charged its answer will be stored: ask again.");
    forget(d, q);
}
