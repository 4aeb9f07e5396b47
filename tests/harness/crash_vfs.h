/*
 * A file system for tests that dies or fails at its n-th change: a SQLite VFS
 * around the real one which counts writes, truncations, syncs and deletions.
 *
 * After a power cut only what was synced is certain. CRASH_POWER undoes every
 * write since the last sync of its file before it kills the process;
 * CRASH_TORN undoes a random half of them.
 */
#ifndef HARNESS_CRASH_VFS_H
#define HARNESS_CRASH_VFS_H

enum crash_mode {
    CRASH_NEVER,
    CRASH_KILL,
    CRASH_POWER,
    CRASH_TORN,
    FAIL_WRITE, /* from the n-th change on every write says "disk full" */
    FAIL_SYNC,  /* the n-th change, if a sync, and all later syncs fail */
    FAIL_ONCE,  /* only the n-th change fails, as an I/O error */
};

/* Registers the VFS as the default of this process. */
void crash_vfs_install(void);
void crash_vfs_arm(enum crash_mode mode, long at);
long crash_vfs_changes(void); /* counted since it was armed */
/* The clock that SQLite sees jumps by so many seconds. */
void crash_vfs_clock(long long seconds);

#endif
