#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "harness/oracle.h"
#include "harness/rules.h"

/* --- random numbers and queries ------------------------------------------- */

uint64_t o_below(struct o_random *r, uint64_t n)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (r->state >> 11) % n;
}

static bool used(const struct o_query *q, int v)
{
    for (int i = 0; i < q->n_atoms; i++)
        for (int j = 0; j < q->arity[q->atom[i].rel]; j++)
            if (q->atom[i].term[j] == v)
                return true;
    return false;
}

static int random_term(struct o_random *r)
{
    if (o_below(r, 7) == 0)
        return O_CONST + (int)o_below(r, 2);
    return (int)o_below(r, O_VARS);
}

static void random_constraint(struct o_random *r, struct o_query *q, int i)
{
    int rel = (int)o_below(r, O_RELS), n = q->arity[rel];
    unsigned all = (1u << n) - 1;
    q->con[i].rel = rel;
    q->con[i].x = o_below(r, 8) == 0 ? 0 : (unsigned)o_below(r, all + 1);
    q->con[i].y = (unsigned)o_below(r, all) + 1;
    q->con[i].y &= ~q->con[i].x;
    if (q->con[i].y == 0)
        q->con[i].y = all & ~q->con[i].x;
    if (q->con[i].y == 0) {
        q->con[i].x = 0;
        q->con[i].y = all;
    }
    q->con[i].k = 1 + (int)o_below(r, 3);
    if (q->con[i].x == 0)
        q->con[i].k += 1;
}

void o_generate(struct o_random *r, bool filters, struct o_query *q)
{
    memset(q, 0, sizeof *q);
    for (int i = 0; i < O_RELS; i++) {
        q->arity[i] = 1 + (int)o_below(r, O_ARITY);
        q->is_public[i] = i > 0 && o_below(r, 6) == 0;
    }
    q->n_atoms = 1 + (int)o_below(r, O_ATOMS);
    for (int i = 0; i < q->n_atoms; i++) {
        q->atom[i].rel = o_below(r, 3) == 0; /* mostly self-joins */
        for (int j = 0; j < O_ARITY; j++)
            q->atom[i].term[j] = random_term(r);
    }
    int vars[O_VARS], n = 0;
    for (int v = 0; v < O_VARS; v++)
        if (used(q, v))
            vars[n++] = v;
    for (int i = 0; i < n; i++)
        if (o_below(r, 5) < 2)
            q->free[q->n_free++] = vars[i];
    q->n_cmps = n > 0 && filters ? (int)o_below(r, 3) : 0;
    for (int i = 0; i < q->n_cmps; i++) {
        q->cmp[i].op = (int)o_below(r, 3);
        q->cmp[i].l = vars[o_below(r, (uint64_t)n)];
        q->cmp[i].r = o_below(r, 4) == 0 ? O_CONST + (int)o_below(r, 2)
                                         : vars[o_below(r, (uint64_t)n)];
    }
    q->n_cons = (int)o_below(r, O_CONS + 1);
    for (int i = 0; i < q->n_cons; i++)
        random_constraint(r, q, i);
}

static size_t put_term(char *p, int t)
{
    if (t >= O_CONST)
        return (size_t)sprintf(p, "'%c'", 'a' + t - O_CONST);
    return (size_t)sprintf(p, "%c", "xyzuv"[t]);
}

const char *o_text(const struct o_query *q, char *buf)
{
    static const char *const op[] = {" != ", " < ", " <= "};
    char *p = buf;
    p += sprintf(p, "Q(");
    for (int i = 0; i < q->n_free; i++) {
        p += sprintf(p, "%s", i ? "," : "");
        p += put_term(p, q->free[i]);
    }
    p += sprintf(p, ") :- ");
    for (int i = 0; i < q->n_atoms; i++) {
        p += sprintf(p, "%s%c(", i ? ", " : "", "RS"[q->atom[i].rel]);
        for (int j = 0; j < q->arity[q->atom[i].rel]; j++) {
            p += sprintf(p, "%s", j ? "," : "");
            p += put_term(p, q->atom[i].term[j]);
        }
        p += sprintf(p, ")");
    }
    for (int i = 0; i < q->n_cmps; i++) {
        p += sprintf(p, ", ");
        p += put_term(p, q->cmp[i].l);
        p += sprintf(p, "%s", op[q->cmp[i].op]);
        p += put_term(p, q->cmp[i].r);
    }
    sprintf(p, ".");
    return buf;
}

static size_t put_columns(char *p, unsigned set)
{
    char *start = p;
    for (int j = 0; j < O_ARITY; j++)
        if (set >> j & 1)
            p += sprintf(p, "%s%d", p > start ? ", " : "", j + 1);
    return (size_t)(p - start);
}

const char *o_constraint(const struct o_query *q, int i, char *buf)
{
    char *p = buf;
    p += sprintf(p, "%c: (", "RS"[q->con[i].rel]);
    p += put_columns(p, q->con[i].x);
    p += sprintf(p, ") -> ");
    p += put_columns(p, q->con[i].y);
    sprintf(p, " <= %d", q->con[i].k);
    return buf;
}

/* --- databases ------------------------------------------------------------ */

enum { DOMAIN = 3, TUPLES = 27 };

struct database {
    bool has[O_RELS][TUPLES];
};

static int column(int tuple, int j)
{
    while (j-- > 0)
        tuple /= DOMAIN;
    return tuple % DOMAIN;
}

static int n_tuples(const struct o_query *q, int rel)
{
    int n = 1;
    for (int j = 0; j < q->arity[rel]; j++)
        n *= DOMAIN;
    return n;
}

static bool agree(int t, int s, unsigned cols)
{
    for (int j = 0; j < O_ARITY; j++)
        if (cols >> j & 1 && column(t, j) != column(s, j))
            return false;
    return true;
}

static bool constraint_holds(const struct o_query *q, const struct database *d,
                             int i)
{
    int rel = q->con[i].rel, n = n_tuples(q, rel);
    for (int t = 0; t < n; t++) {
        int seen[TUPLES], m = 0;
        for (int s = 0; d->has[rel][t] && s < n; s++) {
            bool fresh = d->has[rel][s] && agree(t, s, q->con[i].x);
            for (int k = 0; fresh && k < m; k++)
                fresh = !agree(seen[k], s, q->con[i].y);
            if (fresh)
                seen[m++] = s;
        }
        if (m > q->con[i].k)
            return false;
    }
    return true;
}

static bool all_hold(const struct o_query *q, const struct database *d)
{
    for (int i = 0; i < q->n_cons; i++)
        if (!constraint_holds(q, d, i))
            return false;
    return true;
}

static int value_of(const int *val, int term)
{
    return term >= O_CONST ? term - O_CONST : val[term];
}

static bool satisfied(const struct o_query *q, const struct database *d,
                      const int *val)
{
    for (int i = 0; i < q->n_atoms; i++) {
        int t = 0, rel = q->atom[i].rel;
        for (int j = q->arity[rel]; j-- > 0;)
            t = t * DOMAIN + value_of(val, q->atom[i].term[j]);
        if (!d->has[rel][t])
            return false;
    }
    for (int i = 0; i < q->n_cmps; i++) {
        int l = value_of(val, q->cmp[i].l), r = value_of(val, q->cmp[i].r);
        if (q->cmp[i].op == 0 ? l == r : q->cmp[i].op == 1 ? l >= r : l > r)
            return false;
    }
    return true;
}

static long count(const struct o_query *q, const struct database *d)
{
    bool answer[243] = {false};
    int val[O_VARS];
    bool in_use[O_VARS];
    long n = 0;
    for (int v = 0; v < O_VARS; v++)
        in_use[v] = used(q, v);
    for (int a = 0; a < 243; a++) {
        bool skip = false;
        for (int v = 0, rest = a; v < O_VARS; v++, rest /= DOMAIN) {
            val[v] = rest % DOMAIN;
            skip |= val[v] > 0 && !in_use[v];
        }
        if (skip || !satisfied(q, d, val))
            continue;
        int key = 0;
        for (int i = 0; i < q->n_free; i++)
            key = key * DOMAIN + val[q->free[i]];
        n += !answer[key];
        answer[key] = true;
    }
    return n;
}

static long best_row(const struct o_query *q, struct database *d, long *by_rel)
{
    long all = count(q, d), best = 0;
    for (int rel = 0; rel < O_RELS; rel++)
        for (int t = 0; !q->is_public[rel] && t < n_tuples(q, rel); t++) {
            if (!d->has[rel][t])
                continue;
            d->has[rel][t] = false;
            long diff = all - count(q, d);
            d->has[rel][t] = true;
            best = diff > best ? diff : best;
            if (by_rel && diff > by_rel[rel])
                by_rel[rel] = diff;
        }
    return best;
}

static void random_database(struct o_random *r, const struct o_query *q,
                            struct database *d)
{
    memset(d, 0, sizeof *d);
    uint64_t tries = 1 + o_below(r, 14);
    for (uint64_t i = 0; i < tries; i++) {
        int rel = (int)o_below(r, O_RELS);
        int t = (int)o_below(r, (uint64_t)n_tuples(q, rel));
        bool old = d->has[rel][t];
        d->has[rel][t] = true;
        if (!all_hold(q, d))
            d->has[rel][t] = old;
    }
}

/* Flips a row; false and undone if a constraint breaks. */
static bool flip(struct o_random *r, const struct o_query *q,
                 struct database *d, int *rel, int *t)
{
    *rel = (int)o_below(r, O_RELS);
    *t = (int)o_below(r, (uint64_t)n_tuples(q, *rel));
    d->has[*rel][*t] = !d->has[*rel][*t];
    if (all_hold(q, d))
        return true;
    d->has[*rel][*t] = !d->has[*rel][*t];
    return false;
}

long o_search(struct o_random *r, const struct o_query *q, int steps,
              long *by_rel)
{
    struct database d;
    long best = 0, now = -1;
    for (int i = 0; i < steps; i++) {
        int rel, t;
        if (i % 25 == 0) {
            random_database(r, q, &d);
            now = best_row(q, &d, by_rel);
        } else if (flip(r, q, &d, &rel, &t)) {
            long diff = best_row(q, &d, by_rel);
            if (diff >= now)
                now = diff;
            else
                d.has[rel][t] = !d.has[rel][t];
        }
        best = now > best ? now : best;
    }
    return best;
}

/* --- recounting a witness --------------------------------------------------
 */

enum { W_ROWS = 400 };

struct recount {
    const struct o_query *q;
    const struct witness_row *row[W_ROWS];
    int rel[W_ROWS], n, without;
    struct str val[O_VARS];
    bool has[O_VARS];
    struct str answer[W_ROWS][O_VARS];
    int n_answers;
};

static struct str term_text(const struct recount *c, int term)
{
    static const char letters[] = "ab";
    if (term >= O_CONST)
        return (struct str){&letters[term - O_CONST], 1};
    return c->val[term];
}

static bool filters_pass(const struct recount *c)
{
    for (int i = 0; i < c->q->n_cmps; i++) {
        int o =
            str_cmp(term_text(c, c->q->cmp[i].l), term_text(c, c->q->cmp[i].r));
        int op = c->q->cmp[i].op;
        if (op == 0 ? o == 0 : op == 1 ? o >= 0 : o > 0)
            return false;
    }
    return true;
}

static void note_answer(struct recount *c)
{
    for (int a = 0; a < c->n_answers; a++) {
        bool same = true;
        for (int i = 0; i < c->q->n_free; i++)
            same &= str_eq(c->answer[a][i], c->val[c->q->free[i]]);
        if (same)
            return;
    }
    for (int i = 0; i < c->q->n_free; i++)
        c->answer[c->n_answers][i] = c->val[c->q->free[i]];
    c->n_answers++;
}

static void match_from(struct recount *c, int atom)
{
    if (atom == c->q->n_atoms) {
        if (filters_pass(c) && c->n_answers < W_ROWS)
            note_answer(c);
        return;
    }
    for (int r = 0; r < c->n; r++) {
        struct str val[O_VARS];
        bool has[O_VARS];
        memcpy(val, c->val, sizeof val);
        memcpy(has, c->has, sizeof has);
        bool fits = r != c->without && c->rel[r] == c->q->atom[atom].rel;
        for (int j = 0; fits && j < c->q->arity[c->rel[r]]; j++) {
            int t = c->q->atom[atom].term[j];
            if (t < O_CONST && !c->has[t]) {
                c->has[t] = true;
                c->val[t] = c->row[r]->vals[j];
            }
            fits = str_eq(term_text(c, t), c->row[r]->vals[j]);
        }
        if (fits)
            match_from(c, atom + 1);
        memcpy(c->val, val, sizeof val);
        memcpy(c->has, has, sizeof has);
    }
}

static bool rows_agree(const struct recount *c, int r, int s, unsigned cols)
{
    for (int j = 0; j < O_ARITY; j++)
        if (cols >> j & 1 && !str_eq(c->row[r]->vals[j], c->row[s]->vals[j]))
            return false;
    return true;
}

static bool witness_allowed(const struct recount *c)
{
    for (int i = 0; i < c->q->n_cons; i++)
        for (int r = 0; r < c->n; r++) {
            int seen[W_ROWS], m = 0;
            for (int s = 0; s < c->n; s++) {
                bool fresh = c->rel[r] == c->q->con[i].rel &&
                             c->rel[s] == c->rel[r] &&
                             rows_agree(c, r, s, c->q->con[i].x);
                for (int k = 0; fresh && k < m; k++)
                    fresh = !rows_agree(c, seen[k], s, c->q->con[i].y);
                if (fresh)
                    seen[m++] = s;
            }
            if (m > c->q->con[i].k)
                return false;
        }
    return true;
}

static int recount_without(struct recount *c, int without)
{
    c->without = without;
    c->n_answers = 0;
    memset(c->has, 0, sizeof c->has);
    match_from(c, 0);
    return c->n_answers;
}

/* Does the witness show what it says? */
static bool witness_holds(const struct o_query *q, const struct schema *s,
                          const struct witness *w)
{
    static struct recount c;
    memset(&c, 0, sizeof c);
    c.q = q;
    if (w->n_rows >= W_ROWS)
        return true; /* too large for this recount */
    for (size_t i = 0; i <= w->n_rows; i++) {
        c.row[i] = i < w->n_rows ? &w->rows[i] : &w->insert;
        c.rel[i] = str_is(s->tables.p[c.row[i]->table].name, "S");
    }
    c.n = (int)w->n_rows + 1;
    return witness_allowed(&c) && !q->is_public[c.rel[w->n_rows]] &&
           (u128)recount_without(&c, -1) == w->after &&
           (u128)recount_without(&c, (int)w->n_rows) == w->before;
}

/* --- comparing ------------------------------------------------------------ */

void o_analyse(const struct o_query *q, bool want_lower, struct o_result *out)
{
    struct rules r;
    struct bound b;
    char buf[400];
    struct bound_options opt = {.want_lower = want_lower};
    *out = (struct o_result){.upper = 0};
    rules_init(&r);
    struct cq *cq = rules_read(&r, o_text(q, buf));
    for (int i = 0; i < q->n_cons; i++) {
        /* a constraint on a relation that the query does not use is idle */
        for (int k = 0; k < q->n_atoms; k++)
            if (q->atom[k].rel == q->con[i].rel) {
                rules_constraint(&r, o_constraint(q, i, buf));
                break;
            }
    }
    for (int k = 0; k < q->n_atoms; k++)
        if (q->is_public[q->atom[k].rel]) {
            rules_public(&r, "S");
            break;
        }
    if (bound_analyze(&r.arena, cq, &opt, &b, &r.err) != OK)
        fail_msg("%s: %s", o_text(q, buf), r.err.message);
    out->upper = b.upper;
    out->lower = b.lower;
    out->exact = b.exact;
    out->bad_witness =
        b.has_witness && !witness_holds(q, &r.schema, &b.witness);
    if (b.has_witness && b.lower != U128_INF)
        out->bad_witness |= b.lower != b.witness.after - b.witness.before;
    for (size_t i = 0; i < b.n_relations; i++) {
        struct str name = r.schema.tables.p[b.relations[i].table].name;
        out->by_rel[str_is(name, "S")] = b.relations[i].upper;
    }
    assert_true(rules_fini(&r));
}

static void complain(const struct o_query *q, const char *what, long found,
                     u128 bound)
{
    char buf[400], num[U128_DIGITS];
    printf("%s: found %ld, bound %s: %s", what, found, u128_text(bound, num),
           o_text(q, buf));
    for (int i = 0; i < q->n_cons; i++)
        printf("  %s", o_constraint(q, i, buf));
    printf("%s\n", q->is_public[1] ? "  S public" : "");
}

int o_run(uint64_t seed, int pairs, int steps, bool want_lower)
{
    struct o_random r = {seed * 0x9e3779b97f4a7c15u + 1};
    int bad = 0, attained = 0, finite = 0, exact = 0;
    for (int i = 0; i < pairs; i++) {
        struct o_query q;
        struct o_result res;
        long by_rel[O_RELS] = {0};
        o_generate(&r, i % 3 == 0, &q);
        o_analyse(&q, want_lower && i % 5 == 0, &res);
        long found = o_search(&r, &q, steps, by_rel);
        bool wrong = (u128)found > res.upper;
        for (int k = 0; k < O_RELS; k++)
            wrong |= (u128)by_rel[k] > res.by_rel[k];
        wrong |= res.lower > res.upper || res.bad_witness;
        wrong |= res.exact && res.lower != res.upper;
        if (wrong && bad++ < 5)
            complain(&q, "bound broken", found, res.upper);
        exact += res.exact;
        finite += res.upper != U128_INF;
        attained += res.upper != U128_INF && (u128)found == res.upper;
    }
    printf("%d pairs, %d finite, %d attained by search, %d exact, %d broken\n",
           pairs, finite, attained, exact, bad);
    return bad;
}
