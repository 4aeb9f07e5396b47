/*
 * Thompson's construction and simulation: see pattern.h.
 *
 * A fragment of the automaton is its first state and a list of dangling exits,
 * kept in the exits themselves: an exit that leads nowhere yet holds the
 * number of the next one in the list. {m,n} reads its atom again for every
 * copy, so that the limit on states bounds the work.
 */
#include "base/pattern.h"

#include <string.h>

enum pattern_kind { CHAR, ANY, SET, SPLIT, JUMP, BEGIN, END, MATCH };

enum { NONE = UINT16_MAX, MAX_DEPTH = 50, MAX_REPEAT = 255 };

struct pattern_reader {
    struct pattern *p;
    const char *s;
    size_t n, at;
    unsigned depth;
    bool similar;
    const char *why; /* set once; all stops then */
};

/* Exits are numbered 2 * state (out) and 2 * state + 1 (out1). */
struct fragment {
    uint16_t start;
    uint32_t first, last; /* of the list of exits; NO_EXIT: none */
};
#define NO_EXIT UINT32_MAX

static void refuse(struct pattern_reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
}

/* --- characters ------------------------------------------------------------
 */

/* The next character; a byte that is not UTF-8 stands for itself, beyond all
 * characters. */
static uint32_t next_char(const char *s, size_t n, size_t *at)
{
    const unsigned char *p = (const unsigned char *)s + *at;
    size_t left = n - *at;
    unsigned len = p[0] < 0x80   ? 1
                   : p[0] < 0xc2 ? 0
                   : p[0] < 0xe0 ? 2
                   : p[0] < 0xf0 ? 3
                   : p[0] < 0xf5 ? 4
                                 : 0;
    uint32_t c = len == 1 ? p[0] : p[0] & (0xffu >> (len + 1));
    bool good = len && len <= left;
    for (unsigned i = 1; good && i < len; i++) {
        good = (p[i] & 0xc0) == 0x80;
        c = c << 6 | (p[i] & 0x3f);
    }
    *at += good ? len : 1;
    return good ? c : 0x110000u + p[0];
}

static uint32_t lower(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static bool at_end(const struct pattern_reader *r)
{
    return r->why || r->at == r->n;
}

static bool peek(const struct pattern_reader *r, char c)
{
    return !at_end(r) && r->s[r->at] == c;
}

static bool take(struct pattern_reader *r, char c)
{
    bool yes = peek(r, c);
    r->at += yes;
    return yes;
}

/* --- the automaton ---------------------------------------------------------
 */

static uint16_t *exit_of(struct pattern *p, uint32_t e)
{
    struct pattern_state *s = &p->states[e / 2];
    return e % 2 ? &s->out1 : &s->out;
}

static uint16_t new_state(struct pattern_reader *r, enum pattern_kind kind)
{
    if (r->p->n_states == PATTERN_STATES) {
        refuse(r, "the pattern is too large");
        return 0;
    }
    r->p->states[r->p->n_states] = (struct pattern_state){
        .kind = (uint8_t)kind, .out = NONE, .out1 = NONE};
    return r->p->n_states++;
}

/* All exits of the list lead to the state. */
static void patch(struct pattern *p, const struct fragment *f, uint16_t to)
{
    uint32_t e = f->first;
    while (e != NO_EXIT) {
        uint16_t *slot = exit_of(p, e);
        uint32_t next = e == f->last ? NO_EXIT : *slot;
        *slot = to;
        e = next;
    }
}

/* Lists are linked through the slots, which hold 16 bits: exit numbers fit, for
 * there are at most 2 * PATTERN_STATES. */
static void join_lists(struct pattern *p, struct fragment *a,
                       const struct fragment *b)
{
    if (b->first == NO_EXIT)
        return;
    if (a->first == NO_EXIT)
        a->first = b->first;
    else
        *exit_of(p, a->last) = (uint16_t)b->first;
    a->last = b->last;
}

static struct fragment single(struct pattern_reader *r, enum pattern_kind kind)
{
    uint16_t s = new_state(r, kind);
    uint32_t e = 2u * s;
    return (struct fragment){s, e, e};
}

/* A state that goes to `to` or elsewhere; its other exit dangles. */
static struct fragment split(struct pattern_reader *r, uint16_t to)
{
    uint16_t s = new_state(r, SPLIT);
    r->p->states[s].out = to;
    uint32_t e = 2u * s + 1;
    return (struct fragment){s, e, e};
}

static struct fragment sequence(struct pattern_reader *r, struct fragment a,
                                struct fragment b)
{
    patch(r->p, &a, b.start);
    return (struct fragment){a.start, b.first, b.last};
}

/* --- sets ------------------------------------------------------------------
 */

static void add_range(struct pattern_reader *r, uint32_t lo, uint32_t hi)
{
    if (r->p->n_ranges == PATTERN_RANGES)
        refuse(r, "the pattern is too large");
    else
        r->p->ranges[r->p->n_ranges++] = (struct pattern_range){lo, hi};
}

static const struct class
{
    const char *name;
    const char *ranges; /* pairs of characters */
} classes[] = {
    {"alpha", "azAZ"},    {"digit", "09"},       {"alnum", "azAZ09"},
    {"upper", "AZ"},      {"lower", "az"},       {"space", "\t\r  "},
    {"blank", "\t\t  "},  {"punct", "!/:@[`{~"}, {"xdigit", "09afAF"},
    {"word", "azAZ09__"},
};

static bool add_class(struct pattern_reader *r, const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        const char *c = classes[i].ranges;
        if (strlen(classes[i].name) != n || memcmp(classes[i].name, name, n))
            continue;
        for (; *c; c += 2)
            add_range(r, (unsigned char)c[0], (unsigned char)c[1]);
        return true;
    }
    return false;
}

/* \d and its kin; NULL if the letter is none of them. */
static const char *class_of_escape(char c)
{
    switch (c | 32) {
    case 'd':
        return "digit";
    case 'w':
        return "word";
    case 's':
        return "space";
    default:
        return NULL;
    }
}

/* After a backslash: the character it stands for. */
static uint32_t escaped(struct pattern_reader *r)
{
    char c = at_end(r) ? 0 : r->s[r->at];
    if (c == 'n' || c == 't' || c == 'r') {
        r->at++;
        return c == 'n' ? '\n' : c == 't' ? '\t' : '\r';
    }
    bool word = (c >= '0' && c <= '9') || (lower((unsigned char)c) >= 'a' &&
                                           lower((unsigned char)c) <= 'z');
    if (!c || word) {
        refuse(r, c ? "this escape is not supported" : "a backslash ends it");
        return 0;
    }
    return next_char(r->s, r->n, &r->at);
}

/* One end of a range, or a whole class: then *whole. */
static uint32_t set_item(struct pattern_reader *r, bool *whole)
{
    *whole = false;
    if (r->n - r->at > 1 && r->s[r->at] == '[' &&
        strchr(":.=", r->s[r->at + 1])) {
        const char *end = memchr(r->s + r->at + 2, ']', r->n - r->at - 2);
        size_t n = end ? (size_t)(end - r->s) - r->at - 2 : 0;
        *whole = true;
        if (n < 2 || r->s[r->at + 1] != ':' || end[-1] != ':' ||
            !add_class(r, r->s + r->at + 2, n - 1))
            refuse(r, "this class of characters is not supported");
        else
            r->at += n + 3;
        return 0;
    }
    if (!take(r, '\\'))
        return next_char(r->s, r->n, &r->at);
    const char *class = at_end(r) ? NULL : class_of_escape(r->s[r->at]);
    if (!class)
        return escaped(r);
    *whole = true;
    if (r->s[r->at] < 'a')
        refuse(r, "this escape is not supported in brackets");
    else
        add_class(r, class, strlen(class));
    r->at++;
    return 0;
}

static void set_items(struct pattern_reader *r)
{
    bool first = true, whole;
    while (!at_end(r) && (first || !peek(r, ']'))) {
        uint32_t lo = set_item(r, &whole), hi = lo;
        first = false;
        bool range = !whole && r->n - r->at > 1 && peek(r, '-') &&
                     r->s[r->at + 1] != ']';
        if (range) {
            r->at++;
            hi = set_item(r, &whole);
            if (whole || hi < lo)
                refuse(r, "a range in brackets is not valid");
        }
        if (range || !whole)
            add_range(r, lo, hi);
    }
    if (!take(r, ']'))
        refuse(r, "a bracket is not closed");
}

static struct fragment set(struct pattern_reader *r)
{
    struct fragment f = single(r, SET);
    struct pattern_state *s = &r->p->states[f.start];
    s->inverted = take(r, '^');
    s->from = r->p->n_ranges;
    set_items(r);
    s->n = (uint16_t)(r->p->n_ranges - s->from);
    return f;
}

static struct fragment class_set(struct pattern_reader *r, const char *class,
                                 bool not )
{
    struct fragment f = single(r, SET);
    struct pattern_state *s = &r->p->states[f.start];
    s->inverted = not ;
    s->from = r->p->n_ranges;
    add_class(r, class, strlen(class));
    s->n = (uint16_t)(r->p->n_ranges - s->from);
    return f;
}

/* --- atoms -----------------------------------------------------------------
 */

static struct fragment alternatives(struct pattern_reader *r);

static struct fragment literal(struct pattern_reader *r, uint32_t c)
{
    struct fragment f = single(r, CHAR);
    r->p->states[f.start].c = r->p->ignore_case ? lower(c) : c;
    return f;
}

static struct fragment group(struct pattern_reader *r)
{
    if (take(r, '?') && !take(r, ':'))
        refuse(r, "only (?: may follow a bracket with a question mark");
    if (++r->depth > MAX_DEPTH)
        refuse(r, "the pattern is nested too deeply");
    struct fragment f = alternatives(r);
    r->depth--;
    if (!take(r, ')'))
        refuse(r, "a parenthesis is not closed");
    return f;
}

static struct fragment after_backslash(struct pattern_reader *r)
{
    const char *class = at_end(r) ? NULL : class_of_escape(r->s[r->at]);
    if (!class || r->similar)
        return literal(r, escaped(r));
    return class_set(r, class, r->s[r->at++] < 'a');
}

/* % and _ of SIMILAR TO. */
static struct fragment similar_any(struct pattern_reader *r, bool many)
{
    struct fragment f = single(r, ANY);
    if (!many)
        return f;
    struct fragment s = split(r, f.start);
    patch(r->p, &f, s.start);
    return s;
}

static struct fragment atom(struct pattern_reader *r)
{
    char c = r->s[r->at];
    if (strchr("*+?", c) || (c == '{' && r->n - r->at > 1 &&
                             r->s[r->at + 1] >= '0' && r->s[r->at + 1] <= '9'))
        refuse(r, "a repetition has nothing to repeat");
    if (take(r, '('))
        return group(r);
    if (take(r, '['))
        return set(r);
    if (take(r, '\\'))
        return after_backslash(r);
    if (r->similar && (c == '%' || c == '_'))
        return r->at++, similar_any(r, c == '%');
    if (!r->similar && take(r, '.'))
        return single(r, ANY);
    if (!r->similar && take(r, '^'))
        return single(r, BEGIN);
    if (!r->similar && take(r, '$'))
        return single(r, END);
    return literal(r, next_char(r->s, r->n, &r->at));
}

/* --- repetition ------------------------------------------------------------
 */

struct times {
    unsigned least, most; /* most 0: without limit */
};

static unsigned number(struct pattern_reader *r)
{
    unsigned v = 0;
    while (!at_end(r) && r->s[r->at] >= '0' && r->s[r->at] <= '9' &&
           v <= MAX_REPEAT)
        v = v * 10 + (unsigned)(r->s[r->at++] - '0');
    if (v > MAX_REPEAT)
        refuse(r, "a repetition is larger than 255");
    return v;
}

static bool digit_follows(const struct pattern_reader *r)
{
    return r->n - r->at > 1 && r->s[r->at + 1] >= '0' && r->s[r->at + 1] <= '9';
}

/* {m}, {m,}, {m,n} */
static struct times braces(struct pattern_reader *r)
{
    struct times t;
    r->at++;
    t.least = t.most = number(r);
    if (take(r, ',')) {
        bool open = peek(r, '}');
        t.most = open ? 0 : number(r);
        if (!open && (t.most < t.least || !t.most))
            refuse(r, "a repetition is not valid");
    } else if (!t.least) {
        refuse(r, "a repetition is not valid");
    }
    if (!take(r, '}'))
        refuse(r, "a repetition is not valid");
    return t;
}

static bool repetition(struct pattern_reader *r, struct times *t)
{
    if (take(r, '*'))
        *t = (struct times){0, 0};
    else if (take(r, '+'))
        *t = (struct times){1, 0};
    else if (take(r, '?'))
        *t = (struct times){0, 1};
    else if (peek(r, '{') && digit_follows(r))
        *t = braces(r);
    else
        return false;
    if (!r->similar)
        take(r, '?');
    if (!at_end(r) && strchr("*+?", r->s[r->at]))
        refuse(r, "a repetition of a repetition is not supported");
    return true;
}

/* The atom at `from` once more. */
static struct fragment copy(struct pattern_reader *r, size_t from, size_t to)
{
    r->at = from;
    struct fragment f = atom(r);
    r->at = to;
    return f;
}

static struct fragment optional(struct pattern_reader *r, struct fragment f)
{
    struct fragment s = split(r, f.start);
    join_lists(r->p, &s, &f);
    return s;
}

static struct fragment star(struct pattern_reader *r, struct fragment f)
{
    struct fragment s = split(r, f.start);
    patch(r->p, &f, s.start);
    return s;
}

static struct fragment repeated(struct pattern_reader *r, struct fragment f,
                                struct times t, size_t from, size_t to)
{
    struct fragment all = f;
    unsigned n = 1, most = t.most ? t.most : t.least + 1;
    if (!t.least)
        all = t.most ? optional(r, f) : star(r, f);
    for (; !r->why && n < most; n++) {
        struct fragment next = copy(r, from, to);
        if (n >= t.least)
            next = t.most ? optional(r, next) : star(r, next);
        all = sequence(r, all, next);
    }
    return all;
}

static struct fragment piece(struct pattern_reader *r)
{
    struct times t;
    size_t from = r->at;
    struct fragment f = atom(r);
    size_t after = r->at;
    if (r->why || !repetition(r, &t))
        return f;
    uint8_t kind = r->p->states[f.start].kind;
    if (after == from + 1 && (kind == BEGIN || kind == END))
        refuse(r, "an anchor cannot be repeated");
    size_t to = r->at;
    f = repeated(r, f, t, from, after);
    r->at = to;
    return f;
}

static struct fragment branch(struct pattern_reader *r)
{
    struct fragment f = single(r, JUMP);
    while (!at_end(r) && !peek(r, '|') && !peek(r, ')'))
        f = sequence(r, f, piece(r));
    return f;
}

static struct fragment alternatives(struct pattern_reader *r)
{
    struct fragment f = branch(r);
    while (take(r, '|')) {
        struct fragment other = branch(r);
        uint16_t s = new_state(r, SPLIT);
        r->p->states[s].out = f.start;
        r->p->states[s].out1 = other.start;
        f.start = s;
        join_lists(r->p, &f, &other);
    }
    return f;
}

const char *pattern_compile(struct pattern *p, const char *text, size_t n,
                            enum pattern_syntax syntax, bool ignore_case)
{
    struct pattern_reader r = {
        .p = p, .s = text, .n = n, .similar = syntax == PATTERN_SIMILAR};
    p->n_states = p->n_ranges = 0;
    p->ignore_case = ignore_case;
    p->anywhere = !r.similar;
    struct fragment f = alternatives(&r);
    if (!r.why && r.at < n)
        refuse(&r, "a parenthesis is closed that was not opened");
    if (r.similar && !r.why)
        f = sequence(&r, f, single(&r, END));
    uint16_t match = new_state(&r, MATCH);
    if (!r.why)
        patch(p, &f, match);
    p->start = f.start;
    return r.why;
}

/* --- matching --------------------------------------------------------------
 */

struct set_of_states {
    uint16_t list[PATTERN_STATES];
    uint16_t n;
    bool in[PATTERN_STATES];
};

struct pattern_place {
    bool begin, end;
};

/* The state and all that can be reached without a character. Every state is
 * entered at most once, so the stack holds at most two entries a state. */
static void enter(const struct pattern *p, struct set_of_states *set,
                  uint16_t first, struct pattern_place at)
{
    uint16_t stack[2 * PATTERN_STATES + 1];
    size_t n = 0;
    stack[n++] = first;
    while (n) {
        uint16_t s = stack[--n];
        const struct pattern_state *st = &p->states[s];
        if (set->in[s])
            continue;
        set->in[s] = true;
        set->list[set->n++] = s;
        if (st->kind == SPLIT)
            stack[n++] = st->out1;
        if (st->kind == SPLIT || st->kind == JUMP ||
            (st->kind == BEGIN && at.begin) || (st->kind == END && at.end))
            stack[n++] = st->out;
    }
}

static bool in_ranges(const struct pattern *p, const struct pattern_state *s,
                      uint32_t c)
{
    for (uint16_t i = 0; i < s->n; i++)
        if (c >= p->ranges[s->from + i].lo && c <= p->ranges[s->from + i].hi)
            return true;
    return false;
}

static uint32_t other_case(uint32_t c)
{
    return c >= 'a' && c <= 'z' ? c - 32 : lower(c);
}

static bool accepts(const struct pattern *p, const struct pattern_state *s,
                    uint32_t c)
{
    if (s->kind == ANY)
        return true;
    if (s->kind == CHAR)
        return s->c == (p->ignore_case ? lower(c) : c);
    if (s->kind != SET)
        return false;
    bool in = in_ranges(p, s, c) ||
              (p->ignore_case && in_ranges(p, s, other_case(c)));
    return in != s->inverted;
}

static bool matched(const struct pattern *p, const struct set_of_states *set)
{
    for (uint16_t i = 0; i < set->n; i++)
        if (p->states[set->list[i]].kind == MATCH)
            return true;
    return false;
}

bool pattern_matches(const struct pattern *p, const char *text, size_t n)
{
    struct set_of_states sets[2], *now = &sets[0], *next = &sets[1];
    size_t at = 0;
    memset(now, 0, sizeof *now);
    enter(p, now, p->start, (struct pattern_place){true, n == 0});
    while (!matched(p, now) && at < n) {
        uint32_t c = next_char(text, n, &at);
        struct pattern_place place = {false, at == n};
        memset(next, 0, sizeof *next);
        for (uint16_t i = 0; i < now->n; i++)
            if (accepts(p, &p->states[now->list[i]], c))
                enter(p, next, p->states[now->list[i]].out, place);
        if (p->anywhere)
            enter(p, next, p->start, place);
        struct set_of_states *t = now;
        now = next;
        next = t;
    }
    return matched(p, now);
}
