/*
 * Truncated values at thresholds, remembered: loads of the entities, collapse,
 * and the solver that fits.
 *
 * One owner needs loads only: Q(D, t) = sum of min(load, t). Otherwise the
 * problem at t goes to the flow solver where it is a flow, which is exact,
 * else to the first-order solver. Which solver runs may depend on rows; what
 * may be relied on does not (pack_exact).
 */
#include "entity/pack.h"

#include <string.h>
#include "entity/collapse.h"

enum { REMEMBERED = 160 };

struct pack {
    struct mem *mem;
    struct arena arena;
    struct pack_input in;
    struct pack_options opt;
    u128 *load; /* of each entity, saturating */
    u128 total; /* of all weights, saturating */
    struct by_answer by;
    struct by_load order;
    uint64_t *sorted; /* one owner: loads, clipped to T_MAX + 1, rising */
    u128 *below;      /* entities + 1: sums of the first loads */
    unsigned known;
    uint64_t at[REMEMBERED];
    struct pack_interval value[REMEMBERED];
};

bool pack_exact(unsigned k, bool witnesses)
{
    return k == 1 || (k == 2 && !witnesses);
}

static u128 weight_of(const struct pack *p, size_t i)
{
    return p->in.weight ? p->in.weight[i] : 1;
}

static void sum_loads(struct pack *p)
{
    uint32_t id[PACK_OWNERS_MAX];
    for (size_t i = 0; i < p->in.n; i++) {
        unsigned n = pack_owners_of(&p->in, i, id);
        for (unsigned j = 0; j < n; j++)
            p->load[id[j]] = u128_add_inf(p->load[id[j]], weight_of(p, i));
        p->total = u128_add_inf(p->total, weight_of(p, i));
    }
}

/* The tuples by answers: counting sort. */
static bool sort_witnesses(struct pack *p)
{
    uint32_t n = p->in.answers;
    p->by.first = NEWS(&p->arena, uint32_t, (size_t)n + 2);
    p->by.tuple = NEWS(&p->arena, uint32_t, p->in.n);
    if (!p->by.first || !p->by.tuple)
        return false;
    uint32_t *at = p->by.first + 1;
    for (size_t i = 0; i < p->in.n; i++)
        at[p->in.answer[i] + 1]++;
    for (uint32_t a = 0; a < n; a++)
        at[a + 1] += at[a];
    for (size_t i = 0; i < p->in.n; i++)
        p->by.tuple[at[p->in.answer[i]]++] = (uint32_t)i;
    return true;
}

/* An entity's load is the number of answers it has a witness of. */
static bool sum_answers(struct pack *p)
{
    uint32_t id[PACK_OWNERS_MAX];
    struct arena_mark mark = arena_mark(&p->arena);
    uint32_t *seen = NEWS(&p->arena, uint32_t, p->in.entities);
    if (!seen)
        return false;
    for (uint32_t a = 0; a < p->in.answers; a++) {
        p->total += p->by.first[a] < p->by.first[a + 1];
        for (uint32_t i = p->by.first[a]; i < p->by.first[a + 1]; i++) {
            unsigned n = pack_owners_of(&p->in, p->by.tuple[i], id);
            for (unsigned j = 0; j < n; j++)
                if (seen[id[j]] != a + 1) {
                    seen[id[j]] = a + 1;
                    p->load[id[j]]++;
                }
        }
    }
    arena_release(&p->arena, mark);
    return true;
}

/* Radix sort by bytes, `other` being room for as many. */
static uint64_t *sort_u64(uint64_t *p, uint64_t *other, size_t n)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t at[257] = {0};
        for (size_t i = 0; i < n; i++)
            at[(p[i] >> shift & 255) + 1]++;
        for (unsigned b = 0; b < 256; b++)
            at[b + 1] += at[b];
        for (size_t i = 0; i < n; i++)
            other[at[p[i] >> shift & 255]++] = p[i];
        uint64_t *swap = p;
        p = other;
        other = swap;
    }
    return p;
}

static bool sort_loads(struct pack *p)
{
    size_t n = p->in.entities;
    uint64_t *v = NEWS(&p->arena, uint64_t, n);
    uint64_t *w = NEWS(&p->arena, uint64_t, n);
    p->below = NEWS(&p->arena, u128, n + 1);
    if (!v || !w || !p->below)
        return false;
    for (size_t i = 0; i < n; i++)
        v[i] = p->load[i] > PACK_T_MAX ? PACK_T_MAX + 1 : (uint64_t)p->load[i];
    p->sorted = sort_u64(v, w, n);
    for (size_t i = 0; i < n; i++)
        p->below[i + 1] = p->below[i] + p->sorted[i];
    return true;
}

/* What the tuple's largest owner has, in bits. */
static uint8_t bits_of(const struct pack *p, size_t i)
{
    u128 most = 0;
    for (unsigned j = 0; j < p->in.k; j++) {
        uint32_t u = p->in.ids[i * p->in.k + j];
        if (u != PACK_NONE && p->load[u] > most)
            most = p->load[u];
    }
    return (uint8_t)pack_bits(most);
}

/* The tuples by the bits of their largest load: counting sort. */
static bool sort_tuples(struct pack *p)
{
    struct by_load *o = &p->order;
    size_t at[130];
    uint32_t *tuple = NEWS(&p->arena, uint32_t, p->in.n + 1);
    struct arena_mark mark = arena_mark(&p->arena);
    uint8_t *bits = NEWS(&p->arena, uint8_t, p->in.n + 1);
    *o = (struct by_load){0};
    if (!tuple || !bits)
        return false;
    for (size_t i = 0; i < p->in.n; i++) {
        bits[i] = bits_of(p, i);
        o->n[bits[i]]++;
        o->rest[bits[i] + 1] =
            u128_add_inf(o->rest[bits[i] + 1], weight_of(p, i));
    }
    for (unsigned b = 129; b-- > 0;)
        o->n[b] += o->n[b + 1];
    for (unsigned b = 1; b < 130; b++)
        o->rest[b] = u128_add_inf(o->rest[b], o->rest[b - 1]);
    for (unsigned b = 0; b < 129; b++)
        at[b] = o->n[b + 1];
    for (size_t i = 0; i < p->in.n; i++)
        tuple[at[bits[i]]++] = (uint32_t)i;
    o->tuple = tuple;
    arena_release(&p->arena, mark);
    return true;
}

static bool prepare(struct pack *p)
{
    p->load = NEWS(&p->arena, u128, p->in.entities);
    if (!p->load)
        return false;
    if (p->in.answer)
        return sort_witnesses(p) && sum_answers(p) && sort_loads(p);
    sum_loads(p);
    return sort_loads(p) && (p->in.k == 1 || sort_tuples(p));
}

static bool sound(const struct pack_input *in)
{
    return in->k >= 1 && in->k <= PACK_OWNERS_MAX && in->n < UINT32_MAX &&
           in->entities < PACK_NONE && in->answers < UINT32_MAX - 1 &&
           (in->k > 1 || in->answer || in->floor == 0);
}

enum status pack_open(struct mem *m, const struct pack_input *in,
                      const struct pack_options *opt, struct pack **out,
                      struct err *err)
{
    *out = NULL;
    if (!sound(in))
        return err_internal(err, "pack_open");
    struct pack *p = mem_alloc(m, sizeof *p);
    if (!p)
        return err_nomem(err);
    p->mem = m;
    p->in = *in;
    if (opt)
        p->opt = *opt;
    arena_init(&p->arena, m);
    p->arena.wipe = true;
    if (!prepare(p)) {
        pack_close(p);
        return err_nomem(err);
    }
    *out = p;
    return OK;
}

void pack_close(struct pack *p)
{
    if (!p)
        return;
    struct mem *m = p->mem;
    arena_fini(&p->arena);
    mem_wipe(p, sizeof *p);
    mem_free(m, p, sizeof *p);
}

/* How many of the sorted loads are at most t. */
static size_t rank_of(const struct pack *p, uint64_t t)
{
    size_t lo = 0, hi = p->in.entities;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (p->sorted[mid] <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

uint64_t pack_exceeding(const struct pack *p, uint64_t t)
{
    return p->in.entities - rank_of(p, t);
}

uint64_t pack_entities(const struct pack *p)
{
    return pack_exceeding(p, 0);
}

u128 pack_largest(const struct pack *p)
{
    u128 most = 0;
    for (uint32_t u = 0; u < p->in.entities; u++)
        most = p->load[u] > most ? p->load[u] : most;
    return most;
}

u128 pack_load(const struct pack *p, uint32_t entity)
{
    return p->load[entity];
}

/* Whether what is listed holds all that t needs. */
static bool is_listed(const struct pack *p, uint64_t t)
{
    return !p->opt.core || t >= p->in.floor;
}

/* Claim 3; with witnesses only that an answer counts once. */
u128 pack_above_value(const struct pack *p, uint64_t t)
{
    if (p->total >> 92 || !is_listed(p, t))
        return U128_MAX;
    u128 over = 0;
    if (!p->in.answer)
        for (uint32_t u = 0; u < p->in.entities; u++)
            over += p->load[u] > t ? p->load[u] - t : 0;
    return (p->total << PACK_UNIT) - (over << PACK_UNIT) / p->in.k;
}

static enum status solve_packing(struct pack *p, const struct packing *lp,
                                 struct pack_interval *out, struct err *err)
{
    struct solver s = {p->mem, &p->opt, err};
    bool flow = lp->groups == lp->cols || p->in.k == 1;
    for (uint32_t c = 0; flow && c < lp->cols; c++)
        flow = lp->start[c + 1] - lp->start[c] <= 2;
    *out = (struct pack_interval){0, 0};
    if (lp->rows == 0)
        return OK;
    return flow ? packing_flow(lp, &s, out) : packing_climb(lp, &s, out);
}

static enum status solve(struct pack *p, uint64_t t, struct pack_interval *out,
                         struct err *err)
{
    struct packing lp;
    u128 base;
    struct arena_mark mark = arena_mark(&p->arena);
    enum status st = packing_collapse(&p->in, p->load, &p->by, &p->order, t,
                                      &p->arena, &lp, &base, err);
    if (st == OK)
        st = solve_packing(p, &lp, out, err);
    arena_release(&p->arena, mark);
    out->lo += base << PACK_UNIT;
    out->hi += base << PACK_UNIT;
    return st;
}

/* The loads of a core's entities, in the arena. */
static u128 *core_loads(struct pack *p, const struct pack_input *in)
{
    uint32_t id[PACK_OWNERS_MAX];
    u128 *load = NEWS(&p->arena, u128, (size_t)in->entities + 1);
    for (size_t i = 0; load && i < in->n; i++) {
        unsigned n = pack_owners_of(in, i, id);
        for (unsigned j = 0; j < n; j++)
            load[id[j]] = u128_add_inf(load[id[j]], in->weight[i]);
    }
    return load;
}

/* Q(D, t) by what is left of it: claim 13. */
static enum status solve_core(struct pack *p, const struct pack_core *c,
                              uint64_t t, struct pack_interval *out,
                              struct err *err)
{
    struct packing lp;
    u128 base = 0;
    struct arena_mark mark = arena_mark(&p->arena);
    u128 *load = core_loads(p, &c->in);
    enum status st = load ? packing_collapse(&c->in, load, &p->by, NULL, t,
                                             &p->arena, &lp, &base, err)
                          : err_nomem(err);
    if (st == OK)
        st = solve_packing(p, &lp, out, err);
    arena_release(&p->arena, mark);
    u128 more = (base + (u128)c->peeled * t) << PACK_UNIT;
    out->lo += more;
    out->hi += more;
    return st;
}

/* Does nobody exceed t? Then the total is at most 2^32 t. */
static bool nothing_cut(const struct pack *p, uint64_t t)
{
    return rank_of(p, t) == p->in.entities;
}

static void sum_one_owner(const struct pack *p, uint64_t t,
                          struct pack_interval *out)
{
    size_t light = rank_of(p, t);
    u128 sum = p->below[light] + (u128)t * (p->in.entities - light);
    out->lo = out->hi = sum << PACK_UNIT;
}

/* PRIVACY: below the floor a light entity might be heavy, so it is lowered
 * first. */
static enum status lower_floor(struct pack *p, uint64_t t, struct err *err)
{
    while (t < p->in.floor) {
        u128 before = p->in.floor;
        if (!p->opt.lower)
            return err_internal(err, "pack_value");
        arena_fini(&p->arena);
        p->in.entities = 0; /* nothing is left if this fails */
        TRY(p->opt.lower(p->opt.from, &p->in, err));
        if (!sound(&p->in) || p->in.floor >= before)
            return err_internal(err, "lower_floor");
        p->total = 0;
        if (!prepare(p))
            return err_nomem(err);
    }
    return OK;
}

bool pack_known(const struct pack *p, uint64_t t, struct pack_interval *out)
{
    for (unsigned i = 0; i < p->known; i++)
        if (p->at[i] == t) {
            *out = p->value[i];
            return true;
        }
    return false;
}

static void remember(struct pack *p, uint64_t t,
                     const struct pack_interval *value)
{
    if (p->known < REMEMBERED) {
        p->at[p->known] = t;
        p->value[p->known++] = *value;
    }
}

/* By the core, if there is one and it lists. */
static enum status value_of_core(struct pack *p, uint64_t t,
                                 struct pack_interval *out, bool *done,
                                 struct err *err)
{
    struct pack_core core = {0};
    if (p->opt.core)
        TRY(p->opt.core(p->opt.from, t, &core, err));
    *done = core.listed;
    if (core.listed) {
        TRY(solve_core(p, &core, t, out, err));
        remember(p, t, out);
    }
    return OK;
}

enum status pack_value(struct pack *p, uint64_t t, struct pack_interval *out,
                       struct err *err)
{
    bool done = pack_known(p, t, out);
    if (done)
        return OK;
    if (t == 0 || t > PACK_T_MAX)
        return err_internal(err, "pack_value");
    TRY(value_of_core(p, t, out, &done, err));
    if (done)
        return OK;
    TRY(lower_floor(p, t, err));
    if (p->in.k == 1 && !p->in.answer)
        sum_one_owner(p, t, out);
    else if (nothing_cut(p, t))
        out->lo = out->hi = p->total << PACK_UNIT;
    else
        TRY(solve(p, t, out, err));
    remember(p, t, out);
    return OK;
}

/* The same of a pack with a core. */
static enum status upper_of_core(struct pack *p, uint64_t t, u128 *out,
                                 struct err *err)
{
    struct pack_interval at;
    bool done = pack_known(p, t, &at);
    if (!done)
        TRY(value_of_core(p, t, &at, &done, err));
    *out = done ? at.hi : U128_INF;
    return OK;
}

enum status pack_upper(struct pack *p, uint64_t t, u128 *out, struct err *err)
{
    struct pack_interval at;
    if (p->opt.core)
        return upper_of_core(p, t, out, err);
    if (t >= p->in.floor || (p->in.k == 1 && !p->in.answer)) {
        TRY(pack_value(p, t, &at, err));
    } else if (nothing_cut(p, t)) {
        at.hi = p->total >> 92 ? U128_MAX : p->total << PACK_UNIT;
    } else {
        TRY(solve(p, t, &at, err));
    }
    *out = at.hi;
    return OK;
}

bool pack_listed(const struct pack *p, uint64_t t)
{
    return p->opt.core || t >= p->in.floor;
}
