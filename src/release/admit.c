/*
 * The last refusals before the hold. Whatever can stop a release for public
 * reasons stops it here, uncharged: the engine, a server whose planner
 * refuses a statement, a system without random bytes, the budget. PRIVACY: no
 * private row is read; a server plans and sends nothing.
 */
#include "release/row_engine.h"
#include "release/release_int.h"

/* --- what a server would be asked ----------------------------------------- */

/* Runs what the draw will run; every answer of the server is 0. */
static enum status plan_counts(struct release *r, struct released *x,
                               const struct engine *e, struct err *err)
{
    const struct choice *c = &x->c->choice;
    struct count *q = x->c->q;
    size_t n = q->query->n_group ? x->c->keys.n : 1;
    struct secret_scale s;
    struct secret_count *counts = NEWS(&r->p.arena, struct secret_count, n + 1);
    if (!counts)
        return err_nomem(err);
    if (c->kind == CHOICE_SMOOTH)
        TRY(evaluate_prepare(q, e, err));
    TRY(evaluate_counts(q, &r->data, e, &x->c->keys, counts, err));
    if (c->kind != CHOICE_SMOOTH)
        return OK;
    secret_scale_init(&s);
    enum status st =
        evaluate_smooth(q, e, c->smooth.beta, c->smooth.factor, &s, err);
    secret_scale_fini(&s);
    return st;
}

/* What an election weighs. */
static enum status plan_owners(struct release *r, struct released *x,
                               struct err *err)
{
    struct listed *listed;
    TRY(evaluate_listed(x->c->q, &r->data, &listed, err));
    enum status st = listed_plan(listed, x->c->q->query->n_group > 0, err);
    listed_close(listed);
    return st;
}

static enum status plan_one(struct release *r, struct released *x,
                            struct err *err)
{
    struct engine e;
    if (x->c->choice.kind == CHOICE_ENTITY)
        return plan_owners(r, x, err);
    TRY(evaluate_open(&r->p, &r->data, x->c->q->normal, &e, err));
    enum status st = plan_counts(r, x, &e, err);
    engine_close(&e);
    return st;
}

static enum status plan_statements(struct release *r, struct err *err)
{
    enum status st = OK;
    r->data.plan_only = true;
    for (size_t i = 0; st == OK && i < r->p.n_counts; i++)
        if (!r->counts[i].done)
            st = plan_one(r, &r->counts[i], err);
    r->data.plan_only = false;
    return st;
}

/* --- the files ------------------------------------------------------------ */

/* Are the files a database of which everything declared is true? */
static enum status check_files(struct release *r, struct err *err)
{
    struct err why;
    enum status s = validity_check(&r->p, r->ledger, &r->validity, &why, err);
    if (s != OK && why.message[0])
        release_log(r, &why);
    return s;
}

enum status release_catalogue(struct release *r, struct str *out,
                              struct err *err)
{
    struct sb b;
    sb_init(&b, &r->p.arena);
    for (size_t i = 0; i < r->p.n_counts; i++)
        for (size_t k = 0; k < r->p.counts[i].n_bodies; k++)
            source_catalogue(r->p.source, r->p.counts[i].bodies[k], &b);
    if (r->p.schema.has_entities) { /* tables on the way to owners, too */
        struct cq all;
        TRY(evaluate_wanted(&r->p, &all, err));
        source_catalogue(r->p.source, &all, &b);
    }
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

/* The worker's transaction begins by locking what this one saw. */
static enum status remember_tables(struct release *r, struct err *err)
{
    struct sb b;
    size_t n = 0, all = 0;
    for (size_t i = 0; i < r->p.n_counts; i++)
        all += r->p.counts[i].n_bodies;
    const struct cq **qs = NEWS(&r->p.arena, const struct cq *, all + 2);
    struct cq wanted; /* with the tables on the way to owners */
    if (!qs)
        return err_nomem(err);
    TRY(evaluate_wanted(&r->p, &wanted, err));
    qs[n++] = &wanted;
    for (size_t i = 0; i < r->p.n_counts; i++)
        for (size_t k = 0; k < r->p.counts[i].n_bodies; k++)
            qs[n++] = r->p.counts[i].bodies[k];
    sb_init(&b, &r->p.arena);
    source_lock(r->p.source, qs, n, &b);
    r->p.lock = sb_view(&b);
    return b.failed ? err_nomem(err) : release_catalogue(r, &r->catalogue, err);
}

/* PRIVACY: what statements of one transaction read on a cluster is not one
 * state of it, so the count and the sensitivity, or what owners have and who
 * has much, could be of different ones.
 * Rows that were loaded are one database for both. */
static enum status refuse_cluster(const struct release *r, struct err *err)
{
    bool measured = false;
    for (size_t i = 0; i < r->p.n_counts; i++)
        measured |=
            !r->counts[i].done && (r->priced[i].choice.kind == CHOICE_SMOOTH ||
                                   r->priced[i].choice.kind == CHOICE_ENTITY);
    if (!r->data.sql || !measured || !source_is_distributed(r->p.source))
        return OK;
    err_set(err, E_UNSUPPORTED,
            "noise measured on the data is not offered on a cluster");
    err_detail(err, "Its statements do not see one state of all servers.");
    err_hint(err, "Use --engine embedded, or a sealed copy: dpcount seal --out "
                  "FILE.");
    return E_UNSUPPORTED;
}

/* --- random bytes --------------------------------------------------------- */

static enum status try_entropy(struct err *err)
{
    struct entropy *rng = NULL;
    unsigned char bytes[32];
    TRY(entropy_open(&rng, err));
    enum status st = entropy_bytes(rng, bytes, sizeof bytes, err);
    mem_wipe(bytes, sizeof bytes);
    entropy_close(rng);
    return st;
}

/* --- the budget ----------------------------------------------------------- */

enum status release_charges(struct release *r, struct ledger_charge **out,
                            size_t *n, struct err *err)
{
    *out = NEWS(&r->p.arena, struct ledger_charge, r->p.n_counts);
    *n = 0;
    if (!*out)
        return err_nomem(err);
    for (size_t i = 0; i < r->p.n_counts; i++)
        if (release_charged(&r->counts[i]))
            (*out)[(*n)++] = (struct ledger_charge){&r->counts[i].request,
                                                    &r->priced[i].choice.price,
                                                    !r->session->opt.fresh};
    return OK;
}

/* All counts, or none. */
static enum status afford(struct release *r, struct err *err)
{
    struct ledger_charge *c = NULL;
    size_t n = 0;
    TRY(release_charges(r, &c, &n, err));
    return ledger_afford(r->ledger, c, n, &r->policy, err);
}

/* PRIVACY: what a smooth sensitivity is refused for depends on the query and
 * the betas: it is refused here, so that nothing of the kind is left for after
 * the hold. */
static enum status admit_smooth(struct release *r, struct err *err)
{
    for (size_t i = 0; i < r->p.n_counts; i++) {
        const struct released *x = &r->counts[i];
        const struct choice *c = &x->c->choice;
        if (!x->done && c->kind == CHOICE_SMOOTH)
            TRY(evaluate_admit(x->c->q, c->smooth.beta, err));
    }
    return OK;
}

/* Where nobody named an engine the embedded one takes what the database would
 * not: before a row is read, by query and catalogue. */
static enum status plan(struct release *r, struct err *err)
{
    struct evaluated embedded = {.chosen = true};
    TRY(validity_engine(&r->p, r->ledger, &r->validity, err));
    TRY(evaluate_engine(&r->p, &r->data, err));
    enum status s = OK;
    /* PRIVACY: which engine it is may hang on what the catalogue believes of
     * private tables; what is refused does not. */
    if (r->data.sql && str_is(r->session->opt.engine, "auto"))
        TRY(evaluate_plan(&r->p, &embedded, err));
    if (r->data.sql && (s = refuse_cluster(r, err)) == OK)
        s = plan_statements(r, err);
    if (s == E_UNSUPPORTED && str_is(r->session->opt.engine, "auto")) {
        err_clear(err);
        r->data.sql = false;
        s = OK;
    }
    return s == OK && !r->data.sql ? evaluate_plan(&r->p, &r->data, err) : s;
}

enum status release_admit(struct release *r, struct err *err)
{
    TRY(moment_read(r, err));
    TRY(afford(r, err));
    TRY(admit_smooth(r, err));
    TRY(try_entropy(err));
    TRY(plan(r, err));
    TRY(remember_tables(r, err));
    TRY(engine_remember(r, err));
    prepare_carry(&r->p);
    return check_files(r, err);
}
