/*
 * CHECKs as questions: which rows break one? For witnesses alone. A condition
 * that is not understood makes its table one of which no row is known to be
 * admitted.
 */
#include "release/prepare.h"
#include "sql/sql.h"
#include "sqlgen/sqlgen.h"
#include "witness/admissible.h"

#include <string.h>

/* VALUE is what a domain's condition calls the column. */
static void write_question(struct sb *b, const struct table *t,
                           const struct table_check *c)
{
    bool domain = c->own >= 0 && strcasestr(c->condition.p, "value") &&
                  table_match_column(t, STR("value")) < 0;
    /* of no column: those that the question has are what the CHECK looks at */
    sb_cstr(b, "SELECT COUNT(DISTINCT 1) FROM ");
    if (domain) {
        sb_cstr(b, "(SELECT ");
        sqlgen_ident(b, t->cols[c->own].name);
        sb_cstr(b, " AS value FROM ");
    }
    if (t->namespace_.n) {
        sqlgen_ident(b, t->namespace_);
        sb_char(b, '.');
    }
    sqlgen_ident(b, t->name);
    sb_cstr(b, domain ? ") x" : "");
    sb_printf(b, " WHERE NOT (%.*s)", PSTR(c->condition));
}

static enum status read_check(struct prepared *p, uint32_t table,
                              const struct table_check *c,
                              struct row_check *out, bool *unread,
                              struct err *err)
{
    const struct table *t = &p->schema.tables.p[table];
    struct sql_statement st;
    struct err why;
    struct sb b;
    sb_init(&b, &p->arena);
    write_question(&b, t, c);
    if (b.failed)
        return err_nomem(err);
    enum status s = c->condition.n ? sql_read(&p->arena, &p->schema,
                                              sb_view(&b), NULL, &st, &why)
                                   : E_UNSUPPORTED;
    if (s == E_NOMEM)
        return err_nomem(err);
    *unread = s != OK || st.n_counts != 1;
    if (!*unread)
        *out = (struct row_check){table, st.counts[0].q, st.counts[0].tree};
    return OK;
}

enum status prepare_admission(struct prepared *p, const struct admissible **out,
                              struct err *err)
{
    const struct schema *s = &p->schema;
    size_t n = 0;
    for (size_t i = 0; i < s->tables.n; i++)
        n += s->tables.p[i].checks.n;
    struct row_check *checks = NEWS(&p->arena, struct row_check, n + 1);
    bool *unread = NEWS(&p->arena, bool, s->tables.n + 1);
    struct admissible *a = NEW(&p->arena, struct admissible);
    if (!checks || !unread || !a)
        return err_nomem(err);
    *a = (struct admissible){.checks = checks, .is_unread = unread};
    *out = a;
    for (uint32_t i = 0; i < s->tables.n; i++)
        for (size_t k = 0; k < s->tables.p[i].checks.n; k++) {
            bool no = s->tables.p[i].is_refused;
            if (!no)
                TRY(read_check(p, i, &s->tables.p[i].checks.p[k],
                               &checks[a->n_checks], &no, err));
            unread[i] |= no;
            a->n_checks += !no;
        }
    return OK;
}
