/*
 * Binary factors: see csr.h. Everything here is built once per relation and
 * kept, in O(rows + ids).
 */
#include "join/graph/csr.h"
#include "join/words.h"

#include <string.h>

uint32_t csr_seek(const struct csr *c, uint32_t i, uint32_t v)
{
    uint32_t lo = c->off[i], hi = c->off[i + 1];
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->adj[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

uint64_t csr_weight(const struct csr *c, uint32_t l, uint32_t r)
{
    uint32_t at = csr_seek(c, l, r);
    if (at == c->off[l + 1] || c->adj[at] != r)
        return 0;
    return c->w ? c->w[at] : 1;
}

/* --- measuring ----------------------------------------------------------- */

/* Where figures go that are kept by left id; NULL: not kept. */
struct figures {
    uint32_t *mid;
    uint64_t *sums;
};

/* Weights that no word holds: no limit follows from them. */
static bool measure_wide(struct csr *c, uint32_t *mid)
{
    c->sum = NULL;
    c->max_w = c->max_sum = UINT64_MAX;
    for (uint32_t i = 0; i < c->n_left; i++) {
        uint32_t deg = c->off[i + 1] - c->off[i];
        c->mean2 += (double)deg * deg / (c->n ? c->n : 1);
        c->max_deg = deg > c->max_deg ? deg : c->max_deg;
        if (!mid)
            continue;
        mid[i] = csr_seek(c, i, i);
        c->has_loop =
            c->has_loop || (mid[i] < c->off[i + 1] && c->adj[mid[i]] == i);
    }
    return true;
}

static bool measure(struct csr *c, struct figures f)
{
    c->mid = f.mid;
    c->sum = f.sums;
    c->max_w = c->n ? 1 : 0;
    if (c->wide)
        return measure_wide(c, f.mid);
    for (uint32_t i = 0; i < c->n_left; i++) {
        uint32_t deg = c->off[i + 1] - c->off[i];
        uint64_t sum = deg;
        c->mean2 += (double)deg * deg / (c->n ? c->n : 1);
        if (deg > c->max_deg)
            c->max_deg = deg;
        if (c->w) {
            sum = 0;
            for (uint32_t e = c->off[i]; e < c->off[i + 1]; e++) {
                if (c->w[e] > c->max_w)
                    c->max_w = c->w[e];
                if (!u64_add(sum, c->w[e], &sum))
                    return false;
            }
        }
        if (sum > c->max_sum)
            c->max_sum = sum;
        if (f.sums)
            f.sums[i] = sum;
        if (!f.mid)
            continue;
        f.mid[i] = csr_seek(c, i, i);
        if (f.mid[i] < c->off[i + 1] && c->adj[f.mid[i]] == i)
            c->has_loop = true;
    }
    return true;
}

static bool equal_sides(const struct csr *a, const struct csr *b)
{
    return a->same_sides && a->n_left == b->n_left && !a->w && !b->w &&
           memcmp(a->off, b->off, ((size_t)a->n_left + 1) * 4) == 0 &&
           memcmp(a->adj, b->adj, (size_t)a->n * 4) == 0;
}

/* The other direction, by counting. */
static enum status transpose(struct join *j, const struct csr *c, struct csr *t,
                             struct err *err)
{
    uint32_t *off = block_array(j, (size_t)c->n_right + 2, sizeof *off);
    uint32_t *adj = block_array(j, c->n, sizeof *adj);
    uint32_t *w = c->w ? block_array(j, c->n, sizeof *w) : NULL;
    uint64_t *wide =
        c->wide ? block_array(j, (size_t)c->n * c->wide_words, sizeof *wide)
                : NULL;
    if (!off || !adj || (c->w && !w) || (c->wide && !wide))
        return err_nomem(err);
    t->n_left = c->n_right;
    t->n_right = c->n_left;
    t->n = c->n;
    t->same_sides = c->same_sides;
    /* off is shifted by one while filling, so that it ends in place */
    for (uint32_t e = 0; e < c->n; e++)
        off[c->adj[e] + 2]++;
    for (uint32_t i = 0; i < c->n_right; i++)
        off[i + 2] += off[i + 1];
    for (uint32_t i = 0; i < c->n_left; i++)
        for (uint32_t e = c->off[i]; e < c->off[i + 1]; e++) {
            uint32_t at = off[c->adj[e] + 1]++;
            adj[at] = i;
            if (w)
                w[at] = c->w[e];
            if (wide)
                words_copy(wide + (size_t)at * c->wide_words,
                           c->wide + (size_t)e * c->wide_words, c->wide_words);
        }
    t->wide = wide;
    t->wide_words = c->wide_words;
    t->off = off;
    t->adj = adj;
    t->w = w;
    return OK;
}

static bool room_for(struct join *j, const struct csr *c, struct figures *f)
{
    f->mid = c->same_sides ? NEWS(&j->arena, uint32_t, c->n_left) : NULL;
    f->sums = c->w ? NEWS(&j->arena, uint64_t, c->n_left) : NULL;
    return (f->mid || !c->same_sides) && (f->sums || !c->w);
}

/* Gives c its reverse and its figures; *wide: a sum left 64 bits. */
static enum status complete(struct join *j, struct csr *c, bool *wide,
                            struct err *err)
{
    struct csr *t = NEW(&j->arena, struct csr);
    if (!t)
        return err_nomem(err);
    TRY(transpose(j, c, t, err));
    struct figures there, back;
    c->id = j->n_factors++;
    t->id = j->n_factors++;
    c->flip = equal_sides(c, t) ? c : t;
    t->flip = c;
    if (!room_for(j, c, &there))
        return err_nomem(err);
    *wide = !measure(c, there) || *wide;
    if (c->flip == c) {
        block_drop(j, t->off);
        block_drop(j, t->adj);
        return OK;
    }
    if (!room_for(j, t, &back))
        return err_nomem(err);
    *wide = !measure(t, back) || *wide;
    return OK;
}

/* --- from relations ------------------------------------------------------ */

struct csr_maker {
    struct join *j;
    const struct rel *r;
    const uint8_t *order;
    const struct trie *t; /* NULL: the rows as they are */
    bool kept;            /* the trie stays: its arrays may be used */
    uint32_t n_keep, n_counted;
    uint32_t n; /* distinct kept rows */
    bool ones;
};

enum row { ROW_SAME, ROW_COUNTED, ROW_FRESH };

static bool same_prefix(const struct trie *t, uint32_t n, uint32_t a,
                        uint32_t b)
{
    for (uint32_t c = n; c-- > 0;)
        if (t->cols[c][a] != t->cols[c][b])
            return false;
    return true;
}

/* What a row adds to those before it: kept values, counted values. */
static enum row row_kind(const struct csr_maker *k, uint32_t i)
{
    if (!i || !same_prefix(k->t, k->n_keep, i - 1, i))
        return ROW_FRESH;
    return k->n_counted &&
                   !same_prefix(k->t, k->n_keep + k->n_counted, i - 1, i)
               ? ROW_COUNTED
               : ROW_SAME;
}

static void count_rows(struct csr_maker *k)
{
    k->ones = true;
    for (uint32_t i = 0; i < k->t->n; i++) {
        enum row kind = row_kind(k, i);
        k->n += kind == ROW_FRESH;
        k->ones = k->ones && kind != ROW_COUNTED;
    }
}

static enum status copy_pairs(struct csr_maker *k, struct csr *c,
                              struct err *err)
{
    struct arena *a = &k->j->arena;
    uint32_t *off = NEWS(a, uint32_t, (size_t)c->n_left + 1);
    uint32_t *adj = NEWS(a, uint32_t, k->n);
    uint32_t *w = k->ones ? NULL : NEWS(a, uint32_t, k->n);
    uint32_t n = 0;
    if (!off || !adj || (!k->ones && !w))
        return err_nomem(err);
    for (uint32_t i = 0; i < k->t->n; i++) {
        enum row kind = row_kind(k, i);
        if (kind == ROW_FRESH) {
            off[k->t->cols[0][i] + 1]++;
            adj[n++] = k->t->cols[1][i];
        }
        if (w)
            w[n - 1] += kind != ROW_SAME;
    }
    for (uint32_t i = 0; i < c->n_left; i++)
        off[i + 1] += off[i];
    c->off = off;
    c->adj = adj;
    c->w = w;
    return OK;
}

/* Bucket by the right id, then those by the left id: neighbours rise. The
 * offsets are one place further while buckets fill, so that they end right. */
static void bucket_pairs(const struct csr_maker *k, const struct csr *c,
                         uint32_t *by_right, uint32_t *mates, uint32_t *off,
                         uint32_t *adj)
{
    const uint32_t *left = k->r->cols[k->order[0]];
    const uint32_t *right = k->r->cols[k->order[1]];
    for (uint32_t i = 0; i < k->r->n; i++) {
        by_right[right[i] + 2]++;
        off[left[i] + 2]++;
    }
    for (uint32_t i = 0; i < c->n_right; i++)
        by_right[i + 2] += by_right[i + 1];
    for (uint32_t i = 0; i < c->n_left; i++)
        off[i + 2] += off[i + 1];
    for (uint32_t i = 0; i < k->r->n; i++)
        mates[by_right[right[i] + 1]++] = left[i];
    for (uint32_t i = 0; i < c->n_right; i++)
        for (uint32_t e = by_right[i]; e < by_right[i + 1]; e++)
            adj[off[mates[e] + 1]++] = i;
}

/* Equal pairs, which are neighbours, become one; w: how many they were. */
static void merge_pairs(const struct csr *c, uint32_t *off, uint32_t *adj,
                        uint32_t *w)
{
    uint32_t n = 0, from = 0;
    for (uint32_t i = 0; i < c->n_left; i++) {
        uint32_t first = n, to = off[i + 1];
        for (uint32_t e = from; e < to; e++) {
            if (n == first || adj[n - 1] != adj[e])
                adj[n++] = adj[e];
            if (w)
                w[n - 1]++;
        }
        from = to;
        off[i + 1] = n;
    }
}

static uint32_t count_distinct(const struct csr *c, const uint32_t *off,
                               const uint32_t *adj)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_left; i++)
        for (uint32_t e = off[i]; e < off[i + 1]; e++)
            n += e == off[i] || adj[e] != adj[e - 1];
    return n;
}

/* The kept pairs of rows that all count, or that only have to exist. */
static enum status sort_pairs(struct csr_maker *k, struct csr *c,
                              struct err *err)
{
    struct join *j = k->j;
    uint32_t *off = block_array(j, (size_t)c->n_left + 2, sizeof *off);
    uint32_t *adj = block_array(j, k->r->n, sizeof *adj), *w = NULL;
    uint32_t *by_right = block_array(j, (size_t)c->n_right + 2, sizeof *off);
    uint32_t *mates = block_array(j, k->r->n, sizeof *mates);
    if (!off || !adj || !by_right || !mates)
        return err_nomem(err);
    bucket_pairs(k, c, by_right, mates, off, adj);
    block_drop(j, mates);
    block_drop(j, by_right);
    c->n = count_distinct(c, off, adj);
    if (c->n < k->r->n) {
        if (k->n_counted && !(w = block_array(j, c->n, sizeof *w)))
            return err_nomem(err);
        merge_pairs(c, off, adj, w);
        adj = block_cut(j, adj, (size_t)c->n * sizeof *adj);
    }
    c->off = off;
    c->adj = adj;
    c->w = w;
    return OK;
}

static enum status pairs_of(struct csr_maker *k, uint32_t n_left,
                            uint32_t n_right, bool same, struct factor *f,
                            struct err *err)
{
    struct csr *c = NEW(&k->j->arena, struct csr);
    bool wide = false;
    if (!c)
        return err_nomem(err);
    c->n_left = n_left;
    c->n_right = n_right;
    c->same_sides = same;
    c->n = k->n;
    if (!k->t) {
        TRY(sort_pairs(k, c, err));
    } else if (k->n == k->t->n && k->kept) {
        c->off = k->t->off;
        c->adj = k->t->cols[1];
    } else {
        TRY(copy_pairs(k, c, err));
    }
    TRY(complete(k->j, c, &wide, err));
    f->pairs = c;
    return OK;
}

static enum status unary_of(struct csr_maker *k, uint32_t size,
                            struct factor *f, struct err *err)
{
    uint64_t *u = NEWS(&k->j->arena, uint64_t, size);
    if (!u)
        return err_nomem(err);
    const uint32_t *col = k->r->cols[k->order[0]];
    for (uint32_t i = 0; !k->t && i < k->r->n; i++)
        u[col[i]] = k->n_counted ? u[col[i]] + 1 : 1;
    for (uint32_t i = 0; k->t && i < k->t->n; i++)
        u[k->t->cols[0][i]] += row_kind(k, i) != ROW_SAME;
    f->unary = u;
    return OK;
}

/* The number of distinct counted values. */
static uint64_t scalar_of(const struct csr_maker *k)
{
    uint64_t n = 0;
    if (!k->t)
        return k->n_counted || !k->r->n ? k->r->n : 1;
    for (uint32_t i = 0; i < k->t->n; i++)
        n += row_kind(k, i) != ROW_SAME;
    return n;
}

static enum status fill_factor(struct csr_maker *k, struct factor *f,
                               struct err *err)
{
    struct join *j = k->j;
    const uint32_t *dom = k->r->dom;
    const uint8_t *o = k->order;
    f->n_keep = k->n_keep;
    f->id = j->n_factors++;
    if (k->t)
        count_rows(k);
    if (k->n_keep == 0) {
        f->scalar = scalar_of(k);
        return OK;
    }
    if (k->n_keep == 1)
        return unary_of(k, j->doms[dom[o[0]]].n, f, err);
    return pairs_of(k, j->doms[dom[o[0]]].n, j->doms[dom[o[1]]].n,
                    dom[o[0]] == dom[o[1]], f, err);
}

static enum status make_new(struct join *j, struct rel *r, const uint8_t *order,
                            uint32_t n_keep, uint32_t n_counted,
                            struct factor *f, struct err *err)
{
    struct csr_maker k = {.j = j,
                          .r = r,
                          .order = order,
                          .n_keep = n_keep,
                          .n_counted = n_counted,
                          .kept = n_keep == r->n_cols};
    struct arena scratch;
    if (k.kept && n_keep) {
        TRY(rel_trie(j, r, order, &k.t, err));
        return fill_factor(&k, f, err);
    }
    /* if all other columns are counted every row counts, as rows differ; if
     * none is, it only matters that there is one: no order is needed */
    if (!n_counted || n_keep + n_counted == r->n_cols)
        return fill_factor(&k, f, err);
    /* such an order is of no use later */
    arena_init(&scratch, j->mem);
    enum status s = rel_trie_once(j, r, order, &scratch, &k.t, err);
    if (s == OK)
        s = fill_factor(&k, f, err);
    arena_fini(&scratch);
    return s;
}

enum status factor_make(struct join *j, struct rel *r, const uint8_t *keep,
                        uint32_t n_keep, const uint8_t *counted,
                        uint32_t n_counted, const struct factor **out,
                        struct err *err)
{
    /* key: relation, how many of each, the order of all columns */
    uint8_t key[MAX_VARS + 8] = {0};
    bool used[MAX_VARS] = {false};
    uint32_t n = 0;
    memcpy(key, &r->id, sizeof r->id);
    key[4] = (uint8_t)n_keep;
    key[5] = (uint8_t)n_counted;
    uint8_t *order = key + 8;
    for (uint32_t i = 0; i < n_keep; i++)
        order[n++] = keep[i];
    for (uint32_t i = 0; i < n_counted; i++)
        order[n++] = counted[i];
    for (uint32_t i = 0; i < n; i++)
        used[order[i]] = true;
    for (uint32_t c = 0; c < r->n_cols; c++)
        if (!used[c])
            order[n++] = (uint8_t)c;
    struct str name = {(const char *)key, 8 + n};
    uint64_t *found = map_find(&j->factors, name);
    if (found) {
        *out = (const struct factor *)(uintptr_t)*found;
        return OK;
    }
    struct factor *f = NEW(&j->arena, struct factor);
    name.p = arena_strdup(&j->arena, name.p, name.n);
    if (!f || !name.p)
        return err_nomem(err);
    TRY(make_new(j, r, order, n_keep, n_counted, f, err));
    *out = f;
    return map_put(&j->factors, name, (uint64_t)(uintptr_t)f, NULL)
               ? OK
               : err_nomem(err);
}

/* --- intersecting -------------------------------------------------------- */

/* The weight of a pair, into z of n words. */
static void weight_of(const struct csr *c, uint32_t e, uint64_t *z, uint32_t n)
{
    if (!c->wide)
        words_set(z, c->w ? c->w[e] : 1, n);
    for (uint32_t i = 0; c->wide && i < n; i++)
        z[i] = i < c->wide_words ? c->wide[(size_t)e * c->wide_words + i] : 0;
}

/* Products of as many words as they can need. */
static enum status wide_weights(struct join *j, const struct csr *a,
                                const struct csr *b, struct csr *c,
                                struct err *err)
{
    uint32_t n = (a->wide ? a->wide_words : 0) + (b->wide ? b->wide_words : 0);
    uint64_t y[WORDS_MOST];
    n += !a->wide || !b->wide;
    n = n < WORDS_MOST ? n : WORDS_MOST;
    uint64_t *out = block_array(j, (size_t)c->n * n, sizeof *out);
    if (!out)
        return err_nomem(err);
    for (uint32_t i = 0; i < c->n_left; i++)
        for (uint32_t e = c->off[i]; e < c->off[i + 1]; e++) {
            weight_of(a, csr_seek(a, i, c->adj[e]), out + (size_t)e * n, n);
            weight_of(b, csr_seek(b, i, c->adj[e]), y, n);
            words_mul(out + (size_t)e * n, y, n, n);
        }
    c->wide = out;
    c->wide_words = n;
    return OK;
}

static enum status intersect_new(struct join *j, const struct csr *a,
                                 const struct csr *b, struct csr *c, bool *wide,
                                 bool anyway, struct err *err)
{
    uint32_t most = a->n < b->n ? a->n : b->n;
    uint32_t *off = NEWS(&j->arena, uint32_t, (size_t)a->n_left + 1);
    uint32_t *adj = block_array(j, most, sizeof *adj);
    uint32_t *w = a->w || b->w ? block_array(j, most, sizeof *w) : NULL;
    if (!off || !adj || ((a->w || b->w) && !w))
        return err_nomem(err);
    for (uint32_t i = 0; i < a->n_left; i++) {
        uint32_t x = a->off[i], y = b->off[i];
        while (x < a->off[i + 1] && y < b->off[i + 1]) {
            if (a->adj[x] == b->adj[y]) {
                uint64_t both =
                    (uint64_t)(a->w ? a->w[x] : 1) * (b->w ? b->w[y] : 1);
                *wide = *wide || both > UINT32_MAX;
                if (w)
                    w[c->n] = (uint32_t)both;
                adj[c->n++] = a->adj[x];
            }
            uint32_t p = a->adj[x], q = b->adj[y];
            x += p <= q;
            y += q <= p;
        }
        off[i + 1] = c->n;
    }
    c->n_left = a->n_left;
    c->n_right = a->n_right;
    c->same_sides = a->same_sides;
    c->off = off;
    c->adj = block_cut(j, adj, (size_t)c->n * sizeof *adj);
    if (*wide && anyway)
        TRY(wide_weights(j, a, b, c, err));
    c->w = w ? block_cut(j, w, (size_t)c->n * sizeof *w) : NULL;
    return complete(j, c, wide, err);
}

enum status csr_intersect(struct join *j, const struct csr *a,
                          const struct csr *b, const struct csr **out,
                          bool *wide, struct err *err)
{
    bool anyway = *wide;
    if (a == b && !a->w) {
        *out = a;
        return OK;
    }
    *wide = a->wide || b->wide;
    uint32_t ids[3] = {UINT32_MAX - (anyway ? 2 : 0), a->id, b->id};
    struct str name = {(const char *)ids, sizeof ids};
    uint64_t *found = map_find(&j->factors, name);
    if (found) {
        *out = (const struct csr *)(uintptr_t)*found;
        return OK;
    }
    struct csr *c = NEW(&j->arena, struct csr);
    name.p = arena_strdup(&j->arena, name.p, name.n);
    if (!c || !name.p)
        return err_nomem(err);
    TRY(intersect_new(j, a, b, c, wide, anyway, err));
    *out = c;
    if (*wide &&
        !anyway) /* not remembered, so that the flag is raised each time */
        return OK;
    return map_put(&j->factors, name, (uint64_t)(uintptr_t)c, NULL)
               ? OK
               : err_nomem(err);
}

/* --- fewer rows ---------------------------------------------------------- */

static uint32_t clamped(uint32_t x, uint32_t lo, uint32_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

enum status csr_within(struct join *j, const struct csr *c, uint32_t lo,
                       uint32_t hi, const struct csr **out, struct err *err)
{
    uint32_t from = c->off[lo < hi ? lo : hi], to = c->off[hi];
    uint32_t ids[4] = {UINT32_MAX - 1, c->id, lo, hi};
    struct str name = {(const char *)ids, sizeof ids};
    uint64_t *found = map_find(&j->factors, name);
    bool wide = false;
    *out = found ? (const struct csr *)(uintptr_t)*found : c;
    if (found || to - from == c->n)
        return OK;
    struct csr *x = NEW(&j->arena, struct csr);
    uint32_t *off = NEWS(&j->arena, uint32_t, (size_t)c->n_left + 1);
    name.p = arena_strdup(&j->arena, name.p, name.n);
    if (!x || !off || !name.p)
        return err_nomem(err);
    for (uint32_t i = 0; i <= c->n_left; i++)
        off[i] = clamped(c->off[i], from, to) - from;
    x->n_left = c->n_left;
    x->n_right = c->n_right;
    x->n = to - from;
    x->same_sides = c->same_sides;
    x->off = off;
    x->adj = c->adj + from;
    x->w = c->w ? c->w + from : NULL;
    TRY(complete(j, x, &wide, err));
    *out = x;
    return map_put(&j->factors, name, (uint64_t)(uintptr_t)x, NULL)
               ? OK
               : err_nomem(err);
}
