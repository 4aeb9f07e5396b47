/*
 * Bytes of PostgreSQL's binary COPY from anywhere: decoding never reads
 * beyond them, crashes or leaks; an error has a message; and every value that
 * was loaded can be printed and is ordered with itself.
 *
 * The first byte is the number of columns, then one byte for each chooses its
 * type; the rest is the stream, in messages of at most 200 bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/postgres/pg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_COLUMNS = 4, MESSAGE = 200 };

static const struct {
    uint32_t oid;
    enum type type;
} kinds[] = {
    {OID_BOOL, T_BOOL},
    {OID_INT2, T_INT},
    {OID_INT4, T_INT},
    {OID_INT8, T_INT},
    {OID_OID, T_INT},
    {OID_FLOAT4, T_REAL},
    {OID_FLOAT8, T_REAL},
    {OID_NUMERIC, T_DEC},
    {OID_DATE, T_DATE},
    {OID_TIME, T_TIME},
    {OID_TIMESTAMP, T_TIMESTAMP},
    {OID_TIMESTAMPTZ, T_TIMESTAMP},
    {OID_UUID, T_UUID},
    {OID_TEXT, T_TEXT},
    {OID_BPCHAR, T_TEXT},
    /* declared as another type than the server's */
    {OID_INT4, T_DEC},
    {OID_INT8, T_TEXT},
    {OID_TEXT, T_INT},
    {OID_TEXT, T_DATE},
    {OID_TEXT, T_TIMESTAMP},
    {OID_TEXT, T_TIME},
    {OID_TEXT, T_REAL},
    {OID_TEXT, T_DEC},
    {OID_TEXT, T_UUID},
    {OID_TEXT, T_BOOL},
    {OID_TEXT, T_UNKNOWN},
};

static void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

/* The whole stream, in pieces as a connection gives them. */
static enum status feed(struct pg_copy *c, struct str bytes, struct err *err)
{
    while (bytes.n) {
        size_t n = bytes.n < MESSAGE ? bytes.n : MESSAGE;
        TRY(pg_copy_message(c, (struct str){bytes.p, n}, err));
        bytes.p += n;
        bytes.n -= n;
    }
    return OK;
}

static void look(struct arena *a, const struct store_table *t)
{
    struct sb b;
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t c = 0; c < t->n_cols; c++) {
            struct value v = column_value(&t->cols[c], r);
            sb_init(&b, a);
            value_print(&b, &v);
            if (value_cmp(&v, &v) != 0)
                defect("a value differs from itself");
        }
}

static void decode(struct arena *a, struct schema *s, uint32_t *oids,
                   struct str bytes)
{
    struct store *st = NULL;
    struct store_loader *l = NULL;
    struct err err = {0};
    if (store_new(a->mem, s, &st, &err) != OK ||
        store_load_begin(st, 0, NULL, &l, &err) != OK)
        exit(1);
    struct pg_copy c = {.l = l, .oids = oids};
    enum status e = feed(&c, bytes, &err);
    if (e != OK)
        store_load_abort(l);
    else
        e = store_load_end(l, &err);
    if (e == OK)
        look(a, &st->tables[0]);
    else if (!err.message[0])
        defect("an error without message");
    store_free(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct arena a;
    struct schema s;
    size_t table;
    struct err err;
    uint32_t oids[MOST_COLUMNS];
    size_t n = size ? 1 + data[0] % MOST_COLUMNS : 0;
    if (!n || size < 1 + n)
        return 0;
    mem_init(&m, 64 << 20);
    arena_init(&a, &m);
    schema_init(&s, &a);
    if (schema_add_table(&s, STR("t"), n, &table, &err) != OK)
        exit(1);
    for (size_t i = 0; i < n; i++) {
        size_t k = data[1 + i] % (sizeof kinds / sizeof *kinds);
        oids[i] = kinds[k].oid;
        s.tables.p[0].cols[i].type = kinds[k].type;
    }
    decode(&a, &s, oids,
           (struct str){(const char *)data + 1 + n, size - 1 - n});
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left");
    return 0;
}
