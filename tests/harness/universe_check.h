/* One random query against every instance of its universe (universe.h). */
#ifndef HARNESS_UNIVERSE_CHECK_H
#define HARNESS_UNIVERSE_CHECK_H

#include "harness/rule_gen.h"
#include "harness/universe.h"

/* Fails the test on a violation, with the query. Returns the number of
 * (query, instance) pairs looked at; 0 if the universe was too large. */
uint64_t check_random_query(enum gen_class c, uint64_t *seed);
/* The same for a rule that is given. */
uint64_t check_query(const struct gen *g, uint64_t *seed);

#endif
