/*
 * Work in a process of its own. What touches private rows can be killed, run
 * out of memory or crash; none of that may show, so it happens where nobody
 * looks: in a child that has limits, no terminal and no descriptors but a
 * pipe, and whose end in whatever way is one outcome for the parent.
 *
 * PRIVACY: the parent sees the message that the child's function returned (a
 * noisy answer), or that there is none. What the child says of a failure is
 * for the owner.
 */
#ifndef RELEASE_CHILD_H
#define RELEASE_CHILD_H

#include "base/err.h"
#include "base/str.h"

/* Runs in the child; fills *out, which lives in memory of the child. */
typedef enum status child_fn(void *ctx, struct str *out, struct err *err);

struct child_limits {
    size_t memory;    /* bytes beyond what the parent has; 0: no limit */
    uint64_t seconds; /* of processor time; 0: no limit */
    size_t most;      /* bytes of the message; 0: 64 MB */
    const int *keep;  /* descriptors that stay open besides the pipe */
    size_t n_keep;
    /* On the calling thread while the child works: milliseconds after which
     * to ask again at the latest (100 at most), negative to end the child.
     * NULL: it may take as long as it wants. */
    int (*wait)(void *ctx);
    void *ctx;
    /* It outlives its parent, and is not ended but left alone (E_CANCELLED)
     * when `wait` says so. */
    bool detached;
};

/*
 * Forks; fn runs in the child and its message comes back in the arena. Only for
 * a process with one thread (child_possible). The child dies with its parent
 * unless it is detached; it does not hear the terminal's interrupts. Any end
 * without a message is an error: that of fn, or E_CHILD with what the system
 * says of the end.
 */
enum status child_run(struct arena *a, const struct child_limits *limits,
                      child_fn *fn, void *ctx, struct str *out,
                      struct err *err) WARN_UNUSED;
/*
 * The parts of child_run, for a server's children (post.h). child_start forks:
 * fn's message goes to fd. child_listen waits for it there; `process` is a
 * descriptor of the child by which it can be killed, or negative.
 * child_settle makes this process a server: no terminal, no descriptors but
 * these. child_exit ends it.
 */
int child_start(int fd, const struct child_limits *limits, child_fn *fn,
                void *ctx);
enum status child_listen(int fd, int process, struct arena *a,
                         const struct child_limits *limits, struct str *out,
                         struct err *err) WARN_UNUSED;
/* What child_listen hears, of a child that does not end with it. */
void child_say(int fd, enum status s, struct str message,
               const struct err *why);
void child_settle(int fd, const int *keep, size_t n_keep);
void child_exit(void) __attribute__((noreturn));
/* E_USAGE if this process has several threads. */
enum status child_possible(struct err *err) WARN_UNUSED;

#endif
