/* What the ledger tells of a budget. Reads only. */
#include "release/budget.h"
#include "release/release.h"

/* --- show ----------------------------------------------------------------- */

/* PRIVACY: why a release failed may depend on rows beyond the bits that are
 * booked; only the owner is told (--owner). */
static void state_json(struct json *j, const struct ledger_state *x, bool owner)
{
    json_key(j, "locked");
    json_bool(j, x->locked != 0);
    if (x->locked && owner) {
        json_key(j, "reason");
        json_str(j, x->reason);
    }
    json_key(j, "unlocks");
    json_u128(j, x->unlocks);
    json_key(j, "unnoised_bits");
    json_raw(j, x->unnoised_bits);
    json_key(j, "least_price");
    json_str(j, x->least_price);
    json_key(j, "version");
    json_str(j, x->version);
    json_key(j, "open");
    json_bool(j, x->open);
    json_key(j, "policy");
    if (x->policy.n)
        json_str(j, x->policy);
    else
        json_null(j);
    json_key(j, "head");
    json_begin(j, '{');
    json_key(j, "n");
    json_u128(j, x->head.n);
    json_key(j, "hash");
    json_cstr(j, x->head.hash);
    json_end(j, '}');
}

static void state_text(struct sb *b, const struct ledger_state *x, bool owner)
{
    if (x->locked)
        sb_printf(b, "locked    by release %llu%s%.*s\n",
                  (unsigned long long)x->locked, owner ? ": " : "",
                  PSTR(owner ? x->reason : STR("")));
    sb_printf(b,
              "bits      at most %.*s can have shown without noise, "
              "%llu unlocks\n",
              PSTR(x->unnoised_bits), (unsigned long long)x->unlocks);
    sb_printf(b, "price     at least %.*s for a count\n", PSTR(x->least_price));
    sb_printf(b, "version   %.*s\n", PSTR(x->version));
    sb_printf(b, "head      %llu:%s\n", (unsigned long long)x->head.n,
              x->head.hash);
}

static void balance_json(struct sb *b, const struct session *s,
                         const struct ledger_balance *x, mpq_srcptr left,
                         mpq_srcptr delta_left, const struct ledger_state *st)
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
    state_json(&j, st, s->opt.owner);
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

/* The numbers and, for the owner or whoever has no cap, the state. */
static enum status read_balance(struct session *s, struct ledger *l,
                                struct ledger_balance *x,
                                struct ledger_state *state, struct arena *a,
                                struct err *err)
{
    /* all events are read for it: not for every question of a service */
    if (s->steward <= 0)
        TRY(ledger_verify(l, err));
    TRY(ledger_balance(l, s->opt.dataset, s->opt.analyst, x, err));
    TRY(ledger_count(l, s->opt.dataset, s->opt.analyst, x, err));
    return ledger_state(l, a, s->opt.dataset, state, err);
}

enum status budget_balance(struct session *s, struct ledger *l,
                           struct result *out, struct err *err)
{
    struct ledger_balance x;
    struct ledger_state state;
    mpq_t left, delta_left;
    balance_init(&x);
    mpq_inits(left, delta_left, NULL);
    enum status st = read_balance(s, l, &x, &state, &out->arena, err);
    if (st == OK) {
        mpq_sub(left, x.epsilon_total, x.epsilon_spent);
        mpq_sub(delta_left, x.delta_total, x.delta_spent);
        balance_json(&out->json, s, &x, left, delta_left, &state);
        balance_text(&out->text, &x, left, delta_left);
        state_text(&out->text, &state, s->opt.owner);
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
    TRY(budget_open(s, true, &l, err));
    enum status st = budget_balance(s, l, out, err);
    ledger_close(l);
    return st;
}
