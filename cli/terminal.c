/*
 * What people read on a terminal: lines wrap at its width, under the column
 * that they began in, and labels are bold unless NO_COLOR is set. Anything but
 * a terminal gets the text as it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

enum { LABEL = 12, LEAST_WIDTH = 40, USUAL_WIDTH = 80 };

static size_t terminal_width(FILE *to)
{
    struct winsize w;
    if (ioctl(fileno(to), TIOCGWINSZ, &w) || !w.ws_col)
        return USUAL_WIDTH;
    return w.ws_col < LEAST_WIDTH ? LEAST_WIDTH : w.ws_col;
}

static bool wants_color(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && *no) && term && *term && strcmp(term, "dumb");
}

/* Columns that n bytes of UTF-8 take, one for each character. */
static size_t columns(const char *p, size_t n)
{
    size_t c = 0;
    for (size_t i = 0; i < n; i++)
        c += ((unsigned char)p[i] & 0xc0) != 0x80;
    return c;
}

/* "error       half of ...": a word, blanks up to column 12, a text. */
static bool has_label(const char *p, size_t n)
{
    return n > LABEL && p[0] != ' ' && p[LABEL - 1] == ' ' && p[LABEL] != ' ' &&
           memchr(p, ' ', LABEL) && strspn(p, "abcdefghijklmnopqrstuvwxyz") > 3;
}

static size_t indent_of(const char *p, size_t n, bool label)
{
    size_t i = label ? LABEL : 0;
    while (!label && i < n && p[i] == ' ')
        i++;
    return i < n ? i : 0;
}

/* The rest of a line, broken at blanks. A table has two blanks in a row between
 * its columns and stays as it is. */
static void print_words(FILE *to, const char *p, size_t n, size_t indent,
                        size_t width)
{
    size_t room = width > indent ? width - indent : 1;
    while (columns(p, n) > room) {
        size_t cut = 0;
        for (size_t i = 1; i < n && columns(p, i) <= room; i++)
            if (p[i] == ' ')
                cut = i;
        if (!cut)
            break;
        fprintf(to, "%.*s\n%*s", (int)cut, p, (int)indent, "");
        p += cut + 1;
        n -= cut + 1;
    }
    fwrite(p, 1, n, to);
    putc('\n', to);
}

static void print_line(FILE *to, const char *p, size_t n, size_t width,
                       bool color)
{
    bool label = has_label(p, n);
    size_t indent = indent_of(p, n, label);
    bool table = memmem(p + indent, n - indent, "  ", 2) != NULL;
    if (label && color)
        fprintf(to, "\033[1m%.*s\033[0m", (int)indent, p);
    else
        fwrite(p, 1, indent, to);
    print_words(to, p + indent, n - indent, indent, table ? SIZE_MAX : width);
}

void terminal_print(FILE *to, const char *text)
{
    if (!isatty(fileno(to))) {
        fputs(text, to);
        return;
    }
    size_t width = terminal_width(to);
    bool color = wants_color();
    while (*text) {
        size_t n = strcspn(text, "\n");
        print_line(to, text, n, width, color);
        text += n + (text[n] == '\n');
    }
}
