/*
 * Secrets in the open, for tests that compare numbers; and a hold for tests of
 * what is drawn behind one.
 */
#ifndef HARNESS_PLAIN_H
#define HARNESS_PLAIN_H

#include "base/open_count.h"
#include "join/join.h"
#include "num/open_scale.h"
#include "pushdown/pushdown.h"

enum { PLAIN_KEYS = 1 << 16 };

struct ledger_hold;

static inline const struct ledger_hold *a_hold(void)
{
    static const char nothing;
    return (const struct ledger_hold *)(const void *)&nothing;
}

static inline enum status plain_count(struct join *j, u128 *out,
                                      struct err *err)
{
    struct secret_count s;
    TRY(join_count(j, &s, err));
    *out = secret_count_open(&s);
    return OK;
}

static inline enum status plain_groups(struct join *j, const struct value *keys,
                                       size_t n, u128 *out, struct err *err)
{
    static struct secret_count s[PLAIN_KEYS];
    if (n > PLAIN_KEYS)
        return err_internal(err, "plain_groups");
    TRY(join_count_groups(j, keys, n, s, err));
    for (size_t i = 0; i < n; i++)
        out[i] = secret_count_open(&s[i]);
    return OK;
}

static inline enum status plain_pushdown(struct pushdown *c, u128 *out,
                                         struct err *err)
{
    struct secret_count s;
    TRY(pushdown_count(c, &s, err));
    *out = secret_count_open(&s);
    return OK;
}

static inline enum status plain_pushdown_groups(struct pushdown *c,
                                                const struct value *keys,
                                                size_t n, u128 *out,
                                                struct err *err)
{
    static struct secret_count s[PLAIN_KEYS];
    if (n > PLAIN_KEYS)
        return err_internal(err, "plain_pushdown_groups");
    TRY(pushdown_groups(c, keys, n, s, err));
    for (size_t i = 0; i < n; i++)
        out[i] = secret_count_open(&s[i]);
    return OK;
}

#endif
