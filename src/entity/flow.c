/*
 * The packing problems that are maximum flows (Dinic's algorithm), in
 * integers.
 *
 *   two owners at most   x is half a flow in the double cover: each heavy
 *                        entity stands left (from the source, t) and right (to
 *                        the sink, t), a column {u, v} joins u to v's right
 *                        copy and v to u's; a column {u} joins u to the sink
 *                        and the source to u's copy. A flow and its mirror
 *                        image average to a symmetric flow, so the optimum is
 *                        half of the flow's.
 *   one owner, witnesses source - entity (t) - answer (w) - sink.
 *
 * The least cut gives y, and the certificate confirms both: that lo = hi is
 * checked, not believed.
 * Cost: near to linear times the number of phases, which is small here.
 */
#include "entity/packing.h"

#include <string.h>

struct arc {
    uint64_t left; /* what may still pass; the arc's mirror is at index ^ 1 */
    uint32_t to;
};

enum { SOURCE, SINK, NODES };

struct net {
    uint32_t nodes, arcs, arcs_max;
    struct arc *arc;
    uint32_t *from;    /* nodes + 1: arcs that leave a node ... */
    uint32_t *leaving; /* ... are named here */
    uint32_t *level, *next, *queue, *path;
    size_t bytes;
    void *block;
};

static void join_nodes(struct net *n, uint32_t a, uint32_t b, uint64_t cap)
{
    n->arc[n->arcs++] = (struct arc){cap, b};
    n->arc[n->arcs++] = (struct arc){0, a};
}

static bool net_open(struct net *n, struct mem *m)
{
    size_t nodes = n->nodes, arcs = n->arcs_max;
    n->bytes = arcs * sizeof(struct arc) + arcs * 4 + (nodes + 1) * 20;
    char *at = n->block = mem_alloc(m, n->bytes);
    if (!at)
        return false;
    n->arc = (struct arc *)at;
    n->leaving = (uint32_t *)(n->arc + arcs);
    n->from = n->leaving + arcs;
    n->level = n->from + nodes + 1;
    n->next = n->level + nodes + 1;
    n->queue = n->next + nodes + 1;
    n->path = n->queue + nodes + 1;
    return true;
}

/* Lists the arcs by the node they leave: counting sort. */
static void net_index(struct net *n)
{
    memset(n->from, 0, (n->nodes + 1) * sizeof *n->from);
    for (uint32_t i = 0; i < n->arcs; i++)
        n->from[n->arc[i ^ 1].to + 1]++;
    for (uint32_t v = 0; v < n->nodes; v++)
        n->from[v + 1] += n->from[v];
    memcpy(n->next, n->from, n->nodes * sizeof *n->next);
    for (uint32_t i = 0; i < n->arcs; i++)
        n->leaving[n->next[n->arc[i ^ 1].to]++] = i;
}

/* Levels by breadth; is the sink reached? Unreached: UINT32_MAX. */
static bool net_levels(struct net *n)
{
    memset(n->level, 0xff, n->nodes * sizeof *n->level);
    uint32_t head = 0, tail = 0;
    n->queue[tail++] = SOURCE;
    n->level[SOURCE] = 0;
    while (head < tail) {
        uint32_t v = n->queue[head++];
        for (uint32_t i = n->from[v]; i < n->from[v + 1]; i++) {
            const struct arc *a = &n->arc[n->leaving[i]];
            if (a->left && n->level[a->to] == UINT32_MAX) {
                n->level[a->to] = n->level[v] + 1;
                n->queue[tail++] = a->to;
            }
        }
    }
    return n->level[SINK] != UINT32_MAX;
}

/* The next arc that leads on from v towards the sink; or none. */
static bool net_advance(struct net *n, uint32_t v, uint32_t *arc)
{
    for (; n->next[v] < n->from[v + 1]; n->next[v]++) {
        *arc = n->leaving[n->next[v]];
        const struct arc *a = &n->arc[*arc];
        if (a->left && n->level[a->to] == n->level[v] + 1)
            return true;
    }
    return false;
}

/* Sends what the path of `len` arcs can carry. The walk goes on from the
 * start of the first arc that is full now. */
static uint32_t net_push(struct net *n, uint32_t len)
{
    uint64_t most = UINT64_MAX;
    uint32_t keep = len;
    for (uint32_t i = 0; i < len; i++)
        if (n->arc[n->path[i]].left < most)
            most = n->arc[n->path[i]].left;
    for (uint32_t i = len; i-- > 0;) {
        n->arc[n->path[i]].left -= most;
        n->arc[n->path[i] ^ 1].left += most;
        if (n->arc[n->path[i]].left == 0)
            keep = i;
    }
    return keep;
}

/* A flow that no path of this level graph can raise. */
static void net_block(struct net *n)
{
    memcpy(n->next, n->from, n->nodes * sizeof *n->next);
    uint32_t v = SOURCE, len = 0, arc = 0;
    while (true) {
        if (v == SINK) {
            len = net_push(n, len);
            v = n->arc[n->path[len] ^ 1].to;
        } else if (net_advance(n, v, &arc)) {
            n->path[len++] = arc;
            v = n->arc[arc].to;
        } else if (v != SOURCE) {
            v = n->arc[n->path[--len] ^ 1].to;
            n->next[v]++; /* a dead end */
        } else {
            return;
        }
    }
}

static enum status net_run(struct net *n, const struct solver *s)
{
    net_index(n);
    while (net_levels(n)) {
        if (s->opt && s->opt->cancelled && s->opt->cancelled(s->opt->ctx))
            return err_set(s->err, E_CANCELLED, "cancelled");
        net_block(n);
    }
    return OK;
}

static uint32_t left_of(uint32_t row)
{
    return NODES + row;
}
static uint32_t right_of(const struct packing *p, uint32_t row)
{
    return NODES + p->rows + row;
}

/* Column c is arcs 4 c .. 4 c + 3, whatever its number of owners. */
static void load_pairs(const struct packing *p, struct net *n)
{
    for (uint32_t c = 0; c < p->cols; c++) {
        uint32_t u = p->owner[p->start[c]], v = p->owner[p->start[c + 1] - 1];
        bool one = p->start[c + 1] - p->start[c] == 1;
        join_nodes(n, left_of(u), one ? SINK : right_of(p, v), p->weight[c]);
        join_nodes(n, one ? SOURCE : left_of(v), right_of(p, u), p->weight[c]);
    }
    for (uint32_t u = 0; u < p->rows; u++) {
        join_nodes(n, SOURCE, left_of(u), p->t);
        join_nodes(n, right_of(p, u), SINK, p->t);
    }
}

static void load_witnesses(const struct packing *p, struct net *n)
{
    for (uint32_t g = 0; g < p->groups; g++)
        for (uint32_t c = p->first[g]; c < p->first[g + 1]; c++)
            join_nodes(n, left_of(p->owner[p->start[c]]), NODES + p->rows + g,
                       p->weight[g]);
    for (uint32_t u = 0; u < p->rows; u++)
        join_nodes(n, SOURCE, left_of(u), p->t);
    for (uint32_t g = 0; g < p->groups; g++)
        join_nodes(n, NODES + p->rows + g, SINK, p->weight[g]);
}

static void read_pairs(const struct packing *p, const struct net *n, u128 *x,
                       uint64_t *y)
{
    unsigned unit = packing_unit(p);
    for (uint32_t c = 0; c < p->cols; c++) {
        u128 there = n->arc[4 * c + 1].left, back = n->arc[4 * c + 3].left;
        x[c] = (there + back) << (unit - 1);
    }
    for (uint32_t u = 0; u < p->rows; u++) {
        bool left = n->level[left_of(u)] == UINT32_MAX;
        bool right = n->level[right_of(p, u)] != UINT32_MAX;
        y[u] = (uint64_t)(left + right) << (unit - 1);
    }
}

static void read_witnesses(const struct packing *p, const struct net *n,
                           u128 *x, uint64_t *y)
{
    unsigned unit = packing_unit(p);
    for (uint32_t c = 0; c < p->cols; c++)
        x[c] = (u128)n->arc[2 * c + 1].left << unit;
    for (uint32_t u = 0; u < p->rows; u++)
        y[u] = (uint64_t)(n->level[left_of(u)] == UINT32_MAX) << unit;
}

/* Reads the solution off and has it certified. */
static enum status read_off(const struct packing *p, const struct net *n,
                            bool pairs, const struct solver *s,
                            struct pack_interval *out)
{
    struct packing_room r;
    if (!packing_room_take(p, s->mem, &r))
        return err_nomem(s->err);
    if (pairs)
        read_pairs(p, n, r.x, r.y);
    else
        read_witnesses(p, n, r.x, r.y);
    packing_certify(p, &(struct proposal){r.x, r.y}, r.room, out);
    packing_room_give(s->mem, &r);
    /* PRIVACY: exactness is what the noise is calibrated to. */
    return out->lo == out->hi ? OK : err_internal(s->err, "packing_flow");
}

enum status packing_flow(const struct packing *p, const struct solver *s,
                         struct pack_interval *out)
{
    bool pairs = p->groups == p->cols;
    struct net n = {0};
    uint64_t nodes = NODES + (uint64_t)p->rows + (pairs ? p->rows : p->groups);
    uint64_t arcs = pairs ? 4 * ((uint64_t)p->cols + p->rows)
                          : 2 * ((uint64_t)p->cols + p->rows + p->groups);
    if (arcs >= UINT32_MAX || nodes >= UINT32_MAX)
        return err_nomem(s->err);
    n.nodes = (uint32_t)nodes;
    n.arcs_max = (uint32_t)arcs;
    if (!net_open(&n, s->mem))
        return err_nomem(s->err);
    if (pairs)
        load_pairs(p, &n);
    else
        load_witnesses(p, &n);
    enum status st = net_run(&n, s);
    if (st == OK)
        st = read_off(p, &n, pairs, s, out);
    mem_wipe(n.block, n.bytes);
    mem_free(s->mem, n.block, n.bytes);
    return st;
}
