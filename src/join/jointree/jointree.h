/*
 * Trees of variables and their evaluation: counts as messages from the
 * leaves to the root, once some variables (the fixed ones) have values.
 *
 * The support of a node is a list of ids, from the neighbours of a fixed
 * variable, or from a child's message, or all ids. A message goes up either
 * by push (from the child's ids to their neighbours) or by pull (from the
 * parent's ids), whichever touches fewer pairs. Arrays are dense and reset
 * by the list of touched ids.
 */
#ifndef JOIN_JOINTREE_H
#define JOIN_JOINTREE_H

#include "join/graph/graph.h"

struct tlist { /* neighbours of fixed variable x */
    uint8_t x;
    const struct csr *c;
};

struct tnode {
    uint8_t var, power; /* as a child: its message counts this often */
    uint8_t n_kids, n_lists;
    bool is_free;      /* a leaf that only limits and exclusions restrict */
    bool is_mark;      /* a leaf of ones: kept as bytes */
    bool above_parent; /* its id is above the parent's */
    bool falling;      /* the power is falling: twins, all different */
    enum walk_kind kind;
    uint32_t n;
    gset differ;          /* fixed variables whose id it must not have */
    gset below, above;    /* fixed variables whose id it must be below, above */
    uint64_t cap;         /* no value is larger; 0: not known */
    const struct csr *up; /* from the parent's ids to this one's */
    const uint64_t *unary;
    uint8_t kids[G_VARS];
    struct tlist lists[G_VARS];
};

/* Ids from here on are out. */
static inline uint32_t tnode_limit(const struct tnode *n, const uint32_t *fixed)
{
    uint32_t limit = n->n;
    for (gset s = n->below; s; s &= s - 1) {
        uint32_t id = fixed[__builtin_ctz(s)];
        if (id < limit)
            limit = id;
    }
    return limit;
}

/* The first id that no fixed variable leaves out from below. */
static inline uint32_t tnode_start(const struct tnode *n, const uint32_t *fixed)
{
    uint32_t start = 0;
    for (gset s = n->above; s; s &= s - 1) {
        uint32_t id = fixed[__builtin_ctz(s)];
        if (id >= start)
            start = id + 1;
    }
    return start;
}

static inline bool tnode_excluded(const struct tnode *n, const uint32_t *fixed,
                                  uint32_t id)
{
    if (n->above && id < tnode_start(n, fixed))
        return true;
    for (gset s = n->differ; s; s &= s - 1)
        if (fixed[__builtin_ctz(s)] == id)
            return true;
    return false;
}

/* The first pair of the parent's `id` that the child may take. */
static inline uint32_t tnode_first(const struct tnode *k, uint32_t id)
{
    return k->above_parent ? csr_seek(k->up, id, id + 1) : k->up->off[id];
}

/* Pairs of the ids, or more than `enough`. */
static inline uint64_t csr_pairs_from(const struct csr *c, const uint32_t *ids,
                                      uint32_t n, uint64_t enough)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n && sum <= enough; i++)
        sum += c->off[ids[i] + 1] - c->off[ids[i]];
    return sum;
}

/* Is it less work that the child's ids send what they have to their
 * neighbours `to` than that those ask for it? Not of a free child. */
static inline bool tnode_pushes(const struct tnode *kid, const uint32_t *to,
                                uint32_t n_to, const uint32_t *from,
                                uint32_t n_from)
{
    uint64_t by_pull = csr_pairs_from(kid->up, to, n_to, UINT64_MAX);
    return 2 * csr_pairs_from(kid->up->flip, from, n_from, by_pull) < by_pull;
}

/* Neighbours of the parent's `id` that a free leaf may take. */
uint64_t tnode_count_free(const struct tnode *k, const uint32_t *fixed,
                          uint32_t id);

struct jtree {
    uint32_t n_nodes; /* node 0 is the root */
    struct tnode node[G_VARS];
};

/* What is restricted besides the graph's own inequalities. */
struct jtree_limits {
    gset below_first; /* variables below the variable `first` */
    uint8_t first;
};

/* The tree over `comp` rooted at `root`; edges to `fixed` become lists. With
 * `spanning`, edges beyond a tree are dropped and kinds do not matter (an
 * upper bound); else *ok is false if there are such edges or if a sum would
 * stand inside an exists or a max inside a sum. */
void jtree_make(const struct graph *g, gset comp, gset fixed, unsigned root,
                const struct jtree_limits *lim, bool spanning, struct jtree *t,
                bool *ok);

struct nwork {
    uint64_t *val;
    uint8_t *mark, *mark_buf; /* mark: set while the node is a mark */
    uint32_t *ids;            /* the support */
    uint32_t n_ids;
    uint64_t top; /* largest value */
};

/* Scratch of one thread, for one tree at a time. */
struct twork {
    struct arena arena;
    struct nwork node[G_VARS];
    uint64_t *acc; /* a pushed message */
    uint32_t *acc_ids;
    uint64_t ids; /* that had a value: what was worked so far, about */
    bool wide;    /* a number left 64 bits: the result does not count */
};

/* Room for trees of n_nodes nodes over at most n_ids ids. */
enum status twork_open(struct twork *w, struct mem *m, uint32_t n_nodes,
                       uint32_t n_ids, struct err *err) WARN_UNUSED;
void twork_close(struct twork *w);

/* Fills w->node[0] with the root's values. `only` (may be NULL): the ids
 * that are of interest, rising or not. Call jtree_reset afterwards. */
void jtree_eval(const struct jtree *t, struct twork *w, const uint32_t *fixed,
                const uint32_t *only, uint32_t n_only);
/* The same in two steps, so that the ids of interest can be chosen when the
 * children's messages are known. */
void jtree_eval_kids(const struct jtree *t, struct twork *w,
                     const uint32_t *fixed);
void jtree_eval_root(const struct jtree *t, struct twork *w,
                     const uint32_t *fixed, const uint32_t *only,
                     uint32_t n_only);
/* After jtree_eval_kids: a root id with fewer neighbours than this in the
 * first child has no value above `above`; 0: nothing is known, as always
 * without jtree_degree_bounds. */
bool jtree_degree_bounds(const struct jtree *t);
uint32_t jtree_least_degree(const struct jtree *t, const struct twork *w,
                            uint64_t above);
void jtree_reset(const struct jtree *t, struct twork *w);
/* Sum of the root's values (any of them for W_EXISTS, max for W_MAX). */
u128 jtree_total(const struct jtree *t, const struct twork *w);

#endif
