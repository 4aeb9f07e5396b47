/* Finding libedit: see line_editor.h. */
#include <dlfcn.h>
#include <string.h>

#include "line_editor.h"

struct line_editor line_editor;

/* ISO C has no conversion from void * to a function; POSIX asks for one. */
static bool find(void *from, const char *name, void *slot)
{
    void *at = dlsym(from, name);
    memcpy(slot, &at, sizeof at);
    return at != NULL;
}

bool line_editor_open(void)
{
    struct line_editor e;
    void *from = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    bool whole = from && find(from, "readline", &e.readline) &&
                 find(from, "add_history", &e.add_history) &&
                 find(from, "read_history", &e.read_history) &&
                 find(from, "write_history", &e.write_history) &&
                 find(from, "using_history", &e.using_history);
    if (whole)
        line_editor = e;
    return whole;
}
