/*
 * A schema as bytes, for a process that must have it and nothing else, and as
 * a copy for one question. Whoever adds a member to one of these structs adds
 * it here: the assertions on their sizes remind of it.
 */
#include <string.h>

#include "base/bytes.h"
#include "schema/schema.h"

#if defined(__x86_64__)
_Static_assert(sizeof(struct column) == 144, "write and read the new member");
_Static_assert(sizeof(struct cell_form) == 24, "write and read it");
_Static_assert(sizeof(struct file_form) == 72, "write and read it");
_Static_assert(sizeof(struct degree) == 96, "write and read the new member");
_Static_assert(sizeof(struct foreign_key) == 40, "write and read it");
_Static_assert(sizeof(struct table_check) == 24, "write and read it");
_Static_assert(sizeof(struct owner_edge) == 80, "write and read it");
_Static_assert(sizeof(struct owner_path) == 12, "write and read it");
_Static_assert(sizeof(struct table) == 264, "write and read the new member");
_Static_assert(sizeof(struct schema) == 264, "write and read the new member");
#endif

/* --- a copy --------------------------------------------------------------- */

static void *dup_array(struct arena *a, const void *from, size_t n, size_t each)
{
    void *p = arena_array(a, n + 1, each);
    if (p && n)
        memcpy(p, from, n * each);
    return p;
}

/* A rule may give columns to a table that only constraints named so far. */
static enum status copy_table(struct arena *a, struct table *t, struct err *err)
{
    t->cols = dup_array(a, t->cols, t->n_cols, sizeof *t->cols);
    t->degrees.p =
        dup_array(a, t->degrees.p, t->degrees.n, sizeof *t->degrees.p);
    t->degrees.cap = t->degrees.n;
    return t->cols && t->degrees.p ? OK : err_nomem(err);
}

enum status schema_copy(struct schema *out, struct arena *a,
                        const struct schema *from, struct err *err)
{
    *out = *from;
    out->arena = a;
    out->tables.p =
        dup_array(a, from->tables.p, from->tables.n, sizeof *from->tables.p);
    out->tables.cap = from->tables.n;
    if (!out->tables.p)
        return err_nomem(err);
    for (size_t i = 0; i < out->tables.n; i++)
        TRY(copy_table(a, &out->tables.p[i], err));
    return OK;
}

/* --- writing -------------------------------------------------------------- */

static void put_bools(struct sb *b, const bool *v, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits |= (uint64_t)v[i] << i;
    bytes_put_u64(b, bits);
}

static void put_list(struct sb *b, const uint32_t *v, size_t n)
{
    bytes_put_u64(b, v ? n : UINT64_MAX);
    for (size_t i = 0; v && i < n; i++)
        bytes_put_u64(b, v[i]);
}

static void put_pos(struct sb *b, struct policy_pos at)
{
    bytes_put_u64(b, (uint64_t)at.line);
    bytes_put_u64(b, (uint64_t)at.column);
}

void value_write(struct sb *b, const struct value *v)
{
    uint64_t bits;
    memcpy(&bits, &v->f, sizeof bits);
    bytes_put_u64(b, (uint64_t)v->type << 1 | v->is_null);
    bytes_put_u64(b, (uint64_t)v->i);
    bytes_put_u64(b, bits);
    bytes_put_str(b, v->s);
}

static void put_column(struct sb *b, const struct column *c)
{
    const bool flags[] = {c->not_null,      c->is_enum,   c->is_padded,
                          c->is_varchar,    c->text_only, c->guessed,
                          c->own_domain,    c->leads,     c->form.comma,
                          c->retypes,       c->has_scale, c->by_class,
                          c->digits.limited};
    bytes_put_str(b, c->name);
    bytes_put_str(b, c->comment);
    bytes_put_str(b, c->form.format);
    bytes_put_str(b, c->clip_lo);
    bytes_put_str(b, c->clip_hi);
    bytes_put_u64(b, c->scale);
    bytes_put_u64(b, c->chars);
    bytes_put_u64(b, c->digits.before);
    bytes_put_u64(b, c->digits.behind);
    bytes_put_u64(b, c->type);
    put_bools(b, flags, sizeof flags);
    bytes_put_u64(b, c->n_domain);
    for (size_t i = 0; i < c->n_domain; i++)
        value_write(b, &c->domain[i]);
}

static void put_degree(struct sb *b, const struct degree *d)
{
    const bool flags[] = {d->y_is_all, d->is_key, d->orders_differ,
                          d->measured};
    put_list(b, d->x, d->n_x);
    put_list(b, d->y, d->n_y);
    put_list(b, d->written, d->n_x);
    bytes_put_u64(b, (uint64_t)(d->k >> 64));
    bytes_put_u64(b, (uint64_t)d->k);
    put_bools(b, flags, sizeof flags);
    bytes_put_str(b, d->text);
}

static void put_texts(struct sb *b, const struct str *v, size_t n)
{
    bytes_put_u64(b, n);
    for (size_t i = 0; i < n; i++)
        bytes_put_str(b, v[i]);
}

static void put_edge(struct sb *b, const struct owner_edge *e)
{
    put_list(b, e->via, e->n);
    put_list(b, e->key, e->n);
    bytes_put_u64(b, e->n);
    bytes_put_str(b, e->name);
    if (e->key_names)
        put_texts(b, e->key_names, e->n_key_names);
    else
        bytes_put_u64(b, UINT64_MAX);
    bytes_put_u64(b, e->table);
    put_pos(b, e->at);
}

static void put_table(struct sb *b, const struct table *t)
{
    const bool flags[] = {t->declared,   t->arity_known, t->any_case,
                          t->is_refused, t->is_entity,   t->owned_given};
    bytes_put_str(b, t->name);
    bytes_put_str(b, t->namespace_);
    bytes_put_str(b, t->comment);
    bytes_put_u64(b, t->privacy);
    bytes_put_u64(b, t->bytes_at_most);
    put_bools(b, flags, sizeof flags);
    bytes_put_u64(b, t->n_cols);
    for (size_t i = 0; i < t->n_cols; i++)
        put_column(b, &t->cols[i]);
    bytes_put_u64(b, t->degrees.n);
    for (size_t i = 0; i < t->degrees.n; i++)
        put_degree(b, &t->degrees.p[i]);
    bytes_put_u64(b, t->fks.n);
    for (size_t i = 0; i < t->fks.n; i++) {
        put_list(b, t->fks.p[i].cols, t->fks.p[i].n_cols);
        put_list(b, t->fks.p[i].ref_cols, t->fks.p[i].n_cols);
        bytes_put_str(b, t->fks.p[i].ref_table);
    }
    bytes_put_u64(b, t->checks.n);
    for (size_t i = 0; i < t->checks.n; i++) {
        bytes_put_str(b, t->checks.p[i].condition);
        bytes_put_u64(b, (uint64_t)t->checks.p[i].own);
    }
    bytes_put_u64(b, t->owned_by.n);
    for (size_t i = 0; i < t->owned_by.n; i++)
        put_edge(b, &t->owned_by.p[i]);
    put_list(b, t->not_owned.p, t->not_owned.n);
    bytes_put_u64(b, t->paths.n);
    for (size_t i = 0; i < t->paths.n; i++) {
        bytes_put_u64(b, (uint32_t)t->paths.p[i].edge);
        bytes_put_u64(b, t->paths.p[i].rest);
        bytes_put_u64(b, t->paths.p[i].nested);
    }
    put_pos(b, t->at);
    put_pos(b, t->entity_at);
}

static void put_form(struct sb *b, const struct file_form *f)
{
    bytes_put_str(b, f->table);
    put_texts(b, f->columns, f->n_columns);
    bytes_put_u64(b, (unsigned char)f->delimiter);
    bytes_put_u64(b, (uint64_t)(f->header + 1));
    put_texts(b, f->nulls, f->n_nulls);
    put_pos(b, f->at);
}

void schema_write(struct sb *b, const struct schema *s)
{
    const struct policy_limits *l = &s->limits;
    const bool flags[] = {s->neighbours_given, s->has_entities};
    bytes_put_u64(b, s->neighbours);
    put_bools(b, flags, sizeof flags);
    bytes_put_str(b, str_of(s->policy));
    put_pos(b, s->neighbours_at);
    bytes_put_u64(b, s->order);
    bytes_put_u64(b, s->guess);
    bytes_put_str(b, s->epsilon);
    bytes_put_str(b, s->delta);
    const struct str limits[] = {l->respond_after, l->ladder,     l->memory,
                                 l->least_price,   l->most_price, l->strict,
                                 l->work_at_most,  l->visible};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        bytes_put_str(b, limits[i]);
    bytes_put_u64(b, s->forms.n);
    for (size_t i = 0; i < s->forms.n; i++)
        put_form(b, &s->forms.p[i]);
    bytes_put_u64(b, s->tables.n);
    for (size_t i = 0; i < s->tables.n; i++)
        put_table(b, &s->tables.p[i]);
}

/* --- reading -------------------------------------------------------------- */

static void take_bools(struct bytes *b, bool *const *v, size_t n)
{
    uint64_t bits = bytes_u64(b);
    for (size_t i = 0; i < n; i++)
        *v[i] = bits >> i & 1;
}

/* Room for as many as there should be; NULL and `failed`, or an array. */
static void *room(struct bytes *b, size_t n, size_t each)
{
    void *p = b->failed ? NULL : arena_array(b->arena, n + 1, each);
    b->failed |= !p;
    return p;
}

/* A list that is there, or none. */
static uint32_t *take_list(struct bytes *b, size_t *n)
{
    struct bytes look = *b;
    if (bytes_u64(&look) == UINT64_MAX) {
        *b = look;
        return NULL;
    }
    *n = bytes_count(b, sizeof(uint64_t));
    uint32_t *v = room(b, *n, sizeof *v);
    for (size_t i = 0; v && i < *n; i++)
        v[i] = (uint32_t)bytes_u64(b);
    return v;
}

static struct policy_pos take_pos(struct bytes *b)
{
    long line = (long)bytes_u64(b);
    return (struct policy_pos){line, (long)bytes_u64(b)};
}

struct value value_read(struct bytes *b)
{
    struct value v = {0};
    uint64_t head = bytes_u64(b), bits;
    v.type = (enum type)(head >> 1);
    v.is_null = head & 1;
    v.i = (int64_t)bytes_u64(b);
    bits = bytes_u64(b);
    memcpy(&v.f, &bits, sizeof bits);
    v.s = bytes_str(b);
    return v;
}

static void take_column(struct bytes *b, struct column *c)
{
    bool *const flags[] = {&c->not_null,      &c->is_enum,   &c->is_padded,
                           &c->is_varchar,    &c->text_only, &c->guessed,
                           &c->own_domain,    &c->leads,     &c->form.comma,
                           &c->retypes,       &c->has_scale, &c->by_class,
                           &c->digits.limited};
    c->name = bytes_str(b);
    c->comment = bytes_str(b);
    c->form.format = bytes_str(b);
    c->clip_lo = bytes_str(b);
    c->clip_hi = bytes_str(b);
    c->scale = (uint8_t)bytes_u64(b);
    c->chars = (uint32_t)bytes_u64(b);
    c->digits.before = (uint16_t)bytes_u64(b);
    c->digits.behind = (uint16_t)bytes_u64(b);
    c->type = (enum type)bytes_u64(b);
    take_bools(b, flags, sizeof flags / sizeof *flags);
    c->n_domain = bytes_count(b, sizeof(uint64_t));
    c->domain = c->n_domain ? room(b, c->n_domain, sizeof *c->domain) : NULL;
    for (size_t i = 0; c->domain && i < c->n_domain; i++)
        c->domain[i] = value_read(b);
}

static void take_degree(struct bytes *b, struct degree *d)
{
    bool *const flags[] = {&d->y_is_all, &d->is_key, &d->orders_differ,
                           &d->measured};
    size_t n;
    d->x = take_list(b, &d->n_x);
    d->y = take_list(b, &d->n_y);
    d->written = take_list(b, &n);
    d->k = (u128)bytes_u64(b) << 64;
    d->k |= bytes_u64(b);
    take_bools(b, flags, sizeof flags / sizeof *flags);
    d->text = bytes_str(b);
}

static struct str *take_texts(struct bytes *b, size_t *n)
{
    *n = bytes_count(b, sizeof(uint64_t));
    struct str *v = room(b, *n, sizeof *v);
    for (size_t i = 0; v && i < *n; i++)
        v[i] = bytes_str(b);
    return v;
}

static void take_form(struct bytes *b, struct file_form *f)
{
    f->table = bytes_str(b);
    f->columns = take_texts(b, &f->n_columns);
    f->delimiter = (char)bytes_u64(b);
    f->header = (int)bytes_u64(b) - 1;
    f->nulls = take_texts(b, &f->n_nulls);
    f->at = take_pos(b);
}

static void take_edge(struct bytes *b, struct owner_edge *e)
{
    size_t n;
    e->via = take_list(b, &n);
    e->key = take_list(b, &n);
    e->n = (size_t)bytes_u64(b);
    e->name = bytes_str(b);
    struct bytes look = *b;
    if (bytes_u64(&look) == UINT64_MAX) {
        *b = look;
    } else {
        e->key_names = take_texts(b, &e->n_key_names);
    }
    e->table = (uint32_t)bytes_u64(b);
    e->at = take_pos(b);
}

static void take_paths(struct bytes *b, struct table *t)
{
    t->paths.n = t->paths.cap = bytes_count(b, sizeof(uint64_t));
    t->paths.p = room(b, t->paths.n, sizeof *t->paths.p);
    for (size_t i = 0; t->paths.p && i < t->paths.n; i++) {
        t->paths.p[i].edge = (int32_t)bytes_u64(b);
        t->paths.p[i].rest = (uint32_t)bytes_u64(b);
        t->paths.p[i].nested = bytes_u64(b);
    }
}

static void take_lists(struct bytes *b, struct table *t)
{
    t->degrees.n = t->degrees.cap = bytes_count(b, sizeof(uint64_t));
    t->degrees.p = room(b, t->degrees.n, sizeof *t->degrees.p);
    for (size_t i = 0; t->degrees.p && i < t->degrees.n; i++)
        take_degree(b, &t->degrees.p[i]);
    t->fks.n = t->fks.cap = bytes_count(b, sizeof(uint64_t));
    t->fks.p = room(b, t->fks.n, sizeof *t->fks.p);
    for (size_t i = 0; t->fks.p && i < t->fks.n; i++) {
        size_t n;
        t->fks.p[i].cols = take_list(b, &t->fks.p[i].n_cols);
        t->fks.p[i].ref_cols = take_list(b, &n);
        t->fks.p[i].ref_table = bytes_str(b);
    }
    t->checks.n = t->checks.cap = bytes_count(b, sizeof(uint64_t));
    t->checks.p = room(b, t->checks.n, sizeof *t->checks.p);
    for (size_t i = 0; t->checks.p && i < t->checks.n; i++) {
        t->checks.p[i].condition = bytes_str(b);
        t->checks.p[i].own = (int64_t)bytes_u64(b);
    }
    t->owned_by.n = t->owned_by.cap = bytes_count(b, sizeof(uint64_t));
    t->owned_by.p = room(b, t->owned_by.n, sizeof *t->owned_by.p);
    for (size_t i = 0; t->owned_by.p && i < t->owned_by.n; i++)
        take_edge(b, &t->owned_by.p[i]);
    t->not_owned.p = take_list(b, &t->not_owned.n);
    t->not_owned.cap = t->not_owned.n;
}

static void take_table(struct bytes *b, struct table *t)
{
    bool *const flags[] = {&t->declared,   &t->arity_known, &t->any_case,
                           &t->is_refused, &t->is_entity,   &t->owned_given};
    t->name = bytes_str(b);
    t->namespace_ = bytes_str(b);
    t->comment = bytes_str(b);
    t->privacy = (enum privacy)bytes_u64(b);
    t->bytes_at_most = bytes_u64(b);
    take_bools(b, flags, sizeof flags / sizeof *flags);
    t->n_cols = bytes_count(b, sizeof(uint64_t));
    t->cols = room(b, t->n_cols, sizeof *t->cols);
    for (size_t i = 0; t->cols && i < t->n_cols; i++)
        take_column(b, &t->cols[i]);
    take_lists(b, t);
    take_paths(b, t);
    t->at = take_pos(b);
    t->entity_at = take_pos(b);
}

enum status schema_read(struct schema *s, struct bytes *b, struct err *err)
{
    struct policy_limits *l = &s->limits;
    bool *const flags[] = {&s->neighbours_given, &s->has_entities};
    s->neighbours = (enum neighbours)bytes_u64(b);
    take_bools(b, flags, sizeof flags / sizeof *flags);
    s->policy = bytes_str(b).p;
    s->neighbours_at = take_pos(b);
    s->order = (uint32_t)bytes_u64(b);
    s->guess = bytes_u64(b);
    s->epsilon = bytes_str(b);
    s->delta = bytes_str(b);
    struct str *const limits[] = {&l->respond_after, &l->ladder,     &l->memory,
                                  &l->least_price,   &l->most_price, &l->strict,
                                  &l->work_at_most,  &l->visible};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        *limits[i] = bytes_str(b);
    s->forms.n = s->forms.cap = bytes_count(b, sizeof(uint64_t));
    s->forms.p = room(b, s->forms.n, sizeof *s->forms.p);
    for (size_t i = 0; s->forms.p && i < s->forms.n; i++)
        take_form(b, &s->forms.p[i]);
    s->tables.n = s->tables.cap = bytes_count(b, sizeof(uint64_t));
    s->tables.p = room(b, s->tables.n, sizeof *s->tables.p);
    for (size_t i = 0; s->tables.p && i < s->tables.n; i++)
        take_table(b, &s->tables.p[i]);
    return b->failed ? err_set(err, E_USAGE, "these bytes are no data set")
                     : OK;
}
