/*
 * Fragile parts (sens/PROOF.md): of each answer of an anti-join, how many rows
 * of the subquery must go before it can be lost. tau is the number of matches
 * for the values that the subquery looks up; the results of a set of atoms are
 * listed with their tau, and counted for each value of the boundary and each
 * number of rows d. OWNER: all of it is secret.
 *
 * Cost: one pass over the matches of the part, and one over the results of each
 * set of atoms that is asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "release/evaluate.h"

struct fragile_answer { /* one output, for one value of the boundary */
    uint64_t boundary;
    uint64_t tau; /* the least of its assignments */
};

struct fragile_part {
    struct count *q;
    struct evaluated *data;
    const struct tree_part *part;
    struct arena *a; /* wiped in the end */
    uint32_t *up;    /* variables of the root that the subquery looks up */
    uint32_t n_up;
    struct map tau; /* of their values; not there: 0 */
};

struct fragile_list {
    struct fragile_part *f;
    uint32_t n_boundary, n_outs;
    struct map boundaries, answers;
    VEC(struct fragile_answer) found;
};

/* --- queries ---------------------------------------------------------------
 */

/* The atoms `f` of the path, with the comparisons that lie inside; rows: those
 * of own atoms are told apart. */
static enum status body(struct fragile_part *p, aset f, bool rows,
                        struct cq_builder *b, vset *own, struct err *err)
{
    const struct cq *q = p->part->path;
    uint32_t to[MAX_ATOMS];
    vset in = cq_vars_of(q, f);
    bool ok = true;
    cqb_init(b, p->a, (struct schema *)(uintptr_t)q->schema);
    for (uint32_t i = 0; i < q->n_vars; i++)
        ok = ok && VEC_PUSH(p->a, &b->vars, q->vars[i]);
    for (uint32_t i = 0; i < q->n_consts; i++) {
        uint32_t id;
        TRY(cqb_const(b, &q->consts[i], &id, err));
    }
    ASET_EACH (i, f) {
        struct atom at = q->atoms[i];
        struct term *args = NEWS(p->a, struct term, at.n_args + 1);
        if (!args)
            return err_nomem(err);
        memcpy(args, at.args, at.n_args * sizeof *args);
        at.args = args;
        to[i] = (uint32_t)b->atoms.n;
        if (rows && aset_has(p->part->own, i)) {
            uint32_t v;
            TRY(cqb_var(b, STR("row"), T_INT, &v, err));
            b->vars.p[v].is_rowid = true;
            at.rowid = (int32_t)v;
            *own |= vset_one(v);
        }
        ok = ok && VEC_PUSH(p->a, &b->atoms, at);
    }
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (vset_sub(term_var(q->cmps[i].l) | term_var(q->cmps[i].r), in))
            ok = ok && VEC_PUSH(p->a, &b->cmps, q->cmps[i]);
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (aset_has(f, q->preds[i].atom)) {
            struct pred x = q->preds[i];
            x.atom = to[x.atom];
            ok = ok && VEC_PUSH(p->a, &b->preds, x);
        }
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (aset_has(f, q->calcs[i].atom)) {
            struct calc x = q->calcs[i];
            x.atom = to[x.atom];
            ok = ok && VEC_PUSH(p->a, &b->calcs, x);
        }
    return ok ? OK : err_nomem(err);
}

static enum status add_out(struct fragile_part *p, struct cq_builder *b,
                           uint32_t var, struct err *err)
{
    struct term t = {TERM_VAR, var};
    return VEC_PUSH(p->a, &b->outs, t) ? OK : err_nomem(err);
}

static enum status list(struct fragile_part *p, struct cq_builder *b,
                        uint32_t n_group,
                        enum status (*each)(void *ctx, const struct value *key,
                                            u128 count, struct err *err),
                        void *ctx, struct err *err)
{
    struct cq *q;
    b->n_group = n_group;
    b->tidy_outs = true;
    TRY(cq_finish(b, &q, err));
    return evaluate_list(p->q->p, p->data, q, each, ctx, err);
}

/* --- tau -------------------------------------------------------------------
 */

static enum status note_tau(void *ctx, const struct value *key, u128 count,
                            struct err *err)
{
    struct fragile_part *p = ctx;
    struct str bytes;
    uint64_t n = count > SENS_FRAGILE ? SENS_FRAGILE + 1 : (uint64_t)count;
    TRY(evaluate_key_bytes(p->a, key, p->n_up, &bytes, err));
    return map_put(&p->tau, bytes, n, NULL) ? OK : err_nomem(err);
}

static void find_up(struct fragile_part *p)
{
    const struct cq *q = p->part->path;
    aset own = p->part->own, root = aset_first_n(q->n_atoms) & ~own;
    vset mine = cq_vars_of(q, own), up = mine & cq_vars_of(q, root);
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        vset both = term_var(q->cmps[i].l) | term_var(q->cmps[i].r);
        if (both & mine & ~cq_vars_of(q, root))
            up |= both & cq_vars_of(q, root);
    }
    VSET_EACH (v, up)
        p->up[p->n_up++] = v;
}

/* Matches are told apart by the subquery's own variables; with one atom every
 * row is one. */
static enum status count_matches(struct fragile_part *p, struct err *err)
{
    const struct cq *q = p->part->path;
    aset all = aset_first_n(q->n_atoms), own = p->part->own;
    vset mine = cq_vars_of(q, own) & ~cq_vars_of(q, all & ~own);
    struct cq_builder b;
    TRY(body(p, all, aset_count(own) == 1, &b, &mine, err));
    for (uint32_t i = 0; i < p->n_up; i++)
        TRY(add_out(p, &b, p->up[i], err));
    VSET_EACH (v, mine)
        TRY(add_out(p, &b, v, err));
    return list(p, &b, p->n_up, note_tau, p, err);
}

/* --- results by tau ---------------------------------------------------------
 */

/* The number of a key, in the order in which keys came. */
static enum status place_of(struct fragile_part *p, struct map *m,
                            const struct value *key, uint32_t n, uint64_t *out,
                            struct err *err)
{
    struct arena_mark mark = arena_mark(p->a);
    struct str bytes;
    TRY(evaluate_key_bytes(p->a, key, n, &bytes, err));
    uint64_t *found = map_find(m, bytes);
    *out = found ? *found : m->n;
    if (!found)
        return map_put(m, bytes, m->n, NULL) ? OK : err_nomem(err);
    arena_release(p->a, mark);
    return OK;
}

static enum status note_result(void *ctx, const struct value *key, u128 count,
                               struct err *err)
{
    struct fragile_list *l = ctx;
    struct fragile_part *p = l->f;
    struct str bytes;
    uint32_t n = l->n_boundary + l->n_outs;
    struct arena_mark mark = arena_mark(p->a);
    (void)count;
    TRY(evaluate_key_bytes(p->a, key + n, p->n_up, &bytes, err));
    uint64_t *tau = map_find(&p->tau, bytes);
    struct fragile_answer x = {.tau = tau ? *tau : 0};
    arena_release(p->a, mark);
    if (x.tau > SENS_FRAGILE)
        return OK;
    TRY(place_of(p, &l->boundaries, key, l->n_boundary, &x.boundary, err));
    uint64_t at, had = l->answers.n;
    TRY(place_of(p, &l->answers, key, n, &at, err));
    if (at == had)
        return VEC_PUSH(p->a, &l->found, x) ? OK : err_nomem(err);
    struct fragile_answer *old = &l->found.p[at];
    old->tau = x.tau < old->tau ? x.tau : old->tau;
    return OK;
}

static int by_boundary(const void *x, const void *y)
{
    const struct fragile_answer *a = x, *b = y;
    if (a->boundary != b->boundary)
        return a->boundary < b->boundary ? -1 : 1;
    return (a->tau > b->tau) - (a->tau < b->tau);
}

/* w[d]: the largest number of answers of one boundary with tau of at most d. */
static void largest(struct fragile_list *l, uint64_t *w)
{
    uint64_t run = 0;
    if (l->found.n)
        qsort(l->found.p, l->found.n, sizeof *l->found.p, by_boundary);
    for (size_t i = 0; i < l->found.n; i++) {
        const struct fragile_answer *x = &l->found.p[i];
        run = i && l->found.p[i - 1].boundary == x->boundary ? run + 1 : 1;
        w[x->tau] = run > w[x->tau] ? run : w[x->tau];
    }
    for (int d = 1; d <= SENS_FRAGILE; d++)
        w[d] = w[d] > w[d - 1] ? w[d] : w[d - 1];
}

static enum status weigh_one(struct fragile_part *p, aset f, vset boundary,
                             vset outs, uint64_t *w, struct err *err)
{
    struct fragile_list l = {.f = p};
    struct cq_builder b;
    vset none = 0;
    p->up = NEWS(p->a, uint32_t, MAX_VARS + 1);
    if (!p->up)
        return err_nomem(err);
    map_init(&p->tau, p->a);
    map_init(&l.boundaries, p->a);
    map_init(&l.answers, p->a);
    find_up(p);
    TRY(count_matches(p, err));
    TRY(body(p, f, false, &b, &none, err));
    VSET_EACH (v, boundary) {
        TRY(add_out(p, &b, v, err));
        l.n_boundary++;
    }
    VSET_EACH (v, outs) {
        TRY(add_out(p, &b, v, err));
        l.n_outs++;
    }
    for (uint32_t i = 0; i < p->n_up; i++)
        TRY(add_out(p, &b, p->up[i], err));
    TRY(list(p, &b, (uint32_t)b.outs.n, note_result, &l, err));
    largest(&l, w);
    return OK;
}

enum status evaluate_fragile(void *ctx, size_t part, aset f, vset boundary,
                             vset outs, uint64_t w[SENS_FRAGILE + 1],
                             struct err *err)
{
    struct fragile_job *job = ctx;
    struct arena a;
    struct fragile_part p = {.q = job->q,
                             .data = job->data,
                             .part = &job->q->bound.parts[part],
                             .a = &a};
    arena_init(&a, &job->q->p->session->mem);
    a.wipe = true;
    memset(w, 0, (SENS_FRAGILE + 1) * sizeof *w);
    enum status st = weigh_one(&p, f, boundary, outs, w, err);
    arena_fini(&a);
    return st;
}
