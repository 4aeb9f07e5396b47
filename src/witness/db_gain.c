/*
 * What a database gains by its row b: the answers all of whose matches use
 * b. Matches that send an atom to b are enumerated, up to one for each
 * answer; each answer is then tried without b.
 */
#include "base/map.h"
#include "witness/lower.h"

struct matcher {
    struct arena *a;
    const struct witness_db *d;
    const struct tab *phi;
    struct work *work;
    uint32_t *map, *trail;
    uint32_t order[MAX_ATOMS];
    uint32_t depth_all; /* after so many atoms all outputs are known */
    uint32_t banned;    /* row not to be used, NO_ATOM: none */
    bool collect;       /* note answers; else stop at the first match */
    struct map answers;
    VEC(const uint32_t *) list;
    enum status st;
    struct err *err;
};

static bool cmp_passes(const struct matcher *m, const struct tab_cmp *c)
{
    uint32_t l = m->map[c->l], r = m->map[c->r];
    if (l == NO_EL || r == NO_EL)
        return true;
    const struct value *x = &m->d->vals.p[l], *y = &m->d->vals.p[r];
    if (!type_comparable(x->type, y->type))
        return false;
    int o = value_cmp(x, y);
    return c->op == CMP_NE ? o != 0 : c->op == CMP_LT ? o < 0 : o <= 0;
}

static bool cmps_pass(const struct matcher *m)
{
    for (uint32_t i = 0; i < m->phi->n_cmps; i++)
        if (!cmp_passes(m, &m->phi->cmps[i]))
            return false;
    return true;
}

static bool preds_pass(struct matcher *m)
{
    const struct cq *q = m->phi->q;
    if (q->n_preds == 0)
        return true;
    struct value *vals = NEWS(m->a, struct value, q->n_vars);
    if (!vals) {
        m->st = err_nomem(m->err);
        return false;
    }
    for (uint32_t v = 0; v < q->n_vars; v++) {
        uint32_t e = m->map[tab_find(m->phi, q->n_consts + v)];
        vals[v] = e == NO_EL ? value_null() : m->d->vals.p[e];
    }
    for (uint32_t i = 0; i < q->n_preds && m->st == OK; i++) {
        struct value r;
        m->st = expr_eval(m->a, q->preds[i].e, vals, &r, m->err);
        if (m->st == OK && (r.is_null || r.i == 0))
            return false;
    }
    return m->st == OK;
}

static struct str answer_key(struct matcher *m)
{
    uint32_t n = m->phi->n_outs;
    uint32_t *key = NEWS(m->a, uint32_t, n + 1);
    if (!key) {
        m->st = err_nomem(m->err);
        return STR("");
    }
    for (uint32_t i = 0; i < n; i++)
        key[i] = m->map[m->phi->outs[i]];
    return (struct str){(const char *)key, n * sizeof *key};
}

static void note(struct matcher *m)
{
    bool is_new;
    struct str key = answer_key(m);
    uint64_t price = m->phi->n_outs;
    m->work->left -= m->work->left < price ? m->work->left : price;
    if (m->st != OK)
        return;
    if (!map_put(&m->answers, key, 1, &is_new) ||
        (is_new && !VEC_PUSH(m->a, &m->list, (const uint32_t *)(void *)key.p)))
        m->st = err_nomem(m->err);
}

static uint32_t bind(struct matcher *m, const struct tab_atom *at,
                     const struct tab_atom *row, uint32_t top, bool *fits)
{
    *fits = at->table == row->table;
    for (uint32_t j = 0; *fits && j < at->n; j++) {
        uint32_t e = at->el[j];
        if (m->map[e] == NO_EL) {
            m->map[e] = row->el[j];
            m->trail[top++] = e;
        } else {
            *fits = m->map[e] == row->el[j];
        }
    }
    return top;
}

/* True: found, and no other match is of interest here. */
static bool extend(struct matcher *m, uint32_t depth, uint32_t top)
{
    bool known = !m->collect || depth >= m->depth_all;
    if (depth == m->phi->n_atoms) {
        if (!preds_pass(m))
            return false;
        if (m->collect)
            note(m);
        return known;
    }
    if (m->collect && depth == m->depth_all &&
        map_find(&m->answers, answer_key(m)))
        return true;
    const struct tab_atom *at = &m->phi->atoms[m->order[depth]];
    for (uint32_t r = 0; r < m->d->rows.n && m->st == OK; r++) {
        bool fits;
        if (r == m->banned || m->d->rows.p[r].table != at->table)
            continue;
        if (m->work->left == 0)
            return true;
        m->work->left--;
        uint32_t up = bind(m, at, &m->d->rows.p[r], top, &fits);
        bool done = fits && cmps_pass(m) && extend(m, depth + 1, up);
        while (up > top)
            m->map[m->trail[--up]] = NO_EL;
        if (done && known)
            return true;
    }
    return false;
}

static void choose_order(struct matcher *m, const bool *start)
{
    const struct tab *f = m->phi;
    bool *known = NEWS(m->a, bool, f->n_el), used[MAX_ATOMS] = {false};
    if (!known) {
        m->st = err_nomem(m->err);
        return;
    }
    for (uint32_t e = 0; e < f->n_el; e++)
        known[e] = start[e] || f->flag[e] & EL_CONST;
    m->depth_all = f->n_atoms;
    for (uint32_t d = 0; d < f->n_atoms; d++) {
        uint32_t best = NO_ATOM, score = 0;
        bool all = true;
        for (uint32_t i = 0; i < f->n_outs; i++)
            all &= known[f->outs[i]];
        if (all && m->depth_all == f->n_atoms)
            m->depth_all = d;
        for (uint32_t i = 0; i < f->n_atoms; i++) {
            uint32_t s = 1;
            for (uint32_t j = 0; !used[i] && j < f->atoms[i].n; j++)
                s += known[f->atoms[i].el[j]]               ? 4
                     : f->flag[f->atoms[i].el[j]] & EL_FREE ? 2
                                                            : 0;
            if (!used[i] && (best == NO_ATOM || s > score)) {
                best = i;
                score = s;
            }
        }
        m->order[d] = best;
        used[best] = true;
        for (uint32_t j = 0; j < f->atoms[best].n; j++)
            known[f->atoms[best].el[j]] = true;
    }
}

static void clear(struct matcher *m)
{
    for (uint32_t e = 0; e < m->phi->n_el; e++)
        m->map[e] = m->phi->flag[e] & EL_CONST ? e : NO_EL;
}

/* All answers with a match that sends atom i to b. */
static void collect(struct matcher *m, uint32_t i)
{
    bool *start = NEWS(m->a, bool, m->phi->n_el), fits;
    if (!start) {
        m->st = err_nomem(m->err);
        return;
    }
    clear(m);
    const struct tab_atom *at = &m->phi->atoms[i];
    uint32_t top = bind(m, at, &m->d->rows.p[m->d->b], 0, &fits);
    for (uint32_t j = 0; j < at->n; j++)
        start[at->el[j]] = true;
    choose_order(m, start);
    m->banned = NO_ATOM;
    m->collect = true;
    if (fits && m->st == OK && cmps_pass(m))
        extend(m, 0, top);
}

static bool survives(struct matcher *m, const uint32_t *answer)
{
    clear(m);
    for (uint32_t i = 0; i < m->phi->n_outs; i++)
        m->map[m->phi->outs[i]] = answer[i];
    m->banned = m->d->b;
    m->collect = false;
    return extend(m, 0, 0);
}

static enum status gain(struct matcher *m, u128 *out)
{
    const struct tab *phi = m->phi;
    for (uint32_t i = 0; i < phi->n_atoms && m->st == OK; i++)
        if (phi->atoms[i].table == m->d->rows.p[m->d->b].table)
            collect(m, i);
    bool *start = NEWS(m->a, bool, phi->n_el);
    if (!start)
        return err_nomem(m->err);
    for (uint32_t i = 0; i < phi->n_outs; i++)
        start[phi->outs[i]] = true;
    if (m->st == OK)
        choose_order(m, start);
    *out = 0;
    for (size_t i = 0; i < m->list.n && m->st == OK; i++)
        *out += !survives(m, m->list.p[i]);
    if (m->work->left == 0)
        *out = 0; /* not known: nothing is claimed */
    return m->st;
}

enum status witness_db_gain(struct arena *a, const struct witness_db *d,
                            struct work *work, u128 *out, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, a->mem);
    struct matcher m = {
        .a = &scratch, .d = d, .phi = d->phi, .work = work, .err = err};
    map_init(&m.answers, &scratch);
    m.map = NEWS(&scratch, uint32_t, d->phi->n_el);
    m.trail = NEWS(&scratch, uint32_t, d->phi->n_el);
    enum status st = m.map && m.trail ? gain(&m, out) : err_nomem(err);
    arena_fini(&scratch);
    return st;
}
