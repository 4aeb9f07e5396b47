/*
 * Requests to the database: a set of atoms falls into components that share
 * no variable and no comparison; the answer is the product of theirs. Equal
 * components are asked once. See pushdown.h.
 *
 * PRIVACY: nothing is written to the database and no temporary table is made;
 * what it computes stays in the session and comes here as one number.
 */
#include "source/pushdown.h"

#include <libpq-fe.h>
#include <string.h>
#include "source/pg.h"

static enum status check_tables(struct source *src, const struct cq *q,
                                struct err *err)
{
    for (uint32_t a = 0; a < q->n_atoms; a++) {
        const struct src_table *t = source_find_table(src, q->atoms[a].table);
        if (t && t->kind == SRC_PG && !t->refused)
            continue;
        if (t && t->refused)
            return source_refuse(t, err);
        err_set(err, E_UNSUPPORTED,
                "table \"%.*s\" is not in a PostgreSQL database",
                PSTR(q->schema->tables.p[q->atoms[a].table].name));
        err_hint(err, "Use --engine embedded.");
        return E_UNSUPPORTED;
    }
    return OK;
}

/* Engines that need a setting before they join freely; for this transaction
 * only. */
static enum status prepare_engine(struct source *src, struct err *err)
{
    PGresult *res;
    TRY(pg_query(src,
                 "SELECT 1 FROM pg_catalog.pg_extension "
                 "WHERE extname = 'citus'",
                 NULL, &res, err));
    bool citus = PQntuples(res) > 0;
    PQclear(res);
    if (!citus)
        return OK;
    TRY(pg_query(src, "SET LOCAL citus.enable_repartition_joins = on", NULL,
                 &res, err));
    PQclear(res);
    return OK;
}

static vset cmp_vars(const struct cmp *c)
{
    vset s = 0;
    if (c->l.kind == TERM_VAR)
        s |= vset_one(c->l.id);
    if (c->r.kind == TERM_VAR)
        s |= vset_one(c->r.id);
    return s;
}

struct ask ask_component(const struct cq *q, struct ask *left)
{
    aset part = left->atoms & (~left->atoms + 1);
    vset all = cq_vars_of(q, left->atoms) | left->outside;
    vset vars = part ? cq_vars_of(q, part) : vset_one(vset_min(left->outside));
    for (vset before = 0; vars != before;) {
        before = vars;
        for (uint32_t i = 0; i < q->n_cmps; i++) {
            vset cv = cmp_vars(&q->cmps[i]);
            if (vset_sub(cv, all) && (cv & vars))
                vars |= cv;
        }
        ASET_EACH (a, left->atoms)
            if (atom_vars(q, a) & vars) {
                part |= aset_one(a);
                vars |= atom_vars(q, a);
            }
    }
    struct ask one = {part, left->boundary & vars, left->outs & vars,
                      left->outside & vars};
    left->atoms &= ~part;
    left->outside &= ~vars;
    return one;
}

/* Writes the SQL of the whole query without sending it: every column, type,
 * comparison and predicate that any request may need is in it. */
static enum status dry_run(struct source_counter *c, struct err *err)
{
    enum status s = OK;
    struct ask left = {.atoms = aset_first_n(c->q->n_atoms),
                       .outs = cq_free(c->q)};
    while (left.atoms && s == OK) {
        struct ask one = ask_component(c->q, &left);
        struct part *p = NEW(&c->scratch, struct part);
        struct str text;
        struct sb b;
        sb_init(&b, &c->scratch);
        s = p ? part_init(p, c->q, &one, err) : store_nomem(c->src->mem, err);
        if (s == OK)
            s = part_describe(&c->scratch, p, &text, err);
        if (s == OK)
            s = part_sql(c, p, &b, err);
        arena_fini(&c->scratch);
    }
    return s;
}

/* Row ids are not columns: the database cannot tell two equal rows apart. */
static enum status check_rowids(const struct cq *q, struct err *err)
{
    for (uint32_t i = 0; i < q->n_cmps; i++)
        VSET_EACH (v, cmp_vars(&q->cmps[i]))
            if (q->vars[v].is_rowid) {
                err_set(err, E_UNSUPPORTED,
                        "the database cannot compare rows of a bag");
                err_hint(err, "Use --engine embedded for this query.");
                return E_UNSUPPORTED;
            }
    return OK;
}

enum status source_counter_open(struct source *src, const struct cq *q,
                                bool exact, const struct progress *p,
                                struct source_counter **out, struct err *err)
{
    *out = NULL;
    TRY(check_tables(src, q, err));
    TRY(check_rowids(q, err));
    if (exact)
        TRY(exact_supported(q, err));
    TRY(prepare_engine(src, err));
    struct source_counter *c = mem_alloc(src->mem, sizeof *c);
    if (!c)
        return store_nomem(src->mem, err);
    c->src = src;
    c->q = q;
    c->progress = p;
    arena_init(&c->arena, src->mem);
    arena_init(&c->scratch, src->mem);
    c->arena.wipe = true;
    map_init(&c->answers, &c->arena);
    enum status s = dry_run(c, err);
    if (s != OK) {
        source_counter_close(c);
        return s;
    }
    *out = c;
    return OK;
}

void source_counter_close(struct source_counter *c)
{
    if (!c)
        return;
    arena_fini(&c->scratch);
    arena_fini(&c->arena);
    mem_free(c->src->mem, c, sizeof *c);
}

uint64_t source_counter_statements(const struct source_counter *c)
{
    return c->n_statements;
}

/* --- one component
 * -------------------------------------------------------------*/

static enum status read_number(PGresult *res, u128 *out, struct err *err)
{
    if (PQntuples(res) != 1 || PQnfields(res) != 1 || PQgetisnull(res, 0, 0))
        return err_internal(err, "pushdown: not one number");
    const char *p = PQgetvalue(res, 0, 0);
    size_t n = strlen(p);
    if (n && strspn(p, "0123456789") == n) {
        if (u128_read(p, n, out))
            return OK;
        return err_set(err, E_OVERFLOW, "a count does not fit 128 bits");
    }
    return err_internal(err, "pushdown: not a whole number");
}

static enum status run_part(struct source_counter *c, const struct part *p,
                            u128 *out, struct err *err)
{
    struct sb b;
    struct ticker t;
    PGresult *res;
    sb_init(&b, &c->scratch);
    TRY(part_sql(c, p, &b, err));
    ticker_init(&t, c->progress, "counting in the database", 0);
    c->n_statements++;
    TRY(pg_query(c->src, b.p, &t, &res, err));
    enum status s = read_number(res, out, err);
    PQclear(res);
    return s;
}

static enum status remember(struct source_counter *c, struct str key, u128 v,
                            struct err *err)
{
    struct str copy = str_copy(&c->arena, key);
    if (!copy.p || !VEC_PUSH(&c->arena, &c->values, v) ||
        !map_put(&c->answers, copy, c->values.n - 1, NULL))
        return store_nomem(c->src->mem, err);
    return OK;
}

static enum status answer_part(struct source_counter *c, const struct ask *ask,
                               u128 *out, struct err *err)
{
    struct part *p = NEW(&c->scratch, struct part);
    struct str key;
    if (!p)
        return store_nomem(c->src->mem, err);
    TRY(part_init(p, c->q, ask, err));
    TRY(part_describe(&c->scratch, p, &key, err));
    uint64_t *known = map_find(&c->answers, key);
    if (known) {
        *out = c->values.p[*known];
        return OK;
    }
    TRY(run_part(c, p, out, err));
    return remember(c, key, *out, err);
}

/* --- requests
 * --------------------------------------------------------------------*/

static enum status answer(struct source_counter *c, struct ask left, u128 *out,
                          struct err *err)
{
    u128 product = 1;
    enum status s = OK;
    if (c->q->unsat && left.atoms) {
        *out = 0;
        return OK;
    }
    while ((left.atoms || left.outside) && s == OK) {
        struct ask one = ask_component(c->q, &left);
        u128 n = 0;
        s = answer_part(c, &one, &n, err);
        if (s == OK && !u128_mul(product, n, &product))
            s = err_set(err, E_OVERFLOW, "a count does not fit 128 bits");
        arena_fini(&c->scratch);
    }
    *out = product;
    return s;
}

enum status source_counter_max(void *ctx, aset f, vset boundary, vset outs,
                               u128 *out, struct err *err)
{
    return answer(ctx, (struct ask){f, boundary, outs, 0}, out, err);
}

enum status source_counter_max_exact(void *ctx, aset f, vset boundary,
                                     vset outs, u128 *out, struct err *err)
{
    struct source_counter *c = ctx;
    struct ask ask = {f, boundary, outs, f ? exact_outside(c->q, f) : 0};
    return answer(c, ask, out, err);
}

enum status source_counter_count(struct source_counter *c, u128 *out,
                                 struct err *err)
{
    return source_counter_max(c, aset_first_n(c->q->n_atoms), 0, cq_free(c->q),
                              out, err);
}
