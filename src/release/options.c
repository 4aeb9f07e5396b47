/* The table of options: see options.def. */
#include "release/session.h"

#define ROW(kind, field_offset, name, side, arg, section, commands, since,     \
            help, manual)                                                      \
    {name,     kind,  OPTION_##side, arg,    section,                          \
     commands, since, help,          manual, field_offset},
#define AT(field) offsetof(struct options, field)
#define TEXT(field, ...) ROW(OPTION_TEXT, AT(field), __VA_ARGS__)
#define LIST(field, ...) ROW(OPTION_LIST, AT(field), __VA_ARGS__)
#define FLAG(field, ...) ROW(OPTION_FLAG, AT(field), __VA_ARGS__)
#define SELF(field, ...) ROW(OPTION_SELF, 0, __VA_ARGS__)

const struct option_row option_rows[] = {
#include "release/options.def"
};
const size_t n_option_rows = sizeof option_rows / sizeof option_rows[0];
