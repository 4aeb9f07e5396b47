/*
 * The catalogue into the schema. What the schema file or the policy declared
 * stays; the catalogue adds what they left open: tables, columns of tables
 * that were only named, types, NOT NULL, keys. Names are matched exactly with
 * PostgreSQL's; those of SQLite and of files in any case.
 *
 * PRIVACY: a table that comes from the catalogue is undeclared, hence
 * private. A UNIQUE constraint is a key of the rows without NULL in its
 * columns; databases allow many rows with one (schema.h).
 */
#include "source/source_int.h"

static enum status no_such_column(const struct src_table *t,
                                  const struct table *st, size_t col,
                                  struct err *err)
{
    err_set(err, E_NAME,
            "column \"%.*s\" of table \"%.*s\" is declared but not in the data",
            PSTR(st->cols[col].name), PSTR(st->name));
    if (t->path.n)
        err_detail(err, "The data are in \"%.*s\".", PSTR(t->path));
    return E_NAME;
}

/* SQLite keeps anything in a column of any type, and .import makes all of them
 * TEXT: the policy may say what the texts are. */
static bool is_loose(const struct src_table *t, size_t col)
{
    return t->kind == SRC_SQLITE && t->cols[col].type == T_TEXT;
}

/* A declared table: columns are matched by name; those of the data that are
 * not declared cannot be asked for and stay where they are. */
static enum status match_columns(struct source *src, struct src_table *t,
                                 struct table *st, struct err *err)
{
    bool *seen = NEWS(&src->arena, bool, st->n_cols + 1);
    if (!seen)
        return err_nomem(err);
    for (size_t i = 0; i < t->n_cols; i++) {
        long c = table_match_column(st, t->cols[i].name);
        t->to[i] = UINT32_MAX;
        if (c < 0)
            continue;
        t->to[i] = (uint32_t)c;
        seen[c] = true;
        struct column *col = &st->cols[c];
        if (col->type == T_UNKNOWN) {
            col->type = t->cols[i].type;
            col->retypes = is_loose(t, i);
        }
        col->not_null |= t->cols[i].not_null;
        col->is_enum = t->cols[i].is_enum;
        col->is_padded = t->cols[i].is_padded;
        if (t->cols[i].has_scale)
            col->scale = t->cols[i].scale;
        col->has_scale |= t->cols[i].has_scale;
        col->is_varchar = t->cols[i].is_varchar;
        if (t->cols[i].chars)
            col->chars = t->cols[i].chars;
        if (t->cols[i].digits.limited)
            col->digits = t->cols[i].digits;
        col->by_class = t->cols[i].by_class;
        col->text_only = t->cols[i].text_only;
    }
    for (size_t c = 0; c < st->n_cols; c++)
        if (!seen[c])
            return no_such_column(t, st, c, err);
    return OK;
}

/* A new table, or one that was only named: takes all columns. */
static enum status take_columns(struct source *src, struct src_table *t,
                                struct err *err)
{
    TRY(schema_fix_arity(src->schema, t->table, t->n_cols, err));
    struct table *st = &src->schema->tables.p[t->table];
    for (size_t i = 0; i < t->n_cols; i++) {
        struct column *c = &st->cols[i];
        c->name = str_copy(src->schema->arena, t->cols[i].name);
        if (!c->name.p)
            return err_nomem(err);
        if (c->type == T_UNKNOWN) {
            c->type = t->cols[i].type;
            c->retypes = is_loose(t, i);
        }
        c->not_null = t->cols[i].not_null;
        c->is_enum = t->cols[i].is_enum;
        c->is_padded = t->cols[i].is_padded;
        if (t->cols[i].has_scale)
            c->scale = t->cols[i].scale;
        c->has_scale |= t->cols[i].has_scale;
        c->is_varchar = t->cols[i].is_varchar;
        c->chars = t->cols[i].chars;
        c->digits = t->cols[i].digits;
        c->by_class = t->cols[i].by_class;
        c->text_only = t->cols[i].text_only;
        c->guessed = t->has_header && !(t->form && t->form->header == 1);
        t->to[i] = (uint32_t)i;
    }
    st->declared = true;
    st->is_refused = t->refused != NULL;
    /* DuckDB's own schema is what "public" is elsewhere: any name will do */
    bool usual = t->kind == SRC_DUCKDB && str_is(t->namespace_, "main");
    st->namespace_ =
        str_copy(src->schema->arena, usual ? STR("") : t->namespace_);
    return st->namespace_.p ? OK : err_nomem(err);
}

static enum status add_key(struct source *src, const struct src_table *t,
                           const struct src_key *k, struct err *err)
{
    struct schema *s = src->schema;
    uint32_t *x = NEWS(&src->arena, uint32_t, k->n_cols + 1);
    if (!x)
        return err_nomem(err);
    for (size_t i = 0; i < k->n_cols; i++) {
        x[i] = t->to[k->cols[i]];
        if (x[i] == UINT32_MAX)
            return OK; /* over a column that the schema leaves out */
    }
    return table_add_whole(s, t->table, x, k->n_cols, 1, true, STR(""), err);
}

static enum status other_type(const struct table *st, const struct column *c,
                              enum type server, struct err *err)
{
    err_set(err, E_TYPE,
            "column \"%.*s\" of table \"%.*s\" is declared %s, but the "
            "database has %s",
            PSTR(c->name), PSTR(st->name), type_name(c->type),
            server == T_UNKNOWN ? "another type" : type_name(server));
    err_hint(err, "Leave the type out: the database's own is used.");
    return E_TYPE;
}

static enum status own_form(const struct table *st, const struct column *c,
                            struct err *err)
{
    err_set(err, E_TYPE,
            "column \"%.*s\" of table \"%.*s\" is read by the server: it has "
            "no comma and no format",
            PSTR(c->name), PSTR(st->name));
    return E_TYPE;
}

/* PRIVACY: were a server's text read as a declared integer, only the rows that
 * the query lets through would be, and whether one of them is none would show.
 * A type that is not known here comes as text. */
enum status source_check_types(const struct source *src, struct err *err)
{
    for (size_t i = 0; src && i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        const struct table *st = &src->schema->tables.p[t->table];
        for (size_t k = 0; t->kind == SRC_PG && k < t->n_cols; k++) {
            enum type server = t->cols[k].type;
            if (t->to[k] == UINT32_MAX)
                continue;
            const struct column *c = &st->cols[t->to[k]];
            bool text = server == T_UNKNOWN && c->type == T_TEXT;
            if (c->form.comma || c->form.format.n)
                return own_form(st, c, err);
            if (c->type != server && !text)
                return other_type(st, c, server, err);
        }
    }
    return OK;
}

enum status merge_table(struct source *src, struct src_table *t,
                        struct err *err)
{
    struct schema *s = src->schema;
    bool any_case = t->kind != SRC_PG;
    long found =
        any_case ? schema_find_nocase(s, t->name) : schema_find(s, t->name);
    t->to = NEWS(&src->arena, uint32_t, t->n_cols + 1);
    if (!t->to)
        return err_nomem(err);
    if (found < 0)
        TRY(schema_add_table(s, t->name, 0, &t->table, err));
    else
        t->table = (size_t)found;
    struct table *st = &s->tables.p[t->table];
    st->any_case = any_case;
    if (st->arity_known)
        TRY(match_columns(src, t, st, err));
    else
        TRY(take_columns(src, t, err));
    for (size_t i = 0; i < t->keys.n; i++)
        TRY(add_key(src, t, &t->keys.p[i], err));
    return OK;
}

static enum status add_fk(struct source *src, const struct src_table *t,
                          const struct src_fk *k, struct err *err)
{
    struct schema *s = src->schema;
    long ref = schema_find_nocase(s, k->ref_table);
    if (ref < 0)
        return OK;
    const struct table *rt = &s->tables.p[ref];
    struct foreign_key f = {.n_cols = k->n_cols, .ref_table = rt->name};
    f.cols = NEWS(s->arena, uint32_t, k->n_cols + 1);
    f.ref_cols = NEWS(s->arena, uint32_t, k->n_cols + 1);
    if (!f.cols || !f.ref_cols)
        return err_nomem(err);
    for (size_t i = 0; i < k->n_cols; i++) {
        long c = table_match_column(rt, k->ref_cols[i]);
        f.cols[i] = t->to[k->cols[i]];
        if (c < 0 || f.cols[i] == UINT32_MAX)
            return OK;
        f.ref_cols[i] = (uint32_t)c;
    }
    return VEC_PUSH(s->arena, &s->tables.p[t->table].fks, f) ? OK
                                                             : err_nomem(err);
}

enum status merge_foreign_keys(struct source *src, const struct src_table *t,
                               struct err *err)
{
    for (size_t i = 0; i < t->fks.n; i++)
        TRY(add_fk(src, t, &t->fks.p[i], err));
    return OK;
}
