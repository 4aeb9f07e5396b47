/* Contributions: see contrib.h. */
#include "entity/contrib.h"

#include <string.h>

#include "entity/collapse.h"
#include "entity/lookup.h"
#include "entity/peel.h"

/* The floor of a query of which nothing is listed yet. */
#define NOT_LISTED ((u128)1 << 100)

struct contrib {
    struct mem *mem;
    struct arena arena;
    const struct cq *q;
    const struct completion *c;
    struct contrib_options opt;
    struct owners *owners;
    struct owner_view view;
    const uint32_t *whole[MAX_OWNERS]; /* ids that each owner variable reads */
    uint32_t *mapped[MAX_OWNERS];      /* with light owners as one */
    size_t n_mapped[MAX_OWNERS];
    u128 *has; /* by entity: at most; with several owners */
    size_t n_has;
    uint64_t entities;
    /* of each owner variable, by the number of bits that a value's count has:
     * how many values, and the sum of their counts */
    struct spread_bits {
        uint64_t n[129];
        u128 sum[129];
    } bits[MAX_OWNERS];
    unsigned counting; /* the variable at hand */
    struct join *tree; /* of all owner variables; NULL: they are listed */
    struct join_census *census;
    struct peel *peel;
    u128 total; /* of all results, with a census */
    /* tuples */
    struct arena keys; /* of answers */
    struct map answers;
    uint32_t *ids, *answer, *group;
    u128 *weight;
    size_t n, cap;
    const uint32_t *renumbered; /* groups; NULL: as they came */
    size_t n_renumbered;
    struct pack_input in;
};

static bool witnesses(const struct contrib *x)
{
    return !x->c->determined;
}

const struct pack_input *contrib_input(const struct contrib *x)
{
    return &x->in;
}

uint64_t contrib_entities(const struct contrib *x)
{
    return x->entities;
}

/* Ids are below this. */
static uint32_t n_owners(const struct contrib *x)
{
    const struct contrib_lister *l = x->opt.lister;
    return l ? l->owners(l->ctx) : owners_count(x->owners);
}

/* What stands for all light owners. */
static int64_t light_id(const struct contrib *x)
{
    return x->opt.lister ? CONTRIB_LIGHT : (int64_t)owners_count(x->owners);
}

/* --- tuples --------------------------------------------------------------- */

/* The arrays of tuples, with room for `cap`; all of them or none. */
struct tuple_room {
    uint32_t *ids, *answer, *group;
    u128 *weight;
};

static void free_room(struct contrib *x, struct tuple_room *r, size_t cap)
{
    size_t k = x->c->k ? x->c->k : 1;
    mem_free(x->mem, r->ids, cap * k * sizeof *r->ids);
    mem_free(x->mem, r->answer, cap * sizeof *r->answer);
    mem_free(x->mem, r->group, cap * sizeof *r->group);
    mem_free(x->mem, r->weight, cap * sizeof *r->weight);
}

static enum status new_room(struct contrib *x, size_t cap, struct tuple_room *r,
                            struct err *err)
{
    size_t k = x->c->k ? x->c->k : 1;
    *r = (struct tuple_room){
        .ids = mem_alloc(x->mem, cap * k * sizeof *r->ids),
        .answer = mem_alloc(x->mem, cap * sizeof *r->answer),
        .group = mem_alloc(x->mem, cap * sizeof *r->group),
        .weight = mem_alloc(x->mem, cap * sizeof *r->weight)};
    if (r->ids && r->answer && r->group && r->weight)
        return OK;
    free_room(x, r, cap);
    return store_nomem(x->mem, err);
}

static void use_room(struct contrib *x, const struct tuple_room *r, size_t cap)
{
    struct tuple_room old = {x->ids, x->answer, x->group, x->weight};
    free_room(x, &old, x->cap);
    x->ids = r->ids;
    x->answer = r->answer;
    x->group = r->group;
    x->weight = r->weight;
    x->cap = cap;
}

static void drop_tuples(struct contrib *x)
{
    struct tuple_room none = {0};
    use_room(x, &none, 0);
    arena_fini(&x->keys);
    x->n = 0;
    map_init(&x->answers, &x->keys);
}

static enum status make_room(struct contrib *x, struct err *err)
{
    size_t k = x->c->k ? x->c->k : 1;
    size_t old = x->cap, new = old ? old + old / 2 : 1024;
    struct tuple_room r;
    if (x->n < x->cap)
        return OK;
    TRY(new_room(x, new, &r, err));
    if (old) {
        memcpy(r.ids, x->ids, old * k * sizeof *r.ids);
        memcpy(r.answer, x->answer, old * sizeof *r.answer);
        memcpy(r.group, x->group, old * sizeof *r.group);
        memcpy(r.weight, x->weight, old * sizeof *r.weight);
    }
    use_room(x, &r, new);
    return OK;
}

/* What is counted, as a number: the same for equal answers. */
static enum status number_answer(struct contrib *x, const struct value *vals,
                                 uint32_t *out, struct err *err)
{
    struct sb b;
    sb_init(&b, &x->keys);
    for (uint32_t i = 0; i < x->q->n_outs; i++)
        if (!lookup_put_value(&b, &x->keys, &vals[i]))
            return store_nomem(x->mem, err);
    sb_char(&b, '.');
    if (b.failed)
        return store_nomem(x->mem, err);
    const uint64_t *at = map_put(&x->answers, sb_view(&b), x->answers.n, NULL);
    if (!at)
        return store_nomem(x->mem, err);
    *out = (uint32_t)*at;
    return OK;
}

static enum status add_tuple(void *ctx, const struct value *key, u128 count,
                             struct err *err)
{
    struct contrib *x = ctx;
    unsigned k = x->c->k;
    if (!count) /* of a sum: who adds nothing is not there */
        return OK;
    TRY(make_room(x, err));
    for (unsigned i = 0; i < k; i++) {
        bool light = key[i].i == light_id(x);
        x->ids[x->n * k + i] = light ? PACK_NONE : (uint32_t)key[i].i;
    }
    x->weight[x->n] = count;
    x->answer[x->n] = x->group[x->n] = 0;
    if (x->opt.group)
        TRY(x->opt.group(x->opt.group_ctx, key + k, &x->group[x->n], err));
    if (x->group[x->n] == CONTRIB_NO_GROUP)
        return OK;
    if (witnesses(x))
        TRY(number_answer(x, key + k, &x->answer[x->n], err));
    x->n++;
    return OK;
}

static enum status weigh_public(void *ctx, const struct value *key, u128 count,
                                struct err *err)
{
    struct contrib *x = ctx;
    (void)key;
    (void)err;
    x->weight[0] = count;
    return OK;
}

/* No private table: one result without owner that weighs the count. */
static enum status add_public(struct contrib *x, struct err *err)
{
    TRY(make_room(x, err));
    x->ids[0] = PACK_NONE;
    x->answer[0] = x->group[0] = 0;
    x->n = 1;
    x->weight[0] = 0;
    return OK;
}

static void set_input(struct contrib *x, u128 floor)
{
    x->in = (struct pack_input){.k = x->c->k ? x->c->k : 1,
                                .entities = n_owners(x),
                                .n = x->n,
                                .ids = x->ids,
                                .weight = x->weight,
                                .floor = floor};
    if (!witnesses(x))
        return;
    x->in.weight = NULL;
    x->in.answer = x->answer;
    x->in.answers = (uint32_t)x->answers.n;
}

static enum status list(struct contrib *x, uint32_t vars, uint32_t more,
                        contrib_each each, struct err *err)
{
    struct arena scratch;
    struct cq *q;
    struct join *j = NULL;
    arena_init(&scratch, x->mem);
    enum status s =
        view_query(&scratch, x->q, x->c, &x->view, vars, more, &q, err);
    if (s == OK)
        s = join_open(x->mem, q, &x->view.store, &x->opt.join, &j, err);
    if (s == OK)
        s = join_list_groups(j, each, x, err);
    if (j)
        join_close(j);
    arena_fini(&scratch);
    return s;
}

/* --- groups --------------------------------------------------------------- */

/* Where the tuples of each group begin, once they are sorted. */
static enum status count_groups(struct contrib *x, size_t **out, size_t *n,
                                struct err *err)
{
    *n = 1;
    for (size_t i = 0; i < x->n; i++)
        *n = x->group[i] + (size_t)1 > *n ? x->group[i] + (size_t)1 : *n;
    *out = mem_alloc(x->mem, (*n + 1) * sizeof **out);
    if (!*out)
        return store_nomem(x->mem, err);
    memset(*out, 0, (*n + 1) * sizeof **out);
    for (size_t i = 0; i < x->n; i++)
        (*out)[x->group[i] + 1]++;
    for (size_t g = 0; g < *n; g++)
        (*out)[g + 1] += (*out)[g];
    return OK;
}

static void put_tuple(const struct contrib *x, size_t from,
                      struct tuple_room *r, size_t to)
{
    unsigned k = x->c->k ? x->c->k : 1;
    memcpy(r->ids + to * k, x->ids + from * k, k * sizeof *r->ids);
    r->answer[to] = x->answer[from];
    r->group[to] = x->group[from];
    r->weight[to] = x->weight[from];
}

/* Counting sort, stable. */
static enum status sort_groups(struct contrib *x, struct err *err)
{
    struct tuple_room r;
    size_t *at, groups;
    if (!x->opt.group || !x->n)
        return OK;
    for (size_t i = 0; x->renumbered && i < x->n; i++) {
        if (x->group[i] >= x->n_renumbered)
            return err_internal(err, "sort_groups");
        x->group[i] = x->renumbered[x->group[i]];
    }
    TRY(count_groups(x, &at, &groups, err));
    enum status st = new_room(x, x->cap, &r, err);
    for (size_t i = 0; st == OK && i < x->n; i++)
        put_tuple(x, i, &r, at[x->group[i]]++);
    if (st == OK)
        use_room(x, &r, x->cap);
    mem_free(x->mem, at, (groups + 1) * sizeof *at);
    return st;
}

const uint32_t *contrib_group(const struct contrib *x)
{
    return x->opt.group ? x->group : NULL;
}

/* --- light owners as one -------------------------------------------------- */

static enum status grow_has(struct contrib *x, size_t n, struct err *err)
{
    u128 *more = mem_alloc(x->mem, n * sizeof *more);
    if (!more)
        return store_nomem(x->mem, err);
    if (x->n_has)
        memcpy(more, x->has, x->n_has * sizeof *more);
    mem_free(x->mem, x->has, x->n_has * sizeof *more);
    x->has = more;
    x->n_has = n;
    return OK;
}

/* A lister numbers owners as they come. */
static enum status room_for_owner(struct contrib *x, size_t id, struct err *err)
{
    return id < x->n_has ? OK : grow_has(x, 2 * id + 64, err);
}

static void note_has(struct contrib *x, uint32_t id, u128 count)
{
    u128 *has = &x->has[id];
    struct spread_bits *b = &x->bits[x->counting];
    unsigned bits = pack_bits(count);
    b->n[bits]++;
    b->sum[bits] = u128_add_inf(b->sum[bits], count);
    x->entities += count && !*has;
    *has = u128_add_inf(*has, count);
}

static enum status add_has(void *ctx, const struct value *key, u128 count,
                           struct err *err)
{
    TRY(room_for_owner(ctx, (uint32_t)key[0].i, err));
    note_has(ctx, (uint32_t)key[0].i, count);
    return OK;
}

/* Every result has one value of the variable, and those of a value are owned by
 * one entity: they keep t at most, and what they are. */
static u128 cut_at(const struct spread_bits *b, uint64_t t)
{
    u128 sum = 0, over = 0;
    for (unsigned i = 0; i < 129; i++)
        if (i < pack_bits(t)) /* below t */
            sum = u128_add_inf(sum, b->sum[i]);
        else
            over += b->n[i];
    return u128_add_inf(sum, u128_mul_inf(over, t));
}

u128 contrib_above(const struct contrib *x, uint64_t t)
{
    u128 least = U128_INF;
    for (unsigned i = 0; i < x->c->k; i++) {
        u128 v = cut_at(&x->bits[i], t);
        least = v < least ? v : least;
    }
    return least;
}

static size_t above(const struct contrib *x, u128 t)
{
    size_t n = 0;
    for (uint32_t i = 0; i < n_owners(x); i++)
        n += x->has[i] > t;
    return n;
}

/* A power of two that about as many as wanted exceed, and one at least; 0 if
 * all can be told apart. */
static u128 choose_floor(const struct contrib *x)
{
    static const uint32_t by_k[] = {0, 0, 1024, 512, 192};
    uint32_t wanted = x->c->k < 5 ? by_k[x->c->k] : 96;
    wanted = x->opt.heavy ? x->opt.heavy : wanted;
    u128 t = 1;
    if (x->entities <= wanted)
        return 0;
    while (above(x, t) > wanted)
        t *= 2;
    return t > 1 && !above(x, t) ? t / 2 : t;
}

static enum status map_ids(struct contrib *x, u128 floor, struct err *err)
{
    uint32_t light = (uint32_t)light_id(x);
    for (unsigned i = 0; i < x->c->k; i++) {
        size_t n = x->n_mapped[i];
        if (!x->mapped[i])
            x->mapped[i] = mem_alloc(x->mem, n * sizeof *x->mapped[i]);
        if (!x->mapped[i])
            return store_nomem(x->mem, err);
        for (size_t row = 0; row < n; row++) {
            uint32_t id = x->whole[i][row];
            x->mapped[i][row] = x->has[id] > floor ? id : light;
        }
        view_set_ids(&x->view, x->q, &x->c->vars[i], x->mapped[i]);
    }
    return OK;
}

static enum status list_tuples(struct contrib *x, uint32_t more, u128 floor,
                               struct err *err)
{
    const struct contrib_lister *l = x->opt.lister;
    struct contrib_heavy heavy = {x->has, floor};
    struct contrib_question all = {(1u << x->c->k) - 1, more,
                                   x->c->k > 1 && floor ? &heavy : NULL};
    contrib_each each = x->c->k ? add_tuple : weigh_public;
    if (!x->c->k)
        TRY(add_public(x, err));
    if (l)
        return l->list(l->ctx, &all, each, x, err);
    if (x->c->k > 1)
        TRY(map_ids(x, floor, err));
    return list(x, all.vars, more, each, err);
}

static enum status collect(struct contrib *x, u128 floor, struct err *err)
{
    drop_tuples(x);
    uint32_t more = witnesses(x)   ? x->q->n_outs
                    : x->opt.group ? x->q->n_group
                                   : 0;
    TRY(list_tuples(x, more, floor, err));
    TRY(sort_groups(x, err));
    set_input(x, floor);
    return OK;
}

void contrib_close(struct contrib *x)
{
    if (!x)
        return;
    struct mem *m = x->mem;
    peel_close(x->peel);
    join_census_close(x->census);
    join_close(x->tree);
    drop_tuples(x);
    for (unsigned i = 0; i < MAX_OWNERS; i++)
        mem_free(m, x->mapped[i], x->n_mapped[i] * sizeof *x->mapped[i]);
    mem_free(m, x->has, x->n_has * sizeof *x->has);
    owners_free(x->owners);
    arena_fini(&x->arena);
    mem_free(m, x, sizeof *x);
}

/* --- all of it ------------------------------------------------------------ */

/* Two owner variables may read one column: each has a copy to map. */
static enum status read_ids(struct contrib *x, struct err *err)
{
    for (unsigned i = 0; i < x->c->k; i++) {
        size_t rows;
        x->whole[i] = view_ids(&x->view, x->q, &x->c->vars[i], &rows);
        x->n_mapped[i] = rows + 1;
    }
    return grow_has(x, (size_t)owners_count(x->owners) + 1, err);
}

static enum status list_has(struct contrib *x, unsigned var, struct err *err)
{
    const struct contrib_lister *l = x->opt.lister;
    struct contrib_question one = {1u << var, 0, NULL};
    x->counting = var;
    return l ? l->list(l->ctx, &one, add_has, x, err)
             : list(x, one.vars, 0, add_has, err);
}

static enum status open_rows(struct contrib *x, const struct store *st,
                             struct err *err)
{
    TRY(owners_find(x->mem, st, &x->owners, err));
    TRY(view_make(&x->arena, st, x->owners, &x->view, err));
    return read_ids(x, err);
}

static enum status open_tree(struct contrib *x, struct err *err)
{
    struct cq *q;
    if (!x->opt.peel || x->opt.lister || x->c->k < 2 || witnesses(x) ||
        x->opt.group)
        return OK;
    TRY(view_query(&x->arena, x->q, x->c, &x->view, (1u << x->c->k) - 1, 0, &q,
                   err));
    TRY(join_open(x->mem, q, &x->view.store, &x->opt.join, &x->tree, err));
    return join_census_open(x->tree, owners_count(x->owners), &x->census, err);
}

/* What each owner has, by each variable, all in one pass. */
static enum status count_all(struct contrib *x, struct arena *a,
                             struct err *err)
{
    uint32_t n = owners_count(x->owners);
    struct census_counts all = {0};
    uint8_t *mark = NEWS(a, uint8_t, (size_t)n + 1);
    for (unsigned i = 0; i < x->c->k; i++)
        all.key[i] = NEWS(a, u128, (size_t)n + 1);
    if (!mark || !all.key[x->c->k - 1])
        return err_nomem(err);
    TRY(join_census_count(x->census, mark, &all, err));
    x->total = all.total;
    for (unsigned i = 0; i < x->c->k; i++) {
        x->counting = i;
        for (uint32_t u = 0; u < n; u++)
            if (all.key[i][u])
                note_has(x, u, all.key[i][u]);
    }
    return OK;
}

static enum status start_peeling(struct contrib *x, struct err *err)
{
    struct arena a;
    arena_init(&a, x->mem);
    a.wipe = true;
    enum status s = count_all(x, &a, err);
    arena_fini(&a);
    TRY(s);
    set_input(x, NOT_LISTED);
    return peel_open(x->mem, x->census, owners_count(x->owners), x->c->k,
                     x->has, x->total, &x->peel, err);
}

static enum status start(struct contrib *x, const struct store *st,
                         struct err *err)
{
    if (!x->opt.lister)
        TRY(open_rows(x, st, err));
    TRY(open_tree(x, err));
    if (x->census)
        return start_peeling(x, err);
    for (unsigned i = 0; x->c->k > 1 && i < x->c->k; i++)
        TRY(list_has(x, i, err));
    TRY(collect(x, x->c->k > 1 ? choose_floor(x) : 0, err));
    return OK;
}

enum status contrib_open(struct mem *m, const struct cq *q,
                         const struct completion *c, const struct store *st,
                         const struct contrib_options *opt,
                         struct contrib **out, struct err *err)
{
    *out = NULL;
    struct contrib *x = mem_alloc(m, sizeof *x);
    if (!x)
        return store_nomem(m, err);
    *x = (struct contrib){.mem = m, .q = q, .c = c, .opt = *opt};
    arena_init(&x->arena, m);
    arena_init(&x->keys, m);
    map_init(&x->answers, &x->keys);
    enum status s = start(x, st, err);
    if (s != OK) {
        contrib_close(x);
        return s;
    }
    *out = x;
    return OK;
}

enum status contrib_lower(struct contrib *x, bool *done, struct err *err)
{
    *done = x->in.floor > 0;
    if (x->in.floor == NOT_LISTED)
        return collect(x, choose_floor(x), err);
    return *done ? collect(x, x->in.floor / 2, err) : OK;
}

enum status contrib_renumber(struct contrib *x, const uint32_t *to, size_t n,
                             struct err *err)
{
    uint32_t *copy = NEWS(&x->arena, uint32_t, n + 1);
    if (!copy)
        return store_nomem(x->mem, err);
    if (x->renumbered)
        return err_internal(err, "contrib_renumber");
    memcpy(copy, to, n * sizeof *copy);
    x->renumbered = copy;
    x->n_renumbered = n;
    TRY(sort_groups(x, err));
    set_input(x, x->in.floor);
    return OK;
}

bool contrib_peels(const struct contrib *x)
{
    return x->peel != NULL;
}

enum status contrib_core(struct contrib *x, uint64_t t, struct pack_core *out,
                         struct err *err)
{
    return peel_at(x->peel, t, out, err);
}

enum status contrib_bounds(struct contrib *x, uint64_t t, u128 *lo, u128 *hi,
                           struct err *err)
{
    TRY(peel_bounds(x->peel, t, lo, hi, err));
    u128 above = contrib_above(x, t);
    *hi = above < *hi ? above : *hi;
    return OK;
}
