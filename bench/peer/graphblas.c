/*
 * The patterns as matrix products in GraphBLAS, one thread.
 *
 *     bench-graphblas FILE    (`src,dst` lines, vertices numbered by degree)
 *
 * Requests on standard input, one word a line, and answers as bench-serve's.
 * Triangles by the masked dot product of Sandia's LUT method; rectangles by
 * the wedges below their highest vertex; the others as in the definition.
 */
#include <GraphBLAS.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static GrB_Matrix A, L, U;
static GrB_Index n;

static void check(GrB_Info info, const char *what)
{
    if (info == GrB_SUCCESS || info == GrB_NO_VALUE)
        return;
    printf("{\"error\": \"%s: %s\"}\n", what,
           info == GrB_OUT_OF_MEMORY ? "out of memory" : "failed");
    exit(0);
}
#define DO(call) check(call, #call)

static double now(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

static GrB_Matrix matrix(void)
{
    GrB_Matrix m;
    DO(GrB_Matrix_new(&m, GrB_INT64, n, n));
    return m;
}

static void read_graph(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t room = 1 << 16, k = 0;
    GrB_Index *r = malloc(room * sizeof *r), *c = malloc(room * sizeof *c);
    char line[64];
    while (f && fgets(line, sizeof line, f)) {
        unsigned a, b;
        if (sscanf(line, "%u,%u", &a, &b) != 2)
            continue;
        if (k == room) {
            room *= 2;
            r = realloc(r, room * sizeof *r);
            c = realloc(c, room * sizeof *c);
        }
        if (!r || !c)
            exit(1);
        r[k] = a;
        c[k++] = b;
        n = a >= n ? a + 1 : n;
    }
    int64_t *one = malloc((k + 1) * sizeof *one);
    for (size_t i = 0; one && i < k; i++)
        one[i] = 1;
    A = matrix();
    L = matrix();
    U = matrix();
    DO(GrB_Matrix_build_INT64(A, r, c, one, k, GrB_PLUS_INT64));
    DO(GrB_select(L, NULL, NULL, GrB_TRIL, A, (int64_t)-1, NULL));
    DO(GrB_select(U, NULL, NULL, GrB_TRIU, A, (int64_t)1, NULL));
    DO(GrB_wait(A, GrB_MATERIALIZE));
    free(r);
    free(c);
    free(one);
}

/* sum of x (x - 1) */
static int64_t sum_pairs(GrB_Matrix m)
{
    int64_t plain = 0, squares = 0;
    DO(GrB_reduce(&plain, NULL, GrB_PLUS_MONOID_INT64, m, NULL));
    DO(GrB_eWiseMult(m, NULL, NULL, GrB_TIMES_INT64, m, m, NULL));
    DO(GrB_reduce(&squares, NULL, GrB_PLUS_MONOID_INT64, m, NULL));
    return squares - plain;
}

static int64_t triangle(GrB_Matrix c)
{
    int64_t v = 0;
    DO(GrB_mxm(c, L, NULL, GxB_PLUS_PAIR_INT64, L, U, GrB_DESC_ST1));
    DO(GrB_reduce(&v, NULL, GrB_PLUS_MONOID_INT64, c, NULL));
    return 6 * v;
}

static int64_t rectangle(GrB_Matrix c)
{
    DO(GrB_mxm(c, NULL, NULL, GxB_PLUS_PAIR_INT64, L, A, NULL));
    DO(GrB_select(c, NULL, NULL, GrB_TRIL, c, (int64_t)-1, NULL));
    return 4 * sum_pairs(c);
}

static int64_t two_triangles(GrB_Matrix c)
{
    DO(GrB_mxm(c, L, NULL, GxB_PLUS_PAIR_INT64, A, A, GrB_DESC_ST1));
    return 2 * sum_pairs(c);
}

static void common(GrB_Matrix c)
{
    DO(GrB_mxm(c, NULL, NULL, GxB_PLUS_PAIR_INT64, A, A, NULL));
    DO(GrB_select(c, NULL, NULL, GrB_OFFDIAG, c, (int64_t)0, NULL));
}

static int64_t max_of(GrB_Matrix c)
{
    int64_t v = 0;
    DO(GrB_reduce(&v, NULL, GrB_MAX_MONOID_INT64, c, NULL));
    return v;
}

static int64_t max_common(GrB_Matrix c)
{
    common(c);
    return max_of(c);
}

/* Walks a-b-c-d with a != c, less those with b = d: a next to d, any c. */
static int64_t max_paths(GrB_Matrix c)
{
    GrB_Matrix back = matrix(), d = matrix();
    GrB_Vector degree;
    DO(GrB_Vector_new(&degree, GrB_INT64, n));
    common(c);
    DO(GrB_mxm(c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, c, A, NULL));
    DO(GrB_reduce(degree, NULL, NULL, GrB_PLUS_MONOID_INT64, A, NULL));
    DO(GrB_apply(degree, NULL, NULL, GrB_MINUS_INT64, degree, (int64_t)1,
                 NULL));
    DO(GrB_Matrix_diag(&d, degree, 0));
    DO(GrB_mxm(back, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, A, d, NULL));
    DO(GrB_apply(back, NULL, NULL, GrB_AINV_INT64, back, NULL));
    DO(GrB_eWiseAdd(c, NULL, NULL, GrB_PLUS_INT64, c, back, NULL));
    DO(GrB_select(c, NULL, NULL, GrB_OFFDIAG, c, (int64_t)0, NULL));
    int64_t v = max_of(c);
    GrB_free(&back);
    GrB_free(&d);
    GrB_free(&degree);
    return v;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int64_t (*run)(GrB_Matrix);
    } known[] = {{"triangle", triangle},
                 {"rectangle", rectangle},
                 {"two_triangles", two_triangles},
                 {"max_common", max_common},
                 {"max_paths", max_paths}};
    char line[64];
    if (argc != 2)
        return 2;
    DO(GrB_init(GrB_NONBLOCKING));
    DO(GxB_set(GxB_NTHREADS, 1));
    read_graph(argv[1]);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (strcmp(line, known[i].name) != 0)
                continue;
            double w = now(CLOCK_MONOTONIC), c = now(CLOCK_PROCESS_CPUTIME_ID);
            GrB_Matrix m = matrix();
            int64_t v = known[i].run(m);
            c = now(CLOCK_PROCESS_CPUTIME_ID) - c;
            printf("{\"answer\": \"%lld\", \"cpu\": %.6f, \"wall\": %.6f}\n",
                   (long long)v, c, now(CLOCK_MONOTONIC) - w);
            fflush(stdout);
            GrB_free(&m);
        }
    }
    return 0;
}
