/*
 * policy init: a commented policy file from the catalogue of a source. Every
 * table starts private; keys of the catalogue are shown, bounds are offered
 * as comments for the owner to fill in. Reads no row: a bound measured on
 * private rows would itself be private.
 */
#include "base/json.h"
#include "release/prepare.h"
#include "release/release.h"

static void columns(struct sb *b, const struct table *t, const uint32_t *cols,
                    size_t n)
{
    sb_char(b, '[');
    for (size_t i = 0; i < n; i++)
        sb_printf(b, "%s%.*s", i ? ", " : "", PSTR(t->cols[cols[i]].name));
    sb_char(b, ']');
}

static void one_table(struct sb *b, const struct table *t)
{
    sb_printf(b,
              "  %.*s:\n    privacy: private   # or public: its rows are "
              "known to everybody\n",
              PSTR(t->name));
    bool key = false;
    for (size_t i = 0; i < t->degrees.n; i++) {
        if (!t->degrees.p[i].is_key)
            continue;
        sb_printf(b, "    %skey: ", key ? "# also a " : "");
        columns(b, t, t->degrees.p[i].x, t->degrees.p[i].n_x);
        sb_cstr(b, key ? "\n" : "   # from the catalogue\n");
        key = true;
    }
    for (size_t i = 0; i < t->fks.n; i++) {
        const struct foreign_key *f = &t->fks.p[i];
        sb_cstr(b, "    # ");
        columns(b, t, f->cols, f->n_cols);
        sb_printf(b, " refers to %.*s\n", PSTR(f->ref_table));
    }
    if (t->fks.n >= 2 && t->fks.p[0].n_cols && t->fks.p[1].n_cols) {
        sb_cstr(b, "    # at_most:   # if the world guarantees it\n    #   - "
                   "{per: ");
        columns(b, t, t->fks.p[0].cols, t->fks.p[0].n_cols);
        sb_cstr(b, ", of: ");
        columns(b, t, t->fks.p[1].cols, t->fks.p[1].n_cols);
        sb_cstr(b, ", k: 10}\n");
    }
    sb_cstr(b, "    # rows_at_most: 1000000\n");
}

static void write_policy(struct sb *b, const struct schema *s)
{
    sb_cstr(b, "# What is private, and what is guaranteed about it.\n"
               "# A table that is not listed is private. Declare only what "
               "holds for every\n"
               "# state the data can ever have: the noise is calibrated to "
               "it.\n"
               "# add-drop-one: a row more or less; change-one: a row "
               "replaced.\n"
               "neighbours: add-drop-one\ntables:\n");
    for (size_t i = 0; i < s->tables.n; i++)
        one_table(b, &s->tables.p[i]);
    sb_cstr(b, "budget: {epsilon: 10, delta: 1e-6}   # for dpcount budget "
               "init\n");
}

static enum status policy(struct prepared *p, struct result *out,
                          struct err *err)
{
    struct json j;
    TRY(prepare_schema(
        p, p->session->opt.schema.n ? SOURCE_OPTIONAL : SOURCE_REQUIRED, err));
    write_policy(&out->text, &p->schema);
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "policy");
    json_str(&j, sb_view(&out->text));
    json_end(&j, '}');
    return OK;
}

enum status ask_policy(struct session *s, struct str query, struct result *out,
                       struct err *err)
{
    struct prepared p;
    (void)query;
    prepared_init(&p, s);
    enum status st = policy(&p, out, err);
    prepared_fini(&p);
    return st;
}
