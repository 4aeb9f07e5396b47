/*
 * The tables that a source offers: adding one, finding the one behind a table
 * of the schema, and what feeds the columns of a load.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "source/source_int.h"
#include "sqlgen/sqlgen.h"

const struct src_table *source_find_table(const struct source *src,
                                          size_t table)
{
    for (size_t i = 0; i < src->tables.n; i++)
        if (src->tables.p[i].table == table)
            return &src->tables.p[i];
    return NULL;
}

const struct src_column *source_find_column(const struct source *src,
                                            size_t table, uint32_t col)
{
    const struct src_table *t = source_find_table(src, table);
    for (size_t i = 0; t && i < t->n_cols; i++)
        if (t->to[i] == col)
            return &t->cols[i];
    return NULL;
}

struct src_column *source_add_column(struct source *src, struct src_table *t)
{
    struct src_column *cols =
        NEWS(&src->arena, struct src_column, t->n_cols + 1);
    if (!cols)
        return NULL;
    if (t->n_cols)
        memcpy(cols, t->cols, t->n_cols * sizeof *cols);
    t->cols = cols;
    return &cols[t->n_cols++];
}

struct src_table *source_add(struct source *src)
{
    struct src_table t = {.kept = -1};
    if (!VEC_PUSH(&src->arena, &src->tables, t))
        return NULL;
    return &src->tables.p[src->tables.n - 1];
}

enum status source_add_list(struct source *src, struct src_table *t,
                            struct str column, struct str condition,
                            struct err *err)
{
    struct sb b;
    sb_init(&b, &src->arena);
    sb_cstr(&b, "CREATE TABLE t (");
    if (column.n) {
        sqlgen_ident(&b, column);
        sb_cstr(&b, " text ");
    }
    sb_printf(&b, "CHECK (%.*s))", PSTR(condition));
    struct str text = sb_view(&b);
    return !b.failed && VEC_PUSH(&src->arena, &t->lists, text) ? OK
                                                               : err_nomem(err);
}

const struct str *source_lists(const struct source *src, size_t table,
                               size_t *n)
{
    const struct src_table *t = src ? source_find_table(src, table) : NULL;
    *n = t ? t->lists.n : 0;
    return t ? t->lists.p : NULL;
}

enum status source_loader_columns(const struct src_table *t,
                                  struct store_loader *l, uint32_t **out,
                                  struct err *err)
{
    uint32_t *from = NEWS(&l->arena, uint32_t, l->n_cols + 1);
    *out = from;
    if (!from)
        return store_nomem(l->st->mem, err);
    for (size_t c = 0; c < l->n_cols; c++)
        for (uint32_t i = 0; i < t->n_cols; i++)
            if (t->to[i] == l->cols[c].index)
                from[c] = i;
    return OK;
}

enum status source_refuse(const struct src_table *t, struct err *err)
{
    err_set(err, E_UNSUPPORTED, "\"%.*s\" is %s", PSTR(t->name), t->refused);
    err_detail(err, "%s",
               t->refused_why ? t->refused_why
                              : "Its rows are rows of other tables too.");
    err_hint(err, "%s",
             t->refused_hint
                 ? t->refused_hint
                 : "Write the query over the tables that hold the rows.");
    return E_UNSUPPORTED;
}

bool source_is_repeatable(const struct source *src)
{
    struct stat st;
    for (size_t i = 0; i < src->tables.n; i++)
        if (src->tables.p[i].kind == SRC_FILE &&
            (stat(src->tables.p[i].path.p, &st) || !S_ISREG(st.st_mode)))
            return false;
    return true;
}

enum status source_as_expected(const struct src_table *t, struct sha256 *h,
                               struct err *err)
{
    struct source_hash now;
    sha256_end(h, now.bytes);
    return memcmp(&now, t->expected, sizeof now)
               ? err_set(err, E_DATA, "the data changed while they were read")
               : OK;
}
