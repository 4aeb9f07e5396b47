/*
 * --schema: CREATE TABLE statements of PostgreSQL or, where that grammar stops,
 * of SQLite, which reads them itself. A text that neither understands is
 * refused by whom came further.
 */
#include "release/prepare.h"

static bool further(const struct err *a, const struct err *b)
{
    return a->line != b->line ? a->line > b->line : a->column > b->column;
}

static enum status read_lite(struct prepared *p, struct str text,
                             const char *file, struct err *err)
{
    struct source *src;
    enum status s = OK;
    TRY(source_open_schema(&p->session->mem, text, file, &p->schema, &src,
                           err));
    for (size_t i = 0; s == OK && i < p->schema.tables.n; i++) {
        size_t n;
        const struct str *texts = source_lists(src, i, &n);
        for (size_t k = 0; s == OK && k < n; k++)
            s = sql_read_lists(&p->schema, i, texts[k], err);
    }
    source_close(src);
    return s;
}

enum status prepare_read_ddl(struct prepared *p, struct err *err)
{
    struct str path = p->session->opt.schema, text;
    struct err lite;
    if (!path.n)
        return OK;
    TRY(session_read_file(&p->arena, path, "schema file", &text, err));
    enum status s = sql_read_ddl(&p->schema, text, path.p, err);
    if (s != E_SYNTAX)
        return s;
    enum status t = read_lite(p, text, path.p, &lite);
    if (t == OK)
        err_clear(err);
    else if (t == E_NOMEM || (t == E_SYNTAX && further(&lite, err)))
        *err = lite;
    return t == OK || t == E_NOMEM ? t : s;
}
