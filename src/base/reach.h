/*
 * What hangs together, within a set: begin with some members, then tell all
 * edges, round by round, until no round adds anything.
 *
 *     struct vset_reach r = {.set = from, .within = all};
 *     while (vset_reach_round(&r))
 *         for (each edge)
 *             vset_reach_edge(&r, edge);
 */
#ifndef BASE_REACH_H
#define BASE_REACH_H

#include "base/bits.h"

struct vset_reach {
    vset set, within;
    bool begun, grown;
};
static inline bool vset_reach_round(struct vset_reach *r)
{
    bool more = !r->begun || r->grown;
    r->begun = true;
    r->grown = false;
    return more;
}
/* All of an edge is reached where one of it is. */
static inline void vset_reach_edge(struct vset_reach *r, vset edge)
{
    vset more = edge & r->set ? edge & r->within & ~r->set : 0;
    r->set |= more;
    r->grown = r->grown || more;
}

#endif
