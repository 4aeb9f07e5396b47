/*
 * The keys of GROUP BY, from public facts: declared with --groups or in
 * the policy, the values in a public table of the query or of one that the
 * key refers to, or all that the key's type or expression allows. Every key
 * gets an answer, also where no row has it. PRIVACY: that a key occurs in
 * private rows is an answer nobody paid for, so such keys are refused, unless a
 * delta was offered: then they are found in the data, and shown only if their
 * noisy count reaches a threshold (PROOF.md).
 */
#ifndef RELEASE_GROUP_KEYS_H
#define RELEASE_GROUP_KEYS_H

#include "release/prepare.h"

struct key_list {
    struct value *vals;
    size_t n;
};

struct group_keys {
    struct value *vals; /* n rows of n_cols values */
    size_t n, n_cols;
    bool known; /* false: a public table that was not opened has them */
    bool found; /* in private rows, behind a threshold: vals is empty */
    struct key_list *only; /* found: by column, what was declared; n 0: any */
};

enum { MAX_GROUPS = 100000 };

/* No GROUP BY: n = n_cols = 0, known. Reads public tables if the source is
 * open. E_UNSUPPORTED if a key comes from private rows and no delta is
 * offered. */
enum status group_keys(struct count *q, struct group_keys *out,
                       struct err *err) WARN_UNUSED;

/* key_domain.c: the values that a key can have by its type, a CHECK or the
 * expression that computes it, NULL last if it can be; n 0: no short list. */
enum status key_domain(struct count *q, uint32_t var, struct key_list *out,
                       struct err *err) WARN_UNUSED;
/* Does the key refer (FOREIGN KEY) to a column of a public table? */
bool key_reference(const struct count *q, uint32_t var, uint32_t *out_table,
                   uint32_t *out_col);

/* Sorts, and leaves each value once; returns how many. */
size_t group_keys_sort(struct value *v, size_t n);

/* Of a GROUP BY column. */
enum type group_key_type(const struct count *q, uint32_t col);

#endif
