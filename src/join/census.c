/*
 * Counts by several keys at once: see census.h.
 *
 * Atoms are hung up as a tree by removing ears. A row's weight is the product
 * of what its neighbours tell about the values that they share; sums of such
 * products go up to the root and down again, after which every row knows in
 * how many results it stands, and so does every key.
 *
 * Cost: a pass looks at every row twice, however many results there are.
 */
#include "join/census_int.h"

#include <string.h>

/* --- the tree ------------------------------------------------------------- */

static uint32_t column_of(const struct jatom *at, uint32_t v)
{
    uint32_t i = 0;
    while (at->vars[i] != v)
        i++;
    return i;
}

/* The first ear among `left`: what it shares with the rest lies in one other
 * atom. false: the query is cyclic. */
static bool find_ear(const struct join_census *c, aset left, uint32_t *ear,
                     uint32_t *parent)
{
    ASET_EACH (i, left) {
        vset rest = 0;
        ASET_EACH (k, left & ~aset_one(i))
            rest |= c->node[k].vars;
        ASET_EACH (k, left & ~aset_one(i))
            if (vset_sub(c->node[i].vars & rest, c->node[k].vars)) {
                *ear = i;
                *parent = k;
                return true;
            }
    }
    return false;
}

static bool hang_up(struct join_census *c)
{
    aset left = aset_first_n(c->n);
    for (uint32_t at = 0; at + 1 < c->n; at++) {
        uint32_t ear, parent;
        if (!find_ear(c, left, &ear, &parent))
            return false;
        struct census_node *p = &c->node[parent];
        c->order[at] = ear;
        c->node[ear].parent = parent;
        p->kid[p->n_kids++] = ear;
        left &= ~aset_one(ear);
    }
    ASET_EACH (i, left)
        c->order[c->n - 1] = i;
    return true;
}

/* --- links ---------------------------------------------------------------- */

/* Values of several variables by number: a hash table of the kid's rows. */
struct link_table {
    uint32_t n_cols, slots; /* a power of two */
    uint32_t *cols[MAX_VARS + MAX_ATOMS + 17];
    uint32_t *slot; /* row + 1 of the kid */
    uint32_t *number;
};

static uint64_t hash_row(uint32_t *const *cols, uint32_t n, uint32_t row)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ cols[i][row]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static bool same_row(uint32_t *const *a, uint32_t x, uint32_t *const *b,
                     uint32_t y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i][x] != b[i][y])
            return false;
    return true;
}

/* Numbers rows by their values in cols: equal values, equal numbers. */
static uint32_t number_rows(struct link_table *t, uint32_t n)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = hash_row(t->cols, t->n_cols, i) & (t->slots - 1);
        while (t->slot[at] &&
               !same_row(t->cols, t->slot[at] - 1, t->cols, i, t->n_cols))
            at = (at + 1) & (t->slots - 1);
        if (!t->slot[at]) {
            t->slot[at] = i + 1;
            t->number[i] = next++;
        }
        t->number[i] = t->number[t->slot[at] - 1];
    }
    return next;
}

static enum status table_open(struct arena *a, uint32_t n, struct link_table *t,
                              struct err *err)
{
    t->slots = 16;
    while (t->slots < 2 * (uint64_t)n && t->slots < (1u << 31))
        t->slots *= 2;
    t->slot = NEWS(a, uint32_t, t->slots);
    t->number = NEWS(a, uint32_t, (size_t)n + 1);
    return t->slot && t->number ? OK : err_nomem(err);
}

/* The kid's numbers, or `none`, of the parent's rows. */
static void find_rows(const struct link_table *t, uint32_t *const *cols,
                      uint32_t n, uint32_t none, uint32_t *out)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = hash_row(cols, t->n_cols, i) & (t->slots - 1);
        while (t->slot[at] &&
               !same_row(t->cols, t->slot[at] - 1, cols, i, t->n_cols))
            at = (at + 1) & (t->slots - 1);
        out[i] = t->slot[at] ? t->number[t->slot[at] - 1] : none;
    }
}

/* One shared variable: its ids are the link's values. */
static void link_plainly(struct join_census *c, uint32_t kid, uint32_t v,
                         uint32_t **theirs)
{
    const struct jatom *at = &c->j->atoms[kid];
    const struct jatom *above = &c->j->atoms[c->node[kid].parent];
    c->node[kid].up_size = c->j->doms[c->j->dom_of[v]].n;
    c->node[kid].up = at->rel->cols[column_of(at, v)];
    *theirs = above->rel->cols[column_of(above, v)];
}

static enum status link_kid(struct join_census *c, uint32_t kid,
                            uint32_t **theirs, struct err *err)
{
    struct census_node *n = &c->node[kid];
    const struct jatom *at = &c->j->atoms[kid],
                       *above = &c->j->atoms[n->parent];
    vset both = n->vars & c->node[n->parent].vars;
    uint32_t *cols[MAX_VARS];
    struct link_table t = {0};
    if (vset_count(both) == 1) {
        link_plainly(c, kid, vset_min(both), theirs);
        return OK;
    }
    VSET_EACH (v, both) {
        cols[t.n_cols] = above->rel->cols[column_of(above, v)];
        t.cols[t.n_cols++] = at->rel->cols[column_of(at, v)];
    }
    TRY(table_open(&c->arena, at->rel->n, &t, err));
    n->up = t.number;
    n->up_size = number_rows(&t, at->rel->n);
    *theirs = NEWS(&c->arena, uint32_t, (size_t)above->rel->n + 1);
    if (!*theirs)
        return err_nomem(err);
    find_rows(&t, cols, above->rel->n, census_nothing(n), *theirs);
    return OK;
}

/* --- rows ----------------------------------------------------------------- */

/* Ids of a key's values. */
static enum status read_who(struct join_census *c, uint32_t key,
                            struct err *err)
{
    const struct join *j = c->j;
    uint32_t v = j->q->outs[key].id, at = 0;
    while (!vset_has(c->node[at].vars, v))
        at++;
    struct census_node *n = &c->node[at];
    const struct dom *d = &j->doms[j->dom_of[v]];
    uint32_t *of = NEWS(&c->arena, uint32_t, (size_t)d->n + 1);
    uint32_t *who = NEWS(&c->arena, uint32_t, (size_t)n->n + 1);
    if (!of || !who)
        return err_nomem(err);
    for (uint32_t id = 0; id < d->n; id++) {
        struct value value = dom_value(d, id);
        if (value.is_null || value.i < 0 || value.i >= c->ids)
            return err_internal(err, "join_census");
        of[id] = (uint32_t)value.i;
    }
    const uint32_t *col = j->atoms[at].rel->cols[column_of(&j->atoms[at], v)];
    for (uint32_t i = 0; i < n->n; i++)
        who[i] = of[col[i]];
    n->role[n->n_roles] = key;
    n->who[n->n_roles++] = who;
    return OK;
}

/* What each row weighs, by the weight's variable in the first atom with it. */
static enum status read_times(struct join_census *c, struct err *err)
{
    vset w = cq_weight_var(c->j->q);
    for (uint32_t a = 0; a < c->n; a++) {
        struct census_node *n = &c->node[a];
        n->times = NEWS(&c->arena, u128, (size_t)n->n + 1);
        if (!n->times)
            return err_nomem(err);
        for (uint32_t i = 0; i < n->n; i++)
            n->times[i] = 1;
        if (!(n->vars & w))
            continue;
        uint32_t v = vset_min(w);
        const struct dom *d = &c->j->doms[c->j->dom_of[v]];
        const uint32_t *col =
            c->j->atoms[a].rel->cols[column_of(&c->j->atoms[a], v)];
        for (uint32_t i = 0; i < n->n; i++) {
            struct value value = dom_value(d, col[i]);
            n->times[i] = cq_weight_of(&c->j->q->weight, &value);
        }
        w = 0;
    }
    return OK;
}

/* Columns that tell rows apart. */
static uint32_t list_columns(struct census_node *n, bool root, uint32_t **cols,
                             uint32_t ***where)
{
    uint32_t m = 0;
    if (!root)
        where[m++] = &n->up;
    for (uint32_t i = 0; i < n->n_kids; i++)
        where[m++] = &n->kid_key[i];
    for (uint32_t i = 0; i < n->n_roles; i++)
        where[m++] = &n->who[i];
    for (uint32_t i = 0; i < m; i++)
        cols[i] = *where[i];
    return m;
}

enum status join_census_merge(struct join_census *c, struct census_node *n,
                              struct arena *a, struct err *err)
{
    enum { MOST = MAX_ATOMS + 1 + 16 };
    uint32_t **where[MOST];
    struct link_table t = {0};
    struct arena scratch;
    arena_init(&scratch, c->j->mem);
    t.n_cols = list_columns(n, n->parent == UINT32_MAX, t.cols, where);
    enum status s = table_open(&scratch, n->n, &t, err);
    uint32_t rows = s == OK ? number_rows(&t, n->n) : 0;
    u128 *times = NEWS(a, u128, (size_t)rows + 1);
    if (s == OK && !times)
        s = err_nomem(err);
    for (uint32_t r = 0; s == OK && r < n->n; r++)
        times[t.number[r]] = count_add(times[t.number[r]], n->times[r]);
    for (uint32_t i = 0; s == OK && i < t.n_cols; i++) {
        uint32_t *to = NEWS(a, uint32_t, (size_t)rows + 1);
        if (!to)
            s = err_nomem(err);
        for (uint32_t r = 0; to && r < n->n; r++)
            to[t.number[r]] = t.cols[i][r];
        *where[i] = to;
    }
    n->times = times;
    n->n = rows;
    arena_fini(&scratch);
    return s;
}

static enum status make_room(struct join_census *c, struct err *err)
{
    for (uint32_t a = 0; a < c->n; a++) {
        struct census_node *n = &c->node[a];
        size_t links = census_links(n);
        n->kind = NEWS(&c->arena, uint8_t, (size_t)n->n + 1);
        n->only = NEWS(&c->arena, uint32_t, (size_t)n->n + 1);
        n->rise = NEWS(&c->arena, u128, links);
        n->sink = NEWS(&c->arena, u128, links);
        n->rise_one = NEWS(&c->arena, u128, links);
        n->sink_one = NEWS(&c->arena, u128, links);
        if (!n->kind || !n->only || !n->rise || !n->sink || !n->rise_one ||
            !n->sink_one)
            return err_nomem(err);
    }
    return OK;
}

static enum status read_all(struct join_census *c, struct err *err)
{
    for (uint32_t a = 0; a < c->n; a++)
        for (uint32_t i = 0; i < c->node[a].n_kids; i++)
            TRY(link_kid(c, c->node[a].kid[i], &c->node[a].kid_key[i], err));
    for (uint32_t key = 0; key < c->n_keys; key++)
        TRY(read_who(c, key, err));
    TRY(read_times(c, err));
    for (uint32_t a = 0; a < c->n; a++)
        TRY(join_census_merge(c, &c->node[a], &c->arena, err));
    TRY(join_census_align(c, &c->arena, err));
    TRY(make_room(c, err));
    memcpy(c->whole, c->node, c->n * sizeof *c->node);
    return OK;
}

/* Is every variable counted, and no comparison left? Public. */
static bool can_do(const struct join *j)
{
    const struct cq *q = j->q;
    vset all = 0;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        all |= j->atoms[i].set;
    for (uint32_t i = 0; i < j->n_cmps; i++) {
        vset both = vset_one(j->cmps[i].l) | vset_one(j->cmps[i].r);
        bool decided = false;
        for (uint32_t k = 0; k < q->n_atoms; k++)
            decided = decided || vset_sub(both, j->atoms[k].set);
        if (!decided)
            return false;
    }
    for (uint32_t i = 0; i < q->n_group; i++)
        if (q->outs[i].kind != TERM_VAR || !vset_has(all, q->outs[i].id))
            return false;
    return q->n_atoms && q->n_group <= 16 && !q->unsat &&
           vset_sub(all, cq_free(q)) && (!q->weight.on || cq_weight_var(q));
}

static enum status census_make(struct join_census *c, bool *fits,
                               struct err *err)
{
    struct join *j = c->j;
    c->node = NEWS(&c->arena, struct census_node, c->n);
    c->whole = NEWS(&c->arena, struct census_node, c->n);
    if (!c->node || !c->whole)
        return err_nomem(err);
    for (uint32_t a = 0; a < c->n; a++) {
        c->node[a].vars = j->atoms[a].set;
        c->node[a].n = j->atoms[a].rel->n;
        c->node[a].parent = UINT32_MAX;
    }
    *fits = hang_up(c);
    return *fits ? read_all(c, err) : OK;
}

enum status join_census_open(struct join *j, uint32_t ids,
                             struct join_census **out, struct err *err)
{
    bool fits = false;
    *out = NULL;
    TRY(join_encode(j, err));
    if (!can_do(j))
        return OK;
    struct join_census *c = mem_alloc(j->mem, sizeof *c);
    if (!c)
        return store_nomem(j->mem, err);
    c->j = j;
    c->ids = ids;
    c->n = j->q->n_atoms;
    c->n_keys = j->q->n_group;
    arena_init(&c->arena, j->mem);
    arena_init(&c->narrow, j->mem);
    c->arena.wipe = c->narrow.wipe = true;
    enum status s = census_make(c, &fits, err);
    if (s == OK && fits)
        *out = c;
    else
        join_census_close(c);
    return s;
}

void join_census_close(struct join_census *c)
{
    if (!c)
        return;
    struct mem *m = c->j->mem;
    arena_fini(&c->narrow);
    arena_fini(&c->arena);
    mem_free(m, c, sizeof *c);
}

/* --- a pass --------------------------------------------------------------- */

struct census_pass {
    struct join_census *c;
    const uint8_t *mark;
    const uint64_t *part; /* NULL: results with FREE keys alone */
    struct census_counts *out;
    u128 *near;
};

static struct census_pair times_pair(struct census_pair a, struct census_pair b,
                                     bool two)
{
    struct census_pair p = {count_mul(a.none, b.none), 0};
    if (two)
        p.one = count_add(count_mul(a.none, b.one), count_mul(a.one, b.none));
    return p;
}

static void add_pair(u128 *none, u128 *one, uint32_t at, struct census_pair v,
                     bool two)
{
    none[at] = count_add(none[at], v.none);
    if (two)
        one[at] = count_add(one[at], v.one);
}

/* What kid k tells row i. */
static struct census_pair told_by(const struct census_pass *x,
                                  const struct census_node *n, uint32_t k,
                                  uint32_t i)
{
    const struct census_node *kid = &x->c->node[n->kid[k]];
    uint32_t key = n->kid_key[k][i];
    return (struct census_pair){kid->rise[key],
                                x->part ? kid->rise_one[key] : 0};
}

static void clear(const struct census_node *n, u128 *none, u128 *one, bool two)
{
    memset(none, 0, census_links(n) * sizeof *none);
    if (two)
        memset(one, 0, census_links(n) * sizeof *one);
}

static bool is_zero(struct census_pair v)
{
    return !v.none && !v.one;
}

/* FREE: no key is marked; MARKED: one is; OUT: more are, or one is OUT. */
static void classify(struct census_node *n, const uint8_t *mark)
{
    memset(n->kind, CENSUS_FREE, n->n);
    for (uint32_t r = 0; r < n->n_roles; r++) {
        const uint32_t *who = n->who[r];
        for (uint32_t i = 0; i < n->n; i++) {
            uint8_t m = mark[who[i]];
            if (m == CENSUS_FREE)
                continue;
            if (m == CENSUS_MARKED)
                n->only[i] = who[i];
            n->kind[i] =
                n->kind[i] || m == CENSUS_OUT ? CENSUS_OUT : CENSUS_MARKED;
        }
    }
}

/* What a row is by itself. */
static struct census_pair own_of(const struct census_pass *x,
                                 const struct census_node *n, uint32_t i)
{
    if (n->kind[i] == CENSUS_FREE)
        return (struct census_pair){n->times[i], 0};
    if (n->kind[i] == CENSUS_MARKED && x->part)
        return (struct census_pair){
            0, count_mul(n->times[i], x->part[n->only[i]])};
    return (struct census_pair){0, 0};
}

static void rise(const struct census_pass *x, struct census_node *n)
{
    bool two = x->part != NULL;
    clear(n, n->rise, n->rise_one, two);
    n->rise[census_one(n)] = 1;
    for (uint32_t i = 0; i < n->n; i++) {
        struct census_pair p = own_of(x, n, i);
        for (uint32_t k = 0; k < n->n_kids && !is_zero(p); k++)
            p = times_pair(p, told_by(x, n, k, i), two);
        if (!is_zero(p))
            add_pair(n->rise, n->rise_one, n->up[i], p, two);
    }
}

/* What a row's results come to, for its keys. */
static void tell_keys(const struct census_pass *x, const struct census_node *n,
                      uint32_t i, struct census_pair all)
{
    if (x->part) {
        u128 v = times_pair(all, own_of(x, n, i), true).one;
        for (uint32_t r = 0; v && r < n->n_roles; r++) {
            uint32_t u = n->who[r][i];
            if (x->mark[u] == CENSUS_FREE)
                x->near[u] = count_add(x->near[u], v);
        }
        return;
    }
    u128 v = count_mul(all.none, n->times[i]);
    if (n->kind[i] == CENSUS_MARKED && x->out->alone) {
        u128 *to = &x->out->alone[n->only[i]];
        *to = count_add(*to, v);
    }
    for (uint32_t r = 0; n->kind[i] == CENSUS_FREE && r < n->n_roles; r++) {
        uint32_t u = n->who[r][i];
        u128 *of = x->out->key[n->role[r]];
        if (of)
            of[u] = count_add(of[u], v);
        if (x->out->free)
            x->out->free[u] = count_add(x->out->free[u], v);
    }
}

/* Row i: what comes from all sides, and down to each kid what comes from the
 * others. */
static inline void sink_row(const struct census_pass *x,
                            const struct census_node *n, uint32_t i, bool two)
{
    struct census_pair before[MAX_ATOMS + 1], after = own_of(x, n, i);
    before[0] = (struct census_pair){1, 0};
    if (n->parent != UINT32_MAX)
        before[0] = (struct census_pair){n->sink[n->up[i]],
                                         two ? n->sink_one[n->up[i]] : 0};
    for (uint32_t k = 0; k < n->n_kids; k++)
        before[k + 1] = is_zero(before[k])
                            ? before[k]
                            : times_pair(before[k], told_by(x, n, k, i), two);
    struct census_pair all = before[n->n_kids];
    if (!is_zero(all))
        tell_keys(x, n, i, all);
    if (n->parent == UINT32_MAX && !two)
        x->out->total =
            count_add(x->out->total, count_mul(all.none, after.none));
    for (uint32_t k = n->n_kids; k-- > 0 && !is_zero(after);) {
        struct census_pair p = times_pair(before[k], after, two);
        struct census_node *kid = &x->c->node[n->kid[k]];
        if (!is_zero(p))
            add_pair(kid->sink, kid->sink_one, n->kid_key[k][i], p, two);
        after = times_pair(after, told_by(x, n, k, i), two);
    }
}

static void sink(const struct census_pass *x, struct census_node *n)
{
    for (uint32_t k = 0; k < n->n_kids; k++) {
        struct census_node *kid = &x->c->node[n->kid[k]];
        clear(kid, kid->sink, kid->sink_one, x->part != NULL);
    }
    for (uint32_t i = 0; x->part && i < n->n; i++)
        if (n->kind[i] != CENSUS_OUT)
            sink_row(x, n, i, true);
    for (uint32_t i = 0; !x->part && i < n->n; i++)
        if (n->kind[i] != CENSUS_OUT)
            sink_row(x, n, i, false);
}

static enum status pass(const struct census_pass *x, struct err *err)
{
    struct join_census *c = x->c;
    for (uint32_t a = 0; a < c->n; a++)
        classify(&c->node[a], x->mark);
    for (uint32_t at = 0; at + 1 < c->n; at++)
        rise(x, &c->node[c->order[at]]);
    for (uint32_t at = c->n; at-- > 0;)
        sink(x, &c->node[c->order[at]]);
    return join_cancelled(c->j)
               ? err_set(err, E_CANCELLED, "counting was stopped")
               : OK;
}

enum status join_census_count(struct join_census *c, const uint8_t *mark,
                              struct census_counts *out, struct err *err)
{
    struct census_pass x = {.c = c, .mark = mark, .out = out};
    size_t size = ((size_t)c->ids + 1) * sizeof(u128);
    for (uint32_t i = 0; i < c->n_keys; i++)
        if (out->key[i])
            memset(out->key[i], 0, size);
    if (out->free)
        memset(out->free, 0, size);
    if (out->alone)
        memset(out->alone, 0, size);
    out->total = 0;
    return pass(&x, err);
}

enum status join_census_near(struct join_census *c, const uint8_t *mark,
                             const uint64_t *part, u128 *near, struct err *err)
{
    struct census_pass x = {.c = c, .mark = mark, .part = part, .near = near};
    memset(near, 0, ((size_t)c->ids + 1) * sizeof *near);
    return pass(&x, err);
}
