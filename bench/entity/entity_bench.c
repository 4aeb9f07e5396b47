/*
 * Errors of election and of R2T on the same data, side by side.
 *
 *     bench-entity --graphs DIR --tpch DIR [--draws N] [--pairs N] [--only X]
 *
 * Election is the library's own code with fresh random bytes, with one owner a
 * tenth of epsilon going to the estimate of what was cut, as in a release. R2T
 * (Dong and others, SIGMOD 2022) is simulated with continuous Laplace noise:
 * values at the L values base^i up to GS, each with noise of scale L t /
 * epsilon and lowered by L ln(L/beta) t / epsilon; the largest is the answer;
 * beta 0.1; base 2 as in the paper, 5.5 as in its code. A line for each
 * instance and epsilon: name, owners, count, largest contribution, epsilon,
 * then median and 95 % of the absolute error for R2T with base 2, with
 * base 5.5, and election; then seconds of CPU for loads and scores.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "entity/score.h"
#include "instances.h"
#include "noise/elect.h"
#include "harness/plain.h"

static void must(enum status st, const struct err *err)
{
    if (st == OK)
        return;
    fprintf(stderr, "bench-entity: %s\n", err->message);
    exit(1);
}

static double uniform(void)
{
    static uint64_t s = 0x853c49e6748fea9b;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return ((double)(s >> 11) + .5) / 9007199254740992.;
}

static double laplace(double scale)
{
    double u = uniform() - .5;
    return -scale * copysign(log1p(-2 * fabs(u)), u);
}

static double value(struct pack *p, double t)
{
    struct pack_interval v;
    struct err err;
    uint64_t low = (uint64_t)t;
    must(pack_value(p, low, &v, &err), &err);
    double q = ldexp((double)v.lo + (double)v.hi, -PACK_UNIT - 1);
    if (t == (double)low)
        return q;
    must(pack_value(p, low + 1, &v, &err), &err);
    double next = ldexp((double)v.lo + (double)v.hi, -PACK_UNIT - 1);
    return q + (t - (double)low) * (next - q);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct quantiles {
    double p50, p95;
};

static struct quantiles quantiles_of(double *error, size_t n)
{
    qsort(error, n, sizeof *error, by_size);
    return (struct quantiles){error[n / 2], error[n * 95 / 100]};
}

static struct quantiles r2t(struct pack *p, double total, double gs,
                            double base, double epsilon, size_t draws)
{
    double *error = malloc(draws * sizeof *error), q[64], t[64];
    double levels = floor(log(gs) / log(base) + 1e-9);
    unsigned n = (unsigned)levels;
    for (unsigned i = 0; i < n; i++) {
        t[i] = pow(base, i + 1);
        q[i] = value(p, t[i]);
    }
    double less = levels * log(levels / .1) / epsilon;
    for (size_t d = 0; d < draws; d++) {
        double best = 0;
        for (unsigned i = 0; i < n; i++) {
            double v = q[i] + laplace(levels * t[i] / epsilon) - less * t[i];
            best = v > best ? v : best;
        }
        error[d] = fabs(best - total);
    }
    struct quantiles out = quantiles_of(error, draws);
    free(error);
    return out;
}

struct voting {
    struct election e;
    mpq_t score[ELECT_GRID_MAX], divisor[ELECT_GRID_MAX];
    struct pack *pack;
    struct elect_lazy lazy; /* as in a release: most scores are not needed */
    mpq_t least[ELECT_GRID_MAX];
};

static enum status ask(void *ctx, unsigned j, mpq_t out, struct err *err)
{
    struct voting *v = ctx;
    struct score_grid grid = {v->e.n, v->e.grid, v->divisor, v->e.cap};
    bool capped;
    return entity_score(v->pack, &grid, j, out, &capped, err);
}

static u128 by_number(const void *pack, uint64_t t)
{
    return (u128)t * pack_entities(pack);
}

static void weigh(struct voting *v, struct pack *p, unsigned k)
{
    struct score_above above = {by_number, p};
    struct score_grid grid = {v->e.n, v->e.grid, v->divisor, v->e.cap};
    struct err err;
    bool capped = false, some;
    v->pack = p;
    for (unsigned j = 0; j < v->e.n; j++)
        mpq_set_ui(v->least[j], 0, 1);
    v->lazy = (struct elect_lazy){v->score, 0, v->least, ask, v};
    if (k == 1) {
        must(entity_scores(p, k, &grid, v->score, &err), &err);
        return;
    }
    for (unsigned j = v->e.n; j-- > 0 && !capped;) {
        must(entity_least(p, &grid, j, &above, true, v->least, &some, &err),
             &err);
        v->lazy.known = j + 1;
        if (some && elect_enough(&v->e, v->score, 0, j + 1, v->least))
            return;
        must(entity_score(p, &grid, j, v->score[j], &capped, &err), &err);
        v->lazy.known = j;
    }
}

static void open_voting(struct voting *v, struct pack *p, unsigned k,
                        double epsilon)
{
    struct guarantee g;
    struct err err;
    mpq_t tenth;
    mpq_init(tenth);
    mpq_set_ui(tenth, 1, 10);
    /* by default an estimate of what was cut is bought with one owner only */
    struct elect_question q = {.owners = k,
                               .exact = pack_exact(k, false),
                               .bound = U128_INF,
                               .order = 1,
                               .lost = k == 1 ? tenth : NULL};
    guarantee_init(&g);
    mpq_set_d(g.epsilon, round(epsilon * 10));
    mpq_set_ui(v->divisor[0], 1, 10);
    mpq_mul(g.epsilon, g.epsilon, v->divisor[0]);
    must(elect_plan(&g, &q, &v->e, &err), &err);
    for (unsigned j = 0; j < v->e.n; j++)
        elect_divisor(&v->e, j, v->divisor[j]);
    weigh(v, p, k);
    mpq_clear(tenth);
    guarantee_fini(&g);
}

static double draw_once(struct voting *v, struct pack *p, struct entropy *rng)
{
    struct pack_interval at;
    struct secret_scale m;
    struct err err;
    unsigned j;
    mpz_t out;
    must(elect_draw_lazily(a_hold(), &v->e, &v->lazy, rng, &j, &err), &err);
    must(pack_value(p, v->e.grid[j], &at, &err), &err);
    mpz_init(out);
    secret_scale_init(&m);
    mpq_t middle;
    mpq_init(middle);
    pack_middle(&at, middle);
    secret_scale_set(&m, middle);
    mpq_clear(middle);
    must(elect_answer(a_hold(), &v->e, j, &m, rng, out, &err), &err);
    double answer = mpz_get_d(out);
    secret_scale_fini(&m);
    mpz_clear(out);
    return answer;
}

static struct quantiles elect(struct voting *v, struct pack *p, double total,
                              size_t draws)
{
    double *error = malloc(draws * sizeof *error);
    struct entropy *rng;
    struct err err;
    must(entropy_open(&rng, &err), &err);
    for (size_t d = 0; d < draws; d++)
        error[d] = fabs(draw_once(v, p, rng) - total);
    entropy_close(rng);
    struct quantiles out = quantiles_of(error, draws);
    free(error);
    return out;
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void run_epsilon(const struct instance *i, struct pack *p, double total,
                        double epsilon, double opened, size_t draws)
{
    struct voting *v = calloc(1, sizeof *v);
    double from = seconds();
    elect_init(&v->e);
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++)
        mpq_inits(v->score[j], v->divisor[j], v->least[j], NULL);
    open_voting(v, p, i->in.k, epsilon);
    double took = opened + seconds() - from;
    struct quantiles e = elect(v, p, total, draws);
    struct quantiles a = r2t(p, total, i->gs, 2, epsilon, draws);
    struct quantiles b = r2t(p, total, i->gs, 5.5, epsilon, draws);
    printf("%s\t%u\t%.0f\t%.0f\t%g\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.2f\n",
           i->name, i->in.k, total, (double)pack_largest(p), epsilon, a.p50,
           a.p95, b.p50, b.p95, e.p50, e.p95, took);
    fflush(stdout);
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++)
        mpq_clears(v->score[j], v->divisor[j], v->least[j], NULL);
    elect_fini(&v->e);
    free(v);
}

/* Epsilon 1 comes first: the seconds are those of one release at it. */
static void run(const struct instance *i, size_t draws)
{
    static const double epsilons[] = {1, .1, .8, 4};
    struct mem m;
    struct pack *p;
    struct err err;
    double from = seconds();
    mem_init(&m, 0);
    must(pack_open(&m, &i->in, NULL, &p, &err), &err);
    double opened = seconds() - from;
    double total = value(p, (double)((uint64_t)1 << 62));
    for (unsigned j = 0; j < 4; j++)
        run_epsilon(i, p, total, epsilons[j], opened, draws);
    pack_close(p);
}

/* Seconds alone, at epsilon 1. */
static void run_pairs(size_t n)
{
    struct instance i;
    struct mem m;
    struct pack *p;
    struct err err;
    struct voting *v = calloc(1, sizeof *v);
    instance_pairs(n, (uint32_t)(n / 10 + 1), &i);
    mem_init(&m, 0);
    elect_init(&v->e);
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++)
        mpq_inits(v->score[j], v->divisor[j], v->least[j], NULL);
    double from = seconds();
    must(pack_open(&m, &i.in, NULL, &p, &err), &err);
    open_voting(v, p, 2, 1);
    printf("# %zu pairs by a power law, the largest has %.0f: %.2f s\n", n,
           (double)pack_largest(p), seconds() - from);
    for (unsigned j = 0; j < ELECT_GRID_MAX; j++)
        mpq_clears(v->score[j], v->divisor[j], v->least[j], NULL);
    elect_fini(&v->e);
    free(v);
    pack_close(p);
    instance_free(&i);
}

/* Is an instance wanted? --only: those whose names begin like that. */
static const char *only = "";

static bool wanted(const char *name)
{
    return strncmp(name, only, strlen(only)) == 0;
}

static void run_graphs(const char *folder, size_t draws)
{
    static const char *const graphs[] = {"GrQc", "HepTh"};
    static const char *const what[] = {"edges", "triangles", "2-paths"};
    for (unsigned g = 0; g < 2; g++)
        for (unsigned w = 0; w < 3; w++) {
            struct instance i;
            char name[64];
            double gs = w == 0 ? 1024 : 1024. * 1024;
            snprintf(name, sizeof name, "%s %s", graphs[g], what[w]);
            if (!wanted(name) ||
                !instance_graph(folder, graphs[g], what[w], gs, &i))
                continue;
            i.name = name;
            run(&i, draws);
            instance_free(&i);
        }
}

static void run_tpch(const char *folder, size_t draws)
{
    static const char *const what[] = {"Q12", "Q10", "Q3", "Q20",
                                       "Q18", "q5",  "q21"};
    static const char *const name[] = {"Q12 line items per order",
                                       "Q10 orders per customer",
                                       "Q3 line items per customer",
                                       "Q20 line items per supplier",
                                       "Q18 sum of quantity per customer",
                                       "q5 customer and supplier",
                                       "q21 supplier and order"};
    for (unsigned w = 0; w < 7; w++) {
        struct instance i;
        if (!wanted(name[w]) || !instance_tpch(folder, what[w], &i))
            continue;
        i.name = name[w];
        run(&i, draws);
        instance_free(&i);
    }
}

int main(int argc, char **argv)
{
    const char *graphs = NULL, *tpch = NULL;
    size_t draws = 20000, pairs = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--graphs") == 0)
            graphs = argv[i + 1];
        else if (strcmp(argv[i], "--tpch") == 0)
            tpch = argv[i + 1];
        else if (strcmp(argv[i], "--draws") == 0)
            draws = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
        else if (strcmp(argv[i], "--pairs") == 0)
            pairs = strtoul(argv[i + 1], NULL, 10);
    }
    if (graphs)
        run_graphs(graphs, draws);
    if (tpch)
        run_tpch(tpch, draws);
    if (pairs)
        run_pairs(pairs);
    return 0;
}
