/*
 * Random small databases and queries for the join engine, and an oracle that
 * tries every choice of rows: slow, obvious, and written without a look at
 * the engine.
 */
#ifndef HARNESS_JOIN_CASE_H
#define HARNESS_JOIN_CASE_H

#include "join/join.h"

enum { JC_NULL = INT32_MIN, JC_TABLES = 3, JC_ARITY = 3, JC_ROWS = 24 };

struct jc_rng {
    uint64_t s;
};
uint32_t jc_below(struct jc_rng *r, uint32_t n);

struct jc_table {
    uint32_t n_cols, n_rows;
    int32_t v[JC_ROWS][JC_ARITY]; /* JC_NULL is NULL */
};

struct join_case {
    struct jc_table t[JC_TABLES];
    enum type type;
    int64_t step; /* of numbers: the value v is stored as v * step */
    struct schema schema;
    struct cq q;
    struct store st;
    struct arena arena;
    struct mem mem;
};

struct jc_shape {
    uint32_t atoms, vars, rows, domain, cmps;
    bool nulls, bags, order; /* order: < and <= too */
    bool consts, preds;
    enum type type;
    int64_t step;
    bool graph;      /* every atom over one binary table */
    bool symmetric;  /* graph: with every pair its reverse */
    bool all_differ; /* != between every two variables */
};

/* Fills c; release with jc_free. */
void jc_make(struct join_case *c, struct jc_rng *r, const struct jc_shape *s);
void jc_free(struct join_case *c);
struct value jc_value(const struct join_case *c, int32_t v);

/* What join_max promises, by trying everything. `exact` as join_max_exact. */
u128 jc_oracle(const struct join_case *c, aset f, vset boundary, vset outs,
               bool exact);
/* The count with outs[0..n_group) at the given values. */
u128 jc_oracle_group(const struct join_case *c, const int32_t *key);
void jc_print(const struct join_case *c);

#endif
