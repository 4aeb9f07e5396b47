/*
 * Counts over atoms as they are, row by row: for components whose atoms keep
 * three or more variables, or whose variables are compared by < or <=.
 *
 * An atom whose variables that others know are all known to one other atom
 * (an ear) is aggregated out into that atom: each row there is multiplied by
 * the number of rows here that agree with it and pass the comparisons between
 * the two. When one atom is left its rows hold the counts. A query that does
 * not shrink to one atom has a cycle and is left to the backtracking join.
 *
 *   rows.c        which atom goes into which, and the end
 *   rows_link.c   which rows of two atoms match
 *   rows_fold.c   one such step
 *   rows_widen.c  boundary that is looked up by a key
 *   rows_path.c   the end when two atoms have the boundary
 *   rows_outside.c  variables of exact filters, and others of which one value
 *                   has to be tried
 *   rows_keys.c   groups of rows that agree in several columns
 */
#ifndef JOIN_ROWS_H
#define JOIN_ROWS_H

#include "join/join_int.h"

#include "join/words.h"

/* With weights of one word no sum of them reaches this: differences of sums
 * are exact. With several words nothing can overflow (words.h). */
#define ROWS_MOST ((uint64_t)1 << 62)

struct rows_atom {
    vset set;
    uint32_t n, n_cols;
    uint32_t *vars; /* of each column */
    const uint32_t **cols;
    uint64_t *w; /* by row, x->words each; NULL: ones */
    bool counts; /* w: how many results there are, else whether one is */
    bool gone;
    bool is_keys;    /* what is asked for: it stays to the end */
    bool is_outside; /* positions of a variable outside F */
};

struct rows {
    struct join *j;
    const struct request *r;
    struct arena *a;
    uint32_t n;
    struct rows_atom *atoms;
    vset boundary;  /* of the request, less what outside variables decided */
    vset scaled;    /* variables whose ids are positions, see exact.c */
    uint32_t words; /* of a weight */
    bool fits; /* false: other words, or the backtracking join, have to do it */
};

/* Does the row count? */
static inline bool rows_counts(const struct rows *x, const struct rows_atom *e,
                               uint32_t row)
{
    return !e->w || !words_zero(e->w + (size_t)row * x->words, x->words);
}

const uint32_t *rows_column(const struct rows_atom *x, uint32_t v);
uint32_t rows_ids(const struct rows *x, uint32_t v);
/* Has f what others know of e, and all that its own variables are compared
 * with? */
bool rows_is_ear(const struct rows *x, const struct rows_atom *e,
                 const struct rows_atom *f);

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

/* --- rows_link.c --------------------------------------------------------- */
enum { ROWS_CMPS = 16, ROWS_NES = 4 };

/* A comparison between a variable here (y) and one there (x). */
struct rows_order {
    uint32_t y;          /* 0 or 1: which ordered variable here */
    bool y_left;         /* y op x, else x op y */
    bool strict;         /* <, else <= */
    const uint32_t *col; /* x, by row there */
};

/* Rows of `from` (here) that match a row of `to` (there). */
struct rows_link {
    struct rows *x;
    const struct rows_atom *from, *to;
    uint32_t n_common;
    struct rows_key keys[MAX_VARS + ROWS_NES]; /* common, equal ones after */
    uint32_t n_nes;
    struct rows_key nes[ROWS_NES];
    uint32_t n_ys; /* variables here that < or <= is asked of */
    uint32_t y_var[2], y_size[2];
    const uint32_t *y_col[2];
    uint32_t n_orders;
    struct rows_order orders[ROWS_CMPS];
    struct rows_groups g; /* by the keys */
};
/* x->fits false: too many comparisons, or rows. */
void rows_link_open(struct rows *x, const struct rows_atom *from,
                    const struct rows_atom *to, struct rows_link *out);
/* Sets the groups; the inequalities in `equal` are taken as equalities. */
enum status rows_link_group(struct rows_link *k, struct arena *a,
                            uint32_t equal, struct err *err) WARN_UNUSED;
static inline uint32_t rows_group_of(const struct rows_link *k, int side,
                                     uint32_t row)
{
    return k->g.of[side] ? k->g.of[side][row] : 0;
}

struct rows_span {
    uint32_t lo, hi; /* lo <= i < hi */
};
/* The ids of an ordered variable here that a row there allows. */
struct rows_span rows_allowed(const struct rows_link *k, uint32_t y,
                              uint32_t row);
/* The rows here by group and, within, by the first ordered variable; off: of
 * the groups; ids: of that variable. */
struct rows_sorted {
    uint32_t *rows, *off, *ids;
};
enum status rows_sort(const struct rows_link *k, struct arena *a,
                      struct rows_sorted *s, struct err *err) WARN_UNUSED;
/* Places of the rows here that agree with a row there in the common variables
 * and pass what is asked of the first ordered variable. */
struct rows_span rows_range(const struct rows_link *k,
                            const struct rows_sorted *s, uint32_t row);
/* Does such a row pass the other comparisons? */
bool rows_agree(const struct rows_link *k, uint32_t here, uint32_t there);

/* --- rows_fold.c --------------------------------------------------------- */
/* Weights of `to` times the numbers of rows of `from` that match; exists: by
 * whether there is one. x->fits false: numbers or comparisons do not fit. */
enum status rows_fold(struct rows *x, const struct rows_atom *from,
                      struct rows_atom *to, bool exists,
                      struct err *err) WARN_UNUSED;

/* --- rows_outside.c ------------------------------------------------------ */
/* An atom for every variable outside F. */
enum status rows_open_outside(struct rows *x, struct err *err) WARN_UNUSED;
/* Removes those of them that need no search; before anything is counted. */
enum status rows_fold_outside(struct rows *x, struct err *err) WARN_UNUSED;

/* Removes atoms of which one variable of the boundary is left that only bounds
 * others from below, or only from above; *went: one was removed. */
enum status rows_fold_extreme(struct rows *x, bool *went,
                              struct err *err) WARN_UNUSED;

/* --- rows_widen.c -------------------------------------------------------- */
/* Atoms of which others find one row at most leave them their boundary; *went:
 * one did. */
enum status rows_widen(struct rows *x, bool *went, struct err *err) WARN_UNUSED;

/* --- rows_path.c --------------------------------------------------------- */
/* The value when atoms are left; *what as below. */
enum status rows_path(struct rows *x, u128 *out, enum outcome *what,
                      struct err *err) WARN_UNUSED;

/* --- rows.c -------------------------------------------------------------- */
/* Words for every number on the way to the request's value. */
uint32_t rows_words(const struct join *j, const struct request *r);
/* The request's value, with weights of so many words; PASS: not of this
 * kind; WIDE, or PASS too: numbers that are too large. Clamped if there are
 * several words. */
enum status rows_solve(struct join *j, const struct request *r, struct arena *a,
                       uint32_t words, u128 *out, enum outcome *what,
                       struct err *err) WARN_UNUSED;
/* The same where the atoms shrink to one, with weights of one word: a few
 * passes over their rows. */
enum status rows_solve_tree(struct join *j, const struct request *r,
                            struct arena *a, u128 *out, enum outcome *what,
                            struct err *err) WARN_UNUSED;
/* The counts of keys: ids[v-th variable of the boundary][key], of which those
 * with ok[key] count. */
struct rows_wanted {
    size_t n;
    const uint32_t *const *ids;
    const uint8_t *ok;
    u128 *out;
};
enum status rows_count_keys(struct join *j, const struct request *r,
                            struct arena *a, uint32_t words,
                            const struct rows_wanted *k, enum outcome *what,
                            struct err *err) WARN_UNUSED;

#endif
