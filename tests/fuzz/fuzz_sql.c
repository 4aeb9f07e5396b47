/*
 * SQL text from anywhere: reading never crashes, hangs or leaks; what is
 * accepted keeps the invariants of a query and prints as a rule that reads
 * back; predicates can be evaluated on any row; a refusal has a message and a
 * position inside the text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void defect(const char *what, struct str text)
{
    fprintf(stderr, "%s: %.*s\n", what, PSTR(text));
    abort();
}

static const char ddl[] =
    "CREATE TABLE p (id int PRIMARY KEY, name text, w numeric, h real,"
    " born date, ok boolean, t timestamp);"
    "CREATE TABLE v (p int NOT NULL, cost numeric, at time, u uuid);"
    "CREATE TABLE e (src int, dst int, UNIQUE (src, dst));"
    "CREATE TABLE hos (id INTEGER PRIMARY KEY, loc TEXT NOT NULL);"
    "CREATE TABLE pat (id INTEGER PRIMARY KEY, sex TEXT, born DATE, w REAL,"
    " hos INTEGER REFERENCES hos (id));"
    "CREATE TABLE patdoc (pat INTEGER NOT NULL, doc INTEGER NOT NULL,"
    " PRIMARY KEY (pat, doc));"
    "CREATE TABLE visit (pat INTEGER, at TIMESTAMP, ok BOOLEAN);";

/* As long as a computed value may be. */
static struct value longest(enum type t)
{
    static char text[EXPR_MAX_TEXT], digits[EXPR_MAX_DIGITS];
    memset(text, 'R', sizeof text);
    memset(digits, '9', sizeof digits);
    if (t == T_TEXT)
        return value_text((struct str){text, sizeof text});
    return (struct value){.type = T_DEC, .s = {digits, sizeof digits}};
}

static void evaluate(struct arena *a, const struct cq *q)
{
    struct value vals[MAX_VARS], out;
    struct err err;
    for (size_t i = 0; i < MAX_VARS; i++)
        vals[i] = value_null();
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < q->n_preds; i++)
            if (expr_eval(a, q->preds[i].e, vals, &out, &err) == OK &&
                !out.is_null && out.type != T_BOOL)
                defect("a predicate is not boolean", cq_text(a, q));
        for (uint32_t i = 0; i < q->n_calcs; i++)
            if (expr_eval(a, q->calcs[i].e, vals, &out, &err) == OK &&
                !out.is_null && out.s.p &&
                out.s.n > (out.type == T_TEXT ? EXPR_MAX_TEXT
                                              : 2 * EXPR_MAX_DIGITS + 2))
                defect("a computed value is too long", cq_text(a, q));
        for (uint32_t i = 0; i < q->n_vars; i++)
            vals[i] = round                       ? longest(q->vars[i].type)
                      : q->vars[i].type == T_TEXT ? value_text(STR("\xc3\xa9x"))
                                                  : value_int(INT64_MIN);
    }
}

static void check(struct arena *a, struct schema *s, struct str in)
{
    static const struct str params[] = {{"5", 1}, {NULL, 0}};
    struct sql_options opt = {.params = params, .n_params = 2, .today = 20000};
    struct sql_statement st;
    struct err err;
    if (sql_read(a, s, in, &opt, &st, &err) != OK) {
        if (err.status == E_INTERNAL || !err.message[0])
            defect(err.message, in);
        if (err.position > (long)in.n)
            defect("a position outside the text", in);
        return;
    }
    for (size_t i = 0; i < st.n_counts; i++) {
        const struct cq *q = st.counts[i].q;
        struct cq *again;
        if (cq_check(q))
            defect(cq_check(q), in);
        struct str text = cq_text(a, q);
        if (cq_read(a, s, text, &again, &err) != OK)
            defect(err.message, text);
        if (!str_eq(cq_text(a, again), text))
            defect("reads back differently", text);
        evaluate(a, q);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = {(const char *)data, size};
    struct mem m;
    struct arena a;
    struct schema s;
    struct err err;
    mem_init(&m, 256 << 20);
    arena_init(&a, &m);
    schema_init(&s, &a);
    if (sql_read_ddl(&s, STR(ddl), "ddl", &err) != OK)
        defect(err.message, STR(ddl));
    check(&a, &s, in);
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left", STR(""));
    return 0;
}
