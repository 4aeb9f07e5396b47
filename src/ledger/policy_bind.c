/*
 * What a data set is bound to. Sums of prices mean something only over one
 * unit, one kind of neighbours, one order, and tables that stay private: these
 * are fixed by the first charge at the latest. The text of the whole policy is
 * fixed when the owner says so (init with a source, bind).
 *
 * A table that was not there before may come: what was released before does
 * not depend on its rows. PRIVACY: a table that was private stays private.
 */
#include "ledger/db.h"

static enum status changed(const char *what, struct err *err)
{
    err_set(err, E_POLICY_CHANGED, "the ledger is bound to another %s", what);
    err_detail(err, "Prices add up for one policy only. Nothing was charged.");
    err_hint(err, "The owner binds it anew with dpcount budget bind; once "
                  "something is spent, another unit, order, kind of neighbours "
                  "or set of private tables needs a ledger of its own.");
    return E_POLICY_CHANGED;
}

struct policy_fit {
    bool whole, core;                     /* is it fixed? */
    bool policy, unit, neighbours, order; /* does it fit? */
};

static enum status compare_row(struct ledger *l, struct str dataset,
                               const struct ledger_policy *p, const char *hash,
                               struct policy_fit *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    TRY(db_prepare(l,
                   "SELECT policy, unit, neighbours, row_order FROM dataset"
                   " WHERE name = ?",
                   &st, err));
    db_bind(st, 1, dataset);
    TRY(db_step(l, st, &row, err));
    out->whole = db_text(st, 0).n;
    out->core = db_text(st, 1).n;
    out->policy = str_is(db_text(st, 0), hash);
    out->unit = str_eq(db_text(st, 1), p->unit);
    out->neighbours = str_eq(db_text(st, 2), p->neighbours);
    out->order = str_eq(db_text(st, 3), p->order);
    db_done(l, st);
    return row ? OK : account_missing(dataset, err);
}

/* *out: 1 private, 0 public, -1 not known. */
static enum status side_of(struct ledger *l, struct str dataset,
                           struct str table, int *out, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    TRY(db_prepare(l, "SELECT private FROM side WHERE dataset = ? AND name = ?",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, table);
    TRY(db_step(l, st, &row, err));
    *out = row ? sqlite3_column_int(st, 0) != 0 : -1;
    db_done(l, st);
    return OK;
}

static enum status put_side(struct ledger *l, struct str dataset,
                            struct str table, bool is_private, struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "INSERT INTO side(dataset, name, private) VALUES(?, ?, ?)",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, table);
    sqlite3_bind_int(st, 3, is_private);
    return db_run(l, st, "could not write the ledger", err);
}

/* Compares, and adds new ones if `changes` is not NULL. */
static enum status sides(struct ledger *l, struct str dataset,
                         const struct str *tables, size_t n, bool is_private,
                         bool *changes, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        int have = -1;
        TRY(side_of(l, dataset, tables[i], &have, err));
        if (have >= 0 && have != is_private)
            return changed("set of private tables", err);
        if (have < 0 && changes) {
            TRY(put_side(l, dataset, tables[i], is_private, err));
            *changes = true;
        }
    }
    return OK;
}

static enum status both_sides(struct ledger *l, struct str dataset,
                              const struct ledger_policy *p, bool *changes,
                              struct err *err)
{
    TRY(sides(l, dataset, p->private_, p->n_private, true, changes, err));
    return sides(l, dataset, p->public_, p->n_public, false, changes, err);
}

static enum status core_fits(const struct policy_fit *b, struct err *err)
{
    if (!b->core)
        return OK;
    return !b->unit         ? changed("unit", err)
           : !b->neighbours ? changed("kind of neighbours", err)
           : !b->order      ? changed("order of neighbours", err)
                            : OK;
}

static void policy_hash(const struct ledger_policy *p, char out[SHA256_HEX])
{
    sha256_text(p->text.p, p->text.n, out);
}

enum status ledger_bound(struct ledger *l, struct str dataset,
                         const struct ledger_policy *p, struct err *err)
{
    struct policy_fit b;
    char hash[SHA256_HEX];
    policy_hash(p, hash);
    TRY(compare_row(l, dataset, p, hash, &b, err));
    TRY(core_fits(&b, err));
    TRY(both_sides(l, dataset, p, NULL, err));
    return b.whole && !b.policy ? changed("policy", err) : OK;
}

/* --- fixing it
 * ------------------------------------------------------------------- */

static enum status store(struct ledger *l, struct str dataset,
                         const struct ledger_policy *p, const char *hash,
                         struct err *err)
{
    sqlite3_stmt *st = NULL;
    TRY(db_prepare(l,
                   "UPDATE dataset SET unit = ?2, neighbours = ?3,"
                   " row_order = ?4, policy = coalesce(?5, policy)"
                   " WHERE name = ?1",
                   &st, err));
    db_bind(st, 1, dataset);
    db_bind(st, 2, p->unit);
    db_bind(st, 3, p->neighbours);
    db_bind(st, 4, p->order);
    if (hash)
        db_bind(st, 5, str_of(hash));
    return db_run(l, st, "could not write the ledger", err);
}

static enum status log_bind(struct ledger *l, struct arena *a,
                            struct str dataset, const struct ledger_policy *p,
                            const char *hash, struct err *err)
{
    struct sb b;
    sb_init(&b, a);
    sb_printf(&b, "%zu %.*s\n%s\n%.*s\n%.*s\n%.*s\n", dataset.n, PSTR(dataset),
              hash ? hash : "", PSTR(p->unit), PSTR(p->neighbours),
              PSTR(p->order));
    for (size_t i = 0; i < p->n_private; i++)
        sb_printf(&b, "private %.*s\n", PSTR(p->private_[i]));
    for (size_t i = 0; i < p->n_public; i++)
        sb_printf(&b, "public %.*s\n", PSTR(p->public_[i]));
    return b.failed ? err_nomem(err)
                    : chain_add(l, a, "bind", sb_view(&b), NULL, err);
}

enum status dataset_bind(struct ledger *l, struct arena *a, struct str dataset,
                         const struct ledger_policy *p, bool whole,
                         struct err *err)
{
    struct policy_fit b;
    char hash[SHA256_HEX];
    bool changes = false;
    if (!p->unit.n || !p->neighbours.n || !p->order.n)
        return err_internal(err, "dataset_bind");
    policy_hash(p, hash);
    TRY(compare_row(l, dataset, p, hash, &b, err));
    TRY(core_fits(&b, err));
    TRY(both_sides(l, dataset, p, &changes, err));
    if (!whole && b.whole && !b.policy)
        return changed("policy", err);
    if (b.core && !changes && (!whole || b.policy))
        return OK;
    TRY(store(l, dataset, p, whole ? hash : NULL, err));
    return log_bind(l, a, dataset, p, whole ? hash : NULL, err);
}

/* Nothing is spent: nothing is fixed. */
static enum status forget(struct ledger *l, struct str dataset, struct err *err)
{
    static const char *const sql[] = {
        "DELETE FROM side WHERE dataset = ?",
        "UPDATE dataset SET policy = '', unit = '', neighbours = '',"
        " row_order = '' WHERE name = ?"};
    int64_t spent = 0;
    TRY(db_number_of(l, "SELECT count(*) FROM charged WHERE dataset = ?",
                     dataset, 0, &spent, err));
    for (int i = 0; !spent && i < 2; i++) {
        sqlite3_stmt *st = NULL;
        TRY(db_prepare(l, sql[i], &st, err));
        db_bind(st, 1, dataset);
        TRY(db_run(l, st, "could not write the ledger", err));
    }
    return OK;
}

enum status ledger_bind(struct ledger *l, struct str dataset,
                        const struct ledger_policy *policy,
                        const struct ledger_limits *limits, struct err *err)
{
    struct arena a;
    TRY(db_begin(l, err));
    arena_init(&a, l->mem);
    enum status s = forget(l, dataset, err);
    if (s == OK)
        s = dataset_bind(l, &a, dataset, policy, true, err);
    if (s == OK && limits)
        s = dataset_set_limits(l, &a, dataset, limits, err);
    s = db_end(l, s, err);
    arena_fini(&a);
    return s;
}
