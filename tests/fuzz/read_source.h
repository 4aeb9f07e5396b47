/* A file in a folder of its own, opened as a source and read whole: for targets
 * whose input is such a file. */
#ifndef FUZZ_READ_SOURCE_H
#define FUZZ_READ_SOURCE_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/source.h"

static char folder[64], path[80];

static inline void must(bool good)
{
    if (!good)
        exit(1);
}

static inline void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static inline void leave(void)
{
    unlink(path);
    rmdir(folder);
}

/* In memory where there is such a file system. */
static inline void make_folder(const char *name)
{
    strcpy(folder, "/dev/shm/dpc-fuzz-XXXXXX");
    if (!mkdtemp(folder))
        must(mkdtemp(strcpy(folder, "/tmp/dpc-fuzz-XXXXXX")));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    atexit(leave);
}

static inline void put_file(const void *bytes, size_t n)
{
    unlink(path);
    FILE *f = fopen(path, "wb");
    must(f && fwrite(bytes, 1, n, f) == n && !fclose(f));
}

static inline enum status said(enum status s, const struct err *err)
{
    if (s != OK && !err->message[0])
        defect("an error without message");
    return s;
}

static inline void read_tables(struct source *src, struct schema *s,
                               struct mem *m, bool strictly)
{
    struct store *st = NULL;
    struct err err = {0};
    enum status e = said(store_new(m, s, &st, &err), &err);
    for (size_t i = 0; e == OK && i < s->tables.n; i++) {
        struct err why = {0};
        e = strictly ? source_load_strictly(src, i, NULL, st, &why)
                     : source_load_whole(src, i, st, NULL, &why);
        (void)said(e, &why);
    }
    store_free(st);
}

/* Nothing but an error with a message may come of it, and no memory is left. */
static inline void read_source(const struct source_spec *spec, size_t memory)
{
    struct mem m;
    struct arena a;
    struct schema s;
    struct source *src = NULL;
    struct err err = {0};
    mem_init(&m, memory);
    arena_init(&a, &m);
    schema_init(&s, &a);
    if (said(source_open(&m, spec, &s, &src, &err), &err) == OK) {
        read_tables(src, &s, &m, false);
        read_tables(src, &s, &m, true);
    }
    source_close(src);
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left");
}

#endif
