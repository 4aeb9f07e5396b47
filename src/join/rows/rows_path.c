/*
 * A boundary that two atoms have: see rows.h. The atoms that could not be
 * aggregated out form a path, and its two ends have the boundary between them.
 *
 * For each value of the boundary in the first atom, weights of its rows go
 * along the path to the rows that match, and are summed by the boundary in
 * the last atom. How many results a value of the first has in all is known
 * beforehand, by counting the path away. No sum is larger, nor larger than the
 * ways to the last but one atom times what one of its rows finds of a single
 * value in the last (one, mostly). Values are taken by the falling smaller of
 * both until the largest sum found reaches the next.
 *
 * Cost: a step for each pair of matching rows of neighbours, at most once for
 * each value of the first boundary that reaches them.
 */
#include "join/rows/rows.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_PER_POLL = 1 << 16 };

struct path_step { /* to the rows of the next atom */
    struct rows_link l;
    struct rows_sorted s;
};

/* Sums by row, or by group at the end, and which of them are not zero. */
struct reach {
    uint64_t *sum; /* x->words each */
    uint32_t *list, n;
};

struct value_total {
    u128 total; /* clamped: a value that reaches COUNT_MOST is the largest */
    uint32_t group;
};

struct path {
    struct rows *x;
    uint32_t n;
    struct rows_atom *at[MAX_ATOMS];
    struct path_step *steps;
    struct reach *reach;
    struct rows_groups first, last; /* of the ends, by their boundary */
    struct value_total *values;
    uint32_t n_values;
    uint32_t *rows, *off; /* of the first atom, by group */
    uint64_t best[WORDS_MOST], n_steps;
    uint64_t most; /* steps; beyond, it is given up: */
    bool wide, stop, tired;
};

/* --- the path ---------------------------------------------------------------
 */

/* A tree over the atoms that are left, as ears give it: near[i] are the
 * neighbours of atom i. False if they form none, or one with branches. */
static bool find_tree(struct rows *x, aset *near)
{
    aset gone = 0;
    bool went = true;
    for (uint32_t i = 0; i < x->n; i++)
        gone |= x->atoms[i].gone ? aset_one(i) : 0;
    aset left = aset_first_n(x->n) & ~gone;
    while (went && (left & (left - 1))) {
        went = false;
        ASET_EACH (e, left)
            ASET_EACH (f, left) {
                if (went || e == f || aset_count(near[f]) == 2 ||
                    aset_count(near[e]) == 2 ||
                    !rows_is_ear(x, &x->atoms[e], &x->atoms[f]))
                    continue;
                near[e] |= aset_one(f);
                near[f] |= aset_one(e);
                x->atoms[e].gone = true;
                left &= ~aset_one(e);
                went = true;
            }
    }
    bool one = !(left & (left - 1));
    for (uint32_t i = 0; i < x->n; i++)
        x->atoms[i].gone = (gone >> i & 1) != 0;
    return one;
}

static bool list_path(struct path *p)
{
    struct rows *x = p->x;
    aset near[MAX_ATOMS] = {0}, seen = 0;
    uint32_t at = x->n, left = 0;
    vset only = 0;
    if (x->n > MAX_ATOMS || !find_tree(x, near))
        return false;
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->atoms[i].gone)
            continue;
        left++;
        only |= x->atoms[i].set & ~x->r->outs & ~x->boundary;
        if (aset_count(near[i]) == 1)
            at = i;
    }
    while (at < x->n) {
        p->at[p->n++] = &x->atoms[at];
        seen |= aset_one(at);
        aset next = near[at] & ~seen;
        at = next ? (uint32_t)__builtin_ctzll(next) : x->n;
    }
    return p->n > 1 && p->n == left && !only &&
           vset_sub(x->boundary, p->at[0]->set | p->at[p->n - 1]->set);
}

/* --- beforehand -------------------------------------------------------------
 */

static enum status group_end(struct path *p, const struct rows_atom *e,
                             struct rows_groups *out, struct err *err)
{
    struct rows_key keys[MAX_VARS];
    uint32_t n_keys = 0, n[2] = {e->n, 0};
    VSET_EACH (v, p->x->boundary & e->set) {
        const uint32_t *col = rows_column(e, v);
        struct rows_key key = {{col, col}, rows_ids(p->x, v)};
        keys[n_keys++] = key;
    }
    return rows_group(p->x->j->mem, p->x->a, n, keys, n_keys, out, err);
}

static uint32_t group_at(const struct rows_groups *g, uint32_t row)
{
    return g->of[0] ? g->of[0][row] : 0;
}

/* Results by row of the first atom, by counting copies away: of the first n
 * atoms. */
static enum status count_away(struct path *p, uint32_t n_atoms,
                              struct rows_atom *copy, struct err *err)
{
    struct rows *x = p->x;
    for (uint32_t i = 0; i < n_atoms; i++) {
        copy[i] = *p->at[i];
        if (!copy[i].w)
            continue;
        size_t n = (size_t)copy[i].n * x->words;
        copy[i].w = NEWS(x->a, uint64_t, n);
        if (!copy[i].w)
            return err_nomem(err);
        memcpy(copy[i].w, p->at[i]->w, n * sizeof *copy[i].w);
    }
    for (uint32_t i = n_atoms - 1; i > 0 && x->fits; i--)
        TRY(rows_fold(x, &copy[i], &copy[i - 1], false, err));
    return OK;
}

static u128 weight_at(const struct rows *x, const struct rows_atom *e,
                      uint32_t row)
{
    return e->w ? words_clamped(e->w + (size_t)row * x->words, x->words) : 1;
}

/* The most that a row of the last but one atom finds of one value of the
 * boundary in the last: rows there that agree in both, comparisons aside. */
static enum status most_of_one(struct path *p, u128 *out, struct err *err)
{
    struct rows *x = p->x;
    const struct rows_atom *e = p->at[p->n - 1];
    struct rows_key keys[MAX_VARS];
    struct rows_groups g;
    uint32_t n_keys = 0, n[2] = {e->n, 0};
    VSET_EACH (v, (x->boundary | p->at[p->n - 2]->set) & e->set) {
        const uint32_t *col = rows_column(e, v);
        keys[n_keys++] = (struct rows_key){{col, col}, rows_ids(x, v)};
    }
    TRY(rows_group(x->j->mem, x->a, n, keys, n_keys, &g, err));
    u128 *sum = NEWS(x->a, u128, g.n);
    if (!sum)
        return err_nomem(err);
    for (uint32_t i = 0; i < e->n; i++) {
        u128 *s = &sum[group_at(&g, i)];
        *s = count_add(*s, weight_at(x, e, i));
        *out = *s > *out ? *s : *out;
    }
    return OK;
}

/* Lowers the totals of values to what their largest sum can be. */
static enum status lower_totals(struct path *p, struct rows_atom *copy,
                                u128 *total, struct err *err)
{
    struct rows *x = p->x;
    u128 most = 0, *ways = NEWS(x->a, u128, p->first.n);
    if (!ways)
        return err_nomem(err);
    TRY(most_of_one(p, &most, err));
    TRY(count_away(p, p->n - 1, copy, err));
    if (!x->fits) { /* larger numbers than the result has: no bound */
        x->fits = true;
        return OK;
    }
    for (uint32_t i = 0; i < copy[0].n; i++) {
        u128 *t = &ways[group_at(&p->first, i)];
        *t = count_add(*t, weight_at(x, &copy[0], i));
    }
    for (uint32_t g = 0; g < p->first.n; g++) {
        u128 bound = count_mul(ways[g], most);
        total[g] = bound < total[g] ? bound : total[g];
    }
    return OK;
}

static int by_total(const void *a, const void *b)
{
    const struct value_total *x = a, *y = b;
    return x->total < y->total ? 1 : x->total > y->total ? -1 : 0;
}

/* Values of the first boundary that have results, by falling numbers. */
static enum status list_values(struct path *p, struct err *err)
{
    struct rows *x = p->x;
    struct rows_atom *copy = NEWS(x->a, struct rows_atom, p->n);
    u128 *total = NEWS(x->a, u128, p->first.n);
    p->values = NEWS(x->a, struct value_total, p->first.n);
    if (!copy || !total || !p->values)
        return err_nomem(err);
    TRY(count_away(p, p->n, copy, err));
    for (uint32_t i = 0; x->fits && i < copy[0].n; i++) {
        u128 *t = &total[group_at(&p->first, i)];
        *t = count_add(
            *t, words_clamped(copy[0].w + (size_t)i * x->words, x->words));
    }
    if (x->fits)
        TRY(lower_totals(p, copy, total, err));
    for (uint32_t g = 0; g < p->first.n; g++)
        if (total[g])
            p->values[p->n_values++] = (struct value_total){total[g], g};
    if (p->n_values)
        qsort(p->values, p->n_values, sizeof *p->values, by_total);
    return OK;
}

static enum status sort_first(struct path *p, struct err *err)
{
    uint32_t n = p->at[0]->n;
    p->rows = NEWS(p->x->a, uint32_t, n);
    p->off = NEWS(p->x->a, uint32_t, (size_t)p->first.n + 1);
    uint32_t *count = NEWS(p->x->a, uint32_t, (size_t)p->first.n + 2);
    if (!p->rows || !p->off || !count)
        return err_nomem(err);
    if (p->first.of[0])
        sort_pass(p->first.of[0], p->first.n, n, NULL, p->rows, count);
    for (uint32_t i = 0; i < n; i++) {
        if (!p->first.of[0])
            p->rows[i] = i;
        p->off[group_at(&p->first, i) + 1]++;
    }
    for (uint32_t g = 0; g < p->first.n; g++)
        p->off[g + 1] += p->off[g];
    return OK;
}

static enum status make_steps(struct path *p, struct err *err)
{
    struct rows *x = p->x;
    p->steps = NEWS(x->a, struct path_step, p->n);
    p->reach = NEWS(x->a, struct reach, p->n);
    if (!p->steps || !p->reach)
        return err_nomem(err);
    for (uint32_t i = 0; i + 1 < p->n; i++) {
        struct path_step *t = &p->steps[i];
        struct reach *r = &p->reach[i + 1];
        rows_link_open(x, p->at[i + 1], p->at[i], &t->l);
        if (!x->fits)
            return OK;
        TRY(rows_link_group(&t->l, x->a, 0, err));
        TRY(rows_sort(&t->l, x->a, &t->s, err));
        uint32_t n = i + 2 == p->n ? p->last.n : p->at[i + 1]->n;
        r->sum = NEWS(x->a, uint64_t, (size_t)n * x->words);
        r->list = NEWS(x->a, uint32_t, n);
        if (!r->sum || !r->list)
            return err_nomem(err);
    }
    return OK;
}

/* --- one value after the other ----------------------------------------------
 */

/* more * v results to `to`. */
static void add_to(struct path *p, struct reach *r, uint32_t to,
                   const uint64_t *more, const uint64_t *v)
{
    uint32_t n = p->x->words;
    uint64_t *sum = r->sum + (size_t)to * n, both[WORDS_MOST];
    if (words_zero(sum, n))
        r->list[r->n++] = to;
    if (n > 1) {
        words_copy(both, v, n);
        if (more)
            words_mul(both, more, n, n);
        words_add(sum, both, n);
    } else if (!u64_mul(more ? *more : 1, *v, both) ||
               !u64_add(*sum, *both, sum)) {
        p->wide = true;
    }
}

/* v results end in this row of atom i: to the rows that match it. */
static void spread(struct path *p, uint32_t i, uint32_t row, const uint64_t *v)
{
    const struct path_step *t = &p->steps[i];
    struct reach *r = &p->reach[i + 1];
    bool end = i + 2 == p->n;
    struct rows_span s = rows_range(&t->l, &t->s, row);
    for (uint32_t at = s.lo; at < s.hi; at++) {
        uint32_t here = t->s.rows[at];
        const struct rows_atom *e = p->at[i + 1];
        if (++p->n_steps % STEPS_PER_POLL == 0 && join_cancelled(p->x->j))
            p->stop = true;
        p->tired = p->n_steps > p->most;
        if (!rows_counts(p->x, e, here) || !rows_agree(&t->l, here, row))
            continue;
        add_to(p, r, end ? group_at(&p->last, here) : here,
               e->w ? e->w + (size_t)here * p->x->words : NULL, v);
    }
}

static void one_value(struct path *p, uint32_t g)
{
    uint32_t n = p->x->words;
    uint64_t one[WORDS_MOST];
    words_set(one, 1, n);
    for (uint32_t at = p->off[g]; at < p->off[g + 1]; at++) {
        uint32_t row = p->rows[at];
        const uint64_t *w = p->at[0]->w;
        if (rows_counts(p->x, p->at[0], row))
            spread(p, 0, row, w ? w + (size_t)row * n : one);
    }
    for (uint32_t i = 1; i < p->n; i++) {
        struct reach *r = &p->reach[i];
        for (uint32_t k = 0; k < r->n && !p->stop && !p->tired; k++) {
            const uint64_t *v = r->sum + (size_t)r->list[k] * n;
            if (i + 1 < p->n)
                spread(p, i, r->list[k], v);
            else if (words_cmp(v, p->best, n) > 0)
                words_copy(p->best, v, n);
        }
        for (uint32_t k = 0; k < r->n; k++)
            words_set(r->sum + (size_t)r->list[k] * n, 0, n);
        r->n = 0;
    }
}

enum status rows_path(struct rows *x, u128 *out, enum outcome *what,
                      struct err *err)
{
    struct path *p = NEW(x->a, struct path);
    if (!p)
        return err_nomem(err);
    p->x = x;
    p->most = x->j->most_work ? x->j->most_work : UINT64_MAX;
    if (!list_path(p))
        return OK;
    TRY(group_end(p, p->at[0], &p->first, err));
    TRY(group_end(p, p->at[p->n - 1], &p->last, err));
    TRY(list_values(p, err));
    if (!x->fits)
        return OK;
    TRY(sort_first(p, err));
    TRY(make_steps(p, err));
    for (uint32_t i = 0; x->fits && i < p->n_values; i++) {
        if (p->values[i].total <= words_clamped(p->best, x->words) || p->wide ||
            p->stop || p->tired)
            break;
        one_value(p, p->values[i].group);
    }
    if (p->stop)
        return err_set(err, E_CANCELLED, "cancelled");
    if (p->tired) {
        x->j->tired = true;
        return OK;
    }
    *out = words_clamped(p->best, x->words);
    *what = p->wide ? WIDE : x->fits ? SOLVED : PASS;
    return OK;
}
