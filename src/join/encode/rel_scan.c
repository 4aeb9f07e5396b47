/*
 * Counting the rows of one atom without encoding them: a filter over the
 * columns as they are loaded, then the number of rows that passed. Right where
 * no two of them are one result: the outputs hold a row id, or a column that is
 * seen to have no value twice. Everything else is passed on.
 *
 * Cost: O(rows) for each column that is compared, and a bit for each value
 * between the least and the largest of the column that must be distinct.
 */
#include "join/encode/domain.h"

#include <string.h>

struct row_scan {
    struct join *j;
    const struct atom *at;
    const struct store_table *t;
    uint32_t n;
    uint8_t *keep; /* by row: it has passed so far */
};

/* The least and the largest number that pass, or all but one. */
struct scan_range {
    int64_t lo, hi;
    bool none, but; /* nothing passes; all but lo do */
};

/* Comparisons of a column with a constant; EQ: the constant stands in the
 * atom. */
enum { SCAN_EQ = CMP_LE + 1 };
struct scan_test {
    int op;
    bool left; /* the constant is */
    const struct value *v;
};

static const struct store_column *column_of(const struct row_scan *s,
                                            uint32_t var)
{
    for (uint32_t k = 0; k < s->at->n_args; k++)
        if (s->at->args[k].kind == TERM_VAR && s->at->args[k].id == var)
            return &s->t->cols[k];
    return NULL;
}

/* --- which queries ------------------------------------------------------ */

static bool plain_arguments(const struct row_scan *s)
{
    vset seen = 0;
    for (uint32_t k = 0; k < s->at->n_args; k++) {
        struct term t = s->at->args[k];
        if (t.kind == TERM_ANY)
            continue;
        if (k >= s->t->n_cols || !s->t->cols[k].present || (seen & term_var(t)))
            return false;
        seen |= term_var(t);
    }
    return true;
}

static bool suits(const struct row_scan *s)
{
    const struct cq *q = s->j->q;
    if (q->n_atoms != 1 || q->n_calcs || q->weight.on || s->j->opt.steady ||
        s->j->only_wide || !s->t->loaded || s->t->n_rows >= NO_ID)
        return false;
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (q->cmps[i].l.kind == q->cmps[i].r.kind)
            return false;
    return plain_arguments(s);
}

/* --- the filter --------------------------------------------------------- */

static void drop_nulls(struct row_scan *s, const struct store_column *c)
{
    for (uint32_t r = 0; c->nulls && r < s->n; r++)
        s->keep[r] &= !column_is_null(c, r);
}

static struct scan_range range_of(const struct scan_test *t)
{
    struct scan_range r = {INT64_MIN, INT64_MAX, false, t->op == CMP_NE};
    int64_t v = t->v->i;
    if (r.but || t->op == SCAN_EQ)
        r.lo = r.hi = v;
    else if (t->op == CMP_LE)
        *(t->left ? &r.lo : &r.hi) = v;
    else if (v == (t->left ? INT64_MAX : INT64_MIN))
        r.none = true;
    else if (t->left)
        r.lo = v + 1;
    else
        r.hi = v - 1;
    return r;
}

/* x, which fits 64 bits, moved into 32 bits without a change of what passes. */
static int32_t narrow(int64_t x)
{
    return (int32_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

static void keep_range32(uint8_t *keep, const int32_t *v, uint32_t n,
                         struct scan_range x)
{
    int32_t lo = narrow(x.lo), hi = narrow(x.hi);
    uint8_t but = x.but, any = x.lo <= INT32_MAX && x.hi >= INT32_MIN;
    for (uint32_t r = 0; r < n; r++)
        keep[r] &= (uint8_t)((any & (v[r] >= lo) & (v[r] <= hi)) ^ but);
}

static void keep_range64(uint8_t *keep, const int64_t *v, uint32_t n,
                         struct scan_range x)
{
    uint8_t but = x.but;
    for (uint32_t r = 0; r < n; r++)
        keep[r] &= (uint8_t)(((v[r] >= x.lo) & (v[r] <= x.hi)) ^ but);
}

static void keep_range(struct row_scan *s, const struct store_column *c,
                       struct scan_range x)
{
    if (x.none)
        memset(s->keep, 0, s->n);
    else if (c->i32)
        keep_range32(s->keep, c->i32, s->n, x);
    else
        keep_range64(s->keep, c->i64, s->n, x);
}

/* As ids of a domain compare, without the domain. */
static bool passes(const struct scan_test *t, const struct value *x)
{
    if (t->op == SCAN_EQ)
        return value_eq(x, t->v);
    int c = t->left ? dom_cmp_values(t->v, x) : dom_cmp_values(x, t->v);
    return t->op == CMP_NE ? c != 0 : t->op == CMP_LT ? c < 0 : c <= 0;
}

static enum status keep_codes(struct row_scan *s, const struct store_column *c,
                              const struct scan_test *t, struct err *err)
{
    struct mem *m = s->j->mem;
    uint8_t *hit = mem_alloc(m, c->n_dict + 1);
    if (!hit)
        return err_nomem(err);
    for (size_t i = 0; i < c->n_dict; i++) {
        struct value x = column_dict_value(c, i);
        hit[i] = passes(t, &x);
    }
    for (uint32_t r = 0; r < s->n; r++)
        if (s->keep[r])
            s->keep[r] = hit[c->code[r]];
    mem_free(m, hit, c->n_dict + 1);
    return OK;
}

static enum status keep_test(struct row_scan *s, const struct store_column *c,
                             const struct scan_test *t, struct err *err)
{
    drop_nulls(s, c);
    if (t->v->is_null) {
        memset(s->keep, 0, s->n);
        return OK;
    }
    if (c->code)
        return keep_codes(s, c, t, err);
    if (column_has_ints(c) && c->type == t->v->type) {
        keep_range(s, c, range_of(t));
        return OK;
    }
    for (uint32_t r = 0; r < s->n; r++)
        if (s->keep[r]) {
            struct value x = column_value(c, r);
            s->keep[r] = passes(t, &x);
        }
    return OK;
}

static enum status filter(struct row_scan *s, struct err *err)
{
    const struct cq *q = s->j->q;
    memset(s->keep, 1, s->n);
    for (uint32_t k = 0; k < s->at->n_args; k++) {
        struct term t = s->at->args[k];
        struct scan_test eq = {SCAN_EQ, false, &q->consts[t.id]};
        if (t.kind == TERM_CONST)
            TRY(keep_test(s, &s->t->cols[k], &eq, err));
        if (t.kind == TERM_VAR && q->vars[t.id].nonnull)
            drop_nulls(s, &s->t->cols[k]);
    }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        bool left = c->l.kind == TERM_CONST;
        struct scan_test t = {(int)c->op, left,
                              &q->consts[left ? c->l.id : c->r.id]};
        TRY(keep_test(s, column_of(s, left ? c->r.id : c->l.id), &t, err));
    }
    return pred_filter(s->j, 0, s->keep, err);
}

/* --- no two rows are one result ----------------------------------------- */

/* Whole numbers, or codes, from the least on. */
struct scan_span {
    int64_t least;
    uint64_t n; /* the largest is least + n */
};

static struct scan_span span32(const int32_t *v, uint32_t n)
{
    int32_t lo = n ? v[0] : 0, hi = lo;
    for (uint32_t r = 0; r < n; r++) {
        lo = v[r] < lo ? v[r] : lo;
        hi = v[r] > hi ? v[r] : hi;
    }
    return (struct scan_span){lo, (uint64_t)((int64_t)hi - lo)};
}

static struct scan_span span64(const int64_t *v, uint32_t n)
{
    int64_t lo = n ? v[0] : 0, hi = lo;
    for (uint32_t r = 0; r < n; r++) {
        lo = v[r] < lo ? v[r] : lo;
        hi = v[r] > hi ? v[r] : hi;
    }
    return (struct scan_span){lo, (uint64_t)hi - (uint64_t)lo};
}

static struct scan_span span(const struct row_scan *s,
                             const struct store_column *c)
{
    if (c->code)
        return (struct scan_span){0, c->n_dict};
    return c->i32 ? span32(c->i32, s->n) : span64(c->i64, s->n);
}

/* Sets the bit of a row that passed; 1 if it was set. */
static uint64_t see(uint64_t *seen, uint64_t at, uint8_t kept)
{
    uint64_t bit = (uint64_t)kept << (at & 63), twice = seen[at / 64] & bit;
    seen[at / 64] |= bit;
    return twice;
}

enum { BETWEEN = 4096 }; /* rows: then it is asked whether one came twice */

static bool none_twice(const struct row_scan *s, const struct store_column *c,
                       uint64_t least, uint64_t *seen)
{
    uint64_t twice = 0;
    for (uint32_t r = 0; !twice && r < s->n;) {
        uint32_t end = s->n - r > BETWEEN ? r + BETWEEN : s->n;
        if (c->code)
            for (; r < end; r++)
                twice |= see(seen, c->code[r], s->keep[r]);
        else if (c->i32)
            for (; r < end; r++)
                twice |= see(seen, (uint64_t)c->i32[r] - least, s->keep[r]);
        else
            for (; r < end; r++)
                twice |= see(seen, (uint64_t)c->i64[r] - least, s->keep[r]);
    }
    return !twice;
}

/* Has the column no value twice among the rows that passed? false: it has, or
 * NULLs, or its values are too far apart for a table of bits. */
static enum status see_distinct(const struct row_scan *s,
                                const struct store_column *c, bool *out,
                                struct err *err)
{
    *out = false;
    if (c->nulls || (!c->code && !column_has_ints(c)))
        return OK;
    struct scan_span x = span(s, c);
    size_t words = (size_t)(x.n / 64) + 1;
    if (words > (size_t)s->n + 1)
        return OK;
    uint64_t *seen = mem_alloc(s->j->mem, words * sizeof *seen);
    if (!seen)
        return err_nomem(err);
    *out = none_twice(s, c, (uint64_t)x.least, seen);
    mem_free(s->j->mem, seen, words * sizeof *seen);
    return OK;
}

static enum status all_differ(const struct row_scan *s, vset outs, bool *out,
                              struct err *err)
{
    *out = s->at->rowid >= 0 && vset_has(outs, (unsigned)s->at->rowid);
    VSET_EACH (v, outs) {
        const struct store_column *c = *out ? NULL : column_of(s, v);
        if (c)
            TRY(see_distinct(s, c, out, err));
    }
    return OK;
}

/* The number of rows kept. PASS where rows could be equal in `outs`: then they
 * must be told apart, which a scan does not. */
static enum status count(struct row_scan *s, vset outs, u128 *out,
                         enum outcome *what, struct err *err)
{
    bool differ = false;
    uint32_t k = 0;
    TRY(filter(s, err));
    TRY(all_differ(s, outs, &differ, err));
    for (uint32_t r = 0; r < s->n; r++)
        k += s->keep[r];
    *out = k;
    *what = differ ? SOLVED : PASS;
    return OK;
}

enum status rel_scan(struct join *j, vset outs, u128 *out, enum outcome *what,
                     struct err *err)
{
    const struct atom *at = &j->q->atoms[0];
    struct row_scan s = {.j = j, .at = at, .t = &j->st->tables[at->table]};
    *what = PASS;
    if (!suits(&s))
        return OK;
    if (join_cancelled(j))
        return err_set(err, E_CANCELLED, "cancelled");
    s.n = (uint32_t)s.t->n_rows;
    s.keep = mem_alloc(j->mem, (size_t)s.n + 1);
    if (!s.keep)
        return err_nomem(err);
    enum status st = count(&s, outs, out, what, err);
    mem_free(j->mem, s.keep, (size_t)s.n + 1);
    return st;
}
