/*
 * analyze and quote: what can be said before any data are opened.
 * PRIVACY: nothing here can see rows, so everything may be shown.
 */
#include <math.h>
#include <string.h>

#include "report/entity_report.h"
#include "report/analysis.h"
#include "release/strict.h"
#include "release/answer.h"
#include "release/counts.h"
#include "report/report.h"

static void json_row(struct json *j, const struct witness_row *r)
{
    json_begin(j, '[');
    for (size_t i = 0; i < r->n_vals; i++)
        if (r->vals[i].p)
            json_str(j, r->vals[i]);
        else
            json_null(j);
    json_end(j, ']');
}

static struct str table_name(const struct count *q, uint32_t t)
{
    return q->p->schema.tables.p[t].name;
}

static void json_database(struct json *j, const struct count *q,
                          const struct witness *w)
{
    json_begin(j, '{');
    for (size_t t = 0; t < q->p->schema.tables.n; t++) {
        bool any = false;
        for (size_t i = 0; i < w->n_rows; i++) {
            if (w->rows[i].table != t)
                continue;
            if (!any) {
                json_key_str(j, table_name(q, (uint32_t)t));
                json_begin(j, '[');
            }
            any = true;
            json_row(j, &w->rows[i]);
        }
        if (any)
            json_end(j, ']');
    }
    json_end(j, '}');
}

static void json_witness(struct json *j, const struct count *q)
{
    const struct witness *w = &q->bound.witness;
    json_key(j, "witness");
    if (!q->bound.has_witness) {
        json_null(j);
        return;
    }
    json_begin(j, '{');
    if (w->family) {
        json_key(j, "family");
        json_bool(j, true);
        json_key(j, "n");
        json_u128(j, w->n);
    }
    json_key(j, "database");
    json_database(j, q, w);
    json_key(j, "change");
    json_begin(j, '{');
    json_key(j, "relation");
    json_str(j, table_name(q, w->insert.table));
    json_key(j, "insert");
    json_row(j, &w->insert);
    if (w->replaces) {
        json_key(j, "replaced");
        json_row(j, &w->replaced);
    }
    json_end(j, '}');
    json_key(j, "count_before");
    json_u128(j, w->before);
    json_key(j, "count_after");
    json_u128(j, w->after);
    json_end(j, '}');
}

/* The integer square root if it is one, else a double. */
static void json_root(struct json *j, u128 square)
{
    if (square == U128_INF) {
        json_cstr(j, "inf");
        return;
    }
    mpz_t v;
    mpz_init(v);
    mpz_set_u128(v, square);
    u128 root = 0;
    bool perfect = mpz_perfect_square_p(v);
    if (perfect) {
        mpz_sqrt(v, v);
        perfect = mpz_get_u128(v, &root);
    }
    if (perfect)
        json_u128(j, root);
    else
        json_double(j, sqrt(mpz_get_d(v)));
    mpz_clear(v);
}

static void json_sensitivity(struct json *j, const struct bound *b)
{
    json_key(j, "global_sensitivity");
    json_begin(j, '{');
    json_key(j, "upper");
    json_bound(j, b->upper);
    json_key(j, "lower");
    json_bound(j, b->lower);
    json_key(j, "exact");
    json_bool(j, b->exact);
    json_key(j, "l1_upper");
    json_bound(j, b->l1_upper);
    json_key(j, "l2_upper");
    json_root(j, b->l2_squared_upper);
    json_end(j, '}');
    json_key(j, "bounds");
    json_begin(j, '{');
    json_key(j, "paper");
    json_bound(j, b->paper);
    json_key(j, "plan");
    json_bound(j, b->plan);
    json_key(j, "polymatroid");
    json_bound(j, b->polymatroid);
    json_end(j, '}');
}

static void json_relations(struct json *j, const struct count *q)
{
    json_key(j, "per_relation");
    json_begin(j, '{');
    for (size_t i = 0; i < q->bound.n_relations; i++) {
        const struct bound_relation *r = &q->bound.relations[i];
        json_key_str(j, table_name(q, r->table));
        json_begin(j, '{');
        json_key(j, "private");
        json_bool(j, r->is_private);
        json_key(j, "upper");
        json_bound(j, r->upper);
        json_key(j, "lower");
        json_bound(j, r->lower);
        json_key(j, "gain");
        json_bound(j, r->gain);
        json_key(j, "loss");
        json_bound(j, r->loss);
        json_end(j, '}');
    }
    json_end(j, '}');
}

void analysis_advice(struct json *j, struct str constraint, struct str upper)
{
    json_begin(j, '{');
    json_key(j, "constraint");
    json_str(j, constraint);
    json_key(j, "upper");
    json_str(j, upper);
    json_end(j, '}');
}

static void json_advice(struct json *j, const struct bound *b)
{
    json_key(j, "advice");
    json_begin(j, '[');
    for (size_t i = 0; i < b->n_advice; i++)
        analysis_advice(j, b->advice[i].constraint, b->advice[i].upper);
    json_end(j, ']');
}

void analysis_parts(struct json *j, const struct count *q)
{
    json_key(j, "parts");
    json_begin(j, '[');
    for (size_t i = 0; i < q->bound.n_parts; i++) {
        const struct tree_part *p = &q->bound.parts[i];
        json_begin(j, '{');
        json_key(j, "sign");
        json_cstr(j, p->gain ? "+" : "-");
        json_key(j, "path");
        json_str(j, cq_text(&q->p->arena, p->path));
        json_key(j, "own");
        json_begin(j, '[');
        ASET_EACH (a, p->own)
            json_i64(j, a);
        json_end(j, ']');
        json_end(j, '}');
    }
    json_end(j, ']');
}

void analysis_json(struct json *j, struct count *q)
{
    const struct bound *b = &q->bound;
    json_key(j, "query");
    json_str(j, prepare_count_text(q));
    json_key(j, "simplified");
    json_str(j, cq_text(&q->p->arena, q->normal));
    const struct {
        const char *key;
        bool v;
    } flags[] = {
        {"satisfiable", b->satisfiable},
        {"connected", b->connected},
        {"acyclic", b->acyclic},
        {"full", b->full},
    };
    for (size_t i = 0; i < 4; i++) {
        json_key(j, flags[i].key);
        json_bool(j, flags[i].v);
    }
    json_key(j, "free_variables");
    json_i64(j, b->n_free);
    json_key(j, "neighbours");
    json_str(j, prepare_neighbours_text(q));
    if (q->p->schema.has_entities) {
        report_entity_json(j, q);
        return; /* the rest is about rows */
    }
    json_sensitivity(j, b);
    if (q->tree)
        analysis_parts(j, q);
    json_key(j, "monotone");
    json_bool(j, b->monotone);
    json_relations(j, q);
    json_witness(j, q);
    json_advice(j, b);
    json_key(j, "explanation");
    json_str(j, b->explanation);
}

/* --- text ----------------------------------------------------------------- */

static void text_bound(struct sb *b, u128 v)
{
    if (v == U128_INF)
        sb_cstr(b, "without limit");
    else
        sb_u128(b, v);
}

static void text_row(struct sb *b, const struct count *q,
                     const struct witness_row *r)
{
    sb_str(b, table_name(q, r->table));
    sb_char(b, '(');
    for (size_t i = 0; i < r->n_vals; i++) {
        sb_cstr(b, i ? ", " : "");
        sb_str(b, r->vals[i].p ? r->vals[i] : STR("NULL"));
    }
    sb_char(b, ')');
}

enum { SHOW_ROWS = 12 };

static void text_witness(struct sb *b, const struct count *q)
{
    const struct witness *w = &q->bound.witness;
    if (!q->bound.has_witness)
        return;
    sb_cstr(b, w->family ? "witness      one of a family that grows: with "
                         : "witness      with ");
    for (size_t i = 0; i < w->n_rows && i < SHOW_ROWS; i++) {
        sb_cstr(b, i ? ", " : "");
        text_row(b, q, &w->rows[i]);
    }
    if (w->n_rows > SHOW_ROWS)
        sb_printf(b, " and %zu more rows", w->n_rows - SHOW_ROWS);
    if (!w->n_rows)
        sb_cstr(b, "no rows");
    if (w->replaces) {
        sb_cstr(b, " and ");
        text_row(b, q, &w->replaced);
    }
    sb_cstr(b, " the count is ");
    sb_u128(b, w->before);
    sb_cstr(b, w->replaces ? "; with " : "; after inserting ");
    text_row(b, q, &w->insert);
    sb_cstr(b, w->replaces ? " in place of the latter it is " : " it is ");
    sb_u128(b, w->after);
    sb_char(b, '\n');
}

/* "a; b" as the options one would type. */
static void text_constraints(struct sb *b, struct str s)
{
    while (s.n) {
        const char *semicolon = memchr(s.p, ';', s.n);
        struct str one = {s.p, semicolon ? (size_t)(semicolon - s.p) : s.n};
        sb_printf(b, "--constraint '%.*s'", PSTR(str_trim(one)));
        size_t used = one.n + (semicolon ? 1 : 0);
        s = (struct str){s.p + used, s.n - used};
        if (s.n)
            sb_cstr(b, " ");
    }
}

void analysis_text(struct sb *b, struct count *q)
{
    const struct bound *x = &q->bound;
    sb_printf(b, "query        %.*s\n", PSTR(prepare_count_text(q)));
    sb_printf(b, "simplified   %.*s\n", PSTR(cq_text(&q->p->arena, q->normal)));
    sb_printf(b, "shape        %s, %s, %s\n",
              x->connected ? "connected" : "not connected",
              x->acyclic ? "acyclic" : "cyclic",
              x->satisfiable ? "satisfiable" : "never has an answer");
    if (q->p->schema.has_entities) {
        report_entity_text(b, q);
        return; /* the rest is about rows */
    }
    if (x->upper == U128_INF) {
        sb_cstr(b, "sensitivity  one change can change the count without "
                   "limit");
    } else {
        sb_cstr(b, "sensitivity  one change changes the count by at most ");
        sb_u128(b, x->upper);
    }
    if (x->exact && x->upper != U128_INF) {
        sb_cstr(b, ", and some change does");
    } else if (!x->exact && x->lower == 0) {
        sb_cstr(b, ", as far as is known; no example was found");
    } else if (!x->exact) {
        sb_cstr(b, x->upper == U128_INF ? ", as far as is known; some change "
                                          "by "
                                        : "; some change by ");
        text_bound(b, x->lower);
    }
    sb_printf(b, "\n             (a change: %.*s)\n",
              PSTR(prepare_neighbours_text(q)));
    text_witness(b, q);
    for (size_t i = 0; i < x->n_advice; i++) {
        sb_cstr(b, "advice       ");
        text_constraints(b, x->advice[i].constraint);
        sb_printf(b, " would bound it by %.*s\n", PSTR(x->advice[i].upper));
    }
    if (x->explanation.n)
        sb_printf(b, "why\n%.*s\n", PSTR(x->explanation));
}

/* --- commands ------------------------------------------------------------- */

static enum status analyze(struct prepared *p, struct str query,
                           struct result *out, struct err *err)
{
    struct counts_out w;
    TRY(prepare_schema(p, SOURCE_OPTIONAL, err));
    TRY(prepare_query(p, query, err));
    TRY(prepare_bounds(p, true, err));
    counts_begin(&w, p->n_counts, out);
    for (size_t i = 0; i < p->n_counts; i++) {
        counts_next(&w, p->counts[i].label);
        analysis_json(&w.json, &p->counts[i]);
        if (p->session->opt.dot)
            cq_dot(w.text, p->counts[i].normal);
        else
            analysis_text(w.text, &p->counts[i]);
    }
    counts_end(&w);
    return OK;
}

enum status ask_analyze(struct session *s, struct str query, struct result *out,
                        struct err *err)
{
    struct prepared p;
    prepared_init(&p, s);
    enum status st = analyze(&p, query, out, err);
    prepared_fini(&p);
    return st;
}

static enum status quote(struct prepared *p, struct str query,
                         struct result *out, struct err *err)
{
    struct priced *counts;
    TRY(prepare_schema(p, SOURCE_OPTIONAL, err));
    TRY(prepare_query(p, query, err));
    TRY(prepare_bounds(p, false, err));
    const struct strict_limits none = {{0}, {0}, {0}};
    enum status s = choose_all(p, &counts, err);
    if (s == OK)
        s = strict_admit(p, counts, &none, err);
    for (size_t i = 0; s == OK && i < p->n_counts; i++)
        if (!counts[i].keys.known && counts[i].choice.kind == CHOICE_SMOOTH) {
            s = err_set(err, E_USAGE,
                        "the price depends on the number of groups");
            err_hint(err, "Name the keys with --groups, or the source of the "
                          "public table that has them with --db.");
        }
    if (s == OK)
        report_quote(p, counts, out);
    priced_fini(p, counts);
    return s;
}

enum status ask_quote(struct session *s, struct str query, struct result *out,
                      struct err *err)
{
    struct prepared p;
    prepared_init(&p, s);
    enum status st = quote(&p, query, out, err);
    prepared_fini(&p);
    return st;
}
