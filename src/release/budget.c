/* The commands of the ledger that its owner runs: init, grant, bind, unlock,
 * verify, adopt. */
#include "release/budget.h"

#include "release/binding.h"
#include "release/release.h"

static enum status budget_path(struct session *s, const char **out,
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

enum status budget_open(struct session *s, bool read_only, struct ledger **out,
                        struct err *err)
{
    const char *path;
    struct ledger_access access = {.read_only = read_only,
                                   .anchor = s->opt.anchor.p,
                                   .busy = s->steward > 0};
    TRY(budget_path(s, &path, err));
    return ledger_open(&s->mem, path, &access, out, err);
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

/* The catalogue is part of the policy: without the source it is not known
 * whole, and the first release binds what it must. */
static bool binds(const struct options *o)
{
    return o->db.n || o->tables.n;
}

/* Options win; else the budget of the policy file. */
static enum status read_total(struct prepared *p, struct guarantee *g,
                              struct err *err)
{
    const struct options *o = &p->session->opt;
    TRY(binds(o) ? prepare_schema(p, SOURCE_REQUIRED, err)
                 : prepare_budget(p, err));
    struct str e = o->epsilon.p ? o->epsilon : p->schema.epsilon;
    struct str d = o->delta.p ? o->delta : p->schema.delta;
    return choose_guarantee(e.n ? e : o->epsilon, d, (struct str){0}, g, err);
}

static void say_made(const char *path, const struct ledger_spec *spec,
                     struct result *out)
{
    struct json j;
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "ledger");
    json_cstr(&j, path);
    json_key(&j, "epsilon");
    json_rat(&j, spec->epsilon, false);
    json_key(&j, "delta");
    json_rat(&j, spec->delta, false);
    json_key(&j, "composition");
    json_cstr(&j, spec->composition == COMPOSE_ZCDP ? "zcdp" : "sum");
    json_key(&j, "bound");
    json_bool(&j, spec->policy);
    json_end(&j, '}');
    sb_printf(&out->text, "made ledger %s with epsilon ", path);
    text_rat(&out->text, spec->epsilon, false);
    sb_cstr(&out->text, " and delta ");
    text_rat(&out->text, spec->delta, false);
    sb_cstr(&out->text, spec->policy ? ", bound to this policy\n" : "\n");
}

/* Options hold over the policy. True: one was given. */
static bool override_limits(const struct options *o, struct ledger_limits *l)
{
    const struct {
        struct str from, *to;
    } all[] = {{o->respond_after, &l->respond_after},
               {o->ladder, &l->ladder},
               {o->least_price, &l->least_price},
               {o->most_price, &l->most_price}};
    bool any = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].from.n) {
            *all[i].to = all[i].from;
            any = true;
        }
    return any;
}

static enum status init(struct prepared *p, struct guarantee *g,
                        struct result *out, struct err *err)
{
    const char *path;
    const struct options *o = &p->session->opt;
    struct ledger_policy policy;
    struct ledger_spec spec = {
        .epsilon = g->epsilon,
        .delta = g->delta,
        .open = o->open,
        .anchor = o->anchor.p,
    };
    TRY(budget_path(p->session, &path, err));
    TRY(read_composition(p->session, &spec.composition, err));
    TRY(read_total(p, g, err));
    binding_limits(&p->schema, &spec.limits);
    override_limits(o, &spec.limits);
    if (spec.composition == COMPOSE_ZCDP && !mpq_sgn(g->delta))
        return err_set(err, E_USAGE, "composition zcdp needs --delta");
    if (binds(o)) {
        TRY(binding_of(p, &policy, err));
        spec.policy = &policy;
    }
    TRY(ledger_create(path, &spec, err));
    say_made(path, &spec, out);
    return OK;
}

enum status ask_budget_init(struct session *s, struct str query,
                            struct result *out, struct err *err)
{
    struct guarantee g;
    struct prepared p;
    (void)query;
    guarantee_init(&g);
    prepared_init(&p, s);
    enum status st = init(&p, &g, out, err);
    prepared_fini(&p);
    guarantee_fini(&g);
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
        st = budget_open(s, false, &l, err);
    if (st == OK)
        st = ledger_grant(l, s->opt.dataset, s->opt.analyst, g.epsilon, g.delta,
                          err);
    if (st == OK)
        st = budget_balance(s, l, out, err);
    ledger_close(l);
    guarantee_fini(&g);
    return st;
}

/* --- bind ----------------------------------------------------------------- */

static bool limits_stated(const struct policy_limits *x)
{
    return x->respond_after.n || x->ladder.n || x->memory.n ||
           x->least_price.n || x->most_price.n || x->strict.n ||
           x->work_at_most.n;
}

static enum status bind(struct prepared *p, struct result *out, struct err *err)
{
    struct ledger *l = NULL;
    struct ledger_policy policy;
    struct ledger_limits limits;
    struct session *s = p->session;
    TRY(prepare_schema(p, SOURCE_REQUIRED, err));
    TRY(binding_of(p, &policy, err));
    TRY(budget_open(s, false, &l, err));
    /* limits that the policy does not state stay as they are */
    bool stated = limits_stated(&p->schema.limits);
    binding_limits(&p->schema, &limits);
    stated |= override_limits(&s->opt, &limits);
    enum status st =
        ledger_bind(l, s->opt.dataset, &policy, stated ? &limits : NULL, err);
    if (st == OK)
        st = budget_balance(s, l, out, err);
    ledger_close(l);
    return st;
}

enum status ask_budget_bind(struct session *s, struct str query,
                            struct result *out, struct err *err)
{
    struct prepared p;
    (void)query;
    prepared_init(&p, s);
    enum status st = bind(&p, out, err);
    prepared_fini(&p);
    return st;
}

/* --- unlock, verify, adopt -------------------------------------------------
 */

enum status ask_budget_unlock(struct session *s, struct str query,
                              struct result *out, struct err *err)
{
    struct ledger *l = NULL;
    (void)query;
    TRY(budget_open(s, false, &l, err));
    enum status st = ledger_unlock(l, s->opt.dataset, err);
    if (st == OK)
        st = budget_balance(s, l, out, err);
    ledger_close(l);
    return st;
}

static enum status verify(struct session *s, struct ledger *l, struct err *err)
{
    struct ledger_head head;
    TRY(ledger_verify(l, err));
    if (!s->opt.head.n)
        return OK;
    TRY(ledger_head_read(s->opt.head, &head, err));
    return ledger_verify_head(l, &head, err);
}

enum status ask_budget_verify(struct session *s, struct str query,
                              struct result *out, struct err *err)
{
    struct ledger *l = NULL;
    (void)query;
    TRY(budget_open(s, true, &l, err));
    enum status st = verify(s, l, err);
    if (st == OK)
        st = budget_balance(s, l, out, err);
    ledger_close(l);
    return st;
}

enum status ask_budget_adopt(struct session *s, struct str query,
                             struct result *out, struct err *err)
{
    const char *path;
    struct ledger *l = NULL;
    (void)query;
    TRY(budget_path(s, &path, err));
    TRY(ledger_adopt(&s->mem, path, s->opt.anchor.p, err));
    TRY(budget_open(s, true, &l, err));
    enum status st = budget_balance(s, l, out, err);
    ledger_close(l);
    return st;
}
