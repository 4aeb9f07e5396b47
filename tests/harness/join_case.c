/* See join_case.h. */
#include "harness/join_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t jc_below(struct jc_rng *r, uint32_t n)
{
    r->s = r->s * 6364136223846793005u + 1442695040888963407u;
    return n ? (uint32_t)((r->s >> 33) % n) : 0;
}

/* --- database ----------------------------------------------------------- */

static const char *const words[] = {"",  "a", "ab", "b", "c\xc3\xa9",
                                    "d", "e", "f",  "g", "h"};

struct value jc_value(const struct join_case *c, int32_t v)
{
    struct value x = {0};
    if (v == JC_NULL)
        return value_null();
    x.type = c->type;
    x.i = v * c->step;
    x.f = (double)v * 0.5;
    if (c->type == T_TEXT)
        x.s = str_of(words[v]);
    return x;
}

static void fill_column(struct join_case *c, const struct jc_table *t,
                        uint32_t col, struct store_column *out)
{
    int64_t *i64 = NEWS(&c->arena, int64_t, t->n_rows);
    int32_t *i32 = NEWS(&c->arena, int32_t, t->n_rows);
    bool small = true;
    double *f64 = NEWS(&c->arena, double, t->n_rows);
    uint32_t *code = NEWS(&c->arena, uint32_t, t->n_rows);
    uint64_t *nulls = NEWS(&c->arena, uint64_t, 1);
    struct str *dict = NEWS(&c->arena, struct str, 10);
    for (uint32_t r = 0; r < t->n_rows; r++) {
        int32_t v = t->v[r][col];
        if (v == JC_NULL) {
            nulls[0] |= (uint64_t)1 << r;
            out->nulls = nulls;
            continue;
        }
        i64[r] = v * c->step;
        i32[r] = (int32_t)i64[r];
        small = small && i32[r] == i64[r];
        f64[r] = (double)v * 0.5;
        code[r] = (uint32_t)v;
    }
    for (uint32_t i = 0; i < 10; i++)
        dict[i] = str_of(words[i]);
    out->present = true;
    out->type = c->type;
    if (c->type == T_TEXT) {
        out->code = code;
        out->dict = dict;
        out->n_dict = 10;
    } else if (c->type == T_REAL) {
        out->f64 = f64;
    } else if (small && col % 2) { /* either layout, also side by side */
        out->i32 = i32;
    } else {
        out->i64 = i64;
    }
}

static void make_tables(struct join_case *c, struct jc_rng *r,
                        const struct jc_shape *s)
{
    c->st.mem = &c->mem;
    c->st.schema = &c->schema;
    c->st.n_tables = JC_TABLES;
    c->st.tables = NEWS(&c->arena, struct store_table, JC_TABLES);
    for (uint32_t i = 0; i < JC_TABLES; i++) {
        struct jc_table *t = &c->t[i];
        t->n_cols = s->graph ? 2 : 1 + jc_below(r, JC_ARITY);
        t->n_rows = jc_below(r, s->rows + 1);
        for (uint32_t k = 0; k < t->n_rows * JC_ARITY; k++)
            t->v[k / JC_ARITY][k % JC_ARITY] =
                s->nulls && jc_below(r, 5) == 0
                    ? JC_NULL
                    : (int32_t)jc_below(r, s->domain);
        for (uint32_t k = 1; s->symmetric && k < t->n_rows; k += 2) {
            t->v[k][0] = t->v[k - 1][1];
            t->v[k][1] = t->v[k - 1][0];
        }
        t->n_rows &= s->symmetric ? ~1u : ~0u;
        struct store_table *st = &c->st.tables[i];
        st->n_rows = t->n_rows;
        st->n_cols = t->n_cols;
        st->loaded = true;
        st->cols = NEWS(&c->arena, struct store_column, t->n_cols);
        for (uint32_t k = 0; k < t->n_cols; k++)
            fill_column(c, t, k, &st->cols[k]);
    }
}

/* --- query -------------------------------------------------------------- */

static void make_atoms(struct join_case *c, struct jc_rng *r,
                       const struct jc_shape *s, uint32_t *uses)
{
    struct cq *q = &c->q;
    q->n_atoms = 1 + jc_below(r, s->atoms);
    q->atoms = NEWS(&c->arena, struct atom, q->n_atoms);
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        struct atom *a = &q->atoms[i];
        a->table = s->graph ? 0 : jc_below(r, JC_TABLES);
        a->n_args = c->t[a->table].n_cols;
        a->args = NEWS(&c->arena, struct term, a->n_args);
        a->rowid = -1;
        for (uint32_t k = 0; k < a->n_args; k++) {
            uint32_t what = jc_below(r, 10);
            if (s->consts && what == 0) {
                a->args[k].kind = TERM_CONST;
                a->args[k].id = jc_below(r, q->n_consts);
            } else if (s->consts && what == 1) {
                a->args[k].kind = TERM_ANY;
            } else {
                a->args[k].kind = TERM_VAR;
                a->args[k].id = jc_below(r, q->n_vars);
                uses[a->args[k].id]++;
            }
        }
    }
}

static void make_rowids(struct join_case *c, struct jc_rng *r)
{
    struct cq *q = &c->q;
    for (uint32_t i = 0; i < q->n_atoms; i++)
        if (jc_below(r, 3) == 0) {
            q->atoms[i].rowid = (int32_t)q->n_vars;
            q->vars[q->n_vars].is_rowid = true;
            q->vars[q->n_vars++].nonnull = true;
        }
}

static void make_cmps(struct join_case *c, struct jc_rng *r,
                      const struct jc_shape *s, const uint32_t *uses)
{
    struct cq *q = &c->q;
    uint32_t n_vars = q->n_vars, n = s->cmps ? jc_below(r, s->cmps + 1) : 0;
    q->cmps = NEWS(&c->arena, struct cmp, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = jc_below(r, n_vars), b = jc_below(r, n_vars);
        if (a == b || !uses[a] || !uses[b])
            continue;
        struct cmp *k = &q->cmps[q->n_cmps++];
        k->op = s->order ? (enum cmp_op)jc_below(r, 3) : CMP_NE;
        k->l.kind = k->r.kind = TERM_VAR;
        k->l.id = a;
        k->r.id = b;
        q->vars[a].nonnull = true;
        q->vars[b].nonnull = true;
        if (s->consts && jc_below(r, 4) == 0) {
            struct term *side = jc_below(r, 2) ? &k->l : &k->r;
            side->kind = TERM_CONST;
            side->id = jc_below(r, q->n_consts);
        }
    }
}

static void make_all_differ(struct join_case *c)
{
    struct cq *q = &c->q;
    q->cmps = NEWS(&c->arena, struct cmp, (size_t)q->n_vars * q->n_vars);
    for (uint32_t a = 0; a < q->n_vars; a++)
        for (uint32_t b = 0; b < a; b++) {
            struct cmp *k = &q->cmps[q->n_cmps++];
            k->op = CMP_NE;
            k->l.kind = k->r.kind = TERM_VAR;
            k->l.id = a;
            k->r.id = b;
            q->vars[a].nonnull = q->vars[b].nonnull = true;
        }
}

/* v IS DISTINCT FROM the first constant. */
static void make_pred(struct join_case *c, struct jc_rng *r)
{
    struct cq *q = &c->q;
    uint32_t i = jc_below(r, q->n_atoms);
    const struct atom *a = &q->atoms[i];
    if (a->args[0].kind != TERM_VAR)
        return;
    struct expr *e = NEW(&c->arena, struct expr);
    struct expr *v = NEW(&c->arena, struct expr);
    struct expr *k = NEW(&c->arena, struct expr);
    v->op = X_VAR;
    v->type = c->type;
    v->var = a->args[0].id;
    k->op = X_CONST;
    k->type = c->type;
    k->val = q->consts[0];
    e->op = X_DISTINCT;
    e->type = T_BOOL;
    e->args = NEWS(&c->arena, struct expr *, 2);
    e->args[0] = v;
    e->args[1] = k;
    e->n_args = 2;
    q->preds = NEW(&c->arena, struct pred);
    q->preds[0].atom = i;
    q->preds[0].e = e;
    q->n_preds = 1;
}

/* Variables that nothing uses are renumbered away. */
static void drop_unused(struct cq *q, uint32_t *uses)
{
    for (uint32_t v = 0; v < q->n_vars;) {
        if (uses[v]) {
            v++;
            continue;
        }
        q->n_vars--;
        uses[v] = uses[q->n_vars];
        q->vars[v] = q->vars[q->n_vars];
        for (uint32_t i = 0; i < q->n_atoms; i++)
            for (uint32_t k = 0; k < q->atoms[i].n_args; k++)
                if (q->atoms[i].args[k].kind == TERM_VAR &&
                    q->atoms[i].args[k].id == q->n_vars)
                    q->atoms[i].args[k].id = v;
    }
}

static void make_query(struct join_case *c, struct jc_rng *r,
                       const struct jc_shape *s)
{
    struct cq *q = &c->q;
    uint32_t uses[MAX_VARS] = {0};
    q->schema = &c->schema;
    q->n_consts = s->domain;
    q->consts = NEWS(&c->arena, struct value, q->n_consts);
    for (uint32_t i = 0; i < q->n_consts; i++)
        q->consts[i] = jc_value(c, (int32_t)i);
    q->vars = NEWS(&c->arena, struct var, MAX_VARS);
    q->n_vars = 1 + jc_below(r, s->vars);
    for (uint32_t v = 0; v < q->n_vars; v++)
        q->vars[v].type = c->type;
    make_atoms(c, r, s, uses);
    drop_unused(q, uses);
    for (uint32_t v = 0; v < q->n_vars; v++)
        q->vars[v].nonnull = uses[v] > 1 || jc_below(r, 4) == 0;
    if (s->all_differ)
        make_all_differ(c);
    else if (q->n_vars)
        make_cmps(c, r, s, uses);
    if (s->preds)
        make_pred(c, r);
    if (s->bags)
        make_rowids(c, r);
    q->outs = NEWS(&c->arena, struct term, q->n_vars);
    bool full = jc_below(r, 2) == 0;
    for (uint32_t v = 0; v < q->n_vars; v++)
        if (full || jc_below(r, 2)) {
            q->outs[q->n_outs].kind = TERM_VAR;
            q->outs[q->n_outs++].id = v;
        }
}

void jc_make(struct join_case *c, struct jc_rng *r, const struct jc_shape *s)
{
    memset(c, 0, sizeof *c);
    mem_init(&c->mem, 0);
    arena_init(&c->arena, &c->mem);
    c->type = s->type;
    c->step = s->step ? s->step : 1;
    make_tables(c, r, s);
    make_query(c, r, s);
}

void jc_free(struct join_case *c)
{
    arena_fini(&c->arena);
}

/* --- oracle ------------------------------------------------------------- */

struct found { /* one result: values of the variables of F, boundary, outs */
    int32_t *row;
    size_t n, cap;
};

struct search {
    const struct join_case *c;
    aset f;
    vset vars, boundary, outs, outside;
    bool exact;
    int32_t val[MAX_VARS];
    bool has[MAX_VARS];
    int32_t low, high; /* range of outside variables, in units of value/step */
    struct found found;
};

static vset atom_set(const struct cq *q, uint32_t i)
{
    vset s = 0;
    for (uint32_t k = 0; k < q->atoms[i].n_args; k++)
        if (q->atoms[i].args[k].kind == TERM_VAR)
            s |= vset_one(q->atoms[i].args[k].id);
    if (q->atoms[i].rowid >= 0)
        s |= vset_one((unsigned)q->atoms[i].rowid);
    return s;
}

static bool cmp_holds(const struct search *s, const struct cmp *k)
{
    struct term t[2] = {k->l, k->r};
    int64_t x[2];
    for (int i = 0; i < 2; i++) {
        if (t[i].kind == TERM_CONST) {
            x[i] = (int64_t)t[i].id * s->c->step; /* constants are 0, 1, .. */
            continue;
        }
        if (!s->has[t[i].id])
            return true; /* not all its variables are in vars(F) */
        x[i] = vset_has(s->outside, t[i].id)
                   ? s->val[t[i].id]
                   : (int64_t)s->val[t[i].id] * s->c->step;
    }
    return k->op == CMP_NE   ? x[0] != x[1]
           : k->op == CMP_LT ? x[0] < x[1]
                             : x[0] <= x[1];
}

static void record(struct search *s)
{
    const struct cq *q = &s->c->q;
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (!cmp_holds(s, &q->cmps[i]))
            return;
    if (s->found.n == s->found.cap) {
        s->found.cap = s->found.cap ? s->found.cap * 2 : 64;
        s->found.row =
            realloc(s->found.row, s->found.cap * q->n_vars * sizeof(int32_t));
    }
    if (q->n_vars)
        memcpy(s->found.row + s->found.n * q->n_vars, s->val,
               q->n_vars * sizeof(int32_t));
    s->found.n++;
}

static void search_outside(struct search *s, uint32_t v)
{
    while (v < s->c->q.n_vars && !vset_has(s->outside, v))
        v++;
    if (v == s->c->q.n_vars) {
        record(s);
        return;
    }
    s->has[v] = true;
    for (s->val[v] = s->low; s->val[v] <= s->high; s->val[v]++)
        search_outside(s, v + 1);
    s->has[v] = false;
    s->val[v] = 0;
}

static bool bind(struct search *s, uint32_t v, int32_t x, vset *bound)
{
    if (x == JC_NULL && s->c->q.vars[v].nonnull)
        return false;
    if (s->has[v])
        return s->val[v] == x;
    s->has[v] = true;
    s->val[v] = x;
    *bound |= vset_one(v);
    return true;
}

static bool preds_hold(const struct search *s, uint32_t atom)
{
    const struct cq *q = &s->c->q;
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (q->preds[i].atom == atom &&
            s->val[q->preds[i].e->args[0]->var] == 0)
            return false; /* IS DISTINCT FROM the constant 0 */
    return true;
}

static void search_atom(struct search *s, uint32_t i)
{
    const struct cq *q = &s->c->q;
    while (i < q->n_atoms && !aset_has(s->f, i))
        i++;
    if (i == q->n_atoms) {
        search_outside(s, 0);
        return;
    }
    const struct atom *a = &q->atoms[i];
    const struct jc_table *t = &s->c->t[a->table];
    for (uint32_t r = 0; r < t->n_rows; r++) {
        vset bound = 0;
        bool ok = true;
        for (uint32_t k = 0; ok && k < a->n_args; k++) {
            if (a->args[k].kind == TERM_CONST)
                ok = t->v[r][k] == (int32_t)a->args[k].id;
            else if (a->args[k].kind == TERM_VAR)
                ok = bind(s, a->args[k].id, t->v[r][k], &bound);
        }
        if (ok && a->rowid >= 0)
            ok = bind(s, (uint32_t)a->rowid, (int32_t)r, &bound);
        if (ok && preds_hold(s, i))
            search_atom(s, i + 1);
        VSET_EACH (v, bound) {
            s->has[v] = false;
            s->val[v] = 0;
        }
    }
}

/* Orders results by boundary, then outputs. */
static int cmp_found(const void *a, const void *b, void *ctx)
{
    const struct search *s = ctx;
    const int32_t *x = a, *y = b;
    vset keys[2] = {s->boundary | s->outside, s->outs};
    for (int i = 0; i < 2; i++)
        VSET_EACH (v, keys[i])
            if (x[v] != y[v])
                return x[v] < y[v] ? -1 : 1;
    return 0;
}

static u128 largest_group(struct search *s)
{
    uint32_t w = s->c->q.n_vars;
    u128 best = 0, run = 0;
    if (!w)
        return s->found.n > 0;
    if (s->found.n)
        qsort_r(s->found.row, s->found.n, w * sizeof(int32_t), cmp_found, s);
    for (size_t i = 0; i < s->found.n; i++) {
        const int32_t *x = s->found.row + i * w;
        bool same = i > 0;
        VSET_EACH (v, s->boundary | s->outside)
            same = same && x[v] == (x - w)[v];
        if (!same)
            run = 1;
        else if (cmp_found(x - w, x, s) != 0)
            run++;
        if (run > best)
            best = run;
    }
    return best;
}

u128 jc_oracle(const struct join_case *c, aset f, vset boundary, vset outs,
               bool exact)
{
    const struct cq *q = &c->q;
    struct search s = {.c = c, .f = f, .exact = exact};
    if (!f)
        return 1;
    ASET_EACH (i, f)
        s.vars |= atom_set(q, i);
    s.boundary = boundary & s.vars;
    s.outs = outs & s.vars;
    if (exact) {
        for (uint32_t i = 0; i < q->n_cmps; i++) {
            /* only comparisons between variables make one of them count */
            if (q->cmps[i].l.kind == TERM_VAR && q->cmps[i].r.kind == TERM_VAR)
                s.outside |=
                    vset_one(q->cmps[i].l.id) | vset_one(q->cmps[i].r.id);
        }
        s.outside &= ~s.vars;
        s.low = -4;
        s.high = (int32_t)(q->n_consts * (uint32_t)c->step) + 4;
    }
    search_atom(&s, 0);
    u128 best = largest_group(&s);
    free(s.found.row);
    return best;
}

u128 jc_oracle_group(const struct join_case *c, const int32_t *key)
{
    const struct cq *q = &c->q;
    struct search s = {.c = c, .f = aset_first_n(q->n_atoms)};
    for (uint32_t i = 0; i < q->n_outs; i++)
        s.outs |= vset_one(q->outs[i].id);
    ASET_EACH (i, s.f)
        s.vars |= atom_set(q, i);
    search_atom(&s, 0);
    size_t kept = 0;
    for (size_t i = 0; i < s.found.n; i++) {
        int32_t *x = s.found.row + i * q->n_vars;
        bool same = true;
        for (uint32_t g = 0; g < q->n_group; g++)
            same = same && x[q->outs[g].id] == key[g];
        if (same)
            memmove(s.found.row + kept++ * q->n_vars, x,
                    q->n_vars * sizeof(int32_t));
    }
    s.found.n = kept;
    u128 n = largest_group(&s);
    free(s.found.row);
    return n;
}

/* --- printing, when a case fails ----------------------------------------- */

static void print_term(struct term t)
{
    printf(t.kind == TERM_ANY   ? "_"
           : t.kind == TERM_VAR ? "v%u"
                                : "'%u'",
           t.id);
}

void jc_print(const struct join_case *c)
{
    for (uint32_t i = 0; i < c->q.n_atoms; i++) {
        const struct atom *a = &c->q.atoms[i];
        printf("%s T%u", i ? "," : "", a->table);
        if (a->rowid >= 0)
            printf("@v%d", a->rowid);
        for (uint32_t k = 0; k < a->n_args; k++) {
            printf(k ? ", " : "(");
            print_term(a->args[k]);
        }
        printf(")");
    }
    for (uint32_t i = 0; i < c->q.n_cmps; i++) {
        printf(", ");
        print_term(c->q.cmps[i].l);
        printf(" %s ", c->q.cmps[i].op == CMP_NE   ? "!="
                       : c->q.cmps[i].op == CMP_LT ? "<"
                                                   : "<=");
        print_term(c->q.cmps[i].r);
    }
    for (uint32_t i = 0; i < c->q.n_preds; i++)
        printf(", {v%u is distinct from 0 in atom %u}",
               c->q.preds[i].e->args[0]->var, c->q.preds[i].atom);
    printf("\nnonnull:");
    for (uint32_t v = 0; v < c->q.n_vars; v++)
        if (c->q.vars[v].nonnull)
            printf(" v%u", v);
    printf("\n");
    for (uint32_t i = 0; i < JC_TABLES; i++) {
        printf("T%u:", i);
        for (uint32_t r = 0; r < c->t[i].n_rows; r++) {
            printf(" (");
            for (uint32_t k = 0; k < c->t[i].n_cols; k++) {
                if (c->t[i].v[r][k] == JC_NULL)
                    printf("%snull", k ? "," : "");
                else
                    printf("%s%d", k ? "," : "", c->t[i].v[r][k]);
            }
            printf(")");
        }
        printf("\n");
    }
}
