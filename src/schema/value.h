/*
 * Values: what a column holds and what a constant in a query is.
 *
 * Types follow PostgreSQL as far as counting needs them. Equality and order
 * are total within a type and across INT, DEC and REAL (compared exactly, not
 * through a double); other pairs of types do not compare, and the SQL front
 * end refuses them. Text is compared bytewise (collation "C").
 */
#ifndef SCHEMA_VALUE_H
#define SCHEMA_VALUE_H

#include "base/str.h"

enum type {
    T_UNKNOWN, /* undeclared: takes its type from the data */
    T_INT,     /* 64-bit */
    T_DEC,     /* exact decimal of any size, canonical text */
    T_REAL,    /* double; NaN equals itself and is the largest, as PostgreSQL */
    T_TEXT,
    T_BOOL,
    T_DATE,      /* days since 1970-01-01 */
    T_TIMESTAMP, /* microseconds since 1970-01-01 00:00 UTC */
    T_TIME,      /* microseconds since midnight */
    T_UUID,      /* canonical lower-case text */
};

struct value {
    enum type type;
    bool is_null;
    int64_t i;    /* INT, BOOL (0/1), DATE, TIMESTAMP, TIME */
    double f;     /* REAL */
    struct str s; /* TEXT, DEC, UUID */
};

struct value value_null(void);
struct value value_int(int64_t i);
struct value value_text(struct str s);
const char *type_name(enum type t);
/* By the names that policies and --table take; false: there is no such one. */
bool type_find(struct str name, enum type *out);
/* Can = and < be asked of these two types? T_UNKNOWN compares with all. */
bool type_comparable(enum type a, enum type b);

/* Total order on non-null values of comparable types; NULL sorts first and
 * equals NULL (grouping's view, not SQL's =). */
int value_cmp(const struct value *a, const struct value *b);
bool value_eq(const struct value *a, const struct value *b);
uint64_t value_hash(const struct value *v); /* equal values hash alike */
/* One form for all values that are equal: of type t where that has it, else
 * (also for T_UNKNOWN) an integer if it is one, else a decimal. False: out of
 * memory. */
bool value_canonical(struct arena *a, struct value *v, enum type t);

/* Rule text: 'it''s', 12, 1.5, true, date '2020-01-01'. */
void value_print(struct sb *b, const struct value *v);
/* The bare text: it's, 12, 1.5, true, 2020-01-01; NULL is empty. */
void value_plain(struct sb *b, const struct value *v);
/* Reads `text` as a value of type t (as PostgreSQL's input functions do,
 * blanks around allowed except for TEXT). False: it is not one. `out` may
 * borrow from `text` or be allocated in `a`. */
bool value_parse(struct arena *a, struct str text, enum type t,
                 struct value *out);
/* INT if it fits, DEC for wider or fractional exact numbers, else false. */
bool value_parse_number(struct arena *a, struct str text, struct value *out);

#endif
