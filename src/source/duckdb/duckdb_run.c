/* DuckDB: opening, statements, chunks. See duckdb_int.h. */
#include <stdio.h>
#include <string.h>

#include "source/duckdb/duckdb_int.h"

enum { LEAST = 64 << 20 };

enum status duck_failed(const struct duck *d, const char *what,
                        const char *words, struct err *err)
{
    char line[300];
    size_t n = words ? strcspn(words, "\n") : 0;
    snprintf(line, sizeof line, "%.*s", (int)(n < 299 ? n : 299),
             words ? words : "");
    if (strstr(line, "Out of Memory"))
        return err_set(err, E_LIMIT, "DuckDB needs more memory than allowed");
    return d->path.n
               ? err_set(err, E_SOURCE,
                         "could not %s DuckDB database \"%.*s\": %s", what,
                         PSTR(d->path), line)
               : err_set(err, E_SOURCE, "could not %s Parquet: %s", what, line);
}

/* Reading takes a quarter of the memory, and at least so much. External access
 * is what reads Parquet files; a database file needs none. */
static bool configure(const struct source *src, const struct duck *d,
                      duck_handle c)
{
    char limit[40];
    bool file = d->path.n > 0;
    size_t part = src->mem->limit / 4;
    const char *const pairs[][2] = {
        {"threads", "1"},
        {"temp_directory", d->room.n ? d->room.p : ""},
        {"access_mode", file ? "READ_ONLY" : "AUTOMATIC"},
        {"enable_external_access", file ? "false" : "true"},
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"allow_unsigned_extensions", "false"},
        {"allow_community_extensions", "false"},
        {"preserve_insertion_order", "false"},
        {"memory_limit", limit},
    };
    snprintf(limit, sizeof limit, "%zuB", part > LEAST ? part : LEAST);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i][1] == limit && !src->mem->limit)
            continue;
        if (d->lib->set_config(c, pairs[i][0], pairs[i][1]) != 0)
            return false;
    }
    /* what it read before is not kept; older versions never do */
    (void)d->lib->set_config(c, "enable_external_file_cache", "false");
    return true;
}

static enum status open_db(const struct source *src, struct duck *d,
                           struct err *err)
{
    duck_handle c = NULL;
    char *words = NULL;
    if (d->lib->create_config(&c) != 0)
        return err_nomem(err);
    enum status s = OK;
    if (!configure(src, d, c))
        s = duck_failed(d, "configure", "this version lacks a setting", err);
    else if (d->lib->open_ext(d->path.n ? d->path.p : NULL, &d->db, c,
                              &words) != 0)
        s = duck_failed(d, "open", words, err);
    d->lib->free(words);
    d->lib->destroy_config(&c);
    return s;
}

enum status duck_connect(struct source *src, const char *path,
                         struct duck **out, struct err *err)
{
    struct duck *d = NEW(&src->arena, struct duck);
    if (!d)
        return err_nomem(err);
    d->path = path ? str_of(path) : STR("");
    TRY(duck_lib_open(&d->lib, err));
    *out = d; /* closed with the source from here on */
    TRY(duck_room_open(&src->arena, d, err));
    TRY(open_db(src, d, err));
    return d->lib->connect(d->db, &d->con) == 0
               ? OK
               : duck_failed(d, "connect to", NULL, err);
}

void duck_disconnect(struct duck *d)
{
    if (!d)
        return;
    if (d->con)
        d->lib->disconnect(&d->con);
    if (d->db)
        d->lib->close(&d->db);
    duck_room_close(d);
}

enum status duck_begin(const struct duck *d, const char *sql,
                       struct duck_rows *r, struct err *err)
{
    *r = (struct duck_rows){.d = d};
    if (d->lib->prepare(d->con, sql, &r->stmt) != 0) {
        duck_failed(d, "read", d->lib->prepare_error(r->stmt), err);
        duck_end(r);
        return err->status;
    }
    if (d->lib->execute_prepared_streaming(r->stmt, &r->res) != 0) {
        duck_failed(d, "read", d->lib->result_error(&r->res), err);
        duck_end(r);
        return err->status;
    }
    return OK;
}

enum status duck_next(struct duck_rows *r, bool *more, struct err *err)
{
    const struct duck_lib *lib = r->d->lib;
    if (r->chunk)
        lib->destroy_data_chunk(&r->chunk);
    r->chunk = lib->fetch_chunk(r->res);
    *more = r->chunk != NULL;
    r->n = r->chunk ? lib->data_chunk_get_size(r->chunk) : 0;
    if (r->chunk)
        return OK;
    /* The end and a failure look alike, but for the words. */
    const char *words = lib->result_error(&r->res);
    return words && *words ? duck_failed(r->d, "read", words, err) : OK;
}

void duck_end(struct duck_rows *r)
{
    const struct duck_lib *lib = r->d->lib;
    if (r->chunk)
        lib->destroy_data_chunk(&r->chunk);
    lib->destroy_result(&r->res);
    if (r->stmt)
        lib->destroy_prepare(&r->stmt);
}

struct duck_vector duck_column(const struct duck_rows *r, uint64_t col)
{
    const struct duck_lib *lib = r->d->lib;
    duck_handle v = lib->data_chunk_get_vector(r->chunk, col);
    return (struct duck_vector){lib->vector_get_data(v),
                                lib->vector_get_validity(v)};
}
