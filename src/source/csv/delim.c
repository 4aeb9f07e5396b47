/* Delimited files: the window and the dialect. See delim.h. */
#include "source/csv/delim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "base/lanes.h"
#include "source/source_int.h"

enum { FIRST_CAP = 1 << 20, HEADER_CAP = 1 << 16 };
enum { READ_PAST = LANES_BYTES, SLACK = READ_PAST + 16 };
/* A record beyond this is taken for a file that is not delimited text. */
static const size_t max_cap = (size_t)1 << 28;

static enum status io_error(const struct delim *d, const char *what,
                            struct err *err)
{
    return err_set(err, E_SOURCE, "could not %s file \"%s\": %s", what, d->path,
                   strerror(errno));
}

enum status delim_bad(const struct delim *d, uint64_t line, struct err *err,
                      const char *what)
{
    err_set(err, E_DATA, "%s", what);
    err_in_file(err, d->path, (long)line, 0);
    return E_DATA;
}

static enum status nomem(const struct delim *d, struct err *err)
{
    if (!atomic_load(&d->mem->over_limit))
        return err_nomem(err);
    return err_set(err, E_LIMIT,
                   "reading \"%s\" needs more than the memory limit", d->path);
}

enum status delim_open(struct delim *d, struct mem *m, const char *path,
                       int kept, bool comments, bool header,
                       struct sha256 *hash, struct err *err)
{
    struct stat st;
    *d = (struct delim){.mem = m,
                        .path = path,
                        .comments = comments,
                        .sep = ',',
                        .line = 1,
                        .in = {.fd = -1}};
    int fd = kept >= 0 ? kept : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_error(d, "open", err);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        d->file_size = (uint64_t)st.st_size;
    TRY(unpack_open(&d->in, m, fd, kept >= 0, str_of(path), hash, err));
    d->cap = header ? HEADER_CAP : FIRST_CAP;
    d->buf = mem_alloc(m, d->cap + SLACK);
    enum status s = d->buf ? delim_fill(d, false, err) : nomem(d, err);
    if (s == OK)
        s = file_is_text(path, d->buf, d->filled, err);
    if (s == OK && d->end - d->pos >= 3 && !memcmp(d->buf, "\xEF\xBB\xBF", 3))
        d->pos += 3;
    if (s != OK)
        delim_close(d);
    return s;
}

void delim_close(struct delim *d)
{
    unpack_close(&d->in);
    if (d->buf)
        mem_free(d->mem, d->buf, d->cap + SLACK);
    d->buf = NULL;
}

static enum status grow(struct delim *d, struct err *err)
{
    if (d->cap >= max_cap) {
        delim_bad(d, d->line, err, "record is too long");
        err_hint(err, "Is a closing quote missing?");
        return E_DATA;
    }
    char *p = mem_resize(d->mem, d->buf, d->cap + SLACK, d->cap * 2 + SLACK);
    if (!p)
        return nomem(d, err);
    d->buf = p;
    d->cap *= 2;
    return OK;
}

/* Reads until the buffer is full or the file ends. */
static enum status read_some(struct delim *d, struct err *err)
{
    while (!d->eof && d->filled < d->cap) {
        size_t n;
        enum status s = unpack_read(&d->in, d->buf + d->filled,
                                    d->cap - d->filled, &n, err);
        if (s == E_DATA)
            err_in_file(err, d->path, 0, 0);
        if (s != OK)
            return s == E_SOURCE ? io_error(d, "read", err) : s;
        d->eof = n == 0;
        d->filled += n;
    }
    return OK;
}

static void drop_consumed(struct delim *d)
{
    memmove(d->buf, d->buf + d->pos, d->filled - d->pos);
    d->filled -= d->pos;
    d->end -= d->pos;
    d->pos = 0;
}

enum status delim_fill(struct delim *d, bool need_more, struct err *err)
{
    size_t had;
    drop_consumed(d);
    had = d->end;
    for (;;) {
        if (d->filled == d->cap)
            TRY(grow(d, err));
        TRY(read_some(d, err));
        if (d->eof) {
            /* A last line without line end gets one (in the slack). */
            if (d->filled && d->buf[d->filled - 1] != '\n')
                d->buf[d->filled++] = '\n';
            d->end = d->filled;
            break;
        }
        const char *nl = memrchr(d->buf, '\n', d->filled);
        d->end = nl ? (size_t)(nl - d->buf) + 1 : 0;
        if (d->end > had)
            break;
    }
    memset(d->buf + d->filled, 0, READ_PAST); /* read with the last line */
    if (need_more && d->end == had)
        return delim_bad(d, d->line, err, "quoted field is not closed");
    return OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Length of the line at pos if it is to be skipped, else 0. */
static size_t skippable(const struct delim *d)
{
    const char *p = d->buf + d->pos;
    const char *nl = memchr(p, '\n', d->end - d->pos);
    size_t n = (size_t)(nl - p) + 1;
    if (d->comments && *p == '#')
        return n;
    if (d->comments)
        while (*p == ' ')
            p++;
    if (*p == '\r')
        p++;
    return *p == '\n' ? n : 0;
}

enum status delim_skip(struct delim *d, struct err *err)
{
    for (;;) {
        if (d->pos == d->end) {
            TRY(delim_fill(d, false, err));
            if (d->pos == d->end)
                return OK;
        }
        size_t n = skippable(d);
        if (!n)
            return OK;
        d->pos += n;
        d->line++;
    }
}

/* A field in quotes, p behind the opening one; p is moved behind the closing
 * one, or to `end` when it is open. */
static struct str take_quoted(struct arena *a, const char **p, const char *end,
                              uint64_t *lines)
{
    struct sb b;
    sb_init(&b, a);
    const char *q = *p;
    for (; q < end; q++) {
        if (*q == '"' && q[1] != '"')
            break;
        if (*q == '"')
            q++;
        *lines += *q == '\n';
        sb_char(&b, *q);
    }
    *p = q < end ? q + 1 : end;
    if (b.failed)
        return (struct str){NULL, 0};
    return b.n ? sb_view(&b) : STR("");
}

static bool is_end(const char *p)
{
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

static bool is_sep(char c, char sep)
{
    return c == sep || (sep == ' ' && c == '\t');
}

static struct str take_plain(const char **p, char sep)
{
    const char *q = *p;
    while (!is_sep(*q, sep) && !is_end(q))
        q++;
    struct str s = {q > *p ? *p : NULL, (size_t)(q - *p)};
    *p = q;
    return s;
}

static void skip_blanks(const char **p, char sep)
{
    while (sep == ' ' && is_blank(**p))
        ++*p;
}

/* *open: the window ends inside a quoted field. */
static enum status split_at(struct delim *d, struct arena *a, char sep,
                            field_list *out, size_t *next, uint64_t *lines,
                            bool *open, struct err *err)
{
    const char *p = d->buf + d->pos, *end = d->buf + d->end;
    out->n = 0;
    *lines = 1;
    *open = false;
    skip_blanks(&p, sep);
    for (;;) {
        struct str s;
        if (*p == '"') {
            p++;
            s = take_quoted(a, &p, end, lines);
            if (!s.p)
                return err_nomem(err);
            *open = p == end;
            if (*open)
                return OK;
            if (!is_sep(*p, sep) && !is_end(p))
                return delim_bad(d, d->line + *lines - 1, err,
                                 "unexpected character after closing quote");
        } else {
            s = take_plain(&p, sep);
        }
        if (!VEC_PUSH(a, out, s))
            return err_nomem(err);
        skip_blanks(&p, sep);
        if (is_end(p))
            break;
        p += sep != ' ';
    }
    p += *p == '\r';
    *next = (size_t)(p + 1 - d->buf);
    return OK;
}

enum status delim_split(struct delim *d, struct arena *a, char sep,
                        field_list *out, size_t *next, uint64_t *lines,
                        struct err *err)
{
    bool open;
    TRY(split_at(d, a, sep, out, next, lines, &open, err));
    while (open) {
        TRY(delim_fill(d, true, err));
        TRY(split_at(d, a, sep, out, next, lines, &open, err));
    }
    return OK;
}

enum status delim_sniff(struct delim *d, struct arena *a, size_t n,
                        struct err *err)
{
    static const char seps[] = DELIM_SEPARATORS;
    field_list f = {0};
    size_t next;
    uint64_t lines;
    char best = ',';
    size_t best_n = 1;
    for (size_t i = 0; seps[i]; i++) {
        if (n <= 1 && seps[i] == ' ')
            continue; /* one column may hold blanks */
        enum status s = delim_split(d, a, seps[i], &f, &next, &lines, err);
        if (s == E_DATA)
            continue; /* the loader reports it, with the chosen separator */
        TRY(s);
        if (n ? f.n == n : f.n > 1) {
            d->sep = seps[i];
            return OK;
        }
        if (f.n > best_n) {
            best = seps[i];
            best_n = f.n;
        }
    }
    d->sep = best;
    return OK;
}

/* Behind the field at p, which `sep` (no blank) or the end ends; NULL: a quote
 * is open, or something stands behind it. */
static const char *behind_field(const char *p, const char *end, char sep,
                                bool *open)
{
    if (*p != '"') {
        while (*p != sep && !is_end(p))
            p++;
        return p;
    }
    for (p++; p < end && (*p != '"' || p[1] == '"'); p++)
        p += *p == '"';
    *open = p >= end;
    return !*open && (p[1] == sep || is_end(p + 1)) ? p + 1 : NULL;
}

bool delim_prefers_other(const char *p, const char *end, char sep, size_t n)
{
    for (const char *other = DELIM_SEPARATORS; *other != sep; other++) {
        bool open = false;
        size_t found = 1;
        const char *q = behind_field(p, end, *other, &open);
        while (q && *q == *other && found <= n) {
            q = behind_field(q + 1, end, *other, &open);
            found++;
        }
        /* blanks take a tab for one of theirs: the same cells, if it is alone
         */
        bool alike =
            sep == ' ' && *other == '\t' && !memchr(p, ' ', (size_t)(end - p));
        if (found <= n && (open || (q && found == n && !alike)))
            return true;
    }
    return false;
}
