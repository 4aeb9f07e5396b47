/*
 * Columns of the outermost SELECT that the keys of GROUP BY determine: those of
 * a table whose key is among them, as in SELECT p.id, p.name ... GROUP BY p.id.
 * Each becomes one more key of GROUP BY, which leaves the groups as they are.
 * PRIVACY: so it is released as a key is, from public rows or past a threshold,
 * never as a value of a row.
 */
#include <string.h>

#include "sql/sql_int.h"

struct determined {
    struct lower *l;
    struct scope *sc;
    const json_t *select;
    const nodes *keys; /* those that are written, at the beginning */
    size_t n_written;
    bool sorting; /* a bare name may be that of a result's column */
    nodes *out;
};

static bool is_key(const struct determined *d, const json_t *node)
{
    for (size_t i = 0; i < d->keys->n; i++)
        if (same_node(d->l, d->sc, node, d->keys->p[i]))
            return true;
    for (size_t i = 0; i < d->out->n; i++)
        if (same_node(d->l, d->sc, node, d->out->p[i]))
            return true;
    return false;
}

/* NULL: no column of the tables of FROM. */
static const struct rcol *column_of(const struct determined *d,
                                    const json_t *node)
{
    const json_t *ref = node_as(node, "ColumnRef");
    const struct rcol *found = NULL;
    struct err *err = d->l->err, scratch;
    if (!ref || is_star(ref))
        return NULL;
    d->l->err = &scratch; /* what is wrong with it is told elsewhere */
    enum status s = find_column(d->l, d->sc, ref, false, &found);
    d->l->err = err;
    return s == OK && found && !found->group ? found : NULL;
}

static bool has_key_column(const struct determined *d, uint32_t atom,
                           uint32_t col)
{
    for (size_t i = 0; i < d->n_written; i++) {
        const struct rcol *k = column_of(d, d->keys->p[i]);
        if (k && !k->e && k->atom == atom && k->col == col)
            return true;
    }
    return false;
}

static bool key_is_grouped(const struct determined *d, const struct rcol *c)
{
    const struct table *t =
        &d->l->schema->tables.p[d->l->b.atoms.p[c->atom].table];
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *k = &t->degrees.p[i];
        bool all = k->is_key;
        for (size_t j = 0; all && j < k->n_x; j++)
            all = t->cols[k->x[j]].not_null &&
                  has_key_column(d, c->atom, k->x[j]);
        if (all)
            return true;
    }
    return false;
}

static bool is_result_name(const struct determined *d, const json_t *ref)
{
    if (!d->sorting || get_size(ref, "fields") != 1)
        return false;
    for (size_t i = 0; i < get_size(d->select, "targetList"); i++)
        if (strcmp(get_text(target_at(d->select, i), "name"),
                   last_name(get(ref, "fields"))) == 0)
            return true;
    return false;
}

static enum status look_at_column(const struct determined *d,
                                  const json_t *node)
{
    const struct rcol *c = column_of(d, node);
    TRY(lower_work(d->l, WORK_COLUMN * (d->n_written + 1), -1));
    if (!c || c->e || c->absent || is_key(d, node) ||
        is_result_name(d, node_as(node, "ColumnRef")) || !key_is_grouped(d, c))
        return OK;
    return VEC_PUSH(d->l->arena, d->out, node) ? OK : err_nomem(d->l->err);
}

static enum status look(const struct determined *d, const json_t *node,
                        int depth)
{
    const char *key;
    json_t *v;
    size_t i;
    if (depth > MAX_DEPTH || sql_paid_call(node) || node_as(node, "SubLink") ||
        is_key(d, node))
        return OK;
    if (node_as(node, "ColumnRef"))
        return look_at_column(d, node);
    if (json_is_object(node))
        json_object_foreach((json_t *)(uintptr_t)node, key, v)
            TRY(look(d, v, depth + 1));
    else if (json_is_array(node))
        json_array_foreach((json_t *)(uintptr_t)node, i, v)
            TRY(look(d, v, depth + 1));
    return OK;
}

enum status sql_determined(struct lower *l, struct scope *sc,
                           const json_t *select, const nodes *keys, nodes *out)
{
    struct determined d = {.l = l,
                           .sc = sc,
                           .select = select,
                           .keys = keys,
                           .n_written = keys->n,
                           .out = out};
    if (!keys->n)
        return OK;
    TRY(look(&d, get(select, "targetList"), 0));
    TRY(look(&d, get(select, "havingClause"), 0));
    d.sorting = true;
    return look(&d, get(select, "sortClause"), 0);
}
