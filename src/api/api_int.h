/*
 * What the objects of dpcount.h are made of. No logic: options are kept, calls
 * put the two sides together and ask the modules below.
 */
#ifndef API_API_INT_H
#define API_API_INT_H

#include "dpcount.h"
#include "release/prepare.h"
#include "release/release.h"

struct dpc_error {
    struct err e;
    struct mem mem;
    struct arena arena;
    struct sb json;
};

/* Who is told how far a call is, and how it is stopped. */
struct watcher {
    dpc_progress_fn fn; /* NULL: nobody */
    void *ctx;
    atomic_bool cancelled;
};

/* How a table looks to users, made at the open. */
struct dataset_table;

struct dpc_dataset {
    struct mem mem;
    struct arena arena;
    struct options opt; /* the owner's, and no others */
    struct watcher watcher;
    bool opened;
    /* What was read at the open, and the call it was read by; NULL: nothing,
     * every call reads. Not changed afterwards. */
    struct prepared *base;
    struct session *session;
    int steward; /* the process that asks for it: descriptor; 0: none */
    struct dataset_table *tables;
    size_t n_tables;
};

struct dpc_question {
    struct mem mem;
    struct arena arena;
    struct str query;
    struct options opt; /* the analyst's, and no others */
    struct watcher watcher;
    bool error_columns;
};

struct dpc_result {
    struct result r;
};

/* Gives *out the error, if anybody wants it, and the status it is. */
dpc_status dpc_fail(const struct err *e, dpc_error **out);
/* A zeroed block that is not in any budget; NULL when memory is out. */
void *dpc_new(size_t n);
void dpc_delete(void *p, size_t n);
/* Makes the list of tables of an open data set. */
enum status dpc_list_tables(dpc_dataset *d, struct err *err);
/* A call begins: the options of both sides, the caller's way to stop it. The
 * session is the caller's, zeroed; end it with dpc_end. */
void dpc_begin(struct session *s, const dpc_dataset *d, dpc_question *q);
void dpc_end(struct session *s, const dpc_dataset *d, dpc_question *q);

#endif
