/*
 * Inside the join engine: what its files share.
 *
 *   dom    the values of one or more variables as dense ids, rising with
 *          value_cmp if an order comparison needs it, else with frequency;
 *          NULL, where it may occur, is id 0
 *   rel    an atom's rows after its selections, as ids, sorted, distinct
 *   trie   a rel sorted by its columns in another order; the first level is
 *          an offset table, deeper levels are runs of equal ids
 *   request  one T_F: atoms, boundary, outputs
 *
 * Everything here is immutable once built, so threads may read it; tries are
 * built before threads start.
 */
#ifndef JOIN_JOIN_INT_H
#define JOIN_JOIN_INT_H

#include <pthread.h>

#include "base/map.h"
#include "base/vec.h"
#include "join/join.h"

/*
 * Builds with sanitizers, and Debug ones, look at finished objects again: what
 * a check finds is a defect. Elsewhere it costs nothing.
 */
#ifndef DPC_CHECKS
#define DPC_CHECKS 0
#endif
#define OBJECT_CHECK(check, err)                                               \
    do {                                                                       \
        const char *bad_ = DPC_CHECKS ? (check) : NULL;                        \
        if (bad_)                                                              \
            return err_internal(err, bad_);                                    \
    } while (0)

/* An id that no value has: the row is dropped. */
#define NO_ID UINT32_MAX

/* What a way to count says: it has the value; it is not one for this, others
 * must try; its numbers leave 64 bits, the same with several words must. */
enum outcome { SOLVED, PASS, WIDE };

struct dom {
    uint32_t n;    /* ids 0 .. n-1 */
    bool has_null; /* id 0 is NULL */
    bool is_rows;  /* row numbers of a table, no values kept */
    bool is_int;   /* all values are 64-bit numbers of one type */
    bool inferred; /* and that may depend on rows */
    enum type type;
    size_t n_vals;              /* without NULL, rising */
    const int64_t *ints;        /* is_int */
    const struct dom_ref *refs; /* otherwise: where they are read */
    bool ordered;               /* < or <= is asked of its variables */
    const uint32_t *rank;       /* by place in rising order: id; or NULL */
    const uint32_t *unrank;     /* the reverse */
    uint32_t *dense;            /* is_int, may be NULL: id of dense_min + i */
    int64_t dense_min;
    size_t dense_n;
    VEC(struct dom_source) sources;
};

/* Where values come from: a column of a table, a computed one, a constant. */
struct dom_source {
    const struct store_column *col;
    size_t n_rows;
    const struct value *value; /* a constant, when col is NULL */
    bool nulls;                /* NULL is a value here */
    const uint32_t *place;     /* by code: place in rising order; may be NULL */
};

/* A value where it lies: entry of the source's dictionary, or row. */
struct dom_ref {
    uint32_t source, at;
};

/*
 * A relation as a tree of prefixes, here of (7,1) (7,4) (9,1) by column 0:
 *
 *   off[7]   off[8] off[9]            rows 0 .. n-1, sorted
 *     |         \   /                 cols[0]  7 7 9
 *     [ 0   1 ]  [ 2 ]                cols[1]  1 4 1
 *
 * Deeper levels have no table: a prefix is a run of equal ids in its column.
 */
struct trie {
    uint32_t n_cols;
    uint32_t n; /* rows */
    const uint32_t **cols;
    const uint32_t *off; /* rows with id i in cols[0]: off[i] .. off[i+1] */
    const uint8_t *order;
};

/* What atoms that select alike have in common: columns of ids, row by row.
 *
 *   dom    d0 d1       ids of two domains
 *   cols    0  2
 *           0  5       rising from row to row, no two rows equal
 *           3  1
 */
struct rel {
    struct str sig; /* equal signatures: equal contents */
    uint32_t n_cols;
    uint32_t n;
    uint32_t *dom;   /* of each column */
    uint32_t **cols; /* sorted by column 0, 1, ...; distinct */
    uint32_t id;     /* number of the relation */
    VEC(struct trie *) tries;
};

struct jatom {
    struct rel *rel;
    uint32_t *vars; /* of each column of rel; distinct */
    vset set;
    aset implies;               /* atoms that its rows always satisfy */
    vset keys;                  /* variables that no two rows share */
    bool known;                 /* both: part.c */
    struct store_column **calc; /* computed columns, by calc of the query */
};

/* A comparison between two variables that no single atom decides. */
struct jcmp {
    enum cmp_op op;
    uint32_t l, r;
};

/* Scratch memory that requests leave to the next one, so that it is not
 * fetched from the system again and again. */
struct spare {
    void *p;
    size_t n;
    uint32_t level; /* of its user; 0: free */
};

/* A large array: see big_array.c. */
struct block {
    void *p;
    size_t n;
};

/* Two megabytes: beyond, rows are asked for before they are read. */
enum { NEAR_PAIRS = 1 << 19 };

struct join {
    struct mem *mem;
    struct arena arena;
    struct arena coding; /* tables for encoding, until that is done */
    VEC(struct block) blocks;
    VEC(struct spare) spares;
    uint32_t spare_level;
    const struct cq *q;
    const struct store *st;
    struct join_options opt;
    struct dom *doms;
    uint32_t n_doms;
    uint32_t *dom_of; /* by variable */
    struct jatom *atoms;
    VEC(struct rel *) rels;
    struct jcmp *cmps; /* variable against variable, in the query's order */
    uint32_t n_cmps;
    struct store_column *calc_cols; /* by calc */
    struct map memo;
    struct map factors; /* made from relations, by key */
    uint32_t n_factors;
    uint32_t near;      /* relations of so many pairs are in a near cache */
    struct room *rooms; /* scratch that no thread uses now: scratch_thread.c */
    pthread_mutex_t rooms_lock;
    bool encoded;              /* doms, atoms and cmps are made */
    uint64_t scanned;          /* counts found without that: rel_scan.c */
    uint64_t solved[5];        /* components, by engine of solve.c */
    bool only_wide;            /* tests: several words for every number */
    uint32_t only_engine;      /* tests: the one that may be used, from 1 */
    uint64_t most_work;        /* ids or rows, of a search; 0: any number */
    bool tired;                /* they did not suffice */
    uint64_t n_walked, n_wide; /* parts walked; graphs with several words */
    uint64_t steps;            /* of the steady engines: rows, ids tried */
};

/* --- domain.c, domain_encode.c
 * ----------------------------------------------------- */
enum status dom_build_all(struct join *j, struct err *err) WARN_UNUSED;
/* Frees what only dom_encode needs; it is slower afterwards. */
void dom_forget_tables(struct join *j);
/* Ids of a whole column; NULL gives 0 or NO_ID. */
enum status dom_encode(const struct dom *d, struct mem *m,
                       const struct store_column *c, size_t n_rows,
                       bool nonnull, uint32_t *out,
                       struct err *err) WARN_UNUSED;
/* Id of a value or NO_ID. */
uint32_t dom_find(const struct dom *d, const struct value *v);
struct value dom_value(const struct dom *d, uint32_t id);

/* --- calc.c ------------------------------------------------------------- */
enum status calc_columns(struct join *j, struct err *err) WARN_UNUSED;
/* keep[row] := 0 for rows that a predicate of the atom refuses. */
enum status pred_filter(struct join *j, uint32_t atom, uint8_t *keep,
                        struct err *err) WARN_UNUSED;

/* --- rel.c -------------------------------------------------------------- */
enum status rel_build_all(struct join *j, struct err *err) WARN_UNUSED;
/* rel_check.c: NULL, or what is wrong with it. */
const char *rel_check(const struct join *j, const struct rel *r);
/* The rows sorted by the columns in `order`; built once. */
enum status rel_trie(struct join *j, struct rel *r, const uint8_t *order,
                     const struct trie **out, struct err *err) WARN_UNUSED;
/* The same if it is there already, else built in `a` for one use. */
enum status rel_trie_once(struct join *j, const struct rel *r,
                          const uint8_t *order, struct arena *a,
                          const struct trie **out, struct err *err) WARN_UNUSED;
/* Stable counting sort of the n rows in `perm` (NULL: all, as they are) by key,
 * below `size`; count: room for size + 1 numbers. */
void sort_pass(const uint32_t *key, uint32_t size, uint32_t n,
               const uint32_t *perm, uint32_t *out, uint32_t *count);
/* Sorts rows by the columns (most significant first) and, if asked, removes
 * equal ones. cols are exchanged in place; *n is updated. */
enum status sort_rows(struct mem *m, uint32_t **cols, uint32_t n_cols,
                      const uint32_t *sizes, uint32_t *n, bool distinct,
                      struct err *err) WARN_UNUSED;

/* --- rel_scan.c --------------------------------------------------------- */
/* Of a query with one atom: the number of distinct values of outs, from the
 * columns as they are. PASS: it takes an encoded atom. */
enum status rel_scan(struct join *j, vset outs, u128 *out, enum outcome *what,
                     struct err *err) WARN_UNUSED;

/* --- walk.c ------------------------------------------------------------- */
/* An outside variable against a constant. */
struct const_cmp {
    enum cmp_op op;
    uint32_t var;
    bool const_left;
    uint64_t pos;
};

struct request {
    aset f;
    vset vars, boundary, outs;
    /* exact filters: variables without atoms, in `boundary` too */
    vset outside;
    uint32_t scale; /* 1, or 1 + the number of values between neighbours */
    const struct jcmp *cmps;
    uint32_t n_cmps;
    const struct const_cmp *consts;
    uint32_t n_consts;
    const uint32_t *fixed; /* by variable, for those in fixed_set */
    vset fixed_set;
    /* Not NULL: called for every value of the boundary (not empty) that has a
     * result, with ids by variable. The backtracking join only. */
    enum status (*each)(void *ctx, const uint64_t *ids, u128 count,
                        struct err *err);
    void *ctx;
};
enum status walk_run(struct join *j, const struct request *r, u128 *out,
                     struct err *err) WARN_UNUSED;
/* The same if it takes no more than a moment, else PASS. */
enum status walk_glance(struct join *j, const struct request *r, u128 *out,
                        enum outcome *what, struct err *err) WARN_UNUSED;

/* --- part.c ------------------------------------------------------------- */
/* The same part with fewer atoms and less boundary. */
enum status request_reduce(struct join *j, struct request *part,
                           struct arena *a, struct err *err) WARN_UNUSED;

/* --- solve.c ------------------------------------------------------------ */
/* The component of the request that holds the first variable of `open`: its
 * atoms, variables and comparisons. */
enum status request_part(struct join *j, const struct request *r, vset open,
                         struct arena *a, struct request *out,
                         struct err *err) WARN_UNUSED;
enum status solve_request(struct join *j, const struct request *r,
                          struct arena *a, u128 *out,
                          struct err *err) WARN_UNUSED;

/* --- scratch_thread.c
 * ------------------------------------------------------------- */
void rooms_free(struct join *j);

/* --- exact.c ------------------------------------------------------------ */
/* Adds the outside variables to the request. */
enum status exact_request(struct join *j, struct request *r, struct arena *a,
                          struct err *err) WARN_UNUSED;
/* Is there a value at this position of the augmented active domain, and does it
 * pass the variable's comparisons with constants? */
bool exact_allows(const struct join *j, const struct request *r, uint32_t v,
                  uint64_t pos);

/* --- threads.c ---------------------------------------------------------- */
/* Runs work(ctx, i) for i in 0 .. threads-1 at the same time, 0 on the calling
 * thread, which asks whether to go on while it waits for the others. */
enum status run_threads(struct join *j, unsigned n,
                        enum status (*work)(void *, unsigned), void *ctx,
                        struct err *err) WARN_UNUSED;

/* --- big_array.c ------------------------------------------------------------
 */
/* Zeroed; until it is dropped or the engine closed. NULL: no memory. Not for
 * worker threads. */
void *block_array(struct join *j, size_t n, size_t size);
/* The block with its first n bytes only; where it is now. */
void *block_cut(struct join *j, void *p, size_t n);
void block_drop(struct join *j, const void *p); /* NULL allowed */
void blocks_free(struct join *j);

/* --- scratch_request.c
 * ------------------------------------------------------------ */
/* A block of n bytes with anything in it, until spare_close; NULL when memory
 * is out. Not for worker threads. */
void *spare_take(struct join *j, size_t n);
/* What is taken between the two is given back by the latter; they nest. */
void spare_open(struct join *j);
void spare_close(struct join *j);

/* --- join.c ------------------------------------------------------------- */
/* Encodes what the query needs, unless that was done. */
enum status join_encode(struct join *j, struct err *err) WARN_UNUSED;
/* Answers by key; keys of different length never meet. */
bool memo_find(const struct join *j, struct str key, u128 *out);
enum status memo_put(struct join *j, struct str key, u128 v,
                     struct err *err) WARN_UNUSED;
/* join_max by the backtracking join alone, not remembered: the other opinion in
 * tests. */
enum status join_max_walked(struct join *j, aset f, vset boundary, vset outs,
                            u128 *out, struct err *err) WARN_UNUSED;
/* join_max with several words for every number, not remembered: the same. */
enum status join_max_wide(struct join *j, aset f, vset boundary, vset outs,
                          u128 *out, struct err *err) WARN_UNUSED;
/* Walks the whole query with `boundary` (not empty) as keys; see each. */
enum status join_list_boundary(struct join *j, vset boundary,
                               enum status (*each)(void *ctx,
                                                   const uint64_t *ids,
                                                   u128 count, struct err *err),
                               void *ctx, struct err *err) WARN_UNUSED;
/* eliminate.c: the same by summing out all variables but `keys`; nothing is
 * told unless SOLVED. With a weight answers count by what they weigh. */
typedef enum status (*each_key)(void *ctx, const uint64_t *ids, u128 count,
                                struct err *err);
enum status join_eliminate(struct join *j, vset keys, each_key each, void *ctx,
                           enum outcome *what, struct err *err) WARN_UNUSED;
/* The same of the atoms f; `outs` holds the weight's variable. */
enum status join_eliminate_weighted(struct join *j, aset f, vset keys,
                                    vset outs, each_key each, void *ctx,
                                    enum outcome *what,
                                    struct err *err) WARN_UNUSED;
/* weigh.c: T_F of a query with a weight, and its sums by key. Each key is told
 * once. */
enum status join_max_weighted(struct join *j, aset f, vset boundary, vset outs,
                              u128 *out, struct err *err) WARN_UNUSED;
enum status join_list_weighted(struct join *j, vset keys, each_key each,
                               void *ctx, struct err *err) WARN_UNUSED;
/* Fills in the variables and comparisons of r->f. */
enum status join_pick(struct join *j, struct request *r, struct arena *a,
                      struct err *err) WARN_UNUSED;

static inline bool join_cancelled(const struct join *j)
{
    return j->opt.cancelled && j->opt.cancelled(j->opt.ctx);
}

#endif
