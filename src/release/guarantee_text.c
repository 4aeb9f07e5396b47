/*
 * What the analyst reads of the guarantee: between which databases it holds,
 * and what is promised, in whole sentences, from public facts; and what counts
 * are clamped at.
 */
#include "release/choose.h"

#include "entity/unit.h"

#include <math.h>

static struct str rat_text(struct arena *a, mpq_srcptr v)
{
    struct sb b;
    sb_init(&b, a);
    rat_print(&b, v);
    return b.failed ? STR("?") : sb_view(&b);
}

/* PRIVACY: neighbours that break a declared key or bound are not databases
 * that the noise was chosen for. */
static bool relies_on_constraints(const struct count *q)
{
    for (size_t i = 0; i < q->n_bodies; i++)
        for (uint32_t k = 0; k < q->bodies[i]->n_atoms; k++) {
            const struct table *t =
                &q->p->schema.tables.p[q->bodies[i]->atoms[k].table];
            if (table_is_private(t) && t->degrees.n)
                return true;
        }
    return false;
}

/* PRIVACY: a count changes by no more when a row is replaced than when it is
 * inserted or deleted only if no table has rows that add answers and rows that
 * take them away; a vector of counts changes by more in any case. From the
 * query alone. */
static bool prepare_substitutes(const struct count *q)
{
    const struct schema *s = &q->p->schema;
    return s->has_entities ? s->neighbours == CHANGE_ENTITY
                           : s->neighbours == CHANGE_ONE ||
                                 (!q->query->n_group && q->bound.one_signed);
}

/* "insert or delete one customer, with all rows of orders that are theirs" */
static void entity_change(struct sb *b, const struct schema *s)
{
    if (s->order > 1)
        sb_printf(b, "up to %u times ", s->order);
    sb_str(b, entity_unit(b->arena, s));
}

static void row_change(struct sb *b, const struct count *q)
{
    const struct schema *s = &q->p->schema;
    size_t n = 0;
    if (s->order > 1)
        sb_printf(b, "up to %u rows of: ", s->order);
    else
        sb_cstr(b, "one row of: ");
    for (size_t t = 0; t < s->tables.n; t++) {
        if (!table_is_private(&s->tables.p[t]) ||
            !prepare_count_uses(q, (uint32_t)t))
            continue;
        sb_cstr(b, n++ ? ", " : "");
        sb_str(b, s->tables.p[t].name);
    }
    if (!n)
        sb_cstr(b, "no table of this query");
}

struct str prepare_neighbours_text(struct count *q)
{
    struct sb b;
    sb_init(&b, &q->p->arena);
    sb_cstr(&b, prepare_substitutes(q) ? "insert, delete or substitute "
                                       : "insert or delete ");
    if (q->p->schema.has_entities)
        entity_change(&b, &q->p->schema);
    else
        row_change(&b, q);
    return b.failed ? STR("") : sb_view(&b);
}

/* "a, b or c": the private tables of the query. */
static void tables_text(struct sb *b, const struct count *q)
{
    const struct schema *s = &q->p->schema;
    struct str last = {0};
    bool first = true;
    for (size_t t = 0; t < s->tables.n; t++) {
        if (!table_is_private(&s->tables.p[t]) ||
            !prepare_count_uses(q, (uint32_t)t))
            continue;
        if (last.n) {
            sb_cstr(b, first ? "" : ", ");
            sb_str(b, last);
            first = false;
        }
        last = s->tables.p[t].name;
    }
    sb_cstr(b, first ? "" : " or ");
    sb_str(b, last.n ? last : STR("no table"));
}

/* Does the unit end with "with all rows of ..."? */
static bool has_owned(const struct schema *s)
{
    for (size_t i = 0; i < s->tables.n; i++)
        if (s->tables.p[i].owned_by.n)
            return true;
    return false;
}

/* "Inserting, deleting or replacing any one row of a or b" */
static struct str change_text(struct count *q)
{
    const struct schema *s = &q->p->schema;
    struct sb b;
    sb_init(&b, &q->p->arena);
    sb_cstr(&b, prepare_substitutes(q) ? "Inserting, deleting or replacing "
                                       : "Inserting or deleting ");
    if (s->has_entities) {
        if (s->order > 1)
            sb_printf(&b, "up to %u times ", s->order);
        sb_str(&b, entity_unit(&q->p->arena, s));
        sb_cstr(&b, has_owned(s) ? "," : "");
    } else if (s->order > 1) {
        sb_printf(&b, "up to %u rows of ", s->order);
        tables_text(&b, q);
    } else {
        sb_cstr(&b, "any one row of ");
        tables_text(&b, q);
    }
    return b.failed ? STR("") : sb_view(&b);
}

/* e^epsilon as one would say it; nothing where that says nothing. */
static struct str factor_text(struct arena *a, mpq_srcptr epsilon)
{
    double e = mpq_get_d(epsilon);
    return e < 0.01 || e > 7 ? STR("") : str_printf(a, " (%.3g)", exp(e));
}

static struct str pure_text(struct count *q, const struct choice *c)
{
    struct arena *a = &q->p->arena;
    struct str unless = mpq_sgn(c->price.delta)
                            ? str_printf(a, ", except with probability %.*s",
                                         PSTR(rat_text(a, c->price.delta)))
                            : STR("");
    mpq_srcptr epsilon = c->joint ? c->noise.epsilon : c->price.epsilon;
    return str_printf(
        a,
        "%.*s changes the probability of every possible %s by a factor of "
        "at most e^%.*s%.*s%.*s%s.",
        PSTR(change_text(c->joint ? c->joint : q)),
        c->joint ? "pair of sum and number" : "answer",
        PSTR(rat_text(a, epsilon)), PSTR(factor_text(a, epsilon)), PSTR(unless),
        relies_on_constraints(q)
            ? ", among databases that satisfy the declared constraints"
            : "");
}

static struct str first_sentence(struct count *q, const struct choice *c)
{
    struct arena *a = &q->p->arena;
    if (c->kind == CHOICE_EXACT)
        return STR("The answer depends on public tables only; nothing is "
                   "spent.");
    if (c->total.kind != PRIVACY_ZCDP)
        return pure_text(q, c);
    return str_printf(
        a,
        "%.*s-zCDP: whoever sees the answer can hardly tell whether you "
        "%.*s%s.",
        PSTR(rat_text(a, c->total.rho)), PSTR(prepare_neighbours_text(q)),
        relies_on_constraints(q)
            ? ", among databases that satisfy the declared constraints"
            : "");
}

/* A table has fewer rows than this: pages of a server, ids of a store. */
enum { ROWS_BITS = 40, WEIGHT_BITS = 60 };

/* What counts are clamped at, if a count could reach it. Public. */
static u128 clamped_at(const struct count *q, const struct choice *c)
{
    u128 most = count_limit(c->n_groups, c->is_signed);
    uint32_t bits = ROWS_BITS * q->query->n_atoms;
    if (q->query->weight.on)
        bits += WEIGHT_BITS;
    return bits < 127 && most >> bits ? U128_INF : most;
}

static void add_clamped_text(struct arena *a, struct choice *c)
{
    struct str of = STR("");
    if (c->clamped_at == U128_INF || !c->guarantee.p)
        return;
    uint64_t parts = c->n_groups > 1 ? c->n_groups : 1;
    if (c->is_signed)
        parts *= 2;
    if (parts > 1)
        of = str_printf(a, " divided by %llu", (unsigned long long)parts);
    c->guarantee = str_printf(
        a, "%.*s %s above 2^127 - 1%.*s%s are given as that.",
        PSTR(c->guarantee), c->is_signed ? "Sizes of sums" : "Counts", PSTR(of),
        c->is_signed ? " units" : "");
}

static bool sees(const struct count *q, const char *what)
{
    struct str v = q->p->schema.limits.visible;
    return str_is(v, what) || str_is(v, "both");
}

/* What is seen besides the answer, and is not covered. */
static void add_visible_text(struct count *q, struct choice *c)
{
    bool time = sees(q, "time"), load = sees(q, "load");
    if (c->kind == CHOICE_EXACT || !c->guarantee.p || (!time && !load))
        return;
    c->guarantee =
        str_printf(&q->p->arena,
                   "%.*s It does not cover %s%s%s, which depend%s on the rows.",
                   PSTR(c->guarantee), time ? "when the answer comes" : "",
                   time && load ? " and " : "",
                   load ? "how busy the machine is meanwhile" : "",
                   time && load ? "" : "s");
}

void choose_guarantee_text(struct count *q, struct choice *c)
{
    c->guarantee = first_sentence(q, c);
    c->clamped_at = clamped_at(q, c);
    add_clamped_text(&q->p->arena, c);
    add_visible_text(q, c);
}
