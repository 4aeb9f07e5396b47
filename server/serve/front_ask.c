/*
 * Questions about the owner's tables: described and quoted here, from the
 * public snapshot; answered by the desk.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/front_int.h"
#include "serve/proc.h"

/* --- a question as settings and parameters
 * --------------------------------------
 */

static void add(struct question_text *q, const char *name, const char *value)
{
    if (*value && q->n_settings < QUESTION_SETTINGS_MOST)
        q->settings[q->n_settings++] = (struct wire_parameter){name, value};
}

/* dpcount.groups = 'sex=F,M; city=Bonn': one option each. */
static void add_groups(struct question_text *q, struct front_pool *pool,
                       const char *value)
{
    char *save = NULL, *copy = front_copy(pool, value, strlen(value));
    for (char *one = strtok_r(copy, ";", &save); one;
         one = strtok_r(NULL, ";", &save)) {
        while (*one == ' ')
            one++;
        add(q, "groups", one);
    }
}

static void fill(struct front *f, struct front_pool *pool,
                 struct question_text *q, const char *sql,
                 const char *const *parameters, size_t n)
{
    static const char *const same[][2] = {
        {"epsilon", "dpcount.epsilon"},
        {"mechanism", "dpcount.mechanism"},
        {"beta", "dpcount.beta"},
        {"filters", "dpcount.filters"},
        {"error-budget", "dpcount.error_budget"},
        {"guess", "dpcount.guess"}};
    *q = (struct question_text){.sql = sql};
    q->spend = f->may_spend && setting_on(f, "dpcount.spend");
    q->error_columns = setting_on(f, "dpcount.error_columns");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        add(q, same[i][0], setting_value(f, same[i][1]));
    if (strtod(setting_value(f, "dpcount.delta"), NULL) > 0)
        add(q, "delta", setting_value(f, "dpcount.delta"));
    add_groups(q, pool, setting_value(f, "dpcount.groups"));
    if (setting_on(f, "dpcount.fresh"))
        add(q, "fresh", "yes");
    for (size_t i = 0; i < n && i < QUESTION_PARAMETERS_MOST; i++)
        q->parameters[q->n_parameters++] = parameters[i];
}

static bool loaded(const struct front *f, struct problem *bad)
{
    return f->snapshot ||
           problem_set(bad, "55000", "the data set is not loaded");
}

typedef dpc_status ask_call(const dpc_dataset *, dpc_question *, dpc_result **,
                            dpc_error **);

/* Asks the snapshot. NULL: problem. */
static dpc_result *ask_here(struct front *f, ask_call *call,
                            const struct question_text *t, struct problem *bad)
{
    dpc_error *e = NULL;
    dpc_result *r = NULL;
    dpc_question *q = question_make(t, &e);
    if (!q || call(f->snapshot, q, &r, &e) != DPC_OK)
        problem_of_error(bad, e);
    dpc_error_free(e);
    dpc_question_free(q);
    return r;
}

/* --- columns
 * --------------------------------------------------------------------
 */

static struct front_field field_of(struct front_pool *pool, const char *name,
                                   dpc_type type)
{
    uint32_t oid = oid_of_type(type);
    return (struct front_field){front_copy(pool, name, strlen(name)), oid,
                                oid_len(oid), -1};
}

bool talk_describe(struct front *f, const char *sql, size_t n_parameters,
                   struct front_pool *pool, struct front_rows *out,
                   uint32_t *types, size_t *n_types, struct problem *bad)
{
    static struct question_text q;
    dpc_type type;
    (void)n_parameters;
    if (!loaded(f, bad))
        return false;
    fill(f, pool, &q, sql, NULL, 0);
    dpc_result *r = ask_here(f, dpc_describe, &q, bad);
    if (!r)
        return false;
    out->select = true;
    out->n_fields = dpc_result_columns(r);
    out->fields = front_alloc(pool, (out->n_fields + 1) * sizeof *out->fields);
    for (size_t i = 0; i < out->n_fields; i++) {
        const char *name = dpc_result_column(r, i, &type, NULL);
        out->fields[i] = field_of(pool, name, type);
    }
    *n_types = dpc_result_parameters(r);
    if (*n_types > QUESTION_PARAMETERS_MOST) {
        dpc_result_free(r);
        return problem_set(bad, "54000",
                           "a statement has at most %d parameters",
                           QUESTION_PARAMETERS_MOST);
    }
    for (size_t i = 0; i < *n_types; i++)
        types[i] = oid_of_type(dpc_result_parameter(r, i));
    dpc_result_free(r);
    return true;
}

/* --- notices
 * ---------------------------------------------------------------------
 */

/* Integers beyond 64 bits become texts, so that jansson reads them. */
static json_t *read_json(const char *text)
{
    size_t n = strlen(text), k = 0;
    char *copy = malloc(3 * n + 1);
    bool inside = false;
    for (size_t i = 0; copy && i < n;) {
        size_t digits = inside ? 0 : strspn(text + i, "0123456789");
        size_t minus = !inside && text[i] == '-';
        if (minus)
            digits = strspn(text + i + 1, "0123456789");
        if (digits > 18 && !strchr(".eE", text[i + minus + digits])) {
            copy[k++] = '"';
            memcpy(copy + k, text + i, digits + minus);
            k += digits + minus;
            copy[k++] = '"';
            i += digits + minus;
            continue;
        }
        if (inside && text[i] == '\\')
            copy[k++] = text[i++];
        else if (text[i] == '"')
            inside = !inside;
        copy[k++] = text[i++];
    }
    json_t *out = copy ? json_loadb(copy, k, 0, NULL) : NULL;
    free(copy);
    return out;
}

static void print_number(json_t *v, char *out, size_t size)
{
    *out = 0;
    if (json_is_integer(v))
        snprintf(out, size, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(out, size, "%.10g", json_real_value(v));
    else if (json_is_string(v))
        snprintf(out, size, "%s", json_string_value(v));
}

static void tell_charge(struct front *f, const struct reply *r)
{
    char text[400], price[64], within[64], left[64];
    json_t *o = read_json(r->json);
    json_t *one = json_array_get(json_object_get(o, "counts"), 0);
    json_t *budget = json_object_get(one ? one : o, "budget");
    print_number(json_object_get(o, "charged"), price, sizeof price);
    print_number(json_object_get(json_object_get(o, "error"), "p95"), within,
                 sizeof within);
    print_number(json_object_get(budget, "remaining"), left, sizeof left);
    snprintf(text, sizeof text, "charged epsilon %.64s%s%.64s%s%.64s",
             *price ? price : r->epsilon, *within ? "; 95 % within " : "",
             within, *left ? "; remaining " : "", left);
    report_notice(f, text, r->guarantee);
    json_decref(o);
}

static void remember(struct front *f, const char *json)
{
    free(f->last);
    f->last = strdup(json);
}

/* --- answers
 * ---------------------------------------------------------------------
 */

/* PostgreSQL's COUNT is int8: what is beyond is shown as its end. Noise can
 * reach that far; the cut is made after it. */
static const char *clamped(const char *cell)
{
    static const char most[] = "9223372036854775807",
                      least[] = "-9223372036854775808";
    bool minus = *cell == '-';
    size_t n = strlen(cell), limit = minus ? 20 : 19;
    const char *end = minus ? least : most;
    if (n < limit || (n == limit && strcmp(cell, end) <= 0))
        return cell;
    return end;
}

static void take_rows(struct front_pool *pool, const struct reply *r,
                      struct front_rows *out)
{
    size_t n = r->n_rows * r->n_columns;
    out->select = true;
    out->n_fields = r->n_columns;
    out->n_rows = r->n_rows;
    out->fields = front_alloc(pool, (r->n_columns + 1) * sizeof *out->fields);
    out->cells = front_alloc(pool, (n + 1) * sizeof *out->cells);
    for (size_t i = 0; i < r->n_columns; i++)
        out->fields[i] = field_of(pool, r->columns[i].name, r->columns[i].type);
    for (size_t i = 0; i < n; i++) {
        const char *cell = r->cells[i];
        if (cell && r->columns[i % r->n_columns].type == DPC_TYPE_BIGINT)
            cell = clamped(cell);
        out->cells[i] = cell ? front_copy(pool, cell, strlen(cell)) : NULL;
    }
    snprintf(out->tag, sizeof out->tag, "SELECT");
}

/* The price of what is asked now, for messages; "" if there is none. */
static void price_of(struct front *f, const struct question_text *q, char *out,
                     size_t size)
{
    struct problem ignored;
    dpc_result *r = ask_here(f, dpc_quote, q, &ignored);
    const char *e = r ? dpc_result_price(r, "epsilon") : NULL;
    snprintf(out, size, "%s", e ? e : "");
    dpc_result_free(r);
}

static bool too_dear(struct front *f, const struct question_text *q,
                     struct problem *bad)
{
    char price[64];
    const char *most = setting_value(f, "dpcount.max_epsilon");
    if (!*most)
        return false;
    price_of(f, q, price, sizeof price);
    if (!*price || conf_nanos(price) <= conf_nanos(most))
        return false;
    problem_set(bad, "53400",
                "the question costs epsilon %s, more than "
                "dpcount.max_epsilon %s",
                price, most);
    return true;
}

/* What the library calls unpaid and detached is told with the price. */
static bool refused(struct front *f, const struct question_text *q,
                    const struct reply *r, struct problem *bad)
{
    char price[64];
    bool unpaid = !strcmp(r->code, "unpaid");
    problem_of(bad, r);
    if (f->timed_out && !strcmp(bad->state, "57014"))
        snprintf(bad->message, sizeof bad->message,
                 "canceling statement due to statement timeout");
    if (!unpaid && strcmp(r->code, "detached"))
        return false;
    price_of(f, q, price, sizeof price);
    if (unpaid) {
        problem_set(bad, "42501",
                    "spending is off: this question would cost "
                    "epsilon %s",
                    price);
        snprintf(bad->hint, sizeof bad->hint,
                 "EXPLAIN shows the quote; SET dpcount.spend = on pays.");
    } else {
        snprintf(bad->detail, sizeof bad->detail,
                 "If epsilon %s was charged already the answer will be "
                 "stored: ask again for free.",
                 price);
    }
    return false;
}

bool talk_release(struct front *f, const char *sql,
                  const char *const *parameters, size_t n,
                  struct front_pool *pool, struct front_rows *out,
                  struct problem *bad)
{
    static struct question_text q;
    struct reply r;
    long timeout = setting_ms(f, "statement_timeout");
    if (!loaded(f, bad))
        return false;
    fill(f, pool, &q, sql, parameters, n);
    if (too_dear(f, &q, bad))
        return false;
    ipc_begin(&f->desk, IPC_ASK);
    wire_put32(&f->desk.out, ++f->request);
    question_write(&f->desk.out, &q);
    ipc_end(&f->desk);
    if (!ipc_flush_all(&f->desk) || !front_reply(f, f->request, timeout, &r))
        front_fatal(f, "08006", "the data set is no longer served");
    if (r.ok) {
        take_rows(pool, &r, out);
        remember(f, r.json);
        if (!r.repeated && *r.epsilon && setting_on(f, "dpcount.notices"))
            tell_charge(f, &r);
    } else {
        refused(f, &q, &r, bad);
    }
    bool ok = r.ok;
    reply_free(&r);
    return ok;
}

/* --- quotes
 * ----------------------------------------------------------------------
 */

bool talk_explain(struct front *f, const struct statement *s,
                  const char *const *parameters, size_t n,
                  struct front_pool *pool, struct front_rows *out,
                  struct problem *bad)
{
    static struct question_text q;
    const char *lines[200];
    size_t k = 0;
    if (!loaded(f, bad))
        return false;
    fill(f, pool, &q, s->sql + s->inner, parameters, n);
    dpc_result *r = ask_here(f, dpc_quote, &q, bad);
    if (!r) {
        if (bad->at >= 0)
            bad->at += (long)s->inner;
        return false;
    }
    const char *text =
        s->explain_json ? dpc_result_json(r) : dpc_result_text(r);
    char *save = NULL, *copy = front_copy(pool, text, strlen(text));
    if (s->explain_json)
        lines[k++] = copy;
    else
        for (char *line = strtok_r(copy, "\n", &save); line && k < 200;
             line = strtok_r(NULL, "\n", &save))
            lines[k++] = line;
    make_column(pool, out, "QUERY PLAN", lines, k);
    snprintf(out->tag, sizeof out->tag, "EXPLAIN");
    remember(f, dpc_result_json(r));
    dpc_result_free(r);
    return true;
}

json_t *talk_ledger(struct front *f, char type, struct problem *bad)
{
    struct reply r;
    json_t *out = NULL;
    ipc_begin(&f->desk, type);
    wire_put32(&f->desk.out, ++f->request);
    ipc_end(&f->desk);
    if (!ipc_flush_all(&f->desk) || !front_reply(f, f->request, 0, &r))
        front_fatal(f, "08006", "the data set is no longer served");
    if (!r.ok)
        problem_of(bad, &r);
    else if (!(out = read_json(r.json)))
        problem_set(bad, "XX000", "the ledger's answer was malformed");
    reply_free(&r);
    return out;
}
