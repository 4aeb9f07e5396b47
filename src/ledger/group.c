/*
 * One sync for the transactions of several processes. Where many ask at once
 * the sync of SQLite's log is most of what a hold takes, and with
 * synchronous=FULL each is made while the write lock is held, so that nobody
 * shares it. Processes of one group commit without it, and then each waits
 * until a sync of the log has *begun after its COMMIT returned*: the first
 * makes it for all who have come so far.
 *
 *   BEGIN  begun + 1 ... COMMIT   ended + 1 = t    lock; durable >= t? nothing
 *                                                  to do : e = ended; sync;
 *                                                  durable = e; unlock
 *
 * PRIVACY: a ticket t is taken behind the COMMIT, so all frames of tickets up
 * to e are in the log when the sync begins. The log is read from its beginning
 * to the first frame that is not whole: what a durable transaction had seen is
 * durable too. What is read may not be on the disk yet; whoever shows it calls
 * ledger_settle.
 *
 * A failed sync may have forgotten pages that were never written, and a later
 * one that succeeds says nothing of them. So what the log has is written again
 * before anything behind it counts as durable; also by a new group, which does
 * not know what was before it, and after a member that died while it synced.
 * For the same reason the log is moved into the ledger here and not by SQLite,
 * which syncs it for that, too, and tells nobody when it fails.
 * Cost: a mutex; writing again at most the log, four megabytes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "ledger/db.h"

enum { CHUNK = 1 << 16 };

struct ledger_group {
    pthread_mutex_t syncing;       /* who has it may use the lower three */
    _Atomic uint64_t begun, ended; /* transactions of members */
    uint64_t durable;              /* of those that ended */
    uint64_t log;                  /* inode of the log they are in */
    bool whole;                    /* no sync of it failed */
};

struct ledger_group *ledger_group_new(void)
{
    pthread_mutexattr_t a;
    struct ledger_group *g = mmap(NULL, sizeof *g, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (g == MAP_FAILED)
        return NULL;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    bool made = pthread_mutex_init(&g->syncing, &a) == 0;
    pthread_mutexattr_destroy(&a);
    if (made)
        return g;
    munmap(g, sizeof *g);
    return NULL;
}

void ledger_group_free(struct ledger_group *g)
{
    if (g)
        munmap(g, sizeof *g);
}

void ledger_group_inherit(struct ledger_group *g, bool yes)
{
    if (g)
        madvise(g, sizeof *g, yes ? MADV_DOFORK : MADV_DONTFORK);
}

/* --- the log
 * --------------------------------------------------------------------- */

/* NULL: there is none, for nobody can write here. */
static sqlite3_file *log_of(struct ledger *l)
{
    sqlite3_file *f = NULL;
    int rc =
        sqlite3_file_control(l->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &f);
    return rc == SQLITE_OK && f && f->pMethods ? f : NULL;
}

static enum status sync_error(struct err *err)
{
    err_set(err, E_LEDGER_IO, "could not write the ledger");
    err_detail(err, "Its log could not be synced to the disk.");
    return E_LEDGER_IO;
}

static int write_bytes(sqlite3_file *f, char *bytes)
{
    sqlite3_int64 size = 0;
    int rc = f->pMethods->xFileSize(f, &size);
    for (sqlite3_int64 at = 0; rc == SQLITE_OK && at < size; at += CHUNK) {
        int n = size - at < CHUNK ? (int)(size - at) : CHUNK;
        rc = f->pMethods->xRead(f, bytes, n, at);
        if (rc == SQLITE_OK)
            rc = f->pMethods->xWrite(f, bytes, n, at);
    }
    return rc == SQLITE_OK ? f->pMethods->xSync(f, SQLITE_SYNC_FULL) : rc;
}

/* With the write lock, so that nobody appends or begins the log anew. */
static enum status write_again(struct ledger *l, sqlite3_file *f,
                               struct err *err)
{
    char *bytes = mem_alloc(l->mem, CHUNK);
    if (!bytes)
        return err_nomem(err);
    enum status s =
        db_exec(l->db, "BEGIN IMMEDIATE", "could not lock the ledger", err);
    if (s == OK && write_bytes(f, bytes) != SQLITE_OK)
        s = sync_error(err);
    if (!sqlite3_get_autocommit(l->db))
        sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    mem_free(l->mem, bytes, CHUNK);
    return s;
}

/* As SQLite does by itself where a log is nobody else's. It syncs the log
 * first; false: perhaps not. */
static bool move_log(struct ledger *l)
{
    if (l->frames < LOG_PAGES)
        return true;
    int rc = sqlite3_wal_checkpoint_v2(l->db, "main", SQLITE_CHECKPOINT_PASSIVE,
                                       NULL, NULL);
    rc &= 0xff;
    return rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED;
}

static enum status sync_log(struct ledger *l, bool whole, struct err *err)
{
    sqlite3_file *f = log_of(l);
    if (!f)
        return OK;
    if (whole && f->pMethods->xSync(f, SQLITE_SYNC_FULL) == SQLITE_OK)
        return OK;
    return write_again(l, f, err);
}

/* --- the group
 * ------------------------------------------------------------------- */

static bool enter(struct ledger_group *g)
{
    int rc = pthread_mutex_lock(&g->syncing);
    if (rc == EOWNERDEAD) {
        g->whole = false;
        rc = pthread_mutex_consistent(&g->syncing);
    }
    return rc == 0;
}

/* Of this log, and of no other that a member has open. */
static bool is_durable(const struct ledger *l, uint64_t ticket)
{
    const struct ledger_group *g = l->group;
    return g->whole && l->log && g->log == l->log && g->durable >= ticket;
}

static enum status sync_all(struct ledger *l, struct err *err)
{
    struct ledger_group *g = l->group;
    uint64_t ended = atomic_load(&g->ended); /* before the sync begins */
    bool whole = g->whole && l->log && g->log == l->log;
    g->whole = false;
    TRY(sync_log(l, whole, err));
    g->durable = ended;
    g->log = l->log;
    g->whole = move_log(l);
    return OK;
}

static enum status wait_durable(struct ledger *l, uint64_t ticket,
                                struct err *err)
{
    if (!enter(l->group)) /* lost for good: then each for itself */
        return sync_log(l, false, err);
    enum status s = is_durable(l, ticket) ? OK : sync_all(l, err);
    pthread_mutex_unlock(&l->group->syncing);
    return s;
}

static int note_frames(void *ledger, sqlite3 *db, const char *name, int n)
{
    struct ledger *l = ledger;
    (void)db;
    (void)name;
    l->frames = n;
    return SQLITE_OK;
}

enum status db_group_open(struct ledger *l, struct ledger_group *g,
                          struct err *err)
{
    if (!g || l->read_only)
        return OK;
    l->group = g;
    sqlite3_wal_hook(l->db, note_frames, l); /* instead of moving the log */
    return db_exec(l->db, "PRAGMA synchronous = NORMAL",
                   "could not set up the ledger", err);
}

void db_group_begin(struct ledger *l)
{
    l->begun = l->group != NULL;
    if (l->begun)
        atomic_fetch_add(&l->group->begun, 1);
}

enum status db_group_end(struct ledger *l, enum status s, struct err *err)
{
    if (!l->begun)
        return s;
    l->begun = false;
    uint64_t ticket = atomic_fetch_add(&l->group->ended, 1) + 1;
    return s == OK ? wait_durable(l, ticket, err) : s;
}

/* All that was read is durable if no member is in a transaction, and the last
 * that ended is. */
enum status ledger_settle(struct ledger *l, struct err *err)
{
    struct ledger_group *g = l->group;
    if (!g)
        return sync_log(l, true, err);
    uint64_t begun = atomic_load(&g->begun);
    bool rest = atomic_load(&g->ended) == begun;
    return wait_durable(l, rest ? begun : UINT64_MAX, err);
}
