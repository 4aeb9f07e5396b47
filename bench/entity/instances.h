/*
 * Instances for the entity benchmark: owner tuples of graph patterns and of
 * joins over a folder that make-tpch wrote.
 */
#ifndef BENCH_ENTITY_INSTANCES_H
#define BENCH_ENTITY_INSTANCES_H

#include "entity/pack.h"

struct instance {
    const char *name;
    double gs; /* the bound that R2T is given */
    struct pack_input in;
    uint32_t *ids; /* free() */
    u128 *weight;  /* free() */
};

/* Graphs of the folder; false: there is none. */
bool instance_graph(const char *folder, const char *graph, const char *what,
                    double gs, struct instance *out);
/* "Q12", "Q10", "Q3", "Q20", "Q18", "q5", "q21": see instances.c */
bool instance_tpch(const char *folder, const char *what, struct instance *out);
/* n pairs of nodes by a power law. */
void instance_pairs(size_t n, uint32_t nodes, struct instance *out);
void instance_free(struct instance *i);

#endif
