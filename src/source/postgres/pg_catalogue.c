/*
 * PostgreSQL's catalogue: tables the user may read, their columns with domains
 * resolved to their base types, unique indexes and foreign keys.
 *
 * A partitioned table is one table, its partitions are not listed. Views and
 * tables with inheritance children are listed but refused when a query uses
 * them: their rows are rows of other tables too, so that one person's row
 * could count in places the analysis takes for different ones.
 *
 * PRIVACY: a table whose rows a policy of the database hides from this user is
 * a view too. Which rows are seen can hang on other tables (on who consented),
 * and one row there would change the count by more than the analysis allows.
 *
 * PRIVACY: a name stands for one table, also in the policy. The search path
 * decides which; of tables outside of it that share a name none is taken, so
 * that what was declared of one never holds for another.
 */
#include "source/postgres/pg.h"
#include "sqlgen/sqlgen.h"

#include "source/postgres/pg_lib.h"
#include <stdlib.h>
#include <string.h>

static const char tables_sql[] =
    "WITH RECURSIVE tree(root, oid) AS (SELECT inhparent, inhrelid "
    "FROM pg_catalog.pg_inherits UNION SELECT t.root, i.inhrelid FROM tree t "
    "JOIN pg_catalog.pg_inherits i ON i.inhparent = t.oid) "
    "SELECT c.oid, n.nspname, c.relname, c.relkind, "
    "CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_inherits i "
    "WHERE i.inhparent = c.oid) THEN 1 ELSE 0 END, "
    "CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_inherits i "
    "WHERE i.inhrelid = c.oid) THEN 1 ELSE 0 END, "
    "c.reltuples, "
    "CASE WHEN EXISTS (SELECT 1 FROM tree t JOIN pg_catalog.pg_class f "
    "ON f.oid = t.oid WHERE t.root = c.oid AND f.relkind = 'f') "
    "THEN 1 ELSE 0 END, "
    "CASE WHEN n.nspname = ANY (p.path) THEN 1 ELSE 0 END, "
    "CASE WHEN pg_catalog.row_security_active(c.oid) THEN 1 ELSE 0 END "
    "FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "CROSS JOIN (SELECT ";
static const char tables_where_sql[] =
    "::name[] AS path) p "
    "WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition "
    "AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') "
    "AND n.nspname NOT LIKE 'pg\\_%temp\\_%' "
    "AND pg_catalog.has_table_privilege(c.oid, 'SELECT') "
    "ORDER BY CASE WHEN n.nspname = ANY (p.path) "
    "THEN pg_catalog.array_position(p.path, n.nspname) ELSE 1000000 END, "
    "n.nspname, c.relname";

/* A domain of a domain of a domain is read as text. Under a collation that is
 * not deterministic texts are equal that differ; servers before 12 have none,
 * and no such column in the catalogue. */
/* PRIVACY: NOT NULL of a domain is none of the column: a subquery without rows
 * is NULL in any domain, and is stored. Nor is NOT NULL NOT VALID. */
static const char columns_sql[] =
    "SELECT a.attrelid, a.attnum, a.attname, "
    "CASE WHEN a.attnotnull AND NOT EXISTS (SELECT 1 "
    "FROM pg_catalog.pg_constraint k WHERE k.conrelid = a.attrelid "
    "AND k.contype = 'n' AND NOT k.convalidated "
    "AND a.attnum = ANY (k.conkey)) THEN 1 ELSE 0 END, "
    "COALESCE(t3.oid, t2.oid, t.oid), "
    "COALESCE(t3.typtype, t2.typtype, t.typtype), "
    "CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_collation k "
    "WHERE k.oid = a.attcollation AND "
    "pg_catalog.to_jsonb(k) ->> 'collisdeterministic' = 'false') "
    "THEN 1 ELSE 0 END, "
    "CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_cast k "
    "WHERE k.castsource = COALESCE(t3.oid, t2.oid, t.oid) "
    "AND k.casttarget = 25 AND k.castmethod = 'f' AND k.oid >= 16384) "
    "THEN 1 ELSE 0 END, "
    /* numeric(p, s) */
    "CASE WHEN a.atttypid = 1700 AND a.atttypmod >= 4 "
    "THEN (a.atttypmod - 4) & 2047 ELSE 2047 END, "
    /* char(n), varchar(n), also below domains */
    "CASE WHEN COALESCE(t3.oid, t2.oid, t.oid) IN (1042, 1043) THEN GREATEST("
    "4, a.atttypmod, t.typtypmod, t2.typtypmod) - 4 ELSE 0 END, "
    /* numeric(p, s), the same */
    "GREATEST(-1, a.atttypmod, t.typtypmod, t2.typtypmod) "
    "FROM pg_catalog.pg_attribute a "
    "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
    "JOIN pg_catalog.pg_type t ON t.oid = a.atttypid "
    "LEFT JOIN pg_catalog.pg_type t2 "
    "ON t.typtype = 'd' AND t2.oid = t.typbasetype "
    "LEFT JOIN pg_catalog.pg_type t3 "
    "ON t2.typtype = 'd' AND t3.oid = t2.typbasetype "
    "WHERE a.attnum > 0 AND NOT a.attisdropped "
    "AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition "
    "ORDER BY a.attrelid, a.attnum";

/* Of operator classes that users make the equality is not known. */
static const char keys_sql[] =
    "SELECT i.indrelid, i.indkey, i.indnkeyatts "
    "FROM pg_catalog.pg_index i "
    "JOIN pg_catalog.pg_class c ON c.oid = i.indrelid "
    "WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL "
    "AND i.indexprs IS NULL AND NOT c.relispartition "
    "AND NOT EXISTS (SELECT 1 FROM pg_catalog.unnest(i.indclass) o(oid) "
    "WHERE o.oid >= 16384) "
    "ORDER BY i.indrelid, i.indisprimary DESC, i.indexrelid";

static const char fks_sql[] =
    "SELECT k.conrelid, k.conkey, k.confrelid, k.confkey "
    "FROM pg_catalog.pg_constraint k "
    "WHERE k.contype = 'f' AND k.conparentid = 0 "
    "ORDER BY k.conrelid, k.oid";

/* What CHECKs and domains ask and what an enum lists, as conditions; of the
 * latter two with the column that they are of. A dropped column has type 0, as
 * the CHECK of a table has: these two do not belong together. */
static const char lists_sql[] =
    "SELECT k.conrelid, 0, pg_catalog.pg_get_expr(k.conbin, k.conrelid) "
    "FROM pg_catalog.pg_constraint k WHERE k.contype = 'c' "
    "AND k.conrelid <> 0 AND k.convalidated "
    "UNION ALL SELECT a.attrelid, a.attnum, "
    "pg_catalog.pg_get_expr(k.conbin, 0) FROM pg_catalog.pg_attribute a "
    "JOIN pg_catalog.pg_constraint k ON k.contypid = a.atttypid "
    "WHERE k.contype = 'c' AND k.convalidated AND k.contypid <> 0 "
    "AND a.attnum > 0 AND NOT a.attisdropped "
    "UNION ALL SELECT a.attrelid, a.attnum, 'VALUE IN (' || e.list || ')' "
    "FROM pg_catalog.pg_attribute a "
    "JOIN pg_catalog.pg_type t ON t.oid = a.atttypid "
    "LEFT JOIN pg_catalog.pg_type t2 "
    "ON t.typtype = 'd' AND t2.oid = t.typbasetype "
    "JOIN (SELECT enumtypid, pg_catalog.string_agg("
    "pg_catalog.quote_literal(enumlabel), ', ' ORDER BY enumsortorder) AS list "
    "FROM pg_catalog.pg_enum GROUP BY enumtypid) e "
    "ON e.enumtypid = COALESCE(t2.oid, t.oid) WHERE a.attnum > 0 "
    "ORDER BY 1, 2 DESC, 3";

struct known { /* a table by its oid */
    unsigned long oid;
    size_t index; /* in src->tables */
    VEC(int) attnums;
    VEC(struct src_column) cols;
    bool is_plain;
};

struct reading {
    struct source *src;
    struct err *err;
    VEC(struct known) known;
};

static unsigned long number_at(const PGresult *res, int row, int col)
{
    return strtoul(PQgetvalue(res, row, col), NULL, 10);
}

static struct known *find(struct reading *r, unsigned long oid)
{
    for (size_t i = 0; i < r->known.n; i++)
        if (r->known.p[i].oid == oid)
            return &r->known.p[i];
    return NULL;
}

static struct src_table *find_name(const struct source *src, struct str name)
{
    for (size_t i = 0; i < src->tables.n; i++)
        if (str_eq(src->tables.p[i].name, name))
            return &src->tables.p[i];
    return NULL;
}

static void refuse(struct src_table *t, const PGresult *res, int row)
{
    char kind = *PQgetvalue(res, row, 3);
    bool is_tree = number_at(res, row, 4) || number_at(res, row, 5);
    if (kind == 'v' || kind == 'm') {
        t->refused = "a view";
    } else if (kind != 'p' && is_tree) {
        t->refused = "part of an inheritance tree";
    } else if (number_at(res, row, 9)) {
        t->refused = "under row security for this user";
        t->refused_why = "Which of its rows are seen can depend on rows of "
                         "other tables.";
        t->refused_hint = "Connect as a user whom no row security binds "
                          "(BYPASSRLS), and put the condition into the query.";
    }
}

static void refuse_ambiguous(struct src_table *t)
{
    t->refused = "in more than one schema";
    t->refused_why = "A name stands for one table, and none of the schemas is "
                     "on the search path.";
    t->refused_hint = "Name the schema in the connection: postgresql://.../"
                      "DATABASE?options=-csearch_path%3DSCHEMA";
}

static enum status add_table(struct reading *r, const PGresult *res, int row)
{
    struct source *src = r->src;
    struct str name = str_of(PQgetvalue(res, row, 2));
    char kind = *PQgetvalue(res, row, 3);
    struct src_table *t = find_name(src, name);
    if (t) { /* hidden by one earlier in the search path */
        if (t->is_outside)
            refuse_ambiguous(t);
        return OK;
    }
    t = source_add(src);
    struct known k = {.oid = number_at(res, row, 0),
                      .index = src->tables.n - 1,
                      .is_plain = kind == 'r' ||
                                  (kind == 'p' && !number_at(res, row, 7))};
    if (!t || !VEC_PUSH(&src->arena, &r->known, k))
        return err_nomem(r->err);
    t->kind = SRC_PG;
    t->name = str_copy(&src->arena, name);
    t->namespace_ = str_copy(&src->arena, str_of(PQgetvalue(res, row, 1)));
    t->believed_rows = strtod(PQgetvalue(res, row, 6), NULL);
    t->is_outside = !number_at(res, row, 8);
    t->is_lockable = k.is_plain;
    refuse(t, res, row);
    return t->name.p && t->namespace_.p ? OK : err_nomem(r->err);
}

static enum type type_of(uint32_t oid, char typtype)
{
    switch ((enum pg_oid)oid) {
    case OID_BOOL:
        return T_BOOL;
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
    case OID_OID:
        return T_INT;
    case OID_FLOAT4:
    case OID_FLOAT8:
        return T_REAL;
    case OID_NUMERIC:
        return T_DEC;
    case OID_DATE:
        return T_DATE;
    case OID_TIME:
        return T_TIME;
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        return T_TIMESTAMP;
    case OID_UUID:
        return T_UUID;
    case OID_CHAR:
    case OID_NAME:
    case OID_TEXT:
    case OID_BPCHAR:
    case OID_VARCHAR:
        return T_TEXT;
    case OID_BYTEA:
        break;
    }
    return typtype == 'd' ? T_UNKNOWN : T_TEXT;
}

static bool is_native(uint32_t oid, char typtype)
{
    return typtype == 'e' ||
           (type_of(oid, 'd') != T_UNKNOWN && oid != OID_CHAR);
}

/* inet, interval, jsonb, citext and the like: 10.0.0.1 and 10.0.0.1/32 are
 * equal there, and their texts are not. */
static bool is_text_only(const struct src_column *c, bool loose)
{
    return loose ||
           (c->as_text && c->type == T_TEXT && c->type_oid != OID_CHAR);
}

/* A modifier of numeric has p above 16 bits of which 11 are s. */
static struct number_size digits_of(uint32_t oid, long modifier)
{
    long m = modifier - 4;
    if (oid == OID_INT2)
        return schema_digits(4, 0);
    if (oid != OID_NUMERIC || m < 0)
        return (struct number_size){0};
    return schema_digits(m >> 16 & 0xffff, ((m & 0x7ff) ^ 1024) - 1024);
}

static enum status add_column(struct reading *r, const PGresult *res, int row)
{
    struct known *k = find(r, number_at(res, row, 0));
    if (!k)
        return OK;
    struct arena *a = &r->src->arena;
    char typtype = *PQgetvalue(res, row, 5);
    struct src_column c = {.type_oid = (uint32_t)number_at(res, row, 4)};
    c.name = str_copy(a, str_of(PQgetvalue(res, row, 2)));
    /* Nobody enforces NOT NULL of a foreign table, nor of partitions that are
     * foreign tables. */
    c.not_null = k->is_plain && number_at(res, row, 3);
    c.type = type_of(c.type_oid, typtype);
    c.as_text = !is_native(c.type_oid, typtype);
    c.is_enum = typtype == 'e';
    c.is_padded = c.type_oid == OID_BPCHAR;
    c.is_varchar = c.type_oid == OID_VARCHAR;
    c.text_only = is_text_only(&c, number_at(res, row, 6));
    c.own_text = number_at(res, row, 7);
    c.has_scale = number_at(res, row, 8) <= 12;
    c.scale = c.has_scale ? (uint8_t)number_at(res, row, 8) : 0;
    c.chars = (uint32_t)number_at(res, row, 9);
    c.digits = digits_of(c.type_oid, (long)number_at(res, row, 10));
    if (c.is_enum)
        c.type_oid = OID_TEXT;
    if (!c.name.p || !VEC_PUSH(a, &k->cols, c) ||
        !VEC_PUSH(a, &k->attnums, (int)number_at(res, row, 1)))
        return err_nomem(r->err);
    struct src_table *t = &r->src->tables.p[k->index];
    t->cols = k->cols.p;
    t->n_cols = k->cols.n;
    return OK;
}

/* Numbers in "1 2" or "{1,2}"; returns how many, at most max. */
static size_t read_numbers(const char *s, int *out, size_t max)
{
    size_t n = 0;
    while (*s && n < max) {
        char *end;
        while (*s && (*s < '0' || *s > '9') && *s != '-')
            s++;
        if (!*s)
            break;
        out[n++] = (int)strtol(s, &end, 10);
        if (end == s)
            break;
        s = end;
    }
    return n;
}

enum { MAX_KEY = 32 }; /* columns of an index, PostgreSQL's limit */

static uint32_t position(const struct known *k, int attnum)
{
    for (uint32_t i = 0; i < k->attnums.n; i++)
        if (k->attnums.p[i] == attnum)
            return i;
    return UINT32_MAX;
}

/* Types that come as text and whose equality is not finer than that of their
 * texts. PRIVACY: of others two values may differ that have one text (regproc
 * of overloaded functions, types of users), so a UNIQUE of them is no key. */
static bool text_is_fine(const struct src_column *c)
{
    static const uint32_t types[] = {17,   18,   650,  774,  790,  829, 869,
                                     1186, 1266, 1560, 1562, 3220, 3802};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (c->type_oid == types[i])
            return true;
    return false;
}

/* Does UNIQUE of the column keep apart what is equal here? Some encodings have
 * two codes for one character of Unicode. */
static bool keeps_apart(const struct source *src, const struct src_column *c)
{
    bool text = c->as_text || c->type == T_TEXT;
    return !c->own_text && (!c->as_text || text_is_fine(c)) &&
           (!text || pg_is_plain_encoding(src));
}

static enum status add_key(struct reading *r, const PGresult *res, int row)
{
    int nums[MAX_KEY];
    struct known *k = find(r, number_at(res, row, 0));
    if (!k || !k->is_plain)
        return OK;
    struct src_table *t = &r->src->tables.p[k->index];
    size_t n = read_numbers(PQgetvalue(res, row, 1), nums, MAX_KEY);
    size_t n_key = number_at(res, row, 2); /* without INCLUDE columns */
    if (n < n_key) /* more than are read here: part of a key is none */
        return OK;
    struct src_key key = {.n_cols = n_key, .enforced = true};
    key.cols = NEWS(&r->src->arena, uint32_t, MAX_KEY);
    if (!key.cols)
        return err_nomem(r->err);
    for (size_t i = 0; i < key.n_cols; i++) {
        key.cols[i] = position(k, nums[i]);
        if (key.cols[i] == UINT32_MAX)
            return OK;
        if (!keeps_apart(r->src, &t->cols[key.cols[i]]))
            return OK;
    }
    if (key.n_cols && !VEC_PUSH(&r->src->arena, &t->keys, key))
        return err_nomem(r->err);
    return OK;
}

static enum status add_fk(struct reading *r, const PGresult *res, int row)
{
    int from[MAX_KEY], to[MAX_KEY];
    struct arena *a = &r->src->arena;
    struct known *k = find(r, number_at(res, row, 0));
    struct known *ref = find(r, number_at(res, row, 2));
    size_t n = read_numbers(PQgetvalue(res, row, 1), from, MAX_KEY);
    if (!k || !ref || read_numbers(PQgetvalue(res, row, 3), to, MAX_KEY) != n)
        return OK;
    struct src_table *rt = &r->src->tables.p[ref->index];
    struct src_fk f = {.n_cols = n, .ref_table = rt->name};
    f.cols = NEWS(a, uint32_t, n + 1);
    f.ref_cols = NEWS(a, struct str, n + 1);
    if (!f.cols || !f.ref_cols)
        return err_nomem(r->err);
    for (size_t i = 0; i < n; i++) {
        uint32_t c = position(ref, to[i]);
        f.cols[i] = position(k, from[i]);
        if (f.cols[i] == UINT32_MAX || c == UINT32_MAX)
            return OK;
        f.ref_cols[i] = rt->cols[c].name;
    }
    return VEC_PUSH(a, &r->src->tables.p[k->index].fks, f) ? OK
                                                           : err_nomem(r->err);
}

static enum status add_list(struct reading *r, const PGresult *res, int row)
{
    int attnum = (int)number_at(res, row, 1);
    struct known *k = find(r, number_at(res, row, 0));
    uint32_t col = k && attnum ? position(k, attnum) : UINT32_MAX;
    if (!k || (attnum && col == UINT32_MAX))
        return OK;
    return source_add_list(r->src, &r->src->tables.p[k->index],
                           attnum ? k->cols.p[col].name : STR(""),
                           str_of(PQgetvalue(res, row, 2)), r->err);
}

static enum status each_row(struct reading *r, const char *sql,
                            enum status (*one)(struct reading *,
                                               const PGresult *, int))
{
    PGresult *res;
    TRY(pg_query(r->src, sql, NULL, &res, r->err));
    enum status s = OK;
    for (int i = 0; s == OK && i < PQntuples(res); i++)
        s = one(r, res, i);
    PQclear(res);
    return s;
}

enum status pg_catalogue(struct source *src, struct err *err)
{
    struct reading r = {.src = src, .err = err};
    struct sb tables;
    sb_init(&tables, &src->arena);
    sb_cstr(&tables, tables_sql);
    sqlgen_text(&tables, src->pg->path);
    sb_cstr(&tables, tables_where_sql);
    if (tables.failed)
        return err_nomem(err);
    TRY(each_row(&r, tables.p, add_table));
    TRY(each_row(&r, columns_sql, add_column));
    TRY(each_row(&r, keys_sql, add_key));
    TRY(each_row(&r, fks_sql, add_fk));
    return each_row(&r, lists_sql, add_list);
}
