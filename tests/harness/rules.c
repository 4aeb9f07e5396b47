#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/rules.h"

void rules_init(struct rules *r)
{
    mem_init(&r->mem, 0);
    arena_init(&r->arena, &r->mem);
    schema_init(&r->schema, &r->arena);
}

bool rules_fini(struct rules *r)
{
    arena_fini(&r->arena);
    return atomic_load(&r->mem.used) == 0;
}

void rules_constraint(struct rules *r, const char *text)
{
    if (schema_read_constraint(&r->schema, str_of(text), &r->err) != OK)
        fail_msg("%s: %s", text, r->err.message);
}

void rules_public(struct rules *r, const char *list)
{
    if (schema_set_privacy(&r->schema, str_of(list), PRIVACY_PUBLIC, &r->err) !=
        OK)
        fail_msg("%s: %s", list, r->err.message);
}

struct cq *rules_read(struct rules *r, const char *text)
{
    struct cq *q = NULL;
    if (cq_read(&r->arena, &r->schema, str_of(text), &q, &r->err) != OK)
        fail_msg("%s: %s", text, r->err.message);
    const char *bad = cq_check(q);
    if (bad)
        fail_msg("%s: %s", text, bad);
    return q;
}
