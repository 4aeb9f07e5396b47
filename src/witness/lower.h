/*
 * Lower bounds: databases built to make one row count for much. Everything
 * here only proposes; a proposal becomes a bound when the checker, which
 * shares no code with this, has recounted it.
 */
#ifndef WITNESS_LOWER_H
#define WITNESS_LOWER_H

#include "witness/admissible.h"
#include "witness/selfjoin_glue.h"
#include "witness/witness.h"

/* A database under construction: rows of numbered values. The first numbers
 * are the query's constants. Row b is the one that is inserted, in place of row
 * `old` if there is one: then others refer to both. */
struct witness_db {
    struct arena *a;
    const struct tab *phi;
    VEC(struct tab_atom) rows;
    VEC(struct value) vals;
    uint32_t b;
    bool has_old;
    uint32_t old;
};

/* How values of a kind are made up. */
struct kinds {
    enum type *of_el; /* for each element of phi */
    bool ordered;     /* there are comparisons: values at random places */
    uint64_t seed;
    struct value *hints; /* constants of predicates, patterns made plain */
    size_t n_hints;
    bool has_heavy; /* element `heavy` of a sum: always of the most weight */
    uint32_t heavy;
    struct value heaviest;
};

enum status kinds_make(struct arena *a, const struct tab *phi,
                       struct kinds *out, struct err *err) WARN_UNUSED;
/* Only the hints: constants of the query's predicates and computed columns. */
enum status kinds_hints(struct arena *a, const struct cq *q, struct kinds *k,
                        struct err *err) WARN_UNUSED;
uint64_t kinds_random(struct kinds *k, uint64_t below);

enum status witness_db_init(struct arena *a, const struct tab *phi,
                            struct witness_db *out,
                            struct err *err) WARN_UNUSED;
bool witness_db_has(const struct witness_db *d, const struct value *v);
/* Value number n of a type: different numbers, different values, except that of
 * truth values there are two. */
enum status witness_db_value(struct witness_db *d, enum type type, uint64_t n,
                             struct value *v, struct err *err) WARN_UNUSED;
/* A value that the database does not have yet, fit for element e of phi.
 * NO_EL: the type has no more. */
enum status witness_db_fresh(struct witness_db *d, struct kinds *k, uint32_t e,
                             uint32_t *out, struct err *err) WARN_UNUSED;
/* The row's number; a repeated row is stored once. */
enum status witness_db_add(struct witness_db *d, uint32_t table,
                           const uint32_t *el, uint32_t n, uint32_t *out,
                           struct err *err) WARN_UNUSED;
/* Does the database satisfy all constraints on row r? */
bool witness_db_row_fits(const struct witness_db *d, uint32_t r);

/* Answers of phi that the database has only thanks to row b. U128_INF when
 * the work ended. */
enum status witness_db_gain(struct arena *a, const struct witness_db *d,
                            struct work *work, u128 *out,
                            struct err *err) WARN_UNUSED;

/* Enough for 400 tries of every table of a small query. */
enum { CANONICAL_WORK = 150000 };
/* To make proposals admissible: a good tenth of a second. */
enum { ADMIT_WORK = 15000000 };

struct witness_search {
    struct arena *a;
    const struct cq *q;
    const struct ctree *tree; /* recounted in place of q, of which q is a path;
                                 NULL: q itself */
    uint64_t more_copies;     /* of the pump, than the size asked */
    const struct admissible *adm; /* what databases must fit; NULL: anything */
    const struct tab *t;          /* the query, normalised */
    const u128 *most;         /* by atom of t: what a row in its part brings */
    struct tab *const *cases; /* structures that cover t; may be none */
    size_t n_cases;
    struct work *work;
    struct work *canonical; /* for tries of witness_canonical */
    struct kinds kinds;
    uint64_t check_steps; /* the checker may still take */
    uint64_t admit_work;  /* the same of witness_admit */
    uint32_t table;       /* of the row that changes */
    u128 target;          /* the upper bound: no more can be reached */
    u128 best;
    struct witness witness; /* of best, checked */
};

/* Takes the database as the best one if it is better and the checker agrees. Of
 * a tree the row may add or take away. */
enum status witness_offer(struct witness_search *l, const struct witness_db *d,
                          struct err *err) WARN_UNUSED;
/* witness_admit.c: makes the proposal one that the declared schema admits, if
 * that can be done by other values and more rows: rows that foreign keys ask
 * for, values that fit lengths, lists and CHECKs. */
enum status witness_admit(struct witness_search *l, struct witness_db *d,
                          bool *ok, struct err *err) WARN_UNUSED;
/* Does the CHECK look at the column? When in doubt: yes. */
bool witness_checks(const struct row_check *k, uint32_t col);
/* A foreign key of the table in which the column is; NULL: none. */
const struct foreign_key *witness_leads(const struct table *t, uint32_t col);
/* witness_limited.c: marks what has few values in every such database once what
 * is marked has one: columns with lists, CHECKs or short texts, and what refers
 * to tables that do not grow; and what these limit. */
void witness_limited(const struct witness_search *l, const struct tab *t,
                     bool *in);
/* n answers hang on one row; true: the family grows without limit. */
enum status witness_pump(struct witness_search *l, uint64_t n, bool *unbounded,
                         struct err *err) WARN_UNUSED;
/* The query itself as a database, with values tried at random: for filters
 * that the other ways do not understand. */
enum status witness_canonical(struct witness_search *l,
                              struct err *err) WARN_UNUSED;
/* The same with so many more copies of the atoms of `own`, in what they share
 * with neither the others nor the outputs: for numbers of partners. */
enum status witness_copies(struct witness_search *l, aset own, uint32_t copies,
                           struct err *err) WARN_UNUSED;
enum status witness_glue(struct witness_search *l, struct err *err) WARN_UNUSED;
enum status witness_blowup(struct witness_search *l,
                           struct err *err) WARN_UNUSED;
enum status witness_search(struct witness_search *l,
                           struct err *err) WARN_UNUSED;

#endif
