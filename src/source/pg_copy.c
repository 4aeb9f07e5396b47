/*
 * The stream of PostgreSQL's binary COPY: header, rows of fields, trailer.
 * Apart from the connection, so that bytes from anywhere can be given to it.
 * Every length is checked against what arrived before it is believed.
 */
#include "source/pg.h"

#include <endian.h>
#include <string.h>

static enum status bad_stream(struct err *err)
{
    return err_set(err, E_SOURCE, "PostgreSQL's binary COPY is malformed");
}

/* Signature, flags, extension length and as many bytes. */
static enum status skip_header(struct pg_copy *c, const char **p,
                               const char *end, struct err *err)
{
    static const char sign[11] = "PGCOPY\n\377\r\n";
    uint32_t ext;
    if (end - *p < 19 || memcmp(*p, sign, sizeof sign) != 0)
        return bad_stream(err);
    memcpy(&ext, *p + 15, 4);
    ext = be32toh(ext);
    *p += 19;
    if ((size_t)(end - *p) < ext)
        return bad_stream(err);
    *p += ext;
    c->started = true;
    return OK;
}

static enum status load_fields(struct pg_copy *c, const char **p,
                               const char *end, struct err *err)
{
    struct store_loader *l = c->l;
    for (size_t i = 0; i < l->n_cols; i++) {
        uint32_t n;
        enum status s;
        if (end - *p < 4)
            return bad_stream(err);
        memcpy(&n, *p, 4);
        n = be32toh(n);
        *p += 4;
        if (n == UINT32_MAX) {
            s = cell_null(l, i, err);
        } else {
            if ((size_t)(end - *p) < n)
                return bad_stream(err);
            s = pg_cell(l, i, c->oids[i], (struct str){*p, n}, err);
            *p += n;
        }
        if (s == E_DATA || s == E_CONSTRAINT)
            err_detail(err, "In table \"%.*s\".", PSTR(c->table));
        TRY(s);
    }
    return OK;
}

enum status pg_copy_message(struct pg_copy *c, struct str bytes,
                            struct err *err)
{
    const char *p = bytes.p, *end = p + bytes.n;
    if (!c->started)
        TRY(skip_header(c, &p, end, err));
    while (end - p >= 2) {
        uint16_t count;
        memcpy(&count, p, 2);
        count = be16toh(count);
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
        c->l->n_rows++;
    }
    return OK;
}
