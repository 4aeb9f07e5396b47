/*
 * Which table or column a written name stands for: all rules in one place.
 *
 * PostgreSQL folds a name that is not quoted to lower case and then compares
 * exactly; so do we. SQLite and the headers of files do not tell names apart
 * by case (`any_case`), so there a name that is not quoted matches in any
 * spelling. A source never has two such names that differ only in case.
 *
 * PRIVACY: what an owner declares of a table must not slip to another or to
 * none because of its spelling. So a declaration either names a table for
 * certain, or nothing that looks like it, or is an error.
 */
#include "schema/schema.h"

/* names.c: what a written name stands for. */
static bool name_is_folded(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] >= 'A' && name.p[i] <= 'Z')
            return false;
    return true;
}

bool name_matches(struct str have, bool any_case, struct str asked, bool quoted)
{
    return str_eq(have, asked) ||
           (any_case && !quoted && name_is_folded(asked) &&
            str_eq_nocase(have, asked));
}

size_t schema_match(const struct schema *s, struct str name, bool quoted,
                    long *out)
{
    size_t n = 0;
    *out = -1;
    for (size_t i = 0; i < s->tables.n; i++) {
        const struct table *t = &s->tables.p[i];
        if (name_matches(t->name, t->any_case, name, quoted) && n++ == 0)
            *out = (long)i;
    }
    return n;
}

static size_t count_alike(const struct schema *s, struct str name, bool loose,
                          long *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->tables.n; i++) {
        const struct table *t = &s->tables.p[i];
        if (str_eq_nocase(t->name, name) &&
            (!loose || t->any_case || !t->declared) && n++ == 0)
            *out = (long)i;
    }
    return n;
}

size_t schema_count_nocase(const struct schema *s, struct str name)
{
    long first;
    return count_alike(s, name, false, &first);
}

static enum status alike(const struct schema *s, struct str name, long other,
                         struct err *err)
{
    err_set(err, E_NAME, "table \"%.*s\" is not known", PSTR(name));
    err_hint(err,
             "There is a table \"%.*s\": write the name as the catalogue "
             "does.",
             PSTR(s->tables.p[other].name));
    return E_NAME;
}

static enum status other_namespace(const struct table *t, struct str name,
                                   struct err *err)
{
    err_set(err, E_NAME, "table \"%.*s\" is not known", PSTR(name));
    err_hint(err,
             "The table \"%.*s\" that is read is that of \"%.*s\": the search "
             "path of the connection decides.",
             PSTR(t->name), PSTR(t->namespace_));
    return E_NAME;
}

/* "ref.ward": with it a declaration cannot slip to a table of the same name
 * that is made in another schema later. */
static enum status find_in_namespace(const struct schema *s, struct str name,
                                     long *out, struct err *err)
{
    for (size_t i = 1; i + 1 < name.n; i++) {
        struct str ns = {name.p, i}, rest = {name.p + i + 1, name.n - i - 1};
        long t = name.p[i] == '.' ? schema_find(s, rest) : -1;
        if (t < 0)
            continue;
        if (s->tables.p[t].namespace_.n &&
            !str_eq(s->tables.p[t].namespace_, ns))
            return other_namespace(&s->tables.p[t], name, err);
        *out = t;
        return OK;
    }
    return OK;
}

enum status schema_find_declared(const struct schema *s, struct str name,
                                 long *out, struct err *err)
{
    long near = -1;
    *out = schema_find(s, name);
    if (*out >= 0)
        return OK;
    if (count_alike(s, name, true, out) == 1)
        return OK;
    *out = -1;
    TRY(find_in_namespace(s, name, out, err));
    return *out < 0 && count_alike(s, name, false, &near)
               ? alike(s, name, near, err)
               : OK;
}

static long find_folded(const struct schema *s, struct str name)
{
    for (size_t i = 0; i < s->tables.n; i++)
        if (name_is_folded(s->tables.p[i].name) &&
            str_eq_nocase(s->tables.p[i].name, name))
            return (long)i;
    return -1;
}

enum status schema_find_option(const struct schema *s, struct str name,
                               bool quoted, long *out, struct err *err)
{
    long folded = quoted ? -1 : find_folded(s, name);
    *out = schema_find(s, name);
    if (*out >= 0 && folded >= 0 && *out != folded) {
        err_set(err, E_NAME, "table name \"%.*s\" is ambiguous", PSTR(name));
        err_hint(err, "Write it in double quotes, spelled as the catalogue "
                      "does.");
        return E_NAME;
    }
    if (*out < 0)
        *out = folded;
    return *out >= 0 ? OK : schema_find_declared(s, name, out, err);
}

long table_match_column(const struct table *t, struct str name)
{
    long found = table_find_column(t, name);
    for (size_t i = 0; t->any_case && found < 0 && i < t->n_cols; i++)
        if (name.n && str_eq_nocase(t->cols[i].name, name))
            found = (long)i;
    return found;
}
