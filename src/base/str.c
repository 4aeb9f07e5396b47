/* Strings: see str.h. */
#include "base/str.h"

#include <stdio.h>
#include <string.h>

struct str str_of(const char *cstr)
{
    return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

bool str_is(struct str a, const char *cstr)
{
    return str_eq(a, str_of(cstr));
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c)
        return c;
    return (a.n > b.n) - (a.n < b.n);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct str str_trim(struct str s)
{
    while (s.n && is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

uint64_t str_hash(struct str s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h * 0x9e3779b97f4a7c15u;
}

struct str str_copy(struct arena *a, struct str s)
{
    char *p = arena_strdup(a, s.p, s.n);
    return (struct str){p, p ? s.n : 0};
}

static struct str vprintf_str(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    struct str s = {NULL, 0};
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (p) {
        vsnprintf(p, (size_t)n + 1, fmt, again);
        s = (struct str){p, (size_t)n};
    }
    va_end(again);
    return s;
}

struct str str_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = vprintf_str(a, fmt, ap);
    va_end(ap);
    return s;
}

void sb_init(struct sb *b, struct arena *a)
{
    *b = (struct sb){.arena = a};
}

static bool sb_room(struct sb *b, size_t n)
{
    if (b->failed)
        return false;
    if (b->p && b->cap - b->n > n)
        return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap - b->n <= n) {
        if (cap > SIZE_MAX / 2) {
            b->failed = true;
            return false;
        }
        cap *= 2;
    }
    char *p = arena_alloc(b->arena, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    if (b->p)
        memcpy(p, b->p, b->n);
    b->p = p;
    b->cap = cap;
    return true;
}

void sb_add(struct sb *b, const char *p, size_t n)
{
    if (!sb_room(b, n))
        return;
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
}

void sb_str(struct sb *b, struct str s)
{
    sb_add(b, s.p, s.n);
}

void sb_cstr(struct sb *b, const char *s)
{
    sb_add(b, s, strlen(s));
}

void sb_char(struct sb *b, char c)
{
    sb_add(b, &c, 1);
}

void sb_printf(struct sb *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && sb_room(b, (size_t)n)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
    va_end(ap);
}

void sb_u128(struct sb *b, u128 v)
{
    char buf[U128_DIGITS];
    sb_cstr(b, u128_text(v, buf));
}

struct str sb_view(const struct sb *b)
{
    return (struct str){b->p, b->n};
}
