/*
 * Writing a structure back as a query: variables are renumbered in the order
 * of the original, elements that occur once and that nobody named become
 * "any", and filters follow their variables.
 */
#include "logic/tableau.h"

struct writer {
    struct arena *a;
    const struct tab *t;
    struct cq *q;
    uint32_t *uses;      /* occurrences of each element in atoms */
    uint32_t *new_var;   /* element -> variable, NO_EL: none */
    uint32_t *new_const; /* element -> constant, NO_EL: none */
};

static bool is_const(const struct writer *w, uint32_t e)
{
    return w->t->flag[e] & EL_CONST;
}

static bool is_var(const struct writer *w, uint32_t e)
{
    if (is_const(w, e))
        return false;
    return w->t->var[e] >= 0 || w->uses[e] > 1;
}

static bool name_taken(const struct writer *w, struct str name)
{
    for (uint32_t i = 0; i < w->t->q->n_vars; i++)
        if (str_eq(w->t->q->vars[i].name, name))
            return true;
    for (uint32_t i = 0; i < w->q->n_vars; i++)
        if (str_eq(w->q->vars[i].name, name))
            return true;
    return false;
}

static struct str fresh_name(struct writer *w)
{
    for (unsigned i = 1;; i++) {
        struct str s = str_printf(w->a, "u%u", i);
        if (!s.p || !name_taken(w, s))
            return s;
    }
}

static enum type column_type(const struct writer *w, uint32_t e)
{
    const struct tab *t = w->t;
    for (uint32_t i = 0; i < t->n_atoms; i++)
        for (uint32_t j = 0; j < t->atoms[i].n; j++) {
            const struct table *tb = &t->q->schema->tables.p[t->atoms[i].table];
            if (j < tb->n_cols && t->atoms[i].el[j] == e)
                return tb->cols[j].type;
        }
    return T_UNKNOWN;
}

static enum status write_var(struct writer *w, uint32_t e, struct err *err)
{
    const struct tab *t = w->t;
    struct var v = {.nonnull = t->flag[e] & EL_NONNULL};
    if (t->var[e] >= 0) {
        const struct var *old = &t->q->vars[t->var[e]];
        v.name = old->name;
        v.type = old->type;
        v.is_rowid = old->is_rowid;
    } else {
        v.name = fresh_name(w);
        v.type = column_type(w, e);
        if (!v.name.p)
            return err_nomem(err);
    }
    if (w->q->n_vars == MAX_VARS)
        return err_set(err, E_TOO_LARGE, "the query has too many variables");
    w->new_var[e] = w->q->n_vars;
    w->q->vars[w->q->n_vars++] = v;
    return OK;
}

static bool computed(const struct tab *t, uint32_t e)
{
    for (uint32_t i = 0; i < t->n_calcs; i++)
        if (t->calcs[i].out == e)
            return true;
    return false;
}

static enum status write_vars(struct writer *w, struct err *err)
{
    const struct tab *t = w->t;
    for (uint32_t i = 0; i < t->n_atoms; i++)
        for (uint32_t j = 0; j < t->atoms[i].n; j++)
            w->uses[t->atoms[i].el[j]]++;
    for (uint32_t e = 0; e < t->n_el; e++) {
        bool used = t->rep[e] == e && (w->uses[e] > 0 || computed(t, e));
        if (used && is_var(w, e))
            TRY(write_var(w, e, err));
    }
    return OK;
}

static uint32_t const_of(struct writer *w, uint32_t e)
{
    if (w->new_const[e] == NO_EL) {
        w->new_const[e] = w->q->n_consts;
        w->q->consts[w->q->n_consts++] = w->t->q->consts[e];
    }
    return w->new_const[e];
}

static struct term term_of(struct writer *w, uint32_t e)
{
    e = tab_find(w->t, e);
    if (is_const(w, e))
        return (struct term){TERM_CONST, const_of(w, e)};
    if (w->new_var[e] == NO_EL)
        return (struct term){TERM_ANY, 0};
    return (struct term){TERM_VAR, w->new_var[e]};
}

static enum status write_atoms(struct writer *w, struct err *err)
{
    const struct tab *t = w->t;
    for (uint32_t i = 0; i < t->n_atoms; i++) {
        const struct tab_atom *at = &t->atoms[i];
        struct atom *to = &w->q->atoms[i];
        uint32_t width = at->n;
        to->rowid = -1;
        /* The last column is the row id if the table is read as a bag. */
        for (uint32_t j = 0; j < t->q->n_atoms; j++)
            if (t->q->atoms[j].table == at->table)
                width = t->q->atoms[j].n_args;
        if (width < at->n && w->new_var[at->el[width]] != NO_EL)
            to->rowid = (int32_t)w->new_var[at->el[width]];
        to->table = at->table;
        to->n_args = width;
        to->args = NEWS(w->a, struct term, width);
        if (!to->args)
            return err_nomem(err);
        for (uint32_t j = 0; j < width; j++)
            to->args[j] = term_of(w, at->el[j]);
    }
    w->q->n_atoms = t->n_atoms;
    return OK;
}

static struct expr *map_expr(struct writer *w, const struct expr *e)
{
    const struct cq *old = w->t->q;
    uint32_t *to = NEWS(w->a, uint32_t, MAX_VARS);
    const struct value **consts = NEWS(w->a, const struct value *, MAX_VARS);
    if (!to || !consts)
        return NULL;
    for (uint32_t v = 0; v < old->n_vars; v++) {
        uint32_t el = tab_find(w->t, old->n_consts + v);
        if (is_const(w, el))
            consts[v] = &old->consts[el];
        else
            to[v] = w->new_var[el];
    }
    return expr_map(w->a, e, to, consts);
}

static enum status write_filters(struct writer *w, struct err *err)
{
    const struct tab *t = w->t;
    const struct cq *old = t->q;
    for (uint32_t i = 0; i < t->n_cmps; i++)
        w->q->cmps[i] = (struct cmp){.op = t->cmps[i].op,
                                     .l = term_of(w, t->cmps[i].l),
                                     .r = term_of(w, t->cmps[i].r)};
    w->q->n_cmps = t->n_cmps;
    for (uint32_t i = 0; i < old->n_preds; i++) {
        struct expr *e = map_expr(w, old->preds[i].e);
        if (!e)
            return err_nomem(err);
        w->q->preds[i] = (struct pred){t->of_atom[old->preds[i].atom], e};
    }
    w->q->n_preds = old->n_preds;
    for (uint32_t i = 0; i < old->n_calcs; i++) {
        struct expr *e = map_expr(w, old->calcs[i].e);
        if (!e)
            return err_nomem(err);
        w->q->calcs[i] = (struct calc){t->of_atom[old->calcs[i].atom],
                                       w->new_var[t->calcs[i].out], e};
    }
    w->q->n_calcs = old->n_calcs;
    return OK;
}

static enum status make_room(struct writer *w, struct err *err)
{
    const struct tab *t = w->t;
    struct cq *q = w->q;
    q->vars = NEWS(w->a, struct var, MAX_VARS);
    q->consts = NEWS(w->a, struct value, t->q->n_consts);
    q->atoms = NEWS(w->a, struct atom, t->n_atoms);
    q->cmps = NEWS(w->a, struct cmp, t->n_cmps);
    q->preds = NEWS(w->a, struct pred, t->q->n_preds);
    q->calcs = NEWS(w->a, struct calc, t->q->n_calcs);
    q->outs = NEWS(w->a, struct term, t->n_outs);
    w->uses = NEWS(w->a, uint32_t, t->n_el);
    w->new_var = NEWS(w->a, uint32_t, t->n_el);
    w->new_const = NEWS(w->a, uint32_t, t->n_el);
    if (!q->vars || !q->consts || !q->atoms || !q->cmps || !q->preds ||
        !q->calcs || !q->outs || !w->uses || !w->new_var || !w->new_const)
        return err_nomem(err);
    for (uint32_t e = 0; e < t->n_el; e++)
        w->new_var[e] = w->new_const[e] = NO_EL;
    return OK;
}

enum status tab_to_cq(struct arena *a, const struct tab *t, struct cq **out,
                      struct err *err)
{
    struct writer w = {.a = a, .t = t, .q = NEW(a, struct cq)};
    if (!w.q)
        return err_nomem(err);
    TRY(make_room(&w, err));
    w.q->schema = t->q->schema;
    w.q->name = t->q->name;
    w.q->n_group = t->q->n_group;
    w.q->weight = t->q->weight;
    w.q->unsat = t->unsat;
    TRY(write_vars(&w, err));
    TRY(write_atoms(&w, err));
    TRY(write_filters(&w, err));
    for (uint32_t i = 0; i < t->n_outs; i++)
        w.q->outs[i] = term_of(&w, t->outs[i]);
    w.q->n_outs = t->n_outs;
    *out = w.q;
    return OK;
}
