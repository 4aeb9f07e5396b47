/*
 * Policies and constraints from anywhere: reading never crashes or leaks, and
 * an error in a policy has a place. The first byte chooses the reader.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check(struct schema *s, struct str text)
{
    struct err err;
    if (text.n && text.p[0] == 'C') {
        text.p++;
        text.n--;
        if (schema_read_constraint(s, text, &err) != OK && !err.message[0])
            defect("an error without message");
        return;
    }
    if (schema_read_policy(s, text, "policy.yaml", &err) != OK &&
        !err.message[0])
        defect("an error without message");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct arena a;
    struct schema s;
    size_t table;
    struct err err;
    mem_init(&m, 256 << 20);
    arena_init(&a, &m);
    schema_init(&s, &a);
    if (schema_add_table(&s, STR("pat"), 3, &table, &err) == OK)
        check(&s, (struct str){(const char *)data, size});
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left");
    return 0;
}
