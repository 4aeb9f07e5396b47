/*
 * Are the files of a source a database of which everything declared is true?
 * Asked of the whole source before any question, once for each content; the
 * ledger remembers (a seal). release/seal.c is the command that gives a
 * content a name.
 *
 * PRIVACY: the answer is the same for every question: all tables and columns
 * are read whatever is asked, and a failure is one text. It is one bit for
 * each content that the source has, shown to whom the owner lets ask at once.
 */
#ifndef RELEASE_VALIDITY_H
#define RELEASE_VALIDITY_H

#include "release/evaluate.h"

struct ledger;

/* What is known of a source's content. */
struct validity {
    struct str version; /* the owner's name for it, or "live" */
    struct str source;  /* where the data are */
    bool checkable;     /* it has files, and they can be read twice */
    bool sealed;        /* has a name, and must have that content */
    bool copy;          /* the file of seal --out: must be sealed */
    struct source_print print;
    /* Names, sizes and times of its files, and the youngest time in seconds;
     * empty where those do not tell whether it changed. */
    struct str stamp;
    int64_t newest;
};

/* validity_known.c: fingerprints that one child of a steward leaves to the
 * next. NULL: there is no memory to share. */
void *validity_known_new(void);
void validity_known_free(void *known);
/* Do processes have it that are forked from now on? */
void validity_known_inherit(void *known, bool yes);
bool validity_known_get(struct prepared *p, struct validity *v);
void validity_known_put(struct prepared *p, const struct validity *v);

/* Names the version. p->source is open. */
enum status validity_open(struct prepared *p, struct ledger *l,
                          struct validity *out, struct err *err) WARN_UNUSED;
/*
 * E_DATA (one text) or E_STALE. Fills the print, which a later load must have.
 * p->source is closed, and is so afterwards; the work is done in processes of
 * their own where that is possible. *why is for the owner.
 */
enum status validity_check(struct prepared *p, struct ledger *l,
                           struct validity *v, struct err *why,
                           struct err *err) WARN_UNUSED;
/* Which engine auto takes for all questions on the version v, decided when the
 * first is asked and kept in the ledger; sets p->engine. Nothing where no
 * database counts, or an engine is named. p->source is open. */
enum status validity_engine(struct prepared *p, struct ledger *l,
                            const struct validity *v,
                            struct err *err) WARN_UNUSED;
/* SHA-256 of what is declared: types, NOT NULL, constraints. */
enum status validity_declared(struct prepared *p, struct str *out,
                              struct err *err) WARN_UNUSED;
/* The keyed hash of a content. */
enum status validity_fingerprint(struct prepared *p, struct ledger *l,
                                 const struct source_print *print,
                                 struct str *out, struct err *err) WARN_UNUSED;

#endif
