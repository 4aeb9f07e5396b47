/*
 * Small databases for lower bounds: values made up to fit the columns, rows
 * as a set, and the constraints checked by the definition.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "witness/lower.h"

/* --- kinds of values ------------------------------------------------------ */

/* Splitmix: reproducible, and no randomness of the noise is touched. */
uint64_t kinds_random(struct kinds *k, uint64_t below)
{
    uint64_t z = k->seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return below ? (z ^ z >> 31) % below : 0;
}

static enum type column_type(const struct tab *t, uint32_t table, uint32_t col)
{
    const struct table *tb = &t->q->schema->tables.p[table];
    return col < tb->n_cols ? tb->cols[col].type : T_UNKNOWN;
}

static bool adopt(enum type *of, uint32_t e, enum type type)
{
    if (of[e] != T_UNKNOWN || type == T_UNKNOWN)
        return false;
    of[e] = type;
    return true;
}

static bool share(enum type *of, uint32_t e, uint32_t f)
{
    bool left = adopt(of, e, of[f]), right = adopt(of, f, of[e]);
    return left || right;
}

/* Elements in one undeclared column, or compared, have one type. */
static bool spread(const struct tab *t, enum type *of)
{
    bool changed = false;
    for (uint32_t i = 0; i < t->n_atoms; i++)
        for (uint32_t j = 0; j < t->atoms[i].n; j++) {
            const struct tab_atom *p = &t->atoms[i];
            changed |= adopt(of, p->el[j], column_type(t, p->table, j));
            for (uint32_t k = 0; k < i; k++)
                if (t->atoms[k].table == p->table)
                    changed |= share(of, p->el[j], t->atoms[k].el[j]);
        }
    for (uint32_t i = 0; i < t->n_cmps; i++)
        changed |= share(of, t->cmps[i].l, t->cmps[i].r);
    return changed;
}

static size_t count_consts(const struct expr *e)
{
    size_t n = e->op == X_CONST;
    for (uint32_t i = 0; i < e->n_args; i++)
        n += count_consts(e->args[i]);
    return n;
}

/* 'a%' hints at a: what a pattern may match. */
static enum status add_hints(struct arena *a, const struct expr *e,
                             struct kinds *k, struct err *err)
{
    for (uint32_t i = 0; i < e->n_args; i++)
        TRY(add_hints(a, e->args[i], k, err));
    if (e->op != X_CONST || e->val.is_null)
        return OK;
    struct value v = e->val;
    if (v.type == T_TEXT) {
        char *p = arena_strdup(a, v.s.p, v.s.n);
        size_t n = 0;
        if (!p)
            return err_nomem(err);
        for (size_t i = 0; i < v.s.n; i++)
            if (v.s.p[i] != '%')
                p[n++] = v.s.p[i] == '_' ? 'a' : v.s.p[i];
        v.s = (struct str){p, n};
    }
    k->hints[k->n_hints++] = v;
    return OK;
}

enum status kinds_hints(struct arena *a, const struct cq *q, struct kinds *k,
                        struct err *err)
{
    size_t n = 0;
    for (uint32_t i = 0; i < q->n_preds; i++)
        n += count_consts(q->preds[i].e);
    for (uint32_t i = 0; i < q->n_calcs; i++)
        n += count_consts(q->calcs[i].e);
    k->hints = NEWS(a, struct value, n);
    if (!k->hints)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_preds; i++)
        TRY(add_hints(a, q->preds[i].e, k, err));
    for (uint32_t i = 0; i < q->n_calcs; i++)
        TRY(add_hints(a, q->calcs[i].e, k, err));
    return OK;
}

/* The end of the range that weighs most. */
static enum status weigh_most(struct arena *a, const struct tab *phi,
                              struct kinds *k, struct err *err)
{
    const struct cq_weight *w = &phi->q->weight;
    struct sb b;
    if (!w->on || cq_weight_term(phi->q).kind != TERM_VAR)
        return OK;
    sb_init(&b, a);
    cq_weight_print_units(&b, cq_weight_negative(w) ? w->lo : w->hi, w->scale);
    if (b.failed)
        return err_nomem(err);
    k->heavy = tab_find(phi, phi->q->n_consts + cq_weight_term(phi->q).id);
    k->has_heavy = value_parse_number(a, sb_view(&b), &k->heaviest);
    return OK;
}

enum status kinds_make(struct arena *a, const struct tab *phi,
                       struct kinds *out, struct err *err)
{
    const struct cq *q = phi->q;
    *out = (struct kinds){.ordered = q->n_preds > 0, .seed = 1};
    for (uint32_t i = 0; i < phi->n_cmps; i++)
        out->ordered |= phi->cmps[i].op != CMP_NE;
    out->of_el = NEWS(a, enum type, phi->n_el);
    if (!out->of_el)
        return err_nomem(err);
    for (uint32_t i = 0; i < q->n_consts; i++)
        out->of_el[i] = q->consts[i].type;
    for (uint32_t e = q->n_consts; e < phi->n_el; e++)
        if (phi->var[e] >= 0)
            out->of_el[e] = q->vars[phi->var[e]].type;
    while (spread(phi, out->of_el))
        continue;
    TRY(weigh_most(a, phi, out, err));
    return kinds_hints(a, q, out, err);
}

/* --- values --------------------------------------------------------------- */

static enum status text_value(struct witness_db *d, struct value *v,
                              const char *fmt, uint64_t n, struct err *err)
{
    char buf[64];
    int len = snprintf(buf, sizeof buf, fmt, n);
    v->s.n = (size_t)len;
    v->s.p = arena_strdup(d->a, buf, v->s.n);
    return v->s.p ? OK : err_nomem(err);
}

enum status witness_db_value(struct witness_db *d, enum type type, uint64_t n,
                             struct value *v, struct err *err)
{
    *v = (struct value){.type = type};
    switch (type) {
    case T_UNKNOWN:
    case T_TEXT:
        v->type = T_TEXT;
        return text_value(d, v, "e%02" PRIu64, n, err);
    case T_DEC:
        return text_value(d, v, "%" PRIu64, n, err);
    case T_UUID:
        return text_value(d, v, "00000000-0000-4000-8000-%012" PRIu64, n, err);
    case T_REAL:
        *v = value_int((int64_t)n);
        return OK;
    case T_BOOL:
        v->i = n % 2;
        return OK;
    default:
        v->i = (int64_t)n;
        return OK;
    }
}

/* Most values differ in what is seen at a glance: searches ask this for every
 * cell that they make up. */
static bool may_equal(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return type_comparable(a->type, b->type);
    if (a->type == T_TEXT)
        return a->s.n == b->s.n;
    return a->type != T_INT || a->i == b->i;
}

bool witness_db_has(const struct witness_db *d, const struct value *v)
{
    for (size_t i = 0; i < d->vals.n; i++)
        if (may_equal(&d->vals.p[i], v) && value_eq(&d->vals.p[i], v))
            return true;
    return false;
}

/* Near a constant, so that comparisons with it go either way. */
static uint64_t place(struct kinds *k, const struct witness_db *d,
                      enum type type, uint64_t n)
{
    const struct cq *q = d->phi->q;
    if (!k->ordered || n > 60)
        return n + 1;
    if (q->n_consts > 0 && kinds_random(k, 4)) {
        const struct value *c = &q->consts[kinds_random(k, q->n_consts)];
        if (c->type == type && type != T_TEXT && type != T_DEC)
            return (uint64_t)c->i + kinds_random(k, 9) - 4;
    }
    return kinds_random(k, 90) + 1;
}

/* A value near a hint: the constant itself, one step off, or with a suffix. */
static enum status hinted(struct witness_db *d, struct kinds *k, enum type type,
                          struct value *v, bool *found, struct err *err)
{
    *found = false;
    if (k->n_hints == 0 || kinds_random(k, 2) == 0)
        return OK;
    const struct value *h = &k->hints[kinds_random(k, k->n_hints)];
    if (h->type != (type == T_UNKNOWN ? T_TEXT : type))
        return OK;
    *v = *h;
    *found = true;
    if (h->type == T_INT || h->type == T_DATE || h->type == T_TIMESTAMP)
        v->i = (int64_t)((uint64_t)h->i + kinds_random(k, 5) - 2);
    if (h->type != T_TEXT || kinds_random(k, 2) == 0)
        return OK;
    v->s =
        str_printf(d->a, "%.*s%u", PSTR(h->s), (unsigned)kinds_random(k, 100));
    return v->s.p ? OK : err_nomem(err);
}

/* Not a value of its own: rows of equal weight are none the less different. */
static enum status heavy_value(struct witness_db *d, const struct kinds *k,
                               uint32_t *out, struct err *err)
{
    for (size_t i = 0; i < d->vals.n; i++)
        if (may_equal(&d->vals.p[i], &k->heaviest) &&
            value_eq(&d->vals.p[i], &k->heaviest)) {
            *out = (uint32_t)i;
            return OK;
        }
    *out = (uint32_t)d->vals.n;
    return VEC_PUSH(d->a, &d->vals, k->heaviest) ? OK : err_nomem(err);
}

enum status witness_db_fresh(struct witness_db *d, struct kinds *k, uint32_t e,
                             uint32_t *out, struct err *err)
{
    enum type type = k->of_el[e];
    struct value v;
    *out = NO_EL;
    if (k->has_heavy && e == k->heavy)
        return heavy_value(d, k, out, err);
    for (uint64_t n = d->vals.n - d->phi->q->n_consts, tries = 0; tries < 50;
         tries++, n++) {
        bool found;
        TRY(hinted(d, k, type, &v, &found, err));
        if (!found)
            TRY(witness_db_value(d, type, place(k, d, type, n), &v, err));
        if (witness_db_has(d, &v))
            continue;
        if (!VEC_PUSH(d->a, &d->vals, v))
            return err_nomem(err);
        *out = (uint32_t)d->vals.n - 1;
        return OK;
    }
    return OK;
}

/* --- rows ----------------------------------------------------------------- */

enum status witness_db_init(struct arena *a, const struct tab *phi,
                            struct witness_db *out, struct err *err)
{
    *out = (struct witness_db){.a = a, .phi = phi};
    for (uint32_t i = 0; i < phi->q->n_consts; i++)
        if (!VEC_PUSH(a, &out->vals, phi->q->consts[i]))
            return err_nomem(err);
    return OK;
}

enum status witness_db_add(struct witness_db *d, uint32_t table,
                           const uint32_t *el, uint32_t n, uint32_t *out,
                           struct err *err)
{
    for (uint32_t i = 0; i < d->rows.n; i++)
        if (d->rows.p[i].table == table &&
            memcmp(d->rows.p[i].el, el, n * sizeof *el) == 0) {
            *out = i;
            return OK;
        }
    struct tab_atom row = {.table = table, .n = n};
    row.el = NEWS(d->a, uint32_t, n);
    if (!row.el)
        return err_nomem(err);
    memcpy(row.el, el, n * sizeof *el);
    if (!VEC_PUSH(d->a, &d->rows, row))
        return err_nomem(err);
    *out = (uint32_t)d->rows.n - 1;
    return OK;
}

static bool equal_on(const struct tab_atom *p, const struct tab_atom *q,
                     const uint32_t *cols, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (p->el[cols[i]] != q->el[cols[i]])
            return false;
    return true;
}

static bool degree_fits(const struct witness_db *d, const struct dep *dep,
                        uint32_t r)
{
    const struct tab_atom *row = &d->rows.p[r];
    u128 n = 0;
    for (uint32_t i = 0; i < d->rows.n; i++) {
        const struct tab_atom *p = &d->rows.p[i];
        if (p->table != row->table || !equal_on(p, row, dep->x, dep->n_x))
            continue;
        bool first = true;
        for (uint32_t j = 0; j < i && first; j++)
            first = d->rows.p[j].table != row->table ||
                    !equal_on(&d->rows.p[j], row, dep->x, dep->n_x) ||
                    !equal_on(&d->rows.p[j], p, dep->y, dep->n_y);
        if (first && ++n > dep->k)
            return false;
    }
    return true;
}

bool witness_db_row_fits(const struct witness_db *d, uint32_t r)
{
    for (size_t i = 0; i < d->phi->n_deps; i++)
        if (d->phi->deps[i].table == d->rows.p[r].table &&
            !degree_fits(d, &d->phi->deps[i], r))
            return false;
    return true;
}
