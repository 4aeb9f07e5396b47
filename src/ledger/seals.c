/*
 * Versions of the data: which content was checked, against what, and whether
 * it passed. Fingerprints are HMACs under a key of the ledger's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/db.h"

enum { KEY_BYTES = 32 };

/* --- the key
 * ---------------------------------------------------------------------- */

static enum status key_error(const char *what, struct err *err)
{
    err_set(err, E_LEDGER, "could not %s the key of the ledger", what);
    err_detail(err, "%s.", errno ? strerror(errno) : "It is damaged");
    err_hint(err, "It is the file FILE.key beside the ledger and belongs to "
                  "it. Without it the data must be sealed anew.");
    return E_LEDGER;
}

static enum status read_key(int fd, unsigned char key[KEY_BYTES],
                            struct err *err)
{
    struct stat st;
    bool good = !fstat(fd, &st) && S_ISREG(st.st_mode) && !(st.st_mode & 077) &&
                st.st_uid == geteuid() && st.st_size == KEY_BYTES;
    errno = 0;
    return good && read(fd, key, KEY_BYTES) == KEY_BYTES
               ? OK
               : key_error("read", err);
}

/* Made under another name: whoever sees the name sees a whole key. */
static enum status make_key(const char *path, struct err *err)
{
    unsigned char key[KEY_BYTES];
    char temp[PATH_MAX + 24];
    snprintf(temp, sizeof temp, "%s.new-XXXXXX", path);
    TRY(chain_random(key, sizeof key, err));
    int fd = mkostemp(temp, O_CLOEXEC);
    bool good = fd >= 0 && write(fd, key, sizeof key) == sizeof key &&
                !fsync(fd) && (!link(temp, path) || errno == EEXIST);
    int why = errno;
    mem_wipe(key, sizeof key);
    if (fd >= 0) {
        close(fd);
        unlink(temp);
    }
    errno = why;
    return good ? OK : key_error("make", err);
}

static int open_key(const char *path)
{
    return open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

static enum status get_key(struct ledger *l, unsigned char key[KEY_BYTES],
                           struct err *err)
{
    char path[PATH_MAX + 8];
    int64_t seals = 0;
    snprintf(path, sizeof path, "%s.key", l->name);
    int fd = open_key(path);
    if (fd < 0 && errno == ENOENT) {
        TRY(db_number(l, "SELECT count(*) FROM seal", 0, 0, &seals, err));
        if (!seals)
            TRY(make_key(path, err));
        fd = open_key(path); /* whoever sealed meanwhile has made it */
        if (fd < 0 && errno == ENOENT)
            /* another key would make all fingerprints differ */
            return key_error("find", err);
    }
    if (fd < 0)
        return key_error("open", err);
    enum status s = read_key(fd, key, err);
    close(fd);
    return s;
}

enum status ledger_fingerprint(struct ledger *l, const void *hash, size_t n,
                               char out[SHA256_HEX], struct err *err)
{
    unsigned char key[KEY_BYTES], mac[SHA256_BYTES];
    struct hmac h;
    TRY(get_key(l, key, err));
    hmac_init(&h, key, sizeof key);
    hmac_add(&h, hash, n);
    hmac_end(&h, mac);
    sha256_hex(mac, out);
    mem_wipe(key, sizeof key);
    mem_wipe(&h, sizeof h);
    return OK;
}

/* --- seals
 * ------------------------------------------------------------------------ */

static void bind_seal(sqlite3_stmt *st, const struct ledger_seal *s)
{
    const struct str texts[] = {s->dataset,     s->source,      s->version,
                                s->fingerprint, s->constraints, s->copy,
                                s->cells};
    for (int i = 0; i < 7; i++)
        db_bind(st, i + 1, texts[i]);
    sqlite3_bind_int(st, 8, s->explicit_);
    sqlite3_bind_int(st, 9, s->valid);
}

static enum status read_seal(sqlite3_stmt *st, struct arena *a,
                             struct ledger_seal *out, struct err *err)
{
    struct str *const texts[] = {
        &out->dataset,     &out->source, &out->version, &out->fingerprint,
        &out->constraints, &out->copy,   &out->at};
    bool whole = true;
    for (int i = 0; i < 7; i++)
        whole &= (*texts[i] = db_copy(a, st, i)).p != NULL;
    out->explicit_ = sqlite3_column_int(st, 7) != 0;
    out->valid = sqlite3_column_int(st, 8) != 0;
    return whole ? OK : err_nomem(err);
}

#define SEAL_COLUMNS                                                           \
    "SELECT dataset, source, version, fingerprint, constraints, copy, at,"     \
    " explicit, valid FROM seal WHERE dataset = ? AND source = ? AND "

static enum status get(struct ledger *l, struct arena *a, const char *sql,
                       const struct str *args, int n, struct ledger_seal *out,
                       bool *out_found, struct err *err)
{
    sqlite3_stmt *st = NULL;
    *out = (struct ledger_seal){0};
    TRY(db_prepare(l, sql, &st, err));
    for (int i = 0; i < n; i++)
        db_bind(st, i + 1, args[i]);
    TRY(db_step(l, st, out_found, err));
    enum status s = *out_found ? read_seal(st, a, out, err) : OK;
    db_done(l, st);
    return s;
}

enum status ledger_seal_get(struct ledger *l, struct arena *a,
                            struct str dataset, struct str source,
                            struct str version, struct ledger_seal *out,
                            bool *out_found, struct err *err)
{
    const struct str args[] = {dataset, source, version};
    return version.n
               ? get(l, a, SEAL_COLUMNS "version = ? ORDER BY id DESC LIMIT 1",
                     args, 3, out, out_found, err)
               : get(l, a,
                     SEAL_COLUMNS "explicit AND valid ORDER BY id DESC LIMIT 1",
                     args, 2, out, out_found, err);
}

enum status ledger_seal_find(struct ledger *l, struct arena *a,
                             struct str dataset, struct str source,
                             struct str fingerprint, struct str constraints,
                             struct ledger_seal *out, bool *out_found,
                             struct err *err)
{
    const struct str args[] = {dataset, source, fingerprint, constraints};
    return get(l, a,
               SEAL_COLUMNS "fingerprint = ? AND constraints = ?"
                            " ORDER BY explicit DESC, id DESC LIMIT 1",
               args, 4, out, out_found, err);
}

/* A ledger of before seals knew their rows learns of them now. */
static enum status know_cells(struct ledger *l, struct err *err)
{
    int64_t n = 0;
    TRY(db_number(l,
                  "SELECT count(*) FROM pragma_table_info('seal')"
                  " WHERE name = 'cells'",
                  0, 0, &n, err));
    return n ? OK
             : db_exec(l->db,
                       "ALTER TABLE seal ADD COLUMN"
                       " cells TEXT NOT NULL DEFAULT ''",
                       "could not write the ledger", err);
}

static enum status insert_seal(struct ledger *l, struct arena *a,
                               const struct ledger_seal *s, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "INSERT INTO seal(dataset, source, version, fingerprint,"
                   " constraints, copy, cells, explicit, valid, at)"
                   " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, " NOW ")",
                   &st, err));
    bind_seal(st, s);
    TRY(db_run(l, st, "could not write the ledger", err));
    /* PRIVACY: heads are shown, and their number must not tell that somebody
     * wrote to the data. What was checked on the way is no event. */
    if (!s->explicit_)
        return OK;
    struct str text =
        str_printf(a, "%zu %.*s\n%zu %.*s\n%zu %.*s\n%.*s\n%.*s\n%d %d",
                   s->dataset.n, PSTR(s->dataset), s->source.n, PSTR(s->source),
                   s->version.n, PSTR(s->version), PSTR(s->fingerprint),
                   PSTR(s->constraints), s->explicit_, s->valid);
    return chain_add(l, a, "seal", text, NULL, err);
}

static enum status used(struct str version, struct err *err)
{
    err_set(err, E_VALUE, "version \"%.*s\" is sealed with other content",
            PSTR(version));
    err_hint(err, "Give the new content a name of its own.");
    return E_VALUE;
}

/* Has another source of the data set the name for other content? Two sources
 * in place, or two copies, are compared by their bytes. A sealed copy and what
 * it was made from are different bytes, so one of each is compared by rows. */
static enum status free_elsewhere(struct ledger *l, struct arena *a,
                                  const struct ledger_seal *s, struct err *err)
{
    const struct str args[] = {s->dataset,
                               s->source,
                               s->version,
                               s->fingerprint,
                               s->copy.n ? STR("1") : STR("0"),
                               s->cells};
    struct ledger_seal have;
    bool found = false;
    if (!s->explicit_)
        return OK;
    TRY(get(l, a,
            "SELECT dataset, source, version, fingerprint, constraints, copy,"
            " at, explicit, valid FROM seal WHERE dataset = ? AND source <> ?"
            " AND version = ? AND fingerprint <> ? AND explicit AND valid"
            " AND ((copy <> '') = CAST(? AS INTEGER) OR cells <> ?) LIMIT 1",
            args, 6, &have, &found, err));
    return found ? used(s->version, err) : OK;
}

/* A version that failed may be sealed again, with other content; one that
 * passed is one content for good. The same content may be checked against
 * other constraints. */
static enum status put(struct ledger *l, struct arena *a,
                       const struct ledger_seal *s, struct err *err)
{
    struct ledger_seal have;
    bool found = false;
    TRY(know_cells(l, err));
    TRY(ledger_seal_get(l, a, s->dataset, s->source, s->version, &have, &found,
                        err));
    if (found && have.valid && !str_eq(have.fingerprint, s->fingerprint))
        return used(s->version, err);
    TRY(free_elsewhere(l, a, s, err));
    if (found && str_eq(have.fingerprint, s->fingerprint) &&
        str_eq(have.constraints, s->constraints) &&
        str_eq(have.copy, s->copy) && have.valid == s->valid &&
        have.explicit_ == s->explicit_)
        return OK;
    return insert_seal(l, a, s, err);
}

enum status ledger_seal_put(struct ledger *l, const struct ledger_seal *s,
                            struct err *err)
{
    struct arena a;
    if (!s->version.n || !s->fingerprint.n)
        return err_internal(err, "ledger_seal_put");
    TRY(db_begin(l, err));
    arena_init(&a, l->mem);
    enum status st = db_end(l, put(l, &a, s, err), err);
    arena_fini(&a);
    return st;
}
