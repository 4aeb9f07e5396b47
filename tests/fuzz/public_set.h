/* What is public of a small data set, as bytes, for targets that need one. */
#ifndef FUZZ_PUBLIC_SET_H
#define FUZZ_PUBLIC_SET_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpcount.h"

static const char public_set_ddl[] =
    "CREATE TABLE person(id integer PRIMARY KEY, sex text NOT NULL);"
    "CREATE TABLE visit(id integer PRIMARY KEY, p integer NOT NULL REFERENCES "
    "person(id), kind text, cost numeric, at date);"
    "CREATE TABLE ward(name text PRIMARY KEY, beds bigint);";

static inline void public_set_bytes(void **bytes, size_t *n)
{
    char path[] = "/tmp/dpc-fuzz-XXXXXX.sql";
    dpc_dataset *d = NULL;
    int fd = mkstemps(path, 4);
    ssize_t size = (ssize_t)strlen(public_set_ddl);
    bool good = fd >= 0 && write(fd, public_set_ddl, (size_t)size) == size &&
                dpc_dataset_new(&d) == DPC_OK &&
                dpc_dataset_set(d, "schema", path, NULL) == DPC_OK &&
                dpc_dataset_set(d, "public", "ward", NULL) == DPC_OK &&
                dpc_dataset_set(d, "constraint", "visit: p -> * <= 7", NULL) ==
                    DPC_OK &&
                dpc_dataset_open(d, 0, NULL) == DPC_OK &&
                dpc_dataset_export(d, bytes, n, NULL) == DPC_OK;
    close(fd);
    unlink(path);
    dpc_dataset_free(d);
    if (!good)
        exit(1);
}

#endif
