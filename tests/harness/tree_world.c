/* See tree_world.h. */
#include "harness/tree_world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness/tree_queries.h"
#include "num/rat.h"

static const char *const names[WORLD_TABLES] = {"r", "s", "p"};

/* --- the universe --------------------------------------------------------- */

static void pick_rows(struct world *w, uint64_t *seed)
{
    for (unsigned t = 0; t < WORLD_TABLES; t++) {
        unsigned want =
            t < 2 ? 3 + tree_query_below(seed, 2) : tree_query_below(seed, 4);
        for (unsigned tries = 0; w->n_rows[t] < want && tries < 40; tries++) {
            int *row = w->rows[t][w->n_rows[t]];
            bool same = false;
            for (int c = 0; c < 2; c++)
                row[c] = (int)tree_query_below(seed, 3) -
                         (tree_query_below(seed, 3) == 0);
            for (unsigned i = 0; i < w->n_rows[t]; i++)
                same |= !memcmp(row, w->rows[t][i], sizeof w->rows[t][i]);
            w->n_rows[t] += !same;
        }
    }
    w->n_slots = w->n_rows[0] + w->n_rows[1];
}

static bool in_instance(const struct world *w, unsigned set, unsigned t,
                        unsigned row)
{
    return t == 2 || (set >> (t ? w->n_rows[0] + row : row) & 1);
}

static void put_row(sqlite3_stmt *st, const int *row)
{
    for (int c = 0; c < 2; c++)
        if (row[c] == WORLD_NULL)
            sqlite3_bind_null(st, c + 1);
        else
            sqlite3_bind_int(st, c + 1, row[c]);
    sqlite3_step(st);
    sqlite3_reset(st);
}

static void load(const struct world *w, sqlite3_stmt **add, unsigned set)
{
    for (unsigned t = 0; t < WORLD_TABLES; t++)
        for (unsigned i = 0; i < w->n_rows[t]; i++)
            if (in_instance(w, set, t, i))
                put_row(add[t], w->rows[t][i]);
}

static void count_all(struct world *w)
{
    sqlite3 *db;
    sqlite3_stmt *add[WORLD_TABLES], *q;
    char text[64];
    sqlite3_open(":memory:", &db);
    for (unsigned t = 0; t < WORLD_TABLES; t++) {
        snprintf(text, sizeof text, "CREATE TABLE %s (x INT, y INT)", names[t]);
        sqlite3_exec(db, text, NULL, NULL, NULL);
        snprintf(text, sizeof text, "INSERT INTO %s VALUES (?, ?)", names[t]);
        sqlite3_prepare_v2(db, text, -1, &add[t], NULL);
    }
    if (sqlite3_prepare_v2(db, w->sql.p, (int)w->sql.n, &q, NULL))
        fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(db));
    for (unsigned set = 0; set < 1u << w->n_slots; set++) {
        sqlite3_exec(db, "DELETE FROM r; DELETE FROM s; DELETE FROM p", NULL,
                     NULL, NULL);
        load(w, add, set);
        sqlite3_step(q);
        w->count[set] = sqlite3_column_int64(q, 0);
        sqlite3_reset(q);
        w->valid[set] = true;
    }
    sqlite3_finalize(q);
    for (unsigned t = 0; t < WORLD_TABLES; t++)
        sqlite3_finalize(add[t]);
    sqlite3_close(db);
}

/* At most one value of y for one of x in r, if it is declared. */
static void keep_valid(struct world *w, bool key)
{
    for (unsigned set = 0; key && set < 1u << w->n_slots; set++)
        for (unsigned i = 0; i < w->n_rows[0]; i++)
            for (unsigned j = 0; j < i; j++)
                if ((set >> i & 1) && (set >> j & 1) &&
                    w->rows[0][i][0] == w->rows[0][j][0])
                    w->valid[set] = false;
}

bool world_make(struct world *w, uint64_t seed)
{
    struct err err;
    memset(w, 0, sizeof *w);
    mem_init(&w->mem, 0);
    arena_init(&w->arena, &w->mem);
    schema_init(&w->schema, &w->arena);
    pick_rows(w, &seed);
    bool key = tree_query_below(&seed, 3) == 0;
    for (unsigned i = 0; i < w->n_rows[0]; i++)
        key &= w->rows[0][i][0] != WORLD_NULL;
    w->sql = tree_query_text(&w->arena, &seed);
    struct str ddl = key ? STR("CREATE TABLE r (x integer PRIMARY KEY, y "
                               "integer); CREATE TABLE s (x integer, y "
                               "integer); CREATE TABLE p (x integer, y "
                               "integer);")
                         : STR("CREATE TABLE r (x integer, y integer); CREATE "
                               "TABLE s (x integer, y integer); CREATE TABLE p "
                               "(x integer, y integer);");
    if (sql_read_ddl(&w->schema, ddl, "ddl", &err) != OK ||
        schema_set_privacy(&w->schema, STR("p"), PRIVACY_PUBLIC, &err) != OK)
        return false;
    if (sql_read(&w->arena, &w->schema, w->sql, NULL, &w->st, &err) != OK ||
        !w->st.counts[0].tree)
        return false;
    struct bound_options opt = {0};
    if (bound_tree(&w->arena, w->st.counts[0].tree, w->st.counts[0].q, &opt,
                   &w->bound, &err) != OK)
        return false;
    for (size_t i = 0; i < w->bound.n_parts; i++)
        if (aset_count(cq_private_atoms(w->bound.parts[i].path)) > 5)
            return false;
    count_all(w);
    keep_valid(w, key);
    return true;
}

bool world_has_fragile(const char *sql)
{
    static struct world w;
    struct err err;
    struct bound_options opt = {0};
    bool found = false;
    memset(&w, 0, sizeof w);
    mem_init(&w.mem, 0);
    arena_init(&w.arena, &w.mem);
    schema_init(&w.schema, &w.arena);
    struct str ddl = STR("CREATE TABLE r (x integer, y integer); CREATE TABLE "
                         "s (x integer, y integer); CREATE TABLE p (x "
                         "integer, y integer);");
    if (sql_read_ddl(&w.schema, ddl, "ddl", &err) != OK ||
        sql_read(&w.arena, &w.schema, str_of(sql), NULL, &w.st, &err) != OK ||
        bound_tree(&w.arena, w.st.counts[0].tree, w.st.counts[0].q, &opt,
                   &w.bound, &err) != OK)
        fprintf(stderr, "%s: %s\n", sql, err.message);
    for (size_t i = 0; i < w.bound.n_parts; i++)
        found |= w.bound.parts[i].fragile;
    arena_fini(&w.arena);
    return found;
}

void world_free(struct world *w)
{
    arena_fini(&w->arena);
}

/* --- residual counts ------------------------------------------------------ */

struct loops {
    const struct world *w;
    const struct cq *q;
    unsigned set;
    aset f;
    vset boundary, outs;
    struct arena *a;
    int val[MAX_VARS]; /* -2: open */
    uint64_t (*found)[2];
    size_t n, cap;
    aset all, own; /* of a broken counter: see world_mutation */
    bool no_pairs, no_ancestors;
    const struct tree_part *soft; /* only with at most so many matches */
    uint64_t most;
};

static uint64_t matches(const struct loops *l, const struct tree_part *p);

static bool bind(struct loops *l, struct term t, int v)
{
    if (t.kind == TERM_ANY)
        return true;
    if (t.kind == TERM_CONST)
        return v != WORLD_NULL && l->q->consts[t.id].i == v;
    if (l->val[t.id] != -2)
        return l->val[t.id] == v && v != WORLD_NULL;
    if (v == WORLD_NULL && l->q->vars[t.id].nonnull)
        return false;
    l->val[t.id] = v;
    return true;
}

static bool side(const struct loops *l, struct term t, int *out)
{
    *out = t.kind == TERM_CONST ? (int)l->q->consts[t.id].i : l->val[t.id];
    return *out != -2;
}

static bool cmps_hold(const struct loops *l)
{
    for (uint32_t i = 0; i < l->q->n_cmps; i++) {
        int x, y;
        if (!side(l, l->q->cmps[i].l, &x) || !side(l, l->q->cmps[i].r, &y))
            continue;
        enum cmp_op op = l->q->cmps[i].op;
        if (x == WORLD_NULL || y == WORLD_NULL ||
            !(op == CMP_NE   ? x != y
              : op == CMP_LT ? x < y
                             : x <= y))
            return false;
    }
    return true;
}

static bool preds_hold(struct loops *l, uint32_t atom)
{
    struct value vals[MAX_VARS], out;
    struct err err;
    for (uint32_t v = 0; v < l->q->n_vars; v++)
        vals[v] = l->val[v] < 0 ? value_null() : value_int(l->val[v]);
    for (uint32_t i = 0; i < l->q->n_preds; i++)
        if (l->q->preds[i].atom == atom &&
            (expr_eval(l->a, l->q->preds[i].e, vals, &out, &err) != OK ||
             out.is_null || !out.i))
            return false;
    return true;
}

static uint64_t pack(const struct loops *l, vset vars)
{
    uint64_t k = 0;
    VSET_EACH (v, vars)
        k = k * 8 + (uint64_t)(l->val[v] + 2);
    return k;
}

static void note(struct loops *l)
{
    if (l->soft && matches(l, l->soft) > l->most)
        return;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 256;
        l->found = realloc(l->found, l->cap * sizeof *l->found);
    }
    l->found[l->n][0] = pack(l, l->boundary);
    l->found[l->n++][1] = pack(l, l->outs);
}

static void match(struct loops *l, aset left)
{
    if (!left) {
        if (cmps_hold(l))
            note(l);
        return;
    }
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    const struct atom *at = &l->q->atoms[i];
    for (unsigned r = 0; r < l->w->n_rows[at->table]; r++) {
        int saved[MAX_VARS];
        if (!in_instance(l->w, l->set, at->table, r))
            continue;
        memcpy(saved, l->val, sizeof saved);
        bool ok = bind(l, at->args[0], l->w->rows[at->table][r][0]) &&
                  bind(l, at->args[1], l->w->rows[at->table][r][1]);
        if (ok && at->rowid >= 0)
            l->val[at->rowid] = (int)r;
        if (ok && preds_hold(l, i) && cmps_hold(l))
            match(l, left & ~aset_one(i));
        memcpy(l->val, saved, sizeof saved);
    }
}

static int by_pair(const void *x, const void *y)
{
    return memcmp(x, y, 2 * sizeof(uint64_t));
}

static enum status loops_max(void *ctx, aset f, vset boundary, vset outs,
                             u128 *out, struct err *err)
{
    struct loops *l = ctx;
    (void)err;
    *out = 0;
    if (l->no_pairs && aset_count(l->all & ~f) > 1)
        return OK;
    if (l->no_ancestors)
        f &= l->own;
    l->boundary = boundary;
    l->outs = outs;
    l->n = 0;
    for (unsigned v = 0; v < MAX_VARS; v++)
        l->val[v] = -2;
    match(l, f);
    if (l->n)
        qsort(l->found, l->n, sizeof *l->found, by_pair);
    uint64_t most = 0, run = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (i && !memcmp(l->found[i], l->found[i - 1], sizeof *l->found))
            continue;
        run = i && l->found[i][0] == l->found[i - 1][0] ? run + 1 : 1;
        most = run > most ? run : most;
    }
    *out = most;
    return OK;
}

/* --- what a test breaks --- */

const char *world_mutation_name(enum world_mutation m)
{
    static const char *const text[] = {
        "sound",
        "no loss parts",
        "no positive children",
        "grandchildren forgotten",
        "a union without its other branches",
        "children without own atoms",
        "exchanging a row costs the larger of the two",
        "a range of numbers only gains",
        "signs flipped",
        "an own atom dropped",
        "a part without its ancestors",
        "an outer join or anti-join without the part of the root",
        "a union as the largest of its branches",
        "the largest part in place of the sum",
        "sets of two removed atoms dropped",
        "answers that are lost after k rows, not k + 1",
    };
    return text[m];
}

/* --- sequences ------------------------------------------------------------ */

static size_t mutated(struct world *w, enum world_mutation m,
                      struct tree_part *to)
{
    const struct ctree *t = w->st.counts[0].tree;
    size_t n = 0;
    for (size_t i = 0; i < w->bound.n_parts; i++) {
        struct tree_part p = w->bound.parts[i];
        uint32_t up = t->branches[p.branch]->nodes.p[p.node].parent;
        if (m == WORLD_NO_LOSS)
            p.loss = 0;
        if (m == WORLD_RANGES_ONLY_GAIN && p.gain)
            p.loss = 0;
        /* of children alone: flipping all of them changes no maximum */
        if (m == WORLD_SIGNS_FLIPPED && p.node) {
            p.gain = w->bound.parts[i].loss;
            p.loss = w->bound.parts[i].gain;
        }
        if (m == WORLD_OWN_ATOM_DROPPED && aset_count(p.own) > 1)
            p.own &= p.own - 1;
        if (m == WORLD_CHILDREN_WITHOUT_OWN && p.node)
            p.own = 0;
        if ((m == WORLD_NO_GRANDCHILDREN && p.node && up) ||
            (m == WORLD_NO_POSITIVE_CHILDREN && p.node && p.gain) ||
            (m == WORLD_NO_ROOT_PART && !p.node) ||
            (m == WORLD_FIRST_BRANCH_ONLY && p.branch))
            continue;
        to[n++] = p;
    }
    return n;
}

/* --- what is lost already --------------------------------------------------
 */

struct weigher {
    struct world *w;
    const struct tree_part *parts;
    unsigned set;
    enum world_mutation m;
    struct arena *a;
};

/* How many matches the subquery has for the values of the root in `l`. */
static uint64_t matches(const struct loops *l, const struct tree_part *p)
{
    aset root = aset_first_n(p->path->n_atoms) & ~p->own;
    vset known = cq_vars_of(p->path, root);
    struct loops c = *l;
    c.found = NULL;
    c.n = c.cap = 0;
    c.soft = NULL;
    c.boundary = 0;
    c.outs = cq_vars_of(p->path, p->own) & ~known;
    for (unsigned v = 0; v < MAX_VARS; v++)
        if (!vset_has(known, v))
            c.val[v] = -2;
    match(&c, p->own);
    if (c.n)
        qsort(c.found, c.n, sizeof *c.found, by_pair);
    uint64_t n = aset_count(p->own) == 1 ? c.n : 0; /* rows */
    for (size_t i = 0; aset_count(p->own) > 1 && i < c.n; i++)
        n += !i || memcmp(c.found[i], c.found[i - 1], sizeof *c.found);
    free(c.found);
    return n;
}

static enum status weigh(void *ctx, size_t part, aset f, vset boundary,
                         vset outs, uint64_t w[SENS_FRAGILE + 1],
                         struct err *err)
{
    struct weigher *x = ctx;
    unsigned early = x->m == WORLD_FRAGILE_TOO_EARLY;
    uint64_t all[SENS_FRAGILE + 1];
    for (unsigned d = 0; d <= SENS_FRAGILE; d++) {
        struct loops l = {.w = x->w,
                          .q = x->parts[part].path,
                          .set = x->set,
                          .a = x->a,
                          .soft = &x->parts[part],
                          .most = d};
        u128 t;
        if (d > WORLD_LEVELS + 2) {
            all[d] = all[d - 1];
            continue;
        }
        if (loops_max(&l, f, boundary, outs, &t, err) != OK)
            return E_INTERNAL;
        all[d] = (uint64_t)t;
        free(l.found);
    }
    for (unsigned d = 0; d <= SENS_FRAGILE; d++)
        w[d] = early && d ? all[d - 1] : all[d];
    return OK;
}

bool world_is_broken_by(struct world *w, enum world_mutation m)
{
    struct tree_part parts[64];
    size_t n = mutated(w, m, parts);
    bool differs = n != w->bound.n_parts, children = false, branches = false;
    bool fragile = false;
    for (size_t i = 0; !differs && i < n; i++) {
        const struct tree_part *p = &w->bound.parts[i];
        differs = parts[i].own != p->own || parts[i].fragile != p->fragile ||
                  parts[i].gain != p->gain || parts[i].loss != p->loss;
    }
    for (size_t i = 0; i < w->bound.n_parts; i++) {
        fragile |= w->bound.parts[i].fragile;
        children |= w->bound.parts[i].node > 0;
        branches |= w->bound.parts[i].branch > 0;
    }
    return differs || (m == WORLD_LARGEST_BRANCH && branches) ||
           (m == WORLD_LARGEST_PART && n > 1) ||
           (m == WORLD_NO_ANCESTORS && children) ||
           (m == WORLD_FRAGILE_TOO_EARLY && fragile) ||
           m == WORLD_PAIRS_DROPPED || m == WORLD_EXCHANGE_AS_MAX;
}

static bool sequence_of(struct world *w, unsigned set, enum world_mutation m,
                        bool both, const struct tree_part *parts, size_t n,
                        uint64_t *out)
{
    struct sens_counter counters[64];
    struct loops loops[64];
    struct arena a;
    struct sens s = {0};
    struct err err;
    mpq_t beta;
    arena_init(&a, &w->mem);
    for (size_t i = 0; i < n; i++) {
        loops[i] = (struct loops){.w = w,
                                  .q = parts[i].path,
                                  .set = set,
                                  .a = &a,
                                  .all = cq_private_atoms(parts[i].path),
                                  .own = parts[i].own,
                                  .no_pairs = m == WORLD_PAIRS_DROPPED,
                                  .no_ancestors = m == WORLD_NO_ANCESTORS};
        counters[i] = (struct sens_counter){.ctx = &loops[i], .max = loops_max};
    }
    mpq_init(beta);
    mpq_set_ui(beta, 1, 1);
    struct weigher x = {w, parts, set, m, &a};
    struct sens_fragile fragile = {&x, weigh};
    struct sens_options opt = {.beta = beta,
                               .fragile = &fragile,
                               .both_signs = both && m != WORLD_EXCHANGE_AS_MAX,
                               .in_release = m != WORLD_SOUND,
                               .global_upper = U128_INF};
    bool ok = sens_compute_parts(&a, parts, n, counters, &opt, &s, &err) == OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    for (unsigned k = 0; ok && k <= WORLD_LEVELS; k++)
        out[k] = mpz_get_ui(s.ls_hat[k]);
    sens_fini(&s);
    mpq_clear(beta);
    for (size_t i = 0; i < n; i++)
        free(loops[i].found);
    arena_fini(&a);
    return ok;
}

/* All parts together; of a broken one the largest of several groups. */
static bool sequence(struct world *w, unsigned set, enum world_mutation m,
                     bool both)
{
    struct tree_part parts[64];
    size_t n = mutated(w, m, parts), from = 0;
    for (unsigned k = 0; k <= WORLD_LEVELS; k++)
        w->seq[both][k][set] = 0;
    do {
        uint64_t out[WORLD_LEVELS + 1] = {0};
        size_t to = from + 1;
        while (to < n && m != WORLD_LARGEST_PART &&
               (m != WORLD_LARGEST_BRANCH ||
                parts[to].branch == parts[from].branch))
            to++;
        to = to < n ? to : n;
        if (!sequence_of(w, set, m, both, parts + from, to - from, out))
            return false;
        for (unsigned k = 0; k <= WORLD_LEVELS; k++)
            if (out[k] > w->seq[both][k][set])
                w->seq[both][k][set] = out[k];
        from = to;
    } while (from < n);
    return true;
}

/* One step: a row more or less, or exchanged within a table. */
static bool are_neighbours(const struct world *w, unsigned x, unsigned y,
                           bool exchange)
{
    unsigned first = (1u << w->n_rows[0]) - 1, d = x ^ y;
    if (__builtin_popcount(d) == 1)
        return true;
    bool one_table = !(d & first) || !(d & ~first);
    return exchange && one_table && __builtin_popcount(d) == 2 &&
           __builtin_popcount(d & x) == 1;
}

static uint64_t difference(const struct world *w, unsigned x, unsigned y)
{
    int64_t d = w->count[x] - w->count[y];
    return (uint64_t)(d < 0 ? -d : d);
}

static unsigned breaches(struct world *w, bool both)
{
    static uint64_t ls[WORLD_LEVELS][1 << WORLD_SLOTS];
    unsigned n = 1u << w->n_slots, bad = 0;
    u128 most = 0;
    memset(ls, 0, sizeof ls);
    for (unsigned k = 0; k < WORLD_LEVELS; k++)
        for (unsigned x = 0; x < n; x++)
            for (unsigned y = 0; w->valid[x] && y < n; y++) {
                if (!w->valid[y] || !are_neighbours(w, x, y, both))
                    continue;
                uint64_t d = k ? ls[k - 1][y] : difference(w, x, y);
                ls[k][x] = d > ls[k][x] ? d : ls[k][x];
                if (k && ls[k - 1][x] > ls[k][x])
                    ls[k][x] = ls[k - 1][x];
                /* S: the next value of a neighbour is no smaller */
                bad += w->seq[both][k][x] > w->seq[both][k + 1][y];
            }
    for (unsigned k = 0; k < WORLD_LEVELS; k++)
        for (unsigned x = 0; x < n; x++) {
            bad += w->valid[x] && ls[k][x] > w->seq[both][k][x];
            most = ls[0][x] > most ? ls[0][x] : most;
        }
    for (size_t i = 0; i < w->bound.n_relations; i++) {
        const struct bound_relation *r = &w->bound.relations[i];
        u128 sum = u128_add_inf(r->gain, r->loss);
        u128 max = r->gain > r->loss ? r->gain : r->loss;
        if ((both ? sum : max) >= most)
            most = 0;
    }
    return bad + (most > 0);
}

unsigned world_breaches(struct world *w, enum world_mutation m)
{
    unsigned bad = 0;
    for (int both = 0; both < 2; both++) {
        for (unsigned set = 0; set < 1u << w->n_slots; set++)
            if (w->valid[set] && !sequence(w, set, m, both))
                return 1000000;
        bad += breaches(w, both);
    }
    return bad;
}
