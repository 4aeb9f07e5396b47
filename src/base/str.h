/*
 * Strings: slices (pointer and length, not terminated) and a builder that
 * grows in an arena. Inside the program texts are slices; NUL-terminated
 * strings exist only at the edge.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/checked.h"

struct str {
    const char *p;
    size_t n;
};

#define STR(lit) ((struct str){(lit), sizeof(lit) - 1})
/* For printf's "%.*s". */
#define PSTR(s) (int)(s).n, (s).p

struct str str_of(const char *cstr); /* borrows; NULL gives the empty slice */
bool str_eq(struct str a, struct str b);
bool str_eq_nocase(struct str a, struct str b); /* ASCII only */
bool str_is(struct str a, const char *cstr);
int str_cmp(struct str a, struct str b); /* bytewise, as collation "C" */
struct str str_trim(struct str s);
uint64_t str_hash(struct str s);
/* A copy with a terminating NUL; p is NULL when memory is out. */
struct str str_copy(struct arena *a, struct str s);
struct str str_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);

/*
 * Builder. Failure is sticky: after an allocation failed `failed` is true,
 * further writes do nothing, and the caller checks once at the end.
 */
struct sb {
    struct arena *arena;
    char *p; /* always NUL-terminated when not NULL */
    size_t n, cap;
    bool failed;
};

void sb_init(struct sb *b, struct arena *a);
void sb_add(struct sb *b, const char *p, size_t n);
void sb_str(struct sb *b, struct str s);
void sb_cstr(struct sb *b, const char *s);
void sb_char(struct sb *b, char c);
void sb_printf(struct sb *b, const char *fmt, ...) PRINTF(2, 3);
void sb_u128(struct sb *b, u128 v);
struct str sb_view(const struct sb *b);

#endif
