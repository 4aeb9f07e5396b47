/*
 * A component as a graph: variables with unary factors, edges with binary
 * ones, inequalities. This is what the message engine works on; whatever
 * does not fit (factors of three variables, `<=`) goes elsewhere.
 *
 *     Q(a,c) :- R(a,b), S(b,c), T(c), a != c.
 *
 *        R       S
 *     a ---- b ---- c      v[a], v[b], v[c]: ids, and unary weights (T at c)
 *      \___________/        e: two factors, as csr
 *           !=             ne: one pair (lt: a below b, for `<`)
 *
 * The value of a graph is max over its W_MAX variables of the sum over its
 * W_SUM variables of [exists W_EXISTS variables] of the product of factors.
 */
#ifndef JOIN_GRAPH_H
#define JOIN_GRAPH_H

#include "join/graph/csr.h"
#include "join/walk/walk.h"

enum { G_VARS = 24, G_EDGES = 48, G_NES = 64, G_NAMES = 6, G_UNNAMED = 99 };
typedef uint32_t gset; /* variables of a graph */

struct gvar {
    uint32_t n; /* ids */
    enum walk_kind kind;
    uint8_t twins;         /* it stands for itself and so many more, all with
                            * the same edges and all different */
    const uint64_t *unary; /* NULL: all one */
    /* the factors whose product it is, rising; G_UNNAMED: not known */
    uint32_t n_names, names[G_NAMES];
};

struct gedge {
    uint8_t a, b;
    const struct csr *ab;
};

struct gpair {
    uint8_t a, b;
};

struct graph {
    uint32_t n_vars, n_edges, n_nes, n_lts;
    uint32_t words; /* of unary weights; 0: one, and no product leaves it */
    struct gvar v[G_VARS];
    struct gedge e[G_EDGES];
    struct gpair ne[G_NES], lt[G_NES];
    u128 scalar; /* factors without variables; 0: no result at all */
};

/* The request's graph; PASS: it has none; WIDE: not `wide`, and none whose
 * numbers fit. */
enum status graph_make(struct join *j, const struct request *r, struct arena *a,
                       bool wide, struct graph *g, enum outcome *what,
                       struct err *err) WARN_UNUSED;
/* Of `<` between a boundary variable that is compared on one side only and
 * joined to nothing, as a key table alone is, only its largest or least id
 * matters: the graph has a limit instead. Do all orders of the request go? */
bool graph_orders_go(const struct join *j, const struct request *r);
/* graph_check.c: NULL, or what is wrong with it. */
const char *graph_check(const struct graph *g);
/* The variables of `within` that edges connect with `from`. */
gset graph_component(const struct graph *g, gset within, unsigned from);
/* The graph on `keep` alone: edges and inequalities inside it. */
void graph_induce(const struct graph *g, gset keep, struct graph *out,
                  uint8_t *place);
/* Variable y becomes x. *zero: a factor without results. WIDE when numbers
 * leave 64 bits. */
enum status graph_contract(struct join *j, struct arena *a, struct graph *g,
                           unsigned x, unsigned y, bool *zero,
                           enum outcome *what, struct err *err) WARN_UNUSED;
/* Aggregates out variables that hang on one other, except those in `keep`;
 * *what as above: nothing is done unless it is SOLVED. */
enum status graph_trim(struct arena *a, struct graph *g, gset keep, gset *gone,
                       enum outcome *what, struct err *err) WARN_UNUSED;
/* Words that are equal only for graphs that are equal up to the names of
 * their variables. Returns how many, 0 if the graph has no key. */
enum { G_KEY = 8 + G_VARS * (G_NAMES + 2) + (G_EDGES + 2 * G_NES) * 2 };
size_t graph_key(const struct graph *g, uint32_t *out);

static inline gset gset_one(unsigned v)
{
    return (gset)1 << v;
}

#endif
