/* The schema: see schema.h. */
#include "schema/schema.h"

#include <string.h>

void schema_init(struct schema *s, struct arena *a)
{
    *s = (struct schema){.arena = a, .order = 1};
}

long schema_find(const struct schema *s, struct str name)
{
    for (size_t i = 0; i < s->tables.n; i++)
        if (str_eq(s->tables.p[i].name, name))
            return (long)i;
    return -1;
}

long schema_find_nocase(const struct schema *s, struct str name)
{
    long found = schema_find(s, name);
    if (found >= 0)
        return found;
    for (size_t i = 0; i < s->tables.n; i++) {
        if (!str_eq_nocase(s->tables.p[i].name, name))
            continue;
        if (found >= 0)
            return -1;
        found = (long)i;
    }
    return found;
}

long table_find_column(const struct table *t, struct str name)
{
    for (size_t i = 0; i < t->n_cols; i++)
        if (name.n && str_eq(t->cols[i].name, name))
            return (long)i;
    return -1;
}

bool table_is_private(const struct table *t)
{
    /* PRIVACY: only an explicit declaration makes a table public. */
    return t->privacy != PRIVACY_PUBLIC;
}

void schema_hide_guessed(struct schema *s)
{
    for (size_t i = 0; i < s->tables.n; i++) {
        struct table *t = &s->tables.p[i];
        for (size_t c = 0; table_is_private(t) && c < t->n_cols; c++)
            if (t->cols[c].guessed)
                t->cols[c].name = STR("");
    }
}

static bool key_is_not_null(const struct table *t, const struct degree *d)
{
    for (size_t i = 0; i < d->n_x; i++)
        if (!t->cols[d->x[i]].not_null)
            return false;
    return true;
}

bool table_has_key(const struct table *t)
{
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        if (d->is_key && d->k == 1 && key_is_not_null(t, d))
            return true;
    }
    return false;
}

enum status schema_add_table(struct schema *s, struct str name, size_t n_cols,
                             size_t *out_index, struct err *err)
{
    struct table t = {.name = str_copy(s->arena, name), .n_cols = n_cols};
    t.cols = NEWS(s->arena, struct column, n_cols ? n_cols : 1);
    if (!t.name.p || !t.cols || !VEC_PUSH(s->arena, &s->tables, t))
        return err_nomem(err);
    *out_index = s->tables.n - 1;
    return OK;
}

/* Sorted, without repeats. */
static size_t sorted_set(uint32_t *v, size_t n)
{
    size_t m = 0;
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && v[j - 1] > v[j]; j--) {
            uint32_t tmp = v[j];
            v[j] = v[j - 1];
            v[j - 1] = tmp;
        }
    for (size_t i = 0; i < n; i++)
        if (m == 0 || v[m - 1] != v[i])
            v[m++] = v[i];
    return m;
}

static uint32_t *copy_cols(struct arena *a, const uint32_t *v, size_t n)
{
    uint32_t *p = NEWS(a, uint32_t, n + 1);
    if (p && n)
        memcpy(p, v, n * sizeof *p);
    return p;
}

static bool same_degree(const struct degree *a, const struct degree *b)
{
    return a->y_is_all == b->y_is_all && a->n_x == b->n_x && a->n_y == b->n_y &&
           a->k == b->k &&
           (!a->n_x || !memcmp(a->x, b->x, a->n_x * sizeof *a->x)) &&
           (!a->n_y || !memcmp(a->y, b->y, a->n_y * sizeof *a->y));
}

/* A second declaration of a key may list its columns in another order. */
static void note_order(struct degree *have, const struct degree *d)
{
    if (!d->written)
        return;
    if (!have->written)
        have->written = d->written;
    else if (d->n_x &&
             memcmp(have->written, d->written, d->n_x * sizeof *d->x) != 0)
        have->orders_differ = true;
}

static enum status add_degree(struct schema *s, size_t table, struct degree d,
                              struct str text, struct err *err)
{
    struct table *t = &s->tables.p[table];
    d.text = str_copy(s->arena, text);
    if (!d.x || !d.y || !d.text.p)
        return err_nomem(err);
    d.n_x = sorted_set(d.x, d.n_x);
    d.n_y = sorted_set(d.y, d.n_y);
    for (size_t i = 0; i < t->degrees.n; i++)
        if (same_degree(&t->degrees.p[i], &d)) {
            note_order(&t->degrees.p[i], &d);
            t->degrees.p[i].is_key |= d.is_key;
            return OK;
        }
    return VEC_PUSH(s->arena, &t->degrees, d) ? OK : err_nomem(err);
}

enum status table_add_degree(struct schema *s, size_t table, const uint32_t *x,
                             size_t n_x, const uint32_t *y, size_t n_y, u128 k,
                             struct str text, struct err *err)
{
    struct degree d = {.n_x = n_x, .n_y = n_y, .k = k};
    d.x = copy_cols(s->arena, x, n_x);
    d.y = copy_cols(s->arena, y, n_y);
    return add_degree(s, table, d, text, err);
}

static uint32_t *all_cols(struct arena *a, size_t n)
{
    uint32_t *p = NEWS(a, uint32_t, n + 1);
    for (size_t i = 0; p && i < n; i++)
        p[i] = (uint32_t)i;
    return p;
}

enum status table_add_whole(struct schema *s, size_t table, const uint32_t *x,
                            size_t n_x, u128 k, bool is_key, struct str text,
                            struct err *err)
{
    size_t n = s->tables.p[table].n_cols;
    struct degree d = {.n_x = n_x, .n_y = n, .k = k, .is_key = is_key};
    d.x = copy_cols(s->arena, x, n_x);
    d.y = all_cols(s->arena, n);
    d.y_is_all = true;
    d.written = is_key ? copy_cols(s->arena, x, n_x) : NULL;
    if (is_key && !d.written)
        return err_nomem(err);
    return add_degree(s, table, d, text, err);
}

bool degree_counts_rows(const struct degree *d)
{
    return d->y_is_all && (d->is_key || d->n_x == 0 || d->measured);
}

enum status schema_fix_arity(struct schema *s, size_t table, size_t n_cols,
                             struct err *err)
{
    struct table *t = &s->tables.p[table];
    if (t->arity_known && t->n_cols == n_cols)
        return OK;
    if (t->arity_known || n_cols < t->n_cols) {
        err_set(err, E_NAME, "relation \"%.*s\" has %zu columns, not %zu",
                PSTR(t->name), t->n_cols, n_cols);
        err_hint(err, "Give every column; _ stands for one that does not "
                      "matter.");
        return E_NAME;
    }
    struct column *cols = NEWS(s->arena, struct column, n_cols ? n_cols : 1);
    if (!cols)
        return err_nomem(err);
    if (t->n_cols)
        memcpy(cols, t->cols, t->n_cols * sizeof *cols);
    for (size_t i = 0; i < n_cols; i++)
        cols[i].not_null = true;
    t->cols = cols;
    t->n_cols = n_cols;
    t->arity_known = true;
    for (size_t i = 0; i < t->degrees.n; i++) {
        struct degree *d = &t->degrees.p[i];
        if (!d->y_is_all)
            continue;
        d->y = all_cols(s->arena, n_cols);
        if (!d->y)
            return err_nomem(err);
        d->n_y = n_cols;
    }
    return OK;
}

static void print_columns(struct sb *b, const struct table *t,
                          const uint32_t *cols, size_t n)
{
    if (n != 1)
        sb_char(b, '(');
    for (size_t i = 0; i < n; i++) {
        if (i)
            sb_cstr(b, ", ");
        if (cols[i] < t->n_cols && t->cols[cols[i]].name.n)
            sb_str(b, t->cols[cols[i]].name);
        else
            sb_printf(b, "%u", cols[i] + 1);
    }
    if (n != 1)
        sb_char(b, ')');
}

void degree_print(struct sb *b, const struct table *t, const struct degree *d)
{
    if (d->y_is_all && d->n_x == 0) {
        sb_printf(b, "|%.*s| <= ", PSTR(t->name));
        sb_u128(b, d->k);
        return;
    }
    sb_printf(b, "%.*s: ", PSTR(t->name));
    print_columns(b, t, d->x, d->n_x);
    sb_cstr(b, " -> ");
    if (d->y_is_all)
        sb_char(b, '*');
    else
        print_columns(b, t, d->y, d->n_y);
    if (d->k != 1) {
        sb_cstr(b, " <= ");
        sb_u128(b, d->k);
    }
}

bool schema_set_neighbours(struct schema *s, struct str name)
{
    static const char *const names[] = {
        [ADD_DROP_ONE] = "add-drop-one",
        [CHANGE_ONE] = "change-one",
        [ADD_DROP_ENTITY] = "add-drop-entity",
        [CHANGE_ENTITY] = "change-entity",
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i])) {
            s->neighbours = (enum neighbours)i;
            s->neighbours_given = true;
            return true;
        }
    return false;
}
