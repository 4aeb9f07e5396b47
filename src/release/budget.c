/* The commands of the ledger: init, show, history, grant. */
#include "release/answer.h"
#include "release/release.h"

static enum status ledger_path(struct session *s, const char **out,
                               struct err *err)
{
    if (!s->opt.ledger.n) {
        err_set(err, E_USAGE, "no ledger was given");
        err_hint(err, "Name it with --ledger FILE.");
        return E_USAGE;
    }
    *out = s->opt.ledger.p;
    return OK;
}

static enum status open_it(struct session *s, struct ledger **out,
                           struct err *err)
{
    const char *path;
    TRY(ledger_path(s, &path, err));
    return ledger_open(&s->mem, path, out, err);
}

/* --- init ----------------------------------------------------------------- */

static enum status read_composition(struct session *s, enum composition *out,
                                    struct err *err)
{
    struct str c = s->opt.composition;
    *out = str_is(c, "zcdp") ? COMPOSE_ZCDP : COMPOSE_SUM;
    if (c.n && !str_is(c, "zcdp") && !str_is(c, "sum"))
        return err_set(err, E_VALUE,
                       "composition must be sum or zcdp, not \"%.*s\"",
                       PSTR(c));
    return OK;
}

/* Options win; else the budget of the policy file. */
static enum status read_total(struct session *s, struct guarantee *g,
                              struct err *err)
{
    struct prepared p;
    prepared_init(&p, s);
    enum status st = prepare_budget(&p, err);
    struct str e = s->opt.epsilon.p ? s->opt.epsilon : p.schema.epsilon;
    struct str d = s->opt.delta.p ? s->opt.delta : p.schema.delta;
    if (st == OK)
        st = choose_guarantee(e.n ? e : s->opt.epsilon, d, (struct str){0}, g,
                              err);
    prepared_fini(&p);
    return st;
}

static enum status init(struct session *s, struct guarantee *g,
                        struct result *out, struct err *err)
{
    const char *path;
    enum composition c;
    TRY(ledger_path(s, &path, err));
    TRY(read_composition(s, &c, err));
    TRY(read_total(s, g, err));
    if (c == COMPOSE_ZCDP && !mpq_sgn(g->delta))
        return err_set(err, E_USAGE, "composition zcdp needs --delta");
    TRY(ledger_create(path, c, g->epsilon, g->delta, err));
    struct json j;
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "ledger");
    json_cstr(&j, path);
    json_key(&j, "epsilon");
    json_rat(&j, g->epsilon, false);
    json_key(&j, "delta");
    json_rat(&j, g->delta, false);
    json_key(&j, "composition");
    json_cstr(&j, c == COMPOSE_ZCDP ? "zcdp" : "sum");
    json_end(&j, '}');
    sb_printf(&out->text, "made ledger %s with epsilon ", path);
    text_rat(&out->text, g->epsilon, false);
    sb_cstr(&out->text, " and delta ");
    text_rat(&out->text, g->delta, false);
    sb_cstr(&out->text, "\n");
    return OK;
}

enum status ask_budget_init(struct session *s, struct str query,
                            struct result *out, struct err *err)
{
    struct guarantee g;
    (void)query;
    guarantee_init(&g);
    enum status st = init(s, &g, out, err);
    guarantee_fini(&g);
    return st;
}

/* --- show ----------------------------------------------------------------- */

static void balance_json(struct sb *b, const struct session *s,
                         const struct ledger_balance *x, mpq_srcptr left,
                         mpq_srcptr delta_left)
{
    struct json j;
    json_init(&j, b);
    json_begin(&j, '{');
    json_key(&j, "dataset");
    json_str(&j, s->opt.dataset);
    json_key(&j, "analyst");
    if (x->capped)
        json_str(&j, s->opt.analyst);
    else
        json_null(&j);
    json_key(&j, "composition");
    json_cstr(&j, x->composition == COMPOSE_ZCDP ? "zcdp" : "sum");
    const struct {
        const char *key;
        mpq_srcptr v;
        bool up;
    } rows[] = {
        {"epsilon", x->epsilon_total, false},
        {"spent", x->epsilon_spent, true},
        {"remaining", left, false},
        {"delta", x->delta_total, false},
        {"delta_spent", x->delta_spent, true},
        {"delta_remaining", delta_left, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_key(&j, rows[i].key);
        json_rat(&j, rows[i].v, rows[i].up);
    }
    json_key(&j, "committed");
    json_u128(&j, x->n_committed);
    json_key(&j, "held");
    json_u128(&j, x->n_held);
    json_end(&j, '}');
}

static void balance_text(struct sb *b, const struct ledger_balance *x,
                         mpq_srcptr left, mpq_srcptr delta_left)
{
    const struct {
        const char *name;
        mpq_srcptr total, spent, left;
    } rows[] = {
        {"epsilon", x->epsilon_total, x->epsilon_spent, left},
        {"delta", x->delta_total, x->delta_spent, delta_left},
    };
    for (size_t i = 0; i < 2; i++) {
        sb_printf(b, "%-10sspent ", rows[i].name);
        text_rat(b, rows[i].spent, true);
        sb_cstr(b, " of ");
        text_rat(b, rows[i].total, false);
        sb_cstr(b, ", ");
        text_rat(b, rows[i].left, false);
        sb_cstr(b, " remains\n");
    }
    sb_printf(b, "releases  %llu answered, %llu held without an answer\n",
              (unsigned long long)x->n_committed,
              (unsigned long long)x->n_held);
}

static enum status show(struct session *s, struct ledger *l, struct result *out,
                        struct err *err)
{
    struct ledger_balance x;
    mpq_t left, delta_left;
    TRY(ledger_verify(l, err));
    balance_init(&x);
    mpq_inits(left, delta_left, NULL);
    enum status st = ledger_balance(l, s->opt.dataset, s->opt.analyst, &x, err);
    if (st == OK)
        st = ledger_count(l, s->opt.dataset, s->opt.analyst, &x, err);
    if (st == OK) {
        mpq_sub(left, x.epsilon_total, x.epsilon_spent);
        mpq_sub(delta_left, x.delta_total, x.delta_spent);
        balance_json(&out->json, s, &x, left, delta_left);
        balance_text(&out->text, &x, left, delta_left);
    }
    mpq_clears(left, delta_left, NULL);
    balance_fini(&x);
    return st;
}

enum status ask_budget_show(struct session *s, struct str query,
                            struct result *out, struct err *err)
{
    struct ledger *l = NULL;
    (void)query;
    TRY(open_it(s, &l, err));
    enum status st = show(s, l, out, err);
    ledger_close(l);
    return st;
}

/* --- history -------------------------------------------------------------- */

struct history {
    struct json json;
    struct result *out;
    struct str analyst; /* only of this one; empty: of all */
    size_t n;
};

/* What it gave: a number, or how many. */
static void entry_answer(struct sb *b, const struct ledger_entry *e)
{
    struct answer x = {0};
    struct err ignored;
    err_clear(&ignored);
    if (!e->committed)
        sb_cstr(b, "held without an answer");
    else if (answer_read(b->arena, e->answer, &x, &ignored) != OK)
        sb_cstr(b, "answered");
    else if (x.numbers.n == 1 && !x.keys.n)
        sb_printf(b, "answer %.*s", PSTR(x.numbers.p[0]));
    else
        sb_printf(b, "%zu answers", x.numbers.n);
}

static void entry_text(struct sb *b, const struct ledger_entry *e)
{
    bool rho = !str_is(e->rho, "0");
    sb_printf(b, "%.*s  %s %.*s", PSTR(e->held_at), rho ? "rho" : "epsilon",
              PSTR(rho ? e->rho : e->epsilon));
    if (!rho && !str_is(e->delta, "0"))
        sb_printf(b, ", delta %.*s", PSTR(e->delta));
    sb_cstr(b, "  ");
    entry_answer(b, e);
    if (e->dataset.n)
        sb_printf(b, "  dataset %.*s", PSTR(e->dataset));
    if (e->analyst.n)
        sb_printf(b, "  by %.*s", PSTR(e->analyst));
    sb_printf(b, "  %.*s  %.*s\n", PSTR(e->receipt), PSTR(e->query));
}

static enum status add_entry(void *ctx, const struct ledger_entry *e,
                             struct err *err)
{
    struct history *h = ctx;
    struct json *j = &h->json;
    if (h->analyst.n && !str_eq(h->analyst, e->analyst))
        return OK;
    const struct {
        const char *key;
        struct str v;
    } texts[] = {
        {"receipt", e->receipt},     {"dataset", e->dataset},
        {"analyst", e->analyst},     {"query", e->query},
        {"mechanism", e->mechanism}, {"epsilon", e->epsilon},
        {"delta", e->delta},         {"rho", e->rho},
        {"held_at", e->held_at},     {"committed_at", e->committed_at},
    };
    json_begin(j, '{');
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_key(j, texts[i].key);
        json_str(j, texts[i].v);
    }
    json_key(j, "state");
    json_cstr(j, e->committed ? "committed" : "held");
    json_key(j, "answer");
    if (e->answer.n)
        json_raw(j, e->answer);
    else
        json_null(j);
    json_end(j, '}');
    entry_text(&h->out->text, e);
    h->n++;
    return h->out->json.failed || h->out->text.failed ? err_nomem(err) : OK;
}

enum status ask_budget_history(struct session *s, struct str query,
                               struct result *out, struct err *err)
{
    struct ledger *l = NULL;
    struct history h = {.out = out, .analyst = s->opt.analyst};
    (void)query;
    TRY(open_it(s, &l, err));
    json_init(&h.json, &out->json);
    json_begin(&h.json, '{');
    json_key(&h.json, "history");
    json_begin(&h.json, '[');
    enum status st = ledger_history(l, s->opt.dataset, add_entry, &h, err);
    json_end(&h.json, ']');
    json_end(&h.json, '}');
    if (!h.n)
        sb_cstr(&out->text, "nothing was spent yet\n");
    ledger_close(l);
    return st;
}

/* --- grant ---------------------------------------------------------------- */

enum status ask_budget_grant(struct session *s, struct str query,
                             struct result *out, struct err *err)
{
    struct guarantee g;
    struct ledger *l = NULL;
    (void)query;
    guarantee_init(&g);
    enum status st = choose_guarantee(s->opt.epsilon, s->opt.delta,
                                      (struct str){0}, &g, err);
    if (st == OK)
        st = open_it(s, &l, err);
    if (st == OK)
        st = ledger_grant(l, s->opt.dataset, s->opt.analyst, g.epsilon, g.delta,
                          err);
    if (st == OK)
        st = show(s, l, out, err);
    ledger_close(l);
    guarantee_fini(&g);
    return st;
}
