/*
 * Results over the counts of a request. One count: an object with its
 * members. Several: {"counts": [{...}, ...]} with an object for each, in the
 * order of the SELECT list, and what concerns all of them beside it.
 */
#ifndef RELEASE_COUNTS_H
#define RELEASE_COUNTS_H

#include "base/json.h"
#include "release/session.h"

struct counts_out {
    struct json json;
    struct sb *text;
    size_t n, i; /* counts in all, begun */
    bool several, listed;
};

void counts_begin(struct counts_out *w, size_t n, struct result *out);
/* Before the members of each count. */
void counts_next(struct counts_out *w, struct str label);
/* After the last one: members of the whole may follow. */
void counts_list_end(struct counts_out *w);
void counts_end(struct counts_out *w);

#endif
