/*
 * Any statement of a client for the catalogue: the printer writes only what
 * SQLite takes or refuses, within its limits, and nothing gets out of the
 * tables it may read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct catalogue *opened(void)
{
    static struct catalogue *c;
    static unsigned char *bytes;
    static const size_t id[] = {0};
    static const struct catalogue_column columns[] = {
        {"id", "integer", -1, true, NULL}, {"Na\"me", "text", -1, false, "x"}};
    static const struct catalogue_key key = {NULL, true, id, 1};
    static const struct catalogue_reference self = {NULL, id, id, 1, 0};
    static const struct catalogue_table table = {
        NULL, "staff", "private", columns, 2, &key, 1, &self, 1};
    static const struct catalogue_source source = {"clinic", &table, 1};
    struct catalogue_error err;
    size_t n;
    if (!c && (!catalogue_build(&source, &bytes, &n, &err) ||
               !catalogue_open(bytes, n, "ann", &c, &err)))
        abort();
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct catalogue_parameter given[] = {{0, "1"}, {0, NULL}};
    struct catalogue *c = opened();
    struct catalogue_rows r;
    struct catalogue_error err = {.position = -1};
    char *sql = malloc(size + 1);
    if (!sql)
        return 0;
    memcpy(sql, data, size);
    sql[size] = 0;
    catalogue_classify(sql, &err);
    if (catalogue_describe(c, sql, NULL, 0, &r, &err))
        catalogue_rows_free(&r);
    if (catalogue_run(c, sql, given, 2, &r, &err)) {
        bool own =
            strcasestr(sql, "CREATE TABLE"); /* its own text comes back */
        for (size_t i = 0; i < r.n_rows * r.n_fields; i++)
            if (!own && r.cells[i] &&
                strstr(r.cells[i], "CREATE TABLE \"pg_catalog."))
                abort(); /* sqlite_master */
        catalogue_rows_free(&r);
    } else if (strlen(err.sqlstate) != 5 || !strcmp(err.sqlstate, "XX000")) {
        abort();
    }
    free(sql);
    return 0;
}
