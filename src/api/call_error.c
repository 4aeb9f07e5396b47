/* Errors of calls: see dpcount.h. */
#include "api/api_int.h"

#define NO_MEMORY                                                              \
    "{\"error\": {\"code\": \"memory\", \"message\": \"out of memory\", "      \
    "\"detail\": \"\", \"hint\": \"\", \"position\": null}}"

void *dpc_new(size_t n)
{
    struct mem boot; /* what holds a budget is not in it */
    mem_init(&boot, 0);
    return mem_alloc(&boot, n);
}

void dpc_delete(void *p, size_t n)
{
    struct mem boot;
    mem_init(&boot, 0);
    mem_free(&boot, p, n);
}

dpc_status dpc_fail(const struct err *e, dpc_error **out)
{
    dpc_error *x = out ? dpc_new(sizeof *x) : NULL;
    if (out)
        *out = x;
    if (x) {
        x->e = *e;
        mem_init(&x->mem, 0);
        arena_init(&x->arena, &x->mem);
        sb_init(&x->json, &x->arena);
        report_error_json(&x->json, e);
    }
    return (dpc_status)status_exit(e->status);
}

void dpc_error_free(dpc_error *e)
{
    if (!e)
        return;
    arena_fini(&e->arena);
    dpc_delete(e, sizeof *e);
}

const char *dpc_error_code(const dpc_error *e)
{
    return e ? status_code(e->e.status) : status_code(E_NOMEM);
}

const char *dpc_error_message(const dpc_error *e)
{
    return e ? e->e.message : "out of memory";
}

const char *dpc_error_detail(const dpc_error *e)
{
    return e ? e->e.detail : "";
}

const char *dpc_error_hint(const dpc_error *e)
{
    return e ? e->e.hint : "";
}

long dpc_error_position(const dpc_error *e)
{
    return e ? e->e.position : -1;
}

const char *dpc_error_file(const dpc_error *e, long *line, long *column)
{
    if (line)
        *line = e ? e->e.line : 0;
    if (column)
        *column = e ? e->e.column : 0;
    return e ? e->e.file : "";
}

const char *dpc_error_json(const dpc_error *e)
{
    return e && !e->json.failed && e->json.p ? e->json.p : NO_MEMORY;
}
