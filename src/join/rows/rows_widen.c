/*
 * One atom looked up by another: see rows.h.
 *
 * Where no two rows of an atom agree in what it has in common with another, a
 * row there finds one row here at most, and with it the values of the boundary
 * and the outputs here: they become columns there. A boundary that lies in many
 * atoms along foreign keys comes together in the one that refers to all of
 * them.
 *
 * Cost: a pass over the rows of both.
 */
#include "join/rows/rows.h"

struct widening {
    struct rows *x;
    const struct rows_atom *e;
    struct rows_atom *f;
    vset own;           /* of e, boundary and outputs: new columns of f */
    const uint32_t *to; /* by row of f: the row of e, or NO_ID */
    uint32_t n;         /* rows of f that have one */
};

/* The rows of e by group, NO_ID where there is none; NULL: there are two. */
static uint32_t *rows_by_group(const struct rows *x, const struct rows_atom *e,
                               const struct rows_groups *g, enum status *s,
                               struct err *err)
{
    uint32_t *row = NEWS(x->a, uint32_t, g->n);
    *s = row ? OK : err_nomem(err);
    for (uint32_t i = 0; row && i < g->n; i++)
        row[i] = NO_ID;
    for (uint32_t i = 0; row && i < e->n; i++) {
        uint32_t *r = &row[g->of[0][i]];
        if (!rows_counts(x, e, i))
            continue;
        if (*r != NO_ID)
            return NULL;
        *r = i;
    }
    return row;
}

static enum status look_up(struct widening *k, struct err *err)
{
    struct rows_key keys[MAX_VARS];
    struct rows_groups g;
    uint32_t n_keys = 0, n[2] = {k->e->n, k->f->n};
    enum status s = OK;
    VSET_EACH (v, k->e->set & k->f->set) {
        struct rows_key key = {{rows_column(k->e, v), rows_column(k->f, v)},
                               rows_ids(k->x, v)};
        keys[n_keys++] = key;
    }
    TRY(rows_group(k->x->j->mem, k->x->a, n, keys, n_keys, &g, err));
    if (!g.of[0] || !g.of[1])
        return OK;
    uint32_t *row = rows_by_group(k->x, k->e, &g, &s, err);
    if (!row)
        return s;
    uint32_t *to = NEWS(k->x->a, uint32_t, k->f->n);
    if (!to)
        return err_nomem(err);
    for (uint32_t i = 0; i < k->f->n; i++) {
        to[i] = rows_counts(k->x, k->f, i) ? row[g.of[1][i]] : NO_ID;
        k->n += to[i] != NO_ID;
    }
    k->to = to;
    return OK;
}

/* A column of the rows that stay: of f itself, or of e as f finds it. */
static enum status take(const struct widening *k, const uint32_t *from,
                        bool found, const uint32_t **out, struct err *err)
{
    uint32_t *col = NEWS(k->x->a, uint32_t, k->n), n = 0;
    if (!col)
        return err_nomem(err);
    for (uint32_t i = 0; i < k->f->n; i++)
        if (k->to[i] != NO_ID)
            col[n++] = from[found ? k->to[i] : i];
    *out = col;
    return OK;
}

static void put_weight(const struct widening *k, uint32_t row, uint64_t *to)
{
    const struct rows_atom *e = k->e, *f = k->f;
    uint32_t words = k->x->words;
    const uint64_t *we = e->w ? e->w + (size_t)k->to[row] * words : NULL;
    const uint64_t *wf = f->w ? f->w + (size_t)row * words : NULL;
    if (!we || !wf)
        words_copy(to, we ? we : wf, words);
    else if (words > 1) {
        words_copy(to, wf, words);
        words_mul(to, we, words, words);
    } else if (!u64_mul(*we, *wf, to))
        k->x->fits = false;
}

static enum status take_weights(const struct widening *k, struct err *err)
{
    if (!k->e->w && !k->f->w)
        return OK;
    uint64_t *w = NEWS(k->x->a, uint64_t, (size_t)k->n * k->x->words);
    size_t n = 0;
    if (!w)
        return err_nomem(err);
    for (uint32_t i = 0; i < k->f->n; i++)
        if (k->to[i] != NO_ID)
            put_weight(k, i, w + n++ * k->x->words);
    k->f->w = w;
    return OK;
}

static enum status widen(struct widening *k, struct err *err)
{
    struct rows_atom *f = k->f;
    uint32_t n_cols = f->n_cols + vset_count(k->own), at = 0;
    uint32_t *vars = NEWS(k->x->a, uint32_t, n_cols);
    const uint32_t **cols = NEWS(k->x->a, const uint32_t *, n_cols);
    if (!vars || !cols)
        return err_nomem(err);
    for (; at < f->n_cols; at++) {
        vars[at] = f->vars[at];
        TRY(take(k, f->cols[at], false, &cols[at], err));
    }
    VSET_EACH (v, k->own) {
        vars[at] = v;
        TRY(take(k, rows_column(k->e, v), true, &cols[at], err));
        at++;
    }
    TRY(take_weights(k, err));
    f->vars = vars;
    f->cols = cols;
    f->n_cols = n_cols;
    f->n = k->n;
    f->set |= k->own;
    f->counts = f->counts || k->e->counts;
    return OK;
}

/* Is any variable of the set compared? */
static bool is_compared(const struct rows *x, vset set)
{
    for (uint32_t i = 0; i < x->r->n_cmps; i++)
        if ((vset_one(x->r->cmps[i].l) | vset_one(x->r->cmps[i].r)) & set)
            return true;
    return false;
}

static bool may_widen(const struct rows *x, const struct rows_atom *e,
                      const struct rows_atom *f)
{
    return e != f && !e->gone && !f->gone && !e->is_outside && !f->is_outside &&
           !e->is_keys && !f->is_keys && (e->set & f->set) &&
           !is_compared(x, e->set & ~f->set) && rows_is_ear(x, e, f);
}

enum status rows_widen(struct rows *x, bool *went, struct err *err)
{
    for (uint32_t i = 0; i < x->n && x->fits; i++)
        for (uint32_t at = 0; at < x->n && !x->atoms[i].gone; at++) {
            struct rows_atom *e = &x->atoms[i], *f = &x->atoms[at];
            if (!may_widen(x, e, f))
                continue;
            struct widening k = {.x = x,
                                 .e = e,
                                 .f = f,
                                 .own = e->set & ~f->set &
                                        (x->boundary | x->r->outs)};
            TRY(look_up(&k, err));
            if (!k.to)
                continue;
            TRY(widen(&k, err));
            e->gone = true;
            *went = true;
        }
    return OK;
}
