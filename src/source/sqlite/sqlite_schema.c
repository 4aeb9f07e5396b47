/*
 * A schema in SQLite's own words, as .schema and .dump write it: columns
 * without types, ON CONFLICT, COLLATE NOCASE, AUTOINCREMENT inside a key,
 * triggers, virtual tables. SQLite itself reads the statements that matter, in
 * an empty database in memory, and its catalogue is read as that of a file.
 *
 * What matters are tables, views and unique indexes. Rows, triggers and the
 * like are passed over and not run; what is not known is an error. PRIVACY: the
 * text is not trusted with more than that: nothing of it may select, attach,
 * delete or set anything.
 */
#include <sqlite3.h>
#include <string.h>

#include "source/source_int.h"

/* Only what creating a table, a view or an index does to the catalogue. */
static int allowed(void *ctx, int what, const char *a, const char *b,
                   const char *db, const char *trigger)
{
    (void)ctx, (void)a, (void)b, (void)db, (void)trigger;
    switch (what) {
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_INDEX:
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_REINDEX:
        return SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

/* Behind blanks and comments. */
static const char *pass_blanks(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n\f");
        if (!strncmp(p, "--", 2)) {
            p += strcspn(p, "\n");
        } else if (!strncmp(p, "/*", 2)) {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else {
            return p;
        }
    }
}

/* The word at *p, if it is this one; *p goes behind it. */
static bool take_word(const char **p, const char *word)
{
    size_t n = strlen(word);
    if (sqlite3_strnicmp(*p, word, (int)n) != 0 ||
        !strchr(" \t\r\n\f\"'`[(/-;", (*p)[n]))
        return false;
    *p = pass_blanks(*p + n);
    return true;
}

static bool is_own(const char *name)
{
    name += strspn(name, "\"'`[");
    return sqlite3_strnicmp(name, "sqlite_", 7) == 0;
}

enum meaning { PASS, RUN, UNKNOWN };

/* Behind CREATE. */
static enum meaning creates(const char *p)
{
    if (take_word(&p, "VIEW"))
        return RUN;
    if (take_word(&p, "UNIQUE"))
        return RUN;
    if (take_word(&p, "INDEX") || take_word(&p, "TRIGGER") ||
        take_word(&p, "VIRTUAL"))
        return PASS;
    if (!take_word(&p, "TABLE"))
        return UNKNOWN;
    if (take_word(&p, "IF") && take_word(&p, "NOT"))
        (void)take_word(&p, "EXISTS");
    return is_own(p) ? PASS : RUN;
}

/* Does the statement say something of tables, views or keys? */
static enum meaning meaning_of(const char *p)
{
    static const char *const others[] = {"INSERT", "PRAGMA", "BEGIN",  "COMMIT",
                                         "END",    "DELETE", "ANALYZE"};
    p = pass_blanks(p);
    if (take_word(&p, "CREATE"))
        return creates(p);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (take_word(&p, others[i]))
            return PASS;
    return *p == ';' ? PASS : UNKNOWN;
}

/* The length of the first statement with its semicolon, as SQLite cuts them: a
 * trigger has semicolons inside. */
static size_t cut(char *p)
{
    for (char *end = strchr(p, ';'); end; end = strchr(end + 1, ';')) {
        char after = end[1];
        end[1] = 0;
        int whole = sqlite3_complete(p);
        end[1] = after;
        if (whole)
            return (size_t)(end - p) + 1;
    }
    return strlen(p);
}

static enum status failed(struct source *src, const char *text, size_t at,
                          struct err *err)
{
    long line = 1, column = 1;
    int code = sqlite3_errcode(src->sqlite);
    int in = sqlite3_error_offset(src->sqlite);
    if (code == SQLITE_NOMEM)
        return err_nomem(err);
    for (size_t i = 0; i < at + (size_t)(in > 0 ? in : 0); i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    err_set(err, E_SYNTAX, "%s", sqlite3_errmsg(src->sqlite));
    err_in_file(err, src->sqlite_path.p, line, column);
    return E_SYNTAX;
}

/* What is not known is SQLite's to refuse; it may know what we do not. */
static enum status run_one(struct source *src, const char *text, size_t at,
                           struct err *err)
{
    if (sqlite3_exec(src->sqlite, text + at, NULL, NULL, NULL) == SQLITE_OK)
        return OK;
    return failed(src, text, at, err);
}

static enum status run_all(struct source *src, char *text, struct err *err)
{
    enum status s = OK;
    size_t at = (size_t)(pass_blanks(text) - text);
    while (s == OK && text[at]) {
        size_t n = cut(text + at);
        char after = text[at + n];
        text[at + n] = 0;
        if (meaning_of(text + at) != PASS)
            s = run_one(src, text, at, err);
        text[at + n] = after;
        at = (size_t)(pass_blanks(text + at + n) - text);
    }
    return s;
}

/* --- misspelt words --------------------------------------------------------
 */

/* Words of which types of several words are made. */
static const char *const type_words[] = {
    "BIG",      "BINARY",    "BIT",      "BLOB",      "BOOLEAN",
    "CHAR",     "CHARACTER", "CLOB",     "DATE",      "DATETIME",
    "DAY",      "DEC",       "DECIMAL",  "DOUBLE",    "FIXED",
    "FLOAT",    "INT",       "INTEGER",  "INTERVAL",  "LARGE",
    "LOCAL",    "LONG",      "MEDIUM",   "NATIONAL",  "NATIVE",
    "NUMBER",   "NUMERIC",   "OBJECT",   "PRECISION", "RAW",
    "REAL",     "SECOND",    "SHORT",    "SIGNED",    "SMALL",
    "SMALLINT", "TEXT",      "TIME",     "TIMESTAMP", "TINY",
    "TINYINT",  "TO",        "UNSIGNED", "VARBINARY", "VARCHAR",
    "VARYING",  "WITH",      "WITHOUT",  "ZEROFILL",  "ZONE",
    "BIGINT",   "MEDIUMINT", "NCHAR",    "NVARCHAR"};

static bool is_type_word(const char *p, size_t n)
{
    for (size_t i = 0; i < sizeof type_words / sizeof type_words[0]; i++)
        if (strlen(type_words[i]) == n &&
            sqlite3_strnicmp(p, type_words[i], (int)n) == 0)
            return true;
    return false;
}

/* The first word of a type of several words that is none of these. SQLite takes
 * any words for a type: "integer PRMARY KEY" is one, and no key. */
static struct str strange_word(const char *type)
{
    static const char blanks[] = " \t\r\n\f";
    struct str strange = {0};
    size_t words = 0;
    for (const char *p = type + strspn(type, blanks); *p && *p != '(';
         p += strspn(p, blanks)) {
        size_t n = strcspn(p, " \t\r\n\f(");
        if (!strange.n && !is_type_word(p, n))
            strange = (struct str){p, n};
        words++;
        p += n;
    }
    return words > 1 ? strange : (struct str){0};
}

static enum status refuse_word(struct source *src, const char *text,
                               struct str word, const char *column,
                               const char *type, struct err *err)
{
    size_t at = 0, line = 1, from = 0;
    while (text[at] && sqlite3_strnicmp(text + at, word.p, (int)word.n) != 0)
        at++;
    for (size_t i = 0; i < at; i++)
        if (text[i] == '\n') {
            line++;
            from = i + 1;
        }
    err_set(err, E_SYNTAX, "column \"%s\": there is no type \"%s\"", column,
            type);
    err_hint(err, "Is \"%.*s\" a word of a constraint, misspelt?", PSTR(word));
    err_in_file(err, src->sqlite_path.p, (long)line, (long)(at - from + 1));
    return E_SYNTAX;
}

static enum status check_types(struct source *src, const char *text,
                               struct err *err)
{
    sqlite3_stmt *st = NULL;
    enum status s = OK;
    if (sqlite3_prepare_v2(src->sqlite,
                           "SELECT x.name, x.type FROM sqlite_schema m"
                           " JOIN pragma_table_xinfo(m.name) x"
                           " WHERE m.type = 'table'",
                           -1, &st, NULL) != SQLITE_OK)
        return err_internal(err, "sqlite: types of columns");
    while (s == OK && sqlite3_step(st) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        const char *type = (const char *)sqlite3_column_text(st, 1);
        struct str word = type ? strange_word(type) : (struct str){0};
        if (word.n)
            s = refuse_word(src, text, word, name ? name : "", type, err);
    }
    sqlite3_finalize(st);
    return s;
}

enum status sqlite_open_schema(struct source *src, const char *file,
                               struct str text, struct err *err)
{
    char *copy = arena_strdup(&src->arena, text.p, text.n);
    src->sqlite_path = str_copy(&src->arena, str_of(file));
    if (!copy || !src->sqlite_path.p)
        return err_nomem(err);
    if (sqlite3_open_v2(":memory:", &src->sqlite,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                            SQLITE_OPEN_MEMORY,
                        NULL) != SQLITE_OK)
        return err_nomem(err);
    sqlite3_set_authorizer(src->sqlite, allowed, NULL);
    TRY(run_all(src, copy, err));
    sqlite3_set_authorizer(src->sqlite, NULL, NULL);
    TRY(check_types(src, copy, err));
    return sqlite_catalogue(src, err);
}
