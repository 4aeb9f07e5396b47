/*
 * What a count can cost: the join (bound/work.h) for the count and for every
 * residual, reading the rows, and the expressions, whose values have public
 * limits (cq/expr.h). A step is a row, an id, a digit group or a byte at hand.
 */
#include "release/strict.h"

#include "bound/work.h"

/* --- expressions ---------------------------------------------------------- */

/* Of one table: rows, and bytes of all its texts together. */
struct strict_size {
    u128 rows, bytes;
};

enum { LIMB_DIGITS = 9, INT_DIGITS = 19 };

static bool is_text(const struct expr *e)
{
    return e->type == T_TEXT || e->type == T_UNKNOWN;
}

/* Digits of a value; what is longer is NULL. */
static u128 digits(const struct expr *e)
{
    u128 n = 0;
    if (e->type == T_BOOL || e->op == X_CONST)
        return INT_DIGITS;
    if (e->op == X_VAR)
        return e->type == T_INT ? INT_DIGITS : EXPR_MAX_DIGITS;
    for (uint32_t i = 0; i < e->n_args; i++) {
        u128 k = digits(e->args[i]);
        n = e->op == X_MUL ? n + k : k > n ? k : n;
    }
    n += 2;
    return n < EXPR_MAX_DIGITS ? n : EXPR_MAX_DIGITS;
}

/* Bytes of the values of e, over all rows. */
static u128 bytes_of(const struct expr *e, const struct strict_size *s)
{
    if (!is_text(e))
        return u128_mul_inf(s->rows, 40);
    if (e->op == X_VAR)
        return u128_add_inf(s->bytes, s->rows);
    if (e->op == X_CONST)
        return u128_mul_inf(s->rows, e->val.s.n + 1);
    return u128_mul_inf(s->rows, EXPR_MAX_TEXT);
}

/* How often a byte of the first text is looked at. */
static u128 looks(const struct expr *e)
{
    if (e->op == X_REGEX)
        return 1000; /* states */
    if (e->op != X_LIKE && e->op != X_ILIKE && e->op != X_POSITION &&
        e->op != X_REPLACE)
        return 1;
    const struct expr *part = e->n_args > 1 ? e->args[1] : e;
    return part->op == X_CONST ? part->val.s.n + 1 : EXPR_MAX_TEXT;
}

static u128 node_cost(const struct expr *e, const struct strict_size *s)
{
    u128 limbs = digits(e) / LIMB_DIGITS + 1, bytes = 0;
    bool text = is_text(e);
    for (uint32_t i = 0; i < e->n_args; i++) {
        text = text || is_text(e->args[i]);
        bytes = u128_add_inf(bytes, bytes_of(e->args[i], s));
    }
    if (text)
        return u128_mul_inf(u128_add_inf(bytes, bytes_of(e, s)), looks(e));
    if (e->op == X_MUL || e->op == X_DIV || e->op == X_MOD || e->op == X_RATIO)
        limbs *= limbs;
    return u128_mul_inf(s->rows, limbs);
}

static u128 expr_cost(const struct expr *e, const struct strict_size *s)
{
    u128 sum = node_cost(e, s);
    for (uint32_t i = 0; i < e->n_args; i++)
        sum = u128_add_inf(sum, expr_cost(e->args[i], s));
    return sum;
}

/* --- one query ------------------------------------------------------------ */

struct costing {
    const struct priced *c;
    const struct cq *q;
    struct bound_sizes sizes;
    struct strict_cost *out;
    uint64_t asks;
    u128 enough;
    struct err *err;
};

/* Without a bound texts have none; of public tables they are as long as
 * computed ones at most. */
static struct strict_size size_of(const struct cq *q, uint32_t atom, u128 rows)
{
    const struct table *t = &q->schema->tables.p[q->atoms[atom].table];
    struct strict_size s = {rows, t->bytes_at_most};
    for (size_t c = 0; !s.bytes && c < t->n_cols; c++)
        if (t->cols[c].type == T_TEXT || t->cols[c].type == T_UNKNOWN)
            s.bytes = table_is_private(t) ? U128_INF
                                          : u128_mul_inf(rows, EXPR_MAX_TEXT);
    return s;
}

/* Columns of each row, of the store and of the join, as many bytes as they
 * take with their indexes at most; the words of long numbers. */
static u128 atom_bytes(const struct costing *x, uint32_t atom,
                       const struct strict_size *s)
{
    uint64_t cols = vset_count(atom_vars(x->q, atom)) + 1, orders = 1;
    for (uint64_t i = 2; i <= cols && orders < x->asks; i++)
        orders *= i;
    if (orders > x->asks + 1)
        orders = x->asks + 1;
    uint64_t words = 40 * x->q->n_atoms / 64 + 2;
    uint64_t row = cols * (8 + 24 + 4 * (1 + orders)) + 16 * words;
    return u128_add_inf(u128_mul_inf(s->rows, row), u128_mul_inf(s->bytes, 2));
}

static enum status cost_atoms(struct costing *x)
{
    const struct cq *q = x->q;
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        u128 rows;
        TRY(bound_rows(&x->c->q->p->arena, q, i, &x->sizes, &rows, x->err));
        struct strict_size s = size_of(q, i, rows);
        u128 *work = &x->out->work, *memory = &x->out->memory;
        *work = u128_add_inf(
            *work,
            u128_add_inf(s.bytes, u128_mul_inf(rows, q->atoms[i].n_args + 1)));
        *memory = u128_add_inf(*memory, atom_bytes(x, i, &s));
        for (uint32_t k = 0; k < q->n_preds; k++)
            if (q->preds[k].atom == i)
                *work = u128_add_inf(*work, expr_cost(q->preds[k].e, &s));
        for (uint32_t k = 0; k < q->n_calcs; k++)
            if (q->calcs[k].atom == i)
                *work = u128_add_inf(*work, expr_cost(q->calcs[k].e, &s));
    }
    return OK;
}

static enum status cost_ask(struct costing *x, const struct bound_ask *ask)
{
    u128 work;
    if (x->out->work > x->enough)
        return OK;
    TRY(bound_work(&x->c->q->p->arena, x->q, &x->sizes, ask, NULL, &work, NULL,
                   x->err));
    x->out->work = u128_add_inf(x->out->work, work);
    x->asks++;
    return OK;
}

/* The engine is asked for these; here they are only looked at. */
static enum status take_asks(void *ctx, const struct pushdown_ask *asks,
                             size_t n, struct err *err)
{
    struct costing *x = ctx;
    for (size_t i = 0; i < n; i++) {
        struct bound_ask ask = {asks[i].f, asks[i].boundary, asks[i].outs, 0};
        TRY(cost_ask(x, &ask));
    }
    (void)err;
    return OK;
}

/* --- one count ------------------------------------------------------------ */

/* With the keys as boundary, over the query as written. */
static enum status cost_groups(struct costing *x)
{
    const struct cq *q = x->c->q->query;
    struct bound_ask ask = {.f = aset_first_n(q->n_atoms),
                            .outs = cq_free(q),
                            .keys = x->c->keys.n + 1};
    for (uint32_t i = 0; i < q->n_group; i++)
        ask.boundary |= term_var(q->outs[i]);
    x->q = q;
    TRY(cost_ask(x, &ask));
    return cost_atoms(x);
}

static enum status cost_measured(struct costing *x)
{
    struct prepared *p = x->c->q->p;
    struct sens_counter counter = {.ctx = x, .prepare = take_asks};
    return sens_prepare(&p->arena, x->q, &counter, p->filters_exact, x->err);
}

enum status strict_cost(const struct priced *c, const u128 *rows, bool measured,
                        u128 enough, struct strict_cost *out, struct err *err)
{
    const struct cq *q = c->q->normal;
    struct costing x = {.c = c,
                        .q = q,
                        .sizes = {rows},
                        .out = out,
                        .enough = enough,
                        .err = err};
    struct bound_ask all = {aset_first_n(q->n_atoms), 0, cq_free(q), 0};
    *out = (struct strict_cost){0};
    if (c->q->query->n_group)
        TRY(cost_groups(&x));
    x.q = q;
    if (!c->q->query->n_group)
        TRY(cost_ask(&x, &all));
    if (measured)
        TRY(cost_measured(&x));
    return cost_atoms(&x);
}

/* --- the order ------------------------------------------------------------ */

struct strict_walk {
    struct arena *a;
    const struct cq *q;
    struct bound_sizes sizes;
};

static enum status order_of(void *ctx, aset f, vset boundary, vset outs,
                            bool keys, uint32_t *rank, struct err *err)
{
    const struct strict_walk *x = ctx;
    struct bound_ask ask = {f, boundary, outs, keys};
    u128 work;
    return bound_work(x->a, x->q, &x->sizes, &ask, rank, &work, NULL, err);
}

enum status strict_order(struct prepared *p, const struct cq *q,
                         struct join_options *out, struct err *err)
{
    struct strict_walk *x = NEW(&p->arena, struct strict_walk);
    if (!x)
        return err_nomem(err);
    *x = (struct strict_walk){&p->arena, q, {p->sizes}};
    out->steady = order_of;
    out->steady_ctx = x;
    return OK;
}
