/*
 * Counting the rows of one atom without encoding them: a filter over the
 * columns as they are loaded, then the number of rows that passed. Right where
 * no two of them are one result: the outputs hold a row id, or a column that is
 * seen to have no value twice. Everything else is passed on.
 *
 * Rows are filtered a block at a time, so that what passed stays in the cache
 * and takes no pages; all at once where a predicate or the test for values that
 * come twice wants to see all that passed.
 *
 * Cost: O(rows) for each column that is compared; a column that does not rise
 * takes a bit for each value between its least and its largest.
 */
#include "join/encode/domain.h"

#include <string.h>

/* Comparisons of a column with a constant; EQ: the constant stands in the
 * atom; NOT_NULL: with nothing. */
enum { SCAN_EQ = CMP_LE + 1, SCAN_NOT_NULL };
struct scan_test {
    const struct store_column *c;
    int op;
    bool left; /* the constant is */
    const struct value *v;
    uint8_t *hit; /* by code, where the column has codes */
};

struct row_scan {
    struct join *j;
    const struct atom *at;
    const struct store_table *t;
    struct scan_test *tests;
    size_t n_tests;
    uint32_t n, block; /* rows; of them at a time */
    uint8_t *keep;     /* by row of the block: it has passed so far */
};

/* Rows of a block. */
struct scan_part {
    uint32_t from, n;
    uint8_t *keep;
};

/* The least and the largest number that pass, or all but one. */
struct scan_range {
    int64_t lo, hi;
    bool none, but; /* nothing passes; all but lo do */
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

static void drop_nulls(struct scan_part p, const struct store_column *c)
{
    for (uint32_t r = 0; c->nulls && r < p.n; r++)
        p.keep[r] &= !column_is_null(c, p.from + r);
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

static void keep_range32(uint8_t *restrict keep, const int32_t *v, uint32_t n,
                         struct scan_range x)
{
    int32_t lo = narrow(x.lo), hi = narrow(x.hi);
    uint8_t but = x.but, any = x.lo <= INT32_MAX && x.hi >= INT32_MIN;
    for (uint32_t r = 0; r < n; r++)
        keep[r] &= (uint8_t)((any & (v[r] >= lo) & (v[r] <= hi)) ^ but);
}

static void keep_range64(uint8_t *restrict keep, const int64_t *v, uint32_t n,
                         struct scan_range x)
{
    uint8_t but = x.but;
    for (uint32_t r = 0; r < n; r++)
        keep[r] &= (uint8_t)(((v[r] >= x.lo) & (v[r] <= x.hi)) ^ but);
}

static void keep_range(struct scan_part p, const struct store_column *c,
                       struct scan_range x)
{
    if (x.none)
        memset(p.keep, 0, p.n);
    else if (c->i32)
        keep_range32(p.keep, c->i32 + p.from, p.n, x);
    else
        keep_range64(p.keep, c->i64 + p.from, p.n, x);
}

/* As ids of a domain compare, without the domain. */
static bool passes(const struct scan_test *t, const struct value *x)
{
    if (t->op == SCAN_EQ)
        return value_eq(x, t->v);
    int c = t->left ? dom_cmp_values(t->v, x) : dom_cmp_values(x, t->v);
    return t->op == CMP_NE ? c != 0 : t->op == CMP_LT ? c < 0 : c <= 0;
}

static void keep_codes(struct scan_part p, const struct scan_test *t)
{
    const uint32_t *code = t->c->code + p.from;
    for (uint32_t r = 0; r < p.n; r++)
        if (p.keep[r])
            p.keep[r] = t->hit[code[r]];
}

static void keep_values(struct scan_part p, const struct scan_test *t)
{
    for (uint32_t r = 0; r < p.n; r++)
        if (p.keep[r]) {
            struct value x = column_value(t->c, p.from + r);
            p.keep[r] = passes(t, &x);
        }
}

static void keep_test(struct scan_part p, const struct scan_test *t)
{
    drop_nulls(p, t->c);
    if (t->op == SCAN_NOT_NULL)
        return;
    if (t->v->is_null)
        memset(p.keep, 0, p.n);
    else if (t->c->code)
        keep_codes(p, t);
    else if (column_has_ints(t->c) && t->c->type == t->v->type)
        keep_range(p, t->c, range_of(t));
    else
        keep_values(p, t);
}

/* The rows of the block at `from` that pass; how many. */
static uint32_t filter(const struct row_scan *s, uint32_t from)
{
    uint32_t n = s->n - from < s->block ? s->n - from : s->block, k = 0;
    struct scan_part p = {from, n, s->keep};
    memset(s->keep, 1, n);
    for (size_t i = 0; i < s->n_tests; i++)
        keep_test(p, &s->tests[i]);
    for (uint32_t r = 0; r < n; r++)
        k += s->keep[r];
    return k;
}

/* --- what it tests ------------------------------------------------------ */

/* A dictionary is asked once. */
static enum status add_test(struct row_scan *s, struct scan_test t,
                            struct err *err)
{
    if (t.c->code && t.op != SCAN_NOT_NULL && !t.v->is_null) {
        t.hit = mem_alloc(s->j->mem, t.c->n_dict + 1);
        if (!t.hit)
            return err_nomem(err);
        for (size_t i = 0; i < t.c->n_dict; i++) {
            struct value x = column_dict_value(t.c, i);
            t.hit[i] = passes(&t, &x);
        }
    }
    s->tests[s->n_tests++] = t;
    return OK;
}

static enum status add_arguments(struct row_scan *s, struct err *err)
{
    const struct cq *q = s->j->q;
    for (uint32_t k = 0; k < s->at->n_args; k++) {
        struct term t = s->at->args[k];
        const struct store_column *c = &s->t->cols[k];
        if (t.kind == TERM_CONST)
            TRY(add_test(s,
                         (struct scan_test){
                             .c = c, .op = SCAN_EQ, .v = &q->consts[t.id]},
                         err));
        if (t.kind == TERM_VAR && q->vars[t.id].nonnull)
            TRY(add_test(s, (struct scan_test){.c = c, .op = SCAN_NOT_NULL},
                         err));
    }
    return OK;
}

static enum status add_tests(struct row_scan *s, struct err *err)
{
    const struct cq *q = s->j->q;
    TRY(add_arguments(s, err));
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        bool left = c->l.kind == TERM_CONST;
        struct scan_test t = {column_of(s, left ? c->r.id : c->l.id),
                              (int)c->op, left,
                              &q->consts[left ? c->l.id : c->r.id], NULL};
        TRY(add_test(s, t, err));
    }
    return OK;
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

/* Rows between two questions whether one came twice; of a block. */
enum { BETWEEN = 4096, BLOCK = 16384 };

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

/* A column that rises has no value twice: what a key in the order of a file
 * looks like. The cell of a NULL is 0. */
static bool rises(const struct store_column *c, uint32_t n)
{
    uint32_t bad = 0;
    for (uint32_t r = 1; !bad && r < n;) {
        uint32_t end = n - r > BETWEEN ? r + BETWEEN : n;
        if (c->i32)
            for (; r < end; r++)
                bad |= c->i32[r - 1] >= c->i32[r];
        else
            for (; r < end; r++)
                bad |= c->i64[r - 1] >= c->i64[r];
    }
    return !bad;
}

/* Is each row a result of its own, whichever pass? */
static bool rows_differ(const struct row_scan *s, vset outs)
{
    bool yes = s->at->rowid >= 0 && vset_has(outs, (unsigned)s->at->rowid);
    VSET_EACH (v, outs) {
        const struct store_column *c = yes ? NULL : column_of(s, v);
        yes = yes || (c && !c->nulls && column_has_ints(c) && rises(c, s->n));
    }
    return yes;
}

/* Is each row that passed? */
static enum status passed_differ(const struct row_scan *s, vset outs, bool *out,
                                 struct err *err)
{
    VSET_EACH (v, outs) {
        const struct store_column *c = *out ? NULL : column_of(s, v);
        if (c)
            TRY(see_distinct(s, c, out, err));
    }
    return OK;
}

/* --- the count ---------------------------------------------------------- */

/* The whole table at once: its rows that pass, by predicates too. */
static enum status count_at_once(struct row_scan *s, vset outs, bool *differ,
                                 u128 *out, struct err *err)
{
    uint32_t k = 0;
    filter(s, 0);
    TRY(pred_filter(s->j, 0, s->keep, err));
    TRY(passed_differ(s, outs, differ, err));
    for (uint32_t r = 0; r < s->n; r++)
        k += s->keep[r];
    *out = k;
    return OK;
}

/* The number of rows kept. PASS where rows could be equal in `outs`: then they
 * must be told apart, which a scan does not. */
static enum status count(struct row_scan *s, vset outs, u128 *out,
                         enum outcome *what, struct err *err)
{
    bool differ = rows_differ(s, outs), whole = !differ || s->j->q->n_preds;
    s->block = whole ? s->n : BLOCK;
    size_t bytes = (size_t)s->block + 1;
    enum status st = OK;
    if (!(s->keep = mem_alloc(s->j->mem, bytes)))
        return err_nomem(err);
    *out = 0;
    if (whole)
        st = count_at_once(s, outs, &differ, out, err);
    for (uint32_t r = 0; !whole && r < s->n; r += BLOCK)
        *out += filter(s, r);
    *what = differ ? SOLVED : PASS;
    mem_free(s->j->mem, s->keep, bytes);
    return st;
}

static enum status scan(struct row_scan *s, vset outs, u128 *out,
                        enum outcome *what, struct err *err)
{
    struct mem *m = s->j->mem;
    size_t most = s->at->n_args + s->j->q->n_cmps + 1;
    if (!(s->tests = mem_alloc(m, most * sizeof *s->tests)))
        return err_nomem(err);
    enum status st = add_tests(s, err);
    if (st == OK)
        st = count(s, outs, out, what, err);
    for (size_t i = 0; i < s->n_tests; i++)
        if (s->tests[i].hit)
            mem_free(m, s->tests[i].hit, s->tests[i].c->n_dict + 1);
    mem_free(m, s->tests, most * sizeof *s->tests);
    return st;
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
    return scan(&s, outs, out, what, err);
}
