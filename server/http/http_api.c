/*
 * /api/v1: see docs/api.md. Whoever is not signed in learns nothing but that;
 * what belongs to another analyst is as unknown as what does not exist.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_int.h"
#include "serve/conf.h"

struct api {
    struct http_session *s;
    const struct http_request *r;
    struct http_answer *out;
    char token[HTTP_TOKEN + 1];
    bool by_cookie;
    const json_t *who;
};

static void give(struct api *a, unsigned status, json_t *json)
{
    a->out->status = status;
    a->out->type = "application/json";
    a->out->json = json;
}

static void refuse(struct api *a, unsigned status, const char *code,
                   const char *message)
{
    give(a, status, http_error(code, message, "", "", -1));
}

static void refuse_sign_in(struct api *a)
{
    refuse(a, 401, "sign-in", "sign in first");
}

static void refuse_reply(struct api *a, const struct reply *r)
{
    give(a, http_status_of(r->code),
         http_error(r->code, r->message, r->detail, r->hint, r->position));
}

static void refuse_error(struct api *a, const dpc_error *e)
{
    give(a, http_status_of(dpc_error_code(e)),
         http_error(dpc_error_code(e), dpc_error_message(e),
                    dpc_error_detail(e), dpc_error_hint(e),
                    dpc_error_position(e)));
}

/* --- signing in
 * -------------------------------------------------------------------- */

static void set_cookie(struct api *a, const char *token)
{
    snprintf(a->out->cookie, sizeof a->out->cookie,
             "%sdpc=%s; Path=/; HttpOnly; SameSite=Strict%s%s",
             a->r->tls ? "__Host-" : "", token, a->r->tls ? "; Secure" : "",
             *token ? "" : "; Max-Age=0");
}

static void login(struct api *a)
{
    json_t *o = http_body(a->r);
    const char *user = json_string_value(json_object_get(o, "user")),
               *password = json_string_value(json_object_get(o, "password"));
    char token[HTTP_TOKEN + 1];
    if (!user || !password || strlen(user) > 60 || strlen(password) > 500) {
        refuse(a, 400, "usage", "user and password are needed");
    } else if (http_sign_in(a->s, user, password, false, token)) {
        set_cookie(a, token);
        give(a, 200, json_pack("{s:s}", "user", user));
    } else if (a->s->broken) {
        refuse(a, 503, "not-loaded", "signing in is not possible now");
    } else {
        refuse(a, 401, "sign-in", "the name or the password is wrong");
    }
    json_decref(o);
}

static void logout(struct api *a)
{
    http_sign_out(a->s, a->token);
    set_cookie(a, "");
    give(a, 200, json_object());
}

/* A cookie, or name and password with every request (for scripts). */
static bool identify(struct api *a)
{
    char user[64], password[512];
    bool good;
    if (http_cookie(a->r->cookie, a->r->tls, a->token)) {
        a->by_cookie = true;
        return true;
    }
    if (!http_basic(a->r->authorization, user, sizeof user, password,
                    sizeof password))
        return false;
    if (strlen(a->r->authorization) < sizeof a->s->basic &&
        !strcmp(a->s->basic, a->r->authorization)) {
        snprintf(a->token, sizeof a->token, "%s", a->s->token);
        return true;
    }
    good = http_sign_in(a->s, user, password, true, a->token);
    explicit_bzero(password, sizeof password);
    if (good && strlen(a->r->authorization) < sizeof a->s->basic)
        snprintf(a->s->basic, sizeof a->s->basic, "%s", a->r->authorization);
    return good;
}

static void me(struct api *a, json_t *who)
{
    give(a, 200,
         json_pack("{s:O,s:O,s:O,s:s}", "user", json_object_get(who, "user"),
                   "owner", json_object_get(who, "owner"), "spend",
                   json_object_get(who, "spend"), "version", DPC_VERSION));
}

/* --- one data set
 * -------------------------------------------------------------------- */

static struct http_channel *channel(struct api *a, const char *dataset)
{
    unsigned status;
    struct http_channel *c = http_channel(a->s, a->token, dataset, &status);
    if (!c && status == 401)
        refuse_sign_in(a);
    else if (!c && status == 404)
        refuse(a, 404, "unknown-name", "there is no such data set");
    else if (!c)
        refuse(a, 503, "not-loaded", "the data set is not being served now");
    return c;
}

static bool has_snapshot(struct api *a, const struct http_channel *c)
{
    if (!c->snapshot)
        refuse(a, 503, "not-loaded", "the data set is not loaded");
    return c->snapshot != NULL;
}

static void tables(struct api *a, struct http_channel *c)
{
    if (has_snapshot(a, c))
        give(a, 200, http_tables(c->snapshot));
}

/* What the ledger says: a reply of JSON. NULL: refused. */
static json_t *ledger(struct api *a, struct http_channel *c, char type)
{
    struct reply r;
    json_t *o = NULL;
    if (!http_ledger(c, type, &r)) {
        refuse(a, 503, "not-loaded", "the data set is no longer served");
        return NULL;
    }
    if (!r.ok)
        refuse_reply(a, &r);
    else if (!(o = http_read_json(r.json)))
        refuse(a, 500, "internal", "the ledger's answer was malformed");
    reply_free(&r);
    return o;
}

static void budget(struct api *a, struct http_channel *c)
{
    json_t *o = ledger(a, c, IPC_BUDGET);
    if (o)
        give(a, 200, o);
}

static void history(struct api *a, struct http_channel *c)
{
    json_t *o = ledger(a, c, IPC_HISTORY);
    long limit = strtol(a->r->query_limit, NULL, 10);
    if (!o)
        return;
    give(a, 200,
         http_history_page(o, a->r->query_before,
                           limit > 0 ? (size_t)limit : 0));
    json_decref(o);
}

/* The quote of a question; NULL: refused. */
static dpc_result *quoted(struct api *a, struct http_channel *c,
                          const struct question_text *text)
{
    dpc_error *e = NULL;
    dpc_result *r = NULL;
    dpc_question *q = question_make(text, &e);
    if (!q || dpc_quote(c->snapshot, q, &r, &e) != DPC_OK)
        refuse_error(a, e);
    dpc_error_free(e);
    dpc_question_free(q);
    return r;
}

static void quote(struct api *a, struct http_channel *c,
                  const struct question_text *q)
{
    dpc_result *r = quoted(a, c, q);
    if (r)
        give(a, 200, http_quote_json(r));
    dpc_result_free(r);
}

/* PRIVACY: refused before anything is charged if it costs more than was seen;
 * the price is from the public snapshot. */
static bool dearer(struct api *a, const char *price, const json_t *most,
                   const char *which)
{
    const char *text = json_string_value(most);
    char message[200];
    if (!most)
        return false;
    if (text && conf_nanos(text) >= 0 && conf_nanos(price ? price : "0") >= 0 &&
        conf_nanos(price ? price : "0") <= conf_nanos(text))
        return false;
    snprintf(message, sizeof message,
             "the question costs %s %.40s, more than the most that was named",
             which, price ? price : "0");
    refuse(a, 402, "price", message);
    return true;
}

static void release(struct api *a, struct http_channel *c,
                    struct question_text *q, const json_t *o)
{
    dpc_result *price = quoted(a, c, q);
    struct reply r;
    bool dear;
    if (!price)
        return;
    dear = dearer(a, dpc_result_price(price, "epsilon"),
                  json_object_get(o, "max_epsilon"), "epsilon") ||
           dearer(a, dpc_result_price(price, "delta"),
                  json_object_get(o, "max_delta"), "delta");
    dpc_result_free(price);
    if (dear)
        return;
    q->spend = c->spend;
    if (!http_ask(c, q, &r)) {
        refuse(a, 503, "not-loaded", "the data set is no longer served");
        return;
    }
    if (r.ok)
        give(a, 200, http_reply_json(&r));
    else
        refuse_reply(a, &r);
    reply_free(&r);
}

static const char *limit_of(struct api *a, const char *dataset,
                            const char *what, const char *which)
{
    const json_t *sets = json_object_get(a->who, "datasets");
    for (size_t i = 0; i < json_array_size(sets); i++) {
        const json_t *o = json_array_get(sets, i);
        const char *name = json_string_value(json_object_get(o, "name"));
        if (name && !strcmp(name, dataset))
            return json_string_value(
                json_object_get(json_object_get(o, what), which));
    }
    return NULL;
}

static double strtod_of(const char *s)
{
    return s ? strtod(s, NULL) : 0;
}

static bool beyond(const char *value, const char *least, const char *most)
{
    long long v = conf_nanos(value);
    return v < 0 || (least && v < conf_nanos(least)) ||
           (most && v > conf_nanos(most));
}

/* What the owner allows; the ledger asks again. An epsilon that was left out
 * is the data set's own. */
static bool in_range(struct api *a, const char *dataset,
                     struct question_text *q)
{
    bool has = false;
    const char *usual = limit_of(a, dataset, "epsilon", "default");
    for (size_t i = 0; i < q->n_settings; i++) {
        const char *name = q->settings[i].name, *value = q->settings[i].value;
        bool epsilon = !strcmp(name, "epsilon");
        has = has || epsilon;
        if ((epsilon && beyond(value, limit_of(a, dataset, name, "min"),
                               limit_of(a, dataset, name, "max"))) ||
            (!strcmp(name, "delta") &&
             strtod(value, NULL) >
                 strtod_of(limit_of(a, dataset, name, "max"))))
            return false;
    }
    if (!has && usual && q->n_settings < QUESTION_SETTINGS_MOST)
        q->settings[q->n_settings++] =
            (struct wire_parameter){"epsilon", usual};
    return true;
}

static void ask(struct api *a, struct http_channel *c, bool spend)
{
    static struct question_text q; /* large */
    const char *why = "a JSON object is needed";
    json_t *o = http_body(a->r);
    if (!has_snapshot(a, c)) {
        json_decref(o);
        return;
    }
    if (!o || !http_question(o, &q, &why))
        refuse(a, 400, "usage", why);
    else if (!in_range(a, c->dataset, &q))
        refuse(a, 400, "price",
               "epsilon or delta is outside of what the owner allows");
    else if (spend)
        release(a, c, &q, o);
    else
        quote(a, c, &q);
    json_decref(o);
}

static void dataset(struct api *a, const char *name, const char *rest)
{
    bool post = !strcmp(a->r->method, "POST");
    struct http_channel *c = channel(a, name);
    if (!c)
        return;
    if (!post && !strcmp(rest, "tables"))
        tables(a, c);
    else if (!post && !strcmp(rest, "budget"))
        budget(a, c);
    else if (!post && !strcmp(rest, "history"))
        history(a, c);
    else if (post && (!strcmp(rest, "quote") || !strcmp(rest, "release")))
        ask(a, c, !strcmp(rest, "release"));
    else
        refuse(a, 404, "unknown-name", "there is no such page");
}

/* --- receipts, owners
 * ------------------------------------------------------------------ */

/* PRIVACY: looked up in one's own histories, so another's receipt is as
 * unknown as one that nobody has. */
static void receipt(struct api *a, const json_t *who, const char *name)
{
    const json_t *sets = json_object_get(who, "datasets");
    for (size_t i = 0; i < json_array_size(sets); i++) {
        const char *set =
            json_string_value(json_object_get(json_array_get(sets, i), "name"));
        struct http_channel *c = set ? channel(a, set) : NULL;
        json_t *o = c ? ledger(a, c, IPC_HISTORY) : NULL;
        const json_t *list = json_object_get(o, "history");
        for (size_t k = 0; k < json_array_size(list); k++) {
            json_t *e = json_array_get(list, k);
            const char *r = json_string_value(json_object_get(e, "receipt"));
            if (r && !strcmp(r, name)) {
                json_decref(a->out->json);
                give(a, 200, json_incref(e));
                json_decref(o);
                return;
            }
        }
        json_decref(o);
        json_decref(a->out->json);
        a->out->json = NULL;
    }
    refuse(a, 404, "unknown-name", "there is no such receipt");
}

static void owner(struct api *a, const json_t *who)
{
    const json_t *sets = json_object_get(who, "datasets");
    json_t *list = json_array(), *out = json_object();
    for (size_t i = 0; i < json_array_size(sets); i++) {
        json_t *set = json_copy(json_array_get(sets, i)), *o;
        const char *name = json_string_value(json_object_get(set, "name"));
        struct http_channel *c = channel(a, name ? name : "");
        o = c ? ledger(a, c, IPC_OWNER) : NULL;
        if (o)
            json_object_update(set, o);
        else
            json_object_set(set, "error",
                            json_object_get(a->out->json, "error"));
        json_decref(o);
        json_decref(a->out->json);
        a->out->json = NULL;
        json_array_append_new(list, set);
    }
    json_object_set_new(out, "datasets", list);
    json_object_set(out, "certificate", json_object_get(who, "certificate"));
    give(a, 200, out);
}

/* --- routes
 * ----------------------------------------------------------------------------
 */

static void signed_route(struct api *a, const char *path, json_t *who)
{
    char name[64];
    const char *rest;
    bool post = !strcmp(a->r->method, "POST");
    bool is_owner = json_is_true(json_object_get(who, "owner"));
    if (post && !strcmp(path, "logout"))
        logout(a);
    else if (!post && !strcmp(path, "me"))
        me(a, who);
    else if (!post && !strcmp(path, "datasets"))
        give(a, 200,
             json_pack("{s:O}", "datasets", json_object_get(who, "datasets")));
    else if (!post && !strcmp(path, "owner") && is_owner)
        owner(a, who);
    else if (!post && !strncmp(path, "releases/", 9) && !is_owner)
        receipt(a, who, path + 9);
    else if (!is_owner && http_dataset_path(path, name, sizeof name, &rest))
        dataset(a, name, rest);
    else
        refuse(a, 404, "unknown-name", "there is no such page");
}

static void route(struct api *a, const char *path)
{
    bool post = !strcmp(a->r->method, "POST");
    json_t *who;
    if (post && !strcmp(path, "login")) {
        if (http_same_origin(a->r, false))
            login(a);
        else
            refuse(a, 403, "origin", "the request comes from another site");
        return;
    }
    if (!identify(a)) {
        refuse_sign_in(a);
        return;
    }
    if (post && !http_same_origin(a->r, a->by_cookie)) {
        refuse(a, 403, "origin", "the request comes from another site");
        return;
    }
    a->who = who = http_who(a->s, a->token);
    if (who)
        signed_route(a, path, who);
    else if (a->s->broken)
        refuse(a, 503, "not-loaded", "signing in is not possible now");
    else
        refuse_sign_in(a);
    json_decref(who);
}

void http_api(struct http_session *s, const struct http_request *r,
              struct http_answer *out)
{
    struct api a = {.s = s, .r = r, .out = out};
    if (strcmp(r->method, "GET") && strcmp(r->method, "POST"))
        refuse(&a, 405, "usage", "only GET and POST are known");
    else if (!strcmp(r->path, "/healthz"))
        give(&a, 200, json_pack("{s:s}", "status", "ok"));
    else if (!strncmp(r->path, "/api/v1/", 8))
        route(&a, r->path + 8);
    else
        refuse(&a, 404, "unknown-name", "there is no such page");
}
