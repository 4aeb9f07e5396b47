/*
 * Finding DuckDB's library: $DPCOUNT_LIBDUCKDB, else libduckdb.so where the
 * system looks for libraries. It stays open until the process ends, as its own
 * threads and destructors ask. Filled once; a second thread waits.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "source/duckdb/duckdb_lib.h"

static struct {
    pthread_mutex_t lock;
    bool is_open;
    struct duck_lib lib;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum status no_library(struct err *err)
{
    err_set(err, E_SOURCE, "could not load DuckDB's library");
    err_detail(err, "%s", dlerror());
    err_hint(err, "Install libduckdb.so of version 1.0 or newer (duckdb.org, "
                  "C/C++ library) where the system finds libraries, or name "
                  "the file in the environment variable DPCOUNT_LIBDUCKDB.");
    return E_SOURCE;
}

/* ISO C has no conversion from void * to a function; POSIX asks for one. */
static bool find(void *from, const char *name, void *slot)
{
    void *at = dlsym(from, name);
    memcpy(slot, &at, sizeof at);
    return at != NULL;
}

static enum status fill(struct duck_lib *lib, struct err *err)
{
    const char *path = secure_getenv("DPCOUNT_LIBDUCKDB");
    void *from =
        dlopen(path && *path ? path : "libduckdb.so", RTLD_NOW | RTLD_LOCAL);
    if (!from)
        return no_library(err);
#define X(name, result, args)                                                  \
    if (!find(from, "duckdb_" #name, &lib->name))                              \
        return no_library(err);
    DUCK_FUNCTIONS(X)
#undef X
    return OK;
}

enum status duck_lib_open(const struct duck_lib **out, struct err *err)
{
    enum status s = OK;
    pthread_mutex_lock(&shared.lock);
    if (!shared.is_open) {
        s = fill(&shared.lib, err);
        shared.is_open = s == OK;
    }
    pthread_mutex_unlock(&shared.lock);
    *out = &shared.lib;
    return s;
}
