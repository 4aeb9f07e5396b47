/*
 * The writing of SQL, between the files that do it: the relations that were
 * written so far, and the comparisons that are still open.
 *
 * A relation has its variables as columns c0, c1, ... and a weight w. Its text
 * names neither variables nor the component that it was written for, so that
 * equal relations of different components have equal texts and are one: the
 * pool keeps each text once.
 */
#ifndef PUSHDOWN_PUSHDOWN_GEN_H
#define PUSHDOWN_PUSHDOWN_GEN_H

#include "pushdown/pushdown_int.h"

enum { MAX_RELS = 4 * MAX_VARS + MAX_ATOMS };

struct pooled {
    struct str body; /* SELECT ... */
    /* No grouping: written where it is used, so that the database may use its
     * indexes. Otherwise a common table expression, named m and its number. */
    bool plain;
    const unsigned *deps; /* what its text refers to: lower numbers */
    size_t n_deps;
    /* Rows of a table as they are: then FROM names the table itself, which
     * distributed databases can join where they cannot join a SELECT. A mark
     * (SQLGEN_MARK) stands where its alias comes. */
    struct str table;        /* empty: no such */
    const struct str *names; /* its columns, as SQL */
    struct str where;        /* " AND ..."; empty: all rows */
};

struct pool {
    struct arena *arena;
    struct map ids; /* body -> number */
    VEC(struct pooled) list;
    bool failed; /* no memory */
};

struct gen_rel {
    vset vars;
    bool live;
    bool ones;     /* every weight is 1 */
    unsigned bits; /* DuckDB: no weight has more (pushdown_weight.c) */
    vset key;      /* rows differ in these; all variables if no key is known */
    unsigned id;   /* in the pool */
    unsigned n;    /* columns */
    uint8_t cols[MAX_VARS]; /* their variables */
};

/* Between variables; those with constants belong to atoms. */
struct gcmp {
    enum cmp_op op;
    uint32_t l, r;
};

struct gen {
    struct pushdown *c;
    const struct part *p;
    struct pool *pool;
    struct err *err;
    /* the relation that is being written */
    struct sb *b, body;
    unsigned deps[MAX_ATOMS + 2 * MAX_VARS + 1];
    unsigned n_deps;
    uint8_t cols[MAX_VARS];
    unsigned n_cols;

    struct gen_rel rels[MAX_RELS];
    unsigned n;
    struct gcmp cmps[MAX_PUSHDOWN_CMPS];
    bool applied[MAX_PUSHDOWN_CMPS];
    uint32_t n_cmps;
    /* exact filters (pushdown_exact.c): the place of a value among all, as a
     * variable of its own, from q->n_vars on */
    uint32_t place_of[MAX_VARS];
    uint32_t n_places;
    vset outs, exists, boundary; /* of the part, and of the places */
    bool groups_all; /* rows are grouped even where a key tells them apart */
};

static inline vset gcmp_vars(const struct gcmp *c)
{
    return vset_one(c->l) | vset_one(c->r);
}

/* pushdown_pool.c */
void pool_init(struct pool *pool, struct arena *a);
/* WITH and the relations that `roots` rest on, as far as they are not plain;
 * nothing if there are none. */
void pool_with(const struct pool *pool, const unsigned *roots, size_t n,
               struct sb *out);
/* Marks what `root` rests on, itself included. */
void pool_mark(const struct pool *pool, unsigned root, bool *marks);

void gen_init(struct gen *g, struct pushdown *c, const struct part *p,
              struct pool *pool, struct err *err);
void gen_begin(struct gen *g);
/* " AS cN": the next column holds v. */
void gen_as(struct gen *g, unsigned v);
/* The text is complete: its number in the pool. */
unsigned gen_pool(struct gen *g, bool plain);
/* The same, as a relation with the columns that were named. */
struct gen_rel *gen_end(struct gen *g, bool plain);
/* What comes after FROM; gen_where: and after WHERE, for which *between is
 * written first and then is " AND ". */
void gen_from(struct gen *g, unsigned id, const char *alias);
void gen_where(struct gen *g, unsigned id, const char *alias,
               const char **between);
/* The number of the column that holds v. */
unsigned gen_col(const struct gen_rel *r, unsigned v);
/* Column number col of a relation that FROM calls `alias`. */
void gen_ref(struct gen *g, const struct gen_rel *r, const char *alias,
             unsigned col);

/* pushdown_step.c */
enum gen_step { EXISTS, SUM, MAX };
/* Eliminates all of `vars`, the cheapest step first. */
enum status gen_eliminate(struct gen *g, vset vars,
                          enum gen_step step) WARN_UNUSED;
/* One variable, and what of *vars goes with it; taken out of *vars. */
enum status gen_eliminate_one(struct gen *g, unsigned v, enum gen_step step,
                              vset *vars) WARN_UNUSED;
unsigned gen_cheapest(struct gen *g, vset vars, enum gen_step step);
/* Is v, which is counted, better counted with and without *cmp
 * (pushdown_signed.c) than joined or subtracted in its step? */
bool gen_splits(const struct gen *g, unsigned v, vset boundary, uint32_t *cmp);
/* What is left as one relation over `vars`, weights multiplied and summed. */
enum status gen_join(struct gen *g, vset vars,
                     struct gen_rel **out) WARN_UNUSED;

/* pushdown_weight.c: weights as DuckDB computes them. */
struct gen_weight {
    struct str sql;
    unsigned bits;
};
/* Every weight of a count of rows. */
extern const unsigned gen_count_bits;
/* The product of n >= 1 weights; E_UNSUPPORTED where too many are too wide. */
enum status gen_product(struct gen *g, const struct gen_weight *list, size_t n,
                        struct gen_weight *out) WARN_UNUSED;
/* sum(w), which is not more than any count. */
enum status gen_sum(struct gen *g, struct gen_weight *w) WARN_UNUSED;
/* Is a sum over sums of such weights exact, so that it can be subtracted from?
 */
bool gen_subtracts(unsigned bits);

/* Is a sum of a few such weights? */
bool gen_adds(unsigned bits);

/* pushdown_signed.c */
/* Eliminates what is counted. */
enum status gen_count_out(struct gen *g) WARN_UNUSED;
/* Where only the existence of rows is asked under comparisons: answers that,
 * if it is worth counting them for. */
enum status gen_any(struct gen *g) WARN_UNUSED;

/* pushdown_sql.c */
enum status gen_refuse_types(struct gen *g);
/* All relations, with everything eliminated but the boundary. never: no row
 * can join, nothing was written. */
enum status gen_relations(struct gen *g, bool *never) WARN_UNUSED;
/* What the answer is the product of: numbers of relations without columns. */
enum status gen_answer(struct gen *g, bool *never, unsigned *roots,
                       size_t *n) WARN_UNUSED;

/* pushdown_atom.c: the relation of one atom, after its own conditions. */
enum status gen_atom(struct gen *g, uint32_t atom) WARN_UNUSED;
/* What each value of the weight's variable weighs, if it is counted: one more
 * relation. */
enum status gen_weight(struct gen *g) WARN_UNUSED;

/* pushdown_exact.c: relations of the variables outside, and of places. */
enum status gen_outside(struct gen *g) WARN_UNUSED;

#endif
