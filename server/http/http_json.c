/* Answers as JSON. Numbers of answers stay texts: they may have any length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/cat_snapshot.h"
#include "http/http_int.h"

/* --- errors
 * -------------------------------------------------------------------- */

unsigned http_status_of(const char *code)
{
    static const struct {
        const char *code;
        unsigned status;
    } all[] = {{"budget", 402},     {"price", 402},    {"unknown-analyst", 402},
               {"unpaid", 402},     {"locked", 409},   {"waiting", 429},
               {"not-loaded", 503}, {"detached", 503}, {"cancelled", 503},
               {"ledger-io", 503},  {"data", 503},     {"source", 503},
               {"too-large", 413},  {"memory", 503},   {"internal", 500}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].code, code))
            return all[i].status;
    return 400;
}

/* A text that is not UTF-8 cannot be JSON; it is left out. */
static json_t *text(const char *s)
{
    json_t *t = json_string(s ? s : "");
    return t ? t : json_string("");
}

json_t *http_error(const char *code, const char *message, const char *detail,
                   const char *hint, long position)
{
    json_t *e = json_object(), *out = json_object();
    json_object_set_new(e, "code", text(code));
    json_object_set_new(e, "message", text(message));
    json_object_set_new(e, "detail", text(detail));
    json_object_set_new(e, "hint", text(hint));
    json_object_set_new(
        e, "position", position >= 0 ? json_integer(position) : json_pack("n"));
    json_object_set_new(out, "error", e);
    return out;
}

/* --- the library's JSON
 * --------------------------------------------------------- */

/* jansson refuses integers beyond 64 bits; they become texts. */
json_t *http_read_json(const char *s)
{
    size_t n = strlen(s), k = 0;
    char *copy = malloc(3 * n + 1);
    bool inside = false;
    json_t *out;
    for (size_t i = 0; copy && i < n;) {
        size_t digits = inside ? 0 : strspn(s + i, "0123456789");
        if (digits > 18 &&
            !strchr(".eE", s[i + digits] ? s[i + digits] : 'x') &&
            (i == 0 || !strchr("0123456789.eE+", s[i - 1]))) {
            bool minus = k && copy[k - 1] == '-';
            k -= minus;
            copy[k++] = '"';
            if (minus)
                copy[k++] = '-';
            memcpy(copy + k, s + i, digits);
            k += digits;
            copy[k++] = '"';
            i += digits;
            continue;
        }
        if (inside && s[i] == '\\' && s[i + 1])
            copy[k++] = s[i++];
        else if (s[i] == '"')
            inside = !inside;
        copy[k++] = s[i++];
    }
    out = copy ? json_loadb(copy, k, 0, NULL) : NULL;
    free(copy);
    return out;
}

static const char *type_name(dpc_type t)
{
    static const char *const names[] = {
        "unknown", "bigint",  "numeric", "double precision",
        "text",    "boolean", "date",    "timestamp",
        "time",    "uuid"};
    return (size_t)t < sizeof names / sizeof *names ? names[t] : "unknown";
}

static const char *role_name(dpc_role r)
{
    return r == DPC_ROLE_KEY ? "key" : r == DPC_ROLE_ERROR ? "error" : "count";
}

static json_t *column(const char *name, dpc_type type, dpc_role role)
{
    json_t *c = json_object();
    json_object_set_new(c, "name", text(name));
    json_object_set_new(c, "type", text(type_name(type)));
    json_object_set_new(c, "role", text(role_name(role)));
    return c;
}

static json_t *price(const char *epsilon, const char *delta)
{
    json_t *p = json_object();
    json_object_set_new(p, "epsilon",
                        text(epsilon && *epsilon ? epsilon : "0"));
    json_object_set_new(p, "delta", text(delta && *delta ? delta : "0"));
    return p;
}

json_t *http_quote_json(const dpc_result *r)
{
    json_t *o = json_object(), *columns = json_array();
    for (size_t i = 0; i < dpc_result_columns(r); i++) {
        dpc_type type = DPC_TYPE_UNKNOWN;
        dpc_role role = DPC_ROLE_COUNT;
        const char *name = dpc_result_column(r, i, &type, &role);
        json_array_append_new(columns, column(name, type, role));
    }
    json_object_set_new(o, "columns", columns);
    json_object_set_new(
        o, "price",
        price(dpc_result_price(r, "epsilon"), dpc_result_price(r, "delta")));
    json_object_set_new(o, "guarantee", text(dpc_result_guarantee(r, 0)));
    json_object_set_new(o, "quote", http_read_json(dpc_result_json(r)));
    return o;
}

json_t *http_reply_json(const struct reply *r)
{
    json_t *o = json_object(), *columns = json_array(), *rows = json_array();
    for (size_t i = 0; i < r->n_columns; i++)
        json_array_append_new(
            columns,
            column(r->columns[i].name, r->columns[i].type, r->columns[i].role));
    for (size_t i = 0; i < r->n_rows; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < r->n_columns; k++) {
            const char *cell = r->cells[i * r->n_columns + k];
            json_array_append_new(row, cell ? text(cell) : json_pack("n"));
        }
        json_array_append_new(rows, row);
    }
    json_object_set_new(o, "columns", columns);
    json_object_set_new(o, "rows", rows);
    json_object_set_new(o, "price", price(r->epsilon, r->delta));
    json_object_set_new(o, "guarantee", text(r->guarantee));
    json_object_set_new(o, "receipt", text(r->receipt));
    json_object_set_new(o, "repeated", json_boolean(r->repeated));
    json_object_set_new(o, "release", http_read_json(r->json ? r->json : ""));
    return o;
}

/* --- tables
 * ---------------------------------------------------------------------- */

static bool in_key(const dpc_dataset *d, size_t table, size_t column_at)
{
    dpc_link l;
    for (size_t i = 0; dpc_key_at(d, table, i, &l); i++)
        for (size_t k = 0; k < l.n; k++)
            if (l.columns[k] == column_at)
                return true;
    return false;
}

static const char *refers_to(const dpc_dataset *d, size_t table,
                             size_t column_at)
{
    dpc_link l;
    for (size_t i = 0; dpc_reference_at(d, table, i, &l); i++)
        for (size_t k = 0; k < l.n; k++)
            if (l.columns[k] == column_at)
                return l.table;
    return NULL;
}

static json_t *columns_of(const dpc_dataset *d, size_t table)
{
    json_t *out = json_array();
    dpc_column c;
    for (size_t i = 0; dpc_column_at(d, table, i, &c); i++) {
        json_t *o;
        const char *to = refers_to(d, table, i);
        if (!c.name || !*c.name)
            continue;
        o = json_object();
        json_object_set_new(o, "name", text(c.name));
        json_object_set_new(o, "type", text(type_name(c.type)));
        json_object_set_new(o, "not_null", json_boolean(c.not_null));
        json_object_set_new(o, "key", json_boolean(in_key(d, table, i)));
        json_object_set_new(o, "references", to ? text(to) : json_pack("n"));
        json_object_set_new(o, "comment", text(c.comment));
        json_array_append_new(out, o);
    }
    return out;
}

json_t *http_tables(const dpc_dataset *d)
{
    json_t *list = json_array(), *out = json_object();
    char whose[1000];
    dpc_table t;
    for (size_t i = 0; dpc_table_at(d, i, &t); i++) {
        json_t *o;
        if (!t.is_queried)
            continue;
        catalogue_whose(d, i, whose, sizeof whose);
        o = json_object();
        json_object_set_new(o, "name", text(t.name));
        json_object_set_new(o, "schema", text(t.space));
        json_object_set_new(o, "private", json_boolean(t.is_private));
        json_object_set_new(o, "whose", text(whose));
        json_object_set_new(o, "comment", text(t.comment));
        json_object_set_new(o, "columns", columns_of(d, i));
        json_array_append_new(list, o);
    }
    json_object_set_new(out, "tables", list);
    return out;
}

/* --- history
 * --------------------------------------------------------------------- */

json_t *http_history_page(json_t *history, const char *before, size_t limit)
{
    json_t *list = json_object_get(history, "history"), *page = json_array();
    json_t *out = json_object(), *last = NULL;
    bool on = !*before;
    size_t i = json_array_size(list);
    if (!limit || limit > HTTP_HISTORY_MOST)
        limit = HTTP_HISTORY_MOST;
    for (; i > 0 && json_array_size(page) < limit; i--) {
        json_t *e = json_array_get(list, i - 1);
        const char *receipt = json_string_value(json_object_get(e, "receipt"));
        if (on) {
            json_array_append(page, e);
            last = json_object_get(e, "receipt");
        } else if (receipt && !strcmp(receipt, before)) {
            on = true;
        }
    }
    json_object_set_new(out, "history", page);
    json_object_set(out, "next", last);
    if (i == 0 || !last)
        json_object_set_new(out, "next", json_pack("n"));
    return out;
}
