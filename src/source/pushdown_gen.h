/*
 * The writing of SQL, between the files that do it: the relations that were
 * written so far, and the comparisons that are still open.
 */
#ifndef SOURCE_PUSHDOWN_GEN_H
#define SOURCE_PUSHDOWN_GEN_H

#include "source/pushdown.h"

enum { MAX_RELS = 4 * MAX_VARS + MAX_ATOMS };

struct rel {
    vset vars;
    bool live;
    bool ones; /* every weight is 1 */
    vset key;  /* rows differ in these; all variables if no key is known */
};

/* Between variables; those with constants belong to atoms. */
struct gcmp {
    enum cmp_op op;
    uint32_t l, r;
};

struct gen {
    struct source_counter *c;
    const struct part *p;
    struct sb *b;
    struct err *err;
    struct rel rels[MAX_RELS];
    unsigned n;
    struct gcmp cmps[MAX_PUSHDOWN_CMPS];
    bool applied[MAX_PUSHDOWN_CMPS];
    uint32_t n_cmps;
    /* exact filters (pushdown_exact.c): the place of a value among all, as a
     * variable of its own, from q->n_vars on */
    uint32_t place_of[MAX_VARS];
    uint32_t n_places;
    vset outs, exists, boundary; /* of the part, and of the places */
};

static inline vset gcmp_vars(const struct gcmp *c)
{
    return vset_one(c->l) | vset_one(c->r);
}

/* pushdown_sql.c */
void gen_begin(struct gen *g);
unsigned gen_end(struct gen *g, vset vars); /* its number */
void gen_name(struct gen *g, unsigned v);
enum type gen_var_type(const struct cq *q, uint32_t var);
enum status gen_refuse_types(struct gen *g);
/* All relations, with everything eliminated but the boundary. never: no row
 * can join, nothing was written. */
enum status gen_relations(struct gen *g, bool *never) WARN_UNUSED;

/* pushdown_atom.c: the relation of one atom, after its own conditions. */
enum status gen_atom(struct gen *g, uint32_t atom) WARN_UNUSED;

/* pushdown_exact.c: relations of the variables outside, and of places. */
enum status gen_outside(struct gen *g) WARN_UNUSED;

#endif
