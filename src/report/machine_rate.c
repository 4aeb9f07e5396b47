/*
 * calibrate: how many steps of strict mode this machine does in the time of
 * respond_after. OWNER. No source is opened; graphs are made up.
 *
 * The rate is the least of several: the backtracking join on a large sparse
 * graph, whose lists lie all over the memory, and on a small dense one, and
 * counting row by row; by processor time. Half of it is proposed, for reading
 * the rows, for what else runs on the machine and for starting processes.
 */
#include <time.h>

#include "base/json.h"
#include "bound/work.h"
#include "join/join.h"
#include "report/report.h"

enum { SPARSE_EDGES = 1 << 20, SPARSE_NODES = 1 << 14, DENSE_NODES = 300 };

/* Of processor time: a worker should have a processor of its own. */
static double seconds_now(void) /* display */
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9; /* display */
}

/* A rule over a graph, counted for half a second. */
struct rate {
    struct session *session;
    const char *name, *rule;
    uint64_t edges, nodes;
    double until;  /* display */
    double result; /* display: steps in a second */
    struct arena a;
    struct cq *q;
    u128 sizes[1];
};

static bool time_is_up(void *ctx)
{
    const struct rate *r = ctx;
    return seconds_now() > r->until || session_cancelled(r->session);
}

static enum status order_of(void *ctx, aset f, vset boundary, vset outs,
                            bool keys, uint32_t *rank, struct err *err)
{
    struct rate *r = ctx;
    struct bound_sizes sizes = {r->sizes};
    struct bound_ask ask = {f, boundary, outs, keys};
    u128 work;
    return bound_work(&r->a, r->q, &sizes, &ask, rank, &work, NULL, err);
}

/* Edges from a fixed generator: the graph is the same everywhere. */
static void fill(const struct rate *r, int64_t *src, int64_t *dst)
{
    uint64_t s = 88172645463325252u;
    for (uint64_t i = 0; i < r->edges; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        src[i] = (int64_t)(s % r->nodes);
        dst[i] = (int64_t)((s >> 32) % r->nodes);
    }
}

static enum status lend(struct rate *r, struct store *st, struct err *err)
{
    struct store_table *t = &st->tables[0];
    struct store_column *c = NEWS(&r->a, struct store_column, 2);
    int64_t *src = NEWS(&r->a, int64_t, r->edges);
    int64_t *dst = NEWS(&r->a, int64_t, r->edges);
    if (!c || !src || !dst)
        return err_nomem(err);
    fill(r, src, dst);
    c[0] = (struct store_column){.present = true, .type = T_INT, .i64 = src};
    c[1] = (struct store_column){.present = true, .type = T_INT, .i64 = dst};
    t->cols = c;
    t->n_cols = 2;
    t->n_rows = r->edges;
    t->loaded = true;
    return OK;
}

static enum status count_steps(struct rate *r, struct store *st,
                               struct err *err)
{
    struct join_options opt = {
        .cancelled = time_is_up, .ctx = r, .steady = order_of, .steady_ctx = r};
    struct join *j = NULL;
    struct err why;
    struct secret_count count;
    r->until = seconds_now() + 3600; /* display */
    TRY(join_open(&r->session->mem, r->q, st, &opt, &j, err));
    double start = seconds_now(); /* display */
    r->until = start + 0.5;       /* display */
    enum status s = OK;
    while (s == OK && !time_is_up(r)) {
        join_forget(j);
        s = join_count(j, &count, &why);
    }
    r->result = (double)join_steps(j) / (seconds_now() - start); /* display */
    join_close(j);
    if (session_cancelled(r->session))
        return err_set(err, E_CANCELLED, "cancelled");
    return OK;
}

static enum status measure_in(struct rate *r, struct err *err)
{
    struct schema schema;
    struct store *st = NULL;
    schema_init(&schema, &r->a);
    TRY(cq_read(&r->a, &schema, str_of(r->rule), &r->q, err));
    TRY(store_new(&r->session->mem, &schema, &st, err));
    enum status s = lend(r, st, err);
    if (s == OK)
        s = count_steps(r, st, err);
    st->tables[0].cols = NULL; /* the arena's */
    st->tables[0].n_cols = 0;
    st->tables[0].loaded = false;
    store_free(st);
    return s;
}

static enum status measure(struct session *session, struct rate *r,
                           struct err *err)
{
    r->session = session;
    r->sizes[0] = r->edges;
    arena_init(&r->a, &session->mem);
    enum status s = measure_in(r, err);
    arena_fini(&r->a);
    return s;
}

/* Two digits, down: nobody should believe in more. */
static uint64_t rounded(double v) /* display */
{
    uint64_t n = v < 1 ? 1 : v > 1e18 ? (uint64_t)1e18 : (uint64_t)v, by = 1;
    while (n / by >= 100)
        by *= 10;
    return n / by * by;
}

static void report(const struct rate *rates, size_t n, int64_t after_ns,
                   struct result *out)
{
    double least = rates[0].result, seconds = (double)after_ns / 1e9;
    struct json j;
    json_init(&j, &out->json);
    json_begin(&j, '{');
    json_key(&j, "respond_after");
    json_double(&j, seconds);
    for (size_t i = 0; i < n; i++)
        least = rates[i].result < least ? rates[i].result : least;
    uint64_t most = rounded(least * seconds / 2); /* display */
    json_key(&j, "work_at_most");
    json_u128(&j, most);
    json_key(&j, "steps_per_second");
    json_begin(&j, '{');
    for (size_t i = 0; i < n; i++) {
        json_key(&j, rates[i].name);
        json_double(&j, rates[i].result);
        sb_printf(&out->text, "%-12s %.3g steps in a second\n", rates[i].name,
                  rates[i].result);
    }
    json_end(&j, '}');
    json_end(&j, '}');
    sb_printf(&out->text,
              "For the policy, where a worker has a processor to itself:\n"
              "limits: {strict: yes, respond_after: %g, work_at_most: %llu}\n",
              seconds, (unsigned long long)most);
}

enum status ask_calibrate(struct session *s, struct str query,
                          struct result *out, struct err *err)
{
    struct rate rates[] = {
        {.name = "sparse",
         .rule = "Q(a,b,c) :- edge(a,b), edge(b,c), edge(a,c).",
         .edges = SPARSE_EDGES,
         .nodes = SPARSE_NODES},
        {.name = "dense",
         .rule = "Q(a,b,c) :- edge(a,b), edge(b,c), edge(a,c).",
         .edges = (uint64_t)DENSE_NODES * DENSE_NODES,
         .nodes = DENSE_NODES},
        {.name = "rows",
         .rule = "Q(a,b,c) :- edge(a,b), edge(b,c).",
         .edges = SPARSE_EDGES,
         .nodes = SPARSE_NODES},
    };
    size_t n = sizeof rates / sizeof *rates;
    int64_t after_ns = 0;
    (void)query;
    if (!s->opt.respond_after.n) {
        err_set(err, E_USAGE, "no time was given");
        err_hint(err, "Say when replies come: --respond-after SECONDS.");
        return E_USAGE;
    }
    TRY(moment_seconds(s->opt.respond_after, "respond-after", &after_ns, err));
    for (size_t i = 0; i < n; i++)
        TRY(measure(s, &rates[i], err));
    report(rates, n, after_ns, out);
    return OK;
}
