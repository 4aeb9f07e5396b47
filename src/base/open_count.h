/*
 * Opens secret counts. PRIVACY: for the files that src/SECRETS names, each with
 * the reason; tests/e2e/test_secrets.py fails on any other.
 */
#ifndef BASE_OPEN_COUNT_H
#define BASE_OPEN_COUNT_H

#include "base/secret_count.h"

u128 secret_count_open(const struct secret_count *s);

#endif
