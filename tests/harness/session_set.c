/* See session_set.h. */
#include "harness/session_set.h"

enum status session_set(struct session *s, struct str name, struct str value)
{
    enum option_side side = OPTION_OWNER;
    for (size_t i = 0; i < n_option_rows; i++)
        if (str_is(name, option_rows[i].name))
            side = option_rows[i].side;
    return option_set(&s->opt, &s->arena, side, name, value, &s->err);
}
