/*
 * The ledger's file: making it, opening it, refusing what is not one.
 *
 * Why SQLite: atomic durable transactions between processes are exactly what
 * it is tested for. WAL with synchronous=FULL syncs the log on every commit:
 * when COMMIT returned, the charge survives a power cut. The busy timeout
 * makes processes queue for the one writer.
 *
 * A new ledger is built under another name and renamed into place: whoever
 * sees the name sees a whole ledger, and an existing file is never touched.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/queue.h"

enum { BUSY_MS = 30000 };

/* The folder's real path and the last name: SQLite's NOFOLLOW refuses
 * symbolic links in any part of a path, and only the last one matters. */
static enum status ledger_file_name(const char *path, char out[PATH_MAX],
                                    struct err *err)
{
    char dir[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (!*base || strlen(path) >= sizeof dir - 32)
        return err_set(err, E_LEDGER, "\"%.200s\" cannot be a file name", path);
    memcpy(dir, path, n);
    dir[n] = 0;
    if (!realpath(n ? dir : ".", real) ||
        (size_t)snprintf(out, PATH_MAX, "%s/%s", real, base) >= PATH_MAX - 32) {
        err_set(err, E_LEDGER, "could not find the folder of ledger \"%s\"",
                path);
        err_detail(err, "%s.", strerror(errno));
        return E_LEDGER;
    }
    return OK;
}

static enum status pragma(sqlite3 *db, const char *sql, long want, long *got,
                          struct err *err)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
        return db_error(db, "could not read the ledger", err);
    int rc = sqlite3_step(st);
    *got = rc == SQLITE_ROW ? (long)sqlite3_column_int64(st, 0) : want;
    sqlite3_finalize(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE
               ? OK
               : db_error(db, "could not read the ledger", err);
}

/* PRIVACY: durability rests on these settings. fullfsync matters on systems
 * whose fsync does not reach the disk, and does nothing elsewhere. */
static enum status settings(sqlite3 *db, struct err *err)
{
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_extended_result_codes(db, 1);
    return db_exec(db,
                   "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;"
                   "PRAGMA checkpoint_fullfsync = ON;"
                   "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;",
                   "could not set up the ledger", err);
}

static enum status another_format(const char *path, long format,
                                  struct err *err)
{
    err_set(err, E_LEDGER, "ledger \"%s\" has format %ld, not %d", path, format,
            LEDGER_FORMAT);
    err_hint(err, format == 1
                      ? "The owner brings it to the present format with: "
                        "dpcount budget adopt --ledger FILE"
                      : "A newer release of this program can read it.");
    return E_LEDGER;
}

static enum status read_format(sqlite3 *db, const char *path, long *out,
                               struct err *err)
{
    long application = 0;
    struct err why;
    if (pragma(db, "PRAGMA application_id", 0, &application, &why) != OK ||
        application != LEDGER_APPLICATION) {
        err_set(err, E_LEDGER, "\"%s\" is not a ledger of this program", path);
        err_detail(err, "It has another format.");
        err_hint(err, "Make a new one with: dpcount budget init --ledger FILE "
                      "--epsilon E");
        return E_LEDGER;
    }
    return pragma(db, "PRAGMA user_version", 0, out, err);
}

static enum status open_db(const char *name, int flags, sqlite3 **out,
                           struct err *err)
{
    flags |=
        SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(name, out, flags, NULL) == SQLITE_OK)
        return flags & SQLITE_OPEN_READONLY ? OK : settings(*out, err);
    return db_error(*out, "could not open the ledger", err);
}

/* "file:NAME?immutable=1" */
static void immutable_name(const char *name, char out[3 * PATH_MAX + 32])
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;
    memcpy(out, "file:", 5);
    for (n = 5; *name; name++) {
        unsigned char c = (unsigned char)*name;
        bool plain = c != '%' && c != '?' && c != '#';
        out[n++] = plain ? *name : '%';
        if (plain)
            continue;
        out[n++] = digits[c >> 4];
        out[n++] = digits[c & 15];
    }
    memcpy(out + n, "?immutable=1", sizeof "?immutable=1");
}

static bool may_write(const char *name)
{
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s", name);
    *(strrchr(dir, '/') + 1) = 0;
    return !access(name, W_OK) && !access(dir, W_OK);
}

/* Who may write opens as a writer that does not, for only writers put the log
 * away. In a folder that cannot be written SQLite finds no place for its shared
 * memory; without a log all is in the file. */
static enum status open_to_read(const char *name, sqlite3 **out,
                                struct err *err)
{
    char text[3 * PATH_MAX + 32];
    struct stat st;
    long format;
    struct err why;
    if (may_write(name)) {
        TRY(open_db(name, SQLITE_OPEN_READWRITE, out, err));
        return db_exec(*out, "PRAGMA query_only = ON",
                       "could not open the ledger", err);
    }
    TRY(open_db(name, SQLITE_OPEN_READONLY, out, err));
    if (pragma(*out, "PRAGMA user_version", 0, &format, &why) == OK)
        return OK;
    snprintf(text, sizeof text, "%s-wal", name);
    if (!stat(text, &st) && st.st_size > 0)
        return OK; /* whoever reads will be told */
    sqlite3_close_v2(*out);
    *out = NULL;
    immutable_name(name, text);
    return open_db(text, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, out, err);
}

/* Else whoever closes last puts the log away, with three syncs, and the next
 * makes it anew. Every commit is synced to the log either way. */
static void leave_log(struct ledger *l)
{
    int yes = 1;
    sqlite3_file_control(l->db, "main", SQLITE_FCNTL_PERSIST_WAL, &yes);
    sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (!l->group)
        sqlite3_wal_autocheckpoint(l->db, LOG_PAGES);
}

enum status ledger_file_open(struct mem *m, const char *path,
                             const struct ledger_access *access,
                             struct ledger **out, long *out_format,
                             struct err *err)
{
    bool read_only = access && access->read_only;
    const char *anchor = access && access->anchor ? access->anchor : "";
    struct ledger *l = mem_alloc(m, sizeof *l);
    if (!l)
        return err_nomem(err);
    l->mem = m;
    l->holds = -1;
    l->read_only = read_only;
    enum status s = ledger_file_name(path, l->name, err);
    if (s == OK && strlen(anchor) >= sizeof l->anchor)
        s = err_set(err, E_VALUE, "the anchor's name is too long");
    if (s == OK)
        s = ledger_file_check(l->name, path, read_only, err);
    if (s == OK)
        s = read_only ? open_to_read(l->name, &l->db, err)
                      : open_db(l->name, SQLITE_OPEN_READWRITE, &l->db, err);
    if (s == OK)
        s = read_format(l->db, path, out_format, err);
    if (s == OK)
        s = db_group_open(l, access ? access->group : NULL, err);
    if (s != OK) {
        ledger_close(l);
        return s;
    }
    if (access && access->busy)
        leave_log(l);
    snprintf(l->anchor, sizeof l->anchor, "%s", anchor);
    *out = l;
    return OK;
}

/* 0: there is none. */
static uint64_t log_inode(const struct ledger *l)
{
    char text[PATH_MAX + 8];
    struct stat st;
    snprintf(text, sizeof text, "%s-wal", l->name);
    return stat(text, &st) ? 0 : (uint64_t)st.st_ino;
}

static enum status ready(struct ledger *l, const char *path, long format,
                         struct err *err)
{
    if (format != LEDGER_FORMAT)
        return another_format(path, format, err);
    TRY(identity_check(l, path, err));
    TRY(anchor_check(l, err));
    return l->read_only ? OK : queue_sweep(l, err);
}

enum status ledger_open(struct mem *m, const char *path,
                        const struct ledger_access *access, struct ledger **out,
                        struct err *err)
{
    struct ledger *l = NULL;
    long format = 0;
    TRY(ledger_file_open(m, path, access, &l, &format, err));
    l->log = log_inode(l);
    enum status s = ready(l, path, format, err);
    if (s == OK)
        *out = l;
    else
        ledger_close(l);
    return s;
}

/* A file that was put in another's place has another inode. So has a log that
 * was removed under an open ledger: what is written into the old one nobody
 * would see. The file of holds is opened again with the next hold. */
enum status ledger_reopen(struct ledger *l, const char *path,
                          const struct ledger_access *access, struct err *err)
{
    char name[PATH_MAX];
    long format = 0;
    const char *anchor = access && access->anchor ? access->anchor : "";
    TRY(ledger_file_name(path, name, err));
    TRY(ledger_file_check(name, path, l->read_only, err));
    if (strcmp(name, l->name) || strcmp(anchor, l->anchor) || !l->log ||
        log_inode(l) != l->log || !db_at_rest(l))
        return err_set(err, E_LEDGER, "another ledger than before");
    if (l->holds >= 0)
        close(l->holds);
    l->holds = -1;
    TRY(read_format(l->db, path, &format, err));
    return ready(l, path, format, err);
}

void ledger_close(struct ledger *l)
{
    if (!l)
        return;
    db_forget(l);
    sqlite3_close_v2(l->db);
    if (l->holds >= 0) /* afterwards: a hold that is left has no process */
        close(l->holds);
    mem_free(l->mem, l, sizeof *l);
}

void ledger_leave(struct ledger *l)
{
    leave_log(l);
    ledger_close(l);
}

/* --- making one ----------------------------------------------------------- */

/* The first event tells the terms. */
static enum status log_init(struct ledger *l, struct arena *a,
                            const struct ledger_spec *spec, struct err *err)
{
    struct sb b;
    sb_init(&b, a);
    sb_printf(&b, "%d %s %s\n", LEDGER_FORMAT,
              spec->composition == COMPOSE_ZCDP ? "zcdp" : "sum",
              spec->open ? "open" : "closed");
    rat_print(&b, spec->epsilon);
    sb_char(&b, '\n');
    rat_print(&b, spec->delta);
    sb_char(&b, '\n');
    sb_str(&b, dataset_text(a, STR(""), &spec->limits));
    return b.failed ? err_nomem(err)
                    : chain_add(l, a, "init", sb_view(&b), NULL, err);
}

static enum status first_account(struct ledger *l, struct arena *a,
                                 const struct ledger_spec *spec,
                                 struct err *err)
{
    struct account acc;
    account_init(&acc);
    acc.composition = spec->composition;
    mpq_set(acc.epsilon_total, spec->epsilon);
    mpq_set(acc.delta_total, spec->delta);
    if (spec->composition == COMPOSE_ZCDP)
        mpq_div_2exp(acc.conversion, spec->delta, 1);
    enum status s = account_put(l, a, STR(""), STR(""), &acc, err);
    account_fini(&acc);
    return s;
}

static enum status fill_new(struct ledger *l, struct arena *a,
                            const struct ledger_spec *spec, struct err *err)
{
    TRY(db_exec(l->db, ledger_tables, "could not make the ledger", err));
    TRY(identity_store(l, err));
    TRY(first_account(l, a, spec, err));
    TRY(dataset_make(l, a, STR(""), spec->open, &spec->limits, err));
    TRY(log_init(l, a, spec, err));
    return spec->policy ? dataset_bind(l, a, STR(""), spec->policy, true, err)
                        : OK;
}

static enum status start_new(struct ledger *l, const struct ledger_spec *spec,
                             struct err *err)
{
    char start[200];
    struct arena a;
    snprintf(start, sizeof start,
             "PRAGMA journal_mode = WAL; PRAGMA application_id = %d;"
             "PRAGMA user_version = %d;",
             LEDGER_APPLICATION, LEDGER_FORMAT);
    TRY(db_exec(l->db, start, "could not make the ledger", err));
    TRY(db_begin(l, err));
    arena_init(&a, l->mem);
    enum status s = db_end(l, fill_new(l, &a, spec, err), err);
    arena_fini(&a);
    return s;
}

static enum status cannot_create(const char *path, struct err *err)
{
    bool exists = errno == EEXIST;
    err_set(err, E_LEDGER,
            exists ? "\"%s\" exists already" : "could not create ledger \"%s\"",
            path);
    if (!exists)
        err_detail(err, "%s.", strerror(errno));
    else
        err_hint(err, "A budget that was spent stays spent. To enlarge it, "
                      "or to add one for other data (--dataset): dpcount "
                      "budget grant.");
    return E_LEDGER;
}

static void sync_folder(const char *name)
{
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s", name);
    *(strrchr(dir, '/') + 1) = 0;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
}

static enum status build(const char *temp, const struct ledger_spec *spec,
                         struct err *err)
{
    struct mem m;
    struct ledger l = {.mem = &m, .holds = -1};
    mem_init(&m, 0);
    if (strlen(temp) >= sizeof l.name) /* file_name leaves room */
        return err_internal(err, "ledger_create");
    memcpy(l.name, temp, strlen(temp) + 1);
    enum status s = open_db(temp, SQLITE_OPEN_READWRITE, &l.db, err);
    if (s == OK)
        s = start_new(&l, spec, err);
    db_forget(&l);
    if (sqlite3_close(l.db) != SQLITE_OK && s == OK)
        s = err_internal(err, "ledger_create");
    return s;
}

/* Never over another file, and never with two names where it can be helped. */
static bool put_in_place(const char *temp, const char *name)
{
    if (!renameat2(AT_FDCWD, temp, AT_FDCWD, name, RENAME_NOREPLACE))
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    return !link(temp, name);
}

/* An anchor with heads is another ledger's. */
static enum status check_new_anchor(const char *path, struct err *err)
{
    struct stat st;
    if (!path || lstat(path, &st) || (S_ISREG(st.st_mode) && !st.st_size))
        return OK;
    return err_set(err, E_VALUE, "the anchor \"%s\" is in use", path);
}

/* The heads so far. */
static enum status start_anchor(const char *path, const char *anchor,
                                struct err *err)
{
    struct mem m;
    struct ledger *l = NULL;
    long format = 0;
    struct ledger_access access = {.anchor = anchor};
    if (!anchor)
        return OK;
    mem_init(&m, 0);
    TRY(ledger_file_open(&m, path, &access, &l, &format, err));
    enum status s = anchor_append(l, 1, err);
    ledger_close(l);
    return s;
}

enum status ledger_create(const char *path, const struct ledger_spec *spec,
                          struct err *err)
{
    char name[PATH_MAX], temp[PATH_MAX + 16];
    struct stat st;
    TRY(ledger_file_name(path, name, err));
    TRY(check_new_anchor(spec->anchor, err));
    if (!lstat(name, &st)) {
        errno = EEXIST;
        return cannot_create(path, err);
    }
    snprintf(temp, sizeof temp, "%s.new-XXXXXX", name);
    int fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return cannot_create(path, err);
    close(fd);
    enum status s = build(temp, spec, err);
    if (s == OK && !put_in_place(temp, name))
        s = cannot_create(path, err);
    unlink(temp); /* gone already, unless it failed */
    if (s == OK)
        sync_folder(name);
    return s == OK ? start_anchor(path, spec->anchor, err) : s;
}
