/*
 * The file itself: which it is, and whether anybody else can write it. A copy
 * of a ledger would be a second budget for the same data, so the ledger knows
 * its inode and birth time. (A file that is overwritten in place keeps both:
 * only the anchor sees that.)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/db.h"

static enum status not_a_ledger(const char *path, const char *why,
                                struct err *err)
{
    err_set(err, E_LEDGER, "\"%s\" is not a ledger of this program", path);
    err_detail(err, "%s", why);
    err_hint(err, "Make a new one with: dpcount budget init --ledger FILE "
                  "--epsilon E");
    return E_LEDGER;
}

static enum status unsafe(const char *path, const char *why, const char *hint,
                          struct err *err)
{
    err_set(err, E_LEDGER, "ledger \"%s\" is not safe", path);
    err_detail(err, "%s", why);
    err_hint(err, "%s", hint);
    return E_LEDGER;
}

/* Messages have the name as it was given: where folders really lie is not the
 * analyst's business. */
enum status ledger_file_check(const char *name, const char *path,
                              bool read_only, struct err *err)
{
    struct stat st;
    if (lstat(name, &st)) {
        err_set(err, E_LEDGER, "could not find ledger \"%s\"", path);
        err_detail(err, "%s.", strerror(errno));
        err_hint(err, "The owner makes it with: dpcount budget init --ledger "
                      "FILE --epsilon E");
        return E_LEDGER;
    }
    if (S_ISLNK(st.st_mode))
        return not_a_ledger(path, "It is a symbolic link.", err);
    if (!S_ISREG(st.st_mode))
        return not_a_ledger(path, "It is not a plain file.", err);
    if (st.st_mode & 022)
        return unsafe(path, "Others than its owner may write to it.",
                      "Take that right away: chmod 0600 FILE.", err);
    if (st.st_nlink != 1)
        return unsafe(path, "It has several names (hard links).",
                      "Remove the other names: one budget, one name.", err);
    if (!read_only && st.st_uid != geteuid())
        return unsafe(path, "It belongs to another user.",
                      "Run the program as the user who owns it.", err);
    return OK;
}

enum status identity_of(const char *name, struct identity *out, struct err *err)
{
    struct statx x;
    if (statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME,
              &x)) {
        err_set(err, E_LEDGER, "could not look at the ledger");
        err_detail(err, "%s.", strerror(errno));
        return E_LEDGER;
    }
    bool born = x.stx_mask & STATX_BTIME;
    snprintf(out->inode, sizeof out->inode, "%llu",
             (unsigned long long)x.stx_ino);
    snprintf(out->born, sizeof out->born, "%lld.%09u",
             born ? (long long)x.stx_btime.tv_sec : 0,
             born ? x.stx_btime.tv_nsec : 0);
    return OK;
}

enum status identity_store(struct ledger *l, struct err *err)
{
    struct identity id;
    sqlite3_stmt *st = NULL;
    TRY(identity_of(l->name, &id, err));
    TRY(db_prepare(l,
                   "INSERT OR REPLACE INTO about(one, inode, born)"
                   " VALUES(1, ?, ?)",
                   &st, err));
    db_bind(st, 1, str_of(id.inode));
    db_bind(st, 2, str_of(id.born));
    return db_run(l, st, "could not write the ledger", err);
}

enum status identity_check(struct ledger *l, const char *path, struct err *err)
{
    struct identity id;
    sqlite3_stmt *st = NULL;
    bool row = false;
    TRY(identity_of(l->name, &id, err));
    TRY(db_prepare(l, "SELECT inode, born FROM about", &st, err));
    TRY(db_step(l, st, &row, err));
    bool same = row && str_is(db_text(st, 0), id.inode) &&
                str_is(db_text(st, 1), id.born);
    db_done(l, st);
    if (same)
        return OK;
    err_set(err, E_MOVED, "\"%s\" is a copy of a ledger", path);
    err_detail(err, "Two of them would be two budgets for the same data.");
    err_hint(err, "If the other one is gone for good, the owner takes this one "
                  "with: dpcount budget adopt --ledger FILE");
    return E_MOVED;
}
