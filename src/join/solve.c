/*
 * How the engine decides.
 *
 * A request falls apart into components that share no variable; their values
 * multiply. A component becomes a graph if its factors have at most two
 * variables once those that one atom alone has are aggregated out, and its
 * comparisons are `!=` or `<`. A graph is looked up by its key; if it is
 * new, it is planned (message_plan.c) and summed or searched. Where `<` is
 * asked, what shrinks to one atom row by row does so first. Everything else
 * is counted row by row if its atoms form a tree (rows.c); what is left goes to
 * the backtracking join (walk.c). Numbers that leave 64 bits on the way lead to
 * the same plans with several words (wide.h, words.h), never to that: how long
 * a count takes must not jump with its size.
 */
#include "base/reach.h"
#include "join/jointree/acyclic.h"
#include "join/message/wide.h"
#include "join/rows/rows.h"

#include <stddef.h>
#include <string.h>

static graph_solver graph_solve;

static enum status solve_new(struct join *j, const struct graph *g, u128 *out,
                             enum outcome *what, struct err *err)
{
    struct arena a;
    if (g->words)
        return wide_solve(j, g, graph_solve, out, what, err);
    TRY(acyclic_solve(j, g, out, what, err));
    if (*what == SOLVED)
        return OK;
    arena_init(&a, j->mem);
    struct plan *p = NEW(&a, struct plan);
    enum status s = p ? plan_make(j, &a, g, p, what, err) : err_nomem(err);
    const char *bad =
        DPC_CHECKS && s == OK && *what == SOLVED ? plan_check(p) : NULL;
    if (bad)
        s = err_internal(err, bad);
    if (s == OK && *what == SOLVED) {
        p->solve = graph_solve;
        plan_second_symmetry(p);
        s = p->root >= 0 || p->n_max ? solve_max(p, out, what, err)
                                     : solve_sum(p, out, what, err);
    }
    arena_fini(&a);
    return s;
}

/* The graph's value; remembered by its key. */
static enum status graph_solve(struct join *j, const struct graph *g, u128 *out,
                               enum outcome *what, struct err *err)
{
    uint32_t words[G_KEY];
    size_t n = graph_key(g, words);
    struct str key = {(const char *)words, n * sizeof *words};
    *what = SOLVED;
    if (n && memo_find(j, key, out))
        return OK;
    TRY(solve_new(j, g, out, what, err));
    return n && *what == SOLVED ? memo_put(j, key, *out, err) : OK;
}

static vset grow_component(const struct join *j, const struct request *r,
                           vset open)
{
    struct vset_reach x = {.set = vset_one(vset_min(open)), .within = ~(vset)0};
    while (vset_reach_round(&x)) {
        ASET_EACH (i, r->f)
            vset_reach_edge(&x, j->atoms[i].set);
        for (uint32_t i = 0; i < r->n_cmps; i++)
            vset_reach_edge(&x,
                            vset_one(r->cmps[i].l) | vset_one(r->cmps[i].r));
    }
    return x.set;
}

enum status request_part(struct join *j, const struct request *r, vset open,
                         struct arena *a, struct request *out, struct err *err)
{
    vset vars = grow_component(j, r, open);
    struct jcmp *cmps = NEWS(a, struct jcmp, r->n_cmps);
    if (!cmps)
        return err_nomem(err);
    *out = *r;
    out->vars = vars;
    out->boundary &= vars;
    out->outs &= vars;
    out->outside &= vars;
    out->fixed_set &= vars;
    out->f = 0;
    out->n_cmps = 0;
    ASET_EACH (i, r->f)
        if (j->atoms[i].set & vars)
            out->f |= aset_one(i);
    for (uint32_t i = 0; i < r->n_cmps; i++)
        if (vset_has(vars, r->cmps[i].l))
            cmps[out->n_cmps++] = r->cmps[i];
    out->cmps = cmps;
    return OK;
}

/* As a graph, with numbers of one word or, `wide`, of several. */
static enum status try_graph(struct join *j, const struct request *r,
                             struct arena *a, bool wide, u128 *out,
                             enum outcome *what, struct err *err)
{
    struct graph *g = NEW(a, struct graph);
    if (!g)
        return err_nomem(err);
    TRY(graph_make(j, r, a, wide, g, what, err));
    *out = 0;
    if (*what == SOLVED && g->scalar)
        TRY(graph_solve(j, g, out, what, err));
    *out = count_mul(count_clamp(*out), g->scalar);
    return OK;
}

static enum status try_rows(struct join *j, const struct request *r,
                            struct arena *a, bool wide, u128 *out,
                            enum outcome *what, struct err *err)
{
    return rows_solve(j, r, a, wide ? rows_words(j, r) : 1, out, what, err);
}

static enum status try_walk(struct join *j, const struct request *r,
                            struct arena *a, bool wide, u128 *out,
                            enum outcome *what, struct err *err)
{
    (void)a;
    (void)wide; /* all its numbers are */
    *what = SOLVED;
    return walk_run(j, r, out, err);
}

/* Tried in this order; the last one takes everything. */
static const struct join_engine {
    const char *name;
    bool wide; /* numbers of several words */
    enum status (*try)(struct join *j, const struct request *r, struct arena *a,
                       bool wide, u128 *out, enum outcome *what,
                       struct err *err);
} engines[] = {
    {"messages", false, try_graph},   {"messages, wide", true, try_graph},
    {"rows", false, try_rows},        {"rows, wide", true, try_rows},
    {"backtracking", true, try_walk},
};
enum { N_ENGINES = sizeof engines / sizeof *engines };
enum { MESSAGES = 0, ROWS = 2, WALK = 4 };
_Static_assert(sizeof((struct join *)0)->solved == N_ENGINES * sizeof(uint64_t),
               "a number for each engine");

bool join_engine_parts(const struct join *j, size_t i, const char **name,
                       uint64_t *parts)
{
    if (i > N_ENGINES)
        return false;
    *name = i ? engines[i - 1].name : "scan";
    *parts = i ? j->solved[i - 1] : j->scanned;
    return true;
}

/* PRIVACY: of what is steady the work is known before a row is read; which
 * engine takes a part follows from the query alone. */
static bool takes(const struct join *j, const struct request *r,
                  const struct join_engine *e)
{
    if (j->only_engine)
        return e == &engines[j->only_engine - 1];
    bool rows = e->try == try_rows && !r->n_cmps && !r->outside;
    return j->opt.steady ? rows || e->try == try_walk
                         : !j->only_wide || e->wide;
}

static bool has_order(const struct request *r)
{
    for (uint32_t i = 0; i < r->n_cmps; i++)
        if (r->cmps[i].op != CMP_NE)
            return true;
    return false;
}

static enum status try_tree(struct join *j, const struct request *r,
                            struct arena *a, u128 *out, enum outcome *what,
                            struct err *err)
{
    TRY(rows_solve_tree(j, r, a, out, what, err));
    j->solved[ROWS] += *what == SOLVED;
    *what = *what == SOLVED ? SOLVED : PASS;
    return OK;
}

/* One engine has so much work; j->tired: it did not suffice. */
static enum status take_turn(struct join *j, const struct request *r,
                             size_t engine, uint64_t work, u128 *out,
                             enum outcome *what, struct err *err)
{
    struct arena a;
    arena_init(&a, j->mem);
    j->tired = false;
    j->most_work = work;
    enum status s = engines[engine].try(j, r, &a, false, out, what, err);
    j->most_work = 0;
    j->solved[engine] += s == OK && *what == SOLVED;
    arena_fini(&a);
    return s;
}

static uint64_t n_rows(const struct join *j, const struct request *r)
{
    uint64_t n = 0;
    ASET_EACH (i, r->f)
        n += j->atoms[i].rel->n;
    return n;
}

/* A search by bounds is over soon or takes long, which shows in the rows alone;
 * the same is true of going along a path of rows. So they take turns, and what
 * each may do grows by as much as keeps all turns within a few times of the
 * better one. */
static enum status take_turns(struct join *j, const struct request *r,
                              u128 *out, enum outcome *what, struct err *err)
{
    enum { A_ROW = 32, GROWS = 4 }; /* ids: what it takes to begin with rows */
    *what = PASS;
    if (vset_count(r->boundary) < 2 || j->opt.steady || j->only_wide ||
        j->only_engine)
        return OK;
    j->tired = true;
    for (uint64_t work = A_ROW * n_rows(j, r); *what == PASS && j->tired;
         work *= GROWS) {
        TRY(take_turn(j, r, MESSAGES, work, out, what, err));
        if (*what == PASS && j->tired)
            TRY(take_turn(j, r, ROWS, work, out, what, err));
    }
    return OK;
}

/* Row by row takes a few passes over all rows: a search that needs fewer ids
 * comes before it. */
static enum status solve_order(struct join *j, const struct request *r,
                               struct arena *a, u128 *out, enum outcome *what,
                               struct err *err)
{
    enum { A_ROW = 4 };
    if (r->boundary)
        TRY(take_turn(j, r, MESSAGES, A_ROW * n_rows(j, r), out, what, err));
    return *what == SOLVED ? OK : try_tree(j, r, a, out, what, err);
}

static enum status solve_component(struct join *j, const struct request *r,
                                   struct arena *a, u128 *out, struct err *err)
{
    enum outcome what = PASS;
    if (has_order(r) && !j->opt.steady && !j->only_wide && !j->only_engine &&
        !graph_orders_go(j, r))
        TRY(solve_order(j, r, a, out, &what, err));
    if (what != SOLVED)
        TRY(take_turns(j, r, out, &what, err));
    for (size_t i = 0; i < N_ENGINES && what != SOLVED; i++) {
        const struct join_engine *e = &engines[i];
        if (!takes(j, r, e) || (what == WIDE && !e->wide))
            continue;
        TRY(e->try(j, r, a, e->wide, out, &what, err));
        j->solved[i] += what == SOLVED;
    }
    *out = count_clamp(*out);
    return what == SOLVED ? OK : err_internal(err, "no engine took a part");
}

/* Outputs that are all in the boundary have one value for each value of it:
 * what is asked is whether there is a result at all, of no boundary. The work
 * of what is steady was computed for the boundary. */
static void only_whether(const struct join *j, struct request *part)
{
    if (j->opt.steady || !vset_sub(part->outs, part->boundary) ||
        part->outside || part->fixed_set || part->each)
        return;
    part->outs = 0;
    part->boundary = 0;
}

/* Whether there is a result mostly shows in the first rows. */
static enum status solve_whether(struct join *j, const struct request *part,
                                 struct arena *a, u128 *out, struct err *err)
{
    enum outcome what = PASS;
    if (!part->outs && !part->boundary && !j->only_engine)
        TRY(walk_glance(j, part, out, &what, err)); /* no engine's part */
    return what == SOLVED ? OK : solve_component(j, part, a, out, err);
}

/* --- parts that are asked again ---------------------------------------------
 */

/* Equal atoms, boundary and outputs: an equal value. Graphs have keys of their
 * own; these are shorter by a byte than a whole word, as those of join.c. */
struct part_key {
    aset f;
    vset boundary, outs;
    uint8_t odd[3];
};
enum { PART_KEY = offsetof(struct part_key, odd) + 3 };

static bool is_plain(const struct join *j, const struct request *r)
{
    return !j->opt.steady && !j->only_wide && !r->outside && !r->fixed_set &&
           !r->each;
}

static enum status solve_part(struct join *j, struct request *part,
                              struct arena *a, u128 *out, struct err *err)
{
    struct part_key k = {0};
    struct str key = {(const char *)&k, PART_KEY};
    if (!is_plain(j, part))
        return solve_component(j, part, a, out, err);
    TRY(request_reduce(j, part, a, err));
    k.f = part->f;
    k.boundary = part->boundary;
    k.outs = part->outs & ~part->boundary;
    if (memo_find(j, key, out))
        return OK;
    TRY(solve_whether(j, part, a, out, err));
    return memo_put(j, key, *out, err);
}

enum status solve_request(struct join *j, const struct request *r,
                          struct arena *a, u128 *out, struct err *err)
{
    vset open = r->vars;
    *out = 1;
    ASET_EACH (i, r->f)
        if (!j->atoms[i].rel->n)
            *out = 0;
    while (open && *out) {
        struct request part;
        u128 value = 0;
        TRY(request_part(j, r, open, a, &part, err));
        only_whether(j, &part);
        TRY(solve_part(j, &part, a, &value, err));
        *out = count_mul(*out, value);
        open &= ~part.vars;
    }
    return OK;
}
