/* Rows to messages. */
#include <stdio.h>
#include <string.h>

#include "serve/front_int.h"

uint32_t oid_of_type(dpc_type t)
{
    switch (t) {
    case DPC_TYPE_BIGINT:
        return OID_INT8;
    case DPC_TYPE_NUMERIC:
        return OID_NUMERIC;
    case DPC_TYPE_DOUBLE:
        return OID_FLOAT8;
    case DPC_TYPE_BOOLEAN:
        return OID_BOOL;
    case DPC_TYPE_DATE:
        return OID_DATE;
    case DPC_TYPE_TIMESTAMP:
        return OID_TIMESTAMP;
    case DPC_TYPE_TIME:
        return OID_TIME;
    case DPC_TYPE_UUID:
        return OID_UUID;
    default:
        return OID_TEXT;
    }
}

int oid_len(uint32_t oid)
{
    switch (oid) {
    case OID_BOOL:
        return 1;
    case OID_INT2:
        return 2;
    case OID_INT4:
    case OID_OID:
    case OID_DATE:
    case OID_FLOAT4:
        return 4;
    case OID_INT8:
    case OID_FLOAT8:
    case OID_TIME:
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        return 8;
    case OID_UUID:
        return 16;
    case OID_NAME:
        return 64;
    default:
        return -1;
    }
}

/* One format for all, or one for each, or none: text. */
static uint16_t format_of(const uint16_t *formats, size_t n, size_t i)
{
    return !n ? 0 : n == 1 ? formats[0] : i < n ? formats[i] : 0;
}

void send_description(struct front *f, const struct front_rows *r,
                      const uint16_t *formats, size_t n_formats)
{
    if (!r->select) {
        wire_message0(&f->out, 'n');
        return;
    }
    wire_begin(&f->out, 'T');
    wire_put16(&f->out, (uint16_t)r->n_fields);
    for (size_t i = 0; i < r->n_fields; i++) {
        const struct front_field *x = &r->fields[i];
        wire_put_text(&f->out, x->name);
        wire_put32(&f->out, 0);
        wire_put16(&f->out, 0);
        wire_put32(&f->out, x->type);
        wire_put16(&f->out, (uint16_t)x->len);
        wire_put32(&f->out, (uint32_t)x->typmod);
        wire_put16(&f->out, format_of(formats, n_formats, i));
    }
    wire_end(&f->out);
}

static bool put_cell(struct front *f, const char *cell, uint32_t type,
                     bool binary, struct problem *bad)
{
    if (!cell) {
        wire_put32(&f->out, 0xffffffff);
        return true;
    }
    if (!binary) {
        wire_put32(&f->out, (uint32_t)strlen(cell));
        wire_put_bytes(&f->out, cell, strlen(cell));
        return true;
    }
    return cell_binary(&f->out, type, cell) ||
           problem_set(bad, "0A000",
                       "no binary form is offered for type %u here", type);
}

/* Whether every value has its form is known before the first row leaves. */
bool send_rows(struct front *f, const struct front_rows *r, size_t from,
               size_t to, const uint16_t *formats, size_t n_formats,
               struct problem *bad)
{
    size_t start = f->out.n;
    for (size_t i = from; i < to; i++) {
        wire_begin(&f->out, 'D');
        wire_put16(&f->out, (uint16_t)r->n_fields);
        for (size_t k = 0; k < r->n_fields; k++)
            if (!put_cell(f, r->cells[i * r->n_fields + k], r->fields[k].type,
                          format_of(formats, n_formats, k) == 1, bad)) {
                f->out.n = start;
                return false;
            }
        wire_end(&f->out);
    }
    return true;
}

void send_complete(struct front *f, const struct front_rows *r, size_t n)
{
    char tag[128];
    snprintf(tag, sizeof tag, "%s", r->tag);
    if (!strcmp(tag, "SELECT") || !strcmp(tag, "FETCH"))
        snprintf(tag, sizeof tag, "%s %zu", r->tag, n);
    wire_begin(&f->out, 'C');
    wire_put_text(&f->out, tag);
    wire_end(&f->out);
}

void make_column(struct front_pool *pool, struct front_rows *out,
                 const char *name, const char *const *cells, size_t n)
{
    out->select = true;
    out->n_fields = 1;
    out->fields = front_alloc(pool, sizeof *out->fields);
    out->fields[0] = (struct front_field){front_copy(pool, name, strlen(name)),
                                          OID_TEXT, -1, -1};
    out->n_rows = n;
    out->cells = front_alloc(pool, (n + 1) * sizeof *out->cells);
    for (size_t i = 0; i < n; i++)
        out->cells[i] = front_copy(pool, cells[i], strlen(cells[i]));
}
