/*
 * See kernel.h. What a tree decides at every id (is there a limit, a weight,
 * an exclusion; does the number fit) is decided here once for all ids:
 * limits are ends of rows that are known beforehand (csr.mid), an exclusion
 * takes back one count, and the largest degrees bound every sum.
 *
 * Cost: closing, the degrees of the root ids; pushing, those of the leaf ids,
 * twice. Marks and counts are zero before and after.
 */
#include "join/kernel.h"

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
    if (!p->n_x || p->n_terms != 1 || t->coef != 1 || t->n_trees != 1 ||
        !bare_fixed(p, t))
        return false;
    const struct tnode *root = &t->trees[0].node[0], *leaf = root + 1;
    if (t->trees[0].n_nodes < 2 || root->n_kids != 1 || root->kids[0] != 1 ||
        leaf->n_kids || root->unary || leaf->unary)
        return false;
    return leaf->kind == W_SUM && leaf->is_mark && !leaf->up->w &&
           (root->kind == W_SUM ||
            ((int)root->var == p->root && !root->below)) &&
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

void kernel_make(const struct plan *p, uint32_t at_once, struct kernel *k)
{
    k->ok = has_shape(p);
    if (!k->ok)
        return;
    const struct tnode *root = &p->terms[0].trees[0].node[0], *leaf = root + 1;
    k->pushes = !root->n_lists;
    k->leaf = leaf;
    k->root_below = root->below;
    k->root_differs = root->differ;
    k->leaf_below = leaf->below;
    k->leaf_below_root = leaf->below_parent;
    k->falling = leaf->falling;
    k->power = leaf->power;
    k->to_root = k->pushes ? NULL : root->lists[0].c;
    k->to_leaf = leaf->lists[0].c;
    k->down = leaf->up;
    k->ok = sum_fits(k, at_once) && (!k->leaf_below || k->to_leaf->mid) &&
            (!k->root_below || k->pushes || k->to_root->mid) &&
            (!k->leaf_below_root || (k->down->mid && k->down->flip->mid));
}

/* --- rows ----------------------------------------------------------------- */

struct span {
    const uint32_t *p, *end;
};

/* The neighbours of i, or those below i. */
static inline struct span row(const struct csr *c, uint32_t i, bool below)
{
    struct span s = {c->adj + c->off[i],
                     c->adj + (below ? c->mid[i] : c->off[i + 1])};
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

/* --- closing ---------------------------------------------------------------
 */

static void set_marks(const struct kernel *k, uint8_t *mark, uint32_t x,
                      uint8_t to)
{
    struct span s = row(k->to_leaf, x, k->leaf_below);
    for (; s.p < s.end; s.p++)
        mark[*s.p] = to;
}

static inline uint64_t marks_at(const struct kernel *k, const uint8_t *mark,
                                uint32_t root)
{
    struct span s = row(k->down, root, k->leaf_below_root);
    uint32_t m = 0;
    for (; s.p < s.end; s.p++)
        m += mark[*s.p];
    return m;
}

/* Twins all need a leaf of their own. */
static bool too_few(const struct kernel *k, uint32_t x)
{
    struct span s = row(k->to_leaf, x, k->leaf_below);
    return s.end - s.p < (k->falling ? (long)k->power : 1);
}

static uint64_t close_sum(const struct kernel *k, uint8_t *mark, uint32_t x)
{
    uint64_t sum = 0;
    struct span s = row(k->to_root, x, k->root_below);
    if (s.p == s.end || too_few(k, x))
        return 0;
    set_marks(k, mark, x, 1);
    for (; s.p < s.end; s.p++)
        sum += raised(k, marks_at(k, mark, *s.p));
    set_marks(k, mark, x, 0);
    return sum;
}

static uint64_t close_max(const struct kernel *k, uint8_t *mark, uint32_t x,
                          uint32_t least)
{
    uint64_t best = 0;
    struct span s = row(k->to_root, x, k->root_below);
    if (s.p == s.end || too_few(k, x))
        return 0;
    set_marks(k, mark, x, 1);
    for (; s.end > s.p && s.end[-1] >= least; s.end--) {
        uint64_t v = marks_at(k, mark, s.end[-1]);
        best = v > best ? v : best;
    }
    set_marks(k, mark, x, 0);
    return raised(k, best);
}

/* --- pushing ---------------------------------------------------------------
 */

/* The root ids of a leaf. */
static inline struct span up_from(const struct kernel *k, uint32_t leaf)
{
    const struct csr *c = k->down->flip;
    struct span s = row(c, leaf, false);
    if (k->leaf_below_root) {
        s.p = c->adj + c->mid[leaf];
        while (s.p < s.end && *s.p == leaf)
            s.p++;
    }
    return s;
}

/* Counts up; the sum of what was there before: m (m - 1) / 2 for each m. */
static uint64_t count_up(const struct kernel *k, uint32_t *count, struct span s,
                         uint32_t limit)
{
    uint64_t pairs = 0;
    for (; s.p < s.end; s.p++) {
        struct span up = up_from(k, *s.p);
        for (; up.p < up.end && *up.p < limit; up.p++)
            pairs += count[*up.p]++;
    }
    return pairs;
}

static void count_down(const struct kernel *k, uint32_t *count, struct span s,
                       uint32_t limit)
{
    for (; s.p < s.end; s.p++) {
        struct span up = up_from(k, *s.p);
        for (; up.p < up.end && *up.p < limit; up.p++)
            count[*up.p] = 0;
    }
}

static uint64_t push_sum(const struct kernel *k, uint32_t *count, uint32_t x)
{
    uint32_t limit = k->root_below ? x : NO_ID;
    struct span s = row(k->to_leaf, x, k->leaf_below);
    uint64_t sum = 0;
    if (too_few(k, x))
        return 0;
    uint64_t pairs = count_up(k, count, s, limit);
    bool skip = k->root_differs && !k->root_below;
    if (k->falling && k->power == 2) {
        uint64_t m = skip ? count[x] : 0;
        count_down(k, count, s, limit);
        return 2 * pairs - m * (m - 1);
    }
    if (skip)
        count[x] = 0;
    for (; s.p < s.end; s.p++) {
        struct span up = up_from(k, *s.p);
        for (; up.p < up.end && *up.p < limit; up.p++) {
            sum += raised(k, count[*up.p]);
            count[*up.p] = 0;
        }
    }
    return sum;
}

/* The leaves that all fixed ids have, into out. */
static struct span common_leaves(const struct kernel *k, const uint32_t *fixed,
                                 uint32_t *out)
{
    const struct tnode *l = k->leaf;
    uint32_t lead = 0, n = 0;
    struct span s = row(l->lists[0].c, fixed[l->lists[0].x], false);
    for (uint32_t i = 1; i < l->n_lists; i++) {
        struct span t = row(l->lists[i].c, fixed[l->lists[i].x], false);
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
    struct span common = {out, out + n};
    return common;
}

/* From the end of each row, where the large ids are. */
static uint64_t push_max(const struct kernel *k, struct runner *r,
                         uint32_t least)
{
    uint32_t *count = r->count;
    struct span s = common_leaves(k, r->fixed, r->only);
    uint64_t best = 0;
    for (const uint32_t *l = s.p; l < s.end; l++) {
        struct span up = up_from(k, *l);
        for (; up.end > up.p && up.end[-1] >= least; up.end--)
            count[up.end[-1]]++;
    }
    for (gset x = k->root_differs; x; x &= x - 1)
        count[r->fixed[__builtin_ctz(x)]] = 0;
    for (const uint32_t *l = s.p; l < s.end; l++) {
        struct span up = up_from(k, *l);
        for (; up.end > up.p && up.end[-1] >= least; up.end--) {
            uint32_t *c = &count[up.end[-1]];
            best = *c > best ? *c : best;
            *c = 0;
        }
    }
    return raised(k, best);
}

/* --- both ------------------------------------------------------------------
 */

uint64_t kernel_sum(const struct kernel *k, struct runner *r, uint32_t from,
                    uint32_t to)
{
    uint64_t sum = 0;
    if (k->pushes)
        for (uint32_t x = from; x < to; x++)
            sum += push_sum(k, r->count, x);
    else
        for (uint32_t x = from; x < to; x++)
            sum += close_sum(k, r->asked, x);
    return sum;
}

uint64_t kernel_max(const struct kernel *k, struct runner *r, uint32_t least)
{
    return k->pushes ? push_max(k, r, least)
                     : close_max(k, r->asked, r->fixed[r->p->x[0]], least);
}

uint64_t kernel_bound(const struct kernel *k, uint32_t x)
{
    struct span s = row(k->to_leaf, x, k->leaf_below);
    uint64_t most = k->down->max_deg, n = (uint64_t)(s.end - s.p);
    bool none = !k->pushes && k->to_root->off[x] == k->to_root->off[x + 1];
    return none ? 0 : raised(k, smaller(most, n));
}

uint64_t kernel_root_bound(const struct kernel *k, uint32_t root)
{
    struct span s = row(k->down, root, k->leaf_below_root);
    uint64_t most = k->to_leaf->max_deg, n = (uint64_t)(s.end - s.p);
    return raised(k, smaller(most, n));
}
