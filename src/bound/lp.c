/*
 * The polymatroid bound. Over all polymatroids g on the variables with
 * g(from) = 0 and g(y) - g(x) <= log k for every step, the largest g(goal)
 * bounds the logarithm of the number of answers (PROOF.md).
 *
 * By duality it is the least sum of d_e log k_e with multipliers d, m >= 0 in
 *     sum_e d_e (g(y_e) - g(x_e)) = g(goal) + sum_s m_s * shannon_s(g),
 * an identity between linear forms in the 2^n numbers g(S). GLPK proposes the
 * multipliers in floating point; they are rounded to fractions of a small
 * denominator q and the identity is checked in integers, coefficient by
 * coefficient.
 * PRIVACY: the bound is computed from the checked multipliers alone, as the
 * integer root of prod k_e^(q d_e). Without a certificate the caller keeps
 * the bound it has. No rounded number is ever used.
 */
#include <glpk.h>
#include <math.h>

#include "bound/degree_steps.h"
#include "num/rat.h"

enum { LP_MAX_VARS = 8, MAX_DENOMINATOR = 120, MAX_ROOT_BITS = 1 << 18 };

struct lp_step {
    unsigned x, y; /* subsets of the n variables, as bits */
    u128 k;
};

struct shannon { /* sum of coefficient * g(set); set 0 is g({}) = 0 */
    unsigned set[4];
    int coef[4];
};

struct lp {
    unsigned n, goal;
    struct lp_step *steps;
    size_t n_steps;
    struct shannon *sh;
    size_t n_sh;
    double *x; /* the proposal: multipliers of steps, then of Shannon */
    int64_t *z;
    int64_t q;    /* x is about z / q */
    int64_t *sum; /* room for the certificate */
};

/* --- cutting the problem down --------------------------------------------- */

/* The program's variables among `set`, as bits; others are dropped. */
static unsigned project(vset set, const int *to)
{
    unsigned s = 0;
    VSET_EACH (v, set) {
        if (to[v] >= 0)
            s |= 1u << to[v];
    }
    return s;
}

static void add_lp_step(struct lp *lp, struct lp_step st)
{
    st.y |= st.x;
    if (st.y == st.x)
        return;
    for (size_t i = 0; i < lp->n_steps; i++)
        if (lp->steps[i].x == st.x && lp->steps[i].y == st.y) {
            if (st.k < lp->steps[i].k)
                lp->steps[i].k = st.k;
            return;
        }
    lp->steps[lp->n_steps++] = st;
}

/* Variables read by steps that lead to the goal, and not determined. */
static vset needed(const struct steps *s, vset fixed, vset goal)
{
    vset reach = steps_closure(s, fixed), need = goal & ~fixed;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->n; i++) {
            vset x = s->p[i].x & ~fixed;
            if (vset_sub(x, reach) && s->p[i].y & ~s->p[i].x & need &&
                !vset_sub(x, need)) {
                need |= x;
                changed = true;
            }
        }
    }
    return need;
}

static bool is_easy(const struct lp *lp)
{
    if (__builtin_popcount(lp->goal) > 1)
        return false;
    for (size_t i = 0; i < lp->n_steps; i++)
        if (__builtin_popcount(lp->steps[i].x) > 1)
            return false;
    return true; /* then PLAN has the same value */
}

static bool cut_down(struct arena *a, const struct steps *s, vset from,
                     vset goal, struct lp *lp, bool *nomem)
{
    int to[MAX_VARS];
    vset fixed = steps_closure_fd(s, from), need = needed(s, fixed, goal);
    vset reach = steps_closure(s, fixed);
    if (vset_count(need) > LP_MAX_VARS || need == 0)
        return false;
    for (int v = 0; v < MAX_VARS; v++)
        to[v] = vset_has(need, (unsigned)v) ? (int)lp->n++ : -1;
    lp->goal = project(goal, to);
    lp->steps = NEWS(a, struct lp_step, s->n + 1);
    *nomem = !lp->steps;
    for (size_t i = 0; !*nomem && i < s->n; i++)
        if (vset_sub(s->p[i].x, reach) && vset_sub(s->p[i].x & ~fixed, need))
            add_lp_step(lp,
                        (struct lp_step){project(s->p[i].x, to),
                                         project(s->p[i].y, to), s->p[i].k});
    return !*nomem && !is_easy(lp);
}

/* --- elemental Shannon inequalities --------------------------------------- */

static bool list_shannon(struct arena *a, struct lp *lp)
{
    unsigned n = lp->n, all = (1u << n) - 1;
    lp->sh = NEWS(a, struct shannon, n + (size_t)n * n / 2 * (1u << n));
    if (!lp->sh)
        return false;
    for (unsigned i = 0; i < n; i++)
        lp->sh[lp->n_sh++] = (struct shannon){{all, all & ~(1u << i)}, {1, -1}};
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = i + 1; j < n; j++) {
            unsigned ij = 1u << i | 1u << j;
            for (unsigned s = 0; s <= all; s++)
                if (!(s & ij))
                    lp->sh[lp->n_sh++] = (struct shannon){
                        {s | 1u << i, s | 1u << j, s | ij, s}, {1, 1, -1, -1}};
        }
    return true;
}

/* --- the proposal --------------------------------------------------------- */

static void load_column(glp_prob *p, int col, const unsigned *set,
                        const int *coef, int n)
{
    int ind[5];
    double val[5]; /* proposal */
    int m = 0;
    for (int i = 0; i < n; i++)
        if (set[i] != 0 && coef[i] != 0) {
            ind[++m] = (int)set[i];
            val[m] = coef[i];
        }
    glp_set_mat_col(p, col, m, ind, val);
}

/* The dual program for GLPK: a column for each step and each Shannon
 * inequality, a row for each set of variables, equal to 1 for the goal alone.
 */
static void load(const struct lp *lp, glp_prob *p)
{
    int rows = (1 << lp->n) - 1;
    glp_add_rows(p, rows);
    for (int r = 1; r <= rows; r++)
        glp_set_row_bnds(p, r, GLP_FX, (unsigned)r == lp->goal,
                         (unsigned)r == lp->goal);
    glp_add_cols(p, (int)(lp->n_steps + lp->n_sh));
    for (size_t i = 0; i < lp->n_steps; i++) {
        const struct lp_step *st = &lp->steps[i];
        glp_set_col_bnds(p, (int)i + 1, GLP_LO, 0, 0);
        double cost = log2((double)st->k); /* proposal */
        glp_set_obj_coef(p, (int)i + 1, cost);
        load_column(p, (int)i + 1, (unsigned[]){st->y, st->x}, (int[]){1, -1},
                    2);
    }
    for (size_t i = 0; i < lp->n_sh; i++) {
        const struct shannon *sh = &lp->sh[i];
        int col = (int)(lp->n_steps + i) + 1;
        glp_set_col_bnds(p, col, GLP_LO, 0, 0);
        load_column(
            p, col, sh->set,
            (int[]){-sh->coef[0], -sh->coef[1], -sh->coef[2], -sh->coef[3]}, 4);
    }
}

static bool propose(struct lp *lp)
{
    size_t n = lp->n_steps + lp->n_sh;
    glp_term_out(GLP_OFF);
    glp_prob *p = glp_create_prob();
    load(lp, p);
    glp_smcp opt;
    glp_init_smcp(&opt);
    opt.msg_lev = GLP_MSG_OFF;
    opt.it_lim = 20000;
    opt.presolve = GLP_ON;
    bool ok = glp_simplex(p, &opt) == 0 && glp_get_status(p) == GLP_OPT;
    for (size_t i = 0; ok && i < n; i++)
        lp->x[i] = glp_get_col_prim(p, (int)i + 1);
    glp_delete_prob(p);
    return ok;
}

/* --- the certificate ------------------------------------------------------ */

static int64_t nearest(double v) /* of a proposal */
{
    return (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
}

/* The smallest common denominator under which all multipliers are whole. */
static bool round_all(struct lp *lp)
{
    size_t n = lp->n_steps + lp->n_sh;
    for (int64_t q = 1; q <= MAX_DENOMINATOR; q++) {
        bool whole = true;
        for (size_t i = 0; whole && i < n; i++) {
            double v = lp->x[i] * (double)q;     /* proposal */
            double off = v - (double)nearest(v); /* proposal */
            whole = v < 1e6 && off < 1e-6 && off > -1e-6;
            lp->z[i] = whole ? nearest(v) : 0;
        }
        lp->q = q;
        if (whole)
            return true;
    }
    return false;
}

/* PRIVACY: the identity, coefficient by coefficient, in integers. */
static bool certified(const struct lp *lp)
{
    int64_t *sum = lp->sum; /* zero */
    for (size_t i = 0; i < lp->n_steps + lp->n_sh; i++)
        if (lp->z[i] < 0 || lp->z[i] > 1000000000)
            return false;
    for (size_t i = 0; i < lp->n_steps; i++) {
        sum[lp->steps[i].y] += lp->z[i];
        sum[lp->steps[i].x] -= lp->z[i];
    }
    for (size_t i = 0; i < lp->n_sh; i++)
        for (int j = 0; j < 4; j++)
            sum[lp->sh[i].set[j]] -= lp->z[lp->n_steps + i] * lp->sh[i].coef[j];
    for (unsigned s = 1; s < 1u << lp->n; s++)
        if (sum[s] != (s == lp->goal ? lp->q : 0))
            return false;
    return true;
}

static unsigned bits_of(u128 k)
{
    unsigned b = 0;
    for (; k; k >>= 1)
        b++;
    return b;
}

/* floor of the q-th root of prod k_e^(z_e) */
static u128 root(const struct lp *lp, u128 known)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < lp->n_steps; i++)
        bits += (uint64_t)lp->z[i] * bits_of(lp->steps[i].k);
    if (bits > MAX_ROOT_BITS)
        return known;
    mpz_t prod, k;
    mpz_init_set_ui(prod, 1);
    mpz_init(k);
    for (size_t i = 0; i < lp->n_steps; i++) {
        if (lp->z[i] == 0)
            continue;
        mpz_set_u128(k, lp->steps[i].k);
        mpz_pow_ui(k, k, (unsigned long)lp->z[i]);
        mpz_mul(prod, prod, k);
    }
    mpz_root(prod, prod, (unsigned long)lp->q);
    u128 v;
    if (!mpz_get_u128(prod, &v) || v > known)
        v = known;
    mpz_clear(prod);
    mpz_clear(k);
    return v;
}

static bool make_room(struct arena *a, struct lp *lp)
{
    size_t n = lp->n_steps + lp->n_sh;
    lp->x = NEWS(a, double, n); /* proposal */
    lp->z = NEWS(a, int64_t, n);
    lp->sum = NEWS(a, int64_t, (size_t)1 << lp->n);
    return lp->x && lp->z && lp->sum;
}

/* Proposes a solution in floating point, rounds it and certifies it exactly:
 * *out changes only where the certificate holds. */
static enum status solve(struct arena *a, const struct steps *s, vset from,
                         vset goal, u128 known, struct work *work, u128 *out,
                         struct err *err)
{
    struct lp lp = {.n = 0};
    bool nomem = false;
    if (!cut_down(a, s, from, goal, &lp, &nomem))
        return nomem ? err_nomem(err) : OK;
    uint64_t price = (uint64_t)64 << (2 * lp.n);
    if (work->left < price) {
        work->exhausted = true;
        return OK;
    }
    work->left -= price;
    if (!list_shannon(a, &lp) || !make_room(a, &lp))
        return err_nomem(err);
    if (propose(&lp) && round_all(&lp) && certified(&lp))
        *out = root(&lp, known);
    return OK;
}

enum status upper_lp(struct arena *a, const struct steps *s, vset from,
                     vset goal, u128 known, struct work *work, u128 *out,
                     struct err *err)
{
    struct arena scratch;
    *out = known;
    if (known <= 1 || known == U128_INF)
        return OK;
    arena_init(&scratch, a->mem);
    enum status st = solve(&scratch, s, from, goal, known, work, out, err);
    arena_fini(&scratch);
    return st;
}

enum status steps_outputs(struct arena *a, const struct steps *s, vset from,
                          vset goal, struct work *work, u128 *out,
                          struct err *err)
{
    struct step_plan p;
    TRY(steps_plan(a, s, from, goal, work, &p, err));
    return upper_lp(a, s, from, goal, p.cost, work, out, err);
}
