/*
 * Is the process of a hold alive? Its open ledger keeps a lock on one byte of
 * NAME-holds, at the number of the hold. The system takes the lock away when
 * the process ends in whatever way, also when the machine restarts, and tells
 * processes apart that numbers and clocks may confuse (containers, numbers
 * used again). The lock is of the open file, not of the process, so that
 * several ledgers of one process do not take each other's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ledger/db.h"

static enum status holder_error(struct err *err)
{
    err_set(err, E_LEDGER_IO, "could not note who holds in the ledger");
    err_detail(err, "%s.", strerror(errno));
    err_hint(err, "The ledger and its folder must be writable.");
    return E_LEDGER_IO;
}

static int open_holds(const struct ledger *l, int flags)
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s-holds", l->name);
    return open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static struct flock byte_of(int64_t number, short type)
{
    return (struct flock){.l_type = type,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)number,
                          .l_len = 1};
}

enum status holder_take(struct ledger *l, int64_t number, struct err *err)
{
    struct flock lock = byte_of(number, F_WRLCK);
    if (l->holds < 0)
        l->holds = open_holds(l, O_CREAT | O_RDWR);
    /* waits for one that had the number and was rolled back just now */
    if (l->holds < 0 || fcntl(l->holds, F_OFD_SETLKW, &lock))
        return holder_error(err);
    return OK;
}

void holder_drop(struct ledger *l, int64_t number)
{
    struct flock lock = byte_of(number, F_UNLCK);
    if (l->holds >= 0)
        (void)!fcntl(l->holds, F_OFD_SETLK, &lock);
}

/* Through an open file of its own: its own locks nobody sees. Who may only read
 * may look. */
enum status holder_alive(struct ledger *l, int64_t number, bool *out,
                         struct err *err)
{
    struct flock lock = byte_of(number, F_WRLCK);
    int fd = open_holds(l, O_RDONLY);
    *out = false;
    if (fd < 0)
        return errno == ENOENT ? OK : holder_error(err);
    int rc = fcntl(fd, F_OFD_GETLK, &lock);
    close(fd);
    if (rc)
        return holder_error(err);
    *out = lock.l_type != F_UNLCK;
    return OK;
}

/* Nobody else has it, and then it is had: what was dropped between the two
 * looks is nobody's, for a number is taken once. */
bool holder_ours(struct ledger *l, int64_t number)
{
    struct flock lock = byte_of(number, F_WRLCK);
    struct err ignored;
    bool had = false;
    return l->holds >= 0 && !fcntl(l->holds, F_OFD_GETLK, &lock) &&
           lock.l_type == F_UNLCK &&
           holder_alive(l, number, &had, &ignored) == OK && had;
}
