/*
 * A residual count as SQL, for databases that check the engine: the largest
 * number of distinct outputs for one value of the boundary. Tables have
 * columns c0, c1, ...
 */
#ifndef HARNESS_RESIDUAL_SQL_H
#define HARNESS_RESIDUAL_SQL_H

#include "cq/cq.h"

/* rowid: the database's name for the identity of a row. */
void residual_sql(struct sb *b, const struct cq *q, aset f, vset boundary,
                  vset outs, const char *rowid);

#endif
