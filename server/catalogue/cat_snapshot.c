/*
 * From the library's public view of a data set to the catalogue's source.
 * PRIVACY: dpc_table_at and its kin tell what is declared, never rows.
 */
#include "catalogue/cat_snapshot.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "catalogue/catalogue_int.h"

enum { NOWHERE = -1 };

struct snapshot {
    const dpc_dataset *d;
    struct cat_arena arena;
    bool failed;      /* out of memory */
    size_t n;         /* tables of the data set */
    size_t *shown;    /* their number in the catalogue, or (size_t)NOWHERE */
    size_t **columns; /* the same for their columns */
    struct catalogue_table *tables;
    size_t n_tables;
};

static void *take(struct snapshot *s, size_t n, size_t size)
{
    void *m = n < CAT_MEMORY / size ? cat_arena_take(&s->arena, (n + 1) * size)
                                    : NULL;
    s->failed = s->failed || !m;
    return m;
}

static const char *type_name(dpc_type t)
{
    switch (t) {
    case DPC_TYPE_BIGINT:
        return "bigint";
    case DPC_TYPE_NUMERIC:
        return "numeric";
    case DPC_TYPE_DOUBLE:
        return "double precision";
    case DPC_TYPE_BOOLEAN:
        return "boolean";
    case DPC_TYPE_DATE:
        return "date";
    case DPC_TYPE_TIMESTAMP:
        return "timestamp without time zone";
    case DPC_TYPE_TIME:
        return "time without time zone";
    case DPC_TYPE_UUID:
        return "uuid";
    case DPC_TYPE_TEXT:
    case DPC_TYPE_UNKNOWN:
        break;
    }
    return "text";
}

/* --- whose rows ----------------------------------------------------------- */

static void add(char *out, size_t n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(char *out, size_t n, const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    if (used + 1 < n)
        vsnprintf(out + used, n - used, format, args);
    va_end(args);
}

static void add_columns(const dpc_dataset *d, size_t table, const dpc_link *l,
                        char *out, size_t n)
{
    dpc_column c;
    for (size_t i = 0; i < l->n; i++)
        if (dpc_column_at(d, table, l->columns[i], &c))
            add(out, n, "%s%s", i ? ", " : "", c.name);
}

void catalogue_whose(const dpc_dataset *d, size_t table, char *out, size_t n)
{
    dpc_table t;
    dpc_link l;
    out[0] = 0;
    if (!dpc_table_at(d, table, &t))
        return;
    add(out, n, "%s", t.is_private ? "private" : "public");
    if (t.is_private && t.is_entity)
        add(out, n, ": each row is one %s, with all rows that are theirs",
            t.name);
    for (size_t i = 0; t.is_private && dpc_owner_at(d, table, i, &l); i++) {
        add(out, n, "%s %s (by ", i ? " and" : ": rows of",
            l.table ? l.table : "");
        add_columns(d, table, &l, out, n);
        add(out, n, ")");
    }
    if (t.is_private && !t.is_entity && !t.n_owners)
        add(out, n, ": each row by itself");
}

static const char *comment_of(struct snapshot *s, size_t table,
                              const char *comment)
{
    char whose[1000];
    size_t n;
    char *out;
    catalogue_whose(s->d, table, whose, sizeof whose);
    n = strlen(whose) + (comment ? strlen(comment) : 0) + 3;
    out = take(s, n, 1);
    if (out)
        snprintf(out, n, "%s%s%s", whose, comment && *comment ? ". " : "",
                 comment ? comment : "");
    return out;
}

/* --- tables --------------------------------------------------------------- */

static void take_columns(struct snapshot *s, size_t table, const dpc_table *t,
                         struct catalogue_table *out)
{
    struct catalogue_column *c = take(s, t->n_columns, sizeof *c);
    dpc_column from;
    s->columns[table] = take(s, t->n_columns, sizeof **s->columns);
    out->columns = c;
    for (size_t i = 0; !s->failed && dpc_column_at(s->d, table, i, &from);
         i++) {
        s->columns[table][i] = (size_t)NOWHERE;
        if (!from.name || !*from.name)
            continue;
        s->columns[table][i] = out->n_columns;
        c[out->n_columns++] = (struct catalogue_column){
            .name = from.name,
            .type = type_name(from.type),
            .typmod = -1,
            .not_null = from.not_null != 0,
            .comment = from.comment && *from.comment ? from.comment : NULL};
    }
}

/* The positions as the catalogue counts; NULL: one is not shown. */
static const size_t *positions(struct snapshot *s, size_t table,
                               const size_t *from, size_t n)
{
    size_t *out = take(s, n, sizeof *out);
    for (size_t i = 0; out && i < n; i++) {
        out[i] = s->columns[table][from[i]];
        if (out[i] == (size_t)NOWHERE)
            return NULL;
    }
    return out;
}

/* The first key whose columns have no NULLs is the primary one. */
static void take_keys(struct snapshot *s, size_t table, const dpc_table *t,
                      struct catalogue_table *out)
{
    struct catalogue_key *k = take(s, t->n_keys, sizeof *k);
    bool primary = false;
    dpc_link l;
    out->keys = k;
    for (size_t i = 0; !s->failed && dpc_key_at(s->d, table, i, &l); i++) {
        const size_t *columns = positions(s, table, l.columns, l.n);
        bool whole = true;
        if (!columns || !l.n)
            continue;
        for (size_t c = 0; c < l.n; c++)
            whole = whole && out->columns[columns[c]].not_null;
        k[out->n_keys++] = (struct catalogue_key){
            .primary = whole && !primary, .columns = columns, .n = l.n};
        primary = primary || whole;
    }
}

static size_t table_named(const struct snapshot *s, const char *name)
{
    dpc_table t;
    for (size_t i = 0; name && dpc_table_at(s->d, i, &t); i++)
        if (!strcmp(t.name, name))
            return i;
    return (size_t)NOWHERE;
}

/* What a reference goes to; NULL: not to be said. */
static const size_t *referred(struct snapshot *s, const dpc_link *l,
                              size_t other)
{
    const struct catalogue_table *t = &s->tables[s->shown[other]];
    if (l->referred)
        return positions(s, other, l->referred, l->n);
    for (size_t i = 0; i < t->n_keys; i++)
        if (t->keys[i].n == l->n)
            return t->keys[i].columns;
    return NULL;
}

static void take_references(struct snapshot *s, size_t table,
                            const dpc_table *t, struct catalogue_table *out)
{
    struct catalogue_reference *r = take(s, t->n_references, sizeof *r);
    dpc_link l;
    out->references = r;
    for (size_t i = 0; !s->failed && dpc_reference_at(s->d, table, i, &l);
         i++) {
        size_t other = table_named(s, l.table);
        const size_t *columns = positions(s, table, l.columns, l.n), *others;
        if (!columns || !l.n || other == (size_t)NOWHERE ||
            s->shown[other] == (size_t)NOWHERE)
            continue;
        others = referred(s, &l, other);
        if (others)
            r[out->n_references++] =
                (struct catalogue_reference){.columns = columns,
                                             .others = others,
                                             .n = l.n,
                                             .table = s->shown[other]};
    }
}

static void take_tables(struct snapshot *s)
{
    dpc_table t;
    for (size_t i = 0; !s->failed && dpc_table_at(s->d, i, &t); i++) {
        struct catalogue_table *out = &s->tables[s->n_tables];
        s->shown[i] = (size_t)NOWHERE;
        if (!t.is_queried)
            continue;
        out->name = t.name;
        out->schema = t.space && *t.space ? t.space : NULL;
        out->comment = comment_of(s, i, t.comment);
        take_columns(s, i, &t, out);
        take_keys(s, i, &t, out);
        s->shown[i] = s->n_tables++;
    }
    for (size_t i = 0; !s->failed && dpc_table_at(s->d, i, &t); i++)
        if (s->shown[i] != (size_t)NOWHERE)
            take_references(s, i, &t, &s->tables[s->shown[i]]);
}

bool catalogue_build_of(const dpc_dataset *d, const char *database,
                        unsigned char **out, size_t *n,
                        struct catalogue_error *err)
{
    struct snapshot s = {.d = d, .n = dpc_dataset_tables(d)};
    struct catalogue_source source = {.database = database};
    bool done = false;
    *out = NULL;
    *n = 0;
    s.shown = take(&s, s.n, sizeof *s.shown);
    s.columns = take(&s, s.n, sizeof *s.columns);
    s.tables = take(&s, s.n, sizeof *s.tables);
    if (!s.failed)
        take_tables(&s);
    source.tables = s.tables;
    source.n_tables = s.n_tables;
    if (s.failed)
        cat_error(err, "53200", -1,
                  "could not build the catalogue: out of"
                  " memory");
    else
        done = catalogue_build(&source, out, n, err);
    cat_arena_free(&s.arena);
    return done;
}
