/*
 * Rule text to a query:
 *
 *     Q(x, y) :- R(x, 'O', z), S(z, _), x != y, z < 5.
 *
 * Bare names in argument places are variables, _ is a fresh one, quoted
 * strings, numbers and typed literals (date '2020-01-01') are constants. The
 * forms that only the printer writes are read too: R@r(x) gives a bag's row
 * id, {like(n, 'a%')} is a predicate, v := {add(y, 5)} a computed variable,
 * Q(g; x) separates group keys, x != null demands a value. Q(x, sum(y in
 * 0..50)) adds up y over the distinct (x, y); Q(sum(y in 0..50)) over all
 * results.
 * Time is linear but for the look-up of names (at most 8 * MAX_VARS).
 */
#include "cq/cq.h"

#include "cq/token.h"

enum { MAX_RULE = 1 << 20 };

struct parser {
    struct tokens t;
    struct cq_builder *b;
    struct err *err;
    uint32_t n_nodes; /* of expressions so far */
    /* not { ... }: NULL refuses it. Conditions in braces belong to an atom of
     * their own block. */
    const struct cq_blocks *blocks;
    uint32_t block, n_blocks;
    bool sums_all; /* Q(sum(x ...)): over every result */
    VEC(uint32_t) atom_block;
    VEC(uint32_t) pred_block;
    VEC(uint32_t) calc_block;
};

static enum status bad(struct parser *p, const char *what)
{
    size_t n = p->t.at > p->t.start ? p->t.at - p->t.start : 0;
    if (p->t.token == K_END)
        err_set(p->err, E_SYNTAX, "expected %s at the end of the rule", what);
    else
        err_set(p->err, E_SYNTAX, "expected %s before \"%.*s\"", what,
                (int)(n < 40 && n ? n : 1), p->t.text.p + p->t.start);
    err_at(p->err, (long)p->t.start);
    err_hint(p->err, "A rule looks like: Q(x, y) :- R(x, 'a', z), S(z, y), "
                     "x != y.");
    return E_SYNTAX;
}

static bool accept(struct parser *p, enum token t)
{
    if (p->t.token != t)
        return false;
    token_next(&p->t);
    return true;
}

static enum status expect(struct parser *p, enum token t, const char *what)
{
    return accept(p, t) ? OK : bad(p, what);
}

/* --- terms --- */

static enum status variable(struct parser *p, struct str name, uint32_t *out)
{
    for (size_t i = 0; i < p->b->vars.n; i++)
        if (str_eq(p->b->vars.p[i].name, name)) {
            *out = (uint32_t)i;
            return OK;
        }
    return cqb_var(p->b, name, T_UNKNOWN, out, p->err);
}

static enum status typed_literal(struct parser *p, enum type t,
                                 struct value *out)
{
    token_next(&p->t);
    struct str s = p->t.word;
    if (t == T_DEC &&
        (str_is(s, "NaN") || str_is(s, "Infinity") || str_is(s, "-Infinity")))
        *out = (struct value){.type = T_DEC, .s = s};
    else if (p->t.token != K_STRING || !value_parse(p->b->arena, s, t, out)) {
        err_set(p->err, E_SYNTAX, "\"%.*s\" is no %s", PSTR(s), type_name(t));
        err_at(p->err, (long)p->t.start);
        return E_SYNTAX;
    }
    token_next(&p->t);
    return OK;
}

/* A constant if one stands here. */
static enum status constant(struct parser *p, struct value *out, bool *is_const)
{
    enum type t;
    *is_const = true;
    if (p->t.token == K_STRING) {
        *out = value_text(p->t.word);
        token_next(&p->t);
        return OK;
    }
    if (p->t.token == K_NUMBER) {
        if (!value_parse_number(p->b->arena, p->t.word, out))
            return bad(p, "a number of sensible size");
        token_next(&p->t);
        return OK;
    }
    if (p->t.token == K_NAME &&
        (str_is(p->t.word, "true") || str_is(p->t.word, "false"))) {
        *out = (struct value){.type = T_BOOL, .i = str_is(p->t.word, "true")};
        token_next(&p->t);
        return OK;
    }
    if (p->t.token == K_NAME && str_is(p->t.word, "null")) {
        *out = value_null();
        token_next(&p->t);
        return OK;
    }
    if (p->t.token == K_NAME && token_literal_type(p->t.word, &t) &&
        token_string_follows(&p->t))
        return typed_literal(p, t, out);
    *is_const = false;
    return OK;
}

static enum status term(struct parser *p, struct term *out)
{
    struct value v;
    bool is_const;
    uint32_t id;
    TRY(constant(p, &v, &is_const));
    if (is_const) {
        TRY(cqb_const(p->b, &v, &id, p->err));
        *out = (struct term){TERM_CONST, id};
        return OK;
    }
    if (p->t.token == K_NAME && str_is(p->t.word, "_")) {
        *out = (struct term){TERM_ANY, 0};
        token_next(&p->t);
        return OK;
    }
    if (p->t.token != K_NAME && p->t.token != K_QUOTED_NAME)
        return bad(p, "a variable or a constant");
    TRY(variable(p, p->t.word, &id));
    *out = (struct term){TERM_VAR, id};
    token_next(&p->t);
    return OK;
}

/* --- atoms --- */

typedef VEC(struct term) terms_vec;

static enum status terms(struct parser *p, terms_vec *out)
{
    TRY(expect(p, K_LPAREN, "\"(\""));
    while (p->t.token != K_RPAREN) {
        struct term t;
        if (out->n)
            TRY(expect(p, K_COMMA, "\",\" or \")\""));
        TRY(term(p, &t));
        if (!VEC_PUSH(p->b->arena, out, t))
            return err_nomem(p->err);
        if (out->n > 1600)
            return bad(p, "at most 1600 columns");
    }
    token_next(&p->t);
    return OK;
}

/* Quoted texts take the column's type, as SQL's untyped literals do. */
static enum status fit_constant(struct parser *p, const struct column *c,
                                struct term *t, size_t at)
{
    struct value v = p->b->consts.p[t->id], as;
    if (v.is_null) {
        err_set(p->err, E_SYNTAX, "null cannot be matched");
        err_at(p->err, (long)at);
        err_hint(p->err, "NULL equals nothing; write {isnull(x)}.");
        return E_SYNTAX;
    }
    /* As cells without declared type: a number if it looks like one. */
    if (c->type == T_UNKNOWN && v.type == T_TEXT &&
        value_parse_number(p->b->arena, v.s, &as))
        return cqb_const(p->b, &as, &t->id, p->err);
    if (type_comparable(v.type, c->type))
        return OK;
    if (v.type != T_TEXT || !value_parse(p->b->arena, v.s, c->type, &as)) {
        err_set(p->err, E_TYPE, "column \"%.*s\" is %s, the constant is %s",
                PSTR(c->name), type_name(c->type), type_name(v.type));
        err_at(p->err, (long)at);
        return E_TYPE;
    }
    return cqb_const(p->b, &as, &t->id, p->err);
}

static enum status fit_variable(struct parser *p, const struct column *c,
                                uint32_t var, size_t at)
{
    struct var *v = &p->b->vars.p[var];
    if (v->type == T_UNKNOWN)
        v->type = c->type;
    if (type_comparable(v->type, c->type))
        return OK;
    err_set(p->err, E_TYPE, "variable \"%.*s\" joins %s with %s", PSTR(v->name),
            type_name(v->type), type_name(c->type));
    err_at(p->err, (long)at);
    err_hint(p->err, "Columns of different types never match; check the "
                     "order of the columns.");
    return E_TYPE;
}

static enum status find_relation(struct parser *p, struct str name,
                                 size_t n_cols, size_t *out)
{
    long found = schema_find_nocase(p->b->schema, name);
    if (found < 0 && schema_count_nocase(p->b->schema, name) > 1) {
        err_set(p->err, E_NAME, "table name \"%.*s\" is ambiguous", PSTR(name));
        err_hint(p->err, "Several tables differ from it only in case: spell "
                         "it as the catalogue does.");
        return E_NAME;
    }
    if (found < 0)
        TRY(schema_add_table(p->b->schema, name, 0, out, p->err));
    else
        *out = (size_t)found;
    return schema_fix_arity(p->b->schema, *out, n_cols, p->err);
}

static enum status atom(struct parser *p, struct str name, size_t at)
{
    int32_t rowid = -1;
    size_t table;
    uint32_t i, v;
    terms_vec args = {0};
    if (accept(p, K_AT)) {
        if (p->t.token != K_NAME && p->t.token != K_QUOTED_NAME)
            return bad(p, "a row-id variable");
        TRY(variable(p, p->t.word, &v));
        rowid = (int32_t)v;
        token_next(&p->t);
    }
    TRY(terms(p, &args));
    enum status st = find_relation(p, name, args.n, &table);
    if (st != OK) {
        err_at(p->err, (long)at);
        return st;
    }
    TRY(cqb_atom(p->b, (uint32_t)table, &i, p->err));
    if (!VEC_PUSH(p->b->arena, &p->atom_block, p->block))
        return err_nomem(p->err);
    p->b->atoms.p[i].rowid = rowid;
    const struct table *t = &p->b->schema->tables.p[table];
    for (uint32_t k = 0; k < args.n; k++) {
        if (args.p[k].kind == TERM_CONST)
            TRY(fit_constant(p, &t->cols[k], &args.p[k], at));
        if (args.p[k].kind == TERM_VAR)
            TRY(fit_variable(p, &t->cols[k], args.p[k].id, at));
        p->b->atoms.p[i].args[k] = args.p[k];
    }
    return OK;
}

/* --- conditions --- */

static enum status expression(struct parser *p, unsigned depth,
                              struct expr **out);

static enum status call(struct parser *p, struct str name, unsigned depth,
                        struct expr *e)
{
    VEC(struct expr *) args = {0};
    if (!expr_op_find(name, &e->op))
        return bad(p, "a known function");
    while (p->t.token != K_RPAREN) {
        struct expr *arg;
        if (args.n)
            TRY(expect(p, K_COMMA, "\",\" or \")\""));
        TRY(expression(p, depth + 1, &arg));
        if (!VEC_PUSH(p->b->arena, &args, arg))
            return err_nomem(p->err);
    }
    token_next(&p->t);
    e->args = args.p;
    e->n_args = (uint32_t)args.n;
    if (!expr_op_takes(e->op, args.n))
        return bad(p, "another number of arguments");
    e->type = expr_op_type(e->op, e->args, e->n_args);
    e->n_nodes = expr_count_nodes(e->n_args, e->args);
    return OK;
}

static enum status expression(struct parser *p, unsigned depth,
                              struct expr **out)
{
    struct expr *e = NEW(p->b->arena, struct expr);
    bool is_const;
    if (!e)
        return err_nomem(p->err);
    if (depth > EXPR_MAX_DEPTH)
        return bad(p, "a less deeply nested expression");
    if (++p->n_nodes > EXPR_MAX_NODES)
        return expr_refuse_size(p->err, (long)p->t.start);
    e->n_nodes = 1;
    *out = e;
    TRY(constant(p, &e->val, &is_const));
    if (is_const) {
        e->op = X_CONST;
        e->type = e->val.type;
        return OK;
    }
    if (p->t.token != K_NAME && p->t.token != K_QUOTED_NAME)
        return bad(p, "an expression");
    struct str name = p->t.word;
    bool quoted = p->t.token == K_QUOTED_NAME;
    token_next(&p->t);
    if (!quoted && accept(p, K_LPAREN))
        return call(p, name, depth, e);
    e->op = X_VAR;
    TRY(variable(p, name, &e->var));
    e->type = p->b->vars.p[e->var].type;
    return OK;
}

static enum status braces(struct parser *p, struct expr **out)
{
    TRY(expect(p, K_LBRACE, "\"{\""));
    TRY(expression(p, 0, out));
    return expect(p, K_RBRACE, "\"}\"");
}

/* Predicates belong to the first atom that has all their variables; found
 * when all atoms are read. */
static enum status add_pred(struct parser *p)
{
    struct pred pred = {.atom = UINT32_MAX};
    struct expr *e;
    TRY(braces(p, &e));
    pred.e = e;
    return VEC_PUSH(p->b->arena, &p->b->preds, pred) &&
                   VEC_PUSH(p->b->arena, &p->pred_block, p->block)
               ? OK
               : err_nomem(p->err);
}

static enum status add_calc(struct parser *p, uint32_t var)
{
    struct calc calc = {.atom = UINT32_MAX, .var = var};
    struct expr *e;
    TRY(braces(p, &e));
    calc.e = e;
    return VEC_PUSH(p->b->arena, &p->b->calcs, calc) &&
                   VEC_PUSH(p->b->arena, &p->calc_block, p->block)
               ? OK
               : err_nomem(p->err);
}

static bool is_null_const(const struct parser *p, struct term t)
{
    return t.kind == TERM_CONST && p->b->consts.p[t.id].is_null;
}

static enum status add_comparison(struct parser *p, enum token op,
                                  struct term l, struct term r)
{
    struct cmp c = {.l = l, .r = r};
    if (l.kind == TERM_ANY || r.kind == TERM_ANY)
        return bad(p, "a named variable in the comparison");
    if (is_null_const(p, r)) {
        if (op != K_NE || l.kind != TERM_VAR)
            return bad(p, "\"!=\" in front of null");
        if (p->block)
            return bad(p, "no demand on null inside not { ... }");
        p->b->vars.p[l.id].nonnull = true;
        return OK;
    }
    if (op == K_EQ)
        return VEC_PUSH(p->b->arena, &p->b->equals, c) ? OK : err_nomem(p->err);
    if (op == K_GT || op == K_GE)
        c = (struct cmp){.l = r, .r = l};
    c.op = op == K_NE ? CMP_NE : (op == K_LT || op == K_GT) ? CMP_LT : CMP_LE;
    return VEC_PUSH(p->b->arena, &p->b->cmps, c) ? OK : err_nomem(p->err);
}

static enum status comparison(struct parser *p, struct term l)
{
    enum token op = p->t.token;
    struct term r;
    if (op == K_ASSIGN && l.kind == TERM_VAR) {
        token_next(&p->t);
        return add_calc(p, l.id);
    }
    if (op < K_EQ || op > K_GE)
        return bad(p, "a comparison");
    token_next(&p->t);
    TRY(term(p, &r));
    return add_comparison(p, op, l, r);
}

/* "or", ";", "|" between literals, or a second rule after the full stop. */
static bool is_disjunction(const struct parser *p, bool stopped)
{
    if (stopped)
        return p->t.token == K_NAME || p->t.token == K_QUOTED_NAME;
    if (p->t.token == K_NAME)
        return str_eq_nocase(p->t.word, STR("or"));
    return p->t.token == K_SEMI ||
           (p->t.token == K_BAD && p->t.text.p[p->t.start] == '|');
}

static enum status literal(struct parser *p);

/* not { ... }: a subquery that must have no match; names that the rule uses
 * outside of it mean the same inside. */
static enum status negated_block(struct parser *p)
{
    uint32_t outer = p->block;
    token_next(&p->t);
    TRY(expect(p, K_LBRACE, "\"{\""));
    p->block = ++p->n_blocks;
    TRY(p->blocks->enter(p->blocks->ctx, p->err));
    do {
        TRY(literal(p));
    } while (accept(p, K_COMMA));
    TRY(p->blocks->leave(p->blocks->ctx, p->err));
    p->block = outer;
    return expect(p, K_RBRACE, "\",\" or \"}\"");
}

static enum status literal(struct parser *p)
{
    size_t at = p->t.start;
    if (p->t.token == K_BAD && p->t.text.p[at] == '!')
        return cq_refuse_negation(p->err, (long)at);
    if (p->t.token == K_LBRACE)
        return add_pred(p);
    if (p->t.token == K_NAME || p->t.token == K_QUOTED_NAME) {
        struct parser ahead = *p;
        token_next(&ahead.t);
        struct str name = p->t.word;
        if (ahead.t.token == K_LPAREN || ahead.t.token == K_AT) {
            token_next(&p->t);
            return atom(p, name, at);
        }
        if (str_is(name, "not") && ahead.t.token == K_LBRACE && p->blocks &&
            p->n_blocks < CQ_MAX_BLOCKS)
            return negated_block(p);
        if (str_is(name, "not") &&
            (ahead.t.token == K_NAME || ahead.t.token == K_LBRACE))
            return cq_refuse_negation(p->err, (long)at);
        if (str_is(name, "false") && p->t.token == K_NAME &&
            (ahead.t.token == K_DOT || ahead.t.token == K_COMMA ||
             ahead.t.token == K_END)) {
            p->b->unsat = true;
            token_next(&p->t);
            return OK;
        }
    }
    struct term l;
    TRY(term(p, &l));
    return comparison(p, l);
}

/* --- the rule --- */

/* sum(x in 0..50), sum(x in -1.50..1.50): x is an output too. */
static enum status head_sum(struct parser *p)
{
    struct term t;
    struct str lo, hi;
    struct cq_weight *w = &p->b->weight;
    token_next(&p->t);
    token_next(&p->t);
    TRY(term(p, &t));
    if (t.kind == TERM_ANY || w->on)
        return bad(p, "one sum of a named variable");
    if (p->t.token != K_NAME || !str_is(p->t.word, "in"))
        return bad(p, "\"in\" and a range");
    token_next(&p->t);
    lo = p->t.word;
    TRY(expect(p, K_NUMBER, "a number"));
    TRY(expect(p, K_DOT, "\"..\""));
    TRY(expect(p, K_DOT, "\"..\""));
    hi = p->t.word;
    TRY(expect(p, K_NUMBER, "a number"));
    if (!cq_weight_range(lo, hi, w))
        return bad(p, "a rising range of sensible numbers");
    w->on = true;
    w->out = (uint32_t)p->b->outs.n;
    for (uint32_t i = 0; i < p->b->outs.n; i++)
        if (p->b->outs.p[i].kind == t.kind && p->b->outs.p[i].id == t.id)
            w->out = i;
    if (w->out == p->b->outs.n && !VEC_PUSH(p->b->arena, &p->b->outs, t))
        return err_nomem(p->err);
    return expect(p, K_RPAREN, "\")\"");
}

static bool is_sum(const struct parser *p)
{
    struct parser ahead = *p;
    if (p->t.token != K_NAME || !str_is(p->t.word, "sum"))
        return false;
    token_next(&ahead.t);
    return ahead.t.token == K_LPAREN;
}

static enum status head(struct parser *p)
{
    if (p->t.token != K_NAME && p->t.token != K_QUOTED_NAME)
        return bad(p, "the head, Q(...)");
    p->b->name = p->t.word;
    token_next(&p->t);
    TRY(expect(p, K_LPAREN, "\"(\""));
    bool first = true, alone = false;
    while (p->t.token != K_RPAREN) {
        struct term t;
        if (p->t.token == K_SEMI && !p->b->n_group) {
            p->b->n_group = (uint32_t)p->b->outs.n;
            token_next(&p->t);
            first = true;
            continue;
        }
        if (!first)
            TRY(expect(p, K_COMMA, "\",\" or \")\""));
        if (is_sum(p)) {
            alone = first && !p->b->outs.n;
            TRY(head_sum(p));
            first = false;
            continue;
        }
        TRY(term(p, &t));
        alone = false;
        if (t.kind == TERM_ANY)
            return bad(p, "a named variable in the head");
        if (!VEC_PUSH(p->b->arena, &p->b->outs, t))
            return err_nomem(p->err);
        first = false;
    }
    token_next(&p->t);
    p->sums_all = alone;
    return expect(p, K_IF, "\":-\"");
}

/* Is every variable of e in atom i? Building numbers exceed a vset. */
static bool covers(const struct cq_builder *b, uint32_t i, const struct expr *e)
{
    const struct atom *a = &b->atoms.p[i];
    if (e->op == X_VAR) {
        for (uint32_t k = 0; k < a->n_args; k++)
            if (a->args[k].kind == TERM_VAR && a->args[k].id == e->var)
                return true;
        for (size_t k = 0; k < b->calcs.n; k++)
            if (b->calcs.p[k].atom == i && b->calcs.p[k].var == e->var)
                return true;
        return false;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!covers(b, i, e->args[k]))
            return false;
    return true;
}

static enum status place(struct parser *p, const struct expr *e, uint32_t block,
                         uint32_t *out)
{
    for (uint32_t i = 0; i < p->b->atoms.n; i++)
        if (p->atom_block.p[i] == block && covers(p->b, i, e)) {
            *out = i;
            return OK;
        }
    err_set(p->err, E_UNSUPPORTED,
            "a predicate in braces uses variables of several relations");
    err_hint(p->err, "Braces hold conditions on the columns of one relation; "
                     "compare variables of different ones with <, <= or !=.");
    return E_UNSUPPORTED;
}

static enum status place_all(struct parser *p)
{
    for (size_t i = 0; i < p->b->calcs.n; i++)
        TRY(place(p, p->b->calcs.p[i].e, p->calc_block.p[i],
                  &p->b->calcs.p[i].atom));
    for (size_t i = 0; i < p->b->preds.n; i++)
        TRY(place(p, p->b->preds.p[i].e, p->pred_block.p[i],
                  &p->b->preds.p[i].atom));
    return OK;
}

/* Constants in comparisons take the variable's type, as in atoms. */
static enum status fit_comparisons(struct parser *p, struct cmp *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct term *v = &c[i].l, *k = &c[i].r;
        if (v->kind == TERM_CONST) {
            v = &c[i].r;
            k = &c[i].l;
        }
        if (v->kind != TERM_VAR)
            continue;
        struct column col = {.name = p->b->vars.p[v->id].name,
                             .type = p->b->vars.p[v->id].type};
        if (k->kind == TERM_CONST)
            TRY(fit_constant(p, &col, k, 0));
        else if (!type_comparable(col.type, p->b->vars.p[k->id].type))
            return err_set(p->err, E_TYPE,
                           "\"%.*s\" is %s and \"%.*s\" is %s: they do not "
                           "compare",
                           PSTR(col.name), type_name(col.type),
                           PSTR(p->b->vars.p[k->id].name),
                           type_name(p->b->vars.p[k->id].type));
    }
    return OK;
}

/* Every variable of the rule's own atoms is an output. */
static enum status all_outputs(struct parser *p)
{
    for (size_t i = 0; i < p->b->atoms.n; i++) {
        const struct atom *at = &p->b->atoms.p[i];
        for (uint32_t k = 0; !p->atom_block.p[i] && k <= at->n_args; k++) {
            struct term t = k < at->n_args
                                ? at->args[k]
                                : (struct term){TERM_VAR, (uint32_t)at->rowid};
            bool known = t.kind != TERM_VAR || (int32_t)t.id < 0;
            for (size_t o = 0; o < p->b->outs.n; o++)
                known |= p->b->outs.p[o].kind == TERM_VAR &&
                         p->b->outs.p[o].id == t.id;
            if (!known && !VEC_PUSH(p->b->arena, &p->b->outs, t))
                return err_nomem(p->err);
        }
    }
    return OK;
}

/* One rule up to its full stop or the end. */
static enum status rule(struct parser *p)
{
    TRY(head(p));
    do {
        TRY(literal(p));
    } while (accept(p, K_COMMA));
    if (p->sums_all)
        TRY(all_outputs(p));
    TRY(place_all(p));
    TRY(fit_comparisons(p, p->b->cmps.p, p->b->cmps.n));
    return fit_comparisons(p, p->b->equals.p, p->b->equals.n);
}

static enum status check_length(struct str text, struct err *err)
{
    return text.n > MAX_RULE
               ? err_set(err, E_TOO_LARGE, "the rule is longer than %d bytes",
                         MAX_RULE)
               : OK;
}

enum status cq_read(struct arena *a, struct schema *s, struct str text,
                    struct cq **out, struct err *err)
{
    struct cq_builder b;
    struct parser p = {.t = {.arena = a, .text = text}, .b = &b, .err = err};
    TRY(check_length(text, err));
    cqb_init(&b, a, s);
    token_next(&p.t);
    TRY(rule(&p));
    bool stopped = accept(&p, K_DOT);
    if (is_disjunction(&p, stopped))
        return cq_refuse_disjunction(p.err, (long)p.t.start);
    if (p.t.token != K_END)
        return bad(&p, "\",\" or the end of the rule");
    return cq_finish(&b, out, err);
}

enum status cq_read_rules(struct arena *a, struct str text,
                          const struct cq_blocks *blocks, struct err *err)
{
    struct parser p = {
        .t = {.arena = a, .text = text}, .err = err, .blocks = blocks};
    bool stopped = true;
    TRY(check_length(text, err));
    token_next(&p.t);
    while (stopped && p.t.token != K_END) {
        p.block = p.n_blocks = 0;
        p.atom_block.n = p.pred_block.n = p.calc_block.n = 0;
        TRY(blocks->begin(blocks->ctx, &p.b, err));
        TRY(rule(&p));
        TRY(blocks->end(blocks->ctx, err));
        stopped = accept(&p, K_DOT);
    }
    if (is_disjunction(&p, stopped))
        return cq_refuse_disjunction(p.err, (long)p.t.start);
    return p.t.token == K_END ? OK : bad(&p, "\",\" or the end of the rule");
}
