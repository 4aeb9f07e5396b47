/* Inside census.c and census_list.c: rows in a tree. */
#ifndef JOIN_CENSUS_INT_H
#define JOIN_CENSUS_INT_H

#include "join/census.h"
#include "join/join_int.h"

/* What comes over a link for one value: results with FREE keys alone, and those
 * with one MARKED key, weighted. */
struct census_pair {
    u128 none, one;
};

/*
 * An atom. Its rows are known by what they have in common with its neighbours
 * and by their keys; equal ones are one row that stands for `times`.
 */
struct census_node {
    vset vars;
    uint32_t n;
    uint32_t parent; /* UINT32_MAX: the root */
    uint32_t n_kids, kid[MAX_ATOMS];
    uint32_t *kid_key[MAX_ATOMS]; /* by row: the value of the link */
    uint32_t *up;                 /* by row: of the link to the parent */
    uint32_t up_size;             /* values; two more: see census_value */
    uint32_t n_roles, role[16];
    uint32_t *who[16]; /* by row: ids of its keys */
    u128 *times;
    uint8_t *kind;  /* by row, of a question: CENSUS_* */
    uint32_t *only; /* by row: the MARKED id */
    /* messages up and down the link above, by value: census_pair's parts */
    u128 *rise, *rise_one, *sink, *sink_one;
};

/* Beyond the values of a link: one that nothing has, and one that is known to
 * count 1, where what is below it went into `times`. */
static inline uint32_t census_nothing(const struct census_node *n)
{
    return n->up_size;
}

static inline uint32_t census_one(const struct census_node *n)
{
    return n->up_size + 1;
}

static inline size_t census_links(const struct census_node *n)
{
    return (size_t)n->up_size + 2;
}

struct join_census {
    struct join *j;
    struct arena arena, narrow; /* narrow: what `node` has of its own */
    uint32_t ids, n, n_keys;
    struct census_node *whole; /* all rows */
    struct census_node *node;  /* those that are looked at */
    uint32_t order[MAX_ATOMS]; /* kids first, the root last */
};

/* Equal rows as one, with their arrays in `a`. */
enum status join_census_merge(struct join_census *c, struct census_node *n,
                              struct arena *a, struct err *err) WARN_UNUSED;

/*
 * Puts rows and links in the order in which a pass comes by: values of a link
 * are numbered as the parent's rows have them, and a kid's rows are sorted by
 * them. Rows that no row above leads to are dropped. New arrays in `a`.
 */
enum status join_census_align(struct join_census *c, struct arena *a,
                              struct err *err) WARN_UNUSED;

#endif
