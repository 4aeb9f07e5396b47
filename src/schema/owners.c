/*
 * Settling owners: see owners.h.
 *
 * Paths are built from the entities outwards: those of a table are the row
 * itself, if it is an entity, and each edge followed by each path of its
 * target. A depth-first walk does it, and finds cycles on its way.
 */
#include "schema/owners.h"

#include <string.h>

enum mark { NEW, OPEN, DONE };

struct settling {
    struct schema *s;
    uint8_t *mark; /* by table: enum mark */
    struct err *err;
};

static enum status refuse(const struct schema *s, struct policy_pos at,
                          enum status st, struct err *err)
{
    if (s->policy && at.line)
        err_in_file(err, s->policy, at.line, at.column);
    return st;
}

static void print_columns(struct sb *b, const struct table *t,
                          const uint32_t *cols, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sb_printf(b, "%s%.*s", i ? ", " : "", PSTR(t->cols[cols[i]].name));
}

static struct str column_names(const struct schema *s, const struct table *t,
                               const uint32_t *cols, size_t n)
{
    struct sb b;
    sb_init(&b, s->arena);
    print_columns(&b, t, cols, n);
    return b.failed || !b.n ? STR("") : sb_view(&b);
}

/* --- keys ----------------------------------------------------------------- */

static bool is_not_null_key(const struct table *t, const struct degree *d)
{
    if (!d->is_key || d->k != 1 || !d->n_x)
        return false;
    for (size_t i = 0; i < d->n_x; i++)
        if (!t->cols[d->x[i]].not_null)
            return false;
    return true;
}

static bool same_set(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            if (a[i] == b[k]) {
                found++;
                break;
            }
    return n == m && found == n;
}

static const struct degree *key_over(const struct table *t,
                                     const uint32_t *cols, size_t n)
{
    for (size_t i = 0; i < t->degrees.n; i++)
        if (is_not_null_key(t, &t->degrees.p[i]) &&
            same_set(t->degrees.p[i].x, t->degrees.p[i].n_x, cols, n))
            return &t->degrees.p[i];
    return NULL;
}

const struct degree *owner_edge_key(const struct schema *s,
                                    const struct owner_edge *e)
{
    return key_over(&s->tables.p[e->table], e->key, e->n);
}

/* `key: [id]` of an edge. */
static enum status key_by_name(struct settling *x, struct owner_edge *e)
{
    const struct table *to = &x->s->tables.p[e->table];
    for (size_t i = 0; i < e->n_key_names; i++) {
        long c = table_match_column(to, e->key_names[i]);
        if (c < 0) {
            err_set(x->err, E_NAME, "table \"%.*s\" has no column \"%.*s\"",
                    PSTR(to->name), PSTR(e->key_names[i]));
            return refuse(x->s, e->at, E_NAME, x->err);
        }
        if (i < e->n)
            e->key[i] = (uint32_t)c;
    }
    if (e->n_key_names == e->n && key_over(to, e->key, e->n))
        return OK;
    err_set(x->err, E_POLICY,
            "\"key\" of owned_by is no declared NOT NULL key of table "
            "\"%.*s\" with as many columns as \"via\"",
            PSTR(to->name));
    return refuse(x->s, e->at, E_POLICY, x->err);
}

/* A foreign key of the catalogue over the same columns says which column
 * refers to which. */
static bool key_by_reference(struct settling *x, const struct table *t,
                             struct owner_edge *e)
{
    const struct table *to = &x->s->tables.p[e->table];
    for (size_t f = 0; f < t->fks.n; f++) {
        const struct foreign_key *fk = &t->fks.p[f];
        if (!str_eq_nocase(fk->ref_table, to->name) ||
            !same_set(fk->cols, fk->n_cols, e->via, e->n) ||
            !key_over(to, fk->ref_cols, fk->n_cols))
            continue;
        for (size_t i = 0; i < e->n; i++)
            for (size_t k = 0; k < e->n; k++)
                if (fk->cols[k] == e->via[i])
                    e->key[i] = fk->ref_cols[k];
        return true;
    }
    return false;
}

static enum status no_key(struct settling *x, const struct owner_edge *e,
                          size_t n_found)
{
    const struct table *to = &x->s->tables.p[e->table];
    if (n_found) {
        err_set(x->err, E_POLICY,
                "which key of table \"%.*s\" is meant is not clear",
                PSTR(to->name));
        err_hint(x->err,
                 "Say so: {via: [...], table: %.*s, key: [...]}, in "
                 "the order of \"via\".",
                 PSTR(to->name));
    } else {
        err_set(x->err, E_POLICY,
                "table \"%.*s\" has no declared NOT NULL key of %zu column%s",
                PSTR(to->name), e->n, e->n == 1 ? "" : "s");
        err_hint(x->err, "Declare its key, and name in \"via\" as many "
                         "columns as it has.");
    }
    return refuse(x->s, e->at, E_POLICY, x->err);
}

static enum status key_of_length(struct settling *x, struct owner_edge *e)
{
    const struct table *to = &x->s->tables.p[e->table];
    const struct degree *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < to->degrees.n; i++) {
        const struct degree *d = &to->degrees.p[i];
        if (!is_not_null_key(to, d) || d->n_x != e->n)
            continue;
        found = d;
        n++;
    }
    if (n != 1 || found->orders_differ)
        return no_key(x, e, n);
    memcpy(e->key, found->written ? found->written : found->x,
           e->n * sizeof *e->key);
    return OK;
}

static bool is_number(enum type t)
{
    return t == T_INT || t == T_DEC || t == T_REAL;
}

/* Could their values ever be equal? What has no type may hold numbers and
 * texts, each of which equals its like only. */
static bool types_meet(enum type a, enum type b)
{
    if (a == b || (is_number(a) && is_number(b)))
        return true;
    return (a == T_UNKNOWN && is_number(b)) || (b == T_UNKNOWN && is_number(a));
}

/* Values that the database calls equal may have different texts here. */
static enum status own_rules(struct settling *x, const struct owner_edge *e,
                             const struct column *c)
{
    err_set(
        x->err, E_POLICY,
        "owners cannot be found by column \"%.*s\": its type is compared by "
        "rules of its own",
        PSTR(c->name));
    err_hint(x->err, "Use a key of integers or texts.");
    return refuse(x->s, e->at, E_POLICY, x->err);
}

/* PRIVACY: keys that never equal what refers to them would make strangers of
 * an entity and its rows. */
static enum status check_types(struct settling *x, const struct table *t,
                               const struct owner_edge *e)
{
    const struct table *to = &x->s->tables.p[e->table];
    for (size_t i = 0; i < e->n; i++) {
        const struct column *a = &t->cols[e->via[i]];
        const struct column *b = &to->cols[e->key[i]];
        if (a->text_only || b->text_only)
            return own_rules(x, e, a->text_only ? a : b);
        if (types_meet(a->type, b->type))
            continue;
        err_set(x->err, E_POLICY,
                "column \"%.*s\" of type %s cannot refer to \"%.*s\" of type "
                "%s",
                PSTR(a->name), type_name(a->type), PSTR(b->name),
                type_name(b->type));
        err_hint(x->err, "Declare both with one type.");
        return refuse(x->s, e->at, E_POLICY, x->err);
    }
    return OK;
}

static enum status check_target(struct settling *x, const struct table *t,
                                const struct owner_edge *e)
{
    const struct table *to = &x->s->tables.p[e->table];
    if (table_is_private(to))
        return OK;
    err_set(x->err, E_POLICY,
            "rows of table \"%.*s\" cannot belong to table \"%.*s\", which is "
            "public",
            PSTR(t->name), PSTR(to->name));
    return refuse(x->s, e->at, E_POLICY, x->err);
}

static enum status settle_edge(struct settling *x, const struct table *t,
                               struct owner_edge *e)
{
    long to;
    if (schema_find_declared(x->s, e->name, &to, x->err) != OK)
        return refuse(x->s, e->at, E_NAME, x->err);
    if (to < 0 || !x->s->tables.p[to].arity_known) {
        err_set(x->err, E_NAME, "unknown table \"%.*s\"", PSTR(e->name));
        return refuse(x->s, e->at, E_NAME, x->err);
    }
    e->table = (uint32_t)to;
    e->key = NEWS(x->s->arena, uint32_t, e->n + e->n_key_names + 1);
    if (!e->key)
        return err_nomem(x->err);
    TRY(check_target(x, t, e));
    if (e->key_names)
        TRY(key_by_name(x, e));
    else if (!key_by_reference(x, t, e))
        TRY(key_of_length(x, e));
    return check_types(x, t, e);
}

static enum status settle_edges(struct settling *x)
{
    for (size_t i = 0; i < x->s->tables.n; i++) {
        struct table *t = &x->s->tables.p[i];
        for (size_t k = 0; k < t->owned_by.n; k++)
            TRY(settle_edge(x, t, &t->owned_by.p[k]));
    }
    return OK;
}

/* --- what would weaken in silence ----------------------------------------- */

static enum status check_public(struct settling *x, const struct table *t)
{
    if (table_is_private(t) || (!t->is_entity && !t->owned_by.n))
        return OK;
    err_set(x->err, E_POLICY, "table \"%.*s\" is public and cannot be %s",
            PSTR(t->name), t->is_entity ? "an entity" : "owned");
    return refuse(x->s, t->is_entity ? t->entity_at : t->at, E_POLICY, x->err);
}

enum status schema_check_owned(const struct schema *s, uint32_t table,
                               struct err *err)
{
    const struct table *t = &s->tables.p[table];
    if (!s->has_entities || !table_is_private(t) || t->is_refused ||
        t->is_entity || t->owned_by.n)
        return OK;
    err_set(err, E_POLICY,
            "table %.*s is private and belongs to nobody: give owned_by, "
            "list it in entities, or say public",
            PSTR(t->name));
    return refuse(s, t->at, E_POLICY, err);
}

static bool is_listed(const struct table *t, const struct foreign_key *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_cols; i++)
        for (size_t k = 0; k < t->not_owned.n; k++)
            if (t->not_owned.p[k] == f->cols[i]) {
                n++;
                break;
            }
    return n == f->n_cols;
}

static bool is_edge(const struct table *t, const struct foreign_key *f,
                    uint32_t to)
{
    for (size_t i = 0; i < t->owned_by.n; i++)
        if (t->owned_by.p[i].table == to &&
            same_set(t->owned_by.p[i].via, t->owned_by.p[i].n, f->cols,
                     f->n_cols))
            return true;
    return false;
}

/* Every private table is an entity's or belongs to one, so a reference to one
 * leads to an entity, in one step or in several. */
static enum status check_reference(struct settling *x, const struct table *t,
                                   const struct foreign_key *f)
{
    long to = schema_find_nocase(x->s, f->ref_table);
    if (to < 0 || !table_is_private(&x->s->tables.p[to]) || is_listed(t, f) ||
        is_edge(t, f, (uint32_t)to))
        return OK;
    if (!table_is_private(t) && t->owned_given)
        return OK; /* public, and `owned_by: []` says that it is meant */
    struct str cols = column_names(x->s, t, f->cols, f->n_cols);
    err_set(x->err, E_POLICY,
            "table \"%.*s\" refers to \"%.*s\" through %.*s, and nothing says "
            "whether its rows belong there",
            PSTR(t->name), PSTR(f->ref_table), PSTR(cols));
    err_hint(x->err,
             "Add {via: [%.*s], table: %.*s} to its owned_by, or say "
             "not_owned: [%.*s].",
             PSTR(cols), PSTR(f->ref_table), PSTR(cols));
    return refuse(x->s, t->at, E_POLICY, x->err);
}

static enum status check_tables(struct settling *x)
{
    for (size_t i = 0; i < x->s->tables.n; i++)
        TRY(check_public(x, &x->s->tables.p[i]));
    TRY(settle_edges(x));
    for (size_t i = 0; i < x->s->tables.n; i++)
        TRY(schema_check_owned(x->s, (uint32_t)i, x->err));
    for (size_t i = 0; i < x->s->tables.n; i++) {
        const struct table *t = &x->s->tables.p[i];
        for (size_t f = 0; !t->is_refused && f < t->fks.n; f++)
            TRY(check_reference(x, t, &t->fks.p[f]));
    }
    return OK;
}

/* --- paths ---------------------------------------------------------------- */

static enum status owns_itself(struct settling *x, uint32_t table,
                               const struct owner_edge *e)
{
    const struct table *t = &x->s->tables.p[table];
    struct str cols = column_names(x->s, t, e->via, e->n);
    err_set(x->err, E_POLICY,
            "table %.*s owns itself through %.*s; leave %.*s out of owned_by, "
            "or name the levels",
            PSTR(t->name), PSTR(cols), PSTR(cols));
    return refuse(x->s, e->at, E_POLICY, x->err);
}

static enum status add_path(struct settling *x, uint32_t table,
                            struct owner_path p)
{
    struct table *t = &x->s->tables.p[table];
    if (t->paths.n == MAX_OWNER_PATHS) {
        err_set(x->err, E_POLICY,
                "table \"%.*s\" has more than %d ownership paths",
                PSTR(t->name), (int)MAX_OWNER_PATHS);
        return refuse(x->s, t->at, E_POLICY, x->err);
    }
    return VEC_PUSH(x->s->arena, &t->paths, p) ? OK : err_nomem(x->err);
}

static enum status find_paths(struct settling *x, uint32_t table);

static enum status follow(struct settling *x, uint32_t table, size_t edge)
{
    const struct owner_edge *e = &x->s->tables.p[table].owned_by.p[edge];
    if (x->mark[e->table] == OPEN)
        return owns_itself(x, table, e);
    TRY(find_paths(x, e->table));
    const struct table *to = &x->s->tables.p[e->table];
    for (uint32_t r = 0; r < to->paths.n; r++)
        TRY(add_path(
            x, table,
            (struct owner_path){(int32_t)edge, r, to->paths.p[r].nested}));
    return OK;
}

/* A chain is as long as there are tables at most: recursion is bounded. */
static enum status find_paths(struct settling *x, uint32_t table)
{
    struct table *t = &x->s->tables.p[table];
    if (x->mark[table] == DONE)
        return OK;
    x->mark[table] = OPEN;
    if (t->is_entity)
        TRY(add_path(x, table, (struct owner_path){-1, 0, t->owned_by.n > 0}));
    for (size_t i = 0; i < t->owned_by.n; i++)
        TRY(follow(x, table, i));
    x->mark[table] = DONE;
    return OK;
}

static void mark_columns(struct schema *s)
{
    for (size_t i = 0; i < s->tables.n; i++) {
        struct table *t = &s->tables.p[i];
        for (size_t k = 0; k < t->owned_by.n; k++) {
            const struct owner_edge *e = &t->owned_by.p[k];
            for (size_t c = 0; c < e->n; c++) {
                t->cols[e->via[c]].leads = true;
                s->tables.p[e->table].cols[e->key[c]].leads = true;
            }
        }
    }
}

/* --- all of it ------------------------------------------------------------ */

static bool is_of_entities(enum neighbours n)
{
    return n == ADD_DROP_ENTITY || n == CHANGE_ENTITY;
}

static enum status settle_neighbours(struct schema *s, struct err *err)
{
    if (s->has_entities && !s->neighbours_given)
        s->neighbours = ADD_DROP_ENTITY;
    if (s->has_entities == is_of_entities(s->neighbours))
        return OK;
    if (s->has_entities) {
        err_set(err, E_POLICY,
                "the policy protects entities, but neighbours speaks of rows");
        err_hint(err, "Say add-drop-entity or change-entity, or leave "
                      "neighbours out.");
    } else {
        err_set(err, E_POLICY,
                "neighbours speaks of entities, but the policy names none");
        err_hint(err, "List the tables whose rows are entities: entities: "
                      "[person].");
    }
    return refuse(s, s->neighbours_at, E_POLICY, err);
}

static enum status refuse_owners(const struct schema *s, struct err *err)
{
    for (size_t i = 0; i < s->tables.n; i++) {
        const struct table *t = &s->tables.p[i];
        if (!t->owned_given && !t->not_owned.n)
            continue;
        err_set(err, E_POLICY,
                "table \"%.*s\" has owners, but the policy names no entities",
                PSTR(t->name));
        err_hint(err, "List the tables whose rows are entities: entities: "
                      "[person].");
        return refuse(s, t->at, E_POLICY, err);
    }
    return OK;
}

enum status schema_settle_owners(struct schema *s, struct err *err)
{
    struct settling x = {.s = s, .err = err};
    TRY(settle_neighbours(s, err));
    if (!s->has_entities)
        return refuse_owners(s, err);
    x.mark = NEWS(s->arena, uint8_t, s->tables.n + 1);
    if (!x.mark)
        return err_nomem(err);
    TRY(check_tables(&x));
    for (size_t i = 0; i < s->tables.n; i++)
        s->tables.p[i].paths.n = 0;
    for (size_t i = 0; i < s->tables.n; i++)
        TRY(find_paths(&x, (uint32_t)i));
    mark_columns(s);
    return OK;
}

enum status schema_check_lookups(const struct schema *s, struct err *err)
{
    for (size_t i = 0; i < s->tables.n; i++)
        for (size_t k = 0; k < s->tables.p[i].owned_by.n; k++) {
            const struct owner_edge *e = &s->tables.p[i].owned_by.p[k];
            const struct table *to = &s->tables.p[e->table];
            if (owner_edge_key(s, e))
                continue;
            err_set(err, E_UNSEALED_OWNER,
                    "the key of table \"%.*s\", by which owners are found, is "
                    "neither enforced by the database nor sealed",
                    PSTR(to->name));
            err_hint(err, "Declare the key and NOT NULL in the database, or "
                          "seal the data.");
            return refuse(s, e->at, E_UNSEALED_OWNER, err);
        }
    return OK;
}
