/* Inside the module: selecting the items of some nodes. */
#ifndef TREE_TREE_INT_H
#define TREE_TREE_INT_H

#include "tree/tree.h"

/* atom_to: one entry for each atom of the branch, UINT32_MAX: left out.
 * E_UNSUPPORTED (no message): a predicate is about an atom that is. */
enum status tree_select(struct arena *a, const struct tree_branch *t,
                        const bool *in, struct cq_builder *b, uint32_t *atom_to,
                        struct err *err) WARN_UNUSED;

#endif
