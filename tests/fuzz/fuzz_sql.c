/*
 * SQL text from anywhere: reading never crashes, hangs or leaks; what is
 * accepted keeps the invariants of a query; a refusal has a message and a
 * position inside the text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sql/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char ddl[] =
    "CREATE TABLE hos (id INTEGER PRIMARY KEY, loc TEXT NOT NULL);"
    "CREATE TABLE pat (id INTEGER PRIMARY KEY, sex TEXT, born DATE, w REAL,"
    " hos INTEGER REFERENCES hos (id));"
    "CREATE TABLE patdoc (pat INTEGER NOT NULL, doc INTEGER NOT NULL,"
    " PRIMARY KEY (pat, doc));"
    "CREATE TABLE visit (pat INTEGER, at TIMESTAMP, ok BOOLEAN);";

static void defect(const char *what, struct str text)
{
    fprintf(stderr, "%s: %.*s\n", what, PSTR(text));
    abort();
}

static void check(struct arena *a, struct schema *s, struct str text)
{
    struct sql_statement st;
    struct err err;
    struct str params[] = {STR("1"), STR("x")};
    struct sql_options opt = {params, 2};
    if (sql_read(a, s, text, &opt, &st, &err) != OK) {
        if (!err.message[0])
            defect("an error without message", text);
        if (err.position > (long)text.n)
            defect("a position outside the text", text);
        return;
    }
    for (size_t i = 0; i < st.n_counts; i++)
        if (cq_check(st.counts[i].q))
            defect(cq_check(st.counts[i].q), text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct arena a;
    struct schema s;
    struct err err;
    mem_init(&m, 256 << 20);
    arena_init(&a, &m);
    schema_init(&s, &a);
    if (sql_read_ddl(&s, str_of(ddl), "schema.sql", &err) != OK)
        defect(err.message, str_of(ddl));
    check(&a, &s, (struct str){(const char *)data, size});
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left", STR(""));
    return 0;
}
