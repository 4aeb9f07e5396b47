/* Queries for tests, from rule text and constraints. */
#ifndef HARNESS_RULES_H
#define HARNESS_RULES_H

#include "cq/cq.h"

struct rules {
    struct mem mem;
    struct arena arena;
    struct schema schema;
    struct err err;
};

void rules_init(struct rules *r);
/* False: something was not freed. */
bool rules_fini(struct rules *r);
/* Fails the test on an error. */
void rules_constraint(struct rules *r, const char *text);
void rules_public(struct rules *r, const char *list);
struct cq *rules_read(struct rules *r, const char *text);

#endif
