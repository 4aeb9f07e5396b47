/*
 * Gluing. Elements of copy c follow those of copy c - 1; constants are shared.
 * The rows b of all copies are identified, then the functional dependencies
 * are chased. The union of arbitrary matches, one for each copy, all sending
 * their atom to the same row b, is a match of the result, so whatever is
 * merged here is equal in every database.
 */
#include "witness/selfjoin_glue.h"

static uint32_t copy_size(const struct tab *phi)
{
    return phi->n_el - phi->q->n_consts;
}

uint32_t glue_raw(const struct tab *phi, uint32_t c, uint32_t e)
{
    return e < phi->q->n_consts ? e : e + c * copy_size(phi);
}

uint32_t glue_el(const struct glue *gl, uint32_t c, uint32_t e)
{
    return tab_find(gl->g, glue_raw(gl->phi, c, e));
}

uint32_t glue_atom(const struct glue *gl, uint32_t c, uint32_t i)
{
    return gl->g->of_atom[c * gl->phi->n_atoms + i];
}

bool glue_is_one(const struct glue *gl)
{
    for (uint32_t c = 0; c < gl->n; c++)
        if (glue_atom(gl, c, gl->atom[c]) != gl->b)
            return false;
    return true;
}

static enum status make_room(struct arena *a, const struct tab *phi, uint32_t n,
                             struct tab *g, struct err *err)
{
    size_t el = phi->q->n_consts + (size_t)n * copy_size(phi);
    *g = *phi;
    g->plain = true;
    g->n_el = g->cap_el = (uint32_t)el;
    g->n_atoms = g->n_of = n * phi->n_atoms;
    g->n_cmps = n * phi->n_cmps;
    g->n_outs = n * phi->n_outs;
    g->n_calcs = 0; /* no step of a glued structure is read off computed ones */
    g->rep = NEWS(a, uint32_t, el);
    g->flag = NEWS(a, uint8_t, el);
    g->var = NEWS(a, int32_t, el);
    g->atoms = NEWS(a, struct tab_atom, g->n_atoms);
    g->of_atom = NEWS(a, uint32_t, g->n_atoms);
    g->cmps = NEWS(a, struct tab_cmp, g->n_cmps);
    g->outs = NEWS(a, uint32_t, g->n_outs);
    if (!g->rep || !g->flag || !g->var || !g->atoms || !g->of_atom ||
        !g->cmps || !g->outs)
        return err_nomem(err);
    return OK;
}

static enum status add_copy(struct arena *a, const struct tab *phi, uint32_t c,
                            struct tab *g, struct err *err)
{
    for (uint32_t e = 0; e < phi->n_el; e++) {
        uint32_t to = glue_raw(phi, c, e);
        g->rep[to] = glue_raw(phi, c, tab_find(phi, e));
        g->flag[to] = phi->flag[e];
        g->var[to] = phi->var[e];
    }
    for (uint32_t i = 0; i < phi->n_atoms; i++) {
        struct tab_atom *at = &g->atoms[c * phi->n_atoms + i];
        *at = phi->atoms[i];
        at->el = NEWS(a, uint32_t, at->n);
        if (!at->el)
            return err_nomem(err);
        for (uint32_t j = 0; j < at->n; j++)
            at->el[j] = glue_raw(phi, c, phi->atoms[i].el[j]);
        g->of_atom[c * phi->n_atoms + i] = c * phi->n_atoms + i;
    }
    for (uint32_t i = 0; i < phi->n_cmps; i++)
        g->cmps[c * phi->n_cmps + i] =
            (struct tab_cmp){phi->cmps[i].op, glue_raw(phi, c, phi->cmps[i].l),
                             glue_raw(phi, c, phi->cmps[i].r)};
    for (uint32_t i = 0; i < phi->n_outs; i++)
        g->outs[c * phi->n_outs + i] = glue_raw(phi, c, phi->outs[i]);
    return OK;
}

enum status glue_make(struct arena *a, const struct tab *phi,
                      const uint32_t *atoms, uint32_t n, struct glue *out,
                      struct err *err)
{
    struct tab *g = NEW(a, struct tab);
    if (!g)
        return err_nomem(err);
    TRY(make_room(a, phi, n, g, err));
    *out = (struct glue){.phi = phi, .g = g, .n = n};
    for (uint32_t c = 0; c < n; c++) {
        out->atom[c] = atoms[c];
        TRY(add_copy(a, phi, c, g, err));
    }
    const struct tab_atom *b = &g->atoms[atoms[0]];
    for (uint32_t c = 1; c < n; c++) {
        const struct tab_atom *o = &g->atoms[c * phi->n_atoms + atoms[c]];
        for (uint32_t j = 0; j < b->n; j++)
            tab_union(g, b->el[j], o->el[j]);
    }
    TRY(tab_chase(a, g, err));
    out->b = glue_atom(out, 0, atoms[0]);
    return OK;
}
