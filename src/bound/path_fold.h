/* Own atoms of a chased path, and atoms of it that may be left out. */
#ifndef BOUND_PATH_FOLD_H
#define BOUND_PATH_FOLD_H

#include "logic/tableau.h"

/* Leaves atoms out that are not own and say nothing that others do not. `own`
 * is of the query as given; so is the result: what was left out. */
aset bound_fold_path(struct tab *t, aset own);
/* The own atoms of t: one that has become an ancestor's lies in the old rows
 * and is none. */
aset bound_own_atoms(const struct tab *t, aset own, aset gone);

/* A path and its own atoms: is it known how often each of its answers is lost
 * already? Nothing was left out of it. */
bool bound_is_fragile(const struct cq *path, aset own);

#endif
