/*
 * The certificate: integers only (PROOF.md, claim 4).
 *
 * Sizes: t < 2^48 has 40 bits after the point, larger t have 30; a column
 * holds at most t, there are less than 2^32 columns and rows, so that every
 * sum stays below 2^125.
 * Cost: a few passes over the owners of all columns.
 */
#include "entity/packing.h"

enum { FINE = 40, COARSE = 30, RATIO = 32 };

unsigned packing_unit(const struct packing *p)
{
    return p->t >> 48 ? COARSE : FINE;
}

bool packing_closed(const struct packing *p, const struct pack_interval *v)
{
    return v->hi - v->lo <= ((u128)p->t << PACK_UNIT) / PACK_ETA;
}

/* t sum y + sum over groups of w max(0, 1 - the least sum of y of a column),
 * in units of 2^-unit. Valid for every y >= 0. */
static u128 dual(const struct packing *p, const uint64_t *y)
{
    unsigned unit = packing_unit(p);
    u128 one = (u128)1 << unit, sum = 0;
    for (uint32_t u = 0; u < p->rows; u++)
        sum += (u128)y[u] * p->t;
    for (uint32_t g = 0; g < p->groups; g++) {
        u128 least = one;
        for (uint32_t c = p->first[g]; c < p->first[g + 1]; c++) {
            u128 of = 0;
            for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
                of += y[p->owner[i]];
            least = of < least ? of : least;
        }
        sum += (one - least) * p->weight[g];
    }
    return sum;
}

static u128 least(u128 a, u128 b)
{
    return a < b ? a : b;
}

/* Clips to the weights, and sums what each row then carries. */
static void clip(const struct packing *p, const u128 *x, u128 *col, u128 *row)
{
    unsigned unit = packing_unit(p);
    for (uint32_t u = 0; u < p->rows; u++)
        row[u] = 0;
    for (uint32_t g = 0; g < p->groups; g++)
        for (uint32_t c = p->first[g]; c < p->first[g + 1]; c++) {
            col[c] = least(x[c], (u128)p->weight[g] << unit);
            for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
                row[p->owner[i]] += col[c];
        }
}

/* Every column times the least of t/load over its rows, in units of 2^-32
 * rounded down; then the rows' new loads. */
static void shrink(const struct packing *p, u128 *col, u128 *row)
{
    u128 full = (u128)p->t << packing_unit(p), one = (u128)1 << RATIO;
    for (uint32_t u = 0; u < p->rows; u++)
        row[u] = row[u] > full ? (full << RATIO) / row[u] : one;
    for (uint32_t c = 0; c < p->cols; c++) {
        u128 by = one;
        for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
            by = least(by, row[p->owner[i]]);
        if (by < one)
            col[c] = (col[c] * by) >> RATIO;
    }
    for (uint32_t u = 0; u < p->rows; u++)
        row[u] = 0;
    for (uint32_t c = 0; c < p->cols; c++)
        for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
            row[p->owner[i]] += col[c];
}

/* Raises column c as far as its rows and `more` allow. */
static u128 raise(const struct packing *p, uint32_t c, u128 more, u128 *row)
{
    u128 full = (u128)p->t << packing_unit(p);
    for (uint32_t i = p->start[c]; i < p->start[c + 1] && more; i++)
        more = least(more, full - row[p->owner[i]]);
    for (uint32_t i = p->start[c]; i < p->start[c + 1] && more; i++)
        row[p->owner[i]] += more;
    return more;
}

/* Fills up what is left, and counts each group at most with its weight. */
static u128 fill(const struct packing *p, const u128 *col, u128 *row)
{
    unsigned unit = packing_unit(p);
    u128 sum = 0;
    for (uint32_t g = 0; g < p->groups; g++) {
        u128 w = (u128)p->weight[g] << unit, has = 0;
        for (uint32_t c = p->first[g]; c < p->first[g + 1]; c++)
            has += col[c];
        for (uint32_t c = p->first[g]; c < p->first[g + 1] && has < w; c++)
            has += raise(p, c, w - has, row);
        sum += least(has, w);
    }
    return sum;
}

void packing_certify(const struct packing *p, const struct proposal *from,
                     struct scratch room, struct pack_interval *out)
{
    unsigned more = packing_unit(p) - PACK_UNIT;
    u128 hi = dual(p, from->y);
    clip(p, from->x, room.col, room.row);
    shrink(p, room.col, room.row);
    u128 lo = fill(p, room.col, room.row);
    /* PRIVACY: rounded outwards. */
    out->lo = lo >> more;
    out->hi = (hi + (((u128)1 << more) - 1)) >> more;
}

bool packing_room_take(const struct packing *p, struct mem *m,
                       struct packing_room *out)
{
    size_t wide = (size_t)p->cols * 2 + p->rows;
    out->bytes = wide * sizeof *out->x + p->rows * sizeof *out->y;
    out->x = mem_alloc(m, out->bytes);
    if (!out->x)
        return false;
    out->room =
        (struct scratch){out->x + p->cols, out->x + 2 * (size_t)p->cols};
    out->y = (uint64_t *)(out->room.row + p->rows);
    return true;
}

void packing_room_give(struct mem *m, struct packing_room *r)
{
    mem_wipe(r->x, r->bytes);
    mem_free(m, r->x, r->bytes);
}
