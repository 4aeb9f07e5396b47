/*
 * What a front may ask of the kernel: to move bytes, memory and time. Every
 * other call fails with EPERM, so that whoever takes a front over cannot open
 * a file, connect, start a program or look at another process.
 */
#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>

#include "serve/front_int.h"

bool front_jail(void)
{
    static const int allowed[] = {
        SCMP_SYS(read),          SCMP_SYS(write),
        SCMP_SYS(readv),         SCMP_SYS(writev),
        SCMP_SYS(recvfrom),      SCMP_SYS(recvmsg),
        SCMP_SYS(sendto),        SCMP_SYS(sendmsg),
        SCMP_SYS(poll),          SCMP_SYS(ppoll),
        SCMP_SYS(close),         SCMP_SYS(fstat),
        SCMP_SYS(lseek),         SCMP_SYS(shutdown),
        SCMP_SYS(mmap),          SCMP_SYS(munmap),
        SCMP_SYS(mremap),        SCMP_SYS(mprotect),
        SCMP_SYS(madvise),       SCMP_SYS(brk),
        SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
        SCMP_SYS(time),          SCMP_SYS(clock_nanosleep),
        SCMP_SYS(nanosleep),     SCMP_SYS(getrandom),
        SCMP_SYS(getrusage),     SCMP_SYS(getpid),
        SCMP_SYS(gettid),        SCMP_SYS(futex),
        SCMP_SYS(sched_yield),   SCMP_SYS(rt_sigreturn),
        SCMP_SYS(rt_sigaction),  SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(sigaltstack),   SCMP_SYS(restart_syscall),
        SCMP_SYS(exit),          SCMP_SYS(exit_group),
        SCMP_SYS(getsockopt),    SCMP_SYS(setsockopt),
        SCMP_SYS(tgkill),        SCMP_SYS(getrlimit),
        SCMP_SYS(sysinfo),       SCMP_SYS(sched_getaffinity),
    };
    scmp_filter_ctx x = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool ok = x != NULL;
    for (size_t i = 0; ok && i < sizeof allowed / sizeof *allowed; i++)
        ok = !seccomp_rule_add(x, SCMP_ACT_ALLOW, allowed[i], 0);
    const struct scmp_arg_cmp own = {.arg = 0, .op = SCMP_CMP_EQ};
    ok = ok && !seccomp_rule_add_array(x, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64),
                                       1, &own); /* its own limits only */
    ok = ok && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !seccomp_load(x);
    seccomp_release(x);
    return ok;
}
