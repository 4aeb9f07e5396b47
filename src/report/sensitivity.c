/* OWNER: every sensitivity measure on this instance, as JSON and text. */
#include <math.h>

#include "base/open_count.h"
#include "num/rat.h"
#include "report/analysis.h"
#include "release/answer.h"
#include "release/answer_table.h"
#include "report/entity_report.h"

enum { SHOW_STEPS = 8 };

static enum status read_beta(struct prepared *p, mpq_t out, struct err *err)
{
    struct str text = p->session->opt.beta;
    if (!text.n) {
        mpq_set_ui(out, 1, 10);
        return OK;
    }
    TRY(rat_read(text, "beta", out, err));
    if (mpq_sgn(out) <= 0)
        return err_set(err, E_VALUE, "beta must be greater than zero");
    return OK;
}

/* 183 rather than 183.0 */
static void json_number(struct json *j, double v)
{
    if (v == floor(v) && fabs(v) < 1e15)
        json_i64(j, (int64_t)v);
    else
        json_double(j, v);
}

static void json_steps(struct json *j, const char *key, mpz_t *v, size_t n)
{
    json_key(j, key);
    json_begin(j, '[');
    for (size_t i = 0; i < n && i < SHOW_STEPS; i++) {
        struct sb t;
        u128 x;
        if (!mpz_get_u128(v[i], &x)) {
            json_double(j, mpz_get_d(v[i]));
            continue;
        }
        sb_init(&t, j->out->arena);
        sb_u128(&t, x);
        json_raw(j, sb_view(&t));
    }
    json_end(j, ']');
}

static void json_residual(struct json *j, struct sens *s)
{
    json_key(j, "residual");
    json_begin(j, '{');
    json_key(j, "value");
    json_number(j, s->value);
    json_key(j, "k");
    json_u128(j, s->k);
    json_steps(j, "ls_hat", s->ls_hat, s->n_ls_hat);
    if (s->has_paper) {
        json_key(j, "paper");
        json_double(j, s->paper);
        json_key(j, "paper_k");
        json_u128(j, s->paper_k);
        json_steps(j, "paper_ls_hat", s->paper_ls_hat, s->n_paper_ls_hat);
    }
    json_end(j, '}');
}

static void json_value_or_null(struct json *j, const char *key, bool has,
                               double v)
{
    json_key(j, key);
    if (!has) {
        json_null(j);
        return;
    }
    json_begin(j, '{');
    json_key(j, "value");
    json_double(j, v);
    json_end(j, '}');
}

/* How far from the best possible: every mechanism errs by at least
 * neighbourhood_lower / (2 sqrt(1 + e^epsilon)) near this instance. */
static void json_optimality(struct json *j, const struct sens *s)
{
    json_key(j, "neighbourhood_lower");
    if (s->has_lower)
        json_bound(j, s->neighbourhood_lower);
    else
        json_null(j);
    json_key(j, "optimality");
    if (s->optimality > 0)
        json_number(j, s->optimality);
    else
        json_null(j);
}

/* Few removed atoms first. */
static void json_residuals(struct json *j, const struct count *c,
                           const struct sens *s)
{
    json_key(j, "residuals");
    json_begin(j, '[');
    for (size_t i = s->n_residuals; i-- > 0;) {
        const struct sens_residual *r = &s->residuals[i];
        const struct cq *q = c->tree ? c->bound.parts[r->part].path : c->normal;
        json_begin(j, '{');
        if (c->tree) {
            json_key(j, "part");
            json_i64(j, r->part);
        }
        json_key(j, "removed");
        json_begin(j, '[');
        ASET_EACH (a, r->removed)
            json_i64(j, a);
        json_end(j, ']');
        json_key(j, "boundary");
        json_begin(j, '[');
        VSET_EACH (v, r->boundary)
            json_str(j, q->vars[v].name);
        json_end(j, ']');
        json_key(j, "t");
        json_u128(j, r->t);
        json_end(j, '}');
    }
    json_end(j, ']');
}

static void json_seconds(struct json *j, const struct sens *s, double load)
{
    json_key(j, "seconds");
    json_begin(j, '{');
    json_key(j, "load");
    json_double(j, load);
    json_key(j, "count");
    json_double(j, s->seconds_count);
    json_key(j, "residuals");
    json_double(j, s->seconds_residuals);
    json_end(j, '}');
}

/* The exact number, in units. */
static struct str total_text(const struct count *q, const struct sens *s)
{
    struct str t = answer_units(&q->p->arena, secret_count_open(&s->count),
                                tree_is_signed(q->tree));
    return t.p ? t : STR("0");
}

static void text_all(struct sb *b, const struct count *q, const struct sens *s,
                     double beta)
{
    struct str total = answer_decimal(b->arena, total_text(q, s), q->scale);
    sb_printf(b, "%s %.*s",
              q->is_sum ? "sum                  " : "count                ",
              PSTR(total));
    sb_printf(b,
              "\nresidual sensitivity  %.6g at beta %g (k = %llu): what "
              "noise is calibrated to\n",
              s->value, beta, (unsigned long long)s->k);
    if (s->has_paper)
        sb_printf(b, "  as published        %.6g (k = %llu)\n", s->paper,
                  (unsigned long long)s->paper_k);
    if (s->has_elastic)
        sb_printf(b, "elastic sensitivity   %.6g\n", s->elastic);
    if (s->has_smooth)
        sb_printf(b, "smooth sensitivity    %.6g\n", s->smooth);
    sb_cstr(b, "local, at most        ");
    sb_u128(b, s->local_upper);
    sb_cstr(b, "\nglobal, at most       ");
    if (q->bound.upper == U128_INF)
        sb_cstr(b, "unbounded");
    else
        sb_u128(b, q->bound.upper);
    sb_char(b, '\n');
    if (s->optimality > 0)
        sb_printf(b,
                  "no mechanism can beat this by more than a factor "
                  "proportional to %.3g\n",
                  s->optimality);
}

/* How many components each engine of the join solved. */
enum { MOST_ENGINES = 8 };
struct engine_parts {
    const char *name[MOST_ENGINES];
    uint64_t parts[MOST_ENGINES];
    size_t n;
};

static void note_parts(const struct engine *e, struct engine_parts *out)
{
    out->n = 0;
    while (e->join && out->n < MOST_ENGINES &&
           join_engine_parts(e->join, out->n, &out->name[out->n],
                             &out->parts[out->n]))
        out->n++;
}

static void json_engines(struct json *j, const struct engine_parts *x)
{
    json_key(j, "engines");
    json_begin(j, '{');
    for (size_t i = 0; i < x->n; i++)
        if (x->parts[i]) {
            json_key(j, x->name[i]);
            json_u128(j, x->parts[i]);
        }
    json_end(j, '}');
}

static void text_engines(struct sb *b, const struct engine_parts *x)
{
    const char *before = "solved by             ";
    for (size_t i = 0; i < x->n; i++)
        if (x->parts[i]) {
            sb_printf(b, "%s%s (%llu)", before, x->name[i],
                      (unsigned long long)x->parts[i]);
            before = ", ";
        }
    if (*before == ',')
        sb_char(b, '\n');
}

static void report(struct count *q, const struct evaluated *data,
                   mpq_srcptr beta, struct sens *s,
                   const struct engine_parts *parts, struct json *j,
                   struct sb *text)
{
    struct prepared *p = q->p;
    json_key(j, "count");
    answer_number_json(j, total_text(q, s), q->scale);
    if (q->is_sum) { /* all sensitivities are in units of the last digit */
        json_key(j, "scale");
        json_i64(j, q->scale);
    }
    json_key(j, "beta");
    json_rat(j, beta, false);
    json_residual(j, s);
    json_value_or_null(j, "elastic", s->has_elastic, s->elastic);
    json_value_or_null(j, "smooth", s->has_smooth, s->smooth);
    json_key(j, "local_upper");
    json_bound(j, s->local_upper);
    json_key(j, "global_upper");
    json_bound(j, q->bound.upper);
    json_optimality(j, s);
    json_key(j, "filters");
    json_cstr(j, p->filters_exact ? "exact" : "inside");
    json_key(j, "engine");
    json_cstr(j, evaluated_engine(data));
    json_key(j, "query");
    json_str(j,
             q->tree ? prepare_count_text(q) : cq_text(&p->arena, q->normal));
    if (q->tree)
        analysis_parts(j, q);
    json_engines(j, parts);
    json_residuals(j, q, s);
    json_seconds(j, s, data->seconds_load);
    text_all(text, q, s, mpq_get_d(beta));
    if (str_is(p->session->opt.engine, "auto"))
        sb_printf(text, "engine: %s\n", evaluated_engine(data));
    if (p->session->opt.owner) /* explain --owner */
        text_engines(text, parts);
}

/* The sum over all groups. */
static enum status compute(struct count *q, mpq_srcptr beta,
                           struct evaluated *data, struct sens *s,
                           struct engine_parts *parts, struct err *err)
{
    struct engine e;
    struct sens_options opt = {.beta = beta,
                               .order = q->p->schema.order,
                               .filters_exact = q->p->filters_exact,
                               .global_upper = q->bound.upper,
                               .want_baselines = true,
                               .store = data->store};
    TRY(evaluate_open(q->p, data, q->normal, &e, err));
    enum status st = evaluate_sens(q, &e, &opt, s, err);
    note_parts(&e, parts);
    if (st == OK && q->tree)
        st = evaluate_tree_total(q, data, &s->count, err);
    engine_close(&e);
    return st;
}

/* With entities no noise is calibrated to rows. */
static enum status entity_sensitivity(struct count *q, struct evaluated *data,
                                      struct json *j, struct sb *text,
                                      struct err *err)
{
    struct engine e;
    struct secret_count secret;
    enum status st = OK;
    if (q->tree) {
        st = evaluate_tree_total(q, data, &secret, err);
    } else {
        TRY(evaluate_open(q->p, data, q->query, &e, err));
        st = e.counter.count(e.counter.ctx, &secret, err);
        engine_close(&e);
    }
    if (st != OK)
        return st;
    struct str count = answer_units(text->arena, secret_count_open(&secret),
                                    tree_is_signed(q->tree));
    json_key(j, "count");
    answer_number_json(j, count, q->scale);
    json_key(j, "query");
    json_str(j, prepare_count_text(q));
    sb_printf(text, "%-22s%.*s\n", q->is_sum ? "sum" : "count",
              PSTR(answer_decimal(text->arena, count, q->scale)));
    if (!prepare_can_cut(q)) { /* nothing is cut: the bound says it all */
        report_entity_json(j, q);
        return OK;
    }
    return report_entity_values(q, data, j, text, err);
}

enum status sensitivity_report(struct count *q, struct evaluated *data,
                               struct json *j, struct sb *text, struct err *err)
{
    struct sens s = {0};
    struct engine_parts parts;
    mpq_t beta;
    if (q->p->schema.has_entities)
        return entity_sensitivity(q, data, j, text, err);
    mpq_init(beta);
    enum status st = read_beta(q->p, beta, err);
    if (st == OK)
        st = compute(q, beta, data, &s, &parts, err);
    if (st == OK)
        report(q, data, beta, &s, &parts, j, text);
    sens_fini(&s);
    mpq_clear(beta);
    return st;
}
