/*
 * The catalogue from outside, for tests in Python. Standard input is one JSON
 * object: {"database", "user", "tables": [{"schema"?, "name", "comment"?,
 * "columns": [[name, type, typmod, not null, comment]], "keys": [[primary,
 * [columns]]], "references": [[[columns], table, [others]]]}], "queries":
 * [sql or [sql, [parameters]]]}. Output is a line of JSON for each query:
 * {"kind", "columns": [[name, type, typmod]], "rows"} or {"kind", "error"}.
 * With "bytes": true the catalogue itself comes first. With two arguments, a
 * source and a policy, the tables are those of this data set.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/cat_snapshot.h"
#include "catalogue/catalogue.h"
#include "dpcount.h"

/* All of it is kept until the program ends, and given back then: an array
   that nobody reads would be optimised away, and what it held be a leak. */
static void *kept[4096];
static size_t n_kept;

static void free_kept(void)
{
    while (n_kept)
        free(kept[--n_kept]);
}

static void *zeros(size_t n, size_t size)
{
    void *m = calloc(n + 1, size);
    if (!m || n_kept == sizeof kept / sizeof *kept)
        exit(70);
    return kept[n_kept++] = m;
}

static const char *text_at(const json_t *array, size_t i)
{
    return json_string_value(json_array_get(array, i));
}

static size_t *numbers(const json_t *list)
{
    size_t n = json_array_size(list), *out = zeros(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = (size_t)json_integer_value(json_array_get(list, i));
    return out;
}

static struct catalogue_table table(const json_t *t)
{
    const json_t *columns = json_object_get(t, "columns"),
                 *keys = json_object_get(t, "keys"),
                 *references = json_object_get(t, "references");
    struct catalogue_column *c = zeros(json_array_size(columns), sizeof *c);
    struct catalogue_key *k = zeros(json_array_size(keys), sizeof *k);
    struct catalogue_reference *r =
        zeros(json_array_size(references), sizeof *r);
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *x = json_array_get(columns, i);
        c[i] = (struct catalogue_column){
            .name = text_at(x, 0),
            .type = text_at(x, 1),
            .typmod = (int)json_integer_value(json_array_get(x, 2)),
            .not_null = json_is_true(json_array_get(x, 3)),
            .comment = text_at(x, 4)};
    }
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const json_t *x = json_array_get(keys, i);
        k[i] = (struct catalogue_key){
            .primary = json_is_true(json_array_get(x, 0)),
            .columns = numbers(json_array_get(x, 1)),
            .n = json_array_size(json_array_get(x, 1))};
    }
    for (size_t i = 0; i < json_array_size(references); i++) {
        const json_t *x = json_array_get(references, i);
        r[i] = (struct catalogue_reference){
            .columns = numbers(json_array_get(x, 0)),
            .table = (size_t)json_integer_value(json_array_get(x, 1)),
            .others = numbers(json_array_get(x, 2)),
            .n = json_array_size(json_array_get(x, 0))};
    }
    return (struct catalogue_table){
        .schema = json_string_value(json_object_get(t, "schema")),
        .name = json_string_value(json_object_get(t, "name")),
        .comment = json_string_value(json_object_get(t, "comment")),
        .columns = c,
        .n_columns = json_array_size(columns),
        .keys = k,
        .n_keys = json_array_size(keys),
        .references = r,
        .n_references = json_array_size(references)};
}

static json_t *shown(const struct catalogue_rows *r)
{
    json_t *columns = json_array(), *rows = json_array();
    for (size_t i = 0; i < r->n_fields; i++)
        json_array_append_new(columns, json_pack("[s,I,i]", r->fields[i].name,
                                                 (json_int_t)r->fields[i].type,
                                                 r->fields[i].typmod));
    for (size_t i = 0; i < r->n_rows; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < r->n_fields; k++) {
            const char *s = r->cells[i * r->n_fields + k];
            json_array_append_new(row, s ? json_string(s) : json_null());
        }
        json_array_append_new(rows, row);
    }
    return json_pack("{s:o,s:o}", "columns", columns, "rows", rows);
}

static json_t *ask(struct catalogue *c, const json_t *query)
{
    static const char *const kinds[] = {"syntax", "other", "system", "owner",
                                        "mixed"};
    const char *sql =
        json_is_array(query) ? text_at(query, 0) : json_string_value(query);
    const json_t *values = json_array_get(query, 1);
    struct catalogue_parameter *p = zeros(json_array_size(values), sizeof *p);
    struct catalogue_rows rows;
    struct catalogue_error err;
    enum catalogue_kind kind = catalogue_classify(sql, &err);
    json_t *out;
    for (size_t i = 0; i < json_array_size(values); i++)
        p[i].text = text_at(values, i);
    if (catalogue_run(c, sql, p, json_array_size(values), &rows, &err)) {
        out = shown(&rows);
        catalogue_rows_free(&rows);
    } else {
        out = json_pack("{s:[s,s,I]}", "error", err.sqlstate, err.message,
                        (json_int_t)err.position);
    }
    json_object_set_new(out, "kind", json_string(kinds[kind]));
    return out;
}

/* What is public of a data set, as a front gets it: exported and imported. */
static bool build_of(const char *db, const char *policy, unsigned char **bytes,
                     size_t *n, struct catalogue_error *err)
{
    dpc_dataset *d = NULL, *seen = NULL;
    dpc_error *e = NULL;
    void *public = NULL;
    size_t n_public;
    bool done = !dpc_dataset_new(&d) && !dpc_dataset_set(d, "db", db, &e) &&
                !dpc_dataset_set(d, "policy", policy, &e) &&
                !dpc_dataset_open(d, 0, &e) &&
                !dpc_dataset_export(d, &public, &n_public, &e) &&
                !dpc_dataset_import(public, n_public, &seen, &e) &&
                catalogue_build_of(seen, "clinic", bytes, n, err);
    if (!done)
        fprintf(stderr, "%s\n", e ? dpc_error_message(e) : err->message);
    dpc_error_free(e);
    dpc_bytes_free(public);
    dpc_dataset_free(seen);
    dpc_dataset_free(d);
    return done;
}

static bool build_from(const json_t *in, unsigned char **bytes, size_t *n,
                       struct catalogue_error *err)
{
    const json_t *tables = json_object_get(in, "tables");
    struct catalogue_table *t = zeros(json_array_size(tables), sizeof *t);
    struct catalogue_source source = {
        json_string_value(json_object_get(in, "database")), t,
        json_array_size(tables)};
    for (size_t i = 0; i < source.n_tables; i++)
        t[i] = table(json_array_get(tables, i));
    if (catalogue_build(&source, bytes, n, err))
        return true;
    fprintf(stderr, "%s\n", err->message);
    return false;
}

int main(int argc, char **argv)
{
    json_error_t why;
    json_t *in = json_loadf(stdin, 0, &why);
    const json_t *queries = json_object_get(in, "queries");
    struct catalogue_error err = {.message = ""};
    struct catalogue *c = NULL;
    unsigned char *bytes;
    size_t n;
    if (atexit(free_kept))
        return 70;
    if (!in) {
        fprintf(stderr, "%s\n", why.text);
        return 2;
    }
    if (!(argc > 2 ? build_of(argv[1], argv[2], &bytes, &n, &err)
                   : build_from(in, &bytes, &n, &err)) ||
        !catalogue_open(
            bytes, n, json_string_value(json_object_get(in, "user")), &c, &err))
        return 1;
    if (json_is_true(json_object_get(in, "bytes")))
        fwrite(bytes, 1, n, stdout);
    for (size_t i = 0; i < json_array_size(queries); i++) {
        json_t *out = ask(c, json_array_get(queries, i));
        json_dumpf(out, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(out);
    }
    catalogue_close(c);
    free(bytes);
    json_decref(in);
    return 0;
}
