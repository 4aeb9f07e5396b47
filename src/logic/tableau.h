/*
 * A query as a structure: numbered elements and rows of elements over them.
 * The chase, the core, gluing and the pump all work on structures, in which
 * every column has an element (also the ones nobody asks for), and a bag's
 * hidden row id is one more column. A struct cq is read into one and written
 * back from one.
 *
 * Elements 0 .. n_consts-1 are the query's constants in every structure that
 * stems from one query, so structures can be compared element by element.
 *
 * Invariant after tab_settle: args hold representatives only, atoms are a
 * set, comparisons of constants are folded.
 */
#ifndef LOGIC_TABLEAU_H
#define LOGIC_TABLEAU_H

#include "logic/logic.h"

enum {
    EL_CONST = 1,
    EL_FREE = 2,    /* among the outputs */
    EL_FIXED = 4,   /* in a filter: the core must keep it */
    EL_NONNULL = 8, /* never NULL in a match */
    EL_CALC = 16,   /* computed: never merged with anything */
    EL_ROWID = 32,  /* of a bag: the core keeps it, bags are not merged */
};

#define NO_EL UINT32_MAX
#define NO_ATOM UINT32_MAX

struct tab_atom {
    uint32_t table, n;
    uint32_t *el;
};

struct tab_cmp {
    enum cmp_op op;
    uint32_t l, r;
};

struct tab_calc {
    uint32_t out, n_in;
    uint32_t *in;
};

/* A degree constraint on the columns of a structure's rows. */
struct dep {
    uint32_t table, n_x, n_y;
    uint32_t *x, *y;
    u128 k;
    const struct degree *src; /* NULL: a row id determines its row */
};

struct tab {
    const struct cq *q;
    struct dep *deps;
    size_t n_deps;
    uint32_t n_el, cap_el;
    uint32_t *rep; /* union-find; rep[e] == e for representatives */
    uint8_t *flag;
    int32_t *var; /* a variable of q that names the element, or -1 */
    struct tab_atom *atoms;
    uint32_t n_atoms;
    struct tab_cmp *cmps;
    uint32_t n_cmps;
    struct tab_calc *calcs;
    uint32_t n_calcs;
    uint32_t *outs;
    uint32_t n_outs;
    uint32_t *of_atom; /* where each of the first n_of atoms went */
    uint32_t n_of;
    /* Equal means the same value, NULL included: right for reasoning about
     * rows, wrong for a query to be written back, where NULL never matches. */
    bool plain;
    bool unsat;
    bool is_core; /* no atom can be dropped; by tab_core, until it changes */
};

enum status tab_of_cq(struct arena *a, const struct cq *q, struct tab **out,
                      struct err *err) WARN_UNUSED;
enum status tab_to_cq(struct arena *a, const struct tab *t, struct cq **out,
                      struct err *err) WARN_UNUSED;
/* A copy that can be merged further without touching the original. */
enum status tab_copy(struct arena *a, const struct tab *t, struct tab **out,
                     struct err *err) WARN_UNUSED;

uint32_t tab_find(const struct tab *t, uint32_t e);
/* Identifies two elements. PRIVACY: constant > free > bound, so an output is
 * never replaced by a variable that is not counted. True if something
 * changed; two different constants set unsat. */
bool tab_union(struct tab *t, uint32_t x, uint32_t y);
/* Writes representatives everywhere, drops repeated atoms, folds filters. */
enum status tab_settle(struct arena *a, struct tab *t,
                       struct err *err) WARN_UNUSED;
/* Makes one what lies on a cycle of <= (order_cycles.c); a strict step on it,
 * also between constants, sets unsat. */
enum status tab_chase_order(struct arena *a, struct tab *t, bool *changed,
                            struct err *err) WARN_UNUSED;
/* Applies the constraints with k = 1 until nothing changes, then settles. */
enum status tab_chase(struct arena *a, struct tab *t,
                      struct err *err) WARN_UNUSED;

/* Are the elements that a constraint reads (x) never NULL in this atom? */
bool tab_dep_applies(const struct tab *t, const struct dep *d,
                     const struct tab_atom *at);
/* A constraint that t breaks as it stands (as a database): `rows` gets more
 * than k atoms with one x and different y. NULL: t satisfies all. */
const struct dep *tab_violation(const struct tab *t, uint32_t *rows,
                                uint32_t max_rows, uint32_t *n_rows);
/* Marks in `in` (one entry an element) all that the marked elements limit
 * through constraints with k <= max_k; NULLs are taken to match, so this is for
 * constructing databases, not for bounding. */
void tab_close(const struct tab *t, u128 max_k, bool *in);
bool tab_has_filters(const struct tab *t);
bool tab_private_atom(const struct tab *t, uint32_t atom);

enum hom { HOM_NO, HOM_YES, HOM_GAVE_UP };
/*
 * A homomorphism from `from` into `to` without the atom `banned`, extending
 * `map` (one entry for each element of `from`, NO_EL: open; constants are set
 * by the call). On HOM_YES the map is complete on the elements of `from`'s
 * atoms, and atom_map (may be NULL) says where each atom went. NULL: a
 * variable that is never NULL goes to one that is never NULL either.
 * Comparisons are not looked at: the caller fixes their variables.
 */
enum status tab_hom(struct arena *a, const struct tab *from,
                    const struct tab *to, uint32_t banned, struct work *work,
                    uint32_t *map, uint32_t *atom_map, enum hom *out,
                    struct err *err) WARN_UNUSED;
/* Sets `map` to the identity on constants, free and fixed elements. */
void tab_identity(const struct tab *t, uint32_t *map);
/* The core, in place. */
enum status tab_core(struct arena *a, struct tab *t, struct work *work,
                     struct err *err) WARN_UNUSED;

/* Can these two constants be the same value? When in doubt: yes. */
bool const_may_equal(const struct value *a, const struct value *b);

#endif
