/*
 * Delimited files: a window over the file that always ends with a line end,
 * and the dialect found in the first record.
 *
 * Read with read(2), not mapped: a file that shrinks while it is read is then
 * a short file, not a SIGBUS, and pipes work too. Files whose names end in .gz
 * or .zst are unpacked (unpack.h).
 *
 * Dialect: separator tab, comma, semicolon, bar, or runs of blanks; records end
 * with LF or CRLF; a field that starts with a double quote ends with one, ""
 * inside is one quote, and may hold separators and line ends; other quotes are
 * plain characters. An empty field without quotes is NULL. Empty lines are
 * skipped, and with `comments` also lines whose first character is #. A byte
 * order mark is skipped. Bytes are otherwise taken as they are.
 */
#ifndef SOURCE_DELIM_H
#define SOURCE_DELIM_H

#include "base/str.h"
#include "base/vec.h"
#include "source/csv/unpack.h"

struct delim {
    struct mem *mem;
    const char *path;
    struct unpack in;
    char *buf; /* cap bytes and SLACK more; LANES_BYTES behind the last one
                * that was filled are there to be read */
    size_t cap;
    size_t pos, end; /* unread: [pos, end), and buf[end - 1] is '\n' */
    size_t filled;   /* bytes in buf; those from end on are half a line */
    bool eof;
    bool comments;
    char sep;           /* ',' '\t' ';' '|' or ' ' */
    uint64_t line;      /* of the record at pos, from 1 */
    uint64_t file_size; /* 0 when not a plain file */
};

/* A field of a split record; p NULL is NULL. */
typedef VEC(struct str) field_list;

/* kept: the file, open already, or -1. header: only the first record is wanted.
 * hash: NULL, or what gets all bytes that are read. */
struct sha256;
enum status delim_open(struct delim *d, struct mem *m, const char *path,
                       int kept, bool comments, bool header,
                       struct sha256 *hash, struct err *err) WARN_UNUSED;
void delim_close(struct delim *d);
/*
 * Makes at least one more line than before available at pos; what was
 * consumed (up to pos) is dropped. Nothing left: pos == end. `need_more` says
 * that the lines at pos are half a record (a quote is open).
 */
enum status delim_fill(struct delim *d, bool need_more,
                       struct err *err) WARN_UNUSED;
/* Skips empty lines and comments, filling as needed, so that a record starts
 * at pos (or pos == end: no more). */
enum status delim_skip(struct delim *d, struct err *err) WARN_UNUSED;
/* Splits the record at pos by `sep` without consuming it. Calls delim_fill
 * when a quote is open at the end. *next is the position behind it, *lines
 * the number of its line ends. For the first record only: not fast. */
enum status delim_split(struct delim *d, struct arena *a, char sep,
                        field_list *out, size_t *next, uint64_t *lines,
                        struct err *err) WARN_UNUSED;
/* Chooses the separator by the record at pos: the first of DELIM_SEPARATORS
 * that gives n fields (0: any number). */
#define DELIM_SEPARATORS "\t,;| "
enum status delim_sniff(struct delim *d, struct arena *a, size_t n,
                        struct err *err) WARN_UNUSED;
/* Would the record from p to end, which `sep` is about to take, have taken
 * another separator by itself: does one before `sep` give n fields, and others,
 * or leave a quote open? */
bool delim_prefers_other(const char *p, const char *end, char sep, size_t n);
/* E_DATA at a line of this file. */
enum status delim_bad(const struct delim *d, uint64_t line, struct err *err,
                      const char *what);

#endif
