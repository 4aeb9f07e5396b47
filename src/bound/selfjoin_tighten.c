/*
 * Self-joins: one row b can play the part of several atoms of its table, and
 * the plain bound adds up what each part can bring about. This file finds
 * out how much of that sum one row can really reach.
 *
 * S = the set of atoms whose part b plays. Over every S that is possible at
 * all, the answers are counted group by group:
 *   - an atom onto which the query folds another one brings nothing new
 *     (also: orbits of automorphisms);
 *   - S whose copies cannot be glued at b is impossible;
 *   - if copy m sends another atom of S to b as well, m is dominated;
 *   - the answers of a group of atoms are counted together from what is
 *     fixed in all of them: cells of b, constants, cells of other copies;
 *   - two parts with a common answer are counted once;
 *   - if every part brings one answer, the newness search decides.
 * Where these two look for a match, the variables of filters stay together
 * in one copy, whose match is known to pass them.
 * Each of these may be left out; the result is then larger, never wrong.
 * Cost: 2^atoms sets, 3^atoms groups, within the work budget.
 */
#include "bound/upper.h"
#include "witness/selfjoin_glue.h"

enum { ENOUGH = 4096 }; /* work below which no set is begun */

struct tightener {
    struct arena *a;
    const struct tab *phi;
    struct work *work;
    const u128 *u;
    uint32_t atom[GLUE_MAX];
    uint32_t n;
    u128 best;
};

struct part_set { /* one set S under study */
    struct tightener *t;
    struct glue gl;
    unsigned alive;             /* copies that are not dominated */
    u128 ub[1 << GLUE_MAX];     /* by group; 0: not computed */
    uint32_t overlap[GLUE_MAX]; /* copies that share an answer with this one */
    u128 best;
};

/* --- atoms that bring nothing new ----------------------------------------- */

static bool preset_row(const struct tab_atom *from, const struct tab_atom *to,
                       uint32_t *map)
{
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t e = from->el[j];
        if (map[e] != NO_EL && map[e] != to->el[j])
            return false;
        map[e] = to->el[j];
    }
    return true;
}

/* Does the query map into itself with atom p going to atom q? Then each match
 * that sends q to b gives one with the same answer that sends p to b. */
static enum status folds(struct tightener *t, uint32_t p, uint32_t q, bool *yes,
                         struct err *err)
{
    const struct tab *phi = t->phi;
    uint32_t *map = NEWS(t->a, uint32_t, phi->n_el);
    if (!map)
        return err_nomem(err);
    tab_identity(phi, map);
    *yes = false;
    if (!preset_row(&phi->atoms[p], &phi->atoms[q], map))
        return OK;
    enum hom h;
    TRY(tab_hom(t->a, phi, phi, NO_ATOM, t->work, map, NULL, &h, err));
    *yes = h == HOM_YES;
    return OK;
}

/* False: more atoms than the study of sets allows. */
static enum status pick_atoms(struct tightener *t, uint32_t table, bool *fits,
                              struct err *err)
{
    uint32_t all[MAX_ATOMS], n = 0;
    for (uint32_t i = 0; i < t->phi->n_atoms; i++) {
        bool covered = t->phi->atoms[i].table != table;
        for (uint32_t j = 0; j < n && !covered; j++)
            TRY(folds(t, all[j], i, &covered, err));
        if (!covered)
            all[n++] = i;
    }
    *fits = n <= GLUE_MAX;
    t->n = 0;
    t->best = 0;
    for (uint32_t j = 0; j < n; j++) {
        if (*fits)
            t->atom[t->n++] = all[j];
        t->best = u128_add_inf(t->best, t->u[all[j]]);
    }
    return OK;
}

/* --- groups --------------------------------------------------------------- */

/* Cells known whatever the group does: of b, and of the other copies. */
static enum status known_cells(const struct part_set *s, unsigned group,
                               bool **out, struct err *err)
{
    const struct tab *g = s->gl.g, *phi = s->t->phi;
    bool *known = NEWS(s->t->a, bool, g->n_el);
    if (!known)
        return err_nomem(err);
    for (uint32_t j = 0; j < g->atoms[s->gl.b].n; j++)
        known[g->atoms[s->gl.b].el[j]] = true;
    for (uint32_t c = 0; c < s->gl.n; c++)
        for (uint32_t e = 0; !(group >> c & 1) && e < phi->n_el; e++)
            known[glue_el(&s->gl, c, e)] = true;
    *out = known;
    return OK;
}

static bool same_in_group(const struct part_set *s, unsigned group, uint32_t e,
                          uint32_t f)
{
    for (uint32_t c = 0; c < s->gl.n; c++)
        if (group >> c & 1 && glue_el(&s->gl, c, e) != glue_el(&s->gl, c, f))
            return false;
    return true;
}

/* phi with what is equal in every copy of the group made equal. */
static enum status group_query(const struct part_set *s, unsigned group,
                               struct tab **out, struct err *err)
{
    const struct tab *phi = s->t->phi;
    TRY(tab_copy(s->t->a, phi, out, err));
    (*out)->plain = true;
    for (uint32_t e = 0; e < phi->n_el; e++)
        for (uint32_t f = 0; f < e; f++)
            if (tab_find(phi, e) == e && tab_find(phi, f) == f &&
                !(phi->flag[e] & EL_CONST) && same_in_group(s, group, e, f))
                tab_union(*out, e, f);
    return tab_settle(s->t->a, *out, err);
}

static bool is_fixed(const struct part_set *s, unsigned group,
                     const bool *known, uint32_t e)
{
    uint32_t at = NO_EL;
    for (uint32_t c = 0; c < s->gl.n; c++) {
        if (!(group >> c & 1))
            continue;
        uint32_t f = glue_el(&s->gl, c, e);
        if (at != NO_EL && f != at)
            return false;
        at = f;
    }
    return known[at] || s->gl.g->flag[at] & EL_CONST;
}

static enum status group_bound(struct part_set *s, unsigned group, u128 *out,
                               struct err *err)
{
    struct tab *q;
    struct steps st;
    bool *known = NULL;
    TRY(group_query(s, group, &q, err));
    TRY(known_cells(s, group, &known, err));
    bool *keep = NEWS(s->t->a, bool, q->n_el);
    if (!keep)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_outs; i++)
        keep[q->outs[i]] = true;
    TRY(steps_of_tab(s->t->a, q, NULL, keep, &st, err));
    vset from = 0;
    for (uint32_t e = 0; e < s->t->phi->n_el; e++) {
        uint32_t r = tab_find(q, e);
        if (is_fixed(s, group, known, e))
            from |= steps_set(&st, &r, 1);
    }
    vset goal = steps_set(&st, q->outs, q->n_outs);
    TRY(steps_outputs(s->t->a, &st, from, goal, s->t->work, out, err));
    for (uint32_t c = 0; c < s->gl.n; c++)
        if (group == 1u << c && s->t->u[s->gl.atom[c]] < *out)
            *out = s->t->u[s->gl.atom[c]];
    return OK;
}

static enum status ub(struct part_set *s, unsigned group, u128 *out,
                      struct err *err)
{
    struct work *w = s->t->work;
    uint64_t price = (uint64_t)s->t->phi->n_el * s->t->phi->n_el;
    if (s->ub[group] == 0 && w->left < price) {
        w->exhausted = true;
        s->ub[group] = U128_INF;
    }
    if (s->ub[group] == 0) {
        w->left -= price;
        TRY(group_bound(s, group, &s->ub[group], err));
    }
    *out = s->ub[group];
    return OK;
}

/* --- partitions ----------------------------------------------------------- */

/* Edges of a spanning forest of "shares an answer" between the groups. */
static uint32_t shared(const struct part_set *s, const unsigned *groups,
                       uint32_t n)
{
    uint32_t edges = 0;
    unsigned comp[GLUE_MAX];
    for (uint32_t i = 0; i < n; i++)
        comp[i] = i;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            bool touch = false;
            for (uint32_t c = 0; c < s->gl.n; c++)
                touch |= groups[i] >> c & 1 && s->overlap[c] & groups[j];
            if (!touch || comp[i] == comp[j])
                continue;
            edges++;
            for (uint32_t k = 0, old = comp[j]; k < n; k++)
                if (comp[k] == old)
                    comp[k] = comp[i];
        }
    return edges;
}

static enum status partitions(struct part_set *s, unsigned left,
                              unsigned *groups, uint32_t n, u128 sum,
                              struct err *err)
{
    if (left == 0) {
        /* every group has an answer, so nothing falls below zero */
        u128 w = sum == U128_INF ? sum : sum - shared(s, groups, n);
        if (w < s->best)
            s->best = w;
        return OK;
    }
    unsigned low = left & -left, rest = left & ~low;
    for (unsigned more = rest;; more = (more - 1) & rest) {
        u128 w;
        if (s->t->work->left < 64) {
            s->t->work->exhausted = true;
            return OK;
        }
        s->t->work->left -= 64;
        TRY(ub(s, low | more, &w, err));
        groups[n] = low | more;
        TRY(partitions(s, rest & ~more, groups, n + 1, u128_add_inf(sum, w),
                       err));
        if (more == 0)
            return OK;
    }
}

/* --- one set -------------------------------------------------------------- */

/* A match into the glued structure that has both c's and d's atom at b.
 * Filters hold where the variables are those of one copy: `home`. */
static enum status overlaps(struct part_set *s, uint32_t c, uint32_t d,
                            uint32_t home, bool *yes, struct err *err)
{
    const struct tab *phi = s->t->phi, *g = s->gl.g;
    uint32_t *map = NEWS(s->t->a, uint32_t, phi->n_el);
    if (!map)
        return err_nomem(err);
    for (uint32_t e = 0; e < phi->n_el; e++)
        map[e] = phi->flag[e] & EL_CONST   ? e
                 : phi->flag[e] & EL_FIXED ? glue_el(&s->gl, home, e)
                                           : NO_EL;
    *yes = false;
    const struct tab_atom *b = &g->atoms[s->gl.b];
    if (!preset_row(&phi->atoms[s->gl.atom[c]], b, map) ||
        !preset_row(&phi->atoms[s->gl.atom[d]], b, map))
        return OK;
    enum hom h;
    TRY(tab_hom(s->t->a, phi, g, NO_ATOM, s->t->work, map, NULL, &h, err));
    *yes = h == HOM_YES;
    return OK;
}

static enum status find_overlaps(struct part_set *s, struct err *err)
{
    uint32_t homes = tab_has_filters(s->t->phi) ? s->gl.n : 1;
    for (uint32_t c = 0; c < s->gl.n; c++)
        for (uint32_t d = 0; d < c; d++) {
            bool yes = false;
            for (uint32_t h = 0; h < homes && !yes; h++)
                if (s->alive >> c & s->alive >> d & 1)
                    TRY(overlaps(s, c, d, h, &yes, err));
            if (yes) {
                s->overlap[c] |= 1u << d;
                s->overlap[d] |= 1u << c;
            }
        }
    return OK;
}

static void drop_dominated(struct part_set *s)
{
    s->alive = (1u << s->gl.n) - 1;
    for (uint32_t m = 0; m < s->gl.n; m++)
        for (uint32_t k = 0; k < s->gl.n; k++)
            if (k != m && s->alive >> k & 1 &&
                glue_atom(&s->gl, m, s->gl.atom[k]) == s->gl.b)
                s->alive &= ~(1u << m);
}

static bool all_one(const struct tightener *t, unsigned mask)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (mask >> i & 1 && t->u[t->atom[i]] != 1)
            return false;
    return true;
}

static enum status study_set(struct tightener *t, unsigned mask, u128 sum,
                             u128 *out, struct err *err)
{
    uint32_t atoms[GLUE_MAX], n = 0;
    unsigned groups[GLUE_MAX];
    struct part_set *s = NEW(t->a, struct part_set);
    if (!s)
        return err_nomem(err);
    for (uint32_t i = 0; i < t->n; i++)
        if (mask >> i & 1)
            atoms[n++] = t->atom[i];
    s->t = t;
    s->best = sum;
    TRY(glue_make(t->a, t->phi, atoms, n, &s->gl, err));
    *out = 0;
    if (s->gl.g->unsat)
        return OK;
    *out = sum;
    if (!glue_is_one(&s->gl))
        return OK;
    if (all_one(t, mask)) {
        enum newness found;
        TRY(newness_search(t->a, &s->gl, t->work, &found, err));
        *out = found == NEW_FAILS ? 0 : n;
        return OK;
    }
    drop_dominated(s);
    TRY(find_overlaps(s, err));
    TRY(partitions(s, s->alive, groups, 0, 0, err));
    *out = s->best;
    return OK;
}

static u128 sum_of(const struct tightener *t, unsigned mask)
{
    u128 sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (mask >> i & 1)
            sum = u128_add_inf(sum, t->u[t->atom[i]]);
    return sum;
}

/* The open set with the largest sum; 0 when none can raise the best. */
static unsigned next_set(const struct tightener *t, const bool *done, u128 best,
                         u128 *sum)
{
    unsigned pick = 0;
    *sum = best;
    for (unsigned m = 1; m < 1u << t->n; m++) {
        u128 w = done[m] ? 0 : sum_of(t, m);
        if (w > *sum) {
            *sum = w;
            pick = m;
        }
    }
    return pick;
}

static enum status study(struct tightener *t, u128 *out, struct err *err)
{
    bool *done = NEWS(t->a, bool, (size_t)1 << t->n);
    u128 best = 0, sum;
    unsigned mask;
    if (!done)
        return err_nomem(err);
    struct tightener one = *t;
    while ((mask = next_set(t, done, best, &sum)) != 0) {
        struct arena scratch;
        u128 w = sum;
        arena_init(&scratch, t->a->mem);
        one.a = &scratch;
        enum status st = OK;
        if (t->work->left > ENOUGH)
            st = study_set(&one, mask, sum, &w, err);
        else
            t->work->exhausted = true;
        arena_fini(&scratch);
        TRY(st);
        done[mask] = true;
        if (w > best)
            best = w;
    }
    *out = best;
    return OK;
}

enum status upper_tighten(struct arena *a, const struct tab *phi,
                          uint32_t table, const u128 *u, struct work *work,
                          u128 *out, struct err *err)
{
    struct tightener t = {.a = a, .phi = phi, .work = work, .u = u};
    bool fits;
    TRY(pick_atoms(&t, table, &fits, err));
    *out = t.best;
    if (!fits || t.n < 2)
        return OK;
    return study(&t, out, err);
}
