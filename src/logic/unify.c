/*
 * Can one row match several atoms of a table at once? Union-find over the
 * query's variables, constants and the columns of the row: column j of the
 * row equals what each atom has there. It fails when two different constants
 * meet, or a filter is left that no value can pass. Every doubt counts as
 * "yes": the caller adds up over the sets for which the answer is yes.
 */
#include "base/union_find.h"
#include "logic/logic.h"
#include "logic/tableau.h"

enum { MAX_COLS = 1600 };

struct classes {
    const struct cq *q;
    uint32_t rep[MAX_VARS + MAX_COLS];
    const struct value *val[MAX_VARS + MAX_COLS]; /* of the representative */
    bool clash;
};

static uint32_t find(struct classes *c, uint32_t e)
{
    return union_find_root(c->rep, e);
}

static void give(struct classes *c, uint32_t e, const struct value *v)
{
    e = find(c, e);
    if (c->val[e] && !const_may_equal(c->val[e], v))
        c->clash = true;
    c->val[e] = v;
}

static void join(struct classes *c, uint32_t x, uint32_t y)
{
    x = find(c, x);
    y = find(c, y);
    if (x == y)
        return;
    c->rep[y] = x;
    if (c->val[y])
        give(c, x, c->val[y]);
}

static void match_row(struct classes *c, const struct atom *at)
{
    for (uint32_t j = 0; j < at->n_args && j < MAX_COLS; j++) {
        if (at->args[j].kind == TERM_VAR)
            join(c, MAX_VARS + j, at->args[j].id);
        if (at->args[j].kind == TERM_CONST)
            give(c, MAX_VARS + j, &c->q->consts[at->args[j].id]);
    }
}

static bool order_fails(enum cmp_op op, const struct value *x,
                        const struct value *y)
{
    if (!x || !y || !type_comparable(x->type, y->type))
        return false;
    int o = value_cmp(x, y);
    return op == CMP_NE ? o == 0 : op == CMP_LT ? o >= 0 : o > 0;
}

static bool filter_fails(struct classes *c, const struct cmp *p)
{
    const struct value *v[2];
    uint32_t e[2] = {NO_EL, NO_EL};
    const struct term *side[2] = {&p->l, &p->r};
    for (int i = 0; i < 2; i++) {
        if (side[i]->kind == TERM_CONST) {
            v[i] = &c->q->consts[side[i]->id];
        } else {
            e[i] = find(c, side[i]->id);
            v[i] = c->val[e[i]];
        }
    }
    if (e[0] == e[1] && e[0] != NO_EL)
        return p->op != CMP_LE;
    return order_fails(p->op, v[0], v[1]);
}

bool logic_unifiable(const struct cq *q, aset atoms)
{
    struct classes c = {.q = q};
    for (uint32_t i = 0; i < MAX_VARS + MAX_COLS; i++)
        c.rep[i] = i;
    ASET_EACH (i, atoms) {
        match_row(&c, &q->atoms[i]);
    }
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (filter_fails(&c, &q->cmps[i]))
            return false;
    return !c.clash;
}
