/*
 * The work of a steady join, bounded before a row is read: see work.h.
 *
 * An ask falls into components that share no variable; each is either counted
 * row by row, which this file plays through with sets in place of rows, or
 * walked. The backtracking join gives variables values along a tree; here the
 * tree is grown, by the fewest ids to try at each node, and the backtracking
 * join is given its order. The ids that can be tried at a node are bounded by
 * the smaller of
 *
 *   the product of rows^x over a fractional cover x of the variables on the
 *   path (Atserias, Grohe, Marx; Ngo, Re, Rudra for the lead that is smallest);
 *   what the parent can come to, times the most rows of one atom for given
 *   values of its variables further up.
 *
 * Covers are proposed by GLPK, rounded up to fractions of 120 and checked in
 * integers: every cover gives a bound. PROOF.md, "Work".
 */
#include "base/reach.h"
#include "bound/work.h"

#include <glpk.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "bound/bound.h"
#include "num/rat.h"

enum { PARTS = 120 };

struct work_atom {
    vset set;
    u128 rows;
    uint32_t n_cols;
};

struct work_known {
    uint32_t atom;
    vset fixed;
    u128 rows;
};

struct work_run {
    struct arena *a;
    const struct cq *q;
    const struct bound_ask *ask;
    const struct bound_sizes *sizes;
    struct work_atom *atoms; /* of q */
    vset boundary;           /* of the ask, within its variables */
    VEC(struct work_known) known;
    uint32_t rank[MAX_VARS]; /* the order of the walk */
    uint32_t n_ranked;
    struct err *err;
};

/* --- rows of one atom ----------------------------------------------------- */

/* Given values of `fixed`. */
static enum status rows_given(struct arena *a, const struct cq *q,
                              uint32_t atom, const struct bound_sizes *sizes,
                              vset fixed, u128 *out, struct err *err)
{
    vset vars = atom_vars(q, atom);
    u128 known = sizes ? sizes->rows[q->atoms[atom].table] : U128_INF;
    TRY(bound_outputs(a, q, aset_one(atom), fixed & vars, vars, out, err));
    if (known < *out)
        *out = known;
    return OK;
}

enum status bound_rows(struct arena *a, const struct cq *q, uint32_t atom,
                       const struct bound_sizes *sizes, u128 *out,
                       struct err *err)
{
    return rows_given(a, q, atom, sizes, 0, out, err);
}

/* --- covers --------------------------------------------------------------- */

/* x, in parts of 120, for the atoms `f`; false: GLPK has none. */
static bool propose(const struct work_run *w, aset f, vset path,
                    uint32_t x[MAX_ATOMS])
{
    int col = 0, ind[MAX_ATOMS + 1];
    double val[MAX_ATOMS + 1]; /* proposal */
    glp_term_out(GLP_OFF);
    glp_prob *p = glp_create_prob();
    glp_add_rows(p, (int)vset_count(path));
    glp_add_cols(p, (int)aset_count(f));
    for (int row = 1; row <= (int)vset_count(path); row++)
        glp_set_row_bnds(p, row, GLP_LO, 1, 0);
    ASET_EACH (i, f) {
        int n = 0, at = 0;
        VSET_EACH (v, path) {
            at++;
            if (vset_has(w->atoms[i].set, v)) {
                ind[++n] = at;
                val[n] = 1;
            }
        }
        double rows = (double)w->atoms[i].rows;        /* proposal */
        glp_set_obj_coef(p, ++col, log2(rows + 1e-9)); /* proposal */
        glp_set_col_bnds(p, col, GLP_DB, 0, 1);
        glp_set_mat_col(p, col, n, ind, val);
    }
    glp_smcp opt;
    glp_init_smcp(&opt);
    opt.msg_lev = GLP_MSG_OFF;
    bool ok = glp_simplex(p, &opt) == 0 && glp_get_status(p) == GLP_OPT;
    col = 0;
    ASET_EACH (i, f) {
        double v = ok ? glp_get_col_prim(p, ++col) : 1; /* proposal */
        v *= PARTS;
        x[i] = v <= 0 ? 0 : v >= PARTS ? PARTS : (uint32_t)ceil(v - 1e-6);
    }
    glp_delete_prob(p);
    return ok;
}

static bool covers(const struct work_run *w, aset f, vset path,
                   const uint32_t x[MAX_ATOMS])
{
    VSET_EACH (v, path) {
        uint32_t sum = 0;
        ASET_EACH (i, f) {
            sum += vset_has(w->atoms[i].set, v) ? x[i] : 0;
        }
        if (sum < PARTS)
            return false;
    }
    return true;
}

/* The 120th root of the product of rows^x, rounded up. */
static u128 product_root(const struct work_run *w, aset f,
                         const uint32_t x[MAX_ATOMS])
{
    mpz_t prod, k;
    u128 out = U128_INF;
    mpz_init_set_ui(prod, 1);
    mpz_init(k);
    ASET_EACH (i, f) {
        mpz_set_u128(k, w->atoms[i].rows);
        mpz_pow_ui(k, k, x[i]);
        mpz_mul(prod, prod, k);
    }
    bool exact = mpz_root(prod, prod, PARTS) != 0;
    if (!exact)
        mpz_add_ui(prod, prod, 1);
    if (!mpz_get_u128(prod, &out))
        out = U128_INF;
    mpz_clear(prod);
    mpz_clear(k);
    return out;
}

/* The most assignments of the variables `path` that the atoms `f` allow, each
 * looked at alone: rows that agree with them. */
static u128 cover_bound(const struct work_run *w, aset f, vset path)
{
    uint32_t x[MAX_ATOMS] = {0};
    aset use = 0;
    ASET_EACH (i, f) {
        if (w->atoms[i].set & path && w->atoms[i].rows != U128_INF)
            use |= aset_one(i);
        if (!w->atoms[i].rows)
            return 0;
    }
    if (!propose(w, use, path, x) || !covers(w, use, path, x))
        ASET_EACH (i, use) {
            x[i] = PARTS;
        }
    return covers(w, use, path, x) ? product_root(w, use, x) : U128_INF;
}

/* --- components ----------------------------------------------------------- */

/* Comparisons that no atom of f decides alone. */
static bool is_open(const struct work_run *w, aset f, vset vars, uint32_t i)
{
    const struct cmp *c = &w->q->cmps[i];
    vset both = cmp_vars(c);
    if (c->l.kind != TERM_VAR || c->r.kind != TERM_VAR || !vset_sub(both, vars))
        return false;
    ASET_EACH (k, f) {
        if (vset_sub(both, w->atoms[k].set))
            return false;
    }
    return true;
}

/* What hangs together with the first variable of `open`, within it. */
static vset grow(const struct work_run *w, aset f, vset all, vset open)
{
    struct vset_reach x = {.set = vset_one(vset_min(open)), .within = open};
    while (vset_reach_round(&x)) {
        ASET_EACH (i, f)
            vset_reach_edge(&x, w->atoms[i].set);
        for (uint32_t i = 0; i < w->q->n_cmps; i++)
            if (is_open(w, f, all, i))
                vset_reach_edge(&x, cmp_vars(&w->q->cmps[i]));
    }
    return x.set;
}

static aset atoms_in(const struct work_run *w, aset f, vset vars)
{
    aset out = 0;
    ASET_EACH (i, f) {
        if (w->atoms[i].set & vars)
            out |= aset_one(i);
    }
    return out;
}

/* --- row by row: the folding of join/rows/rows.c, with sets alone --------- */

struct work_fold {
    vset set[MAX_ATOMS + 1];
    bool counts[MAX_ATOMS + 1], gone[MAX_ATOMS + 1];
    uint32_t n, keys; /* keys: the place of the keys, or n */
};

static vset others_of(const struct work_fold *x, uint32_t e)
{
    vset s = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (i != e && !x->gone[i])
            s |= x->set[i];
    return s;
}

static bool fold_pair(struct work_fold *x, uint32_t e, uint32_t f,
                      vset boundary, vset outs)
{
    vset own = x->set[e] & ~x->set[f], only = own & ~outs;
    if (e == f || x->gone[e] || x->gone[f] || e == x->keys ||
        (own & boundary) || (own & others_of(x, e)) || (only && x->counts[e]))
        return false;
    x->counts[f] |= x->counts[e] || (own & outs);
    x->gone[e] = true;
    return true;
}

static bool fold_once(struct work_fold *x, vset boundary, vset outs)
{
    for (uint32_t e = 0; e < x->n; e++)
        for (uint32_t f = 0; f < x->n; f++)
            if (fold_pair(x, e, f, boundary, outs))
                return true;
    return false;
}

/* Does one atom remain, that has the boundary? */
static bool folds(const struct work_run *w, aset f, vset vars)
{
    struct work_fold x = {.n = 0};
    vset boundary = w->boundary & vars, outs = w->ask->outs & vars;
    bool keyed = w->ask->keys && boundary;
    for (uint32_t i = 0; i < w->q->n_cmps; i++)
        if (is_open(w, f, vars, i))
            return false;
    ASET_EACH (i, f) {
        x.set[x.n++] = w->atoms[i].set;
    }
    x.keys = x.n + !keyed;
    if (keyed)
        x.set[x.n++] = boundary;
    while (fold_once(&x, boundary, outs))
        ;
    uint32_t left = 0, last = 0;
    for (uint32_t i = 0; i < x.n; i++)
        if (!x.gone[i]) {
            left++;
            last = i;
        }
    return left == 1 &&
           (keyed || !(x.set[last] & ~outs & ~boundary && x.counts[last]));
}

/* --- the walk: the tree of join/walk/walk_plan.c -------------------------- */

/* Most rows of atoms for given values of some of their variables, kept. */
static enum status rows_known(struct work_run *w, uint32_t atom, vset fixed,
                              u128 *out)
{
    fixed &= w->atoms[atom].set;
    for (size_t i = 0; i < w->known.n; i++)
        if (w->known.p[i].atom == atom && w->known.p[i].fixed == fixed) {
            *out = w->known.p[i].rows;
            return OK;
        }
    TRY(rows_given(w->a, w->q, atom, w->sizes, fixed, out, w->err));
    struct work_known k = {atom, fixed, *out};
    return VEC_PUSH(w->a, &w->known, k) ? OK : err_nomem(w->err);
}

static int kind_of(const struct work_run *w, uint32_t v)
{
    return vset_has(w->boundary, v) ? 0 : vset_has(w->ask->outs, v) ? 1 : 2;
}

/* Ids tried for v where the variables of `path` have `parent` assignments. */
static enum status tried(struct work_run *w, aset f, vset path, uint32_t v,
                         u128 parent, u128 *out)
{
    *out = cover_bound(w, f, path | vset_one(v));
    ASET_EACH (i, f) {
        u128 k;
        if (!vset_has(w->atoms[i].set, v))
            continue;
        TRY(rows_known(w, i, path, &k));
        k = u128_mul_inf(parent, k);
        *out = k < *out ? k : *out;
    }
    return OK;
}

/* Are the variables of comp columns of one atom that nothing else asks for,
 * all counted? Then the rows are counted without a look at them, unless they
 * are compared. */
static bool counts_rows(const struct work_run *w, aset f, vset all, vset comp)
{
    aset with = atoms_in(w, f, comp);
    if (aset_count(with) != 1 || comp & w->boundary ||
        !vset_sub(comp, w->ask->outs))
        return false;
    for (uint32_t i = 0; i < w->q->n_cmps; i++)
        if (is_open(w, f, all, i) && cmp_vars(&w->q->cmps[i]) & comp)
            return false;
    return true;
}

/* Adds to *total the steps that the join takes for the variables `open` below
 * `parent` partial answers in which those of `path` are set. */
static enum status walk(struct work_run *w, aset f, vset all, vset open,
                        vset path, u128 parent, u128 *total);

/* The kind; after it those that one atom alone has, which may be counted
 * without a look. */
static int class_of(const struct work_run *w, aset f, uint32_t v)
{
    bool alone = aset_count(atoms_in(w, f, vset_one(v))) == 1;
    return 2 * kind_of(w, v) + alone;
}

/* Of the class that comes first, the variable with the fewest ids to try. */
static enum status choose(struct work_run *w, aset f, vset path, vset comp,
                          u128 parent, uint32_t *best, u128 *here)
{
    int first = INT_MAX;
    bool any = false;
    VSET_EACH (v, comp) {
        int k = class_of(w, f, v);
        first = k < first ? k : first;
    }
    VSET_EACH (v, comp) {
        u128 n;
        if (class_of(w, f, v) != first)
            continue;
        TRY(tried(w, f, path, v, parent, &n));
        if (!any || n < *here) {
            any = true;
            *best = v;
            *here = n;
        }
    }
    return OK;
}

static enum status walk_node(struct work_run *w, aset f, vset all, vset comp,
                             vset path, u128 parent, u128 *total)
{
    uint32_t v = 0;
    u128 here = 0;
    if (counts_rows(w, f, all, comp)) {
        VSET_EACH (u, comp) {
            w->rank[u] = w->n_ranked++;
        }
        *total = u128_add_inf(*total, parent);
        return OK;
    }
    TRY(choose(w, f, path, comp, parent, &v, &here));
    w->rank[v] = w->n_ranked++;
    *total = u128_add_inf(*total, u128_add_inf(parent, here));
    return walk(w, f, all, comp & ~vset_one(v), path | vset_one(v), here,
                total);
}

/* Each part of `open` for each of the `parent` assignments of `path`. */
static enum status walk(struct work_run *w, aset f, vset all, vset open,
                        vset path, u128 parent, u128 *total)
{
    while (open) {
        vset comp = grow(w, f, all, open);
        TRY(walk_node(w, f, all, comp, path, parent, total));
        open &= ~comp;
    }
    return OK;
}

/* --- together ------------------------------------------------------------- */

/* Row by row, with numbers of one word and again of several: an atom's rows are
 * sorted by each column, aggregated out once, and at hand for each atom that is
 * aggregated out into it. */
static u128 passes(const struct work_run *w, aset f, uint64_t keys)
{
    u128 sum = u128_mul_inf(keys, aset_count(f) + 2);
    ASET_EACH (i, f) {
        sum = u128_add_inf(
            sum, u128_mul_inf(w->atoms[i].rows,
                              w->atoms[i].n_cols + aset_count(f) + 2));
    }
    return u128_mul_inf(sum, 2);
}

static enum status component(struct work_run *w, vset vars, u128 *total,
                             bool *linear)
{
    aset f = atoms_in(w, w->ask->f, vars);
    bool keyed = w->ask->keys && (w->boundary & vars);
    u128 walked = 0;
    *total = u128_add_inf(*total, passes(w, f, keyed ? w->ask->keys : 0));
    if (folds(w, f, vars))
        return OK;
    *linear = false;
    TRY(walk(w, f, vars, vars, 0, 1, &walked));
    if (keyed)
        walked = u128_mul_inf(walked, w->ask->keys);
    *total = u128_add_inf(*total, walked);
    return OK;
}

/* Component by component; *out adds up, *linear stays while each is scanned. */
static enum status run(struct work_run *w, u128 *out, bool *linear)
{
    vset all = 0;
    w->atoms = NEWS(w->a, struct work_atom, w->q->n_atoms + 1);
    if (!w->atoms)
        return err_nomem(w->err);
    for (uint32_t i = 0; i < w->q->n_atoms; i++) {
        struct work_atom *x = &w->atoms[i];
        x->set = atom_vars(w->q, i);
        x->n_cols = vset_count(x->set);
        if (aset_has(w->ask->f, i)) {
            all |= x->set;
            TRY(bound_rows(w->a, w->q, i, w->sizes, &x->rows, w->err));
        }
    }
    w->boundary = w->ask->boundary & all;
    for (vset open = all; open;) {
        vset comp = grow(w, w->ask->f, all, open);
        TRY(component(w, comp, out, linear));
        open &= ~comp;
    }
    return OK;
}

enum status bound_work(struct arena *a, const struct cq *q,
                       const struct bound_sizes *sizes,
                       const struct bound_ask *ask, uint32_t *rank, u128 *out,
                       bool *linear, struct err *err)
{
    struct arena scratch;
    bool all_linear = true;
    *out = 1;
    arena_init(&scratch, a->mem);
    struct work_run w = {
        .a = &scratch, .q = q, .ask = ask, .sizes = sizes, .err = err};
    enum status s = run(&w, out, &all_linear);
    arena_fini(&scratch);
    if (rank)
        memcpy(rank, w.rank, sizeof w.rank);
    if (linear)
        *linear = all_linear;
    return s;
}
