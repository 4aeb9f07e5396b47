/*
 * Homomorphisms between structures, by backtracking over atoms.
 *
 * The order of atoms is fixed before the search: next comes the atom with the
 * most elements already determined, so that a dead end shows early. The
 * search is exponential in the worst case (the problem is NP-complete in the
 * query); a work budget ends it.
 */
#include <string.h>

#include "logic/tableau.h"

struct hom_search {
    const struct tab *from, *to;
    uint32_t banned;
    struct work *work;
    uint32_t *map, *atom_map;
    uint32_t *order, *trail;
};

void tab_identity(const struct tab *t, uint32_t *map)
{
    for (uint32_t e = 0; e < t->n_el; e++)
        map[e] = t->flag[e] & (EL_CONST | EL_FREE | EL_FIXED | EL_ROWID)
                     ? tab_find(t, e)
                     : NO_EL;
}

static bool compatible(const struct hom_search *s, uint32_t e, uint32_t f)
{
    if (s->map[e] != NO_EL)
        return s->map[e] == f;
    return !(s->from->flag[e] & EL_NONNULL) || s->to->flag[f] & EL_NONNULL;
}

/* Binds the open elements of `at` to those of `row`; undone by unbind. */
static uint32_t bind(struct hom_search *s, const struct tab_atom *at,
                     const struct tab_atom *row, uint32_t top)
{
    for (uint32_t j = 0; j < at->n; j++)
        if (s->map[at->el[j]] == NO_EL) {
            s->map[at->el[j]] = row->el[j];
            s->trail[top++] = at->el[j];
        }
    return top;
}

static bool fits(const struct hom_search *s, const struct tab_atom *at,
                 const struct tab_atom *row)
{
    for (uint32_t j = 0; j < at->n; j++) {
        if (!compatible(s, at->el[j], row->el[j]))
            return false;
        for (uint32_t k = 0; k < j; k++)
            if (at->el[k] == at->el[j] && row->el[k] != row->el[j])
                return false;
    }
    return true;
}

static enum hom extend(struct hom_search *s, uint32_t depth, uint32_t top)
{
    if (depth == s->from->n_atoms)
        return HOM_YES;
    uint32_t i = s->order[depth];
    const struct tab_atom *at = &s->from->atoms[i];
    for (uint32_t r = 0; r < s->to->n_atoms; r++) {
        if (r == s->banned || s->to->atoms[r].table != at->table)
            continue;
        if (s->work->left == 0) {
            s->work->exhausted = true;
            return HOM_GAVE_UP;
        }
        s->work->left--;
        if (!fits(s, at, &s->to->atoms[r]))
            continue;
        uint32_t up = bind(s, at, &s->to->atoms[r], top);
        s->atom_map[i] = r;
        enum hom h = extend(s, depth + 1, up);
        if (h != HOM_NO)
            return h;
        while (up > top)
            s->map[s->trail[--up]] = NO_EL;
    }
    return HOM_NO;
}

static uint32_t count_bound(const struct tab_atom *at, const bool *bound)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < at->n; j++)
        n += bound[at->el[j]];
    return n;
}

static bool plan_order(struct arena *a, struct hom_search *s)
{
    const struct tab *f = s->from;
    bool *bound = NEWS(a, bool, f->n_el), *done = NEWS(a, bool, f->n_atoms);
    if (!bound || !done)
        return false;
    for (uint32_t e = 0; e < f->n_el; e++)
        bound[e] = s->map[e] != NO_EL;
    for (uint32_t d = 0; d < f->n_atoms; d++) {
        uint32_t best = NO_ATOM, most = 0;
        for (uint32_t i = 0; i < f->n_atoms; i++) {
            uint32_t n = done[i] ? 0 : count_bound(&f->atoms[i], bound);
            if (!done[i] && (best == NO_ATOM || n > most)) {
                best = i;
                most = n;
            }
        }
        done[best] = true;
        s->order[d] = best;
        for (uint32_t j = 0; j < f->atoms[best].n; j++)
            bound[f->atoms[best].el[j]] = true;
    }
    return true;
}

enum status tab_hom(struct arena *a, const struct tab *from,
                    const struct tab *to, uint32_t banned, struct work *work,
                    uint32_t *map, uint32_t *atom_map, enum hom *out,
                    struct err *err)
{
    struct hom_search s = {.from = from,
                           .to = to,
                           .banned = banned,
                           .work = work,
                           .map = map,
                           .atom_map = atom_map};
    *out = HOM_NO;
    for (uint32_t e = 0; e < from->n_el; e++) {
        if (from->flag[e] & EL_CONST)
            map[e] = e;
        if (map[e] != NO_EL && from->flag[e] & EL_NONNULL &&
            !(to->flag[map[e]] & EL_NONNULL))
            return OK;
    }
    s.order = NEWS(a, uint32_t, from->n_atoms);
    s.trail = NEWS(a, uint32_t, from->n_el);
    if (!atom_map)
        s.atom_map = NEWS(a, uint32_t, from->n_atoms);
    if (!s.order || !s.trail || !s.atom_map || !plan_order(a, &s))
        return err_nomem(err);
    *out = extend(&s, 0, 0);
    return OK;
}
