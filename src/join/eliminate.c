/*
 * Every key that occurs, with its count, by elimination: variables that are no
 * keys are summed out one after the other, so that what is held are tables of
 * keys and of variables still open, never results.
 *
 * A factor is a table of distinct rows over variables with a weight each. To
 * eliminate a variable, the factors that have it are joined, comparisons whose
 * two sides have met are applied, and rows that are equal without it are added
 * up as they come. First go the variables that only have to exist (rows are
 * then kept once, not added), then those that are counted; keys stay. Factors
 * without weights inside the joined variables let no row pass that they do not
 * have: on a triangle the third side. The cheapest variable, by estimate, is
 * next.
 *
 * A query with a weight has one factor more, over the variable that is added
 * up: a sum is a count with a factor that is not 1.
 *
 * Cost: the sum of the joins' sizes in time, of what is left of them in room.
 * Where that would be too much nothing is said, and the backtracking join takes
 * over. Weights are clamped at COUNT_MOST.
 *
 * Reference: Abo Khamis, Ngo, Rudra: FAQ, PODS 2016.
 */
#include <string.h>

#include "join/join_int.h"

/* Rows held at once, and rows met: beyond, the backtracking join. */
enum { MOST_ROWS = 1 << 26, STEPS_PER_POLL = 1 << 15 };
#define MOST_WORK ((uint64_t)1 << 33)

struct elim_factor {
    vset vars;
    uint32_t n_cols, n; /* columns, rows */
    uint32_t *var;      /* of each column, rising */
    uint32_t *cells;    /* row by row */
    u128 *weight;       /* NULL: 1 each */
    size_t cap;         /* rows that there is room for */
    bool gone;
};

struct elim {
    struct join *j;
    struct arena *a;
    struct elim_factor *f;
    uint32_t n;
    aset atoms;
    vset keys, counted;
    vset weight; /* of answers: its variable; empty: 1 each */
    bool *met;   /* comparisons that were applied */
    uint64_t work;
    bool too_much;
    struct err *err;
};

/* --- tables --------------------------------------------------------------- */

/* Rows by the hash of some columns: chains through `next`. */
struct elim_index {
    uint32_t *head, *next; /* row + 1; 0: the end */
    uint32_t mask;
    size_t room;
};

static uint32_t hash_cells(const uint32_t *row, const uint32_t *at, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ row[at ? at[i] : i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static bool index_open(const struct elim *e, struct elim_index *x, size_t rows,
                       size_t room)
{
    uint32_t slots = 16;
    while (slots < rows && slots < (1u << 30))
        slots *= 2;
    *x = (struct elim_index){.mask = slots - 1, .room = room};
    x->head = mem_alloc(e->j->mem, (size_t)slots * sizeof *x->head);
    x->next =
        x->head ? mem_alloc(e->j->mem, (room + 1) * sizeof *x->next) : NULL;
    return x->next;
}

static void index_close(const struct elim *e, struct elim_index *x)
{
    mem_free(e->j->mem, x->head, ((size_t)x->mask + 1) * sizeof *x->head);
    mem_free(e->j->mem, x->next, (x->room + 1) * sizeof *x->next);
    *x = (struct elim_index){0};
}

static void index_put(struct elim_index *x, uint32_t row, uint32_t hash)
{
    x->next[row] = x->head[hash & x->mask];
    x->head[hash & x->mask] = row + 1;
}

static void factor_free(const struct elim *e, struct elim_factor *f)
{
    struct mem *m = e->j->mem;
    mem_free(m, f->cells, (f->cap * f->n_cols + 1) * sizeof *f->cells);
    mem_free(m, f->weight, f->cap * sizeof *f->weight);
    f->cells = NULL;
    f->weight = NULL;
    f->gone = true;
}

static enum status factor_open(struct elim *e, vset vars, bool weights,
                               size_t cap, struct elim_factor *f)
{
    *f = (struct elim_factor){.vars = vars, .cap = cap};
    f->var = NEWS(e->a, uint32_t, vset_count(vars) + 1);
    if (!f->var)
        return err_nomem(e->err);
    VSET_EACH (v, vars) {
        f->var[f->n_cols++] = v;
    }
    f->cells = mem_alloc(e->j->mem, (cap * f->n_cols + 1) * sizeof *f->cells);
    if (f->cells && weights)
        f->weight = mem_alloc(e->j->mem, cap * sizeof *f->weight);
    if (f->cells && (f->weight || !weights))
        return OK;
    factor_free(e, f);
    return store_nomem(e->j->mem, e->err);
}

static uint32_t *row_of(const struct elim_factor *f, uint32_t i)
{
    return f->cells + (size_t)i * f->n_cols;
}

static u128 weight_of(const struct elim_factor *f, uint32_t i)
{
    return f->weight ? f->weight[i] : 1;
}

/* --- sums ----------------------------------------------------------------- */

/* Where rows are added up: a factor and an index over all its columns. */
struct elim_sum {
    struct elim_factor f;
    struct elim_index by;
    bool once;     /* kept once, not added */
    size_t values; /* of the one column, which are their own hashes; or 0 */
};

static uint32_t sum_hash(const struct elim_sum *s, const uint32_t *row)
{
    return s->values ? row[0] : hash_cells(row, NULL, s->f.n_cols);
}

static bool sum_index(const struct elim *e, struct elim_sum *s, size_t room)
{
    return index_open(e, &s->by, s->values > room ? s->values : room, room);
}

static bool same_cells(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static enum status sum_open(struct elim *e, vset vars, bool once,
                            struct elim_sum *s)
{
    enum { FIRST = 1024 };
    *s = (struct elim_sum){.once = once};
    if (vset_count(vars) == 1)
        s->values = e->j->doms[e->j->dom_of[vset_min(vars)]].n;
    TRY(factor_open(e, vars, !once, FIRST, &s->f));
    if (sum_index(e, s, FIRST))
        return OK;
    factor_free(e, &s->f);
    index_close(e, &s->by);
    return store_nomem(e->j->mem, e->err);
}

static void sum_close(const struct elim *e, struct elim_sum *s)
{
    index_close(e, &s->by);
}

/* Twice the room; the index is made anew. */
static enum status sum_grow(struct elim *e, struct elim_sum *s)
{
    struct elim_factor to;
    TRY(factor_open(e, s->f.vars, !s->once, 2 * s->f.cap, &to));
    memcpy(to.cells, s->f.cells,
           (size_t)s->f.n * s->f.n_cols * sizeof *to.cells);
    if (to.weight)
        memcpy(to.weight, s->f.weight, s->f.n * sizeof *to.weight);
    to.n = s->f.n;
    factor_free(e, &s->f);
    s->f = to;
    index_close(e, &s->by);
    if (!sum_index(e, s, to.cap))
        return store_nomem(e->j->mem, e->err);
    for (uint32_t i = 0; i < to.n; i++)
        index_put(&s->by, i, sum_hash(s, row_of(&to, i)));
    return OK;
}

static enum status sum_add(struct elim *e, struct elim_sum *s,
                           const uint32_t *row, u128 weight)
{
    size_t size = s->f.n_cols * sizeof *row;
    uint32_t hash = sum_hash(s, row);
    for (uint32_t at = s->by.head[hash & s->by.mask]; at;
         at = s->by.next[at - 1]) {
        if (!same_cells(row_of(&s->f, at - 1), row, s->f.n_cols))
            continue;
        if (!s->once)
            s->f.weight[at - 1] = count_add(s->f.weight[at - 1], weight);
        return OK;
    }
    if (s->f.n == MOST_ROWS) {
        e->too_much = true;
        return OK;
    }
    if (s->f.n == s->f.cap)
        TRY(sum_grow(e, s));
    memcpy(row_of(&s->f, s->f.n), row, size);
    if (!s->once)
        s->f.weight[s->f.n] = weight;
    index_put(&s->by, s->f.n++, hash);
    return OK;
}

/* --- joining two ---------------------------------------------------------- */

static uint32_t column_at(const struct elim_factor *f, uint32_t v)
{
    uint32_t i = 0;
    while (f->var[i] != v)
        i++;
    return i;
}

static bool holds(const struct jcmp *c, const uint32_t *ids)
{
    uint32_t l = ids[c->l], r = ids[c->r];
    return c->op == CMP_NE ? l != r : c->op == CMP_LT ? l < r : l <= r;
}

/* A factor that a row must be found in. */
struct elim_filter {
    const struct elim_factor *f;
    struct elim_index by;
};

struct elim_join {
    struct elim *e;
    const struct elim_factor *l, *r; /* r NULL: l alone */
    uint32_t *left, *right;          /* columns of what both have */
    uint32_t n_both;
    uint32_t ids[MAX_VARS]; /* of the current pair, by variable */
    uint32_t *cmps, n_cmps; /* that are decided here */
    struct elim_filter filters[MAX_ATOMS];
    uint32_t n_filters;
    uint64_t n_met; /* pairs that were looked at */
    struct elim_sum out;
};

static bool passes(const struct elim_filter *x, const uint32_t *ids)
{
    uint32_t row[MAX_VARS];
    for (uint32_t i = 0; i < x->f->n_cols; i++)
        row[i] = ids[x->f->var[i]];
    uint32_t hash = hash_cells(row, NULL, x->f->n_cols);
    for (uint32_t at = x->by.head[hash & x->by.mask]; at;
         at = x->by.next[at - 1])
        if (memcmp(row_of(x->f, at - 1), row, x->f->n_cols * sizeof *row) == 0)
            return true;
    return false;
}

static void put_ids(uint32_t *ids, const struct elim_factor *f, uint32_t i)
{
    const uint32_t *row = row_of(f, i);
    for (uint32_t c = 0; c < f->n_cols; c++)
        ids[f->var[c]] = row[c];
}

/* The current ids, as a row of the result. */
static enum status add_ids(struct elim_join *x, u128 weight)
{
    uint32_t row[MAX_VARS];
    const struct elim_factor *out = &x->out.f;
    x->e->work++;
    for (uint32_t i = 0; i < x->n_cmps; i++)
        if (!holds(&x->e->j->cmps[x->cmps[i]], x->ids))
            return OK;
    for (uint32_t i = 0; i < x->n_filters; i++)
        if (!passes(&x->filters[i], x->ids))
            return OK;
    for (uint32_t i = 0; i < out->n_cols; i++)
        row[i] = x->ids[out->var[i]];
    return sum_add(x->e, &x->out, row, weight);
}

static bool meets(const struct elim_join *x, uint32_t l, uint32_t r)
{
    const uint32_t *a = row_of(x->l, l), *b = row_of(x->r, r);
    for (uint32_t i = 0; i < x->n_both; i++)
        if (a[x->left[i]] != b[x->right[i]])
            return false;
    return true;
}

static enum status pause_or_stop(struct elim *e)
{
    if (e->work > MOST_WORK)
        e->too_much = true;
    if (join_cancelled(e->j))
        return err_set(e->err, E_CANCELLED, "counting was stopped");
    return OK;
}

/* All rows of r that meet row i of l. */
static enum status probe(struct elim_join *x, const struct elim_index *by,
                         uint32_t i)
{
    uint32_t hash = hash_cells(row_of(x->l, i), x->left, x->n_both);
    put_ids(x->ids, x->l, i);
    for (uint32_t at = by->head[hash & by->mask]; at; at = by->next[at - 1]) {
        if (++x->n_met % STEPS_PER_POLL == 0)
            TRY(pause_or_stop(x->e));
        if (!meets(x, i, at - 1))
            continue;
        put_ids(x->ids, x->r, at - 1);
        TRY(add_ids(x, count_mul(weight_of(x->l, i), weight_of(x->r, at - 1))));
        if (x->e->too_much)
            return OK;
    }
    return OK;
}

static enum status run_pairs(struct elim_join *x)
{
    struct elim_index by;
    enum status s = OK;
    if (!index_open(x->e, &by, x->r->n, x->r->n)) {
        index_close(x->e, &by);
        return store_nomem(x->e->j->mem, x->e->err);
    }
    for (uint32_t i = 0; i < x->r->n; i++)
        index_put(&by, i, hash_cells(row_of(x->r, i), x->right, x->n_both));
    for (uint32_t i = 0; s == OK && !x->e->too_much && i < x->l->n; i++)
        s = probe(x, &by, i);
    index_close(x->e, &by);
    return s;
}

static enum status run_alone(struct elim_join *x)
{
    for (uint32_t i = 0; i < x->l->n; i++) {
        put_ids(x->ids, x->l, i);
        TRY(add_ids(x, weight_of(x->l, i)));
        if (i % STEPS_PER_POLL == 0)
            TRY(pause_or_stop(x->e));
        if (x->e->too_much)
            break;
    }
    return OK;
}

static enum status set_columns(struct elim_join *x)
{
    vset both = x->r ? x->l->vars & x->r->vars : 0;
    x->left = NEWS(x->e->a, uint32_t, vset_count(both) + 1);
    x->right = NEWS(x->e->a, uint32_t, vset_count(both) + 1);
    if (!x->left || !x->right)
        return err_nomem(x->e->err);
    VSET_EACH (v, both) {
        x->left[x->n_both] = column_at(x->l, v);
        x->right[x->n_both++] = column_at(x->r, v);
    }
    return OK;
}

/* Comparisons whose sides meet here, and factors that lie inside. */
static enum status set_filters(struct elim_join *x, vset all)
{
    struct elim *e = x->e;
    x->cmps = NEWS(e->a, uint32_t, e->j->n_cmps + 1);
    if (!x->cmps)
        return err_nomem(e->err);
    for (uint32_t i = 0; i < e->j->n_cmps; i++) {
        vset both = vset_one(e->j->cmps[i].l) | vset_one(e->j->cmps[i].r);
        if (!e->met[i] && vset_sub(both, all)) {
            x->cmps[x->n_cmps++] = i;
            e->met[i] = true;
        }
    }
    for (uint32_t i = 0; x->r && i < e->n && x->n_filters < MAX_ATOMS; i++) {
        const struct elim_factor *f = &e->f[i];
        if (f->gone || f->weight || f == x->l || f == x->r ||
            !vset_sub(f->vars, all) || vset_sub(f->vars, x->l->vars) ||
            vset_sub(f->vars, x->r->vars))
            continue;
        struct elim_filter *to = &x->filters[x->n_filters++];
        to->f = f;
        if (!index_open(e, &to->by, f->n, f->n))
            return store_nomem(e->j->mem, e->err);
        for (uint32_t r = 0; r < f->n; r++)
            index_put(&to->by, r, hash_cells(row_of(f, r), NULL, f->n_cols));
    }
    return OK;
}

/* l (and r) joined, without the variables `drop`, into *out. */
static enum status join_two(struct elim *e, const struct elim_factor *l,
                            const struct elim_factor *r, vset drop, bool once,
                            struct elim_factor *out)
{
    struct elim_join *x = NEW(e->a, struct elim_join);
    vset all = l->vars | (r ? r->vars : 0);
    if (!x)
        return err_nomem(e->err);
    *x = (struct elim_join){.e = e, .l = l, .r = r};
    if (r && l->n < r->n) {
        x->l = r;
        x->r = l;
    }
    TRY(set_columns(x));
    TRY(sum_open(e, all & ~drop, once, &x->out));
    enum status s = set_filters(x, all);
    if (s == OK)
        s = r ? run_pairs(x) : run_alone(x);
    for (uint32_t i = 0; i < x->n_filters; i++)
        index_close(e, &x->filters[i].by);
    sum_close(e, &x->out);
    *out = x->out.f;
    if (s != OK)
        factor_free(e, out);
    return s;
}

/* --- one variable --------------------------------------------------------- */

/* Factors with v, and for each open comparison of v one with its other side. */
static uint64_t bucket_of(const struct elim *e, uint32_t v)
{
    uint64_t set = 0;
    vset others = 0, has = 0;
    for (uint32_t i = 0; i < e->n; i++)
        if (!e->f[i].gone && vset_has(e->f[i].vars, v)) {
            set |= (uint64_t)1 << i;
            has |= e->f[i].vars;
        }
    for (uint32_t i = 0; i < e->j->n_cmps; i++) {
        const struct jcmp *c = &e->j->cmps[i];
        if (!e->met[i] && c->l == v)
            others |= vset_one(c->r);
        if (!e->met[i] && c->r == v)
            others |= vset_one(c->l);
    }
    for (uint32_t i = 0; i < e->n; i++)
        if (!e->f[i].gone && (e->f[i].vars & others & ~has)) {
            set |= (uint64_t)1 << i;
            has |= e->f[i].vars;
        }
    return set;
}

/* About how many rows the joined bucket has. proposal: only the order of
 * elimination depends on it. */
static double cost_of(const struct elim *e, uint32_t v)
{
    uint64_t set = bucket_of(e, v);
    double rows = 1, most = 0;
    vset seen = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        const struct elim_factor *f = &e->f[i];
        if (!(set >> i & 1))
            continue;
        rows *= f->n;
        VSET_EACH (w, f->vars & seen) {
            rows /= (double)e->j->doms[e->j->dom_of[w]].n + 1;
        }
        seen |= f->vars;
        most = f->n > most ? f->n : most;
    }
    return (set & (set - 1)) == 0 ? 0 : rows > most ? rows : most;
}

static enum status take_two(struct elim *e, uint32_t to, uint32_t from,
                            vset drop, bool once)
{
    struct elim_factor out;
    const struct elim_factor *r = from == to ? NULL : &e->f[from];
    TRY(join_two(e, &e->f[to], r, drop, once, &out));
    factor_free(e, &e->f[to]);
    if (from != to)
        factor_free(e, &e->f[from]);
    e->f[to] = out;
    return OK;
}

/* Smallest first; the last join drops the variable. */
static enum status eliminate(struct elim *e, uint32_t v, bool once)
{
    uint64_t set = bucket_of(e, v);
    uint32_t first = UINT32_MAX;
    while (set && !e->too_much) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < e->n; i++) {
            bool linked =
                first == UINT32_MAX || (e->f[i].vars & e->f[first].vars) != 0;
            if (set >> i & 1 && linked &&
                (best == UINT32_MAX || e->f[i].n < e->f[best].n))
                best = i;
        }
        if (best == UINT32_MAX) /* a cross product, for a comparison */
            best = (uint32_t)__builtin_ctzll(set);
        set &= ~((uint64_t)1 << best);
        if (first == UINT32_MAX && set) {
            first = best;
            continue;
        }
        first = first == UINT32_MAX ? best : first;
        TRY(take_two(e, first, best, set ? 0 : vset_one(v), once));
    }
    return OK;
}

/* --- all of them ---------------------------------------------------------- */

static enum status take_atom(struct elim *e, const struct jatom *at)
{
    struct elim_factor *f = &e->f[e->n];
    const struct rel *r = at->rel;
    TRY(factor_open(e, at->set, false, r->n + 1, f));
    e->n++;
    for (uint32_t c = 0; c < r->n_cols; c++) {
        uint32_t to = column_at(f, at->vars[c]);
        for (uint32_t i = 0; i < r->n; i++)
            row_of(f, i)[to] = r->cols[c][i];
    }
    f->n = r->n;
    return OK;
}

static enum status eliminate_all(struct elim *e, vset open, bool once)
{
    while (open && !e->too_much) {
        uint32_t best = vset_min(open);
        double least = -1;
        VSET_EACH (v, open) {
            double cost = cost_of(e, v);
            if (least < 0 || cost < least) {
                least = cost;
                best = v;
            }
        }
        TRY(eliminate(e, best, once));
        open &= ~vset_one(best);
    }
    return OK;
}

/* What is left are keys: one table, by joining all. */
static enum status join_rest(struct elim *e, uint32_t *out)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < e->n && !e->too_much; i++) {
        if (e->f[i].gone)
            continue;
        if (first == UINT32_MAX)
            first = i;
        else
            TRY(take_two(e, first, i, 0, false));
    }
    /* Comparisons of keys in one factor. */
    if (first != UINT32_MAX && !e->too_much)
        TRY(take_two(e, first, first, 0, false));
    *out = first;
    return OK;
}

/* Hands on each row of the last factor: its ids, and the weight that is left.
 */
static enum status tell(const struct elim_factor *f, each_key each, void *ctx,
                        struct err *err)
{
    uint64_t ids[MAX_VARS] = {0};
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t *row = row_of(f, i);
        for (uint32_t c = 0; c < f->n_cols; c++)
            ids[f->var[c]] = row[c];
        TRY(each(ctx, ids, weight_of(f, i), err));
    }
    return OK;
}

/* What each value of the weight's variable weighs: one more factor. */
static enum status take_weight(struct elim *e)
{
    const struct join *j = e->j;
    if (!e->weight)
        return OK;
    uint32_t v = vset_min(e->weight);
    const struct dom *d = &j->doms[j->dom_of[v]];
    struct elim_factor *f = &e->f[e->n];
    TRY(factor_open(e, e->weight, true, d->n + 1, f));
    e->n++;
    for (uint32_t id = 0; id < d->n; id++) {
        struct value value = dom_value(d, id);
        row_of(f, id)[0] = id;
        f->weight[id] = cq_weight_of(&j->q->weight, &value);
    }
    f->n = d->n;
    return OK;
}

/* The weight comes in when rows are no longer kept once. */
static enum status run(struct elim *e, uint32_t *last)
{
    vset all = 0;
    ASET_EACH (i, e->atoms) {
        TRY(take_atom(e, &e->j->atoms[i]));
        all |= e->j->atoms[i].set;
    }
    for (uint32_t i = 0; i < e->j->n_cmps; i++) {
        vset both = vset_one(e->j->cmps[i].l) | vset_one(e->j->cmps[i].r);
        e->met[i] = !vset_sub(both, all);
    }
    TRY(eliminate_all(e, all & ~e->keys & ~e->counted, true));
    if (!e->too_much)
        TRY(take_weight(e));
    TRY(eliminate_all(e, all & e->counted & ~e->keys, false));
    return join_rest(e, last);
}

static enum status eliminate_request(struct elim *e, each_key each, void *ctx,
                                     enum outcome *what, struct err *err)
{
    struct join *j = e->j;
    uint32_t last = UINT32_MAX;
    struct arena a;
    arena_init(&a, j->mem);
    e->a = &a;
    e->err = err;
    /* a bucket is a word of factors */
    e->too_much = e->weight && j->q->n_atoms >= 64;
    e->f = NEWS(&a, struct elim_factor, j->q->n_atoms + 2);
    e->met = NEWS(&a, bool, j->n_cmps + 1);
    enum status s = e->f && e->met ? OK : err_nomem(err);
    if (s == OK && !e->too_much)
        s = run(e, &last);
    *what = e->too_much ? PASS : SOLVED;
    if (s == OK && *what == SOLVED && last != UINT32_MAX)
        s = tell(&e->f[last], each, ctx, err);
    for (uint32_t i = 0; i < e->n; i++)
        if (!e->f[i].gone)
            factor_free(e, &e->f[i]);
    arena_fini(&a);
    return s;
}

enum status join_eliminate(struct join *j, vset keys, each_key each, void *ctx,
                           enum outcome *what, struct err *err)
{
    TRY(join_encode(j, err));
    struct elim e = {.j = j,
                     .atoms = aset_first_n(j->q->n_atoms),
                     .keys = keys,
                     .counted = cq_free(j->q),
                     .weight = cq_weight_var(j->q)};
    return eliminate_request(&e, each, ctx, what, err);
}

enum status join_eliminate_weighted(struct join *j, aset f, vset keys,
                                    vset outs, each_key each, void *ctx,
                                    enum outcome *what, struct err *err)
{
    TRY(join_encode(j, err));
    struct elim e = {.j = j,
                     .atoms = f,
                     .keys = keys,
                     .counted = outs,
                     .weight = cq_weight_var(j->q)};
    return eliminate_request(&e, each, ctx, what, err);
}
