/*
 * The checker (checker.h). Deliberately plain: it tries rows for one atom
 * after the other, compares values with the query's own comparison, and
 * collects distinct answers. Once all outputs have a value the rest of the
 * query only has to be satisfiable. Steps are limited; beyond the limit the
 * witness is not confirmed.
 */
#include "witness/checker_rules.h"

struct counter {
    struct arena *a;
    const struct cq *q;
    const struct admissible *adm;
    const struct checker_row *rows;
    size_t n_rows, without; /* row that is not there; n_rows: none */
    struct value val[MAX_VARS];
    bool has[MAX_VARS];
    uint32_t order[MAX_ATOMS];
    uint32_t answer_depth; /* atoms after which all outputs are known */
    uint64_t steps;
    bool tired, nomem;
    struct map answers;
    bool *is_bag; /* by table */
};

static bool find_bags(struct counter *c)
{
    c->is_bag = NEWS(c->a, bool, c->q->schema->tables.n + 1);
    for (uint32_t i = 0; c->is_bag && i < c->q->n_atoms; i++)
        c->is_bag[c->q->atoms[i].table] |= c->q->atoms[i].rowid >= 0;
    return c->is_bag;
}

/* --- matching ------------------------------------------------------------- */

static const struct value *term_value(const struct counter *c, struct term t)
{
    if (t.kind == TERM_CONST)
        return &c->q->consts[t.id];
    return t.kind == TERM_VAR && c->has[t.id] ? &c->val[t.id] : NULL;
}

/* False: the row does not fit; *set gets the variables given a value. */
static bool take_row(struct counter *c, const struct atom *at, size_t r,
                     vset *set)
{
    const struct checker_row *row = &c->rows[r];
    *set = 0;
    for (uint32_t j = 0; j < at->n_args; j++) {
        const struct value *want = term_value(c, at->args[j]);
        if (at->args[j].kind == TERM_ANY)
            continue;
        if (want) {
            if (!checker_equal(want, &row->vals[j]))
                return false;
            continue;
        }
        uint32_t v = at->args[j].id;
        if (c->q->vars[v].nonnull && row->vals[j].is_null)
            return false;
        c->val[v] = row->vals[j];
        c->has[v] = true;
        *set |= vset_one(v);
    }
    if (at->rowid >= 0) {
        c->val[at->rowid] = value_int((int64_t)r);
        c->has[at->rowid] = true;
        *set |= vset_one((unsigned)at->rowid);
    }
    return true;
}

static void forget(struct counter *c, vset set)
{
    VSET_EACH (v, set) {
        c->has[v] = false;
    }
}

/* A comparison one side of which has no value yet passes for now. */
static bool cmp_passes(const struct counter *c, const struct cmp *p)
{
    const struct value *l = term_value(c, p->l), *r = term_value(c, p->r);
    if (!l || !r)
        return true;
    return checker_compare(p->op, l, r);
}

static bool cmps_pass(const struct counter *c)
{
    for (uint32_t i = 0; i < c->q->n_cmps; i++)
        if (!cmp_passes(c, &c->q->cmps[i]))
            return false;
    return true;
}

static bool eval(struct counter *c, const struct expr *e, struct value *out)
{
    struct err err;
    if (expr_eval(c->a, e, c->val, out, &err) == OK)
        return true;
    c->nomem = true;
    return false;
}

/* Computed columns, predicates, and the comparisons that waited for them. */
static bool rest_passes(struct counter *c, vset *set)
{
    struct value v;
    for (uint32_t i = 0; i < c->q->n_calcs; i++) {
        const struct calc *k = &c->q->calcs[i];
        if (!eval(c, k->e, &v))
            return false;
        if (c->has[k->var] && !checker_equal(&v, &c->val[k->var]))
            return false;
        if (!c->has[k->var]) {
            if (c->q->vars[k->var].nonnull && v.is_null)
                return false;
            c->val[k->var] = v;
            c->has[k->var] = true;
            *set |= vset_one(k->var);
        }
    }
    for (uint32_t i = 0; i < c->q->n_preds; i++)
        if (!eval(c, c->q->preds[i].e, &v) || v.is_null || v.i == 0)
            return false;
    return cmps_pass(c);
}

static struct str answer_key(struct counter *c)
{
    struct sb b;
    sb_init(&b, c->a);
    for (uint32_t i = 0; i < c->q->n_outs; i++) {
        const struct value *v = term_value(c, c->q->outs[i]);
        if (v)
            value_print(&b, v);
        sb_char(&b, '\n');
    }
    c->nomem |= b.failed;
    return sb_view(&b);
}

static bool note_answer(struct counter *c)
{
    c->steps -= c->steps < c->q->n_outs ? c->steps : c->q->n_outs;
    struct str key = answer_key(c);
    if (!c->nomem && !map_put(&c->answers, key.p ? key : STR(""), 1, NULL))
        c->nomem = true;
    return true;
}

/* True: a match was found and the caller need not look for another one. */
static bool try_atoms(struct counter *c, uint32_t depth)
{
    bool known = depth >= c->answer_depth;
    if (depth == c->q->n_atoms) {
        vset set = 0;
        bool ok = rest_passes(c, &set) && note_answer(c);
        forget(c, set);
        return ok && known;
    }
    if (depth == c->answer_depth && c->q->n_calcs == 0) {
        struct str key = answer_key(c);
        if (map_find(&c->answers, key.p ? key : STR("")))
            return true;
    }
    const struct atom *at = &c->q->atoms[c->order[depth]];
    for (size_t r = 0; r < c->n_rows && !c->tired && !c->nomem; r++) {
        vset set;
        if (r == c->without || c->rows[r].table != at->table)
            continue;
        if (c->steps == 0) {
            c->tired = true;
            return false;
        }
        c->steps--;
        bool done =
            take_row(c, at, r, &set) && cmps_pass(c) && try_atoms(c, depth + 1);
        forget(c, set);
        if (done && known)
            return true;
    }
    return false;
}

/* Outputs early, then whatever hangs on what is known. */
static void choose_order(struct counter *c)
{
    const struct cq *q = c->q;
    vset known = 0, outs = cq_free(q);
    aset left = aset_first_n(q->n_atoms);
    c->answer_depth = q->n_atoms;
    for (uint32_t d = 0; d < q->n_atoms; d++) {
        unsigned best = 64, score = 0;
        if (c->answer_depth == q->n_atoms && vset_sub(outs, known))
            c->answer_depth = d;
        ASET_EACH (i, left) {
            vset vars = atom_vars(q, i);
            unsigned s = 1 + 4 * vset_count(vars & known) +
                         2 * vset_count(vars & outs & ~known);
            if (best == 64 || s > score) {
                best = i;
                score = s;
            }
        }
        c->order[d] = best;
        left &= ~aset_one(best);
        known |= atom_vars(q, best);
    }
}

static bool count(struct counter *c, size_t without, u128 *out)
{
    c->without = without;
    map_init(&c->answers, c->a);
    struct checker_data d = {.schema = c->q->schema,
                             .rows = c->rows,
                             .n_rows = c->n_rows,
                             .without = without,
                             .is_bag = c->is_bag};
    if (!checker_constraints_hold(c->a, &d, &c->nomem) ||
        (c->adm && !checker_references_hold(c->a, &d, &c->nomem)))
        return false;
    if (!c->q->unsat)
        try_atoms(c, 0);
    *out = c->answers.n;
    return !c->tired && !c->nomem;
}

static enum status fit(struct counter *c, bool *holds, struct err *err)
{
    struct checker_data d = {
        .schema = c->q->schema, .rows = c->rows, .n_rows = c->n_rows};
    return *holds && c->adm ? checker_rows_fit(c->a, c->adm, &d, holds, err)
                            : OK;
}

enum status checker_run(struct arena *a, const struct cq *q,
                        const struct admissible *adm,
                        const struct checker_row *rows, size_t n_rows,
                        size_t insert, size_t old, uint64_t steps,
                        struct checker_result *out, struct err *err)
{
    struct arena scratch;
    *out = (struct checker_result){.holds = false};
    arena_init(&scratch, a->mem);
    struct counter *c = NEW(&scratch, struct counter);
    if (!c) {
        arena_fini(&scratch);
        return err_nomem(err);
    }
    c->a = &scratch;
    c->q = q;
    c->adm = adm;
    c->rows = rows;
    c->n_rows = n_rows;
    c->steps = steps;
    c->nomem = !find_bags(c);
    choose_order(c);
    out->holds = !c->nomem && count(c, old, &out->after) &&
                 count(c, insert, &out->before);
    out->steps = steps - c->steps;
    enum status st = c->nomem ? err_nomem(err) : fit(c, &out->holds, err);
    arena_fini(&scratch);
    return st;
}
