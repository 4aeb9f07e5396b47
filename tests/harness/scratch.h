/*
 * A folder for the files of one test, in memory where that is possible: a sync
 * there costs nothing.
 */
#ifndef HARNESS_SCRATCH_H
#define HARNESS_SCRATCH_H

enum { SCRATCH_PATH = 64 };

/* Makes a new folder and writes its path; 0, or -1 if there is none. */
int scratch_make(char dir[SCRATCH_PATH]);
/* Removes it with everything in it; 0 if that worked. */
int scratch_remove(const char *dir);

#endif
