/*
 * Data sets: see dpcount.h. Set up by one thread, opened once; afterwards no
 * function of this folder writes to one, but for the flag that cancels.
 */
#include "api/api_int.h"

#include <string.h>
#include <unistd.h>

#include "release/child.h"
#include "release/steward.h"

dpc_status dpc_dataset_new(dpc_dataset **out)
{
    dpc_dataset *d = *out = dpc_new(sizeof *d);
    if (!d)
        return DPC_LIMIT;
    mem_init(&d->mem, 0);
    arena_init(&d->arena, &d->mem);
    d->arena.wipe = true; /* a connection string may hold a password */
    return DPC_OK;
}

void dpc_dataset_free(dpc_dataset *d)
{
    if (!d)
        return;
    if (d->steward > 0)
        close(d->steward); /* it ends when nobody has it */
    if (d->base)
        prepared_fini(d->base);
    arena_fini(&d->arena);
    dpc_delete(d, sizeof *d);
}

dpc_status dpc_dataset_set(dpc_dataset *d, const char *name, const char *value,
                           dpc_error **err)
{
    struct err e;
    enum status s =
        d->opened ? err_set(&e, E_USAGE, "an open data set does not change")
                  : option_set(&d->opt, &d->arena, OPTION_OWNER, str_of(name),
                               str_of(value), &e);
    return s == OK ? DPC_OK : dpc_fail(&e, err);
}

void dpc_dataset_progress(dpc_dataset *d, dpc_progress_fn fn, void *ctx)
{
    d->watcher.fn = fn;
    d->watcher.ctx = ctx;
}

void dpc_dataset_cancel(dpc_dataset *d)
{
    atomic_store(&d->watcher.cancelled, true);
}

/* --- opening -------------------------------------------------------------- */

static enum status new_base(dpc_dataset *d, struct err *err)
{
    d->session = NEW(&d->arena, struct session);
    struct prepared *base = NEW(&d->arena, struct prepared);
    if (!d->session || !base)
        return err_nomem(err);
    dpc_begin(d->session, d, NULL);
    prepared_init(base, d->session);
    base->arena.wipe = true;
    d->base = base;
    return OK;
}

static enum status open_now(dpc_dataset *d, struct err *err)
{
    TRY(new_base(d, err));
    enum status s = prepare_schema(d->base, SOURCE_OPTIONAL, err);
    prepare_close_source(d->base);
    return s == OK ? dpc_list_tables(d, err) : s;
}

/* PRIVACY: while there is one thread. Without a ledger nothing is released;
 * where there are threads already releases say that they are not isolated. */
static void start_steward(dpc_dataset *d)
{
    struct err why;
    bool releases = d->opt.ledger.n && (d->opt.db.n || d->opt.tables.n);
    if (releases && child_possible(&why) == OK &&
        steward_start(d->base, &d->steward, &why) != OK)
        d->steward = 0;
}

static void undo_open(dpc_dataset *d)
{
    if (d->base)
        prepared_fini(d->base);
    d->base = NULL;
    d->opened = false;
}

dpc_status dpc_dataset_open(dpc_dataset *d, unsigned flags, dpc_error **err)
{
    struct err e;
    if (d->opened) {
        err_set(&e, E_USAGE, "the data set is open already");
        return dpc_fail(&e, err);
    }
    d->opened = true;
    if (flags & DPC_OPEN_LATE)
        return DPC_OK;
    if (open_now(d, &e) == OK) {
        start_steward(d);
        return DPC_OK;
    }
    undo_open(d);
    return dpc_fail(&e, err);
}

/* --- bytes ---------------------------------------------------------------- */

/* They begin with how many they are, so that they can be wiped and freed. */
static enum status give_bytes(struct str from, void **bytes, size_t *n,
                              struct err *err)
{
    size_t all = from.n + sizeof(size_t);
    char *p = dpc_new(all);
    if (!p)
        return err_nomem(err);
    memcpy(p, &all, sizeof all);
    memcpy(p + sizeof all, from.p, from.n);
    *bytes = p + sizeof all;
    *n = from.n;
    return OK;
}

void dpc_bytes_free(void *bytes)
{
    size_t all;
    if (!bytes)
        return;
    char *p = (char *)bytes - sizeof all;
    memcpy(&all, p, sizeof all);
    dpc_delete(p, all);
}

static enum status export(const dpc_dataset *d, struct session *s, void **bytes,
                          size_t *n, struct err *err) {
    struct prepared p; struct sb b;
    if (!d->base) return err_set(err, E_USAGE, "the data set is not open");
    prepared_init(&p, s);
    sb_init(&b, &p.arena);
    enum status st = prepare_schema(&p, SOURCE_OPTIONAL, err);
    if (st == OK) st = prepare_source(&p, err);
    if (st == OK) st = prepare_write(&p, &b, err);
    if (st == OK) st = give_bytes(sb_view(&b), bytes, n, err);
    prepared_fini(&p);
    return st;
}

dpc_status dpc_dataset_export(const dpc_dataset *d, void **bytes, size_t *n,
                              dpc_error **err)
{
    struct session s = {0};
    struct err e;
    *bytes = NULL;
    *n = 0;
    dpc_begin(&s, d, NULL);
    enum status st = export(d, &s, bytes, n, &e);
    dpc_end(&s, d, NULL);
    return st == OK ? DPC_OK : dpc_fail(&e, err);
}

static enum status import(dpc_dataset *d, struct str bytes, struct err *err)
{
    TRY(new_base(d, err));
    d->opened = true;
    TRY(prepare_read(d->base, bytes, err));
    return dpc_list_tables(d, err);
}

dpc_status dpc_dataset_import(const void *bytes, size_t n, dpc_dataset **out,
                              dpc_error **err)
{
    struct err e;
    dpc_status made = dpc_dataset_new(out);
    if (made != DPC_OK)
        return made;
    if (import(*out, (struct str){bytes, n}, &e) == OK)
        return DPC_OK;
    dpc_dataset_free(*out);
    *out = NULL;
    return dpc_fail(&e, err);
}
