/*
 * Delimited files from anywhere: loading never crashes or leaks, an error has
 * a line of the file or says what the file is, and what was loaded, written as
 * plain CSV, loads as the same rows. The first byte chooses the number of
 * columns.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static void put_cell(struct sb *b, const struct value *v)
{
    if (v->is_null)
        return;
    if (v->type != T_TEXT) {
        value_print(b, v);
        return;
    }
    sb_char(b, '"');
    for (size_t i = 0; i < v->s.n; i++) {
        if (v->s.p[i] == '"')
            sb_char(b, '"');
        sb_char(b, v->s.p[i]);
    }
    sb_char(b, '"');
}

/* The table as CSV with a header. */
static void put_table(struct sb *b, const struct store_table *t,
                      const char *header)
{
    sb_cstr(b, header);
    sb_char(b, '\n');
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t c = 0; c < t->n_cols; c++) {
            struct value v = column_value(&t->cols[c], r);
            put_cell(b, &v);
            sb_char(b, c + 1 < t->n_cols ? ',' : '\n');
        }
}

/* Loads `text` and writes it back; false when it was refused. */
static bool round_trip(struct arena *a, struct str text, const char *columns,
                       struct sb *out)
{
    char spec[80];
    struct schema s;
    struct source *src = NULL;
    struct store *st = NULL;
    struct err err = {0};
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
        exit(1);
    snprintf(spec, sizeof spec, "t(%s)=/proc/self/fd/%d", columns, fd);
    struct str one = str_of(spec);
    struct source_spec sp = {.tables = &one, .n_tables = 1};
    schema_init(&s, a);
    enum status e = source_open(a->mem, &sp, &s, &src, &err);
    if (e == OK)
        e = store_new(a->mem, &s, &st, &err);
    if (e == OK)
        e = source_load(src, NULL, st, NULL, &err);
    if (e == OK)
        put_table(out, &st->tables[0], columns);
    if (e == E_DATA && err.line < 1)
        defect("an error without a line");
    if (e != OK && e != E_DATA && !strstr(err.message, "not delimited text"))
        defect(err.message);
    store_free(st);
    source_close(src);
    close(fd);
    return e == OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"a,b", "a,b,c", "a,b,c,d,e"};
    struct mem m;
    struct arena a;
    struct sb first, second;
    if (!size)
        return 0;
    mem_init(&m, 0);
    arena_init(&a, &m);
    sb_init(&first, &a);
    sb_init(&second, &a);
    const char *cols = columns[data[0] % 3];
    struct str text = {(const char *)data + 1, size - 1};
    if (round_trip(&a, text, cols, &first)) {
        if (!round_trip(&a, sb_view(&first), cols, &second))
            defect("its own CSV is refused");
        if (!str_eq(sb_view(&first), sb_view(&second)))
            defect("its own CSV loads differently");
    }
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left");
    return 0;
}
