/* Ledgers for tests: open to all, with a least price out of the way, held one
 * count at a time under one policy. */
#ifndef HARNESS_LEDGER_KIT_H
#define HARNESS_LEDGER_KIT_H

#include "ledger/ledger.h"

static const struct str kit_private[] = {{"pat", 3}}, kit_public[] = {{"d", 1}};

static inline struct ledger_policy kit_policy(void)
{
    return (struct ledger_policy){
        .unit = STR("row"),
        .neighbours = STR("add-drop-one"),
        .order = STR("1"),
        .private_ = kit_private,
        .public_ = kit_public,
        .n_private = 1,
        .n_public = 1,
        .text = STR("private pat; public d"),
    };
}

static inline enum status kit_create(const char *path, enum composition c,
                                     mpq_srcptr epsilon, mpq_srcptr delta,
                                     struct err *err)
{
    struct ledger_spec spec = {
        .composition = c,
        .epsilon = epsilon,
        .delta = delta,
        .open = true,
        .limits = {.least_price = STR("0.000000001")},
    };
    return ledger_create(path, &spec, err);
}

static inline enum status kit_open(struct mem *m, const char *path,
                                   struct ledger **out, struct err *err)
{
    return ledger_open(m, path, NULL, out, err);
}

static inline enum status kit_hold(struct ledger *l, struct arena *a,
                                   const struct ledger_request *r,
                                   const struct price *p,
                                   struct ledger_hold **out, struct err *err)
{
    struct ledger_policy policy = kit_policy();
    struct ledger_charge c = {r, p, false};
    return ledger_hold(l, a, &c, 1, &policy, out, err);
}

#endif
