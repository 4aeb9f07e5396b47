/* Questions: see dpcount.h. */
#include "api/api_int.h"

dpc_status dpc_question_new(const char *query, dpc_question **out)
{
    dpc_question *q = *out = dpc_new(sizeof *q);
    if (!q)
        return DPC_LIMIT;
    mem_init(&q->mem, 0);
    arena_init(&q->arena, &q->mem);
    q->query = str_copy(&q->arena, str_of(query));
    if (q->query.p)
        return DPC_OK;
    dpc_question_free(q);
    *out = NULL;
    return DPC_LIMIT;
}

void dpc_question_free(dpc_question *q)
{
    if (!q)
        return;
    arena_fini(&q->arena);
    dpc_delete(q, sizeof *q);
}

dpc_status dpc_question_set(dpc_question *q, const char *name,
                            const char *value, dpc_error **err)
{
    struct err e;
    enum status s = option_set(&q->opt, &q->arena, OPTION_ANALYST, str_of(name),
                               str_of(value), &e);
    return s == OK ? DPC_OK : dpc_fail(&e, err);
}

static enum status set_param(dpc_question *q, size_t i, const char *value,
                             struct err *err)
{
    enum { MOST = 65535 };
    str_list *list = &q->opt.params;
    struct str copy = {0};
    if (i < 1 || i > MOST)
        return err_set(err, E_USAGE, "parameters are $1 to $%d", MOST);
    if (value && !(copy = str_copy(&q->arena, str_of(value))).p)
        return err_nomem(err);
    while (list->n < i)
        if (!VEC_PUSH(&q->arena, list, (struct str){0}))
            return err_nomem(err);
    list->p[i - 1] = copy;
    return OK;
}

dpc_status dpc_question_param(dpc_question *q, size_t i, const char *value,
                              dpc_error **err)
{
    struct err e;
    return set_param(q, i, value, &e) == OK ? DPC_OK : dpc_fail(&e, err);
}

void dpc_question_error_columns(dpc_question *q, int yes)
{
    q->error_columns = yes != 0;
}

void dpc_question_progress(dpc_question *q, dpc_progress_fn fn, void *ctx)
{
    q->watcher.fn = fn;
    q->watcher.ctx = ctx;
}

void dpc_question_cancel(dpc_question *q)
{
    atomic_store(&q->watcher.cancelled, true);
}
