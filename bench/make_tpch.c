/*
 * A database like TPC-H's: nation, customer, orders, lineitem, supplier with
 * their keys and fan-outs, as a folder of comma-separated files.
 *
 *     make-tpch SCALE SEED DIR
 *
 * Scale 1 has 150,000 customers, 1.5 million orders, about 6 million line
 * items and 10,000 suppliers. A third of the customers has no order, as in
 * the original.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

static FILE *open_table(const char *dir, const char *name, const char *head)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.csv", dir, name);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    fprintf(f, "%s\n", head);
    return f;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: make-tpch SCALE SEED DIR\n");
        return 2;
    }
    double scale = atof(argv[1]);
    const char *dir = argv[3];
    uint32_t customers = (uint32_t)(150000 * scale);
    uint32_t suppliers = (uint32_t)(10000 * scale);
    uint32_t orders = (uint32_t)(1500000 * scale);
    state = strtoull(argv[2], NULL, 10);
    if (customers < 3 || !suppliers)
        return 2;
    FILE *f = open_table(dir, "nation", "n_nationkey,n_regionkey");
    for (uint32_t i = 0; i < 25; i++)
        fprintf(f, "%u,%u\n", i, i % 5);
    fclose(f);
    f = open_table(dir, "customer", "c_custkey,c_nationkey");
    for (uint32_t i = 1; i <= customers; i++)
        fprintf(f, "%u,%u\n", i, below(25));
    fclose(f);
    f = open_table(dir, "supplier", "s_suppkey,s_nationkey");
    for (uint32_t i = 1; i <= suppliers; i++)
        fprintf(f, "%u,%u\n", i, below(25));
    fclose(f);
    f = open_table(dir, "orders", "o_orderkey,o_custkey");
    FILE *l = open_table(dir, "lineitem",
                         "l_orderkey,l_linenumber,l_suppkey,l_quantity");
    for (uint32_t i = 0; i < orders; i++) {
        uint32_t key = i / 8 * 32 + i % 8 + 1; /* sparse keys */
        uint32_t customer = 1 + below(customers / 3) * 3;
        fprintf(f, "%u,%u\n", key, customer + below(2));
        for (uint32_t k = 1, n = 1 + below(7); k <= n; k++) {
            /* one draw a statement: arguments are evaluated in any order */
            uint32_t quantity = 1 + below(50);
            uint32_t supplier = 1 + below(suppliers);
            fprintf(l, "%u,%u,%u,%u\n", key, k, supplier, quantity);
        }
    }
    fclose(f);
    fclose(l);
    return 0;
}
