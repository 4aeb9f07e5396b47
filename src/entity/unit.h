/* The unit of privacy in words. */
#ifndef ENTITY_UNIT_H
#define ENTITY_UNIT_H

#include "schema/schema.h"

/* "one customer or one supplier, with all rows of orders and lineitem that are
 * theirs"; empty without entities or when memory is out. */
struct str entity_unit(struct arena *a, const struct schema *s);

#endif
