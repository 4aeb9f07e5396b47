/*
 * Building a query: collect atoms, comparisons and equalities in any order,
 * then cq_finish makes the immutable query. Equalities are substituted by a
 * union-find whose representative is a constant, else an output, else the
 * oldest variable (PRIVACY: an output is never replaced by a variable that is
 * not one, which would change the count).
 */
#include "base/union_find.h"
#include "cq/finish.h"

#include <stdio.h>
#include <string.h>

void cqb_init(struct cq_builder *b, struct arena *a, struct schema *s)
{
    *b = (struct cq_builder){.arena = a, .schema = s, .name = STR("Q")};
    map_init(&b->const_ids, a);
}

static bool name_taken(const struct cq_builder *b, struct str name)
{
    for (size_t i = 0; i < b->vars.n; i++)
        if (str_eq(b->vars.p[i].name, name))
            return true;
    return false;
}

enum status cqb_var(struct cq_builder *b, struct str name, enum type t,
                    uint32_t *out, struct err *err)
{
    /* Substitution shrinks the number later; what is far too large stops
     * here, so that quadratic work stays small. */
    if (b->vars.n >= 8 * MAX_VARS) {
        err_set(err, E_TOO_LARGE, "the query has more than %d variables",
                MAX_VARS);
        err_hint(err, "Join fewer tables, or compare fewer columns.");
        return E_TOO_LARGE;
    }
    struct str n = str_copy(b->arena, name);
    for (unsigned i = 2; n.p && name_taken(b, n); i++)
        n = str_printf(b->arena, "%.*s_%u", PSTR(name), i);
    struct var v = {.name = n, .type = t};
    if (!n.p || !VEC_PUSH(b->arena, &b->vars, v))
        return err_nomem(err);
    *out = (uint32_t)b->vars.n - 1;
    return OK;
}

/* Key of a constant in the map: `i` tells apart those that hash alike. */
struct const_key {
    uint64_t hash;
    uint32_t type, i;
};

enum status cqb_const(struct cq_builder *b, const struct value *v,
                      uint32_t *out, struct err *err)
{
    struct const_key *k = NEW(b->arena, struct const_key);
    if (!k)
        return err_nomem(err);
    *k = (struct const_key){.hash = value_hash(v), .type = (uint32_t)v->type};
    for (;; k->i++) {
        bool is_new;
        uint64_t *id =
            map_put(&b->const_ids, (struct str){(const char *)k, sizeof *k},
                    b->consts.n, &is_new);
        if (!id || (is_new && !VEC_PUSH(b->arena, &b->consts, *v)))
            return err_nomem(err);
        *out = (uint32_t)*id;
        if (is_new || value_eq(&b->consts.p[*id], v))
            return OK;
    }
}

enum status cqb_atom(struct cq_builder *b, uint32_t table, uint32_t *out,
                     struct err *err)
{
    const struct table *t = &b->schema->tables.p[table];
    struct atom a = {.table = table, .rowid = -1};
    if (b->atoms.n >= MAX_ATOMS) {
        err_set(err, E_TOO_LARGE, "the query joins more than %d tables",
                MAX_ATOMS);
        err_hint(err, "Each use of a WITH query or view counts its tables.");
        return E_TOO_LARGE;
    }
    a.n_args = (uint32_t)t->n_cols;
    a.args = NEWS(b->arena, struct term, t->n_cols + 1);
    if (!a.args || !VEC_PUSH(b->arena, &b->atoms, a))
        return err_nomem(err);
    *out = (uint32_t)b->atoms.n - 1;
    return OK;
}

/* --- finishing ------------------------------------------------------------ */

static uint32_t root(struct finish *f, uint32_t x)
{
    return union_find_root(f->parent, x);
}

static uint32_t index_of(const struct finish *f, struct term t)
{
    return t.kind == TERM_CONST ? f->n_old + t.id : t.id;
}

/* Does x represent better than y? */
static bool better(const struct finish *f, uint32_t x, uint32_t y)
{
    bool cx = x >= f->n_old, cy = y >= f->n_old;
    if (cx != cy)
        return cx;
    if (!cx && f->is_out[x] != f->is_out[y])
        return f->is_out[x];
    return x < y;
}

static void unite(struct finish *f, struct term l, struct term r)
{
    uint32_t x = root(f, index_of(f, l)), y = root(f, index_of(f, r));
    if (x == y)
        return;
    if (x >= f->n_old && y >= f->n_old &&
        !value_eq(&f->b->consts.p[x - f->n_old], &f->b->consts.p[y - f->n_old]))
        f->b->unsat = true;
    if (better(f, x, y))
        f->parent[y] = x;
    else
        f->parent[x] = y;
}

static enum status start(struct finish *f)
{
    struct arena *a = f->b->arena;
    f->n_old = (uint32_t)f->b->vars.n;
    size_t n = f->n_old + f->b->consts.n + 1;
    f->parent = NEWS(a, uint32_t, n);
    f->is_out = NEWS(a, bool, n);
    f->number = NEWS(a, uint32_t, n);
    f->consts = NEWS(a, const struct value *, n);
    f->q = NEW(a, struct cq);
    if (!f->parent || !f->is_out || !f->number || !f->consts || !f->q)
        return err_nomem(f->err);
    for (uint32_t i = 0; i < n; i++) {
        f->parent[i] = i;
        f->number[i] = UINT32_MAX;
    }
    for (size_t i = 0; i < f->b->outs.n; i++)
        if (f->b->outs.p[i].kind == TERM_VAR)
            f->is_out[f->b->outs.p[i].id] = true;
    return OK;
}

static void substitute(struct finish *f)
{
    struct cq_builder *b = f->b;
    for (size_t i = 0; i < b->equals.n; i++) {
        struct term s[2] = {b->equals.p[i].l, b->equals.p[i].r};
        unite(f, s[0], s[1]);
        for (int k = 0; k < 2; k++)
            if (s[k].kind == TERM_VAR)
                b->vars.p[s[k].id].nonnull = true;
    }
    for (uint32_t v = 0; v < f->n_old; v++) {
        uint32_t r = root(f, v);
        if (r >= f->n_old)
            f->consts[v] = &b->consts.p[r - f->n_old];
        else
            b->vars.p[r].nonnull |= b->vars.p[v].nonnull;
    }
}

struct term finish_resolve(struct finish *f, struct term t)
{
    if (t.kind == TERM_ANY)
        return t;
    uint32_t r = root(f, index_of(f, t));
    if (r >= f->n_old)
        return (struct term){TERM_CONST, r - f->n_old};
    return (struct term){TERM_VAR, r};
}

static bool term_eq(struct term a, struct term b)
{
    return a.kind == b.kind && (a.kind == TERM_ANY || a.id == b.id);
}

static bool atom_eq(const struct atom *a, const struct atom *b)
{
    /* Bag atoms are told apart by their row ids and never merged. */
    if (a->table != b->table || a->rowid >= 0 || b->rowid >= 0)
        return false;
    for (uint32_t i = 0; i < a->n_args; i++)
        if (!term_eq(a->args[i], b->args[i]))
            return false;
    return true;
}

/* Rewrites the atoms and drops repeats; predicates follow the atom kept. */
static enum status finish_atoms(struct finish *f, uint32_t *moved)
{
    struct cq_builder *b = f->b;
    struct cq *q = f->q;
    q->atoms = NEWS(b->arena, struct atom, b->atoms.n + 1);
    if (!q->atoms)
        return err_nomem(f->err);
    for (size_t i = 0; i < b->atoms.n; i++) {
        struct atom a = b->atoms.p[i];
        uint32_t same = 0;
        for (uint32_t k = 0; k < a.n_args; k++)
            a.args[k] = finish_resolve(f, a.args[k]);
        while (same < q->n_atoms && !atom_eq(&q->atoms[same], &a))
            same++;
        moved[i] = same;
        if (same == q->n_atoms)
            q->atoms[q->n_atoms++] = a;
    }
    return OK;
}

/* --- numbering ------------------------------------------------------------ */

static void count_in(struct term t, uint32_t *uses)
{
    if (t.kind == TERM_VAR)
        uses[t.id]++;
}

/* SQL's NULL never matches: a variable that occurs twice is not null. */
static enum status mark_nonnull(struct finish *f)
{
    struct cq *q = f->q;
    uint32_t *uses = NEWS(f->b->arena, uint32_t, f->n_old + 1);
    if (!uses)
        return err_nomem(f->err);
    for (uint32_t i = 0; i < q->n_atoms; i++)
        for (uint32_t k = 0; k < q->atoms[i].n_args; k++)
            count_in(q->atoms[i].args[k], uses);
    for (size_t i = 0; i < f->b->calcs.n; i++)
        count_in(
            finish_resolve(f, (struct term){TERM_VAR, f->b->calcs.p[i].var}),
            uses);
    for (uint32_t v = 0; v < f->n_old; v++)
        if (uses[v] > 1)
            f->b->vars.p[v].nonnull = true;
    return OK;
}

static enum status number_term(struct finish *f, struct term *t)
{
    struct cq *q = f->q;
    if (t->kind != TERM_VAR)
        return OK;
    if (f->number[t->id] == UINT32_MAX) {
        if (q->n_vars == MAX_VARS) {
            err_set(f->err, E_TOO_LARGE, "the query has more than %d variables",
                    MAX_VARS);
            err_hint(f->err, "Count fewer distinct columns, or split it.");
            return E_TOO_LARGE;
        }
        f->number[t->id] = q->n_vars;
        q->vars[q->n_vars++] = f->b->vars.p[t->id];
    }
    t->id = f->number[t->id];
    return OK;
}

static enum status number_atom(struct finish *f, struct atom *a)
{
    for (uint32_t k = 0; k < a->n_args; k++)
        TRY(number_term(f, &a->args[k]));
    if (a->rowid < 0)
        return OK;
    struct term t = {TERM_VAR, (uint32_t)a->rowid};
    TRY(number_term(f, &t));
    a->rowid = (int32_t)t.id;
    f->q->vars[t.id].is_rowid = true;
    return OK;
}

/* x := e with x a constant by now is the predicate e = constant. */
static enum status calc_as_pred(struct finish *f, const struct calc *c,
                                const struct value *v, struct pred *out)
{
    struct arena *a = f->b->arena;
    struct expr *e = NEW(a, struct expr), *k = NEW(a, struct expr);
    struct expr **args = NEWS(a, struct expr *, 2);
    if (!e || !k || !args)
        return err_nomem(f->err);
    *k = (struct expr){.op = X_CONST, .type = v->type, .n_nodes = 1, .val = *v};
    args[0] = expr_map(a, c->e, f->number, f->consts);
    args[1] = k;
    if (!args[0])
        return err_nomem(f->err);
    *e = (struct expr){.op = X_EQ, .type = T_BOOL, .n_args = 2, .args = args};
    e->n_nodes = expr_count_nodes(2, args);
    *out = (struct pred){.atom = c->atom, .e = e};
    return OK;
}

/* Variables of predicates follow their representatives. */
static void follow_representatives(struct finish *f)
{
    for (uint32_t v = 0; v < f->n_old; v++) {
        uint32_t r = root(f, v);
        if (r < f->n_old)
            f->number[v] = f->number[r];
    }
}

static enum status untyped_calc(struct finish *f, const struct var *v)
{
    err_set(f->err, E_TYPE,
            "the type of the computed value \"%.*s\" is not "
            "known",
            PSTR(v->name));
    err_hint(f->err, "Declare the types of the columns it uses, with --schema "
                     "or --policy.");
    return E_TYPE;
}

/* Repeated predicates are one. */
static void keep_pred(struct cq *q, struct pred p)
{
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (q->preds[i].atom == p.atom && expr_equal(q->preds[i].e, p.e))
            return;
    q->preds[q->n_preds++] = p;
}

/* Before anything is copied: a tree may share its parts, its copy does not. */
static enum status check_nodes(const struct cq_builder *b, struct err *err)
{
    uint64_t n = 0;
    for (size_t i = 0; i < b->calcs.n; i++)
        n += b->calcs.p[i].e->n_nodes;
    for (size_t i = 0; i < b->preds.n; i++)
        n += b->preds.p[i].e->n_nodes;
    return n > EXPR_MAX_NODES ? expr_refuse_size(err, -1) : OK;
}

static enum status finish_calcs(struct finish *f, const uint32_t *moved)
{
    struct cq_builder *b = f->b;
    struct cq *q = f->q;
    size_t n = b->preds.n + b->calcs.n + 1;
    q->preds = NEWS(b->arena, struct pred, n);
    q->calcs = NEWS(b->arena, struct calc, n);
    if (!q->preds || !q->calcs)
        return err_nomem(f->err);
    for (size_t i = 0; i < b->calcs.n; i++) {
        struct calc c = b->calcs.p[i];
        c.atom = moved[c.atom];
        if (f->consts[c.var]) {
            struct pred p = {0};
            TRY(calc_as_pred(f, &c, f->consts[c.var], &p));
            keep_pred(q, p);
            continue;
        }
        c.var = f->number[c.var];
        struct expr *e = expr_map(b->arena, c.e, f->number, f->consts);
        if (!e)
            return err_nomem(f->err);
        if (e->type == T_UNKNOWN)
            return untyped_calc(f, &q->vars[c.var]);
        e->type = expr_storage_type(e);
        q->vars[c.var].type = e->type;
        c.e = e;
        q->calcs[q->n_calcs++] = c;
    }
    for (size_t i = 0; i < b->preds.n; i++) {
        struct pred p = {.atom = moved[b->preds.p[i].atom]};
        p.e = expr_map(b->arena, b->preds.p[i].e, f->number, f->consts);
        if (!p.e)
            return err_nomem(f->err);
        keep_pred(q, p);
    }
    return OK;
}

/* Every variable must be in an atom or computed from one. */
static enum status check_safe(struct finish *f)
{
    const struct cq *q = f->q;
    vset bound = 0;
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        const struct atom *a = &q->atoms[i];
        for (uint32_t k = 0; k < a->n_args; k++)
            if (a->args[k].kind == TERM_VAR)
                bound |= vset_one(a->args[k].id);
        if (a->rowid >= 0)
            bound |= vset_one((unsigned)a->rowid);
    }
    for (uint32_t i = 0; i < q->n_calcs; i++)
        bound |= vset_one(q->calcs[i].var);
    vset loose = vset_first_n(q->n_vars) & ~bound;
    if (!loose)
        return OK;
    struct str name = q->vars[vset_min(loose)].name;
    err_set(f->err, E_SYNTAX, "variable \"%.*s\" occurs in no relation",
            PSTR(name));
    err_hint(f->err, "Counting it would count the whole domain; put it into "
                     "a relation of the body.");
    return E_SYNTAX;
}

/* Does the term say nothing that the outs before it do not? */
static bool is_idle_out(const struct cq *q, struct term t)
{
    bool idle = t.kind == TERM_CONST;
    for (uint32_t i = 0; i < q->n_outs; i++)
        idle |= term_eq(q->outs[i], t);
    return idle;
}

/* The weight's output, which may stand among the outs already; a constant is
 * kept for its sake. */
static void place_weight(struct finish *f, struct term t, bool *idle)
{
    struct cq *q = f->q;
    uint32_t at = 0;
    while (*idle && at < q->n_outs && !term_eq(q->outs[at], t))
        at++;
    *idle = *idle && at < q->n_outs;
    q->weight = f->b->weight;
    q->weight.out = *idle ? at : q->n_outs;
}

static enum status number_all(struct finish *f)
{
    struct cq_builder *b = f->b;
    struct cq *q = f->q;
    q->vars = NEWS(b->arena, struct var, MAX_VARS);
    q->outs = NEWS(b->arena, struct term, b->outs.n + 1);
    if (!q->vars || !q->outs)
        return err_nomem(f->err);
    for (size_t i = 0; i < b->outs.n; i++) {
        struct term t = finish_resolve(f, b->outs.p[i]);
        TRY(number_term(f, &t));
        bool weight = b->weight.on && i == b->weight.out;
        bool idle = b->tidy_outs && i >= b->n_group && is_idle_out(q, t);
        if (weight)
            place_weight(f, t, &idle);
        if (!idle)
            q->outs[q->n_outs++] = t;
    }
    q->n_group = b->n_group;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        TRY(number_atom(f, &q->atoms[i]));
    for (size_t i = 0; i < b->calcs.n; i++) {
        struct term t =
            finish_resolve(f, (struct term){TERM_VAR, b->calcs.p[i].var});
        TRY(number_term(f, &t));
    }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        TRY(number_term(f, &q->cmps[i].l));
        TRY(number_term(f, &q->cmps[i].r));
    }
    follow_representatives(f);
    return OK;
}

/* --- row ids ---------------------------------------------------------------
 */

/* The table whose rows the variable numbers, or -1. */
static long table_of_rowid(const struct cq_builder *b, struct term t)
{
    for (size_t i = 0; t.kind == TERM_VAR && i < b->atoms.n; i++)
        if (b->atoms.p[i].rowid == (int32_t)t.id)
            return b->atoms.p[i].table;
    return -1;
}

static uint32_t rowid_uses(const struct cq_builder *b, uint32_t var)
{
    uint32_t n = 0;
    for (size_t i = 0; i < b->atoms.n; i++) {
        const struct atom *a = &b->atoms.p[i];
        n += a->rowid == (int32_t)var;
        for (uint32_t k = 0; k < a->n_args; k++)
            n += a->args[k].kind == TERM_VAR && a->args[k].id == var;
    }
    return n;
}

/*
 * PRIVACY: a row id says which row, not what is in it or where it stands.
 * Compared with a value or by order it would make the count depend on the
 * order of the rows, and one row more would renumber the others. Two rows of
 * one table may be required to differ.
 */
static enum status check_rowids(const struct cq_builder *b, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < b->equals.n; i++)
        ok &= table_of_rowid(b, b->equals.p[i].l) < 0 &&
              table_of_rowid(b, b->equals.p[i].r) < 0;
    for (size_t i = 0; i < b->cmps.n; i++) {
        const struct cmp *c = &b->cmps.p[i];
        long l = table_of_rowid(b, c->l), r = table_of_rowid(b, c->r);
        ok &= (l < 0 && r < 0) || (l == r && c->op == CMP_NE);
    }
    for (size_t i = 0; i < b->atoms.n; i++)
        ok &= b->atoms.p[i].rowid < 0 ||
              rowid_uses(b, (uint32_t)b->atoms.p[i].rowid) == 1;
    if (ok)
        return OK;
    err_set(err, E_UNSUPPORTED, "a row id is used as a value");
    err_detail(err, "Rows have no order and no number of their own.");
    err_hint(err, "Count it, or ask two rows of one table to differ: "
                  "Q(r, s) :- R@r(x), R@s(x), r != s.");
    return E_UNSUPPORTED;
}

static void use_const(struct finish *f, uint32_t *to, struct term *t)
{
    if (t->kind != TERM_CONST)
        return;
    if (to[t->id] == UINT32_MAX) {
        to[t->id] = f->q->n_consts;
        f->q->consts[f->q->n_consts++] = f->b->consts.p[t->id];
    }
    t->id = to[t->id];
}

/* Keeps the constants that atoms, comparisons and outputs name. */
static enum status finish_consts(struct finish *f)
{
    struct cq *q = f->q;
    size_t n = f->b->consts.n + 1;
    uint32_t *to = NEWS(f->b->arena, uint32_t, n);
    q->consts = NEWS(f->b->arena, struct value, n);
    if (!to || !q->consts)
        return err_nomem(f->err);
    for (size_t i = 0; i < n; i++)
        to[i] = UINT32_MAX;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        for (uint32_t k = 0; k < q->atoms[i].n_args; k++)
            use_const(f, to, &q->atoms[i].args[k]);
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        use_const(f, to, &q->cmps[i].l);
        use_const(f, to, &q->cmps[i].r);
    }
    for (uint32_t i = 0; i < q->n_outs; i++)
        use_const(f, to, &q->outs[i]);
    return OK;
}

/* PRIVACY: a weight is a number of one sign, whatever the row holds. */
static enum status check_weight(const struct cq *q, struct err *err)
{
    if (!q->weight.on)
        return OK;
    struct term t = cq_weight_term(q);
    if (q->weight.lo < 0 && q->weight.hi > 0)
        return err_set(err, E_UNSUPPORTED,
                       "a sum of this query has numbers of both signs");
    if (t.kind == TERM_CONST)
        return OK;
    enum type type = q->vars[t.id].type;
    bool number = type == T_INT || type == T_DEC || type == T_UNKNOWN;
    if (number && !q->vars[t.id].is_rowid)
        return OK;
    err_set(err, E_TYPE, "a sum of type %s is not supported", type_name(type));
    err_hint(err, "Sums are exact: of integers, and of numeric with a known "
                  "number of digits; write ROUND(x::numeric, 2).");
    return E_TYPE;
}

/* x IS NULL where x cannot be: of an outer join the rows with partners, when
 * those without are asked for. */
static bool is_impossible(const struct cq *q, const struct expr *e)
{
    if (e->op == X_AND)
        for (uint32_t i = 0; i < e->n_args; i++)
            if (is_impossible(q, e->args[i]))
                return true;
    return e->op == X_ISNULL && e->args[0]->op == X_VAR &&
           cq_var_nonnull(q, e->args[0]->var);
}

static bool has_impossible_pred(const struct cq *q)
{
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (is_impossible(q, q->preds[i].e))
            return true;
    return false;
}

enum status cq_finish(struct cq_builder *b, struct cq **out, struct err *err)
{
    struct finish f = {.b = b, .err = err};
    if (b->atoms.n == 0) {
        err_set(err, E_UNSUPPORTED, "the query reads no table");
        return E_UNSUPPORTED;
    }
    TRY(check_rowids(b, err));
    TRY(check_nodes(b, err));
    uint32_t *moved = NEWS(b->arena, uint32_t, b->atoms.n);
    if (!moved)
        return err_nomem(err);
    b->moved = moved;
    TRY(start(&f));
    f.q->schema = b->schema;
    f.q->name = b->name;
    substitute(&f);
    TRY(finish_atoms(&f, moved));
    TRY(mark_nonnull(&f));
    TRY(finish_cmps(&f));
    TRY(number_all(&f));
    TRY(finish_calcs(&f, moved));
    TRY(check_safe(&f));
    TRY(finish_consts(&f));
    f.q->unsat = b->unsat || has_impossible_pred(f.q);
    TRY(check_weight(f.q, err));
    cq_weight_tighten(f.q);
    if (cq_check(f.q))
        return err_internal(err, cq_check(f.q));
    *out = f.q;
    return OK;
}
