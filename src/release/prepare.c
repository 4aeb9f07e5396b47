/* The public side: see prepare.h. */
#include "release/prepare.h"

#include <string.h>
#include <time.h>

#include "entity/unit.h"
#include "entity/view.h"
#include "num/rat.h"
#include "schema/owners.h"

/* The day of asking. It becomes a constant of the query, so a stored answer is
 * that of its day. */
static int64_t today(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec / 86400;
}

void prepared_init(struct prepared *p, struct session *s)
{
    memset(p, 0, sizeof *p);
    session_begin(s);
    p->session = s;
    p->epsilon = s->opt.epsilon;
    p->delta = s->opt.delta;
    p->today = today();
    arena_init(&p->arena, &s->mem);
    schema_init(&p->schema, &p->arena);
}

void prepared_fini(struct prepared *p)
{
    prepare_close_source(p);
    arena_fini(&p->arena);
}

static enum status new_counts(struct prepared *p, size_t n, struct err *err)
{
    p->counts = NEWS(&p->arena, struct count, n);
    if (!p->counts)
        return err_nomem(err);
    p->n_counts = n;
    for (size_t i = 0; i < n; i++)
        p->counts[i].p = p;
    return OK;
}

/* Said twice it must be said alike: neither place silently wins over the
 * other, since it is a price. */
static enum status take_number(struct str *have, struct str asked,
                               const char *what, struct err *err)
{
    if (!have->p || !asked.p) {
        *have = have->p ? *have : asked;
        return OK;
    }
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    enum status st = rat_read(*have, what, x, err);
    if (st == OK)
        st = rat_read(asked, what, y, err);
    if (st == OK && mpq_cmp(x, y) != 0) {
        st = E_USAGE;
        err_set(err, st, "%s is %.*s in the query and %.*s in --%s", what,
                PSTR(asked), PSTR(*have), what);
        err_hint(err, "Give it in one of the two places.");
    }
    mpq_clears(x, y, NULL);
    return st;
}

/* Those that have no value yet are NULL, where only types are asked for. */
static enum status parameters(struct prepared *p, struct sql_options *out,
                              struct err *err)
{
    const str_list *given = &p->session->opt.params;
    struct str *all;
    *out = (struct sql_options){given->p, given->n, p->today, p->param_types};
    if (!p->param_types)
        return OK;
    if (given->n > p->n_param_types)
        return err_set(err, E_TOO_LARGE, "there are more than %zu parameters",
                       p->n_param_types);
    out->params = all = NEWS(&p->arena, struct str, p->n_param_types);
    out->n_params = p->n_param_types;
    for (size_t i = 0; all && i < given->n; i++)
        all[i] = given->p[i];
    return all ? OK : err_nomem(err);
}

static enum status read_sql(struct prepared *p, struct err *err)
{
    struct sql_options opt;
    struct sql_statement st = {0};
    TRY(parameters(p, &opt, err));
    TRY(sql_read(&p->arena, &p->schema, p->text, &opt, &st, err));
    TRY(new_counts(p, st.n_counts, err));
    for (size_t i = 0; i < st.n_counts; i++) {
        p->counts[i].query = st.counts[i].q;
        p->counts[i].tree = st.counts[i].tree;
        p->counts[i].label = st.counts[i].label;
        p->counts[i].average = st.counts[i].average;
        p->counts[i].half = st.counts[i].half;
    }
    p->after = st.after;
    p->group_names = st.group_names;
    p->n_group_names = st.n_group;
    TRY(take_number(&p->epsilon, st.epsilon, "epsilon", err));
    return take_number(&p->delta, st.delta, "delta", err);
}

/* The result of a rule is its count. */
static enum status count_alone(struct prepared *p, struct err *err)
{
    struct sql_column *c = NEW(&p->arena, struct sql_column);
    struct expr *e = c ? expr_var(&p->arena, 0, T_INT) : NULL;
    if (!e)
        return err_nomem(err);
    *c = (struct sql_column){STR("count"), e};
    p->after =
        (struct sql_after){.columns = c, .n_columns = 1, .limit = UINT64_MAX};
    return OK;
}

static enum status read_rule(struct prepared *p, struct err *err)
{
    TRY(new_counts(p, 1, err));
    TRY(count_alone(p, err));
    p->counts[0].label = STR("count");
    return tree_read(&p->arena, &p->schema, p->text, &p->counts[0].query,
                     &p->counts[0].tree, err);
}

/* --- schema --------------------------------------------------------------- */

static struct source_spec spec_of(const struct prepared *p)
{
    const struct options *o = &p->session->opt;
    return (struct source_spec){o->db, o->tables.p, o->tables.n, p->lock};
}

size_t prepare_kept(const struct prepared *p, int out[SOURCE_KEPT])
{
    bool whole;
    return source_kept(p->source, out, &whole);
}

static bool carried(const struct prepared *p)
{
    int fds[SOURCE_KEPT];
    bool whole;
    (void)source_kept(p->source, fds, &whole);
    return whole;
}

void prepare_carry(struct prepared *p)
{
    if (!carried(p))
        prepare_close_source(p);
}

enum status prepare_reopen(struct prepared *p, struct err *err)
{
    if (carried(p))
        return OK;
    struct source_spec spec = spec_of(p);
    return source_open_again(&p->session->mem, &spec, &p->schema, &p->source,
                             err);
}

void prepare_close_source(struct prepared *p)
{
    source_close(p->source);
    p->source = NULL;
}

static bool names_source(const struct prepared *p)
{
    return p->session->opt.db.n || p->session->opt.tables.n;
}

static enum status no_source(struct err *err)
{
    err_set(err, E_USAGE, "no data source was given");
    err_hint(err, "Name it with --db FILE.db, --db FOLDER, --db "
                  "postgresql://... or --table 'name(col,col)=FILE'.");
    return E_USAGE;
}

enum status prepare_source(struct prepared *p, struct err *err)
{
    return p->session->base && !p->source && names_source(p)
               ? prepare_reopen(p, err)
               : OK;
}

static enum status open_source(struct prepared *p, enum source_need need,
                               struct err *err)
{
    if (need == SOURCE_NONE)
        return OK;
    if (!names_source(p))
        return need == SOURCE_OPTIONAL ? OK : no_source(err);
    struct source_spec spec = spec_of(p);
    return source_open(&p->session->mem, &spec, &p->schema, &p->source, err);
}

/* Values that the catalogue lists, for the keys of GROUP BY; after the policy,
 * which gives types and lists of its own. */
static enum status read_lists(struct prepared *p, struct err *err)
{
    for (size_t i = 0; i < p->schema.tables.n; i++) {
        size_t n;
        const struct str *texts = source_lists(p->source, i, &n);
        for (size_t k = 0; k < n; k++)
            if (strcasestr(texts[k].p, "CHECK"))
                TRY(sql_read_lists(&p->schema, i, texts[k], err));
    }
    return OK;
}

/* Once: it may come from standard input. */
static enum status policy_text(struct prepared *p, struct err *err)
{
    struct str path = p->session->opt.policy;
    return p->policy.p ? OK
                       : session_read_file(&p->arena, path, "policy file",
                                           &p->policy, err);
}

/* How files are written, before one is opened. */
static enum status read_forms(struct prepared *p, struct err *err)
{
    const struct options *o = &p->session->opt;
    if (!o->policy.n)
        return OK;
    TRY(policy_text(p, err));
    return schema_read_forms(&p->schema, p->policy, o->policy.p, err);
}

static enum status read_policy(struct prepared *p, struct err *err)
{
    const struct options *o = &p->session->opt;
    if (!o->policy.n)
        return OK;
    return schema_read_policy(&p->schema, p->policy, o->policy.p, err);
}

enum status prepare_budget(struct prepared *p, struct err *err)
{
    const struct options *o = &p->session->opt;
    struct str text;
    if (!o->policy.n)
        return OK;
    if (o->db.n || o->schema.n)
        return prepare_schema(p, SOURCE_OPTIONAL, err);
    TRY(session_read_file(&p->arena, o->policy, "policy file", &text, err));
    return schema_read_budget(&p->schema, text, o->policy.p, err);
}

static enum status read_neighbours(struct prepared *p, struct err *err)
{
    const struct options *o = &p->session->opt;
    if (o->neighbours.n && !schema_set_neighbours(&p->schema, o->neighbours))
        return err_set(err, E_VALUE, "neighbours must be %s, not \"%.*s\"",
                       NEIGHBOURS_KNOWN, PSTR(o->neighbours));
    u128 k;
    if (!o->order.n)
        return OK;
    if (!u128_read(o->order.p, o->order.n, &k) || k < 1 || k > 1000000)
        return err_set(err, E_VALUE,
                       "order must be a number from 1 to 1000000, not "
                       "\"%.*s\"",
                       PSTR(o->order));
    p->schema.order = (uint32_t)k;
    return OK;
}

/* Before anything is charged. */
static enum status check_engine(struct str name, struct err *err)
{
    if (!name.n || str_is(name, "embedded") || str_is(name, "sql") ||
        str_is(name, "auto"))
        return OK;
    return err_set(err, E_VALUE,
                   "engine must be embedded, sql or auto, not \"%.*s\"",
                   PSTR(name));
}

static enum status read_filters(struct prepared *p, struct err *err)
{
    struct str name = p->session->opt.filters;
    p->filters_exact = str_is(name, "exact");
    if (!name.n || p->filters_exact || str_is(name, "inside"))
        return OK;
    return err_set(err, E_VALUE,
                   "filters must be inside or exact, not \"%.*s\"", PSTR(name));
}

static u128 rows_declared(const struct table *t)
{
    u128 least = U128_INF;
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        if (!d->n_x && degree_counts_rows(d) && d->k < least)
            least = d->k;
    }
    return least;
}

static enum status keep_enforced(struct prepared *p, struct err *err)
{
    struct sb b;
    size_t n = p->schema.tables.n;
    p->rows_declared = NEWS(&p->arena, u128, n + 1);
    if (!p->rows_declared)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        p->rows_declared[i] = rows_declared(&p->schema.tables.p[i]);
    sb_init(&b, &p->arena);
    if (!p->keep_all)
        source_keep_enforced(p->source, &b);
    p->left_out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

/* What an open data set has read already. */
static enum status take_base(struct prepared *p, enum source_need need,
                             struct err *err)
{
    const struct prepared *base = p->session->base;
    TRY(schema_copy(&p->schema, &p->arena, &base->schema, err));
    p->left_out = base->left_out;
    p->rows_declared = base->rows_declared;
    if (need == SOURCE_REQUIRED)
        TRY(prepare_source(p, err));
    if (need == SOURCE_REQUIRED && !p->source)
        return no_source(err);
    return prepare_sizes_again(p, err);
}

static enum status read_visible(struct prepared *p, struct err *err)
{
    struct str v = p->session->opt.visible;
    if (v.n && !str_is(v, "time") && !str_is(v, "load") && !str_is(v, "both"))
        return err_set(err, E_USAGE,
                       "visible must be time, load or both, not \"%.*s\"",
                       PSTR(v));
    struct str after = p->schema.limits.respond_after;
    bool paced =
        p->session->opt.deadline.n || (after.n && !str_is(after, "none"));
    if (!v.n && p->session->opt.sealed && !paced)
        v = STR("time"); /* asked by somebody who is not the owner */
    p->schema.limits.visible = v;
    return OK;
}

enum status prepare_schema(struct prepared *p, enum source_need need,
                           struct err *err)
{
    const struct options *o = &p->session->opt;
    TRY(session_limits(p->session, &p->threads, err));
    TRY(check_engine(o->engine, err));
    TRY(read_filters(p, err));
    if (p->session->base && !p->owner_view && !p->keep_all)
        return take_base(p, need, err);
    TRY(prepare_read_ddl(p, err));
    TRY(read_forms(p, err));
    TRY(open_source(p, need, err));
    TRY(read_policy(p, err));
    TRY(read_lists(p, err));
    TRY(read_visible(p, err));
    TRY(source_check_types(p->source, err));
    for (size_t i = 0; i < o->constraints.n; i++)
        TRY(schema_read_constraint(&p->schema, o->constraints.p[i], err));
    for (size_t i = 0; i < o->private_.n; i++)
        TRY(schema_set_privacy(&p->schema, o->private_.p[i], PRIVACY_PRIVATE,
                               err));
    for (size_t i = 0; i < o->public_.n; i++)
        TRY(schema_set_privacy(&p->schema, o->public_.p[i], PRIVACY_PUBLIC,
                               err));
    TRY(read_neighbours(p, err));
    TRY(schema_settle_owners(&p->schema, err));
    TRY(keep_enforced(p, err));
    TRY(prepare_public_sizes(p, err));
    if (!p->owner_view)
        schema_hide_guessed(&p->schema);
    return schema_check_lookups(&p->schema, err);
}

/* --- query ---------------------------------------------------------------- */

static bool is_rule(struct str text)
{
    return memmem(text.p, text.n, ":-", 2) != NULL;
}

/* Variables in columns that the database orders in its own way. */
static vset enum_vars(const struct cq *q)
{
    vset s = 0;
    for (uint32_t a = 0; a < q->n_atoms; a++)
        for (uint32_t c = 0; c < q->atoms[a].n_args; c++) {
            struct term t = q->atoms[a].args[c];
            const struct table *tab = &q->schema->tables.p[q->atoms[a].table];
            if (t.kind == TERM_VAR && tab->cols[c].is_enum)
                s |= vset_one(t.id);
        }
    return s;
}

static bool orders(const struct expr *e, vset vars)
{
    bool order = e->op == X_LT || e->op == X_LE || e->op == X_GT ||
                 e->op == X_GE || e->op == X_LEAST || e->op == X_GREATEST;
    if (order && (expr_vars(e) & vars))
        return true;
    for (uint32_t i = 0; i < e->n_args; i++)
        if (orders(e->args[i], vars))
            return true;
    return false;
}

static enum status refuse_enum(struct err *err)
{
    err_set(err, E_UNSUPPORTED, "the order of an enum is not supported");
    err_detail(err, "The database orders its values as they were declared.");
    err_hint(err, "List the values that you mean: IN ('low', 'medium').");
    return E_UNSUPPORTED;
}

/* An enum is read as its text: equality is the same, the order is not. */
static enum status check_enums(const struct cq *q, struct err *err)
{
    vset vars = enum_vars(q);
    bool bad = false;
    for (uint32_t i = 0; vars && i < q->n_cmps; i++) {
        const struct cmp *c = &q->cmps[i];
        vset both = (c->l.kind == TERM_VAR ? vset_one(c->l.id) : 0) |
                    (c->r.kind == TERM_VAR ? vset_one(c->r.id) : 0);
        bad |= c->op != CMP_NE && (both & vars);
    }
    for (uint32_t i = 0; vars && i < q->n_preds; i++)
        bad |= orders(q->preds[i].e, vars);
    for (uint32_t i = 0; vars && i < q->n_calcs; i++)
        bad |= orders(q->calcs[i].e, vars);
    return bad ? refuse_enum(err) : OK;
}

/* A column that the database orders in its own way, among the builder's
 * variables, below an operation that looks at the order. */
static bool orders_enum(const struct cq_builder *b, const struct expr *e,
                        bool ordered)
{
    ordered |= e->op == X_LT || e->op == X_LE || e->op == X_GT ||
               e->op == X_GE || e->op == X_LEAST || e->op == X_GREATEST;
    for (size_t i = 0; ordered && e->op == X_VAR && i < b->atoms.n; i++)
        for (uint32_t c = 0; c < b->atoms.p[i].n_args; c++) {
            struct term t = b->atoms.p[i].args[c];
            if (t.kind == TERM_VAR && t.id == e->var &&
                b->schema->tables.p[b->atoms.p[i].table].cols[c].is_enum)
                return true;
        }
    for (uint32_t i = 0; i < e->n_args; i++)
        if (orders_enum(b, e->args[i], ordered))
            return true;
    return false;
}

static bool formula_orders(const struct cq_builder *b, const struct formula *f)
{
    bool bad = f && f->kind == F_PRED && orders_enum(b, f->e, false);
    for (uint32_t i = 0; f && i < f->n_args; i++)
        bad |= formula_orders(b, f->args[i]);
    return bad;
}

static enum status check_formulas(const struct ctree *t, struct err *err)
{
    for (size_t i = 0; t && i < t->n_branches; i++)
        for (size_t v = 0; v < t->branches[i]->nodes.n; v++)
            if (formula_orders(&t->branches[i]->b,
                               t->branches[i]->nodes.p[v].f))
                return refuse_enum(err);
    return OK;
}

/* The path queries of a tree, or the query. */
static enum status list_bodies(struct count *q, struct err *err)
{
    struct arena *a = &q->p->arena;
    size_t n = 1;
    for (size_t i = 0; q->tree && i < q->tree->n_branches; i++)
        n += q->tree->branches[i]->nodes.n;
    q->bodies = NEWS(a, const struct cq *, n);
    if (!q->bodies)
        return err_nomem(err);
    q->bodies[q->n_bodies++] = q->query;
    for (size_t i = 0; q->tree && i < q->tree->n_branches; i++)
        for (uint32_t v = 0; v < q->tree->branches[i]->nodes.n; v++) {
            struct cq *path;
            aset own;
            TRY(tree_path(a, q->tree->branches[i], v, &path, &own, err));
            q->bodies[q->n_bodies++] = path;
        }
    return OK;
}

bool prepare_count_uses(const struct count *q, uint32_t table)
{
    for (size_t i = 0; i < q->n_bodies; i++)
        if (cq_atoms_of_table(q->bodies[i], table))
            return true;
    return false;
}

struct str prepare_count_text(struct count *q)
{
    return q->tree ? tree_text(&q->p->arena, q->tree)
                   : cq_text(&q->p->arena, q->query);
}

/* By the source, or where none is open by what was read of it or written. */
static enum status check_tables(const struct prepared *p, const struct cq *q,
                                struct err *err)
{
    if (p->source)
        return source_allows(p->source, q, err);
    for (uint32_t i = 0; i < q->n_atoms; i++) {
        const struct table *t = &p->schema.tables.p[q->atoms[i].table];
        if (t->is_refused)
            return err_set(err, E_UNSUPPORTED,
                           "\"%.*s\" is not a table whose rows can be "
                           "protected",
                           PSTR(t->name));
    }
    return OK;
}

/* A rule may name tables that nothing declares. */
static enum status check_owned(const struct cq *q, struct err *err)
{
    for (uint32_t i = 0; i < q->n_atoms; i++)
        TRY(schema_check_owned(q->schema, q->atoms[i].table, err));
    return OK;
}

static enum status check_count(struct count *q, struct err *err)
{
    q->is_sum = tree_is_sum(q->tree, &q->scale);
    TRY(list_bodies(q, err));
    if (q->tree && q->p->filters_exact) {
        err_set(err, E_UNSUPPORTED,
                "exact filters are offered for conjunctive queries only");
        err_hint(err, "Leave out --filters exact.");
        return E_UNSUPPORTED;
    }
    for (size_t i = 0; i < q->n_bodies; i++) {
        TRY(check_tables(q->p, q->bodies[i], err));
        TRY(check_enums(q->bodies[i], err));
        TRY(check_owned(q->bodies[i], err));
    }
    return check_formulas(q->tree, err);
}

enum status prepare_query(struct prepared *p, struct str text, struct err *err)
{
    p->text = str_copy(&p->arena, text);
    if (!p->text.p)
        return err_nomem(err);
    if (!str_trim(text).n) {
        err_set(err, E_USAGE, "no query was given");
        err_hint(err, "Write it as the last argument, or use --query-file.");
        return E_USAGE;
    }
    TRY(is_rule(text) ? read_rule(p, err) : read_sql(p, err));
    for (size_t i = 0; i < p->n_counts; i++)
        TRY(check_count(&p->counts[i], err));
    return OK;
}

static enum status complete(struct count *q, struct err *err)
{
    struct arena *a = &q->p->arena;
    TRY(complete_query(a, q->query, &q->owners, err));
    if (q->tree && !tree_is_plain_sum(q->tree))
        return entity_bound_tree(a, q->tree, q->query, &q->entity, err);
    TRY(view_fits(q->query, &q->owners, err));
    return entity_bound(a, q->query, &q->owners, &q->entity, err);
}

/* PRIVACY: of a sum over distinct values what an entity adds depends on who
 * else has the value, and a packing of witnesses counts, it does not weigh. */
bool prepare_can_cut(const struct count *q)
{
    return !q->tree || (tree_is_plain_sum(q->tree) && q->owners.determined);
}

/* PRIVACY: what evaluation has room for, before anything is charged. */
static enum status check_room(const struct ctree *t, struct err *err)
{
    for (size_t i = 0; t && i < t->n_branches; i++) {
        const struct tree_branch *b = t->branches[i];
        size_t most = b->b.outs.n;
        for (size_t k = 0; k < b->nodes.n; k++)
            most = b->nodes.p[k].ids.n > most ? b->nodes.p[k].ids.n : most;
        if (most > MAX_VARS)
            return err_set(err, E_TOO_LARGE,
                           "a SELECT has %zu columns, at most %d can be told "
                           "apart",
                           most, MAX_VARS);
    }
    return OK;
}

/* PRIVACY: what a path that is no query would do after the charge is to lock
 * the data set. Depends on query and catalogue alone. */
static enum status check_parts(const struct count *q, struct err *err)
{
    for (size_t i = 0; i < q->bound.n_parts + q->bound.n_other; i++) {
        const struct tree_part *p =
            i < q->bound.n_parts ? &q->bound.parts[i]
                                 : &q->bound.other_parts[i - q->bound.n_parts];
        if (!cq_check(p->path))
            continue;
        err_set(err, E_UNSUPPORTED,
                "a join of a table with itself on a UNIQUE column that may be "
                "NULL is not supported with negation or outer joins");
        err_hint(err, "Declare the column NOT NULL, or name a key of the "
                      "table: --constraint 'T: a -> *'.");
        return E_UNSUPPORTED;
    }
    return OK;
}

/* A query without answers on any instance may be left half merged; then the one
 * that was written stands for it. PRIVACY: else evaluation would fail after the
 * charge. */
static enum status settle_empty(struct count *q, struct err *err)
{
    q->normal = q->bound.simplified;
    if (!q->normal->unsat || !cq_check(q->normal))
        return OK;
    struct cq *n = NEW(&q->p->arena, struct cq);
    if (!n)
        return err_nomem(err);
    *n = *q->query;
    n->unsat = true;
    q->normal = n;
    return OK;
}

enum status prepare_bounds(struct prepared *p, bool thorough, struct err *err)
{
    struct bound_options opt = {.want_lower = thorough,
                                .want_advice = thorough,
                                .want_words = thorough};
    struct str n = p->session->opt.witness_size;
    u128 size = 0;
    if (n.n && (!u128_read(n.p, n.n, &size) || size < 1 || size > 10000)) {
        err_set(err, E_VALUE, "the witness size must be from 1 to 10000");
        return E_VALUE;
    }
    opt.witness_n = (uint64_t)size;
    if (thorough)
        TRY(prepare_admission(p, &opt.adm, err));
    for (size_t i = 0; i < p->n_counts; i++) {
        struct count *q = &p->counts[i];
        TRY(check_room(q->tree, err));
        TRY(q->tree
                ? bound_tree(&p->arena, q->tree, q->query, &opt, &q->bound, err)
                : bound_analyze(&p->arena, q->query, &opt, &q->bound, err));
        TRY(settle_empty(q, err));
        TRY(check_parts(q, err));
        if (p->schema.has_entities)
            TRY(complete(q, err));
    }
    return OK;
}

enum status prepare_advice(struct count *q, struct err *err)
{
    struct bound_options opt = {.want_advice = true};
    struct bound b;
    if (q->bound.n_advice)
        return OK;
    TRY(q->tree ? bound_tree(&q->p->arena, q->tree, q->query, &opt, &b, err)
                : bound_analyze(&q->p->arena, q->query, &opt, &b, err));
    q->bound.advice = b.advice;
    q->bound.n_advice = b.n_advice;
    return OK;
}
