/* The table of options, and setting one: see options.def. */
#include "base/bytes.h"
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

static const struct option_row *find(struct str name)
{
    for (size_t i = 0; i < n_option_rows; i++)
        if (option_rows[i].kind != OPTION_SELF &&
            str_is(name, option_rows[i].name))
            return &option_rows[i];
    return NULL;
}

/* PRIVACY: what is the owner's decides what is promised; a question that could
 * say it would decide that itself. */
static enum status other_side(const struct option_row *o, struct err *err)
{
    static const char *const whose[] = {
        [OPTION_OWNER] = "the owner's: a question cannot set it",
        [OPTION_ANALYST] = "the analyst's: it belongs to a question",
        [OPTION_CALL] = "an argument of calls",
    };
    return err_set(err, E_USAGE, "option \"%s\" is %s", o->name,
                   whose[o->side]);
}

static enum status set_flag(const struct option_row *o, bool *flag,
                            struct str value, struct err *err)
{
    bool yes = str_is(value, "yes"), no = str_is(value, "no");
    if (!yes && !no)
        return err_set(err, E_USAGE, "option \"%s\" takes yes or no", o->name);
    *flag = yes;
    return OK;
}

enum status option_set(struct options *o, struct arena *a,
                       enum option_side side, struct str name, struct str value,
                       struct err *err)
{
    const struct option_row *row = find(name);
    if (!row)
        return err_set(err, E_USAGE, "unknown option \"%.*s\"", PSTR(name));
    if (row->side != side)
        return other_side(row, err);
    void *field = (char *)o + row->offset;
    if (row->kind == OPTION_FLAG)
        return set_flag(row, field, value, err);
    struct str copy = str_copy(a, value);
    if (!copy.p)
        return err_nomem(err);
    if (row->kind == OPTION_TEXT)
        *(struct str *)field = copy;
    else if (!VEC_PUSH(a, (str_list *)field, copy))
        return err_nomem(err);
    return OK;
}

/* --- as bytes ------------------------------------------------------------- */

static bool travels(const struct option_row *row)
{
    return row->kind != OPTION_SELF && row->side != OPTION_OWNER;
}

void option_write(struct sb *b, const struct options *o)
{
    for (size_t i = 0; i < n_option_rows; i++) {
        const struct option_row *row = &option_rows[i];
        const void *field = (const char *)o + row->offset;
        if (!travels(row))
            continue;
        if (row->kind == OPTION_FLAG) {
            bytes_put_u64(b, *(const bool *)field);
        } else if (row->kind == OPTION_TEXT) {
            bytes_put_str(b, *(const struct str *)field);
        } else {
            const str_list *l = field;
            bytes_put_u64(b, l->n);
            for (size_t k = 0; k < l->n; k++)
                bytes_put_str(b, l->p[k]);
        }
    }
}

static void read_list(str_list *l, struct bytes *b)
{
    size_t n = bytes_count(b, sizeof(uint64_t));
    *l = (str_list){0};
    for (size_t k = 0; !b->failed && k < n; k++)
        b->failed |= !VEC_PUSH(b->arena, l, bytes_str(b));
}

enum status option_read(struct options *o, struct bytes *b, struct err *err)
{
    for (size_t i = 0; i < n_option_rows; i++) {
        const struct option_row *row = &option_rows[i];
        void *field = (char *)o + row->offset;
        if (!travels(row))
            continue;
        if (row->kind == OPTION_FLAG)
            *(bool *)field = bytes_u64(b);
        else if (row->kind == OPTION_TEXT)
            *(struct str *)field = bytes_str(b);
        else
            read_list(field, b);
    }
    return b->failed ? err_internal(err, "options that are not whole") : OK;
}
