/*
 * Sensitivity of a tree, part by part (PROOF.md, parts): every part is a
 * conjunctive query with a vector T of its own and the same step as ever; what
 * is new is the sum g, which takes the terms whose removed atoms are own, to
 * the gain or to the loss of their table.
 *
 *     L(k) = max over tables R of max(G_R, H_R), or of G_R + H_R
 *
 * on step^k(T), summed for `order` rows. PRIVACY: the paper's sequence, the
 * elastic and the exact smooth ones are about queries all of whose atoms are
 * own, and are no minimum here.
 */
#include <string.h>

#include "base/clock.h"
#include "num/rat.h"
#include "sens/numbers.h"
#include "sens/capped.h"

struct soft_weights {
    uint64_t by[SENS_FRAGILE + 1];
};

struct parts_block { /* one part */
    const struct tree_part *part;
    struct sens_plan *plan;
    struct sens_state state;
    struct sens_paper paper; /* V of the stop rule */
    struct sens_stretch steps;
    bool stepping;
    mpz_t *t0;   /* T as it was, which a scan moves on */
    mpz_t *each; /* g by table of the plan */
    /* of a fragile part */
    struct soft_weights *w; /* by coordinate; NULL: plain */
    struct sens_state soft; /* T step by step, for the increments */
    mpz_t *more;            /* sums of increments */
    uint64_t taken;         /* steps */
    mpz_t x;
};

struct parts_job {
    struct arena *a;
    struct parts_block *blocks;
    size_t n;
    const struct sens_options *opt;
    uint32_t order;
    size_t n_tables; /* of the schema */
    mpz_t *gain, *loss, global, part;
    struct sens_sequence seq;
    struct sens *out;
    struct err *err;
};

/* PRIVACY: only own atoms may be the new row; all others lie in the old
 * rows. */
static void keep_own(struct sens_plan *p, aset own)
{
    size_t n = 0;
    for (size_t i = 0; i < p->top.n_terms; i++) {
        aset removed = p->all & ~p->coords[p->top.terms[i].from].atoms;
        if (!(removed & ~own))
            p->top.terms[n++] = p->top.terms[i];
    }
    p->top.n_terms = n;
}

/* Parts of trees need every set: the rows of a part's own atoms count apart. */
static enum status plan_part(struct arena *a, const struct tree_part *part,
                             struct sens_plan **out, struct err *err)
{
    TRY(sens_plan_new(a, part->path, false, out, err));
    if ((*out)->wide) {
        err_set(err, E_TOO_LARGE,
                "a part of the query has %u atoms over private tables, at "
                "most %d can be analysed",
                (*out)->n_priv, SENS_ALL_SETS);
        err_hint(err, "Ask about fewer private tables at a time.");
        return E_TOO_LARGE;
    }
    keep_own(*out, part->own);
    return OK;
}

static enum status plan_parts(struct parts_job *w,
                              const struct tree_part *parts, size_t n)
{
    w->blocks = NEWS(w->a, struct parts_block, n + 1);
    if (!w->blocks)
        return err_nomem(w->err);
    for (size_t i = 0; i < n; i++) {
        struct parts_block *b = &w->blocks[i];
        b->part = &parts[i];
        TRY(plan_part(w->a, &parts[i], &b->plan, w->err));
    }
    w->n = n;
    w->n_tables = n ? parts[0].path->schema->tables.n : 0;
    return OK;
}

static enum status new_states(struct parts_job *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct parts_block *b = &w->blocks[i];
        TRY(sens_state_new(w->a, b->plan, &b->state, w->err));
        b->each = sens_numbers(w->a, b->plan->n_tables);
        if (!b->each)
            return err_nomem(w->err);
    }
    w->gain = sens_numbers(w->a, w->n_tables);
    w->loss = sens_numbers(w->a, w->n_tables);
    return w->gain && w->loss ? OK : err_nomem(w->err);
}

/* --- the sequence --------------------------------------------------------- */

/* --- fragile parts -------------------------------------------------------- */

/* PRIVACY: the smaller number is taken where g is, and never put back into T:
 * steps and increments are those of T. */
static void soften(struct parts_block *b)
{
    if (!b->w || b->taken + 1 > SENS_FRAGILE)
        return;
    for (size_t i = 0; i < b->plan->n_tables; i++)
        mpz_set_ui(b->each[i], 0);
    for (size_t i = 0; i < b->plan->top.n_terms; i++) {
        const struct sens_term *t = &b->plan->top.terms[i];
        mpz_set(b->x, b->more[t->from]);
        mpz_add_ui(b->x, b->x, b->w[t->from].by[b->taken + 1]);
        bool less = mpz_cmp(b->x, b->soft.t[t->from]) < 0;
        mpz_add(b->each[t->relation], b->each[t->relation],
                less ? b->x : b->soft.t[t->from]);
    }
}

static void soft_step(struct parts_block *b)
{
    b->taken++;
    if (!b->w || b->taken > SENS_FRAGILE)
        return;
    for (size_t i = 0; i < b->plan->top.n_terms; i++) {
        uint32_t c = b->plan->top.terms[i].from;
        sens_state_increment(&b->soft, c, b->x);
        mpz_add(b->more[c], b->more[c], b->x);
    }
    sens_state_step(&b->soft);
}

static void soft_begin(struct parts_block *b)
{
    b->taken = 0;
    for (size_t c = 0; b->w && c < b->plan->n_coords; c++) {
        mpz_set(b->soft.t[c], b->t0[c]);
        mpz_set_ui(b->more[c], 0);
    }
}

static enum status soft_fill(struct parts_job *w, size_t part)
{
    struct parts_block *b = &w->blocks[part];
    const struct sens_plan *p = b->plan;
    if (!w->opt->fragile || !b->part->fragile)
        return OK;
    struct soft_weights *all = NEWS(w->a, struct soft_weights, p->n_coords + 1);
    b->more = sens_numbers(w->a, p->n_coords);
    if (!all || !b->more)
        return err_nomem(w->err);
    TRY(sens_state_new(w->a, p, &b->soft, w->err));
    mpz_init(b->x);
    b->w = all;
    for (size_t i = 0; i < p->top.n_terms; i++) {
        const struct sens_coord *c = &p->coords[p->top.terms[i].from];
        TRY(w->opt->fragile->weigh(w->opt->fragile->ctx, part, c->atoms,
                                   c->boundary, c->outs,
                                   all[p->top.terms[i].from].by, w->err));
    }
    return OK;
}

static void soft_fini(struct parts_block *b)
{
    if (!b->w)
        return;
    sens_state_fini(&b->soft);
    sens_drop(b->more, b->plan->n_coords);
    mpz_wipe_clear(b->x);
    mem_wipe(b->w, b->plan->n_coords * sizeof *b->w);
}

/* --- the sum --- */

static void add_block(struct parts_job *w, struct parts_block *b)
{
    sens_stretch_relations(&b->steps, b->each);
    soften(b);
    for (size_t i = 0; i < b->plan->n_tables; i++) {
        uint32_t table = b->plan->tables[i];
        if (b->part->gain)
            mpz_add(w->gain[table], w->gain[table], b->each[i]);
        if (b->part->loss)
            mpz_add(w->loss[table], w->loss[table], b->each[i]);
    }
}

/* g of all parts. */
static void local(struct parts_job *w, mpz_t out)
{
    for (size_t i = 0; i < w->n_tables; i++) {
        mpz_set_ui(w->gain[i], 0);
        mpz_set_ui(w->loss[i], 0);
    }
    for (size_t i = 0; i < w->n; i++)
        add_block(w, &w->blocks[i]);
    mpz_set_ui(out, 0);
    for (size_t i = 0; i < w->n_tables; i++) {
        if (w->opt->both_signs)
            mpz_add(w->gain[i], w->gain[i], w->loss[i]);
        else if (mpz_cmp(w->loss[i], w->gain[i]) > 0)
            mpz_set(w->gain[i], w->loss[i]);
        if (mpz_cmp(w->gain[i], out) > 0)
            mpz_set(out, w->gain[i]);
    }
}

static void value(void *ctx, uint64_t k, mpz_t out)
{
    struct parts_job *w = ctx;
    mpz_set_ui(out, 0);
    for (uint32_t t = 0; t < w->order; t++) {
        for (size_t i = 0; (k || t) && i < w->n; i++) {
            sens_stretch_step(&w->blocks[i].steps);
            soft_step(&w->blocks[i]);
        }
        local(w, w->part);
        mpz_add(out, out, w->part);
    }
    if (mpz_sgn(w->global) >= 0 && mpz_cmp(w->global, out) < 0)
        mpz_set(out, w->global);
}

/* V: the sum over the parts, each with all its atoms as own. */
static void bound(void *ctx, uint64_t k, mpz_t out)
{
    struct parts_job *w = ctx;
    mpz_set_ui(out, 0);
    for (uint32_t t = 0; t < w->order; t++)
        for (size_t i = 0; i < w->n; i++) {
            sens_paper_bound(&w->blocks[i].paper, k * w->order + t, w->part);
            mpz_add(out, out, w->part);
        }
}

/* The sequence of all parts together, before its first step: from where it must
 * be looked at, and when it stays 0. */
static enum status begin(struct parts_job *w, mpq_srcptr beta)
{
    w->seq = (struct sens_sequence){.ctx = w, .value = value, .bound = bound};
    mpz_inits(w->global, w->part, w->seq.limit, (mpz_ptr)NULL);
    mpz_set_si(w->global, -1);
    if (w->opt->global_upper != U128_INF)
        mpz_set_u128(w->global, w->opt->global_upper);
    mpz_set(w->seq.limit, w->global);
    for (size_t i = 0; i < w->n; i++) {
        struct parts_block *b = &w->blocks[i];
        uint64_t from;
        TRY(sens_capped_from(b->plan, beta, w->order, &from, w->err));
        w->seq.from = from > w->seq.from ? from : w->seq.from;
        /* PRIVACY: a fragile part may be 0 for long and not later on: only
         * numbers of T itself say that it stays 0 */
        uint64_t zero = b->plan->n_priv + (b->w ? SENS_FRAGILE + 1 : 0);
        if (zero > w->seq.zero_after)
            w->seq.zero_after = zero;
        soft_begin(b);
        TRY(sens_stretch_init(&b->steps, w->a, &b->state, w->err));
        b->stepping = true;
    }
    return OK;
}

/* Also after a begin that failed half way. */
static void end(struct parts_job *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->blocks[i].stepping)
            sens_stretch_fini(&w->blocks[i].steps);
        w->blocks[i].stepping = false;
    }
    mpz_wipe_clear(w->global);
    mpz_wipe_clear(w->part);
    mpz_wipe_clear(w->seq.limit);
}

/* As in sens.c, over the sum of the parts. */
static enum status scan(struct parts_job *w, mpq_srcptr beta,
                        struct sens_peak *peak)
{
    enum status st = begin(w, beta);
    if (st == OK)
        st = sens_scan(w->a, beta, &w->seq, peak, w->err);
    end(w);
    return st;
}

/* --- from data ------------------------------------------------------------ */

static enum status list_residuals(struct parts_job *w)
{
    struct sens *out = w->out;
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += w->blocks[i].plan->n_coords;
    out->residuals = NEWS(w->a, struct sens_residual, n + 1);
    if (!out->residuals)
        return err_nomem(w->err);
    for (size_t i = w->n; i-- > 0;) {
        const struct sens_plan *p = w->blocks[i].plan;
        for (size_t c = 0; c < p->n_coords; c++) {
            if (!p->coords[c].keeps_public || p->coords[c].atoms == p->all)
                continue;
            struct sens_residual *r = &out->residuals[out->n_residuals++];
            *r = (struct sens_residual){p->all & ~p->coords[c].atoms,
                                        p->coords[c].boundary, 0, (uint32_t)i};
            if (!mpz_get_u128(w->blocks[i].state.t[c], &r->t))
                return err_internal(w->err, "sens: a count is not a count");
            if (!p->coords[c].weighted)
                r->t = count_mul(r->t, p->unit);
        }
    }
    return OK;
}

/* T of every part from its own counter; kept in t0, because a scan moves the
 * state on. */
static enum status fill(struct parts_job *w,
                        const struct sens_counter *counters)
{
    double start = clock_seconds();
    for (size_t i = 0; i < w->n; i++) {
        struct parts_block *b = &w->blocks[i];
        TRY(sens_state_fill(&b->state, &counters[i], w->err));
        if (!w->opt->in_release)
            TRY(sens_state_check(&b->state, w->err));
        b->t0 = sens_numbers(w->a, b->plan->n_coords);
        if (!b->t0)
            return err_nomem(w->err);
        for (size_t c = 0; c < b->plan->n_coords; c++)
            mpz_set(b->t0[c], b->state.t[c]);
        TRY(sens_paper_new(w->a, &b->state, 1, &b->paper, w->err));
        TRY(soft_fill(w, i));
    }
    TRY(list_residuals(w));
    w->out->seconds_residuals = clock_seconds() - start;
    return OK;
}

static enum status keep_list(struct parts_job *w, const struct sens_peak *peak)
{
    struct sens *out = w->out;
    out->ls_hat = NEWS(w->a, mpz_t, peak->n_list + 1);
    if (!out->ls_hat)
        return err_nomem(w->err);
    for (; out->n_ls_hat < peak->n_list; out->n_ls_hat++)
        mpz_init_set(out->ls_hat[out->n_ls_hat], peak->list[out->n_ls_hat]);
    return OK;
}

static enum status scan_parts(struct parts_job *w)
{
    struct sens *out = w->out;
    struct sens_peak peak = {0};
    enum status st = scan(w, w->opt->beta, &peak);
    if (st == OK)
        st = keep_list(w, &peak);
    if (st == OK) {
        sens_keep_scale(&peak, &out->s);
        out->value = mpfr_get_d(peak.best, MPFR_RNDU);
        out->k = peak.k;
        out->k_scanned = peak.scanned;
        if (!mpz_get_u128(out->ls_hat[0], &out->local_upper))
            out->local_upper = U128_INF;
    }
    sens_peak_fini(&peak);
    return st;
}

static void fini(struct parts_job *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct parts_block *b = &w->blocks[i];
        soft_fini(b);
        sens_drop(b->t0, b->plan->n_coords);
        sens_drop(b->each, b->plan->n_tables);
        sens_paper_fini(&b->paper);
        sens_state_fini(&b->state);
    }
    sens_drop(w->gain, w->n_tables);
    sens_drop(w->loss, w->n_tables);
}

static enum status run(struct parts_job *w, const struct tree_part *parts,
                       size_t n, const struct sens_counter *counters)
{
    TRY(plan_parts(w, parts, n));
    TRY(new_states(w));
    TRY(fill(w, counters));
    return scan_parts(w);
}

enum status sens_compute_parts(struct arena *a, const struct tree_part *parts,
                               size_t n, const struct sens_counter *counters,
                               const struct sens_options *opt, struct sens *out,
                               struct err *err)
{
    TRY(sens_begin(opt, out, err));
    struct parts_job w = {.a = a,
                          .opt = opt,
                          .order = opt->order ? opt->order : 1,
                          .out = out,
                          .err = err};
    enum status st = run(&w, parts, n, counters);
    fini(&w);
    return st;
}

/* --- from the query alone ------------------------------------------------- */

enum status sens_degree_parts(struct arena *a, const struct tree_part *parts,
                              size_t n, unsigned *out_degree, struct err *err)
{
    *out_degree = 0;
    for (size_t i = 0; i < n; i++) {
        struct sens_plan *p;
        unsigned d;
        TRY(plan_part(a, &parts[i], &p, err));
        TRY(sens_plan_degree(a, p, &d, err));
        *out_degree = d > *out_degree ? d : *out_degree;
    }
    return OK;
}

/* On empty tables T is 0 but for the empty set: no data give less, but for what
 * fragile parts do; those are left out. */
enum status sens_floor_parts(struct arena *a, const struct tree_part *parts,
                             size_t n, const struct sens_options *opt,
                             mpq_t out, struct err *err)
{
    struct parts_job w = {
        .a = a, .opt = opt, .order = opt->order ? opt->order : 1, .err = err};
    struct sens_peak peak = {0};
    struct tree_part *firm = NEWS(a, struct tree_part, n + 1);
    size_t all = n;
    if (!firm)
        return err_nomem(err);
    n = 0;
    for (size_t i = 0; i < all; i++)
        if (!parts[i].fragile)
            firm[n++] = parts[i];
    mpq_set_ui(out, 0, 1);
    enum status st = plan_parts(&w, firm, n);
    if (st == OK)
        st = new_states(&w);
    for (size_t i = 0; st == OK && i < n; i++)
        st = sens_paper_new(a, &w.blocks[i].state, 1, &w.blocks[i].paper, err);
    if (st == OK)
        st = scan(&w, opt->beta, &peak);
    if (st == OK)
        sens_peak_rational(&peak, out);
    sens_peak_fini(&peak);
    fini(&w);
    return st;
}
