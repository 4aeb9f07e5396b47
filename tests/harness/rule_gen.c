#include "harness/rule_gen.h"

#include <stdio.h>
#include <string.h>
#include "harness/tiny.h"
#include "harness/universe.h"

static const char *const vars[] = {"x", "y", "z", "w"};

struct draft {
    char body[300], head[100];
    unsigned used; /* variables that occur */
};

static void append(char *to, size_t room, const char *what)
{
    size_t n = strlen(to);
    snprintf(to + n, room - n, "%s", what);
}

static void add_term(struct draft *d, bool odd, unsigned n_vars, uint64_t *seed)
{
    char c[8];
    uint64_t pick = universe_random(seed, odd ? 12 : 8);
    if (pick == 10) {
        snprintf(c, sizeof c, "%d", (int)universe_random(seed, 2) * TINY_GAP);
        append(d->body, sizeof d->body, c);
    } else if (pick == 11) {
        append(d->body, sizeof d->body, "_");
    } else {
        uint64_t v = universe_random(seed, n_vars);
        d->used |= 1u << v;
        append(d->body, sizeof d->body, vars[v]);
    }
}

static void add_atom(struct draft *d, char table, unsigned bag, bool odd,
                     unsigned n_vars, uint64_t *seed)
{
    char c[16];
    if (bag) {
        snprintf(c, sizeof c, "%c@i%u(", table, bag);
        append(d->head, sizeof d->head, d->head[0] ? ", i" : "i");
        char n[16];
        snprintf(n, sizeof n, "%u", bag);
        append(d->head, sizeof d->head, n);
    } else {
        snprintf(c, sizeof c, "%c(", table);
    }
    append(d->body, sizeof d->body, d->body[0] ? ", " : "");
    append(d->body, sizeof d->body, c);
    add_term(d, odd, n_vars, seed);
    if (table != 'A' && table != 'B') {
        append(d->body, sizeof d->body, ", ");
        add_term(d, odd, n_vars, seed);
    }
    append(d->body, sizeof d->body, ")");
}

static void add_filter(struct draft *d, uint64_t *seed)
{
    static const char *const ops[] = {"!=", "<", "<=", "!="};
    unsigned in[4], n = 0;
    char c[32];
    for (unsigned v = 0; v < 4; v++)
        if (d->used >> v & 1)
            in[n++] = v;
    if (!n)
        return;
    unsigned l = in[universe_random(seed, n)], r = in[universe_random(seed, n)];
    const char *op = ops[universe_random(seed, 4)];
    if (l == r)
        snprintf(c, sizeof c, ", %s %s %d", vars[l], op,
                 (int)universe_random(seed, 2) * TINY_GAP);
    else
        snprintf(c, sizeof c, ", %s %s %s", vars[l], op, vars[r]);
    append(d->body, sizeof d->body, c);
}

static void add_head(struct draft *d, bool all, uint64_t *seed)
{
    for (unsigned v = 0; v < 4; v++) {
        if (!(d->used >> v & 1) || (!all && universe_random(seed, 2)))
            continue;
        append(d->head, sizeof d->head, d->head[0] ? ", " : "");
        append(d->head, sizeof d->head, vars[v]);
    }
}

static void add_constraint(struct gen *g, uint64_t *seed)
{
    static const char *const texts[] = {
        "R: 1 -> 2",      "R: 2 -> 1",      "R: (1) -> *",     "|R| <= 2",
        "R: 1 -> 2 <= 2", "|R| <= 3",       "R: () -> 1 <= 1", "R: 2 -> 1 <= 2",
        "R: (2) -> *",    "R: () -> 2 <= 2"};
    snprintf(g->constraint[g->n_constraints++], sizeof g->constraint[0], "%s",
             texts[universe_random(seed, 10)]);
}

static char pick_table(enum gen_class c, uint64_t *seed)
{
    if (c == GEN_PIECES)
        return "AABBRR"[universe_random(seed, 6)];
    if (c == GEN_EXACT)
        return "RSSR"[universe_random(seed, 4)];
    return c == GEN_SEVERAL ? "RSPR"[universe_random(seed, 4)] : 'R';
}

void gen_rule(enum gen_class c, uint64_t *seed, struct gen *g)
{
    struct draft d = {0};
    memset(g, 0, sizeof *g);
    unsigned atoms = 1 + (unsigned)universe_random(seed, 4);
    unsigned n_vars = 2 + (unsigned)universe_random(seed, 3);
    if (c == GEN_PIECES) {
        atoms = 2 + (unsigned)universe_random(seed, 4);
        n_vars = 4;
    }
    g->copies = c == GEN_BAGS ? 2 : 1;
    bool small =
        c == GEN_BAGS || c == GEN_SEVERAL || atoms == 4 || c == GEN_EXACT;
    g->domain = small ? 2 : 2 + (int)universe_random(seed, 2);
    if (c == GEN_BAGS && atoms > 3)
        atoms = 3;
    if (c == GEN_EXACT) {
        g->exact = true;
        if (atoms > 3)
            atoms = 3;
    }
    for (unsigned i = 0; i < atoms; i++)
        add_atom(&d, pick_table(c, seed), c == GEN_BAGS ? i + 1 : 0,
                 c != GEN_EXACT, n_vars, seed);
    bool filters = c == GEN_FILTERS || c == GEN_EXACT;
    for (uint64_t n = filters ? 1 + universe_random(seed, 3)
                              : universe_random(seed, 4) / 3;
         n > 0; n--)
        add_filter(&d, seed);
    bool all = c == GEN_FULL || c == GEN_BAGS || universe_random(seed, 2);
    add_head(&d, all && c != GEN_PROJECTION, seed);
    bool declared =
        c == GEN_CONSTRAINTS || (c == GEN_BAGS && universe_random(seed, 2));
    for (uint64_t n = 1 + universe_random(seed, 2); declared && n > 0; n--)
        add_constraint(g, seed);
    g->has_public = c == GEN_SEVERAL;
    snprintf(g->rule, sizeof g->rule, "Q(%s) :- %s.", d.head, d.body);
}

struct cq *gen_read(struct rules *r, const struct gen *g)
{
    struct cq *q = rules_read(r, g->rule);
    for (unsigned i = 0; i < g->n_constraints; i++)
        rules_constraint(r, g->constraint[i]);
    if (g->has_public)
        rules_public(r, "P");
    return q;
}
