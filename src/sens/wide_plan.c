/*
 * Many private atoms (wide_plan.h).
 *
 * number(F) is T_F, asked for if F hangs together, 1 if its outputs are in its
 * boundary, else the product of the numbers of its parts. total(F, D) is the
 * sum of number(F - E) over E inside D, gain(F, D) the same without the empty
 * E. With e some atom of D
 *     gain(F, D) = gain(F, D - e) + total(F - e, those of D - e that go with e)
 * and total of a set that falls apart is a product. Equal ones are made once:
 * paths, stars and trees have few, although the sets E are 2^20.
 *
 * PRIVACY: atoms go with each other if they can be one row two by two; that is
 * no less than being one row together. All from the query, never from rows.
 */
#include "sens/wide_plan.h"

#include "base/map.h"
#include "bound/bound.h"
#include "logic/logic.h"
#include "num/rat.h"
#include "sens/sens.h"

enum { MOST_NODES = 1 << 16 };

enum node_tag { TAG_NUMBER, TAG_GAIN, TAG_PAIR };

struct node_key {
    uint64_t tag;
    uint64_t f, d;
};

struct wide_builder {
    struct arena *a;
    struct sens_plan *p;
    VEC(struct sens_coord) coords;
    VEC(uint32_t) asked; /* whose terms and rests are still to be made */
    aset goes_with[MAX_ATOMS];
    struct map seen;
    size_t n_asked;
    struct err *err;
};

static enum status too_wide(struct wide_builder *b)
{
    err_set(b->err, E_TOO_LARGE,
            "the query has %u atoms over private tables, and more than %d "
            "residuals that do not fall apart",
            b->p->n_priv, SENS_MAX_COORDS);
    err_hint(b->err, "Ask about fewer private tables at a time, or declare "
                     "lookup tables public.");
    return E_TOO_LARGE;
}

/* The index of a key in *out, or a place for it: *slot. */
static enum status find(struct wide_builder *b, enum node_tag tag, uint64_t f,
                        uint64_t d, uint64_t **slot)
{
    struct node_key *k = NEW(b->a, struct node_key);
    if (!k)
        return err_nomem(b->err);
    *k = (struct node_key){tag, f, d};
    bool is_new;
    *slot =
        map_put(&b->seen, (struct str){(const char *)k, sizeof *k}, 0, &is_new);
    return *slot ? OK : err_nomem(b->err);
}

/* Stored as index + 1, so that 0 is "not yet". */
static enum status add(struct wide_builder *b, enum node_tag tag, uint64_t f,
                       uint64_t d, const struct sens_coord *c, uint32_t *out)
{
    uint64_t *slot;
    TRY(find(b, tag, f, d, &slot));
    if (b->coords.n >= MOST_NODES)
        return too_wide(b);
    if (!VEC_PUSH(b->a, &b->coords, *c))
        return err_nomem(b->err);
    *out = (uint32_t)b->coords.n - 1;
    *slot = *out + 1;
    return OK;
}

static enum status pair(struct wide_builder *b, enum sens_kind kind, uint32_t x,
                        uint32_t y, uint32_t *out)
{
    uint64_t *slot, lo = x < y ? x : y, hi = x < y ? y : x;
    if (kind == COORD_PRODUCT && (x == 0 || y == 0)) {
        *out = x ? x : y; /* times T of no atoms */
        return OK;
    }
    TRY(find(b, TAG_PAIR, kind, lo << 32 | hi, &slot));
    if (*slot) {
        *out = (uint32_t)*slot - 1;
        return OK;
    }
    struct sens_coord c = {.kind = kind, .cap = U128_INF};
    c.splits = NEW(b->a, struct sens_split);
    if (!c.splits)
        return err_nomem(b->err);
    c.splits[0] = (struct sens_split){x, y};
    c.n_splits = 1;
    return add(b, TAG_PAIR, kind, lo << 32 | hi, &c, out);
}

static struct sens_coord set_of(const struct wide_builder *b, aset f)
{
    const struct sens_plan *p = b->p;
    struct sens_coord c = {.atoms = f, .cap = U128_INF};
    c.boundary = sens_boundary(p->q, f);
    c.outs = cq_free(p->q) & cq_vars_of(p->q, f);
    c.keeps_public = vset_sub(p->all & ~p->priv, f);
    c.kind = vset_sub(c.outs, c.boundary) ? COORD_ONE : COORD_ASKED;
    return c;
}

static size_t parts_of(const struct wide_builder *b, const struct sens_coord *c,
                       aset parts[MAX_ATOMS])
{
    return sens_parts(b->p->q, c->atoms, c->boundary, b->p->filters_exact,
                      parts);
}

/* A coordinate that the counter is asked for, with a cap where the query has
 * one. Too many are refused. */
static enum status ask(struct wide_builder *b, struct sens_coord *c,
                       uint32_t *out)
{
    if (c->kind == COORD_ASKED && ++b->n_asked > SENS_MAX_COORDS)
        return too_wide(b);
    if (c->kind == COORD_ASKED && sens_may_be_bounded(b->p->q, c->atoms))
        TRY(bound_outputs(b->a, b->p->q, c->atoms, c->boundary, c->outs,
                          &c->cap, b->err));
    TRY(add(b, TAG_NUMBER, c->atoms, 0, c, out));
    if (c->kind == COORD_ASKED && !VEC_PUSH(b->a, &b->asked, *out))
        return err_nomem(b->err);
    return OK;
}

static enum status number(struct wide_builder *b, aset f, uint32_t *out)
{
    uint64_t *slot;
    aset parts[MAX_ATOMS];
    TRY(find(b, TAG_NUMBER, f, 0, &slot));
    if (*slot) {
        *out = (uint32_t)*slot - 1;
        return OK;
    }
    struct sens_coord c = set_of(b, f);
    size_t n = c.kind == COORD_ONE ? 1 : parts_of(b, &c, parts);
    if (n < 2)
        return ask(b, &c, out);
    *out = 0;
    for (size_t i = n; i-- > 0;) {
        uint32_t one;
        TRY(number(b, parts[i], &one));
        TRY(pair(b, COORD_PRODUCT, one, *out, out));
    }
    TRY(find(b, TAG_NUMBER, f, 0, &slot));
    *slot = *out + 1;
    return OK;
}

/* 2^n: as many sets E, and 1 for each. */
static enum status ones(struct wide_builder *b, unsigned n, uint32_t *out)
{
    *out = 0;
    while (n-- > 0)
        TRY(pair(b, COORD_SUM, *out, *out, out));
    return OK;
}

static enum status gain(struct wide_builder *b, aset f, aset d, uint32_t *out);

static enum status total(struct wide_builder *b, aset f, aset d, uint32_t *out)
{
    aset parts[MAX_ATOMS];
    uint32_t x, y;
    d &= f;
    if (!d)
        return number(b, f, out);
    struct sens_coord c = set_of(b, f);
    if (c.kind == COORD_ONE)
        return ones(b, aset_count(d), out);
    size_t n = parts_of(b, &c, parts);
    if (n < 2) {
        TRY(number(b, f, &x));
        TRY(gain(b, f, d, &y));
        return pair(b, COORD_SUM, x, y, out);
    }
    *out = 0;
    for (size_t i = n; i-- > 0;) {
        TRY(total(b, parts[i], d, &x));
        TRY(pair(b, COORD_PRODUCT, x, *out, out));
    }
    return OK;
}

/* d is inside f and not empty. */
static enum status gain(struct wide_builder *b, aset f, aset d, uint32_t *out)
{
    uint64_t *slot;
    uint32_t with, rest;
    unsigned e = (unsigned)__builtin_ctzll(d);
    aset others = d & ~aset_one(e);
    TRY(find(b, TAG_GAIN, f, d, &slot));
    if (*slot) {
        *out = (uint32_t)*slot - 1;
        return OK;
    }
    TRY(total(b, f & ~aset_one(e), others & b->goes_with[e], &with));
    *out = with;
    if (others) {
        TRY(gain(b, f, others, &rest));
        TRY(pair(b, COORD_SUM, with, rest, out));
    }
    TRY(find(b, TAG_GAIN, f, d, &slot));
    *slot = *out + 1;
    return OK;
}

/* What a step adds to c, relation by relation, and number(F - e) for all e. */
static enum status terms_of(struct wide_builder *b, struct sens_coord *c)
{
    const struct sens_plan *p = b->p;
    aset priv = c->atoms & p->priv;
    c->terms = NEWS(b->a, struct sens_term, p->n_tables);
    c->rests = NEWS(b->a, uint32_t, aset_count(priv) + 1);
    if (!c->terms || !c->rests)
        return err_nomem(b->err);
    for (uint32_t i = 0; i < p->n_tables; i++) {
        aset d = cq_atoms_of_table(p->q, p->tables[i]) & priv;
        struct sens_term t = {.relation = i};
        if (!d)
            continue;
        TRY(gain(b, c->atoms, d, &t.from));
        c->terms[c->n_terms++] = t;
    }
    ASET_EACH (e, priv)
        TRY(number(b, c->atoms & ~aset_one(e), &c->rests[c->n_rests++]));
    return OK;
}

static void find_pairs(struct wide_builder *b)
{
    const struct sens_plan *p = b->p;
    ASET_EACH (i, p->priv) {
        aset d = cq_atoms_of_table(p->q, p->q->atoms[i].table) & p->priv;
        ASET_EACH (j, d)
            if (j == i || logic_unifiable(p->q, aset_one(i) | aset_one(j)))
                b->goes_with[i] |= aset_one(j);
    }
}

static enum status build(struct wide_builder *b)
{
    struct sens_plan *p = b->p;
    uint32_t nothing;
    struct sens_coord none = {.cap = 1, .kind = COORD_ONE};
    TRY(add(b, TAG_NUMBER, 0, 0, &none, &nothing));
    p->top = set_of(b, p->all);
    TRY(terms_of(b, &p->top));
    for (size_t i = 0; i < b->asked.n; i++) {
        struct sens_coord c = b->coords.p[b->asked.p[i]];
        TRY(terms_of(b, &c));
        b->coords.p[b->asked.p[i]] = c;
    }
    p->coords = b->coords.p;
    p->n_coords = b->coords.n;
    p->n_asked = b->n_asked;
    return OK;
}

enum status sens_wide_plan(struct arena *a, struct sens_plan *p,
                           struct err *err)
{
    struct wide_builder b = {.a = a, .p = p, .err = err};
    map_init(&b.seen, a);
    find_pairs(&b);
    p->wide = true;
    return build(&b);
}

/* --- the bound of the stop rule --------------------------------------------*/

/*
 * A_F(x) = sum over E inside the private atoms of F of x^|E| number(F - E). Its
 * derivative is the sum of A_{F-e}, that of a product is a product, and that of
 * ones (1 + x)^m: so the coefficients of rising sets follow from each other.
 */
struct power_sums {
    struct arena *a;
    const struct sens_plan *p;
    mpz_t **of; /* n_priv + 1 coefficients of a coordinate; NULL: not yet */
    mpz_t *t;
    struct err *err;
};

static mpz_t *zeros(struct power_sums *s)
{
    mpz_t *v = NEWS(s->a, mpz_t, s->p->n_priv + 1);
    for (unsigned i = 0; v && i <= s->p->n_priv; i++)
        mpz_init(v[i]);
    return v;
}

static enum status power_sum(struct power_sums *s, uint32_t c);

static enum status sum_of_rests(struct power_sums *s,
                                const struct sens_coord *c, mpz_t *out)
{
    for (size_t i = 0; i < c->n_rests; i++) {
        TRY(power_sum(s, c->rests[i]));
        for (unsigned j = 1; j <= s->p->n_priv; j++)
            mpz_add(out[j], out[j], s->of[c->rests[i]][j - 1]);
    }
    for (unsigned j = 2; j <= s->p->n_priv; j++)
        mpz_cdiv_q_ui(out[j], out[j], j);
    return OK;
}

static enum status product_of_sums(struct power_sums *s,
                                   const struct sens_coord *c, mpz_t *out)
{
    uint32_t x = c->splits[0].a, y = c->splits[0].b;
    TRY(power_sum(s, x));
    TRY(power_sum(s, y));
    for (unsigned i = 0; i <= s->p->n_priv; i++)
        for (unsigned j = 0; mpz_sgn(s->of[x][i]) && i + j <= s->p->n_priv; j++)
            mpz_addmul(out[i + j], s->of[x][i], s->of[y][j]);
    return OK;
}

static enum status power_sum(struct power_sums *s, uint32_t i)
{
    const struct sens_coord *c = &s->p->coords[i];
    if (s->of[i])
        return OK;
    mpz_t *v = zeros(s);
    if (!v)
        return err_nomem(s->err);
    s->of[i] = v;
    if (c->kind == COORD_PRODUCT)
        return product_of_sums(s, c, v);
    if (c->kind == COORD_SUM)
        return err_internal(s->err, "sens: a sum where a number was expected");
    if (c->kind == COORD_ONE) {
        unsigned m = aset_count(c->atoms & s->p->priv);
        for (unsigned j = 0; j <= m; j++)
            mpz_bin_uiui(v[j], m, j);
        return OK;
    }
    mpz_set(v[0], s->t[i]);
    return sum_of_rests(s, c, v);
}

enum status sens_wide_sums(struct arena *a, const struct sens_plan *p, mpz_t *t,
                           mpz_t *by_size, struct err *err)
{
    struct power_sums s = {.a = a, .p = p, .t = t, .err = err};
    s.of = NEWS(a, mpz_t *, p->n_coords);
    if (!s.of)
        return err_nomem(err);
    enum status st = sum_of_rests(&s, &p->top, by_size);
    for (size_t i = 0; i < p->n_coords; i++)
        for (unsigned j = 0; s.of[i] && j <= p->n_priv; j++)
            mpz_wipe_clear(s.of[i][j]);
    return st;
}
