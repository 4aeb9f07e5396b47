/*
 * Which atom is aggregated out into which, and the end: see rows.h.
 *
 * An atom is an ear of another if the other has every variable of it that any
 * third atom has, and the other side of every comparison of the variables
 * that it alone has (its own ones). It can go if none of its own variables is
 * in the boundary, and
 *
 *   all its own variables are counted: then its rows are, or
 *   none is: then it matters only whether there is a row, provided that its
 *   weights say no more either.
 *
 * Own variables that only have to exist, and are not compared, are dropped
 * beforehand by keeping distinct rows, again if weights say no more than
 * whether. In every other case the backtracking join takes over.
 */
#include "join/rows/rows.h"

#include <string.h>

const uint32_t *rows_column(const struct rows_atom *x, uint32_t v)
{
    uint32_t c = 0;
    while (x->vars[c] != v)
        c++;
    return x->cols[c];
}

uint32_t rows_ids(const struct rows *x, uint32_t v)
{
    uint32_t n = x->j->doms[x->j->dom_of[v]].n;
    return vset_has(x->scaled, v) ? (n + 1) * x->r->scale : n;
}

/* --- rows ----------------------------------------------------------------- */

static vset seen_by_others(const struct rows *x, const struct rows_atom *e)
{
    vset s = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (!x->atoms[i].gone && &x->atoms[i] != e)
            s |= x->atoms[i].set;
    return s;
}

/* Variables of the set that are compared with variables of `with`. */
static vset compared(const struct rows *x, vset set, vset with)
{
    vset s = 0;
    for (uint32_t i = 0; i < x->r->n_cmps; i++) {
        const struct jcmp *c = &x->r->cmps[i];
        if (vset_has(set, c->l) && vset_has(with, c->r))
            s |= vset_one(c->l);
        if (vset_has(set, c->r) && vset_has(with, c->l))
            s |= vset_one(c->r);
    }
    return s;
}

/* The distinct rows over the variables `keep`, of those that count. */
static enum status project(struct rows *x, struct rows_atom *e, vset keep,
                           struct err *err)
{
    uint32_t n_cols = 0, n = 0, sizes[MAX_VARS], *cols[MAX_VARS];
    x->j->steps += e->n;
    for (uint32_t c = 0; c < e->n_cols; c++) {
        if (!vset_has(keep, e->vars[c]))
            continue;
        uint32_t *to = NEWS(x->a, uint32_t, e->n);
        if (!to)
            return err_nomem(err);
        n = 0;
        for (uint32_t i = 0; i < e->n; i++)
            if (rows_counts(x, e, i))
                to[n++] = e->cols[c][i];
        e->vars[n_cols] = e->vars[c];
        sizes[n_cols] = rows_ids(x, e->vars[c]);
        cols[n_cols++] = to;
    }
    if (!n_cols)
        for (uint32_t i = 0; i < e->n; i++)
            n += rows_counts(x, e, i);
    TRY(sort_rows(x->j->mem, cols, n_cols, sizes, &n, true, err));
    for (uint32_t c = 0; c < n_cols; c++)
        e->cols[c] = cols[c];
    e->n = n;
    e->n_cols = n_cols;
    e->set &= keep;
    e->w = NULL;
    return OK;
}

/* Ids of a compared variable as positions among values and gaps. */
static enum status scale(struct rows *x, const uint32_t **col, uint32_t n,
                         struct err *err)
{
    uint32_t *pos = NEWS(x->a, uint32_t, n);
    if (!pos)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        pos[i] = ((*col)[i] + 1) * x->r->scale - 1;
    *col = pos;
    return OK;
}

static enum status open_atom(struct rows *x, const struct jatom *at,
                             struct rows_atom *e, struct err *err)
{
    const struct rel *r = at->rel;
    e->set = at->set;
    e->n = r->n;
    e->n_cols = r->n_cols;
    e->vars = NEWS(x->a, uint32_t, r->n_cols);
    e->cols = NEWS(x->a, const uint32_t *, r->n_cols);
    if (!e->vars || !e->cols)
        return err_nomem(err);
    for (uint32_t c = 0; c < r->n_cols; c++) {
        e->vars[c] = at->vars[c];
        e->cols[c] = r->cols[c];
        if (vset_has(x->scaled, e->vars[c]))
            TRY(scale(x, &e->cols[c], r->n, err));
    }
    return OK;
}

static void find_scaled(struct rows *x)
{
    for (uint32_t i = 0; x->r->scale > 1 && i < x->r->n_cmps; i++)
        x->scaled |= vset_one(x->r->cmps[i].l) | vset_one(x->r->cmps[i].r);
    if (x->r->scale > 1)
        x->scaled |= x->r->outside;
    VSET_EACH (v, x->scaled) {
        uint64_t n = x->j->doms[x->j->dom_of[v]].n;
        x->fits = x->fits && (n + 1) * x->r->scale < UINT32_MAX / 2;
    }
}

static enum status rows_open(struct rows *x, struct err *err)
{
    /* one place more, for the keys that are asked for */
    x->atoms = NEWS(x->a, struct rows_atom,
                    aset_count(x->r->f) + vset_count(x->r->outside) + 1);
    if (!x->atoms)
        return err_nomem(err);
    find_scaled(x);
    if (!x->fits)
        return OK;
    ASET_EACH (i, x->r->f)
        TRY(open_atom(x, &x->j->atoms[i], &x->atoms[x->n++], err));
    return rows_open_outside(x, err);
}

/* --- ears ------------------------------------------------------------------
 */

bool rows_is_ear(const struct rows *x, const struct rows_atom *e,
                 const struct rows_atom *f)
{
    vset others = seen_by_others(x, e);
    vset own = e->set & ~f->set, beyond = others & ~f->set;
    return !(own & others) && !compared(x, own, beyond);
}

/* Counts e away into its neighbour f if kinds allow; *went: it was. */
static enum status try_fold(struct rows *x, struct rows_atom *e,
                            struct rows_atom *f, bool *went, struct err *err)
{
    vset own = e->set & ~f->set;
    vset only = own & ~x->r->outs; /* has to exist only */
    vset kept = compared(x, only, f->set);
    if (only && e->counts)
        return OK;
    if (kept && own != only)
        return OK;
    if (only & ~kept)
        TRY(project(x, e, e->set & ~(only & ~kept), err));
    bool counts = e->counts || (own & x->r->outs);
    x->j->steps += (uint64_t)e->n + f->n;
    TRY(rows_fold(x, e, f, !counts, err));
    f->counts = f->counts || counts;
    e->gone = true;
    *went = true;
    return OK;
}

static enum status fold_one(struct rows *x, bool *went, struct err *err)
{
    for (uint32_t i = 0; i < x->n && !*went; i++)
        for (uint32_t k = 0; k < x->n && !*went; k++) {
            struct rows_atom *e = &x->atoms[i], *f = &x->atoms[k];
            if (i != k && !e->gone && !f->gone && !e->is_keys &&
                !(e->set & ~f->set & x->boundary) && rows_is_ear(x, e, f))
                TRY(try_fold(x, e, f, went, err));
        }
    return OK;
}

/* Aggregates out what can be; the atom that is left, NULL if more are. */
static enum status fold_all(struct rows *x, struct rows_atom **last,
                            struct err *err)
{
    bool went = true;
    while (went && x->fits) {
        went = false;
        TRY(fold_one(x, &went, err));
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (!x->atoms[i].gone) {
            *last = &x->atoms[i];
            left++;
        }
    if (left != 1)
        *last = NULL;
    return OK;
}

/* --- the end ---------------------------------------------------------------
 */

static enum status largest_wide(struct rows *x, const struct rows_atom *e,
                                const struct rows_groups *g, u128 *out,
                                struct err *err)
{
    uint32_t n = x->words;
    uint64_t *sum = NEWS(x->a, uint64_t, (size_t)g->n * n), *top = NULL;
    uint64_t one[WORDS_MOST];
    if (!sum)
        return err_nomem(err);
    words_set(one, 1, n);
    for (uint32_t i = 0; i < e->n; i++) {
        uint64_t *s = sum + (size_t)(g->of[0] ? g->of[0][i] : 0) * n;
        words_add(s, e->w ? e->w + (size_t)i * n : one, n);
        top = !top || words_cmp(s, top, n) > 0 ? s : top;
    }
    *out = top ? words_clamped(top, n) : 0;
    return OK;
}

/* The largest sum of weights of rows that agree in the boundary. */
static enum status largest(struct rows *x, const struct rows_atom *e, u128 *out,
                           struct err *err)
{
    struct rows_key keys[MAX_VARS];
    struct rows_groups g;
    uint32_t n_keys = 0, n[2] = {e->n, 0};
    VSET_EACH (v, x->boundary) {
        const uint32_t *col = rows_column(e, v);
        struct rows_key key = {{col, col}, rows_ids(x, v)};
        keys[n_keys++] = key;
    }
    TRY(rows_group(x->j->mem, x->a, n, keys, n_keys, &g, err));
    if (x->words > 1)
        return largest_wide(x, e, &g, out, err);
    u128 *sum = NEWS(x->a, u128, g.n);
    if (!sum)
        return err_nomem(err);
    *out = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        u128 *s = &sum[g.of[0] ? g.of[0][i] : 0];
        *s += e->w ? e->w[i] : 1; /* 2^32 numbers of 64 bits */
        *out = *s > *out ? *s : *out;
    }
    return OK;
}

/* PRIVACY: a count is at most the product of the rows of its atoms, and so is
 * each weight on the way to it; differences may wrap. */
uint32_t rows_words(const struct join *j, const struct request *r)
{
    uint32_t bits = WORDS_SPARE_BITS;
    ASET_EACH (i, r->f)
        bits += 32 - (uint32_t)__builtin_clz(j->atoms[i].rel->n | 1);
    return bits / 64 + 1;
}

/* What is left when what needs no search is settled. */
static enum status fold_extremes(struct rows *x, struct rows_atom **last,
                                 struct err *err)
{
    bool went = true;
    while (went && !*last && x->fits) {
        went = false;
        if (!x->r->outside)
            TRY(rows_widen(x, &went, err));
        TRY(rows_fold_extreme(x, &went, err));
        if (went)
            TRY(fold_all(x, last, err));
    }
    return OK;
}

static enum status solve_rows(struct join *j, const struct request *r,
                              struct arena *a, uint32_t words, bool paths,
                              u128 *out, enum outcome *what, struct err *err)
{
    struct rows x = {.j = j,
                     .r = r,
                     .a = a,
                     .boundary = r->boundary,
                     .words = words,
                     .fits = true};
    struct rows_atom *last = NULL;
    *what = PASS;
    if (r->fixed_set || r->each)
        return OK;
    TRY(rows_open(&x, err));
    TRY(rows_fold_outside(&x, err));
    TRY(fold_all(&x, &last, err));
    if (!x.fits)
        return OK;
    if (!last && j->opt.steady)
        return OK;
    if (!last)
        TRY(fold_extremes(&x, &last, err));
    if (!x.fits || (!last && !paths))
        return OK;
    if (!last)
        return rows_path(&x, out, what, err);
    vset only = last->set & ~r->outs & ~x.boundary;
    if (only && last->counts)
        return OK;
    if (only)
        TRY(project(&x, last, last->set & ~only, err));
    *what = SOLVED;
    j->steps += last->n;
    return largest(&x, last, out, err);
}

enum status rows_solve(struct join *j, const struct request *r, struct arena *a,
                       uint32_t words, u128 *out, enum outcome *what,
                       struct err *err)
{
    return solve_rows(j, r, a, words, true, out, what, err);
}

enum status rows_solve_tree(struct join *j, const struct request *r,
                            struct arena *a, u128 *out, enum outcome *what,
                            struct err *err)
{
    return solve_rows(j, r, a, 1, false, out, what, err);
}

/* The keys are one more atom, into which all the others go. */
static enum status open_keys(struct rows *x, const struct rows_wanted *k,
                             struct err *err)
{
    struct rows_atom *e = &x->atoms[x->n++];
    uint32_t c = 0;
    e->is_keys = true;
    e->set = x->boundary;
    e->n = (uint32_t)k->n;
    e->n_cols = vset_count(x->boundary);
    e->vars = NEWS(x->a, uint32_t, e->n_cols);
    e->cols = NEWS(x->a, const uint32_t *, e->n_cols);
    if (!e->vars || !e->cols)
        return err_nomem(err);
    VSET_EACH (v, x->boundary) {
        e->vars[c] = v;
        e->cols[c] = k->ids[c];
        c++;
    }
    return OK;
}

/* Comparisons between variables of the keys: no atom may have them both. */
static bool key_passes(const struct rows *x, const struct rows_atom *keys,
                       size_t i)
{
    for (uint32_t k = 0; k < x->r->n_cmps; k++) {
        const struct jcmp *c = &x->r->cmps[k];
        if (!vset_has(keys->set, c->l) || !vset_has(keys->set, c->r))
            continue;
        uint32_t l = rows_column(keys, c->l)[i], r = rows_column(keys, c->r)[i];
        if (c->op == CMP_NE ? l == r : c->op == CMP_LT ? l >= r : l > r)
            return false;
    }
    return true;
}

enum status rows_count_keys(struct join *j, const struct request *r,
                            struct arena *a, uint32_t words,
                            const struct rows_wanted *k, enum outcome *what,
                            struct err *err)
{
    struct rows x = {.j = j,
                     .r = r,
                     .a = a,
                     .boundary = r->boundary,
                     .words = words,
                     .fits = true};
    struct rows_atom *last = NULL;
    *what = PASS;
    if (r->outside || r->fixed_set || r->each || k->n >= NO_ID)
        return OK;
    TRY(rows_open(&x, err));
    TRY(open_keys(&x, k, err));
    TRY(fold_all(&x, &last, err));
    if (!x.fits || !last)
        return OK;
    j->steps += k->n;
    for (size_t i = 0; i < k->n; i++)
        k->out[i] = !k->ok[i] || !key_passes(&x, last, i) ? 0
                    : last->w ? words_clamped(last->w + i * words, words)
                              : 1;
    *what = SOLVED;
    return OK;
}
