/*
 * The join engine: counts, grouped maxima and distinct counts of conjunctive
 * queries over a store. Knows nothing of privacy, but that what it counts is
 * sealed: maxima and lists are for those who compute further (sens, entity,
 * trees), counts for those who draw. One engine for all queries.
 *
 *   join_open   encodes the values of each variable as dense ids (order
 *               preserving), applies each atom's constants, repeated
 *               variables and predicates, removes duplicates unless the atom
 *               has a row id, and drops NULLs of non-null variables.
 *   join_max    T_F: the largest number of results of the atoms F for one
 *               value of the boundary, results being distinct values of
 *               `outs` (plain results if outs holds all variables of F).
 */
#ifndef JOIN_JOIN_H
#define JOIN_JOIN_H

#include "base/secret_count.h"
#include "cq/cq.h"
#include "store/store.h"

struct join;

struct join_options {
    unsigned threads; /* 0: one */
    bool (*cancelled)(void *ctx);
    void *ctx;
    /* Not NULL: only engines whose work follows from the sizes of tables, row
     * by row where that ends with one atom, else the backtracking join in the
     * order that this gives (bound/work.h): rank[v], lowest first. keys: the
     * boundary is given. */
    enum status (*steady)(void *ctx, aset f, vset boundary, vset outs,
                          bool keys, uint32_t *rank, struct err *err);
    void *steady_ctx;
};

enum status join_open(struct mem *m, const struct cq *q, const struct store *st,
                      const struct join_options *opt, struct join **out,
                      struct err *err) WARN_UNUSED;
void join_close(struct join *j);

/* OWNER: the i-th engine, in the order in which they are tried, and how many
 * components it solved since the open; what was remembered does not count
 * again. false: there are no more. */
bool join_engine_parts(const struct join *j, size_t i, const char **name,
                       uint64_t *parts);

/* Rows and ids that the steady engines looked at since the open. */
uint64_t join_steps(const struct join *j);

/* Forgets answers, keeps indexes: for timing one request after another. */
void join_forget(struct join *j);

/*
 * max over values of `boundary` (variables, all in vars(F)) of the number of
 * distinct values of `outs` (subset of vars(F)) among the results of the
 * atoms F that pass every comparison whose variables all lie in vars(F). F
 * empty: 1. boundary empty: the count. 0 if there is no result. A boundary
 * variable ranges over all values; those that do not occur give 0.
 * Exact below COUNT_MOST, clamped there: no data make a request fail. Equal (up
 * to renaming) requests are computed once and remembered.
 *
 * If the query has a weight whose variable is among `outs`, what those values
 * weigh is added up in place of their number. (A constant weight is a factor
 * that join_count and join_list_groups apply, and this does not.)
 */
enum status join_max(struct join *j, aset f, vset boundary, vset outs,
                     u128 *out, struct err *err) WARN_UNUSED;

/* The same, but every comparison between a variable of vars(F) and one
 * outside counts exactly: the outside variables are added to the boundary and
 * range over the augmented active domain (section 5.2 of Dong and Yi). */
enum status join_max_exact(struct join *j, aset f, vset boundary, vset outs,
                           u128 *out, struct err *err) WARN_UNUSED;

/* The count of the whole query: distinct values of its outputs, or the sum of
 * what they weigh. */
enum status join_count(struct join *j, struct secret_count *out,
                       struct err *err) WARN_UNUSED;

/* GROUP BY: one count for each key, keys given (zero where absent). keys:
 * n_keys rows of q->n_group values. Not with a weight: sums are listed. */
enum status join_count_groups(struct join *j, const struct value *keys,
                              size_t n_keys, struct secret_count *out,
                              struct err *err) WARN_UNUSED;

/* GROUP BY: calls `each` for every key that occurs, with its count (never 0)
 * or, with a weight, its sum (which may be 0), once and in no particular order.
 * key: q->n_group values that live as long as the join and its store; NULL is a
 * key like any other. */
enum status join_list_groups(struct join *j,
                             enum status (*each)(void *ctx,
                                                 const struct value *key,
                                                 u128 count, struct err *err),
                             void *ctx, struct err *err) WARN_UNUSED;

/* Largest number of rows of an atom (after its selections) with one value of
 * the given variables: the "maximum frequency" of elastic sensitivity. */
enum status join_max_frequency(struct join *j, uint32_t atom, vset vars,
                               u128 *out, struct err *err) WARN_UNUSED;

#endif
