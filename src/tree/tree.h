/*
 * Condition trees: queries with negation, disjunction and unions. A node has
 * atoms and filters of its own (a conjunctive body) and a formula over its
 * children and over conditions that belong to no single atom. An assignment
 * of the variables on the path from the root to a node is good there if the
 * body and the formula hold; a child is satisfied if at least `at_least` of
 * the extensions to its own variables are good, told apart by `ids`. The answer
 * is the number of distinct outputs of good assignments of the root, or of
 * those outputs that have a certain number of ids (HAVING COUNT(*) >= 3).
 *
 * A tree is evaluated node by node (steps) and bounded part by part: a part is
 * the conjunctive query of all atoms on the path to one node, together with
 * the atoms that may be the row that makes the difference. PROOF.md has the
 * argument. A conjunctive query is no tree: later stages take it as it is.
 * A sum is one: of one branch, or of several whose numbers are added, and
 * subtracted where the weights are negative.
 *
 * Invariant: all nodes of a branch share one builder; every item in it belongs
 * to one node. A formula is in negation normal form: only children are negated.
 */
#ifndef TREE_TREE_H
#define TREE_TREE_H

#include "base/vec.h"
#include "cq/cq.h"

/* Nodes of one branch, and branches of a union: each costs a path query. */
enum { TREE_MAX_NODES = 16, TREE_MAX_BRANCHES = 16 };

enum formula_kind { F_AND, F_OR, F_CHILD, F_PRED };

struct formula {
    enum formula_kind kind;
    bool negated;         /* F_CHILD */
    uint32_t child;       /* F_CHILD: a node */
    const struct expr *e; /* F_PRED: true, not unknown; builder's variables */
    struct formula **args;
    uint32_t n_args; /* F_AND of none is true, F_OR of none false */
};

struct tree_node {
    uint32_t parent;   /* the root: itself */
    uint32_t at_least; /* extensions that satisfy it; 1 for EXISTS */
    uint32_t at_most;  /* of the root alone: an answer has at least one and at
                          most so many; 0: any number */
    uint32_t cap;      /* of the root alone: an answer weighs the number of its
                          ids, at most so many; 0: each counts once */
    bool outside;      /* of the root: not from at_least to at_most, but one */
    bool unsat;        /* its body never holds */
    bool absent; /* the partners of an outer join that there are none of */
    struct formula *f; /* NULL: true */
    /* what tells extensions apart (rows, or values) where they are counted */
    VEC(struct term) ids;
};

struct tree_branch {
    struct cq_builder b; /* atoms and filters of all nodes; outs of the root */
    /* the node of each item; calcs go with their atoms */
    VEC(uint32_t) atom_node;
    VEC(uint32_t) cmp_node;
    VEC(uint32_t) equal_node;
    VEC(uint32_t) pred_node;
    VEC(struct tree_node) nodes;
    uint32_t at; /* the node that is being built */
    /* Of outer joins: how many, one of them FULL; a column of an absent side is
     * used where that does not make the branch empty. */
    uint32_t n_outer;
    bool has_full, uses_absent;
    uint64_t tag; /* answers of branches with one tag are united as sets,
                     those of different tags add up */
};

struct ctree {
    struct tree_branch **branches;
    size_t n_branches;
};

/* --- building -------------------------------------------------------------
 */

/* Before anything is put into t->b: the root. */
enum status tree_begin(struct arena *a, struct tree_branch *t,
                       struct err *err) WARN_UNUSED;
/* Gives what was put into t->b since the last call to the current node. */
enum status tree_tag(struct arena *a, struct tree_branch *t,
                     struct err *err) WARN_UNUSED;
/* A child of the current node becomes current. E_TOO_LARGE. */
enum status tree_enter(struct arena *a, struct tree_branch *t, uint32_t *out,
                       struct err *err) WARN_UNUSED;
/* Its parent becomes current again; unsat in t->b is the child's. */
enum status tree_leave(struct arena *a, struct tree_branch *t,
                       struct err *err) WARN_UNUSED;
/* f must hold at the current node as well. */
enum status tree_require(struct arena *a, struct tree_branch *t,
                         struct formula *f, struct err *err) WARN_UNUSED;
struct formula *formula_new(struct arena *a, enum formula_kind k,
                            struct formula *x, struct formula *y);
struct formula *formula_child(struct arena *a, uint32_t node, bool negated);
struct formula *formula_pred(struct arena *a, const struct expr *e);
/* No children and no conditions: a conjunctive query. A sum is none. */
bool tree_is_plain(const struct tree_branch *t);
/* Are good assignments counted there, not only asked for? */
bool tree_counts(const struct tree_node *n);
/* May an answer of so many ids (at least one) stay? */
bool tree_keeps(const struct tree_node *root, uint64_t n);
/*
 * A branch whose weights have both signs becomes two, one for each, with tags
 * of their own; all get the digits of the finest. Branches of one tag get one
 * range. *n grows; E_TOO_LARGE, E_VALUE (numbers beyond what can be added up).
 */
enum status tree_split_signs(struct arena *a, struct ctree *t,
                             struct err *err) WARN_UNUSED;
/* Can a total be negative? Decided by the query. */
bool tree_is_signed(const struct ctree *t);
/* Are answers added up by weights, and with how many digits? */
bool tree_is_sum(const struct ctree *t, uint32_t *scale);
/* A sum over the answers of a conjunctive query, of numbers that are not
 * negative. */
bool tree_is_plain_sum(const struct ctree *t);
/* A child of the root without children and conditions of its own, that takes
 * away what it is satisfied for. */
bool tree_is_anti_join(const struct tree_branch *t, uint32_t node);
bool tree_is_above(const struct tree_branch *t, uint32_t above, uint32_t node);

/* --- reading --------------------------------------------------------------
 */

struct tree_part {
    const struct cq *path;
    aset own;            /* atoms of the path that may be the new row */
    uint32_t gain, loss; /* 1: such a row can add, can take away answers */
    uint32_t branch, node;
    bool fragile; /* set by bound: what is lost already may be left out */
};

/* Where an answer weighs the number of its ids: does each id change the sum by
 * one at most? Then the ids may be bounded in place of the answers. */
bool tree_adds_ids(const struct ctree *t);
/* The parts of all branches; paths are not chased yet. Where answers weigh the
 * number of their ids: of the ids, or (`keys`) of answers of the largest
 * weight. */
enum status tree_parts_of(struct arena *a, const struct ctree *t, bool keys,
                          struct tree_part **out, size_t *n,
                          struct err *err) WARN_UNUSED;
/* The same, of ids if they may be. */
enum status tree_parts(struct arena *a, const struct ctree *t,
                       struct tree_part **out, size_t *n,
                       struct err *err) WARN_UNUSED;
/* The query of the atoms on the path to `node`, with the root's outputs. */
enum status tree_path(struct arena *a, const struct tree_branch *t,
                      uint32_t node, struct cq **out, aset *own,
                      struct err *err) WARN_UNUSED;

/*
 * How to evaluate a node: list the keys of q (its first n_group outs, in all
 * combinations that occur), with the number of distinct other outs. The keys
 * are values of the builder's variables `vars` (or of a constant, at the
 * root: UINT32_MAX); the first n_up of them are what the parent looks up by,
 * at the root the outputs that tell answers apart.
 */
struct tree_step {
    struct cq *q;
    uint32_t *vars;
    uint32_t n_keys, n_up;
    uint32_t n_ids; /* the last keys are ids, each counts once for what the
                       first n_up are; 0: the number that comes with a key is
                       theirs */
    bool counts;    /* root: a key stands for so many answers; else list them */
};
/* One for each node. `list`: the root's outputs are listed in any case. */
enum status tree_steps(struct arena *a, const struct tree_branch *t, bool list,
                       struct tree_step **out, struct err *err) WARN_UNUSED;

/* Rule text with not { ... } and several rules. *tree is NULL if it is one
 * conjunctive query; else *q is the body of the first rule. */
enum status tree_read(struct arena *a, struct schema *s, struct str text,
                      struct cq **q, struct ctree **tree,
                      struct err *err) WARN_UNUSED;

/* Rule text: not { ... }, ( ... or ... ), one rule for each branch. */
void tree_print(struct sb *b, const struct ctree *t);
struct str tree_text(struct arena *a, const struct ctree *t);

#endif
