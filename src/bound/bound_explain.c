/*
 * The bound in words: which row costs most, and which constraint pays for
 * which variable. Read off the plans; nothing is computed here.
 */
#include "bound/bound_explain.h"

void bound_print_column(struct sb *b, const struct table *t, uint32_t col)
{
    if (col < t->n_cols && t->cols[col].name.n > 0)
        sb_str(b, t->cols[col].name);
    else
        sb_printf(b, "%u", col + 1);
}

static void bound_print_element(struct sb *b, const struct tab *t, uint32_t e)
{
    if (t->flag[e] & EL_CONST)
        value_print(b, &t->q->consts[e]);
    else if (t->var[e] >= 0)
        sb_str(b, t->q->vars[t->var[e]].name);
    else
        sb_char(b, '_');
}

static void bound_print_atom(struct sb *b, const struct tab *t, uint32_t i)
{
    const struct tab_atom *at = &t->atoms[i];
    const struct table *tb = &t->q->schema->tables.p[at->table];
    sb_str(b, tb->name);
    sb_char(b, '(');
    for (uint32_t j = 0; j < at->n && j < tb->n_cols; j++) {
        if (j > 0)
            sb_char(b, ',');
        bound_print_element(b, t, at->el[j]);
    }
    sb_char(b, ')');
}

static void say_bound(struct sb *b, u128 v)
{
    if (v == U128_INF)
        sb_cstr(b, "without limit");
    else
        sb_u128(b, v);
}

static void say_vars(struct sb *b, const struct upper *up, vset set)
{
    bool first = true;
    VSET_EACH (v, set) {
        if (!first)
            sb_cstr(b, ", ");
        first = false;
        bound_print_element(b, up->t, up->steps.el[v]);
    }
}

static void say_reason(struct sb *b, const struct upper *up,
                       const struct degree_step *st)
{
    const struct table *tb;
    switch (st->why) {
    case STEP_INTERVAL:
        sb_cstr(b, "its comparisons leave an interval of whole numbers");
        return;
    case STEP_BOOL:
        sb_cstr(b, "it is true or false");
        return;
    case STEP_CALC:
        sb_cstr(b, "it is computed");
        return;
    default:
        tb = &up->t->q->schema->tables.p[st->dep->table];
        if (st->dep->src)
            degree_print(b, tb, st->dep->src);
        else
            sb_cstr(b, "a row has one value in each column");
    }
}

static void say_plan(struct sb *b, const struct upper *up, uint32_t i)
{
    const struct upper_atom *at = &up->atoms[i];
    vset known = steps_set(&up->steps, up->t->atoms[i].el, up->t->atoms[i].n);
    known = steps_closure_fd(&up->steps, known);
    for (size_t k = 0; k < at->path.n_steps; k++) {
        const struct degree_step *st = &up->steps.p[at->path.steps[k]];
        sb_cstr(b, "      ");
        say_vars(b, up, st->y & ~known);
        sb_cstr(b, ": at most ");
        sb_u128(b, st->k);
        sb_cstr(b, st->k == 1 ? " value" : " values");
        sb_cstr(b, " (");
        say_reason(b, up, st);
        sb_cstr(b, ")\n");
        known = steps_closure_fd(&up->steps, known | st->y);
    }
}

static void say_atom(struct sb *b, const struct upper *up, uint32_t i)
{
    const struct upper_atom *at = &up->atoms[i];
    vset row = steps_set(&up->steps, up->t->atoms[i].el, up->t->atoms[i].n);
    sb_cstr(b, "    as ");
    bound_print_atom(b, up->t, i);
    if (at->lp == U128_INF) {
        sb_cstr(b, " it fixes nothing that leads to ");
        say_vars(b, up, up->goal & ~steps_closure(&up->steps, row));
        sb_cstr(b, ": any number of answers\n");
        return;
    }
    sb_cstr(b, " it brings about at most ");
    sb_u128(b, at->lp);
    sb_cstr(b, at->lp == 1 ? " answer\n" : " answers\n");
    say_plan(b, up, i);
    if (at->lp < at->plan) {
        sb_cstr(b, "      together fewer than the product ");
        sb_u128(b, at->plan);
        sb_cstr(b, " (entropy bound, certified)\n");
    }
}

static void say_table(struct sb *b, const struct upper *up,
                      const struct upper_table *tb)
{
    const struct table *t = &up->t->q->schema->tables.p[tb->table];
    sb_cstr(b, "  one row of ");
    sb_str(b, t->name);
    sb_cstr(b, tb->upper == U128_INF ? " can change the count "
                                     : " changes the count by at most ");
    say_bound(b, tb->upper);
    sb_char(b, '\n');
    if (up->goal != 0)
        for (uint32_t i = 0; i < up->t->n_atoms; i++)
            if (up->t->atoms[i].table == tb->table)
                say_atom(b, up, i);
    if (tb->upper < tb->lp && up->goal != 0) {
        sb_cstr(b, "    less than the sum ");
        say_bound(b, tb->lp);
        sb_cstr(b, up->pigeonhole
                       ? ": the query asks for more values than a constraint "
                         "allows, so some coincide\n"
                       : ": the parts it can play share answers or exclude "
                         "each other\n");
    }
}

static void say_all(struct sb *b, const struct upper *up,
                    const struct bound *out)
{
    const struct schema *sc = up->t->q->schema;
    if (up->t->unsat) {
        sb_cstr(b, "No database that satisfies the constraints has an "
                   "answer: the count is always 0.\n");
        return;
    }
    if (up->n_tables == 0) {
        sb_cstr(b, "No private table is left in the query: no row of a "
                   "private table changes the count.\n");
        return;
    }
    sb_cstr(b, "Global sensitivity: ");
    say_bound(b, out->upper);
    sb_cstr(b, out->exact ? ", attained by the witness.\n" : ".\n");
    if (sc->order > 1)
        sb_printf(b, "Neighbours differ in up to %u rows; for one row:\n",
                  sc->order);
    if (up->goal == 0)
        sb_cstr(b, "The query has no output that varies: it counts 0 or 1.\n");
    for (size_t i = 0; i < up->n_tables; i++)
        say_table(b, up, &up->tables[i]);
    if (out->gave_up)
        sb_cstr(b, "The work limit ended the search; the bound is sound but "
                   "may not be the smallest.\n");
}

enum status bound_explain(struct arena *a, const struct upper *up,
                          struct bound *out, struct err *err)
{
    struct sb b;
    sb_init(&b, a);
    say_all(&b, up, out);
    if (b.failed)
        return err_nomem(err);
    out->explanation = sb_view(&b);
    return OK;
}
