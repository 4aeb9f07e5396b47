/*
 * Cells: one value into one column, converted to the column's declared type;
 * what is not of that type is NULL. PRIVACY: a cell's meaning is its own; see
 * the notes in store.h and builder.h.
 */
#include "store/builder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "store/packed.h"

/* More than value_parse asks for beyond the text. */
enum { SCRATCH_USES = 4096, PARSE_ROOM = 16384 };

static struct arena *scratch(struct store_loader *l)
{
    if (++l->scratch_uses >= SCRATCH_USES) {
        l->scratch_uses = 0;
        arena_fini(&l->scratch);
    }
    return &l->scratch;
}

static void mark(struct store_loader *l, struct builder *b, enum cell_state s)
{
    b->state = s;
    l->odd = true;
}

static enum status put_null(struct store_loader *l, struct builder *b,
                            struct err *err)
{
    size_t row = l->n_rows;
    if (b->mode == B_GUARD)
        return OK;
    if (!b->nulls) {
        b->nulls = mem_alloc(l->st->mem, null_words(l->cap) * sizeof *b->nulls);
        if (!b->nulls)
            return store_nomem(l->st->mem, err);
        b->null_cap = l->cap;
    }
    b->nulls[row >> 6] |= (uint64_t)1 << (row & 63);
    if (b->mode == B_I64)
        b->i64[row] = 0;
    else if (b->mode == B_I32)
        b->i32[row] = 0;
    else if (b->mode == B_F64)
        b->f64[row] = 0;
    else
        b->code[row] = 0;
    return OK;
}

enum status cell_null(struct store_loader *l, size_t i, struct err *err)
{
    struct builder *b = &l->cols[i];
    if (b->column->not_null)
        mark(l, b, CELL_MISSING);
    return put_null(l, b, err);
}

enum status cell_ill_typed(struct store_loader *l, size_t i, struct str raw,
                           struct err *err)
{
    mark(l, &l->cols[i], CELL_CONVERTED);
    TRY(loader_keep_raw(l, &l->cols[i], raw, err));
    return put_null(l, &l->cols[i], err);
}

/* value_parse does not tell "no" from "no memory"; so after a "no" a larger
 * request than it makes is tried. */
static enum status bad_text(struct store_loader *l, struct builder *b,
                            struct str s, struct err *err)
{
    bool room = arena_alloc(&l->scratch, s.n + PARSE_ROOM);
    arena_fini(&l->scratch);
    l->scratch_uses = 0;
    if (!room)
        return store_nomem(l->st->mem, err);
    return cell_ill_typed(l, (size_t)(b - l->cols), s, err);
}

/* The text that printing an integer gives: no sign but "-", no zeros before
 * the number, 64 bits. */
static bool canonical_int(struct str s, int64_t *out)
{
    bool neg = s.n && s.p[0] == '-';
    size_t i = neg;
    if (i == s.n || s.n - i > 19)
        return false;
    if (s.p[i] == '0' && (neg || s.n > 1))
        return false;
    int64_t v = 0;
    for (; i < s.n; i++) {
        unsigned d = (unsigned)(unsigned char)s.p[i] - '0';
        if (d > 9 || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_sub_overflow(v, (int64_t)d, &v))
            return false;
    }
    if (!neg && __builtin_sub_overflow((int64_t)0, v, &v))
        return false;
    *out = v;
    return true;
}

/* Out of memory, or out of codes. */
static enum status dict_failed(const struct store_loader *l,
                               const struct builder *b, struct err *err)
{
    if (dict_is_full(&b->dict))
        return err_set(err, E_LIMIT,
                       "column \"%.*s\" has too many distinct values",
                       PSTR(b->column->name));
    return store_nomem(l->st->mem, err);
}

static struct str int_key(int64_t v, char buf[static 24])
{
    const int64_t most = INT64_C(1000000000000000); /* 15 digits */
    if (v < most && v > -most)
        return dict_number(packed_of(v, 0));
    int n = snprintf(buf, 24, "%" PRId64, v);
    return (struct str){buf, (size_t)n};
}

/* From integers to a dictionary: an undeclared column met something else. */
static enum status demote(struct store_loader *l, struct builder *b,
                          struct err *err)
{
    struct mem *m = l->st->mem;
    char buf[24];
    b->code = mem_alloc(m, b->cap * sizeof *b->code);
    if (!b->code)
        return store_nomem(m, err);
    for (size_t row = 0; row < l->n_rows; row++) {
        if (b->nulls && ((b->nulls[row >> 6] >> (row & 63)) & 1))
            continue;
        if (!dict_later(&b->dict, int_key(b->i64[row], buf), b->code, row))
            return dict_failed(l, b, err);
    }
    mem_free(m, b->i64, b->cap * sizeof *b->i64);
    b->i64 = NULL;
    b->mode = B_DICT;
    b->plain_int = false;
    b->packs = true;
    b->any_text = true;
    return OK;
}

enum status cell_packed(struct store_loader *l, size_t i, uint64_t packed,
                        struct err *err)
{
    struct builder *b = &l->cols[i];
    bool ok = dict_later(&b->dict, dict_number(packed), b->code, l->n_rows);
    return ok ? OK : dict_failed(l, b, err);
}

/* Is it a text that the column takes? TEXT and undeclared take all. */
static bool fits(struct store_loader *l, const struct builder *b, struct str s)
{
    struct value v;
    if (b->any_text || b->want == T_TEXT || b->want == T_UNKNOWN)
        return true;
    return value_parse(scratch(l), s, b->want, &v) ||
           (b->want == T_DEC && is_special_decimal(s));
}

static enum status text_to_dict(struct store_loader *l, struct builder *b,
                                struct str s, struct err *err)
{
    uint64_t packed;
    if (b->packs && s.n && packed_may_begin(s.p[0]) && packed_read(s, &packed))
        s = dict_number(packed);
    else if (!fits(l, b, s))
        return bad_text(l, b, s, err);
    return dict_later(&b->dict, s, b->code, l->n_rows) ? OK
                                                       : dict_failed(l, b, err);
}

static enum status text_to_i64(struct store_loader *l, struct builder *b,
                               struct str s, struct err *err)
{
    struct value v;
    if (b->plain_int && canonical_int(s, &b->i64[l->n_rows]))
        return OK;
    if (b->want == T_UNKNOWN) {
        TRY(demote(l, b, err));
        return text_to_dict(l, b, s, err);
    }
    if (!value_parse(scratch(l), s, b->want, &v))
        return bad_text(l, b, s, err);
    b->i64[l->n_rows] = v.i;
    return OK;
}

/* A text as SQL writes it. */
static enum status plain_text(struct store_loader *l, size_t i, struct str s,
                              struct err *err)
{
    struct builder *b = &l->cols[i];
    struct value v;
    /* Most texts by far, without further calls. */
    if (b->any_text && (!b->packs || !s.n || !packed_may_begin(s.p[0])))
        return dict_later(&b->dict, s, b->code, l->n_rows)
                   ? OK
                   : dict_failed(l, b, err);
    switch (b->mode) {
    case B_I64:
        return text_to_i64(l, b, s, err);
    case B_F64:
        if (!value_parse(scratch(l), s, T_REAL, &v))
            return bad_text(l, b, s, err);
        b->f64[l->n_rows] = v.f;
        return OK;
    case B_DICT:
        return text_to_dict(l, b, s, err);
    case B_GUARD:
        return fits(l, b, s) ? OK : bad_text(l, b, s, err);
    case B_I32:
        break; /* none was promised */
    }
    return err_internal(err, "cell_text");
}

enum status cell_text(struct store_loader *l, size_t i, struct str s,
                      struct err *err)
{
    struct builder *b = &l->cols[i];
    char buf[CELL_FORM_TEXT];
    struct str plain = s;
    if (__builtin_expect(b->formed, 0) &&
        !schema_read_cell(&b->column->form, s, buf, &plain))
        return cell_ill_typed(l, i, s, err);
    return plain_text(l, i, plain, err);
}

/* A number is one, whatever texts look like; of a date it is its digits. */
enum status cell_number(struct store_loader *l, size_t i, struct str s,
                        struct err *err)
{
    return l->cols[i].column->form.format.n ? cell_text(l, i, s, err)
                                            : plain_text(l, i, s, err);
}

enum status cell_int(struct store_loader *l, size_t i, int64_t v,
                     struct err *err)
{
    struct builder *b = &l->cols[i];
    if (b->plain_int) {
        b->i64[l->n_rows] = v;
        return OK;
    }
    if (b->mode == B_F64) {
        b->f64[l->n_rows] = (double)v;
        return OK;
    }
    if (b->mode == B_I32 && v >= INT32_MIN && v <= INT32_MAX) {
        b->i32[l->n_rows] = (int32_t)v;
        return OK;
    }
    char buf[24];
    int n = snprintf(buf, sizeof buf, "%" PRId64, v);
    return cell_number(l, i, (struct str){buf, (size_t)n}, err);
}

enum status cell_real(struct store_loader *l, size_t i, double v,
                      struct err *err)
{
    struct builder *b = &l->cols[i];
    if (b->mode == B_F64) {
        b->f64[l->n_rows] = v == 0 ? 0 : v; /* one zero */
        return OK;
    }
    if (v >= -0x1p63 && v < 0x1p63 && v == nearbyint(v))
        return cell_int(l, i, (int64_t)v, err);
    char buf[40];
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (strtod(buf, NULL) == v)
            break;
    }
    return cell_number(l, i, (struct str){buf, (size_t)n}, err);
}

enum status cell_value(struct store_loader *l, size_t i, const struct value *v,
                       struct err *err)
{
    struct builder *b = &l->cols[i];
    if (v->is_null)
        return cell_null(l, i, err);
    switch (v->type) {
    case T_INT:
        return cell_int(l, i, v->i, err);
    case T_REAL:
        return cell_real(l, i, v->f, err);
    case T_TEXT:
    case T_DEC:
    case T_UUID:
    case T_UNKNOWN:
        return cell_text(l, i, v->s, err);
    case T_BOOL:
    case T_DATE:
    case T_TIMESTAMP:
    case T_TIME:
        break;
    }
    if (b->want != v->type) {
        struct sb text;
        sb_init(&text, scratch(l));
        value_print(&text, v);
        return text.failed ? store_nomem(l->st->mem, err)
                           : cell_ill_typed(l, i, sb_view(&text), err);
    }
    if (b->mode != B_GUARD)
        b->i64[l->n_rows] = v->i;
    return OK;
}
