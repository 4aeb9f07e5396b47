/* Allocation failure, swept: see oom.h. */
#include "harness/oom.h"

#include <limits.h>
#include <stdio.h>

/* Runs with allocation n (from 0) failing; sets *left to what remains of n. */
static bool run(oom_work *work, void *with, long n, enum status want,
                long *left)
{
    struct mem m;
    struct err err;
    mem_init(&m, 0);
    err_clear(&err);
    atomic_store(&m.fail_after, n);
    enum status s = work(&m, with, &err);
    *left = atomic_load(&m.fail_after);
    size_t kept = atomic_load(&m.used);
    if (s != want)
        fprintf(stderr, "allocation %ld fails: status %s (%s), not %s\n", n,
                status_code(s), err.message, status_code(want));
    if (kept)
        fprintf(stderr, "allocation %ld fails: %zu bytes are kept\n", n, kept);
    return s == want && kept == 0;
}

long oom_sweep(oom_work *work, void *with)
{
    long left;
    if (!run(work, with, LONG_MAX, OK, &left))
        return -1;
    long total = LONG_MAX - left;
    for (long n = 0; n < total; n++)
        if (!run(work, with, n, E_NOMEM, &left))
            return -1;
    return total;
}
