/*
 * Rows of a delimited file into the store.
 *
 * The hot loop: one pass over the bytes, integers go straight from digits to
 * the column's array, nothing is allocated and no field is copied, except for
 * quoted fields with quotes inside. Ends of other fields are looked for sixteen
 * bytes at a time. The loop is compiled five times, once for each separator.
 * It needs no bounds check, because the window ends with a line end; only
 * quoted fields look at the end, and a record whose quote is still open there
 * is parsed again from its start with a larger window.
 */
#include "source/csv/delim.h"

#include <stdio.h>
#include <string.h>
#include "base/lanes.h"
#include "base/sha256.h"
#include "source/source_int.h"
#include "store/packed.h"

enum { UNWANTED = UINT32_MAX };

struct feed {
    struct delim *d;
    struct store_loader *l;
    const uint32_t *to; /* source column -> loader column or UNWANTED */
    size_t n_fields;
    const struct str *nulls; /* markers of NULL */
    size_t n_nulls;
    struct arena scratch; /* unescaped quoted fields */
    size_t scratch_used;
    uint64_t extra_lines; /* line ends inside the current record */
    bool open;            /* the window ended inside quotes */
    bool guessed;         /* nobody said what separates */
    bool doubtful;        /* guessed, and this window has other separators */
    struct err *err;
};

static enum status bad_count(struct feed *f, size_t found, bool more)
{
    char what[96];
    snprintf(what, sizeof what, "expected %zu column%s, found %s%zu",
             f->n_fields, f->n_fields == 1 ? "" : "s", more ? "at least " : "",
             found);
    return delim_bad(f->d, f->d->line + f->extra_lines, f->err, what);
}

/* Removes the doubling of quotes. */
static enum status unescape(struct feed *f, struct str *s)
{
    if (f->scratch_used > (1 << 20)) {
        arena_fini(&f->scratch);
        f->scratch_used = 0;
    }
    char *out = arena_alloc(&f->scratch, s->n);
    size_t n = 0;
    if (!out)
        return store_nomem(f->l->st->mem, f->err);
    f->scratch_used += s->n;
    for (size_t i = 0; i < s->n; i++) {
        out[n++] = s->p[i];
        i += s->p[i] == '"';
    }
    *s = (struct str){out, n};
    return OK;
}

/* p is behind the opening quote; moved behind the closing one. */
static enum status quoted_field(struct feed *f, const char **p, uint32_t to)
{
    const char *end = f->d->buf + f->d->end, *start = *p, *q = *p;
    bool doubled = false;
    for (;;) {
        q = memchr(q, '"', (size_t)(end - q));
        if (!q) {
            f->open = true;
            return OK;
        }
        if (q[1] != '"')
            break;
        doubled = true;
        q += 2;
    }
    struct str s = {start, (size_t)(q - start)};
    *p = q + 1;
    for (const char *nl = start; (nl = memchr(nl, '\n', (size_t)(q - nl)));
         nl++)
        f->extra_lines++;
    if (to == UNWANTED)
        return OK;
    if (doubled)
        TRY(unescape(f, &s));
    return cell_text(f->l, to, s, f->err);
}

#define INLINE static inline __attribute__((always_inline))

INLINE bool ends_field(const char *p, char sep)
{
    return *p == sep || (sep == ' ' && *p == '\t') || *p == '\n' ||
           (*p == '\r' && p[1] == '\n');
}

/* Up to 18 digits, no zero before others: certainly canonical and 64 bits.
 * All else takes the general way. */
INLINE bool fast_int(const char **p, char sep, int64_t *out)
{
    const char *q = *p;
    bool neg = *q == '-';
    q += neg;
    const char *digits = q;
    uint64_t v = 0;
    unsigned d;
    while ((d = (unsigned)(unsigned char)*q - '0') <= 9 && q < digits + 18) {
        v = v * 10 + d;
        q++;
    }
    if (q == digits || (*digits == '0' && (neg || q > digits + 1)) ||
        !ends_field(q, sep))
        return false;
    *out = neg ? -(int64_t)v : (int64_t)v;
    *p = q;
    return true;
}

static enum status plain_field(struct feed *f, const char *start, const char *q,
                               uint32_t to)
{
    struct str s = {start, (size_t)(q - start)};
    for (size_t i = 0; i < f->n_nulls; i++)
        if (str_eq(s, f->nulls[i]))
            return cell_null(f->l, to, f->err);
    return s.n ? cell_text(f->l, to, s, f->err) : cell_null(f->l, to, f->err);
}

/* The first place from q on that ends a field, sixteen bytes at a time. */
INLINE const char *field_end(const char *q, char sep)
{
    for (;;) {
        unsigned hit = lanes_bytes(q, sep, sep == ' ' ? '\t' : sep, '\n', '\r');
        if (!hit) {
            q += LANES_BYTES;
            continue;
        }
        q += __builtin_ctz(hit);
        if (ends_field(q, sep))
            return q;
        q++; /* a CR inside the field */
    }
}

/* A short decimal; false: something else, or it goes on. */
INLINE bool fast_decimal(const struct feed *f, const char **p, char sep,
                         uint64_t *packed)
{
    const char *q = *p;
    if (!packed_scan(&q, f->d->buf + f->d->end, packed) || !ends_field(q, sep))
        return false;
    *p = q;
    return true;
}

INLINE enum status field(struct feed *f, const char **p, char sep, uint32_t to)
{
    struct store_loader *l = f->l;
    if (to != UNWANTED && l->cols[to].plain_int && !f->n_nulls &&
        fast_int(p, sep, &l->cols[to].i64[l->n_rows]))
        return OK;
    uint64_t packed;
    if (to != UNWANTED && l->cols[to].packs && !f->n_nulls &&
        fast_decimal(f, p, sep, &packed))
        return cell_packed(l, to, packed, f->err);
    const char *start = *p;
    if (*start == '"') {
        ++*p;
        TRY(quoted_field(f, p, to));
        if (!f->open && !ends_field(*p, sep))
            return delim_bad(f->d, f->d->line + f->extra_lines, f->err,
                             "unexpected character after closing quote");
        return OK;
    }
    *p = field_end(start, sep);
    return to == UNWANTED ? OK : plain_field(f, start, *p, to);
}

INLINE void blanks(const char **p, char sep)
{
    while (sep == ' ' && (**p == ' ' || **p == '\t'))
        ++*p;
}

INLINE bool at_end(const char *p)
{
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

/* One record at *p; moves *p behind it unless f->open. */
INLINE enum status record(struct feed *f, const char **p, char sep)
{
    const char *q = *p;
    TRY(loader_room(f->l, f->err));
    blanks(&q, sep);
    for (size_t i = 0; i < f->n_fields; i++) {
        if (i) {
            if (sep != ' ' && *q == sep)
                q++;
            else if (sep != ' ' || at_end(q))
                return bad_count(f, i, false);
        }
        TRY(field(f, &q, sep, f->to[i]));
        if (f->open) {
            loader_restart_row(f->l);
            return OK;
        }
        blanks(&q, sep);
    }
    if (!at_end(q))
        return bad_count(f, f->n_fields + 1, true);
    q += *q == '\r';
    *p = q + 1;
    return loader_end_row(f->l, f->err);
}

/* Is the line at p empty or a comment? Then its end, else NULL. */
INLINE const char *skip_line(const struct delim *d, const char *p, char sep)
{
    const char *q = p;
    if (d->comments && *p == '#')
        return (const char *)memchr(p, '\n', (size_t)(d->buf + d->end - p)) + 1;
    if (d->comments || sep == ' ')
        while (*q == ' ' || (*q == '\t' && sep != '\t'))
            q++;
    q += *q == '\r';
    return *q == '\n' ? q + 1 : NULL;
}

/* PRIVACY: a separator that the first record alone had chosen would let one row
 * decide what all others mean. Where nobody named it each record must choose
 * the same by itself; a file with one that does not is malformed. */
static enum status check_guess(struct feed *f, const char *start,
                               const char *end)
{
    if (f->open || !delim_prefers_other(start, end, f->d->sep, f->n_fields))
        return OK;
    delim_bad(f->d, f->d->line, f->err,
              "another separator fits this line better than the others");
    err_hint(f->err, "Name the separator in the policy: delimiter: \"%c\".",
             f->d->sep);
    return E_DATA;
}

static bool is_doubtful(const struct feed *f)
{
    const struct delim *d = f->d;
    bool has = f->n_fields == 1 && d->sep != *DELIM_SEPARATORS;
    for (const char *s = DELIM_SEPARATORS; f->guessed && *s != d->sep; s++)
        has = has || memchr(d->buf + d->pos, *s, d->end - d->pos);
    return f->guessed && has;
}

/* All records of the window. */
INLINE enum status window(struct feed *f, char sep)
{
    struct delim *d = f->d;
    const char *end = d->buf + d->end, *p = d->buf + d->pos, *next, *start;
    enum status s = OK;
    f->open = false;
    f->doubtful = is_doubtful(f);
    while (p < end && !f->open) {
        if ((unsigned char)*p <= '#' && (next = skip_line(d, p, sep))) {
            p = next;
            d->line++;
            continue;
        }
        f->extra_lines = 0;
        start = p;
        s = record(f, &p, sep);
        if (s == OK && f->doubtful)
            s = check_guess(f, start, p);
        if (s != OK)
            return s;
        if (!f->open)
            d->line += 1 + f->extra_lines;
    }
    d->pos = (size_t)(p - d->buf);
    return OK;
}

static enum status comma_window(struct feed *f)
{
    return window(f, ',');
}

static enum status tab_window(struct feed *f)
{
    return window(f, '\t');
}

static enum status semicolon_window(struct feed *f)
{
    return window(f, ';');
}

static enum status bar_window(struct feed *f)
{
    return window(f, '|');
}

static enum status blank_window(struct feed *f)
{
    return window(f, ' ');
}

/* Room for all rows, if they are as long as those of the first window. */
static void reserve_rows(struct feed *f)
{
    const struct delim *d = f->d;
    uint64_t left = d->filled - d->pos;
    uint64_t done = d->in.bytes_read - (d->in.state ? 0 : left);
    if (done && d->file_size > done)
        loader_reserve(f->l, (size_t)((double)f->l->n_rows *
                                      (double)d->file_size / (double)done));
}

static enum status all_windows(struct feed *f, struct ticker *t)
{
    struct delim *d = f->d;
    bool first = true;
    enum status (*one)(struct feed *) = d->sep == ','    ? comma_window
                                        : d->sep == '\t' ? tab_window
                                        : d->sep == ';'  ? semicolon_window
                                        : d->sep == '|'  ? bar_window
                                                         : blank_window;
    while (d->pos < d->end) {
        TRY(one(f));
        if (first)
            reserve_rows(f);
        first = false;
        TRY(ticker_tick(t, d->in.bytes_read, f->err));
        TRY(delim_fill(d, f->open, f->err));
    }
    return OK;
}

/* Finds the separator and steps over the header, if there is one: always, or
 * when the first record is just the declared names. */
static enum status first_record(struct feed *f, const struct src_table *t,
                                struct arena *a)
{
    struct delim *d = f->d;
    field_list names = {0};
    size_t next;
    uint64_t lines;
    TRY(delim_skip(d, f->err));
    if (d->pos == d->end)
        return OK;
    if (t->form && t->form->header == 0 && t->form->delimiter) {
        d->sep = t->form->delimiter;
        return OK;
    }
    if (t->form && t->form->delimiter)
        d->sep = t->form->delimiter;
    else
        TRY(delim_sniff(d, a, t->n_cols, f->err));
    f->guessed = !t->has_header && !(t->form && t->form->delimiter);
    if (t->form && t->form->header == 0)
        return OK;
    enum status s = delim_split(d, a, d->sep, &names, &next, &lines, f->err);
    if (s == E_DATA && !t->has_header)
        return OK;
    TRY(s);
    bool header = names.n == t->n_cols;
    for (size_t i = 0; header && i < names.n; i++)
        header = names.p[i].p &&
                 str_eq_nocase(str_trim(names.p[i]), t->cols[i].name);
    if (t->has_header && !header)
        return delim_bad(d, d->line, f->err,
                         "the header line changed since the file was opened");
    if (header) {
        f->guessed = false;
        d->pos = next;
        d->line += lines;
    }
    return OK;
}

static enum status load_with(struct feed *f, const struct src_table *t,
                             const struct progress *p)
{
    struct arena a;
    struct ticker tick;
    arena_init(&a, f->l->st->mem);
    arena_init(&f->scratch, f->l->st->mem);
    ticker_init(&tick, p, f->d->path, f->d->file_size);
    enum status s = first_record(f, t, &a);
    if (s == OK)
        s = all_windows(f, &tick);
    arena_fini(&f->scratch);
    arena_fini(&a);
    return s;
}

enum status file_load(struct source *src, const struct src_table *t,
                      struct store_loader *l, const struct progress *p,
                      struct err *err)
{
    struct delim d;
    uint32_t *to = NEWS(&l->arena, uint32_t, t->n_cols);
    if (!to)
        return store_nomem(src->mem, err);
    loader_guard(l);
    for (size_t i = 0; i < t->n_cols; i++) {
        to[i] = UNWANTED;
        for (uint32_t c = 0; c < l->n_cols; c++)
            if (l->cols[c].index == t->to[i])
                to[i] = c;
    }
    struct sha256 h;
    sha256_init(&h);
    TRY(delim_open(&d, src->mem, t->path.p, t->kept, t->comments, false,
                   t->expected ? &h : NULL, err));
    struct feed f = {
        .d = &d, .l = l, .to = to, .n_fields = t->n_cols, .err = err};
    if (t->form) {
        f.nulls = t->form->nulls;
        f.n_nulls = t->form->n_nulls;
    }
    enum status s = load_with(&f, t, p);
    delim_close(&d);
    return s == OK && t->expected ? source_as_expected(t, &h, err) : s;
}

enum status file_header(struct arena *a, const struct src_table *t,
                        struct str **names, size_t *n, struct err *err)
{
    struct delim d;
    field_list f = {0};
    size_t next;
    uint64_t lines;
    char delimiter = t->form ? t->form->delimiter : 0;
    TRY(delim_open(&d, a->mem, t->path.p, t->kept, t->comments, true, NULL,
                   err));
    enum status s = delim_skip(&d, err);
    if (s == OK && d.pos == d.end)
        s = delim_bad(&d, 1, err, "the file has no header line");
    if (delimiter)
        d.sep = delimiter;
    else if (s == OK)
        s = delim_sniff(&d, a, 0, err);
    if (s == OK)
        s = delim_split(&d, a, d.sep, &f, &next, &lines, err);
    for (size_t i = 0; s == OK && i < f.n; i++) {
        f.p[i] = str_copy(a, str_trim(f.p[i]));
        if (!f.p[i].p)
            s = err_nomem(err);
        else if (!f.p[i].n)
            s = delim_bad(&d, d.line, err,
                          "a column in the header has no name");
    }
    delim_close(&d);
    if (s == E_DATA && err)
        err->status = E_SOURCE; /* a header is no row */
    s = s == E_DATA ? E_SOURCE : s;
    *names = f.p;
    *n = f.n;
    return s;
}
