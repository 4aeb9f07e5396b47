/*
 * Stored answers from anywhere (the ledger is a file): reading never crashes
 * or leaks, an error has a message, and what was read is written again as the
 * very same text, apart from how a number of the error estimate is spelled.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "release/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Everything up to the error estimate. */
static struct str numbers(struct str text)
{
    const char *end = memmem(text.p, text.n, "\"error\"", 7);
    return (struct str){text.p, end ? (size_t)(end - text.p) : text.n};
}

static void check(struct arena *a, struct str text)
{
    struct answer x = {0}, y = {0};
    struct str again;
    struct err err = {0};
    if (answer_read(a, text, &x, &err) != OK) {
        if (!err.message[0])
            defect("an error without message");
        return;
    }
    if (answer_write(a, &x, &again, &err) != OK)
        defect("an answer that cannot be written");
    if (!str_eq(numbers(text), numbers(again)))
        defect("other numbers than were read");
    if (answer_read(a, again, &y, &err) != OK || y.p50 != x.p50 ||
        y.p95 != x.p95 || y.released != x.released ||
        y.has_error != x.has_error || y.keys.n != x.keys.n)
        defect("what was written is read differently");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct arena a;
    mem_init(&m, 64 << 20);
    arena_init(&a, &m);
    check(&a, (struct str){(const char *)data, size});
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left");
    return 0;
}
