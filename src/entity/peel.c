/*
 * Peeling: see peel.h.
 *
 * A guess, then a check. P starts from what the last threshold peeled. Entities
 * that have more than t in what P leaves (`open`) join P if they have t in
 * results of theirs alone, without P and without others that are open; until
 * nobody does. The check is that nobody outside exceeds t when P's own results
 * are used, each entity's as much as it needs; who would, is kept open.
 *
 * Cost: a few passes over the rows for a threshold; then the sets of open
 * entities that results have.
 */
#include "entity/peel.h"

#include "base/vec.h"
#include "entity/fill.h"
#include <string.h>

enum { ROUNDS = 24, COVERS = 10, PART = 32, MOST_SETS = 1 << 20, NARROW = 8 };

struct peel {
    struct mem *mem;
    struct arena arena, rest; /* rest: of the tuples at hand */
    struct join_census *census;
    uint32_t entities;
    unsigned k;
    const u128 *has;
    uint8_t *never; /* has at most `narrow`: not told apart */
    u128 narrow;
    u128 *left;  /* what they have when P is gone */
    u128 *alone; /* what they have without P, and without others open */
    u128 *near;  /* what P's own results bring them, in units of 2^-PART */
    uint64_t *part;
    uint8_t *mark, *peeled, *open;
    uint32_t *number; /* of open entities among them */
    u128 total;       /* of results when P is gone */
    u128 base;        /* of these, without open entities */
    bool current;     /* left and total are those of P */
    u128 whole, most; /* of all results; the largest has */
    uint32_t n_peeled, n_open;
    uint64_t t;
    VEC(uint32_t) ids;
    VEC(u128) weight;
};

enum status peel_open(struct mem *m, struct join_census *census,
                      uint32_t entities, unsigned k, const u128 *has,
                      u128 whole, struct peel **out, struct err *err)
{
    struct peel *p = *out = mem_alloc(m, sizeof *p);
    size_t n = (size_t)entities + 1;
    if (!p)
        return err_nomem(err);
    p->mem = m;
    p->census = census;
    p->entities = entities;
    p->k = k;
    p->has = has;
    p->narrow = U128_MAX;
    p->whole = whole;
    for (uint32_t u = 0; u < entities; u++)
        p->most = has[u] > p->most ? has[u] : p->most;
    arena_init(&p->arena, m);
    arena_init(&p->rest, m);
    p->arena.wipe = p->rest.wipe = true;
    p->left = NEWS(&p->arena, u128, n);
    p->alone = NEWS(&p->arena, u128, n);
    p->near = NEWS(&p->arena, u128, n);
    p->part = NEWS(&p->arena, uint64_t, n);
    p->mark = NEWS(&p->arena, uint8_t, n);
    p->never = NEWS(&p->arena, uint8_t, n);
    p->peeled = NEWS(&p->arena, uint8_t, n);
    p->open = NEWS(&p->arena, uint8_t, n);
    p->number = NEWS(&p->arena, uint32_t, n);
    return p->left && p->alone && p->near && p->part && p->mark && p->never &&
                   p->peeled && p->open && p->number
               ? OK
               : err_nomem(err);
}

void peel_close(struct peel *p)
{
    if (!p)
        return;
    struct mem *m = p->mem;
    arena_fini(&p->rest);
    arena_fini(&p->arena);
    mem_free(m, p, sizeof *p);
}

/* --- passes --------------------------------------------------------------- */

static void set_marks(struct peel *p, uint8_t peeled, uint8_t open)
{
    for (uint32_t u = 0; u < p->entities; u++)
        p->mark[u] = p->peeled[u] ? peeled : p->open[u] ? open : CENSUS_FREE;
}

/* What is left without P. */
static enum status take_away(struct peel *p, struct err *err)
{
    struct census_counts n = {.free = p->left};
    if (p->current)
        return OK;
    set_marks(p, CENSUS_OUT, CENSUS_FREE);
    TRY(join_census_count(p->census, p->mark, &n, err));
    p->total = n.total;
    p->current = true;
    return OK;
}

static enum status count_alone(struct peel *p, struct err *err)
{
    struct census_counts n = {.alone = p->alone};
    set_marks(p, CENSUS_MARKED, CENSUS_MARKED);
    TRY(join_census_count(p->census, p->mark, &n, err));
    return OK;
}

/* PRIVACY: rounded up. */
static enum status spread(struct peel *p, struct err *err)
{
    for (uint32_t u = 0; u < p->entities; u++) {
        u128 need = (u128)p->t << PART;
        p->part[u] = 0;
        if (p->peeled[u])
            p->part[u] = (uint64_t)((need + (p->alone[u] - 1)) / p->alone[u]);
    }
    set_marks(p, CENSUS_MARKED, CENSUS_OUT);
    return join_census_near(p->census, p->mark, p->part, p->near, err);
}

/* --- the guess and its check ---------------------------------------------- */

/* Who has more than t now, or has to stay open: what was open for good is so
 * until the next threshold, so that the rounds end. */
static void find_open(struct peel *p, const uint8_t *stay)
{
    p->n_open = p->n_peeled = 0;
    for (uint32_t u = 0; u < p->entities; u++) {
        p->open[u] = !p->peeled[u] && (stay[u] || p->left[u] > p->t);
        p->n_open += p->open[u];
        p->n_peeled += p->peeled[u];
    }
}

static void set_peeled(struct peel *p, uint32_t u, uint8_t peeled)
{
    p->peeled[u] = peeled;
    p->current = false;
}

/* Open entities that reach t join P; if there is none, those of P that do not
 * are open for good. Did any move? */
static bool move(struct peel *p, uint8_t *stay)
{
    bool moved = false;
    for (uint32_t u = 0; u < p->entities; u++)
        if (p->open[u] && !stay[u] && p->alone[u] >= p->t) {
            set_peeled(p, u, 1);
            moved = true;
        }
    for (uint32_t u = 0; !moved && u < p->entities; u++)
        if (p->peeled[u] && p->alone[u] < p->t) {
            set_peeled(p, u, 0);
            stay[u] = 1;
        }
    return !p->current;
}

/* Who has more than `least` joins P, unseen. */
static void add_large(struct peel *p, u128 least)
{
    for (uint32_t u = 0; u < p->entities; u++)
        if (!p->peeled[u] && p->left[u] > least)
            set_peeled(p, u, 1);
}

/* A first P: those who have far more than t, the largest first. */
static enum status begin(struct peel *p, struct err *err)
{
    for (int round = 0; round < ROUNDS; round++) {
        u128 most = 0;
        TRY(take_away(p, err));
        for (uint32_t u = 0; u < p->entities; u++)
            if (!p->peeled[u] && p->left[u] > most)
                most = p->left[u];
        if (most <= 2 * (u128)p->t)
            return OK;
        add_large(p, most / 4 > 2 * (u128)p->t ? most / 4 : 2 * (u128)p->t);
    }
    return OK;
}

/* Who would exceed t by what P's own results bring stays open; is there any? */
static bool keep_open(struct peel *p, uint8_t *stay)
{
    bool any = false;
    for (uint32_t u = 0; u < p->entities; u++) {
        if (p->peeled[u] || p->open[u] || !p->near[u])
            continue;
        bool over = (p->left[u] << PART) + p->near[u] > (u128)p->t << PART;
        stay[u] = stay[u] || over;
        any = any || over;
    }
    return any;
}

/* P, and who is open then; false in *found: not within the rounds. */
static enum status guess(struct peel *p, uint8_t *stay, bool *found,
                         struct err *err)
{
    *found = false;
    TRY(begin(p, err));
    for (int round = 0; round < ROUNDS; round++) {
        TRY(take_away(p, err));
        find_open(p, stay);
        *found = !p->n_open && !p->n_peeled;
        if (*found)
            return OK;
        TRY(count_alone(p, err));
        if (move(p, stay))
            continue;
        *found = true;
        if (!p->n_peeled)
            return OK;
        TRY(spread(p, err));
        *found = !keep_open(p, stay);
        if (*found)
            return OK;
    }
    return OK;
}

/* --- the rest ------------------------------------------------------------- */

static enum status add_set(void *ctx, const uint32_t *ids, uint32_t n,
                           u128 count, struct err *err)
{
    struct peel *p = ctx;
    if (n > p->k)
        return err_internal(err, "peel: more owners than variables");
    if (!n)
        p->base = count;
    for (unsigned i = 0; i < p->k; i++)
        if (!VEC_PUSH(&p->rest, &p->ids, i < n ? p->number[ids[i]] : PACK_NONE))
            return err_nomem(err);
    return VEC_PUSH(&p->rest, &p->weight, count) ? OK : err_nomem(err);
}

static void forget(struct peel *p)
{
    arena_fini(&p->rest);
    arena_init(&p->rest, p->mem);
    p->rest.wipe = true;
    memset(&p->ids, 0, sizeof p->ids);
    memset(&p->weight, 0, sizeof p->weight);
}

static enum status list_open(struct peel *p, struct pack_core *out,
                             struct err *err)
{
    uint32_t n = 0;
    for (uint32_t u = 0; u < p->entities; u++)
        if (p->open[u])
            p->number[u] = n++;
    set_marks(p, CENSUS_OUT, CENSUS_MARKED);
    TRY(join_census_list(p->census, p->mark, MOST_SETS, add_set, p,
                         &out->listed, err));
    out->in = (struct pack_input){.k = p->k,
                                  .entities = n,
                                  .n = p->weight.n,
                                  .ids = p->ids.p,
                                  .weight = p->weight.p};
    return OK;
}

/* Whoever has little now need not be told apart any more: for thresholds from t
 * on, and for some below. */
static enum status narrow(struct peel *p, uint64_t t, struct err *err)
{
    if (p->narrow <= t)
        return OK;
    p->narrow = t / NARROW;
    p->current = false;
    for (uint32_t u = 0; u < p->entities; u++)
        p->never[u] = p->has[u] <= p->narrow;
    return join_census_narrow(p->census, p->never, err);
}

/* One tuple without owner. */
static enum status all_of(struct peel *p, u128 count, struct pack_core *out,
                          struct err *err)
{
    TRY(add_set(p, NULL, 0, count, err));
    out->listed = true;
    out->in = (struct pack_input){
        .k = p->k, .n = 1, .ids = p->ids.p, .weight = p->weight.p};
    return OK;
}

/* Who does not reach t by results of its own leaves P; did anybody? */
static enum status thin_out(struct peel *p, uint64_t t, bool *any,
                            struct err *err)
{
    *any = false;
    memset(p->open, 0, p->entities);
    TRY(count_alone(p, err));
    for (uint32_t u = 0; u < p->entities; u++)
        if (p->peeled[u] && p->alone[u] < t) {
            set_peeled(p, u, 0);
            *any = true;
        }
    return OK;
}

/* At least Q(D, t), by any P: who has more than t without it joins, the largest
 * first, and who turns out not to be needed leaves. */
static enum status bound_above(struct peel *p, uint64_t t, u128 *out,
                               struct err *err)
{
    bool moved = true;
    *out = p->whole;
    for (int round = 0; moved && round < COVERS; round++) {
        u128 n = 0, most = 0;
        TRY(take_away(p, err));
        for (uint32_t u = 0; u < p->entities; u++) {
            n += p->peeled[u];
            most = !p->peeled[u] && p->left[u] > most ? p->left[u] : most;
        }
        u128 above = u128_add_inf(p->total, u128_mul_inf(n, t));
        *out = above < *out ? above : *out;
        if (most > t)
            add_large(p, most / 4 > t ? most / 4 : t);
        else
            TRY(thin_out(p, t, &moved, err));
    }
    return OK;
}

enum status peel_at(struct peel *p, uint64_t t, struct pack_core *out,
                    struct err *err)
{
    bool found;
    *out = (struct pack_core){0};
    forget(p);
    if (p->most <= t)
        return all_of(p, p->whole, out, err);
    uint8_t *stay = NEWS(&p->rest, uint8_t, (size_t)p->entities + 1);
    uint8_t *before = NEWS(&p->rest, uint8_t, (size_t)p->entities + 1);
    if (!stay || !before)
        return err_nomem(err);
    memcpy(before, p->peeled, p->entities);
    p->t = t;
    TRY(narrow(p, t, err));
    TRY(guess(p, stay, &found, err));
    out->peeled = p->n_peeled;
    if (found && !p->n_open)
        return all_of(p, p->total, out, err);
    if (found)
        TRY(list_open(p, out, err));
    if (out->listed)
        return OK;
    memcpy(p->peeled, before, p->entities);
    p->current = false;
    return OK;
}

enum status peel_bounds(struct peel *p, uint64_t t, u128 *lo, u128 *hi,
                        struct err *err)
{
    forget(p);
    uint8_t *before = NEWS(&p->rest, uint8_t, (size_t)p->entities + 1);
    if (!before)
        return err_nomem(err);
    memcpy(before, p->peeled, p->entities);
    TRY(narrow(p, t, err));
    TRY(bound_above(p, t, hi, err));
    memcpy(p->peeled, before, p->entities);
    p->current = false;
    return peel_fill(p->mem, p->census, p->entities, p->k, p->has, t, lo, err);
}
