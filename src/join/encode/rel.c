/*
 * Relations: an atom's rows after its selections, as columns of ids.
 *
 * All that one atom alone decides is applied here, once: constants, repeated
 * variables, NULLs of non-null variables, comparisons with constants or
 * between two of its own variables, predicates, computed columns. What is
 * left are distinct rows over distinct variables (a row id keeps equal rows
 * apart). Atoms that select the same way share one relation, which is what
 * makes copies of a pattern's relation recognisable.
 *
 * A comparison inside one atom is applied to the atom even if the request
 * does not ask for it: whenever the atom is among F its variables are in
 * vars(F), so the comparison counts.
 *
 * Cost: O(rows + ids) per column.
 */
#include "join/join_int.h"

#include <string.h>

/* --- sorting ------------------------------------------------------------ */

void sort_pass(const uint32_t *key, uint32_t size, uint32_t n,
               const uint32_t *perm, uint32_t *out, uint32_t *count)
{
    memset(count, 0, ((size_t)size + 1) * sizeof *count);
    for (uint32_t i = 0; i < n; i++)
        count[key[i] + 1]++;
    for (uint32_t k = 0; k < size; k++)
        count[k + 1] += count[k];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = perm ? perm[i] : i;
        out[count[key[row]]++] = row;
    }
}

static void apply_perm(uint32_t *col, const uint32_t *perm, uint32_t n,
                       uint32_t *tmp)
{
    memcpy(tmp, col, (size_t)n * sizeof *tmp);
    for (uint32_t i = 0; i < n; i++)
        col[i] = tmp[perm[i]];
}

static bool same_row(uint32_t *const *cols, uint32_t n_cols, uint32_t a,
                     uint32_t b)
{
    for (uint32_t c = 0; c < n_cols; c++)
        if (cols[c][a] != cols[c][b])
            return false;
    return true;
}

static uint32_t remove_equal(uint32_t **cols, uint32_t n_cols, uint32_t n)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (k && same_row(cols, n_cols, k - 1, i))
            continue;
        for (uint32_t c = 0; c < n_cols; c++)
            cols[c][k] = cols[c][i];
        k++;
    }
    return k;
}

static bool is_sorted(uint32_t *const *cols, uint32_t n_cols, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t c = 0; c < n_cols; c++) {
            if (cols[c][i - 1] < cols[c][i])
                break;
            if (cols[c][i - 1] > cols[c][i])
                return false;
        }
    return true;
}

static enum status sort_columns(struct mem *m, uint32_t **cols, uint32_t n_cols,
                                const uint32_t *sizes, uint32_t n,
                                struct err *err)
{
    uint32_t largest = 0;
    for (uint32_t c = 0; c < n_cols; c++)
        if (sizes[c] > largest)
            largest = sizes[c];
    size_t row_bytes = (size_t)n * sizeof(uint32_t);
    size_t count_bytes = ((size_t)largest + 2) * sizeof(uint32_t);
    uint32_t *a = mem_alloc(m, row_bytes), *b = mem_alloc(m, row_bytes);
    uint32_t *count = mem_alloc(m, count_bytes);
    enum status s = a && b && count ? OK : err_nomem(err);
    uint32_t *perm = NULL;
    for (uint32_t c = n_cols; s == OK && c-- > 0;) {
        uint32_t *to = perm == a ? b : a;
        sort_pass(cols[c], sizes[c], n, perm, to, count);
        perm = to;
    }
    for (uint32_t c = 0; s == OK && c < n_cols; c++)
        apply_perm(cols[c], perm, n, perm == a ? b : a);
    mem_free(m, a, row_bytes);
    mem_free(m, b, row_bytes);
    mem_free(m, count, count_bytes);
    return s;
}

enum status sort_rows(struct mem *m, uint32_t **cols, uint32_t n_cols,
                      const uint32_t *sizes, uint32_t *n, bool distinct,
                      struct err *err)
{
    if (!n_cols) {
        if (distinct && *n > 1)
            *n = 1;
        return OK;
    }
    if (!is_sorted(cols, n_cols, *n))
        TRY(sort_columns(m, cols, n_cols, sizes, *n, err));
    if (distinct)
        *n = remove_equal(cols, n_cols, *n);
    return OK;
}

/* --- what an atom selects ------------------------------------------------ */

struct build {
    struct join *j;
    uint32_t atom;
    struct arena *a;
    uint32_t n_rows;
    uint8_t *keep;
    uint32_t n_vars;
    uint32_t vars[MAX_VARS];
    uint32_t *cols[MAX_VARS];
};

static long local_var(const struct build *b, uint32_t v)
{
    for (uint32_t i = 0; i < b->n_vars; i++)
        if (b->vars[i] == v)
            return i;
    return -1;
}

/* The atom's variables in the order of first occurrence. */
static void list_vars(struct build *b)
{
    const struct cq *q = b->j->q;
    const struct atom *at = &q->atoms[b->atom];
    for (uint32_t k = 0; k < at->n_args; k++)
        if (at->args[k].kind == TERM_VAR && local_var(b, at->args[k].id) < 0)
            b->vars[b->n_vars++] = at->args[k].id;
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].atom == b->atom && local_var(b, q->calcs[i].var) < 0)
            b->vars[b->n_vars++] = q->calcs[i].var;
    if (at->rowid >= 0)
        b->vars[b->n_vars++] = (uint32_t)at->rowid;
}

static struct str name_local(const void *ctx, uint32_t v)
{
    static const char digits[MAX_VARS][4] = {
#define D(n) "v" #n
        D(0), D(1), D(2),  D(3),  D(4),  D(5),  D(6),  D(7),
        D(8), D(9), D(10), D(11), D(12), D(13), D(14), D(15),
#undef D
    };
    long i = local_var(ctx, v);
    return i >= 0 && i < 16 ? str_of(digits[i]) : STR("?");
}

/* nulls: a NULL may be there, so that it matters whether one passes. */
static void sig_term(struct sb *out, const struct build *b, struct term t,
                     bool nulls)
{
    if (t.kind == TERM_ANY)
        sb_cstr(out, "_,");
    else if (t.kind == TERM_CONST)
        sb_printf(out, "c%u,", t.id);
    else
        sb_printf(out, "v%ld%s,", local_var(b, t.id),
                  nulls && b->j->q->vars[t.id].nonnull ? "!" : "");
}

static bool term_inside(const struct build *b, struct term t)
{
    return t.kind == TERM_CONST ||
           (t.kind == TERM_VAR && local_var(b, t.id) >= 0);
}

static bool has_cmp(const struct cq *q, enum cmp_op op, uint32_t l, uint32_t r)
{
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (c->op == op && c->l.kind == TERM_VAR && c->r.kind == TERM_VAR &&
            ((c->l.id == l && c->r.id == r) ||
             (op == CMP_NE && c->l.id == r && c->r.id == l)))
            return true;
    }
    return false;
}

/* Comparisons inside the atom, in an order that names do not change. */
static void sig_pairs(struct sb *out, const struct build *b)
{
    for (uint32_t i = 0; i < b->n_vars; i++)
        for (uint32_t k = 0; k < b->n_vars; k++)
            for (int op = CMP_NE; op <= CMP_LE; op++)
                if ((op != CMP_NE || i < k) &&
                    has_cmp(b->j->q, (enum cmp_op)op, b->vars[i], b->vars[k]))
                    sb_printf(out, ";%d %u %u", op, i, k);
}

static void sig_consts(struct sb *out, const struct build *b)
{
    const struct cq *q = b->j->q;
    for (uint32_t i = 0; i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        if (!term_inside(b, c->l) || !term_inside(b, c->r) ||
            (c->l.kind == TERM_VAR && c->r.kind == TERM_VAR))
            continue;
        sb_printf(out, ";%d ", c->op);
        sig_term(out, b, c->l, false);
        sig_term(out, b, c->r, false);
    }
}

/* Text that is equal for atoms that select equal rows. */
static struct str signature(const struct build *b)
{
    const struct cq *q = b->j->q;
    const struct atom *at = &q->atoms[b->atom];
    struct sb out;
    sb_init(&out, &b->j->arena);
    sb_printf(&out, "%u%s(", at->table, at->rowid >= 0 ? "@" : "");
    const struct store_table *t = &b->j->st->tables[at->table];
    for (uint32_t k = 0; k < at->n_args; k++)
        sig_term(&out, b, at->args[k], k >= t->n_cols || t->cols[k].nulls);
    sig_pairs(&out, b);
    sig_consts(&out, b);
    for (uint32_t i = 0; i < q->n_preds; i++)
        if (q->preds[i].atom == b->atom) {
            sb_cstr(&out, ";p");
            expr_print(&out, q->preds[i].e, name_local, b);
        }
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].atom == b->atom) {
            sb_printf(&out, ";v%ld:=", local_var(b, q->calcs[i].var));
            expr_print(&out, q->calcs[i].e, name_local, b);
        }
    /* columns share a domain, but equal computed values may not: those of
     * one atom may be joined with one column, of another with another */
    for (uint32_t i = 0; i < b->n_vars; i++)
        sb_printf(&out, ";d%u", b->j->dom_of[b->vars[i]]);
    if (b->n_vars > 16) /* names run out: never shared */
        sb_printf(&out, ";atom%u", b->atom);
    return out.failed ? (struct str){0} : sb_view(&out);
}

/* --- selecting rows ----------------------------------------------------- */

static enum status keep_const(struct build *b, const struct store_column *c,
                              const struct value *v, struct err *err)
{
    if (v->is_null) {
        memset(b->keep, 0, b->n_rows);
        return OK;
    }
    if (!c->code) {
        for (uint32_t r = 0; r < b->n_rows; r++) {
            struct value x = column_value(c, r);
            b->keep[r] &= !x.is_null && value_eq(&x, v);
        }
        return OK;
    }
    uint8_t *hit = NEWS(b->a, uint8_t, c->n_dict);
    if (!hit)
        return err_nomem(err);
    for (size_t i = 0; i < c->n_dict; i++) {
        struct value x = column_dict_value(c, i);
        hit[i] = value_eq(&x, v);
    }
    for (uint32_t r = 0; r < b->n_rows; r++)
        b->keep[r] &= !column_is_null(c, r) && hit[c->code[r]];
    return OK;
}

/* Encodes a column; a second occurrence of its variable must agree. */
static enum status add_column(struct build *b, uint32_t v,
                              const struct store_column *c, struct err *err)
{
    struct join *j = b->j;
    long at = local_var(b, v);
    uint32_t *ids = b->cols[at] ? NEWS(b->a, uint32_t, b->n_rows)
                                : block_array(j, b->n_rows, sizeof *ids);
    if (!ids)
        return err_nomem(err);
    TRY(dom_encode(&j->doms[j->dom_of[v]], j->mem, c, b->n_rows,
                   j->q->vars[v].nonnull, ids, err));
    if (!b->cols[at]) {
        b->cols[at] = ids;
        for (uint32_t r = 0; r < b->n_rows; r++)
            b->keep[r] &= ids[r] != NO_ID;
        return OK;
    }
    for (uint32_t r = 0; r < b->n_rows; r++)
        b->keep[r] &= ids[r] == b->cols[at][r];
    return OK;
}

static enum status add_columns(struct build *b, struct err *err)
{
    const struct cq *q = b->j->q;
    const struct atom *at = &q->atoms[b->atom];
    const struct store_table *t = &b->j->st->tables[at->table];
    for (uint32_t k = 0; k < at->n_args; k++) {
        if (at->args[k].kind == TERM_ANY)
            continue;
        if (k >= t->n_cols || !t->cols[k].present)
            return err_internal(err, "join: column not loaded");
        if (at->args[k].kind == TERM_CONST)
            TRY(keep_const(b, &t->cols[k], &q->consts[at->args[k].id], err));
        else
            TRY(add_column(b, at->args[k].id, &t->cols[k], err));
    }
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].atom == b->atom)
            TRY(add_column(b, q->calcs[i].var, &b->j->calc_cols[i], err));
    if (at->rowid >= 0) {
        uint32_t *ids = block_array(b->j, b->n_rows, sizeof *ids);
        if (!ids)
            return err_nomem(err);
        for (uint32_t r = 0; r < b->n_rows; r++)
            ids[r] = r;
        b->cols[local_var(b, (uint32_t)at->rowid)] = ids;
    }
    return OK;
}

static bool holds(enum cmp_op op, uint32_t l, uint32_t r)
{
    return op == CMP_NE ? l != r : op == CMP_LT ? l < r : l <= r;
}

/* One side of a comparison: a column of ids, or one id for all rows. */
struct cmp_side {
    const uint32_t *ids;
    uint32_t id;
};

static struct cmp_side cmp_side(const struct build *b, struct term t,
                                const struct dom *d)
{
    struct cmp_side s = {0};
    if (t.kind == TERM_VAR)
        s.ids = b->cols[local_var(b, t.id)];
    else
        s.id = dom_find(d, &b->j->q->consts[t.id]);
    return s;
}

static void keep_cmp(struct build *b, const struct cmp *c)
{
    uint32_t v = c->l.kind == TERM_VAR ? c->l.id : c->r.id;
    const struct dom *d = &b->j->doms[b->j->dom_of[v]];
    struct cmp_side l = cmp_side(b, c->l, d), r = cmp_side(b, c->r, d);
    /* a constant that is NULL: unknown, no row passes */
    if ((!l.ids && l.id == NO_ID) || (!r.ids && r.id == NO_ID)) {
        memset(b->keep, 0, b->n_rows);
        return;
    }
    for (uint32_t i = 0; i < b->n_rows; i++)
        if (b->keep[i])
            b->keep[i] =
                holds(c->op, l.ids ? l.ids[i] : l.id, r.ids ? r.ids[i] : r.id);
}

static enum status select_rows(struct build *b, struct err *err)
{
    const struct cq *q = b->j->q;
    memset(b->keep, 1, b->n_rows);
    TRY(add_columns(b, err));
    for (uint32_t i = 0; i < q->n_cmps; i++)
        if (term_inside(b, q->cmps[i].l) && term_inside(b, q->cmps[i].r))
            keep_cmp(b, &q->cmps[i]);
    return pred_filter(b->j, b->atom, b->keep, err);
}

static void compact(struct build *b, uint32_t *n)
{
    uint32_t k = 0;
    for (uint32_t r = 0; r < b->n_rows; r++) {
        if (!b->keep[r])
            continue;
        for (uint32_t c = 0; c < b->n_vars; c++)
            b->cols[c][k] = b->cols[c][r];
        k++;
    }
    *n = k;
}

/* The columns as they are, cut to the rows that are left. */
static enum status finish(struct build *b, struct rel *r, struct err *err)
{
    struct join *j = b->j;
    r->n_cols = b->n_vars;
    r->dom = NEWS(&j->arena, uint32_t, b->n_vars);
    r->cols = NEWS(&j->arena, uint32_t *, b->n_vars);
    if (!r->dom || !r->cols)
        return err_nomem(err);
    for (uint32_t c = 0; c < b->n_vars; c++) {
        r->dom[c] = j->dom_of[b->vars[c]];
        r->cols[c] = block_cut(j, b->cols[c], (size_t)r->n * sizeof(uint32_t));
    }
    return OK;
}

static enum status build_rel(struct build *b, struct rel *r, struct err *err)
{
    struct join *j = b->j;
    uint32_t sizes[MAX_VARS];
    b->n_rows = (uint32_t)j->st->tables[j->q->atoms[b->atom].table].n_rows;
    b->keep = NEWS(b->a, uint8_t, b->n_rows);
    if (!b->keep)
        return err_nomem(err);
    TRY(select_rows(b, err));
    compact(b, &r->n);
    for (uint32_t c = 0; c < b->n_vars; c++)
        sizes[c] = j->doms[j->dom_of[b->vars[c]]].n;
    TRY(sort_rows(j->mem, b->cols, b->n_vars, sizes, &r->n, true, err));
    return finish(b, r, err);
}

static enum status build_atom(struct join *j, uint32_t atom, struct err *err)
{
    struct arena scratch;
    struct build b = {.j = j, .atom = atom, .a = &scratch};
    struct jatom *ja = &j->atoms[atom];
    list_vars(&b);
    struct str sig = signature(&b);
    ja->vars = NEWS(&j->arena, uint32_t, b.n_vars);
    if (!sig.p || !ja->vars)
        return err_nomem(err);
    for (uint32_t c = 0; c < b.n_vars; c++) {
        ja->vars[c] = b.vars[c];
        ja->set |= vset_one(b.vars[c]);
    }
    for (size_t i = 0; i < j->rels.n; i++)
        if (str_eq(j->rels.p[i]->sig, sig)) {
            ja->rel = j->rels.p[i];
            return OK;
        }
    struct rel *r = NEW(&j->arena, struct rel);
    if (!r || !VEC_PUSH(&j->arena, &j->rels, r))
        return err_nomem(err);
    r->sig = sig;
    r->id = (uint32_t)j->rels.n - 1;
    ja->rel = r;
    arena_init(&scratch, j->mem);
    enum status s = build_rel(&b, r, err);
    arena_fini(&scratch);
    TRY(s);
    OBJECT_CHECK(rel_check(j, r), err);
    return OK;
}

enum status rel_build_all(struct join *j, struct err *err)
{
    j->atoms = NEWS(&j->arena, struct jatom, j->q->n_atoms);
    if (!j->atoms)
        return err_nomem(err);
    for (uint32_t i = 0; i < j->q->n_atoms; i++) {
        if (join_cancelled(j))
            return err_set(err, E_CANCELLED, "cancelled");
        TRY(build_atom(j, i, err));
    }
    return OK;
}
