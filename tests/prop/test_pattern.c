/* base/pattern against the C library's regular expressions on random patterns
 * and texts; SIMILAR TO against its translation; what is refused; time. */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/pattern.h"

static uint64_t seed = 88172645463325252u;

static unsigned draw(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % n);
}

/* --- random patterns --------------------------------------------------------
 */

struct text {
    char s[400];
    size_t n;
};

static void add(struct text *t, const char *s)
{
    size_t n = strlen(s);
    if (t->n + n < sizeof t->s) {
        memcpy(t->s + t->n, s, n + 1);
        t->n += n;
    }
}

static void branches(struct text *t, unsigned depth, bool similar);

static void one(struct text *t, unsigned depth, bool similar)
{
    static const char *const posix[] = {"a", "b",    "c",          ".",  "[ab]",
                                        "C", "[^a]", "[a-b]",      "ab", "[]a]",
                                        "B", "\\.",  "[[:upper:]]"};
    static const char *const sim[] = {"a", "b", "c", "_", "%", "[ab]", "[^a]"};
    unsigned k = draw(depth ? 16 : 13);
    if (k >= 13) {
        add(t, "(");
        branches(t, depth - 1, similar);
        add(t, ")");
    } else {
        add(t, similar ? sim[k % 7] : posix[k]);
    }
}

static void branches(struct text *t, unsigned depth, bool similar)
{
    static const char *const times[] = {"*",     "+",     "?",   "{2}",
                                        "{1,2}", "{0,2}", "{1,}"};
    for (unsigned b = 1 + (draw(3) == 0); b; b--) {
        for (unsigned n = 1 + draw(3); n; n--) {
            size_t from = t->n;
            one(t, depth, similar);
            bool many = t->n == from + 1 && t->s[from] == '%';
            if (!many && draw(3) == 0)
                add(t, times[draw(7)]);
        }
        if (b > 1)
            add(t, "|");
    }
}

static void random_text(struct text *t)
{
    t->n = 0;
    t->s[0] = 0;
    for (unsigned n = draw(7); n; n--)
        add(t, (const char *[]){"a", "b", "c", "B", "."}[draw(5)]);
}

static struct pattern p;

static bool ours(const char *pattern, const char *text,
                 enum pattern_syntax syntax, bool fold)
{
    const char *why =
        pattern_compile(&p, pattern, strlen(pattern), syntax, fold);
    if (why)
        fail_msg("%s: %s", pattern, why);
    return pattern_matches(&p, text, strlen(text));
}

static void agrees(const char *pattern, const char *posix, const char *text,
                   enum pattern_syntax syntax, bool fold)
{
    regex_t re;
    int flags = REG_EXTENDED | REG_NOSUB | (fold ? REG_ICASE : 0);
    assert_int_equal(regcomp(&re, posix, flags), 0);
    bool want = regexec(&re, text, 0, NULL, 0) == 0;
    if (ours(pattern, text, syntax, fold) != want)
        fail_msg("\"%s\" on \"%s\": expected %d", pattern, text, want);
    regfree(&re);
}

static void like_the_c_library(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct text pattern = {.n = 0}, text;
        /* anchors outside only: the C library errs on some inside */
        add(&pattern, draw(3) ? "(" : "^(");
        branches(&pattern, 3, false);
        add(&pattern, draw(3) ? ")" : ")$");
        if (pattern.n > 60)
            continue;
        for (int k = 0; k < 4; k++) {
            random_text(&text);
            agrees(pattern.s, pattern.s, text.s, PATTERN_POSIX, i % 5 == 0);
        }
    }
}

/* % is .*, _ is ., and the whole text must match. */
static void similar_is_a_translation(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        struct text pattern = {.n = 0}, posix = {.n = 0}, text;
        branches(&pattern, 2, true);
        if (pattern.n > 60)
            continue;
        add(&posix, "^(");
        for (size_t k = 0; k < pattern.n; k++) {
            char c[2] = {pattern.s[k], 0};
            add(&posix, c[0] == '%' ? "(.*)" : c[0] == '_' ? "." : c);
        }
        add(&posix, ")$");
        random_text(&text);
        agrees(pattern.s, posix.s, text.s, PATTERN_SIMILAR, false);
    }
}

static void cases(void **state)
{
    (void)state;
    assert_true(ours("^(patient)$", "patient", PATTERN_POSIX, false));
    assert_false(ours("^(patient)$", "patients", PATTERN_POSIX, false));
    assert_true(ours("^PG_", "pg_toast", PATTERN_POSIX, true));
    assert_true(ours("\\d{3}-\\w+?", "x 123-_", PATTERN_POSIX, false));
    assert_false(ours("^\\D+$", "a1", PATTERN_POSIX, false));
    assert_true(ours("^.$", "\xc3\xa4", PATTERN_POSIX, false));
    assert_true(
        ours("^[\xc3\xa0-\xc3\xbf]$", "\xc3\xa4", PATTERN_POSIX, false));
    assert_true(ours("^..$", "\xff\xc3", PATTERN_POSIX, false));
    assert_true(ours("", "", PATTERN_POSIX, false));
    assert_true(ours("a{x", "a{x", PATTERN_POSIX, false));
    assert_true(ours("a.c^$", "a.c^$", PATTERN_SIMILAR, false));
    assert_true(ours("100\\%", "100%", PATTERN_SIMILAR, false));
    assert_false(ours("100\\%", "1000", PATTERN_SIMILAR, false));
}

static void refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"(",        ")",
                                      "a)",       "[a",
                                      "[",        "[z-a]",
                                      "*a",       "a**",
                                      "a{3,2}",   "a{256}",
                                      "a{0}",     "(a)\\1",
                                      "(?=a)",    "\\",
                                      "\\ya",     "[[.a.]]",
                                      "[[:no:]]", "^*",
                                      "a{2",      "(?i)a",
                                      "a|*",      "((((a{9}){9}){9}){9})"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!pattern_compile(&p, bad[i], strlen(bad[i]), PATTERN_POSIX, false))
            fail_msg("%s is accepted", bad[i]);
    char deep[300];
    memset(deep, '(', 100);
    memset(deep + 100, 'a', 1);
    memset(deep + 101, ')', 100);
    assert_non_null(pattern_compile(&p, deep, 201, PATTERN_POSIX, false));
}

/* Backtracking would need 2^n steps for (a|a)*b on n times a. */
static void time_is_linear(void **state)
{
    (void)state;
    enum { N = 50000 };
    char *text = malloc(N + 1);
    assert_non_null(text);
    memset(text, 'a', N);
    text[N] = 0;
    clock_t from = clock();
    assert_false(ours("^((a|a)*(a*)*)*b", text, PATTERN_POSIX, false));
    assert_true((clock() - from) / CLOCKS_PER_SEC < 5);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_the_c_library),
        cmocka_unit_test(similar_is_a_translation),
        cmocka_unit_test(cases),
        cmocka_unit_test(refused),
        cmocka_unit_test(time_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
