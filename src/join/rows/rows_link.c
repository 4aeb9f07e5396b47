/*
 * What two atoms have to do with each other: see rows.h. Rows "here" are those
 * that are looked for, rows "there" those that ask.
 */
#include "join/rows/rows.h"

/* --- what is compared ----------------------------------------------------- */

static void add_order(struct rows_link *k, const struct jcmp *c, bool y_left)
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
    struct rows_order o = {y, y_left, c->op == CMP_LT,
                           rows_column(k->to, y_left ? c->r : c->l)};
    k->orders[k->n_orders++] = o;
}

static void list_cmps(struct rows_link *k)
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

static void list_common(struct rows_link *k)
{
    VSET_EACH (v, k->from->set & k->to->set) {
        struct rows_key key = {{rows_column(k->from, v), rows_column(k->to, v)},
                               rows_ids(k->x, v)};
        k->keys[k->n_common++] = key;
    }
}

void rows_link_open(struct rows *x, const struct rows_atom *from,
                    const struct rows_atom *to, struct rows_link *out)
{
    *out = (struct rows_link){.x = x, .from = from, .to = to};
    list_common(out);
    list_cmps(out);
    x->fits = x->fits && (uint64_t)from->n + to->n < UINT32_MAX / 2;
}

enum status rows_link_group(struct rows_link *k, struct arena *a,
                            uint32_t equal, struct err *err)
{
    uint32_t n[2] = {k->from->n, k->to->n}, n_keys = k->n_common;
    for (uint32_t i = 0; i < k->n_nes; i++)
        if (equal >> i & 1)
            k->keys[n_keys++] = k->nes[i];
    return rows_group(k->x->j->mem, a, n, k->keys, n_keys, &k->g, err);
}

/* --- finding rows -----------------------------------------------------------
 */

struct rows_span rows_allowed(const struct rows_link *k, uint32_t y,
                              uint32_t row)
{
    struct rows_span s = {0, k->y_size[y]};
    for (uint32_t i = 0; i < k->n_orders; i++) {
        const struct rows_order *o = &k->orders[i];
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

/* The rows by group, and within by the first ordered variable, if any. */
static enum status order_rows(const struct rows_link *k, struct arena *a,
                              struct rows_sorted *s, struct err *err)
{
    uint32_t n = k->from->n, ids = k->n_ys ? k->y_size[0] : 0;
    uint32_t most = k->g.n > ids ? k->g.n : ids;
    uint32_t *count = NEWS(a, uint32_t, (size_t)most + 2), *first = NULL;
    s->rows = NEWS(a, uint32_t, n);
    if (!count || !s->rows)
        return err_nomem(err);
    if (k->n_ys) {
        sort_pass(k->y_col[0], ids, n, NULL, s->rows, count);
        first = s->rows;
    }
    if (k->g.of[0]) {
        if (first && !(s->rows = NEWS(a, uint32_t, n)))
            return err_nomem(err);
        sort_pass(k->g.of[0], k->g.n, n, first, s->rows, count);
    } else if (!first) {
        for (uint32_t i = 0; i < n; i++)
            s->rows[i] = i;
    }
    return OK;
}

enum status rows_sort(const struct rows_link *k, struct arena *a,
                      struct rows_sorted *s, struct err *err)
{
    uint32_t n = k->from->n;
    TRY(order_rows(k, a, s, err));
    s->off = NEWS(a, uint32_t, (size_t)k->g.n + 1);
    s->ids = k->n_ys ? NEWS(a, uint32_t, n) : NULL;
    if (!s->off || (k->n_ys && !s->ids))
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        s->off[rows_group_of(k, 0, i) + 1]++;
    for (uint32_t i = 0; i < k->g.n; i++)
        s->off[i + 1] += s->off[i];
    for (uint32_t i = 0; k->n_ys && i < n; i++)
        s->ids[i] = k->y_col[0][s->rows[i]];
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

struct rows_span rows_range(const struct rows_link *k,
                            const struct rows_sorted *s, uint32_t row)
{
    uint32_t g = rows_group_of(k, 1, row);
    struct rows_span t = {s->off[g], s->off[g + 1]};
    if (!k->n_ys)
        return t;
    struct rows_span ids = rows_allowed(k, 0, row);
    if (ids.lo >= ids.hi)
        return (struct rows_span){0, 0};
    t.lo = seek(s->ids, t.lo, t.hi, ids.lo);
    t.hi = seek(s->ids, t.lo, t.hi, ids.hi);
    return t;
}

bool rows_agree(const struct rows_link *k, uint32_t here, uint32_t there)
{
    for (uint32_t i = 0; i < k->n_nes; i++)
        if (k->nes[i].col[0][here] == k->nes[i].col[1][there])
            return false;
    if (k->n_ys < 2)
        return true;
    struct rows_span t = rows_allowed(k, 1, there);
    return k->y_col[1][here] >= t.lo && k->y_col[1][here] < t.hi;
}
