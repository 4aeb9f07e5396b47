/*
 * How many values a set of variables can take once others are fixed, seen
 * from some atoms only: the caps of the residual sensitivity. The query is
 * taken as it is, without chase and core, since the caller has fixed what is
 * in it.
 */
#include "bound/bound.h"
#include "bound/degree_steps.h"

enum { OUTPUTS_WORK = 2000000 };

/* Variables stand behind the constants. */
static void mark(bool *at, const struct cq *q, vset vars)
{
    VSET_EACH (v, vars) {
        at[q->n_consts + v] = true;
    }
}

static vset numbers(const struct steps *s, const struct cq *q, vset vars)
{
    vset set = 0;
    VSET_EACH (v, vars) {
        uint32_t e = q->n_consts + v;
        set |= steps_set(s, &e, 1);
    }
    return set;
}

static enum status outputs(struct arena *a, const struct cq *q, aset atoms,
                           vset fixed, vset goal, u128 *out, struct err *err)
{
    struct tab *t;
    struct steps s;
    struct work work = {.left = OUTPUTS_WORK};
    TRY(tab_of_cq(a, q, &t, err));
    bool *keep = NEWS(a, bool, t->n_el), *use = NEWS(a, bool, t->n_atoms);
    if (!keep || !use)
        return err_nomem(err);
    mark(keep, q, goal);
    ASET_EACH (i, atoms) {
        use[i] = true;
    }
    /* A computed column belongs to its atom. */
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (use[q->calcs[i].atom])
            t->calcs[n++] = t->calcs[i];
    t->n_calcs = n;
    TRY(steps_of_tab(a, t, use, keep, &s, err));
    return steps_outputs(a, &s, numbers(&s, q, fixed), numbers(&s, q, goal),
                         &work, out, err);
}

enum status bound_outputs(struct arena *a, const struct cq *q, aset atoms,
                          vset fixed, vset goal, u128 *out, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, a->mem);
    enum status st = outputs(&scratch, q, atoms, fixed, goal, out, err);
    arena_fini(&scratch);
    return st;
}
