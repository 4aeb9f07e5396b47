/* The unit of privacy in words: see unit.h. */
#include "entity/unit.h"

/* "a", "a and b", "a, b and c"; "one a, one b or one c". */
static void list_name(struct sb *b, struct str name, size_t i, size_t n,
                      const char *next, const char *last)
{
    sb_cstr(b, i == 0 ? "" : i + 1 == n ? last : next);
    sb_str(b, name);
}

static size_t count(const struct schema *s, bool entities)
{
    size_t n = 0;
    for (size_t i = 0; i < s->tables.n; i++)
        n +=
            entities ? s->tables.p[i].is_entity : s->tables.p[i].owned_by.n > 0;
    return n;
}

struct str entity_unit(struct arena *a, const struct schema *s)
{
    size_t n = count(s, true), owned = count(s, false), i = 0;
    struct sb b;
    sb_init(&b, a);
    for (size_t t = 0; t < s->tables.n; t++)
        if (s->tables.p[t].is_entity) {
            sb_cstr(&b, i ? "" : "one ");
            list_name(&b, s->tables.p[t].name, i++, n, ", one ", " or one ");
        }
    i = 0;
    sb_cstr(&b, owned ? ", with all rows of " : "");
    for (size_t t = 0; t < s->tables.n; t++)
        if (s->tables.p[t].owned_by.n)
            list_name(&b, s->tables.p[t].name, i++, owned, ", ", " and ");
    sb_cstr(&b, owned ? " that are theirs" : "");
    return b.failed || !b.n ? STR("") : sb_view(&b);
}
