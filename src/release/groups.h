/*
 * The keys of GROUP BY, from public facts: declared with --groups or in
 * the policy, or the values in a public table of the query. Every key gets an
 * answer, also where no row has it. PRIVACY: keys are never taken from private
 * rows: that a key occurs is an answer nobody paid for.
 */
#ifndef RELEASE_GROUPS_H
#define RELEASE_GROUPS_H

#include "release/prepare.h"

struct group_keys {
    struct value *vals; /* n rows of n_cols values */
    size_t n, n_cols;
    bool known; /* false: a public table that was not opened has them */
};

enum { MAX_GROUPS = 100000 };

/* No GROUP BY: n = n_cols = 0, known. Reads public tables if the source is
 * open. E_UNSUPPORTED if a key comes from private rows. */
enum status group_keys(struct prepared *p, struct group_keys *out,
                       struct err *err) WARN_UNUSED;

#endif
