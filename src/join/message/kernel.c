/*
 * See kernel.h. What a tree decides at every id (is there a limit, a weight,
 * an exclusion; does the number fit) is decided here once for all ids:
 * limits are ends of rows that are known beforehand (csr.mid) or looked up once
 * for a fixed id, an exclusion takes back one count, and the largest degrees
 * bound every sum.
 *
 * Cost: closing, the degrees of the root ids; pushing, those of the leaf ids.
 * Marks are zero before and after; counts only rise (runner_recount).
 */
#include "join/message/kernel.h"

/* --- does it fit ---------------------------------------------------------- */

static bool plain_lists(const struct tnode *n)
{
    for (uint32_t i = 0; i < n->n_lists; i++)
        if (n->lists[i].c->w)
            return false;
    return true;
}

/* Nothing but the trees makes the value. Several fixed variables are all of
 * the boundary but the root. */
static bool bare_fixed(const struct plan *p, const struct sterm *t)
{
    for (uint32_t i = 0; i < p->n_x; i++)
        if (t->g.v[p->x[i]].unary)
            return false;
    for (uint32_t i = 0; i < t->g.n_edges; i++)
        if ((p->x_set & gset_one(t->g.e[i].a)) &&
            (p->x_set & gset_one(t->g.e[i].b)))
            return false;
    return p->n_x == 1 || (p->n_x == p->n_max && p->root >= 0);
}

static bool has_shape(const struct plan *p)
{
    const struct sterm *t = &p->terms[0];
    if (!p->n_x || (p->g.n_lts && p->n_x > 1) || p->n_terms != 1 ||
        t->coef != 1 || t->n_trees != 1 || !bare_fixed(p, t))
        return false;
    const struct tnode *root = &t->trees[0].node[0], *leaf = root + 1;
    if (t->trees[0].n_nodes < 2 || root->n_kids != 1 || root->kids[0] != 1 ||
        leaf->n_kids || root->unary || leaf->unary)
        return false;
    return leaf->kind == W_SUM && leaf->is_mark && !leaf->up->w &&
           (root->kind == W_SUM || (int)root->var == p->root) &&
           !(root->below && root->above) && !(leaf->below && leaf->above) &&
           plain_lists(leaf) && plain_lists(root) &&
           root->n_lists <= (p->n_x == 1) &&
           (p->n_x > 1 || leaf->n_lists == 1) &&
           /* a relation that joins two variables decides that they differ */
           !leaf->differ && !(root->differ && root->n_lists);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The sum for one fixed id is below: ways to reach a root, times the largest
 * number of leaves there to the power but for the way itself. */
static bool sum_fits(const struct kernel *k, uint64_t at_once)
{
    uint64_t most = smaller(k->down->max_deg, k->to_leaf->max_deg), v = at_once;
    uint32_t more = k->pushes ? k->power - 1 : k->power;
    uint64_t ways = k->pushes ? k->down->flip->max_deg : 1;
    uint64_t first = k->pushes ? k->to_leaf->max_deg : k->to_root->max_deg;
    bool ok = u64_mul(v, ways, &v) && u64_mul(v, first, &v);
    while (ok && more--)
        ok = u64_mul(v, most, &v);
    return ok && !(v >> 62);
}

static enum kernel_side side_of(const struct tnode *n)
{
    return n->below ? SIDE_BELOW : n->above ? SIDE_ABOVE : SIDE_ALL;
}

void kernel_make(const struct plan *p, uint32_t at_once, struct kernel *k)
{
    k->ok = has_shape(p);
    if (!k->ok)
        return;
    const struct tnode *root = &p->terms[0].trees[0].node[0], *leaf = root + 1;
    k->pushes = !root->n_lists;
    k->leaf = leaf;
    k->root_side = side_of(root);
    k->root_differs = root->differ;
    k->leaf_side = side_of(leaf);
    k->leaf_above_root = leaf->above_parent;
    k->falling = leaf->falling;
    k->power = leaf->power;
    k->to_root = k->pushes ? NULL : root->lists[0].c;
    k->to_leaf = leaf->lists[0].c;
    k->down = leaf->up;
    k->far = k->down->n > p->j->near;
    k->ok = sum_fits(k, at_once) &&
            (k->leaf_side != SIDE_BELOW || k->to_leaf->mid) &&
            (k->root_side != SIDE_BELOW || k->pushes || k->to_root->mid) &&
            (!k->leaf_above_root ||
             (!k->pushes && k->down->mid && !k->down->has_loop));
}

/* --- rows ----------------------------------------------------------------- */

struct kernel_span {
    const uint32_t *p, *end;
};

/* The neighbours of i, or those below or above i. */
static inline struct kernel_span row(const struct csr *c, uint32_t i,
                                     enum kernel_side side)
{
    uint32_t from = c->off[i];
    uint32_t end = side == SIDE_BELOW ? c->mid[i] : c->off[i + 1];
    if (side == SIDE_ABOVE)
        from = csr_seek(c, i, i + 1);
    struct kernel_span s = {c->adj + from, c->adj + end};
    return s;
}

/* What a fixed id leaves of a root's row. */
static inline struct kernel_span on_side(struct kernel_span s, uint32_t x,
                                         enum kernel_side side)
{
    while (side == SIDE_BELOW && s.end > s.p && s.end[-1] >= x)
        s.end--;
    while (side == SIDE_ABOVE && s.p < s.end && *s.p <= x)
        s.p++;
    return s;
}

/* The leaves of a root. */
static inline struct kernel_span leaves(const struct kernel *k, uint32_t root)
{
    struct kernel_span s = row(k->down, root, SIDE_ALL);
    if (k->leaf_above_root)
        s.p = k->down->adj + k->down->mid[root];
    return s;
}

static inline uint64_t raised(const struct kernel *k, uint64_t m)
{
    if (k->power == 1)
        return m;
    if (k->power == 2)
        return m * (m - k->falling);
    uint64_t v = m;
    for (uint32_t i = 1; i < k->power; i++)
        v *= k->falling ? (m > i ? m - i : 0) : m;
    return v;
}

/* --- rows ahead ------------------------------------------------------------
 * Rows of neighbours lie all over memory, and most are short: waiting for
 * each would cost more than reading it. So pairs of a fixed id and its
 * neighbour are listed first; while one is worked on, the row of a later one
 * is asked for, and the ends of the row of a still later one. */

enum { BATCH = 1024, COUNTS_AHEAD = 6, ROWS_AHEAD = 12, ENDS_AHEAD = 32 };

/* Asking has no effect that the compiler knows of: called as a function it
 * would be taken for useless. */
#define ASKS static inline __attribute__((always_inline))

struct kernel_feed { /* pairs not yet in a batch */
    uint32_t x, to;
    struct kernel_span s; /* the rest of x - 1 */
};

struct kernel_batch { /* behind n, the last pair again */
    uint32_t n;
    uint32_t x[BATCH + ENDS_AHEAD], near[BATCH + ENDS_AHEAD];
};

static inline uint32_t leaf_degree(const struct kernel *k, uint32_t x)
{
    struct kernel_span s = row(k->to_leaf, x, k->leaf_side);
    return (uint32_t)(s.end - s.p);
}

/* Twins all need a leaf of their own. */
static inline bool too_few(const struct kernel *k, uint32_t x)
{
    return leaf_degree(k, x) < (k->falling ? k->power : 1);
}

/* Pairs of x that give nothing: all, or roots with no leaf above them. */
static inline void leave_out(const struct kernel *k, uint32_t x,
                             struct kernel_span *s)
{
    struct kernel_span l = row(k->to_leaf, x, k->leaf_side);
    if (too_few(k, x))
        s->end = s->p;
    if (k->leaf_above_root)
        while (s->end > s->p && s->end[-1] >= l.end[-1])
            s->end--;
}

static void next_pairs(const struct kernel *k, struct kernel_feed *f,
                       struct kernel_batch *b)
{
    const struct csr *way = k->pushes ? k->to_leaf : k->to_root;
    enum kernel_side side = k->pushes ? k->leaf_side : k->root_side;
    for (b->n = 0; b->n < BATCH; b->n++) {
        while (f->s.p == f->s.end && f->x < f->to) {
            f->s = row(way, f->x, side);
            leave_out(k, f->x++, &f->s);
        }
        if (f->s.p == f->s.end)
            return;
        b->x[b->n] = f->x - 1;
        b->near[b->n] = *f->s.p++;
    }
}

static bool next_batch(const struct kernel *k, struct kernel_feed *f,
                       struct kernel_batch *b)
{
    next_pairs(k, f, b);
    for (uint32_t i = b->n; b->n && i < b->n + ENDS_AHEAD; i++) {
        b->x[i] = b->x[b->n - 1];
        b->near[i] = b->near[b->n - 1];
    }
    return b->n;
}

/* The leaves of a root, or the roots of a leaf. */
static inline struct kernel_span far_row(const struct kernel *k, uint32_t near)
{
    return k->pushes ? row(k->down->flip, near, SIDE_ALL) : leaves(k, near);
}

ASKS void ask_rows(const struct kernel *k, const uint32_t *near)
{
    const struct csr *c = k->pushes ? k->down->flip : k->down;
    __builtin_prefetch(c->off + near[ENDS_AHEAD]);
    if (k->leaf_above_root)
        __builtin_prefetch(c->mid + near[ENDS_AHEAD]);
    struct kernel_span s = far_row(k, near[ROWS_AHEAD]);
    __builtin_prefetch(s.p);
    /* a number, as an empty row may have nothing before its end */
    __builtin_prefetch((const void *)((uintptr_t)s.end - sizeof *s.end));
}

/* --- closing ---------------------------------------------------------------
 */

static void set_marks(const struct kernel *k, uint8_t *mark, uint32_t x,
                      uint8_t to)
{
    struct kernel_span s = row(k->to_leaf, x, k->leaf_side);
    for (; s.p < s.end; s.p++)
        mark[*s.p] = to;
}

static inline uint64_t marks_in(struct kernel_span s, const uint8_t *mark)
{
    uint32_t m = 0;
    for (; s.p < s.end; s.p++)
        m += mark[*s.p];
    return m;
}

/* Where all rows are near, none is prefetched. */
static uint64_t close_sum_near(const struct kernel *k, uint8_t *mark,
                               uint32_t x)
{
    uint64_t sum = 0;
    struct kernel_span s = row(k->to_root, x, k->root_side);
    leave_out(k, x, &s);
    if (s.p == s.end)
        return 0;
    set_marks(k, mark, x, 1);
    for (; s.p < s.end; s.p++)
        sum += raised(k, marks_in(leaves(k, *s.p), mark));
    set_marks(k, mark, x, 0);
    return sum;
}

/* Elsewhere marks are bits: bytes would not stay in the nearest cache. */
static void set_bits(const struct kernel *k, uint8_t *mark, uint32_t x)
{
    struct kernel_span s = row(k->to_leaf, x, k->leaf_side);
    for (; s.p < s.end; s.p++)
        mark[*s.p >> 3] |= (uint8_t)(1u << (*s.p & 7));
}

static void clear_bits(const struct kernel *k, uint8_t *mark, uint32_t x)
{
    struct kernel_span s = row(k->to_leaf, x, k->leaf_side);
    for (; s.p < s.end; s.p++)
        mark[*s.p >> 3] = 0;
}

/* From the limit on nothing is marked. */
static inline uint64_t bits_in(struct kernel_span s, const uint8_t *mark,
                               uint32_t limit)
{
    uint32_t m = 0;
    for (; s.p < s.end && *s.p < limit; s.p++)
        m += mark[*s.p >> 3] >> (*s.p & 7) & 1u;
    return m;
}

static uint64_t close_sum(const struct kernel *k, uint8_t *mark, uint32_t from,
                          uint32_t to)
{
    struct kernel_feed f = {.x = from, .to = to};
    struct kernel_batch b;
    uint64_t sum = 0;
    uint32_t x = NO_ID;
    while (next_batch(k, &f, &b))
        for (uint32_t i = 0; i < b.n; i++) {
            if (b.x[i] != x) {
                if (x != NO_ID)
                    clear_bits(k, mark, x);
                x = b.x[i];
                set_bits(k, mark, x);
            }
            uint32_t limit = k->leaf_side == SIDE_BELOW ? x : NO_ID;
            ask_rows(k, b.near + i);
            sum += raised(k, bits_in(far_row(k, b.near[i]), mark, limit));
        }
    if (x != NO_ID)
        clear_bits(k, mark, x);
    return sum;
}

static uint64_t close_max(const struct kernel *k, uint8_t *mark, uint32_t x,
                          uint32_t least)
{
    uint64_t best = 0;
    struct kernel_span s = row(k->to_root, x, k->root_side);
    if (s.p == s.end || too_few(k, x))
        return 0;
    set_marks(k, mark, x, 1);
    for (; s.end > s.p && s.end[-1] >= least; s.end--) {
        uint64_t v = marks_in(leaves(k, s.end[-1]), mark);
        best = v > best ? v : best;
    }
    set_marks(k, mark, x, 0);
    return raised(k, best);
}

/* --- pushing ---------------------------------------------------------------
 * Counts begin at a number that rises from one fixed id to the next by as
 * much as a count can reach, so that what earlier ids left counts as nothing
 * and need not be taken back. */

/* Counts up where the leaf is; what the sum grows by. */
static uint64_t count_up(const struct kernel *k, uint32_t *count, uint32_t zero,
                         struct kernel_span s, uint32_t limit)
{
    const uint32_t *from = s.p;
    uint64_t sum = 0;
    if (k->power > 2) {
        for (; s.p < s.end && *s.p < limit; s.p++) {
            uint32_t c = count[*s.p] > zero ? count[*s.p] : zero;
            sum += raised(k, c - zero + 1) - raised(k, c - zero);
            count[*s.p] = c + 1;
        }
        return sum;
    }
    for (; s.p < s.end && *s.p < limit; s.p++) {
        uint32_t c = count[*s.p] > zero ? count[*s.p] : zero;
        sum += c - zero;
        count[*s.p] = c + 1;
    }
    /* (c+1) - c = 1; (c+1)^2 - c^2 = 2c + 1; (c+1) c - c (c-1) = 2c */
    uint64_t ones = k->falling ? 0 : (uint64_t)(s.p - from);
    return k->power == 1 ? (uint64_t)(s.p - from) : 2 * sum + ones;
}

/* The fixed id itself does not count as a root. */
static uint64_t own_share(const struct kernel *k, const struct runner *r,
                          uint32_t x)
{
    if (x == NO_ID || !k->root_differs || k->root_side ||
        r->count[x] <= r->zero)
        return 0;
    return raised(k, r->count[x] - r->zero);
}

/* The counts that a row will raise, as far as is likely. */
ASKS void ask_counts(const uint32_t *count, struct kernel_span s,
                     uint32_t limit)
{
    for (uint32_t i = 0; i < 16 && s.p < s.end && *s.p < limit; i++, s.p++)
        __builtin_prefetch(count + *s.p, 1);
}

static uint64_t push_sum(const struct kernel *k, struct runner *r,
                         uint32_t from, uint32_t to)
{
    struct kernel_feed f = {.x = from, .to = to};
    struct kernel_batch b;
    uint64_t sum = 0;
    uint32_t x = NO_ID;
    bool far = k->down->n_left > r->p->j->near; /* counts as well as rows */
    while (next_batch(k, &f, &b))
        for (uint32_t i = 0; i < b.n; i++) {
            if (b.x[i] != x) {
                sum -= own_share(k, r, x);
                x = b.x[i];
                runner_recount(r, leaf_degree(k, x));
            }
            uint32_t later = i + COUNTS_AHEAD;
            ask_rows(k, b.near + i);
            if (far)
                ask_counts(r->count, far_row(k, b.near[later]),
                           k->root_side == SIDE_BELOW ? b.x[later] : NO_ID);
            struct kernel_span s = far_row(k, b.near[i]);
            if (k->root_side == SIDE_ABOVE)
                s = on_side(s, x, SIDE_ABOVE);
            sum += count_up(k, r->count, r->zero, s,
                            k->root_side == SIDE_BELOW ? x : NO_ID);
        }
    return sum - own_share(k, r, x);
}

/* The leaves that all fixed ids have, into out. */
static struct kernel_span common_leaves(const struct kernel *k,
                                        const uint32_t *fixed, uint32_t *out)
{
    const struct tnode *l = k->leaf;
    uint32_t lead = 0, n = 0;
    struct kernel_span s =
        row(l->lists[0].c, fixed[l->lists[0].x], k->leaf_side);
    for (uint32_t i = 1; i < l->n_lists; i++) {
        struct kernel_span t =
            row(l->lists[i].c, fixed[l->lists[i].x], SIDE_ALL);
        if (t.end - t.p < s.end - s.p) {
            s = t;
            lead = i;
        }
    }
    if (l->n_lists == 1)
        return s;
    for (; s.p < s.end; s.p++) {
        bool all = true;
        for (uint32_t i = 0; i < l->n_lists && all; i++)
            all = i == lead ||
                  csr_weight(l->lists[i].c, fixed[l->lists[i].x], *s.p);
        out[n] = *s.p;
        n += all;
    }
    struct kernel_span common = {out, out + n};
    return common;
}

static bool is_fixed(const struct runner *r, gset among, uint32_t id)
{
    for (; among; among &= among - 1)
        if (r->fixed[__builtin_ctz(among)] == id)
            return true;
    return false;
}

/* From the end of each row, where the large ids are. */
static uint64_t push_max(const struct kernel *k, struct runner *r,
                         uint32_t least)
{
    struct kernel_span s = common_leaves(k, r->fixed, r->only);
    runner_recount(r, (uint32_t)(s.end - s.p));
    uint32_t *count = r->count, zero = r->zero, best = zero;
    uint32_t x = r->fixed[r->p->x[0]];
    if (k->root_side == SIDE_ABOVE && least <= x)
        least = x + 1;
    for (const uint32_t *l = s.p; l < s.end; l++) {
        const struct csr *c = k->down->flip;
        struct kernel_span up = row(c, *l, SIDE_ALL);
        if (s.end - l > 16) {
            __builtin_prefetch(c->off + l[16]);
            __builtin_prefetch(c->adj + c->off[l[8] + 1] - 1);
        }
        if (k->root_side == SIDE_BELOW)
            up = on_side(up, x, SIDE_BELOW);
        for (; up.end > up.p && up.end[-1] >= least; up.end--) {
            uint32_t m = count[up.end[-1]] > zero ? count[up.end[-1]] : zero;
            count[up.end[-1]] = m + 1;
            if (m >= best && !is_fixed(r, k->root_differs, up.end[-1]))
                best = m + 1;
        }
    }
    return raised(k, best - zero);
}

/* --- both ------------------------------------------------------------------
 */

uint64_t kernel_sum(const struct kernel *k, struct runner *r, uint32_t from,
                    uint32_t to)
{
    uint64_t sum = 0;
    if (k->pushes)
        return push_sum(k, r, from, to);
    if (k->far)
        return close_sum(k, r->asked, from, to);
    for (uint32_t x = from; x < to; x++)
        sum += close_sum_near(k, r->asked, x);
    return sum;
}

uint64_t kernel_max(const struct kernel *k, struct runner *r, uint32_t least)
{
    return k->pushes ? push_max(k, r, least)
                     : close_max(k, r->asked, r->fixed[r->p->x[0]], least);
}

uint64_t kernel_bound(const struct kernel *k, uint32_t x)
{
    uint64_t most = k->down->max_deg, n = leaf_degree(k, x);
    bool none = !k->pushes && k->to_root->off[x] == k->to_root->off[x + 1];
    return none ? 0 : raised(k, smaller(most, n));
}

uint64_t kernel_root_bound(const struct kernel *k, uint32_t root)
{
    struct kernel_span s = leaves(k, root);
    uint64_t most = k->to_leaf->max_deg, n = (uint64_t)(s.end - s.p);
    return raised(k, smaller(most, n));
}
