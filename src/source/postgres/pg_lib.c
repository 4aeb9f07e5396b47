/* Finding libpq: where the system finds libraries. It stays open until the
 * process ends. Filled once; a second thread waits. */
#define PG_LIB_OWN
#include "source/postgres/pg_lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static const char file[] = "libpq.so.5";
struct pg_lib pg_lib;

static enum status no_library(struct err *err)
{
    const char *why = dlerror();
    err_set(err, E_SOURCE, "could not load PostgreSQL's library");
    err_detail(err, "%s", why ? why : file);
    err_hint(err, "Install libpq (Debian: libpq5).");
    return E_SOURCE;
}

/* ISO C has no conversion from void * to a function; POSIX asks for one. */
static bool find(void *from, const char *name, void *slot)
{
    void *at = dlsym(from, name);
    memcpy(slot, &at, sizeof at);
    return at != NULL;
}

static enum status fill(struct err *err)
{
    void *from = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!from)
        return no_library(err);
#define X(name)                                                                \
    if (!find(from, #name, &pg_lib.name##_))                                   \
        return no_library(err);
    PG_FUNCTIONS(X)
#undef X
    return OK;
}

enum status pg_lib_open(struct err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_open;
    enum status s = OK;
    pthread_mutex_lock(&lock);
    if (!is_open) {
        s = fill(err);
        is_open = s == OK;
    }
    pthread_mutex_unlock(&lock);
    return s;
}
