/* Schema files from anywhere: reading never crashes, hangs or leaks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sql/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct arena a;
    struct schema s;
    struct err err;
    struct str text = {(const char *)data, size};
    mem_init(&m, 256 << 20);
    arena_init(&a, &m);
    schema_init(&s, &a);
    bool silent =
        sql_read_ddl(&s, text, "schema.sql", &err) != OK && err.message[0] == 0;
    arena_fini(&a);
    if (silent || atomic_load(&m.used)) {
        fprintf(stderr, "%s\n",
                silent ? "an error without message" : "memory is left");
        abort();
    }
    return 0;
}
