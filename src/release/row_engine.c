/* The process that has the rows: see row_engine.h. */
#include "release/row_engine.h"

#include <string.h>

#include "base/bytes.h"
#include "release/post.h"
#include "release/release_int.h"

/* --- what the keeper says ------------------------------------------------- */

/* The columns of one table that a question needs. */
struct engine_wish {
    uint32_t table;
    struct str columns;   /* a byte for each column: '1' it is needed */
    struct str catalogue; /* types and keys of the table, as a text */
};

static void catalogue_of(const struct source *src, const struct schema *s,
                         uint32_t table, struct sb *b)
{
    struct atom at = {.table = table, .rowid = -1};
    struct cq one = {.schema = s, .atoms = &at, .n_atoms = 1};
    source_catalogue(src, &one, b);
}

static enum status add_wish(struct release *r, const struct atom *at,
                            struct err *err)
{
    struct arena *a = &r->p.arena;
    struct sb columns, catalogue;
    struct engine_wishes *w = &r->wishes;
    sb_init(&columns, a);
    sb_init(&catalogue, a);
    for (uint32_t c = 0; c < at->n_args; c++)
        sb_char(&columns, at->args[c].kind == TERM_ANY ? '0' : '1');
    catalogue_of(r->p.source, &r->p.schema, at->table, &catalogue);
    struct engine_wish *x = &w->list[w->n++];
    *x =
        (struct engine_wish){at->table, sb_view(&columns), sb_view(&catalogue)};
    return columns.failed || catalogue.failed ? err_nomem(err) : OK;
}

enum status engine_remember(struct release *r, struct err *err)
{
    struct cq want;
    if (r->session->engine <= 0 || r->data.sql)
        return OK;
    TRY(evaluate_wanted(&r->p, &want, err));
    r->wishes.list = NEWS(&r->p.arena, struct engine_wish, want.n_atoms + 1);
    if (!r->wishes.list)
        return err_nomem(err);
    for (uint32_t i = 0; i < want.n_atoms; i++)
        TRY(add_wish(r, &want.atoms[i], err));
    return OK;
}

bool engine_serves(const struct release *r)
{
    return r->isolated && r->wishes.n && r->validity.print.n &&
           r->validity.stamp.n;
}

static struct str print_of(const struct release *r)
{
    const struct source_print *p = &r->validity.print;
    return (struct str){(const char *)p->each, p->n * sizeof *p->each};
}

static enum status write_job(struct release *r, const struct child_limits *l,
                             struct sb *b, struct err *err)
{
    bytes_put_u64(b, l->memory);
    bytes_put_u64(b, l->seconds);
    bytes_put_str(b, print_of(r));
    bytes_put_u64(b, r->wishes.n);
    for (size_t i = 0; i < r->wishes.n; i++) {
        const struct engine_wish *w = &r->wishes.list[i];
        bytes_put_u64(b, w->table);
        bytes_put_str(b, w->columns);
        bytes_put_str(b, w->catalogue);
    }
    ledger_hold_write(b, r->hold);
    option_write(b, &r->session->opt);
    bytes_put_str(b, r->p.text);
    bytes_put_u64(b, (uint64_t)r->p.today);
    bytes_put_str(b, r->catalogue);
    bytes_put_str(b, r->strict.strict);
    bytes_put_str(b, r->strict.work_at_most);
    bytes_put_u64(b, r->apart);
    bytes_put_str(b, r->strict.memory);
    bytes_put_u64(b, r->p.n_counts);
    for (size_t i = 0; i < r->p.n_counts; i++) {
        struct str law = release_law(&r->priced[i]);
        if (!law.p)
            return err_nomem(err);
        bytes_put_u64(b, r->counts[i].done);
        bytes_put_str(b, law);
    }
    return b->failed ? err_nomem(err) : OK;
}

enum status engine_evaluate(struct release *r, const struct child_limits *l,
                            struct str *out, struct err *err)
{
    struct sb b;
    sb_init(&b, &r->p.arena);
    TRY(write_job(r, l, &b, err));
    return post_ask(r->session->engine, &r->p.arena, sb_view(&b), l, out, err);
}

/* --- the rows ------------------------------------------------------------- */

/* A table as far as it is loaded. */
struct engine_table {
    struct store *store; /* with this table alone; NULL: not loaded */
    struct str columns, catalogue;
    uint64_t used; /* when it was last asked for */
};

struct engine_host {
    const struct prepared *base;
    struct mem mem; /* of the rows: within the owner's limit */
    struct arena texts;
    struct str print; /* of the content they are of */
    struct engine_table *tables;
    uint64_t clock;
};

struct engine_job {
    uint64_t memory, seconds;
    struct str print;
    struct engine_wish *wishes;
    size_t n_wishes;
};

static bool read_wishes(struct engine_host *h, struct bytes *b,
                        struct engine_job *j)
{
    j->n_wishes = bytes_count(b, sizeof(uint64_t));
    j->wishes = NEWS(b->arena, struct engine_wish, j->n_wishes + 1);
    for (size_t i = 0; j->wishes && i < j->n_wishes; i++) {
        struct engine_wish *w = &j->wishes[i];
        w->table = (uint32_t)bytes_u64(b);
        w->columns = bytes_str(b);
        w->catalogue = bytes_str(b);
        if (b->failed || w->table >= h->base->schema.tables.n ||
            w->columns.n != h->base->schema.tables.p[w->table].n_cols)
            return false;
    }
    return j->wishes && !b->failed;
}

static bool read_job(struct engine_host *h, struct bytes *b,
                     struct engine_job *j)
{
    j->memory = bytes_u64(b);
    j->seconds = bytes_u64(b);
    j->print = bytes_str(b);
    return read_wishes(h, b, j);
}

static void drop(struct engine_table *k)
{
    store_free(k->store);
    *k = (struct engine_table){0};
}

/* Another content: nothing of the old one is used again. */
static bool is_content(struct engine_host *h, struct str print)
{
    if (str_eq(h->print, print))
        return true;
    for (size_t i = 0; i < h->base->schema.tables.n; i++)
        drop(&h->tables[i]);
    arena_fini(&h->texts);
    arena_init(&h->texts, &h->mem);
    h->print = str_copy(&h->texts, print);
    return h->print.p != NULL;
}

static bool has_columns(const struct engine_table *k,
                        const struct engine_wish *w)
{
    for (size_t i = 0; i < w->columns.n; i++)
        if (w->columns.p[i] == '1' && (!k->store || k->columns.p[i] != '1'))
            return false;
    return k->store != NULL;
}

/* What was asked for once is asked for again: columns are only added. */
static struct str both(struct engine_host *h, const struct engine_table *k,
                       const struct engine_wish *w)
{
    struct str all = str_copy(&h->texts, w->columns);
    for (size_t i = 0; all.p && k->store && i < all.n; i++)
        if (k->columns.p[i] == '1')
            ((char *)(uintptr_t)all.p)[i] = '1';
    return all;
}

static enum status load(struct engine_host *h, struct prepared *p,
                        const struct engine_wish *w, struct str columns,
                        struct store **out, struct err *err)
{
    struct atom at = {.table = w->table, .n_args = (uint32_t)columns.n};
    struct cq one = {.schema = &h->base->schema, .atoms = &at, .n_atoms = 1};
    at.rowid = -1;
    at.args = NEWS(&p->arena, struct term, columns.n + 1);
    if (!at.args)
        return err_nomem(err);
    for (size_t i = 0; i < columns.n; i++)
        at.args[i].kind = columns.p[i] == '1' ? TERM_VAR : TERM_ANY;
    TRY(store_new(&h->mem, &h->base->schema, out, err));
    enum status s = source_load(p->source, &one, *out, NULL, err);
    if (s != OK)
        store_free(*out);
    return s;
}

/* The catalogue is that of the content that is loaded. */
static enum status keep_table(struct engine_host *h, struct prepared *p,
                              const struct engine_wish *w, struct err *err)
{
    struct engine_table *k = &h->tables[w->table], new = {0};
    struct sb b;
    new.columns = both(h, k, w);
    sb_init(&b, &h->texts);
    catalogue_of(p->source, &p->schema, w->table, &b);
    new.catalogue = sb_view(&b);
    if (!new.columns.p || b.failed)
        return err_nomem(err);
    TRY(load(h, p, w, new.columns, &new.store, err));
    drop(k);
    *k = new;
    return OK;
}

static bool asked(const struct engine_job *j, size_t table)
{
    for (size_t i = 0; i < j->n_wishes; i++)
        if (j->wishes[i].table == table)
            return true;
    return false;
}

/* Gives up the table that was not asked for the longest; false: there is none
 * that this question does not need. */
static bool make_room(struct engine_host *h, const struct engine_job *j)
{
    struct engine_table *oldest = NULL;
    for (size_t i = 0; i < h->base->schema.tables.n; i++) {
        struct engine_table *k = &h->tables[i];
        if (k->store && !asked(j, i) && (!oldest || k->used < oldest->used))
            oldest = k;
    }
    if (oldest)
        drop(oldest);
    return oldest != NULL;
}

static enum status keep_all(struct engine_host *h, const struct engine_job *j,
                            struct prepared *p, struct err *err)
{
    TRY(prepare_schema(p, SOURCE_NONE, err));
    TRY(prepare_reopen(p, err));
    struct source_print print = {(struct source_hash *)(uintptr_t)h->print.p,
                                 h->print.n / sizeof(struct source_hash)};
    TRY(source_expect(p->source, &print, err));
    for (size_t i = 0; i < j->n_wishes; i++) {
        const struct engine_wish *w = &j->wishes[i];
        enum status s = OK;
        if (!has_columns(&h->tables[w->table], w))
            do
                s = keep_table(h, p, w, err);
            while ((s == E_LIMIT || s == E_NOMEM) && make_room(h, j));
        TRY(s);
    }
    return OK;
}

static bool all_there(const struct engine_host *h, const struct engine_job *j)
{
    for (size_t i = 0; i < j->n_wishes; i++)
        if (!has_columns(&h->tables[j->wishes[i].table], &j->wishes[i]))
            return false;
    return true;
}

/* A call of the engine's own: the owner's options and no others. */
static void begin_call(const struct engine_host *h, struct session *s)
{
    const struct session *owner = h->base->session;
    mem_init(&s->mem, 0);
    arena_init(&s->arena, &s->mem);
    s->opt = owner->opt;
    s->base = h->base;
    s->discreet = true;
}

/* Loads what is missing. What fails here fails again in the worker, where it
 * is an outcome. */
static bool load_missing(void *ctx, struct str request)
{
    struct engine_host *h = ctx;
    struct mem mem;
    struct arena a;
    struct engine_job j = {0};
    struct err why;
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    struct bytes b = {&a, request, false};
    if (read_job(h, &b, &j) && is_content(h, j.print)) {
        if (!all_there(h, &j)) {
            struct session s = {0};
            struct prepared p;
            begin_call(h, &s);
            prepared_init(&p, &s);
            (void)(keep_all(h, &j, &p, &why) == OK);
            prepared_fini(&p);
            arena_fini(&s.arena);
        }
        for (size_t i = 0; i < j.n_wishes; i++)
            h->tables[j.wishes[i].table].used = ++h->clock;
    }
    arena_fini(&a);
    return true;
}

/* --- the worker ----------------------------------------------------------- */

/* The kept tables as one store; NULL: some are missing. */
static struct store *view_of(struct engine_host *h, const struct engine_job *j,
                             struct release *r)
{
    struct store *v = NEW(&r->p.arena, struct store);
    size_t n = r->p.schema.tables.n;
    if (!v || !all_there(h, j))
        return NULL;
    *v = (struct store){.mem = &r->session->mem, .schema = &r->p.schema};
    v->tables = NEWS(&r->p.arena, struct store_table, n + 1);
    v->n_tables = n;
    for (size_t i = 0; v->tables && i < j->n_wishes; i++) {
        uint32_t t = j->wishes[i].table;
        v->tables[t] = h->tables[t].store->tables[t];
    }
    return v->tables ? v : NULL;
}

static enum status same_catalogue(const struct engine_host *h,
                                  const struct engine_job *j, struct err *err)
{
    for (size_t i = 0; i < j->n_wishes; i++) {
        const struct engine_wish *w = &j->wishes[i];
        if (!str_eq(h->tables[w->table].catalogue, w->catalogue))
            return err_set(err, E_DATA, "the catalogue changed meanwhile");
    }
    return OK;
}

/* PRIVACY: noise is drawn by the law that was paid for, or not at all. */
static enum status same_law(struct release *r, struct bytes *b, struct err *err)
{
    bool same = bytes_u64(b) == r->p.n_counts;
    for (size_t i = 0; same && i < r->p.n_counts; i++) {
        r->counts[i].done = bytes_u64(b);
        struct str paid = bytes_str(b), law = release_law(&r->priced[i]);
        if (!law.p)
            return err_nomem(err);
        same = !b->failed && str_eq(paid, law);
    }
    return same ? OK : err_internal(err, "engine: another law than was paid");
}

static enum status read_question(struct release *r, struct bytes *b,
                                 struct err *err)
{
    TRY(ledger_hold_read(b, &r->hold, err));
    TRY(option_read(&r->session->opt, b, err));
    struct str text = bytes_str(b);
    r->p.epsilon = r->session->opt.epsilon;
    r->p.delta = r->session->opt.delta;
    r->p.today = (int64_t)bytes_u64(b);
    r->catalogue = bytes_str(b);
    r->strict.strict = bytes_str(b);
    r->strict.work_at_most = bytes_str(b);
    r->apart = bytes_u64(b);
    r->strict.memory = bytes_str(b);
    if (b->failed)
        return err_internal(err, "engine: a job that is not whole");
    TRY(release_derive(r, text, SOURCE_NONE, err));
    if (r->apart)
        TRY(choose_apart(&r->p, r->priced, err));
    TRY(strict_admit(&r->p, r->priced, &r->strict, err));
    return same_law(r, b, err);
}

static enum status evaluate(struct engine_host *h, struct release *r,
                            struct bytes *b, struct str *out, struct err *err)
{
    struct engine_job j = {0};
    if (!read_job(h, b, &j))
        return err_internal(err, "engine: a job that is not whole");
    struct source_print print = {(struct source_hash *)(uintptr_t)j.print.p,
                                 j.print.n / sizeof(struct source_hash)};
    r->validity.print = print;
    TRY(read_question(r, b, err));
    prepare_close_source(&r->p);
    r->data = (struct evaluated){.chosen = true};
    if (str_eq(h->print, j.print) && (r->data.store = view_of(h, &j, r)))
        TRY(same_catalogue(h, &j, err));
    return release_work(r, out, err);
}

static enum status answer(void *ctx, struct arena *a, struct str request,
                          int asker, struct str *out, struct err *err)
{
    struct engine_host *h = ctx;
    (void)a;
    struct session *s = mem_alloc(&h->mem, sizeof *s);
    struct release *r = mem_alloc(&h->mem, sizeof *r);
    if (!s || !r)
        return err_nomem(err);
    begin_call(h, s);
    s->asker = asker;
    r->session = s;
    prepared_init(&r->p, s);
    balance_init(&r->budget.balance);
    struct bytes b = {&r->p.arena, request, false};
    /* nothing is given back: the process ends when it has said its answer */
    return evaluate(h, r, &b, out, err);
}

static struct child_limits limits(void *ctx, struct str request)
{
    struct mem mem;
    struct arena a;
    (void)ctx;
    mem_init(&mem, 0);
    arena_init(&a, &mem);
    struct bytes b = {&a, request, false};
    size_t memory = (size_t)bytes_u64(&b);
    struct child_limits l = {.memory = memory, .seconds = bytes_u64(&b)};
    arena_fini(&a);
    return l;
}

enum status engine_start(const struct prepared *base, int *out, struct err *err)
{
    struct arena *a = base->schema.arena;
    struct engine_host *h = NEW(a, struct engine_host);
    struct engine_table *tables =
        NEWS(a, struct engine_table, base->schema.tables.n + 1);
    if (!h || !tables)
        return err_nomem(err);
    h->base = base;
    h->tables = tables;
    mem_init(&h->mem, base->session->mem.limit);
    arena_init(&h->texts, &h->mem);
    struct post_server s = {.name = "dpcount-engine",
                            .ctx = h,
                            .prepare = load_missing,
                            .limits = limits,
                            .answer = answer};
    return post_start(&s, out, err);
}
