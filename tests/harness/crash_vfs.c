/* See crash_vfs.h. */
#include "harness/crash_vfs.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>

struct undo {
    struct undo *next; /* newest first */
    sqlite3_int64 offset, old_size;
    int n;
    char old[];
};

struct file {
    sqlite3_file base;
    struct file *next; /* open files */
    struct undo *undo;
    sqlite3_file *real; /* behind this struct */
};

static struct {
    enum crash_mode mode;
    long at, changes;
    long long clock;
    sqlite3_vfs *real;
    struct file *open;
} state;

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct file *)f)->real;
}

static void undo_all(struct file *f, int chance)
{
    for (struct undo *u = f->undo; u; u = u->next) {
        if (rand() % 2 >= chance)
            continue;
        if (u->n)
            f->real->pMethods->xWrite(f->real, u->old, u->n, u->offset);
        sqlite3_int64 size = 0;
        f->real->pMethods->xFileSize(f->real, &size);
        if (size > u->old_size && chance == 2)
            f->real->pMethods->xTruncate(f->real, u->old_size);
    }
}

static void die(void)
{
    for (struct file *f = state.open; f; f = f->next) {
        if (state.mode == CRASH_POWER)
            undo_all(f, 2);
        else if (state.mode == CRASH_TORN)
            undo_all(f, 1);
    }
    kill(getpid(), SIGKILL);
}

/* Counts a change; the error it must fail with, or SQLITE_OK. */
static int change(int error, int is_sync)
{
    state.changes++;
    bool hit = state.changes == state.at, after = state.changes >= state.at;
    if (hit && (state.mode == CRASH_KILL || state.mode == CRASH_POWER ||
                state.mode == CRASH_TORN))
        die();
    if (hit && state.mode == FAIL_ONCE)
        return error;
    if (after && state.mode == FAIL_SYNC && is_sync)
        return SQLITE_IOERR_FSYNC;
    if (after && state.mode == FAIL_WRITE && !is_sync)
        return SQLITE_FULL;
    return SQLITE_OK;
}

static void remember(struct file *f, int n, sqlite3_int64 offset)
{
    sqlite3_int64 size = 0;
    f->real->pMethods->xFileSize(f->real, &size);
    sqlite3_int64 have = size - offset;
    int keep = have <= 0 ? 0 : have < n ? (int)have : n;
    struct undo *u = malloc(sizeof *u + (size_t)keep);
    if (!u)
        abort();
    *u = (struct undo){f->undo, offset, size, keep};
    if (keep)
        f->real->pMethods->xRead(f->real, u->old, keep, offset);
    f->undo = u;
}

static void forget(struct file *f)
{
    while (f->undo) {
        struct undo *u = f->undo;
        f->undo = u->next;
        free(u);
    }
}

/* --- methods of an open file ---------------------------------------------- */

static int x_close(sqlite3_file *f)
{
    struct file *me = (struct file *)f, **p = &state.open;
    while (*p && *p != me)
        p = &(*p)->next;
    if (*p)
        *p = me->next;
    forget(me);
    return me->real->pMethods ? me->real->pMethods->xClose(me->real)
                              : SQLITE_OK;
}
static int x_read(sqlite3_file *f, void *b, int n, sqlite3_int64 o)
{
    return real_of(f)->pMethods->xRead(real_of(f), b, n, o);
}
static int x_write(sqlite3_file *f, const void *b, int n, sqlite3_int64 o)
{
    int rc = change(SQLITE_IOERR_WRITE, 0);
    if (rc)
        return rc;
    remember((struct file *)f, n, o);
    return real_of(f)->pMethods->xWrite(real_of(f), b, n, o);
}
static int x_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    int rc = change(SQLITE_IOERR_TRUNCATE, 0);
    return rc ? rc : real_of(f)->pMethods->xTruncate(real_of(f), size);
}
static int x_sync(sqlite3_file *f, int flags)
{
    int rc = change(SQLITE_IOERR_FSYNC, 1);
    if (rc)
        return rc;
    forget((struct file *)f);
    return real_of(f)->pMethods->xSync(real_of(f), flags);
}
static int x_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}
static int x_lock(sqlite3_file *f, int l)
{
    return real_of(f)->pMethods->xLock(real_of(f), l);
}
static int x_unlock(sqlite3_file *f, int l)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), l);
}
static int x_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}
static int x_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}
static int x_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static int x_device(sqlite3_file *f)
{
    (void)f;
    return 0; /* promises nothing: every sync is asked for */
}
static int x_shm_map(sqlite3_file *f, int i, int n, int e, void volatile **p)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), i, n, e, p);
}
static int x_shm_lock(sqlite3_file *f, int o, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), o, n, flags);
}
static void x_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static int x_shm_unmap(sqlite3_file *f, int del)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), del);
}

static const sqlite3_io_methods methods = {
    2,        x_close,   x_read,     x_write,       x_truncate,  x_sync,
    x_size,   x_lock,    x_unlock,   x_reserved,    x_control,   x_sector,
    x_device, x_shm_map, x_shm_lock, x_shm_barrier, x_shm_unmap, NULL,
    NULL,
};

static int x_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags,
                  int *out)
{
    struct file *me = (struct file *)f;
    (void)v;
    memset(me, 0, sizeof *me);
    me->real = (sqlite3_file *)(me + 1);
    int rc = state.real->xOpen(state.real, name, me->real, flags, out);
    if (rc)
        return rc;
    me->base.pMethods = &methods;
    me->next = state.open;
    state.open = me;
    return SQLITE_OK;
}

static int x_delete(sqlite3_vfs *v, const char *name, int sync)
{
    (void)v;
    int rc = change(SQLITE_IOERR_DELETE, 0);
    return rc ? rc : state.real->xDelete(state.real, name, sync);
}

static int x_time(sqlite3_vfs *v, sqlite3_int64 *out)
{
    (void)v;
    int rc = state.real->xCurrentTimeInt64(state.real, out);
    *out += state.clock * 1000;
    return rc;
}

void crash_vfs_clock(long long seconds)
{
    state.clock = seconds;
}

void crash_vfs_install(void)
{
    static sqlite3_vfs vfs;
    state.real = sqlite3_vfs_find(NULL);
    vfs = *state.real;
    vfs.szOsFile += (int)sizeof(struct file);
    vfs.zName = "crash";
    vfs.pNext = NULL;
    vfs.xOpen = x_open;
    vfs.xDelete = x_delete;
    vfs.xCurrentTimeInt64 = x_time;
    sqlite3_vfs_register(&vfs, 1);
}

void crash_vfs_arm(enum crash_mode mode, long at)
{
    state.mode = mode;
    state.at = at;
    state.changes = 0;
}

long crash_vfs_changes(void)
{
    return state.changes;
}
