/*
 * The anchor: a file of the owner, best append-only and elsewhere, that gets
 * the head of every event as a line "N HASH" before anything is drawn. An old
 * state of the ledger put back in its place lacks the largest of them; nothing
 * else sees that where the file kept its inode.
 *
 * Several processes append, so lines need not rise; a last line that was torn
 * by a crash is passed over, and anything else is an error. Cost of opening:
 * one pass over the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/db.h"

enum { LINE_MOST = 18 + SHA256_HEX + 1 };

static enum status anchor_error(const char *what, struct err *err)
{
    err_set(err, E_LEDGER_IO, "could not %s the anchor of the ledger", what);
    err_detail(err, "%s.", strerror(errno));
    return E_LEDGER_IO;
}

static enum status write_all(int fd, struct str text, struct err *err)
{
    ssize_t n = write(fd, text.p, text.n); /* one write: lines stay whole */
    if (n == (ssize_t)text.n)
        return fsync(fd) ? anchor_error("write", err) : OK;
    errno = n < 0 ? errno : ENOSPC;
    return anchor_error("write", err);
}

static enum status lines_from(struct ledger *l, struct arena *a, uint64_t from,
                              struct str *out, struct err *err)
{
    struct sb b;
    sqlite3_stmt *st = NULL;
    bool row = false;
    sb_init(&b, a);
    TRY(db_prepare(l, "SELECT n, hash FROM event WHERE n >= ? ORDER BY n", &st,
                   err));
    sqlite3_bind_int64(st, 1, (int64_t)from);
    for (;;) {
        TRY(db_step(l, st, &row, err));
        if (!row)
            break;
        sb_printf(&b, "%lld %.*s\n", (long long)sqlite3_column_int64(st, 0),
                  PSTR(db_text(st, 1)));
    }
    db_done(l, st);
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

/* A torn line of a process that died must not swallow ours. */
static bool is_torn(int fd)
{
    char last;
    off_t n = lseek(fd, 0, SEEK_END);
    return n > 0 && pread(fd, &last, 1, n - 1) == 1 && last != '\n';
}

enum status anchor_append(struct ledger *l, uint64_t from, struct err *err)
{
    struct arena a;
    struct str text;
    if (!l->anchor[0])
        return OK;
    int fd = open(l->anchor,
                  O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return anchor_error("open", err);
    arena_init(&a, l->mem);
    enum status s = lines_from(l, &a, from, &text, err);
    if (s == OK && text.n && is_torn(fd))
        s = write_all(fd, STR("\n"), err);
    if (s == OK && text.n)
        s = write_all(fd, text, err);
    arena_fini(&a);
    close(fd);
    return s;
}

/* --- reading
 * --------------------------------------------------------------------- */

/* A whole line, without its end. Lines that are torn and were then closed by
 * somebody else are no heads; they cannot be larger than a whole one that the
 * same process would have written again. */
static bool read_line(struct str line, struct ledger_head *out)
{
    char text[LINE_MOST];
    struct err ignored;
    if (line.n >= sizeof text)
        return false;
    memcpy(text, line.p, line.n);
    char *blank = memchr(text, ' ', line.n);
    if (!blank)
        return false;
    *blank = ':';
    return ledger_head_read((struct str){text, line.n}, out, &ignored) == OK;
}

static void take_line(struct str line, struct ledger_head *best)
{
    struct ledger_head h;
    if (!read_line(line, &h))
        return;
    if (h.n > best->n)
        *best = h;
    else if (h.n == best->n && strcmp(h.hash, best->hash) != 0)
        best->hash[0] = 'x'; /* two ledgers wrote here: neither may go on */
}

/* The largest head of the file; n = 0: none. */
static enum status read_anchor(FILE *f, struct ledger_head *best,
                               struct err *err)
{
    char line[LINE_MOST];
    size_t n = 0;
    int c;
    *best = (struct ledger_head){0};
    while ((c = getc(f)) != EOF) {
        if (c != '\n') {
            if (n < sizeof line)
                line[n++] = (char)c;
            continue;
        }
        take_line((struct str){line, n}, best);
        n = 0;
    }
    return ferror(f) ? anchor_error("read", err) : OK;
}

static enum status largest(struct ledger *l, bool may_miss,
                           struct ledger_head *best, struct err *err)
{
    int fd = open(l->anchor, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    *best = (struct ledger_head){0};
    if (!f) {
        if (fd >= 0)
            close(fd);
        return may_miss && errno == ENOENT ? OK : anchor_error("open", err);
    }
    enum status s = read_anchor(f, best, err);
    (void)fclose(f);
    return s;
}

enum status anchor_check(struct ledger *l, struct err *err)
{
    struct ledger_head best;
    if (!l->anchor[0])
        return OK;
    TRY(largest(l, false, &best, err));
    if (best.n)
        return ledger_verify_head(l, &best, err);
    /* PRIVACY: one that was emptied proves nothing */
    err_set(err, E_ROLLBACK, "the anchor has no head of this ledger");
    err_hint(err, "The owner begins one with: dpcount budget adopt --ledger "
                  "FILE --anchor FILE");
    return E_ROLLBACK;
}

enum status anchor_adopt(struct ledger *l, bool has_chain, bool *begins,
                         struct err *err)
{
    struct ledger_head best = {0};
    if (l->anchor[0])
        TRY(largest(l, true, &best, err));
    *begins = !best.n;
    if (best.n && has_chain)
        return ledger_verify_head(l, &best, err);
    return best.n ? err_set(err, E_VALUE, "the anchor is another ledger's")
                  : OK;
}
