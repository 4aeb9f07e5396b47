/*
 * The policy file's proposal of owners: each foreign key that leads, in one
 * step or in several, to an entity's table is a line of owned_by, except
 * where rows would own themselves; the other foreign keys to private tables
 * are listed in not_owned, for the owner of the data to think about. A table
 * from which nothing leads to an entity is said to belong to nobody: the file
 * is refused until the owner has decided.
 */
#include "source/source_int.h"

#include <string.h>

static long target(const struct schema *s, const struct foreign_key *f)
{
    long to = schema_find_nocase(s, f->ref_table);
    return to >= 0 && !s->tables.p[to].is_refused ? to : -1;
}

/* Steps to the nearest entity along foreign keys, for every table;
 * UINT32_MAX: none leads there. */
static void measure(const struct schema *s, uint32_t *steps)
{
    for (size_t i = 0; i < s->tables.n; i++)
        steps[i] = s->tables.p[i].is_entity ? 0 : UINT32_MAX;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->tables.n; i++)
            for (size_t k = 0; k < s->tables.p[i].fks.n; k++) {
                long to = target(s, &s->tables.p[i].fks.p[k]);
                if (to < 0 || steps[to] == UINT32_MAX ||
                    steps[to] + 1 >= steps[i])
                    continue;
                steps[i] = steps[to] + 1;
                changed = true;
            }
    }
}

/* Is `to` reached from `from` by foreign keys between tables that lead to an
 * entity? Then an edge back would close a cycle. */
static bool reaches(const struct schema *s, const uint32_t *steps, bool *seen,
                    size_t from, size_t to)
{
    if (from == to)
        return true;
    seen[from] = true;
    for (size_t k = 0; k < s->tables.p[from].fks.n; k++) {
        long next = target(s, &s->tables.p[from].fks.p[k]);
        if (next >= 0 && !seen[next] && steps[next] != UINT32_MAX &&
            reaches(s, steps, seen, (size_t)next, to))
            return true;
    }
    return false;
}

/* On a cycle only steps towards an entity are proposed. */
static bool is_proposed(const struct schema *s, const uint32_t *steps,
                        bool *seen, size_t table, size_t to)
{
    if (steps[to] == UINT32_MAX)
        return false;
    memset(seen, 0, s->tables.n * sizeof *seen);
    return !reaches(s, steps, seen, to, table) || steps[to] < steps[table];
}

static void write_edge(struct sb *b, const struct schema *s,
                       const struct table *t, const struct foreign_key *f,
                       size_t to)
{
    sb_cstr(b, "      - {via: ");
    source_policy_columns(b, t, f->cols, f->n_cols);
    sb_cstr(b, ", table: ");
    source_policy_name(b, s->tables.p[to].name);
    sb_cstr(b, ", key: ");
    source_policy_columns(b, &s->tables.p[to], f->ref_cols, f->n_cols);
    sb_cstr(b, "}\n");
}

/* Columns of the foreign keys that are not proposed. */
static void write_rest(struct sb *b, const struct table *t, const bool *rest)
{
    bool any = false;
    for (uint32_t c = 0; c < t->n_cols; c++) {
        bool is = false;
        for (size_t k = 0; k < t->fks.n; k++)
            for (size_t i = 0; rest[k] && i < t->fks.p[k].n_cols; i++)
                is |= t->fks.p[k].cols[i] == c;
        if (!is)
            continue;
        sb_cstr(b, any ? ", " : "    not_owned: [");
        source_policy_name(b, t->cols[c].name);
        any = true;
    }
    sb_cstr(b, any ? "]   # refer to private rows, but do not belong to them; "
                     "sure?\n"
                   : "");
}

void source_policy_owners(const struct schema *s, size_t table, struct sb *b)
{
    const struct table *t = &s->tables.p[table];
    uint32_t *steps = NEWS(b->arena, uint32_t, s->tables.n + 1);
    bool *seen = NEWS(b->arena, bool, s->tables.n + 1);
    bool *rest = NEWS(b->arena, bool, t->fks.n + 1);
    size_t n = 0;
    if (!steps || !seen || !rest) {
        b->failed = true;
        return;
    }
    if (!s->has_entities)
        return;
    measure(s, steps);
    for (size_t k = 0; k < t->fks.n; k++) {
        long to = target(s, &t->fks.p[k]);
        rest[k] = to >= 0;
        if (to < 0 || !is_proposed(s, steps, seen, table, (size_t)to))
            continue;
        rest[k] = false;
        sb_cstr(b, n++ ? "" : "    owned_by:\n");
        write_edge(b, s, t, &t->fks.p[k], (size_t)to);
    }
    write_rest(b, t, rest);
    if (!n && !t->is_entity)
        sb_cstr(b, "    # Belongs to nobody: give owned_by, list it in "
                   "entities, or say public.\n");
}
