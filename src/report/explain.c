/*
 * explain: every stage of a query, from text to noise, or its hypergraph for
 * Graphviz. With --owner also the private numbers (OWNER).
 */
#include "report/analysis.h"
#include "release/answer.h"
#include "release/counts.h"
#include "report/report.h"

static void stage(struct sb *b, int *n, const char *title)
{
    sb_printf(b, "%s%d. %s\n", *n ? "\n" : "", *n + 1, title);
    ++*n;
}

static void text_schema(struct sb *b, const struct count *q)
{
    const struct prepared *p = q->p;
    for (size_t t = 0; t < p->schema.tables.n; t++) {
        const struct table *d = &p->schema.tables.p[t];
        if (!prepare_count_uses(q, (uint32_t)t))
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
static enum status text_choice(struct sb *b, struct json *j, struct count *q,
                               int *n, struct err *err)
{
    struct choice c;
    struct group_keys k;
    struct err why;
    if (!q->p->epsilon.p && !q->p->session->opt.rho.p)
        return OK;
    choice_init(&c);
    stage(b, n, "Mechanism");
    enum status s = group_keys(q, &k, &why);
    if (s == OK)
        s = choose(q, &k, &c, &why);
    if (s == OK) {
        const char *name =
            c.kind == CHOICE_EXACT ? "none" : noise_name(c.noise.kind);
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

static enum status stages(struct count *q, struct evaluated *data,
                          struct json *j, struct sb *b, struct err *err)
{
    struct arena *a = &q->p->arena;
    int n = 0;
    analysis_json(j, q);
    stage(b, &n, "Query as written");
    sb_printf(b, "   %.*s\n", PSTR(str_trim(q->p->text)));
    stage(b, &n, "As a conjunctive query");
    sb_printf(b, "   %.*s\n", PSTR(prepare_count_text(q)));
    stage(b, &n, "What is declared about its tables");
    text_schema(b, q);
    stage(b, &n, "After chase and core");
    sb_printf(b, "   %.*s\n", PSTR(cq_text(a, q->normal)));
    stage(b, &n, "Global sensitivity");
    analysis_text(b, q);
    TRY(text_choice(b, j, q, &n, err));
    if (!q->p->session->opt.owner)
        return OK;
    stage(b, &n, "On this instance (private)");
    json_key(j, "owner");
    json_begin(j, '{');
    TRY(sensitivity_report(q, data, j, b, err));
    json_end(j, '}');
    return OK;
}

static enum status all_stages(struct prepared *p, struct evaluated *data,
                              struct result *out, struct err *err)
{
    struct counts_out w;
    if (p->session->opt.owner) {
        TRY(evaluate_load(p, data, err));
        TRY(evaluate_valid(p, data, err));
    }
    counts_begin(&w, p->n_counts, out);
    for (size_t i = 0; i < p->n_counts; i++) {
        counts_next(&w, p->counts[i].label);
        TRY(stages(&p->counts[i], data, &w.json, w.text, err));
    }
    counts_end(&w);
    return OK;
}

/* A picture shows one query. */
static enum status dot(struct prepared *p, struct result *out, struct err *err)
{
    struct json j;
    if (p->n_counts > 1) {
        err_set(err, E_UNSUPPORTED, "the query asks for %zu counts at once",
                p->n_counts);
        err_hint(err, "Draw one COUNT at a time.");
        return E_UNSUPPORTED;
    }
    cq_dot(&out->text, p->counts[0].normal);
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "dot");
    json_str(&j, sb_view(&out->text));
    json_end(&j, '}');
    return OK;
}

static enum status explain(struct prepared *p, struct str query,
                           struct evaluated *data, struct result *out,
                           struct err *err)
{
    bool owner = p->session->opt.owner;
    TRY(prepare_schema(p, owner ? SOURCE_REQUIRED : SOURCE_OPTIONAL, err));
    TRY(prepare_query(p, query, err));
    TRY(prepare_bounds(p, true, err));
    return p->session->opt.dot ? dot(p, out, err)
                               : all_stages(p, data, out, err);
}

enum status ask_explain(struct session *s, struct str query, struct result *out,
                        struct err *err)
{
    struct prepared p;
    struct evaluated data = {0};
    prepared_init(&p, s);
    enum status st = explain(&p, query, &data, out, err);
    evaluated_fini(&data);
    prepared_fini(&p);
    return st;
}
