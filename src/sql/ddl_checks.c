/*
 * The conditions of CHECKs as texts. A witness (witness/admit.h) must be a
 * database that the schema admits, so what a CHECK says is asked of its rows;
 * no upper bound rests on one.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "sql/ddl_int.h"

/* Behind the quote that ends what begins here; NULL: nothing ends it. */
static const char *pass_quoted(const char *p)
{
    for (char q = *p++; *p; p++)
        if (*p == q && *++p != q)
            return p;
    return NULL;
}

static const char *pass_blanks(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n\f");
        if (strncmp(p, "--", 2) == 0)
            p += strcspn(p, "\n");
        else if (strncmp(p, "/*", 2) == 0 && strstr(p + 2, "*/"))
            p = strstr(p + 2, "*/") + 2;
        else
            return p;
    }
}

static const char *pass_word(const char *p, const char *word)
{
    size_t n = strlen(word);
    return strncasecmp(p, word, n) == 0 ? pass_blanks(p + n) : NULL;
}

/* E'it\'s', and $$it's$$. */
static bool is_other_quote(const char *p, char before)
{
    bool word = isalnum((unsigned char)before) || before == '_';
    return *p == '$' || ((*p == 'e' || *p == 'E') && p[1] == '\'' && !word);
}

/* Behind the bracket that closes the one here; NULL: what stands in between
 * has quotes that are not read, or does not end. */
static const char *pass_brackets(const char *p)
{
    long depth = 0;
    char before = ' ';
    while (p && *(p = pass_blanks(p))) {
        if (is_other_quote(p, before))
            return NULL;
        depth += (*p == '(') - (*p == ')');
        if (depth == 0)
            return p + 1;
        before = *p;
        p = *p == '\'' || *p == '"' ? pass_quoted(p) : p + 1;
        before = p && strchr(" \t\r\n\f-/", *p) ? ' ' : before;
    }
    return NULL;
}

struct str ddl_condition(const char *text, const json_t *constraint)
{
    long at = get_location(constraint);
    const char *p = at < 0 ? NULL : text + at, *named;
    if (p && (named = pass_word(p, "CONSTRAINT")))
        p = *named == '"' ? pass_quoted(named)
                          : named + strcspn(named, " \t\r\n\f(");
    p = p ? pass_word(pass_blanks(p), "CHECK") : NULL;
    const char *end = p && *p == '(' ? pass_brackets(p) : NULL;
    return end ? (struct str){p, (size_t)(end - p)} : STR("");
}

enum status ddl_add_check(struct schema *s, size_t table, long own,
                          struct str condition, struct err *err)
{
    struct table_check c = {str_copy(s->arena, condition), own};
    bool ok =
        c.condition.p && VEC_PUSH(s->arena, &s->tables.p[table].checks, c);
    return ok ? OK : err_nomem(err);
}

static size_t count_lists(const struct table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_cols; i++)
        n += t->cols[i].own_domain;
    return n;
}

enum status ddl_take_check(struct schema *s, size_t table, long own,
                           const char *text, const json_t *constraint,
                           struct err *err)
{
    const json_t *e = get(constraint, "raw_expr");
    size_t had = count_lists(&s->tables.p[table]);
    TRY(ddl_add_list(s, table, own, e, err));
    if (ddl_is_list(e) && count_lists(&s->tables.p[table]) > had)
        return OK;
    return ddl_add_check(s, table, own, ddl_condition(text, constraint), err);
}

enum status ddl_apply_checks(const struct ddl_types *t, const char *name,
                             struct schema *s, size_t table, long col,
                             struct err *err)
{
    for (size_t i = 0; i < t->list.n; i++)
        for (size_t k = 0;
             str_is(t->list.p[i].name, name) && k < t->list.p[i].checks.n; k++)
            TRY(ddl_add_check(s, table, col, t->list.p[i].checks.p[k], err));
    return OK;
}
