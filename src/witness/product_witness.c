/*
 * Lower bounds by colouring. Fix the row b in the part of one atom. Choose
 * independent coordinates; each is seen by a set of variables, none of them
 * determined by b. The value of a variable is what it sees; the database has
 * a row of each atom for every setting of the coordinates. A constraint
 * x -> y <= k holds if the sizes of the coordinates that y sees and x does
 * not multiply to at most k, and the number of answers is the product of the
 * sizes of all coordinates that an output sees. The tree of dependencies of
 * the paper, unfolded, and the product databases that meet the bound of
 * Atserias, Grohe and Marx are both of this kind.
 *
 * The sizes are found by a depth-first search within a budget.
 */
#include "witness/lower.h"

enum {
    ALL_SETS = 9,     /* variables up to which every set is a candidate */
    MAX_COLOURS = 40, /* candidates looked at */
    MAX_CELLS = 4096, /* settings times atoms */
    DFS_WORK = 60000,
};

struct rule { /* product of the sizes of these colours is at most k */
    uint64_t colours;
    u128 k;
};

struct colouring {
    struct witness_search *l;
    const struct tab *t;
    uint32_t atom;
    uint32_t els[64]; /* variables not determined by b */
    uint32_t n;
    uint64_t seen[MAX_COLOURS]; /* by colour: positions in els */
    uint32_t n_colours;
    struct rule *rules;
    size_t n_rules;
    u128 size[MAX_COLOURS], best_size[MAX_COLOURS];
    u128 best, cap;
    uint64_t work;
};

/* --- candidates ----------------------------------------------------------- */

static void start_set(const struct colouring *c, bool *in)
{
    const struct tab *t = c->t;
    for (uint32_t e = 0; e < t->n_el; e++)
        in[e] = t->flag[e] & EL_CONST;
    for (uint32_t j = 0; j < t->atoms[c->atom].n; j++)
        in[t->atoms[c->atom].el[j]] = true;
    tab_close(t, 1, in);
}

static void list_variables(struct colouring *c, bool *in)
{
    const struct tab *t = c->t;
    start_set(c, in);
    for (uint32_t i = 0; i < t->n_atoms; i++)
        for (uint32_t j = 0; j < t->atoms[i].n && c->n < 64; j++) {
            uint32_t e = t->atoms[i].el[j];
            if (!in[e]) {
                in[e] = true;
                c->els[c->n++] = e;
            }
        }
}

/* Nobody outside the set may determine a member: the rest is closed. */
static bool admissible(const struct colouring *c, uint64_t set, bool *in)
{
    start_set(c, in);
    for (uint32_t i = 0; i < c->n; i++)
        if (!(set >> i & 1))
            in[c->els[i]] = true;
    tab_close(c->t, 1, in);
    for (uint32_t i = 0; i < c->n; i++)
        if (set >> i & 1 && in[c->els[i]])
            return false;
    for (uint32_t i = 0; i < c->n; i++)
        if (set >> i & 1 && c->t->flag[c->els[i]] & EL_FREE)
            return true;
    return false;
}

static void add_colour(struct colouring *c, uint64_t set, bool *in)
{
    for (uint32_t i = 0; i < c->n_colours; i++)
        if (c->seen[i] == set)
            return;
    if (c->n_colours < MAX_COLOURS && admissible(c, set, in))
        c->seen[c->n_colours++] = set;
}

/* The complement of a largest closed set that leaves out variable i. */
static uint64_t least_set(const struct colouring *c, uint32_t i, bool *in)
{
    uint64_t set = ((uint64_t)1 << (c->n - 1) << 1) - 1;
    for (uint32_t j = 0; j < c->n; j++) {
        uint64_t try = set & ~((uint64_t)1 << j);
        if (j == i)
            continue;
        start_set(c, in);
        for (uint32_t k = 0; k < c->n; k++)
            if (!(try >> k & 1))
                in[c->els[k]] = true;
        tab_close(c->t, 1, in);
        if (!in[c->els[i]])
            set = try;
    }
    return set;
}

static void list_colours(struct colouring *c, bool *in)
{
    for (uint32_t i = 0; i < c->n; i++)
        add_colour(c, least_set(c, i, in), in);
    if (c->n <= ALL_SETS)
        for (uint64_t set = 1; set < (uint64_t)1 << c->n; set++)
            add_colour(c, set, in);
}

/* --- sizes ---------------------------------------------------------------- */

static uint64_t sees(const struct colouring *c, const struct tab_atom *at,
                     const uint32_t *cols, uint32_t n)
{
    uint64_t colours = 0;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < c->n; i++)
            for (uint32_t k = 0;
                 at->el[cols[j]] == c->els[i] && k < c->n_colours; k++)
                if (c->seen[k] >> i & 1)
                    colours |= (uint64_t)1 << k;
    return colours;
}

static enum status list_rules(struct colouring *c, struct err *err)
{
    const struct tab *t = c->t;
    c->rules = NEWS(c->l->a, struct rule, (size_t)t->n_atoms * t->n_deps);
    if (!c->rules)
        return err_nomem(err);
    for (uint32_t i = 0; i < t->n_atoms; i++)
        for (size_t j = 0; j < t->n_deps; j++) {
            const struct dep *d = &t->deps[j];
            if (d->table != t->atoms[i].table)
                continue;
            uint64_t x = sees(c, &t->atoms[i], d->x, d->n_x);
            uint64_t y = sees(c, &t->atoms[i], d->y, d->n_y);
            if (y & ~x)
                c->rules[c->n_rules++] = (struct rule){y & ~x, d->k};
        }
    return OK;
}

/* The largest size that colour i may have, given those before it. */
static u128 room(const struct colouring *c, uint32_t i, u128 answers)
{
    u128 most = c->cap / answers;
    for (size_t r = 0; r < c->n_rules; r++) {
        u128 used = 1;
        if (!(c->rules[r].colours >> i & 1))
            continue;
        for (uint32_t k = 0; k < i; k++)
            if (c->rules[r].colours >> k & 1)
                used *= c->size[k];
        if (c->rules[r].k / used < most)
            most = c->rules[r].k / used;
    }
    return most;
}

static void choose_sizes(struct colouring *c, uint32_t i, u128 answers)
{
    if (answers > c->best) {
        c->best = answers;
        for (uint32_t k = 0; k < c->n_colours; k++)
            c->best_size[k] = k < i ? c->size[k] : 1;
    }
    if (i == c->n_colours || c->work == 0 || c->best >= c->cap)
        return;
    c->work--;
    for (u128 s = room(c, i, answers); s > 0; s--) {
        c->size[i] = s;
        choose_sizes(c, i + 1, answers * s);
    }
}

/* --- the database --------------------------------------------------------- */

/* Number of what variable i sees under this setting of the colours. */
static uint32_t view(const struct colouring *c, uint32_t i,
                     const uint32_t *setting)
{
    u128 n = 0;
    for (uint32_t k = 0; k < c->n_colours; k++)
        if (c->seen[k] >> i & 1)
            n = n * c->best_size[k] + setting[k];
    return (uint32_t)n;
}

static enum status value_of(struct colouring *c, struct witness_db *d,
                            uint32_t e, const uint32_t *setting,
                            uint32_t *table, uint32_t *out, struct err *err)
{
    uint32_t slot = 0;
    if (c->t->flag[e] & EL_CONST) {
        *out = e;
        return OK;
    }
    for (uint32_t i = 0; i < c->n; i++)
        if (c->els[i] == e)
            slot = view(c, i, setting);
    uint32_t *at = &table[(size_t)e * (size_t)c->best + slot];
    if (*at == 0) {
        TRY(witness_db_fresh(d, &c->l->kinds, e, out, err));
        *at = *out == NO_EL ? NO_EL : *out + 1;
    }
    *out = *at == NO_EL ? NO_EL : *at - 1;
    return OK;
}

static bool next_setting(const struct colouring *c, uint32_t *setting)
{
    for (uint32_t k = 0; k < c->n_colours; k++) {
        if (++setting[k] < c->best_size[k])
            return true;
        setting[k] = 0;
    }
    return false;
}

static enum status add_rows(struct colouring *c, struct witness_db *d,
                            const uint32_t *setting, uint32_t *table, bool *ok,
                            struct err *err)
{
    for (uint32_t i = 0; i < c->t->n_atoms; i++) {
        const struct tab_atom *at = &c->t->atoms[i];
        uint32_t row[1 + UINT8_MAX], r;
        *ok &= at->n <= UINT8_MAX;
        for (uint32_t j = 0; *ok && j < at->n; j++) {
            TRY(value_of(c, d, at->el[j], setting, table, &row[j], err));
            *ok = row[j] != NO_EL;
        }
        if (!*ok)
            return OK;
        TRY(witness_db_add(d, at->table, row, at->n, &r, err));
        if (i == c->atom)
            d->b = r;
    }
    return OK;
}

static enum status offer(struct colouring *c, struct err *err)
{
    struct witness_db d;
    uint32_t setting[MAX_COLOURS] = {0};
    size_t cells = (size_t)c->t->n_el * (size_t)c->best;
    uint32_t *table = NEWS(c->l->a, uint32_t, cells);
    bool ok = true;
    if (!table)
        return err_nomem(err);
    TRY(witness_db_init(c->l->a, c->t, &d, err));
    do
        TRY(add_rows(c, &d, setting, table, &ok, err));
    while (ok && next_setting(c, setting));
    return ok ? witness_offer(c->l, &d, err) : OK;
}

static enum status blow_up(struct witness_search *l, uint32_t atom,
                           struct err *err)
{
    const struct tab *t = l->t;
    struct colouring *c = NEW(l->a, struct colouring);
    bool *in = NEWS(l->a, bool, t->n_el);
    if (!c || !in)
        return err_nomem(err);
    *c = (struct colouring){.l = l, .t = t, .atom = atom, .work = DFS_WORK};
    u128 most = MAX_CELLS / t->n_atoms;
    c->cap = l->most[atom] < most ? l->most[atom] : most;
    list_variables(c, in);
    if (c->n == 0 || c->n == 64)
        return OK;
    list_colours(c, in);
    TRY(list_rules(c, err));
    choose_sizes(c, 0, 1);
    return c->best > l->best ? offer(c, err) : OK;
}

enum status witness_blowup(struct witness_search *l, struct err *err)
{
    const struct tab *t = l->t;
    if (tab_has_filters(t))
        return OK;
    for (uint32_t i = 0; i < t->n_atoms && l->best < l->target; i++)
        if (t->atoms[i].table == l->table)
            TRY(blow_up(l, i, err));
    return OK;
}
