/*
 * Filters treated exactly, in SQL: a variable outside F that a comparison
 * ties to F is a boundary variable that ranges over all values. Only its
 * place among the values that it is compared with matters, so places become
 * numbers: the n-th value has place n * scale, and between two neighbours lie
 * as many places as there are such variables, or as there are values where
 * the type has no more (whole numbers, dates). The places of one family of
 * compared variables:
 *
 *   values  value v, place p, next value; shared by the others:
 *   inner   (x, place of x) for each inner variable x of the family
 *   outer   the places that an outer variable may take
 *
 * after which the comparisons are between whole numbers and the elimination
 * goes on as ever. A variable that occurs only in <> can always take a fresh
 * value; it and its comparisons are left out. The same numbers as
 * join_max_exact: see src/join/encode/exact.c for the argument.
 */
#include "pushdown/pushdown_gen.h"

vset part_exact_outside(const struct cq *q, aset f)
{
    vset inside = cq_vars_of(q, f), out = 0;
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (q->cmps[i].l.kind == TERM_VAR && q->cmps[i].r.kind == TERM_VAR)
            out |= cmp_vars(&q->cmps[i]);
    out &= ~inside;
    VSET_EACH (v, out)
        if (!cq_is_ordered(q, v))
            out &= ~vset_one(v);
    return out;
}

/* --- families of values ----------------------------------------------------*/

/* Variables that share a column or a comparison with one of `s`. */
static vset related(const struct cq *q, vset s)
{
    vset out = s;
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (cmp_vars(&q->cmps[i]) & s)
            out |= cmp_vars(&q->cmps[i]);
    for (uint32_t a = 0; a < q->n_atoms; a++)
        for (uint32_t c = 0; c < q->atoms[a].n_args; c++) {
            if (!(term_var(q->atoms[a].args[c]) & s))
                continue;
            ASET_EACH (o, cq_atoms_of_table(q, q->atoms[a].table))
                out |= term_var(q->atoms[o].args[c]);
        }
    return out;
}

static vset family(const struct cq *q, uint32_t v)
{
    vset s = vset_one(v), before = 0;
    while (s != before) {
        before = s;
        s = related(q, s);
    }
    return s;
}

static bool is_whole(enum type t)
{
    return t == T_INT || t == T_BOOL || t == T_DATE || t == T_TIMESTAMP ||
           t == T_TIME;
}

/* Every column and constant of the family has this type. */
static bool all_of(const struct cq *q, vset s, enum type t)
{
    for (uint32_t a = 0; a < q->n_atoms; a++) {
        const struct atom *at = &q->atoms[a];
        for (uint32_t c = 0; c < at->n_args; c++)
            if ((term_var(at->args[c]) & s) &&
                q->schema->tables.p[at->table].cols[c].type != t)
                return false;
    }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        struct term l = q->cmps[i].l, r = q->cmps[i].r;
        if (!(cmp_vars(&q->cmps[i]) & s))
            continue;
        if ((l.kind == TERM_CONST && q->consts[l.id].type != t) ||
            (r.kind == TERM_CONST && q->consts[r.id].type != t))
            return false;
    }
    return true;
}

bool part_exact_whole(const struct cq *q, uint32_t v)
{
    enum type t = q->vars[v].type;
    return is_whole(t) && all_of(q, family(q, v), t);
}

enum status part_exact_supported(const struct cq *q, const struct duck *duck,
                                 struct err *err)
{
    vset compared = 0;
    if (duck) {
        err_set(err, E_UNSUPPORTED, "DuckDB does not treat filters exactly");
        err_hint(err, "Use --engine embedded for this query.");
        return E_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < q->n_cmps; i++)
        compared |= cmp_vars(&q->cmps[i]);
    vset all = 0;
    VSET_EACH (v, compared)
        all |= family(q, v);
    bool calc = false;
    for (uint32_t i = 0; i < q->n_calcs; i++)
        calc |= vset_has(all, q->calcs[i].var);
    if (!calc && q->n_vars + vset_count(compared) <= MAX_VARS)
        return OK;
    err_set(err, E_UNSUPPORTED,
            calc ? "the database cannot treat a filter on a computed value "
                   "exactly"
                 : "the query has too many variables for exact filters in the "
                   "database");
    err_hint(err, "Use --engine embedded for this query.");
    return E_UNSUPPORTED;
}

/* --- SQL -------------------------------------------------------------------*/

struct exact_places {
    unsigned id;    /* of the values, in the pool */
    vset vars;      /* of the part, compared with or being outside */
    unsigned slots; /* between two neighbours */
    bool empty;     /* nothing to be compared with */
};

/* Comparisons of the part that touch a variable outside. */
static bool mine(const struct part *p, uint32_t i)
{
    return p->cmps[i] && (cmp_vars(&p->q->cmps[i]) & p->outside);
}

static void find_family(const struct part *p, unsigned first,
                        struct exact_places *f)
{
    vset before = 0;
    f->vars = vset_one(first);
    while (f->vars != before) {
        before = f->vars;
        for (uint32_t i = 0; i < p->q->n_cmps; i++)
            if (mine(p, i) && (cmp_vars(&p->q->cmps[i]) & f->vars))
                f->vars |= cmp_vars(&p->q->cmps[i]);
    }
    f->slots = vset_count(f->vars & p->outside);
}

static unsigned holder(const struct gen *g, unsigned v)
{
    unsigned r = 0;
    while (r < g->n && !(g->rels[r].live && vset_has(g->rels[r].vars, v)))
        r++;
    return r;
}

/* The constant of a comparison of v, or NULL. */
static const struct value *constant(const struct cq *q, uint32_t i, vset vars)
{
    const struct cmp *c = &q->cmps[i];
    if (!(cmp_vars(c) & vars))
        return NULL;
    if (c->l.kind == TERM_CONST)
        return &q->consts[c->l.id];
    return c->r.kind == TERM_CONST ? &q->consts[c->r.id] : NULL;
}

/* All values of the family, some more than once. */
static enum status values(struct gen *g, struct exact_places *f)
{
    const struct cq *q = g->p->q;
    unsigned n = 0;
    VSET_EACH (v, f->vars & ~g->p->outside) {
        unsigned r = holder(g, v);
        if (r == g->n)
            return err_internal(g->err, "pushdown: a variable without atom");
        sb_cstr(g->b, n++ ? " UNION ALL SELECT " : "SELECT ");
        gen_ref(g, &g->rels[r], "a", gen_col(&g->rels[r], v));
        sb_cstr(g->b, " AS v FROM ");
        gen_from(g, g->rels[r].id, "a");
        const char *between = " WHERE ";
        gen_where(g, g->rels[r].id, "a", &between);
    }
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct value *k =
            mine(g->p, i) ? constant(q, i, f->vars & g->p->outside) : NULL;
        if (!k)
            continue;
        sb_cstr(g->b, n++ ? " UNION ALL SELECT " : "SELECT ");
        TRY(sqlgen_const(&g->c->sql, k, g->b, g->err));
        sb_cstr(g->b, " AS v");
    }
    f->empty = !n;
    sb_cstr(g->b, n ? "" : "SELECT false AS v WHERE false");
    return OK;
}

static enum status value_table(struct gen *g, struct exact_places *f)
{
    gen_begin(g);
    sb_printf(
        g->b,
        "SELECT v, row_number() OVER (ORDER BY v) * %u AS p, "
        "lead(v) OVER (ORDER BY v) AS next FROM (SELECT DISTINCT v FROM (",
        f->slots + 1);
    TRY(values(g, f));
    sb_cstr(g->b, ") a) s");
    f->id = gen_pool(g, false);
    return OK;
}

static enum status place_rel(struct gen *g, const struct exact_places *f,
                             unsigned x)
{
    unsigned place = g->p->q->n_vars + g->n_places++;
    if (place >= MAX_VARS)
        return err_internal(g->err, "pushdown: too many places");
    g->place_of[place] = x;
    vset bit = vset_one(place);
    /* determined by x: whatever x is for, its place is */
    g->boundary |= vset_has(g->p->boundary, x) ? bit : 0;
    g->outs |= vset_has(g->p->outs, x) ? bit : 0;
    g->exists |= vset_has(g->p->exists, x) ? bit : 0;
    gen_begin(g);
    sb_cstr(g->b, "SELECT v");
    gen_as(g, x);
    sb_cstr(g->b, ", p");
    gen_as(g, place);
    sb_cstr(g->b, ", 1 AS w FROM ");
    gen_from(g, f->id, "d");
    struct gen_rel *r = gen_end(g, true);
    r->ones = true;
    r->key = vset_one(x);
    return OK;
}

/*
 * Are there s values between d.v and d.next (after the last value: NULL), and
 * before the first? Infinite dates are the ends of their type. Written so that
 * no subtraction can leave its type.
 */
static const char *room_after(enum type t)
{
    switch (t) {
    case T_INT:
        return "COALESCE(d.next::numeric - 1, 9223372036854775807) - "
               "d.v::numeric >= s.s";
    case T_BOOL:
        return "COALESCE(d.next::int - 1, 1) - d.v::int >= s.s";
    case T_DATE:
        return "CASE WHEN d.next IS NULL THEN d.v <> date 'infinity' "
               "WHEN d.v = date '-infinity' OR d.next = date 'infinity' "
               "THEN true ELSE d.next - d.v > s.s END";
    case T_TIMESTAMP:
        return "CASE WHEN d.next IS NULL THEN d.v <> timestamp 'infinity' "
               "WHEN d.v = timestamp '-infinity' "
               "OR d.next = timestamp 'infinity' THEN true "
               "WHEN d.v > timestamp '2000-01-01' "
               "THEN d.next - s.s * interval '1 microsecond' > d.v "
               "ELSE d.next > d.v + s.s * interval '1 microsecond' END";
    case T_TIME:
        return "d.next IS NULL OR "
               "d.next - d.v > s.s * interval '1 microsecond'";
    default:
        return "true";
    }
}

static void room_before(struct sb *b, enum type t, unsigned d)
{
    if (t == T_INT)
        sb_printf(b,
                  "COALESCE((SELECT min(v)::numeric + 9223372036854775808 "
                  "FROM m%u) >= s.s, true)",
                  d);
    else if (t == T_BOOL)
        sb_printf(b, "COALESCE((SELECT min(v::int) FROM m%u), 2) >= s.s", d);
    else if (t == T_DATE || t == T_TIMESTAMP)
        sb_printf(b,
                  "COALESCE((SELECT min(v) FROM m%u) <> %s '-infinity', true)",
                  d, t == T_DATE ? "date" : "timestamp");
    else
        sb_cstr(b, "true");
}

/* Comparisons of u with constants, by places. */
static enum status constant_cmps(struct gen *g, const struct exact_places *f,
                                 unsigned u)
{
    const struct cq *q = g->p->q;
    const char *between = " WHERE ";
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct value *k = constant(q, i, vset_one(u));
        enum cmp_op op = q->cmps[i].op;
        bool left = q->cmps[i].l.kind == TERM_CONST;
        if (!k)
            continue;
        if (!sqlgen_same_order(cq_column_type(q, u), k->type))
            return gen_refuse_types(g);
        sb_printf(g->b, "%s%s(SELECT p FROM m%u WHERE v = ", between,
                  left           ? ""
                  : op == CMP_NE ? "t.p <> "
                  : op == CMP_LT ? "t.p < "
                                 : "t.p <= ",
                  f->id);
        TRY(sqlgen_const(&g->c->sql, k, g->b, g->err));
        sb_cstr(g->b, !left          ? ")"
                      : op == CMP_NE ? ") <> t.p"
                      : op == CMP_LT ? ") < t.p"
                                     : ") <= t.p");
        between = " AND ";
    }
    return OK;
}

static enum status outer_rel(struct gen *g, const struct exact_places *f,
                             unsigned u)
{
    const struct cq *q = g->p->q;
    enum type t = part_exact_whole(q, u) ? q->vars[u].type : T_UNKNOWN;
    if (f->empty && t != T_BOOL)
        t = T_UNKNOWN;
    gen_begin(g);
    sb_cstr(g->b, "SELECT t.p");
    gen_as(g, u);
    sb_cstr(g->b, ", 1 AS w FROM (WITH s AS (SELECT * FROM (VALUES ");
    for (unsigned i = 1; i <= f->slots; i++)
        sb_printf(g->b, "%s(%u)", i > 1 ? ", " : "", i);
    sb_cstr(g->b, ") y(s)) SELECT p FROM ");
    gen_from(g, f->id, "d");
    sb_printf(g->b,
              " UNION ALL SELECT d.p + s.s FROM m%u d "
              "CROSS JOIN s WHERE %s UNION ALL SELECT s.s FROM s WHERE ",
              f->id, room_after(t));
    room_before(g->b, t, f->id);
    sb_cstr(g->b, ") t");
    TRY(constant_cmps(g, f, u));
    gen_end(g, false)->ones = true;
    return OK;
}

/* The variable that stands for v in comparisons of places. */
static uint32_t place(const struct gen *g, uint32_t v)
{
    for (uint32_t i = 0; i < g->n_places; i++)
        if (g->place_of[g->p->q->n_vars + i] == v)
            return g->p->q->n_vars + i;
    return v;
}

static enum status compare_places(struct gen *g)
{
    const struct cq *q = g->p->q;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (!mine(g->p, i) || c->l.kind != TERM_VAR || c->r.kind != TERM_VAR)
            continue;
        if (!sqlgen_same_order(cq_column_type(q, c->l.id),
                               cq_column_type(q, c->r.id)))
            return gen_refuse_types(g);
        g->cmps[g->n_cmps++] =
            (struct gcmp){c->op, place(g, c->l.id), place(g, c->r.id)};
    }
    return OK;
}

enum status gen_outside(struct gen *g)
{
    vset left = g->p->outside;
    while (left) {
        struct exact_places f = {0};
        find_family(g->p, vset_min(left), &f);
        TRY(value_table(g, &f));
        VSET_EACH (x, f.vars & ~g->p->outside)
            TRY(place_rel(g, &f, x));
        VSET_EACH (u, f.vars & g->p->outside)
            TRY(outer_rel(g, &f, u));
        left &= ~f.vars;
    }
    return compare_places(g);
}
