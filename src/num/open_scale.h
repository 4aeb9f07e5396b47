/*
 * Opens secret rationals. PRIVACY: for the files that src/SECRETS names, each
 * with the reason; tests/e2e/test_secrets.py fails on any other.
 */
#ifndef NUM_OPEN_SCALE_H
#define NUM_OPEN_SCALE_H

#include "num/secret_scale.h"

mpq_srcptr secret_scale_open(const struct secret_scale *s);

/* The same for a count, whose sign is its uppermost bit. */
void secret_scale_of_count(const struct secret_count *s, mpz_t out);

#endif
