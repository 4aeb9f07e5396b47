/*
 * Releases and quotes as JSON (a contract) and as text (for people).
 * PRIVACY: these functions get public facts and the answer, no secrets.
 */
#include <math.h>
#include <string.h>

#include "num/mpz_text.h"
#include "release/answer.h"
#include "release/answer_table.h"
#include "release/counts.h"
#include "release/release.h"

void text_rat(struct sb *b, mpq_srcptr v, bool up)
{
    struct sb t;
    sb_init(&t, b->arena);
    rat_print(&t, v);
    if (t.n > 20 || (t.n && memchr(t.p, '/', t.n))) {
        sb_init(&t, b->arena);
        rat_print_decimal(&t, v, 9, up);
    }
    b->failed |= t.failed;
    sb_str(b, sb_view(&t));
}

void json_rat(struct json *j, mpq_srcptr v, bool up)
{
    struct sb t;
    sb_init(&t, j->out->arena);
    text_rat(&t, v, up);
    j->out->failed |= t.failed;
    json_raw(j, sb_view(&t));
}

static void json_value(struct json *j, const struct value *v)
{
    struct sb t;
    if (v->type == T_INT && !v->is_null) {
        json_i64(j, v->i);
        return;
    }
    if (v->is_null) {
        json_null(j);
        return;
    }
    if (v->type == T_BOOL) {
        json_bool(j, v->i != 0);
        return;
    }
    sb_init(&t, j->out->arena);
    value_plain(&t, v);
    j->out->failed |= t.failed;
    json_str(j, sb_view(&t));
}

void json_key_values(struct json *j, const struct value *vals, size_t n)
{
    json_begin(j, '[');
    for (size_t i = 0; i < n; i++)
        json_value(j, &vals[i]);
    json_end(j, ']');
}

static const char *calibration(const struct choice *c)
{
    static const char *const names[] = {[CHOICE_EXACT] = "none",
                                        [CHOICE_GLOBAL] = "global",
                                        [CHOICE_SMOOTH] = "residual",
                                        [CHOICE_THRESHOLD] = "global",
                                        [CHOICE_ENTITY] = "threshold"};
    return names[c->kind];
}

/* --- what quote and release share ----------------------------------------- */

static void json_mpz(struct json *j, mpz_srcptr v)
{
    struct str text = mpz_text(j->out->arena, v);
    j->out->failed |= !text.p;
    json_raw(j, text.p ? text : STR("null"));
}

static void json_public(struct json *j, struct count *q, const struct choice *c)
{
    json_key(j, "epsilon");
    json_rat(j, c->price.epsilon, true);
    json_key(j, "delta");
    json_rat(j, c->price.delta, true);
    if (mpq_sgn(c->total.rho)) {
        json_key(j, "rho");
        json_rat(j, c->total.rho, true);
    }
    json_key(j, "mechanism");
    json_cstr(j, choice_mechanism(c));
    json_key(j, "calibration");
    json_cstr(j, calibration(c));
    json_key(j, "reason");
    json_str(j, c->reason);
    json_key(j, "neighbours");
    json_str(j, prepare_neighbours_text(c->joint ? c->joint : q));
    json_key(j, "guarantee");
    json_str(j, c->guarantee);
    if (c->clamped_at != U128_INF) {
        json_key(j, "clamped_at");
        json_u128(j, c->clamped_at);
    }
    json_key(j, "query");
    json_str(j, prepare_count_text(q));
    if (q->is_sum) { /* sensitivities are in units of the last digit */
        json_key(j, "scale");
        json_i64(j, q->scale);
    }
    if (c->kind == CHOICE_THRESHOLD) {
        json_key(j, "threshold");
        json_mpz(j, c->threshold);
    }
    if (c->kind != CHOICE_SMOOTH)
        return;
    json_key(j, "beta");
    json_rat(j, c->smooth.beta, false);
    json_key(j, "error_epsilon");
    json_rat(j, c->smooth.error_epsilon, true);
}

static void json_price(struct json *j, const struct price *p)
{
    json_key(j, "price");
    json_rat(j, mpq_sgn(p->rho) ? p->rho : p->epsilon, true);
    json_key(j, "price_delta");
    json_rat(j, p->delta, true);
}

/* What n counts cost together. */
static void total_add(struct price *sum, const struct price *p)
{
    mpq_add(sum->epsilon, sum->epsilon, p->epsilon);
    mpq_add(sum->delta, sum->delta, p->delta);
    mpq_add(sum->rho, sum->rho, p->rho);
}

/* Stored answers among several counts cost nothing: what the ledger took. */
static void json_charged(struct json *j, const struct released *x, size_t n)
{
    struct price sum;
    price_init(&sum);
    for (size_t i = 0; i < n; i++)
        if (!x[i].answer.repeated)
            total_add(&sum, &x[i].c->choice.price);
    json_key(j, "charged");
    json_rat(j, mpq_sgn(sum.rho) ? sum.rho : sum.epsilon, true);
    json_key(j, "charged_delta");
    json_rat(j, sum.delta, true);
    price_fini(&sum);
}

static void total_end(struct counts_out *w, struct price *sum)
{
    json_price(&w->json, sum);
    if (w->several) {
        sb_cstr(w->text, "\nprice in all  ");
        answer_text_price(w->text, sum);
        sb_printf(w->text, " for %zu counts, charged together\n", w->n);
    }
    price_fini(sum);
}

/* --- release -------------------------------------------------------------- */

static size_t group_count(const struct group_keys *k, const struct answer *x)
{
    size_t n = k->found ? x->keys.n : k->n;
    return n < x->numbers.n ? n : x->numbers.n;
}

static void json_groups(struct json *j, const struct released *r)
{
    const struct group_keys *k = &r->c->keys;
    const struct choice *c = &r->c->choice;
    const struct answer *x = &r->answer;
    json_begin(j, '[');
    for (size_t i = 0; i < group_count(k, x); i++) {
        json_begin(j, '{');
        json_key(j, "key");
        if (k->found)
            json_raw(j, x->keys.p[i]);
        else
            json_key_values(j, &k->vals[i * k->n_cols], k->n_cols);
        json_key(j, "answer");
        answer_number_json(j, x->numbers.p[i], r->c->q->scale);
        answer_elected_group(j, c, x, i);
        json_end(j, '}');
    }
    json_end(j, ']');
}

static void json_error(struct json *j, const char *name, const struct answer *x,
                       double unit)
{
    json_key(j, name);
    if (!x->has_error) {
        json_null(j);
        return;
    }
    json_begin(j, '{');
    json_key(j, "p50");
    json_double(j, x->p50 * unit);
    json_key(j, "p95");
    json_double(j, x->p95 * unit);
    json_key(j, "basis");
    json_cstr(j, x->released ? "released" : "public");
    if (x->released) {
        json_key(j, "at_most_p95");
        json_double(j, x->at_most_p95 * unit);
    }
    json_end(j, '}');
}

static void json_budget(struct json *j, const struct budget_view *v)
{
    mpq_t left;
    const struct ledger_balance *x = &v->balance;
    json_key(j, "budget");
    if (!v->known) {
        json_null(j);
        return;
    }
    mpq_init(left);
    json_begin(j, '{');
    json_key(j, "spent");
    json_rat(j, x->epsilon_spent, true);
    json_key(j, "remaining");
    mpq_sub(left, x->epsilon_total, x->epsilon_spent);
    json_rat(j, left, false);
    json_key(j, "delta_spent");
    json_rat(j, x->delta_spent, true);
    json_key(j, "delta_remaining");
    mpq_sub(left, x->delta_total, x->delta_spent);
    json_rat(j, left, false);
    json_end(j, '}');
    mpq_clear(left);
}

static void json_text_or_null(struct json *j, struct str s)
{
    if (s.n)
        json_str(j, s);
    else
        json_null(j);
}

static void json_head(struct json *j, const struct ledger_head *h)
{
    if (!h->n) {
        json_null(j);
        return;
    }
    json_begin(j, '{');
    json_key(j, "n");
    json_u128(j, h->n);
    json_key(j, "hash");
    json_cstr(j, h->hash);
    json_end(j, '}');
}

static void release_json(struct json *j, const struct released *r,
                         const struct budget_view *v)
{
    const struct group_keys *k = &r->c->keys;
    const struct answer *x = &r->answer;
    if (k->n_cols) {
        json_key(j, "groups");
        json_groups(j, r);
        if (k->found) {
            json_key(j, "keys_cut");
            json_bool(j, x->keys_cut);
        }
    } else {
        json_key(j, "answer");
        answer_number_json(j, x->numbers.p[0], r->c->q->scale);
    }
    json_public(j, r->c->q, &r->c->choice);
    answer_elected_json(j, &r->c->choice, x);
    json_error(j, "error", x, answer_unit(r->c->q));
    json_error(j, "expected_error", x, answer_unit(r->c->q));
    json_budget(j, v);
    json_key(j, "receipt");
    json_text_or_null(j, x->receipt);
    json_key(j, "repeated");
    json_bool(j, x->repeated);
    json_key(j, "as_of");
    json_text_or_null(j, x->as_of);
    json_key(j, "version");
    json_str(j, r->request.version);
    json_key(j, "head");
    json_head(j, &v->head);
    json_key(j, "isolation");
    json_text_or_null(j, v->isolation ? str_of(v->isolation) : STR(""));
}

/* What is public about a count, unless it was said of the one before. */
static void text_public_once(struct sb *b, const struct count *q,
                             const struct choice *c, struct str *last)
{
    struct sb now;
    sb_init(&now, b->arena);
    answer_text_public(&now, q, c);
    b->failed |= now.failed;
    if (!str_eq(sb_view(&now), *last))
        sb_str(b, sb_view(&now));
    *last = sb_view(&now);
}

/* v: NULL where the budget is told of all counts together. */
static void release_text(struct sb *b, const struct released *r,
                         const struct budget_view *v, struct str *last)
{
    const struct choice *c = &r->c->choice;
    const struct answer *x = &r->answer;
    answer_text_error(b, r->c->q, c, x);
    answer_elected_text(b, c, x);
    text_public_once(b, r->c->q, c, last);
    if (v)
        answer_text_budget(b, v);
    if (x->repeated)
        sb_cstr(b, "note        asked before: this is the stored answer, for "
                   "free (--fresh pays for a new one)\n");
    if (x->receipt.n)
        sb_printf(b, "receipt     %.*s\n", PSTR(x->receipt));
}

static void keep_answers(const struct released *x, size_t n,
                         const struct answer_table *t, struct result *out)
{
    out->repeated = n > 0;
    for (size_t i = 0; i < n; i++) {
        result_add_guarantee(out, x[i].c->choice.guarantee);
        result_add_receipt(out, x[i].answer.receipt);
        out->repeated &= x[i].answer.repeated;
    }
    result_set_table(out, t);
}

enum status release_key_values(const struct released *r,
                               const struct value **out, struct err *err)
{
    struct arena *a = &r->c->q->p->arena;
    size_t n = r->c->keys.n_cols;
    struct value *vals = NEWS(a, struct value, r->answer.keys.n * n + 1);
    enum type *types = NEWS(a, enum type, n + 1);
    if (!vals || !types)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        types[i] = group_key_type(r->c->q, (uint32_t)i);
    for (size_t i = 0; i < r->answer.keys.n; i++)
        TRY(answer_key_values(a, r->answer.keys.p[i], types, n, vals + i * n,
                              err));
    *out = vals;
    return OK;
}

static enum status make_table(struct prepared *p, const struct released *x,
                              struct answer_table *out, struct err *err)
{
    struct table_count *t = NEWS(&p->arena, struct table_count, p->n_counts);
    if (!t)
        return err_nomem(err);
    for (size_t i = 0; i < p->n_counts; i++) {
        const struct group_keys *k = &x[i].c->keys;
        const struct answer *y = &x[i].answer;
        t[i] =
            (struct table_count){k->vals,
                                 y->numbers.p,
                                 k->n_cols ? group_count(k, y) : 1,
                                 y->has_error && isfinite(y->p95) ? y->p95 : -1,
                                 false,
                                 x[i].c->q->scale,
                                 x[i].c->q->average};
        if (k->found)
            TRY(release_key_values(&x[i], &t[i].keys, err));
    }
    return answer_table_make(&p->arena, &p->after, x[0].c->keys.n_cols, t,
                             p->n_counts, out, err);
}

static void text_answer(struct prepared *p, const struct released *x,
                        const struct answer_table *t, struct sb *b)
{
    if (answer_table_plain(&p->after, t->n_keys, p->n_counts)) {
        struct str one =
            answer_decimal(b->arena, x->answer.numbers.p[0], x->c->q->scale);
        b->failed |= !one.p;
        sb_cstr(b, "answer      ");
        text_grouped(b, one);
        sb_char(b, '\n');
        return;
    }
    answer_table_text(b, t);
    if (x->c->keys.found && !t->n_rows)
        sb_cstr(b, "(no key reached the threshold)\n");
    if (x->answer.keys_cut)
        sb_printf(b, "(the first %d keys, texts up to %d bytes)\n",
                  MAX_FOUND_KEYS, MAX_KEY_TEXT);
    sb_char(b, '\n');
}

enum status report_release(struct prepared *p, const struct released *x,
                           const struct budget_view *budget, struct result *out,
                           struct err *err)
{
    struct counts_out w;
    struct price sum;
    struct answer_table t;
    struct str said = {0};
    TRY(make_table(p, x, &t, err));
    price_init(&sum);
    text_answer(p, x, &t, &out->text);
    counts_begin(&w, p->n_counts, out);
    for (size_t i = 0; i < p->n_counts; i++) {
        counts_next(&w, p->counts[i].label);
        release_json(&w.json, &x[i], budget);
        release_text(w.text, &x[i], w.several ? NULL : budget, &said);
        total_add(&sum, &x[i].c->choice.price);
    }
    counts_list_end(&w);
    answer_average_json(&w.json, p, x, &t);
    answer_columns_json(&w.json, &p->after);
    answer_rows_json(&w.json, &t);
    keep_answers(x, p->n_counts, &t, out);
    result_set_price(out, &sum);
    json_charged(&w.json, x, p->n_counts);
    total_end(&w, &sum);
    if (w.several)
        answer_text_budget(&out->text, budget);
    counts_end(&w);
    return OK;
}

/* Public bounds on the scale of the noise. */
static double least_scale(const struct choice_smooth *s)
{
    return mpq_get_d(s->floor) * mpq_get_d(s->factor);
}

static double most_scale(const struct choice_smooth *s)
{
    return s->most == U128_INF ? INFINITY
                               : (double)s->most * mpq_get_d(s->factor);
}

/* Standard deviation and quantiles of the noise: numbers where the scale is
 * public, multiples of the secret sensitivity where it is not. */
static void quote_error(struct json *j, const struct choice *c, double unit)
{
    const struct {
        const char *fixed, *smooth;
        double v;
    } e[] = {{"std", "std_in_units_of_sensitivity", c->error.std},
             {"p50", "p50_in_units_of_sensitivity", c->error.p50},
             {"p90", "p90_in_units_of_sensitivity", c->error.p90},
             {"p95", "p95_in_units_of_sensitivity", c->error.p95},
             {"p99", "p99_in_units_of_sensitivity", c->error.p99}};
    bool smooth = c->kind == CHOICE_SMOOTH;
    for (size_t i = 0; i < sizeof e / sizeof e[0]; i++) {
        json_key(j, smooth ? e[i].smooth : e[i].fixed);
        json_double(j, smooth   ? e[i].v
                       : i == 0 ? e[i].v * unit
                                : ceil(e[i].v) * unit);
    }
    if (!smooth)
        return;
    json_key(j, "least_sensitivity");
    json_double(j, least_scale(&c->smooth));
    json_key(j, "most_sensitivity");
    json_double(j, most_scale(&c->smooth));
}

/* --- quote ---------------------------------------------------------------- */

static void quote_expected(struct json *j, const char *name,
                           const struct count *q, const struct choice *c)
{
    json_key(j, name);
    if (c->kind == CHOICE_EXACT) {
        json_null(j);
        return;
    }
    if (c->kind == CHOICE_ENTITY) {
        answer_quote_json(j, c);
        return;
    }
    json_begin(j, '{');
    quote_error(j, c, answer_unit(q));
    json_key(j, "basis");
    json_cstr(j, "public");
    json_end(j, '}');
}

static void quote_json(struct json *j, const struct priced *p)
{
    const struct choice *c = &p->choice;
    const struct group_keys *k = &p->keys;
    json_public(j, p->q, c);
    answer_entity_json(j, p->q);
    json_key(j, "groups");
    if (k->n_cols && k->known)
        json_i64(j, (int64_t)k->n);
    else
        json_null(j);
    json_key(j, "global_sensitivity");
    json_bound(j, p->q->p->schema.has_entities ? p->q->entity.upper
                                               : p->q->bound.upper);
    quote_expected(j, "error", p->q, c);
    quote_expected(j, "expected_error", p->q, c);
}

static void quote_text(struct sb *b, const struct count *q,
                       const struct choice *c, const struct group_keys *k,
                       struct str *last)
{
    text_public_once(b, q, c, last);
    if (c->kind == CHOICE_EXACT) {
        sb_cstr(b, "error       none\n");
    } else if (c->kind == CHOICE_ENTITY) {
        answer_quote_text(b, c);
    } else if (c->kind != CHOICE_SMOOTH) {
        sb_cstr(b, "error       half of all answers will lie within ");
        text_number(b, ceil(c->error.p50) * answer_unit(q), (int)q->scale);
        sb_printf(b, " of the %s, 95 %% within ", q->is_sum ? "sum" : "count");
        text_number(b, ceil(c->error.p95) * answer_unit(q), (int)q->scale);
        sb_char(b, '\n');
    } else {
        sb_printf(b,
                  "error       half of all answers will lie within %.3g S, "
                  "95 %% within %.3g S, S the smooth sensitivity:\n"
                  "            secret, and at least %.3g whatever the data",
                  c->error.p50, c->error.p95, least_scale(&c->smooth));
        if (c->smooth.most != U128_INF)
            sb_printf(b, ", at most %.3g", most_scale(&c->smooth));
        sb_char(b, '\n');
        if (mpq_sgn(c->smooth.error_epsilon)) {
            sb_cstr(b, "            epsilon ");
            text_rat(b, c->smooth.error_epsilon, true);
            sb_cstr(b, " of the price buys a private estimate of the error\n");
        }
    }
    if (k->found)
        sb_cstr(b, "groups      as found in the data and not hidden, one price "
                   "for all\n");
    if (k->n_cols && k->known)
        sb_printf(b, "groups      %zu, one price for all%s\n", k->n,
                  c->kind == CHOICE_SMOOTH
                      ? "; the scale of the noise changes for "
                        "all at once, so beta is divided by their "
                        "number"
                      : "");
}

/* What strict mode admits it for, and when the reply will come. */
static void limits_json(struct json *j, const struct prepared *p)
{
    struct str after = p->schema.limits.respond_after;
    json_key(j, "work");
    if (p->steady)
        json_u128(j, p->work);
    else
        json_null(j);
    json_key(j, "respond_after");
    if (after.n && !str_is(after, "none"))
        json_str(j, after);
    else
        json_null(j);
}

void report_quote(struct prepared *p, const struct priced *c,
                  struct result *out)
{
    struct counts_out w;
    struct price sum;
    struct str said = {0};
    price_init(&sum);
    counts_begin(&w, p->n_counts, out);
    for (size_t i = 0; i < p->n_counts; i++) {
        counts_next(&w, p->counts[i].label);
        quote_json(&w.json, &c[i]);
        quote_text(w.text, c[i].q, &c[i].choice, &c[i].keys, &said);
        total_add(&sum, &c[i].choice.price);
        result_add_guarantee(out, c[i].choice.guarantee);
    }
    counts_list_end(&w);
    answer_columns_json(&w.json, &p->after);
    report_wish(&w.json, w.text, p, c);
    result_set_columns(out, &p->after, c[0].keys.n_cols);
    result_set_price(out, &sum);
    limits_json(&w.json, p);
    total_end(&w, &sum);
    sb_cstr(w.text, "No private row was read and nothing was spent.\n");
    counts_end(&w);
}

/* --- errors --------------------------------------------------------------- */

void report_error_json(struct sb *out, const struct err *e)
{
    struct json j;
    json_init(&j, out);
    json_begin(&j, '{');
    json_key(&j, "error");
    json_begin(&j, '{');
    json_key(&j, "code");
    json_cstr(&j, status_code(e->status));
    json_key(&j, "message");
    json_cstr(&j, e->message);
    json_key(&j, "detail");
    json_cstr(&j, e->detail);
    json_key(&j, "hint");
    json_cstr(&j, e->hint);
    json_key(&j, "position");
    if (e->position >= 0)
        json_i64(&j, e->position);
    else
        json_null(&j);
    if (e->file[0]) {
        json_key(&j, "file");
        json_cstr(&j, e->file);
        json_key(&j, "line");
        json_i64(&j, e->line);
        json_key(&j, "column");
        json_i64(&j, e->column);
    }
    json_end(&j, '}');
    json_end(&j, '}');
}
