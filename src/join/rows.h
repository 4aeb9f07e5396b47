/*
 * Counts over atoms as they are, row by row: for components whose atoms keep
 * three or more variables, or whose variables are compared by < or <=.
 *
 * An atom whose variables that others know are all known to one other atom
 * (an ear) is counted away into that atom: each row there is multiplied by
 * the number of rows here that agree with it and pass the comparisons between
 * the two. When one atom is left its rows hold the counts. A query that does
 * not shrink to one atom has a cycle and is left to the walker.
 *
 *   rows.c        which atom goes into which, and the end
 *   rows_fold.c   one such step
 *   rows_keys.c   groups of rows that agree in several columns
 */
#ifndef JOIN_ROWS_H
#define JOIN_ROWS_H

#include "join/impl.h"

/* No sum of weights reaches this: differences of sums are exact. */
#define ROWS_MOST ((uint64_t)1 << 62)

struct rows_atom {
    vset set;
    uint32_t n, n_cols;
    uint32_t *vars; /* of each column */
    const uint32_t **cols;
    uint64_t *w; /* by row; NULL: ones */
    bool counts; /* w: how many results there are, else whether one is */
    bool gone;
    bool is_keys; /* what is asked for: it stays to the end */
};

struct rows {
    struct join *j;
    const struct request *r;
    struct arena *a;
    uint32_t n;
    struct rows_atom *atoms;
    bool fits; /* false: the walker has to do it */
};

const uint32_t *rows_column(const struct rows_atom *x, uint32_t v);
uint32_t rows_ids(const struct rows *x, uint32_t v);

/* --- rows_fold.c --------------------------------------------------------- */
enum { ROWS_CMPS = 16, ROWS_NES = 4 };
/* Weights of `to` times the numbers of rows of `from` that match; exists: by
 * whether there is one. x->fits false: numbers or comparisons do not fit. */
enum status rows_fold(struct rows *x, const struct rows_atom *from,
                      struct rows_atom *to, bool exists,
                      struct err *err) WARN_UNUSED;

/* --- rows_keys.c --------------------------------------------------------- */
/* Two lists of rows (n[0] and n[1]), and columns that both have. */
struct rows_key {
    const uint32_t *col[2];
    uint32_t size; /* ids */
};
/* of[side][row]: the group; NULL: there is one only. */
struct rows_groups {
    const uint32_t *of[2];
    uint32_t n;
};
/* Rows in one group are those that agree in all keys. */
enum status rows_group(struct mem *m, struct arena *a, const uint32_t n[2],
                       const struct rows_key *keys, uint32_t n_keys,
                       struct rows_groups *out, struct err *err) WARN_UNUSED;

/* --- rows.c -------------------------------------------------------------- */
/* The request's value; *done false: not of this kind, or numbers that are too
 * large. */
enum status rows_solve(struct join *j, const struct request *r, struct arena *a,
                       u128 *out, bool *done, struct err *err) WARN_UNUSED;
/* The counts of keys: ids[v-th variable of the boundary][key], of which those
 * with ok[key] count. */
struct rows_wanted {
    size_t n;
    const uint32_t *const *ids;
    const uint8_t *ok;
    uint64_t *out;
};
enum status rows_count_keys(struct join *j, const struct request *r,
                            struct arena *a, const struct rows_wanted *k,
                            bool *done, struct err *err) WARN_UNUSED;

#endif
