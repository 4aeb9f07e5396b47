/*
 * The stream of PostgreSQL's binary COPY: header, rows of fields, trailer.
 * Apart from the connection, so that bytes from anywhere can be given to it.
 * Every length is checked against what arrived before it is believed.
 */
#include "source/postgres/pg.h"

#include <string.h>
#include "base/bigend.h"

static enum status bad_stream(struct err *err)
{
    return err_set(err, E_SOURCE, "PostgreSQL's binary COPY is malformed");
}

/* Signature, flags, extension length and as many bytes. */
static enum status skip_header(struct pg_copy *c, const char **p,
                               const char *end, struct err *err)
{
    static const char sign[11] = "PGCOPY\n\377\r\n";
    if (end - *p < 19 || memcmp(*p, sign, sizeof sign) != 0)
        return bad_stream(err);
    uint32_t ext = be32_at(*p + 15);
    *p += 19;
    if ((size_t)(end - *p) < ext)
        return bad_stream(err);
    *p += ext;
    c->started = true;
    pg_copy_begin(c);
    return OK;
}

void pg_copy_begin(struct pg_copy *c)
{
    for (size_t i = 0; i < c->l->n_cols; i++)
        if (c->oids[i] == OID_INT4 || c->oids[i] == OID_INT2)
            loader_narrow(c->l, i);
}

/* Most fields by far: an integer into a column of integers, without a call.
 * False: it is none. */
static inline bool plain_int(const struct builder *b, size_t row, uint32_t oid,
                             const char *p, uint32_t n)
{
    if (oid == OID_INT4 && n == 4 && b->mode == B_I32) {
        b->i32[row] = (int32_t)be32_at(p);
        return true;
    }
    if (!b->plain_int)
        return false;
    if (oid == OID_INT8 && n == 8) {
        b->i64[row] = (int64_t)be64_at(p);
        return true;
    }
    return false;
}

static enum status load_field(struct pg_copy *c, size_t i, const char *p,
                              uint32_t n, struct err *err)
{
    struct str d = {p, n};
    if (n == UINT32_MAX)
        return cell_null(c->l, i, err);
    return c->texts && c->oids[i] == OID_BYTEA
               ? pg_text_cell(c->texts, c->l, i, d, err)
               : pg_cell(c->l, i, c->oids[i], d, err);
}

static enum status load_fields(struct pg_copy *c, const char **at,
                               const char *end, struct err *err)
{
    const struct builder *cols = c->l->cols;
    size_t n_cols = c->l->n_cols, row = c->l->n_rows;
    const char *p = *at;
    for (size_t i = 0; i < n_cols; i++) {
        if (end - p < 4)
            return bad_stream(err);
        uint32_t n = be32_at(p);
        p += 4;
        size_t bytes = n == UINT32_MAX ? 0 : n;
        if ((size_t)(end - p) < bytes)
            return bad_stream(err);
        if (!plain_int(&cols[i], row, c->oids[i], p, n))
            TRY(load_field(c, i, p, n, err));
        p += bytes;
    }
    *at = p;
    return OK;
}

enum status pg_copy_message(struct pg_copy *c, struct str bytes,
                            struct err *err)
{
    const char *p = bytes.p, *end = p + bytes.n;
    if (!c->started)
        TRY(skip_header(c, &p, end, err));
    while (end - p >= 2) {
        uint16_t count = be16_at(p);
        p += 2;
        if (count == UINT16_MAX)
            return OK; /* trailer */
        size_t want = c->l->n_cols ? c->l->n_cols : 1;
        if (count != want)
            return bad_stream(err);
        TRY(loader_room(c->l, err));
        TRY(load_fields(c, &p, end, err));
        if (!c->l->n_cols)
            p = end;
        TRY(loader_end_row(c->l, err));
    }
    return OK;
}
