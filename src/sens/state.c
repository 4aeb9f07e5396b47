/*
 * step, caps and g on the vector T (state.h).
 *
 * With t a row inserted into the private relation i, the results of F are
 * split by the set E of atoms that match t: what remains is a result of F - E
 * on the old rows. Hence step_i(T)_F = T_F + sum of T_{F-E} over unifiable
 * nonempty E, and the largest over i, since the row may go anywhere.
 *
 * Coordinates are sorted by size, so a cap T_a * T_b refers to numbers that
 * have already been lowered in this step.
 *
 * Cost of a step: one addition for each term, one product for each split.
 */
#include "sens/state.h"

#include <stdio.h>
#include "num/rat.h"

/* A coordinate that follows from others; false: this one does not. */
static bool derive(const struct sens_coord *c, mpz_t *v, mpz_t out)
{
    if (c->kind == COORD_ASKED)
        return false;
    if (c->kind == COORD_ONE)
        mpz_set_ui(out, 1);
    else if (c->kind == COORD_SUM)
        mpz_add(out, v[c->splits[0].a], v[c->splits[0].b]);
    else
        mpz_mul(out, v[c->splits[0].a], v[c->splits[0].b]);
    return true;
}

enum status sens_state_new(struct arena *a, const struct sens_plan *p,
                           struct sens_state *s, struct err *err)
{
    s->p = NULL;
    s->t = NEWS(a, mpz_t, p->n_coords);
    s->next = NEWS(a, mpz_t, p->n_coords);
    if (!s->t || !s->next)
        return err_nomem(err);
    s->p = p;
    for (size_t i = 0; i < p->n_coords; i++) {
        mpz_init(s->t[i]);
        mpz_init(s->next[i]);
    }
    mpz_init(s->sum);
    mpz_init(s->product);
    mpz_set_ui(s->t[0], 1);
    for (size_t i = 1; i < p->n_coords; i++)
        derive(&p->coords[i], s->t, s->t[i]);
    return OK;
}

void sens_state_fini(struct sens_state *s)
{
    if (!s->p)
        return;
    for (size_t i = 0; i < s->p->n_coords; i++) {
        mpz_wipe_clear(s->t[i]);
        mpz_wipe_clear(s->next[i]);
    }
    mpz_wipe_clear(s->sum);
    mpz_wipe_clear(s->product);
    s->p = NULL;
}

/* The largest over the relations of base + the terms of one relation. */
static void largest_sum(struct sens_state *s, const struct sens_coord *c,
                        mpz_srcptr base, mpz_t out)
{
    mpz_set(out, base);
    for (size_t i = 0; i < c->n_terms;) {
        uint32_t relation = c->terms[i].relation;
        mpz_set(s->sum, base);
        for (; i < c->n_terms && c->terms[i].relation == relation; i++)
            mpz_addmul_ui(s->sum, s->t[c->terms[i].from],
                          sens_times(s->p, &c->terms[i]));
        if (mpz_cmp(s->sum, out) > 0)
            mpz_set(out, s->sum);
    }
}

static int cmp_u128(mpz_srcptr z, u128 v)
{
    uint64_t hi = (uint64_t)(v >> 64), lo = (uint64_t)v;
    if (!hi)
        return mpz_cmp_ui(z, lo);
    mpz_t w;
    mpz_init(w);
    mpz_set_u128(w, v);
    int c = mpz_cmp(z, w);
    mpz_clear(w);
    return c;
}

/* Lowers v[c] to its caps, given the lowered smaller coordinates. Returns the
 * kind of the last cap that did: 0 none, 1 constant, 2 product. */
static int lower(const struct sens_coord *c, mpz_t *v, mpz_t value,
                 mpz_t scratch)
{
    int kind = 0;
    if (c->cap != U128_INF && cmp_u128(value, c->cap) > 0) {
        mpz_set_u128(value, c->cap);
        kind = 1;
    }
    for (size_t i = 0; i < c->n_splits; i++) {
        mpz_mul(scratch, v[c->splits[i].a], v[c->splits[i].b]);
        if (mpz_cmp(value, scratch) > 0) {
            mpz_set(value, scratch);
            kind = 2;
        }
    }
    return kind;
}

void sens_state_step(struct sens_state *s)
{
    for (size_t i = 0; i < s->p->n_coords; i++) {
        const struct sens_coord *c = &s->p->coords[i];
        if (s->p->wide && derive(c, s->next, s->next[i]))
            continue;
        largest_sum(s, c, s->t[i], s->next[i]);
        (void)lower(c, s->next, s->next[i], s->product);
    }
    mpz_t *swap = s->t;
    s->t = s->next;
    s->next = swap;
}

void sens_state_increment(struct sens_state *s, uint32_t coord, mpz_t out)
{
    mpz_set_ui(s->product, 0);
    largest_sum(s, &s->p->coords[coord], s->product, out);
}

void sens_state_local(struct sens_state *s, mpz_t out)
{
    mpz_set_ui(s->product, 0);
    largest_sum(s, &s->p->top, s->product, out);
}

static enum status broken_cap(const struct sens_plan *p,
                              const struct sens_coord *c, int kind,
                              struct err *err)
{
    if (kind == 2 || vset_sub(c->outs, c->boundary))
        return err_internal(err, "sens: a count exceeds a bound that always "
                                 "holds");
    err_set(err, E_CONSTRAINT, "the data break a declared constraint");
    char names[256];
    size_t n = 0;
    ASET_EACH (i, c->atoms) {
        struct str t = p->q->schema->tables.p[p->q->atoms[i].table].name;
        int w = snprintf(names + n, sizeof names - n, "%s%.*s", n ? ", " : "",
                         PSTR(t));
        n = w < 0 || n + (size_t)w >= sizeof names ? sizeof names - 1
                                                   : n + (size_t)w;
    }
    err_detail(err,
               "The join of %s has more results for one value of its boundary "
               "than the constraints allow.",
               names);
    err_hint(err, "dpcount check names the rows.");
    return E_CONSTRAINT;
}

enum status sens_state_check(const struct sens_state *s, struct err *err)
{
    mpz_t value, scratch;
    mpz_init(value);
    mpz_init(scratch);
    enum status st = OK;
    for (size_t i = 0; st == OK && i < s->p->n_coords; i++) {
        if (s->p->coords[i].kind != COORD_ASKED)
            continue;
        mpz_set(value, s->t[i]);
        int kind = lower(&s->p->coords[i], s->t, value, scratch);
        if (kind)
            st = broken_cap(s->p, &s->p->coords[i], kind, err);
    }
    mpz_wipe_clear(value);
    mpz_wipe_clear(scratch);
    return st;
}

enum status sens_state_fill(struct sens_state *s,
                            const struct sens_counter *counter, struct err *err)
{
    bool exact = s->p->filters_exact;
    if (exact && !counter->max_exact)
        return err_internal(err, "sens: filters were to be exact");
    for (size_t i = 1; i < s->p->n_coords; i++) {
        const struct sens_coord *c = &s->p->coords[i];
        u128 t;
        if (derive(c, s->t, s->t[i]))
            continue;
        TRY((exact ? counter->max_exact : counter->max)(
            counter->ctx, c->atoms, c->boundary, c->outs, &t, err));
        mpz_set_u128(s->t[i], count_clamp(t)); /* PROOF.md, 2a */
    }
    return OK;
}
