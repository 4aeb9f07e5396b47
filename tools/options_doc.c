/*
 * Prints what is made from src/release/options.def, the one table of options:
 * `man`, the option sections of the manual page; `header`, the list in
 * dpcount.h. Compiled and run by tools/options-doc.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum kind { IS_TEXT, IS_LIST, IS_FLAG, IS_SELF };

static const struct row {
    enum kind kind;
    const char *name, *side, *arg, *section, *commands, *since, *help, *manual;
} rows[] = {
#define ROW(kind, name, side, ...) {kind, name, #side, __VA_ARGS__},
#define TEXT(field, ...) ROW(IS_TEXT, __VA_ARGS__)
#define LIST(field, ...) ROW(IS_LIST, __VA_ARGS__)
#define FLAG(field, ...) ROW(IS_FLAG, __VA_ARGS__)
#define SELF(field, ...) ROW(IS_SELF, __VA_ARGS__)
#include "release/options.def"
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* Text for troff: dashes that are typed, lines that begin with a dot. */
static void roff(const char *s)
{
    bool begin = true;
    for (; *s; s++) {
        if (begin && (*s == '.' || *s == '\''))
            fputs("\\&", stdout);
        begin = *s == '\n';
        if (*s == '-')
            fputs("\\-", stdout);
        else if (*s == '\\')
            fputs("\\e", stdout);
        else
            putchar(*s);
    }
}

static void man_option(const struct row *r)
{
    printf(".TP\n.B \\-\\-");
    roff(r->name);
    if (r->arg) {
        printf(" \\fI");
        roff(r->arg);
        printf("\\fR");
    }
    putchar('\n');
    roff(r->manual);
    if (!strcmp(r->side, "OWNER"))
        fputs(" (owner)", stdout);
    putchar('\n');
}

/* Sections in the order in which they first occur. */
static void man(void)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first &= strcmp(rows[k].section, rows[i].section) != 0;
        if (!first)
            continue;
        printf(".SH %s OPTIONS\n", rows[i].section);
        for (size_t k = i; k < N_ROWS; k++)
            if (!strcmp(rows[k].section, rows[i].section))
                man_option(&rows[k]);
    }
}

/* " *   name         words", wrapped at 79 characters. */
static void header_line(const char *name, const char *help, const char *end)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s", help, end);
    int col = printf(" *   %-14s", name);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        int n = (int)strlen(word);
        if (col + n > 78) {
            putchar('\n');
            col = printf(" *   %14s", "");
        }
        col += printf("%s%s", col > 19 ? " " : "", word);
    }
    putchar('\n');
}

static void header_side(const char *side, const char *title)
{
    printf(" *\n * %s\n", title);
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].kind != IS_SELF && !strcmp(rows[i].side, side))
            header_line(rows[i].name, rows[i].help,
                        rows[i].kind == IS_FLAG ? " (yes or no)" : "");
}

static void header(void)
{
    header_side("OWNER", "The owner's:");
    header_side("ANALYST", "The analyst's:");
    header_side("CALL", "Arguments of calls, in neither:");
    printf(" *\n");
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "man"))
        man();
    else if (argc == 2 && !strcmp(argv[1], "header"))
        header();
    else
        return fputs("usage: options_doc man|header\n", stderr), 2;
    return 0;
}
