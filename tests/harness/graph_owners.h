/*
 * Owner tuples of patterns in a graph whose nodes are entities: each edge,
 * triangle or path of two edges once, whatever its direction. From a file with
 * two numbers a line.
 */
#ifndef HARNESS_GRAPH_OWNERS_H
#define HARNESS_GRAPH_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph {
    uint32_t nodes;
    uint32_t *first; /* nodes + 1 */
    uint32_t *next;  /* neighbours, rising */
};
/* False: there is no such file. */
bool graph_read(const char *path, struct graph *out);
void graph_free(struct graph *g);

struct owner_tuples {
    unsigned k;
    size_t n;
    uint32_t *ids; /* free() */
};
/* what: "edges", "triangles" or "2-paths" */
void graph_tuples(const struct graph *g, const char *what,
                  struct owner_tuples *out);

#endif
