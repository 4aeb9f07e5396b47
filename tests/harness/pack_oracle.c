/*
 * A tableau simplex with Bland's rule. Columns: one variable for each tuple;
 * rows: one for each entity (t), one for each answer or tuple (its weight).
 * The slack basis is feasible, so there is no first phase.
 */
#include "harness/pack_oracle.h"

#include <stdlib.h>
#include "num/rat.h"

struct tableau {
    size_t rows, cols; /* the last column is the right side */
    mpq_t *cell;
    size_t *basis;
};

static mpq_t *at(const struct tableau *t, size_t r, size_t c)
{
    return &t->cell[r * (t->cols + 1) + c];
}

static void open_tableau(struct tableau *t, size_t rows, size_t vars)
{
    t->rows = rows;
    t->cols = vars + rows;
    t->cell = malloc((rows + 1) * (t->cols + 1) * sizeof *t->cell);
    t->basis = malloc(rows * sizeof *t->basis);
    for (size_t i = 0; i < (rows + 1) * (t->cols + 1); i++)
        mpq_init(t->cell[i]);
    for (size_t r = 0; r < rows; r++) {
        t->basis[r] = vars + r;
        mpq_set_ui(*at(t, r, vars + r), 1, 1);
    }
    for (size_t c = 0; c < vars; c++) /* the objective, negated */
        mpq_set_si(*at(t, rows, c), -1, 1);
}

static void close_tableau(struct tableau *t)
{
    for (size_t i = 0; i < (t->rows + 1) * (t->cols + 1); i++)
        mpq_clear(t->cell[i]);
    free(t->cell);
    free(t->basis);
}

static void pivot(struct tableau *t, size_t r, size_t c)
{
    mpq_t f, x;
    mpq_inits(f, x, NULL);
    mpq_set(f, *at(t, r, c));
    for (size_t j = 0; j <= t->cols; j++)
        mpq_div(*at(t, r, j), *at(t, r, j), f);
    for (size_t i = 0; i <= t->rows; i++) {
        if (i == r || mpq_sgn(*at(t, i, c)) == 0)
            continue;
        mpq_set(f, *at(t, i, c));
        for (size_t j = 0; j <= t->cols; j++) {
            mpq_mul(x, f, *at(t, r, j));
            mpq_sub(*at(t, i, j), *at(t, i, j), x);
        }
    }
    t->basis[r] = c;
    mpq_clears(f, x, NULL);
}

/* The row that limits column c; ties go to the smallest basic variable. */
static size_t leaving(const struct tableau *t, size_t c)
{
    size_t best = t->rows;
    mpq_t x, least;
    mpq_inits(x, least, NULL);
    for (size_t r = 0; r < t->rows; r++) {
        if (mpq_sgn(*at(t, r, c)) <= 0)
            continue;
        mpq_div(x, *at(t, r, t->cols), *at(t, r, c));
        int d = best == t->rows ? -1 : mpq_cmp(x, least);
        if (d < 0 || (d == 0 && t->basis[r] < t->basis[best])) {
            best = r;
            mpq_set(least, x);
        }
    }
    mpq_clears(x, least, NULL);
    return best;
}

static void maximise(struct tableau *t)
{
    while (true) {
        size_t c = 0;
        while (c < t->cols && mpq_sgn(*at(t, t->rows, c)) >= 0)
            c++;
        if (c == t->cols)
            return;
        pivot(t, leaving(t, c), c);
    }
}

static void load_tuple(struct tableau *t, const struct pack_input *in, size_t i)
{
    for (unsigned j = 0; j < in->k; j++) {
        uint32_t u = in->ids[i * in->k + j];
        if (u != PACK_NONE)
            mpq_set_ui(*at(t, u, i), 1, 1);
    }
    size_t r = in->entities + (in->answer ? in->answer[i] : i);
    mpq_set_ui(*at(t, r, i), 1, 1);
    mpq_set_ui(*at(t, r, t->cols), 1, 1);
    if (in->weight && !in->answer)
        mpz_set_u128(mpq_numref(*at(t, r, t->cols)), in->weight[i]);
}

void oracle_pack(const struct pack_input *in, mpq_srcptr limit, mpq_t out)
{
    struct tableau t;
    size_t answers = in->answer ? in->answers : in->n;
    open_tableau(&t, in->entities + answers, in->n);
    for (uint32_t u = 0; u < in->entities; u++)
        mpq_set(*at(&t, u, t.cols), limit);
    for (size_t i = 0; i < in->n; i++)
        load_tuple(&t, in, i);
    maximise(&t);
    mpq_set(out, *at(&t, t.rows, t.cols));
    close_tableau(&t);
}

void oracle_units(u128 v, mpq_t out)
{
    mpz_set_u128(mpq_numref(out), v);
    mpz_set_ui(mpq_denref(out), 1);
    mpz_mul_2exp(mpq_denref(out), mpq_denref(out), PACK_UNIT);
    mpq_canonicalize(out);
}
