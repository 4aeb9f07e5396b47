/* Asking the library: see clerk.h. */
#include "serve/clerk.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve/ipc.h"
#include "serve/proc.h"
#include "serve/reply.h"

enum { POLICY_MOST = 256 << 10 }; /* bytes of a policy that are shown */

struct clerk_work {
    enum clerk_job job;
    const char *analyst, *cap, *per_day;
    struct question_text text;
    struct wire_in names; /* of CLERK_OWNER */
};

/* --- caps of the configuration ----------------------------------------------
 */

static long long nanos_of(json_t *o, const char *key)
{
    char text[64];
    json_t *v = json_object_get(o, key);
    if (json_is_string(v))
        return conf_nanos(json_string_value(v));
    snprintf(text, sizeof text, "%.9f", json_number_value(v));
    return conf_nanos(text);
}

/* What was charged since midnight, UTC. */
static long long today(json_t *history)
{
    char day[16];
    time_t now = time(NULL);
    struct tm tm;
    long long sum = 0;
    size_t i;
    json_t *e;
    gmtime_r(&now, &tm);
    strftime(day, sizeof day, "%Y-%m-%d", &tm);
    json_array_foreach(history, i, e)
    {
        const char *at = json_string_value(json_object_get(e, "held_at"));
        if (at && !strncmp(at, day, 10))
            sum += nanos_of(e, "epsilon");
    }
    return sum;
}

static long long spent_today(const dpc_dataset *d, const char *analyst)
{
    dpc_result *r = NULL;
    long long spent = -1;
    if (dpc_budget_history(d, analyst, &r, NULL) == DPC_OK) {
        json_t *o = json_loads(dpc_result_json(r), 0, NULL);
        json_t *list = o ? json_object_get(o, "history") : NULL;
        spent = list ? today(list) : -1;
        json_decref(o);
    }
    dpc_result_free(r);
    return spent;
}

static bool over(struct wire_out *out, long long cap, long long spent,
                 long long price)
{
    char detail[200];
    if (spent >= 0 && price >= 0 && spent + price <= cap)
        return false;
    snprintf(detail, sizeof detail,
             "Spent epsilon %.9g, asked %.9g, allowed %.9g. Nothing was drawn.",
             (double)spent / 1e9, (double)price / 1e9, (double)cap / 1e9);
    reply_write_error(out, "budget",
                      "the privacy budget of today does not suffice", detail,
                      "", -1);
    return true;
}

static bool beyond_today(const dpc_dataset *d, const struct clerk_work *j,
                         dpc_question *q, struct wire_out *out)
{
    dpc_result *r = NULL;
    if (!*j->per_day)
        return false;
    if (dpc_quote(d, q, &r, NULL) != DPC_OK)
        return false; /* the release tells why */
    const char *text = dpc_result_price(r, "epsilon");
    long long price = text ? conf_nanos(text) : 0;
    dpc_result_free(r);
    return over(out, conf_nanos(j->per_day), spent_today(d, j->analyst), price);
}

/* --- jobs -------------------------------------------------------------------
 */

static void finish(struct wire_out *out, dpc_status s, dpc_result *r,
                   dpc_error *e, bool json)
{
    if (s != DPC_OK)
        reply_write_failure(out, e);
    else if (json)
        reply_write_json(out, dpc_result_json(r));
    else
        reply_write_result(out, r);
    dpc_result_free(r);
    dpc_error_free(e);
}

/* What was paid for before is given, whatever is left of a cap. */
static bool give_stored(const dpc_dataset *d, const struct clerk_work *j,
                        struct wire_out *out)
{
    dpc_result *r = NULL;
    dpc_question *q = question_make(&j->text, NULL);
    bool ok = q && dpc_question_set(q, "stored", "yes", NULL) == DPC_OK &&
              dpc_release(d, q, j->analyst, &r, NULL) == DPC_OK;
    dpc_question_free(q);
    if (ok)
        finish(out, DPC_OK, r, NULL, false);
    return ok;
}

/* True: refused or repeated, and said so. */
static bool stopped_today(const dpc_dataset *d, const struct clerk_work *j,
                          dpc_question *q, struct wire_out *out)
{
    struct wire_out refusal;
    wire_out_init(&refusal, 1 << 16);
    bool stopped = beyond_today(d, j, q, &refusal);
    if (stopped && !give_stored(d, j, out))
        wire_put_bytes(out, refusal.p, refusal.n);
    wire_out_fini(&refusal);
    return stopped;
}

static bool set(dpc_question *q, const char *name, const char *value,
                dpc_error **e)
{
    return dpc_question_set(q, name, value, e) == DPC_OK;
}

/* The smaller of the caps in the configuration and in the ledger holds; the
 * ledger's own is checked with the charge. */
static bool set_cap(dpc_question *q, const struct clerk_work *j, dpc_error **e)
{
    return !*j->cap || set(q, "spend-at-most", j->cap, e);
}

static void release(const dpc_dataset *d, const struct clerk_work *j,
                    struct wire_out *out)
{
    dpc_error *e = NULL;
    dpc_result *r = NULL;
    dpc_question *q = question_make(&j->text, &e);
    if (q && !(j->job == CLERK_STORED ? set(q, "stored", "yes", &e)
                                      : set_cap(q, j, &e))) {
        dpc_question_free(q);
        q = NULL;
    }
    if (!q) {
        reply_write_failure(out, e);
        dpc_error_free(e);
        return;
    }
    if (j->job == CLERK_STORED || !stopped_today(d, j, q, out)) {
        dpc_status s = dpc_release(d, q, j->analyst, &r, &e);
        finish(out, s, r, e, false);
    }
    dpc_question_free(q);
}

/* --- the owner's view -------------------------------------------------------
 */

static json_t *shown(dpc_status s, dpc_result *r)
{
    json_t *o = s == DPC_OK ? json_loads(dpc_result_json(r), 0, NULL) : NULL;
    dpc_result_free(r);
    return o;
}

static json_t *policy_text(const char *file)
{
    char *text = calloc(1, POLICY_MOST);
    FILE *f = text && *file ? fopen(file, "re") : NULL;
    json_t *out;
    if (f) {
        text[fread(text, 1, POLICY_MOST - 1, f)] = 0;
        fclose(f);
    }
    out = json_string(text ? text : "");
    free(text);
    return out ? out : json_string("");
}

/* Budgets and questions of all: numbers of the ledger, never of rows. */
static void tell_owner(const dpc_dataset *d, const struct clerk_work *j,
                       struct wire_out *out)
{
    json_t *o = json_object(), *list = json_array(), *one;
    struct wire_in names = j->names;
    dpc_result *r = NULL;
    dpc_status st;
    char *text;
    json_object_set_new(o, "policy", policy_text(wire_get_text(&names)));
    st = dpc_budget_show(d, NULL, &r, NULL);
    json_object_set_new(o, "budget", shown(st, r));
    for (const char *name = wire_get_text(&names); *name && !names.bad;
         name = wire_get_text(&names)) {
        st = dpc_budget_show(d, name, &r, NULL);
        one = shown(st, r);
        if (one) {
            json_object_set_new(one, "name", json_string(name));
            json_array_append_new(list, one);
        }
    }
    json_object_set_new(o, "analysts", list);
    st = dpc_budget_history(d, NULL, &r, NULL);
    one = shown(st, r);
    json_object_set(o, "history", json_object_get(one, "history"));
    json_decref(one);
    text = json_dumps(o, JSON_COMPACT);
    reply_write_json(out, text ? text : "{}");
    free(text);
    json_decref(o);
}

static void work(const dpc_dataset *d, const struct clerk_work *j,
                 struct wire_out *out)
{
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    dpc_status s;
    if (j->job == CLERK_BUDGET) {
        s = dpc_budget_show(d, j->analyst, &r, &e);
        finish(out, s, r, e, true);
    } else if (j->job == CLERK_OWNER) {
        tell_owner(d, j, out);
    } else if (j->job == CLERK_HISTORY) {
        s = dpc_budget_history(d, j->analyst, &r, &e);
        finish(out, s, r, e, true);
    } else {
        release(d, j, out);
    }
}

static bool read_job(struct wire_in *in, struct clerk_work *out)
{
    out->job = (enum clerk_job)wire_get8(in);
    out->analyst = wire_get_text(in);
    out->cap = wire_get_text(in);
    out->per_day = wire_get_text(in);
    if (out->job == CLERK_OWNER) {
        out->names = *in;
        return !in->bad;
    }
    if (out->job == CLERK_BUDGET || out->job == CLERK_HISTORY)
        return wire_at_end(in);
    return question_read(in, &out->text);
}

_Noreturn void clerk_run(const dpc_dataset *d, int fd)
{
    static struct clerk_work j;
    struct ipc desk;
    char type;
    struct wire_in in;
    ipc_init(&desk, fd, IPC_FRONT_MOST + 4096);
    while (ipc_wait(&desk, -1, &type, &in)) {
        if (!read_job(&in, &j))
            _exit(1);
        ipc_begin(&desk, IPC_REPLY);
        work(d, &j, &desk.out);
        ipc_end(&desk);
        if (!ipc_flush_all(&desk))
            _exit(1);
    }
    _exit(0);
}
