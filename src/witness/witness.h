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
    struct str *vals;
    size_t n_vals;
};
struct witness {
    struct witness_row *rows; /* the smaller database */
    size_t n_rows;
    struct witness_row insert;
    u128 before, after;
    bool family; /* for "inf": grows with n */
    u128 n;
};

#endif
