/*
 * How many rounds a test makes. Under valgrind everything takes fifty times
 * as long: ./test valgrind sets DPC_SLOW, which divides the numbers that only
 * say how often the same thing is tried. Sizes that a statement rests on
 * (samples of a statistical test) do not go through here.
 */
#ifndef HARNESS_SIZE_H
#define HARNESS_SIZE_H

#include <stdlib.h>

static inline unsigned test_size(unsigned n)
{
    const char *slow = getenv("DPC_SLOW");
    unsigned by = slow ? (unsigned)strtoul(slow, NULL, 10) : 0;
    return by > 1 ? (n + by - 1) / by : n;
}

#endif
