/*
 * Delimited files against a reader that goes byte by byte over the whole text
 * and knows no windows: random texts of the characters that matter, all three
 * separators, also laid across the end of the first window. The same rows, or
 * the same kind of error in the same line. And no line decides what separates
 * the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "harness/universe.h"
#include "source/source.h"

enum { COLUMNS = 3, WINDOW = 1 << 20 };

struct result {
    enum status status;
    long line;        /* of an error */
    const char *what; /* how its message begins */
    struct sb rows;   /* cells as N, or T length : bytes */
};

static void put_cell(struct sb *b, bool null, const char *p, size_t n)
{
    char head[32];
    snprintf(head, sizeof head, null ? "N" : "T%zu:", n);
    sb_cstr(b, head);
    for (size_t i = 0; !null && i < n; i++)
        sb_char(b, p[i]);
}

/* --- byte by byte ----------------------------------------------------------*/

struct reader {
    const char *p, *end; /* end[-1] is a line end */
    char sep;
    bool named; /* the first line has the names, and so says what separates */
    long line;
    struct result *out;
};

static bool fails(struct reader *r, long line, const char *what)
{
    r->out->status = E_DATA;
    r->out->line = line;
    r->out->what = what;
    return false;
}

static bool at_end(const char *p)
{
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

static bool at_sep(const struct reader *r, const char *p)
{
    return *p == r->sep || (r->sep == ' ' && *p == '\t');
}

static void blanks(struct reader *r)
{
    while (r->sep == ' ' && (*r->p == ' ' || *r->p == '\t'))
        r->p++;
}

/* *lines: ends of lines inside the record so far. */
static bool quoted(struct reader *r, struct sb *row, long *lines)
{
    char text[4096];
    size_t n = 0;
    long inside = 0;
    for (r->p++;; r->p++) {
        if (r->p == r->end)
            return fails(r, r->line, "quoted field is not closed");
        if (*r->p == '"' && r->p[1] != '"')
            break;
        r->p += *r->p == '"';
        inside += *r->p == '\n';
        text[n++] = *r->p;
        assert_true(n < sizeof text);
    }
    r->p++;
    *lines += inside;
    put_cell(row, false, text, n);
    if (!at_sep(r, r->p) && !at_end(r->p))
        return fails(r, r->line + *lines, "unexpected character");
    return true;
}

static bool plain(struct reader *r, struct sb *row)
{
    const char *start = r->p;
    while (!at_sep(r, r->p) && !at_end(r->p))
        r->p++;
    put_cell(row, r->p == start, start, (size_t)(r->p - start));
    return true;
}

/* One character after the other: 0 before a field, 1 in a plain one, 2 in
 * quotes, 3 behind a quote in quotes. Another separator fits if it ends the
 * record with all fields, or leaves quotes open. */
static bool fits(const char *p, const char *end, char sep)
{
    int fields = 1, state = 0;
    for (; p < end; p++)
        if (state == 2 || (state == 0 && *p == '"'))
            state = state == 0 ? 2 : *p == '"' ? 3 : 2;
        else if (state == 3 && *p == '"')
            state = 2;
        else if (*p == sep)
            fields++, state = 0;
        else if (at_end(p))
            return fields == COLUMNS;
        else if (state == 3)
            return false;
        else
            state = 1;
    return state == 2 && fields <= COLUMNS;
}

static bool other_fits(const struct reader *r, const char *start)
{
    bool alike = r->sep == ' '; /* tabs are blanks, if there are no others */
    for (const char *p = start; p < r->p; p++)
        alike &= *p != ' ';
    for (const char *other = "\t,;|"; *other && *other != r->sep; other++)
        if (fits(start, r->p, *other) && !(alike && *other == '\t'))
            return true;
    return false;
}

static bool record(struct reader *r)
{
    long lines = 0;
    const char *start = r->p;
    blanks(r);
    for (int i = 0; i < COLUMNS; i++) {
        if (i && at_end(r->p))
            return fails(r, r->line + lines, "expected 3 columns, found");
        if (i && r->sep != ' ')
            r->p++;
        if (!(*r->p == '"' ? quoted(r, &r->out->rows, &lines)
                           : plain(r, &r->out->rows)))
            return false;
        blanks(r);
    }
    if (!at_end(r->p))
        return fails(r, r->line + lines, "expected 3 columns, found at least");
    r->p += *r->p == '\r' ? 2 : 1;
    if (!r->named && other_fits(r, start))
        return fails(r, r->line, "another separator");
    r->line += 1 + lines;
    return true;
}

/* Empty lines, and blank ones where blanks mean nothing. */
static bool skipped(struct reader *r, bool comments)
{
    const char *q = r->p;
    if (comments && *q == '#') {
        while (*q != '\n')
            q++;
    } else {
        while ((comments || r->sep == ' ') &&
               (*q == ' ' || (*q == '\t' && r->sep != '\t')))
            q++;
        if (!at_end(q))
            return false;
        q += *q == '\r';
    }
    r->p = q + 1;
    r->line++;
    return true;
}

static void read_bytes(struct arena *a, struct str text, char sep,
                       struct result *out)
{
    struct sb whole;
    sb_init(&whole, a);
    sb_init(&out->rows, a);
    sb_str(&whole, text);
    if (text.p[text.n - 1] != '\n')
        sb_char(&whole, '\n');
    struct reader r = {.p = whole.p,
                       .end = whole.p + whole.n,
                       .sep = sep,
                       .line = 1,
                       .out = out};
    out->status = OK;
    r.named = *r.p == 'k';
    if (r.named) {
        r.p += 2 * COLUMNS;
        r.line++;
    }
    while (r.p < r.end)
        if (!skipped(&r, true) && !record(&r))
            return;
}

/* --- the loader ------------------------------------------------------------*/

static void load(struct arena *a, struct str text, struct result *out,
                 struct err *err)
{
    char spec[80];
    struct schema s;
    struct source *src = NULL;
    struct store *st = NULL;
    int fd = memfd_create("rows", 0);
    assert_true(fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n);
    snprintf(spec, sizeof spec, "t(k,l,m)=/proc/self/fd/%d", fd);
    struct str one = str_of(spec);
    struct source_spec sp = {.tables = &one, .n_tables = 1};
    schema_init(&s, a);
    sb_init(&out->rows, a);
    out->status = source_open(a->mem, &sp, &s, &src, err);
    if (out->status == OK)
        out->status = store_new(a->mem, &s, &st, err);
    if (out->status == OK)
        out->status = source_load(src, NULL, st, NULL, err);
    out->line = err->line;
    const struct store_table *t = out->status == OK ? &st->tables[0] : NULL;
    for (size_t row = 0; t && row < t->n_rows; row++)
        for (size_t c = 0; c < t->n_cols; c++) {
            struct value v = column_value(&t->cols[c], row);
            put_cell(&out->rows, v.is_null, v.s.p, v.s.n);
        }
    store_free(st);
    source_close(src);
    close(fd);
}

/* --- texts -----------------------------------------------------------------*/

/* A field that is right, mostly: then whole files are. */
static void put_field(struct sb *b, char sep, uint64_t *seed)
{
    static const char in_quotes[] = "ab,\t \r\n\"#\x80\xff";
    static const char bare[] = "aabbb\"#\r\x8d\x8a\xac\x89\xa0\x0c\x0b\x2d";
    uint64_t n = universe_random(seed, universe_random(seed, 4) ? 9 : 40);
    bool quotes = universe_random(seed, 4) == 0;
    if (quotes)
        sb_char(b, '"');
    else if (n || sep == ' ')
        sb_char(b, 'a');
    for (uint64_t i = 0; i < n; i++) {
        char c = quotes ? in_quotes[universe_random(seed, sizeof in_quotes)]
                        : bare[universe_random(seed, sizeof bare)];
        sb_char(b, c);
        if (quotes && c == '"')
            sb_char(b, '"');
    }
    if (quotes)
        sb_char(b, '"');
}

static void put_row(struct sb *b, char sep, uint64_t *seed)
{
    for (int i = 0; i < COLUMNS; i++) {
        for (uint64_t k = i ? 1 + (sep == ' ') * universe_random(seed, 3) : 0;
             k; k--)
            sb_char(b, sep == ' ' && universe_random(seed, 2) ? '\t' : sep);
        put_field(b, sep, seed);
    }
    if (universe_random(seed, 2))
        sb_char(b, '\r');
    sb_char(b, '\n');
}

/* Some bytes over others: most of what can be wrong. */
static void damage(struct sb *b, size_t from, uint64_t *seed)
{
    static const char any[] = "a\"\"\r\n\n, \t#";
    for (uint64_t k = universe_random(seed, 3); k && b->n > from; k--)
        b->p[from + universe_random(seed, b->n - from)] =
            any[universe_random(seed, sizeof any)];
}

/* `before` bytes of rows that are all right, then random ones. */
static void make_text(struct sb *b, char sep, size_t before, uint64_t *seed)
{
    bool named = universe_random(seed, 2);
    const char first[] = {named ? 'k' : 'x', sep, named ? 'l' : 'y', sep,
                          named ? 'm' : 'z', '\n'};
    sb_str(b, (struct str){first, sizeof first});
    while (b->n + 70 < before) {
        for (int i = 0; i < 3; i++) {
            sb_cstr(b, "aaaabbbbaaaabbbbaaaa");
            sb_char(b, i < 2 ? sep : '\n');
        }
    }
    size_t from = b->n;
    for (uint64_t rows = universe_random(seed, 8); rows; rows--) {
        put_row(b, sep, seed);
        if (universe_random(seed, 6) == 0)
            sb_cstr(b, universe_random(seed, 2) ? " \t\r\n" : "#a,\"\n");
    }
    if (universe_random(seed, 2))
        damage(b, from, seed);
    if (universe_random(seed, 4) == 0 && b->n > from)
        b->n--; /* no end of line */
}

struct tally {
    unsigned good, bad;
};

static void one(char sep, size_t before, uint64_t *seed, struct tally *n)
{
    struct mem m;
    struct arena a;
    struct sb text;
    struct err err = {0};
    struct result want = {0}, got = {0};
    mem_init(&m, 0);
    arena_init(&a, &m);
    sb_init(&text, &a);
    make_text(&text, sep, before, seed);
    read_bytes(&a, sb_view(&text), sep, &want);
    load(&a, sb_view(&text), &got, &err);
    if (got.status != want.status || got.line != want.line)
        fail_msg("%d in line %ld, not %d in line %ld (%s) of:\n%.*s",
                 (int)got.status, got.line, (int)want.status, want.line,
                 err.message, (int)(text.n < 500 ? text.n : 500), text.p);
    if (want.status == OK)
        assert_true(str_eq(sb_view(&got.rows), sb_view(&want.rows)));
    else
        assert_memory_equal(err.message, want.what, strlen(want.what));
    n->good += want.status == OK;
    n->bad += want.status != OK;
    arena_fini(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

static void small_files(void **state)
{
    uint64_t seed = 3;
    struct tally n = {0};
    (void)state;
    for (int i = 0; i < 6000; i++)
        one(",\t "[i % 3], 0, &seed, &n);
    printf("%u files read, %u refused\n", n.good, n.bad);
    assert_true(n.good > 2000);
    assert_true(n.bad > 500);
}

static void across_windows(void **state)
{
    uint64_t seed = 8;
    struct tally n = {0};
    (void)state;
    for (int i = 0; i < 24; i++)
        one(",\t "[i % 3], WINDOW - universe_random(&seed, 200), &seed, &n);
    printf("%u files read, %u refused\n", n.good, n.bad);
    assert_true(n.good > 6);
}

/* PRIVACY: rows that two files have in common mean the same in both, or one of
 * the files is malformed: whatever the row is that they differ in. */
static void lines_by_themselves(void **state)
{
    static const char *const lines[] = {
        "a,b;c,d\n",    "a;b;c\n",          "a,b,c\n",         "a;b,c;d\n",
        "a\tb\tc\n",    "a,b\tc,d\te\n",    "\"a,b\",c;d,e\n", "a b c\n",
        "1;2,5;3\n",    "1,5;2,5;3\n",      "x|y|z\n",         "x|y,z|w,v\n",
        "a\t\"b,c,d\n", "\"b\",c,\"d;\"\n", "a;\"b;c,d,e\n"};
    enum { LINES = sizeof lines / sizeof *lines };
    unsigned both = 0, one = 0;
    (void)state;
    for (size_t k = 0; k < LINES * LINES * LINES; k++) {
        struct mem m;
        struct arena a;
        struct result r[2] = {0};
        struct err err = {0};
        struct str rest[2] = {0};
        mem_init(&m, 0);
        arena_init(&a, &m);
        for (size_t side = 0; side < 2; side++) {
            const char *first = lines[side ? k / LINES % LINES : k % LINES];
            const char *shared = lines[k / LINES / LINES];
            struct result alone = {0};
            load(&a, str_printf(&a, "%s%s", first, shared), &r[side], &err);
            load(&a, str_of(first), &alone, &err);
            if (r[side].status != OK)
                continue;
            assert_int_equal(alone.status, OK);
            rest[side] = sb_view(&r[side].rows);
            rest[side].p += alone.rows.n;
            rest[side].n -= alone.rows.n;
        }
        if (r[0].status == OK && r[1].status == OK)
            assert_true(str_eq(rest[0], rest[1]));
        both += r[0].status == OK && r[1].status == OK;
        one += (r[0].status == OK) != (r[1].status == OK);
        arena_fini(&a);
    }
    printf("%u pairs read, of %u one\n", both, one);
    assert_true(both > 50 && one > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_files),
        cmocka_unit_test(across_windows),
        cmocka_unit_test(lines_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
