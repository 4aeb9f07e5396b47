/*
 * What the files of a source hold, as hashes: to know a content that was
 * checked once, and to see that what is loaded is what was checked.
 *
 * A delimited file is hashed byte by byte, and once more while it is loaded:
 * the bytes that were parsed are the bytes that were hashed. A SQLite database
 * is its file and its write-ahead log. The transaction begins before they are
 * hashed; if the hash is one that they had before the transaction, they did not
 * change in between, and the rows are those of that content. (With a rollback
 * journal the transaction's lock keeps the file as it is; it is read through
 * SQLite's own descriptor, since closing another one would give the lock up.)
 *
 * PRIVACY: a plain hash tells the last row to whom knows the others. It stays
 * in memory; the ledger keeps a keyed hash of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "source/source_int.h"

enum { CHUNK = 1 << 16 };

static enum status no_read(struct str path, struct err *err)
{
    return err_set(err, E_SOURCE, "could not read file \"%.*s\": %s",
                   PSTR(path), strerror(errno));
}

static enum status add_all(int fd, struct sha256 *h, struct str path,
                           struct err *err)
{
    char buf[CHUNK];
    off_t at = 0; /* others may stand elsewhere in it */
    for (;;) {
        ssize_t n = pread(fd, buf, sizeof buf, at);
        if (n == 0)
            return OK;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return no_read(path, err);
        sha256_add(h, buf, (size_t)n);
        at += n;
    }
}

/* A log that is not there is empty. */
static enum status add_file(struct str path, bool optional, struct sha256 *h,
                            struct err *err)
{
    int fd = open(path.p, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return optional && errno == ENOENT ? OK : no_read(path, err);
    enum status s = add_all(fd, h, path, err);
    close(fd);
    return s;
}

static enum status add_pages(struct source *src, struct sha256 *h,
                             struct err *err)
{
    char buf[CHUNK];
    sqlite3_file *f = NULL;
    sqlite3_int64 size = 0;
    int rc = sqlite3_file_control(src->sqlite, "main",
                                  SQLITE_FCNTL_FILE_POINTER, (void *)&f);
    if (rc != SQLITE_OK || !f || !f->pMethods)
        return err_internal(err, "add_pages: no file");
    rc = f->pMethods->xFileSize(f, &size);
    for (sqlite3_int64 at = 0; rc == SQLITE_OK && at < size; at += CHUNK) {
        int n = size - at < CHUNK ? (int)(size - at) : CHUNK;
        rc = f->pMethods->xRead(f, buf, n, at);
        if (rc == SQLITE_OK)
            sha256_add(h, buf, (size_t)n);
    }
    if (rc != SQLITE_OK)
        return err_set(err, E_SOURCE, "could not read SQLite database \"%.*s\"",
                       PSTR(src->sqlite_path));
    sha256_add(h, &size, sizeof size); /* where the log begins */
    return OK;
}

static enum status hash_sqlite(struct source *src, struct source_hash *out,
                               struct err *err)
{
    struct sha256 h;
    struct arena a;
    sha256_init(&h);
    TRY(add_pages(src, &h, err));
    arena_init(&a, src->mem);
    struct str wal = str_printf(&a, "%.*s-wal", PSTR(src->sqlite_path));
    enum status s = wal.p ? add_file(wal, true, &h, err) : err_nomem(err);
    arena_fini(&a);
    sha256_end(&h, out->bytes);
    return s;
}

static enum status hash_file(const struct src_table *t, struct source_hash *out,
                             struct err *err)
{
    struct sha256 h;
    sha256_init(&h);
    TRY(t->kept >= 0 ? add_all(t->kept, &h, t->path, err)
                     : add_file(t->path, false, &h, err));
    sha256_end(&h, out->bytes);
    return OK;
}

static enum status hash_duckdb(struct source *src, const struct src_table *t,
                               struct source_hash *out, struct err *err)
{
    struct sha256 h;
    sha256_init(&h);
    enum status s =
        t ? duckdb_hash_parquet(t, &h, err) : duckdb_hash(src, &h, err);
    sha256_end(&h, out->bytes);
    return s;
}

/* The file of a table, or its files; not of a table in a database. */
static bool is_file(const struct src_table *t)
{
    return t->kind == SRC_FILE || t->parquet;
}

/* One for each table of files, in the order of the tables, then of the
 * database that is a file. */
static enum status hash_all(struct source *src, struct source_hash *each,
                            struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < src->tables.n; i++)
        if (src->tables.p[i].parquet)
            TRY(hash_duckdb(src, &src->tables.p[i], &each[n++], err));
        else if (src->tables.p[i].kind == SRC_FILE)
            TRY(hash_file(&src->tables.p[i], &each[n++], err));
    if (src->duckdb)
        return hash_duckdb(src, NULL, &each[n], err);
    return src->sqlite ? hash_sqlite(src, &each[n], err) : OK;
}

static size_t count_files(const struct source *src)
{
    size_t n = src->sqlite || src->duckdb;
    for (size_t i = 0; i < src->tables.n; i++)
        n += is_file(&src->tables.p[i]);
    return n;
}

enum status source_fingerprint(struct source *src, struct arena *a,
                               struct source_print *out, struct err *err)
{
    out->n = count_files(src);
    out->each = NEWS(a, struct source_hash, out->n + 1);
    return out->each ? hash_all(src, out->each, err) : err_nomem(err);
}

static enum status changed(struct err *err)
{
    return err_set(err, E_DATA, "the data changed while they were read");
}

enum status source_expect(struct source *src, const struct source_print *print,
                          struct err *err)
{
    struct source_hash now;
    size_t n = 0;
    if (print->n != count_files(src))
        return changed(err);
    for (size_t i = 0; i < src->tables.n; i++)
        if (is_file(&src->tables.p[i]))
            src->tables.p[i].expected = &print->each[n++];
    if (!src->sqlite && !src->duckdb)
        return OK;
    TRY(src->duckdb ? hash_duckdb(src, NULL, &now, err)
                    : hash_sqlite(src, &now, err));
    return memcmp(&now, &print->each[n], sizeof now) ? changed(err) : OK;
}

enum status source_unchanged(const struct source *src, struct err *err)
{
    for (size_t i = 0; i < src->tables.n; i++)
        TRY(duckdb_still_expected(&src->tables.p[i], err));
    return OK;
}

/* --- times ---------------------------------------------------------------- */

static void stamp_file(struct sb *b, struct str path, int kept, int64_t *newest)
{
    struct stat s = {0};
    bool there = (kept >= 0 ? fstat(kept, &s) : stat(path.p, &s)) == 0;
    sb_printf(b, "%.*s %d %llu %llu %lld %lld.%09ld %lld.%09ld\n", PSTR(path),
              there, (unsigned long long)s.st_dev, (unsigned long long)s.st_ino,
              (long long)s.st_size, (long long)s.st_mtim.tv_sec,
              s.st_mtim.tv_nsec, (long long)s.st_ctim.tv_sec,
              s.st_ctim.tv_nsec);
    if (s.st_mtim.tv_sec > *newest)
        *newest = s.st_mtim.tv_sec;
    if (s.st_ctim.tv_sec > *newest)
        *newest = s.st_ctim.tv_sec;
}

bool source_stamp(const struct source *src, struct sb *b, int64_t *newest)
{
    *newest = 0;
    if (src->pg || src->duckdb)
        return false;
    for (size_t i = 0; i < src->tables.n; i++)
        if (src->tables.p[i].parquet)
            return false;
        else if (src->tables.p[i].kind == SRC_FILE)
            stamp_file(b, src->tables.p[i].path, src->tables.p[i].kept, newest);
    if (!src->sqlite)
        return b->n > 0;
    struct str wal = str_printf(b->arena, "%.*s-wal", PSTR(src->sqlite_path));
    b->failed |= !wal.p;
    stamp_file(b, src->sqlite_path, -1, newest);
    if (wal.p)
        stamp_file(b, wal, -1, newest);
    return true;
}

/* --- names ---------------------------------------------------------------- */

static void add_path(struct sb *b, struct str path)
{
    char *real = realpath(path.p, NULL);
    sb_str(b, real ? str_of(real) : path);
    free(real);
}

void source_name(const struct source *src, struct sb *b)
{
    if (src->sqlite)
        add_path(b, src->sqlite_path);
    if (src->duckdb)
        add_path(b, duckdb_path(src));
    if (src->pg)
        sb_str(b, pg_where(src));
    for (size_t i = 0; i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        if (!is_file(t))
            continue;
        sb_printf(b, "%s%.*s=", b->n ? "; " : "", PSTR(t->name));
        add_path(b, t->path);
    }
}
