/*
 * The engine's entry points: opening, remembering, and turning each question
 * into a request.
 */
#include "join/join_int.h"

#include <string.h>

static enum status list_cmps(struct join *j, struct err *err)
{
    const struct cq *q = j->q;
    j->cmps = NEWS(&j->arena, struct jcmp, q->n_cmps);
    if (!j->cmps)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (c->l.kind != TERM_VAR || c->r.kind != TERM_VAR)
            continue;
        struct jcmp x = {c->op, c->l.id, c->r.id};
        j->cmps[j->n_cmps++] = x;
    }
    return OK;
}

/* Memory ran out: says so if --memory said no, not the machine. */
static enum status told(const struct mem *m, enum status s, struct err *err)
{
    return s == E_NOMEM ? store_nomem(m, err) : s;
}

static enum status encode(struct join *j, struct err *err)
{
    TRY(calc_columns(j, err));
    TRY(dom_build_all(j, err));
    TRY(rel_build_all(j, err));
    return list_cmps(j, err);
}

enum status join_encode(struct join *j, struct err *err)
{
    if (j->encoded)
        return OK;
    enum status s = encode(j, err);
    dom_forget_tables(j);
    j->encoded = s == OK;
    return told(j->mem, s, err);
}

enum status join_open(struct mem *m, const struct cq *q, const struct store *st,
                      const struct join_options *opt, struct join **out,
                      struct err *err)
{
    struct arena arena;
    if (cq_check(q))
        return err_internal(err, cq_check(q));
    arena_init(&arena, m);
    struct join *j = NEW(&arena, struct join);
    if (!j)
        return err_nomem(err);
    j->mem = m;
    j->arena = arena;
    arena_init(&j->coding, m);
    pthread_mutex_init(&j->rooms_lock, NULL);
    j->q = q;
    j->st = st;
    if (opt)
        j->opt = *opt;
    if (!j->opt.threads)
        j->opt.threads = 1;
    j->near = NEAR_PAIRS;
    map_init(&j->memo, &j->arena);
    map_init(&j->factors, &j->arena);
    /* one atom may be scanned as it is (rel_scan.c) */
    enum status s = q->n_atoms == 1 ? OK : join_encode(j, err);
    if (s != OK) {
        join_close(j);
        return s;
    }
    *out = j;
    return OK;
}

void join_close(struct join *j)
{
    if (!j)
        return;
    rooms_free(j);
    blocks_free(j);
    struct arena arena = j->arena; /* holds j itself */
    arena.wipe = true;
    arena_fini(&arena);
}

uint64_t join_steps(const struct join *j)
{
    return j->steps;
}

void join_forget(struct join *j)
{
    map_init(&j->memo, &j->arena);
}

static vset vars_of(const struct join *j, aset f)
{
    vset s = 0;
    ASET_EACH (i, f)
        s |= j->atoms[i].set;
    return s;
}

/* Comparisons that no single atom of F has decided already. */
static enum status pick_cmps(struct join *j, struct request *r, struct arena *a,
                             struct err *err)
{
    struct jcmp *out = NEWS(a, struct jcmp, j->n_cmps);
    if (!out)
        return err_nomem(err);
    for (uint32_t i = 0; i < j->n_cmps; i++) {
        vset both = vset_one(j->cmps[i].l) | vset_one(j->cmps[i].r);
        bool decided = false;
        ASET_EACH (k, r->f)
            decided = decided || vset_sub(both, j->atoms[k].set);
        if (vset_sub(both, r->vars) && !decided)
            out[r->n_cmps++] = j->cmps[i];
    }
    r->cmps = out;
    return OK;
}

enum status join_pick(struct join *j, struct request *r, struct arena *a,
                      struct err *err)
{
    r->vars = vars_of(j, r->f) | r->outside;
    return pick_cmps(j, r, a, err);
}

/* With the comparisons that concern the request. */
static enum status run(struct join *j, struct request *r, struct arena *a,
                       u128 *out, struct err *err)
{
    TRY(pick_cmps(j, r, a, err));
    return solve_request(j, r, a, out, err);
}

struct memo_key {
    aset f;
    uint64_t exact;
    vset boundary, outs;
    uint8_t odd; /* graph keys are whole words: no mistaking them */
};
enum { MEMO_KEY = offsetof(struct memo_key, odd) + 1 };

bool memo_find(const struct join *j, struct str key, u128 *out)
{
    uint64_t *found = map_find(&j->memo, key);
    if (found)
        *out = *(u128 *)(uintptr_t)*found;
    return found != NULL;
}

enum status memo_put(struct join *j, struct str key, u128 v, struct err *err)
{
    struct str copy = {arena_strdup(&j->arena, key.p, key.n), key.n};
    u128 *answer = NEW(&j->arena, u128);
    if (!copy.p || !answer)
        return err_nomem(err);
    *answer = v;
    return map_put(&j->memo, copy, (uint64_t)(uintptr_t)answer, NULL)
               ? OK
               : err_nomem(err);
}

/* What the key of the memo asks, as a request: parts that share no variable are
 * solved apart (solve.c). */
static enum status solve(struct join *j, const struct memo_key *k, u128 *out,
                         struct err *err)
{
    TRY(join_encode(j, err));
    struct request r = {.f = k->f, .vars = vars_of(j, k->f), .scale = 1};
    struct arena a;
    enum status s = OK;
    r.boundary = k->boundary & r.vars;
    r.outs = k->outs & r.vars;
    arena_init(&a, j->mem);
    if (k->exact)
        s = exact_request(j, &r, &a, err);
    if (s == OK)
        s = r.outs & cq_weight_var(j->q)
                ? join_max_weighted(j, r.f, r.boundary, r.outs, out, err)
                : run(j, &r, &a, out, err);
    arena_fini(&a);
    return s;
}

/* From the memo, or by a scan where one atom is asked and nothing is encoded
 * yet, or by the engines; and into the memo. */
static enum status ask(struct join *j, const struct memo_key *k, u128 *out,
                       struct err *err)
{
    struct str key = {(const char *)k, MEMO_KEY};
    enum outcome what = PASS;
    if (memo_find(j, key, out))
        return OK;
    if (!j->encoded && k->f && !k->boundary && !k->exact)
        TRY(told(j->mem, rel_scan(j, k->outs, out, &what, err), err));
    j->scanned += what == SOLVED;
    if (what == PASS)
        TRY(told(j->mem, solve(j, k, out, err), err));
    return told(j->mem, memo_put(j, key, *out, err), err);
}

enum status join_max(struct join *j, aset f, vset boundary, vset outs,
                     u128 *out, struct err *err)
{
    struct memo_key k = {f, 0, boundary, outs, 0};
    return ask(j, &k, out, err);
}

enum status join_max_walked(struct join *j, aset f, vset boundary, vset outs,
                            u128 *out, struct err *err)
{
    TRY(join_encode(j, err));
    struct request r = {.f = f, .vars = vars_of(j, f), .scale = 1};
    struct arena a;
    r.boundary = boundary & r.vars;
    r.outs = outs & r.vars;
    arena_init(&a, j->mem);
    enum status s = pick_cmps(j, &r, &a, err);
    if (s == OK)
        s = walk_run(j, &r, out, err);
    arena_fini(&a);
    return s;
}

enum status join_max_wide(struct join *j, aset f, vset boundary, vset outs,
                          u128 *out, struct err *err)
{
    struct map memo = j->memo;
    map_init(&j->memo, &j->arena);
    j->only_wide = true;
    enum status s = join_max(j, f, boundary, outs, out, err);
    j->only_wide = false;
    j->memo = memo;
    return s;
}

enum status join_max_exact(struct join *j, aset f, vset boundary, vset outs,
                           u128 *out, struct err *err)
{
    struct memo_key k = {f, 1, boundary, outs, 0};
    *out = 1;
    if (outs & cq_weight_var(j->q))
        return err_internal(err, "exact filters and a weight");
    return f ? ask(j, &k, out, err) : OK;
}

enum status join_count(struct join *j, struct secret_count *out,
                       struct err *err)
{
    u128 n = 0;
    *out = secret_count_of(0);
    if (j->q->unsat)
        return OK;
    TRY(join_max(j, aset_first_n(j->q->n_atoms), 0, cq_free(j->q), &n, err));
    if (j->q->weight.on && !cq_weight_var(j->q))
        n = count_mul(n, cq_weight_most(j->q));
    *out = secret_count_of(n);
    return OK;
}

enum status join_list_boundary(struct join *j, vset boundary,
                               enum status (*each)(void *ctx,
                                                   const uint64_t *ids,
                                                   u128 count, struct err *err),
                               void *ctx, struct err *err)
{
    TRY(join_encode(j, err));
    struct request r = {.f = aset_first_n(j->q->n_atoms), .scale = 1};
    struct arena a;
    u128 most;
    r.vars = vars_of(j, r.f);
    r.boundary = boundary & r.vars;
    r.outs = cq_free(j->q);
    r.each = each;
    r.ctx = ctx;
    arena_init(&a, j->mem);
    enum status s = pick_cmps(j, &r, &a, err);
    if (s == OK)
        s = walk_run(j, &r, &most, err);
    arena_fini(&a);
    return s;
}

enum status join_max_frequency(struct join *j, uint32_t atom, vset vars,
                               u128 *out, struct err *err)
{
    TRY(join_encode(j, err));
    if (atom >= j->q->n_atoms)
        return err_internal(err, "join_max_frequency");
    if (j->q->weight.on)
        return err_internal(err, "join_max_frequency: a sum has none");
    return join_max(j, aset_one(atom), vars, j->atoms[atom].set, out, err);
}
