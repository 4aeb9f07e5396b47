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

#include "catalogue/catalogue.h"
#include "serve/desk_int.h"
#include "serve/proc.h"

/* --- the catalogue's source -------------------------------------------------
 */

struct catalogue_parts {
    struct conf memory; /* its blocks */
    struct catalogue_table *tables;
    size_t *numbers; /* of the library's tables; those left out: none */
    size_t n;
};

static const char *type_text(dpc_type t)
{
    switch (t) {
    case DPC_TYPE_BIGINT:
        return "bigint";
    case DPC_TYPE_NUMERIC:
        return "numeric";
    case DPC_TYPE_DOUBLE:
        return "double precision";
    case DPC_TYPE_BOOLEAN:
        return "boolean";
    case DPC_TYPE_DATE:
        return "date";
    case DPC_TYPE_TIMESTAMP:
        return "timestamp without time zone";
    case DPC_TYPE_TIME:
        return "time without time zone";
    case DPC_TYPE_UUID:
        return "uuid";
    default:
        return "text";
    }
}

static bool take_columns(const dpc_dataset *d, size_t i, const dpc_table *t,
                         struct catalogue_parts *p, struct catalogue_table *out)
{
    struct catalogue_column *c =
        conf_alloc(&p->memory, (t->n_columns + 1) * sizeof *c);
    dpc_column x;
    for (size_t k = 0; c && k < t->n_columns && dpc_column_at(d, i, k, &x); k++)
        c[k] = (struct catalogue_column){
            .name = x.name,
            .type = type_text(x.type),
            .typmod = -1,
            .not_null = x.not_null,
            .comment = x.comment && *x.comment ? x.comment : NULL};
    out->columns = c;
    out->n_columns = t->n_columns;
    return c;
}

static bool take_keys(const dpc_dataset *d, size_t i, const dpc_table *t,
                      struct catalogue_parts *p, struct catalogue_table *out)
{
    struct catalogue_key *keys =
        conf_alloc(&p->memory, (t->n_keys + 1) * sizeof *keys);
    dpc_link x;
    for (size_t k = 0; keys && k < t->n_keys && dpc_key_at(d, i, k, &x); k++)
        keys[k] = (struct catalogue_key){
            .primary = k == 0, .columns = x.columns, .n = x.n};
    out->keys = keys;
    out->n_keys = t->n_keys;
    return keys;
}

/* The number of the table in the catalogue; SIZE_MAX: not there. */
static size_t number_of(const struct catalogue_parts *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->tables[i].name, name))
            return i;
    return SIZE_MAX;
}

static bool take_references(const dpc_dataset *d, size_t i, const dpc_table *t,
                            struct catalogue_parts *p,
                            struct catalogue_table *out)
{
    struct catalogue_reference *r =
        conf_alloc(&p->memory, (t->n_references + 1) * sizeof *r);
    dpc_link x;
    out->references = r;
    for (size_t k = 0;
         r && k < t->n_references && dpc_reference_at(d, i, k, &x); k++) {
        size_t other = x.table ? number_of(p, x.table) : SIZE_MAX;
        const size_t *referred = x.referred;
        if (other != SIZE_MAX && !referred && p->tables[other].n_keys &&
            p->tables[other].keys[0].n == x.n)
            referred = p->tables[other].keys[0].columns;
        if (other == SIZE_MAX || !referred)
            continue;
        r[out->n_references++] = (struct catalogue_reference){
            .columns = x.columns, .others = referred, .n = x.n, .table = other};
    }
    return r;
}

static bool take_table(const dpc_dataset *d, size_t i, const dpc_table *t,
                       struct catalogue_parts *p)
{
    struct catalogue_table *out = &p->tables[p->n];
    const char *comment = t->comment ? t->comment : "";
    const char *privacy = t->is_private ? "private" : "public";
    size_t n = strlen(comment) + 16;
    char *text = conf_alloc(&p->memory, n);
    if (!text)
        return false;
    snprintf(text, n, "%s%s%s", privacy, *comment ? ": " : "", comment);
    *out = (struct catalogue_table){.name = t->name, .comment = text};
    p->numbers[p->n++] = i;
    return take_columns(d, i, t, p, out) && take_keys(d, i, t, p, out);
}

static bool take_all(const dpc_dataset *d, struct catalogue_parts *p)
{
    size_t n = dpc_dataset_tables(d);
    dpc_table t;
    p->tables = conf_alloc(&p->memory, (n + 1) * sizeof *p->tables);
    p->numbers = conf_alloc(&p->memory, (n + 1) * sizeof *p->numbers);
    if (!p->tables || !p->numbers)
        return false;
    for (size_t i = 0; i < n && dpc_table_at(d, i, &t); i++)
        if (t.is_queried && !take_table(d, i, &t, p))
            return false;
    for (size_t i = 0; i < p->n; i++)
        if (!dpc_table_at(d, p->numbers[i], &t) ||
            !take_references(d, p->numbers[i], &t, p, &p->tables[i]))
            return false;
    return true;
}

static bool build(struct desk *d, unsigned char **bytes, size_t *n)
{
    struct catalogue_error e = {.message = "out of memory"};
    struct conf *memory = calloc(1, sizeof *memory);
    struct catalogue_parts p = {.n = 0};
    bool ok = take_all(d->open, &p);
    struct catalogue_source from = {d->dataset->name, p.tables, p.n};
    ok = ok && catalogue_build(&from, bytes, n, &e);
    if (!ok)
        proc_log("catalogue", "dataset", d->dataset->name, "problem", e.message,
                 NULL);
    if (memory)
        *memory = p.memory;
    conf_free(memory);
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
