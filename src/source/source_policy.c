/*
 * A policy file to start from, written from the catalogue alone: every table
 * private, every key found, foreign keys as comments with the question that
 * the owner has to answer. Reading it back gives the schema that the source
 * gives anyway; the owner then edits it. A bound measured on private rows
 * would itself be private, so none is.
 */
#include "source/source_int.h"

/* A YAML scalar that cannot be taken for anything but a string. */
static void scalar(struct sb *b, struct str s)
{
    sb_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            sb_printf(b, "\\%c", c);
        else if (c < 0x20)
            sb_printf(b, "\\x%02x", c);
        else
            sb_char(b, (char)c);
    }
    sb_char(b, '"');
}

static bool is_plain(struct str s)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    if (!s.n || (s.p[0] >= '0' && s.p[0] <= '9'))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') ||
              (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_'))
            return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq_nocase(s, str_of(words[i])))
            return false;
    return true;
}

void source_policy_name(struct sb *b, struct str s)
{
    if (is_plain(s))
        sb_str(b, s);
    else
        scalar(b, s);
}

void source_policy_columns(struct sb *b, const struct table *t,
                           const uint32_t *cols, size_t n)
{
    sb_char(b, '[');
    for (size_t i = 0; i < n; i++) {
        sb_cstr(b, i ? ", " : "");
        source_policy_name(b, t->cols[cols[i]].name);
    }
    sb_char(b, ']');
}

/* A key of a policy has no NULL: one that may is left to the catalogue. */
static bool is_written_key(const struct table *t, const struct degree *d)
{
    bool is_key = d->is_key && d->k == 1;
    for (size_t i = 0; i < d->n_x; i++)
        is_key &= t->cols[d->x[i]].not_null;
    return is_key;
}

static size_t count_keys(const struct table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->degrees.n; i++)
        n += is_written_key(t, &t->degrees.p[i]);
    return n;
}

static void write_keys(struct sb *b, const struct table *t)
{
    size_t n = count_keys(t), seen = 0;
    if (!n) {
        sb_cstr(b, "    # no key was found: SQL's COUNT(*) counts repeated "
                   "rows\n");
        return;
    }
    sb_cstr(b, n == 1 ? "    key: " : "    keys: [");
    for (size_t i = 0; i < t->degrees.n; i++) {
        const struct degree *d = &t->degrees.p[i];
        if (!is_written_key(t, d))
            continue;
        sb_cstr(b, seen++ ? ", " : "");
        source_policy_columns(b, t, d->x, d->n_x);
    }
    sb_cstr(b, n == 1 ? "\n" : "]\n");
}

static void write_not_null(struct sb *b, const struct table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_cols; i++) {
        if (!t->cols[i].not_null)
            continue;
        sb_cstr(b, n++ ? ", " : "    not_null: [");
        source_policy_name(b, t->cols[i].name);
    }
    sb_cstr(b, n ? "]\n" : "");
}

static bool in_key(const struct foreign_key *f, uint32_t col)
{
    for (size_t k = 0; k < f->n_cols; k++)
        if (f->cols[k] == col)
            return true;
    return false;
}

/* A foreign key bounds nothing by itself; what would is the number of rows
 * that may refer to one. Lines of comment only: names are quoted so that none
 * can end the line. One list for all, since a key may be given only once. */
static void write_fks(struct sb *b, const struct table *t)
{
    if (t->fks.n)
        sb_cstr(b,
                "    # How many rows may refer to one? Keep what always "
                "holds, with a number\n"
                "    # for K; dpcount policy suggest measures, dpcount check "
                "compares:\n"
                "    # at_most:\n");
    for (size_t i = 0; i < t->fks.n; i++) {
        const struct foreign_key *f = &t->fks.p[i];
        sb_cstr(b, "    #   - {per: ");
        source_policy_columns(b, t, f->cols, f->n_cols);
        sb_cstr(b, ", of: [");
        for (uint32_t c = 0, n = 0; c < t->n_cols; c++) {
            if (in_key(f, c))
                continue;
            sb_cstr(b, n++ ? ", " : "");
            source_policy_name(b, t->cols[c].name);
        }
        sb_cstr(b, "], k: K}   # refers to ");
        source_policy_name(b, f->ref_table);
        sb_char(b, '\n');
    }
}

/* Declared, as the columns of a private file must be: that its first line is
 * no row is for the owner to say. */
static void declare_columns(struct sb *b, const struct table *t)
{
    sb_cstr(b, "    # The file's first line, taken for names: is it no row? "
               "Types can be given:\n"
               "    # {name: integer, ...} or text, numeric, real, boolean, "
               "date, timestamp, ...\n"
               "    columns: [");
    for (size_t i = 0; i < t->n_cols; i++) {
        sb_cstr(b, i ? ", " : "");
        source_policy_name(b, t->cols[i].name);
    }
    sb_cstr(b, "]\n");
}

/* With their types, so that quote needs nothing but this file. Where the source
 * leaves a type open, names alone: the owner can say what it is. */
static void write_columns(struct sb *b, const struct table *t)
{
    bool open = false, guessed = false;
    for (size_t i = 0; i < t->n_cols; i++) {
        open |= t->cols[i].type == T_UNKNOWN;
        guessed |= t->cols[i].guessed;
    }
    if (guessed || !t->n_cols) {
        declare_columns(b, t);
        return;
    }
    if (open)
        sb_cstr(b, "    # Some have no type. To order and compute with them: "
                   "{name: integer, ...}\n");
    sb_cstr(b, open ? "    columns: [" : "    columns: {");
    for (size_t i = 0; i < t->n_cols; i++) {
        sb_cstr(b, i ? ", " : "");
        source_policy_name(b, t->cols[i].name);
        if (!open)
            sb_printf(b, ": %s", type_name(t->cols[i].type));
    }
    sb_cstr(b, open ? "]\n" : "}\n");
}

static void write_value(struct sb *b, const struct value *v)
{
    struct sb plain;
    sb_init(&plain, b->arena);
    value_plain(&plain, v);
    b->failed |= plain.failed;
    if (v->type == T_INT || v->type == T_BOOL)
        sb_str(b, sb_view(&plain));
    else
        source_policy_name(b, sb_view(&plain));
}

/* What the catalogue lists, so that quote knows the groups from this file. */
static void write_values(struct sb *b, const struct table *t)
{
    enum { MOST = 1000 };
    size_t n = 0;
    for (size_t i = 0; i < t->n_cols; i++) {
        const struct column *c = &t->cols[i];
        if (!c->own_domain || !c->n_domain || c->n_domain > MOST)
            continue;
        sb_cstr(b, n++ ? ", " : "    values: {");
        source_policy_name(b, c->name);
        sb_cstr(b, ": [");
        for (size_t k = 0; k < c->n_domain; k++) {
            sb_cstr(b, k ? ", " : "");
            write_value(b, &c->domain[k]);
        }
        sb_cstr(b, c->not_null ? "]" : ", null]");
    }
    sb_cstr(b, n ? "}\n" : "");
}

static bool is_referred_to(const struct schema *s, const struct table *t)
{
    for (size_t i = 0; i < s->tables.n; i++)
        for (size_t k = 0; k < s->tables.p[i].fks.n; k++)
            if (str_eq(s->tables.p[i].fks.p[k].ref_table, t->name))
                return true;
    return false;
}

/* It refers to nothing and others refer to it. */
static void write_lookup(struct sb *b, const struct schema *s,
                         const struct table *t)
{
    if (t->fks.n || t->is_entity || !is_referred_to(s, t))
        return;
    sb_cstr(b, "    # Others refer to it, and it refers to nothing: a list of "
               "codes, wards,\n"
               "    # countries? If everybody may know its rows, say public: "
               "joins with it then\n"
               "    # cost no noise, and it can name the groups of GROUP BY. "
               "Never for people.\n");
}

/* With its schema where the search path does not lead to it. */
static void table_name(struct sb *b, const struct table *t,
                       const struct src_table *from)
{
    bool plain = is_plain(t->name) && is_plain(t->namespace_);
    if (!from || !from->is_outside) {
        source_policy_name(b, t->name);
        return;
    }
    struct sb both;
    sb_init(&both, b->arena);
    sb_printf(&both, "%.*s.%.*s", PSTR(t->namespace_), PSTR(t->name));
    if (plain)
        sb_str(b, sb_view(&both));
    else
        scalar(b, sb_view(&both));
}

static void write_table(struct sb *b, const struct schema *s, size_t table,
                        const struct src_table *from)
{
    const struct table *t = &s->tables.p[table];
    sb_cstr(b, "  ");
    table_name(b, t, from);
    sb_cstr(b, ":\n    privacy: private   # or public: everybody may know its "
               "rows\n");
    write_lookup(b, s, t);
    write_columns(b, t);
    write_keys(b, t);
    write_not_null(b, t);
    write_values(b, t);
    source_policy_owners(s, table, b);
    write_fks(b, t);
    sb_cstr(b, "    # rows_at_most: N\n");
}

/* Views and the like are not to be queried: said, so that they are not
 * missed. */
static void write_refused(struct sb *b, const struct source *src)
{
    for (size_t i = 0; src && i < src->tables.n; i++) {
        const struct src_table *t = &src->tables.p[i];
        if (!t->refused)
            continue;
        sb_cstr(b, "  # not to be queried: ");
        source_policy_name(b, t->name);
        sb_printf(b, " is %s\n", t->refused);
    }
}

static void write_entities(struct sb *b, const struct schema *s)
{
    size_t n = 0;
    sb_cstr(b, "# Protected is one row of these tables with all rows that are "
               "theirs\n# (owned_by). add-drop-entity: one more or less; "
               "change-entity: replaced.\n"
               "neighbours: add-drop-entity\n"
               "entities: [");
    for (size_t i = 0; i < s->tables.n; i++) {
        if (!s->tables.p[i].is_entity)
            continue;
        sb_cstr(b, n++ ? ", " : "");
        source_policy_name(b, s->tables.p[i].name);
    }
    sb_cstr(b, "]\n");
}

void source_policy(const struct schema *s, const struct source *src,
                   struct sb *b)
{
    size_t n = 0;
    sb_cstr(
        b, "# What dpcount protects, and what it may assume. Written from the\n"
           "# catalogue, of files from their first lines; no other row was\n"
           "# read. A table that is not listed is private. Declare only what "
           "holds for\n"
           "# every state the data can ever have: the noise is calibrated to "
           "it. dpcount\n"
           "# check says whether it holds now.\n"
           "\n");
    if (s->has_entities)
        write_entities(b, s);
    else
        sb_cstr(b, "# add-drop-one: a row more or less; change-one: a row "
                   "replaced.\n"
                   "neighbours: add-drop-one\n");
    sb_cstr(b, "\ntables:\n");
    for (size_t i = 0; i < s->tables.n; i++)
        if (!s->tables.p[i].is_refused) {
            write_table(b, s, i, src ? source_find_table(src, i) : NULL);
            n++;
        }
    sb_cstr(b, n ? "" : "  {}\n");
    write_refused(b, src);
    sb_char(b, '\n');
    sb_cstr(b, "# Of all releases together, for dpcount budget init: yours to "
               "choose.\n"
               "# budget: {epsilon: E, delta: D}\n");
}
