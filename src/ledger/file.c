/*
 * The ledger's file: making it, opening it, refusing what is not one.
 *
 * Why SQLite: atomic durable transactions between processes are exactly what
 * it is tested for. WAL with synchronous=FULL syncs the log on every commit:
 * when COMMIT returned, the charge survives a power cut. The busy timeout
 * makes processes queue for the one writer.
 *
 * A new ledger is built under another name and linked into place: whoever
 * sees the name sees a whole ledger, and an existing file is never touched.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/db.h"

enum { BUSY_MS = 30000 };

/* Triggers keep invariants 1 and 4 even against other programs' SQL. */
const char ledger_tables[] =
    "CREATE TABLE budget("
    " dataset TEXT NOT NULL, analyst TEXT NOT NULL, composition TEXT NOT NULL"
    "  CHECK(composition IN ('sum', 'zcdp')),"
    " epsilon TEXT NOT NULL, delta TEXT NOT NULL,"
    " spent_epsilon TEXT NOT NULL DEFAULT '0',"
    " spent_delta TEXT NOT NULL DEFAULT '0',"
    " spent_rho TEXT NOT NULL DEFAULT '0',"
    " PRIMARY KEY(dataset, analyst)) WITHOUT ROWID;"
    "CREATE TABLE charge("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, receipt TEXT NOT NULL UNIQUE,"
    " dataset TEXT NOT NULL, analyst TEXT NOT NULL, query TEXT NOT NULL,"
    " mechanism TEXT NOT NULL, settings TEXT NOT NULL, version TEXT NOT NULL,"
    " epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT NOT NULL,"
    " state TEXT NOT NULL CHECK(state IN ('held', 'committed')),"
    " held_at TEXT NOT NULL, committed_at TEXT, answer TEXT,"
    " CHECK((state = 'committed') = (answer IS NOT NULL)));"
    "CREATE INDEX charge_repeat ON charge(dataset, analyst, version, query);"
    "CREATE TABLE granted("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL,"
    " analyst TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL,"
    " at TEXT NOT NULL);"
    "CREATE TRIGGER charge_stays BEFORE DELETE ON charge BEGIN"
    " SELECT RAISE(ABORT, 'a charge cannot be deleted'); END;"
    "CREATE TRIGGER charge_once BEFORE UPDATE ON charge"
    " WHEN OLD.state <> 'held' OR NEW.state <> 'committed'"
    "  OR NEW.id <> OLD.id OR NEW.receipt <> OLD.receipt"
    "  OR NEW.dataset <> OLD.dataset OR NEW.analyst <> OLD.analyst"
    "  OR NEW.epsilon <> OLD.epsilon OR NEW.delta <> OLD.delta"
    "  OR NEW.rho <> OLD.rho BEGIN"
    " SELECT RAISE(ABORT, 'a charge changes once, when it is answered'); END;"
    "CREATE TRIGGER budget_stays BEFORE DELETE ON budget BEGIN"
    " SELECT RAISE(ABORT, 'a budget cannot be deleted'); END;";

static enum status not_a_ledger(const char *path, const char *why,
                                struct err *err)
{
    err_set(err, E_LEDGER, "\"%s\" is not a ledger of this program", path);
    err_detail(err, "%s", why);
    err_hint(err, "Make a new one with: dpcount budget init --ledger FILE "
                  "--epsilon E");
    return E_LEDGER;
}

/* The folder's real path and the last name: SQLite's NOFOLLOW refuses
 * symbolic links in any part of a path, and only the last one matters. */
static enum status real_name(const char *path, char out[PATH_MAX],
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

/* Messages have the name as it was given: where folders really lie is not the
 * analyst's business. */
static enum status check_file(const char *name, const char *path,
                              struct err *err)
{
    struct stat st;
    if (lstat(name, &st)) {
        err_set(err, E_LEDGER, "could not find ledger \"%s\"", path);
        err_detail(err, "%s.", strerror(errno));
        err_hint(err, "The owner makes it with: dpcount budget init --ledger "
                      "FILE --epsilon E");
        return E_LEDGER;
    }
    if (S_ISLNK(st.st_mode))
        return not_a_ledger(path, "It is a symbolic link.", err);
    if (!S_ISREG(st.st_mode))
        return not_a_ledger(path, "It is not a plain file.", err);
    if (st.st_mode & S_IWOTH)
        return not_a_ledger(path, "Everybody may write to it.", err);
    return OK;
}

static enum status pragma(sqlite3 *db, const char *sql, long want, long *got,
                          struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(db, sql, &st, err));
    int rc = sqlite3_step(st);
    *got = rc == SQLITE_ROW ? (long)sqlite3_column_int64(st, 0) : want;
    sqlite3_finalize(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE
               ? OK
               : db_error(db, "could not read the ledger", err);
}

static enum status check_format(sqlite3 *db, const char *path, struct err *err)
{
    long application = 0, format = 0;
    struct err why;
    if (pragma(db, "PRAGMA application_id", 0, &application, &why) != OK ||
        application != LEDGER_APPLICATION)
        return not_a_ledger(path, "It has another format.", err);
    TRY(pragma(db, "PRAGMA user_version", 0, &format, err));
    if (format != LEDGER_FORMAT) {
        err_set(err, E_LEDGER, "ledger \"%s\" has format %ld, not %d", path,
                format, LEDGER_FORMAT);
        err_hint(err, "A newer release of this program can read it.");
        return E_LEDGER;
    }
    return OK;
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

static enum status open_db(const char *name, sqlite3 **out, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW |
                SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(name, out, flags, NULL) == SQLITE_OK)
        return settings(*out, err);
    return db_error(*out, "could not open the ledger", err);
}

enum status ledger_open(struct mem *m, const char *path, struct ledger **out,
                        struct err *err)
{
    char name[PATH_MAX];
    TRY(real_name(path, name, err));
    TRY(check_file(name, path, err));
    struct ledger *l = mem_alloc(m, sizeof *l);
    if (!l)
        return err_nomem(err);
    l->mem = m;
    enum status s = open_db(name, &l->db, err);
    if (s == OK)
        s = check_format(l->db, path, err);
    if (s != OK) {
        ledger_close(l);
        return s;
    }
    *out = l;
    return OK;
}

void ledger_close(struct ledger *l)
{
    if (!l)
        return;
    sqlite3_close_v2(l->db);
    mem_free(l->mem, l, sizeof *l);
}

/* --- making one ----------------------------------------------------------- */

static enum status fill_new(sqlite3 *db, enum composition c, mpq_srcptr epsilon,
                            mpq_srcptr delta, struct err *err)
{
    char start[200];
    snprintf(start, sizeof start,
             "PRAGMA journal_mode = WAL; PRAGMA application_id = %d;"
             "PRAGMA user_version = %d; BEGIN IMMEDIATE;",
             LEDGER_APPLICATION, LEDGER_FORMAT);
    TRY(db_exec(db, start, "could not make the ledger", err));
    TRY(db_exec(db, ledger_tables, "could not make the ledger", err));
    struct mem m;
    struct arena a;
    sqlite3_stmt *st = NULL;
    mem_init(&m, 0);
    arena_init(&a, &m);
    enum status s = db_prepare(db,
                               "INSERT INTO budget(dataset, analyst,"
                               " composition, epsilon, delta)"
                               " VALUES('', '', ?, ?, ?)",
                               &st, err);
    if (s == OK) {
        db_bind(st, 1, c == COMPOSE_ZCDP ? STR("zcdp") : STR("sum"));
        db_bind_rat(st, 2, &a, epsilon);
        db_bind_rat(st, 3, &a, delta);
        s = db_run(db, st, "could not make the ledger", err);
    }
    arena_fini(&a);
    TRY(s);
    return db_exec(db, "COMMIT", "could not make the ledger", err);
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

static enum status build(const char *temp, enum composition c,
                         mpq_srcptr epsilon, mpq_srcptr delta, struct err *err)
{
    sqlite3 *db = NULL;
    enum status s = open_db(temp, &db, err);
    if (s == OK)
        s = fill_new(db, c, epsilon, delta, err);
    if (sqlite3_close(db) != SQLITE_OK && s == OK)
        s = err_internal(err, "ledger_create");
    return s;
}

enum status ledger_create(const char *path, enum composition c,
                          mpq_srcptr epsilon, mpq_srcptr delta, struct err *err)
{
    char name[PATH_MAX], temp[PATH_MAX + 16];
    struct stat st;
    TRY(real_name(path, name, err));
    if (!lstat(name, &st)) {
        errno = EEXIST;
        return cannot_create(path, err);
    }
    snprintf(temp, sizeof temp, "%s.new-XXXXXX", name);
    int fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return cannot_create(path, err);
    close(fd);
    enum status s = build(temp, c, epsilon, delta, err);
    if (s == OK && link(temp, name))
        s = cannot_create(path, err);
    unlink(temp);
    if (s == OK)
        sync_folder(name);
    return s;
}
