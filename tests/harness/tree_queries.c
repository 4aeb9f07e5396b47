/* See tree_queries.h. */
#include "harness/tree_queries.h"

#include "harness/tree_world.h"

static const char *const names[WORLD_TABLES] = {"r", "s", "p"};

unsigned tree_query_below(uint64_t *seed, unsigned n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*seed >> 33) % n);
}

/* --- random text ---------------------------------------------------------- */

struct gen {
    uint64_t *seed;
    struct sb *b;
    unsigned n_alias;
};

struct names { /* aliases that can be named */
    unsigned alias[8], n;
};

static void column(struct gen *g, const struct names *s)
{
    sb_printf(g->b, "t%u.%c", s->alias[tree_query_below(g->seed, s->n)],
              tree_query_below(g->seed, 2) ? 'x' : 'y');
}

static void compare(struct gen *g, const struct names *s)
{
    static const char *const ops[] = {"=", "=", "<>", "<", ">="};
    unsigned k = tree_query_below(g->seed, 4);
    column(g, s);
    if (k == 0) {
        sb_printf(g->b, " IS %sNULL",
                  tree_query_below(g->seed, 2) ? "NOT " : "");
        return;
    }
    sb_printf(g->b, " %s ", ops[tree_query_below(g->seed, 5)]);
    if (k == 1)
        sb_printf(g->b, "%u", tree_query_below(g->seed, 2));
    else
        column(g, s);
}

static void from(struct gen *g, unsigned n, struct names *s)
{
    sb_cstr(g->b, " FROM ");
    for (unsigned i = 0; i < n; i++) {
        s->alias[s->n] = ++g->n_alias;
        sb_printf(g->b, "%s%s AS t%u", i ? ", " : "",
                  names[tree_query_below(g->seed, WORLD_TABLES)],
                  s->alias[s->n++]);
    }
}

static void condition(struct gen *g, const struct names *s, unsigned depth);

enum selected { ONE, VALUE, NUMBER };

/* what: of the SELECT list */
static void select_text(struct gen *g, const struct names *outer,
                        enum selected what, unsigned depth)
{
    static const char *const counts[] = {"COUNT(*", "COUNT(*", "COUNT(",
                                         "COUNT(DISTINCT "};
    unsigned count = tree_query_below(g->seed, 4);
    struct names in = {{0}, 0}, all;
    struct sb body, *b = g->b;
    sb_init(&body, b->arena);
    g->b = &body;
    from(g, 1 + (tree_query_below(g->seed, 3) == 0), &in);
    all = in;
    for (unsigned i = 0; outer && i < outer->n && all.n < 8; i++)
        all.alias[all.n++] = outer->alias[i];
    sb_cstr(g->b, " WHERE ");
    if (outer && tree_query_below(g->seed, 5)) {
        column(g, &in);
        sb_cstr(g->b, " = ");
        column(g, outer);
    } else {
        compare(g, &in);
    }
    if (in.n == 2) {
        struct names one = {{in.alias[0]}, 1}, two = {{in.alias[1]}, 1};
        sb_cstr(g->b, " AND ");
        column(g, &one);
        sb_cstr(g->b, " = ");
        column(g, &two);
    }
    if (tree_query_below(g->seed, 2) == 0 && depth) {
        sb_cstr(g->b, " AND ");
        condition(g, &all, depth);
    }
    g->b = b;
    sb_printf(b, "SELECT %s",
              what == ONE      ? "1"
              : what == NUMBER ? counts[count]
                               : "");
    if (what == VALUE || (what == NUMBER && count > 1))
        column(g, &in);
    sb_cstr(b, what == NUMBER ? ")" : "");
    sb_str(b, sb_view(&body));
}

static void condition(struct gen *g, const struct names *s, unsigned depth)
{
    static const char *const ops[] = {">=", ">=", "<", "=", "<>"};
    unsigned k = tree_query_below(g->seed, depth ? 8 : 2);
    if (k < 2) {
        sb_cstr(g->b, "(");
        compare(g, s);
        sb_cstr(g->b, " OR ");
        if (depth && k)
            condition(g, s, depth - 1);
        else
            compare(g, s);
        sb_cstr(g->b, ")");
    } else if (k < 5) {
        sb_printf(g->b, "%sEXISTS (",
                  tree_query_below(g->seed, 4) ? "NOT " : "");
        select_text(g, s, ONE, depth - 1);
        sb_cstr(g->b, ")");
    } else if (k < 7) {
        sb_cstr(g->b, "(");
        select_text(g, s, NUMBER, depth - 1);
        sb_printf(g->b, ") %s %u", ops[tree_query_below(g->seed, 5)],
                  1 + tree_query_below(g->seed, 3));
    } else {
        column(g, s);
        sb_printf(g->b, " %sIN (", tree_query_below(g->seed, 3) ? "NOT " : "");
        select_text(g, s, VALUE, depth - 1);
        sb_cstr(g->b, ")");
    }
}

static void set_query(struct gen *g)
{
    static const char *const ops[] = {"UNION",     "UNION",  "UNION ALL",
                                      "INTERSECT", "EXCEPT", "EXCEPT"};
    sb_cstr(g->b, "SELECT COUNT(*) FROM (");
    select_text(g, NULL, VALUE, 1);
    sb_printf(g->b, " %s ", ops[tree_query_below(g->seed, 6)]);
    select_text(g, NULL, VALUE, 1);
    sb_cstr(g->b, ") AS u");
}

/* The cases of an outer join, and conditions that see its NULLs. */
static void outer_query(struct gen *g)
{
    static const char *const kinds[] = {"LEFT", "LEFT", "RIGHT", "FULL"};
    struct names s = {{1, 2}, 2};
    g->n_alias = 2;
    sb_cstr(g->b, "SELECT COUNT(");
    if (tree_query_below(g->seed, 3))
        sb_cstr(g->b, "*");
    else
        sb_cstr(g->b, tree_query_below(g->seed, 2) ? "t2.y" : "DISTINCT t2.x");
    sb_printf(g->b, ") FROM %s AS t1 %s JOIN %s AS t2 ON t1.x = t2.%c",
              names[tree_query_below(g->seed, 3)],
              kinds[tree_query_below(g->seed, 4)],
              names[tree_query_below(g->seed, 3)],
              tree_query_below(g->seed, 2) ? 'x' : 'y');
    if (tree_query_below(g->seed, 2)) {
        sb_cstr(g->b, " WHERE ");
        condition(g, &s, tree_query_below(g->seed, 2));
    }
}

/* Keys with so many rows, or so many values. */
static void group_query(struct gen *g)
{
    static const char *const ops[] = {">=", ">=", "<", "=", "<>", "<="};
    static const char *const counts[] = {"COUNT(*)", "COUNT(*)",
                                         "COUNT(DISTINCT t1.y)"};
    struct names s = {{0}, 0};
    struct sb tail, *b = g->b;
    bool two = tree_query_below(g->seed, 3) == 0;
    sb_init(&tail, b->arena);
    g->b = &tail;
    from(g, 1 + two, &s);
    sb_cstr(&tail, two ? " WHERE t1.x = t2.y" : " WHERE 1 = 1");
    if (tree_query_below(g->seed, 2)) {
        sb_cstr(&tail, " AND ");
        condition(g, &s, 1);
    }
    sb_cstr(&tail, " GROUP BY t1.x");
    sb_cstr(&tail, two && tree_query_below(g->seed, 2) ? ", t2.x" : "");
    unsigned count = tree_query_below(g->seed, 3),
             op = tree_query_below(g->seed, count < 2 ? 6 : 2);
    sb_printf(&tail, " HAVING %s %s %u", counts[count], ops[op],
              1 + tree_query_below(g->seed, 3));
    g->b = b;
    sb_printf(b, "SELECT COUNT(*) FROM (SELECT t1.x%.*s) AS u",
              PSTR(sb_view(&tail)));
}

struct str tree_query_text(struct arena *a, uint64_t *seed)
{
    struct sb b, tail;
    struct gen g = {seed, &tail, 0};
    struct names s = {{0}, 0};
    sb_init(&b, a);
    sb_init(&tail, a);
    unsigned kind = tree_query_below(seed, 7);
    if (kind < 4) {
        g.b = &b;
        if (kind == 1)
            set_query(&g);
        else if (kind)
            group_query(&g);
        else
            outer_query(&g);
        return sb_view(&b);
    }
    from(&g, 1 + (tree_query_below(seed, 3) == 0), &s);
    sb_cstr(&tail, " WHERE ");
    condition(&g, &s, 2);
    if (s.n == 2) {
        sb_printf(&tail, " AND t%u.x = t%u.y", s.alias[0], s.alias[1]);
    }
    g.b = &b;
    if (tree_query_below(seed, 3)) {
        sb_cstr(&b, "SELECT COUNT(*)");
    } else {
        sb_cstr(&b, "SELECT COUNT(DISTINCT ");
        column(&g, &s);
        sb_cstr(&b, ")");
    }
    sb_str(&b, sb_view(&tail));
    return sb_view(&b);
}
