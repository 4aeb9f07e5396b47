/*
 * policy init: a commented policy file from the catalogue of a source. Reads
 * no row: a bound measured on private rows would itself be private.
 */
#include "base/json.h"
#include "release/prepare.h"
#include "report/report.h"

static enum status policy(struct prepared *p, struct result *out,
                          struct err *err)
{
    struct json j;
    p->owner_view = true;
    TRY(prepare_schema(
        p, p->session->opt.schema.n ? SOURCE_OPTIONAL : SOURCE_REQUIRED, err));
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
