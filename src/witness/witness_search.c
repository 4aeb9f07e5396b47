/*
 * A database is grown match by match: a match sends some atom to the row b,
 * every other atom to a row that is there or to a new one, as the
 * constraints allow. A match that adds to the gain is kept. By the theory a
 * finite sensitivity is attained on a union of such matches, so nothing else
 * need be tried. Random, reproducible, ended by a work budget.
 */
#include "witness/lower.h"

enum { ROUNDS = 200, TRIES = 60, MAX_DB_ROWS = 60 };

struct grower {
    struct witness_search *l;
    const struct tab *phi;
    struct witness_db d;
    uint32_t *map; /* elements of phi -> values */
    uint32_t atoms[MAX_ATOMS];
    uint32_t n_atoms; /* the atoms over the row's table */
    unsigned reuse;   /* of 100: how often a row that is there is taken */
    unsigned repeat;  /* of 100: how often a value that is there is taken */
    u128 gain;
};

static uint64_t random_below(struct grower *g, uint64_t n)
{
    return kinds_random(&g->l->kinds, n);
}

static bool agrees(const struct grower *g, const struct tab_atom *at,
                   const struct tab_atom *row)
{
    if (at->table != row->table)
        return false;
    for (uint32_t j = 0; j < at->n; j++) {
        uint32_t v = g->map[at->el[j]];
        if (v != NO_EL && v != row->el[j])
            return false;
        for (uint32_t k = 0; k < j; k++)
            if (at->el[k] == at->el[j] && row->el[k] != row->el[j])
                return false;
    }
    return true;
}

static uint32_t pick_row(struct grower *g, const struct tab_atom *at)
{
    uint32_t pick = NO_ATOM, n = 0;
    for (uint32_t r = 0; r < g->d.rows.n; r++)
        if (agrees(g, at, &g->d.rows.p[r]) && random_below(g, ++n) == 0)
            pick = r;
    return pick;
}

static void take_row(struct grower *g, const struct tab_atom *at, uint32_t r)
{
    for (uint32_t j = 0; j < at->n; j++)
        g->map[at->el[j]] = g->d.rows.p[r].el[j];
}

/* Any value of the right type, constants of the query included. */
static uint32_t old_value(struct grower *g, uint32_t e)
{
    uint32_t n = 0, pick = NO_EL;
    enum type type = g->l->kinds.of_el[e];
    for (uint32_t i = 0; i < g->d.vals.n; i++) {
        enum type t = g->d.vals.p[i].type;
        bool fits = type == t || (type == T_UNKNOWN && t == T_TEXT);
        if (fits && random_below(g, ++n) == 0)
            pick = i;
    }
    return pick;
}

/* A value for an open element: new, or now and then one that is there. */
static enum status open_value(struct grower *g, const struct tab_atom *at,
                              uint32_t j, uint32_t *out, struct err *err)
{
    uint32_t n = 0;
    *out = NO_EL;
    if (random_below(g, 100) < g->repeat)
        for (uint32_t r = 0; r < g->d.rows.n; r++)
            if (g->d.rows.p[r].table == at->table && random_below(g, ++n) == 0)
                *out = g->d.rows.p[r].el[j];
    if (random_below(g, 100) < g->repeat / 2)
        *out = old_value(g, at->el[j]);
    if (*out != NO_EL)
        return OK;
    return witness_db_fresh(&g->d, &g->l->kinds, at->el[j], out, err);
}

/* False in *ok: no row could be made; the database is as before. */
static enum status new_row(struct grower *g, const struct tab_atom *at,
                           bool *ok, struct err *err)
{
    uint32_t *el = NEWS(g->d.a, uint32_t, at->n), r;
    size_t before = g->d.rows.n;
    if (!el)
        return err_nomem(err);
    for (uint32_t j = 0; j < at->n; j++) {
        uint32_t *v = &g->map[at->el[j]];
        if (*v == NO_EL)
            TRY(open_value(g, at, j, v, err));
        if (*v == NO_EL)
            *ok = false;
        el[j] = *v;
    }
    if (!*ok)
        return OK;
    TRY(witness_db_add(&g->d, at->table, el, at->n, &r, err));
    if (!witness_db_row_fits(&g->d, r)) {
        *ok = false;
        if (g->d.rows.n > before)
            g->d.rows.n--;
    }
    return OK;
}

static enum status place_atom(struct grower *g, uint32_t i, bool *ok,
                              struct err *err)
{
    const struct tab_atom *at = &g->phi->atoms[i];
    uint32_t old[1 + UINT8_MAX], r;
    *ok = at->n <= UINT8_MAX;
    if (!*ok)
        return OK;
    r = pick_row(g, at);
    if (r != NO_ATOM && random_below(g, 100) < g->reuse) {
        take_row(g, at, r);
        return OK;
    }
    for (uint32_t j = 0; j < at->n; j++)
        old[j] = g->map[at->el[j]];
    if (g->d.rows.n < MAX_DB_ROWS)
        TRY(new_row(g, at, ok, err));
    else
        *ok = false;
    if (*ok || r == NO_ATOM)
        return OK;
    for (uint32_t j = 0; j < at->n; j++)
        g->map[at->el[j]] = old[j];
    take_row(g, at, r);
    *ok = true;
    return OK;
}

/* The open atom that knows most about its cells; ties at random. */
static uint32_t next_atom(struct grower *g, const bool *done)
{
    uint32_t best = NO_ATOM, most = 0, ties = 0;
    for (uint32_t i = 0; i < g->phi->n_atoms; i++) {
        uint32_t n = 1;
        for (uint32_t j = 0; !done[i] && j < g->phi->atoms[i].n; j++)
            n += g->map[g->phi->atoms[i].el[j]] != NO_EL;
        if (done[i] || n < most)
            continue;
        ties = n > most ? 1 : ties + 1;
        most = n;
        if (random_below(g, ties) == 0)
            best = i;
    }
    return best;
}

static enum status add_match(struct grower *g, uint32_t first, bool *ok,
                             struct err *err)
{
    bool done[MAX_ATOMS] = {false};
    for (uint32_t e = 0; e < g->phi->n_el; e++)
        g->map[e] = g->phi->flag[e] & EL_CONST ? e : NO_EL;
    const struct tab_atom *at = &g->phi->atoms[first];
    if (g->d.rows.n == 0) {
        *ok = true;
        TRY(new_row(g, at, ok, err));
        g->d.b = 0;
    } else {
        *ok = agrees(g, at, &g->d.rows.p[g->d.b]);
    }
    if (!*ok)
        return OK;
    take_row(g, at, g->d.b);
    done[first] = true;
    for (uint32_t n = 1; n < g->phi->n_atoms && *ok; n++) {
        uint32_t i = next_atom(g, done);
        done[i] = true;
        TRY(place_atom(g, i, ok, err));
    }
    return OK;
}

/* A row that all atoms of a random set can be mapped to. */
static enum status start_row(struct grower *g, struct err *err)
{
    uint32_t pick[GLUE_MAX], n = 0;
    struct glue gl;
    uint64_t chance = 1 + random_below(g, 4);
    for (uint32_t i = 0; i < g->n_atoms && n < GLUE_MAX; i++)
        if (random_below(g, 4) < chance)
            pick[n++] = g->atoms[i];
    if (n == 0)
        pick[n++] = g->atoms[random_below(g, g->n_atoms)];
    TRY(glue_make(g->d.a, g->phi, pick, n, &gl, err));
    if (gl.g->unsat)
        return OK;
    const struct tab_atom *b = &gl.g->atoms[gl.b];
    uint32_t *el = NEWS(g->d.a, uint32_t, b->n), r;
    uint32_t *to = NEWS(g->d.a, uint32_t, gl.g->n_el);
    if (!el || !to)
        return err_nomem(err);
    uint32_t base = g->phi->q->n_consts;
    for (uint32_t j = 0; j < b->n; j++) {
        uint32_t e = b->el[j];
        uint32_t like =
            e < base ? e : base + (e - base) % (g->phi->n_el - base);
        if (to[e] == 0 && e >= base) {
            TRY(witness_db_fresh(&g->d, &g->l->kinds, like, &to[e], err));
            if (to[e] == NO_EL)
                return OK;
        }
        el[j] = e < base ? e : to[e];
    }
    /* now and then with more cells equal than the query asks for */
    while (b->n > 0 && random_below(g, 3) == 0) {
        uint64_t i = random_below(g, b->n), j = random_below(g, b->n);
        if (el[i] >= base && g->d.vals.p[el[i]].type == g->d.vals.p[el[j]].type)
            el[i] = el[j];
        uint32_t any = old_value(g, g->phi->atoms[pick[0]].el[i]);
        if (el[i] >= base && any != NO_EL && random_below(g, 2) == 0)
            el[i] = any;
    }
    TRY(witness_db_add(&g->d, b->table, el, b->n, &r, err));
    g->d.b = r;
    return OK;
}

/* A match looks at the rows that are there for every atom, and at the values
 * for every cell. */
static void pay_match(struct grower *g)
{
    uint64_t price = (uint64_t)g->phi->n_atoms * (8 + g->d.rows.n);
    struct work *w = g->l->work;
    w->left = w->left > price ? w->left - price : 0;
}

/* One more match; undone unless the gain does not fall. */
static enum status step(struct grower *g, bool *better, struct err *err)
{
    size_t rows = g->d.rows.n, vals = g->d.vals.n;
    bool ok;
    u128 gain = 0;
    *better = false;
    pay_match(g);
    TRY(add_match(g, g->atoms[random_below(g, g->n_atoms)], &ok, err));
    if (ok && g->d.rows.n > rows)
        TRY(witness_db_gain(g->d.a, &g->d, g->l->work, &gain, err));
    else
        ok = false;
    if (ok && (gain > g->gain ||
               (gain == g->gain && gain > 0 && random_below(g, 10) == 0))) {
        *better = gain > g->gain;
        g->gain = gain;
        return OK;
    }
    g->d.rows.n = rows;
    g->d.vals.n = vals;
    return OK;
}

static enum status grow(struct grower *g, struct err *err)
{
    unsigned idle = 0;
    bool better;
    TRY(start_row(g, err));
    while (idle < TRIES && g->gain < g->l->target && g->l->work->left > 0) {
        TRY(step(g, &better, err));
        idle = better ? 0 : idle + 1;
    }
    return g->gain > g->l->best ? witness_offer(g->l, &g->d, err) : OK;
}

static enum status grow_once(struct witness_search *l, unsigned round,
                             struct err *err)
{
    static const unsigned char reuse[] = {20, 50, 80, 95};
    static const unsigned char repeat[] = {0, 10, 40};
    struct arena scratch;
    struct grower g = {.l = l, .phi = l->t};
    arena_init(&scratch, l->a->mem);
    enum status st = witness_db_init(&scratch, g.phi, &g.d, err);
    g.map = NEWS(&scratch, uint32_t, g.phi->n_el);
    if (st == OK && !g.map)
        st = err_nomem(err);
    for (uint32_t i = 0; i < g.phi->n_atoms; i++)
        if (g.phi->atoms[i].table == l->table)
            g.atoms[g.n_atoms++] = i;
    g.reuse = reuse[round % 4];
    g.repeat = repeat[round % 3];
    if (st == OK)
        st = grow(&g, err);
    arena_fini(&scratch);
    return st;
}

enum status witness_search(struct witness_search *l, struct err *err)
{
    if (l->t->n_calcs > 0)
        return OK; /* values of computed columns are not made up */
    for (unsigned i = 0; i < ROUNDS && l->best < l->target; i++) {
        if (l->work->left == 0)
            return OK;
        TRY(grow_once(l, i, err));
    }
    return OK;
}
