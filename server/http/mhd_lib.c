/* Finding libmicrohttpd: where the system finds libraries. */
#define MHD_LIB_OWN
#include "http/mhd_lib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char file[] = "libmicrohttpd.so.12";
struct mhd_lib mhd_lib;

/* ISO C has no conversion from void * to a function; POSIX asks for one. */
static bool find(void *from, const char *name, void *slot)
{
    void *at = from ? dlsym(from, name) : NULL;
    memcpy(slot, &at, sizeof at);
    return at != NULL;
}

bool mhd_lib_open(void)
{
    void *from = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    bool whole = true;
#define X(name) whole = whole && find(from, #name, &mhd_lib.name##_);
    MHD_FUNCTIONS(X)
#undef X
    if (!whole) {
        const char *why = dlerror();
        fprintf(stderr, "dpcount: could not load %s: %s\n", file,
                why ? why : "it is another version");
    }
    return whole;
}
