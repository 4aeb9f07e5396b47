/*
 * Prints docs/errors.md from src/base/errors.def, the one table of codes.
 * Compiled and run by tools/errors-doc; a test compares its output.
 */
#include <stdio.h>

enum { ANALYST, OWNER };

static const struct row {
    int number;
    const char *code;
    int exit;
    int visibility;
    const char *meaning;
} rows[] = {
#define ERR(name, number, code, exit, visibility, meaning)                     \
    {number, code, exit, visibility, meaning},
#include "base/errors.def"
#undef ERR
};

static const char before[] =
    "# Errors\n"
    "\n"
    "This page is made from `src/base/errors.def` by `tools/errors-doc`; a "
    "test fails when\nthe two differ.\n"
    "\n"
    "An error has a code, a message, and where they help a detail, a hint and "
    "a place (byte\nposition in the query, or file, line and column). With "
    "`--format json` it is the object\n"
    "`{\"error\": {\"code\": ..., \"message\": ..., \"detail\": ..., "
    "\"hint\": ..., \"position\": ...}}`\non standard output. Scripts may rely "
    "on the code and on the exit status; the texts may change.\n"
    "\n"
    "An error can be an output that nobody paid for. The last column says who "
    "sees the whole\nstory: where it says *owner*, the error depends on rows "
    "of private tables, and the\nanalyst's commands (`analyze`, `quote`, "
    "`release`, `budget show`) give one fixed text.\n"
    "\n"
    "| code | number | exit status | meaning | told in full to |\n"
    "|---|--:|--:|---|---|\n";

int main(void)
{
    fputs(before, stdout);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("| `%s` | %d | %d | %s | %s |\n", rows[i].code, rows[i].number,
               rows[i].exit, rows[i].meaning,
               rows[i].visibility == OWNER ? "owner" : "everyone");
    return 0;
}
