/*
 * Keys and references: pg_constraint, pg_index, the indexes in pg_class, and
 * what pg_get_constraintdef and pg_get_indexdef say of them. Names that the
 * source does not give are made as PostgreSQL makes them.
 */
#include <stdio.h>
#include <string.h>

#include "catalogue/cat_build.h"

enum { NAME = 63 }; /* NAMEDATALEN - 1 */

/* table_column_suffix, the longer part cut first. */
static void make_name(char *out, const char *table, const char *columns,
                      const char *suffix)
{
    size_t t = strlen(table), c = strlen(columns);
    size_t room = NAME - strlen(suffix) - 1 - (c ? 1 : 0);
    while (t + c > room)
        if (t > c)
            t--;
        else
            c--;
    snprintf(out, NAME + 1, "%.*s%s%.*s_%s", (int)t, table, c ? "_" : "",
             (int)c, columns, suffix);
}

static void join_names(const struct catalogue_table *t, const size_t *columns,
                       size_t n, const char *between, bool quoted,
                       sqlite3_str *out)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = t->columns[columns[i]].name;
        sqlite3_str_appendall(out, i ? between : "");
        if (quoted && cat_needs_quotes(name))
            sqlite3_str_appendf(out, "\"%w\"", name);
        else
            sqlite3_str_appendall(out, name);
    }
}

static char *names_of(const struct catalogue_table *t, const size_t *columns,
                      size_t n, const char *between, bool quoted)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    char *s;
    join_names(t, columns, n, between, quoted, out);
    s = sqlite3_str_finish(out);
    return s ? s : sqlite3_mprintf("");
}

/* A JSON array: 1 + each number, or the same value n times. */
static char *numbers_of(const size_t *columns, size_t n, long constant)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendall(out, "[");
    for (size_t i = 0; i < n; i++)
        sqlite3_str_appendf(out, "%s%lld", i ? "," : "",
                            columns ? (sqlite3_int64)columns[i] + 1
                                    : (sqlite3_int64)constant);
    sqlite3_str_appendall(out, "]");
    return sqlite3_str_finish(out);
}

static char *collations_of(const struct catalogue_table *t,
                           const struct catalogue_key *k)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (size_t i = 0; i < k->n; i++) {
        const struct cat_type *type =
            cat_type_named(t->columns[k->columns[i]].type);
        sqlite3_str_appendf(out, "%s%u", i ? "," : "[",
                            type ? type->collation : 0);
    }
    sqlite3_str_appendall(out, "]");
    return sqlite3_str_finish(out);
}

static void qualified(const struct catalogue_table *t, bool always,
                      sqlite3_str *out)
{
    const char *schema = cat_schema_of(t);
    if (always || strcmp(schema, "public"))
        sqlite3_str_appendf(out, cat_needs_quotes(schema) ? "\"%w\"." : "%s.",
                            schema);
    sqlite3_str_appendf(out, cat_needs_quotes(t->name) ? "\"%w\"" : "%s",
                        t->name);
}

static char *index_text(const char *name, const struct catalogue_table *t,
                        const char *list, bool pretty)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendf(out,
                        cat_needs_quotes(name)
                            ? "CREATE UNIQUE INDEX \"%w\" ON "
                            : "CREATE UNIQUE INDEX %s ON ",
                        name);
    qualified(t, !pretty, out);
    sqlite3_str_appendf(out, " USING btree (%s)", list);
    return sqlite3_str_finish(out);
}

/* n: 0 the whole, -1 the whole without the schema, else a column. */
static void index_definitions(struct cat_builder *b, uint32_t oid,
                              const char *name, const struct catalogue_table *t,
                              const struct catalogue_key *k)
{
    char *list = names_of(t, k->columns, k->n, ", ", true),
         *def = index_text(name, t, list, false),
         *pretty = index_text(name, t, list, true);
    cat_row(b, "INSERT INTO \"x.indexdef\" VALUES(%u,0,%Q),(%u,-1,%Q)", oid,
            def, oid, pretty);
    cat_row(b, "INSERT INTO \"pg_catalog.pg_indexes\" VALUES(%Q,%Q,%Q,NULL,%Q)",
            cat_schema_of(t), t->name, name, def);
    for (size_t i = 0; i < k->n; i++) {
        char *one = names_of(t, k->columns + i, 1, "", true);
        cat_row(b, "INSERT INTO \"x.indexdef\" VALUES(%u,%u,%Q)", oid,
                (unsigned)i + 1, one);
        sqlite3_free(one);
    }
    sqlite3_free(list);
    sqlite3_free(def);
    sqlite3_free(pretty);
}

static void key_index(struct cat_builder *b, size_t table, uint32_t schema,
                      const struct catalogue_key *k, const char *name,
                      uint32_t oid)
{
    const struct catalogue_table *t = &b->source->tables[table];
    char *columns = numbers_of(k->columns, k->n, 0),
         *zeros = numbers_of(NULL, k->n, 0), *collations = collations_of(t, k);
    cat_class(b, oid, name, schema, 'i', k->n, false, false);
    for (size_t i = 0; i < k->n; i++)
        cat_attribute(b, oid, &t->columns[k->columns[i]], (unsigned)i + 1,
                      true);
    cat_row(b,
            "INSERT INTO \"pg_catalog.pg_index\" VALUES(%u,%u,%u,%u,1,0,%d,0,1,"
            "0,1,0,1,1,0,%Q,%Q,%Q,%Q,NULL,NULL)",
            oid, b->tables[table], (unsigned)k->n, (unsigned)k->n, k->primary,
            columns, collations, zeros, zeros);
    index_definitions(b, oid, name, t, k);
    sqlite3_free(columns);
    sqlite3_free(zeros);
    sqlite3_free(collations);
}

static void key_constraint(struct cat_builder *b, size_t table, uint32_t schema,
                           const struct catalogue_key *k, const char *name,
                           uint32_t index)
{
    const struct catalogue_table *t = &b->source->tables[table];
    uint32_t oid = cat_next_oid(b);
    char *columns = numbers_of(k->columns, k->n, 0),
         *list = names_of(t, k->columns, k->n, ", ", true);
    cat_row(b,
            "INSERT INTO \"pg_catalog.pg_constraint\" VALUES(%u,%Q,%u,'%c',0,0,"
            "1,%u,0,%u,0,0,' ',' ',' ',1,0,1,%Q,NULL,NULL,NULL,NULL,NULL,NULL,"
            "NULL)",
            oid, name, schema, k->primary ? 'p' : 'u', b->tables[table], index,
            columns);
    cat_row(b, "INSERT INTO \"x.condef\" VALUES(%u,'%s (%q)')", oid,
            k->primary ? "PRIMARY KEY" : "UNIQUE", list);
    sqlite3_free(columns);
    sqlite3_free(list);
}

static void cat_key_name(const struct catalogue_table *t,
                         const struct catalogue_key *k, char *out)
{
    char *columns = names_of(t, k->columns, k->n, "_", false);
    if (k->name)
        snprintf(out, NAME + 1, "%s", k->name);
    else
        make_name(out, t->name, k->primary ? "" : columns,
                  k->primary ? "pkey" : "key");
    sqlite3_free(columns);
}

void cat_fill_keys(struct cat_builder *b, size_t table, uint32_t schema)
{
    const struct catalogue_table *t = &b->source->tables[table];
    for (size_t i = 0; i < t->n_keys; i++) {
        char name[NAME + 1];
        uint32_t oid = cat_next_oid(b);
        cat_key_name(t, &t->keys[i], name);
        key_index(b, table, schema, &t->keys[i], name, oid);
        key_constraint(b, table, schema, &t->keys[i], name, oid);
    }
}

/* --- references ----------------------------------------------------------- */

static bool same_set(const struct catalogue_key *k,
                     const struct catalogue_reference *r)
{
    if (k->n != r->n)
        return false;
    for (size_t i = 0; i < k->n; i++) {
        bool found = false;
        for (size_t j = 0; j < r->n; j++)
            found = found || k->columns[i] == r->others[j];
        if (!found)
            return false;
    }
    return true;
}

/* The key that a reference goes to; NULL when none is known. */
static const struct catalogue_key *
cat_key_of(const struct catalogue_source *s,
           const struct catalogue_reference *r)
{
    const struct catalogue_table *t = &s->tables[r->table];
    for (size_t i = 0; i < t->n_keys; i++)
        if (same_set(&t->keys[i], r))
            return &t->keys[i];
    return NULL;
}

static void cat_reference_name(const struct catalogue_table *t,
                               const struct catalogue_reference *r, char *out)
{
    char *columns = names_of(t, r->columns, r->n, "_", false);
    if (r->name)
        snprintf(out, NAME + 1, "%s", r->name);
    else
        make_name(out, t->name, columns, "fkey");
    sqlite3_free(columns);
}

static void reference_text(struct cat_builder *b, uint32_t oid,
                           const struct catalogue_table *t,
                           const struct catalogue_reference *r)
{
    const struct catalogue_table *other = &b->source->tables[r->table];
    sqlite3_str *out = sqlite3_str_new(NULL);
    char *def;
    sqlite3_str_appendall(out, "FOREIGN KEY (");
    join_names(t, r->columns, r->n, ", ", true, out);
    sqlite3_str_appendall(out, ") REFERENCES ");
    qualified(other, false, out);
    sqlite3_str_appendall(out, "(");
    join_names(other, r->others, r->n, ", ", true, out);
    sqlite3_str_appendall(out, ")");
    def = sqlite3_str_finish(out);
    cat_row(b, "INSERT INTO \"x.condef\" VALUES(%u,%Q)", oid, def);
    sqlite3_free(def);
}

static void fill_reference(struct cat_builder *b, size_t table,
                           const struct catalogue_reference *r)
{
    const struct catalogue_table *t = &b->source->tables[table];
    const struct catalogue_key *k = cat_key_of(b->source, r);
    char name[NAME + 1], key[NAME + 1] = "";
    char *columns = numbers_of(r->columns, r->n, 0),
         *others = numbers_of(r->others, r->n, 0),
         *zeros = numbers_of(NULL, r->n, 0);
    uint32_t oid = cat_next_oid(b);
    cat_reference_name(t, r, name);
    if (k)
        cat_key_name(&b->source->tables[r->table], k, key);
    cat_row(
        b,
        "INSERT INTO \"pg_catalog.pg_constraint\" SELECT %u,%Q,relnamespace,"
        "'f',0,0,1,%u,0,coalesce((SELECT indexrelid FROM"
        " \"pg_catalog.pg_index\" JOIN \"pg_catalog.pg_class\" i ON"
        " i.oid=indexrelid WHERE indrelid=%u AND i.relname=%Q),0),0,%u,'a',"
        "'a','s',1,0,1,%Q,%Q,%Q,%Q,%Q,NULL,NULL,NULL"
        " FROM \"pg_catalog.pg_class\" WHERE oid=%u",
        oid, name, b->tables[table], b->tables[r->table], key,
        b->tables[r->table], columns, others, zeros, zeros, zeros,
        b->tables[table]);
    reference_text(b, oid, t, r);
    sqlite3_free(columns);
    sqlite3_free(others);
    sqlite3_free(zeros);
}

void cat_fill_references(struct cat_builder *b, size_t table)
{
    const struct catalogue_table *t = &b->source->tables[table];
    for (size_t i = 0; i < t->n_references; i++)
        fill_reference(b, table, &t->references[i]);
}
