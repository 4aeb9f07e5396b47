/* Random queries over the tables of tree_world.h, as SQL text. */
#ifndef HARNESS_TREE_QUERIES_H
#define HARNESS_TREE_QUERIES_H

#include "base/str.h"

/* A number below n, and the next seed. */
unsigned tree_query_below(uint64_t *seed, unsigned n);
struct str tree_query_text(struct arena *a, uint64_t *seed);

#endif
