/*
 * The canonical policy: see binding.h. Tables and constraints are sorted, so
 * that the order in which they were declared does not matter; texts that could
 * hold anything carry their length.
 */
#include "release/binding.h"

#include <stdlib.h>

static int by_bytes(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static struct str full_name(struct arena *a, const struct table *t)
{
    return t->namespace_.n
               ? str_printf(a, "%.*s.%.*s", PSTR(t->namespace_), PSTR(t->name))
               : t->name;
}

/* Tables that only a query names are nothing that the owner declared. */
static bool is_bound(const struct table *t)
{
    return t->declared && !t->is_refused;
}

static enum status names_of(struct prepared *p, bool is_private,
                            const struct str **out, size_t *n, struct err *err)
{
    const struct schema *s = &p->schema;
    struct str *list = NEWS(&p->arena, struct str, s->tables.n + 1);
    *n = 0;
    for (size_t i = 0; list && i < s->tables.n; i++) {
        const struct table *t = &s->tables.p[i];
        if (is_bound(t) && table_is_private(t) == is_private)
            list[(*n)++] = full_name(&p->arena, t);
    }
    if (!list)
        return err_nomem(err);
    qsort(list, *n, sizeof *list, by_bytes);
    *out = list;
    return OK;
}

/* --- the text --------------------------------------------------------------
 */

static void print_text(struct sb *b, struct str s)
{
    sb_printf(b, "%zu:%.*s", s.n, PSTR(s));
}

static void print_columns(struct sb *b, const struct table *t)
{
    for (size_t i = 0; i < t->n_cols; i++) {
        const struct column *c = &t->cols[i];
        sb_cstr(b, " column ");
        print_text(b, c->name);
        sb_printf(b, " %d%s%s", (int)c->type, c->not_null ? " not null" : "",
                  c->is_enum ? " enum" : "");
        /* lists of the catalogue are not the owner's word */
        for (size_t k = 0; !c->own_domain && k < c->n_domain; k++) {
            sb_cstr(b, k ? ", " : " values ");
            value_print(b, &c->domain[k]);
        }
        sb_char(b, '\n');
    }
}

static enum status print_degrees(struct sb *b, const struct table *t,
                                 struct err *err)
{
    struct str *lines = NEWS(b->arena, struct str, t->degrees.n + 1);
    if (!lines)
        return err_nomem(err);
    size_t n = 0;
    for (size_t i = 0; i < t->degrees.n; i++) {
        struct sb line;
        if (t->degrees.p[i].measured)
            continue; /* the rows' business, not the owner's word */
        sb_init(&line, b->arena);
        degree_print(&line, t, &t->degrees.p[i]);
        sb_cstr(&line, t->degrees.p[i].is_key ? " key" : "");
        if (line.failed)
            return err_nomem(err);
        lines[n++] = sb_view(&line);
    }
    qsort(lines, n, sizeof *lines, by_bytes);
    for (size_t i = 0; i < n; i++)
        sb_printf(b, " %.*s\n", PSTR(lines[i]));
    return OK;
}

static void print_names(struct sb *b, const struct table *t,
                        const uint32_t *cols, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sb_char(b, ' ');
        print_text(b, t->cols[cols[i]].name);
    }
}

/* Whose rows the table's are. */
static void print_owners(struct sb *b, const struct schema *s,
                         const struct table *t)
{
    if (t->is_entity)
        sb_cstr(b, " entity\n");
    for (size_t i = 0; i < t->owned_by.n; i++) {
        const struct owner_edge *e = &t->owned_by.p[i];
        const struct table *to = &s->tables.p[e->table];
        sb_cstr(b, " owned by ");
        print_text(b, full_name(b->arena, to));
        print_names(b, t, e->via, e->n);
        sb_cstr(b, " =");
        print_names(b, to, e->key, e->key ? e->n : 0);
        sb_char(b, '\n');
    }
}

static enum status print_table(struct sb *b, const struct schema *s,
                               const struct table *t, struct err *err)
{
    sb_cstr(b, table_is_private(t) ? "private " : "public ");
    print_text(b, full_name(b->arena, t));
    sb_char(b, '\n');
    print_columns(b, t);
    size_t before = b->n;
    schema_print_form(b, s, t);
    if (b->n > before)
        sb_char(b, '\n');
    print_owners(b, s, t);
    if (t->bytes_at_most) {
        sb_cstr(b, " bytes ");
        sb_u128(b, t->bytes_at_most);
        sb_char(b, '\n');
    }
    return print_degrees(b, t, err);
}

static void print_limits(struct sb *b, const struct policy_limits *x)
{
    const struct str texts[] = {x->respond_after, x->ladder,     x->memory,
                                x->least_price,   x->most_price, x->strict,
                                x->work_at_most};
    sb_cstr(b, "limits");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sb_char(b, ' ');
        print_text(b, texts[i]);
    }
    sb_char(b, '\n');
}

static enum status print_all(struct prepared *p, const struct ledger_policy *x,
                             struct str *out, struct err *err)
{
    const struct schema *s = &p->schema;
    struct str *parts = NEWS(&p->arena, struct str, s->tables.n + 1);
    size_t n = 0;
    struct sb b;
    if (!parts)
        return err_nomem(err);
    for (size_t i = 0; i < s->tables.n; i++) {
        if (!is_bound(&s->tables.p[i]))
            continue;
        sb_init(&b, &p->arena);
        TRY(print_table(&b, s, &s->tables.p[i], err));
        parts[n++] = sb_view(&b);
        if (b.failed)
            return err_nomem(err);
    }
    qsort(parts, n, sizeof *parts, by_bytes);
    sb_init(&b, &p->arena);
    sb_printf(&b, "unit %.*s\nneighbours %.*s\norder %.*s\n", PSTR(x->unit),
              PSTR(x->neighbours), PSTR(x->order));
    for (size_t i = 0; i < n; i++)
        sb_str(&b, parts[i]);
    print_limits(&b, &s->limits);
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

/* "row", or the entities and which rows go with them. A table may come later,
 * so only those that are owned are named. */
static enum status unit_of(struct prepared *p, struct str *out, struct err *err)
{
    const struct schema *s = &p->schema;
    struct str *parts = NEWS(&p->arena, struct str, s->tables.n + 1);
    size_t n = 0;
    struct sb b;
    *out = STR("row");
    if (!parts)
        return err_nomem(err);
    if (!s->has_entities)
        return OK;
    for (size_t i = 0; i < s->tables.n; i++) {
        const struct table *t = &s->tables.p[i];
        if (!t->is_entity && !t->owned_by.n)
            continue;
        sb_init(&b, &p->arena);
        print_text(&b, full_name(&p->arena, t));
        print_owners(&b, s, t);
        if (b.failed)
            return err_nomem(err);
        parts[n++] = sb_view(&b);
    }
    qsort(parts, n, sizeof *parts, by_bytes);
    sb_init(&b, &p->arena);
    sb_cstr(&b, "entities\n");
    for (size_t i = 0; i < n; i++)
        sb_str(&b, parts[i]);
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

static struct str neighbours_name(enum neighbours n)
{
    return n == ADD_DROP_ONE      ? STR("add-drop-one")
           : n == CHANGE_ONE      ? STR("change-one")
           : n == ADD_DROP_ENTITY ? STR("add-drop-entity")
                                  : STR("change-entity");
}

void binding_limits(const struct schema *s, struct ledger_limits *out)
{
    const struct policy_limits *x = &s->limits;
    *out = (struct ledger_limits){
        .respond_after = x->respond_after,
        .ladder = x->ladder,
        .memory = x->memory,
        .least_price = x->least_price,
        .most_price = x->most_price,
        .strict = x->strict,
        .work_at_most = x->work_at_most,
    };
}

enum status binding_of(struct prepared *p, struct ledger_policy *out,
                       struct err *err)
{
    const struct schema *s = &p->schema;
    *out = (struct ledger_policy){
        .neighbours = neighbours_name(s->neighbours),
        .order = str_printf(&p->arena, "%u", s->order),
    };
    if (!out->order.p)
        return err_nomem(err);
    TRY(unit_of(p, &out->unit, err));
    TRY(names_of(p, true, &out->private_, &out->n_private, err));
    TRY(names_of(p, false, &out->public_, &out->n_public, err));
    return print_all(p, out, &out->text, err);
}
