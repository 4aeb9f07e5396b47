/*
 * A folder for what does not fit DuckDB's memory when it counts: under $TMPDIR,
 * for this user alone, locked while it is used and removed at the end. What a
 * process that was killed left there the next one removes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/duckdb/duckdb_int.h"

static const char beginning[] = "dpcount-duckdb-";

static const char *place(void)
{
    const char *dir = secure_getenv("TMPDIR");
    return dir && *dir == '/' ? dir : "/tmp";
}

/* Files only: DuckDB makes no folders there. */
static void empty(int fd)
{
    int again = dup(fd);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    if (!dir && again >= 0)
        close(again);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(fd, e->d_name, 0);
    if (dir)
        closedir(dir);
}

/* A folder of ours that nobody has locked is nobody's any more. */
static void sweep_one(int top, const char *name)
{
    struct stat st;
    int fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        empty(fd);
        unlinkat(top, name, AT_REMOVEDIR);
    }
    close(fd);
}

static void sweep(const char *where)
{
    DIR *dir = opendir(where);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (!strncmp(e->d_name, beginning, sizeof beginning - 1))
            sweep_one(dirfd(dir), e->d_name);
    if (dir)
        closedir(dir);
}

/* Between making and locking it a sweep can take it away: then another. */
static int make(char *path)
{
    int fd = -1;
    struct stat here, there;
    if (!mkdtemp(path))
        return -1;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &here) == 0 &&
        stat(path, &there) == 0 && here.st_ino == there.st_ino)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Without a folder DuckDB counts in memory only. */
enum status duck_room_open(struct arena *a, struct duck *d, struct err *err)
{
    sweep(place());
    for (int i = 0; i < 3; i++) {
        struct str path = str_printf(a, "%s/%sXXXXXX", place(), beginning);
        if (!path.p)
            return err_nomem(err);
        char *name = (char *)(uintptr_t)path.p;
        d->room_fd = make(name);
        if (d->room_fd < 0)
            continue;
        d->room = path;
        return OK;
    }
    return OK;
}

void duck_room_close(struct duck *d)
{
    if (!d->room.n)
        return;
    empty(d->room_fd);
    rmdir(d->room.p);
    close(d->room_fd);
    d->room = STR("");
}
