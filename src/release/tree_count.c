/*
 * The exact counts of a tree: node by node from the leaves, as tree/tree.h
 * says. For each node the keys for which it is satisfied are a set in memory;
 * the answers that must be told apart are one too. OWNER: all of it is secret.
 *
 * Sums: an answer that is told apart weighs what its output does, others are
 * added up by weight in the engine. PRIVACY: what is added and what is
 * subtracted saturate each for itself and rise by no more than they would
 * otherwise; only their difference is clamped further (sens/PROOF.md, 2a).
 *
 * Keys are bytes: one form for all values that are equal, a NULL equal to
 * itself.
 *
 * Cost: a look-up for each key that occurs and each child.
 */
#include <math.h>
#include <string.h>

#include "pushdown/pushdown_tree.h"
#include "release/evaluate.h"
#include "release/key_set.h"

struct tree_group { /* of GROUP BY; one without */
    struct value *key;
    u128 n, minus; /* what is added, and what is subtracted from it */
};

struct tree_tally {
    struct map map; /* key to place in groups */
    VEC(struct tree_group) groups;
    size_t n_cols; /* of a key */
};

struct tree_run {
    struct count *q;
    struct evaluated *data;
    struct arena *a; /* wiped in the end */
    const struct tree_branch *t;
    struct tree_step *steps;
    struct key_set *sets; /* by node: key to number of extensions */
    struct map *seen;     /* by node: ids that were counted for a key */
    uint32_t **place;     /* by node: where its parent has its keys */
    struct map *answers;  /* that were listed, of this branch's tag */
    struct value *vals;   /* of the builder's variables */
    struct tree_tally *tally;
    struct tree_tally ids; /* of the root, by outputs, where they are counted */
};

struct tree_visit {
    struct tree_run *r;
    uint32_t node;
};

/* --- keys ------------------------------------------------------------------
 */

static void put_value(struct sb *b, const struct value *v)
{
    uint64_t n = v->s.n;
    double f = isnan(v->f) ? 0 : v->f;
    sb_char(b, v->is_null ? 'n' : (char)('A' + (int)v->type));
    if (v->is_null)
        return;
    switch (v->type) {
    case T_TEXT:
    case T_DEC:
    case T_UUID:
        sb_add(b, (const char *)&n, sizeof n);
        sb_add(b, v->s.p, v->s.n);
        break;
    case T_REAL:
        sb_char(b, isnan(v->f) ? '1' : '0');
        sb_add(b, (const char *)&f, sizeof f);
        break;
    default:
        sb_add(b, (const char *)&v->i, sizeof v->i);
    }
}

static enum status key_bytes(struct arena *a, const struct value *const *key,
                             size_t n, struct str *out, struct err *err)
{
    struct sb b;
    sb_init(&b, a);
    sb_char(&b, 'k');
    for (size_t i = 0; i < n; i++) {
        struct value v = *key[i];
        if (!value_canonical(a, &v, T_UNKNOWN))
            return err_nomem(err);
        put_value(&b, &v);
    }
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

enum status evaluate_key_bytes(struct arena *a, const struct value *key,
                               size_t n, struct str *out, struct err *err)
{
    const struct value *at[4 * MAX_VARS];
    if (n > 4 * MAX_VARS)
        return err_internal(err, "a key of too many values");
    for (size_t i = 0; i < n; i++)
        at[i] = &key[i];
    return key_bytes(a, at, n, out, err);
}

/* A whole number; others that equal one are of that form once canonical. */
static enum status as_number(struct arena *a, const struct value *v, bool *is,
                             int64_t *out, struct err *err)
{
    struct value w = *v;
    if (w.is_null || w.type == T_TEXT || w.type == T_UUID) {
        *is = false;
        return OK;
    }
    if (w.type != T_INT && !value_canonical(a, &w, T_UNKNOWN))
        return err_nomem(err);
    *is = !w.is_null && w.type == T_INT;
    *out = w.i;
    return OK;
}

/* --- formulas --------------------------------------------------------------
 */

static enum status look_up(struct tree_run *r, uint32_t child,
                           const struct value *key, bool *out, struct err *err)
{
    const struct tree_step *s = &r->steps[child];
    const struct value *at[MAX_VARS];
    struct arena_mark mark = arena_mark(r->a);
    struct str bytes;
    int64_t number;
    uint64_t least = r->t->nodes.p[child].at_least;
    bool is_number = false;
    if (s->n_up > MAX_VARS)
        return err_internal(err, "a subquery looks at too many variables");
    for (uint32_t i = 0; i < s->n_up; i++)
        at[i] = &key[r->place[child][i]];
    if (s->n_up == 1)
        TRY(as_number(r->a, at[0], &is_number, &number, err));
    if (is_number) {
        uint64_t n = key_set_find(&r->sets[child], number);
        *out = n && n >= least;
    } else {
        TRY(key_bytes(r->a, at, s->n_up, &bytes, err));
        uint64_t *n = map_find(&r->sets[child].map, bytes);
        *out = n && *n >= least;
    }
    arena_release(r->a, mark);
    return OK;
}

static enum status holds(struct tree_run *r, const struct formula *f,
                         const struct value *key, bool *out, struct err *err)
{
    if (f->kind == F_CHILD) {
        TRY(look_up(r, f->child, key, out, err));
        *out = *out != f->negated;
        return OK;
    }
    if (f->kind == F_PRED) {
        struct arena_mark mark = arena_mark(r->a);
        struct value v;
        TRY(expr_eval(r->a, f->e, r->vals, &v, err));
        *out = !v.is_null && v.type == T_BOOL && v.i;
        arena_release(r->a, mark);
        return OK;
    }
    *out = f->kind == F_AND;
    for (uint32_t i = 0; *out == (f->kind == F_AND) && i < f->n_args; i++)
        TRY(holds(r, f->args[i], key, out, err));
    return OK;
}

/* --- visiting --------------------------------------------------------------
 */

static enum status new_group(struct tree_run *r, struct tree_tally *t,
                             const struct value *key, struct str bytes,
                             struct err *err)
{
    struct tree_group g = {NEWS(r->a, struct value, t->n_cols + 1), 0, 0};
    if (!g.key)
        return err_nomem(err);
    for (size_t i = 0; i < t->n_cols; i++) {
        g.key[i] = key[i];
        if (key[i].s.p && !(g.key[i].s = str_copy(r->a, key[i].s)).p)
            return err_nomem(err);
    }
    if (!map_put(&t->map, bytes, t->groups.n, NULL) ||
        !VEC_PUSH(r->a, &t->groups, g))
        return err_nomem(err);
    return OK;
}

static enum status find_group(struct tree_run *r, struct tree_tally *t,
                              const struct value *key, uint64_t *out,
                              struct err *err)
{
    const struct value *at[MAX_VARS];
    struct arena_mark mark = arena_mark(r->a);
    struct str bytes;
    if (t->n_cols > MAX_VARS)
        return err_internal(err, "a key of too many values");
    for (size_t i = 0; i < t->n_cols; i++)
        at[i] = &key[i];
    TRY(key_bytes(r->a, at, t->n_cols, &bytes, err));
    uint64_t *found = map_find(&t->map, bytes);
    *out = found ? *found : t->groups.n;
    if (!found)
        return new_group(r, t, key, bytes, err);
    arena_release(r->a, mark);
    return OK;
}

static enum status add_group(struct tree_run *r, struct tree_tally *t,
                             const struct value *key, u128 n, struct err *err)
{
    uint64_t place;
    TRY(find_group(r, t, key, &place, err));
    struct tree_group *g = &t->groups.p[place];
    bool minus = t == r->tally && cq_weight_negative(&r->t->b.weight);
    u128 *sum = minus ? &g->minus : &g->n;
    *sum = count_add(*sum, n); /* PRIVACY: no size of a count is an outcome */
    return OK;
}

/* A key that was not there; its bytes stay. */
static enum status is_first(struct tree_run *r, struct map *set,
                            const struct value *key, size_t n, u128 count,
                            bool *out, struct err *err)
{
    const struct value *at[2 * MAX_VARS];
    struct arena_mark mark = arena_mark(r->a);
    struct str bytes;
    *out = false;
    if (n > 2 * MAX_VARS)
        return err_internal(err, "a key of too many values");
    for (size_t i = 0; i < n; i++)
        at[i] = &key[i];
    TRY(key_bytes(r->a, at, n, &bytes, err));
    uint64_t *found = map_find(set, bytes);
    if (found) { /* only compared with thresholds of 32 bits */
        *found += count > UINT32_MAX ? UINT32_MAX : (uint64_t)count;
        arena_release(r->a, mark);
        return OK;
    }
    *out = true;
    count = count > UINT32_MAX ? UINT32_MAX : count;
    return map_put(set, bytes, (uint64_t)count, NULL) ? OK : err_nomem(err);
}

/* A key of a node that is satisfied once more. */
static enum status add_key(struct tree_run *r, uint32_t node,
                           const struct value *key, u128 count, struct err *err)
{
    uint32_t n = r->steps[node].n_up;
    struct arena_mark mark = arena_mark(r->a);
    bool is_number = false, first;
    int64_t number;
    if (n == 1)
        TRY(as_number(r->a, key, &is_number, &number, err));
    arena_release(r->a, mark);
    if (!is_number)
        return is_first(r, &r->sets[node].map, key, n, count, &first, err);
    uint64_t by = count > UINT32_MAX ? UINT32_MAX : (uint64_t)count;
    return key_set_add(&r->sets[node], number, by, &first) ? OK
                                                           : err_nomem(err);
}

/* A good assignment: how many ids it adds to its key, 0 if it has none new. */
static enum status count_ids(struct tree_run *r, uint32_t node,
                             const struct value *key, u128 *count,
                             struct err *err)
{
    const struct tree_step *s = &r->steps[node];
    struct value pair[2 * MAX_VARS];
    bool first;
    if (!s->n_ids)
        return OK;
    if (s->n_up + s->n_ids > 2 * MAX_VARS)
        return err_internal(err, "a key of too many values");
    memcpy(pair, key, s->n_up * sizeof *pair);
    memcpy(pair + s->n_up, key + s->n_keys - s->n_ids, s->n_ids * sizeof *pair);
    TRY(is_first(r, &r->seen[node], pair, s->n_up + s->n_ids, 1, &first, err));
    *count = first;
    return OK;
}

/* What an answer that was told apart weighs. */
static u128 weight_of(const struct tree_run *r, const struct value *key)
{
    const struct cq_weight *w = &r->t->b.weight;
    return w->on ? cq_weight_of(w, &key[w->out]) : 1;
}

static enum status visit_good(struct tree_run *r, uint32_t node,
                              const struct value *key, u128 count,
                              struct err *err)
{
    const struct tree_step *s = &r->steps[node];
    bool first;
    if (tree_counts(&r->t->nodes.p[node]))
        TRY(count_ids(r, node, key, &count, err));
    if (!count)
        return OK;
    if (node)
        return add_key(r, node, key, count, err);
    if (tree_counts(&r->t->nodes.p[0]))
        return add_group(r, &r->ids, key, count, err);
    if (s->counts)
        return add_group(r, r->tally, key, count, err);
    TRY(is_first(r, r->answers, key, s->n_up, 1, &first, err));
    return first ? add_group(r, r->tally, key, weight_of(r, key), err) : OK;
}

static enum status visit_key(void *ctx, const struct value *key, u128 count,
                             struct err *err)
{
    struct tree_visit *v = ctx;
    struct tree_run *r = v->r;
    const struct tree_step *s = &r->steps[v->node];
    const struct formula *f = r->t->nodes.p[v->node].f;
    bool good = true;
    for (uint32_t i = 0; i < s->n_keys; i++)
        if (s->vars[i] != UINT32_MAX)
            r->vals[s->vars[i]] = key[i];
    if (f)
        TRY(holds(r, f, key, &good, err));
    return good ? visit_good(r, v->node, key, count, err) : OK;
}

/* Of an answer with so many ids. */
static u128 answer_weight(const struct tree_run *r, const struct tree_group *g)
{
    uint32_t cap = r->t->nodes.p[0].cap;
    if (!cap)
        return weight_of(r, g->key);
    return g->n > cap && cap != UINT32_MAX ? cap : g->n;
}

/* The answers whose number of ids is one that is asked for. */
static enum status keep_answers(struct tree_run *r, struct err *err)
{
    for (size_t i = 0; i < r->ids.groups.n; i++) {
        const struct tree_group *g = &r->ids.groups.p[i];
        uint64_t n = g->n > UINT32_MAX ? UINT32_MAX : (uint64_t)g->n;
        bool first;
        if (!tree_keeps(&r->t->nodes.p[0], n))
            continue;
        TRY(is_first(r, r->answers, g->key, r->ids.n_cols, 1, &first, err));
        if (first)
            TRY(add_group(r, r->tally, g->key, answer_weight(r, g), err));
    }
    return OK;
}

static enum status visit_node(struct tree_run *r, uint32_t node,
                              struct err *err)
{
    struct tree_visit v = {r, node};
    return evaluate_list(r->q->p, r->data, r->steps[node].q, visit_key, &v,
                         err);
}

/* --- differences -----------------------------------------------------------
 */

enum { ATOMS_OF_DIFFERENCE = 2 }; /* of the root, one where they weigh */

/*
 * NOT EXISTS alone, and the answers are told apart by all that it looks at:
 * those of the root less those of the path to the subquery, each counted by the
 * join engine. Without a subquery: those of the root.
 *
 * PRIVACY: decided by the query. Products of so few tables stay below
 * COUNT_MOST, so neither number is cut, and the difference is the count.
 */
static bool is_difference(const struct tree_branch *t,
                          const struct tree_step *root, bool united)
{
    const struct tree_node *n = &t->nodes.p[0];
    size_t atoms = 0;
    for (size_t i = 0; i < t->b.atoms.n; i++)
        atoms += t->atom_node.p[i] == 0;
    if (united || !root->counts || tree_counts(n) || n->unsat || t->b.unsat ||
        atoms > ATOMS_OF_DIFFERENCE / (t->b.weight.on ? 2 : 1))
        return false;
    return t->nodes.n == 1 ? !n->f
                           : t->nodes.n == 2 && n->f && n->f->kind == F_CHILD &&
                                 n->f->negated && tree_is_anti_join(t, 1);
}

static enum status add_answers(void *ctx, const struct value *key, u128 count,
                               struct err *err)
{
    struct tree_run *r = ctx;
    return add_group(r, r->tally, key, count, err);
}

static enum status take_answers(void *ctx, const struct value *key, u128 count,
                                struct err *err)
{
    struct tree_run *r = ctx;
    uint64_t place;
    TRY(find_group(r, r->tally, key, &place, err));
    struct tree_group *g = &r->tally->groups.p[place];
    u128 *sum = cq_weight_negative(&r->t->b.weight) ? &g->minus : &g->n;
    *sum -= count;
    return OK;
}

static enum status count_path(struct tree_run *r, uint32_t node,
                              struct err *err)
{
    struct cq *path;
    aset own;
    TRY(tree_path(r->a, r->t, node, &path, &own, err));
    return path->unsat
               ? OK
               : evaluate_list(r->q->p, r->data, path,
                               node ? take_answers : add_answers, r, err);
}

/* --- branches --------------------------------------------------------------
 */

static enum status find_places(struct tree_run *r, struct err *err)
{
    size_t n = r->t->nodes.n;
    r->place = NEWS(r->a, uint32_t *, n);
    if (!r->place)
        return err_nomem(err);
    for (uint32_t w = 1; w < n; w++) {
        const struct tree_step *s = &r->steps[w];
        const struct tree_step *up = &r->steps[r->t->nodes.p[w].parent];
        r->place[w] = NEWS(r->a, uint32_t, s->n_up + 1);
        if (!r->place[w])
            return err_nomem(err);
        for (uint32_t i = 0; i < s->n_up; i++) {
            uint32_t k = 0;
            while (k < up->n_keys && up->vars[k] != s->vars[i])
                k++;
            if (k == up->n_keys)
                return err_internal(err, "a subquery's key is not listed");
            r->place[w][i] = k;
        }
    }
    return OK;
}

/* Is another branch of the same tag to be united with this one? */
static bool is_united(const struct ctree *t, size_t branch)
{
    for (size_t i = 0; i < t->n_branches; i++)
        if (i != branch && t->branches[i]->tag == t->branches[branch]->tag)
            return true;
    return false;
}

static enum status run_branch(struct tree_run *r, size_t branch,
                              struct err *err)
{
    const struct ctree *tree = r->q->tree;
    r->t = tree->branches[branch];
    size_t n = r->t->nodes.n;
    bool united = is_united(tree, branch);
    TRY(tree_steps(r->a, r->t, united, &r->steps, err));
    if (is_difference(r->t, &r->steps[0], united)) {
        for (uint32_t node = 0; node < n; node++)
            TRY(count_path(r, node, err));
        return OK;
    }
    TRY(find_places(r, err));
    r->sets = NEWS(r->a, struct key_set, n);
    r->seen = NEWS(r->a, struct map, n);
    r->vals = NEWS(r->a, struct value, r->t->b.vars.n + 1);
    if (!r->sets || !r->seen || !r->vals)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        key_set_init(&r->sets[i], r->a);
        map_init(&r->seen[i], r->a);
    }
    r->ids = (struct tree_tally){.n_cols = r->steps[0].n_up};
    map_init(&r->ids.map, r->a);
    for (uint32_t node = (uint32_t)n; node-- > 0;)
        TRY(visit_node(r, node, err));
    return keep_answers(r, err);
}

static enum status run_tree(struct tree_run *r, struct err *err)
{
    const struct ctree *tree = r->q->tree;
    struct map *answers = NEWS(r->a, struct map, tree->n_branches);
    if (!answers)
        return err_nomem(err);
    map_init(&r->tally->map, r->a);
    r->tally->n_cols = tree->branches[0]->b.n_group;
    for (size_t i = 0; i < tree->n_branches; i++) {
        size_t first = 0; /* the branches of one tag share their answers */
        while (tree->branches[first]->tag != tree->branches[i]->tag)
            first++;
        if (first == i)
            map_init(&answers[i], r->a);
        r->answers = &answers[first];
        TRY(run_branch(r, i, err));
    }
    return OK;
}

/* Both are at most COUNT_MOST, so the difference is one of 128 bits. */
static u128 total_of(const struct tree_group *g)
{
    return g->n - g->minus;
}

static enum status read_keys(struct tree_run *r, const struct group_keys *k,
                             struct secret_count *out, struct err *err)
{
    size_t n_cols = k->n_cols, n = n_cols ? k->n : 1;
    const struct value **at = NEWS(r->a, const struct value *, n_cols + 1);
    if (!at)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct str bytes;
        for (size_t c = 0; c < n_cols; c++)
            at[c] = &k->vals[i * n_cols + c];
        TRY(key_bytes(r->a, at, n_cols, &bytes, err));
        uint64_t *place = map_find(&r->tally->map, bytes);
        out[i] =
            secret_count_of(place ? total_of(&r->tally->groups.p[*place]) : 0);
    }
    return OK;
}

/* Counts, and gives `each` what came of it. */
static enum status with_run(struct count *q, struct evaluated *data,
                            enum status (*each)(struct tree_run *r, void *ctx,
                                                struct err *err),
                            void *ctx, struct err *err)
{
    struct arena a;
    struct tree_tally tally = {0};
    struct tree_run r = {.q = q, .data = data, .a = &a, .tally = &tally};
    arena_init(&a, &q->p->session->mem);
    a.wipe = true;
    enum status st = run_tree(&r, err);
    if (st == OK)
        st = each(&r, ctx, err);
    arena_fini(&a);
    return st;
}

struct tree_keys {
    const struct group_keys *k;
    struct secret_count *out;
};

static enum status take_keys(struct tree_run *r, void *ctx, struct err *err)
{
    const struct tree_keys *x = ctx;
    return read_keys(r, x->k, x->out, err);
}

enum status evaluate_tree(struct count *q, struct evaluated *data,
                          const struct group_keys *k, struct secret_count *out,
                          struct err *err)
{
    struct tree_keys x = {k, out};
    return with_run(q, data, take_keys, &x, err);
}

struct tree_listing {
    enum status (*each)(void *ctx, const struct value *key, u128 count,
                        struct err *err);
    void *ctx;
};

static enum status list_groups(struct tree_run *r, void *ctx, struct err *err)
{
    const struct tree_listing *x = ctx;
    for (size_t i = 0; i < r->tally->groups.n; i++) {
        const struct tree_group *g = &r->tally->groups.p[i];
        if (g->n || g->minus) /* PRIVACY: no answer is left: no key */
            TRY(x->each(x->ctx, g->key, total_of(g), err));
    }
    return OK;
}

enum status
evaluate_tree_groups(struct count *q, struct evaluated *data,
                     enum status (*each)(void *ctx, const struct value *key,
                                         u128 count, struct err *err),
                     void *ctx, struct err *err)
{
    struct tree_listing x = {each, ctx};
    return with_run(q, data, list_groups, &x, err);
}

static enum status add_up(struct tree_run *r, void *ctx, struct err *err)
{
    struct secret_count *out = ctx;
    struct tree_group all = {0};
    (void)err;
    for (size_t i = 0; i < r->tally->groups.n; i++) {
        all.n = count_add(all.n, r->tally->groups.p[i].n);
        all.minus = count_add(all.minus, r->tally->groups.p[i].minus);
    }
    *out = secret_count_of(total_of(&all));
    return OK;
}

enum status evaluate_tree_total(struct count *q, struct evaluated *data,
                                struct secret_count *out, struct err *err)
{
    struct pushdown_tree_ask ask = {.total = true, .progress = &data->progress};
    if (data->sql)
        return pushdown_tree(q->p->source, q->tree, &ask, out, err);
    return with_run(q, data, add_up, out, err);
}
