/*
 * CREATE TABLE statements into the schema: columns, types, NOT NULL, keys,
 * foreign keys. Also ALTER TABLE ... ADD constraint and CREATE UNIQUE INDEX,
 * which is how pg_dump writes keys, and types that are lists of values. Other
 * statements are skipped.
 *
 * PRIVACY: a wrong key would lower a bound. So a partial unique index and one
 * over expressions are skipped; a UNIQUE over nullable columns is a dependency
 * of its values (NULL joins nothing) but does not identify rows.
 */
#include <string.h>

#include "sql/ddl_int.h"

struct ddl {
    struct schema *s;
    const char *text;
    const char *file;
    struct err *err;
    struct ddl_types *types;
    bool fks; /* now the foreign keys alone: all tables are known */
};

static void line_of(const char *text, long at, long *line, long *column)
{
    *line = 1;
    *column = 1;
    for (long i = 0; i < at && text[i]; i++) {
        ++*column;
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        }
    }
}

static enum status fail(const struct ddl *d, long at, const char *what,
                        const char *name)
{
    long line, column;
    err_set(d->err, E_POLICY, "%s \"%s\"", what, name);
    line_of(d->text, at, &line, &column);
    err_in_file(d->err, d->file, line, column);
    return E_POLICY;
}

static enum status find_cols(const struct ddl *d, size_t table,
                             const json_t *names, long at, uint32_t **out,
                             size_t *n)
{
    *n = json_array_size(names);
    *out = NEWS(d->s->arena, uint32_t, *n + 1);
    if (!*out)
        return err_nomem(d->err);
    for (size_t i = 0; i < *n; i++) {
        const json_t *node = json_array_get(names, i);
        const json_t *elem = node_as(node, "IndexElem");
        const char *name = elem ? get_text(elem, "name") : string_of(node);
        long c = table_find_column(&d->s->tables.p[table], str_of(name));
        if (c < 0)
            return fail(d, at, "there is no column", name);
        (*out)[i] = (uint32_t)c;
    }
    return OK;
}

static enum status add_key(const struct ddl *d, size_t table,
                           const uint32_t *cols, size_t n, bool primary)
{
    struct table *t = &d->s->tables.p[table];
    for (size_t i = 0; primary && i < n; i++)
        t->cols[cols[i]].not_null = true;
    return table_add_whole(d->s, table, cols, n, 1, true, STR(""), d->err);
}

/* REFERENCES p: column i of its first key of that width, the primary key. */
static long key_column(const struct table *t, size_t width, size_t i)
{
    for (size_t k = 0; k < t->degrees.n; k++) {
        const struct degree *g = &t->degrees.p[k];
        if (g->is_key && g->n_x == width)
            return (long)(g->written ? g->written : g->x)[i];
    }
    return -1;
}

static enum status add_fk(const struct ddl *d, size_t table,
                          const uint32_t *cols, size_t n, const json_t *c)
{
    struct foreign_key fk = {.n_cols = n};
    struct arena *a = d->s->arena;
    const char *ref = get_text(get(c, "pktable"), "relname");
    fk.ref_table = str_copy(a, str_of(ref));
    fk.cols = NEWS(a, uint32_t, n + 1);
    fk.ref_cols = NEWS(a, uint32_t, n + 1);
    if (!fk.ref_table.p || !fk.cols || !fk.ref_cols)
        return err_nomem(d->err);
    memcpy(fk.cols, cols, n * sizeof *cols);
    long other = schema_find(d->s, fk.ref_table);
    const json_t *names = get(c, "pk_attrs");
    for (size_t i = 0; i < n; i++) {
        const char *name = string_of(json_array_get(names, i));
        const struct table *to = other < 0 ? NULL : &d->s->tables.p[other];
        long k = !to                      ? -1
                 : json_array_size(names) ? table_find_column(to, str_of(name))
                                          : key_column(to, n, i);
        fk.ref_cols[i] = k < 0 ? (uint32_t)i : (uint32_t)k;
    }
    struct table *t = &d->s->tables.p[table];
    return VEC_PUSH(a, &t->fks, fk) ? OK : err_nomem(d->err);
}

/* own: the column that a column constraint stands at, or -1. */
static enum status add_constraint(const struct ddl *d, size_t table,
                                  const json_t *c, long own)
{
    const char *type = get_text(c, "contype");
    bool primary = strcmp(type, "CONSTR_PRIMARY") == 0;
    bool fk = strcmp(type, "CONSTR_FOREIGN") == 0;
    uint32_t one = own < 0 ? 0 : (uint32_t)own, *cols = &one;
    size_t n = 1;
    if (d->s->tables.p[table].is_refused) /* its columns are not all known */
        return OK;
    if (fk != d->fks)
        return OK;
    if (get_flag(c, "skip_validation")) /* NOT VALID: older rows may break it */
        return OK;
    if (own >= 0 && strcmp(type, "CONSTR_NOTNULL") == 0)
        d->s->tables.p[table].cols[own].not_null = true;
    if (strcmp(type, "CONSTR_CHECK") == 0)
        return ddl_take_check(d->s, table, own, d->text, c, d->err);
    if (!primary && !fk && strcmp(type, "CONSTR_UNIQUE") != 0)
        return OK;
    if (own < 0)
        TRY(find_cols(d, table, get(c, fk ? "fk_attrs" : "keys"),
                      get_location(c), &cols, &n));
    if (n == 0) /* USING INDEX: its columns are not named here */
        return OK;
    return fk ? add_fk(d, table, cols, n, c)
              : add_key(d, table, cols, n, primary);
}

static enum status add_column(const struct ddl *d, struct column *out,
                              const json_t *c)
{
    const json_t *type = get(c, "typeName");
    const char *name = last_name(get(type, "names"));
    out->name = str_copy(d->s->arena, str_of(get_text(c, "colname")));
    out->type = T_UNKNOWN;
    out->not_null = get_flag(c, "is_not_null") || strstr(name, "serial");
    if (!out->name.p)
        return err_nomem(d->err);
    if (get(type, "arrayBounds") || sql_type_of_name(name, &out->type)) {
        ddl_take_size(type, out);
        return OK;
    }
    /* PRIMERY KEY (id) */
    if (strcmp(name, "key") == 0 || strcmp(name, "index") == 0)
        return fail(d, get_location(c),
                    "a constraint is misspelt, or the type is missing, at",
                    out->name.p);
    ddl_apply(d->types, name, out);
    return OK;
}

static enum status add_columns(const struct ddl *d, size_t table,
                               const json_t *elements)
{
    struct table *t = &d->s->tables.p[table];
    size_t k = 0;
    for (size_t i = 0; i < json_array_size(elements); i++) {
        const json_t *c = node_as(json_array_get(elements, i), "ColumnDef");
        if (!c)
            continue;
        const char *name = get_text(c, "colname");
        for (size_t j = 0; j < k; j++)
            if (str_is(t->cols[j].name, name))
                return fail(d, get_location(c), "duplicate column", name);
        TRY(add_column(d, &t->cols[k], c));
        const char *type = last_name(get(get(c, "typeName"), "names"));
        TRY(ddl_apply_checks(d->types, type, d->s, table, (long)k++, d->err));
    }
    return OK;
}

/* NOT NULL first: whether UNIQUE identifies rows depends on it. */
static enum status add_constraints(const struct ddl *d, size_t table,
                                   const json_t *elements, bool not_null)
{
    long col = 0;
    for (size_t i = 0; i < json_array_size(elements); i++) {
        const json_t *e = json_array_get(elements, i);
        const json_t *c = node_as(e, "ColumnDef");
        const json_t *own = get(c, "constraints");
        for (size_t k = 0; k < json_array_size(own); k++) {
            const json_t *con = node_as(json_array_get(own, k), "Constraint");
            const char *type = get_text(con, "contype");
            bool early = strcmp(type, "CONSTR_NOTNULL") == 0 ||
                         strcmp(type, "CONSTR_PRIMARY") == 0;
            if (early == not_null)
                TRY(add_constraint(d, table, con, col));
        }
        col += c != NULL;
        const json_t *con = node_as(e, "Constraint");
        bool early = strcmp(get_text(con, "contype"), "CONSTR_PRIMARY") == 0;
        if (con && early == not_null)
            TRY(add_constraint(d, table, con, -1));
    }
    return OK;
}

/* Rows of a child are rows of its parents too: neither can be asked. */
static void refuse_parents(const struct ddl *d, const json_t *parents)
{
    for (size_t i = 0; i < json_array_size(parents); i++) {
        const json_t *p = node_as(json_array_get(parents, i), "RangeVar");
        long t = schema_find(d->s, str_of(get_text(p, "relname")));
        if (t >= 0)
            d->s->tables.p[t].is_refused = true;
    }
}

/* Columns that stand elsewhere: LIKE another table, OF a type. */
static enum status check_columns(const struct ddl *d, const json_t *stmt)
{
    const json_t *rel = get(stmt, "relation"), *e = get(stmt, "tableElts");
    bool elsewhere = get(stmt, "ofTypename") != NULL;
    for (size_t i = 0; i < json_array_size(e); i++)
        elsewhere |= node_as(json_array_get(e, i), "TableLikeClause") != NULL;
    return elsewhere
               ? fail(d, get_location(rel),
                      "columns by LIKE or OF are not read: write them out in "
                      "table",
                      get_text(rel, "relname"))
               : OK;
}

static enum status create_table(const struct ddl *d, const json_t *stmt)
{
    const json_t *rel = get(stmt, "relation"), *e = get(stmt, "tableElts");
    struct str name = str_of(get_text(rel, "relname"));
    size_t n = 0, table;
    for (size_t i = 0; i < json_array_size(e); i++)
        n += node_as(json_array_get(e, i), "ColumnDef") != NULL;
    if (get(stmt, "partbound"))
        return OK; /* a partition: its rows belong to its parent */
    long old = schema_find(d->s, name);
    if (d->fks)
        return add_constraints(d, (size_t)old, e, false);
    TRY(check_columns(d, stmt));
    if (old >= 0 && d->s->tables.p[old].declared)
        return fail(d, get_location(rel), "duplicate table", name.p);
    /* options or a policy may have named it already: that stays */
    if (old < 0)
        TRY(schema_add_table(d->s, name, n, &table, d->err));
    else
        TRY(schema_fix_arity(d->s, table = (size_t)old, n, d->err));
    struct table *t = &d->s->tables.p[table];
    t->declared = true;
    t->arity_known = true;
    t->namespace_ = str_copy(d->s->arena, str_of(get_text(rel, "schemaname")));
    if (!t->namespace_.p)
        return err_nomem(d->err);
    TRY(add_columns(d, table, e));
    t->is_refused = get(stmt, "inhRelations") != NULL;
    refuse_parents(d, get(stmt, "inhRelations"));
    TRY(add_constraints(d, table, e, true));
    return add_constraints(d, table, e, false);
}

/* Foreign tables: nothing enforces NOT NULL there. */
static enum status create_foreign(const struct ddl *d, const json_t *stmt)
{
    const json_t *base = get(stmt, "base");
    TRY(create_table(d, base));
    long i =
        schema_find(d->s, str_of(get_text(get(base, "relation"), "relname")));
    for (size_t k = 0; i >= 0 && k < d->s->tables.p[i].n_cols; k++)
        d->s->tables.p[i].cols[k].not_null = false;
    return OK;
}

static enum status find_declared(const struct ddl *d, const json_t *rel,
                                 long *out)
{
    const char *name = get_text(rel, "relname");
    *out = schema_find(d->s, str_of(name));
    return *out >= 0 ? OK
                     : fail(d, get_location(rel), "there is no table", name);
}

/* Its rows belong to its parent, which is what is asked. */
static void refuse_partition(const struct ddl *d, const json_t *def)
{
    const json_t *cmd = node_as(def, "PartitionCmd");
    const char *name = get_text(get(cmd, "name"), "relname");
    long table = schema_find(d->s, str_of(name));
    if (table >= 0)
        d->s->tables.p[table].is_refused = true;
}

/* --- what takes back what was said ---------------------------------------- */

static bool is_declared(const struct ddl *d, const char *table)
{
    long i = schema_find(d->s, str_of(table));
    return i >= 0 && d->s->tables.p[i].declared;
}

/* A dump that begins with dropping everything says it of nothing yet. */
static enum status refuse_change(const struct ddl *d, long at,
                                 const char *table)
{
    if (!is_declared(d, table))
        return OK;
    enum status s =
        fail(d, at, "later changes are not read, here of table", table);
    err_hint(d->err, "Write CREATE TABLE as the table is now; pg_dump "
                     "--schema-only does.");
    return s;
}

static bool is_change(const char *subtype)
{
    static const char *const changes[] = {
        "AT_AddColumn",      "AT_DropColumn",      "AT_AlterColumnType",
        "AT_DropConstraint", "AT_DropNotNull",     "AT_AddInherit",
        "AT_DropInherit",    "AT_DetachPartition", "AT_AddOf",
        "AT_DropExpression"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        if (strcmp(subtype, changes[i]) == 0)
            return true;
    return false;
}

static enum status rename_something(const struct ddl *d, const json_t *stmt)
{
    const char *what = get_text(stmt, "renameType");
    const json_t *rel = get(stmt, "relation");
    return strcmp(what, "OBJECT_TABLE") == 0 ||
                   strcmp(what, "OBJECT_COLUMN") == 0
               ? refuse_change(d, get_location(rel), get_text(rel, "relname"))
               : OK;
}

/* An index may be the key of any table. */
static enum status drop(const struct ddl *d, const json_t *stmt, long at)
{
    const json_t *objects = get(stmt, "objects");
    const char *what = get_text(stmt, "removeType");
    bool index = strcmp(what, "OBJECT_INDEX") == 0;
    if (!index && strcmp(what, "OBJECT_TABLE") != 0)
        return OK;
    for (size_t i = 0; index && i < d->s->tables.n; i++)
        TRY(refuse_change(d, at, d->s->tables.p[i].name.p));
    for (size_t i = 0; !index && i < json_array_size(objects); i++) {
        const json_t *list = node_as(json_array_get(objects, i), "List");
        TRY(refuse_change(d, at, last_name(get(list, "items"))));
    }
    return OK;
}

static enum status alter_table(const struct ddl *d, const json_t *stmt)
{
    const json_t *cmds = get(stmt, "cmds");
    long table;
    if (strcmp(get_text(stmt, "objtype"), "OBJECT_TABLE") != 0)
        return OK;
    for (size_t i = 0; i < json_array_size(cmds); i++) {
        const json_t *c = node_as(json_array_get(cmds, i), "AlterTableCmd");
        const json_t *con = node_as(get(c, "def"), "Constraint");
        const char *type = get_text(c, "subtype");
        bool add = strcmp(type, "AT_AddConstraint") == 0;
        bool not_null = strcmp(type, "AT_SetNotNull") == 0;
        if (strcmp(type, "AT_AttachPartition") == 0)
            refuse_partition(d, get(c, "def"));
        if (is_change(type) && !d->fks)
            TRY(refuse_change(d, get_location(get(stmt, "relation")),
                              get_text(get(stmt, "relation"), "relname")));
        if (!add && !not_null)
            continue;
        TRY(find_declared(d, get(stmt, "relation"), &table));
        if (add)
            TRY(add_constraint(d, (size_t)table, con, -1));
        struct table *t = &d->s->tables.p[table];
        long col =
            not_null ? table_find_column(t, str_of(get_text(c, "name"))) : -1;
        if (col >= 0)
            t->cols[col].not_null = true;
    }
    return OK;
}

static enum status create_index(const struct ddl *d, const json_t *stmt)
{
    const json_t *params = get(stmt, "indexParams");
    uint32_t *cols;
    size_t n;
    long table;
    if (!get_flag(stmt, "unique") || get(stmt, "whereClause"))
        return OK;
    for (size_t i = 0; i < json_array_size(params); i++)
        if (get(node_as(json_array_get(params, i), "IndexElem"), "expr"))
            return OK;
    TRY(find_declared(d, get(stmt, "relation"), &table));
    if (d->s->tables.p[table].is_refused)
        return OK;
    TRY(find_cols(d, (size_t)table, params, -1, &cols, &n));
    return add_key(d, (size_t)table, cols, n, false);
}

/* Where the statement begins, behind blanks and comments of one line. */
static long statement_at(const struct ddl *d, const json_t *raw)
{
    const char *p = d->text + json_integer_value(get(raw, "stmt_location"));
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (strncmp(p, "--", 2) != 0)
            return (long)(p - d->text);
        p += strcspn(p, "\n");
    }
}

static enum status read_statement(const struct ddl *d, const json_t *raw)
{
    const json_t *f;
    const char *kind = node_kind(get(raw, "stmt"), &f);
    if (strcmp(kind, "CreateStmt") == 0)
        return create_table(d, f);
    if (strcmp(kind, "AlterTableStmt") == 0)
        return alter_table(d, f);
    if (d->fks)
        return OK;
    if (strcmp(kind, "CreateForeignTableStmt") == 0)
        return create_foreign(d, f);
    if (strcmp(kind, "RenameStmt") == 0)
        return rename_something(d, f);
    if (strcmp(kind, "DropStmt") == 0)
        return drop(d, f, statement_at(d, raw));
    if (strcmp(kind, "CreateEnumStmt") == 0)
        return ddl_add_enum(d->types, f, d->err);
    if (strcmp(kind, "CreateDomainStmt") == 0)
        return ddl_add_domain(d->types, d->text, f, d->err);
    return strcmp(kind, "IndexStmt") == 0 ? create_index(d, f) : OK;
}

/* A foreign key may refer to a table that comes later. */
static enum status read_statements(struct ddl *d, const json_t *root)
{
    const json_t *stmts = get(root, "stmts");
    size_t n = json_array_size(stmts);
    for (size_t i = 0; i < 2 * n; i++) {
        d->fks = i >= n;
        TRY(read_statement(d, json_array_get(stmts, i % n)));
    }
    return OK;
}

static void place(const struct ddl *d)
{
    long line, column;
    if (!d->err || d->err->line || d->err->position < 0)
        return;
    line_of(d->text, d->err->position, &line, &column);
    d->err->position = -1;
    err_in_file(d->err, d->file, line, column);
}

enum status sql_read_ddl(struct schema *s, struct str text, const char *file,
                         struct err *err)
{
    struct str epsilon = {0}, delta = {0};
    struct parse_tree tree;
    struct ddl_types types = {.arena = s->arena};
    char *clean;
    TRY(ddl_clean(s->arena, text, &text, err));
    TRY(sql_scan(s->arena, text, &clean, &epsilon, &delta, err));
    struct ddl d = {
        .s = s, .text = clean, .file = file, .err = err, .types = &types};
    enum status st = parse_tree_make(clean, &tree, err);
    if (st == OK) {
        st = read_statements(&d, tree.root);
        parse_tree_free(&tree);
    } else {
        place(&d);
    }
    return st;
}
