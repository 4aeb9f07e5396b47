/*
 * A witness of a lower bound: two neighbouring databases whose counts differ by
 * that much, values as text.
 */
#ifndef WITNESS_WITNESS_H
#define WITNESS_WITNESS_H

#include "base/checked.h"
#include "base/str.h"

struct witness_row {
    uint32_t table;
    struct str *vals; /* p NULL: NULL */
    size_t n_vals;
};
struct witness {
    struct witness_row *rows; /* what both databases have */
    size_t n_rows;
    struct witness_row insert;
    bool replaces; /* the other database has `replaced` in place of `insert` */
    struct witness_row replaced;
    u128 before, after;
    bool family; /* for "inf": grows with n */
    u128 n;
};

#endif
