/* Whose rows a table's rows are, in words. */
#include "schema/owners.h"

uint32_t owner_path_entity(const struct schema *s, uint32_t table,
                           const struct owner_path *p)
{
    while (p->edge >= 0) {
        table = s->tables.p[table].owned_by.p[p->edge].table;
        p = &s->tables.p[table].paths.p[p->rest];
    }
    return table;
}

/* The tables between: "customer by orders". */
static void print_steps(struct sb *b, const struct schema *s, uint32_t table,
                        const struct owner_path *p)
{
    uint32_t end = owner_path_entity(s, table, p);
    size_t n = 0;
    sb_str(b, s->tables.p[end].name);
    while (p->edge >= 0) {
        table = s->tables.p[table].owned_by.p[p->edge].table;
        p = &s->tables.p[table].paths.p[p->rest];
        if (p->edge >= 0)
            sb_printf(b, "%s%.*s", n++ ? ", " : " by ",
                      PSTR(s->tables.p[table].name));
    }
}

/* Does another path of the table read the same in words? */
static bool is_ambiguous(struct sb *b, const struct schema *s, uint32_t table,
                         size_t path)
{
    const struct table *t = &s->tables.p[table];
    struct sb mine, other;
    sb_init(&mine, b->arena);
    print_steps(&mine, s, table, &t->paths.p[path]);
    for (size_t i = 0; i < t->paths.n; i++) {
        if (i == path)
            continue;
        sb_init(&other, b->arena);
        print_steps(&other, s, table, &t->paths.p[i]);
        if (str_eq(sb_view(&mine), sb_view(&other)))
            return true;
    }
    return false;
}

bool owner_edge_has_twin(const struct table *t, const struct owner_edge *e)
{
    for (size_t i = 0; i < t->owned_by.n; i++)
        if (&t->owned_by.p[i] != e && t->owned_by.p[i].table == e->table)
            return true;
    return false;
}

/* " through doctor": the columns where ways part. */
static void print_ways(struct sb *b, const struct schema *s, uint32_t table,
                       const struct owner_path *p)
{
    const char *between = " through ";
    while (p->edge >= 0) {
        const struct table *t = &s->tables.p[table];
        const struct owner_edge *e = &t->owned_by.p[p->edge];
        for (size_t i = 0; owner_edge_has_twin(t, e) && i < e->n; i++) {
            sb_printf(b, "%s%.*s", between, PSTR(t->cols[e->via[i]].name));
            between = ", ";
        }
        table = e->table;
        p = &s->tables.p[table].paths.p[p->rest];
    }
}

void owner_path_print(struct sb *b, const struct schema *s, uint32_t table,
                      size_t path)
{
    const struct table *t = &s->tables.p[table];
    const struct owner_path *p = &t->paths.p[path];
    print_steps(b, s, table, p);
    if (is_ambiguous(b, s, table, path))
        print_ways(b, s, table, p);
}

/* Every foreign key of the column leads to public rows, and there is one. */
static bool refers_to_public(const struct schema *s, const struct table *t,
                             uint32_t col)
{
    bool any = false;
    for (size_t f = 0; f < t->fks.n; f++)
        for (size_t i = 0; i < t->fks.p[f].n_cols; i++) {
            if (t->fks.p[f].cols[i] != col)
                continue;
            long to = schema_find_nocase(s, t->fks.p[f].ref_table);
            if (to < 0 || table_is_private(&s->tables.p[to]))
                return false;
            any = true;
        }
    return any;
}

void owner_table_print(struct sb *b, const struct schema *s, uint32_t table)
{
    const struct table *t = &s->tables.p[table];
    for (size_t i = 0; i < t->paths.n; i++) {
        if (i == 0)
            sb_printf(b, "%.*s: ", PSTR(t->name));
        sb_cstr(b, i ? " and " : "");
        if (t->paths.p[i].edge < 0) {
            sb_cstr(b, "each row an entity");
            continue;
        }
        sb_cstr(b, "of one ");
        owner_path_print(b, s, table, i);
    }
    if (t->paths.n)
        sb_char(b, '\n');
    for (size_t i = 0; t->paths.n && i < t->not_owned.n; i++) {
        struct str c = t->cols[t->not_owned.p[i]].name;
        if (refers_to_public(s, t, t->not_owned.p[i]))
            continue;
        sb_printf(b,
                  "%.*s mentions a %.*s; how often a %.*s is mentioned is not "
                  "protected\n",
                  PSTR(t->name), PSTR(c), PSTR(c));
    }
}
