#include "harness/naive.h"

#include <inttypes.h>
#include <string.h>
#include "base/map.h"

struct loop {
    struct arena *arena;
    const struct cq *q;
    const struct naive_table *tables;
    struct value vals[MAX_VARS];
    bool bound[MAX_VARS];
    struct map seen;   /* whole outputs */
    struct map groups; /* key -> index in out */
    struct naive_groups *out;
    struct err *err;
};

static bool bind(struct loop *l, uint32_t var, const struct value *v)
{
    if (l->q->vars[var].nonnull && v->is_null)
        return false;
    if (l->bound[var])
        return !v->is_null && !l->vals[var].is_null &&
               value_eq(&l->vals[var], v);
    l->bound[var] = true;
    l->vals[var] = *v;
    return true;
}

static bool match(struct loop *l, const struct atom *a, struct value *row,
                  size_t number)
{
    for (uint32_t k = 0; k < a->n_args; k++) {
        struct term t = a->args[k];
        if (t.kind == TERM_CONST &&
            (row[k].is_null || !value_eq(&row[k], &l->q->consts[t.id])))
            return false;
        if (t.kind == TERM_VAR && !bind(l, t.id, &row[k]))
            return false;
    }
    struct value id = value_int((int64_t)number);
    return a->rowid < 0 || bind(l, (uint32_t)a->rowid, &id);
}

static enum status filters(struct loop *l, uint32_t atom, bool *keep)
{
    const struct cq *q = l->q;
    struct value v;
    for (uint32_t i = 0; i < q->n_calcs && *keep; i++)
        if (q->calcs[i].atom == atom) {
            TRY(expr_eval(l->arena, q->calcs[i].e, l->vals, &v, l->err));
            *keep = bind(l, q->calcs[i].var, &v);
        }
    for (uint32_t i = 0; i < q->n_preds && *keep; i++)
        if (q->preds[i].atom == atom) {
            TRY(expr_eval(l->arena, q->preds[i].e, l->vals, &v, l->err));
            *keep = !v.is_null && v.i;
        }
    return OK;
}

static const struct value *side(struct loop *l, struct term t)
{
    return t.kind == TERM_CONST ? &l->q->consts[t.id] : &l->vals[t.id];
}

static bool compare(struct loop *l)
{
    for (uint32_t i = 0; i < l->q->n_cmps; i++) {
        const struct cmp *c = &l->q->cmps[i];
        const struct value *x = side(l, c->l), *y = side(l, c->r);
        if (x->is_null || y->is_null)
            return false;
        int d = value_cmp(x, y);
        if (!(c->op == CMP_NE ? d != 0 : c->op == CMP_LT ? d < 0 : d <= 0))
            return false;
    }
    return true;
}

static void print(struct sb *b, const struct value *v)
{
    if (v->is_null)
        sb_cstr(b, "\\N");
    else if (v->type == T_TEXT)
        sb_str(b, v->s);
    else
        value_print(b, v);
    sb_char(b, '\t');
}

static enum status emit(struct loop *l)
{
    struct sb b;
    bool is_new;
    size_t key = 0;
    sb_init(&b, l->arena);
    for (uint32_t i = 0; i < l->q->n_outs; i++) {
        print(&b, side(l, l->q->outs[i]));
        if (i + 1 == l->q->n_group)
            key = b.n;
    }
    struct str all = b.n ? sb_view(&b) : STR("");
    struct str group = {all.p, key};
    if (!map_put(&l->seen, all, 1, &is_new))
        return err_nomem(l->err);
    if (!is_new)
        return OK;
    uint64_t *at = map_put(&l->groups, group, l->out->n, &is_new);
    struct naive_group fresh = {.key = group};
    if (!at || (is_new && !VEC_PUSH(l->arena, l->out, fresh)))
        return err_nomem(l->err);
    l->out->p[*at].count++;
    return OK;
}

static enum status loop(struct loop *l, uint32_t atom)
{
    if (atom == l->q->n_atoms)
        return compare(l) ? emit(l) : OK;
    const struct atom *a = &l->q->atoms[atom];
    const struct naive_table *t = &l->tables[a->table];
    struct value vals[MAX_VARS];
    bool bound[MAX_VARS];
    memcpy(vals, l->vals, sizeof vals);
    memcpy(bound, l->bound, sizeof bound);
    for (size_t i = 0; i < t->n_rows; i++) {
        bool keep = match(l, a, t->rows[i], i);
        if (keep)
            TRY(filters(l, atom, &keep));
        if (keep)
            TRY(loop(l, atom + 1));
        memcpy(l->vals, vals, sizeof vals);
        memcpy(l->bound, bound, sizeof bound);
    }
    return OK;
}

enum status naive_count(struct arena *a, const struct cq *q,
                        const struct naive_table *tables,
                        struct naive_groups *out, struct err *err)
{
    struct loop l = {
        .arena = a, .q = q, .tables = tables, .out = out, .err = err};
    *out = (struct naive_groups){0};
    map_init(&l.seen, a);
    map_init(&l.groups, a);
    return q->unsat ? OK : loop(&l, 0);
}
