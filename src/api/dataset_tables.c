/* The catalogue of an open data set: see dpcount.h. Made once, at the open. */
#include "api/api_int.h"

struct dataset_table {
    dpc_table head;
    dpc_column *columns;
    dpc_link *keys, *references, *owners;
};

static const char *text(dpc_dataset *d, struct str s, bool *failed)
{
    struct str copy = str_copy(&d->arena, s);
    *failed |= !copy.p;
    return copy.p;
}

static const size_t *places(dpc_dataset *d, const uint32_t *from, size_t n,
                            bool *failed)
{
    size_t *to = from ? NEWS(&d->arena, size_t, n + 1) : NULL;
    *failed |= from && !to;
    for (size_t i = 0; to && i < n; i++)
        to[i] = from[i];
    return to;
}

static dpc_link *links(dpc_dataset *d, size_t n, bool *failed)
{
    dpc_link *l = NEWS(&d->arena, dpc_link, n + 1);
    *failed |= !l;
    return l;
}

static dpc_type type_of(enum type t)
{
    return (dpc_type)t; /* the same list: dpc_list_tables asserts it */
}

static void list_columns(dpc_dataset *d, const struct table *t,
                         struct dataset_table *out, bool *failed)
{
    out->head.n_columns = t->n_cols;
    out->columns = NEWS(&d->arena, dpc_column, t->n_cols + 1);
    *failed |= !out->columns;
    for (size_t i = 0; !*failed && i < t->n_cols; i++)
        out->columns[i] =
            (dpc_column){.name = text(d, t->cols[i].name, failed),
                         .comment = text(d, t->cols[i].comment, failed),
                         .type = type_of(t->cols[i].type),
                         .not_null = t->cols[i].not_null};
}

static void list_keys(dpc_dataset *d, const struct table *t,
                      struct dataset_table *out, bool *failed)
{
    out->keys = links(d, t->degrees.n, failed);
    for (size_t i = 0; !*failed && i < t->degrees.n; i++) {
        const struct degree *k = &t->degrees.p[i];
        if (k->is_key && k->k == 1)
            out->keys[out->head.n_keys++] = (dpc_link){
                places(d, k->written ? k->written : k->x, k->n_x, failed),
                k->n_x, NULL, NULL};
    }
}

static void list_references(dpc_dataset *d, const struct table *t,
                            struct dataset_table *out, bool *failed)
{
    out->references = links(d, t->fks.n, failed);
    for (size_t i = 0; !*failed && i < t->fks.n; i++) {
        const struct foreign_key *f = &t->fks.p[i];
        out->references[out->head.n_references++] =
            (dpc_link){places(d, f->cols, f->n_cols, failed), f->n_cols,
                       text(d, f->ref_table, failed),
                       places(d, f->ref_cols, f->n_cols, failed)};
    }
}

static void list_owners(dpc_dataset *d, const struct table *t,
                        struct dataset_table *out, bool *failed)
{
    out->owners = links(d, t->owned_by.n, failed);
    for (size_t i = 0; !*failed && i < t->owned_by.n; i++) {
        const struct owner_edge *e = &t->owned_by.p[i];
        out->owners[out->head.n_owners++] = (dpc_link){
            places(d, e->via, e->n, failed), e->n, text(d, e->name, failed),
            places(d, e->key, e->n, failed)};
    }
}

enum status dpc_list_tables(dpc_dataset *d, struct err *err)
{
    _Static_assert((int)T_UNKNOWN == (int)DPC_TYPE_UNKNOWN &&
                       (int)T_TEXT == (int)DPC_TYPE_TEXT &&
                       (int)T_UUID == (int)DPC_TYPE_UUID,
                   "the types of dpcount.h are those of value.h");
    const struct schema *s = &d->base->schema;
    bool failed = false;
    d->tables = NEWS(&d->arena, struct dataset_table, s->tables.n + 1);
    for (size_t i = 0; d->tables && !failed && i < s->tables.n; i++) {
        const struct table *t = &s->tables.p[i];
        struct dataset_table *out = &d->tables[i];
        out->head = (dpc_table){.name = text(d, t->name, &failed),
                                .space = text(d, t->namespace_, &failed),
                                .comment = text(d, t->comment, &failed),
                                .is_private = table_is_private(t),
                                .is_entity = t->is_entity,
                                .is_queried = !t->is_refused};
        list_columns(d, t, out, &failed);
        list_keys(d, t, out, &failed);
        list_references(d, t, out, &failed);
        list_owners(d, t, out, &failed);
    }
    d->n_tables = s->tables.n;
    return d->tables && !failed ? OK : err_nomem(err);
}

size_t dpc_dataset_tables(const dpc_dataset *d)
{
    return d->tables ? d->n_tables : 0;
}

static const struct dataset_table *table_at(const dpc_dataset *d, size_t i)
{
    return i < dpc_dataset_tables(d) ? &d->tables[i] : NULL;
}

int dpc_table_at(const dpc_dataset *d, size_t table, dpc_table *out)
{
    const struct dataset_table *t = table_at(d, table);
    if (t)
        *out = t->head;
    return t != NULL;
}

int dpc_column_at(const dpc_dataset *d, size_t table, size_t column,
                  dpc_column *out)
{
    const struct dataset_table *t = table_at(d, table);
    if (!t || column >= t->head.n_columns)
        return 0;
    *out = t->columns[column];
    return 1;
}

static int link_at(const dpc_link *list, size_t n, size_t i, dpc_link *out)
{
    if (i >= n)
        return 0;
    *out = list[i];
    return 1;
}

int dpc_key_at(const dpc_dataset *d, size_t table, size_t i, dpc_link *out)
{
    const struct dataset_table *t = table_at(d, table);
    return t ? link_at(t->keys, t->head.n_keys, i, out) : 0;
}

int dpc_reference_at(const dpc_dataset *d, size_t table, size_t i,
                     dpc_link *out)
{
    const struct dataset_table *t = table_at(d, table);
    return t ? link_at(t->references, t->head.n_references, i, out) : 0;
}

int dpc_owner_at(const dpc_dataset *d, size_t table, size_t i, dpc_link *out)
{
    const struct dataset_table *t = table_at(d, table);
    return t ? link_at(t->owners, t->head.n_owners, i, out) : 0;
}
