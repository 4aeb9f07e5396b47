/*
 * Trees (negation, unions, outer joins, sums): their exact count by one
 * statement of the database. Residuals of a tree are those of its parts, which
 * pushdown.h answers.
 */
#ifndef PUSHDOWN_PUSHDOWN_TREE_H
#define PUSHDOWN_PUSHDOWN_TREE_H

#include "pushdown/pushdown.h"
#include "tree/tree.h"

struct pushdown_tree_ask {
    const struct value *keys; /* of GROUP BY */
    size_t n_keys;
    bool total;     /* of all keys */
    bool plan_only; /* without `out`: the database plans it */
    const struct progress *progress;
};

/*
 * The total, or one for each key, as release's evaluate_tree has them: what is
 * added less what is subtracted, in 128 bits. Without `out` nothing is counted:
 * E_UNSUPPORTED where the database cannot.
 */
enum status pushdown_tree(struct source *src, const struct ctree *t,
                          const struct pushdown_tree_ask *ask,
                          struct secret_count *out,
                          struct err *err) WARN_UNUSED;

/* Of an output in all branches; T_UNKNOWN: it is NULL. */
enum type pushdown_out_type(const struct ctree *t, uint32_t col);
enum status pushdown_refuse_types(struct err *err);
/* The size of a number in units, cut to the weight's range; 0 of NULL. Cut
 * before it is multiplied, so that none is too long for the database. */
void pushdown_write_clip(struct sb *b, const struct cq_weight *w,
                         const char *number);
/* pushdown_branch.c: SELECT ... of a branch's answers, columns o0, o1, ...;
 * `united`: several branches are, so that each tells its answers apart. */
enum status pushdown_write_branch(struct source *src, const struct ctree *tree,
                                  const struct tree_branch *t, bool united,
                                  struct sb *out, struct err *err) WARN_UNUSED;

#endif
