/*
 * policy init: a commented policy file from the catalogue of a source. Reads
 * no row: a bound measured on private rows would itself be private.
 */
#include <string.h>

#include "base/json.h"
#include "release/prepare.h"
#include "report/report.h"

/* --entities: "person" or "customer,supplier". */
static enum status name_entities(struct prepared *p, struct str list,
                                 struct err *err)
{
    while (list.n) {
        const char *comma = memchr(list.p, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        struct str name = str_trim((struct str){list.p, n});
        long t;
        TRY(schema_find_option(&p->schema, name, false, &t, err));
        if (t < 0 || p->schema.tables.p[t].is_refused)
            return err_set(err, E_NAME, "unknown table \"%.*s\"", PSTR(name));
        p->schema.tables.p[t].is_entity = true;
        p->schema.has_entities = true;
        n += comma ? 1 : 0;
        list = (struct str){list.p + n, list.n - n};
    }
    return OK;
}

static enum status policy(struct prepared *p, struct result *out,
                          struct err *err)
{
    struct json j;
    p->owner_view = p->declared_only = true;
    TRY(prepare_schema(
        p, p->session->opt.schema.n ? SOURCE_OPTIONAL : SOURCE_REQUIRED, err));
    const str_list *entities = &p->session->opt.entities;
    for (size_t i = 0; i < entities->n; i++)
        TRY(name_entities(p, entities->p[i], err));
    source_policy(&p->schema, p->source, &out->text);
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
