/*
 * Expressions over the rows of one atom: computed columns and predicates.
 *
 * A computed column becomes a store column of its own (numbers as numbers,
 * everything else as codes into a sorted dictionary), so that the rest of the
 * engine sees no difference. Expressions are total, so no row can fail.
 */
#include "join/impl.h"

#include <stdlib.h>
#include <string.h>

struct row_env {
    struct join *j;
    uint32_t atom;
    vset vars; /* those that the expression reads */
    struct value *vals;
    const struct store_column **cols; /* by variable */
};

static enum status env_open(struct join *j, uint32_t atom, struct arena *a,
                            const struct expr *e, struct row_env *env,
                            struct err *err)
{
    const struct cq *q = j->q;
    const struct atom *at = &q->atoms[atom];
    const struct store_table *t = &j->st->tables[at->table];
    env->j = j;
    env->atom = atom;
    env->vars = expr_vars(e);
    env->vals = NEWS(a, struct value, q->n_vars);
    env->cols = NEWS(a, const struct store_column *, q->n_vars);
    if (!env->vals || !env->cols)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].atom == atom)
            env->cols[q->calcs[i].var] = &j->calc_cols[i];
    for (uint32_t k = 0; k < at->n_args; k++)
        if (at->args[k].kind == TERM_VAR)
            env->cols[at->args[k].id] = &t->cols[k];
    VSET_EACH (v, env->vars)
        if (!env->cols[v] || !env->cols[v]->present)
            return err_internal(err, "join: expression over an absent column");
    return OK;
}

static void env_row(struct row_env *env, size_t row)
{
    VSET_EACH (v, env->vars)
        env->vals[v] = column_value(env->cols[v], row);
}

/* --- predicates --------------------------------------------------------- */

/* An expression over one dictionary column is asked once per code. */
static enum status filter_codes(struct row_env *env, const struct expr *e,
                                const struct store_column *c, size_t n_rows,
                                uint8_t *keep, struct err *err)
{
    struct mem *m = env->j->mem;
    unsigned v = vset_min(env->vars);
    enum status s = OK;
    uint8_t *pass = mem_alloc(m, c->n_dict + 1); /* the last one: NULL */
    if (!pass)
        return err_nomem(err);
    for (size_t i = 0; i <= c->n_dict && s == OK; i++) {
        struct arena scratch;
        struct value out = {0}, in = {0};
        arena_init(&scratch, m);
        in.type = c->type;
        if (i < c->n_dict)
            in.s = c->dict[i];
        else
            in = value_null();
        env->vals[v] = in;
        s = expr_eval(&scratch, e, env->vals, &out, err);
        pass[i] = !out.is_null && out.i == 1;
        arena_fini(&scratch);
    }
    for (size_t r = 0; r < n_rows && s == OK; r++)
        keep[r] &= pass[column_is_null(c, r) ? c->n_dict : c->code[r]];
    mem_free(m, pass, c->n_dict + 1);
    return s;
}

static enum status filter_rows(struct row_env *env, const struct expr *e,
                               size_t n_rows, uint8_t *keep, struct err *err)
{
    struct arena scratch;
    enum status s = OK;
    arena_init(&scratch, env->j->mem);
    for (size_t r = 0; r < n_rows && s == OK; r++) {
        struct value out = {0};
        if (!keep[r])
            continue;
        if (r % 256 == 255) {
            arena_fini(&scratch);
            if (join_cancelled(env->j)) {
                s = err_set(err, E_CANCELLED, "cancelled");
                break;
            }
        }
        env_row(env, r);
        s = expr_eval(&scratch, e, env->vals, &out, err);
        keep[r] = !out.is_null && out.i == 1;
    }
    arena_fini(&scratch);
    return s;
}

enum status pred_filter(struct join *j, uint32_t atom, uint8_t *keep,
                        struct err *err)
{
    const struct cq *q = j->q;
    size_t n_rows = j->st->tables[q->atoms[atom].table].n_rows;
    enum status s = OK;
    for (uint32_t i = 0; i < q->n_preds && s == OK; i++) {
        struct row_env env;
        struct arena a;
        if (q->preds[i].atom != atom)
            continue;
        arena_init(&a, j->mem);
        s = env_open(j, atom, &a, q->preds[i].e, &env, err);
        if (s == OK && vset_count(env.vars) == 1 &&
            env.cols[vset_min(env.vars)]->code)
            s = filter_codes(&env, q->preds[i].e, env.cols[vset_min(env.vars)],
                             n_rows, keep, err);
        else if (s == OK)
            s = filter_rows(&env, q->preds[i].e, n_rows, keep, err);
        arena_fini(&a);
    }
    return s;
}

/* --- computed columns --------------------------------------------------- */

static bool is_i64(enum type t)
{
    return t == T_INT || t == T_BOOL || t == T_DATE || t == T_TIMESTAMP ||
           t == T_TIME;
}

struct coded {
    struct str s;
    uint32_t row;
};

static int cmp_coded_value(const void *a, const void *b, void *type)
{
    struct value x = {0}, y = {0};
    x.type = y.type = *(enum type *)type;
    x.s = ((const struct coded *)a)->s;
    y.s = ((const struct coded *)b)->s;
    return value_cmp(&x, &y);
}

/* Texts become codes into a dictionary in value_cmp's order. */
static enum status code_column(struct join *j, struct store_column *c,
                               struct coded *v, size_t n, size_t n_rows,
                               struct err *err)
{
    uint32_t *code = NEWS(&j->arena, uint32_t, n_rows);
    struct str *dict = NEWS(&j->arena, struct str, n);
    if (!code || !dict)
        return err_nomem(err);
    qsort_r(v, n, sizeof *v, cmp_coded_value, &c->type);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (!i || cmp_coded_value(&v[i - 1], &v[i], &c->type) != 0)
            dict[k++] = v[i].s;
        code[v[i].row] = (uint32_t)(k - 1);
    }
    c->code = code;
    c->dict = dict;
    c->n_dict = k;
    return OK;
}

struct calc_out {
    struct store_column *c;
    uint64_t *nulls;
    int64_t *i64;
    double *f64;
    struct coded *texts;
    size_t n_texts;
};

static enum status store_result(struct join *j, struct calc_out *o, size_t r,
                                const struct value *v, struct err *err)
{
    if (v->is_null) {
        o->nulls[r >> 6] |= (uint64_t)1 << (r & 63);
        o->c->nulls = o->nulls;
    } else if (o->i64) {
        o->i64[r] = v->i;
    } else if (o->f64) {
        o->f64[r] = v->f;
    } else {
        struct coded t = {str_copy(&j->arena, v->s), (uint32_t)r};
        if (!t.s.p)
            return err_nomem(err);
        o->texts[o->n_texts++] = t;
    }
    return OK;
}

static enum status fill_calc(struct join *j, struct row_env *env,
                             const struct expr *e, struct calc_out *o,
                             size_t n_rows, struct err *err)
{
    struct arena scratch;
    enum status s = OK;
    arena_init(&scratch, j->mem);
    for (size_t r = 0; r < n_rows && s == OK; r++) {
        struct value v = {0};
        if (r % 256 == 255)
            arena_fini(&scratch);
        env_row(env, r);
        s = expr_eval(&scratch, e, env->vals, &v, err);
        if (s == OK)
            s = store_result(j, o, r, &v, err);
    }
    arena_fini(&scratch);
    return s;
}

static enum status calc_one(struct join *j, uint32_t i, struct err *err)
{
    const struct calc *k = &j->q->calcs[i];
    size_t n_rows = j->st->tables[j->q->atoms[k->atom].table].n_rows;
    size_t text_size = n_rows * sizeof(struct coded);
    struct calc_out o = {.c = &j->calc_cols[i]};
    struct row_env env;
    struct arena a;
    arena_init(&a, j->mem);
    enum status s = env_open(j, k->atom, &a, k->e, &env, err);
    o.c->type = k->e->type;
    o.nulls = NEWS(&j->arena, uint64_t, n_rows / 64 + 1);
    if (is_i64(o.c->type))
        o.c->i64 = o.i64 = NEWS(&j->arena, int64_t, n_rows);
    else if (o.c->type == T_REAL)
        o.c->f64 = o.f64 = NEWS(&j->arena, double, n_rows);
    else
        o.texts = mem_alloc(j->mem, text_size);
    if (s == OK && (!o.nulls || (!o.i64 && !o.f64 && !o.texts)))
        s = err_nomem(err);
    if (s == OK)
        s = fill_calc(j, &env, k->e, &o, n_rows, err);
    if (s == OK && o.texts)
        s = code_column(j, o.c, o.texts, o.n_texts, n_rows, err);
    mem_free(j->mem, o.texts, text_size);
    o.c->present = true;
    arena_fini(&a);
    return s;
}

enum status calc_columns(struct join *j, struct err *err)
{
    j->calc_cols = NEWS(&j->arena, struct store_column, j->q->n_calcs);
    if (!j->calc_cols)
        return err_nomem(err);
    for (uint32_t i = 0; i < j->q->n_calcs; i++)
        TRY(calc_one(j, i, err));
    return OK;
}
