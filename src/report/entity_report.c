/* Entities in reports: see entity_report.h. */
#include "report/entity_report.h"

#include "entity/contrib.h"
#include "entity/listed.h"
#include "entity/unit.h"
#include "release/answer.h"
#include "release/answer_table.h"
#include "report/analysis.h"
#include "schema/owners.h"

/* --- public --------------------------------------------------------------- */

/* What could not be computed for want of memory is not shown. */
static size_t advice_of(struct count *q, struct entity_advice *out)
{
    struct err err;
    size_t n = 0;
    if (!prepare_can_cut(q)) /* promises about parts: not looked for */
        return 0;
    if (entity_advise(&q->p->arena, q->query, &q->owners, out, &n, &err) != OK)
        return 0;
    return n;
}

static void json_entity_advice(struct json *j, struct count *q)
{
    struct entity_advice advice[MAX_ENTITY_ADVICE];
    size_t n = advice_of(q, advice);
    json_key(j, "advice");
    json_begin(j, '[');
    for (size_t i = 0; i < n; i++)
        analysis_advice(j, advice[i].constraint, advice[i].upper);
    json_end(j, ']');
}

void report_entity_json(struct json *j, struct count *q)
{
    if (!q->p->schema.has_entities)
        return;
    json_key(j, "entity");
    json_begin(j, '{');
    answer_entity_head(j, q);
    answer_entity_tables(j, &q->p->schema);
    json_entity_advice(j, q);
    json_end(j, '}');
}

void report_entity_text(struct sb *b, struct count *q)
{
    struct entity_advice advice[MAX_ENTITY_ADVICE];
    const struct schema *s = &q->p->schema;
    if (!s->has_entities)
        return;
    sb_printf(b, "protected    %.*s\n", PSTR(entity_unit(b->arena, s)));
    for (uint32_t t = 0; t < s->tables.n; t++)
        owner_table_print(b, s, t);
    sb_printf(b, "owners       a result belongs to at most %u entit%s\n",
              q->owners.k, q->owners.k == 1 ? "y" : "ies");
    sb_cstr(b, "entity       one entity changes the count ");
    if (q->entity.upper == U128_INF) {
        sb_cstr(b, "without limit");
    } else {
        sb_cstr(b, "by at most ");
        sb_u128(b, q->entity.upper);
    }
    sb_printf(b, "\n             (a change: %.*s)\n",
              PSTR(prepare_neighbours_text(q)));
    size_t n = advice_of(q, advice);
    for (size_t i = 0; i < n; i++)
        sb_printf(b, "advice       %.*s would bound it by %.*s\n",
                  PSTR(advice[i].words), PSTR(advice[i].upper));
}

/* --- the owner's ---------------------------------------------------------- */

/* With several owners thresholds that more exceed are left out: solving them
 * takes long, and none is ever elected. */
enum { LISTED_HEAVY = 256 };

struct values {
    struct count *q;
    struct json *j;
    struct sb *text;
    struct contrib *x, *y; /* all listed; peeled, NULL: cannot be */
    struct pack *pack, *peeled;
    struct pack_options opt, peel;
    struct err *err;
};

/* Numbers in units of a sum's last digit, as the sum is shown. */
static struct str shown(const struct values *v, u128 units)
{
    struct arena *a = v->text->arena;
    return answer_decimal(a, answer_units(a, units, false), v->q->scale);
}

static void json_shown(const struct values *v, u128 units)
{
    struct arena *a = v->text->arena;
    answer_number_json(v->j, answer_units(a, units, false), v->q->scale);
}

static struct str fixed_point(struct arena *a, u128 v, uint32_t scale)
{
    struct sb b;
    u128 one = (u128)1 << PACK_UNIT, rest = v & (one - 1);
    sb_init(&b, a);
    sb_str(&b,
           answer_decimal(a, answer_units(a, v >> PACK_UNIT, false), scale));
    sb_cstr(&b, rest && !scale ? "." : "");
    for (; rest; rest &= one - 1) {
        rest *= 10;
        sb_char(&b, (char)('0' + (int)(rest >> PACK_UNIT)));
    }
    return b.failed ? STR("") : sb_view(&b);
}

/* 1, 2, 3, 4, 6, 8, 12, .. with one owner; 1, 2, 4, 8, .. with several. */
static uint64_t next_threshold(uint64_t t, bool one)
{
    if (!one || t == 1)
        return 2 * t;
    return t & (t - 1) ? t / 3 * 4 : t / 2 * 3;
}

/* What passes over the rows alone tell, which an election goes by. */
static enum status json_bounds(struct values *v, uint64_t t)
{
    u128 lo, hi;
    if (!v->peeled)
        return OK;
    TRY(contrib_bounds(v->y, t, &lo, &hi, v->err));
    json_key(v->j, "at_least");
    json_shown(v, lo);
    json_key(v->j, "at_most");
    json_shown(v, hi);
    return OK;
}

static enum status one_value(struct values *v, uint64_t t)
{
    struct pack_interval at;
    TRY(pack_value(v->peeled ? v->peeled : v->pack, t, &at, v->err));
    struct str lo = fixed_point(v->text->arena, at.lo, v->q->scale);
    struct str hi = fixed_point(v->text->arena, at.hi, v->q->scale);
    json_begin(v->j, '{');
    json_key(v->j, "t");
    json_shown(v, t);
    json_key(v->j, "lower");
    json_str(v->j, lo);
    json_key(v->j, "upper");
    json_str(v->j, hi);
    TRY(json_bounds(v, t));
    json_end(v->j, '}');
    sb_printf(v->text, "  at most %.*s each: %.*s", PSTR(shown(v, t)),
              PSTR(lo));
    if (at.lo != at.hi)
        sb_printf(v->text, " to %.*s", PSTR(hi));
    sb_printf(v->text, ", %llu entities cut\n",
              (unsigned long long)pack_exceeding(v->pack, t));
    return OK;
}

static enum status list_values(struct values *v)
{
    bool one = v->q->owners.k <= 1;
    u128 largest = pack_largest(v->pack), floor = contrib_input(v->x)->floor;
    uint64_t t = 1;
    while (t < floor)
        t = next_threshold(t, one);
    while (!one && pack_exceeding(v->pack, t) > LISTED_HEAVY)
        t = next_threshold(t, one);
    json_key(v->j, "truncated");
    json_begin(v->j, '[');
    for (;; t = next_threshold(t, one)) {
        TRY(one_value(v, t));
        if (t >= largest || t > PACK_T_MAX / 4)
            break;
    }
    json_end(v->j, ']');
    return OK;
}

static enum status pack_it(struct values *v)
{
    struct mem *m = &v->q->p->session->mem;
    bool again = true;
    while (again) {
        pack_close(v->pack);
        v->pack = NULL;
        TRY(pack_open(m, contrib_input(v->x), &v->opt, &v->pack, v->err));
        /* An owner counted twice may have hidden the largest one. */
        again = pack_largest(v->pack) < contrib_input(v->x)->floor;
        if (again)
            TRY(contrib_lower(v->x, &again, v->err));
    }
    return OK;
}

static enum status core(void *from, uint64_t t, struct pack_core *out,
                        struct err *err)
{
    return contrib_core(from, t, out, err);
}

static enum status lower_all(void *from, struct pack_input *in, struct err *err)
{
    bool lower;
    TRY(contrib_lower(from, &lower, err));
    *in = *contrib_input(from);
    return OK;
}

/* The values as a release has them: with entities peeled off where it can be.
 */
static enum status peel_it(struct values *v, struct evaluated *data,
                           struct contrib_options *opt)
{
    struct mem *m = &v->q->p->session->mem;
    opt->peel = true;
    if (v->q->owners.k < 2 || opt->lister)
        return OK;
    TRY(contrib_open(m, v->q->query, &v->q->owners, data->store, opt, &v->y,
                     v->err));
    if (!contrib_peels(v->y))
        return OK;
    v->peel = v->opt;
    v->peel.lower = lower_all;
    v->peel.from = v->y;
    v->peel.core = core;
    return pack_open(m, contrib_input(v->y), &v->peel, &v->peeled, v->err);
}

static enum status show(struct values *v)
{
    TRY(pack_it(v));
    u128 n =
        v->q->owners.k > 1 ? contrib_entities(v->x) : pack_entities(v->pack);
    json_key(v->j, "entity");
    json_begin(v->j, '{');
    answer_entity_head(v->j, v->q);
    json_key(v->j, "entities");
    json_u128(v->j, n);
    json_key(v->j, "largest");
    json_shown(v, pack_largest(v->pack));
    sb_cstr(v->text, "entities              ");
    sb_u128(v->text, n);
    sb_cstr(v->text, " have a result, the largest ");
    sb_str(v->text, shown(v, pack_largest(v->pack)));
    sb_cstr(v->text, "\nwhat is left when an entity counts\n");
    TRY(list_values(v));
    json_end(v->j, '}');
    return OK;
}

enum status report_entity_values(struct count *q, struct evaluated *data,
                                 struct json *j, struct sb *text,
                                 struct err *err)
{
    struct session *s = q->p->session;
    struct contrib_options opt = {.join = {.threads = q->p->threads,
                                           .cancelled = session_cancelled,
                                           .ctx = s}};
    struct values v = {.q = q,
                       .j = j,
                       .text = text,
                       .opt = {.cancelled = session_cancelled, .ctx = s},
                       .err = err};
    struct listed *listed;
    struct contrib_lister lister;
    TRY(evaluate_listed(q, data, &listed, err));
    if (listed) {
        lister = listed_lister(listed);
        opt.lister = &lister;
    }
    enum status st = contrib_open(&s->mem, q->query, &q->owners, data->store,
                                  &opt, &v.x, err);
    if (st == OK)
        st = peel_it(&v, data, &opt);
    if (st == OK)
        st = show(&v);
    pack_close(v.peeled);
    contrib_close(v.y);
    pack_close(v.pack);
    contrib_close(v.x);
    listed_close(listed);
    return st;
}
