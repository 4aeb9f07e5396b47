/*
 * The first-order solver: primal-dual steps with diagonal preconditioning
 * (Chambolle and Pock 2011; Pock and Chambolle 2011), averages, and restarts
 * from the average when the certified gap has halved (Applegate and others,
 * PDLP, 2021). Everything is divided by t, so that prices y lie in [0, 1] and
 * rows carry at most 1.
 *
 * All floating point here is a proposal: packing_certify decides what it is
 * worth, and the loop ends when the certified interval is narrow enough. Steps
 * whose product is too large for the problem shrink with each failed round,
 * and small problems go to the exact simplex, so the loop ends.
 * Cost: one pass over the owners of all columns a step; tens to hundreds of
 * steps on real data.
 */
#include "entity/packing.h"

#include <math.h>

enum { LOOK = 40, ROUND = 1 << 14 };

struct climb {
    const struct packing *p;
    double *x, *old, *x_sum, *x_from; /* proposal: of columns */
    double *w, *tau;                  /* proposal: of groups: weight, step */
    double *y, *y_sum, *y_from;       /* proposal: of rows */
    double *row, *sigma;              /* proposal: loads, steps of y */
    double omega;                     /* proposal: balance of the steps */
    double steps;                     /* proposal: since the restart */
    double gap_from;                  /* proposal: at the restart */
    struct scratch room;
    u128 *xi;
    uint64_t *yi;
    struct pack_interval best;
    void *block;
    size_t bytes;
};

static bool climb_open(struct climb *k, const struct packing *p, struct mem *m)
{
    size_t c = p->cols, r = p->rows, g = p->groups;
    k->p = p;
    k->bytes = (c * 2 + r) * sizeof(u128) + r * 8 + (c * 4 + g * 2 + r * 5) * 8;
    k->block = mem_alloc(m, k->bytes);
    if (!k->block)
        return false;
    k->xi = k->block;
    k->room = (struct scratch){k->xi + c, k->xi + 2 * c};
    k->yi = (uint64_t *)(k->room.row + r);
    double *at = (double *)(k->yi + r); /* proposal */
    k->x = at, k->x_sum = at + c, k->x_from = at + 2 * c;
    k->old = at + 3 * c;
    k->w = at + 4 * c, k->tau = at + 4 * c + g;
    at += 4 * c + 2 * g;
    k->y = at, k->y_sum = at + r, k->y_from = at + 2 * r;
    k->row = at + 3 * r, k->sigma = at + 4 * r;
    return true;
}

static unsigned widest(const struct packing *p, uint32_t g)
{
    unsigned most = 1;
    for (uint32_t c = p->first[g]; c < p->first[g + 1]; c++)
        if (p->start[c + 1] - p->start[c] > most)
            most = p->start[c + 1] - p->start[c];
    return most;
}

/* Starts at nothing, without prices; sigma is 1 over the row's weight. */
static void climb_begin(struct climb *k)
{
    const struct packing *p = k->p;
    k->omega = 1;
    k->best = (struct pack_interval){0, U128_MAX};
    for (uint32_t g = 0; g < p->groups; g++) {
        k->w[g] = (double)p->weight[g] / (double)p->t;
        k->tau[g] = k->w[g] / widest(p, g);
        for (uint32_t c = p->first[g]; c < p->first[g + 1]; c++)
            for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
                k->sigma[p->owner[i]] += k->w[g];
    }
    for (uint32_t u = 0; u < p->rows; u++)
        k->sigma[u] = 1 / fmax(k->sigma[u], 1e-300);
}

static void climb_restart(struct climb *k, double gap) /* proposal */
{
    for (uint32_t c = 0; c < k->p->cols; c++)
        k->x_sum[c] = 0, k->x_from[c] = k->x[c];
    for (uint32_t u = 0; u < k->p->rows; u++)
        k->y_sum[u] = 0, k->y_from[u] = k->y[u];
    k->steps = 0;
    k->gap_from = gap;
}

/* The nearest point with x >= 0 and sum at most w (Michelot 1986). */
static void project(double *x, uint32_t n, double w) /* proposal */
{
    double sum = 0, cut = 0; /* proposal */
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] = fmax(x[i], 0);
    if (n == 1 && sum > w)
        x[0] = w;
    for (uint32_t left = n, before = n + 1;
         n > 1 && sum > w && left < before;) {
        cut = (sum - w) / left;
        before = left, left = 0, sum = 0;
        for (uint32_t i = 0; i < n; i++)
            if (x[i] > cut)
                left++, sum += x[i];
    }
    for (uint32_t i = 0; n > 1 && i < n; i++)
        x[i] = fmax(x[i] - cut, 0);
}

/* Prices the columns of a group, moves them, and adds 2 new - old to the
 * rows. */
static void step_group(struct climb *k, uint32_t g)
{
    const struct packing *p = k->p;
    uint32_t from = p->first[g], to = p->first[g + 1];
    double tau = k->omega * k->tau[g]; /* proposal */
    for (uint32_t c = from; c < to; c++) {
        double price = 0; /* proposal */
        for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
            price += k->y[p->owner[i]];
        k->old[c] = k->x[c];
        k->x[c] += tau * (1 - price);
    }
    project(k->x + from, to - from, k->w[g]);
    for (uint32_t c = from; c < to; c++) {
        double more = 2 * k->x[c] - k->old[c]; /* proposal */
        for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
            k->row[p->owner[i]] += more;
        k->x_sum[c] += k->x[c];
    }
}

/* The same for groups of one column each, which is most often so. */
static void step_columns(struct climb *k)
{
    const struct packing *p = k->p;
    const uint32_t *owner = p->owner;
    for (uint32_t c = 0; c < p->cols; c++) {
        uint32_t from = p->start[c], to = p->start[c + 1];
        double price = 0, old = k->x[c]; /* proposal */
        for (uint32_t i = from; i < to; i++)
            price += k->y[owner[i]];
        double x = old + k->omega * k->tau[c] * (1 - price); /* proposal */
        x = x < 0 ? 0 : x > k->w[c] ? k->w[c] : x;
        for (uint32_t i = from; i < to; i++)
            k->row[owner[i]] += 2 * x - old;
        k->x[c] = x;
        k->x_sum[c] += x;
    }
}

static void step(struct climb *k)
{
    const struct packing *p = k->p;
    for (uint32_t u = 0; u < p->rows; u++)
        k->row[u] = 0;
    if (p->groups == p->cols)
        step_columns(k);
    for (uint32_t g = 0; p->groups != p->cols && g < p->groups; g++)
        step_group(k, g);
    for (uint32_t u = 0; u < p->rows; u++) {
        double y = k->y[u] + k->sigma[u] / k->omega * (k->row[u] - 1);
        k->y[u] = fmin(fmax(y, 0), 1);
        k->y_sum[u] += k->y[u];
    }
    k->steps++;
}

/* Into whole units; what is no number becomes 0. */
static u128 whole(double v, double most) /* proposal */
{
    return v > 0 ? (u128)fmin(v, most) : 0;
}

/* Certifies x / times and y / times, and keeps the better ends. The gap. */
static double look(struct climb *k, const double *x, const double *y,
                   double times) /* proposal */
{
    const struct packing *p = k->p;
    double one = ldexp(1, (int)packing_unit(p)); /* proposal */
    double full = one * (double)p->t;            /* proposal */
    for (uint32_t c = 0; c < p->cols; c++)
        k->xi[c] = whole(x[c] / times * full + .5, full);
    for (uint32_t u = 0; u < p->rows; u++)
        k->yi[u] = (uint64_t)whole(y[u] / times * one + .5, one);
    struct pack_interval v;
    packing_certify(p, &(struct proposal){k->xi, k->yi}, k->room, &v);
    k->best.lo = v.lo > k->best.lo ? v.lo : k->best.lo;
    k->best.hi = v.hi < k->best.hi ? v.hi : k->best.hi;
    return (double)(v.hi - v.lo);
}

/* Moves to the average. */
static void settle(struct climb *k)
{
    for (uint32_t c = 0; c < k->p->cols; c++)
        k->x[c] = k->x_sum[c] / k->steps;
    for (uint32_t u = 0; u < k->p->rows; u++)
        k->y[u] = k->y_sum[u] / k->steps;
}

/* Balances the steps by how far x and y went since the restart. */
static void balance(struct climb *k)
{
    const struct packing *p = k->p;
    double dx = 0, dy = 0; /* proposal */
    for (uint32_t g = 0; g < p->groups; g++)
        for (uint32_t c = p->first[g]; c < p->first[g + 1]; c++) {
            double d = k->x[c] - k->x_from[c]; /* proposal */
            dx += d * d / k->tau[g];
        }
    for (uint32_t u = 0; u < p->rows; u++) {
        double d = k->y[u] - k->y_from[u]; /* proposal */
        dy += d * d / k->sigma[u];
    }
    if (dx > 1e-20 && dy > 1e-20)
        k->omega = sqrt(k->omega * sqrt(dx / dy));
    k->omega = fmin(fmax(k->omega, 1e-3), 1e3);
}

static bool stopped(const struct solver *s)
{
    return s->opt && s->opt->cancelled && s->opt->cancelled(s->opt->ctx);
}

/* After LOOK steps: certify, and restart where that pays. */
static void review(struct climb *k)
{
    double last = look(k, k->x, k->y, 1);                /* proposal */
    double mean = look(k, k->x_sum, k->y_sum, k->steps); /* proposal */
    double gap = fmin(last, mean);                       /* proposal */
    if (gap > k->gap_from / 2 && k->steps < 4000)
        return;
    if (mean <= last)
        settle(k);
    balance(k);
    climb_restart(k, gap);
}

/* Goes on until the interval is narrow, with the simplex after each round. */
static enum status climb_run(struct climb *k, const struct solver *s)
{
    climb_begin(k);
    climb_restart(k, INFINITY);
    for (uint64_t n = 1;; n++) {
        step(k);
        if (n % LOOK)
            continue;
        if (stopped(s))
            return err_set(s->err, E_CANCELLED, "cancelled");
        review(k);
        if (packing_closed(k->p, &k->best))
            return OK;
        if (n % ROUND == 0) {
            TRY(packing_simplex(k->p, s, &k->best));
            if (packing_closed(k->p, &k->best))
                return OK;
        }
    }
}

enum status packing_climb(const struct packing *p, const struct solver *s,
                          struct pack_interval *out)
{
    struct climb k = {0};
    if (!climb_open(&k, p, s->mem))
        return err_nomem(s->err);
    enum status st = climb_run(&k, s);
    *out = k.best;
    mem_wipe(k.block, k.bytes);
    mem_free(s->mem, k.block, k.bytes);
    return st;
}
