/*
 * "Did you mean": of the names that are offered the one that is fewest changes
 * away, or none.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include "base/str.h"

struct nearest {
    struct str asked;
    struct str best; /* n 0: nothing is near */
    unsigned least;
};

void nearest_begin(struct nearest *s, struct str asked);
void nearest_try(struct nearest *s, struct str name);

#endif
