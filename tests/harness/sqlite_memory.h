/*
 * Memory of SQLite that fails: the n-th request for it, and no other.
 */
#ifndef HARNESS_SQLITE_MEMORY_H
#define HARNESS_SQLITE_MEMORY_H

#include <stdbool.h>

/* Before SQLite is used for the first time. */
void sqlite_memory_watch(void);
/* The request after the next n fails. */
void sqlite_memory_fail(long n);
/* From now on none does. True: one did. */
bool sqlite_memory_failed(void);

#endif
