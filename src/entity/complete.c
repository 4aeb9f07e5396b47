/*
 * Completion: see complete.h.
 *
 * Owners are classes of a union-find over (atom, path). An owner that is found
 * by a key has a signature: table, key, rest of the path, and the terms in the
 * key's cells; equal signatures are one class. An atom of the table itself has
 * that signature too, by its own key.
 *
 * Cost: quadratic in the number of owners, which is small.
 */
#include "entity/complete.h"

#include <string.h>

#include "schema/owners.h"

struct sign {
    bool known;
    uint32_t table, rest;
    const uint32_t *key; /* columns, and the terms in them */
    const struct term *terms;
    size_t n;
};

struct owner {
    struct owner_rep rep;
    uint32_t up; /* union-find */
    uint32_t length;
    bool nested;
};

struct completing {
    struct arena *a;
    const struct cq *q;
    struct owner *all;
    size_t n;
    struct err *err;
};

static const struct table *table_of(const struct cq *q, uint32_t atom)
{
    return &q->schema->tables.p[q->atoms[atom].table];
}

static uint32_t find(struct completing *c, uint32_t i)
{
    while (c->all[i].up != i)
        i = c->all[i].up = c->all[c->all[i].up].up;
    return i;
}

static void merge(struct completing *c, uint32_t i, uint32_t k)
{
    uint32_t x = find(c, i), y = find(c, k);
    if (x != y)
        c->all[x < y ? y : x].up = x < y ? x : y;
}

/* PRIVACY: never NULL in a result, by what the query itself demands or the
 * table declares. A column that nobody asks for has no term to compare. */
static bool is_known(const struct cq *q, const struct table *t, uint32_t col,
                     struct term x)
{
    if (x.kind == TERM_CONST)
        return !q->consts[x.id].is_null;
    return x.kind == TERM_VAR &&
           (q->vars[x.id].nonnull || t->cols[col].not_null);
}

static bool same_term(struct term x, struct term y)
{
    return x.kind == y.kind && x.kind != TERM_ANY && x.id == y.id;
}

/* --- the same row --------------------------------------------------------- */

static bool is_row_key(const struct table *t, const struct degree *d)
{
    bool is = d->is_key && d->k == 1;
    for (size_t i = 0; i < d->n_x; i++)
        is &= t->cols[d->x[i]].not_null;
    return is;
}

static bool same_row(const struct cq *q, uint32_t x, uint32_t y)
{
    const struct atom *a = &q->atoms[x], *b = &q->atoms[y];
    const struct table *t = table_of(q, x);
    if (x == y || (a->rowid >= 0 && a->rowid == b->rowid))
        return true;
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        bool same = is_row_key(t, d);
        for (size_t k = 0; same && k < d->n_x; k++)
            same = same_term(a->args[d->x[k]], b->args[d->x[k]]);
        if (same)
            return true;
    }
    return false;
}

static void merge_rows(struct completing *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < i; k++) {
            struct owner_rep x = c->all[i].rep, y = c->all[k].rep;
            if (c->q->atoms[x.atom].table == c->q->atoms[y.atom].table &&
                x.path == y.path && same_row(c->q, x.atom, y.atom))
                merge(c, i, k);
        }
}

/* --- the same key --------------------------------------------------------- */

/* What an edge looks up. */
static enum status sign_edge(struct completing *c, struct owner_rep r,
                             struct sign *out)
{
    const struct atom *at = &c->q->atoms[r.atom];
    const struct table *t = table_of(c->q, r.atom);
    const struct owner_path *p = &t->paths.p[r.path];
    *out = (struct sign){0};
    if (p->edge < 0)
        return OK;
    const struct owner_edge *e = &t->owned_by.p[p->edge];
    struct term *terms = NEWS(c->a, struct term, e->n + 1);
    if (!terms)
        return err_nomem(c->err);
    *out = (struct sign){true, e->table, p->rest, e->key, terms, e->n};
    for (size_t i = 0; i < e->n; i++) {
        terms[i] = at->args[e->via[i]];
        out->known &= is_known(c->q, t, e->via[i], terms[i]);
    }
    return OK;
}

/* The row of `atom` is what the signature looks up. */
static bool is_found(const struct cq *q, const struct sign *s, uint32_t atom)
{
    const struct atom *at = &q->atoms[atom];
    bool same = at->table == s->table;
    for (size_t i = 0; same && i < s->n; i++)
        same = same_term(s->terms[i], at->args[s->key[i]]);
    return same;
}

static bool same_sign(const struct sign *x, const struct sign *y)
{
    bool same = x->table == y->table && x->rest == y->rest && x->n == y->n;
    for (size_t i = 0; same && i < x->n; i++) {
        size_t k = 0; /* keys may be written in different orders */
        while (k < y->n && y->key[k] != x->key[i])
            k++;
        same = k < y->n && same_term(x->terms[i], y->terms[k]);
    }
    return same;
}

static enum status merge_keys(struct completing *c)
{
    struct sign *signs = NEWS(c->a, struct sign, c->n + 1);
    if (!signs)
        return err_nomem(c->err);
    for (uint32_t i = 0; i < c->n; i++)
        TRY(sign_edge(c, c->all[i].rep, &signs[i]));
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; signs[i].known && k < c->n; k++) {
            struct owner_rep r = c->all[k].rep;
            if (signs[k].known && same_sign(&signs[i], &signs[k]))
                merge(c, i, k);
            if (r.path == signs[i].rest && is_found(c->q, &signs[i], r.atom))
                merge(c, i, k);
        }
    return OK;
}

/* --- what determines what ------------------------------------------------- */

static bool in_set(const struct cq *q, struct term x, vset set)
{
    return x.kind == TERM_CONST ? !q->consts[x.id].is_null
                                : x.kind == TERM_VAR && vset_has(set, x.id);
}

/* Are these columns of the atom determined, and not NULL? */
static bool has_all(const struct cq *q, uint32_t atom, const uint32_t *cols,
                    size_t n, vset set)
{
    const struct table *t = table_of(q, atom);
    bool all = true;
    for (size_t i = 0; all && i < n; i++) {
        struct term x = q->atoms[atom].args[cols[i]];
        all = in_set(q, x, set) && is_known(q, t, cols[i], x);
    }
    return all;
}

static bool has_row(const struct cq *q, uint32_t atom, vset set)
{
    const struct table *t = table_of(q, atom);
    if (q->atoms[atom].rowid >= 0 &&
        vset_has(set, (unsigned)q->atoms[atom].rowid))
        return true;
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        if (is_row_key(t, d) && has_all(q, atom, d->x, d->n_x, set))
            return true;
    }
    return false;
}

static vset columns_of(const struct cq *q, uint32_t atom, const uint32_t *cols,
                       size_t n)
{
    vset set = 0;
    for (size_t i = 0; i < n; i++)
        set |= term_var(q->atoms[atom].args[cols[i]]);
    return set;
}

static vset determined_by(const struct cq *q, uint32_t atom, vset set)
{
    const struct table *t = table_of(q, atom);
    vset more = has_row(q, atom, set) ? atom_vars(q, atom) : 0;
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        if (d->k == 1 && has_all(q, atom, d->x, d->n_x, set))
            more |= columns_of(q, atom, d->y, d->n_y);
    }
    return more;
}

/* The variables that `from` determines through keys and dependencies whose
 * cells are not NULL, rows included where `rows` is not NULL: atoms of which
 * the very row is determined. */
static vset complete_closure(const struct cq *q, vset from, aset *rows)
{
    for (vset before = ~from; before != from;) {
        before = from;
        for (uint32_t i = 0; i < q->n_atoms; i++)
            from |= determined_by(q, i, from);
    }
    for (uint32_t i = 0; rows && i < q->n_atoms; i++)
        if (has_row(q, i, from))
            *rows |= aset_one(i);
    return from;
}

static bool is_determined(const struct cq *q, const struct owner_var *v,
                          vset set, aset rows)
{
    for (size_t i = 0; i < v->n; i++) {
        struct owner_rep r = v->reps[i];
        const struct table *t = table_of(q, r.atom);
        const struct owner_path *p = &t->paths.p[r.path];
        if (aset_has(rows, r.atom))
            return true;
        if (p->edge < 0)
            continue;
        const struct owner_edge *e = &t->owned_by.p[p->edge];
        if (has_all(q, r.atom, e->via, e->n, set))
            return true;
    }
    return false;
}

static vset group_vars(const struct cq *q)
{
    vset set = 0;
    for (uint32_t i = 0; i < q->n_group; i++)
        set |= term_var(q->outs[i]);
    return set;
}

/* Does the one owner determine the key of GROUP BY? Its own row does, and the
 * cells that lead to it. */
static bool owner_determines(const struct cq *q, const struct owner_var *v,
                             vset goal)
{
    vset set = 0;
    for (size_t i = 0; i < v->n; i++) {
        struct owner_rep r = v->reps[i];
        const struct table *t = table_of(q, r.atom);
        const struct owner_path *p = &t->paths.p[r.path];
        if (p->edge < 0) {
            set |= atom_vars(q, r.atom);
            continue;
        }
        const struct owner_edge *e = &t->owned_by.p[p->edge];
        bool ends = q->schema->tables.p[e->table].paths.p[p->rest].edge < 0;
        bool known = true;
        for (size_t k = 0; k < e->n; k++)
            known &=
                is_known(q, t, e->via[k], q->atoms[r.atom].args[e->via[k]]);
        if (ends && known)
            set |= columns_of(q, r.atom, e->via, e->n);
    }
    return vset_sub(goal, complete_closure(q, set, NULL));
}

/* --- all of it ------------------------------------------------------------ */

static uint32_t path_length(const struct schema *s, uint32_t table,
                            uint32_t path)
{
    uint32_t n = 0;
    for (const struct owner_path *p = &s->tables.p[table].paths.p[path];
         p->edge >= 0; n++) {
        table = s->tables.p[table].owned_by.p[p->edge].table;
        p = &s->tables.p[table].paths.p[p->rest];
    }
    return n;
}

static enum status list_owners(struct completing *c)
{
    size_t most = (size_t)c->q->n_atoms * MAX_OWNER_PATHS;
    c->all = NEWS(c->a, struct owner, most + 1);
    if (!c->all)
        return err_nomem(c->err);
    for (uint32_t i = 0; i < c->q->n_atoms; i++) {
        uint32_t table = c->q->atoms[i].table;
        const struct table *t = table_of(c->q, i);
        TRY(schema_check_owned(c->q->schema, table, c->err));
        for (uint32_t p = 0; p < t->paths.n; p++) {
            c->all[c->n] = (struct owner){.rep = {i, p},
                                          .up = (uint32_t)c->n,
                                          .nested = t->paths.p[p].nested};
            c->all[c->n++].length = path_length(c->q->schema, table, p);
        }
    }
    return OK;
}

/* The shortest path first: its column is read, and it has the fewest cases. */
static enum status gather(struct completing *c, uint32_t class,
                          struct owner_var *out)
{
    out->reps = NEWS(c->a, struct owner_rep, c->n + 1);
    if (!out->reps)
        return err_nomem(c->err);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < c->n; i++) {
        if (find(c, i) != class)
            continue;
        out->reps[out->n] = c->all[i].rep;
        if (c->all[i].length < best) {
            best = c->all[i].length;
            out->reps[out->n] = out->reps[0];
            out->reps[0] = c->all[i].rep;
        }
        out->n++;
    }
    const struct atom *at = &c->q->atoms[out->reps[0].atom];
    const struct table *t = table_of(c->q, out->reps[0].atom);
    out->entity = owner_path_entity(c->q->schema, at->table,
                                    &t->paths.p[out->reps[0].path]);
    return OK;
}

static enum status number_classes(struct completing *c, struct completion *out)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (find(c, i) != i || c->all[i].nested)
            continue;
        if (out->k == MAX_OWNERS) {
            err_set(c->err, E_TOO_LARGE,
                    "a result can belong to more than %d entities",
                    (int)MAX_OWNERS);
            return E_TOO_LARGE;
        }
        TRY(gather(c, i, &out->vars[out->k]));
        out->k++;
    }
    return OK;
}

enum status complete_query(struct arena *a, const struct cq *q,
                           struct completion *out, struct err *err)
{
    struct completing c = {.a = a, .q = q, .err = err};
    aset rows = 0;
    *out = (struct completion){.determined = true};
    TRY(list_owners(&c));
    merge_rows(&c);
    TRY(merge_keys(&c));
    TRY(number_classes(&c, out));
    for (uint32_t i = 0; i < c.n; i++)
        out->nested |= c.all[i].nested;
    vset set = complete_closure(q, cq_free(q), &rows);
    for (unsigned i = 0; i < out->k; i++)
        out->determined &= is_determined(q, &out->vars[i], set, rows);
    out->key_determined =
        out->k == 1 && owner_determines(q, &out->vars[0], group_vars(q));
    return OK;
}
