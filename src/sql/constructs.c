/*
 * The table of constructs, used twice: for refusals and for docs/sql.md. A
 * test compares the document with what is printed here, so it cannot drift.
 */
#include "sql/sql_int.h"

struct refusal {
    const char *what, *message, *reason, *instead;
};

static const struct refusal refusals[N_CONSTRUCTS] = {
#define YES(what, means)
#define NO(id, what, message, reason, instead)                                 \
    [NO_##id] = {what, message, reason, instead},
#include "sql/constructs.def"
#undef YES
#undef NO
};

static const struct {
    const char *what, *means;
} accepted[] = {
#define YES(what, means) {what, means},
#define NO(id, what, message, reason, instead)
#include "sql/constructs.def"
#undef YES
#undef NO
};

enum status sql_refuse(struct err *err, enum construct c, long position)
{
    const struct refusal *r = &refusals[c];
    err_set(err, E_UNSUPPORTED, "%s", r->message);
    err_detail(err, "%s", r->reason);
    err_hint(err, "%s", r->instead);
    err_at(err, position);
    return E_UNSUPPORTED;
}

static void cell(struct sb *b, const char *s)
{
    for (; *s; s++) {
        if (*s == '|')
            sb_char(b, '\\');
        sb_char(b, *s);
    }
}

static void print_accepted(struct sb *b)
{
    sb_cstr(b, "## Accepted\n\n| SQL | meaning |\n|---|---|\n");
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        sb_cstr(b, "| ");
        cell(b, accepted[i].what);
        sb_cstr(b, " | ");
        cell(b, accepted[i].means);
        sb_cstr(b, " |\n");
    }
}

static void print_refused(struct sb *b)
{
    sb_cstr(b, "\n## Refused\n\n| SQL | message | why | instead |\n"
               "|---|---|---|---|\n");
    for (size_t i = 0; i < N_CONSTRUCTS; i++) {
        const struct refusal *r = &refusals[i];
        const char *cells[] = {r->what, r->message, r->reason, r->instead};
        for (size_t k = 0; k < 4; k++) {
            sb_cstr(b, "| ");
            cell(b, cells[k]);
            sb_char(b, ' ');
        }
        sb_cstr(b, "|\n");
    }
}

static const char notes[] =
    "\n## Names\n\n"
    "- A name that is not quoted is folded to lower case, a quoted one is "
    "taken as it is, and both are then compared exactly: PostgreSQL's "
    "rule.\n"
    "- SQLite and the headers of files do not tell names apart by case. There "
    "a name that is not quoted is found in any spelling, a quoted one only "
    "as the catalogue spells it; `NATURAL` and `USING` follow. Two columns "
    "of a file that differ only in case are refused.\n"
    "- A name stands for one table. Where several schemas have one of that "
    "name, the search path of the connection decides; outside of it none is "
    "taken. A policy may put the schema in front (`ref.ward`).\n"
    "- A policy names tables and columns as the catalogue spells them, or in "
    "any case if they are SQLite's or a file's. A table of a policy that "
    "differs from a known one only in case is an error, and so is the same "
    "table twice: no declaration slips to another table, or to none. A name "
    "in an option that is not quoted may also stand for itself in lower "
    "case.\n"
    "\n## Semantics\n\n"
    "- Text compares bytewise (collation \"C\"); `lower` and `upper` change "
    "ASCII letters only.\n"
    "- Integers have 64 bits in tables and up to 1000 digits in expressions; "
    "decimals are exact. Where PostgreSQL reports an overflow, the result "
    "here is the exact number.\n"
    "- What one row can cost is limited, so that neither time nor memory tells "
    "of it: a computed text of more than 65536 bytes is NULL, and so is a "
    "computed exact number with more than 1000 digits before or behind the "
    "point, at every step of an expression. So a computed value may be NULL "
    "although none of its columns is. `CASE`, `coalesce`, `nullif`, `least` "
    "and `greatest` compute nothing and hand on longer values of columns.\n"
    "- `NaN` and infinities in a decimal column compare as in PostgreSQL, "
    "above and below all numbers; arithmetic with them, `abs` and rounding "
    "give NULL. So do those with a decimal of a column that is longer than a "
    "computed one may be.\n"
    "- A comparison between a real and an exact number turns the exact one "
    "into the nearest double, as PostgreSQL does.\n"
    "- Times are UTC; a time stamp with zone is stored as UTC.\n"
    "- A string literal or parameter takes the type of what it is compared "
    "with.\n"
    "- In a column whose type nothing declares, each cell that looks like a "
    "number is one, and any other is a text. SQL compares such a column for "
    "equality only: order, arithmetic and dates are refused, since `180,5` or "
    "`31.12.2023` would be texts. Give it a type with `--schema`, in `--table "
    "'t(a integer, b date)=FILE'` or in the policy (`columns: {born: date}`). "
    "Rules order such cells, numbers before texts.\n"
    "- An enum is compared with its own values only.\n"
    "- The blanks at the end of a `char(n)` column do not count: they are "
    "dropped when it is read from PostgreSQL, and so are those of literals "
    "that are compared with it. `LIKE` would see them and is refused, and so "
    "is comparing it with a `varchar` column; "
    "`c::text LIKE ...` is the same here and there.\n"
    "- Comparisons of different types that PostgreSQL refuses (integer with "
    "text, boolean with integer) are refused.\n";

void sql_print_doc(struct sb *b)
{
    sb_cstr(b, "# SQL: what is accepted and what is refused\n\n"
               "A query is one `SELECT` of PostgreSQL's SQL whose answers are "
               "counts of conjunctive\nqueries. Everything else is refused "
               "with its position, the reason and what to write instead.\n\n"
               "This page is printed by the program from the same table as "
               "its messages.\n\n");
    print_accepted(b);
    print_refused(b);
    sb_cstr(b, notes);
    sb_printf(
        b,
        "\n## Limits\n\n"
        "%d bytes, %d tokens, brackets %d deep, %d words and signs that "
        "nest (operators, `JOIN`, `NOT`, `CASE`), %d tables, %d "
        "variables, %d counts, %d columns of a subquery, and %d operators, "
        "functions, columns and constants in the expressions of a count, "
        "subqueries and `WITH` queries written out. Beyond: an error at "
        "once.\n",
        SQL_MAX_BYTES, SQL_MAX_TOKENS, SQL_MAX_NESTING, SQL_MAX_OPERATORS,
        MAX_ATOMS, MAX_VARS, MAX_COUNTS, MAX_COLUMNS, EXPR_MAX_NODES);
}
