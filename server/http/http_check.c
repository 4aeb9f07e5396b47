/*
 * What a request says by itself: cookies, names and passwords, where it comes
 * from, its body. Everything here reads bytes of strangers; nothing asks
 * another process. Fuzzed by tests/fuzz/fuzz_http.c.
 */
#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/http_int.h"

static const char *cookie_name(bool tls)
{
    return tls ? "__Host-dpc=" : "dpc=";
}

bool http_cookie(const char *header, bool tls, char out[HTTP_TOKEN + 1])
{
    const char *name = cookie_name(tls), *c = header;
    size_t n = strlen(name);
    while (*c) {
        c += strspn(c, " ;");
        if (!strncmp(c, name, n)) {
            c += n;
            if (strspn(c, "0123456789abcdef") != HTTP_TOKEN ||
                (c[HTTP_TOKEN] && !strchr("; ", c[HTTP_TOKEN])))
                return false;
            memcpy(out, c, HTTP_TOKEN);
            out[HTTP_TOKEN] = 0;
            return true;
        }
        c += strcspn(c, ";");
    }
    return false;
}

bool http_basic(const char *header, char *user, size_t n_user, char *password,
                size_t n_password)
{
    unsigned char text[700];
    size_t n;
    char *colon;
    int got;
    if (strncasecmp(header, "Basic ", 6))
        return false;
    header += 6;
    n = strlen(header);
    if (!n || n % 4 || n > sizeof text / 4 * 4)
        return false;
    got = EVP_DecodeBlock(text, (const unsigned char *)header, (int)n);
    if (got < 0)
        return false;
    got -= header[n - 1] == '=';
    got -= header[n - 2] == '=';
    if (got < 0 || (size_t)got >= sizeof text || memchr(text, 0, (size_t)got))
        return false;
    text[got] = 0;
    colon = strchr((char *)text, ':');
    if (!colon || (size_t)(colon - (char *)text) >= n_user ||
        strlen(colon + 1) >= n_password)
        return false;
    *colon = 0;
    snprintf(user, n_user, "%s", (char *)text);
    snprintf(password, n_password, "%s", colon + 1);
    return true;
}

bool http_same_origin(const struct http_request *r, bool by_cookie)
{
    const char *scheme = r->tls ? "https://" : "http://";
    size_t n = strlen(scheme);
    if (strcmp(r->x_dpc, "1"))
        return false;
    if (!*r->origin)
        return !by_cookie; /* no browser: a page cannot leave it out */
    return *r->host && !strncmp(r->origin, scheme, n) &&
           !strcasecmp(r->origin + n, r->host);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool http_dataset_path(const char *path, char *name, size_t n_name,
                       const char **rest)
{
    size_t n = 0;
    if (strncmp(path, "datasets/", 9))
        return false;
    for (path += 9; *path && *path != '/'; path++) {
        int c = (unsigned char)*path;
        if (c == '%') {
            if (hex(path[1]) < 0 || hex(path[2]) < 0)
                return false;
            c = 16 * hex(path[1]) + hex(path[2]);
            path += 2;
        }
        if (!c || n + 1 >= n_name)
            return false;
        name[n++] = (char)c;
    }
    name[n] = 0;
    *rest = *path ? path + 1 : path;
    return n && *path;
}

json_t *http_body(const struct http_request *r)
{
    json_t *o;
    if (strncasecmp(r->content_type, "application/json", 16))
        return NULL; /* what a form of another page could send is not read */
    o = json_loadb((const char *)r->body, r->n_body, JSON_REJECT_DUPLICATES,
                   NULL);
    if (o && !json_is_object(o)) {
        json_decref(o);
        return NULL;
    }
    return o;
}

/* --- questions ---------------------------------------------------------------
 */

static bool is_number(const char *s)
{
    size_t n = strspn(s, "0123456789.eE+-");
    return n && n < 40 && !s[n];
}

/* A setting: a text, or a number as it stands. */
static bool take_setting(const json_t *o, const char *key, const char *option,
                         struct question_text *q, const char **why)
{
    const char *v = json_string_value(json_object_get(o, key));
    if (!json_object_get(o, key))
        return true;
    if (!v || !is_number(v)) {
        *why = "epsilon, delta and the like are decimal numbers as texts";
        return false;
    }
    if (!strcmp(option, "delta") && strspn(v, "0.") == strlen(v))
        return true;
    q->settings[q->n_settings++] = (struct wire_parameter){option, v};
    return true;
}

static bool take_groups(const json_t *o, struct question_text *q,
                        const char **why)
{
    const json_t *list = json_object_get(o, "groups");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *v = json_string_value(json_array_get(list, i));
        if (!v || q->n_settings == QUESTION_SETTINGS_MOST) {
            *why = "groups is a list of texts, at most 50";
            return false;
        }
        q->settings[q->n_settings++] = (struct wire_parameter){"groups", v};
    }
    return !list || json_is_array(list) ||
           (*why = "groups is a list of texts", false);
}

static bool take_params(const json_t *o, struct question_text *q,
                        const char **why)
{
    const json_t *list = json_object_get(o, "params");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        if ((!json_is_string(v) && !json_is_null(v)) ||
            q->n_parameters == QUESTION_PARAMETERS_MOST) {
            *why = "params is a list of texts and nulls";
            return false;
        }
        q->parameters[q->n_parameters++] = json_string_value(v);
    }
    return !list || json_is_array(list) ||
           (*why = "params is a list of texts and nulls", false);
}

static bool known_keys(const json_t *o, const char **why)
{
    static const char *const keys[] = {"sql",       "params", "epsilon",
                                       "delta",     "groups", "max_epsilon",
                                       "max_delta", "fresh"};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)o, key, value)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            found = found || !strcmp(keys[i], key);
        if (!found) {
            *why = "there is a key that is not known; the owner's options"
                   " cannot be set";
            return false;
        }
    }
    return true;
}

bool http_question(const json_t *o, struct question_text *out, const char **why)
{
    const char *sql = json_string_value(json_object_get(o, "sql"));
    *out = (struct question_text){.sql = sql ? sql : ""};
    *why = "";
    if (!sql || !*sql) {
        *why = "sql is missing";
        return false;
    }
    if (!known_keys(o, why) ||
        !take_setting(o, "epsilon", "epsilon", out, why) ||
        !take_setting(o, "delta", "delta", out, why) ||
        !take_groups(o, out, why) || !take_params(o, out, why))
        return false;
    if (json_is_true(json_object_get(o, "fresh")) &&
        out->n_settings < QUESTION_SETTINGS_MOST)
        out->settings[out->n_settings++] =
            (struct wire_parameter){"fresh", "yes"};
    out->error_columns = true;
    return true;
}
