/* See sum_world.h. */
#include "harness/sum_world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "num/rat.h"

static const char *const names[SUM_TABLES] = {"r", "s", "p"};

static unsigned below(uint64_t *seed, unsigned n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*seed >> 33) % n);
}

/* --- random text ---------------------------------------------------------- */

struct sum_gen {
    uint64_t *seed;
    struct sb *b;
    unsigned n_alias;
};

struct sum_names { /* aliases that can be named */
    unsigned alias[8], n;
};

static void column(struct sum_gen *g, const struct sum_names *s)
{
    sb_printf(g->b, "t%u.%c", s->alias[below(g->seed, s->n)],
              below(g->seed, 2) ? 'x' : 'y');
}

static void compare(struct sum_gen *g, const struct sum_names *s)
{
    static const char *const ops[] = {"=", "=", "<>", "<", ">="};
    unsigned k = below(g->seed, 4);
    column(g, s);
    if (k == 0) {
        sb_printf(g->b, " IS %sNULL", below(g->seed, 2) ? "NOT " : "");
        return;
    }
    sb_printf(g->b, " %s ", ops[below(g->seed, 5)]);
    if (k == 1)
        sb_printf(g->b, "%u", below(g->seed, 2));
    else
        column(g, s);
}

static void from(struct sum_gen *g, unsigned n, struct sum_names *s)
{
    sb_cstr(g->b, " FROM ");
    for (unsigned i = 0; i < n; i++) {
        s->alias[s->n] = ++g->n_alias;
        sb_printf(g->b, "%s%s AS t%u", i ? ", " : "",
                  names[below(g->seed, SUM_TABLES)], s->alias[s->n++]);
    }
}

static void condition(struct sum_gen *g, const struct sum_names *s,
                      unsigned depth);

enum sum_selected { ONE, VALUE };

/* what: of the SELECT list */
static void select_text(struct sum_gen *g, const struct sum_names *outer,
                        enum sum_selected what, unsigned depth)
{
    struct sum_names in = {{0}, 0}, all;
    struct sb body, *b = g->b;
    sb_init(&body, b->arena);
    g->b = &body;
    from(g, 1 + (below(g->seed, 3) == 0), &in);
    all = in;
    for (unsigned i = 0; outer && i < outer->n && all.n < 8; i++)
        all.alias[all.n++] = outer->alias[i];
    sb_cstr(g->b, " WHERE ");
    if (outer && below(g->seed, 5)) {
        column(g, &in);
        sb_cstr(g->b, " = ");
        column(g, outer);
    } else {
        compare(g, &in);
    }
    if (in.n == 2) {
        struct sum_names one = {{in.alias[0]}, 1}, two = {{in.alias[1]}, 1};
        sb_cstr(g->b, " AND ");
        column(g, &one);
        sb_cstr(g->b, " = ");
        column(g, &two);
    }
    if (below(g->seed, 2) == 0 && depth) {
        sb_cstr(g->b, " AND ");
        condition(g, &all, depth);
    }
    g->b = b;
    sb_printf(b, "SELECT %s", what == ONE ? "1" : "");
    if (what == VALUE)
        column(g, &in);
    sb_str(b, sb_view(&body));
}

static void condition(struct sum_gen *g, const struct sum_names *s,
                      unsigned depth)
{
    unsigned k = below(g->seed, depth ? 6 : 2);
    if (k < 2) {
        sb_cstr(g->b, "(");
        compare(g, s);
        sb_cstr(g->b, " OR ");
        if (depth && k)
            condition(g, s, depth - 1);
        else
            compare(g, s);
        sb_cstr(g->b, ")");
    } else if (k < 5) {
        sb_printf(g->b, "%sEXISTS (", below(g->seed, 4) ? "NOT " : "");
        select_text(g, s, ONE, depth - 1);
        sb_cstr(g->b, ")");
    } else {
        column(g, s);
        sb_printf(g->b, " %sIN (", below(g->seed, 3) ? "NOT " : "");
        select_text(g, s, VALUE, depth - 1);
        sb_cstr(g->b, ")");
    }
}

#include "harness/sum_texts.h"

/* --- the universe --------------------------------------------------------- */

static void pick_rows(struct sum_world *w, uint64_t *seed)
{
    for (unsigned t = 0; t < SUM_TABLES; t++) {
        unsigned want = t < 2 ? 3 + below(seed, 2) : below(seed, 4);
        for (unsigned tries = 0; w->n_rows[t] < want && tries < 40; tries++) {
            int *row = w->rows[t][w->n_rows[t]];
            bool same = false;
            for (int c = 0; c < 2; c++)
                row[c] = (int)below(seed, 3) - (below(seed, 3) == 0);
            for (unsigned i = 0; i < w->n_rows[t]; i++)
                same |= !memcmp(row, w->rows[t][i], sizeof w->rows[t][i]);
            w->n_rows[t] += !same;
        }
    }
    w->n_slots = w->n_rows[0] + w->n_rows[1];
}

static bool in_instance(const struct sum_world *w, unsigned set, unsigned t,
                        unsigned row)
{
    return t == 2 || (set >> (t ? w->n_rows[0] + row : row) & 1);
}

static void put_row(sqlite3_stmt *st, const int *row)
{
    for (int c = 0; c < 2; c++)
        if (row[c] == SUM_NULL)
            sqlite3_bind_null(st, c + 1);
        else
            sqlite3_bind_int(st, c + 1, row[c]);
    sqlite3_step(st);
    sqlite3_reset(st);
}

static void load(const struct sum_world *w, sqlite3_stmt **add, unsigned set)
{
    for (unsigned t = 0; t < SUM_TABLES; t++)
        for (unsigned i = 0; i < w->n_rows[t]; i++)
            if (in_instance(w, set, t, i))
                put_row(add[t], w->rows[t][i]);
}

static void count_all(struct sum_world *w)
{
    sqlite3 *db;
    sqlite3_stmt *add[SUM_TABLES], *q;
    char text[64];
    sqlite3_open(":memory:", &db);
    for (unsigned t = 0; t < SUM_TABLES; t++) {
        snprintf(text, sizeof text, "CREATE TABLE %s (x INT, y INT)", names[t]);
        sqlite3_exec(db, text, NULL, NULL, NULL);
        snprintf(text, sizeof text, "INSERT INTO %s VALUES (?, ?)", names[t]);
        sqlite3_prepare_v2(db, text, -1, &add[t], NULL);
    }
    if (sqlite3_prepare_v2(db, w->oracle.p, (int)w->oracle.n, &q, NULL))
        fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(db));
    for (unsigned set = 0; set < 1u << w->n_slots; set++) {
        sqlite3_exec(db, "DELETE FROM r; DELETE FROM s; DELETE FROM p", NULL,
                     NULL, NULL);
        load(w, add, set);
        sqlite3_step(q);
        w->count[set] = sqlite3_column_int64(q, 0);
        w->plus[set] = (uint64_t)sqlite3_column_int64(q, 1);
        w->minus[set] = (uint64_t)sqlite3_column_int64(q, 2);
        sqlite3_reset(q);
        w->valid[set] = true;
    }
    sqlite3_finalize(q);
    for (unsigned t = 0; t < SUM_TABLES; t++)
        sqlite3_finalize(add[t]);
    sqlite3_close(db);
}

/* At most one value of y for one of x in r, if it is declared. */
static void keep_valid(struct sum_world *w, bool key)
{
    for (unsigned set = 0; key && set < 1u << w->n_slots; set++)
        for (unsigned i = 0; i < w->n_rows[0]; i++)
            for (unsigned j = 0; j < i; j++)
                if ((set >> i & 1) && (set >> j & 1) &&
                    w->rows[0][i][0] == w->rows[0][j][0])
                    w->valid[set] = false;
}

static void begin(struct sum_world *w)
{
    memset(w, 0, sizeof *w);
    mem_init(&w->mem, 0);
    arena_init(&w->arena, &w->mem);
    schema_init(&w->schema, &w->arena);
}

/* Rows and texts are there. */
static bool read_world(struct sum_world *w, bool key)
{
    struct err err;
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
    clip_columns(w);
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

bool sum_world_make(struct sum_world *w, uint64_t seed)
{
    begin(w);
    pick_rows(w, &seed);
    bool key = below(&seed, 3) == 0;
    for (unsigned i = 0; i < w->n_rows[0]; i++)
        key &= w->rows[0][i][0] != SUM_NULL;
    sum_texts(w, &seed);
    return read_world(w, key);
}

bool sum_world_opposite(struct sum_world *w)
{
    static const int r[][2] = {{1, 0}, {1, 2}};
    static const int s[][2] = {{0, 1}, {1, 1}, {2, 1}, {SUM_NULL, 1}};
    begin(w);
    memcpy(w->rows[0], r, sizeof r);
    memcpy(w->rows[1], s, sizeof s);
    w->n_rows[0] = 2;
    w->n_rows[1] = 4;
    w->n_slots = 6;
    w->hi = 2;
    w->sql = STR("SELECT SUM(t1.y - 1) FROM r AS t1, s AS t2 "
                 "WHERE t1.x = t2.y");
    w->oracle = STR("SELECT SUM(t1.y - 1), SUM(MAX(t1.y - 1, 0)), "
                    "SUM(MAX(1 - t1.y, 0)) FROM r AS t1, s AS t2 "
                    "WHERE t1.x = t2.y");
    return read_world(w, false);
}

void sum_world_free(struct sum_world *w)
{
    arena_fini(&w->arena);
}

/* --- residual counts ------------------------------------------------------ */

struct sum_loops {
    const struct sum_world *w;
    const struct cq *q;
    unsigned set;
    aset f;
    vset boundary, outs;
    struct arena *a;
    int val[MAX_VARS];    /* -2: open */
    uint64_t (*found)[3]; /* boundary, outputs, what they weigh */
    size_t n, cap;
    bool no_weights;
};

/* Computed values are kept above those of columns: they may be negative. */
enum { COMPUTED = 16 };

static bool bind(struct sum_loops *l, struct term t, int v)
{
    if (t.kind == TERM_ANY)
        return true;
    if (t.kind == TERM_CONST)
        return v != SUM_NULL && l->q->consts[t.id].i == v;
    if (l->val[t.id] != -2)
        return l->val[t.id] == v && v != SUM_NULL;
    if (v == SUM_NULL && l->q->vars[t.id].nonnull)
        return false;
    l->val[t.id] = v;
    return true;
}

static bool side(const struct sum_loops *l, struct term t, int *out)
{
    *out = t.kind == TERM_CONST ? (int)l->q->consts[t.id].i : l->val[t.id];
    return *out != -2;
}

static bool cmps_hold(const struct sum_loops *l)
{
    for (uint32_t i = 0; i < l->q->n_cmps; i++) {
        int x, y;
        if (!side(l, l->q->cmps[i].l, &x) || !side(l, l->q->cmps[i].r, &y))
            continue;
        enum cmp_op op = l->q->cmps[i].op;
        if (x == SUM_NULL || y == SUM_NULL ||
            !(op == CMP_NE   ? x != y
              : op == CMP_LT ? x < y
                             : x <= y))
            return false;
    }
    return true;
}

static bool preds_hold(struct sum_loops *l, uint32_t atom)
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

static uint64_t pack(const struct sum_loops *l, vset vars)
{
    uint64_t k = 0;
    VSET_EACH (v, vars)
        k = k * 32 + (uint64_t)(l->val[v] + 2);
    return k;
}

static void compute(struct sum_loops *l, uint32_t atom)
{
    struct value vals[MAX_VARS], out;
    struct err err;
    for (uint32_t v = 0; v < l->q->n_vars; v++)
        vals[v] = l->val[v] < 0 ? value_null() : value_int(l->val[v]);
    for (uint32_t i = 0; i < l->q->n_calcs; i++) {
        if (l->q->calcs[i].atom != atom ||
            expr_eval(l->a, l->q->calcs[i].e, vals, &out, &err) != OK)
            continue;
        int v = out.type == T_INT || out.is_null ? (int)out.i : atoi(out.s.p);
        l->val[l->q->calcs[i].var] = out.is_null ? SUM_NULL : v + COMPUTED;
    }
}

static bool is_computed(const struct cq *q, uint32_t v)
{
    for (uint32_t i = 0; i < q->n_calcs; i++)
        if (q->calcs[i].var == v)
            return true;
    return false;
}

/* 1 where the weight's variable is no output. */
static uint64_t weight(const struct sum_loops *l)
{
    vset var = cq_weight_var(l->q) & l->outs;
    if (!var || l->no_weights)
        return 1;
    uint32_t v = vset_min(var);
    if (l->val[v] == SUM_NULL)
        return 0;
    int64_t x = l->val[v] - (is_computed(l->q, v) ? COMPUTED : 0);
    x = x < l->q->weight.lo ? l->q->weight.lo : x;
    x = x > l->q->weight.hi ? l->q->weight.hi : x;
    return (uint64_t)(x < 0 ? -x : x);
}

static void note(struct sum_loops *l)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 256;
        l->found = realloc(l->found, l->cap * sizeof *l->found);
    }
    l->found[l->n][0] = pack(l, l->boundary);
    l->found[l->n][2] = weight(l);
    l->found[l->n++][1] = pack(l, l->outs);
}

static void match(struct sum_loops *l, aset left)
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
        if (ok)
            compute(l, i);
        if (ok && preds_hold(l, i) && cmps_hold(l))
            match(l, left & ~aset_one(i));
        memcpy(l->val, saved, sizeof saved);
    }
}

static int by_pair(const void *x, const void *y)
{
    return memcmp(x, y, 3 * sizeof(uint64_t));
}

static enum status loops_max(void *ctx, aset f, vset boundary, vset outs,
                             u128 *out, struct err *err)
{
    struct sum_loops *l = ctx;
    (void)err;
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
        if (!i || l->found[i][0] != l->found[i - 1][0])
            run = 0;
        run += l->found[i][2];
        most = run > most ? run : most;
    }
    *out = most;
    return OK;
}

/* --- sequences ------------------------------------------------------------ */

static size_t mutated(struct sum_world *w, enum sum_mutation m,
                      struct tree_part *to)
{
    size_t n = 0;
    for (size_t i = 0; i < w->bound.n_parts; i++) {
        struct tree_part p = w->bound.parts[i];
        bool minus = cq_weight_negative(&p.path->weight);
        if (m == SUM_NO_LOSS)
            p.loss = 0;
        if ((m == SUM_FIRST_BRANCH_ONLY && p.branch) ||
            (m == SUM_NO_NEGATIVE && minus))
            continue;
        to[n++] = p;
    }
    return n;
}

/* The plan believes that nothing weighs more than 1. */
static const struct cq *without_unit(struct arena *a, const struct cq *q)
{
    struct cq *copy = NEW(a, struct cq);
    *copy = *q;
    copy->weight.lo = cq_weight_negative(&q->weight) ? -1 : 0;
    copy->weight.hi = cq_weight_negative(&q->weight) ? 0 : 1;
    return copy;
}

static uint64_t at_most(const struct sum_world *w, uint64_t v)
{
    return w->most && v > w->most ? w->most : v;
}

void sum_world_clamp(struct sum_world *w, uint64_t most, bool halved)
{
    bool is_signed = tree_is_signed(w->st.counts[0].tree);
    int64_t c = (int64_t)(is_signed && halved ? most / 2 : most);
    w->most = most;
    for (unsigned set = 0; set < 1u << w->n_slots; set++) {
        int64_t v = (int64_t)at_most(w, w->plus[set]) -
                    (int64_t)at_most(w, w->minus[set]);
        w->count[set] = v > c ? c : v < -c ? -c : v;
    }
}

static bool sequence(struct sum_world *w, unsigned set, enum sum_mutation m,
                     bool both)
{
    struct tree_part parts[64];
    struct sens_counter counters[64];
    struct sum_loops loops[64];
    struct arena a;
    struct sens s = {0};
    struct err err;
    mpq_t beta;
    size_t n = mutated(w, m, parts);
    arena_init(&a, &w->mem);
    for (size_t i = 0; i < n; i++) {
        loops[i] = (struct sum_loops){.w = w,
                                      .q = parts[i].path,
                                      .set = set,
                                      .a = &a,
                                      .no_weights = m == SUM_AS_COUNT};
        if (m == SUM_WITHOUT_UNIT)
            parts[i].path = without_unit(&a, parts[i].path);
        counters[i] = (struct sens_counter){.ctx = &loops[i], .max = loops_max};
    }
    mpq_init(beta);
    mpq_set_ui(beta, 1, 1);
    struct sens_options opt = {.beta = beta,
                               .both_signs = both && m != SUM_EXCHANGE_AS_MAX,
                               .in_release = m != SUM_SOUND,
                               .global_upper = U128_INF};
    bool ok = sens_compute_parts(&a, parts, n, counters, &opt, &s, &err) == OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    for (unsigned k = 0; ok && k <= SUM_LEVELS; k++)
        w->seq[both][k][set] = at_most(w, mpz_get_ui(s.ls_hat[k]));
    sens_fini(&s);
    mpq_clear(beta);
    for (size_t i = 0; i < n; i++)
        free(loops[i].found);
    arena_fini(&a);
    return ok;
}

/* One step: a row more or less, or exchanged within a table. */
static bool are_neighbours(const struct sum_world *w, unsigned x, unsigned y,
                           bool exchange)
{
    unsigned first = (1u << w->n_rows[0]) - 1, d = x ^ y;
    if (__builtin_popcount(d) == 1)
        return true;
    bool one_table = !(d & first) || !(d & ~first);
    return exchange && one_table && __builtin_popcount(d) == 2 &&
           __builtin_popcount(d & x) == 1;
}

static uint64_t difference(const struct sum_world *w, unsigned x, unsigned y)
{
    int64_t d = w->count[x] - w->count[y];
    return (uint64_t)(d < 0 ? -d : d);
}

static unsigned breaches(struct sum_world *w, bool both)
{
    static uint64_t ls[SUM_LEVELS][1 << SUM_SLOTS];
    unsigned n = 1u << w->n_slots, bad = 0;
    u128 most = 0;
    memset(ls, 0, sizeof ls);
    for (unsigned k = 0; k < SUM_LEVELS; k++)
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
    for (unsigned k = 0; k < SUM_LEVELS; k++)
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

unsigned sum_world_breaches(struct sum_world *w, enum sum_mutation m)
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
