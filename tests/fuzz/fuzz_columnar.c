/*
 * Parquet files from anywhere, through DuckDB's library: what we make of its
 * chunks never crashes or leaks, and an error has a message. Without the
 * library there is nothing to read, and nothing is tried.
 */
#include <stdint.h>

#include "fuzz/read_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char spec[128];
    if (!folder[0])
        make_folder("t.parquet");
    put_file(data, size);
    snprintf(spec, sizeof spec, "t=%s", path);
    struct str one = str_of(spec);
    struct source_spec sp = {.tables = &one, .n_tables = 1};
    read_source(&sp, 256 << 20);
    return 0;
}
