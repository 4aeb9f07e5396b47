/*
 * The search for a database in which every copy of a glued structure has an
 * answer of its own that vanishes with the row b.
 *
 * At a node, an answer that survives without b is shown by a homomorphism g
 * that avoids b. In a database where the answer is new some row of g must be
 * b itself, so one of them is identified with b (branch over which) and the
 * dependencies are chased. Every branch merges elements, so the search ends.
 * If two copies have the same answer, the node fails. FAILS is a proof for
 * any constraints, FOUND satisfies the dependencies with k = 1.
 *
 * Nodes are remembered by their partition of the elements; the answers are
 * elements, so the partition says which answers they are.
 */
#include <string.h>

#include "base/map.h"
#include "witness/selfjoin_glue.h"

struct newness_state {
    struct arena *a;
    const struct tab *phi;
    uint32_t table;
    struct work *work;
    struct map seen;
    struct tab *found;
    uint32_t found_b;
};

static const uint32_t *answer(const struct newness_state *s,
                              const struct tab *g, uint32_t c)
{
    return &g->outs[c * s->phi->n_outs];
}

static bool same_answers(const struct newness_state *s, const struct tab *g)
{
    size_t n = s->phi->n_outs;
    for (uint32_t c = 0; c * n < g->n_outs; c++)
        for (uint32_t d = 0; d < c; d++)
            if (memcmp(answer(s, g, c), answer(s, g, d),
                       n * sizeof(uint32_t)) == 0)
                return true;
    return false;
}

static enum status survives(struct newness_state *s, const struct tab *g,
                            uint32_t b, uint32_t c, uint32_t *atom_map,
                            enum hom *out, struct err *err)
{
    uint32_t *map = NEWS(s->a, uint32_t, s->phi->n_el);
    if (!map)
        return err_nomem(err);
    /* A filter holds for copy c where c itself has its variables; another
     * place for them is not known to pass it. */
    for (uint32_t e = 0; e < s->phi->n_el; e++)
        map[e] = s->phi->flag[e] & EL_FIXED
                     ? tab_find(g, glue_raw(s->phi, c, e))
                     : NO_EL;
    for (uint32_t i = 0; i < s->phi->n_outs; i++)
        map[s->phi->outs[i]] = answer(s, g, c)[i];
    return tab_hom(s->a, s->phi, g, b, s->work, map, atom_map, out, err);
}

static enum status remember(struct newness_state *s, const struct tab *g,
                            bool *is_new, struct err *err)
{
    uint32_t *key = NEWS(s->a, uint32_t, g->n_el);
    if (!key)
        return err_nomem(err);
    for (uint32_t e = 0; e < g->n_el; e++)
        key[e] = tab_find(g, e);
    struct str k = {(const char *)key, g->n_el * sizeof *key};
    return map_put(&s->seen, k, 1, is_new) ? OK : err_nomem(err);
}

static enum status merge_rows(struct newness_state *s, const struct tab *g,
                              uint32_t b, uint32_t row, struct tab **out,
                              uint32_t *new_b, struct err *err)
{
    TRY(tab_copy(s->a, g, out, err));
    struct tab *h = *out;
    /* of_atom of the copy tracks the atoms of g, to find b again */
    h->of_atom = NEWS(s->a, uint32_t, g->n_atoms);
    if (!h->of_atom)
        return err_nomem(err);
    h->n_of = g->n_atoms;
    for (uint32_t i = 0; i < g->n_atoms; i++)
        h->of_atom[i] = i;
    for (uint32_t j = 0; j < h->atoms[b].n; j++)
        tab_union(h, h->atoms[b].el[j], h->atoms[row].el[j]);
    TRY(tab_chase(s->a, h, err));
    *new_b = h->of_atom[b];
    return OK;
}

static enum status node(struct newness_state *s, struct tab *g, uint32_t b,
                        enum newness *out, struct err *err);

static enum status branch(struct newness_state *s, const struct tab *g,
                          uint32_t b, const uint32_t *rows, enum newness *out,
                          struct err *err)
{
    *out = NEW_FAILS;
    for (uint32_t i = 0; i < s->phi->n_atoms && *out == NEW_FAILS; i++) {
        struct tab *h;
        uint32_t new_b = b;
        bool repeat = s->phi->atoms[i].table != s->table;
        for (uint32_t j = 0; j < i; j++)
            repeat |= rows[j] == rows[i];
        if (repeat)
            continue;
        TRY(merge_rows(s, g, b, rows[i], &h, &new_b, err));
        if (h->unsat)
            continue;
        if (h->of_atom[rows[i]] != new_b)
            *out = NEW_GAVE_UP; /* cells that cannot be merged: no proof */
        else
            TRY(node(s, h, new_b, out, err));
    }
    return OK;
}

static enum status node(struct newness_state *s, struct tab *g, uint32_t b,
                        enum newness *out, struct err *err)
{
    bool is_new;
    *out = NEW_FAILS;
    if (same_answers(s, g))
        return OK;
    TRY(remember(s, g, &is_new, err));
    if (!is_new)
        return OK;
    /* what the chase of this node cost, about */
    uint64_t price = (uint64_t)g->n_atoms * g->n_atoms + g->n_el;
    if (s->work->left < price) {
        s->work->exhausted = true;
        *out = NEW_GAVE_UP;
        return OK;
    }
    s->work->left -= price;
    uint32_t *rows = NEWS(s->a, uint32_t, s->phi->n_atoms);
    if (!rows)
        return err_nomem(err);
    uint32_t n = s->phi->n_outs ? g->n_outs / s->phi->n_outs : 1;
    for (uint32_t c = 0; c < n; c++) {
        enum hom h;
        TRY(survives(s, g, b, c, rows, &h, err));
        if (h == HOM_YES)
            return branch(s, g, b, rows, out, err);
        if (h == HOM_GAVE_UP) {
            *out = NEW_GAVE_UP;
            return OK;
        }
    }
    s->found = g;
    s->found_b = b;
    *out = NEW_FOUND;
    return OK;
}

enum status newness_search(struct arena *a, struct glue *gl, struct work *work,
                           enum newness *out, struct err *err)
{
    struct newness_state s = {.a = a, .phi = gl->phi, .work = work};
    s.table = gl->phi->atoms[gl->atom[0]].table;
    *out = NEW_FAILS;
    if (gl->g->unsat)
        return OK;
    *out = NEW_GAVE_UP;
    if (!glue_is_one(gl))
        return OK;
    map_init(&s.seen, a);
    TRY(node(&s, gl->g, gl->b, out, err));
    if (*out == NEW_FOUND) {
        gl->g = s.found;
        gl->b = s.found_b;
    }
    return OK;
}
