/*
 * Inside the SQL front end: the state of lowering one count, scopes, and the
 * access to libpg_query's JSON tree.
 *
 * A statement with several counts is lowered once for each, into a builder
 * of its own. Scalars are expressions over the builder's variables; a column
 * of a base table gets a variable when it is first used.
 */
#ifndef SQL_SQL_INT_H
#define SQL_SQL_INT_H

#include <jansson.h>
#include "base/vec.h"
#include "sql/sql.h"
#include "tree/tree.h"

/* --- constructs.c: the table of refusals -------------------------------- */

enum construct {
#define YES(what, means)
#define NO(id, what, message, reason, instead) NO_##id,
#include "sql/constructs.def"
#undef YES
#undef NO
    N_CONSTRUCTS
};

enum status sql_refuse(struct err *err, enum construct c, long position);

/* --- scan.c: limits and the clause that PostgreSQL does not know --------- */

/* Checks the limits. Returns in *clean a NUL-terminated copy of the text in
 * which a WITH DIFFERENTIAL_PRIVACY clause is blanked out (positions stay). */
enum status sql_scan(struct arena *a, struct str text, char **clean,
                     struct str *epsilon, struct str *delta, struct err *err);

/* --- parse_tree.c: the parse tree
 * ----------------------------------------------*/

struct parse_tree {
    json_t *root;
};

/* Parses a NUL-terminated text that sql_scan has passed. */
enum status parse_tree_make(const char *text, struct parse_tree *out,
                            struct err *err);
void parse_tree_free(struct parse_tree *t);

/* A node is {"Kind": {fields}}: its kind ("" if it is none) and fields. */
const char *node_kind(const json_t *node, const json_t **fields);
/* The fields of a node of this kind, or NULL. */
const json_t *node_as(const json_t *node, const char *kind);
const json_t *get(const json_t *fields, const char *key);
const char *get_text(const json_t *fields, const char *key); /* "" if absent */
bool get_flag(const json_t *fields, const char *key);
size_t get_size(const json_t *fields, const char *key); /* of an array */
long get_location(const json_t *fields);                /* -1: none */
/* Where the text of a node begins: the least position in it. */
long node_location(const json_t *node);
/* The text of a {"String": {"sval": ...}} node. */
const char *string_of(const json_t *node);
/* The last part of a qualified name (an array of strings). */
const char *last_name(const json_t *names);

/* Whether part `i` of a qualified name was written in double quotes. The tree
 * does not say, the text does. */
bool is_quoted(const char *text, long location, size_t i);

/* --- scopes --------------------------------------------------------------*/

struct rcol { /* a column that can be named */
    struct str name;
    bool any_case;        /* its source does not tell names apart by case */
    const struct expr *e; /* NULL: column `col` of atom `atom` */
    uint32_t atom, col;
    bool absent;             /* NULL, for want of a partner in an outer join */
    struct sql_group *group; /* or what `call` counts there */
    const json_t *call;
};

typedef VEC(struct rcol) rcols;

struct sql_rel { /* a name in FROM */
    struct str alias, namespace_;
    struct str table; /* of such a source, without alias: its own spelling */
    rcols cols;
};

struct scope {
    struct scope *parent; /* of a correlated subquery; NULL: outermost */
    VEC(struct sql_rel) rels;
    rcols visible; /* what a bare name or * sees: USING merges columns */
};

struct cte { /* newest first: a query sees those before it */
    const struct cte *next;
    struct str name;
    const json_t *query;
    const json_t *colnames; /* or NULL */
    struct scope *parent;   /* what surrounds the query that declares it */
};

/* A UNION in FROM is lowered once for each of its sides. */
enum { MAX_CHOICES = 15 };
struct choices {
    uint8_t pick[MAX_CHOICES];
    unsigned n;    /* picked so far */
    unsigned seen; /* met while lowering this branch */
    bool sets;     /* outputs of the branches are compared: keep their places */
    bool united;   /* sides of a UNION, not only of outer joins */
};

/* What the branches of an AVG have in common: the range that it is shifted by.
 * Found by reading all of them, then fixed, and they are read again. */
struct sql_common {
    struct cq_weight range;
    bool fixed;
};

struct lower {
    struct arena *arena;
    struct schema *schema;
    const char *text;
    size_t text_n;
    const struct sql_options *opt;
    struct err *err;
    union { /* t begins with b: a conjunctive query needs no more */
        struct cq_builder b;
        struct tree_branch t;
    };
    struct choices *choices; /* which side of each UNION is lowered */
    VEC(uint32_t) var_atom;  /* the atom of each variable */
    VEC(bool) atom_counted;  /* its rows are counted, not only its values */
    VEC(const struct expr *) identity; /* columns of DISTINCT subqueries */
    bool counting;                     /* rows of tables met now are counted */
    const struct cte *ctes;
    unsigned depth, n_subqueries;
    long position;    /* of the scalar that is being lowered */
    uint64_t n_nodes; /* of predicates and computed variables so far */
    uint64_t *work;   /* of the whole statement, see lower_work */
    bool after;       /* over released numbers: no variable is a column */
    bool
        only_null; /* of what is lowered next only whether it is NULL matters */
    bool sole;     /* what is lowered next is all of the outermost FROM */
    bool direct;   /* it is all of a child */
    struct sql_group *group; /* the last one whose numbers may be asked for */
    struct sql_common *common;
};

enum { MAX_DEPTH = 150, MAX_SUBQUERIES = 256, MAX_COUNTS = 500 };
/* Columns of one subquery, as in PostgreSQL. */
enum { MAX_COLUMNS = 1664 };
/* Each use of a WITH query or subquery lowers it again, for each count: names
 * brought into a scope, scalars lowered. What a short text can unfold to is
 * limited before it is unfolded; 64 tables of 100 columns stay far below. */
enum { WORK_COLUMN = 1, WORK_SCALAR = 20, MAX_WORK = 4000000 };
/* Each count reads the whole statement: bytes times counts. */
#define MAX_COUNT_WORK ((size_t)4 << 20)

/* Books the work; E_TOO_LARGE above MAX_WORK. */
enum status lower_work(struct lower *l, size_t n, long position);
enum status lower_enter(struct lower *l, long position);
void lower_leave(struct lower *l);

/* --- from.c ---------------------------------------------------------------*/

/* One item of FROM into the scope: adds atoms and join conditions. */
enum status lower_from(struct lower *l, struct scope *sc, const json_t *item);
struct from_part { /* of a qualified name */
    const char *p;
    bool quoted;
};
/* Number of columns of that name, the first in *out. */
size_t sql_match_name(const rcols *cols, struct from_part name,
                      const struct rcol **out);
enum status sql_push_columns(struct lower *l, const rcols *from, rcols *to);
enum status sql_push_rel(struct lower *l, struct scope *sc, struct sql_rel r,
                         long at);
enum status sql_add_item(struct lower *l, struct scope *sc, struct sql_rel *r,
                         const json_t *alias, long at);
/* from_join.c */
enum status sql_lower_join(struct lower *l, struct scope *sc,
                           const json_t *join);
enum status resolve_column(struct lower *l, struct scope *sc,
                           const json_t *colref, struct expr **out);
/* The same without asking for its value; NULL: a name that does not exist is
 * no error. */
enum status find_column(struct lower *l, struct scope *sc, const json_t *colref,
                        bool must_exist, const struct rcol **out);
/* The variable in a column of an atom, made when first asked for. */
enum status sql_column_var(struct lower *l, uint32_t atom, uint32_t col,
                           uint32_t *out);
enum status rcol_expr(struct lower *l, const struct rcol *c, struct expr **out);
/* Columns of a * or t.* reference. */
enum status expand_star(struct lower *l, struct scope *sc, const json_t *colref,
                        rcols *out);
bool is_star(const json_t *colref);

/* --- sub_number.c: counts in subqueries, compared with numbers
 * --------------*/

typedef VEC(struct term) sql_ids;

enum { THRESHOLD_ANY = INT32_MAX };
struct count_range { /* from least to most, or not */
    int64_t least, most;
    bool outside;
};
/* `e`: the comparison of `counted` with constants. */
enum status sql_count_range(struct lower *l, struct scope *sc, const json_t *e,
                            const json_t *counted, bool negate,
                            struct count_range *out);
/* What is lowered between the two is counted; its rows become ids. */
struct sql_counted {
    size_t atom, identity;
    bool counting;
};
void sql_counted_begin(struct lower *l, struct sql_counted *c);
enum status sql_counted_end(struct lower *l, const struct sql_counted *c,
                            sql_ids *ids);
/* The same with what the call says of it. */
enum status sql_counted_call(struct lower *l, struct scope *sc,
                             const json_t *call, const struct sql_counted *c,
                             sql_ids *ids);
bool sql_is_threshold(const json_t *node);
enum status lower_threshold(struct lower *l, struct scope *sc,
                            const json_t *node, bool negate,
                            struct formula **out);

/* --- group_sub.c: GROUP BY in subqueries
 * ------------------------------------*/

/* may: numbers can be asked for. */
enum status lower_grouped(struct lower *l, struct scope *parent,
                          const json_t *select, bool may, rcols *out);
/* A comparison with the column that shows a count. */
bool sql_is_number(struct lower *l, struct scope *sc, const json_t *e);
enum status lower_number(struct lower *l, struct scope *sc, const json_t *e,
                         bool negate);
/* null: its only column is NULL. */
enum status sql_check_child_keys(struct lower *l, bool null);
enum status sql_check_root_keys(struct lower *l);

/* --- select.c -------------------------------------------------------------*/

/* A subquery: FROM and WHERE into the builder, its columns into *out. */
enum status lower_subquery(struct lower *l, struct scope *parent,
                           const json_t *select, rcols *out);
enum status sql_count_columns(struct lower *l, const rcols *cols);
enum status sql_lower_body(struct lower *l, struct scope *sc,
                           const json_t *select);
/* FROM and WHERE of a subquery whose only column is the call. */
enum status sql_lower_counted(struct lower *l, struct scope *parent,
                              const json_t *select, const json_t *call,
                              const struct sql_counted *c, sql_ids *ids);
/* Refuses the clauses that neither a subquery nor a count may have; a subquery
 * also those that only act on released numbers. */
enum status sql_check_clauses(struct lower *l, const json_t *select,
                              bool subquery);
/* The name of a column without alias, as PostgreSQL gives it. */
const char *derived_name(const json_t *val);
enum status push_ctes(struct lower *l, const json_t *select,
                      struct scope *parent);

/* --- count.c, after.c: the outermost SELECT ------------------------------ */

typedef VEC(const json_t *) nodes;

const json_t *target_at(const json_t *select, size_t i);
/* The expression that an item of GROUP BY stands for. */
enum status sql_group_node(struct lower *l, struct scope *sc,
                           const json_t *select, const json_t *item,
                           const json_t **out);
/* The columns that identify rows, or NULL. */
const struct degree *sql_find_key(const struct table *t);
/* The variable of an atom's row id, made when first asked for. */
enum status sql_rowid_var(struct lower *l, uint32_t atom, uint32_t *out);
/* The call of COUNT that an expression is, or NULL. */
const json_t *count_call(const json_t *val);
/* The same for COUNT, SUM and AVG: what is paid for. */
const json_t *sql_paid_call(const json_t *val);
bool sql_is_average(const json_t *call);
/* What COUNT(*) counts becomes outputs. */
enum status sql_count_rows(struct lower *l);
/* Only rows in which it is not NULL. */
enum status sql_require_value(struct lower *l, struct expr *e, long at);
/* sum.c: SUM, and the two numbers of an AVG. */
/* SUM(LEAST(n, 5)) where n counts the rows of a group; *done: it was one. */
enum status lower_number_sum(struct lower *l, struct scope *sc,
                             const json_t *call, bool *done) WARN_UNUSED;
enum status lower_sum(struct lower *l, struct scope *sc, const json_t *call);
enum status lower_average(struct lower *l, struct scope *sc, const json_t *call,
                          bool number);
/* Every call of COUNT in the SELECT list, HAVING and ORDER BY, equal ones
 * once. */
enum status sql_calls(struct lower *l, const json_t *select, nodes *out);
/* Are they the same but for where they stand and how columns are named? */
bool same_node(struct lower *l, struct scope *sc, const json_t *a,
               const json_t *b);
/* What happens to the released numbers. `keys` are the expressions of GROUP
 * BY with their types, `l` and `sc` have read FROM. */
struct after_keys {
    nodes nodes;
    VEC(enum type) types;
};
/* Columns of the SELECT list, HAVING and ORDER BY that are not among the keys,
 * but whose table's key is. */
enum status sql_determined(struct lower *l, struct scope *sc,
                           const json_t *select, const nodes *keys, nodes *out);
enum status sql_after_read(struct lower *l, struct scope *sc,
                           const json_t *select, const nodes *calls,
                           const struct after_keys *keys,
                           struct sql_statement *out);

/* --- cond.c ---------------------------------------------------------------*/

/* A condition joined with AND; negate: its negation. */
enum status lower_condition(struct lower *l, struct scope *sc,
                            const json_t *node, bool negate);
enum status add_comparison(struct lower *l, enum expr_op op, struct expr *x,
                           struct expr *y, long position);
enum status add_predicate(struct lower *l, struct expr *e, long position);
/* A variable or constant for the expression: a calc if it is neither. */
enum status term_of(struct lower *l, const struct expr *e, long position,
                    struct term *out);

/* --- formula.c: conditions that are not conjunctive ------------------------*/

/* EXISTS, IN, ANY and ALL with a subquery, as a condition of the current
 * node. */
enum status lower_sublink(struct lower *l, struct scope *sc, const json_t *e,
                          bool negate);
/* OR, and AND under NOT, with subqueries inside. */
enum status lower_alternatives(struct lower *l, struct scope *sc,
                               const json_t *node, bool negate);
bool sql_has_sublink(const json_t *node);
/* Never NULL in a row that counts. */
bool sql_is_never_null(const struct lower *l, const struct expr *e);

/* --- outer_join.c ----------------------------------------------------------*/

enum join_side { JOIN_BOTH, JOIN_LEFT_ALONE, JOIN_RIGHT_ALONE };
/* The case of an outer join that this branch is about. */
enum status sql_join_side(struct lower *l, const char *type, long at,
                          enum join_side *out);
/* Its columns are NULL. */
enum status sql_null_scope(struct lower *l, struct scope *sc);
/* What is lowered between the two has no match. */
struct absent {
    uint32_t node;
    bool counting;
};
enum status sql_absent_begin(struct lower *l, struct absent *x);
enum status sql_absent_end(struct lower *l, const struct absent *x);

/* --- setop.c: UNION, INTERSECT, EXCEPT in FROM -----------------------------*/

bool sql_is_setop(const json_t *select, const char **op);
enum status lower_setop(struct lower *l, struct scope *parent,
                        const json_t *select, rcols *out);
/* (xs) is among the rows of the subquery, NULLs being equal. */
enum status lower_member(struct lower *l, struct scope *sc,
                         const json_t *select, const rcols *xs, bool negate,
                         struct formula **out);
/* A choice of this branch between two cases that add up. */
enum status sql_choose(struct lower *l, unsigned *out);
/* The next branch; false: all were lowered. */
bool sql_next_choice(struct choices *c);

/* --- scalar.c, predicate.c, func.c, types.c
 * --------------------------------------------*/

/* The column of the table that has the variable; NULL: none. */
const struct column *lower_column(const struct lower *l, uint32_t var);
enum status lower_scalar(struct lower *l, struct scope *sc, const json_t *node,
                         struct expr **out);
/* The same, must be a truth value. */
enum status lower_boolean(struct lower *l, struct scope *sc, const json_t *node,
                          struct expr **out);
enum status lower_like(struct lower *l, struct scope *sc, const json_t *e,
                       bool icase, struct expr **out);
enum status lower_in(struct lower *l, struct scope *sc, const json_t *e,
                     struct expr **out);
/* x = ANY (ARRAY[...]) */
enum status lower_any(struct lower *l, struct scope *sc, const json_t *e,
                      struct expr **out);
enum status lower_between(struct lower *l, struct scope *sc, const json_t *e,
                          bool symmetric, bool negated, struct expr **out);
/* (a, b) = (c, d): equal in every column. <>: different in some. */
enum status lower_rows(struct lower *l, struct scope *sc, const json_t *x,
                       const json_t *y, enum expr_op op, long position,
                       struct expr **out);
enum status lower_function(struct lower *l, struct scope *sc,
                           const json_t *call, struct expr **out);
/* calendar.c: dates and what is made of them */
bool sql_is_interval(const json_t *node);
enum status lower_interval_sum(struct lower *l, struct scope *sc,
                               const json_t *left, const json_t *right,
                               bool minus, long at, struct expr **out);
enum status lower_today(struct lower *l, const json_t *f, struct expr **out);
enum status lower_calendar(struct lower *l, struct scope *sc, const char *name,
                           const json_t *call, struct expr **out, bool *done);
enum status lower_to_char(struct lower *l, struct expr **v, uint32_t n, long at,
                          struct expr **out);
enum status lower_bucket(struct lower *l, struct expr **v, uint32_t n, long at,
                         struct expr **out);
/* x ~ 'a', x SIMILAR TO 'a'; kind as X_REGEX has it. */
enum status lower_regex(struct lower *l, struct scope *sc, const json_t *x,
                        const json_t *pattern, const char *kind, long at,
                        struct expr **out);
/* COUNT and the others, by name. */
bool is_aggregate(const char *name);
enum status lower_cast(struct lower *l, struct scope *sc, const json_t *cast,
                       struct expr **out);
/* The operator of an A_Expr as an expression operation, or X_N_OPS. */
enum expr_op comparison_op(const char *name);
enum expr_op negated_op(enum expr_op op);

/* A node over arguments, folded when all of them are constants. */
enum status make(struct lower *l, enum expr_op op, uint32_t n,
                 struct expr *const *args, struct expr **out);
enum status make2(struct lower *l, enum expr_op op, struct expr *x,
                  struct expr *y, struct expr **out);
enum status make1(struct lower *l, enum expr_op op, struct expr *x,
                  struct expr **out);
enum status make_const(struct lower *l, struct value v, struct expr **out);
enum status make_untyped(struct lower *l, struct value v, struct expr **out);
/* A string literal, parameter or NULL whose type the context decides. */
bool is_untyped(const struct expr *e);
enum status give_type(struct lower *l, struct expr **e, enum type t,
                      long position);
/* A column of type char(n), or a choice among such: its blanks at the end do
 * not count in comparisons but do in LIKE. */
bool is_padded(const struct lower *l, const struct expr *e);
/* Equal by rules of its own: not to be compared, only its text. */
bool is_text_only(const struct lower *l, const struct expr *e);
/* A column of which only whether it is NULL matters: it needs no type. */
enum status lower_cell(struct lower *l, struct scope *sc, const json_t *node,
                       struct expr **out);
/* E_TYPE if a column that nobody gave a type is the value: only its equality
 * with others means what was meant. Rules order such cells, numbers first. */
enum status sql_need_type(struct lower *l, const struct expr *e,
                          long position) WARN_UNUSED;
/* Brings values to a type in which they compare, as PostgreSQL does. */
enum status unify(struct lower *l, struct expr **v, size_t n, size_t step,
                  long position);
enum status unify2(struct lower *l, struct expr **x, struct expr **y,
                   long position);
enum status sql_type_error(struct lower *l, long position, const char *what,
                           const struct expr *x, const struct expr *y);
/* The column type that a type name stands for; false: not one we know. */
bool sql_type_of_name(const char *name, enum type *out);

#endif
