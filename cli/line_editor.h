/*
 * libedit, found when the shell opens on a terminal; no other command should
 * spend the time to load it. Where there is none, lines are read as the
 * terminal gives them, without a history.
 */
#ifndef CLI_LINE_EDITOR_H
#define CLI_LINE_EDITOR_H

#include <stdbool.h>

struct line_editor {
    char *(*readline)(const char *prompt);
    int (*add_history)(const char *line);
    int (*read_history)(const char *file);
    int (*write_history)(const char *file);
    void (*using_history)(void);
};
extern struct line_editor line_editor;

/* False, and the table stays empty, where there is no libedit. */
bool line_editor_open(void);

#endif
