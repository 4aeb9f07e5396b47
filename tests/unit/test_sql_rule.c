/*
 * The same query as SQL and as a rule: both must become the same conjunctive
 * query, up to the names of variables and the order of outputs. The examples
 * are those of the papers: the hospital of Arapinis, Figueira and Gaboardi,
 * and the graph patterns of Dong and Yi.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "sql/sql.h"

static const char ddl[] =
    "CREATE TABLE hos (id int PRIMARY KEY, loc text NOT NULL);"
    "CREATE TABLE pat (id int PRIMARY KEY, sex text NOT NULL,"
    " hos int NOT NULL);"
    "CREATE TABLE patdoc (pat int, doc int, PRIMARY KEY (pat, doc));"
    "CREATE TABLE doc (id int PRIMARY KEY, hos int NOT NULL);"
    "CREATE TABLE edge (src int, dst int, PRIMARY KEY (src, dst));";

static const struct {
    const char *sql, *rule;
} pairs[] = {
    {"SELECT COUNT(*) FROM pat", "Q(i) :- pat(i,_,_)."},
    {"SELECT COUNT(DISTINCT sex) FROM pat", "Q(s) :- pat(_,s,_), s != null."},
    {"SELECT COUNT(DISTINCT p.id) FROM pat p, patdoc d"
     " WHERE p.id = d.pat AND p.sex = 'F'",
     "Q(p) :- pat(p,'F',_), patdoc(p,_)."},
    {"SELECT COUNT(*) FROM pat p JOIN patdoc d ON p.id = d.pat"
     " JOIN doc o ON o.id = d.doc AND o.hos = p.hos",
     "Q(p,d,h) :- pat(p,_,h), patdoc(p,d), doc(d,h)."},
    {"SELECT COUNT(*) FROM pat WHERE id IN (SELECT pat FROM patdoc)",
     "Q(p) :- pat(p,_,_), patdoc(p,_)."},
    {"SELECT COUNT(*) FROM pat JOIN hos ON pat.hos = hos.id"
     " WHERE loc = 'Paris' AND sex <> 'M'",
     "Q(p,h,s) :- pat(p,s,h), hos(h,'Paris'), s != 'M'."},
    {"SELECT COUNT(*) FROM (SELECT DISTINCT d.doc FROM patdoc d) x",
     "Q(d) :- patdoc(_,d)."},
    /* triangles, stars, rectangles, paths */
    {"SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.dst = b.src"
     " AND b.dst = c.src AND c.dst = a.src AND a.src <> b.src"
     " AND b.src <> c.src AND a.src <> c.src",
     "Q(x,y,z) :- edge(x,y), edge(y,z), edge(z,x), x != y, y != z, x != z."},
    {"SELECT COUNT(*) FROM edge a JOIN edge b USING (src)"
     " JOIN edge c USING (src) WHERE a.dst < b.dst AND b.dst < c.dst",
     "Q(x,y,z,w) :- edge(x,y), edge(x,z), edge(x,w), y < z, z < w."},
    {"SELECT COUNT(DISTINCT (a.src, d.dst)) FROM edge a, edge b, edge c,"
     " edge d WHERE (a.dst, b.dst, c.dst) = (b.src, c.src, d.src)",
     "Q(x,w) :- edge(x,a), edge(a,b), edge(b,c), edge(c,w)."},
    {"SELECT COUNT(*) FROM edge a WHERE EXISTS (SELECT 1 FROM edge b WHERE"
     " b.src = a.dst AND b.dst = a.src)",
     "Q(x,y) :- edge(x,y), edge(y,x)."},
    {"SELECT COUNT(*) FROM edge WHERE src = dst", "Q(x) :- edge(x,x)."},
    {"SELECT src, COUNT(*) FROM edge GROUP BY src", "Q(x;y) :- edge(x,y)."},
    {"SELECT COUNT(DISTINCT 1) FROM edge WHERE src > 5",
     "Q() :- edge(x,_), 5 < x."},
};

/* The body with variables named by first occurrence, then the outputs as a
 * set in the order of those numbers. */
static struct str canonical(struct arena *a, const struct cq *q)
{
    struct cq c = *q;
    struct sb b;
    uint32_t n = 0, *to = NEWS(a, uint32_t, MAX_VARS);
    memset(to, 0xff, MAX_VARS * sizeof *to);
    for (uint32_t i = 0; i < q->n_atoms; i++)
        for (uint32_t k = 0; k < q->atoms[i].n_args; k++) {
            struct term t = q->atoms[i].args[k];
            if (t.kind == TERM_VAR && to[t.id] == UINT32_MAX)
                to[t.id] = n++;
        }
    c.vars = NEWS(a, struct var, MAX_VARS);
    c.n_outs = 0;
    c.n_group = 0;
    for (uint32_t v = 0; v < q->n_vars; v++) {
        c.vars[v] = q->vars[v];
        c.vars[v].name = str_printf(a, "v%u", to[v]);
    }
    sb_init(&b, a);
    sb_printf(&b, "%u groups; ", q->n_group);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < q->n_outs; i++)
            if (q->outs[i].kind == TERM_VAR && to[q->outs[i].id] == k)
                sb_printf(&b, "v%u%s ", k, i < q->n_group ? ";" : "");
    cq_print(&b, &c);
    return sb_view(&b);
}

static void same_query(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct mem mem;
        struct arena a;
        struct schema s;
        struct err err;
        struct sql_statement st;
        struct cq *q;
        mem_init(&mem, 0);
        arena_init(&a, &mem);
        schema_init(&s, &a);
        assert_int_equal(sql_read_ddl(&s, str_of(ddl), "ddl", &err), OK);
        if (sql_read(&a, &s, str_of(pairs[i].sql), NULL, &st, &err) != OK ||
            cq_read(&a, &s, str_of(pairs[i].rule), &q, &err) != OK)
            fail_msg("%s: %s", pairs[i].sql, err.message);
        struct str x = canonical(&a, st.counts[0].q), y = canonical(&a, q);
        if (!str_eq(x, y))
            fail_msg("%s\n%.*s\n%.*s", pairs[i].sql, PSTR(x), PSTR(y));
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_query)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
