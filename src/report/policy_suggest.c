/*
 * policy suggest, OWNER: what could be declared of these data, and what it
 * would be worth. How many rows refer to one (with some room, for a promise
 * must hold of every later state too), small tables that look like lists of
 * codes, types of columns that have none; for a file of typical queries the
 * error of a release before and after each suggestion. Everything it says is
 * private.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "num/open_scale.h"
#include "release/answer.h"
#include "release/evaluate.h"
#include "report/report.h"

enum suggestion_kind { SUGGEST_AT_MOST, SUGGEST_PUBLIC, SUGGEST_TYPE };

struct suggestion {
    enum suggestion_kind kind;
    size_t table;
    const uint32_t *cols; /* at most: per; type: the column */
    size_t n_cols;
    u128 k;
    enum type type;
    struct str yaml, today;
};

struct suggest {
    struct prepared *p;
    struct store *store;
    struct str epsilon;
    VEC(struct suggestion) list;
    struct err *err;
};

/* --- measuring ------------------------------------------------------------ */

struct rows_by {
    const struct store_table *t;
    const uint32_t *cols;
    size_t n;
};

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct rows_by *by = ctx;
    for (size_t i = 0; i < by->n; i++) {
        const struct store_column *c = &by->t->cols[by->cols[i]];
        struct value x = column_value(c, *(const size_t *)a);
        struct value y = column_value(c, *(const size_t *)b);
        int r = value_cmp(&x, &y);
        if (r)
            return r;
    }
    return 0;
}

static bool has_null(const struct rows_by *by, size_t row)
{
    for (size_t i = 0; i < by->n; i++)
        if (column_value(&by->t->cols[by->cols[i]], row).is_null)
            return true;
    return false;
}

/* The most rows with the same values in these columns, NULLs left out. */
static enum status most_rows(struct suggest *g, const struct rows_by *by,
                             size_t *out)
{
    size_t n = 0, run = 0, *rows;
    struct arena a;
    *out = 0;
    arena_init(&a, &g->p->session->mem);
    rows = NEWS(&a, size_t, by->t->n_rows + 1);
    for (size_t i = 0; rows && i < by->t->n_rows; i++)
        if (!has_null(by, i))
            rows[n++] = i;
    if (n)
        qsort_r(rows, n, sizeof *rows, compare_rows, (void *)(uintptr_t)by);
    for (size_t i = 0; i < n; i++) {
        bool same =
            i && !compare_rows(&rows[i], &rows[i - 1], (void *)(uintptr_t)by);
        run = same ? run + 1 : 1;
        if (run > *out)
            *out = run;
    }
    arena_fini(&a);
    return rows ? OK : err_nomem(g->err);
}

/* Half as much again, up to 1, 2, 3, 5, 10, 20, ... */
static u128 with_room(size_t n)
{
    static const unsigned char steps[] = {1, 2, 3, 5};
    size_t least = n + (n + 1) / 2;
    for (u128 tens = 1;; tens *= 10)
        for (size_t i = 0; i < sizeof steps; i++)
            if (steps[i] * tens >= least)
                return steps[i] * tens;
}

static enum status add(struct suggest *g, struct suggestion s)
{
    if (!s.yaml.p || !s.today.p)
        return err_nomem(g->err);
    return VEC_PUSH(&g->p->arena, &g->list, s) ? OK : err_nomem(g->err);
}

static bool is_bounded(const struct table *t, const struct foreign_key *f)
{
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        size_t same = 0;
        for (size_t x = 0; x < d->n_x; x++)
            for (size_t k = 0; k < f->n_cols; k++)
                same += d->x[x] == f->cols[k];
        if (same == d->n_x && (d->is_key || d->n_x == f->n_cols) && d->n_x)
            return true;
    }
    return false;
}

static struct str at_most_yaml(struct arena *a, const struct table *t,
                               const struct foreign_key *f, u128 k)
{
    struct sb b;
    size_t n = 0;
    char digits[U128_DIGITS];
    sb_init(&b, a);
    sb_printf(&b, "%.*s: at_most: [{per: [", PSTR(t->name));
    for (size_t i = 0; i < f->n_cols; i++)
        sb_printf(&b, "%s%.*s", i ? ", " : "", PSTR(t->cols[f->cols[i]].name));
    sb_cstr(&b, "], of: [");
    for (uint32_t c = 0; c < t->n_cols; c++) {
        bool in = false;
        for (size_t i = 0; i < f->n_cols; i++)
            in |= f->cols[i] == c;
        if (!in)
            sb_printf(&b, "%s%.*s", n++ ? ", " : "", PSTR(t->cols[c].name));
    }
    sb_printf(&b, "], k: %s}]", u128_text(k, digits));
    return b.failed || !n ? (struct str){0} : sb_view(&b);
}

static enum status suggest_degrees(struct suggest *g, size_t table)
{
    const struct table *t = &g->p->schema.tables.p[table];
    for (size_t i = 0; i < t->fks.n; i++) {
        const struct foreign_key *f = &t->fks.p[i];
        struct rows_by by = {&g->store->tables[table], f->cols, f->n_cols};
        size_t most;
        if (is_bounded(t, f) || f->n_cols >= t->n_cols)
            continue;
        TRY(most_rows(g, &by, &most));
        u128 k = with_room(most);
        TRY(add(g, (struct suggestion){
                       SUGGEST_AT_MOST, table, f->cols, f->n_cols, k, T_UNKNOWN,
                       at_most_yaml(&g->p->arena, t, f, k),
                       str_printf(&g->p->arena, "%zu at most today", most)}));
    }
    return OK;
}

/* Rows of tables that refer to it. */
static size_t referring_rows(const struct suggest *g, const struct table *t)
{
    const struct schema *s = &g->p->schema;
    size_t n = 0;
    for (size_t i = 0; i < s->tables.n; i++)
        for (size_t k = 0; k < s->tables.p[i].fks.n; k++)
            if (str_eq(s->tables.p[i].fks.p[k].ref_table, t->name))
                n += g->store->tables[i].n_rows;
    return n;
}

/* Words that stand in names of tables of people. */
static bool sounds_like_people(struct str name)
{
    static const char *const words[] = {
        "pat",     "person", "people", "user",   "customer", "client",
        "member",  "employ", "staff",  "studen", "pupil",    "child",
        "doctor",  "owner",  "citize", "reside", "individ",  "subject",
        "account", "house",  "family", "author", "victim",   "guest"};
    char low[64];
    size_t n = name.n < sizeof low - 1 ? name.n : sizeof low - 1;
    for (size_t k = 0; k < n; k++)
        low[k] = (char)(name.p[k] | 0x20);
    low[n] = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strstr(low, words[k]))
            return true;
    return false;
}

/* PRIVACY: people are referred to as well, and refer to nothing. A list of
 * codes is short, used again and again, and has no dates and no yes or no. */
static bool looks_like_codes(const struct suggest *g, size_t table)
{
    enum { SHORT = 100, USES = 20 };
    const struct table *t = &g->p->schema.tables.p[table];
    size_t n = g->store->tables[table].n_rows;
    for (size_t c = 0; c < t->n_cols; c++)
        if (t->cols[c].type == T_DATE || t->cols[c].type == T_TIMESTAMP ||
            t->cols[c].type == T_BOOL)
            return false;
    return !t->fks.n && !t->is_entity && n <= SHORT &&
           !sounds_like_people(t->name) &&
           referring_rows(g, t) >= USES * (n ? n : 1);
}

static enum status suggest_public(struct suggest *g, size_t table)
{
    const struct table *t = &g->p->schema.tables.p[table];
    size_t n = g->store->tables[table].n_rows;
    if (!looks_like_codes(g, table))
        return OK;
    return add(g, (struct suggestion){
                      .kind = SUGGEST_PUBLIC,
                      .table = table,
                      .yaml = str_printf(&g->p->arena, "%.*s: privacy: public",
                                         PSTR(t->name)),
                      .today = str_printf(&g->p->arena,
                                          "%zu rows; only if everybody may "
                                          "know them, never for people",
                                          n)});
}

/* How many cells are not of the type. */
static enum status broken_cells(struct suggest *g, const struct store_column *c,
                                size_t n, enum type t, size_t *out)
{
    struct arena a;
    enum { ROWS_PER_WIPE = 4096 };
    arena_init(&a, &g->p->session->mem);
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        struct value v = column_value(c, i), x;
        struct sb b;
        sb_init(&b, &a);
        if (v.is_null)
            continue;
        value_plain(&b, &v);
        *out += b.failed || !value_parse(&a, sb_view(&b), t, &x);
        if (i % ROWS_PER_WIPE == ROWS_PER_WIPE - 1)
            arena_fini(&a);
    }
    arena_fini(&a);
    return OK;
}

/* The first type that all but one cell of a hundred have. */
static enum status suggest_type(struct suggest *g, size_t table, uint32_t col)
{
    static const enum type tried[] = {T_INT, T_DEC, T_DATE, T_TIMESTAMP,
                                      T_BOOL};
    const struct table *t = &g->p->schema.tables.p[table];
    const struct store_table *rows = &g->store->tables[table];
    uint32_t *where = NEWS(&g->p->arena, uint32_t, 1);
    size_t broken = 0, i = 0, n = sizeof tried / sizeof *tried;
    if (!where)
        return err_nomem(g->err);
    *where = col;
    for (; i < n; i++) {
        TRY(broken_cells(g, &rows->cols[col], rows->n_rows, tried[i], &broken));
        if (broken <= rows->n_rows / 100)
            break;
    }
    enum type type = i < n ? tried[i] : T_TEXT;
    broken = i < n ? broken : 0;
    return add(g,
               (struct suggestion){
                   .kind = SUGGEST_TYPE,
                   .table = table,
                   .cols = where,
                   .n_cols = 1,
                   .type = type,
                   .yaml = str_printf(&g->p->arena, "%.*s: columns: {%.*s: %s}",
                                      PSTR(t->name), PSTR(t->cols[col].name),
                                      type_name(type)),
                   .today = str_printf(&g->p->arena,
                                       "%zu of %zu cells are not, and would "
                                       "be NULL",
                                       broken, rows->n_rows)});
}

static enum status measure_all(struct suggest *g)
{
    for (size_t t = 0; t < g->p->schema.tables.n; t++) {
        const struct table *d = &g->p->schema.tables.p[t];
        if (d->is_refused || !table_is_private(d))
            continue;
        TRY(suggest_public(g, t));
        TRY(suggest_degrees(g, t));
        for (uint32_t c = 0; c < d->n_cols; c++)
            if (d->cols[c].type == T_UNKNOWN)
                TRY(suggest_type(g, t, c));
    }
    return OK;
}

/* --- what it is worth ----------------------------------------------------- */

static enum status apply(struct prepared *to, const struct suggestion *s,
                         struct err *err)
{
    struct table *t = &to->schema.tables.p[s->table];
    switch (s->kind) {
    case SUGGEST_AT_MOST: {
        uint32_t *rest = NEWS(&to->arena, uint32_t, t->n_cols + 1);
        size_t n = 0;
        for (uint32_t c = 0; rest && c < t->n_cols; c++) {
            bool in = false;
            for (size_t i = 0; i < s->n_cols; i++)
                in |= s->cols[i] == c;
            if (!in)
                rest[n++] = c;
        }
        if (!rest)
            return err_nomem(err);
        return table_add_degree(&to->schema, s->table, s->cols, s->n_cols, rest,
                                n, s->k, STR(""), err);
    }
    case SUGGEST_PUBLIC:
        t->privacy = PRIVACY_PUBLIC;
        return prepare_public_sizes(to, err);
    case SUGGEST_TYPE:
        t->cols[s->cols[0]].type = s->type;
        return OK;
    }
    return OK;
}

/* The p95 on these data: of the noise, or times what is measured on them. */
static enum status data_p95(struct prepared *p, const struct priced *c,
                            double *out, struct err *err)
{
    struct evaluated data = {0};
    struct engine e;
    struct secret_scale s;
    *out = c->choice.kind == CHOICE_EXACT ? 0 : ceil(c->choice.error.p95);
    if (c->choice.kind == CHOICE_EXACT || c->choice.kind != CHOICE_SMOOTH)
        return OK;
    enum status st = evaluate_load(p, &data, err);
    if (st == OK)
        st = evaluate_open(p, &data, c->q->normal, &e, err);
    if (st == OK) {
        secret_scale_init(&s);
        st = evaluate_smooth(c->q, &e, c->choice.smooth.beta,
                             c->choice.smooth.factor, &s, err);
        if (st == OK)
            *out = ceil(c->choice.error.p95 * mpq_get_d(secret_scale_open(&s)));
        secret_scale_fini(&s);
        engine_close(&e);
    }
    evaluated_fini(&data);
    return st;
}

/* The largest p95 among the counts of a query; negative: an election decides.
 */
static enum status query_p95(struct prepared *p, struct str query, double *out,
                             struct err *err)
{
    struct priced *c = NULL;
    *out = 0;
    TRY(prepare_query(p, query, err));
    TRY(prepare_bounds(p, false, err));
    enum status st = choose_all(p, &c, err);
    for (size_t i = 0; st == OK && i < p->n_counts && *out >= 0; i++) {
        double at = -1;
        if (c[i].choice.kind != CHOICE_ENTITY)
            st = data_p95(p, &c[i], &at, err);
        *out = at < 0 ? -1 : fmax(*out, at);
    }
    priced_fini(p, c);
    return st;
}

/* With the suggestions from `from` to before `to`. */
static enum status error_with(struct suggest *g, struct str query, size_t from,
                              size_t to, double *out, struct err *err)
{
    struct prepared p;
    prepared_init(&p, g->p->session);
    p.owner_view = true;
    p.threads = g->p->threads;
    p.source = g->p->source; /* not ours */
    p.rows_declared = g->p->rows_declared;
    p.epsilon = g->epsilon;
    enum status st = schema_copy(&p.schema, &p.arena, &g->p->schema, err);
    for (size_t i = from; st == OK && i < to; i++)
        st = apply(&p, &g->list.p[i], err);
    if (st == OK)
        st = query_p95(&p, query, out, err);
    p.source = NULL;
    prepared_fini(&p);
    return st;
}

static void put_error(struct json *j, struct sb *b, enum status st, double v,
                      const struct err *e)
{
    if (st == OK && v >= 0)
        json_double(j, v);
    else if (st == OK)
        json_cstr(j, "elected");
    else
        json_null(j);
    if (st != OK)
        sb_printf(b, "refused: %s", e->message);
    else if (v < 0)
        sb_cstr(b, "as the election decides");
    else
        text_number(b, v, 0);
    sb_char(b, '\n');
}

static void one_query(struct suggest *g, struct str query, struct json *j,
                      struct sb *b)
{
    struct err e = {0};
    double now, v;
    json_begin(j, '{');
    json_key(j, "query");
    json_str(j, query);
    enum status first = error_with(g, query, 0, 0, &now, &e);
    json_key(j, "now");
    sb_printf(b, "\n%.*s\n  now                 ", PSTR(query));
    put_error(j, b, first, now, &e);
    json_key(j, "refused");
    if (first == OK)
        json_null(j);
    else
        json_cstr(j, e.message);
    json_key(j, "with");
    json_begin(j, '[');
    for (size_t i = 0; i <= g->list.n; i++) {
        bool all = i == g->list.n;
        enum status st =
            error_with(g, query, all ? 0 : i, all ? i : i + 1, &v, &e);
        if (all) {
            json_end(j, ']');
            json_key(j, "with_all");
            sb_cstr(b, "  with all            ");
        } else if (st == first && (st != OK || v >= now)) {
            json_null(j); /* worth nothing here */
            continue;
        } else {
            sb_printf(b, "  with %-3zu            ", i + 1);
        }
        put_error(j, b, st, v, &e);
    }
    json_end(j, '}');
}

/* A query for each line; # begins a comment. */
static enum status all_queries(struct suggest *g, struct json *j, struct sb *b)
{
    struct str text, file = g->p->session->opt.queries;
    json_key(j, "queries");
    json_begin(j, '[');
    if (file.n) {
        TRY(session_read_file(&g->p->arena, file, "file of queries", &text,
                              g->err));
        sb_printf(b,
                  "\nThe error that 95 %% of the answers keep, epsilon %.*s:\n",
                  PSTR(g->epsilon));
        while (text.n) {
            const char *end = memchr(text.p, '\n', text.n);
            size_t n = end ? (size_t)(end - text.p) : text.n;
            struct str line = str_trim((struct str){text.p, n});
            if (line.n && line.p[0] != '#')
                one_query(g, line, j, b);
            n += end != NULL;
            text = (struct str){text.p + n, text.n - n};
        }
    }
    json_end(j, ']');
    return OK;
}

static void list_all(struct suggest *g, struct json *j, struct sb *b)
{
    json_key(j, "suggestions");
    json_begin(j, '[');
    for (size_t i = 0; i < g->list.n; i++) {
        const struct suggestion *s = &g->list.p[i];
        json_begin(j, '{');
        json_key(j, "policy");
        json_str(j, s->yaml);
        json_key(j, "today");
        json_str(j, s->today);
        json_end(j, '}');
        sb_printf(b, "%-3zu %.*s   # %.*s\n", i + 1, PSTR(s->yaml),
                  PSTR(s->today));
    }
    json_end(j, ']');
    if (!g->list.n)
        sb_cstr(b, "nothing to suggest\n");
    else
        sb_cstr(b, "A promise must hold of every later state of the data too: "
                   "keep what you know, not what happens to be.\n");
}

static enum status suggest(struct suggest *g, struct result *out)
{
    struct json j;
    struct prepared *p = g->p;
    p->owner_view = true;
    TRY(prepare_schema(p, SOURCE_REQUIRED, g->err));
    g->epsilon = p->epsilon.n ? p->epsilon : STR("1");
    TRY(store_new(&p->session->mem, &p->schema, &g->store, g->err));
    TRY(source_load(p->source, NULL, g->store, NULL, g->err));
    TRY(measure_all(g));
    json_init(&j, &out->json);
    json_begin(&j, '{');
    list_all(g, &j, &out->text);
    TRY(all_queries(g, &j, &out->text));
    json_end(&j, '}');
    return OK;
}

enum status ask_suggest(struct session *s, struct str query, struct result *out,
                        struct err *err)
{
    struct prepared p;
    struct suggest g = {.p = &p, .err = err};
    (void)query;
    prepared_init(&p, s);
    enum status st = suggest(&g, out);
    store_free(g.store);
    prepared_fini(&p);
    return st;
}
