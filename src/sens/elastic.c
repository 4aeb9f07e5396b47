/*
 * Elastic sensitivity (elastic.h) as a dynamic program over sets of atoms.
 *
 * For a set r of joined atoms there are: S(r), by how much one row changes
 * the join; mf(v, r), how often one value of v occurs in it; and the number of
 * its rows, written as column ANY. For single atoms S is 1 or 0 (private or
 * public) and mf is measured, plus k at distance k if private. Joining r1 and
 * r2 on one column a:
 *     S = mf(a,r1) S2 + mf(a,r2) S1 + S1 S2   if they share a private table,
 *         the larger of the first two          otherwise;
 *     mf(v, r1 r2) = mf(v, r1) mf(a, r2) for v in r1, and the other way round.
 * Further shared columns only filter. Every way to build r gives a valid
 * bound, so the smallest is taken for each number on its own.
 *
 * Cost for one k: 3^n joins up to BUSHY atoms, n 2^n (one atom joined at a
 * time) up to SENS_ALL_SETS, beyond that one order of the atoms.
 */
#include "sens/elastic.h"

#include <string.h>
#include "num/rat.h"
#include "sens/state.h"

enum { BUSHY = 6, ORDERS = 12 };

struct joined {
    aset atoms;
    uint64_t tables; /* private ones, by their place in e->tables */
    mpz_t s;
    mpz_t *mf; /* by join variable; the last is ANY */
};

struct sens_elastic {
    const struct cq *q;
    vset joins; /* variables in two atoms or more */
    unsigned n_mf;
    unsigned char slot[MAX_VARS]; /* of a join variable */
    u128 *measured;               /* [atom * n_mf + slot] */
    vset *vars;                   /* join variables of each atom */
    uint64_t *tables;             /* of each atom: one bit, 0 for public */
    struct joined *sets;          /* by set, or by prefix of the order */
    size_t n_sets;
    uint32_t *order; /* more than ORDERS atoms */
    struct joined scratch;
    mpz_t x;
};

static bool by_subset(const struct sens_elastic *e)
{
    return e->q->n_atoms <= ORDERS;
}

static bool joined_init(struct arena *a, struct joined *j, unsigned n_mf)
{
    j->mf = NEWS(a, mpz_t, n_mf);
    if (!j->mf)
        return false;
    mpz_init(j->s);
    for (unsigned i = 0; i < n_mf; i++)
        mpz_init(j->mf[i]);
    return true;
}

static void joined_fini(struct joined *j, unsigned n_mf)
{
    if (!j->mf)
        return;
    mpz_wipe_clear(j->s);
    for (unsigned i = 0; i < n_mf; i++)
        mpz_wipe_clear(j->mf[i]);
}

static vset vars_of(const struct sens_elastic *e, aset atoms)
{
    vset v = 0;
    ASET_EACH (i, atoms)
        v |= e->vars[i];
    return v;
}

static void load_atom(const struct sens_elastic *e, unsigned atom, uint64_t k,
                      struct joined *j)
{
    j->atoms = aset_one(atom);
    j->tables = e->tables[atom];
    mpz_set_ui(j->s, j->tables ? 1 : 0);
    for (unsigned i = 0; i < e->n_mf; i++) {
        mpz_set_u128(j->mf[i], e->measured[atom * e->n_mf + i]);
        if (j->tables)
            mpz_add_ui(j->mf[i], j->mf[i], k);
    }
}

/* S and mf of x joined with y on slot `on`. */
static void join_on(struct sens_elastic *e, const struct joined *x,
                    const struct joined *y, unsigned on, struct joined *out)
{
    mpz_mul(out->s, x->mf[on], y->s);
    mpz_mul(e->x, y->mf[on], x->s);
    if (x->tables & y->tables) {
        mpz_add(out->s, out->s, e->x);
        mpz_addmul(out->s, x->s, y->s);
    } else if (mpz_cmp(e->x, out->s) > 0) {
        mpz_set(out->s, e->x);
    }
    vset vx = vars_of(e, x->atoms), vy = vars_of(e, y->atoms);
    VSET_EACH (v, vx | vy) {
        unsigned i = e->slot[v];
        mpz_mul(out->mf[i], vset_has(vx, v) ? x->mf[i] : y->mf[i],
                vset_has(vx, v) ? y->mf[on] : x->mf[on]);
        if (!vset_has(vx & vy, v))
            continue;
        mpz_mul(e->x, y->mf[i], x->mf[on]);
        if (mpz_cmp(e->x, out->mf[i]) < 0)
            mpz_set(out->mf[i], e->x);
    }
    unsigned any = e->n_mf - 1;
    mpz_mul(out->mf[any], x->mf[any], y->mf[on]);
    mpz_mul(e->x, y->mf[any], x->mf[on]);
    if (mpz_cmp(e->x, out->mf[any]) < 0)
        mpz_set(out->mf[any], e->x);
}

static void keep_smaller(mpz_t into, mpz_srcptr v, bool first)
{
    if (first || mpz_cmp(v, into) < 0)
        mpz_set(into, v);
}

/* Lowers `into` to what joining x and y gives, on any column. */
static void join_into(struct sens_elastic *e, const struct joined *x,
                      const struct joined *y, struct joined *into, bool *first)
{
    vset shared = vars_of(e, x->atoms) & vars_of(e, y->atoms);
    into->atoms = x->atoms | y->atoms;
    into->tables = x->tables | y->tables;
    vset all = vars_of(e, into->atoms);
    do {
        unsigned on = shared ? e->slot[vset_min(shared)] : e->n_mf - 1;
        join_on(e, x, y, on, &e->scratch);
        keep_smaller(into->s, e->scratch.s, *first);
        VSET_EACH (v, all)
            keep_smaller(into->mf[e->slot[v]], e->scratch.mf[e->slot[v]],
                         *first);
        keep_smaller(into->mf[e->n_mf - 1], e->scratch.mf[e->n_mf - 1], *first);
        *first = false;
        shared &= shared - 1;
    } while (shared);
}

static void fill_set(struct sens_elastic *e, aset f)
{
    bool first = true, bushy = e->q->n_atoms <= BUSHY;
    aset low = f & (~f + 1);
    for (aset x = (f - 1) & f; x; x = (x - 1) & f) {
        if (bushy ? !(x & low) : aset_count(f & ~x) != 1)
            continue;
        join_into(e, &e->sets[x], &e->sets[f & ~x], &e->sets[f], &first);
    }
}

void sens_elastic_at(struct sens_elastic *e, uint64_t k, mpz_t out)
{
    uint32_t n = e->q->n_atoms;
    if (by_subset(e)) {
        for (aset f = 1; f <= aset_first_n(n); f++)
            if (aset_count(f) == 1)
                load_atom(e, (unsigned)__builtin_ctzll(f), k, &e->sets[f]);
            else
                fill_set(e, f);
        mpz_set(out, e->sets[aset_first_n(n)].s);
        return;
    }
    struct joined *acc = &e->sets[0], *next = &e->sets[1];
    load_atom(e, e->order[0], k, acc);
    for (uint32_t i = 1; i < n; i++) {
        bool first = true;
        load_atom(e, e->order[i], k, &e->sets[2]);
        join_into(e, acc, &e->sets[2], next, &first);
        struct joined *t = acc;
        acc = next;
        next = t;
    }
    mpz_set(out, acc->s);
}

/* Each atom joined to what came before where possible. */
static void choose_order(struct sens_elastic *e)
{
    uint32_t n = e->q->n_atoms;
    aset left = aset_first_n(n);
    vset seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        unsigned pick = (unsigned)__builtin_ctzll(left);
        ASET_EACH (x, left)
            if (e->vars[x] & seen) {
                pick = x;
                break;
            }
        e->order[i] = pick;
        seen |= e->vars[pick];
        left &= ~aset_one(pick);
    }
}

/* Tells the counter all degrees that will be asked, so that a database can
 * answer them in one statement. */
static enum status prepare(struct arena *a, const struct sens_elastic *e,
                           const struct sens_counter *counter, struct err *err)
{
    size_t n = 0;
    if (!counter->prepare)
        return OK;
    struct pushdown_ask *asks =
        NEWS(a, struct pushdown_ask, (size_t)e->q->n_atoms * e->n_mf + 1);
    if (!asks)
        return err_nomem(err);
    for (unsigned i = 0; i < e->q->n_atoms; i++) {
        struct pushdown_ask ask = {aset_one(i), 0, atom_vars(e->q, i), false};
        VSET_EACH (v, e->vars[i]) {
            ask.boundary = vset_one(v);
            asks[n++] = ask;
        }
        ask.boundary = 0;
        asks[n++] = ask;
    }
    return counter->prepare(counter->ctx, asks, n, err);
}

static enum status measure(struct sens_elastic *e,
                           const struct sens_counter *counter, struct err *err)
{
    for (unsigned i = 0; i < e->q->n_atoms; i++) {
        aset f = aset_one(i);
        vset all = atom_vars(e->q, i);
        u128 *to = &e->measured[i * e->n_mf];
        VSET_EACH (v, e->vars[i])
            TRY(counter->max(counter->ctx, f, vset_one(v), all, &to[e->slot[v]],
                             err));
        TRY(counter->max(counter->ctx, f, 0, all, &to[e->n_mf - 1], err));
    }
    return OK;
}

static void find_joins(struct sens_elastic *e)
{
    const struct cq *q = e->q;
    vset once = 0;
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        vset v = atom_vars(q, i);
        e->joins |= once & v;
        once |= v;
    }
    VSET_EACH (v, e->joins)
        e->slot[v] = (unsigned char)e->n_mf++;
    e->n_mf++;
    aset priv = cq_private_atoms(q);
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        aset same = cq_atoms_of_table(q, q->atoms[i].table);
        e->vars[i] = atom_vars(q, i) & e->joins;
        e->tables[i] = aset_has(priv, i) ? same & (~same + 1) : 0;
    }
}

enum status sens_elastic_new(struct arena *a, const struct cq *q,
                             const struct sens_counter *counter,
                             struct sens_elastic **out, struct err *err)
{
    struct sens_elastic *e = NEW(a, struct sens_elastic);
    uint32_t n = q->n_atoms;
    *out = NULL;
    if (!e || !(e->vars = NEWS(a, vset, n)) ||
        !(e->tables = NEWS(a, uint64_t, n)) ||
        !(e->order = NEWS(a, uint32_t, n)))
        return err_nomem(err);
    e->q = q;
    find_joins(e);
    choose_order(e);
    size_t n_sets = by_subset(e) ? (size_t)1 << n : 3;
    e->measured = NEWS(a, u128, n * e->n_mf);
    e->sets = NEWS(a, struct joined, n_sets);
    if (!e->measured || !e->sets)
        return err_nomem(err);
    TRY(prepare(a, e, counter, err));
    TRY(measure(e, counter, err));
    e->n_sets = n_sets;
    bool ok = joined_init(a, &e->scratch, e->n_mf);
    for (size_t i = 0; ok && i < n_sets; i++)
        ok = joined_init(a, &e->sets[i], e->n_mf);
    mpz_init(e->x);
    *out = e;
    if (ok)
        return OK;
    sens_elastic_fini(e);
    *out = NULL;
    return err_nomem(err);
}

void sens_elastic_fini(struct sens_elastic *e)
{
    if (!e)
        return;
    joined_fini(&e->scratch, e->n_mf);
    for (size_t i = 0; i < e->n_sets; i++)
        joined_fini(&e->sets[i], e->n_mf);
    mpz_wipe_clear(e->x);
}

struct elastic_sequence {
    struct sens_elastic *e;
    uint32_t order;
    mpz_t part;
};

static void elastic_value(void *ctx, uint64_t k, mpz_t out)
{
    struct elastic_sequence *s = ctx;
    mpz_set_ui(out, 0);
    for (uint32_t t = 0; t < s->order; t++) {
        sens_elastic_at(s->e, k * s->order + t, s->part);
        mpz_add(out, out, s->part);
    }
}

enum status sens_elastic_peak(struct arena *a, struct sens_elastic *e,
                              mpq_srcptr beta, uint32_t order,
                              struct sens_peak *out, struct err *err)
{
    /* At each k a smallest of polynomials with coefficients >= 0 in k, of
     * degree below the number of atoms. */
    uint64_t from;
    unsigned long degree = e->q->n_atoms ? e->q->n_atoms - 1 : 0;
    TRY(sens_falls_from(beta, degree * order, 1, &from, err));
    struct elastic_sequence s = {.e = e, .order = order};
    struct sens_sequence seq = {.ctx = &s,
                                .value = elastic_value,
                                .from = (from + order - 1) / order,
                                .zero_after = UINT64_MAX};
    mpz_init(s.part);
    mpz_init_set_si(seq.limit, -1);
    enum status st = sens_scan(a, beta, &seq, out, err);
    mpz_wipe_clear(s.part);
    mpz_clear(seq.limit);
    return st;
}
