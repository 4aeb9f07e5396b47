/* Any statement: what it means here, and how it is run. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "serve/front_int.h"
#include "wire/scram.h"

/* --- the catalogue
 * ------------------------------------------------------------------
 */

static bool catalogue_problem(struct problem *bad,
                              const struct catalogue_error *e)
{
    problem_set(bad, e->sqlstate, "%s", e->message);
    snprintf(bad->hint, sizeof bad->hint, "%s", e->hint);
    bad->at = e->position;
    return false;
}

static void take_catalogue(struct front_pool *pool,
                           const struct catalogue_rows *r,
                           struct front_rows *out)
{
    size_t n = r->n_rows * r->n_fields;
    out->select = true;
    out->n_fields = r->n_fields;
    out->n_rows = r->n_rows;
    snprintf(out->tag, sizeof out->tag, "SELECT");
    out->fields = front_alloc(pool, (r->n_fields + 1) * sizeof *out->fields);
    out->cells = front_alloc(pool, (n + 1) * sizeof *out->cells);
    for (size_t i = 0; i < r->n_fields; i++)
        out->fields[i] = (struct front_field){
            front_copy(pool, r->fields[i].name, strlen(r->fields[i].name)),
            r->fields[i].type, r->fields[i].len, r->fields[i].typmod};
    for (size_t i = 0; r->cells && i < n; i++)
        out->cells[i] = r->cells[i]
                            ? front_copy(pool, r->cells[i], strlen(r->cells[i]))
                            : NULL;
}

static bool has_catalogue(const struct front *f, struct problem *bad)
{
    return f->catalogue ||
           problem_set(bad, "55000", "the data set is not loaded");
}

static bool run_catalogue(struct front *f, const char *sql,
                          const char *const *parameters, size_t n,
                          struct front_pool *pool, struct front_rows *out,
                          struct problem *bad)
{
    struct catalogue_parameter p[QUESTION_PARAMETERS_MOST];
    struct catalogue_rows r = {0};
    struct catalogue_error e = {.position = -1};
    if (!has_catalogue(f, bad))
        return false;
    for (size_t i = 0; i < n; i++)
        p[i] = (struct catalogue_parameter){0, parameters[i]};
    if (!catalogue_run(f->catalogue, sql, p, n, &r, &e))
        return catalogue_problem(bad, &e);
    take_catalogue(pool, &r, out);
    catalogue_rows_free(&r);
    return true;
}

static bool describe_catalogue(struct front *f, const char *sql,
                               struct front_pool *pool, struct front_rows *out,
                               uint32_t *types, size_t *n_types,
                               struct problem *bad)
{
    struct catalogue_rows r = {0};
    struct catalogue_error e = {.position = -1};
    if (!has_catalogue(f, bad))
        return false;
    if (!catalogue_describe(f->catalogue, sql, types, *n_types, &r, &e))
        return catalogue_problem(bad, &e);
    take_catalogue(pool, &r, out);
    bool fits = r.n_parameters <= QUESTION_PARAMETERS_MOST;
    *n_types = fits ? r.n_parameters : 0;
    for (size_t i = 0; i < *n_types; i++)
        types[i] = r.parameters[i];
    catalogue_rows_free(&r);
    return fits ||
           problem_set(bad, "54000", "a statement has at most %d parameters",
                       QUESTION_PARAMETERS_MOST);
}

/* --- transactions
 * ---------------------------------------------------------------------
 */

/* Only the state is kept: nothing is written that could be undone, and a
 * ROLLBACK refunds nothing. */
static bool transaction(struct front *f, const struct statement *s,
                        struct front_rows *out)
{
    const char *kind = json_string_value(json_object_get(s->node, "kind"));
    const char *tag = "COMMIT";
    kind = kind ? kind : "TRANS_STMT_BEGIN";
    if (!strcmp(kind, "TRANS_STMT_BEGIN") ||
        !strcmp(kind, "TRANS_STMT_START")) {
        tag = !strcmp(kind, "TRANS_STMT_START") ? "START TRANSACTION" : "BEGIN";
        f->transaction = f->transaction == 'I' ? 'T' : f->transaction;
    } else if (!strcmp(kind, "TRANS_STMT_SAVEPOINT")) {
        tag = "SAVEPOINT";
    } else if (!strcmp(kind, "TRANS_STMT_RELEASE")) {
        tag = "RELEASE";
    } else if (!strcmp(kind, "TRANS_STMT_ROLLBACK_TO")) {
        tag = "ROLLBACK";
        f->transaction = 'T';
    } else {
        bool failed = f->transaction == 'E';
        tag = failed || !strcmp(kind, "TRANS_STMT_ROLLBACK") ? "ROLLBACK"
                                                             : "COMMIT";
        f->transaction = 'I';
        portal_close(f, NULL, true);
    }
    snprintf(out->tag, sizeof out->tag, "%s", tag);
    return true;
}

/* In a failed transaction only its end is allowed. */
static bool allowed(const struct front *f, const struct statement *s,
                    struct problem *bad)
{
    const char *kind = json_string_value(json_object_get(s->node, "kind"));
    if (f->transaction != 'E' || s->kind == STATEMENT_EMPTY)
        return true;
    if (s->kind == STATEMENT_TRANSACTION && kind &&
        (strstr(kind, "ROLLBACK") || strstr(kind, "COMMIT")))
        return true;
    return problem_set(bad, "25P02",
                       "current transaction is aborted, commands ignored "
                       "until end of transaction block");
}

/* --- the others
 * --------------------------------------------------------------------------
 */

static bool discard(struct front *f, const struct statement *s,
                    struct front_rows *out)
{
    const char *what = json_string_value(json_object_get(s->node, "target"));
    if (!what || !strcmp(what, "DISCARD_ALL")) {
        settings_reset(f);
        portal_close(f, NULL, true);
        prepared_close(f, NULL, true);
    }
    snprintf(out->tag, sizeof out->tag, "DISCARD ALL");
    return true;
}

static bool deallocate(struct front *f, const struct statement *s,
                       struct front_rows *out)
{
    const char *name = json_string_value(json_object_get(s->node, "name"));
    prepared_close(f, name, !name);
    snprintf(out->tag, sizeof out->tag, name ? "DEALLOCATE" : "DEALLOCATE ALL");
    return true;
}

/* ALTER USER me PASSWORD 'SCRAM-SHA-256$...', as psql's \password sends it. */
static const char *new_verifier(const struct front *f,
                                const struct statement *s)
{
    json_t *role = json_object_get(s->node, "role");
    json_t *options = json_object_get(s->node, "options");
    const char *name = json_string_value(json_object_get(role, "rolename"));
    const char *kind = json_string_value(json_object_get(role, "roletype"));
    bool self = (name && !strcmp(name, f->user)) ||
                (kind && !strcmp(kind, "ROLESPEC_CURRENT_USER"));
    if (!self || json_array_size(options) != 1)
        return NULL;
    json_t *o = json_object_get(json_array_get(options, 0), "DefElem");
    const char *option = json_string_value(json_object_get(o, "defname"));
    if (!option || strcmp(option, "password"))
        return NULL;
    return json_string_value(json_object_get(
        json_object_get(json_object_get(o, "arg"), "String"), "sval"));
}

static bool password(struct front *f, const struct statement *s,
                     struct front_rows *out, struct problem *bad)
{
    struct scram_verifier v;
    char type;
    struct wire_in in;
    const char *text = new_verifier(f, s);
    if (!text)
        return problem_set(bad, "42501",
                           "one's own password can be changed, nothing else");
    if (!scram_verifier_read(text, &v)) {
        problem_set(bad, "22023",
                    "the password must come as a SCRAM-SHA-256 "
                    "verifier");
        snprintf(bad->hint, sizeof bad->hint, "Use psql's \\password.");
        return false;
    }
    if (scram_password_fits(&v, ""))
        return problem_set(bad, "22023", "the password is empty");
    ipc_begin(&f->auth, IPC_VERIFIER);
    wire_put_text(&f->auth.out, text);
    ipc_end(&f->auth);
    do
        if (!ipc_wait(&f->auth, 10000, &type, &in))
            front_fatal(f, "57P01", "the service is being stopped");
    while (type != IPC_STORED);
    snprintf(out->tag, sizeof out->tag, "ALTER ROLE");
    return wire_get8(&in) ||
           problem_set(bad, "58030", "the password could not be stored");
}

/* CREATE TABLE AS of CreateTableAsStmt. */
static void name_of(const char *type, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = type; *p && n + 3 < size && strcmp(p, "Stmt"); p++) {
        if (p != type && isupper((unsigned char)*p))
            out[n++] = ' ';
        out[n++] = (char)toupper((unsigned char)*p);
    }
    out[n] = 0;
}

static bool refuse(const struct statement *s, struct problem *bad)
{
    if (!strcmp(s->type, "SelectStmt"))
        return problem_set(bad, "0A000",
                           "tables of the catalogue and of the data set "
                           "cannot be mixed");
    char kind[64];
    name_of(s->type, kind, sizeof kind);
    problem_set(bad, "0A000", "%s is not offered", kind);
    const char *hint = "This service answers SELECTs with COUNT, SUM and AVG.";
    if (!strcmp(s->type, "CopyStmt"))
        hint = "For files use psql --csv with a SELECT.";
    else if (!strcmp(s->type, "ExplainStmt"))
        hint = "EXPLAIN SELECT ... shows the price; ANALYZE is not offered.";
    else if (!strcmp(s->type, "PrepareStmt") || !strcmp(s->type, "ExecuteStmt"))
        hint = "Prepare statements through the protocol, as drivers do.";
    snprintf(bad->hint, sizeof bad->hint, "%s", hint);
    return false;
}

/* --- running
 * --------------------------------------------------------------------------------
 */

bool run_statement(struct front *f, const struct statement *s,
                   const char *const *parameters, size_t n,
                   struct front_pool *pool, struct front_rows *out,
                   struct problem *bad)
{
    *out = (struct front_rows){0};
    bad->at = -1;
    if (!allowed(f, s, bad))
        return false;
    switch (s->kind) {
    case STATEMENT_SELECT:
        return talk_release(f, s->sql, parameters, n, pool, out, bad);
    case STATEMENT_SYSTEM:
        return run_catalogue(f, s->sql, parameters, n, pool, out, bad);
    case STATEMENT_OWN:
        return own_run(f, s->sql, false, pool, out, bad);
    case STATEMENT_EXPLAIN:
        return talk_explain(f, s, parameters, n, pool, out, bad);
    case STATEMENT_SET:
        return settings_run(f, s, out, bad);
    case STATEMENT_SHOW:
        return settings_show(f, s, pool, out, bad);
    case STATEMENT_TRANSACTION:
        return transaction(f, s, out);
    case STATEMENT_DISCARD:
        return discard(f, s, out);
    case STATEMENT_DEALLOCATE:
        return deallocate(f, s, out);
    case STATEMENT_DECLARE:
    case STATEMENT_FETCH:
    case STATEMENT_CLOSE:
        return cursor_run(f, s, parameters, n, pool, out, bad);
    case STATEMENT_PASSWORD:
        return password(f, s, out, bad);
    case STATEMENT_EMPTY:
        return true;
    default:
        return refuse(s, bad);
    }
}

/* The parameters of the SELECT in an EXPLAIN or DECLARE. */
static void describe_inner(struct front *f, const struct statement *s,
                           struct front_pool *pool, uint32_t *types,
                           size_t *n_types)
{
    struct front_rows rows;
    struct problem ignored = {.at = -1};
    talk_describe(f, s->sql + s->inner, *n_types, pool, &rows, types, n_types,
                  &ignored);
}

bool describe_statement(struct front *f, const struct statement *s,
                        struct front_pool *pool, struct front_rows *out,
                        uint32_t *types, size_t *n_types, struct problem *bad)
{
    static const char *const none[1] = {""};
    *out = (struct front_rows){0};
    bad->at = -1;
    switch (s->kind) {
    case STATEMENT_SELECT:
        return talk_describe(f, s->sql, *n_types, pool, out, types, n_types,
                             bad);
    case STATEMENT_SYSTEM:
        return describe_catalogue(f, s->sql, pool, out, types, n_types, bad);
    case STATEMENT_OWN:
        return own_run(f, s->sql, true, pool, out, bad);
    case STATEMENT_DECLARE:
        describe_inner(f, s, pool, types, n_types);
        return true;
    case STATEMENT_FETCH:
        cursor_describe(f, s, out);
        return true;
    case STATEMENT_EXPLAIN:
        describe_inner(f, s, pool, types, n_types);
        make_column(pool, out, "QUERY PLAN", none, 0);
        return true;
    case STATEMENT_SHOW:
        return settings_show(f, s, pool, out, bad);
    default:
        return true;
    }
}

/* --- a string of statements
 * -------------------------------------------------------------------
 */

static bool run_one(struct front *f, const struct statement *s)
{
    struct front_pool pool = {0};
    struct front_rows rows;
    struct problem bad = {.at = -1};
    bool ok = run_statement(f, s, NULL, 0, &pool, &rows, &bad);
    if (ok && rows.select) {
        send_description(f, &rows, NULL, 0);
        send_rows(f, &rows, 0, rows.n_rows, NULL, 0, &bad);
    }
    if (ok)
        send_complete(f, &rows, rows.n_rows);
    else
        report_problem(f, &bad, s);
    front_release(&pool);
    return ok;
}

void run_simple(struct front *f, const char *text)
{
    struct statements all;
    struct problem bad = {.at = -1};
    bool ok = statements_read(text, &all, &bad);
    f->whole = text;
    if (!ok)
        report_problem(f, &bad, NULL);
    if (ok && !all.n)
        wire_message0(&f->out, 'I');
    for (size_t i = 0; ok && i < all.n; i++) {
        ok = run_one(f, &all.list[i]);
        front_flush(f);
    }
    if (!ok && f->transaction == 'T')
        f->transaction = 'E';
    f->whole = NULL;
    statements_free(&all);
}
