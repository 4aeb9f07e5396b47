/*
 * Parquet files from anywhere, through DuckDB's library: what we make of its
 * chunks never crashes or leaks, and an error has a message. Without the
 * library there is nothing to read, and nothing is tried.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[80];

static void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static void leave(void)
{
    unlink(path);
    rmdir(folder);
}

static void prepare(void)
{
    strcpy(folder, "/dev/shm/dpc-fuzz-XXXXXX");
    if (!mkdtemp(folder) &&
        (strcpy(folder, "/tmp/dpc-fuzz-XXXXXX"), !mkdtemp(folder)))
        exit(1);
    snprintf(path, sizeof path, "%s/t.parquet", folder);
    atexit(leave);
}

static void put(const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        exit(1);
}

static enum status said(enum status s, const struct err *err)
{
    if (s != OK && !err->message[0])
        defect("an error without message");
    return s;
}

static void load(struct source *src, struct schema *s, struct mem *m,
                 bool strictly)
{
    struct store *st = NULL;
    struct err err = {0};
    if (said(store_new(m, s, &st, &err), &err) != OK)
        return;
    enum status e = strictly ? source_load_strictly(src, 0, NULL, st, &err)
                             : source_load_whole(src, 0, st, NULL, &err);
    (void)said(e, &err);
    store_free(st);
}

static void use(struct mem *m, struct arena *a)
{
    char spec[128];
    struct schema s;
    struct source *src = NULL;
    struct err err = {0};
    snprintf(spec, sizeof spec, "t=%s", path);
    struct str one = str_of(spec);
    struct source_spec sp = {.tables = &one, .n_tables = 1};
    schema_init(&s, a);
    if (said(source_open(m, &sp, &s, &src, &err), &err) == OK) {
        load(src, &s, m, false);
        load(src, &s, m, true);
    }
    source_close(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct arena a;
    if (!folder[0])
        prepare();
    put(data, size);
    mem_init(&m, 256 << 20);
    arena_init(&a, &m);
    use(&m, &a);
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left");
    return 0;
}
