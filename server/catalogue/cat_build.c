/*
 * The relations as SQLite tables, filled from the public snapshot. Tables are
 * called "schema.name"; columns have no type in SQLite, so that a value stays
 * what it is. OIDs of the owner's objects count up from 16384 in the order of
 * the source, like a new server's.
 *
 * PRIVACY: everything written here is a fact of the snapshot or a constant.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/cat_build.h"

void cat_row(struct cat_builder *b, const char *format, ...)
{
    va_list args;
    char *sql;
    if (b->rc != SQLITE_OK)
        return;
    va_start(args, format);
    sql = sqlite3_vmprintf(format, args);
    va_end(args);
    b->rc = sql ? sqlite3_exec(b->c.db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
}

uint32_t cat_next_oid(struct cat_builder *b)
{
    return b->oid++;
}

static void make_relation(struct cat_builder *b, const struct cat_relation *r)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    const char *c = r->columns;
    sqlite3_str_appendf(sql, "CREATE TABLE \"%w.%w\"(", r->schema, r->name);
    while (*c) {
        size_t n = strcspn(c, ":");
        sqlite3_str_appendf(sql, "%s\"%.*s\"", c == r->columns ? "" : ",",
                            (int)n, c);
        c += strcspn(c, " ");
        c += *c == ' ';
    }
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    if (text)
        cat_row(b, "%s", text);
    else
        b->rc = SQLITE_NOMEM;
    sqlite3_free(text);
}

static void make_relations(struct cat_builder *b)
{
    static const char *const indexes[][2] = {{"pg_class", "oid"},
                                             {"pg_attribute", "attrelid"},
                                             {"pg_type", "oid"},
                                             {"pg_description", "objoid"},
                                             {"pg_constraint", "conrelid"},
                                             {"pg_index", "indrelid"},
                                             {"pg_proc", "oid"}};
    size_t n;
    const struct cat_relation *r = cat_relations(&n);
    for (size_t i = 0; i < n; i++)
        make_relation(b, &r[i]);
    cat_row(b, "CREATE TABLE \"x.indexdef\"(oid, n, def)");
    cat_row(b, "CREATE TABLE \"x.condef\"(oid, def)");
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
        cat_row(b, "CREATE INDEX \"i.%s\" ON \"pg_catalog.%s\"(\"%s\")",
                indexes[i][0], indexes[i][0], indexes[i][1]);
}

/* --- what is the same everywhere ------------------------------------------ */

static void fill_types(struct cat_builder *b)
{
    size_t n;
    const struct cat_type *t = cat_types(&n);
    for (size_t i = 0; i < n; i++)
        cat_row(b,
                "INSERT INTO \"pg_catalog.pg_type\" VALUES(%u,%Q,11,10,%d,%d,"
                "'%c','%c',%d,1,'%c',0,0,%u,%u,%u,%u,%u,%u,0,0,0,'%c','%c',0,0,"
                "-1,0,%u,NULL,NULL,NULL)",
                t[i].oid, t[i].name, t[i].len, t[i].by_value, t[i].type,
                t[i].category, t[i].preferred, t[i].delimiter, t[i].element,
                t[i].array, t[i].input, t[i].output, t[i].receive, t[i].send,
                t[i].align, t[i].storage, t[i].collation);
}

static void fill_procs(struct cat_builder *b)
{
    size_t n;
    const struct cat_proc *p = cat_procs(&n);
    for (size_t i = 0; i < n; i++)
        cat_row(b,
                "INSERT INTO \"pg_catalog.pg_proc\"(oid,proname,pronamespace,"
                "proowner,prolang,procost,prorows,provariadic,prosupport,"
                "prokind,prosecdef,proleakproof,proisstrict,proretset,"
                "provolatile,proparallel,pronargdefaults,prosrc)"
                " VALUES(%u,%Q,11,10,12,1,0,0,0,'f',0,0,1,0,'i','s',0,%Q)",
                p[i].oid, p[i].name, p[i].name);
}

static void fill_settings(struct cat_builder *b)
{
    static const struct {
        const char *name, *value, *category;
    } settings[] = {
#define SETTING(name, value, category) {name, value, category},
#include "catalogue/settings.def"
#undef SETTING
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        cat_row(b,
                "INSERT INTO \"pg_catalog.pg_settings\"(name,setting,category,"
                "short_desc,context,vartype,source,boot_val,reset_val,"
                "pending_restart) VALUES(%Q,%Q,%Q,'','user','string','default',"
                "%Q,%Q,0)",
                settings[i].name, settings[i].value, settings[i].category,
                settings[i].value, settings[i].value);
}

static void fill_fixed(struct cat_builder *b)
{
    static const char *const rows[] = {
        "pg_namespace\" "
        "VALUES(99,'pg_toast',10,NULL),(11,'pg_catalog',10,NULL),"
        "(2200,'public',10,NULL),(13000,'information_schema',10,NULL)",
        "pg_am\" VALUES(2,'heap',0,'t'),(403,'btree',0,'i'),(405,'hash',0,'i'),"
        "(783,'gist',0,'i'),(2742,'gin',0,'i'),(4000,'spgist',0,'i'),"
        "(3580,'brin',0,'i')",
        "pg_tablespace\" VALUES(1663,'pg_default',10,NULL,NULL),"
        "(1664,'pg_global',10,NULL,NULL)",
        "pg_language\" VALUES(12,'internal',10,0,0,0,0,0,NULL),"
        "(13,'c',10,0,0,0,0,0,NULL),(14,'sql',10,0,1,0,0,0,NULL)",
        "pg_collation\" "
        "VALUES(100,'default',11,10,'d',1,-1,NULL,NULL,NULL,NULL),"
        "(950,'C',11,10,'c',1,-1,'C','C',NULL,NULL),"
        "(951,'POSIX',11,10,'c',1,-1,'POSIX','POSIX',NULL,NULL)"};
    cat_row(b, "INSERT INTO \"pg_catalog.pg_description\" VALUES(2200,2615,0,"
               "'standard public schema')");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cat_row(b, "INSERT INTO \"pg_catalog.%s", rows[i]);
    cat_row(b,
            "INSERT INTO \"pg_catalog.pg_database\" VALUES(5,%Q,10,6,'c',0,1,"
            "-1,0,0,1663,'C','C',NULL,NULL,NULL)",
            b->source->database);
    cat_row(b,
            "INSERT INTO \"information_schema.information_schema_catalog_name\""
            " VALUES(%Q)",
            b->source->database);
    cat_row(b,
            "INSERT INTO \"information_schema.character_sets\" VALUES(NULL,"
            "NULL,'UTF8','UCS','UTF8',%Q,'pg_catalog','C')",
            b->source->database);
}

/* --- the owner's ---------------------------------------------------------- */

const char *cat_schema_of(const struct catalogue_table *t)
{
    return t->schema ? t->schema : "public";
}

static uint32_t schema_oid(struct cat_builder *b,
                           const struct catalogue_table *t)
{
    const char *name = cat_schema_of(t);
    uint32_t oid;
    if (!strcmp(name, "public"))
        return 2200;
    for (size_t i = 0; i < b->n_schemas; i++)
        if (!strcmp(b->schemas[i].name, name))
            return b->schemas[i].oid;
    if (b->n_schemas == sizeof b->schemas / sizeof *b->schemas) {
        b->rc = SQLITE_TOOBIG;
        return 0;
    }
    oid = cat_next_oid(b);
    b->schemas[b->n_schemas].name = name;
    b->schemas[b->n_schemas++].oid = oid;
    cat_row(b, "INSERT INTO \"pg_catalog.pg_namespace\" VALUES(%u,%Q,10,NULL)",
            oid, name);
    return oid;
}

void cat_class(struct cat_builder *b, uint32_t oid, const char *name,
               uint32_t schema, char kind, size_t columns, bool indexed,
               bool references)
{
    bool index = kind == 'i';
    cat_row(b,
            "INSERT INTO \"pg_catalog.pg_class\" VALUES(%u,%Q,%u,0,0,10,%d,0,"
            "0,0,-1,0,0,%d,0,'p','%c',%u,0,0,%d,0,0,0,1,'%c',0,0,0,0,NULL,NULL,"
            "NULL)",
            oid, name, schema, index ? 403 : 2, indexed, kind,
            (unsigned)columns, references, index ? 'n' : 'd');
}

void cat_attribute(struct cat_builder *b, uint32_t relation,
                   const struct catalogue_column *c, unsigned at, bool index)
{
    const struct cat_type *t = cat_type_named(c->type);
    if (!t)
        t = cat_type_of(T_TEXT);
    cat_row(
        b,
        "INSERT INTO \"pg_catalog.pg_attribute\" VALUES(%u,%Q,%u,-1,%d,%u,"
        "%d,-1,%d,%d,'%c','%c','',%d,0,0,'','',0,1,0,%u,NULL,NULL,NULL,NULL)",
        relation, c->name, t->oid, t->len, at, t->category == 'A', c->typmod,
        t->by_value, t->align, t->storage, c->not_null && !index, t->collation);
}

static bool is_referred(const struct catalogue_source *s, size_t table)
{
    for (size_t i = 0; i < s->n_tables; i++)
        for (size_t k = 0; k < s->tables[i].n_references; k++)
            if (s->tables[i].references[k].table == table)
                return true;
    return false;
}

static void describe(struct cat_builder *b, uint32_t oid, size_t column,
                     const char *comment)
{
    if (comment)
        cat_row(b,
                "INSERT INTO \"pg_catalog.pg_description\""
                " VALUES(%u,1259,%u,%Q)",
                oid, (unsigned)column, comment);
}

static void fill_table(struct cat_builder *b, size_t at)
{
    const struct catalogue_table *t = &b->source->tables[at];
    uint32_t schema = schema_oid(b, t), oid = b->tables[at] = cat_next_oid(b);
    cat_class(b, oid, t->name, schema, 'r', t->n_columns, t->n_keys > 0,
              t->n_references || is_referred(b->source, at));
    cat_row(b,
            "INSERT INTO \"pg_catalog.pg_tables\" VALUES(%Q,%Q,'dpcount',NULL,"
            "%d,0,%d,0)",
            cat_schema_of(t), t->name, t->n_keys > 0,
            t->n_references || is_referred(b->source, at));
    describe(b, oid, 0, t->comment);
    for (size_t i = 0; i < t->n_columns; i++) {
        cat_attribute(b, oid, &t->columns[i], (unsigned)i + 1, false);
        describe(b, oid, i + 1, t->columns[i].comment);
    }
    cat_fill_keys(b, at, schema);
}

static void fill(struct cat_builder *b)
{
    cat_row(b, "BEGIN");
    make_relations(b);
    fill_types(b);
    fill_procs(b);
    fill_settings(b);
    fill_fixed(b);
    for (size_t i = 0; i < b->source->n_tables; i++)
        fill_table(b, i);
    for (size_t i = 0; i < b->source->n_tables; i++)
        cat_fill_references(b, i);
    cat_fill_standard(b);
    cat_row(b, "COMMIT");
}

static bool hand_out(struct cat_builder *b, unsigned char **out, size_t *n)
{
    sqlite3_int64 size;
    unsigned char *bytes = sqlite3_serialize(b->c.db, "main", &size, 0);
    *out = bytes ? malloc((size_t)size) : NULL;
    if (*out) {
        memcpy(*out, bytes, (size_t)size);
        *n = (size_t)size;
    }
    sqlite3_free(bytes);
    return *out != NULL;
}

bool catalogue_build(const struct catalogue_source *source, unsigned char **out,
                     size_t *n, struct catalogue_error *err)
{
    struct cat_builder *b = calloc(1, sizeof *b);
    bool done;
    *out = NULL;
    *n = 0;
    if (b) {
        b->source = source;
        b->oid = 16384;
        b->c.building = true;
        b->tables = calloc(source->n_tables + 1, sizeof *b->tables);
        b->rc = b->tables ? sqlite3_open(":memory:", &b->c.db) : SQLITE_NOMEM;
    }
    if (b && b->rc == SQLITE_OK)
        fill(b);
    done = b && b->rc == SQLITE_OK && hand_out(b, out, n);
    if (!done)
        cat_error(err, "53200", -1, "could not build the catalogue: %s",
                  b ? sqlite3_errstr(b->rc) : "out of memory");
    if (b) {
        sqlite3_close(b->c.db);
        free(b->tables);
    }
    free(b);
    return done;
}
