#include "harness/sqlite_memory.h"

#include <sqlite3.h>
#include <stddef.h>

static sqlite3_mem_methods usual;
static long left = -1; /* requests until one fails; below zero: none will */

static void *failing_malloc(int n)
{
    return left >= 0 && !left-- ? NULL : usual.xMalloc(n);
}

static void *failing_realloc(void *p, int n)
{
    return left >= 0 && !left-- ? NULL : usual.xRealloc(p, n);
}

void sqlite_memory_watch(void)
{
    /* no memory set aside, which would serve the small requests */
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
    sqlite3_mem_methods failing = usual;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
}

void sqlite_memory_fail(long n)
{
    left = n;
}

bool sqlite_memory_failed(void)
{
    bool failed = left < 0;
    left = -1;
    return failed;
}
