/*
 * What is public of a data set, as bytes: for a process that must never see
 * rows or secrets. PRIVACY: private tables are described, not read; where the
 * data are, passwords and the ledger are not in it.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/sha256.h"
#include "release/group_keys.h"
#include "store/store.h"

/* The form and the version of the library; then the hash of all that follows,
 * so that damaged bytes are refused as a whole. Whoever makes them on purpose
 * could make a data set just as well. */
static struct str magic(void)
{
    return STR("dpcount data set " DPC_VERSION "\n");
}

/* --- values of public columns --------------------------------------------- */

static enum status load_values(struct prepared *p, uint32_t table,
                               struct store *st, struct err *err)
{
    const struct table *t = &p->schema.tables.p[table];
    struct atom at = {.table = table, .n_args = (uint32_t)t->n_cols};
    struct cq one = {.schema = &p->schema, .atoms = &at, .n_atoms = 1};
    at.rowid = -1;
    at.args = NEWS(&p->arena, struct term, t->n_cols + 1);
    if (!at.args)
        return err_nomem(err);
    for (size_t c = 0; c < t->n_cols; c++)
        at.args[c].kind = TERM_VAR;
    return source_load(p->source, &one, st, NULL, err);
}

/* Every value but NULL, sorted, each once; n is SIZE_MAX if they are more than
 * there may be groups. */
static enum status collect(struct prepared *p, const struct store_column *from,
                           size_t n_rows, struct public_column *out,
                           struct err *err)
{
    VEC(struct value) all = {0};
    for (size_t row = 0; row < n_rows; row++) {
        struct value v = column_value(from, row);
        if (v.is_null || (all.n && value_eq(&all.p[all.n - 1], &v)))
            continue;
        if (v.s.p && !(v.s = str_copy(&p->arena, v.s)).p)
            return err_nomem(err);
        if (!VEC_PUSH(&p->arena, &all, v))
            return err_nomem(err);
    }
    out->vals = all.p;
    out->n = group_keys_sort(all.p, all.n);
    return OK;
}

static enum status read_table(struct prepared *p, uint32_t table,
                              struct err *err)
{
    struct store *st = NULL;
    size_t n = p->schema.tables.p[table].n_cols;
    TRY(store_new(&p->session->mem, &p->schema, &st, err));
    enum status s = load_values(p, table, st, err);
    for (uint32_t c = 0; s == OK && c < n; c++) {
        struct public_column x = {.table = table, .col = c};
        const struct store_table *t = &st->tables[table];
        s = collect(p, &t->cols[c], t->n_rows, &x, err);
        if (s == OK && x.n <= MAX_GROUPS &&
            !VEC_PUSH(&p->arena, &p->columns_read, x))
            s = err_nomem(err);
    }
    store_free(st);
    return s;
}

static enum status read_public(struct prepared *p, struct err *err)
{
    for (size_t t = 0; p->source && t < p->schema.tables.n; t++) {
        const struct table *x = &p->schema.tables.p[t];
        if (!table_is_private(x) && !x->is_refused)
            TRY(read_table(p, (uint32_t)t, err));
    }
    return OK;
}

/* --- bytes ---------------------------------------------------------------- */

static void hash_of(struct str bytes, unsigned char out[SHA256_BYTES])
{
    struct sha256 h;
    sha256_init(&h);
    sha256_add(&h, bytes.p, bytes.n);
    sha256_end(&h, out);
}

static void write_body(struct prepared *p, struct sb *b)
{
    struct schema shown = p->schema;
    shown.policy = NULL; /* where it lies is nobody's business */
    schema_write(b, &shown);
    bytes_put_str(b, p->left_out);
    for (size_t i = 0; i < p->schema.tables.n; i++) {
        bytes_put_u64(b, (uint64_t)(p->rows_declared[i] >> 64));
        bytes_put_u64(b, (uint64_t)p->rows_declared[i]);
    }
    bytes_put_u64(b, p->columns_read.n);
    for (size_t i = 0; i < p->columns_read.n; i++) {
        const struct public_column *c = &p->columns_read.p[i];
        bytes_put_u64(b, c->table);
        bytes_put_u64(b, c->col);
        bytes_put_u64(b, c->n);
        for (size_t v = 0; v < c->n; v++)
            value_write(b, &c->vals[v]);
    }
}

enum status prepare_write(struct prepared *p, struct sb *b, struct err *err)
{
    struct sb body;
    unsigned char hash[SHA256_BYTES];
    TRY(read_public(p, err));
    sb_init(&body, &p->arena);
    write_body(p, &body);
    if (body.failed)
        return err_nomem(err);
    hash_of(sb_view(&body), hash);
    sb_str(b, magic());
    sb_add(b, (const char *)hash, sizeof hash);
    sb_str(b, sb_view(&body));
    return b->failed ? err_nomem(err) : OK;
}

static bool take_column(struct prepared *p, struct bytes *b)
{
    struct public_column c = {.table = (uint32_t)bytes_u64(b)};
    c.col = (uint32_t)bytes_u64(b);
    c.n = bytes_count(b, sizeof(uint64_t));
    c.vals = NEWS(&p->arena, struct value, c.n + 1);
    for (size_t v = 0; c.vals && v < c.n; v++)
        c.vals[v] = value_read(b);
    return c.vals && !b->failed && VEC_PUSH(&p->arena, &p->columns_read, c);
}

static bool take_rows(struct prepared *p, struct bytes *b)
{
    size_t n = p->schema.tables.n;
    p->rows_declared = NEWS(&p->arena, u128, n + 1);
    for (size_t i = 0; p->rows_declared && i < n; i++) {
        u128 high = bytes_u64(b);
        p->rows_declared[i] = high << 64 | bytes_u64(b);
    }
    return p->rows_declared != NULL;
}

static bool take_head(struct str *bytes)
{
    struct str head = magic();
    unsigned char hash[SHA256_BYTES];
    size_t n = head.n + sizeof hash;
    if (bytes->n < n || memcmp(bytes->p, head.p, head.n) != 0)
        return false;
    struct str body = {bytes->p + n, bytes->n - n};
    hash_of(body, hash);
    bool same = memcmp(bytes->p + head.n, hash, sizeof hash) == 0;
    *bytes = body;
    return same;
}

enum status prepare_read(struct prepared *p, struct str bytes, struct err *err)
{
    if (!take_head(&bytes))
        return err_set(err, E_USAGE,
                       "these bytes are no data set of dpcount "
                       "%s",
                       DPC_VERSION);
    struct bytes b = {&p->arena, bytes, false};
    TRY(schema_read(&p->schema, &b, err));
    p->left_out = bytes_str(&b);
    bool good = take_rows(p, &b);
    size_t n = bytes_count(&b, sizeof(uint64_t));
    for (size_t i = 0; good && i < n; i++)
        good = take_column(p, &b);
    return good && !b.failed && !b.left.n
               ? OK
               : err_set(err, E_USAGE, "these bytes are no data set");
}
