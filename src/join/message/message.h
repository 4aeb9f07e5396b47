/*
 * The message engine: a graph's value by fixing few variables and sending
 * messages along the trees that remain. See solve.c for how it decides.
 */
#ifndef JOIN_MESSAGE_H
#define JOIN_MESSAGE_H

#include "join/jointree/jointree.h"

enum { MOST_TERMS = 64 };

/* Solves a smaller graph, so that bounds may ask for the values of parts. */
typedef enum status graph_solver(struct join *j, const struct graph *g,
                                 u128 *out, enum outcome *what,
                                 struct err *err);

/* One signed query of the inclusion-exclusion over inequalities. */
struct sterm {
    int64_t coef;
    struct graph g;
    gset gone;           /* merged into others or aggregated out */
    uint8_t rep[G_VARS]; /* the variable each was merged into */
    struct jtree_limits lim;
    uint32_t n_trees;
    struct jtree *trees;
    int root_tree; /* the one that holds the unfixed boundary variable */
};

struct plan {
    struct join *j;
    struct arena *a;
    graph_solver *solve;
    struct graph g; /* after hanging variables were aggregated out */
    gset live;
    uint8_t x[G_VARS]; /* fixed variables: boundary first */
    uint32_t n_x, n_max;
    gset x_set;
    int root; /* unfixed boundary variable or -1 */
    struct jtree_limits lim;
    uint64_t factor;     /* by symmetry */
    struct sterm *terms; /* the first has no variables merged */
    uint32_t n_terms;
    uint32_t max_n, max_nodes;
};

/* plan_check.c: NULL, or what is wrong with it. */
const char *plan_check(const struct plan *p);
/* PASS: the backtracking join has to do it. */
enum status plan_make(struct join *j, struct arena *a, const struct graph *g,
                      struct plan *p, enum outcome *what,
                      struct err *err) WARN_UNUSED;
/* Pairs touched when every id of v is fixed once and the rest follows, as
 * mean degrees tell; *pairs: those in the graph. A guess for choosing. */
double plan_work(const struct plan *p, unsigned v, double *pairs);
void plan_symmetry(struct plan *p);
void plan_second_symmetry(struct plan *p);
/* One fixed boundary variable and the root: ids need to be seen only where
 * that of the first does not come after that of the root, in any one order. */
bool plan_mirrored(const struct plan *p);
/* The same for the first and the second of several fixed ones. */
bool plan_exchangeable(const struct plan *p);
enum status plan_terms(struct plan *p, enum outcome *what,
                       struct err *err) WARN_UNUSED;

/* A value of a boundary variable and what it can reach at most. */
struct candidate {
    uint64_t bound;
    uint32_t id;
};

/* State of one thread. */
struct runner {
    const struct plan *p;
    struct twork main, other;
    uint32_t fixed[G_VARS];
    bool wide;
    uint64_t steps, most; /* beyond, the search is given up: */
    bool stop, tired;
    uint32_t *only;  /* ids of interest at the root */
    uint8_t *asked;  /* by id: is it in `only`? Kernels: marks, as bits */
    uint32_t *count; /* kernels: by root id; none is above `top` */
    uint32_t zero;   /* kernels: what counts as none */
    uint32_t top;
    struct room *room;
};
enum status runner_open(struct runner *r, const struct plan *p,
                        struct err *err) WARN_UNUSED;
void runner_close(struct runner *r);
/* Begins to count anew: no count will rise by more than `most`. */
void runner_recount(struct runner *r, uint32_t most);
/* The i-th list of as many candidates as there are ids; NULL: no memory. */
enum { RUNNER_LISTS = G_VARS + 2 };
struct candidate *runner_list(struct runner *r, uint32_t i);
/* Factors between fixed variables, of the term; 0: nothing there. */
u128 runner_scalar(struct runner *r, const struct sterm *t);
/* Sum over the fixed variables from level on; wraps are caught in r->wide. */
__int128 runner_sum(struct runner *r, uint32_t level);
bool runner_stopped(struct runner *r);
/* May the fixed variables up to this level have these values together? */
bool runner_compatible(const struct runner *r, uint32_t level);
/* The shortest neighbour list from an earlier fixed variable, or NULL. */
const struct csr *runner_shortest(const struct runner *r, uint32_t level,
                                  uint32_t *from);
/* An id that some edge of the variable does not have gives nothing. */
bool runner_may_occur(const struct plan *p, unsigned v, uint32_t id);

enum status solve_sum(struct plan *p, u128 *out, enum outcome *what,
                      struct err *err) WARN_UNUSED;
enum status solve_max(struct plan *p, u128 *out, enum outcome *what,
                      struct err *err) WARN_UNUSED;

#endif
