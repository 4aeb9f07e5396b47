/*
 * Regular expressions and texts from anywhere: whatever compiles matches in
 * bounded time, a pattern in a group is the same pattern, and case is ignored
 * where that is asked. The first byte chooses syntax and case; the pattern ends
 * with the first line.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static bool compiles(struct pattern *p, const char *text, size_t n,
                     enum pattern_syntax syntax, bool ignore_case)
{
    const char *why = pattern_compile(p, text, n, syntax, ignore_case);
    if (why && (!*why || why[strlen(why) - 1] == '.'))
        defect("a refusal without a reason");
    return !why;
}

/* (P) is P. */
static void check_group(const char *text, size_t n, enum pattern_syntax syntax,
                        bool ignore_case, const char *subject, size_t m,
                        bool matched)
{
    static struct pattern again;
    char *grouped = malloc(n + 2);
    if (!grouped)
        return;
    grouped[0] = '(';
    memcpy(grouped + 1, text, n);
    grouped[n + 1] = ')';
    if (compiles(&again, grouped, n + 2, syntax, ignore_case) &&
        pattern_matches(&again, subject, m) != matched)
        defect("a group matches otherwise");
    free(grouped);
}

static void check_case(const struct pattern *p, const char *subject, size_t m,
                       bool matched)
{
    char *other = malloc(m + 1);
    for (size_t i = 0; other && i < m; i++) {
        unsigned char c = (unsigned char)subject[i];
        other[i] =
            (char)(c < 0x80 ? (islower(c) ? toupper(c) : tolower(c)) : c);
    }
    if (other && pattern_matches(p, other, m) != matched)
        defect("case matters");
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pattern p;
    if (!size)
        return 0;
    enum pattern_syntax syntax = data[0] & 1 ? PATTERN_SIMILAR : PATTERN_POSIX;
    bool ignore_case = data[0] & 2;
    const char *text = (const char *)data + 1;
    const char *end = memchr(text, '\n', size - 1);
    size_t n = end ? (size_t)(end - text) : size - 1;
    const char *subject = end ? end + 1 : text + n;
    size_t m = size - 1 - n - (end != NULL);
    if (m > 2000) /* states times characters: bounded, but slow to fuzz */
        m = 2000;
    if (!compiles(&p, text, n, syntax, ignore_case))
        return 0;
    bool matched = pattern_matches(&p, subject, m);
    check_group(text, n, syntax, ignore_case, subject, m, matched);
    if (ignore_case)
        check_case(&p, subject, m, matched);
    return 0;
}
