/*
 * describe: the columns of an answer and the types of parameters, before
 * anything is bounded or priced. PRIVACY: from the query and the catalogue.
 */
#include "release/answer_table.h"
#include "report/report.h"

#include "release/prepare.h"

enum { MOST_PARAMETERS = 1000 };
#define NOT_THERE ((enum type)(T_UUID + 1))

static enum status make_room(struct prepared *p, struct err *err)
{
    p->n_param_types = MOST_PARAMETERS;
    p->param_types = NEWS(&p->arena, enum type, MOST_PARAMETERS);
    if (!p->param_types)
        return err_nomem(err);
    for (size_t i = 0; i < MOST_PARAMETERS; i++)
        p->param_types[i] = NOT_THERE;
    return OK;
}

/* $1 to the last that occurs; one between that does not has no type. */
static void keep_parameters(const struct prepared *p, struct result *out)
{
    size_t n = MOST_PARAMETERS;
    while (n && p->param_types[n - 1] == NOT_THERE)
        n--;
    for (size_t i = 0; i < n; i++) {
        enum type t =
            p->param_types[i] == NOT_THERE ? T_UNKNOWN : p->param_types[i];
        out->failed |= !VEC_PUSH(&out->arena, &out->parameters, t);
    }
}

static void write_json(const struct prepared *p, struct result *out)
{
    struct json j;
    json_init(&j, &out->json);
    json_begin(&j, '{');
    answer_columns_json(&j, &p->after);
    json_key(&j, "parameters");
    json_begin(&j, '[');
    for (size_t i = 0; i < out->parameters.n; i++)
        json_cstr(&j, type_name(out->parameters.p[i]));
    json_end(&j, ']');
    json_end(&j, '}');
}

static void write_text(struct result *out)
{
    for (size_t i = 0; i < out->columns.n; i++)
        sb_printf(&out->text, "column %zu  %.*s  %s\n", i + 1,
                  PSTR(out->columns.p[i].name),
                  type_name(out->columns.p[i].type));
    for (size_t i = 0; i < out->parameters.n; i++)
        sb_printf(&out->text, "$%zu  %s\n", i + 1,
                  type_name(out->parameters.p[i]));
}

static enum status describe(struct prepared *p, struct str query,
                            struct result *out, struct err *err)
{
    TRY(make_room(p, err));
    TRY(prepare_schema(p, SOURCE_OPTIONAL, err));
    TRY(prepare_query(p, query, err));
    result_set_columns(out, &p->after, p->counts[0].query->n_group);
    keep_parameters(p, out);
    write_json(p, out);
    write_text(out);
    return OK;
}

enum status ask_describe(struct session *s, struct str query,
                         struct result *out, struct err *err)
{
    struct prepared p;
    prepared_init(&p, s);
    enum status st = describe(&p, query, out, err);
    prepared_fini(&p);
    return st;
}
