/*
 * Expressions over the rows of one atom: computed columns and predicates.
 *
 * A computed column becomes a store column of its own (numbers as numbers,
 * everything else as codes into a sorted dictionary), so that the rest of the
 * engine sees no difference. Expressions are total, so no row can fail, and
 * what a row takes is limited (cq/expr.h). Scratch is given back, and the stop
 * asked for, after some rows or after one that took much.
 */
#include "join/join_int.h"

#include <math.h>
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

enum { ROWS_BETWEEN = 256, MUCH = 65536 };

/* After `n` evaluations: gives scratch back and asks whether to stop. */
static enum status env_rest(struct row_env *env, struct arena *scratch,
                            size_t n, struct err *err)
{
    struct arena_mark empty = {0};
    if (n % ROWS_BETWEEN && arena_since(scratch, empty) <= MUCH)
        return OK;
    arena_fini(scratch);
    return join_cancelled(env->j) ? err_set(err, E_CANCELLED, "cancelled") : OK;
}

static void env_row(struct row_env *env, size_t row)
{
    VSET_EACH (v, env->vars)
        env->vals[v] = column_value(env->cols[v], row);
}

/* --- predicates --------------------------------------------------------- */

/* An expression over one dictionary column is asked once per code. */
static enum status ask_codes(struct row_env *env, const struct expr *e,
                             const struct store_column *c, uint8_t *pass,
                             struct err *err)
{
    unsigned v = vset_min(env->vars);
    struct arena scratch;
    enum status s = OK;
    arena_init(&scratch, env->j->mem);
    for (size_t i = 0; i <= c->n_dict && s == OK; i++) {
        struct value out = {0};
        env->vals[v] = i < c->n_dict ? column_dict_value(c, i) : value_null();
        s = expr_eval(&scratch, e, env->vals, &out, err);
        pass[i] = !out.is_null && out.i == 1;
        if (s == OK)
            s = env_rest(env, &scratch, i + 1, err);
    }
    arena_fini(&scratch);
    return s;
}

static enum status filter_codes(struct row_env *env, const struct expr *e,
                                const struct store_column *c, size_t n_rows,
                                uint8_t *keep, struct err *err)
{
    struct mem *m = env->j->mem;
    uint8_t *pass = mem_alloc(m, c->n_dict + 1); /* the last one: NULL */
    if (!pass)
        return err_nomem(err);
    enum status s = ask_codes(env, e, c, pass, err);
    for (size_t r = 0; r < n_rows && s == OK; r++)
        keep[r] &= pass[column_is_null(c, r) ? c->n_dict : c->code[r]];
    mem_free(m, pass, c->n_dict + 1);
    return s;
}

/* Whole numbers from so near together that there is a byte for each. */
struct int_span {
    int64_t least;
    size_t n; /* 0: they are not */
};

static struct int_span int_span(const struct store_column *c, size_t n_rows)
{
    struct int_span none = {0};
    if (!column_has_ints(c) || !n_rows)
        return none;
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (size_t r = 0; r < n_rows; r++) { /* the cell of a NULL is 0 */
        int64_t v = column_int(c, r);
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
    }
    uint64_t more = (uint64_t)hi - (uint64_t)lo;
    return more < n_rows ? (struct int_span){lo, (size_t)more + 1} : none;
}

enum { UNSEEN, PASSES, FAILS };

static enum status ask_value(struct row_env *env, const struct expr *e,
                             struct value x, struct arena *scratch,
                             uint8_t *pass, struct err *err)
{
    struct value out = {0};
    env->vals[vset_min(env->vars)] = x;
    TRY(expr_eval(scratch, e, env->vals, &out, err));
    *pass = !out.is_null && out.i == 1 ? PASSES : FAILS;
    return OK;
}

/* Few numbers: each is asked, whether it occurs or not, and then no row has to
 * be looked at twice. */
static enum status ask_ints(struct row_env *env, const struct expr *e,
                            struct int_span span, uint8_t *pass,
                            struct err *err)
{
    struct value x = {.type = env->cols[vset_min(env->vars)]->type};
    struct arena scratch;
    arena_init(&scratch, env->j->mem);
    enum status s =
        ask_value(env, e, value_null(), &scratch, &pass[span.n], err);
    for (size_t i = 0; i < span.n && s == OK; i++) {
        x.i = (int64_t)((uint64_t)span.least + i);
        s = ask_value(env, e, x, &scratch, &pass[i], err);
        if (s == OK)
            s = env_rest(env, &scratch, i + 1, err);
    }
    arena_fini(&scratch);
    return s;
}

/* Which place of `pass` is that of a row; the last one: NULL. */
static size_t place_of(const struct store_column *c, struct int_span span,
                       size_t row)
{
    return column_is_null(c, row)
               ? span.n
               : (size_t)((uint64_t)column_int(c, row) - (uint64_t)span.least);
}

/* Many numbers: those that occur are asked. */
static enum status ask_seen(struct row_env *env, const struct expr *e,
                            struct int_span span, size_t n_rows,
                            const uint8_t *keep, uint8_t *pass, struct err *err)
{
    const struct store_column *c = env->cols[vset_min(env->vars)];
    struct arena scratch;
    enum status s = OK;
    arena_init(&scratch, env->j->mem);
    for (size_t r = 0, n = 0; r < n_rows && s == OK; r++) {
        uint8_t *p = &pass[place_of(c, span, r)];
        if (!keep[r] || *p != UNSEEN)
            continue;
        s = ask_value(env, e, column_value(c, r), &scratch, p, err);
        if (s == OK)
            s = env_rest(env, &scratch, ++n, err);
    }
    arena_fini(&scratch);
    return s;
}

/* An expression over one column of whole numbers is asked once per number. */
static enum status filter_ints(struct row_env *env, const struct expr *e,
                               struct int_span span, size_t n_rows,
                               uint8_t *keep, struct err *err)
{
    const struct store_column *c = env->cols[vset_min(env->vars)];
    struct mem *m = env->j->mem;
    uint8_t *pass = mem_alloc(m, span.n + 1);
    if (!pass)
        return err_nomem(err);
    enum status s = span.n <= n_rows / 16
                        ? ask_ints(env, e, span, pass, err)
                        : ask_seen(env, e, span, n_rows, keep, pass, err);
    for (size_t r = 0; s == OK && r < n_rows; r++)
        keep[r] &= pass[place_of(c, span, r)] == PASSES;
    mem_free(m, pass, span.n + 1);
    return s;
}

static enum status filter_rows(struct row_env *env, const struct expr *e,
                               size_t n_rows, uint8_t *keep, struct err *err)
{
    struct arena scratch;
    enum status s = OK;
    arena_init(&scratch, env->j->mem);
    for (size_t r = 0, n = 0; r < n_rows && s == OK; r++) {
        struct value out = {0};
        if (!keep[r])
            continue;
        env_row(env, r);
        s = expr_eval(&scratch, e, env->vals, &out, err);
        keep[r] = !out.is_null && out.i == 1;
        if (s == OK)
            s = env_rest(env, &scratch, ++n, err);
    }
    arena_fini(&scratch);
    return s;
}

/* The rows that one predicate lets pass. PRIVACY: in steady mode each row is
 * asked, so that the work follows from their number. */
static enum status filter_one(struct row_env *env, const struct expr *e,
                              size_t n_rows, uint8_t *keep, struct err *err)
{
    const struct store_column *c =
        vset_count(env->vars) == 1 ? env->cols[vset_min(env->vars)] : NULL;
    struct int_span span = {0};
    if (c && c->code)
        return filter_codes(env, e, c, n_rows, keep, err);
    if (c && !env->j->opt.steady)
        span = int_span(c, n_rows);
    return span.n ? filter_ints(env, e, span, n_rows, keep, err)
                  : filter_rows(env, e, n_rows, keep, err);
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
        if (s == OK)
            s = filter_one(&env, q->preds[i].e, n_rows, keep, err);
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

static bool is_number(enum type t)
{
    return t == T_INT || t == T_DEC || t == T_REAL;
}

struct calc_result {
    struct value v;
    uint32_t row;
};

static int cmp_result(const void *a, const void *b)
{
    return value_cmp(&((const struct calc_result *)a)->v,
                     &((const struct calc_result *)b)->v);
}

/* The text of a dictionary entry; numbers as exact decimals. */
static enum status entry_text(struct join *j, const struct value *v,
                              struct str *out, struct err *err)
{
    struct value d = *v;
    if (v->type == T_INT) {
        *out = str_printf(&j->arena, "%lld", (long long)v->i);
    } else if (v->type == T_REAL) {
        struct str s = str_printf(&j->arena, "%.1080f", v->f); /* exact */
        if (isnan(v->f) || isinf(v->f))
            *out = isnan(v->f) ? STR("NaN")
                   : v->f > 0  ? STR("Infinity")
                               : STR("-Infinity");
        else if (s.p && value_parse(&j->arena, s, T_DEC, &d))
            *out = d.s;
        else
            *out = (struct str){NULL, 0};
    } else {
        *out = v->s;
    }
    return out->p ? OK : err_nomem(err);
}

/* Codes into a dictionary in value_cmp's order, numbers before texts. */
static enum status code_column(struct join *j, struct store_column *c,
                               struct calc_result *v, size_t n, size_t n_rows,
                               struct err *err)
{
    uint32_t *code = NEWS(&j->arena, uint32_t, n_rows);
    struct str *dict = NEWS(&j->arena, struct str, n);
    if (!code || !dict)
        return err_nomem(err);
    qsort(v, n, sizeof *v, cmp_result);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (!i || cmp_result(&v[i - 1], &v[i]) != 0) {
            TRY(entry_text(j, &v[i].v, &dict[k++], err));
            c->n_numeric += is_number(v[i].v.type);
        }
        code[v[i].row] = (uint32_t)(k - 1);
    }
    c->type = v[n - 1].v.type == T_UUID ? T_UUID : T_TEXT;
    if (c->n_numeric == k) {
        c->type = T_DEC;
        c->n_numeric = 0;
    }
    c->inferred = true;
    c->code = code;
    c->dict = dict;
    c->n_dict = k;
    return OK;
}

/* One type of machine word throughout: an array of it. */
static enum status word_column(struct join *j, struct store_column *c,
                               const struct calc_result *v, size_t n,
                               size_t n_rows, struct err *err)
{
    if (n)
        c->type = v[0].v.type;
    int64_t *i64 = NEWS(&j->arena, int64_t, n_rows);
    if (!i64)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        i64[v[i].row] = v[i].v.i;
    c->i64 = i64;
    return OK;
}

/* PRIVACY: each result keeps its own type (a sum can outgrow 64 bits, a cell
 * without declared type can be anything), so that no row decides what the
 * others mean; only the layout depends on all of them. */
static enum status lay_out(struct join *j, struct store_column *c,
                           struct calc_result *v, size_t n, size_t n_rows,
                           struct err *err)
{
    bool words = true;
    for (size_t i = 0; i < n; i++)
        words &= is_i64(v[i].v.type) && v[i].v.type == v[0].v.type;
    if (words)
        return word_column(j, c, v, n, n_rows, err);
    return code_column(j, c, v, n, n_rows, err);
}

/* PRIVACY: decided for each value by itself, so that one of a type that does
 * not mix with the others is NULL and no error. */
static bool mixes(enum type want, enum type got)
{
    return got == want || (!is_i64(got) && !is_i64(want)) ||
           (got == T_INT && (is_number(want) || want == T_UNKNOWN));
}

static enum status fill_calc(struct join *j, struct row_env *env,
                             const struct expr *e, struct store_column *c,
                             struct calc_result *out, size_t *n_out,
                             size_t n_rows, struct err *err)
{
    struct arena scratch;
    enum status s = OK;
    uint64_t *nulls = NEWS(&j->arena, uint64_t, n_rows / 64 + 1);
    if (!nulls)
        return err_nomem(err);
    arena_init(&scratch, j->mem);
    for (size_t r = 0; r < n_rows && s == OK; r++) {
        struct value v = {0};
        env_row(env, r);
        s = expr_eval(&scratch, e, env->vals, &v, err);
        if (s == OK && (v.is_null || !mixes(e->type, v.type))) {
            nulls[r >> 6] |= (uint64_t)1 << (r & 63);
            c->nulls = nulls;
        } else if (s == OK) {
            if (v.s.p && !(v.s = str_copy(&j->arena, v.s)).p)
                s = err_nomem(err);
            out[(*n_out)++] = (struct calc_result){v, (uint32_t)r};
        }
        if (s == OK)
            s = env_rest(env, &scratch, r + 1, err);
    }
    arena_fini(&scratch);
    return s;
}

/* What is known of the type without rows; it stays if all are NULL. */
static void public_type(const struct row_env *env, const struct expr *e,
                        struct store_column *c)
{
    c->type = is_i64(e->type) ? e->type : T_INT;
    c->inferred = !is_i64(e->type);
    VSET_EACH (v, env->vars)
        c->inferred = c->inferred || env->cols[v]->inferred;
}

static enum status calc_one(struct join *j, uint32_t i, struct err *err)
{
    const struct calc *k = &j->q->calcs[i];
    struct store_column *c = &j->calc_cols[i];
    size_t n_rows = j->st->tables[j->q->atoms[k->atom].table].n_rows, n = 0;
    size_t size = n_rows * sizeof(struct calc_result);
    struct row_env env;
    struct arena a;
    arena_init(&a, j->mem);
    enum status s = env_open(j, k->atom, &a, k->e, &env, err);
    if (s == OK)
        public_type(&env, k->e, c);
    struct calc_result *results = mem_alloc(j->mem, size);
    if (s == OK && !results)
        s = err_nomem(err);
    if (s == OK)
        s = fill_calc(j, &env, k->e, c, results, &n, n_rows, err);
    if (s == OK)
        s = lay_out(j, c, results, n, n_rows, err);
    mem_free(j->mem, results, size);
    c->present = true;
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
