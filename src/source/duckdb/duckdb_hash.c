/*
 * What DuckDB's files hold, as hashes (source/fingerprint.c). A database file
 * is locked by DuckDB for as long as it is open, and closing another descriptor
 * of it in this process would give the lock up: it is read through DuckDB's
 * own. Its write-ahead log is part of it. Parquet files are read through the
 * descriptors that DuckDB reads them by.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "source/duckdb/duckdb_int.h"

enum { CHUNK = 1 << 16 };

static enum status add_fd(int fd, struct sha256 *h, struct str path,
                          struct err *err)
{
    char buf[CHUNK];
    off_t at = 0;
    for (;;) {
        ssize_t n = pread(fd, buf, sizeof buf, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, E_SOURCE, "could not read file \"%.*s\": %m",
                           PSTR(path));
        if (n == 0)
            break;
        sha256_add(h, buf, (size_t)n);
        at += n;
    }
    sha256_add(h, &at, sizeof at); /* where the next file begins */
    return OK;
}

enum status duckdb_hash_parquet(const struct src_table *t, struct sha256 *h,
                                struct err *err)
{
    for (size_t i = 0; i < t->parquet->n; i++)
        TRY(add_fd(t->parquet->fds[i], h, t->parquet->paths[i], err));
    return OK;
}

/* The descriptor by which DuckDB has the file open, or -1. */
static int find_fd(const char *path)
{
    struct stat want, have;
    struct dirent *e;
    int found = -1;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir || stat(path, &want) != 0) {
        if (dir)
            closedir(dir);
        return -1;
    }
    while (found < 0 && (e = readdir(dir))) {
        char *rest;
        int fd = (int)strtol(e->d_name, &rest, 10);
        if (!*rest && fd != dirfd(dir) && fstat(fd, &have) == 0 &&
            have.st_dev == want.st_dev && have.st_ino == want.st_ino)
            found = fd;
    }
    closedir(dir);
    return found;
}

static enum status add_log(const struct source *src, struct sha256 *h,
                           struct err *err)
{
    char path[4096];
    struct str name = src->duckdb->path;
    int n = snprintf(path, sizeof path, "%.*s.wal", PSTR(name));
    int fd =
        n > 0 && n < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return OK; /* a log that is not there is empty */
    enum status s = add_fd(fd, h, str_of(path), err);
    close(fd);
    return s;
}

enum status duckdb_hash(struct source *src, struct sha256 *h, struct err *err)
{
    int fd = find_fd(src->duckdb->path.p);
    if (fd < 0)
        return err_set(err, E_SOURCE,
                       "could not read DuckDB database \"%.*s\" again",
                       PSTR(src->duckdb->path));
    TRY(add_fd(fd, h, src->duckdb->path, err));
    return add_log(src, h, err);
}
