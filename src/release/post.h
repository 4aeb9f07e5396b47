/*
 * A process that answers requests, each in a child of its own. It is forked
 * while its maker has one thread; afterwards any thread, and any process that
 * inherited the descriptor, may ask.
 *
 *   who asks                         server                  child
 *   one end of a new pair  --------> takes the request
 *                                    prepares, forks ------> answers, ends
 *   descriptor of the child, frame (child.h) <--------------
 *
 * Where a child takes no part in anything private it may answer one request
 * after the other (`staying`): a process is not made and ended for each, and
 * what it has open stays open. The server gives a request to one that is idle,
 * or forks another.
 *
 * The server ends when nobody has its descriptor any more. PRIVACY: like every
 * process of child.h it cannot be dumped or traced, and has no terminal.
 */
#ifndef RELEASE_POST_H
#define RELEASE_POST_H

#include "release/child.h"

struct post_server {
    const char *name; /* of the process, up to 15 bytes */
    void *ctx;
    /* In the server itself, with one thread, before the fork; may be NULL.
     * False: what children inherited is of the past, so none of those that
     * stay is asked again. They read the request themselves: it is empty. */
    bool (*prepare)(void *ctx, struct str request);
    /* Of the child; may be NULL: none. */
    struct child_limits (*limits)(void *ctx, struct str request);
    /* In the child; *out may be in the arena. `asker` is readable once nobody
     * waits for the answer. */
    enum status (*answer)(void *ctx, struct arena *a, struct str request,
                          int asker, struct str *out, struct err *err);
    const int *keep; /* descriptors that the server and its children need */
    size_t n_keep;
    unsigned staying; /* idle children that are kept; 0: each answers once */
    unsigned answers; /* of one that stays, before it ends */
};

/* Forks the server; its descriptor is for post_ask. Only for a process with
 * one thread (child_possible). */
enum status post_start(const struct post_server *s, int *out,
                       struct err *err) WARN_UNUSED;
/* Does it still listen? */
bool post_alive(int fd);
/*
 * The answer, in the arena. Of `l` the members most, wait, ctx and detached
 * hold: when the wait ends the child is killed, or left alone (E_CANCELLED) if
 * it is detached. E_CHILD: there is no answer, and why.
 */
enum status post_ask(int fd, struct arena *a, struct str request,
                     const struct child_limits *l, struct str *out,
                     struct err *err) WARN_UNUSED;

#endif
