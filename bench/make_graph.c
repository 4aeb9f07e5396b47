/*
 * A power-law graph: N undirected edges between vertices drawn with falling
 * weights (rank^-exponent), both directions written, no loops, no repeats.
 *
 *     make-graph EDGES VERTICES EXPONENT SEED > FILE
 *
 * Vertex numbers are scattered, so that nothing depends on their order.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* A rank with density proportional to rank^-e, by inversion. */
static uint32_t draw(uint32_t n, double e)
{
    double top = pow((double)n + 1, 1 - e);
    double x = pow(1 + uniform() * (top - 1), 1 / (1 - e)) - 1;
    return x >= n ? n - 1 : (uint32_t)x;
}

static uint32_t scatter(uint32_t x, uint32_t n)
{
    return (uint32_t)(((uint64_t)x * 2654435761u + 12345) % n);
}

/* Open-addressing set of pairs. */
struct set {
    uint64_t *slot;
    size_t mask;
};

static int insert(struct set *s, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & s->mask;
    for (; s->slot[at]; at = (at + 1) & s->mask)
        if (s->slot[at] == key)
            return 0;
    s->slot[at] = key;
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: make-graph EDGES VERTICES EXPONENT SEED\n");
        return 2;
    }
    size_t edges = strtoull(argv[1], NULL, 10), size = 16;
    uint32_t n = (uint32_t)strtoul(argv[2], NULL, 10);
    double e = atof(argv[3]);
    state = strtoull(argv[4], NULL, 10) * 2 + 88172645463325252u;
    while (size < edges * 2)
        size *= 2;
    struct set s = {calloc(size, sizeof(uint64_t)), size - 1};
    if (!s.slot || n < 2 || e == 1.0)
        return 1;
    for (size_t i = 0; i < edges;) {
        uint32_t a = scatter(draw(n, e), n), b = scatter(draw(n, e), n);
        uint32_t lo = a < b ? a : b, hi = a < b ? b : a;
        if (lo == hi || !insert(&s, ((uint64_t)lo << 32 | hi) + 1))
            continue;
        printf("%u\t%u\n%u\t%u\n", a, b, b, a);
        i++;
    }
    free(s.slot);
    return 0;
}
