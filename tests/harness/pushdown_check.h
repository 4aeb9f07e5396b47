/*
 * Pushdown against nested loops: `each` random queries of each class. keyed:
 * one table has a primary key. Skips the test where there is no server.
 */
#ifndef HARNESS_PUSHDOWN_CHECK_H
#define HARNESS_PUSHDOWN_CHECK_H

#include <stdbool.h>
#include <stdint.h>

void pushdown_check(bool keyed, uint64_t seed, unsigned each);
/* The same for bags whose values must differ: all pairs less the equal ones. */
void pushdown_check_differences(uint64_t seed, unsigned each);
/* Patterns of three or four variables, with cycles, most of which must differ.
 */
void pushdown_check_patterns(uint64_t seed, unsigned n);

/* Where counts end, for a build with tiny constants; 0: COUNT_MOST. */
extern uint64_t pushdown_check_most;
/* Is it a mutant that is looked at? Then wrong numbers are counted. */
extern bool pushdown_check_mutant;
extern unsigned pushdown_check_wrong, pushdown_check_clamped;

#endif
