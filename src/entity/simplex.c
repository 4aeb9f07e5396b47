/*
 * The way out for problems that the first-order solver does not close: GLPK's
 * simplex, then its simplex in exact rationals from the basis found. Like
 * every solver here it proposes only, and what it says is certified.
 *
 * Never needed on data seen so far. Problems beyond the limit are left alone,
 * because GLPK ends the process when memory is out; the first-order solver
 * goes on with them.
 */
#include "entity/packing.h"

#include <glpk.h>
#include <math.h>

enum { COLS_MAX = 20000, OWNERS_MAX = 100000 };

/* Rows: the heavy entities, then the groups of several columns. */
static void load_rows(const struct packing *p, glp_prob *lp)
{
    glp_add_rows(lp, (int)(p->rows + p->groups));
    for (uint32_t u = 0; u < p->rows; u++)
        glp_set_row_bnds(lp, (int)u + 1, GLP_UP, 0, 1);
    for (uint32_t g = 0; g < p->groups; g++)
        glp_set_row_bnds(lp, (int)(p->rows + g) + 1, GLP_UP, 0,
                         (double)p->weight[g] / (double)p->t); /* proposal */
}

static void load_column(const struct packing *p, uint32_t g, uint32_t c,
                        glp_prob *lp)
{
    int ind[PACK_OWNERS_MAX + 2], n = 0;
    double one[PACK_OWNERS_MAX + 2]; /* proposal */
    for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
        ind[++n] = (int)p->owner[i] + 1;
    ind[++n] = (int)(p->rows + g) + 1;
    for (int i = 1; i <= n; i++)
        one[i] = 1;
    glp_set_mat_col(lp, (int)c + 1, n, ind, one);
    glp_set_col_bnds(lp, (int)c + 1, GLP_LO, 0, 0);
    glp_set_obj_coef(lp, (int)c + 1, 1);
}

static void load(const struct packing *p, glp_prob *lp)
{
    glp_set_obj_dir(lp, GLP_MAX);
    load_rows(p, lp);
    glp_add_cols(lp, (int)p->cols);
    for (uint32_t g = 0; g < p->groups; g++)
        for (uint32_t c = p->first[g]; c < p->first[g + 1]; c++)
            load_column(p, g, c, lp);
}

static void solve(glp_prob *lp)
{
    glp_smcp opt;
    glp_init_smcp(&opt);
    opt.msg_lev = GLP_MSG_OFF;
    glp_simplex(lp, &opt);
    glp_exact(lp, &opt);
}

static u128 whole(double v, double most) /* proposal */
{
    return v > 0 ? (u128)fmin(v + .5, most) : 0;
}

static void read_off(const struct packing *p, glp_prob *lp, u128 *x,
                     uint64_t *y)
{
    double one = ldexp(1, (int)packing_unit(p)); /* proposal */
    double full = one * (double)p->t;            /* proposal */
    for (uint32_t c = 0; c < p->cols; c++)
        x[c] = whole(glp_get_col_prim(lp, (int)c + 1) * full, full);
    for (uint32_t u = 0; u < p->rows; u++)
        y[u] = (uint64_t)whole(glp_get_row_dual(lp, (int)u + 1) * one, one);
}

static void narrow(struct pack_interval *v, const struct pack_interval *by)
{
    v->lo = by->lo > v->lo ? by->lo : v->lo;
    v->hi = by->hi < v->hi ? by->hi : v->hi;
}

enum status packing_simplex(const struct packing *p, const struct solver *s,
                            struct pack_interval *out)
{
    if (p->cols > COLS_MAX || p->start[p->cols] > OWNERS_MAX)
        return OK;
    struct packing_room r;
    if (!packing_room_take(p, s->mem, &r))
        return err_nomem(s->err);
    glp_term_out(GLP_OFF);
    glp_prob *lp = glp_create_prob();
    load(p, lp);
    solve(lp);
    read_off(p, lp, r.x, r.y);
    glp_delete_prob(lp);
    struct pack_interval v;
    packing_certify(p, &(struct proposal){r.x, r.y}, r.room, &v);
    narrow(out, &v);
    packing_room_give(s->mem, &r);
    return OK;
}
