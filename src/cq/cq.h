/*
 * The conjunctive query: what SQL and rule text become, and what every later
 * stage takes. The answer is the number of distinct tuples of `outs` over all
 * assignments of the variables that satisfy the atoms, comparisons and
 * predicates, or the sum of what they weigh. COUNT(*) is expressed by putting
 * the row's identity (its key, or a hidden row id for a bag) into `outs`.
 *
 * Immutable once built (cq_finish); later stages make new ones.
 *
 * Invariants, checked by cq_check:
 *  1. every variable occurs in an atom (as argument or row id) or is computed;
 *  2. at most MAX_VARS variables and MAX_ATOMS atoms;
 *  3. equalities are gone: they are repeated variables and constants;
 *  4. a predicate or calc uses only variables of its one atom;
 *  5. a row-id variable occurs exactly once in the atoms, and in no
 *     comparison but != with another row id of the same table;
 *  6. `nonnull` of a variable is set if it occurs twice in atoms, in a
 *     comparison, or was counted by COUNT(col): SQL's NULL never matches.
 *     It is set once, on the query as written, and kept by normalisation;
 *  7. a weight stands among the outs, and its range has one sign.
 */
#ifndef CQ_CQ_H
#define CQ_CQ_H

#include "base/bits.h"
#include "base/map.h"
#include "cq/expr.h"
#include "schema/schema.h"

enum term_kind {
    TERM_ANY, /* a column nobody asks for: a variable that occurs only here */
    TERM_VAR,
    TERM_CONST,
};

struct term {
    enum term_kind kind;
    uint32_t id; /* variable or constant */
};

struct atom {
    uint32_t table; /* in the schema */
    uint32_t n_args;
    struct term *args;
    int32_t rowid; /* hidden row-id variable of a bag, or -1 */
};

enum cmp_op { CMP_NE, CMP_LT, CMP_LE };

struct cmp { /* l op r, at least one side a variable */
    enum cmp_op op;
    struct term l, r;
};

static inline vset term_var(struct term t)
{
    return t.kind == TERM_VAR ? vset_one(t.id) : 0;
}

static inline vset cmp_vars(const struct cmp *c)
{
    return term_var(c->l) | term_var(c->r);
}

struct pred { /* keeps the rows of one atom for which e is true */
    uint32_t atom;
    const struct expr *e;
};

struct calc { /* variable := expression over one atom's columns */
    uint32_t atom;
    uint32_t var;
    const struct expr *e;
};

/*
 * What is added up: the sum, over the distinct tuples of `outs`, of the size of
 * the output `out`, clipped to [lo, hi] in units of 10^-scale. A range has one
 * sign, so that such a sum never falls when a row comes; who wants both takes
 * two queries. The output determines the weight: it is one of the tuple.
 */
struct cq_weight {
    bool on;
    uint32_t out;   /* place among outs */
    int64_t lo, hi; /* 0 <= lo <= hi, or lo <= hi <= 0 */
    uint32_t scale; /* decimal digits */
};

/* Bounds of a range in units, and digits behind the point. */
#define CQ_WEIGHT_MOST ((int64_t)1000000000000000000)
enum { CQ_WEIGHT_SCALE = 12 };

struct var {
    struct str name; /* unique in the query */
    enum type type;
    bool nonnull;
    bool is_rowid;
};

struct cq {
    const struct schema *schema;
    struct str name; /* of the head; "Q" */
    struct var *vars;
    uint32_t n_vars;
    struct value *consts; /* no two equal */
    uint32_t n_consts;
    struct atom *atoms;
    uint32_t n_atoms;
    struct cmp *cmps;
    uint32_t n_cmps;
    struct pred *preds;
    uint32_t n_preds;
    struct calc *calcs;
    uint32_t n_calcs;
    struct term *outs; /* head; the first n_group are GROUP BY keys */
    uint32_t n_outs;
    uint32_t n_group;
    struct cq_weight weight; /* !on: answers are counted */
    bool unsat;              /* found to have no answer on any instance */
};

/* --- building: mutable until cq_finish ---------------------------------- */

struct cq_builder {
    struct arena *arena;
    struct schema *schema; /* rules may add undeclared tables */
    VEC(struct var) vars;
    VEC(struct value) consts;
    struct map const_ids; /* finds a constant among them */
    VEC(struct atom) atoms;
    VEC(struct cmp) cmps;
    VEC(struct pred) preds;
    VEC(struct calc) calcs;
    VEC(struct term) outs;
    uint32_t n_group;
    bool tidy_outs; /* drop constants and repeats among the outs that count */
    struct cq_weight weight;
    struct str name;
    /* equalities recorded while building, applied by cq_finish */
    VEC(struct cmp) equals; /* op is ignored */
    bool unsat;
    uint32_t *moved; /* set by cq_finish: where each atom went */
};

void cqb_init(struct cq_builder *b, struct arena *a, struct schema *s);
/* A new variable; the name is made unique. */
enum status cqb_var(struct cq_builder *b, struct str name, enum type t,
                    uint32_t *out, struct err *err) WARN_UNUSED;
enum status cqb_const(struct cq_builder *b, const struct value *v,
                      uint32_t *out, struct err *err) WARN_UNUSED;
/* Adds an atom with all arguments TERM_ANY; fill b->atoms.p[i].args. */
enum status cqb_atom(struct cq_builder *b, uint32_t table, uint32_t *out,
                     struct err *err) WARN_UNUSED;
/* Applies equalities (constant > output > other; two constants: unsat),
 * drops repeated atoms and comparisons and all but the tightest bound of a
 * variable on either side, folds constant comparisons, sets nonnull,
 * renumbers, checks. The result lives in the builder's arena. */
enum status cq_finish(struct cq_builder *b, struct cq **out,
                      struct err *err) WARN_UNUSED;

/* --- reading ------------------------------------------------------------- */

/* Rule text, e.g. Q(x, y) :- R(x, 'O', z), S(z, _), x != y, z < 5. A bag atom
 * prints as R@r(x, y), a predicate in braces: {like(n, 'a%')}, a calc as
 * v := {add(y, 5)}. Undeclared relations are added to the schema. */
enum status cq_read(struct arena *a, struct schema *s, struct str text,
                    struct cq **out, struct err *err) WARN_UNUSED;
/* Several rules, with not { ... } in their bodies: what is read goes into the
 * builder that `begin` gives for each rule; enter and leave tell where a block
 * begins and ends. */
enum { CQ_MAX_BLOCKS = 64 };
struct cq_blocks {
    void *ctx;
    enum status (*begin)(void *ctx, struct cq_builder **b, struct err *err);
    enum status (*enter)(void *ctx, struct err *err);
    enum status (*leave)(void *ctx, struct err *err);
    enum status (*end)(void *ctx, struct err *err);
};
enum status cq_read_rules(struct arena *a, struct str text,
                          const struct cq_blocks *blocks,
                          struct err *err) WARN_UNUSED;
void cq_print(struct sb *b, const struct cq *q);
struct str cq_text(struct arena *a, const struct cq *q);

/* --- weights (weight.c) ----------------------------------------------------
 */

/* The clipped value in units; its size. NULL and what is no number: 0. */
int64_t cq_weight_clip(const struct cq_weight *w, const struct value *v);
uint64_t cq_weight_of(const struct cq_weight *w, const struct value *v);
/* Is the sum to be subtracted? */
bool cq_weight_negative(const struct cq_weight *w);
struct term cq_weight_term(const struct cq *q); /* only with a weight */
vset cq_weight_var(const struct cq *q);         /* its variable; empty: none */
/* What one answer weighs at most; 1 without a weight. */
uint64_t cq_weight_most(const struct cq *q);
/* Comparisons of the weight's variable with constants narrow its range. */
void cq_weight_tighten(struct cq *q);
/* 12345 units of two digits: 123.45 */
void cq_weight_print_units(struct sb *b, int64_t v, uint32_t scale);
/* sum(x in 0..50) */
void cq_weight_print(struct sb *b, const struct cq_weight *w, struct str of);
/* A decimal number in units; false: it is none, or beyond CQ_WEIGHT_MOST. */
bool cq_weight_units(struct str number, uint32_t scale, int64_t *out);
/* The range as written, with the digits of the longer. */
bool cq_weight_range(struct str lo, struct str hi, struct cq_weight *w);

vset cq_free(const struct cq *q); /* variables among outs */
/* Of a variable, by the first column that has it: rules declare no types. */
enum type cq_column_type(const struct cq *q, uint32_t var);
vset atom_vars(const struct cq *q, uint32_t atom); /* row id and calcs too */
vset cq_vars_of(const struct cq *q, aset atoms);
vset cq_filter_vars(const struct cq *q); /* in comparisons, preds, calcs */
/* An order comparison (not only !=) has the variable. */
bool cq_is_ordered(const struct cq *q, uint32_t v);
aset cq_atoms_of_table(const struct cq *q, uint32_t table);
aset cq_private_atoms(const struct cq *q);
bool cq_is_full(const struct cq *q); /* every variable is an output */
/* Nonnull by flag or because it occurs in a NOT NULL column. */
bool cq_var_nonnull(const struct cq *q, uint32_t var);
bool cq_is_connected(const struct cq *q); /* constants do not connect */
bool cq_is_acyclic(const struct cq *q);   /* alpha-acyclic (GYO) */
/* Defects only: NULL if the invariants hold, else what is wrong. */
const char *cq_check(const struct cq *q);
/* Graphviz text of the query hypergraph. */
void cq_dot(struct sb *b, const struct cq *q);

#endif
