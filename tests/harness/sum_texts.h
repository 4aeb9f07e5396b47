/*
 * Random texts of SUM: one for dpcount, with the clip of the columns in the
 * schema, and one for SQLite, which clips by MIN and MAX and gives both sides
 * of the sum too. Part of sum_world.c, behind what its conditions are written
 * with.
 */
#ifndef HARNESS_SUM_TEXTS_H
#define HARNESS_SUM_TEXTS_H

/* What is added up: for dpcount, and for SQLite. */
struct sum_weight_text {
    char mine[96], theirs[160];
};

static void weigh_text(const struct sum_world *w, uint64_t *seed,
                       const char *col, struct sum_weight_text *out)
{
    int lo = w->lo, hi = w->hi, top = hi > 2 ? hi : 2, less = lo < 2 ? lo : 2;
    switch (below(seed, 6)) {
    case 0:
        snprintf(out->mine, sizeof out->mine, "%s - 1", col);
        snprintf(out->theirs, sizeof out->theirs, "MIN(MAX(%s - 1, %d), %d)",
                 col, lo - 1, hi - 1);
        break;
    case 1:
        snprintf(out->mine, sizeof out->mine, "COALESCE(%s, 2)", col);
        snprintf(out->theirs, sizeof out->theirs,
                 "MIN(MAX(COALESCE(%s, 2), %d), %d)", col, less, top);
        break;
    case 2:
        snprintf(out->mine, sizeof out->mine, "DISTINCT %s", col);
        snprintf(out->theirs, sizeof out->theirs,
                 "DISTINCT MIN(MAX(%s, %d), %d)", col, lo, hi);
        break;
    case 3:
        snprintf(out->mine, sizeof out->mine, "2");
        snprintf(out->theirs, sizeof out->theirs, "2");
        break;
    default:
        snprintf(out->mine, sizeof out->mine, "%s", col);
        snprintf(out->theirs, sizeof out->theirs, "MIN(MAX(%s, %d), %d)", col,
                 lo, hi);
    }
}

static void sum_of_tables(struct sum_gen *g, struct sum_names *s)
{
    from(g, 1 + below(g->seed, 2), s);
    sb_cstr(g->b, s->n == 2 ? " WHERE " : " WHERE 1 = 1");
    if (s->n == 2)
        sb_printf(g->b, "t%u.x = t%u.y", s->alias[0], s->alias[1]);
    if (below(g->seed, 2)) {
        sb_cstr(g->b, " AND ");
        condition(g, s, 1);
    }
}

static void sum_of_outer(struct sum_gen *g, struct sum_names *s)
{
    *s = (struct sum_names){{1, 2}, 2};
    g->n_alias = 2;
    sb_printf(g->b, " FROM %s AS t1 %s JOIN %s AS t2 ON t1.x = t2.%c",
              names[below(g->seed, 3)], below(g->seed, 3) ? "LEFT" : "FULL",
              names[below(g->seed, 3)], below(g->seed, 2) ? 'x' : 'y');
    if (below(g->seed, 2)) {
        sb_cstr(g->b, " WHERE ");
        condition(g, s, below(g->seed, 2));
    }
}

static void sum_of_union(struct sum_gen *g)
{
    sb_cstr(g->b, " FROM (");
    for (unsigned i = 1; i <= 2; i++) {
        struct sum_names one = {{i}, 1};
        g->n_alias = 2;
        sb_printf(g->b, "SELECT t%u.%c AS v FROM %s AS t%u WHERE ", i,
                  below(g->seed, 2) ? 'x' : 'y', names[below(g->seed, 3)], i);
        compare(g, &one);
        if (i == 1)
            sb_cstr(g->b, below(g->seed, 3) ? " UNION " : " UNION ALL ");
    }
    sb_cstr(g->b, ") AS u");
}

static void sum_texts(struct sum_world *w, uint64_t *seed)
{
    static const int ends[][2] = {{0, 2}, {1, 2}, {0, 1}, {-1, 1}, {2, 2}};
    struct sb tail, b, o;
    struct sum_gen g = {seed, &tail, 0};
    struct sum_names s = {{0}, 0};
    struct sum_weight_text t;
    char col[32] = "u.v";
    unsigned kind = below(seed, 4), pick = below(seed, 5);
    w->lo = ends[pick][0];
    w->hi = ends[pick][1];
    sb_init(&tail, &w->arena);
    if (kind == 0)
        sum_of_union(&g);
    else if (kind == 1)
        sum_of_outer(&g, &s);
    else
        sum_of_tables(&g, &s);
    if (kind)
        snprintf(col, sizeof col, "t%u.%c", s.alias[below(seed, s.n)],
                 below(seed, 2) ? 'x' : 'y');
    weigh_text(w, seed, col, &t);
    sb_init(&b, &w->arena);
    sb_init(&o, &w->arena);
    sb_printf(&b, "SELECT SUM(%s)%.*s", t.mine, PSTR(sb_view(&tail)));
    bool once = strncmp(t.theirs, "DISTINCT ", 9) == 0;
    const char *d = once ? "DISTINCT " : "", *e = t.theirs + (once ? 9 : 0);
    sb_printf(&o, "SELECT SUM(%s%s), SUM(%sMAX(%s, 0)), SUM(%sMAX(-(%s), 0))",
              d, e, d, e, d, e);
    sb_str(&o, sb_view(&tail));
    w->sql = sb_view(&b);
    w->oracle = sb_view(&o);
}

/* As a policy would. */
static void clip_columns(struct sum_world *w)
{
    char text[16];
    for (size_t t = 0; t < w->schema.tables.n; t++)
        for (size_t c = 0; c < w->schema.tables.p[t].n_cols; c++) {
            struct column *col = &w->schema.tables.p[t].cols[c];
            snprintf(text, sizeof text, "%d", w->lo);
            col->clip_lo = str_copy(&w->arena, str_of(text));
            snprintf(text, sizeof text, "%d", w->hi);
            col->clip_hi = str_copy(&w->arena, str_of(text));
        }
}

#endif
