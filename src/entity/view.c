/* Views with owners: see view.h. */
#include "entity/view.h"

#include <string.h>

/* Hidden columns follow the table's own. */
static uint32_t column_of(const struct cq *q, const struct owner_var *v)
{
    struct owner_rep r = v->reps[0];
    return q->atoms[r.atom].n_args + r.path;
}

static enum status widen(struct arena *a, const struct table *from,
                         enum type type, struct table *to, struct err *err)
{
    *to = *from;
    to->n_cols += from->paths.n;
    to->cols = NEWS(a, struct column, to->n_cols + 1);
    if (!to->cols)
        return err_nomem(err);
    if (from->n_cols)
        memcpy(to->cols, from->cols, from->n_cols * sizeof *to->cols);
    for (size_t i = from->n_cols; i < to->n_cols; i++)
        to->cols[i] = (struct column){
            .name = STR("owner"), .type = type, .not_null = true};
    return OK;
}

enum status view_schema(struct arena *a, const struct schema *s, enum type type,
                        struct schema *out, struct err *err)
{
    *out = *s;
    out->tables.p = NEWS(a, struct table, s->tables.n + 1);
    if (!out->tables.p)
        return err_nomem(err);
    for (size_t i = 0; i < s->tables.n; i++)
        TRY(widen(a, &s->tables.p[i], type, &out->tables.p[i], err));
    return OK;
}

static enum status widen_rows(struct arena *a, const struct store_table *from,
                              const struct owners *o, uint32_t table,
                              size_t paths, struct store_table *to,
                              struct err *err)
{
    *to = *from;
    if (!from->loaded || !paths)
        return OK;
    to->cols = NEWS(a, struct store_column, from->n_cols + paths + 1);
    if (!to->cols)
        return err_nomem(err);
    memcpy(to->cols, from->cols, from->n_cols * sizeof *to->cols);
    for (uint32_t p = 0; p < paths; p++)
        to->cols[to->n_cols++] = (struct store_column){
            .present = true,
            .type = T_INT,
            .i32 = (const int32_t *)owners_column(o, table, p)};
    return OK;
}

enum status view_make(struct arena *a, const struct store *st,
                      const struct owners *o, struct owner_view *out,
                      struct err *err)
{
    const struct schema *s = st->schema;
    TRY(view_schema(a, s, T_INT, &out->schema, err));
    out->store = *st;
    out->store.schema = &out->schema;
    out->store.tables = NEWS(a, struct store_table, st->n_tables + 1);
    if (!out->store.tables)
        return err_nomem(err);
    for (uint32_t i = 0; i < st->n_tables; i++)
        TRY(widen_rows(a, &st->tables[i], o, i, s->tables.p[i].paths.n,
                       &out->store.tables[i], err));
    return OK;
}

void view_set_ids(struct owner_view *w, const struct cq *q,
                  const struct owner_var *v, const uint32_t *ids)
{
    uint32_t table = q->atoms[v->reps[0].atom].table;
    w->store.tables[table].cols[column_of(q, v)].i32 = (const int32_t *)ids;
}

const uint32_t *view_ids(const struct owner_view *w, const struct cq *q,
                         const struct owner_var *v, size_t *n)
{
    uint32_t table = q->atoms[v->reps[0].atom].table;
    *n = w->store.tables[table].n_rows;
    return (const uint32_t *)w->store.tables[table].cols[column_of(q, v)].i32;
}

/* --- the query ------------------------------------------------------------ */

enum status view_fits(const struct cq *q, const struct completion *c,
                      struct err *err)
{
    if (q->n_vars + c->k <= MAX_VARS)
        return OK;
    return err_set(err, E_TOO_LARGE,
                   "the query and its owners have more than %d variables",
                   (int)MAX_VARS);
}

static enum status copy_atoms(struct arena *a, const struct cq *q,
                              const struct owner_view *w, struct cq *out,
                              struct err *err)
{
    out->atoms = NEWS(a, struct atom, q->n_atoms + 1);
    if (!out->atoms)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        struct atom *at = &out->atoms[i];
        *at = q->atoms[i];
        at->n_args = (uint32_t)w->schema.tables.p[at->table].n_cols;
        at->args = NEWS(a, struct term, at->n_args + 1);
        if (!at->args)
            return err_nomem(err);
        memcpy(at->args, q->atoms[i].args,
               q->atoms[i].n_args * sizeof *at->args);
        for (uint32_t c = q->atoms[i].n_args; c < at->n_args; c++)
            at->args[c].kind = TERM_ANY;
    }
    return OK;
}

static enum status copy_heads(struct arena *a, const struct cq *q, unsigned k,
                              struct cq *out, struct err *err)
{
    out->vars = NEWS(a, struct var, q->n_vars + k + 1);
    out->outs = NEWS(a, struct term, q->n_outs + k + 1);
    if (!out->vars || !out->outs)
        return err_nomem(err);
    memcpy(out->vars, q->vars, q->n_vars * sizeof *out->vars);
    if (q->n_outs)
        memcpy(out->outs + k, q->outs, q->n_outs * sizeof *out->outs);
    out->n_outs = q->n_outs + k;
    return OK;
}

enum status view_query(struct arena *a, const struct cq *q,
                       const struct completion *c, const struct owner_view *w,
                       uint32_t vars, uint32_t more, struct cq **out,
                       struct err *err)
{
    unsigned k = (unsigned)__builtin_popcount(vars), n = 0;
    struct cq *to = *out = NEW(a, struct cq);
    if (!to)
        return err_nomem(err);
    TRY(view_fits(q, c, err));
    *to = *q;
    to->schema = &w->schema;
    TRY(copy_atoms(a, q, w, to, err));
    TRY(copy_heads(a, q, k, to, err));
    for (unsigned i = 0; i < c->k; i++) {
        if (!(vars >> i & 1))
            continue;
        uint32_t var = to->n_vars++;
        to->vars[var] =
            (struct var){.name = STR("owner"), .type = T_INT, .nonnull = true};
        struct term t = {TERM_VAR, var};
        to->atoms[c->vars[i].reps[0].atom].args[column_of(q, &c->vars[i])] = t;
        to->outs[n++] = t;
    }
    to->n_group = k + more;
    to->weight.out += k;
    return OK;
}
