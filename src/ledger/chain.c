/*
 * The chain of events: each change of the ledger is an event in the same
 * transaction, h_n = SHA-256(h_{n-1} || SHA-256(salt_n || text)), h_0 zeroes.
 * Whoever has noted a head (n, h_n) sees later whether the ledger still passes
 * through it. PRIVACY: the salt, 128 random bits that stay in the file, keeps
 * a head from being compared with guesses at the text.
 *
 * The text of a hold or a commit is made from its rows, so verification also
 * finds rows that were changed. Cost: two hashes for an event.
 */
#include <string.h>
#include <sys/random.h>

#include "ledger/db.h"

enum { SALT_BYTES = 16, SALT_HEX = 33 };

enum status chain_random(void *p, size_t n, struct err *err)
{
    if (getrandom(p, n, 0) == (ssize_t)n) /* up to 256 bytes come whole */
        return OK;
    return err_set(err, E_ENTROPY, "the system gave no random bytes");
}

static enum status make_salt(char out[SALT_HEX], struct err *err)
{
    unsigned char bytes[SHA256_BYTES] = {0};
    char hex[SHA256_HEX];
    TRY(chain_random(bytes, SALT_BYTES, err));
    sha256_hex(bytes, hex);
    memcpy(out, hex, SALT_HEX - 1);
    out[SALT_HEX - 1] = 0;
    return OK;
}

/* Over the hexadecimal texts as they stand in the table. */
static void link_hash(struct str before, struct str salt, struct str text,
                      char out[SHA256_HEX])
{
    struct sha256 h;
    unsigned char inner[SHA256_BYTES];
    sha256_init(&h);
    sha256_add(&h, salt.p, salt.n);
    sha256_add(&h, text.p, text.n);
    sha256_end(&h, inner);
    sha256_init(&h);
    sha256_add(&h, before.p, before.n);
    sha256_add(&h, inner, sizeof inner);
    sha256_end(&h, inner);
    sha256_hex(inner, out);
}

static void genesis(struct ledger_head *out)
{
    *out = (struct ledger_head){0};
    memset(out->hash, '0', SHA256_HEX - 1);
}

enum status chain_head(struct ledger *l, struct ledger_head *out,
                       struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    genesis(out);
    TRY(db_prepare(l, "SELECT n, hash FROM event ORDER BY n DESC LIMIT 1", &st,
                   err));
    TRY(db_step(l, st, &row, err));
    struct str hash = row ? db_text(st, 1) : (struct str){0};
    bool whole = !row || hash.n == SHA256_HEX - 1;
    if (row && whole) {
        out->n = (uint64_t)sqlite3_column_int64(st, 0);
        memcpy(out->hash, hash.p, hash.n);
    }
    db_done(l, st);
    return whole ? OK : err_set(err, E_LEDGER, "the ledger's chain is broken");
}

enum status chain_add(struct ledger *l, struct arena *a, const char *kind,
                      struct str text, struct ledger_head *out, struct err *err)
{
    struct ledger_head head;
    char salt[SALT_HEX], hash[SHA256_HEX];
    sqlite3_stmt *st = NULL;
    struct str full = str_printf(a, "%s\n%.*s", kind, PSTR(text));
    if (!full.p || !text.p)
        return err_nomem(err);
    TRY(chain_head(l, &head, err));
    TRY(make_salt(salt, err));
    link_hash(str_of(head.hash), str_of(salt), full, hash);
    TRY(db_prepare(l,
                   "INSERT INTO event(kind, salt, text, hash, at, n)"
                   " VALUES(?, ?, ?, ?, " NOW ", ?)",
                   &st, err));
    db_bind(st, 1, str_of(kind));
    db_bind(st, 2, str_of(salt));
    db_bind(st, 3, full);
    db_bind(st, 4, str_of(hash));
    sqlite3_bind_int64(st, 5, (int64_t)head.n + 1);
    TRY(db_run(l, st, "could not write the ledger", err));
    if (!l->first_event)
        l->first_event = head.n + 1;
    if (out) {
        out->n = head.n + 1;
        memcpy(out->hash, hash, sizeof hash);
    }
    return OK;
}

/* --- texts made from rows ---------------------------------------------------
 */

/* Fields with their lengths, so that no two lists of fields look alike. */
static void add_fields(struct sb *b, sqlite3_stmt *st, int from, int to)
{
    struct sha256 h;
    unsigned char hash[SHA256_BYTES];
    char hex[SHA256_HEX];
    sha256_init(&h);
    for (int i = from; i < to; i++) {
        struct str s = db_text(st, i);
        uint64_t n = s.n;
        sha256_add(&h, &n, sizeof n);
        sha256_add(&h, s.p, s.n);
    }
    sha256_end(&h, hash);
    sha256_hex(hash, hex);
    sb_printf(b, " %s\n", hex);
}

enum status chain_hold_text(struct ledger *l, struct arena *a, int64_t number,
                            bool answers, struct str *out, struct err *err)
{
    struct sb b;
    sqlite3_stmt *st = NULL;
    bool row = false;
    sb_init(&b, a);
    sb_printf(&b, "%lld\n", (long long)number);
    TRY(db_prepare(l,
                   "SELECT receipt, epsilon, delta, rho, dataset, analyst,"
                   " source, query, mechanism, settings, version, sql,"
                   " coalesce(answer, '') FROM charged WHERE hold = ?"
                   " ORDER BY id",
                   &st, err));
    sqlite3_bind_int64(st, 1, number);
    for (;;) {
        TRY(db_step(l, st, &row, err));
        if (!row)
            break;
        sb_str(&b, db_text(st, 0));
        add_fields(&b, st, answers ? 12 : 1, answers ? 13 : 12);
    }
    db_done(l, st);
    *out = sb_view(&b);
    return b.failed ? err_nomem(err) : OK;
}

/* --- verification ------------------------------------------------------------
 */

static enum status broken(uint64_t n, struct err *err)
{
    return err_set(err, E_LEDGER, "the ledger's chain is broken at event %llu",
                   (unsigned long long)n);
}

/* Do the rows still say what the event says? */
static enum status rows_match(struct ledger *l, struct arena *a, uint64_t n,
                              struct str kind, struct str text, struct err *err)
{
    bool answers = str_is(kind, "commit");
    struct str made, at;
    if (!answers && !str_is(kind, "hold"))
        return OK;
    at = (struct str){text.p + kind.n, text.n - kind.n};
    long long number = 0;
    for (size_t i = 1; i < at.n && at.p[i] >= '0' && at.p[i] <= '9' &&
                       number < 1000000000000000LL;
         i++)
        number = number * 10 + (at.p[i] - '0');
    TRY(chain_hold_text(l, a, number, answers, &made, err));
    if (at.n != made.n + 1 || memcmp(at.p + 1, made.p, made.n) != 0)
        return broken(n, err);
    return OK;
}

static enum status verify_event(struct ledger *l, struct arena *a,
                                sqlite3_stmt *st, struct ledger_head *head,
                                struct err *err)
{
    char hash[SHA256_HEX];
    struct str kind = db_text(st, 1), text = db_text(st, 3);
    uint64_t n = (uint64_t)sqlite3_column_int64(st, 0);
    link_hash(str_of(head->hash), db_text(st, 2), text, hash);
    if (n != head->n + 1 || !str_is(db_text(st, 4), hash) || text.n <= kind.n ||
        memcmp(text.p, kind.p, kind.n) != 0)
        return broken(head->n + 1, err);
    head->n = n;
    memcpy(head->hash, hash, sizeof hash);
    return rows_match(l, a, n, kind, text, err);
}

enum status chain_verify(struct ledger *l, struct err *err)
{
    struct ledger_head head;
    struct arena a;
    sqlite3_stmt *st = NULL;
    int64_t holds = 0, events = 0;
    enum status s = OK;
    int rc;
    genesis(&head);
    TRY(db_number(l, "SELECT count(*) FROM hold", 0, 0, &holds, err));
    TRY(db_number(l, "SELECT count(*) FROM event WHERE kind IN ('hold', 'old')",
                  0, 0, &events, err));
    if (holds != events)
        return err_set(err, E_LEDGER, "the ledger's chain misses a hold");
    TRY(db_prepare(l, "SELECT n, kind, salt, text, hash FROM event ORDER BY n",
                   &st, err));
    while (s == OK && (rc = sqlite3_step(st)) != SQLITE_DONE) {
        arena_init(&a, l->mem);
        s = rc == SQLITE_ROW
                ? verify_event(l, &a, st, &head, err)
                : db_error(l->db, "could not read the ledger", err);
        arena_fini(&a);
    }
    db_done(l, st);
    return s;
}

/* --- heads
 * --------------------------------------------------------------------- */

enum status ledger_verify_head(struct ledger *l, const struct ledger_head *h,
                               struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    TRY(db_prepare(l, "SELECT hash FROM event WHERE n = ?", &st, err));
    sqlite3_bind_int64(st, 1, (int64_t)h->n);
    TRY(db_step(l, st, &row, err));
    bool same = row && str_is(db_text(st, 0), h->hash);
    db_done(l, st);
    if (same)
        return OK;
    err_set(err, E_ROLLBACK, "the ledger does not pass through head %llu",
            (unsigned long long)h->n);
    err_detail(err, "%s",
               row ? "At that place it has another event."
                   : "It has fewer events: an older state was restored.");
    err_hint(err, "What was spent since is not in it. Restore the newest "
                  "state; a budget that was spent stays spent.");
    return E_ROLLBACK;
}

enum status ledger_head_read(struct str text, struct ledger_head *out,
                             struct err *err)
{
    u128 n = 0;
    const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
    size_t at = colon ? (size_t)(colon - text.p) : 0;
    bool good = at && at <= 18 && text.n == at + SHA256_HEX &&
                u128_read(text.p, at, &n) && n;
    for (size_t i = at + 1; good && i < text.n; i++)
        good = (text.p[i] >= '0' && text.p[i] <= '9') ||
               (text.p[i] >= 'a' && text.p[i] <= 'f');
    if (!good)
        return err_set(err, E_VALUE,
                       "a head is N:HASH, as budget show prints it");
    out->n = (uint64_t)n;
    memcpy(out->hash, text.p + at + 1, SHA256_HEX - 1);
    out->hash[SHA256_HEX - 1] = 0;
    return OK;
}
