/*
 * Expressions at, just under and just over the limits of cq/expr.h, at every
 * kind of node: one table for the test of the evaluator and for the mutant
 * that must not pass it. Every case names what is expected; whether a value is
 * NULL is asked at the root and, through a node above that hides the value,
 * inside the tree.
 */
#ifndef HARNESS_EXPR_LIMITS_H
#define HARNESS_EXPR_LIMITS_H

#include <stdio.h>
#include <string.h>

#include "cq/cq.h"

enum { LIMIT_VARS = 8 };

/* The columns of the one row that all cases are asked of. */
static void limits_row(struct arena *a, struct value *v)
{
    static const size_t sizes[] = {65535, 65536, 65537, 32768, 32769};
    for (size_t i = 0; i < 5; i++) {
        char *p = arena_alloc(a, sizes[i]);
        memset(p, 'R', sizes[i]);
        v[i] = value_text((struct str){p, sizes[i]});
    }
    /* 10^999, the largest power with 1,000 digits; its inverse of 1,000
     * digits behind the point; 7 */
    char *big = arena_alloc(a, 1000), *small = arena_alloc(a, 1002);
    memset(big, '0', 1000);
    big[0] = '1';
    memset(small, '0', 1002);
    small[1] = '.';
    small[1001] = '1';
    v[5] = (struct value){.type = T_DEC, .s = {big, 1000}};
    v[6] = (struct value){.type = T_DEC, .s = {small, 1002}};
    v[7] = value_int(7);
}

struct limit_case {
    const char *text; /* over under, at, over, half, more, big, small, seven */
    bool is_null;
};

static const struct limit_case limit_cases[] = {
    /* every operation that gives a text */
    {"concat(under, 'x')", false},
    {"concat(at, '')", false},
    {"concat(at, 'x')", true},
    {"concat('x', at)", true},
    {"concat(half, half)", false},
    {"concat(half, more)", true},
    {"concat(over, '')", true},
    {"lower(at)", false},
    {"lower(over)", true},
    {"upper(at)", false},
    {"upper(over)", true},
    {"substr(over, 1)", true},
    {"substr(over, 2)", false},
    {"substr(over, 1, 65536)", false},
    {"substr(over, 1, 65537)", true},
    {"trim(at)", false},
    {"trim(over)", true},
    {"trim(over, 'R')", false},
    {"ltrim(over)", true},
    {"rtrim(over)", true},
    {"replace(at, 'x', 'yy')", false},
    {"replace(over, 'x', 'yy')", true},
    {"replace(over, 'R', '')", false},
    {"replace(half, 'R', 'SS')", false},
    {"replace(more, 'R', 'SS')", true},
    {"replace(at, '', 'x')", false},
    {"replace(over, '', 'x')", true},
    {"to_text(at)", false},
    {"to_text(over)", true},
    /* every operation that gives an exact number */
    {"add(big, big)", false},
    {"add(big, mul(big, 8))", false},
    {"add(big, mul(big, 9))", true},
    {"sub(neg(big), mul(big, 9))", true},
    {"sub(mul(big, 10), mul(big, 10))", true},
    {"mul(big, 9)", false},
    {"mul(big, 10)", true},
    {"mul(big, 9.99)", false},
    {"mul(small, 10)", false},
    {"mul(small, 0.1)", true},
    {"mul(small, 0.5)", true},
    {"mul(mul(small, 5), 0.2)", false},
    {"mul(big, small)", false},
    {"mul(big, big)", true},
    {"mul(small, small)", true},
    {"mul(mul(big, big), 0)", true},
    {"add(big, small)", false},
    {"neg(big)", false},
    {"neg(mul(big, 10))", true},
    {"abs(neg(small))", false},
    {"round(add(mul(big, 9), 0.5))", false},
    {"round(sub(mul(big, 9), small), 999)", false},
    {"round(mul(big, 9.5), -999)", true},
    {"floor(small)", false},
    {"ceil(small)", false},
    {"ceil(neg(big))", false},
    {"div(big, 3)", false},
    {"mod(big, 3)", false},
    {"div(mul(big, 10), 10)", true},
    {"mod(mul(big, 10), 10)", true},
    /* a choice passes on what stands in a column */
    {"coalesce(over, 'x')", false},
    {"case(true, over, 'x')", false},
    {"nullif(over, 'x')", false},
    {"greatest(over, 'A')", false},
    {"least(over, 'S')", false},
    {"coalesce(concat(over, 'x'), 'y')", false},
    /* inside the tree, hidden by the node above */
    {"length(concat(at, 'x'))", true},
    {"length(over)", false},
    {"position(concat(at, 'x'), 'R')", true},
    {"substr(concat(at, 'x'), 1, 1)", true},
    {"substr(concat(concat(at, 'x'), 'y'), 1, 1)", true},
    {"trim(concat(at, 'x'), 'Rx')", true},
    {"replace(concat(at, 'x'), 'R', '')", true},
    {"replace(replace(half, 'R', 'SSS'), 'S', '')", true},
    {"lower(substr(replace(at, 'R', 'RR'), 1, 3))", true},
    {"like(concat(at, 'x'), '%')", true},
    {"ilike(upper(over), '%')", true},
    {"eq(concat(at, 'x'), 'a')", true},
    {"eq(over, 'a')", false},
    {"in(concat(at, 'x'), 'a', 'b')", true},
    {"in('a', concat(at, 'x'), 'b')", true},
    {"not(eq(mul(big, 10), 1))", true},
    {"or(false, lt(mul(big, big), 1))", true},
    {"and(true, lt(mul(big, big), 1))", true},
    {"sub(mul(big, big), mul(big, big))", true},
    {"mul(0, mul(big, big))", true},
    {"round(mul(small, 0.1), 2)", true},
    {"floor(mul(small, 0.1))", true},
    {"substr(half, mod(mul(big, 10), 10))", true},
    {"case(gt(mul(big, 10), 1), 'a', null)", true},
    {"nullif(mul(big, 10), 1)", true},
    {"greatest(mul(big, 10), mul(big, 11))", true},
};

static const char *const limit_names[LIMIT_VARS] = {
    "under", "at", "over", "half", "more", "big", "small", "seven"};

/* The case's expression over the variables 0 to 7, in that order. */
static const struct expr *limit_read(struct arena *a, const char *text)
{
    struct schema s;
    struct err err;
    struct cq *q;
    schema_init(&s, a);
    struct str rule = str_printf(a,
                                 "Q(under, at, over, half, more, big, small, "
                                 "seven) :- T(under, at, over, half, more, "
                                 "big, small, seven), {isnull(%s)}",
                                 text);
    if (cq_read(a, &s, rule, &q, &err) != OK) {
        printf("%s: %s\n", text, err.message);
        return NULL;
    }
    for (uint32_t i = 0; i < LIMIT_VARS; i++)
        if (!str_is(q->vars[i].name, limit_names[i]))
            return NULL;
    return q->preds[0].e->args[0];
}

/* How many cases go wrong; `all`: prints each. */
static unsigned limits_wrong(bool all)
{
    struct mem mem;
    struct arena arena;
    struct value row[LIMIT_VARS];
    unsigned wrong = 0;
    mem_init(&mem, 0);
    arena_init(&arena, &mem);
    limits_row(&arena, row);
    for (size_t i = 0; i < sizeof limit_cases / sizeof *limit_cases; i++) {
        const struct expr *e = limit_read(&arena, limit_cases[i].text);
        struct value out = {0};
        struct err err;
        bool ok = e && expr_eval(&arena, e, row, &out, &err) == OK &&
                  out.is_null == limit_cases[i].is_null;
        if (!ok && all)
            printf("%s is %sNULL\n", limit_cases[i].text,
                   limit_cases[i].is_null ? "not " : "");
        wrong += !ok;
    }
    arena_fini(&arena);
    return wrong;
}

#endif
