/*
 * FROM: tables, joins, subqueries and CTEs into atoms and scopes.
 *
 * A join's ON sees the two sides only, so each join has a scope of its own
 * that is then merged into the one around it. A column of a base table is
 * named by its atom and number until someone uses it.
 */
#include <string.h>

#include "base/nearest.h"
#include "sql/sql_int.h"

/* --- using columns --- */

enum status sql_column_var(struct lower *l, uint32_t atom, uint32_t col,
                           uint32_t *out)
{
    struct term *t = &l->b.atoms.p[atom].args[col];
    const struct column *c =
        &l->schema->tables.p[l->b.atoms.p[atom].table].cols[col];
    if (t->kind == TERM_ANY) {
        uint32_t v;
        struct str name = c->name.n ? c->name : STR("x");
        TRY(cqb_var(&l->b, name, c->type, &v, l->err));
        if (!VEC_PUSH(l->arena, &l->var_atom, atom))
            return err_nomem(l->err);
        *t = (struct term){TERM_VAR, v};
    }
    *out = t->id;
    return OK;
}

/* PRIVACY: whether there is such a text is for no message to tell, so the
 * column is refused. */
static enum status check_class(struct lower *l, const struct rcol *c)
{
    const struct atom *a = &l->b.atoms.p[c->atom];
    const struct table *t = &l->schema->tables.p[a->table];
    const struct column *col = c->col < t->n_cols ? &t->cols[c->col] : NULL;
    if (!col || col->type != T_UNKNOWN || !col->by_class || l->only_null)
        return OK;
    err_set(l->err, E_TYPE, "the type of column \"%.*s\" is not declared",
            PSTR(col->name));
    err_at(l->err, l->position);
    err_detail(l->err, "SQLite keeps the number 1 and the texts '1' and '01' "
                       "apart in it, or not, by what they are compared with.");
    err_hint(l->err,
             "The owner says what it holds in the policy, as in columns: "
             "{%.*s: text} or {%.*s: integer}, or with --schema.",
             PSTR(col->name), PSTR(col->name));
    return E_TYPE;
}

enum status rcol_expr(struct lower *l, const struct rcol *c, struct expr **out)
{
    uint32_t v = 0;
    if (!c)
        return err_internal(l->err, "rcol_expr");
    if (c->group)
        return sql_refuse(l->err, NO_INNER_AGGREGATE, get_location(c->call));
    l->t.uses_absent |= c->absent;
    if (c->e) {
        *out = (struct expr *)(uintptr_t)c->e; /* never changed once made */
        return OK;
    }
    TRY(check_class(l, c));
    TRY(sql_column_var(l, c->atom, c->col, &v));
    *out = expr_var(l->arena, v, l->b.vars.p[v].type);
    return *out ? OK : err_nomem(l->err);
}

/* --- names --- */

static enum status ambiguous(struct lower *l, const char *name, long at)
{
    err_set(l->err, E_NAME, "column reference \"%s\" is ambiguous", name);
    err_at(l->err, at);
    err_hint(l->err, "Write the table's name or alias in front of it.");
    return E_NAME;
}

/* Number of columns of that name, the first in *out. */
size_t sql_match_name(const rcols *cols, struct from_part name,
                      const struct rcol **out)
{
    size_t n = 0;
    for (size_t i = 0; i < cols->n; i++)
        if (name_matches(cols->p[i].name, cols->p[i].any_case, str_of(name.p),
                         name.quoted) &&
            n++ == 0)
            *out = &cols->p[i];
    return n;
}

static const struct sql_rel *find_rel(const struct scope *sc, const char *ns,
                                      const char *alias)
{
    const struct sql_rel *loose = NULL;
    for (size_t i = 0; i < sc->rels.n; i++) {
        const struct sql_rel *r = &sc->rels.p[i];
        if (ns && r->namespace_.n && !str_is(r->namespace_, ns))
            continue;
        if (str_is(r->alias, alias))
            return r;
        /* FROM Patient WHERE "Patient".x: the alias is what was folded */
        if (r->table.n && (str_is(r->table, alias) ||
                           name_matches(r->table, true, str_of(alias), false)))
            loose = r;
    }
    return loose;
}

enum { MAX_LISTED = 12 };

/* "a, b, c": what could have been meant. */
static void list_name(struct sb *b, size_t i, struct str name)
{
    if (i < MAX_LISTED)
        sb_printf(b, "%s%.*s", i ? ", " : "", PSTR(name));
    else if (i == MAX_LISTED)
        sb_cstr(b, ", ...");
}

/* "Did you mean sex? " or nothing. */
static struct str meant(struct lower *l, const struct nearest *near)
{
    return near->best.n
               ? str_printf(l->arena, "Did you mean %.*s? ", PSTR(near->best))
               : STR("");
}

static void hint_columns(struct lower *l, const struct scope *sc,
                         const char *name)
{
    struct sb b;
    struct nearest near;
    size_t n = 0;
    sb_init(&b, l->arena);
    nearest_begin(&near, str_of(name));
    for (; sc; sc = sc->parent)
        for (size_t i = 0; i < sc->visible.n; i++)
            if (sc->visible.p[i].name.n) {
                nearest_try(&near, sc->visible.p[i].name);
                list_name(&b, n++, sc->visible.p[i].name);
            }
    struct str first = meant(l, &near);
    if (n && !b.failed)
        err_hint(l->err,
                 "%.*sThe columns are %.*s. A text stands in single "
                 "quotes.",
                 PSTR(first), PSTR(sb_view(&b)));
}

static void hint_tables(struct lower *l, const char *name)
{
    struct sb b;
    struct nearest near;
    sb_init(&b, l->arena);
    nearest_begin(&near, str_of(name));
    for (size_t i = 0, n = 0; i < l->schema->tables.n; i++)
        if (!l->schema->tables.p[i].is_refused) {
            nearest_try(&near, l->schema->tables.p[i].name);
            list_name(&b, n++, l->schema->tables.p[i].name);
        }
    struct str first = meant(l, &near);
    if (!b.failed)
        err_hint(l->err, "%.*sThe tables are %.*s.", PSTR(first),
                 PSTR(sb_view(&b)));
}

static enum status no_column(struct lower *l, struct scope *sc, const char *rel,
                             const char *name, long at)
{
    if (rel)
        err_set(l->err, E_NAME, "column %s.%s does not exist", rel, name);
    else
        err_set(l->err, E_NAME, "column \"%s\" does not exist", name);
    err_at(l->err, at);
    hint_columns(l, sc, name);
    for (; sc; sc = sc->parent)
        for (size_t i = 0; i < sc->visible.n; i++) {
            struct str near = sc->visible.p[i].name;
            if (str_eq_nocase(near, str_of(name))) {
                err_hint(l->err,
                         "There is a column \"%.*s\": a quoted name must be "
                         "spelled so, and one with upper case letters must "
                         "be quoted.",
                         PSTR(near));
                return E_NAME;
            }
        }
    return E_NAME;
}

/* A table that has an alias is known by it alone. */
static enum status no_rel(struct lower *l, const struct scope *sc,
                          const char *name, long at)
{
    err_set(l->err, E_NAME, "missing FROM-clause entry for table \"%s\"", name);
    err_at(l->err, at);
    for (; sc; sc = sc->parent)
        for (size_t i = 0; i < sc->rels.n; i++) {
            const rcols *cols = &sc->rels.p[i].cols;
            if (!cols->n || cols->p[0].e)
                continue;
            uint32_t table = l->b.atoms.p[cols->p[0].atom].table;
            if (!str_eq_nocase(l->schema->tables.p[table].name, str_of(name)))
                continue;
            err_hint(l->err, "FROM gives this table the name \"%.*s\": use it.",
                     PSTR(sc->rels.p[i].alias));
            return E_NAME;
        }
    err_hint(l->err, "Add the table to FROM, or use the alias that FROM gives "
                     "it.");
    return E_NAME;
}

static enum status find_bare(struct lower *l, struct scope *sc,
                             struct from_part name, long at, bool must_exist,
                             const struct rcol **out)
{
    *out = NULL;
    for (struct scope *s = sc; s; s = s->parent) {
        size_t n = sql_match_name(&s->visible, name, out);
        if (n > 1)
            return ambiguous(l, name.p, at);
        if (n == 1)
            return OK;
        if (find_rel(s, NULL, name.p))
            return sql_refuse(l->err, NO_EXPRESSION, at); /* a whole row */
    }
    return must_exist ? no_column(l, sc, NULL, name.p, at) : OK;
}

static enum status find_qualified(struct lower *l, struct scope *sc,
                                  const char *ns, const char *rel,
                                  struct from_part name, long at,
                                  const struct rcol **out)
{
    for (struct scope *s = sc; s; s = s->parent) {
        const struct sql_rel *r = find_rel(s, ns, rel);
        if (!r)
            continue;
        size_t n = sql_match_name(&r->cols, name, out);
        if (n > 1)
            return ambiguous(l, name.p, at);
        return n ? OK : no_column(l, sc, rel, name.p, at);
    }
    return no_rel(l, sc, rel, at);
}

enum status find_column(struct lower *l, struct scope *sc, const json_t *colref,
                        bool must_exist, const struct rcol **out)
{
    const json_t *fields = get(colref, "fields");
    size_t n = json_array_size(fields);
    long at = get_location(colref);
    struct from_part part[3] = {0};
    if (is_star(colref) || n > 3)
        return sql_refuse(l->err, NO_EXPRESSION, at);
    for (size_t i = 0; i < n; i++)
        part[i] = (struct from_part){string_of(json_array_get(fields, i)),
                                     is_quoted(l->text, at, i)};
    if (n == 1)
        return find_bare(l, sc, part[0], at, must_exist, out);
    if (n == 2)
        return find_qualified(l, sc, NULL, part[0].p, part[1], at, out);
    return find_qualified(l, sc, part[0].p, part[1].p, part[2], at, out);
}

enum status resolve_column(struct lower *l, struct scope *sc,
                           const json_t *colref, struct expr **out)
{
    const struct rcol *c = NULL;
    TRY(find_column(l, sc, colref, true, &c));
    l->position = get_location(colref);
    return rcol_expr(l, c, out);
}

bool is_star(const json_t *colref)
{
    const json_t *fields = get(colref, "fields");
    size_t n = json_array_size(fields);
    return n && node_as(json_array_get(fields, n - 1), "A_Star") != NULL;
}

enum status sql_push_columns(struct lower *l, const rcols *from, rcols *to)
{
    TRY(lower_work(l, from->n * WORK_COLUMN, l->position));
    for (size_t i = 0; i < from->n; i++)
        if (!VEC_PUSH(l->arena, to, from->p[i]))
            return err_nomem(l->err);
    return OK;
}

enum status expand_star(struct lower *l, struct scope *sc, const json_t *colref,
                        rcols *out)
{
    const json_t *fields = get(colref, "fields");
    size_t n = json_array_size(fields);
    if (n == 1)
        return sql_push_columns(l, &sc->visible, out);
    const char *name = string_of(json_array_get(fields, n - 2));
    const struct sql_rel *r = find_rel(sc, NULL, name);
    if (r)
        return sql_push_columns(l, &r->cols, out);
    return no_rel(l, sc, name, get_location(colref));
}

/* --- items --- */

enum status sql_push_rel(struct lower *l, struct scope *sc, struct sql_rel r,
                         long at)
{
    for (size_t i = 0; i < sc->rels.n; i++)
        if (str_eq(sc->rels.p[i].alias, r.alias) ||
            ((sc->rels.p[i].table.n || r.table.n) &&
             str_eq_nocase(sc->rels.p[i].alias, r.alias))) {
            err_set(l->err, E_NAME,
                    "table name \"%.*s\" specified more than once",
                    PSTR(r.alias));
            err_at(l->err, at);
            err_hint(l->err, "Give each occurrence an alias of its own.");
            return E_NAME;
        }
    return VEC_PUSH(l->arena, &sc->rels, r) ? OK : err_nomem(l->err);
}

static void rename_column(struct rcol *c, const json_t *name)
{
    c->name = str_of(string_of(name));
    c->any_case = false;
}

/* AS a (x, y): an alias for the item and its first columns. */
static enum status apply_alias(struct lower *l, const json_t *alias,
                               struct sql_rel *r, long at)
{
    const json_t *names = get(alias, "colnames");
    size_t n = json_array_size(names);
    if (alias) {
        r->alias = str_of(get_text(alias, "aliasname"));
        r->namespace_ = STR("");
        r->table = STR("");
    }
    if (n > r->cols.n) {
        err_set(l->err, E_NAME,
                "table \"%.*s\" has %zu columns available but "
                "%zu columns specified",
                PSTR(r->alias), r->cols.n, n);
        err_at(l->err, at);
        err_hint(l->err, "Give at most as many names as there are columns.");
        return E_NAME;
    }
    for (size_t i = 0; i < n; i++)
        rename_column(&r->cols.p[i], json_array_get(names, i));
    return OK;
}

enum status sql_add_item(struct lower *l, struct scope *sc, struct sql_rel *r,
                         const json_t *alias, long at)
{
    TRY(apply_alias(l, alias, r, at));
    TRY(sql_push_columns(l, &r->cols, &sc->visible));
    return sql_push_rel(l, sc, *r, at);
}

static enum status lower_derived(struct lower *l, struct scope *sc,
                                 struct scope *parent, const json_t *select,
                                 const json_t *colnames, const json_t *alias,
                                 struct str name, long at)
{
    struct sql_rel r = {.alias = name};
    TRY(lower_subquery(l, parent, select, &r.cols));
    struct sql_rel named = r;
    if (colnames) {
        size_t n = json_array_size(colnames);
        if (n > named.cols.n)
            n = named.cols.n;
        for (size_t i = 0; i < n; i++)
            rename_column(&named.cols.p[i], json_array_get(colnames, i));
    }
    return sql_add_item(l, sc, &named, alias, at);
}

static enum status lower_cte(struct lower *l, struct scope *sc,
                             const struct cte *c, const json_t *alias, long at)
{
    const json_t *select = node_as(c->query, "SelectStmt");
    const struct cte *saved = l->ctes;
    if (!select)
        return sql_refuse(l->err, NO_DML, at);
    l->ctes = c->next;
    enum status st = lower_derived(l, sc, c->parent, select, c->colnames, alias,
                                   c->name, at);
    l->ctes = saved;
    return st;
}

static enum status no_table(struct lower *l, const char *name, long at)
{
    err_set(l->err, E_NAME, "relation \"%s\" does not exist", name);
    err_at(l->err, at);
    long near = schema_find_nocase(l->schema, str_of(name));
    if (near >= 0 && !str_is(l->schema->tables.p[near].name, name))
        err_hint(l->err,
                 "There is a relation \"%.*s\": a quoted name must be spelled "
                 "so, and one with upper case letters must be quoted.",
                 PSTR(l->schema->tables.p[near].name));
    else if (l->schema->tables.n == 0)
        err_hint(l->err, "No table is known: give --schema, --policy, --db or "
                         "--table.");
    else
        hint_tables(l, name);
    return E_NAME;
}

static enum status no_namespace(struct lower *l, const char *ns,
                                const struct table *t, long at)
{
    err_set(l->err, E_NAME, "relation \"%s.%.*s\" does not exist", ns,
            PSTR(t->name));
    err_at(l->err, at);
    err_hint(l->err,
             "There is \"%.*s.%.*s\". A name stands for one table: if both "
             "exist, the search path of the connection decides which.",
             PSTR(t->namespace_), PSTR(t->name));
    return E_NAME;
}

static enum status two_tables(struct lower *l, const char *name, long at)
{
    err_set(l->err, E_NAME, "table name \"%s\" is ambiguous", name);
    err_at(l->err, at);
    err_hint(l->err, "Write it in double quotes, spelled as the catalogue "
                     "does.");
    return E_NAME;
}

/* Some may have no name: those of a private file that nothing declares. */
static bool has_names(const struct table *t)
{
    for (size_t i = 0; i < t->n_cols; i++)
        if (t->cols[i].name.n)
            return true;
    return false;
}

static enum status find_table(struct lower *l, const json_t *range, long *out)
{
    const char *name = get_text(range, "relname");
    const char *ns = get_text(range, "schemaname");
    long at = get_location(range);
    size_t n_parts = (ns[0] != 0) + (size_t)(get(range, "catalogname") != NULL);
    bool quoted = is_quoted(l->text, at, n_parts);
    if (schema_match(l->schema, str_of(name), quoted, out) > 1)
        return two_tables(l, name, at);
    if (*out < 0 || get(range, "catalogname"))
        return no_table(l, name, at);
    const struct table *t = &l->schema->tables.p[*out];
    if (ns[0] && t->namespace_.n && !str_is(t->namespace_, ns))
        return no_namespace(l, ns, t, at);
    if (!has_names(t)) {
        err_set(l->err, E_NAME, "the columns of relation \"%s\" are not known",
                name);
        err_at(l->err, at);
        err_hint(l->err, "Declare them in --schema, in the policy (columns:) "
                         "or with --table 'name(col,col)=FILE'; a private "
                         "file's first line may be a row.");
        return E_NAME;
    }
    return OK;
}

static enum status lower_table(struct lower *l, struct scope *sc,
                               const json_t *range)
{
    long at = get_location(range), table;
    uint32_t atom;
    const char *name = get_text(range, "relname");
    if (!get(range, "schemaname"))
        for (const struct cte *c = l->ctes; c; c = c->next)
            if (str_is(c->name, name))
                return lower_cte(l, sc, c, get(range, "alias"), at);
    if (!get_flag(range, "inh"))
        return sql_refuse(l->err, NO_ONLY, at);
    TRY(find_table(l, range, &table));
    enum status st = cqb_atom(&l->b, (uint32_t)table, &atom, l->err);
    if (st != OK) {
        err_at(l->err, at);
        return st;
    }
    if (!VEC_PUSH(l->arena, &l->atom_counted, l->counting))
        return err_nomem(l->err);
    const struct table *t = &l->schema->tables.p[table];
    TRY(lower_work(l, t->n_cols * WORK_COLUMN, at));
    struct sql_rel r = {.alias = str_of(name),
                        .namespace_ = t->namespace_,
                        .table = t->any_case ? t->name : STR("")};
    for (uint32_t i = 0; i < t->n_cols; i++) {
        struct rcol c = {.name = t->cols[i].name,
                         .any_case = t->any_case,
                         .atom = atom,
                         .col = i};
        if (!VEC_PUSH(l->arena, &r.cols, c))
            return err_nomem(l->err);
    }
    return sql_add_item(l, sc, &r, get(range, "alias"), at);
}

static enum status lower_range_subselect(struct lower *l, struct scope *sc,
                                         const json_t *range)
{
    const json_t *select = node_as(get(range, "subquery"), "SelectStmt");
    const json_t *alias = get(range, "alias");
    struct scope *parent = get_flag(range, "lateral") ? sc : sc->parent;
    return lower_derived(l, sc, parent, select, NULL, alias, STR(""),
                         get_location(alias));
}

static enum status from_item(struct lower *l, struct scope *sc,
                             const json_t *item)
{
    const json_t *f;
    const char *kind = node_kind(item, &f);
    if (strcmp(kind, "RangeVar") == 0)
        return lower_table(l, sc, f);
    if (strcmp(kind, "RangeSubselect") != 0 && strcmp(kind, "RangeVar") != 0)
        l->sole = false;
    if (strcmp(kind, "JoinExpr") == 0)
        return sql_lower_join(l, sc, f);
    if (strcmp(kind, "RangeSubselect") == 0)
        return lower_range_subselect(l, sc, f);
    if (strcmp(kind, "RangeTableSample") == 0)
        return sql_refuse(l->err, NO_TABLESAMPLE, get_location(f));
    return sql_refuse(l->err, NO_TABLE_FUNCTION, node_location(item));
}

enum status lower_from(struct lower *l, struct scope *sc, const json_t *item)
{
    TRY(lower_enter(l, -1));
    enum status st = from_item(l, sc, item);
    lower_leave(l);
    return st;
}
