/*
 * explain: every stage of a query, from text to noise, or its hypergraph for
 * Graphviz. With --owner also the private numbers (OWNER).
 */
#include "release/analysis.h"
#include "release/answer.h"
#include "release/release.h"

static void stage(struct sb *b, int *n, const char *title)
{
    sb_printf(b, "%s%d. %s\n", *n ? "\n" : "", *n + 1, title);
    ++*n;
}

static void text_schema(struct sb *b, const struct prepared *p)
{
    for (size_t t = 0; t < p->schema.tables.n; t++) {
        const struct table *d = &p->schema.tables.p[t];
        if (!cq_atoms_of_table(p->query, (uint32_t)t))
            continue;
        sb_printf(b, "   %.*s is %s\n", PSTR(d->name),
                  table_is_private(d)
                      ? d->privacy == PRIVACY_PRIVATE
                            ? "private"
                            : "private, since nothing declares it public"
                      : "public");
        for (size_t i = 0; i < d->degrees.n; i++) {
            sb_cstr(b, "      ");
            degree_print(b, d, &d->degrees.p[i]);
            sb_char(b, '\n');
        }
    }
}

/* The mechanism that a release would use, if a price was named. */
static enum status text_choice(struct sb *b, struct json *j, struct prepared *p,
                               int *n, struct err *err)
{
    struct choice c;
    struct group_keys k;
    struct err why;
    if (!p->epsilon.p && !p->session->opt.rho.p)
        return OK;
    choice_init(&c);
    stage(b, n, "Mechanism");
    enum status s = group_keys(p, &k, &why);
    if (s == OK)
        s = choose(p, &k, &c, &why);
    if (s == OK) {
        const char *name = c.exact ? "none" : noise_name(c.noise.kind);
        sb_printf(b, "   %s. %.*s\n   %.*s\n", name, PSTR(c.reason),
                  PSTR(c.guarantee));
        json_key(j, "mechanism");
        json_cstr(j, name);
        json_key(j, "reason");
        json_str(j, c.reason);
    } else if (s == E_NOMEM) {
        *err = why;
    } else {
        sb_printf(b, "   none: %s\n   %s\n", why.message, why.hint);
        s = OK;
    }
    choice_fini(&c);
    return s;
}

static enum status stages(struct prepared *p, struct result *out,
                          struct err *err)
{
    struct sb *b = &out->text;
    struct json j;
    int n = 0;
    json_init(&j, &out->json);
    json_begin(&j, '{');
    analysis_json(&j, p);
    stage(b, &n, "Query as written");
    sb_printf(b, "   %.*s\n", PSTR(str_trim(p->text)));
    stage(b, &n, "As a conjunctive query");
    sb_printf(b, "   %.*s\n", PSTR(cq_text(&p->arena, p->query)));
    stage(b, &n, "What is declared about its tables");
    text_schema(b, p);
    stage(b, &n, "After chase and core");
    sb_printf(b, "   %.*s\n", PSTR(cq_text(&p->arena, p->normal)));
    stage(b, &n, "Global sensitivity");
    analysis_text(b, p);
    TRY(text_choice(b, &j, p, &n, err));
    if (p->session->opt.owner) {
        stage(b, &n, "On this instance (private)");
        json_key(&j, "owner");
        json_begin(&j, '{');
        TRY(sensitivity_report(p, &j, b, err));
        json_end(&j, '}');
    }
    json_end(&j, '}');
    return OK;
}

static enum status dot(struct prepared *p, struct result *out)
{
    struct json j;
    cq_dot(&out->text, p->normal);
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "dot");
    json_str(&j, sb_view(&out->text));
    json_end(&j, '}');
    return OK;
}

static enum status explain(struct prepared *p, struct str query,
                           struct result *out, struct err *err)
{
    bool owner = p->session->opt.owner;
    TRY(prepare_schema(p, owner ? SOURCE_REQUIRED : SOURCE_OPTIONAL, err));
    TRY(prepare_query(p, query, err));
    TRY(prepare_bound(p, true, err));
    return p->session->opt.dot ? dot(p, out) : stages(p, out, err);
}

enum status ask_explain(struct session *s, struct str query, struct result *out,
                        struct err *err)
{
    struct prepared p;
    prepared_init(&p, s);
    enum status st = explain(&p, query, out, err);
    prepared_fini(&p);
    return st;
}
