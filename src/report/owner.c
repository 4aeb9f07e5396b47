/*
 * The owner's commands: count, sensitivity, check. OWNER: they print private
 * numbers; the program says so on standard error every time.
 */
#include <string.h>

#include "base/open_count.h"
#include "report/analysis.h"
#include "release/answer.h"
#include "release/answer_table.h"
#include "release/counts.h"
#include "release/evaluate.h"
#include "release/group_keys.h"
#include "report/report.h"

/* --- count ---------------------------------------------------------------- */

static void json_groups(const struct group_keys *k, const struct str *numbers,
                        uint32_t scale, struct json *j)
{
    json_key(j, "groups");
    json_begin(j, '[');
    for (size_t i = 0; i < k->n; i++) {
        json_begin(j, '{');
        json_key(j, "key");
        json_key_values(j, &k->vals[i * k->n_cols], k->n_cols);
        json_key(j, "count");
        answer_number_json(j, numbers[i], scale);
        json_end(j, '}');
    }
    json_end(j, ']');
}

/* Numbers as texts, for the table of the whole. */
static enum status number_texts(struct arena *a,
                                const struct secret_count *counts, size_t n,
                                bool is_signed, struct table_count *out,
                                struct err *err)
{
    struct str *texts = NEWS(a, struct str, n + 1);
    if (!texts)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        texts[i] = answer_units(a, secret_count_open(&counts[i]), is_signed);
        if (!texts[i].p)
            return err_nomem(err);
    }
    out->numbers = texts;
    out->n = n;
    out->p95 = -1;
    return OK;
}

/* The counts of all keys: those declared, or all that occur. */
static enum status group_counts(struct count *q, struct evaluated *data,
                                const struct engine *e, struct group_keys *k,
                                struct secret_count **out, struct err *err)
{
    struct arena *a = &q->p->arena;
    struct found_keys found = {0};
    if (k->found) {
        TRY(evaluate_found(q, data, k, a, &found, err));
        k->n = found.list.n;
        k->vals = NEWS(a, struct value, k->n * k->n_cols + 1);
    }
    *out = NEWS(a, struct secret_count, k->n + 1);
    if (!*out || (k->found && !k->vals))
        return err_nomem(err);
    if (!k->found)
        return evaluate_counts(q, data, e, k, *out, err);
    for (size_t i = 0; i < k->n; i++) {
        memcpy(k->vals + i * k->n_cols, found.list.p[i].vals,
               k->n_cols * sizeof *k->vals);
        (*out)[i] = found.list.p[i].count;
    }
    return OK;
}

/* Says so if a number is what counts are clamped at. */
static void tell_clamped(const struct secret_count *counts, size_t n,
                         bool found, bool is_signed, struct json *j,
                         struct table_count *out)
{
    u128 most = count_limit(found ? 1 : n, is_signed);
    for (size_t i = 0; i < n && !out->clamped; i++) {
        u128 v = secret_count_open(&counts[i]);
        out->clamped = (is_signed && v >> 127 ? -v : v) >= most;
    }
    if (!out->clamped)
        return;
    json_key(j, "clamped_at");
    json_u128(j, most);
}

static enum status count_it(struct count *q, struct evaluated *data,
                            const struct engine *e, struct group_keys *k,
                            struct json *j, struct table_count *out,
                            struct err *err)
{
    struct secret_count total, *counts = &total;
    struct arena *a = &q->p->arena;
    if (k->n_cols)
        TRY(group_counts(q, data, e, k, &counts, err));
    else
        TRY(evaluate_counts(q, data, e, k, &total, err));
    bool is_signed = tree_is_signed(q->tree);
    TRY(number_texts(a, counts, k->n_cols ? k->n : 1, is_signed, out, err));
    out->keys = k->vals;
    out->scale = q->scale;
    out->average = q->average;
    if (k->n_cols) {
        json_groups(k, out->numbers, q->scale, j);
    } else {
        json_key(j, "count");
        answer_number_json(j, out->numbers[0], q->scale);
    }
    tell_clamped(counts, k->n_cols ? k->n : 1, k->found, is_signed, j, out);
    json_key(j, "engine");
    json_cstr(j, evaluated_engine(data));
    json_key(j, "query");
    json_str(j, prepare_count_text(q));
    return OK;
}

static enum status count_one(struct count *q, struct evaluated *data,
                             struct group_keys *k, struct json *j,
                             struct table_count *out, struct err *err)
{
    struct engine e;
    TRY(evaluate_open(q->p, data, q->query, &e, err));
    enum status s = count_it(q, data, &e, k, j, out, err);
    engine_close(&e);
    return s;
}

static void report_table(struct prepared *p, const struct answer_table *t,
                         const struct table_count *first, struct json *j,
                         struct sb *text)
{
    answer_columns_json(j, &p->after);
    answer_rows_json(j, t);
    struct str one =
        answer_decimal(text->arena, first->numbers[0], first->scale);
    if (answer_table_plain(&p->after, t->n_keys, p->n_counts))
        sb_printf(text, "%.*s\n", PSTR(one));
    else
        answer_table_text(text, t);
}

static enum status count_all(struct prepared *p, struct evaluated *data,
                             struct group_keys *keys, struct result *out,
                             struct err *err)
{
    struct counts_out w;
    struct answer_table t;
    struct sb quiet; /* the table says it all */
    struct table_count *c = NEWS(&p->arena, struct table_count, p->n_counts);
    if (!c)
        return err_nomem(err);
    sb_init(&quiet, &p->arena);
    counts_begin(&w, p->n_counts, out);
    w.text = &quiet;
    for (size_t i = 0; i < p->n_counts; i++) {
        counts_next(&w, p->counts[i].label);
        TRY(count_one(&p->counts[i], data, &keys[i], &w.json, &c[i], err));
    }
    counts_list_end(&w);
    TRY(answer_table_make(&p->arena, &p->after, keys[0].n_cols, c, p->n_counts,
                          &t, err));
    report_table(p, &t, c, &w.json, &out->text);
    for (size_t i = 0; i < p->n_counts; i++)
        if (c[i].clamped) {
            sb_cstr(&out->text, "That is where counts are clamped: there are "
                                "as many or more.\n");
            break;
        }
    counts_end(&w);
    return OK;
}

static enum status count(struct prepared *p, struct str query,
                         struct evaluated *data, struct result *out,
                         struct err *err)
{
    p->owner_view = true;
    TRY(prepare_schema(p, SOURCE_REQUIRED, err));
    TRY(prepare_query(p, query, err));
    p->owner_counts = true;
    struct group_keys *keys = NEWS(&p->arena, struct group_keys, p->n_counts);
    if (!keys)
        return err_nomem(err);
    for (size_t i = 0; i < p->n_counts; i++)
        TRY(group_keys(&p->counts[i], &keys[i], err));
    TRY(evaluate_load(p, data, err));
    return count_all(p, data, keys, out, err);
}

enum status ask_count(struct session *s, struct str query, struct result *out,
                      struct err *err)
{
    struct prepared p;
    struct evaluated data = {0};
    prepared_init(&p, s);
    enum status st = count(&p, query, &data, out, err);
    evaluated_fini(&data);
    prepared_fini(&p);
    return st;
}

/* --- sensitivity ---------------------------------------------------------- */

static enum status sensitivity(struct prepared *p, struct str query,
                               struct evaluated *data, struct result *out,
                               struct err *err)
{
    struct counts_out w;
    p->owner_view = true;
    TRY(prepare_schema(p, SOURCE_REQUIRED, err));
    TRY(prepare_query(p, query, err));
    TRY(prepare_bounds(p, false, err));
    TRY(evaluate_load(p, data, err));
    TRY(evaluate_valid(p, data, err));
    counts_begin(&w, p->n_counts, out);
    for (size_t i = 0; i < p->n_counts; i++) {
        counts_next(&w, p->counts[i].label);
        TRY(sensitivity_report(&p->counts[i], data, &w.json, w.text, err));
    }
    counts_end(&w);
    return OK;
}

enum status ask_sensitivity(struct session *s, struct str query,
                            struct result *out, struct err *err)
{
    struct prepared p;
    struct evaluated data = {0};
    prepared_init(&p, s);
    enum status st = sensitivity(&p, query, &data, out, err);
    evaluated_fini(&data);
    prepared_fini(&p);
    return st;
}

/* --- check ---------------------------------------------------------------- */

static void report_violation(const struct prepared *p,
                             const struct violation *v, struct json *j,
                             struct sb *text)
{
    struct sb d, x;
    sb_init(&d, text->arena);
    sb_init(&x, text->arena);
    degree_print(&d, &p->schema.tables.p[v->table], v->degree);
    for (size_t i = 0; i < v->degree->n_x; i++) {
        sb_cstr(&x, i ? ", " : "");
        value_print(&x, &v->x[i]);
    }
    json_begin(j, '{');
    json_key(j, "constraint");
    json_str(j, sb_view(&d));
    json_key(j, "value");
    json_str(j, sb_view(&x));
    json_key(j, "found");
    json_u128(j, v->found);
    json_key(j, "rows");
    json_begin(j, '[');
    json_u128(j, v->row);
    json_u128(j, v->other);
    json_end(j, ']');
    json_end(j, '}');
    sb_printf(text, "does not hold: %.*s\n  %.*s%soccurs with ",
              PSTR(sb_view(&d)), PSTR(sb_view(&x)), x.n ? " " : "it ");
    sb_u128(text, v->found);
    sb_printf(text, " (rows %zu and %zu, for example)\n", v->row, v->other);
}

/* What the cell rule did: cells that are NULL because they are not of their
 * type, NULLs where none may be, rows that do not exist for either. */
static void report_column(const struct column *c, const struct table *t,
                          const struct store_odd *odd, struct json *j,
                          struct sb *text)
{
    json_begin(j, '{');
    json_key(j, "table");
    json_str(j, t->name);
    json_key(j, "column");
    json_str(j, c->name);
    json_key(j, "cells");
    json_u128(j, odd->n_converted);
    json_key(j, "missing");
    json_u128(j, odd->n_missing);
    json_key(j, "first_row");
    json_u128(j, odd->first);
    json_end(j, '}');
    if (odd->n_converted)
        sb_printf(
            text,
            odd->n_converted == 1
                ? "%.*s.%.*s: %zu cell is not of type %s and counts as NULL"
                : "%.*s.%.*s: %zu cells are not of type %s and count as NULL",
            PSTR(t->name), PSTR(c->name), odd->n_converted, type_name(c->type));
    else
        sb_printf(text, "%.*s.%.*s: %zu NULL%s in a NOT NULL column",
                  PSTR(t->name), PSTR(c->name), odd->n_missing,
                  odd->n_missing == 1 ? "" : "s");
    sb_printf(text, " (row %zu is the first)\n", odd->first);
}

static void report_cells(const struct prepared *p, const struct store *st,
                         struct json *j, struct sb *text)
{
    size_t dropped = 0;
    json_key(j, "converted");
    json_begin(j, '[');
    for (size_t t = 0; t < st->n_tables; t++) {
        const struct table *def = &p->schema.tables.p[t];
        for (size_t c = 0; c < st->tables[t].n_cols; c++)
            if (st->tables[t].cols[c].odd.first)
                report_column(&def->cols[c], def, &st->tables[t].cols[c].odd, j,
                              text);
        if (st->tables[t].n_dropped)
            sb_printf(text, "%.*s: %zu rows do not exist for dpcount\n",
                      PSTR(def->name), st->tables[t].n_dropped);
        dropped += st->tables[t].n_dropped;
    }
    json_end(j, ']');
    json_key(j, "rows_left_out");
    json_u128(j, dropped);
}

static enum status check(struct prepared *p, struct evaluated *e,
                         struct result *out, struct err *err)
{
    struct violations v = {0};
    struct json j;
    p->keep_all = p->owner_view = p->declared_only = true;
    TRY(prepare_schema(p, SOURCE_REQUIRED, err));
    TRY(store_new(&p->session->mem, &p->schema, &e->store, err));
    TRY(source_load(p->source, NULL, e->store, NULL, err));
    TRY(evaluate_constraints(p, e->store, &v, err));
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "holds");
    json_bool(&j, v.list.n == 0);
    json_key(&j, "checked");
    json_u128(&j, v.n_checked);
    json_key(&j, "violations");
    json_begin(&j, '[');
    for (size_t i = 0; i < v.list.n; i++)
        report_violation(p, &v.list.p[i], &j, &out->text);
    json_end(&j, ']');
    report_cells(p, e->store, &j, &out->text);
    json_end(&j, '}');
    if (!v.list.n && v.n_checked > 1)
        sb_printf(&out->text, "all %llu declared constraints hold\n",
                  (unsigned long long)v.n_checked);
    else if (!v.list.n)
        sb_cstr(&out->text, v.n_checked ? "the declared constraint holds\n"
                                        : "no constraints are declared\n");
    return v.list.n ? err_set(err, E_CONSTRAINT,
                              "the data break %zu declared constraint%s",
                              v.list.n, v.list.n == 1 ? "" : "s")
                    : OK;
}

enum status ask_check(struct session *s, struct str query, struct result *out,
                      struct err *err)
{
    struct prepared p;
    struct evaluated e = {0};
    (void)query;
    prepared_init(&p, s);
    enum status st = check(&p, &e, out, err);
    evaluated_fini(&e);
    prepared_fini(&p);
    return st;
}
