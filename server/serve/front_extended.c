/*
 * The extended protocol: prepared statements, portals, cursors. A portal is
 * run once, whatever part of its rows each Execute takes: one charge.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/front_int.h"

/* --- names
 * -----------------------------------------------------------------------------
 */

static struct prepared_statement **prepared_slot(struct front *f,
                                                 const char *name)
{
    for (size_t i = 0; i < FRONT_NAMED_MOST; i++)
        if (f->prepared[i] && !strcmp(f->prepared[i]->name, name))
            return &f->prepared[i];
    return NULL;
}

static struct front_portal **portal_slot(struct front *f, const char *name)
{
    for (size_t i = 0; i < FRONT_NAMED_MOST; i++)
        if (f->portals[i] && !strcmp(f->portals[i]->name, name))
            return &f->portals[i];
    return NULL;
}

static struct front_portal *portal_find(struct front *f, const char *name)
{
    struct front_portal **p = portal_slot(f, name);
    return p ? *p : NULL;
}

static void free_prepared(struct prepared_statement **p)
{
    statements_free(&(*p)->text);
    free((*p)->name);
    free((*p)->whole);
    free(*p);
    *p = NULL;
}

static void free_portal(struct front_portal **p)
{
    statements_free(&(*p)->text);
    front_release(&(*p)->pool);
    free((*p)->name);
    free((*p)->whole);
    free(*p);
    *p = NULL;
}

/* One whose statement runs ends itself: the end of a transaction closes all
 * portals, its own too. */
static void end_portal(struct front_portal **p)
{
    if (!(*p)->running) {
        free_portal(p);
        return;
    }
    (*p)->ended = true;
    *p = NULL;
}

void prepared_close(struct front *f, const char *name, bool all)
{
    for (size_t i = 0; i < FRONT_NAMED_MOST; i++)
        if (f->prepared[i] && (all || !strcmp(f->prepared[i]->name, name)))
            free_prepared(&f->prepared[i]);
}

void portal_close(struct front *f, const char *name, bool all)
{
    for (size_t i = 0; i < FRONT_NAMED_MOST; i++)
        if (f->portals[i] && (all || !strcmp(f->portals[i]->name, name)))
            end_portal(&f->portals[i]);
}

static struct front_portal *portal_new(struct front *f, const char *name,
                                       struct problem *bad)
{
    size_t i = 0;
    if (!*name)
        portal_close(f, name, false);
    else if (portal_slot(f, name)) {
        problem_set(bad, "42P03", "cursor \"%.63s\" already exists", name);
        return NULL;
    }
    while (i < FRONT_NAMED_MOST && f->portals[i])
        i++;
    struct front_portal *p = i < FRONT_NAMED_MOST ? calloc(1, sizeof *p) : NULL;
    if (p)
        p->name = strdup(name);
    if (!p || !p->name) {
        free(p);
        problem_set(bad, "54000", "too many portals");
        return NULL;
    }
    f->portals[i] = p;
    return p;
}

/* --- Parse
 * ------------------------------------------------------------------------------
 */

static bool add_prepared(struct front *f, struct prepared_statement *p,
                         const char *name, struct problem *bad)
{
    size_t i = 0;
    if (!*name)
        prepared_close(f, "", false);
    else if (prepared_slot(f, name))
        return problem_set(bad, "42P05",
                           "prepared statement \"%.63s\" already exists", name);
    while (i < FRONT_NAMED_MOST && f->prepared[i])
        i++;
    if (i == FRONT_NAMED_MOST)
        return problem_set(bad, "54000", "too many prepared statements");
    p->name = strdup(name);
    if (!p->name)
        return problem_set(bad, "53200", "out of memory");
    f->prepared[i] = p;
    return true;
}

static bool read_types(struct wire_in *in, struct prepared_statement *p)
{
    p->n_types = wire_get16(in);
    if (p->n_types > QUESTION_PARAMETERS_MOST)
        return false;
    for (size_t i = 0; i < p->n_types; i++)
        p->types[i] = wire_get32(in);
    return wire_at_end(in);
}

static bool parse(struct front *f, struct wire_in *in, struct problem *bad)
{
    const char *name = wire_get_text(in), *sql = wire_get_text(in);
    struct prepared_statement *p = calloc(1, sizeof *p);
    bool ok = p && (p->whole = strdup(sql)) != NULL;
    if (!ok)
        problem_set(bad, "53200", "out of memory");
    f->whole = p ? p->whole : NULL;
    if (ok && !read_types(in, p))
        ok = problem_set(bad, "08P01", "malformed Parse message");
    ok = ok && statements_read(sql, &p->text, bad);
    if (ok && p->text.n > 1)
        ok = problem_set(bad, "42601",
                         "cannot insert multiple commands into "
                         "a prepared statement");
    ok = ok && add_prepared(f, p, name, bad);
    if (ok) {
        wire_message0(&f->out, '1');
        f->whole = NULL;
    } else if (p) {
        report_problem(f, bad, NULL);
        bad->state[0] = 0; /* said */
        f->whole = NULL;
        statements_free(&p->text);
        free(p->whole);
        free(p);
    }
    return ok;
}

/* --- Bind
 * --------------------------------------------------------------------------------
 */

/* pgjdbc sends dates as "1951-02-03 +00", of no type. */
static char *without_zone(char *s)
{
    size_t n = strlen(s);
    if (n < 12 || s[4] != '-' || s[7] != '-' || !isdigit((unsigned char)*s))
        return s;
    if ((s[10] == ' ' || s[10] == '+' || s[10] == '-') &&
        strspn(s + 10, " +-0123456789:") == n - 10 && !strchr(s + 10, '.') &&
        strlen(s + 10) <= 7)
        s[10] = 0;
    return s;
}

static uint32_t type_of(struct front *f, const struct prepared_statement *p,
                        size_t i, struct front_pool *pool)
{
    uint32_t types[QUESTION_PARAMETERS_MOST] = {0};
    struct front_rows rows;
    struct problem ignored;
    size_t n = 0;
    if (i < p->n_types && p->types[i])
        return p->types[i];
    if (p->text.n &&
        describe_statement(f, p->text.list, pool, &rows, types, &n, &ignored) &&
        i < n)
        return types[i];
    return 0;
}

static bool bind_value(struct front *f, struct front_portal *o,
                       const struct prepared_statement *p, size_t i,
                       bool binary, struct wire_in *in, struct problem *bad)
{
    uint32_t n = wire_get32(in);
    if (n == 0xffffffff) {
        o->parameters[i] = NULL;
        return true;
    }
    const unsigned char *bytes = wire_get_bytes(in, n);
    if (!bytes)
        return problem_set(bad, "08P01", "malformed Bind message");
    if (!binary) {
        if (memchr(bytes, 0, n))
            return problem_set(bad, "22021", "invalid byte in a parameter");
        char *text = front_copy(&o->pool, (const char *)bytes, n);
        o->parameters[i] = without_zone(text);
        return true;
    }
    o->parameters[i] =
        param_text(&o->pool, type_of(f, p, i, &o->pool), bytes, n, bad);
    return o->parameters[i];
}

static bool bind_values(struct front *f, struct front_portal *o,
                        const struct prepared_statement *p, struct wire_in *in,
                        struct problem *bad)
{
    uint16_t formats[QUESTION_PARAMETERS_MOST];
    size_t n_formats = wire_get16(in);
    if (n_formats > QUESTION_PARAMETERS_MOST)
        return problem_set(bad, "08P01", "malformed Bind message");
    for (size_t i = 0; i < n_formats; i++)
        formats[i] = wire_get16(in);
    o->n_parameters = wire_get16(in);
    if (o->n_parameters > QUESTION_PARAMETERS_MOST || in->bad)
        return problem_set(bad, "08P01", "malformed Bind message");
    for (size_t i = 0; i < o->n_parameters; i++) {
        uint16_t format = !n_formats       ? 0
                          : n_formats == 1 ? formats[0]
                          : i < n_formats  ? formats[i]
                                           : 0;
        if (!bind_value(f, o, p, i, format == 1, in, bad))
            return false;
    }
    return true;
}

static bool bind_formats(struct front_portal *o, struct wire_in *in,
                         struct problem *bad)
{
    o->n_formats = wire_get16(in);
    o->formats = front_alloc(&o->pool, (o->n_formats + 1) * sizeof(uint16_t));
    for (size_t i = 0; i < o->n_formats && !in->bad; i++)
        o->formats[i] = wire_get16(in);
    return wire_at_end(in) ||
           problem_set(bad, "08P01", "malformed Bind message");
}

/* The portal has a text of its own: the statement may be closed first. */
static bool portal_text(struct front_portal *o, const char *sql,
                        struct problem *bad)
{
    o->whole = strdup(sql);
    if (!o->whole || !statements_read(o->whole, &o->text, bad))
        return false;
    o->s = o->text.n ? o->text.list : NULL;
    return true;
}

static bool bind(struct front *f, struct wire_in *in, struct problem *bad)
{
    const char *portal = wire_get_text(in), *name = wire_get_text(in);
    struct prepared_statement **p = prepared_slot(f, name);
    if (!p)
        return problem_set(bad, "26000",
                           "prepared statement \"%.63s\" does not exist", name);
    struct front_portal *o = portal_new(f, portal, bad);
    if (!o)
        return false;
    f->whole = (*p)->whole;
    bool ok = bind_values(f, o, *p, in, bad) && bind_formats(o, in, bad) &&
              portal_text(o, (*p)->whole, bad);
    f->whole = NULL;
    if (!ok) {
        portal_close(f, portal, false);
        return false;
    }
    wire_message0(&f->out, '2');
    return true;
}

/* --- Describe
 * ------------------------------------------------------------------------------
 */

static bool describe_prepared(struct front *f, const char *name,
                              struct problem *bad)
{
    struct front_pool pool = {0};
    struct front_rows rows = {0};
    uint32_t types[QUESTION_PARAMETERS_MOST] = {0};
    struct prepared_statement **p = prepared_slot(f, name);
    if (!p)
        return problem_set(bad, "26000",
                           "prepared statement \"%.63s\" does not exist", name);
    size_t n = (*p)->n_types, given = n;
    memcpy(types, (*p)->types, n * sizeof *types);
    f->whole = (*p)->whole;
    bool ok = !(*p)->text.n || describe_statement(f, (*p)->text.list, &pool,
                                                  &rows, types, &n, bad);
    if (ok) {
        n = n < given ? given : n;
        wire_begin(&f->out, 't');
        wire_put16(&f->out, (uint16_t)n);
        for (size_t i = 0; i < n; i++)
            wire_put32(&f->out, i < given && (*p)->types[i] ? (*p)->types[i]
                                : types[i]                  ? types[i]
                                                            : OID_TEXT);
        wire_end(&f->out);
        send_description(f, &rows, NULL, 0);
    }
    front_release(&pool);
    return ok;
}

static bool describe_portal(struct front *f, const char *name,
                            struct problem *bad)
{
    struct front_rows rows = {0};
    uint32_t types[QUESTION_PARAMETERS_MOST] = {0};
    size_t n = 0;
    struct front_portal *o = portal_find(f, name);
    if (!o)
        return problem_set(bad, "34000", "portal \"%.63s\" does not exist",
                           name);
    f->whole = o->whole;
    if (o->ran)
        rows = o->rows;
    else if (o->s &&
             !describe_statement(f, o->s, &o->pool, &rows, types, &n, bad))
        return false;
    send_description(f, &rows, o->formats, o->n_formats);
    return true;
}

static bool describe(struct front *f, struct wire_in *in, struct problem *bad)
{
    char kind = (char)wire_get8(in);
    const char *name = wire_get_text(in);
    if (!wire_at_end(in))
        return problem_set(bad, "08P01", "malformed Describe message");
    return kind == 'S' ? describe_prepared(f, name, bad)
                       : describe_portal(f, name, bad);
}

/* --- Execute, Close
 * ---------------------------------------------------------------------------
 */

static bool execute(struct front *f, struct wire_in *in, struct problem *bad)
{
    const char *name = wire_get_text(in);
    size_t limit = wire_get32(in);
    struct front_portal *o = portal_find(f, name);
    if (!wire_at_end(in))
        return problem_set(bad, "08P01", "malformed Execute message");
    if (!o)
        return problem_set(bad, "34000", "portal \"%.63s\" does not exist",
                           name);
    if (!o->s) {
        wire_message0(&f->out, 'I');
        return true;
    }
    f->whole = o->whole;
    o->running = true;
    bool ok = o->ran || run_statement(f, o->s, o->parameters, o->n_parameters,
                                      &o->pool, &o->rows, bad);
    o->running = false;
    bool ends = !ok || o->ended || !o->rows.select;
    if (ok && ends)
        send_complete(f, &o->rows, 0);
    if (o->ended) {
        f->whole = NULL;
        free_portal(&o);
    }
    if (ends)
        return ok;
    o->ran = true;
    size_t left = o->rows.n_rows - o->at;
    size_t n = limit && limit < left ? limit : left;
    if (!send_rows(f, &o->rows, o->at, o->at + n, o->formats, o->n_formats,
                   bad))
        return false;
    o->at += n;
    if (limit &&
        n == limit) /* also at the end, as PostgreSQL: it has not looked */
        wire_message0(&f->out, 's');
    else
        send_complete(f, &o->rows, n);
    return true;
}

static bool close_name(struct front *f, struct wire_in *in, struct problem *bad)
{
    char kind = (char)wire_get8(in);
    const char *name = wire_get_text(in);
    if (!wire_at_end(in))
        return problem_set(bad, "08P01", "malformed Close message");
    if (kind == 'S')
        prepared_close(f, name, false);
    else
        portal_close(f, name, false);
    wire_message0(&f->out, '3');
    return true;
}

static const struct statement *statement_of(struct front *f)
{
    for (size_t i = 0; i < FRONT_NAMED_MOST; i++)
        if (f->portals[i] && f->portals[i]->whole == f->whole)
            return f->portals[i]->s;
    for (size_t i = 0; i < FRONT_NAMED_MOST; i++)
        if (f->prepared[i] && f->prepared[i]->whole == f->whole)
            return f->prepared[i]->text.list;
    return NULL;
}

bool extended_message(struct front *f, char type, struct wire_in *in)
{
    struct problem bad = {.at = -1};
    bool ok;
    switch (type) {
    case 'P':
        ok = parse(f, in, &bad);
        break;
    case 'B':
        ok = bind(f, in, &bad);
        break;
    case 'D':
        ok = describe(f, in, &bad);
        break;
    case 'E':
        ok = execute(f, in, &bad);
        break;
    case 'C':
        ok = close_name(f, in, &bad);
        break;
    default:
        return false;
    }
    if (!ok) {
        if (bad.state[0])
            report_problem(f, &bad, f->whole ? statement_of(f) : NULL);
        f->skip_to_sync = true;
        if (f->transaction == 'T')
            f->transaction = 'E';
    }
    f->whole = NULL;
    return true;
}

/* --- cursors
 * --------------------------------------------------------------------------------
 */

static bool declare(struct front *f, const struct statement *s,
                    const char *const *parameters, size_t n,
                    struct front_rows *out, struct problem *bad)
{
    const char *name =
        json_string_value(json_object_get(s->node, "portalname"));
    if (f->transaction == 'I' && !strcasestr(s->sql, "with hold"))
        return problem_set(bad, "25P01",
                           "DECLARE CURSOR can only be used in "
                           "transaction blocks");
    struct front_portal *o = portal_new(f, name ? name : "", bad);
    if (!o)
        return false;
    o->cursor = true;
    const char *whole = f->whole;
    bool ok = portal_text(o, s->sql + s->inner, bad) && o->s &&
              run_statement(f, o->s, parameters, n, &o->pool, &o->rows, bad);
    f->whole = whole;
    if (!ok) {
        if (bad->at >= 0)
            bad->at += (long)s->inner;
        portal_close(f, name, false);
        return false;
    }
    o->ran = true;
    snprintf(out->tag, sizeof out->tag, "DECLARE CURSOR");
    return true;
}

static bool fetch(struct front *f, const struct statement *s,
                  struct front_pool *pool, struct front_rows *out,
                  struct problem *bad)
{
    const char *name =
        json_string_value(json_object_get(s->node, "portalname"));
    const char *way = json_string_value(json_object_get(s->node, "direction"));
    json_t *many = json_object_get(s->node, "howMany");
    struct front_portal *o = portal_find(f, name ? name : "");
    if (!o || !o->ran)
        return problem_set(bad, "34000", "cursor \"%.63s\" does not exist",
                           name ? name : "");
    if (way && strcmp(way, "FETCH_FORWARD"))
        return problem_set(bad, "55000", "cursor can only scan forward");
    /* the parser writes ALL as the largest number, which it leaves as a text */
    json_int_t n = json_is_integer(many) ? json_integer_value(many)
                   : many                ? (json_int_t)o->rows.n_rows
                                         : 1;
    size_t left = o->rows.n_rows - o->at;
    size_t take = n < 0 ? 0 : (size_t)n < left ? (size_t)n : left;
    bool move = json_is_true(json_object_get(s->node, "ismove"));
    *out = o->rows;
    out->n_rows = move ? 0 : take;
    out->select = !move;
    if (o->rows.cells && !move) {
        size_t bytes = take * out->n_fields * sizeof *out->cells;
        out->cells = front_alloc(pool, bytes + 1);
        memcpy(out->cells, o->rows.cells + o->at * out->n_fields, bytes);
    }
    o->at += take;
    if (move)
        snprintf(out->tag, sizeof out->tag, "MOVE %zu", take);
    else
        snprintf(out->tag, sizeof out->tag, "FETCH");
    return true;
}

void cursor_describe(struct front *f, const struct statement *s,
                     struct front_rows *out)
{
    const char *name =
        json_string_value(json_object_get(s->node, "portalname"));
    const struct front_portal *o = portal_find(f, name ? name : "");
    if (!o || !o->ran || json_is_true(json_object_get(s->node, "ismove")))
        return;
    *out = o->rows;
    out->n_rows = 0;
}

bool cursor_run(struct front *f, const struct statement *s,
                const char *const *parameters, size_t n,
                struct front_pool *pool, struct front_rows *out,
                struct problem *bad)
{
    const char *name =
        json_string_value(json_object_get(s->node, "portalname"));
    if (s->kind == STATEMENT_DECLARE)
        return declare(f, s, parameters, n, out, bad);
    if (s->kind == STATEMENT_FETCH)
        return fetch(f, s, pool, out, bad);
    if (name && !portal_find(f, name))
        return problem_set(bad, "34000", "cursor \"%.63s\" does not exist",
                           name);
    portal_close(f, name, !name);
    snprintf(out->tag, sizeof out->tag, "CLOSE CURSOR%s", name ? "" : " ALL");
    return true;
}
