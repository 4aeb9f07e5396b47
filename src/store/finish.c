/*
 * From builder to column: decides the type of undeclared columns, makes
 * dictionary entries canonical, sorts them and renumbers the codes.
 *
 * Cost: parsing is per distinct text, not per row; sorting is radix sort.
 */
#include "store/builder.h"

#include <string.h>
#include "store/order.h"
#include "store/packed.h"

/* More than value_parse asks for beyond the text; entries between resets. */
enum { PARSE_ROOM = 16384, PARSE_RESET = 1024 };

/*
 * A dictionary in order, in one block of 16 bytes an entry: numbers as items
 * from its front, texts as keys of 8 bytes from its end, and between them as
 * much room again as the texts take.
 */
struct entries {
    struct order_item *items; /* the block, of n */
    uint64_t *end;            /* of the block */
    size_t n, n_numbers;
    bool texts_repeat; /* canonical texts, too, may be equal */
    struct str *texts; /* the builder's, canonical by now */
};

static bool may_be_number(struct str s)
{
    /* Above blanks, signs and digits nothing begins a number. */
    if (s.n && (unsigned char)s.p[0] > '9')
        return false;
    s = str_trim(s);
    return s.n && strchr("0123456789+-.", s.p[0]) && s.p[0];
}

/*
 * Parses into the scratch arena. value_parse does not tell "no" from "no
 * memory", and taking a number for a text would be wrong, so after a "no" a
 * larger request than the parser makes is tried.
 */
static enum status parse_entry(struct store_loader *l, struct str raw,
                               enum type t, struct value *out, bool *is,
                               struct err *err)
{
    *is = value_parse(&l->scratch, raw, t, out);
    if (!*is && !arena_alloc(&l->scratch, raw.n + PARSE_ROOM))
        return store_nomem(l->st->mem, err);
    return OK;
}

/* Its own copy of a text that goes into the dictionary; NULL: no memory. */
static bool keep(struct builder *b, struct str *text, struct str s)
{
    *text = (struct str){dict_keep_text(&b->dict, s), s.n};
    return text->p;
}

/* Makes the text of an entry canonical; *number: it is one. */
static enum status set_text(struct store_loader *l, struct builder *b,
                            struct str *text, bool *number, struct err *err)
{
    enum type t = b->want == T_UNKNOWN ? T_DEC : b->want;
    struct value v;
    bool is = false;
    *number = b->want == T_DEC && is_special_decimal(*text);
    if (*number || (t != T_UUID && !(t == T_DEC && may_be_number(*text))))
        return OK;
    TRY(parse_entry(l, *text, t, &v, &is, err));
    *number = is && t == T_DEC;
    if (is && !str_eq(v.s, *text) && !keep(b, text, v.s))
        return store_nomem(l->st->mem, err);
    return OK;
}

/* The same for an entry that may be a packed number, with its head. */
static enum status set_entry(struct store_loader *l, struct builder *b,
                             struct str *text, bool *number, uint64_t *head,
                             struct err *err)
{
    char buf[PACKED_TEXT];
    if (text->p) {
        TRY(set_text(l, b, text, number, err));
        *head = *number ? order_number_head(*text) : 0;
        return OK;
    }
    uint64_t packed = text->n;
    *number = true;
    *head = order_double_head(packed_double(packed));
    struct str s = {buf, packed_print(packed, buf)};
    return keep(b, text, s) ? OK : store_nomem(l->st->mem, err);
}

static void sort_entries(struct entries *es)
{
    size_t n = es->n - es->n_numbers;
    order_numbers(es->items, es->n_numbers, es->texts);
    order_texts(es->end - n, es->end - 2 * n, n, es->texts);
}

static enum status read_entries(struct store_loader *l, struct builder *b,
                                struct entries *es, struct err *err)
{
    uint64_t *key = es->end;
    for (size_t i = 0; i < es->n; i++) {
        bool number;
        uint64_t head;
        if (i % PARSE_RESET == 0)
            arena_fini(&l->scratch);
        TRY(set_entry(l, b, &es->texts[i], &number, &head, err));
        if (number)
            es->items[es->n_numbers++] = (struct order_item){head, (uint32_t)i};
        else
            *--key = i;
    }
    sort_entries(es);
    return OK;
}

static bool as_int(struct str s, int64_t *out)
{
    struct value v;
    if (!value_parse(NULL, s, T_INT, &v))
        return false;
    *out = v.i;
    return true;
}

/* An undeclared column whose texts are all numbers within 64 bits. */
static bool all_int(const struct entries *es)
{
    int64_t v;
    if (es->n_numbers < es->n)
        return false;
    for (size_t i = 0; i < es->n; i++)
        if (!as_int(es->texts[i], &v))
            return false;
    return true;
}

static enum status cut(struct mem *m, void **p, size_t old, size_t new,
                       struct err *err)
{
    void *q = mem_resize(m, *p, old, new);
    if (!q)
        return store_nomem(m, err);
    *p = q;
    return OK;
}

static enum status finish_nulls(struct store_loader *l, struct builder *b,
                                struct store_column *out, struct err *err)
{
    if (!b->nulls)
        return OK;
    TRY(cut(l->st->mem, (void **)&b->nulls, null_words(b->null_cap) * 8,
            null_words(l->n_rows) * 8, err));
    out->nulls = b->nulls;
    b->nulls = NULL;
    return OK;
}

enum { NARROW_AT_ONCE = 4096 };

/* The same numbers in half the room, if they fit; in place, so that no more
 * memory is needed on the way. */
static bool narrow(void *block, size_t n)
{
    unsigned char *p = block;
    int64_t v;
    for (size_t from = 0; from < n; from += NARROW_AT_ONCE) {
        size_t end = n - from < NARROW_AT_ONCE ? n : from + NARROW_AT_ONCE;
        bool wide = false; /* no branch for each number */
        for (size_t i = from; i < end; i++) {
            memcpy(&v, p + i * sizeof v, sizeof v);
            wide |= v != (int32_t)v;
        }
        if (wide)
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(&v, p + i * sizeof v, sizeof v);
        int32_t half = (int32_t)v;
        memcpy(p + i * sizeof half, &half, sizeof half);
    }
    return true;
}

/* PRIVACY: only the layout depends on the values, never what they mean. */
static enum status finish_ints(struct store_loader *l, int64_t **block,
                               size_t cap, struct store_column *out,
                               struct err *err)
{
    bool small = narrow(*block, l->n_rows);
    size_t cell = small ? sizeof(int32_t) : sizeof(int64_t);
    TRY(cut(l->st->mem, (void **)block, cap * sizeof **block, l->n_rows * cell,
            err));
    if (small)
        out->i32 = (const int32_t *)(const void *)*block;
    else
        out->i64 = *block;
    *block = NULL;
    return OK;
}

static enum status finish_plain(struct store_loader *l, struct builder *b,
                                struct store_column *out, struct err *err)
{
    struct mem *m = l->st->mem;
    out->type = b->want == T_UNKNOWN ? T_INT : b->want;
    if (b->mode == B_F64) {
        TRY(cut(m, (void **)&b->f64, b->cap * 8, l->n_rows * 8, err));
        out->f64 = b->f64;
        b->f64 = NULL;
        return OK;
    }
    if (b->mode == B_I32) {
        TRY(cut(m, (void **)&b->i32, b->cap * 4, l->n_rows * 4, err));
        out->i32 = b->i32;
        b->i32 = NULL;
        return OK;
    }
    return finish_ints(l, &b->i64, b->cap, out, err);
}

static bool row_is_null(const uint64_t *nulls, size_t row)
{
    return nulls && ((nulls[row >> 6] >> (row & 63)) & 1);
}

/* Undeclared, integers after all ("007", " 7", "7.0"). */
static enum status finish_int(struct store_loader *l, struct builder *b,
                              const struct entries *es,
                              struct store_column *out, struct err *err)
{
    struct mem *m = l->st->mem;
    size_t size = es->n * sizeof(int64_t);
    int64_t *of = mem_alloc(m, size);
    int64_t *i64 = of ? mem_alloc(m, l->n_rows * sizeof *i64) : NULL;
    if (!i64) {
        mem_free(m, of, size);
        return store_nomem(m, err);
    }
    for (size_t i = 0; i < es->n; i++)
        (void)!as_int(es->texts[i], &of[i]);
    for (size_t row = 0; row < l->n_rows; row++)
        i64[row] = row_is_null(b->nulls, row) ? 0 : of[b->code[row]];
    mem_free(m, of, size);
    out->type = T_INT;
    enum status s = finish_ints(l, &i64, l->n_rows, out, err);
    mem_free(m, i64, l->n_rows * sizeof *i64);
    return s;
}

static struct str next_text(const struct entries *es, const uint64_t *key)
{
    enum { AHEAD = 16 };
    if (es->end - key > AHEAD)
        __builtin_prefetch(&es->texts[(uint32_t)key[AHEAD]]);
    return es->texts[(uint32_t)*key];
}

/* Numbers of the final dictionary; equal ones are neighbours and have equal
 * canonical texts. */
static size_t number_numbers(const struct entries *es, char *dict, uint32_t *to)
{
    size_t n = 0;
    struct str last = {NULL, 0};
    for (size_t i = 0; i < es->n_numbers; i++) {
        uint32_t id = es->items[i].id;
        struct str s = es->texts[id];
        if (!i || !str_eq(last, s))
            memcpy(dict + sizeof s * n++, &s, sizeof s);
        to[id] = (uint32_t)(n - 1);
        last = s;
    }
    return n;
}

/*
 * Sorted entries to the final dictionary, which takes the place of the block:
 * what is written for an entry never reaches the next one to be read, since a
 * key is 8 bytes before the end for each text to come, and an entry of the
 * dictionary 16 behind the front. to[id] is the final code.
 */
static size_t number_entries(const struct entries *es, char *dict, uint32_t *to,
                             size_t *n_numeric)
{
    size_t n = number_numbers(es, dict, to);
    struct str last = {NULL, 0};
    *n_numeric = n;
    for (uint64_t *key = es->end - (es->n - es->n_numbers); key < es->end;
         key++) {
        struct str s = next_text(es, key);
        uint32_t id = (uint32_t)*key;
        if (!es->texts_repeat || n == *n_numeric || !str_eq(last, s))
            memcpy(dict + sizeof s * n++, &s, sizeof s);
        to[id] = (uint32_t)(n - 1);
        last = s;
    }
    return n;
}

static void set_type(const struct builder *b, struct store_column *out,
                     size_t n)
{
    out->type = b->want;
    if (b->want == T_UNKNOWN)
        out->type = out->n_numeric == n ? T_DEC : T_TEXT;
    if (out->type != T_TEXT)
        out->n_numeric = 0;
}

static void renumber(const struct store_loader *l, struct builder *b,
                     const uint32_t *to)
{
    for (size_t row = 0; row < l->n_rows; row++)
        if (!row_is_null(b->nulls, row))
            b->code[row] = to[b->code[row]];
}

_Static_assert(sizeof(struct str) == sizeof(struct order_item),
               "the dictionary takes the place of the sorted items");

static enum status finish_codes(struct store_loader *l, struct builder *b,
                                struct entries *es, struct store_column *out,
                                struct err *err)
{
    struct mem *m = l->st->mem;
    size_t size = es->n * sizeof *es->items, n;
    uint32_t *to = mem_alloc(m, es->n * sizeof *to);
    void *dict = es->items;
    if (!to)
        return store_nomem(m, err);
    n = number_entries(es, dict, to, &out->n_numeric);
    set_type(b, out, n);
    dict_fini(&b->dict);
    renumber(l, b, to);
    mem_free(m, to, es->n * sizeof *to);
    TRY(cut(m, (void **)&b->code, b->cap * 4, l->n_rows * 4, err));
    out->code = b->code;
    b->code = NULL;
    TRY(cut(m, &dict, size, n * sizeof(struct str), err));
    es->items = NULL;
    out->dict = dict;
    out->n_dict = n;
    return OK;
}

static enum status finish_dict(struct store_loader *l, struct builder *b,
                               struct store_column *out, struct err *err)
{
    struct mem *m = l->st->mem;
    if (!dict_flush(&b->dict, b->code))
        return store_nomem(m, err);
    struct entries es = {.n = b->dict.n,
                         .texts = b->dict.entries,
                         .texts_repeat = b->want == T_UUID};
    size_t size = es.n * sizeof *es.items;
    dict_drop_table(&b->dict);
    es.items = mem_alloc(m, size);
    if (!es.items)
        return store_nomem(m, err);
    es.end = (uint64_t *)(void *)(es.items + es.n);
    enum status s = read_entries(l, b, &es, err);
    if (s == OK)
        s = b->want == T_UNKNOWN && all_int(&es)
                ? finish_int(l, b, &es, out, err)
                : finish_codes(l, b, &es, out, err);
    mem_free(m, es.items, size);
    return s;
}

enum status builder_finish(struct store_loader *l, struct builder *b,
                           struct store_column *out, struct err *err)
{
    out->inferred = b->want == T_UNKNOWN;
    enum status s = b->mode == B_DICT ? finish_dict(l, b, out, err)
                                      : finish_plain(l, b, out, err);
    if (s == OK)
        s = finish_nulls(l, b, out, err);
    out->present = s == OK;
    builder_fini(l, b);
    return s;
}
