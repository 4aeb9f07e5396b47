/*
 * Keys of GROUP BY that are public by themselves: a boolean has two values and
 * perhaps NULL, extract(month ...) twelve, a CASE with constants those, a
 * column the values that its type or a CHECK lists. What a private row holds
 * does not matter: a row whose value is not on the list is in no group that
 * is answered.
 *
 * PRIVACY: computed from query and catalogue alone.
 */
#include "release/group_keys.h"

struct domain {
    struct count *q;
    VEC(struct value) vals;
    bool null;  /* NULL is among them */
    bool ended; /* not a short public list */
};

enum { MOST = 10000 }; /* values of one column */

static void add(struct domain *d, struct value v)
{
    for (size_t i = 0; !v.is_null && i < d->vals.n; i++)
        if (value_eq(&d->vals.p[i], &v))
            return;
    if (v.is_null)
        d->null = true;
    else if (d->vals.n >= MOST || !VEC_PUSH(&d->q->p->arena, &d->vals, v))
        d->ended = true;
}

static void add_truth(struct domain *d, bool null)
{
    for (int i = 0; i < 2; i++)
        add(d, (struct value){.type = T_BOOL, .i = i});
    d->null |= null;
}

static void add_range(struct domain *d, int64_t from, int64_t to)
{
    for (int64_t i = from; i <= to; i++)
        add(d, value_int(i));
    d->null = true; /* an infinite date has no month */
}

static const struct {
    const char *name;
    int8_t from;
    int16_t to;
} fields[] = {
    {"month", 1, 12},  {"quarter", 1, 4}, {"day", 1, 31},
    {"dow", 0, 6},     {"isodow", 1, 7},  {"hour", 0, 24},
    {"minute", 0, 59}, {"week", 1, 53},   {"doy", 1, 366},
};

/* 24:00 is a time of day, but no hour of a timestamp. */
static void add_field(struct domain *d, const struct expr *e)
{
    struct str name = e->args[0]->val.s;
    bool time = e->args[1]->type == T_TIME;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (str_is(name, fields[i].name)) {
            bool hour = str_is(name, "hour");
            add_range(d, fields[i].from, fields[i].to - (hour && !time));
            return;
        }
    d->ended = true;
}

/* The column that a variable stands in; false: a row id, or computed. */
static const struct column *column_of(const struct count *q, uint32_t var)
{
    const struct cq *body = q->query;
    for (uint32_t a = 0; a < body->n_atoms; a++) {
        const struct table *t = &q->p->schema.tables.p[body->atoms[a].table];
        for (uint32_t c = 0; c < body->atoms[a].n_args; c++)
            if (body->atoms[a].args[c].kind == TERM_VAR &&
                body->atoms[a].args[c].id == var)
                return &t->cols[c];
    }
    return NULL;
}

static void add_column(struct domain *d, uint32_t var)
{
    const struct column *c = column_of(d->q, var);
    d->null |= !cq_var_nonnull(d->q->query, var);
    if (c && c->n_domain)
        for (size_t i = 0; i < c->n_domain; i++)
            add(d, c->domain[i]);
    else if (c && c->type == T_BOOL)
        add_truth(d, false);
    else
        d->ended = true;
}

static void add_expr(struct domain *d, const struct expr *e);

/* when, then, when, then, ..., else */
static void add_case(struct domain *d, const struct expr *e)
{
    for (uint32_t i = 1; i < e->n_args; i += 2)
        add_expr(d, e->args[i]);
    add_expr(d, e->args[e->n_args - 1]);
}

/* NULL only if the last one can be. */
static void add_coalesce(struct domain *d, const struct expr *e)
{
    bool null = d->null;
    for (uint32_t i = 0; i < e->n_args; i++) {
        d->null = null;
        add_expr(d, e->args[i]);
    }
}

static void add_expr(struct domain *d, const struct expr *e)
{
    switch (e->op) {
    case X_CONST:
        add(d, e->val);
        return;
    case X_VAR:
        add_column(d, e->var);
        return;
    case X_ISNULL:
    case X_ISTRUE:
    case X_ISFALSE:
    case X_DISTINCT:
        add_truth(d, false);
        return;
    case X_CASE:
        add_case(d, e);
        return;
    case X_COALESCE:
        add_coalesce(d, e);
        return;
    case X_EXTRACT:
        add_field(d, e);
        return;
    default:
        if (e->type == T_BOOL)
            add_truth(d, true);
        else
            d->ended = true;
    }
}

static const struct expr *calc_of(const struct cq *q, uint32_t var)
{
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].var == var)
            return q->calcs[i].e;
    return NULL;
}

enum status key_domain(struct count *q, uint32_t var, struct key_list *out,
                       struct err *err)
{
    struct domain d = {.q = q};
    const struct expr *e = calc_of(q->query, var);
    *out = (struct key_list){0};
    if (e)
        add_expr(&d, e);
    else
        add_column(&d, var);
    if (d.ended || !d.vals.n)
        return OK;
    if (d.null && cq_var_nonnull(q->query, var))
        d.null = false;
    if (d.null && !VEC_PUSH(&q->p->arena, &d.vals, value_null()))
        return err_nomem(err);
    *out = (struct key_list){d.vals.p, d.vals.n};
    return OK;
}

/* A column of a private table that refers to a public one: what stands there
 * are the keys. */
bool key_reference(const struct count *q, uint32_t var, uint32_t *out_table,
                   uint32_t *out_col)
{
    const struct cq *body = q->query;
    const struct schema *s = &q->p->schema;
    for (uint32_t a = 0; a < body->n_atoms; a++) {
        const struct table *t = &s->tables.p[body->atoms[a].table];
        for (size_t f = 0; f < t->fks.n; f++) {
            const struct foreign_key *fk = &t->fks.p[f];
            long to = schema_find(s, fk->ref_table);
            if (fk->n_cols != 1 || to < 0 ||
                table_is_private(&s->tables.p[to]) ||
                fk->cols[0] >= body->atoms[a].n_args ||
                fk->ref_cols[0] >= s->tables.p[to].n_cols)
                continue;
            const struct term *at = &body->atoms[a].args[fk->cols[0]];
            if (at->kind != TERM_VAR || at->id != var)
                continue;
            *out_table = (uint32_t)to;
            *out_col = fk->ref_cols[0];
            return true;
        }
    }
    return false;
}
