/*
 * Regular expressions by sets of states: PostgreSQL's `~` and SIMILAR TO for
 * constant patterns, in time proportional to states times characters whatever
 * pattern and text are. No back-references, no looking around; no allocation.
 *
 * Understood: literals, ., [...], [^...], [[:alpha:]] and its kin, \d \w \s
 * \D \W \S, escaped punctuation, \n \r \t, ^ and $, (...), (?:...), |, and
 * * + ? {m} {m,} {m,n}, also followed by ? (which of several matches is taken
 * never matters here). Letters of either case are those of ASCII, as with
 * collation C. What is not understood is refused, never guessed.
 *
 * Needs nothing of the library but this file, so that the service's catalogue
 * can use it too.
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATTERN_STATES = 1000, PATTERN_RANGES = 2000 };

enum pattern_syntax {
    PATTERN_POSIX,  /* ~: matches anywhere in the text */
    PATTERN_SIMILAR /* SIMILAR TO: matches the whole text; % and _ */
};

struct pattern_state {
    uint8_t kind;       /* enum of pattern.c */
    uint16_t out, out1; /* the next states */
    uint16_t from, n;   /* SET: its ranges */
    bool inverted;      /* SET: what is not in them */
    uint32_t c;         /* CHAR */
};

/* About 48 KB; the caller's. */
struct pattern {
    struct pattern_state states[PATTERN_STATES];
    struct pattern_range {
        uint32_t lo, hi;
    } ranges[PATTERN_RANGES];
    uint16_t n_states, n_ranges, start;
    bool ignore_case, anywhere;
};

/* NULL, or why the pattern is refused (a static text, no full stop). */
const char *pattern_compile(struct pattern *p, const char *text, size_t n,
                            enum pattern_syntax syntax, bool ignore_case);
bool pattern_matches(const struct pattern *p, const char *text, size_t n);

#endif
