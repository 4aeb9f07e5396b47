/*
 * Text operations with collation "C": bytes compare, letters are ASCII for
 * case, positions and lengths count UTF-8 characters (a byte that starts no
 * character counts as part of the one before it, as stored texts are valid).
 *
 * A result of more than EXPR_MAX_TEXT bytes is NULL, and building stops there.
 *
 * LIKE is matched with one backtracking point, the last %: O(text * pattern).
 */
#include "cq/expr_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_start(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

/* Byte length of the character at s.p[i]. */
static size_t char_len(struct str s, size_t i)
{
    size_t n = 1;
    while (i + n < s.n && !is_start(s.p[i + n]))
        n++;
    return n;
}

static size_t count_chars(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i += char_len(s, i))
        n++;
    return n;
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static char raise(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

/* One pattern element at p[*j]: advances it past the element. */
static bool match_one(struct str s, size_t *i, struct str p, size_t *j,
                      struct str escape, bool icase)
{
    if (*i >= s.n)
        return false;
    size_t at = *j;
    if (escape.n && p.n - at > escape.n &&
        memcmp(p.p + at, escape.p, escape.n) == 0) {
        at += escape.n;
    } else if (p.p[at] == '_') {
        *i += char_len(s, *i);
        ++*j;
        return true;
    }
    char a = s.p[*i], b = p.p[at];
    if (icase ? fold(a) != fold(b) : a != b)
        return false;
    ++*i;
    *j = at + 1;
    return true;
}

/* `_` as the escape character, or `%`, lose their meaning as wildcards. */
static bool is_wild(struct str p, size_t j, char wild, struct str escape)
{
    return p.p[j] == wild && !(escape.n == 1 && escape.p[0] == wild);
}

bool expr_text_like(struct str s, struct str p, struct str escape, bool icase)
{
    size_t i = 0, j = 0, star = SIZE_MAX, from = 0;
    while (i < s.n || j < p.n) {
        if (j < p.n && is_wild(p, j, '%', escape)) {
            star = ++j;
            from = i;
            continue;
        }
        if (j < p.n && i < s.n && match_one(s, &i, p, &j, escape, icase))
            continue;
        if (star == SIZE_MAX || from >= s.n)
            return false;
        from += char_len(s, from);
        i = from;
        j = star;
    }
    return true;
}

static struct value make_text(struct str s)
{
    return s.n > EXPR_MAX_TEXT ? value_null() : value_text(s);
}

bool expr_text_unary(struct arena *a, enum expr_op op, const struct value *v,
                     struct value *out)
{
    *out = value_null();
    if (v->type != T_TEXT)
        return true;
    if (op == X_LENGTH) {
        *out = value_int((int64_t)count_chars(v->s));
        return true;
    }
    if (v->s.n > EXPR_MAX_TEXT)
        return true;
    char *p = arena_strdup(a, v->s.p, v->s.n);
    for (size_t i = 0; p && i < v->s.n; i++)
        p[i] = op == X_LOWER ? fold(p[i]) : raise(p[i]);
    *out = make_text((struct str){p, v->s.n});
    return p != NULL;
}

/* Characters from position `from` (from 1; may be below) up to, without,
 * `to`. */
static struct str slice(struct str s, int64_t from, int64_t to)
{
    int64_t pos = 1;
    size_t start = s.n, end = s.n;
    for (size_t i = 0; i < s.n; i += char_len(s, i), pos++) {
        if (pos >= from && start == s.n)
            start = i;
        if (pos >= to) {
            end = i;
            break;
        }
    }
    if (start > end)
        start = end;
    return (struct str){s.p + start, end - start};
}

static void substr(const struct value *v, uint32_t n, struct value *out)
{
    int64_t to = INT64_MAX;
    if (v[0].type != T_TEXT || v[1].type != T_INT)
        return;
    if (n > 2) {
        if (v[2].type != T_INT || v[2].i < 0)
            return;
        if (__builtin_add_overflow(v[1].i, v[2].i, &to))
            to = INT64_MAX;
    }
    *out = make_text(slice(v[0].s, v[1].i, to));
}

/* The characters that TRIM takes off. Text and set can both be long, so single
 * bytes are looked up in a table. */
struct trim_set {
    struct str chars;
    bool single[256];
};

static void trim_set_init(struct trim_set *t, struct str chars)
{
    *t = (struct trim_set){.chars = chars};
    for (size_t i = 0; i < chars.n; i += char_len(chars, i))
        if (char_len(chars, i) == 1)
            t->single[(unsigned char)chars.p[i]] = true;
}

/* Is the character s.p[i..i+n) one of them? */
static bool in_set(struct str s, size_t i, size_t n, const struct trim_set *t)
{
    struct str set = t->chars;
    if (n == 1)
        return t->single[(unsigned char)s.p[i]];
    for (size_t j = 0; j < set.n; j += char_len(set, j))
        if (char_len(set, j) == n && memcmp(set.p + j, s.p + i, n) == 0)
            return true;
    return false;
}

static struct str trim(struct str s, struct str chars, bool left, bool right)
{
    struct trim_set set;
    trim_set_init(&set, chars);
    while (left && s.n && in_set(s, 0, char_len(s, 0), &set)) {
        size_t n = char_len(s, 0);
        s.p += n;
        s.n -= n;
    }
    while (right && s.n) {
        size_t i = s.n - 1;
        while (i && !is_start(s.p[i]))
            i--;
        if (!in_set(s, i, s.n - i, &set))
            break;
        s.n = i;
    }
    return s;
}

static const char *find(struct str s, size_t from, struct str part)
{
    return part.n && s.n - from >= part.n
               ? memmem(s.p + from, s.n - from, part.p, part.n)
               : NULL;
}

static bool replace(struct arena *a, struct str s, struct str from,
                    struct str to, struct value *out)
{
    struct sb b;
    size_t i = 0;
    sb_init(&b, a);
    for (const char *at; (at = find(s, i, from));) {
        size_t skip = (size_t)(at - s.p) - i;
        if (b.n + skip + to.n > EXPR_MAX_TEXT)
            return true; /* NULL */
        sb_add(&b, s.p + i, skip);
        sb_str(&b, to);
        i += skip + from.n;
    }
    if (b.n + (s.n - i) > EXPR_MAX_TEXT)
        return true;
    if (i < s.n)
        sb_add(&b, s.p + i, s.n - i);
    *out = make_text(b.n ? sb_view(&b) : STR(""));
    return !b.failed;
}

static bool concat(struct arena *a, struct str l, struct str r,
                   struct value *out)
{
    struct sb b;
    if (l.n > EXPR_MAX_TEXT || r.n > EXPR_MAX_TEXT - l.n)
        return true; /* NULL */
    sb_init(&b, a);
    sb_str(&b, l);
    sb_str(&b, r);
    *out = make_text(b.n ? sb_view(&b) : STR(""));
    return !b.failed;
}

static int64_t position(struct str s, struct str part)
{
    if (part.n == 0)
        return 1;
    const char *at = s.n ? memmem(s.p, s.n, part.p, part.n) : NULL;
    if (!at)
        return 0;
    return (int64_t)count_chars((struct str){s.p, (size_t)(at - s.p)}) + 1;
}

bool expr_text_op(struct arena *a, enum expr_op op, const struct value *v,
                  uint32_t n, struct value *out)
{
    *out = value_null();
    if (op == X_SUBSTR) {
        substr(v, n, out);
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        if (v[i].type != T_TEXT)
            return true;
    struct str set = n > 1 ? v[1].s : STR(" ");
    switch (op) {
    case X_CONCAT:
        return concat(a, v[0].s, v[1].s, out);
    case X_REPLACE:
        return replace(a, v[0].s, v[1].s, v[2].s, out);
    case X_POSITION:
        *out = value_int(position(v[0].s, v[1].s));
        return true;
    case X_TRIM:
    case X_LTRIM:
    case X_RTRIM:
        *out = make_text(trim(v[0].s, set, op != X_RTRIM, op != X_LTRIM));
        return true;
    default:
        return true;
    }
}

bool expr_text_of(struct arena *a, const struct value *v, struct value *out)
{
    *out = value_null();
    struct str s = v->s;
    switch (v->type) {
    case T_TEXT:
    case T_UUID:
        break;
    case T_BOOL:
        s = v->i ? STR("true") : STR("false");
        break;
    case T_INT:
        s = str_printf(a, "%" PRId64, v->i);
        break;
    case T_DEC: /* a wide integer; fractions are refused by the front end */
        break;
    default:
        return true;
    }
    *out = make_text(s);
    return s.p != NULL;
}
