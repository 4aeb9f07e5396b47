/*
 * Pushdown, inside the source module: counts computed by the database with
 * SQL that dpcount writes. The interface to others is in source.h
 * (source_counter_*); how it works stands in README.md.
 *
 *   pushdown.c       requests: components, memory of answers
 *   pushdown_part.c  a component: roles of variables, canonical description
 *   pushdown_batch.c components that are asked together
 *   pushdown_gen.h   what the files that write SQL share
 *   pushdown_pool.c  relations, each written once
 *   pushdown_sql.c   the SQL of a component, by elimination of variables
 *   pushdown_step.c  one step of it
 *   pushdown_atom.c  the relation of one atom
 *   pushdown_exact.c variables outside, for filters treated exactly
 *   pushdown_groups.c  counts for given keys
 *   pushdown_node.c  expressions, long parts as columns of subqueries
 *   pushdown_expr.c  columns, constants and operators as SQL
 *   pushdown_func.c  functions as SQL
 *   pushdown_num.c   numbers as SQL
 */
#ifndef SOURCE_PUSHDOWN_H
#define SOURCE_PUSHDOWN_H

#include "base/map.h"
#include "source/internal.h"

struct source_counter {
    struct source *src;
    const struct cq *q;
    struct arena arena;   /* answers remembered */
    struct arena scratch; /* one request */
    struct map answers;   /* description -> index in values */
    VEC(u128) values;
    const struct progress *progress;
    uint64_t n_statements; /* sent so far */
    bool planning;         /* statements are planned, not run */
};

enum { MAX_PUSHDOWN_CMPS = 256 };

/* A connected set of atoms with what is asked of it. */
struct part {
    const struct cq *q;
    uint32_t atoms[MAX_ATOMS]; /* in canonical order */
    size_t n_atoms;
    vset vars;     /* without row ids */
    vset outside;  /* exact filters: in vars and boundary, in no atom */
    vset boundary; /* maximum over these */
    vset outs;     /* counted: closed under keys, without the boundary */
    vset exists;   /* the rest: there is some value */
    aset weighted; /* bags whose rows are counted */
    bool cmps[MAX_PUSHDOWN_CMPS]; /* comparisons that lie inside */
    uint8_t num[MAX_VARS];        /* canonical numbers, by first use */
};

/* What is asked of a set of atoms. outside: variables that no atom of the set
 * has and that range over all values (filters treated exactly). */
struct ask {
    aset atoms;
    vset boundary, outs, outside;
};

/* Takes from `left` what hangs together with its first atom or, when no atom
 * is left, with its first variable outside. */
struct ask ask_component(const struct cq *q, struct ask *left);

/* Fills the roles. */
enum status part_init(struct part *p, const struct cq *q, const struct ask *ask,
                      struct err *err) WARN_UNUSED;
/* Puts the atoms in canonical order and describes the part: parts with equal
 * descriptions are equal up to the names of variables. */
enum status part_describe(struct arena *a, struct part *p, struct str *out,
                          struct err *err) WARN_UNUSED;

/* pushdown_batch.c: components that are asked together. Their answers go into
 * c->answers. */
enum { MAX_BATCH = 64 };
struct batch;
struct batch *batch_new(struct source_counter *c); /* NULL: no memory */
void batch_free(struct batch *b);                  /* NULL allowed */
bool batch_has(const struct batch *b, struct str key);
bool batch_full(const struct batch *b);
/* Writes its SQL. Not when full. The scratch may go afterwards. */
enum status batch_add(struct batch *b, const struct part *p, struct str key,
                      struct err *err) WARN_UNUSED;
enum status batch_send(struct batch *b, struct err *err) WARN_UNUSED;

/* pushdown_exact.c */
/* Variables outside f that comparisons tie down (join.h: join_max_exact). */
vset exact_outside(const struct cq *q, aset f);
/* Do the values of v's domain count one by one, with nothing between? */
bool exact_whole(const struct cq *q, uint32_t v);
/* E_UNSUPPORTED where the database cannot do it. */
enum status exact_supported(const struct cq *q, struct err *err) WARN_UNUSED;

/* pushdown_expr.c */
/* The SQL of a column as a value of its type. */
enum status sql_column(struct source_counter *c, uint32_t atom, uint32_t col,
                       struct sb *b, struct err *err) WARN_UNUSED;
enum status sql_const(const struct value *v, struct sb *b,
                      struct err *err) WARN_UNUSED;
enum status sql_refuse_expr(struct err *err, const char *what);

/* pushdown_node.c */
/* The SQL of an expression over one atom, and of a variable inside it (a
 * column or a computed value). The builder's arena is used. */
enum status sql_expr(struct source_counter *c, uint32_t atom,
                     const struct expr *e, struct sb *b,
                     struct err *err) WARN_UNUSED;
enum status sql_var(struct source_counter *c, uint32_t atom, uint32_t var,
                    struct sb *b, struct err *err) WARN_UNUSED;

struct sql_nodes;
struct sql_out { /* where a part of an expression is written to */
    struct source_counter *c;
    uint32_t atom;
    struct sql_nodes *nodes;
    struct sb *b;
    struct err *err;
};

/* The SQL of an argument, short enough to be written several times. */
enum status sql_part(const struct sql_out *o, const struct expr *e,
                     struct str *out) WARN_UNUSED;
enum status sql_write_var(const struct sql_out *o, uint32_t var) WARN_UNUSED;
/* pushdown_expr.c: the SQL of a node over its parts, however long. */
enum status sql_write(const struct sql_out *o,
                      const struct expr *e) WARN_UNUSED;
/* pushdown_func.c */
enum status sql_function(const struct sql_out *o,
                         const struct expr *e) WARN_UNUSED;
/* A date that was computed from another. The database's calendar may not have
 * it, so it is only compared, by its days. */
bool sql_is_date_sum(const struct expr *e);
enum status sql_days(const struct sql_out *o, const struct expr *e) WARN_UNUSED;
/* pushdown_num.c */
/* An integer or decimal as numeric; NULL where it is no number, or longer
 * than EXPR_MAX_DIGITS. */
enum status sql_numeric(const struct sql_out *o, const struct expr *e,
                        struct str *out) WARN_UNUSED;
/* + - * abs floor ceil round div mod, and the nearest double. */
enum status sql_arithmetic(const struct sql_out *o,
                           const struct expr *e) WARN_UNUSED;
enum status sql_to_real(const struct sql_out *o,
                        const struct expr *e) WARN_UNUSED;
/* Can the database compare these types exactly as dpcount does? */
bool sql_same_order(enum type a, enum type b);

#endif
