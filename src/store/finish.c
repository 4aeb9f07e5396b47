/*
 * From builder to column: decides the type of undeclared columns, makes
 * dictionary entries canonical, sorts them and renumbers the codes.
 *
 * Cost: parsing is per distinct text, not per row; sorting compares eight
 * bytes at a time before it compares texts.
 */
#include "store/builder.h"

#include <stdlib.h>
#include <string.h>

/* More than value_parse asks for beyond the text; entries between resets. */
enum { PARSE_ROOM = 16384, PARSE_RESET = 1024 };

/* A dictionary entry on its way to its place. */
struct entry {
    uint64_t head; /* the first bytes, big-endian: orders TEXT and UUID */
    struct value v;
    uint32_t from; /* number in the builder's dictionary */
};

struct entries {
    struct entry *p;
    size_t n;
};

static uint64_t head_of(struct str s)
{
    unsigned char buf[8] = {0};
    uint64_t h = 0;
    memcpy(buf, s.p, s.n < 8 ? s.n : 8);
    for (int i = 0; i < 8; i++)
        h = h << 8 | buf[i];
    return h;
}

static int by_value(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    if (a->v.type == b->v.type && a->head != b->head)
        return a->head < b->head ? -1 : 1;
    return value_cmp(&a->v, &b->v);
}

static bool may_be_number(struct str s)
{
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

/* The final value of an entry; its text is the raw one where they agree. */
static enum status set_entry(struct store_loader *l, enum type want,
                             struct str raw, struct entry *e, struct err *err)
{
    enum type t = want == T_UNKNOWN ? T_DEC : want;
    bool is = false;
    e->v = value_text(raw);
    if (want == T_DEC && str_is(raw, "NaN"))
        e->v = (struct value){.type = T_DEC, .s = STR("NaN")};
    else if (t == T_UUID || (t == T_DEC && may_be_number(raw)))
        TRY(parse_entry(l, raw, t, &e->v, &is, err));
    if (is && str_eq(e->v.s, raw))
        e->v.s = raw;
    else if (is)
        e->v.s = str_copy(&l->st->arena, e->v.s);
    if (!e->v.s.p)
        return store_nomem(l->st->mem, err);
    e->head = e->v.type == T_DEC ? 0 : head_of(e->v.s);
    return OK;
}

static enum status read_entries(struct store_loader *l, struct builder *b,
                                struct entries *es, struct err *err)
{
    for (size_t i = 0; i < es->n; i++) {
        if (i % PARSE_RESET == 0)
            arena_fini(&l->scratch);
        es->p[i].from = (uint32_t)i;
        TRY(set_entry(l, b->want, b->dict.entries[i], &es->p[i], err));
    }
    qsort(es->p, es->n, sizeof *es->p, by_value);
    return OK;
}

/* An undeclared column whose texts are all numbers within 64 bits. */
static bool all_int(struct entries es)
{
    struct value v;
    for (size_t i = 0; i < es.n; i++)
        if (es.p[i].v.type != T_DEC ||
            !value_parse(NULL, es.p[i].v.s, T_INT, &v))
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
    TRY(cut(l->st->mem, (void **)&b->nulls, null_words(l->cap) * 8,
            null_words(l->n_rows) * 8, err));
    out->nulls = b->nulls;
    b->nulls = NULL;
    return OK;
}

static enum status finish_plain(struct store_loader *l, struct builder *b,
                                struct store_column *out, struct err *err)
{
    struct mem *m = l->st->mem;
    out->type = b->want == T_UNKNOWN ? T_INT : b->want;
    if (b->mode == B_F64) {
        TRY(cut(m, (void **)&b->f64, l->cap * 8, l->n_rows * 8, err));
        out->f64 = b->f64;
        b->f64 = NULL;
        return OK;
    }
    TRY(cut(m, (void **)&b->i64, l->cap * 8, l->n_rows * 8, err));
    out->i64 = b->i64;
    b->i64 = NULL;
    return OK;
}

static bool row_is_null(const uint64_t *nulls, size_t row)
{
    return nulls && ((nulls[row >> 6] >> (row & 63)) & 1);
}

/* Undeclared, integers after all ("007", " 7", "7.0"). */
static enum status finish_int(struct store_loader *l, struct builder *b,
                              struct entries es, struct store_column *out,
                              struct err *err)
{
    struct mem *m = l->st->mem;
    size_t size = es.n * sizeof(int64_t);
    int64_t *of = mem_alloc(m, size);
    int64_t *i64 = of ? mem_alloc(m, l->n_rows * sizeof *i64) : NULL;
    if (!i64) {
        mem_free(m, of, size);
        return store_nomem(m, err);
    }
    for (size_t i = 0; i < es.n; i++) {
        struct value v = value_int(0);
        (void)!value_parse(NULL, es.p[i].v.s, T_INT, &v);
        of[es.p[i].from] = v.i;
    }
    for (size_t row = 0; row < l->n_rows; row++)
        i64[row] = row_is_null(b->nulls, row) ? 0 : of[b->code[row]];
    mem_free(m, of, size);
    out->type = T_INT;
    out->i64 = i64;
    return OK;
}

/* Sorted entries to the final dictionary; to[from] is the final code. */
static size_t number_entries(struct entries es, struct str *dict, uint32_t *to,
                             size_t *n_numeric)
{
    size_t n = 0;
    *n_numeric = 0;
    for (size_t i = 0; i < es.n; i++) {
        if (i == 0 || value_cmp(&es.p[i - 1].v, &es.p[i].v) != 0) {
            *n_numeric += es.p[i].v.type == T_DEC;
            dict[n++] = es.p[i].v.s;
        }
        to[es.p[i].from] = (uint32_t)(n - 1);
    }
    return n;
}

static enum status finish_codes(struct store_loader *l, struct builder *b,
                                struct entries es, struct store_column *out,
                                struct err *err)
{
    struct mem *m = l->st->mem;
    struct str *dict = mem_alloc(m, es.n * sizeof *dict);
    uint32_t *to = dict ? mem_alloc(m, es.n * sizeof *to) : NULL;
    if (!to) {
        mem_free(m, dict, es.n * sizeof *dict);
        return store_nomem(m, err);
    }
    size_t n = number_entries(es, dict, to, &out->n_numeric);
    for (size_t row = 0; row < l->n_rows; row++)
        if (!row_is_null(b->nulls, row))
            b->code[row] = to[b->code[row]];
    mem_free(m, to, es.n * sizeof *to);
    out->type = b->want == T_UNKNOWN ? T_TEXT : b->want;
    if (b->want == T_UNKNOWN && out->n_numeric == n)
        out->type = T_DEC;
    if (out->type != T_TEXT)
        out->n_numeric = 0;
    enum status s =
        cut(m, (void **)&dict, es.n * sizeof *dict, n * sizeof *dict, err);
    if (s == OK)
        s = cut(m, (void **)&b->code, l->cap * 4, l->n_rows * 4, err);
    if (s != OK) {
        mem_free(m, dict, n * sizeof *dict);
        return s;
    }
    out->dict = dict;
    out->n_dict = n;
    out->code = b->code;
    b->code = NULL;
    return OK;
}

static enum status finish_dict(struct store_loader *l, struct builder *b,
                               struct store_column *out, struct err *err)
{
    struct mem *m = l->st->mem;
    struct entries es = {.n = b->dict.n};
    size_t size = es.n * sizeof *es.p;
    es.p = mem_alloc(m, size);
    if (!es.p)
        return store_nomem(m, err);
    enum status s = read_entries(l, b, &es, err);
    if (s == OK)
        s = b->want == T_UNKNOWN && all_int(es)
                ? finish_int(l, b, es, out, err)
                : finish_codes(l, b, es, out, err);
    mem_free(m, es.p, size);
    return s;
}

enum status builder_finish(struct store_loader *l, struct builder *b,
                           struct store_column *out, struct err *err)
{
    enum status s = b->mode == B_DICT ? finish_dict(l, b, out, err)
                                      : finish_plain(l, b, out, err);
    if (s == OK)
        s = finish_nulls(l, b, out, err);
    out->present = s == OK;
    builder_fini(l, b);
    return s;
}
