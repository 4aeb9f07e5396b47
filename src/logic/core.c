/*
 * The core: the smallest equivalent query. As long as the query maps into
 * itself without one of its atoms, it is replaced by the image.
 *
 * PRIVACY: the map must be the identity on outputs and on every variable of
 * a filter. R(x), R(y), x != y must not become R(x): its sensitivity is 2.
 *
 * A search that gives up leaves the query as it is, which is sound: the core
 * only makes bounds tighter.
 */
#include "logic/tableau.h"

static enum status apply_map(struct arena *a, struct tab *t,
                             const uint32_t *map, struct err *err)
{
    for (uint32_t i = 0; i < t->n_atoms; i++)
        for (uint32_t j = 0; j < t->atoms[i].n; j++) {
            uint32_t e = t->atoms[i].el[j];
            if (map[e] != NO_EL)
                t->atoms[i].el[j] = map[e];
        }
    return tab_settle(a, t, err);
}

static enum status drop_one(struct arena *scratch, struct arena *a,
                            struct tab *t, struct work *work, bool *dropped,
                            struct err *err)
{
    uint32_t *map = NEWS(scratch, uint32_t, t->n_el);
    if (!map)
        return err_nomem(err);
    *dropped = false;
    for (uint32_t i = t->n_atoms; i-- > 0 && !*dropped;) {
        enum hom h;
        tab_identity(t, map);
        TRY(tab_hom(scratch, t, t, i, work, map, NULL, &h, err));
        if (h == HOM_YES) {
            TRY(apply_map(a, t, map, err));
            *dropped = true;
        }
    }
    return OK;
}

enum status tab_core(struct arena *a, struct tab *t, struct work *work,
                     struct err *err)
{
    bool dropped = !t->unsat;
    while (dropped) {
        struct arena scratch;
        arena_init(&scratch, a->mem);
        enum status st = drop_one(&scratch, a, t, work, &dropped, err);
        arena_fini(&scratch);
        TRY(st);
    }
    t->is_core = !work->exhausted;
    return OK;
}

enum status logic_core(struct arena *a, const struct cq *q, struct work *work,
                       struct cq **out, struct err *err)
{
    struct tab *t;
    TRY(tab_of_cq(a, q, &t, err));
    TRY(tab_settle(a, t, err));
    TRY(tab_core(a, t, work, err));
    return tab_to_cq(a, t, out, err);
}

enum status logic_normalise(struct arena *a, const struct cq *q,
                            struct work *work, struct cq **out, struct err *err)
{
    struct tab *t;
    TRY(tab_of_cq(a, q, &t, err));
    TRY(tab_chase(a, t, err));
    TRY(tab_core(a, t, work, err));
    return tab_to_cq(a, t, out, err);
}
