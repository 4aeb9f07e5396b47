/*
 * Ledger files from anywhere: opening, verifying, reading and charging never
 * crash, hang or leak; every error has a message; and after a charge that
 * succeeded on a file that verified, the file verifies.
 *
 * An input that starts with '=' is lines of text, put into the amounts of a
 * sound ledger; any other is the file itself.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include <unistd.h>

#include "harness/ledger_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[80], wal[96], shm[96];

static void defect(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static void clean(void)
{
    unlink(path);
    unlink(wal);
    unlink(shm);
}

static void leave(void)
{
    clean();
    rmdir(folder);
}

/* In memory where there is such a file system: SQLite syncs a lot. */
static void prepare(void)
{
    if (folder[0]) {
        clean();
        return;
    }
    strcpy(folder, "/dev/shm/dpc-fuzz-XXXXXX");
    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/dpc-fuzz-XXXXXX");
        if (!mkdtemp(folder))
            exit(1);
    }
    snprintf(path, sizeof path, "%s/l", folder);
    snprintf(wal, sizeof wal, "%s-wal", path);
    snprintf(shm, sizeof shm, "%s-shm", path);
    atexit(leave);
}

static void put_file(struct str bytes)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes.p, 1, bytes.n, f) != bytes.n || fclose(f))
        exit(1);
}

static struct str line(struct str *rest)
{
    const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct str out = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
    rest->p += out.n + (end != NULL);
    rest->n -= out.n + (end != NULL);
    return out;
}

static bool first_charge(void)
{
    const struct ledger_request r = {.query = STR("q"), .mechanism = STR("m")};
    struct mem m;
    struct arena a;
    struct ledger *l = NULL;
    struct ledger_hold *h = NULL;
    struct price p;
    struct err err;
    mem_init(&m, 0);
    arena_init(&a, &m);
    price_init(&p);
    mpq_set_ui(p.epsilon, 1, 10);
    bool good = kit_open(&m, path, &l, &err) == OK &&
                kit_hold(l, &a, &r, &p, &h, &err) == OK &&
                ledger_commit(h, &STR("{}"), &err) == OK;
    ledger_close(l);
    price_fini(&p);
    arena_fini(&a);
    return good;
}

/* A sound ledger, built once and then copied. */
static void put_sound(enum composition c)
{
    static char bytes[2][1 << 17];
    static size_t n[2];
    struct err err;
    mpq_t half;
    if (n[c]) {
        put_file((struct str){bytes[c], n[c]});
        return;
    }
    mpq_init(half);
    mpq_set_ui(half, 1, 2);
    if (kit_create(path, c, half, half, &err) != OK || !first_charge())
        exit(1);
    mpq_clear(half);
    FILE *f = fopen(path, "rb");
    if (!f || !(n[c] = fread(bytes[c], 1, sizeof bytes[c], f)) || fclose(f))
        exit(1);
}

/* The lines as what a sound ledger and a charge in it hold. */
static void put_amounts(struct str text)
{
    static const char *const sql[] = {
        "UPDATE account SET epsilon = ?1, delta = ?2, spent_epsilon = ?3,"
        " spent_delta = ?4, spent_rho = ?5",
        "UPDATE charged SET epsilon = ?1, delta = ?2, rho = ?3",
        "UPDATE dataset SET least_price = ?1, most_price = ?2,"
        " bits_before = ?3, bits_now = ?4, unit = ?5",
        "UPDATE event SET hash = ?1, salt = ?2, text = ?3 WHERE n = 2"};
    sqlite3 *db = NULL;
    put_sound(str_is(line(&text), "z") ? COMPOSE_ZCDP : COMPOSE_SUM);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        exit(1);
    sqlite3_exec(db,
                 "PRAGMA synchronous = OFF; DROP TRIGGER charge_once;"
                 "DROP TRIGGER event_once",
                 NULL, NULL, NULL);
    for (int k = 0; k < 4 && text.n; k++) {
        sqlite3_stmt *st;
        if (sqlite3_prepare_v2(db, sql[k], -1, &st, NULL) != SQLITE_OK)
            exit(1);
        for (int i = 1; i <= sqlite3_bind_parameter_count(st); i++) {
            struct str s = line(&text);
            sqlite3_bind_text(st, i, s.p, (int)s.n, SQLITE_STATIC);
        }
        sqlite3_step(st);
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
}

static enum status seen(void *ctx, const struct ledger_entry *e,
                        struct err *err)
{
    (void)err;
    *(size_t *)ctx += e->receipt.n + e->query.n + e->answer.n;
    return OK;
}

static enum status said(enum status s, struct err *err)
{
    if (s != OK && !err->message[0])
        defect("an error without message");
    *err = (struct err){0};
    return s;
}

static void use(struct ledger *l, struct arena *a)
{
    const struct ledger_request r = {.query = STR("Q"), .mechanism = STR("m")};
    struct ledger_balance b;
    struct price p;
    struct ledger_hold *receipt = NULL;
    struct ledger_found found;
    struct err err = {0};
    size_t n = 0;
    balance_init(&b);
    price_init(&p);
    mpq_set_ui(p.epsilon, 1, 100);
    bool sound = said(ledger_verify(l, &err), &err) == OK;
    said(ledger_balance(l, STR(""), STR(""), &b, &err), &err);
    said(ledger_count(l, STR(""), STR(""), &b, &err), &err);
    said(ledger_history(l, (struct str){0}, seen, &n, &err), &err);
    said(ledger_find(l, a, &r, &p, &found, &err), &err);
    struct ledger_state state;
    struct ledger_limits limits;
    said(ledger_state(l, a, STR(""), &state, &err), &err);
    said(ledger_limits(l, a, STR(""), &limits, &err), &err);
    if (said(kit_hold(l, a, &r, &p, &receipt, &err), &err) == OK) {
        said(ledger_commit(receipt, &STR("{}"), &err), &err);
        if (sound && ledger_verify(l, &err) != OK)
            defect("a charge broke a sound ledger");
    }
    price_fini(&p);
    balance_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct arena a;
    struct ledger *l = NULL;
    struct err err = {0};
    struct str text = {(const char *)data, size};
    prepare();
    if (size && text.p[0] == '=')
        put_amounts((struct str){text.p + 1, text.n - 1});
    else
        put_file(text);
    mem_init(&m, 64 << 20);
    arena_init(&a, &m);
    /* every input is a copy, and some are of version 0.1 */
    said(ledger_adopt(&m, path, NULL, &err), &err);
    if (said(kit_open(&m, path, &l, &err), &err) == OK)
        use(l, &a);
    ledger_close(l);
    arena_fini(&a);
    if (atomic_load(&m.used))
        defect("memory is left");
    return 0;
}
