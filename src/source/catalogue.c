/*
 * The catalogue as a text. A release reads the catalogue before it is charged
 * and opens the source again afterwards, in another process: both must have
 * seen the same tables, columns, types and keys, for the noise hangs on them.
 */
#include "source/source_int.h"
#include "sqlgen/sqlgen.h"

#include <string.h>

static void add_columns(struct sb *b, const struct src_table *t)
{
    for (size_t i = 0; i < t->n_cols; i++) {
        const struct src_column *c = &t->cols[i];
        sb_cstr(b, i ? ", " : " (");
        sqlgen_ident(b, c->name);
        sb_printf(b, " %s %u", type_name(c->type), c->type_oid);
        sb_cstr(b, c->not_null ? " not null" : "");
        sb_cstr(b, c->as_text ? " as text" : "");
        sb_cstr(b, c->is_enum ? " enum" : "");
        sb_cstr(b, c->is_padded ? " padded" : "");
        sb_cstr(b, c->text_only ? " text only" : "");
        sb_cstr(b, c->own_text ? " own text" : "");
    }
    sb_cstr(b, ")");
}

static void add_keys(struct sb *b, const struct src_table *t)
{
    for (size_t i = 0; i < t->keys.n; i++) {
        sb_cstr(b, t->keys.p[i].enforced ? " key" : " unenforced key");
        for (size_t k = 0; k < t->keys.p[i].n_cols; k++)
            sb_printf(b, " %u", t->keys.p[i].cols[k]);
    }
}

void source_catalogue(const struct source *src, const struct cq *q,
                      struct sb *b)
{
    for (size_t i = 0; i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        if (!cq_atoms_of_table(q, (uint32_t)t->table))
            continue;
        sqlgen_ident(b, t->namespace_);
        sb_cstr(b, ".");
        sqlgen_ident(b, t->name);
        sb_cstr(b, t->refused ? " refused" : "");
        add_columns(b, t);
        add_keys(b, t);
        sb_cstr(b, "\n");
    }
}

/* --- locks --------------------------------------------------------------- */

static bool asked(const struct cq *const *qs, size_t n, size_t table)
{
    for (size_t i = 0; i < n; i++)
        if (cq_atoms_of_table(qs[i], (uint32_t)table))
            return true;
    return false;
}

void source_lock(const struct source *src, const struct cq *const *qs, size_t n,
                 struct sb *b)
{
    if (!source_is_server(src) || source_is_distributed(src))
        return;
    for (size_t i = 0; i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        if (!t->is_lockable || !asked(qs, n, t->table))
            continue;
        sb_cstr(b, b->n ? ", " : "LOCK TABLE ");
        sqlgen_ident(b, t->namespace_);
        sb_char(b, '.');
        sqlgen_ident(b, t->name);
    }
    sb_cstr(b, b->n ? " IN ACCESS SHARE MODE" : "");
}

/* --- opening again -------------------------------------------------------- */

/* Tables and columns of its own; all else may be shared, for merging only
 * appends. */
static bool copy_schema(struct arena *a, const struct schema *s,
                        struct schema *out)
{
    *out = *s;
    out->arena = a;
    out->tables.p = NEWS(a, struct table, s->tables.n + 1);
    out->tables.cap = s->tables.n;
    if (!out->tables.p)
        return false;
    for (size_t i = 0; i < s->tables.n; i++) {
        struct table *t = &out->tables.p[i];
        *t = s->tables.p[i];
        t->cols = NEWS(a, struct column, t->n_cols + 1);
        t->degrees.p = NULL;
        t->degrees.n = t->degrees.cap = 0;
        t->fks.p = NULL;
        t->fks.n = t->fks.cap = 0;
        t->checks.p = NULL;
        t->checks.n = t->checks.cap = 0;
        if (!t->cols)
            return false;
        memcpy(t->cols, s->tables.p[i].cols, t->n_cols * sizeof *t->cols);
    }
    return true;
}

enum status source_open_again(struct mem *m, const struct source_spec *spec,
                              struct schema *s, struct source **out,
                              struct err *err)
{
    struct arena a;
    struct schema copy;
    *out = NULL;
    arena_init(&a, m);
    enum status st = copy_schema(&a, s, &copy)
                         ? source_open(m, spec, &copy, out, err)
                         : err_nomem(err);
    if (st == OK)
        (*out)->schema = s;
    arena_fini(&a);
    return st;
}

bool source_is_server(const struct source *src)
{
    return src && src->pg;
}

bool source_counts(const struct source *src)
{
    return src && (src->pg || src->duckdb || src->parquet);
}

bool source_has_files(const struct source *src)
{
    bool any = src->sqlite || src->duckdb || src->parquet;
    for (size_t i = 0; i < src->tables.n; i++)
        any |= src->tables.p[i].kind == SRC_FILE;
    return any;
}

bool source_is_sealed_copy(const struct source *src)
{
    return src && src->is_sealed;
}
