#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/scratch.h"

int scratch_make(char dir[SCRATCH_PATH])
{
    snprintf(dir, SCRATCH_PATH, "%s/dpc-test-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    return mkdtemp(dir) ? 0 : -1;
}

int scratch_remove(const char *dir)
{
    char cmd[SCRATCH_PATH + 16];
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    return system(cmd);
}
