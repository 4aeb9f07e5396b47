/*
 * What fronts may know of a data set: the library's public snapshot, from
 * which they describe and quote by themselves, and the catalogue that clients
 * look into, both as sealed files in memory. PRIVACY: neither has a row or a
 * size of a private table.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catalogue/cat_snapshot.h"
#include "serve/desk_int.h"
#include "serve/proc.h"

static bool build(struct desk *d, unsigned char **bytes, size_t *n)
{
    struct catalogue_error e = {.message = "out of memory"};
    bool ok = catalogue_build_of(d->open, d->dataset->name, bytes, n, &e);
    if (!ok)
        proc_log("catalogue", "dataset", d->dataset->name, "problem", e.message,
                 NULL);
    return ok;
}

/* --- files in memory --------------------------------------------------------
 */

static int memory_file(const char *name, const void *p, size_t n)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const char *from = p;
    size_t done = 0;
    while (fd >= 0 && done < n) {
        ssize_t k = write(fd, from + done, n - done);
        if (k <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)k;
    }
    if (fd >= 0)
        fcntl(fd, F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    return fd;
}

bool desk_publish(struct desk *d)
{
    void *bytes = NULL;
    unsigned char *catalogue = NULL;
    if (dpc_dataset_export(d->open, &bytes, &d->n_snapshot, NULL) != DPC_OK)
        return false;
    d->snapshot = memory_file("snapshot", bytes, d->n_snapshot);
    dpc_bytes_free(bytes);
    if (!build(d, &catalogue, &d->n_catalogue))
        return false;
    d->catalogue = memory_file("catalogue", catalogue, d->n_catalogue);
    free(catalogue);
    return d->snapshot >= 0 && d->catalogue >= 0;
}

static void hand_over(struct desk_session *s, uint8_t which, int file, size_t n)
{
    int fd = dup(file);
    if (fd < 0)
        return;
    ipc_begin(&s->ipc, IPC_CATALOGUE);
    wire_put8(&s->ipc.out, which);
    wire_put32(&s->ipc.out, (uint32_t)n);
    ipc_end_with(&s->ipc, fd);
}

void desk_tell(struct desk *d, struct desk_session *s)
{
    if (s->told)
        return;
    s->told = true;
    hand_over(s, 0, d->snapshot, d->n_snapshot);
    hand_over(s, 1, d->catalogue, d->n_catalogue);
}
