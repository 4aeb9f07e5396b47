/*
 * The comparisons of a query: those between constants, or of a variable with
 * itself, are decided; of several bounds of one variable the tightest is kept,
 * of repeats the first.
 */
#include "cq/finish.h"

/* -1 false, 0 open, 1 true */
static int decide(const struct finish *f, enum cmp_op op, struct term l,
                  struct term r)
{
    if (l.kind == TERM_VAR && r.kind == TERM_VAR && l.id == r.id)
        return op == CMP_LE ? 1 : -1;
    if (l.kind != TERM_CONST || r.kind != TERM_CONST)
        return 0;
    const struct value *x = &f->b->consts.p[l.id];
    const struct value *y = &f->b->consts.p[r.id];
    if (x->is_null || y->is_null)
        return -1;
    int c = value_cmp(x, y);
    bool holds = op == CMP_NE ? c != 0 : op == CMP_LT ? c < 0 : c <= 0;
    return holds ? 1 : -1;
}

/* Repeats are found by their bytes; x != y and y != x are the same. */
struct cmp_key {
    uint32_t op, kind[2], id[2];
};

static struct cmp_key *key_of(struct arena *a, const struct cmp *c)
{
    struct cmp_key *k = NEW(a, struct cmp_key);
    struct term l = c->l, r = c->r;
    bool swap = l.kind != r.kind ? l.kind > r.kind : l.id > r.id;
    if (c->op == CMP_NE && swap) {
        l = c->r;
        r = c->l;
    }
    if (k)
        *k = (struct cmp_key){.op = (uint32_t)c->op,
                              .kind = {(uint32_t)l.kind, (uint32_t)r.kind},
                              .id = {l.id, r.id}};
    return k;
}

static bool is_number(enum type t)
{
    return t == T_INT || t == T_DEC || t == T_REAL;
}

/* The comparison that bounds the same variable from the same side by a
 * constant, and where to remember one; NULL: `c` is no such bound. */
static uint32_t *bound_slot(struct finish *f, uint32_t *bounds,
                            const struct cmp *c)
{
    if (c->op == CMP_NE || c->l.kind == c->r.kind)
        return NULL;
    bool upper = c->l.kind == TERM_VAR;
    const struct value *v = &f->b->consts.p[upper ? c->r.id : c->l.id];
    if (v->is_null || v->type == T_UNKNOWN)
        return NULL;
    return &bounds[2 * (size_t)(upper ? c->l.id : c->r.id) + upper];
}

/* Does every value within `a` lie within `b`? Both bound one variable from
 * the same side. Values of one class are totally ordered. */
static bool is_tighter(const struct finish *f, const struct cmp *a,
                       const struct cmp *b)
{
    bool upper = a->l.kind == TERM_VAR;
    const struct value *x = &f->b->consts.p[upper ? a->r.id : a->l.id];
    const struct value *y = &f->b->consts.p[upper ? b->r.id : b->l.id];
    if (x->type != y->type && !(is_number(x->type) && is_number(y->type)))
        return false;
    int order = value_cmp(x, y);
    if (order == 0)
        return a->op == CMP_LT || b->op == CMP_LE;
    return upper ? order < 0 : order > 0;
}

struct kept { /* comparisons of the query so far */
    struct map seen;
    uint32_t *bounds; /* of a variable, below and above: index + 1 */
};

/* An analyst can write thousands of bounds; what follows need not see them. */
static enum status keep_cmp(struct finish *f, struct kept *kept,
                            const struct cmp *c)
{
    struct cq *q = f->q;
    uint32_t *slot = bound_slot(f, kept->bounds, c);
    if (slot && *slot) {
        struct cmp *old = &q->cmps[*slot - 1];
        if (is_tighter(f, old, c))
            return OK;
        if (is_tighter(f, c, old)) {
            *old = *c;
            return OK;
        }
    }
    struct cmp_key *k = key_of(f->b->arena, c);
    bool is_new;
    if (!k || !map_put(&kept->seen, (struct str){(const char *)k, sizeof *k}, 0,
                       &is_new))
        return err_nomem(f->err);
    if (!is_new)
        return OK;
    q->cmps[q->n_cmps++] = *c;
    if (slot && !*slot)
        *slot = q->n_cmps;
    return OK;
}

enum status finish_cmps(struct finish *f)
{
    struct cq_builder *b = f->b;
    struct kept kept;
    map_init(&kept.seen, b->arena);
    kept.bounds = NEWS(b->arena, uint32_t, 2 * (size_t)f->n_old + 1);
    f->q->cmps = NEWS(b->arena, struct cmp, b->cmps.n + 1);
    if (!f->q->cmps || !kept.bounds)
        return err_nomem(f->err);
    for (size_t i = 0; i < b->cmps.n; i++) {
        struct cmp c = b->cmps.p[i];
        c.l = finish_resolve(f, c.l);
        c.r = finish_resolve(f, c.r);
        if (c.l.kind == TERM_VAR)
            b->vars.p[c.l.id].nonnull = true;
        if (c.r.kind == TERM_VAR)
            b->vars.p[c.r.id].nonnull = true;
        int known = decide(f, c.op, c.l, c.r);
        if (known < 0)
            b->unsat = true;
        if (!known)
            TRY(keep_cmp(f, &kept, &c));
    }
    return OK;
}
