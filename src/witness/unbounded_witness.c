/*
 * The pump: copies of the query that share all that one row determines. If
 * an output is not determined, n copies have n answers that hang on that row,
 * for every n: no bound exists (PROOF.md, Claim 6).
 *
 * Values. Without comparisons every element gets a value of its own. Under
 * !=, < and <= the elements are put in an order that fits the comparisons,
 * those with a constant above them below all constants, the others above all
 * constants, copy after copy; this works for any n. An element between two
 * constants may have few values: then nothing is claimed. Neither is it with
 * predicates and computed columns.
 */
#include <inttypes.h>
#include <stdio.h>

#include "witness/lower.h"

enum { MAX_PUMP = 100000 };

/* --- where values go ------------------------------------------------------ */

struct pump_places {
    const struct tab *t;
    uint64_t n;      /* copies */
    uint32_t *depth; /* 0: in no < or <= */
    bool *low;       /* below a constant */
    int64_t lo, hi;  /* the smallest and the largest constant number */
    bool text_fits;  /* '!' < constants < '~' */
};

static bool is_const(const struct tab *t, uint32_t e)
{
    return t->flag[e] & EL_CONST;
}

/* Depths along the comparisons; false: an element between constants. */
static bool order_elements(struct pump_places *p, bool *high)
{
    const struct tab *t = p->t;
    bool changed = true;
    for (uint32_t round = 0; changed && round <= t->n_el; round++) {
        changed = false;
        for (uint32_t i = 0; i < t->n_cmps; i++) {
            uint32_t l = t->cmps[i].l, r = t->cmps[i].r;
            if (t->cmps[i].op == CMP_NE)
                continue;
            bool lo = is_const(t, r) || p->low[r];
            bool hi = is_const(t, l) || high[l];
            uint32_t dl = p->depth[l] ? p->depth[l] : 1;
            uint32_t dr = p->depth[r] > dl ? p->depth[r] : dl + 1;
            changed |= lo > p->low[l] || hi > high[r] || dl != p->depth[l] ||
                       dr != p->depth[r];
            p->low[l] |= lo;
            high[r] |= hi;
            p->depth[l] = dl;
            p->depth[r] = dr;
        }
    }
    for (uint32_t e = 0; e < t->n_el; e++)
        if (!is_const(t, e) && p->low[e] && high[e])
            return false;
    return !changed;
}

static void look_at_constants(struct pump_places *p)
{
    const struct cq *q = p->t->q;
    p->text_fits = true;
    for (uint32_t i = 0; i < q->n_consts; i++) {
        const struct value *v = &q->consts[i];
        if (v->type == T_TEXT)
            p->text_fits &= v->s.n > 0 && v->s.p[0] > '!' && v->s.p[0] < '~';
        else if (v->type != T_REAL && v->type != T_DEC && v->type != T_UUID) {
            p->lo = v->i < p->lo ? v->i : p->lo;
            p->hi = v->i > p->hi ? v->i : p->hi;
        }
    }
}

static enum status places_make(struct arena *a, const struct tab *t, uint64_t n,
                               struct pump_places *p, bool *ok, struct err *err)
{
    *p = (struct pump_places){.t = t, .n = n};
    p->depth = NEWS(a, uint32_t, t->n_el);
    p->low = NEWS(a, bool, t->n_el);
    bool *high = NEWS(a, bool, t->n_el);
    if (!p->depth || !p->low || !high)
        return err_nomem(err);
    look_at_constants(p);
    const int64_t far = (int64_t)1 << 60;
    *ok = t->q->n_preds == 0 && t->n_calcs == 0 && order_elements(p, high) &&
          p->lo > -far && p->hi < far;
    return OK;
}

/* The value of element e in copy c, for an element of a comparison. */
static enum status placed_value(struct witness_db *d,
                                const struct pump_places *p, enum type type,
                                uint32_t e, uint64_t c, uint32_t *out,
                                struct err *err)
{
    uint64_t band = (uint64_t)p->t->n_el * (p->n + 1);
    uint64_t at = p->depth[e] * band + e * (p->n + 1) + c;
    uint64_t top = (uint64_t)(p->t->n_el + 2) * band;
    struct value v = {.type = type};
    char buf[32];
    *out = NO_EL;
    if (type == T_TEXT || type == T_UNKNOWN) {
        int len = snprintf(buf, sizeof buf, "%c%012" PRIu64,
                           p->low[e] ? '!' : '~', at);
        v.type = T_TEXT;
        v.s = (struct str){arena_strdup(d->a, buf, (size_t)len), (size_t)len};
        if (!v.s.p)
            return err_nomem(err);
    } else {
        v.i = p->low[e] ? p->lo - (int64_t)(top - at) : p->hi + (int64_t)at;
    }
    bool known = v.type == T_TEXT
                     ? p->text_fits
                     : type == T_INT || type == T_DATE || type == T_TIMESTAMP;
    if (!known || witness_db_has(d, &v))
        return OK;
    if (!VEC_PUSH(d->a, &d->vals, v))
        return err_nomem(err);
    *out = (uint32_t)d->vals.n - 1;
    return OK;
}

/* --- the copies ----------------------------------------------------------- */

/* Does the pump at atom i of t certify that no bound exists? */
static enum status pumps(struct witness_search *l, const struct tab *t,
                         uint32_t i, bool *in, bool *yes, struct err *err)
{
    const struct tab *root = l->t;
    *yes = false;
    for (uint32_t e = 0; e < t->n_el; e++)
        in[e] = t->flag[e] & EL_CONST;
    for (uint32_t j = 0; j < t->atoms[i].n; j++)
        in[t->atoms[i].el[j]] = true;
    tab_close(t, U128_MAX, in);
    if (l->adm)
        witness_limited(l, t, in);
    bool all = true;
    for (uint32_t k = 0; k < t->n_outs; k++)
        all &= in[t->outs[k]];
    if (all)
        return OK;
    /* no answer may survive: no match of the query in t without the atom */
    uint32_t *map = NEWS(l->a, uint32_t, root->n_el);
    if (!map)
        return err_nomem(err);
    for (uint32_t e = 0; e < root->n_el; e++)
        map[e] = root->flag[e] & EL_CONST ? e : NO_EL;
    for (uint32_t k = 0; k < root->n_outs; k++)
        map[root->outs[k]] = t->outs[k];
    enum hom h;
    TRY(tab_hom(l->a, root, t, i, l->work, map, NULL, &h, err));
    *yes = h == HOM_NO;
    return OK;
}

static enum status copy_element(struct witness_search *l, struct witness_db *d,
                                const struct pump_places *p, uint64_t copy,
                                uint32_t e, uint32_t *to, struct err *err)
{
    if (*to != NO_EL)
        return OK;
    if (p->depth[e] > 0)
        return placed_value(d, p, l->kinds.of_el[e], e, copy, to, err);
    return witness_db_fresh(d, &l->kinds, e, to, err);
}

static enum status pump_db(struct witness_search *l, const struct tab *t,
                           uint32_t atom, const bool *in,
                           const struct pump_places *p, struct witness_db *d,
                           bool *ok, struct err *err)
{
    uint32_t *to = NEWS(l->a, uint32_t, t->n_el), row[1 + UINT8_MAX];
    *ok = to != NULL;
    if (!to)
        return err_nomem(err);
    for (uint32_t e = 0; e < t->n_el; e++)
        to[e] = t->flag[e] & EL_CONST ? e : NO_EL;
    for (uint64_t copy = 0; copy < p->n && *ok; copy++) {
        for (uint32_t e = 0; copy > 0 && e < t->n_el; e++)
            if (!in[e])
                to[e] = NO_EL;
        for (uint32_t i = 0; i < t->n_atoms && *ok; i++) {
            const struct tab_atom *at = &t->atoms[i];
            uint32_t r;
            *ok = at->n <= UINT8_MAX;
            for (uint32_t j = 0; *ok && j < at->n; j++) {
                TRY(copy_element(l, d, p, copy, at->el[j], &to[at->el[j]],
                                 err));
                row[j] = to[at->el[j]];
                *ok = row[j] != NO_EL;
            }
            if (*ok)
                TRY(witness_db_add(d, at->table, row, at->n, &r, err));
            if (*ok && i == atom)
                d->b = r;
        }
    }
    return OK;
}

static enum status pump_at(struct witness_search *l, const struct tab *t,
                           uint64_t n, bool *unbounded, struct err *err)
{
    bool *in = NEWS(l->a, bool, t->n_el), ok = false;
    struct pump_places p;
    if (!in)
        return err_nomem(err);
    TRY(places_make(l->a, t, n + l->more_copies, &p, &ok, err));
    for (uint32_t i = 0; i < t->n_atoms && ok && !*unbounded; i++) {
        struct witness_db d;
        bool yes = false;
        if (t->atoms[i].table != l->table)
            continue;
        TRY(pumps(l, t, i, in, &yes, err));
        if (!yes)
            continue;
        TRY(witness_db_init(l->a, l->t, &d, err));
        TRY(pump_db(l, t, i, in, &p, &d, &ok, err));
        if (ok)
            TRY(witness_offer(l, &d, err));
        *unbounded = ok && l->best >= n;
        ok = true;
    }
    return OK;
}

static bool is_database(const struct tab *t)
{
    uint32_t rows[MAX_ATOMS + 1], n;
    return !tab_violation(t, rows, MAX_ATOMS + 1, &n);
}

enum status witness_pump(struct witness_search *l, uint64_t n, bool *unbounded,
                         struct err *err)
{
    *unbounded = false;
    /* at least three, so that a column of two values cannot pretend */
    n = n < 3 ? 3 : n > MAX_PUMP ? MAX_PUMP : n;
    if (is_database(l->t))
        TRY(pump_at(l, l->t, n, unbounded, err));
    for (size_t i = 0; i < l->n_cases && !*unbounded; i++)
        if (is_database(l->cases[i]))
            TRY(pump_at(l, l->cases[i], n, unbounded, err));
    return OK;
}
