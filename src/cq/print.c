/* A query as rule text (cq_read reads it back) and as a Graphviz picture. */
#include "cq/cq.h"

#include <string.h>

static bool is_plain(struct str s)
{
    if (!s.n || (s.p[0] >= '0' && s.p[0] <= '9'))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '_';
        if (!ok)
            return false;
    }
    return !str_is(s, "_") && !str_is(s, "true") && !str_is(s, "false") &&
           !str_is(s, "null");
}

static void print_name(struct sb *b, struct str s)
{
    if (is_plain(s)) {
        sb_str(b, s);
        return;
    }
    sb_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            sb_char(b, '"');
        sb_char(b, s.p[i]);
    }
    sb_char(b, '"');
}

static void print_term(struct sb *b, const struct cq *q, struct term t)
{
    if (t.kind == TERM_ANY)
        sb_char(b, '_');
    else if (t.kind == TERM_CONST)
        value_print(b, &q->consts[t.id]);
    else
        print_name(b, q->vars[t.id].name);
}

static void print_atom(struct sb *b, const struct cq *q, const struct atom *a)
{
    print_name(b, q->schema->tables.p[a->table].name);
    if (a->rowid >= 0) {
        sb_char(b, '@');
        print_name(b, q->vars[a->rowid].name);
    }
    sb_char(b, '(');
    for (uint32_t i = 0; i < a->n_args; i++) {
        if (i)
            sb_char(b, ',');
        print_term(b, q, a->args[i]);
    }
    sb_char(b, ')');
}

/* Behind all outputs, its own among them. */
static void print_weight(struct sb *b, const struct cq *q)
{
    struct sb of;
    sb_init(&of, b->arena);
    print_term(&of, q, cq_weight_term(q));
    b->failed |= of.failed;
    if (q->n_group < q->n_outs)
        sb_char(b, ',');
    if (!of.failed)
        cq_weight_print(b, &q->weight, sb_view(&of));
}

static void print_head(struct sb *b, const struct cq *q)
{
    print_name(b, q->name);
    sb_char(b, '(');
    for (uint32_t i = 0; i < q->n_outs; i++) {
        if (i)
            sb_char(b, i == q->n_group ? ';' : ',');
        print_term(b, q, q->outs[i]);
    }
    if (q->n_group && q->n_group == q->n_outs)
        sb_char(b, ';');
    if (q->weight.on)
        print_weight(b, q);
    sb_char(b, ')');
}

/* Expressions name variables; quoted where needed. */
struct names {
    struct arena *arena;
    const struct cq *q;
};

static struct str quoted_name(const void *ctx, uint32_t var)
{
    const struct names *n = ctx;
    struct sb b;
    sb_init(&b, n->arena);
    print_name(&b, n->q->vars[var].name);
    return sb_view(&b);
}

static void print_expr(struct sb *b, const struct cq *q, const struct expr *e)
{
    struct names n = {b->arena, q};
    sb_char(b, '{');
    expr_print(b, e, quoted_name, &n);
    sb_char(b, '}');
}

/* Variables that must not be NULL though nothing in the text shows it. */
static bool shows_nonnull(const struct cq *q, uint32_t v)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        for (uint32_t k = 0; k < q->atoms[i].n_args; k++)
            uses += q->atoms[i].args[k].kind == TERM_VAR &&
                    q->atoms[i].args[k].id == v;
    for (uint32_t i = 0; i < q->n_calcs; i++)
        uses += q->calcs[i].var == v;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        if ((q->cmps[i].l.kind == TERM_VAR && q->cmps[i].l.id == v) ||
            (q->cmps[i].r.kind == TERM_VAR && q->cmps[i].r.id == v))
            uses = 2;
    }
    return uses > 1;
}

static void print_nonnull(struct sb *b, const struct cq *q)
{
    for (uint32_t v = 0; v < q->n_vars; v++) {
        struct var var = q->vars[v];
        if (!var.nonnull || shows_nonnull(q, v))
            continue;
        /* in a NOT NULL column the demand says nothing */
        struct cq without = *q;
        struct var vars[MAX_VARS];
        memcpy(vars, q->vars, q->n_vars * sizeof *vars);
        vars[v].nonnull = false;
        without.vars = vars;
        if (cq_var_nonnull(&without, v))
            continue;
        sb_cstr(b, ", ");
        print_name(b, var.name);
        sb_cstr(b, " != null");
    }
}

void cq_print(struct sb *b, const struct cq *q)
{
    static const char *const ops[] = {" != ", " < ", " <= "};
    print_head(b, q);
    sb_cstr(b, " :- ");
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        if (i)
            sb_cstr(b, ", ");
        print_atom(b, q, &q->atoms[i]);
    }
    for (uint32_t i = 0; i < q->n_calcs; i++) {
        sb_cstr(b, ", ");
        print_name(b, q->vars[q->calcs[i].var].name);
        sb_cstr(b, " := ");
        print_expr(b, q, q->calcs[i].e);
    }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        sb_cstr(b, ", ");
        print_term(b, q, q->cmps[i].l);
        sb_cstr(b, ops[q->cmps[i].op]);
        print_term(b, q, q->cmps[i].r);
    }
    for (uint32_t i = 0; i < q->n_preds; i++) {
        sb_cstr(b, ", ");
        print_expr(b, q, q->preds[i].e);
    }
    print_nonnull(b, q);
    if (q->unsat)
        sb_cstr(b, ", false");
    sb_char(b, '.');
}

struct str cq_text(struct arena *a, const struct cq *q)
{
    struct sb b;
    sb_init(&b, a);
    cq_print(&b, q);
    return b.failed ? (struct str){NULL, 0} : sb_view(&b);
}

/* --- picture ---------------------------------------------------------------
 */

/* Text inside a DOT string. */
static void dot_text(struct sb *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            sb_char(b, '\\');
        sb_char(b, s.p[i]);
    }
}

static void dot_atom(struct sb *b, const struct cq *q, uint32_t i)
{
    const struct table *t = &q->schema->tables.p[q->atoms[i].table];
    struct sb label;
    sb_init(&label, b->arena);
    print_atom(&label, q, &q->atoms[i]);
    sb_printf(b, "  a%u [shape=box, style=filled, fillcolor=\"%s\", label=\"",
              i, table_is_private(t) ? "#f4d9d6" : "#dcebdc");
    dot_text(b, sb_view(&label));
    sb_cstr(b, "\"];\n");
    VSET_EACH (v, atom_vars(q, i)) {
        sb_printf(b, "  a%u -- v%u;\n", i, v);
    }
}

void cq_dot(struct sb *b, const struct cq *q)
{
    static const char *const ops[] = {"!=", "<", "<="};
    vset out = cq_free(q);
    sb_cstr(b, "graph query {\n  node [fontname=\"Helvetica\"];\n"
               "  label=\"boxes: tables (red private, green public); "
               "double circles: counted variables\";\n");
    for (uint32_t v = 0; v < q->n_vars; v++) {
        sb_printf(b, "  v%u [shape=%s, label=\"", v,
                  vset_has(out, v) ? "doublecircle" : "circle");
        dot_text(b, q->vars[v].name);
        sb_cstr(b, "\"];\n");
    }
    for (uint32_t i = 0; i < q->n_atoms; i++)
        dot_atom(b, q, i);
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (c->l.kind == TERM_VAR && c->r.kind == TERM_VAR)
            sb_printf(b, "  v%u -- v%u [style=dashed, label=\"%s\"];\n",
                      c->l.id, c->r.id, ops[c->op]);
    }
    sb_cstr(b, "}\n");
}
