/*
 * The process of a connection, taken over by whoever sent it bytes: what it
 * could try then the kernel refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "serve/front_int.h"

#define REFUSED(call)                                                          \
    do {                                                                       \
        errno = 0;                                                             \
        if ((long)(call) != -1 || errno != EPERM)                              \
            return dprintf(2, "%s: not refused, %d\n", #call, errno), false;   \
    } while (0)

static bool files(void)
{
    REFUSED(open("/etc/passwd", O_RDONLY));
    REFUSED(openat(AT_FDCWD, ".", O_RDONLY | O_DIRECTORY));
    REFUSED(syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0));
    REFUSED(unlink("/nowhere"));
    REFUSED(rename("/nowhere", "/else"));
    REFUSED(mkdir("/tmp/x", 0700));
    REFUSED(chmod("/tmp", 0777));
    REFUSED(syscall(SYS_memfd_create, "x", 0));
    REFUSED(syscall(SYS_name_to_handle_at, AT_FDCWD, "/", NULL, NULL, 0));
    REFUSED(syscall(SYS_io_uring_setup, 1, NULL));
    return true;
}

static bool network(void)
{
    int ends[2];
    struct sockaddr none = {.sa_family = AF_UNIX};
    REFUSED(socket(AF_INET, SOCK_STREAM, 0));
    REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
    REFUSED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    REFUSED(connect(1, &none, sizeof none));
    REFUSED(bind(1, &none, sizeof none));
    REFUSED(listen(1, 1));
    REFUSED(accept(1, NULL, NULL));
    return true;
}

static bool processes(void)
{
    char byte;
    struct iovec io = {&byte, 1};
    char *const none[] = {NULL};
    REFUSED(fork());
    REFUSED(syscall(SYS_clone3, NULL, 0));
    REFUSED(execve("/bin/true", none, none));
    REFUSED(kill(getppid(), 0));
    REFUSED(syscall(SYS_pidfd_open, getppid(), 0));
    REFUSED(syscall(SYS_pidfd_getfd, 0, 0, 0));
    REFUSED(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
    REFUSED(process_vm_readv(getppid(), &io, 1, &io, 1, 0));
    REFUSED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
    REFUSED(setuid(0));
    REFUSED(unshare(CLONE_NEWUSER));
    REFUSED(syscall(SYS_bpf, 0, NULL, 0));
    REFUSED(syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0));
    struct rlimit r;
    REFUSED(prlimit(getppid(), RLIMIT_NOFILE, NULL, &r));
    return true;
}

/* It moves bytes, takes memory and asks the time, as it must. */
static bool works(void)
{
    struct timespec t;
    void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && !munmap(p, 1 << 20) &&
           !clock_gettime(CLOCK_MONOTONIC, &t) && write(1, "", 0) == 0;
}

static void a_front_can_only_talk(void **state)
{
    (void)state;
    int status;
#ifdef __SANITIZE_THREAD__
    skip(); /* its run-time library makes calls of its own */
#endif
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        _exit(!front_jail() ? 2
              : !works()    ? 3
                            : !files() || !network() || !processes());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_front_can_only_talk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
