/*
 * One atom counted away into another: see rows.h.
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
 * numbers are below 2^62, so that what remains is exact.
 *
 * Cost: O((rows + ids) log) for each of the signed sums.
 */
#include "join/rows.h"

#include <string.h>

/* A comparison between a variable here (y) and one there (x). */
struct order {
    uint32_t y;          /* 0 or 1: which ordered variable here */
    bool y_left;         /* y op x, else x op y */
    bool strict;         /* <, else <= */
    const uint32_t *col; /* x, by row there */
};

struct fold {
    struct rows *x;
    const struct rows_atom *from;
    const struct rows_atom *to;
    struct arena *a; /* scratch of one signed sum */
    uint32_t n_keys, n_common;
    struct rows_key keys[MAX_VARS + ROWS_NES];
    uint32_t n_nes;
    struct rows_key nes[ROWS_NES];
    uint32_t n_ys;
    uint32_t y_var[2], y_size[2];
    const uint32_t *y_col[2];
    uint32_t n_orders;
    struct order orders[ROWS_CMPS];
    struct rows_groups g;
    uint64_t *out; /* by row there */
    bool minus;
};

/* --- what is compared ----------------------------------------------------- */

static void add_order(struct fold *k, const struct jcmp *c, bool y_left)
{
    uint32_t v = y_left ? c->l : c->r, y = 0;
    while (y < k->n_ys && k->y_var[y] != v)
        y++;
    if (y == 2 || k->n_orders == ROWS_CMPS) {
        k->x->fits = false;
        return;
    }
    if (y == k->n_ys) {
        k->y_var[y] = v;
        k->y_col[y] = rows_column(k->from, v);
        k->y_size[y] = rows_ids(k->x, v);
        k->n_ys++;
    }
    struct order o = {y, y_left, c->op == CMP_LT,
                      rows_column(k->to, y_left ? c->r : c->l)};
    k->orders[k->n_orders++] = o;
}

static void list_cmps(struct fold *k)
{
    const struct request *r = k->x->r;
    vset here = k->from->set & ~k->to->set, there = k->to->set & ~k->from->set;
    for (uint32_t i = 0; i < r->n_cmps && k->x->fits; i++) {
        const struct jcmp *c = &r->cmps[i];
        bool left = vset_has(here, c->l) && vset_has(there, c->r);
        bool right = vset_has(here, c->r) && vset_has(there, c->l);
        if (!left && !right)
            continue;
        if (c->op != CMP_NE) {
            add_order(k, c, left);
        } else if (k->n_nes == ROWS_NES) {
            k->x->fits = false;
        } else {
            struct rows_key ne = {{rows_column(k->from, left ? c->l : c->r),
                                   rows_column(k->to, left ? c->r : c->l)},
                                  rows_ids(k->x, c->l)};
            k->nes[k->n_nes++] = ne;
        }
    }
}

static void list_common(struct fold *k)
{
    VSET_EACH (v, k->from->set & k->to->set) {
        struct rows_key key = {{rows_column(k->from, v), rows_column(k->to, v)},
                               rows_ids(k->x, v)};
        k->keys[k->n_common++] = key;
    }
}

/* --- one signed sum --------------------------------------------------------
 */

static uint64_t weight(const struct fold *k, uint32_t row)
{
    return k->from->w ? k->from->w[row] : 1;
}

static uint32_t group(const struct fold *k, int side, uint32_t row)
{
    return k->g.of[side] ? k->g.of[side][row] : 0;
}

static void add(const struct fold *k, uint32_t row, uint64_t v)
{
    k->out[row] += k->minus ? 0 - v : v;
}

struct span {
    uint32_t lo, hi; /* lo <= id < hi */
};

/* The ids of an ordered variable here that a row there allows. */
static struct span allowed(const struct fold *k, uint32_t y, uint32_t row)
{
    struct span s = {0, k->y_size[y]};
    for (uint32_t i = 0; i < k->n_orders; i++) {
        const struct order *o = &k->orders[i];
        if (o->y != y)
            continue;
        uint32_t id = o->col[row];
        if (o->y_left) {
            uint32_t hi = o->strict ? id : id + 1;
            s.hi = hi < s.hi ? hi : s.hi;
        } else {
            uint32_t lo = o->strict ? id + 1 : id;
            s.lo = lo > s.lo ? lo : s.lo;
        }
    }
    return s;
}

static enum status plain_sums(struct fold *k, struct err *err)
{
    uint64_t *sum = NEWS(k->a, uint64_t, k->g.n);
    if (!sum)
        return err_nomem(err);
    for (uint32_t i = 0; i < k->from->n; i++)
        sum[group(k, 0, i)] += weight(k, i);
    for (uint32_t i = 0; i < k->to->n; i++)
        add(k, i, sum[group(k, 1, i)]);
    return OK;
}

/* The rows here by group and, within, by the first ordered variable; off: of
 * the groups. */
struct sorted {
    uint32_t *rows, *off;
};

static enum status sort_here(struct fold *k, struct sorted *s, struct err *err)
{
    uint32_t n = k->from->n, ids = k->y_size[0];
    uint32_t most = k->g.n > ids ? k->g.n : ids;
    uint32_t *by_id = NEWS(k->a, uint32_t, n);
    uint32_t *count = NEWS(k->a, uint32_t, (size_t)most + 2);
    s->off = NEWS(k->a, uint32_t, (size_t)k->g.n + 2);
    s->rows = by_id;
    if (!by_id || !count || !s->off)
        return err_nomem(err);
    sort_pass(k->y_col[0], ids, n, NULL, by_id, count);
    if (k->g.of[0]) {
        s->rows = NEWS(k->a, uint32_t, n);
        if (!s->rows)
            return err_nomem(err);
        sort_pass(k->g.of[0], k->g.n, n, by_id, s->rows, count);
    }
    for (uint32_t i = 0; i < n; i++)
        s->off[group(k, 0, i) + 1]++;
    for (uint32_t i = 0; i < k->g.n; i++)
        s->off[i + 1] += s->off[i];
    return OK;
}

/* First place in [lo, hi) whose id is not below v. */
static uint32_t seek(const uint32_t *ids, uint32_t lo, uint32_t hi, uint32_t v)
{
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (ids[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static enum status range_sums(struct fold *k, struct err *err)
{
    struct sorted s;
    TRY(sort_here(k, &s, err));
    uint32_t n = k->from->n;
    uint64_t *sum = NEWS(k->a, uint64_t, (size_t)n + 1);
    uint32_t *ids = NEWS(k->a, uint32_t, n);
    if (!sum || !ids)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        sum[i + 1] = sum[i] + weight(k, s.rows[i]);
        ids[i] = k->y_col[0][s.rows[i]];
    }
    for (uint32_t i = 0; i < k->to->n; i++) {
        struct span t = allowed(k, 0, i);
        uint32_t g = group(k, 1, i);
        if (t.lo >= t.hi)
            continue;
        uint32_t lo = seek(ids, s.off[g], s.off[g + 1], t.lo);
        uint32_t hi = seek(ids, lo, s.off[g + 1], t.hi);
        add(k, i, sum[hi] - sum[lo]);
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

static void fenwick_add(struct fenwick *f, uint32_t id, uint64_t v)
{
    for (uint32_t i = id + 1; i <= f->n; i += i & (0 - i))
        f->sum[i] += v;
}

static uint64_t fenwick_below(const struct fenwick *f, uint32_t id)
{
    uint64_t v = 0;
    for (uint32_t i = id; i; i -= i & (0 - i))
        v += f->sum[i];
    return v;
}

/* A row there asks for the rows here whose first variable is below a bound:
 * at its upper bound to add, at its lower to take away. */
struct asks {
    uint32_t n;
    uint32_t *row; /* twice the row, one more to take away */
    uint32_t *bound, *group, *order;
};

static void ask(struct asks *q, uint32_t row, uint32_t bound, uint32_t g)
{
    q->row[q->n] = row;
    q->bound[q->n] = bound;
    q->group[q->n++] = g;
}

static enum status list_asks(struct fold *k, struct asks *q, struct err *err)
{
    size_t most = 2 * (size_t)k->to->n;
    uint32_t ids = k->y_size[0] > k->g.n ? k->y_size[0] : k->g.n;
    q->row = NEWS(k->a, uint32_t, most);
    q->bound = NEWS(k->a, uint32_t, most);
    q->group = NEWS(k->a, uint32_t, most);
    if (!q->row || !q->bound || !q->group)
        return err_nomem(err);
    for (uint32_t i = 0; i < k->to->n; i++) {
        struct span t = allowed(k, 0, i), u = allowed(k, 1, i);
        if (t.lo >= t.hi || u.lo >= u.hi)
            continue;
        ask(q, 2 * i, t.hi, group(k, 1, i));
        if (t.lo)
            ask(q, 2 * i + 1, t.lo, group(k, 1, i));
    }
    uint32_t *by_bound = NEWS(k->a, uint32_t, q->n);
    uint32_t *count = NEWS(k->a, uint32_t, (size_t)ids + 3);
    q->order = NEWS(k->a, uint32_t, q->n);
    if (!by_bound || !count || !q->order)
        return err_nomem(err);
    sort_pass(q->bound, k->y_size[0] + 1, q->n, NULL, by_bound, count);
    sort_pass(q->group, k->g.n, q->n, by_bound, q->order, count);
    return OK;
}

static void answer(struct fold *k, const struct fenwick *f, uint32_t row)
{
    struct span u = allowed(k, 1, row / 2);
    uint64_t v = fenwick_below(f, u.hi) - fenwick_below(f, u.lo);
    add(k, row / 2, row % 2 ? 0 - v : v);
}

static enum status plane_sums(struct fold *k, struct err *err)
{
    struct sorted s;
    struct asks q = {0};
    struct fenwick f = {NULL, k->y_size[1]};
    TRY(sort_here(k, &s, err));
    TRY(list_asks(k, &q, err));
    f.sum = NEWS(k->a, uint64_t, (size_t)f.n + 1);
    if (!f.sum)
        return err_nomem(err);
    for (uint32_t i = 0; i < q.n;) {
        uint32_t g = q.group[q.order[i]], at = s.off[g];
        for (; i < q.n && q.group[q.order[i]] == g; i++) {
            uint32_t bound = q.bound[q.order[i]];
            for (; at < s.off[g + 1] && k->y_col[0][s.rows[at]] < bound; at++)
                fenwick_add(&f, k->y_col[1][s.rows[at]], weight(k, s.rows[at]));
            answer(k, &f, q.row[q.order[i]]);
        }
        while (at-- > s.off[g])
            fenwick_add(&f, k->y_col[1][s.rows[at]], 0 - weight(k, s.rows[at]));
    }
    return OK;
}

/* --- all of them ------------------------------------------------------------
 */

/* `equal`: the inequalities that are taken as equalities. */
static enum status add_term(struct fold *k, uint32_t equal, struct err *err)
{
    uint32_t n[2] = {k->from->n, k->to->n};
    struct arena scratch;
    k->n_keys = k->n_common;
    for (uint32_t i = 0; i < k->n_nes; i++)
        if (equal >> i & 1)
            k->keys[k->n_keys++] = k->nes[i];
    k->minus = __builtin_popcount(equal) % 2;
    arena_init(&scratch, k->x->j->mem);
    k->a = &scratch;
    enum status s =
        rows_group(k->x->j->mem, k->a, n, k->keys, k->n_keys, &k->g, err);
    if (s == OK)
        s = k->n_ys == 0   ? plain_sums(k, err)
            : k->n_ys == 1 ? range_sums(k, err)
                           : plane_sums(k, err);
    arena_fini(&scratch);
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

static enum status multiply(struct fold *k, struct rows_atom *to, bool exists,
                            struct err *err)
{
    bool fresh = !to->w;
    if (fresh)
        to->w = NEWS(k->x->a, uint64_t, to->n);
    if (!to->w)
        return err_nomem(err);
    for (uint32_t i = 0; i < to->n; i++) {
        uint64_t v = exists ? k->out[i] > 0 : k->out[i];
        if (fresh)
            to->w[i] = v;
        else if (!u64_mul(to->w[i], v, &to->w[i]))
            k->x->fits = false;
    }
    return OK;
}

enum status rows_fold(struct rows *x, const struct rows_atom *from,
                      struct rows_atom *to, bool exists, struct err *err)
{
    struct arena a;
    arena_init(&a, x->j->mem);
    struct fold *k = NEW(&a, struct fold);
    uint64_t *out = NEWS(&a, uint64_t, to->n);
    enum status s = k && out ? OK : err_nomem(err);
    if (s == OK) {
        *k = (struct fold){.x = x, .from = from, .to = to, .out = out};
        list_common(k);
        list_cmps(k);
        x->fits = x->fits && sums_fit(from) &&
                  (uint64_t)from->n + to->n < UINT32_MAX / 2;
    }
    for (uint32_t t = 0; s == OK && x->fits && t < 1u << k->n_nes; t++)
        s = join_cancelled(x->j) ? err_set(err, E_CANCELLED, "cancelled")
                                 : add_term(k, t, err);
    if (s == OK && x->fits)
        s = multiply(k, to, exists, err);
    arena_fini(&a);
    return s;
}
