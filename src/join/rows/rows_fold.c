/*
 * One atom aggregated out into another: see rows.h.
 *
 * Rows that agree in the common variables form a group. Within it:
 *
 *   no order     the sum of the group
 *   one variable here is ordered against variables there, from below or above
 *                or both: rows sorted by it, with running sums; a row there
 *                asks for a range of ids, and gets the difference of two sums
 *   two variables here: rows are added in the order of the first to sums by
 *                the second (a Fenwick tree), and every row there asks when
 *                its bounds on the first are reached
 *
 * Inequalities are signed sums: all rows, less those where the two are equal,
 * which is one more common variable. Sums wrap in between, but all true
 * numbers are below 2^62, or fit the words there are, so that what remains is
 * exact.
 *
 * Cost: O((rows + ids) log) for each of the signed sums.
 */
#include "join/rows/rows.h"

#include <string.h>

struct fold {
    struct rows_link l;
    struct arena a; /* scratch of one signed sum */
    uint64_t *out;  /* by row there */
    uint64_t one[WORDS_MOST];
    bool minus;
};

/* --- one signed sum --------------------------------------------------------
 */

static const uint64_t *weight(const struct fold *k, uint32_t row, uint32_t n)
{
    return k->l.from->w ? k->l.from->w + (size_t)row * n : k->one;
}

static uint32_t group(const struct fold *k, int side, uint32_t row)
{
    return rows_group_of(&k->l, side, row);
}

/* The loops are there once for one word and once for several. */
#define FOR_WORDS static inline __attribute__((always_inline))

FOR_WORDS void put(uint64_t *z, const uint64_t *v, bool minus, uint32_t n)
{
    if (minus)
        words_sub(z, v, n);
    else
        words_add(z, v, n);
}

FOR_WORDS void add(const struct fold *k, uint32_t row, const uint64_t *v,
                   bool minus, uint32_t n)
{
    put(k->out + (size_t)row * n, v, k->minus != minus, n);
}

FOR_WORDS enum status plain_sums(struct fold *k, uint32_t n, struct err *err)
{
    uint64_t *sum = NEWS(&k->a, uint64_t, (size_t)k->l.g.n * n);
    if (!sum)
        return err_nomem(err);
    for (uint32_t i = 0; i < k->l.from->n; i++)
        words_add(sum + (size_t)group(k, 0, i) * n, weight(k, i, n), n);
    for (uint32_t i = 0; i < k->l.to->n; i++)
        add(k, i, sum + (size_t)group(k, 1, i) * n, false, n);
    return OK;
}

FOR_WORDS enum status range_sums(struct fold *k, uint32_t n, struct err *err)
{
    struct rows_sorted s;
    uint64_t *sum = NEWS(&k->a, uint64_t, ((size_t)k->l.from->n + 1) * n);
    if (!sum)
        return err_nomem(err);
    TRY(rows_sort(&k->l, &k->a, &s, err));
    for (size_t i = 0; i < k->l.from->n; i++) {
        words_copy(sum + (i + 1) * n, sum + i * n, n);
        words_add(sum + (i + 1) * n, weight(k, s.rows[i], n), n);
    }
    for (uint32_t i = 0; i < k->l.to->n; i++) {
        struct rows_span t = rows_range(&k->l, &s, i);
        add(k, i, sum + (size_t)t.hi * n, false, n);
        add(k, i, sum + (size_t)t.lo * n, true, n);
    }
    return OK;
}

/* --- two ordered variables --------------------------------------------------
 */

/* Sums by the second variable, of the rows added so far. */
struct fenwick {
    uint64_t *sum;
    uint32_t n;
};

FOR_WORDS void fenwick_add(struct fenwick *f, uint32_t id, const uint64_t *v,
                           bool minus, uint32_t n)
{
    for (uint32_t i = id + 1; i <= f->n; i += i & (0 - i))
        put(f->sum + (size_t)i * n, v, minus, n);
}

/* A row there asks for the rows here whose first variable is below a bound:
 * at its upper bound to add, at its lower to take away. */
struct asks {
    uint32_t n;
    uint32_t *row; /* twice the row, one more to take away */
    uint32_t *bound, *group, *order;
};

/* Notes a question for later: how many rows of group g lie below bound? All are
 * answered in one pass, in the order of the bounds. */
static void ask(struct asks *q, uint32_t row, uint32_t bound, uint32_t g)
{
    q->row[q->n] = row;
    q->bound[q->n] = bound;
    q->group[q->n++] = g;
}

static enum status list_asks(struct fold *k, struct asks *q, struct err *err)
{
    size_t most = 2 * (size_t)k->l.to->n;
    uint32_t ids = k->l.y_size[0] > k->l.g.n ? k->l.y_size[0] : k->l.g.n;
    q->row = NEWS(&k->a, uint32_t, most);
    q->bound = NEWS(&k->a, uint32_t, most);
    q->group = NEWS(&k->a, uint32_t, most);
    if (!q->row || !q->bound || !q->group)
        return err_nomem(err);
    for (uint32_t i = 0; i < k->l.to->n; i++) {
        struct rows_span t = rows_allowed(&k->l, 0, i);
        struct rows_span u = rows_allowed(&k->l, 1, i);
        if (t.lo >= t.hi || u.lo >= u.hi)
            continue;
        ask(q, 2 * i, t.hi, group(k, 1, i));
        if (t.lo)
            ask(q, 2 * i + 1, t.lo, group(k, 1, i));
    }
    uint32_t *by_bound = NEWS(&k->a, uint32_t, q->n);
    uint32_t *count = NEWS(&k->a, uint32_t, (size_t)ids + 3);
    q->order = NEWS(&k->a, uint32_t, q->n);
    if (!by_bound || !count || !q->order)
        return err_nomem(err);
    sort_pass(q->bound, k->l.y_size[0] + 1, q->n, NULL, by_bound, count);
    sort_pass(q->group, k->l.g.n, q->n, by_bound, q->order, count);
    return OK;
}

/* The sums below `id`, to what the row has. */
FOR_WORDS void add_below(struct fold *k, const struct fenwick *f, uint32_t id,
                         uint32_t row, bool minus, uint32_t n)
{
    for (uint32_t i = id; i; i -= i & (0 - i))
        add(k, row, f->sum + (size_t)i * n, minus, n);
}

FOR_WORDS void answer(struct fold *k, const struct fenwick *f, uint32_t row,
                      uint32_t n)
{
    struct rows_span u = rows_allowed(&k->l, 1, row / 2);
    add_below(k, f, u.hi, row / 2, row % 2, n);
    add_below(k, f, u.lo, row / 2, !(row % 2), n);
}

FOR_WORDS enum status plane_sums(struct fold *k, uint32_t n, struct err *err)
{
    struct rows_sorted s;
    struct asks q = {0};
    struct fenwick f = {NULL, k->l.y_size[1]};
    TRY(rows_sort(&k->l, &k->a, &s, err));
    TRY(list_asks(k, &q, err));
    f.sum = NEWS(&k->a, uint64_t, ((size_t)f.n + 1) * n);
    if (!f.sum)
        return err_nomem(err);
    for (uint32_t i = 0; i < q.n;) {
        uint32_t g = q.group[q.order[i]], at = s.off[g];
        for (; i < q.n && q.group[q.order[i]] == g; i++) {
            uint32_t bound = q.bound[q.order[i]];
            for (; at < s.off[g + 1] && k->l.y_col[0][s.rows[at]] < bound; at++)
                fenwick_add(&f, k->l.y_col[1][s.rows[at]],
                            weight(k, s.rows[at], n), false, n);
            answer(k, &f, q.row[q.order[i]], n);
        }
        while (at-- > s.off[g])
            fenwick_add(&f, k->l.y_col[1][s.rows[at]], weight(k, s.rows[at], n),
                        true, n);
    }
    return OK;
}

FOR_WORDS enum status add_sums(struct fold *k, uint32_t n, struct err *err)
{
    return k->l.n_ys == 0   ? plain_sums(k, n, err)
           : k->l.n_ys == 1 ? range_sums(k, n, err)
                            : plane_sums(k, n, err);
}

/* --- all of them ------------------------------------------------------------
 */

/* `equal`: the inequalities that are taken as equalities. */
static enum status add_term(struct fold *k, uint32_t equal, struct err *err)
{
    k->minus = __builtin_popcount(equal) % 2;
    arena_init(&k->a, k->l.x->j->mem);
    enum status s = rows_link_group(&k->l, &k->a, equal, err);
    uint32_t n = k->l.x->words;
    if (s == OK)
        s = n == 1 ? add_sums(k, 1, err) : add_sums(k, n, err);
    arena_fini(&k->a);
    return s;
}

static bool sums_fit(const struct rows_atom *x)
{
    uint64_t sum = x->w ? 0 : x->n;
    for (uint32_t i = 0; x->w && i < x->n; i++)
        if (!u64_add(sum, x->w[i], &sum))
            return false;
    return sum < ROWS_MOST;
}

/* The same with several words: nothing can leave them. */
static enum status multiply_wide(struct fold *k, struct rows_atom *to,
                                 bool exists, struct err *err)
{
    uint32_t n = k->l.x->words;
    bool fresh = !to->w;
    if (fresh)
        to->w = NEWS(k->l.x->a, uint64_t, (size_t)to->n * n);
    if (!to->w)
        return err_nomem(err);
    for (size_t i = 0; i < to->n; i++) {
        uint64_t *v = k->out + i * n;
        if (exists)
            words_set(v, !words_zero(v, n), n);
        if (fresh)
            words_copy(to->w + i * n, v, n);
        else
            words_mul(to->w + i * n, v, n, n);
    }
    return OK;
}

/* The weights of `to` times what was found for each row. */
static enum status multiply(struct fold *k, struct rows_atom *to, bool exists,
                            struct err *err)
{
    if (k->l.x->words > 1)
        return multiply_wide(k, to, exists, err);
    bool fresh = !to->w;
    if (fresh)
        to->w = NEWS(k->l.x->a, uint64_t, to->n);
    if (!to->w)
        return err_nomem(err);
    for (uint32_t i = 0; i < to->n; i++) {
        uint64_t v = exists ? k->out[i] > 0 : k->out[i];
        if (fresh)
            to->w[i] = v;
        else if (!u64_mul(to->w[i], v, &to->w[i]))
            k->l.x->fits = false;
    }
    return OK;
}

enum status rows_fold(struct rows *x, const struct rows_atom *from,
                      struct rows_atom *to, bool exists, struct err *err)
{
    struct arena a;
    arena_init(&a, x->j->mem);
    struct fold *k = NEW(&a, struct fold);
    uint64_t *out = NEWS(&a, uint64_t, (size_t)to->n * x->words);
    enum status s = k && out ? OK : err_nomem(err);
    if (s == OK) {
        k->out = out;
        k->one[0] = 1;
        rows_link_open(x, from, to, &k->l);
        x->fits = x->fits && (x->words > 1 || sums_fit(from));
    }
    for (uint32_t t = 0; s == OK && x->fits && t < 1u << k->l.n_nes; t++)
        s = join_cancelled(x->j) ? err_set(err, E_CANCELLED, "cancelled")
                                 : add_term(k, t, err);
    if (s == OK && x->fits)
        s = multiply(k, to, exists, err);
    arena_fini(&a);
    return s;
}
