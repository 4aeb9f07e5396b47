/*
 * Pushdown against nested loops: `each` random queries of each class. keyed:
 * one table has a primary key. Skips the test where there is no server.
 */
#ifndef HARNESS_PUSHDOWN_CHECK_H
#define HARNESS_PUSHDOWN_CHECK_H

#include <stdbool.h>
#include <stdint.h>

void pushdown_check(bool keyed, uint64_t seed, unsigned each);

#endif
