/*
 * Rule text from anywhere: reading never crashes or leaks; what is accepted
 * keeps its invariants and is printed as text that reads back as the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cq/cq.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void defect(const char *what, struct str text)
{
    fprintf(stderr, "%s: %.*s\n", what, PSTR(text));
    abort();
}

static void check(struct arena *a, struct schema *s, struct str in)
{
    struct cq *q, *again;
    struct err err;
    if (cq_read(a, s, in, &q, &err) != OK)
        return;
    if (cq_check(q))
        defect(cq_check(q), in);
    struct str text = cq_text(a, q);
    if (!text.p)
        return;
    enum status st = cq_read(a, s, text, &again, &err);
    if (st == E_NOMEM)
        return;
    if (st != OK)
        defect(err.message, text);
    if (!str_eq(cq_text(a, again), text))
        defect("reads back differently", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct arena a;
    struct schema s;
    mem_init(&m, 256 << 20);
    arena_init(&a, &m);
    schema_init(&s, &a);
    check(&a, &s, (struct str){(const char *)data, size});
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left", STR(""));
    return 0;
}
