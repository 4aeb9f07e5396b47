/*
 * Preloaded into the program by tests/e2e/test_faults.py: the N-th call of one
 * kind fails, in one of the program's processes. And by test_ledger_race.py,
 * with DPC_FAULT_KIND late-key: where there is no NAME.key yet the program
 * goes on N milliseconds later.
 *
 *   DPC_FAULT_KIND   read: reading a file or a socket; write: writing a file,
 *                    as if the disk were full
 *   DPC_FAULT_DEPTH  how many forks below the program that process is; the
 *                    keeper is 1, its worker 2
 *   DPC_FAULT_AT     N; the call and, of writes, all later ones fail
 *   DPC_FAULT_MARK   a file that is made when it happened
 *
 * Pipes are left alone: by them the processes of the program talk.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int depth;
static long calls;

pid_t fork(void)
{
    pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    pid_t p = real();
    if (p == 0) {
        depth++;
        calls = 0;
    }
    return p;
}

static long setting(const char *name)
{
    const char *s = getenv(name);
    return s ? strtol(s, NULL, 10) : -1;
}

static int wanted(const char *kind)
{
    const char *k = getenv("DPC_FAULT_KIND");
    return k && strcmp(k, kind) == 0 && setting("DPC_FAULT_DEPTH") == depth;
}

static int is_pipe(int fd)
{
    struct stat s;
    return fstat(fd, &s) != 0 || S_ISFIFO(s.st_mode) || S_ISCHR(s.st_mode);
}

/* Is it this one's turn to fail? */
static int fails(const char *kind, int fd)
{
    long at = setting("DPC_FAULT_AT");
    if (!wanted(kind) || is_pipe(fd) || at <= 0)
        return 0;
    calls++;
    if (strcmp(kind, "write") == 0 ? calls < at : calls != at)
        return 0;
    const char *mark = getenv("DPC_FAULT_MARK");
    int m = mark ? open(mark, O_WRONLY | O_CREAT, 0600) : -1;
    if (m >= 0)
        close(m);
    errno = strcmp(kind, "write") == 0 ? ENOSPC : EIO;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int fd = REAL(open)(path, flags, flags & O_CREAT ? va_arg(ap, int) : 0);
    va_end(ap);
    size_t n = strlen(path);
    const char *k = getenv("DPC_FAULT_KIND");
    if (fd >= 0 || !k || strcmp(k, "late-key") || n < 4 ||
        strcmp(path + n - 4, ".key"))
        return fd;
    usleep((useconds_t)(1000 * setting("DPC_FAULT_AT")));
    errno = ENOENT;
    return fd;
}

ssize_t read(int fd, void *p, size_t n)
{
    return fails("read", fd) ? -1 : REAL(read)(fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    return fails("read", fd) ? -1 : REAL(pread)(fd, p, n, at);
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
    return fails("read", fd) ? -1 : REAL(pread64)(fd, p, n, at);
}

/* A connection that fails is lost, in both directions. */
ssize_t recv(int fd, void *p, size_t n, int flags)
{
    if (fails("read", fd))
        shutdown(fd, SHUT_RDWR);
    return REAL(recv)(fd, p, n, flags);
}

ssize_t send(int fd, const void *p, size_t n, int flags)
{
    if (fails("read", fd))
        shutdown(fd, SHUT_RDWR);
    return REAL(send)(fd, p, n, flags);
}

void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    if (!(flags & MAP_ANONYMOUS) && fails("read", fd))
        return MAP_FAILED;
    return REAL(mmap)(p, n, prot, flags, fd, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
    return fails("write", fd) ? -1 : REAL(write)(fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    return fails("write", fd) ? -1 : REAL(pwrite)(fd, p, n, at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    return fails("write", fd) ? -1 : REAL(pwrite64)(fd, p, n, at);
}

int fsync(int fd)
{
    return fails("write", fd) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return fails("write", fd) ? -1 : REAL(fdatasync)(fd);
}
