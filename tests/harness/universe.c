#include "harness/universe.h"

#include <string.h>
#include "sens/capped.h"
#include "sens/elastic.h"

uint64_t universe_random(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static bool add_slots(struct universe *u, unsigned table, int domain,
                      int copies)
{
    size_t cols = u->q->schema->tables.p[table].n_cols;
    int rows = 1;
    for (size_t c = 0; c < cols; c++)
        rows *= domain;
    for (int i = 0; i < rows * copies; i++) {
        if (u->n_slots == SLOTS)
            return false;
        int code = i / copies;
        for (size_t c = 0; c < cols; c++, code /= domain)
            u->row_of[u->n_slots][c] = code % domain * TINY_GAP;
        u->table_of[u->n_slots] = table;
        u->tables[table] |= 1u << u->n_slots++;
    }
    return true;
}

static void add_public(struct universe *u, unsigned table, int domain,
                       uint64_t *seed)
{
    struct tiny_table *t = &u->base.tables[table];
    size_t cols = u->q->schema->tables.p[table].n_cols;
    int rows = 1;
    for (size_t c = 0; c < cols; c++)
        rows *= domain;
    for (int i = 0; i < rows && t->n_rows < TINY_ROWS; i++) {
        int code = i;
        if (universe_random(seed, 2))
            continue;
        for (size_t c = 0; c < cols; c++, code /= domain)
            t->rows[t->n_rows][c] = code % domain * TINY_GAP;
        t->n_rows++;
    }
}

void universe_instance(const struct universe *u, unsigned set, struct tiny *t)
{
    *t = u->base;
    for (unsigned s = 0; s < u->n_slots; s++)
        if (set >> s & 1) {
            struct tiny_table *tab = &t->tables[u->table_of[s]];
            memcpy(tab->rows[tab->n_rows++], u->row_of[s], sizeof u->row_of[s]);
        }
}

static bool equal_on(const int *x, const int *y, const uint32_t *cols, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[cols[i]] != y[cols[i]])
            return false;
    return true;
}

/* At most d->k different Y for each X. A key and a bound on the rows count
 * rows, not values. */
static bool satisfies(const struct tiny_table *t, const struct degree *d,
                      size_t n_cols)
{
    bool rows = d->is_key || (d->n_x == 0 && d->n_y == n_cols);
    for (size_t r = 0; r < t->n_rows; r++) {
        u128 n = 0;
        for (size_t s = 0; s < t->n_rows; s++) {
            if (!equal_on(t->rows[r], t->rows[s], d->x, d->n_x))
                continue;
            bool seen = false;
            for (size_t e = 0; e < s && !rows; e++)
                seen =
                    seen || (equal_on(t->rows[r], t->rows[e], d->x, d->n_x) &&
                             equal_on(t->rows[s], t->rows[e], d->y, d->n_y));
            n += !seen;
        }
        if (n > d->k)
            return false;
    }
    return true;
}

static bool is_valid(const struct universe *u, const struct tiny *t)
{
    const struct schema *s = u->q->schema;
    for (size_t i = 0; i < s->tables.n; i++)
        for (size_t d = 0; d < s->tables.p[i].degrees.n; d++)
            if (!satisfies(&t->tables[i], &s->tables.p[i].degrees.p[d],
                           s->tables.p[i].n_cols))
                return false;
    return true;
}

void universe_recount(struct universe *u)
{
    for (unsigned set = 0; set < 1u << u->n_slots; set++) {
        struct tiny t;
        universe_instance(u, set, &t);
        u->valid[set] = is_valid(u, &t);
        u->count[set] = u->valid[set] ? tiny_count(&t) : 0;
    }
}

bool universe_init(struct universe *u, const struct cq *q, int domain,
                   int copies, uint64_t *seed)
{
    memset(u, 0, sizeof *u);
    u->q = q;
    u->base.q = q;
    u->base.domain = domain;
    if (q->schema->tables.n > TINY_TABLES)
        return false;
    for (unsigned i = 0; i < q->schema->tables.n; i++) {
        if (!cq_atoms_of_table(q, i))
            continue;
        if (!table_is_private(&q->schema->tables.p[i]))
            add_public(u, i, domain, seed);
        else if (!add_slots(u, i, domain, copies))
            return false;
    }
    universe_recount(u);
    return u->valid[0];
}

unsigned universe_distance(const struct universe *u, unsigned x, unsigned y)
{
    unsigned d = 0;
    for (unsigned i = 0; i < TINY_TABLES; i++) {
        unsigned more = (unsigned)__builtin_popcount(x & ~y & u->tables[i]);
        unsigned less = (unsigned)__builtin_popcount(y & ~x & u->tables[i]);
        d += more > less ? more : less;
    }
    return d;
}

void universe_local(struct universe *u, unsigned order)
{
    unsigned n = 1u << u->n_slots;
    memset(u->local, 0, sizeof u->local);
    for (unsigned x = 0; x < n; x++)
        for (unsigned y = 0; u->valid[x] && y < n; y++) {
            if (!u->valid[y] || universe_distance(u, x, y) > order)
                continue;
            uint64_t d = u->count[x] > u->count[y] ? u->count[x] - u->count[y]
                                                   : u->count[y] - u->count[x];
            if (d > u->local[0][x])
                u->local[0][x] = d;
        }
    for (unsigned k = 1; k < 3; k++)
        for (unsigned x = 0; x < n; x++)
            for (unsigned y = 0; u->valid[x] && y < n; y++)
                if (u->valid[y] && universe_distance(u, x, y) <= k * order &&
                    u->local[0][y] > u->local[k][x])
                    u->local[k][x] = u->local[0][y];
}

unsigned universe_violations(const struct universe *u, unsigned order,
                             universe_sequence *seq)
{
    unsigned bad = 0, n = 1u << u->n_slots;
    for (unsigned x = 0; x < n; x++) {
        if (!u->valid[x])
            continue;
        for (unsigned k = 0; k < 3; k++)
            bad += u->local[k][x] > (*seq)[k][x];
        for (unsigned y = 0; y < n; y++) {
            if (!u->valid[y] || universe_distance(u, x, y) > order)
                continue;
            for (unsigned k = 0; k + 1 < LEVELS; k++)
                bad += (*seq)[k][x] > (*seq)[k + 1][y];
        }
    }
    return bad;
}

static uint64_t small(mpz_srcptr z)
{
    return mpz_fits_ulong_p(z) ? mpz_get_ui(z) : UINT64_MAX;
}

/* T of one instance, then `each` on the state. */
static bool on_instance(struct universe *u, unsigned set, bool mixed,
                        bool broken, struct sens_state *s, struct err *err)
{
    struct tiny t;
    universe_instance(u, set, &t);
    t.mixed_filters = mixed;
    struct sens_counter c = {
        .ctx = &t, .max = tiny_max, .max_exact = tiny_max_exact};
    enum status st = sens_state_fill(s, &c, err);
    if (st == OK)
        st = sens_state_check(s, err);
    return st == OK || (broken && (st == E_INTERNAL || st == E_CONSTRAINT));
}

static bool capped_on(struct universe *u, unsigned set,
                      const struct sens_plan *p, unsigned order, u128 global,
                      bool mixed, bool broken, universe_sequence *seq,
                      struct err *err)
{
    struct mem m;
    struct arena a;
    struct sens_state s;
    struct sens_paper paper = {0};
    struct sens_capped c;
    mpq_t beta;
    mpz_t v, w;
    mem_init(&m, 0);
    arena_init(&a, &m);
    mpq_init(beta);
    mpq_set_ui(beta, 1, 1);
    mpz_inits(v, w, (mpz_ptr)NULL);
    bool ok =
        sens_state_new(&a, p, &s, err) == OK &&
        on_instance(u, set, mixed, broken, &s, err) &&
        sens_paper_new(&a, &s, LEVELS * order, &paper, err) == OK &&
        sens_capped_init(&c, &a, &s, &paper, beta, order, global, err) == OK;
    if (ok) {
        for (unsigned k = 0; k < LEVELS; k++) {
            c.seq.value(&c, k, v);
            (*seq)[k][set] = small(v);
            c.seq.bound(&c, k, w);
            ok = ok && (!p->wide || mpz_cmp(w, v) >= 0); /* V of the stop */
        }
        if (!ok)
            err_set(err, E_INTERNAL, "the bound of the stop rule is too low");
        sens_capped_fini(&c);
    }
    sens_paper_fini(&paper);
    sens_state_fini(&s);
    mpz_clears(v, w, (mpz_ptr)NULL);
    mpq_clear(beta);
    arena_fini(&a);
    return ok;
}

bool universe_capped(struct universe *u, const struct sens_plan *p,
                     unsigned order, u128 global, bool mixed, bool broken,
                     universe_sequence *seq, struct err *err)
{
    for (unsigned set = 0; set < 1u << u->n_slots; set++)
        if (u->valid[set] &&
            !capped_on(u, set, p, order, global, mixed, broken, seq, err))
            return false;
    return true;
}

static bool paper_on(struct universe *u, unsigned set,
                     const struct sens_plan *p, universe_sequence *seq,
                     struct err *err)
{
    struct mem m;
    struct arena a;
    struct sens_state s;
    struct sens_paper paper = {0};
    mpz_t v;
    mem_init(&m, 0);
    arena_init(&a, &m);
    mpz_init(v);
    bool ok = sens_state_new(&a, p, &s, err) == OK &&
              on_instance(u, set, false, false, &s, err) &&
              sens_paper_new(&a, &s, LEVELS, &paper, err) == OK;
    for (unsigned k = 0; ok && k < LEVELS; k++)
        if ((ok = sens_paper_at(&paper, k, v)))
            (*seq)[k][set] = small(v);
    sens_paper_fini(&paper);
    sens_state_fini(&s);
    mpz_clear(v);
    arena_fini(&a);
    return ok;
}

bool universe_paper(struct universe *u, const struct sens_plan *p,
                    universe_sequence *seq, struct err *err)
{
    for (unsigned set = 0; set < 1u << u->n_slots; set++)
        if (u->valid[set] && !paper_on(u, set, p, seq, err))
            return false;
    return true;
}

bool universe_elastic(struct universe *u, universe_sequence *seq,
                      struct err *err)
{
    mpz_t v;
    mpz_init(v);
    bool ok = true;
    for (unsigned set = 0; ok && set < 1u << u->n_slots; set++) {
        if (!u->valid[set])
            continue;
        struct mem m;
        struct arena a;
        struct tiny t;
        struct sens_elastic *e;
        mem_init(&m, 0);
        arena_init(&a, &m);
        universe_instance(u, set, &t);
        struct sens_counter c = {
            .ctx = &t, .max = tiny_max, .max_exact = tiny_max_exact};
        ok = sens_elastic_new(&a, u->q, &c, &e, err) == OK;
        for (unsigned k = 0; ok && k < LEVELS; k++) {
            sens_elastic_at(e, k, v);
            (*seq)[k][set] = small(v);
        }
        if (ok)
            sens_elastic_fini(e);
        arena_fini(&a);
    }
    mpz_clear(v);
    return ok;
}
