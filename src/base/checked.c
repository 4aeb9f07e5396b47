/* Checked arithmetic: see checked.h. */
#include "base/checked.h"

u128 u128_add_inf(u128 a, u128 b)
{
    u128 r;
    return u128_add(a, b, &r) ? r : U128_INF;
}

u128 u128_mul_inf(u128 a, u128 b)
{
    u128 r;
    if (a == 0 || b == 0)
        return 0;
    if (a == U128_INF || b == U128_INF)
        return U128_INF;
    return u128_mul(a, b, &r) ? r : U128_INF;
}

u128 count_limit(uint64_t groups, bool is_signed)
{
    u128 parts = (u128)(groups ? groups : 1) * (is_signed ? 2 : 1);
    return COUNT_MOST / parts;
}

const char *u128_text(u128 v, char *buf)
{
    int i = U128_DIGITS;
    buf[--i] = 0;
    do {
        buf[--i] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v);
    return buf + i;
}

bool u128_read(const char *p, uint64_t n, u128 *out)
{
    u128 v = 0;
    if (n == 0)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        if (!u128_mul(v, 10, &v) || !u128_add(v, (u128)(p[i] - '0'), &v))
            return false;
    }
    *out = v;
    return true;
}

bool count_read(const char *p, uint64_t n, u128 *out)
{
    u128 v = 0;
    if (n == 0)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        v = count_add(count_mul(v, 10), (u128)(p[i] - '0'));
    }
    *out = v;
    return true;
}
