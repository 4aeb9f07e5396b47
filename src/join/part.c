/*
 * The same part with fewer atoms and less boundary, as its rows allow.
 *
 * An atom of one variable that every row of another atom satisfies (a key
 * table, by rows that refer to it) says nothing.
 *
 * A boundary variable whose value follows from those of others, through columns
 * without repeated values, makes no groups of its own: it is counted instead,
 * which is once in each. What is left of the boundary of joins by keys is often
 * one variable, and one pass over the rows, where all of it is a search.
 *
 * Cost: a pass over the rows of each atom, once for each engine.
 */
#include "join/join_int.h"

/* Has the atom's column every id that `other`, whose variable it is, shows? */
static enum status column_within(struct join *j, const struct jatom *at,
                                 const struct jatom *other, struct arena *a,
                                 bool *yes, struct err *err)
{
    uint32_t v = other->vars[0], n = j->doms[j->dom_of[v]].n, c = 0;
    uint8_t *there = NEWS(a, uint8_t, n + 1);
    if (!there)
        return err_nomem(err);
    while (at->vars[c] != v)
        c++;
    for (uint32_t i = 0; i < other->rel->n; i++)
        there[other->rel->cols[0][i]] = 1;
    *yes = true;
    for (uint32_t i = 0; i < at->rel->n && *yes; i++)
        *yes = there[at->rel->cols[c][i]];
    return OK;
}

/* Does no id occur twice? */
static enum status is_key(struct join *j, const struct jatom *at, uint32_t c,
                          struct arena *a, bool *yes, struct err *err)
{
    uint32_t n = j->doms[j->dom_of[at->vars[c]]].n;
    uint8_t *seen = NEWS(a, uint8_t, n + 1);
    if (!seen)
        return err_nomem(err);
    *yes = true;
    for (uint32_t i = 0; i < at->rel->n && *yes; i++) {
        uint8_t *s = &seen[at->rel->cols[c][i]];
        *yes = !*s;
        *s = 1;
    }
    return OK;
}

static enum status find_keys(struct join *j, struct jatom *at, struct arena *a,
                             struct err *err)
{
    for (uint32_t c = 0; c < at->rel->n_cols; c++) {
        bool yes = false;
        TRY(is_key(j, at, c, a, &yes, err));
        at->keys |= yes ? vset_one(at->vars[c]) : 0;
    }
    return OK;
}

/* The atoms of one variable that any row of `at` satisfies, as key tables are
 * by rows that refer to them. */
static enum status find_implied(struct join *j, struct jatom *at,
                                struct arena *a, struct err *err)
{
    for (uint32_t i = 0; i < j->q->n_atoms; i++) {
        const struct jatom *other = &j->atoms[i];
        bool yes = false;
        if (other == at || other->rel->n_cols != 1 ||
            !vset_sub(other->set, at->set))
            continue;
        TRY(column_within(j, at, other, a, &yes, err));
        at->implies |= yes ? aset_one(i) : 0;
    }
    return OK;
}

static enum status look_at(struct join *j, struct jatom *at, struct arena *a,
                           struct err *err)
{
    if (at->known)
        return OK;
    TRY(find_keys(j, at, a, err));
    TRY(find_implied(j, at, a, err));
    at->known = true;
    return OK;
}

static void drop_implied(struct join *j, aset *f)
{
    aset all = *f;
    ASET_EACH (i, all)
        if (*f & aset_one(i))
            *f &= ~j->atoms[i].implies;
}

/* What follows from values of s. */
static vset determined(const struct join *j, aset f, vset s)
{
    vset before = 0;
    while (s != before) {
        before = s;
        ASET_EACH (i, f)
            if (j->atoms[i].keys & s)
                s |= j->atoms[i].set;
    }
    return s;
}

/* Of the boundary, the variable that the rest determines and that itself
 * determines least of it; false if there is none. */
static bool spare_one(const struct join *j, const struct request *part,
                      uint32_t *out)
{
    uint32_t least = UINT32_MAX;
    VSET_EACH (v, part->boundary) {
        vset rest = part->boundary & ~vset_one(v);
        vset own = determined(j, part->f, vset_one(v)) & part->boundary;
        if (!vset_has(determined(j, part->f, rest), v) ||
            vset_count(own) >= least)
            continue;
        least = vset_count(own);
        *out = v;
    }
    return least != UINT32_MAX;
}

enum status request_reduce(struct join *j, struct request *part,
                           struct arena *a, struct err *err)
{
    uint32_t v = 0;
    ASET_EACH (i, part->f)
        TRY(look_at(j, &j->atoms[i], a, err));
    drop_implied(j, &part->f);
    while (spare_one(j, part, &v)) {
        part->boundary &= ~vset_one(v);
        part->outs |= vset_one(v);
    }
    return OK;
}
