/*
 * SQL text to conjunctive queries, or a refusal that helps.
 *
 * PostgreSQL's grammar (libpg_query), PostgreSQL's name resolution and
 * semantics, restricted to counts of conjunctive queries. A statement gives
 * one query for each COUNT in its SELECT list. What is outside is refused
 * with E_UNSUPPORTED, a position, a reason and what to write instead; the
 * list stands in sql/constructs.def and, generated from it, in docs/sql.md.
 *
 * The schema is not changed by sql_read.
 */
#ifndef SQL_SQL_H
#define SQL_SQL_H

#include "cq/cq.h"
#include "tree/tree.h"

/* Limits, checked before the parser sees the text: it recurses. */
enum {
    SQL_MAX_BYTES = 1 << 20,
    SQL_MAX_TOKENS = 50000,
    SQL_MAX_NESTING = 200,   /* of brackets */
    SQL_MAX_OPERATORS = 2000 /* words and signs that nest the tree */
};

struct sql_options {
    const struct str *params; /* texts of $1, $2, ...; p NULL is NULL */
    size_t n_params;
    int64_t today; /* CURRENT_DATE: days since 1970-01-01; 0: none */
    /* n_params of them, or NULL. Where a parameter occurs it gets the type that
     * its place asks for, T_UNKNOWN if any will do; the others stay. */
    enum type *types;
};

/* AVG(x) is m + s / (2 n), with s the sum of 2 x - (lo + hi), n the number of
 * values and m = (lo + hi) / 2; all but n in units of 10^-scale. With entities
 * (`low`) it is lo + s / n, with s the sum of x - lo. */
struct sql_average {
    int64_t lo, hi;
    uint32_t scale;
    bool low;
};

struct sql_count {
    struct cq *q;       /* of a tree: the body of its first branch */
    struct ctree *tree; /* NULL: a conjunctive query */
    struct str label;   /* the column's name: an alias, or "count" */
    /* AVG is two counts, one after the other: the sum, which has this, and the
     * number, each for half of the price. */
    const struct sql_average *average;
    bool half;
};

/*
 * What is done with the noisy numbers, which costs nothing: the columns of the
 * result, HAVING, ORDER BY and LIMIT of the outermost SELECT. Expressions over
 * the keys of GROUP BY (variables 0 to n_group - 1) and the counts (variable
 * n_group + i is count i). PRIVACY: functions of what was released, nothing
 * else can be named in them.
 */
struct sql_column {
    struct str name;
    const struct expr *e;
};
struct sql_sort {
    const struct expr *e;
    bool descending, nulls_first;
};
struct sql_after {
    struct sql_column *columns;
    size_t n_columns;
    const struct expr *having; /* NULL: none */
    struct sql_sort *sorts;
    size_t n_sorts;
    uint64_t offset, limit; /* UINT64_MAX: no limit */
};

struct sql_statement {
    struct sql_count *counts; /* each that occurs, once, in order */
    size_t n_counts;
    struct sql_after after;
    struct str *group_names; /* of the GROUP BY keys, in order */
    size_t n_group;
    /* From WITH DIFFERENTIAL_PRIVACY OPTIONS(...), as written; n 0: none. */
    struct str epsilon, delta;
};

/* `opt` may be NULL. Everything in `out` lives in `a`. */
enum status sql_read(struct arena *a, struct schema *s, struct str text,
                     const struct sql_options *opt, struct sql_statement *out,
                     struct err *err) WARN_UNUSED;

/* CREATE TABLE and ALTER TABLE ... ADD key statements; other statements are
 * skipped. `file` is for messages. */
enum status sql_read_ddl(struct schema *s, struct str text, const char *file,
                         struct err *err) WARN_UNUSED;

/* Which values do columns of the table have by the CHECKs of this CREATE TABLE?
 * Columns that have a list keep it; a text that cannot be read lists nothing.
 */
enum status sql_read_lists(struct schema *s, size_t table, struct str text,
                           struct err *err) WARN_UNUSED;

/* The text of docs/sql.md. */
void sql_print_doc(struct sb *b);

#endif
