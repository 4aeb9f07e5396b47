/*
 * Fields of PostgreSQL's binary COPY. Every length is checked: the server is
 * trusted with its rows, not with our memory.
 */
#include "source/postgres/pg.h"

#include <string.h>
#include "base/bigend.h"
#include "store/packed.h"

/* Days and microseconds from 1970-01-01 to 2000-01-01, PostgreSQL's zero. */
static const int64_t epoch_days = 10957;
static const int64_t epoch_micros = 946684800000000;

static enum status bad_field(struct err *err)
{
    return err_set(err, E_SOURCE,
                   "PostgreSQL sent a field that its type does not have");
}

/* Infinite dates stay the first and the last. */
static int64_t shift(int64_t v, int64_t by, int64_t low, int64_t high)
{
    return v == low ? INT64_MIN : v == high ? INT64_MAX : v + by;
}

static enum status typed(struct store_loader *l, size_t i, enum type t,
                         int64_t v, struct err *err)
{
    struct value val = {.type = t, .i = v};
    return cell_value(l, i, &val, err);
}

/* PRIVACY: a moment after 294247-01-10 is none of ours. Were all of them the
 * last one, a UNIQUE column would hold a value twice. */
static enum status moment(struct store_loader *l, size_t i, int64_t v,
                          struct err *err)
{
    if (v != INT64_MAX && v > INT64_MAX - epoch_micros)
        return cell_ill_typed(l, i, (struct str){(const char *)&v, sizeof v},
                              err);
    return typed(l, i, T_TIMESTAMP,
                 shift(v, epoch_micros, INT64_MIN, INT64_MAX), err);
}

static enum status float_cell(struct store_loader *l, size_t i, struct str d,
                              struct err *err)
{
    if (d.n == 4) {
        uint32_t bits = be32_at(d.p);
        float f;
        memcpy(&f, &bits, sizeof f);
        return cell_real(l, i, (double)f, err);
    }
    uint64_t bits = be64_at(d.p);
    double f;
    memcpy(&f, &bits, sizeof f);
    return cell_real(l, i, f, err);
}

/* A base-10000 digit as four characters. */
static char *put4(char *p, unsigned v)
{
    p[0] = (char)('0' + v / 1000 % 10);
    p[1] = (char)('0' + v / 100 % 10);
    p[2] = (char)('0' + v / 10 % 10);
    p[3] = (char)('0' + v % 10);
    return p + 4;
}

struct numeric {
    const char *digits;
    int n, weight; /* digit i stands for 10000^(weight - i) */
};

static unsigned digit(const struct numeric *x, int i)
{
    return i >= 0 && i < x->n ? be16_at(x->digits + 2 * i) : 0;
}

/* The canonical decimal: no zeros before the first digit or behind the last
 * of the fraction. `out` has room for 4 * (n + |weight| + 2) + 2. */
static size_t numeric_text(const struct numeric *x, bool neg, char *out)
{
    char *p = out, *first;
    if (neg)
        *p++ = '-';
    first = p;
    for (int i = 0; i <= x->weight; i++)
        p = put4(p, digit(x, i));
    char *zero = first;
    while (zero < p - 1 && *zero == '0')
        zero++;
    if (p == first) { /* weight < 0: nothing before the point */
        *p++ = '0';
    } else {
        memmove(first, zero, (size_t)(p - zero));
        p -= zero - first;
    }
    char *point = p;
    *p++ = '.';
    for (int i = x->weight + 1; i < x->n; i++)
        p = put4(p, digit(x, i));
    while (p > point + 1 && p[-1] == '0')
        p--;
    return (size_t)((p == point + 1 ? point : p) - out);
}

static struct str special_numeric(unsigned sign)
{
    return sign == 0xC000   ? STR("NaN")
           : sign == 0xD000 ? STR("Infinity")
           : sign == 0xF000 ? STR("-Infinity")
                            : STR("");
}

/* m / 10^(4 * behind) of up to 15 digits, at most two base-10000 digits of
 * them behind the point: just what packed_read makes of the text. */
static bool numeric_packed(const struct numeric *x, bool neg, uint64_t *out)
{
    const int64_t most = INT64_C(1000000000000000);
    int behind = x->n - 1 - x->weight;
    int64_t m = 0;
    if (behind > 2 || x->weight > 3 || x->weight < -2)
        return false;
    int last = behind > 0 ? x->n - 1 : x->weight;
    for (int i = 0; i <= last; i++) {
        unsigned d = digit(x, i);
        if (d > 9999 || m >= most)
            return false;
        m = m * 10000 + d;
    }
    if (m >= most)
        return false;
    *out = packed_of(neg ? -m : m, behind > 0 ? 4 * (unsigned)behind : 0);
    return true;
}

/* Number of base-10000 digits, weight of the first, sign, scale, digits. */
static enum status numeric_cell(struct store_loader *l, size_t i, struct str d,
                                struct err *err)
{
    char small[256], *out = small;
    if (d.n < 8 || d.n != 8 + 2 * (size_t)be16_at(d.p))
        return bad_field(err);
    struct numeric x = {d.p + 8, be16_at(d.p), (int16_t)be16_at(d.p + 2)};
    unsigned sign = be16_at(d.p + 4);
    struct str special = special_numeric(sign);
    if (special.n)
        return cell_text(l, i, special, err);
    uint64_t packed;
    if (l->cols[i].packs && numeric_packed(&x, sign == 0x4000, &packed))
        return cell_packed(l, i, packed, err);
    int weight = x.weight < 0 ? -x.weight : x.weight;
    size_t room = 4 * ((size_t)x.n + (size_t)weight + 2) + 2;
    if (room > sizeof small) {
        arena_fini(&l->scratch);
        out = arena_alloc(&l->scratch, room);
        if (!out)
            return store_nomem(l->st->mem, err);
    }
    size_t n = numeric_text(&x, sign == 0x4000, out);
    return cell_text(l, i, (struct str){out, n}, err);
}

static enum status uuid_cell(struct store_loader *l, size_t i, struct str d,
                             struct err *err)
{
    static const char hex[] = "0123456789abcdef";
    char out[36];
    size_t n = 0;
    for (size_t k = 0; k < 16; k++) {
        if (k == 4 || k == 6 || k == 8 || k == 10)
            out[n++] = '-';
        out[n++] = hex[(unsigned char)d.p[k] >> 4];
        out[n++] = hex[(unsigned char)d.p[k] & 15];
    }
    return cell_text(l, i, (struct str){out, n}, err);
}

/* char(n) is padded with blanks that do not count. */
static struct str without_padding(struct str s)
{
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

/* Bytes of a field of a type of fixed width; n for the others. */
static size_t width_of(uint32_t oid, size_t n)
{
    switch ((enum pg_oid)oid) {
    case OID_BOOL:
        return 1;
    case OID_INT2:
        return 2;
    case OID_INT4:
    case OID_OID:
    case OID_DATE:
    case OID_FLOAT4:
        return 4;
    case OID_INT8:
    case OID_TIME:
    case OID_FLOAT8:
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        return 8;
    case OID_UUID:
        return 16;
    case OID_BYTEA:
    case OID_CHAR:
    case OID_NAME:
    case OID_TEXT:
    case OID_BPCHAR:
    case OID_VARCHAR:
    case OID_NUMERIC:
        break;
    }
    return n;
}

enum status pg_cell(struct store_loader *l, size_t i, uint32_t oid,
                    struct str d, struct err *err)
{
    if (d.n != width_of(oid, d.n))
        return bad_field(err);
    switch ((enum pg_oid)oid) {
    case OID_INT4:
        return cell_int(l, i, (int32_t)be32_at(d.p), err);
    case OID_INT8:
        return cell_int(l, i, (int64_t)be64_at(d.p), err);
    case OID_INT2:
        return cell_int(l, i, (int16_t)be16_at(d.p), err);
    case OID_OID:
        return cell_int(l, i, be32_at(d.p), err);
    case OID_BOOL:
        return typed(l, i, T_BOOL, d.p[0] != 0, err);
    case OID_FLOAT4:
    case OID_FLOAT8:
        return float_cell(l, i, d, err);
    case OID_NUMERIC:
        return numeric_cell(l, i, d, err);
    case OID_DATE:
        return typed(
            l, i, T_DATE,
            shift((int32_t)be32_at(d.p), epoch_days, INT32_MIN, INT32_MAX),
            err);
    case OID_TIME:
        return typed(l, i, T_TIME, (int64_t)be64_at(d.p), err);
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        return moment(l, i, (int64_t)be64_at(d.p), err);
    case OID_UUID:
        return uuid_cell(l, i, d, err);
    case OID_BPCHAR:
        return cell_text(l, i, without_padding(d), err);
    case OID_BYTEA:
    case OID_CHAR:
    case OID_NAME:
    case OID_TEXT:
    case OID_VARCHAR:
        break;
    }
    return cell_text(l, i, d, err);
}
