/*
 * The scratch of runners, kept from one request to the next: the arrays are
 * as long as the domain, and fresh memory costs a page fault for every few
 * hundred ids, which is more than a small request itself.
 *
 * Rooms are given back with all arrays zero, as jtree_reset leaves them, but
 * for the counts, which only rise: none is above `top`. They begin near the
 * end of the numbers, so that starting over is nothing rare. A runner that
 * stopped half way gives its room to the system instead.
 */
#include "join/message/message.h"

#include <string.h>

enum { FIRST_COUNTS = 256 };

struct room {
    struct room *next;
    uint32_t nodes, ids;
    struct twork main, other;
    uint32_t *only;
    uint8_t *asked;
    uint32_t *count;
    uint32_t top;
    struct candidate *lists[RUNNER_LISTS];
};

static void room_free(struct join *j, struct room *x)
{
    twork_close(&x->main);
    twork_close(&x->other);
    mem_free(j->mem, x, sizeof *x);
}

static struct room *room_new(struct join *j, uint32_t nodes, uint32_t ids,
                             struct err *err)
{
    struct room *x = mem_alloc(j->mem, sizeof *x);
    if (!x)
        return NULL;
    x->nodes = nodes;
    x->ids = ids;
    x->top = UINT32_MAX - FIRST_COUNTS;
    enum status s = twork_open(&x->main, j->mem, nodes, ids, err);
    enum status t = twork_open(&x->other, j->mem, nodes, ids, err);
    x->only = NEWS(&x->main.arena, uint32_t, ids);
    x->asked = NEWS(&x->main.arena, uint8_t, ids);
    x->count = NEWS(&x->main.arena, uint32_t, ids);
    if (s == OK && t == OK && x->only && x->asked && x->count)
        return x;
    room_free(j, x);
    return NULL;
}

/* A kept room, if it is large enough; a smaller one goes. */
static struct room *room_take(struct join *j, uint32_t nodes, uint32_t ids)
{
    pthread_mutex_lock(&j->rooms_lock);
    struct room *x = j->rooms;
    if (x)
        j->rooms = x->next;
    pthread_mutex_unlock(&j->rooms_lock);
    if (x && (x->nodes < nodes || x->ids < ids)) {
        room_free(j, x);
        x = NULL;
    }
    return x;
}

void rooms_free(struct join *j)
{
    while (j->rooms) {
        struct room *x = j->rooms;
        j->rooms = x->next;
        room_free(j, x);
    }
    pthread_mutex_destroy(&j->rooms_lock);
}

enum status runner_open(struct runner *r, const struct plan *p, struct err *err)
{
    memset(r, 0, sizeof *r);
    r->p = p;
    r->most = UINT64_MAX;
    struct room *x = room_take(p->j, p->max_nodes, p->max_n);
    if (!x)
        x = room_new(p->j, p->max_nodes, p->max_n, err);
    if (!x)
        return err_nomem(err);
    r->room = x;
    r->main = x->main;
    r->other = x->other;
    r->main.ids = r->other.ids = 0;
    r->only = x->only;
    r->asked = x->asked;
    r->count = x->count;
    r->top = x->top;
    return OK;
}

void runner_recount(struct runner *r, uint32_t most)
{
    if (r->top > UINT32_MAX - most) {
        memset(r->count, 0, r->room->ids * sizeof *r->count);
        r->top = 0;
    }
    r->zero = r->top;
    r->top += most;
}

struct candidate *runner_list(struct runner *r, uint32_t i)
{
    struct room *x = r->room;
    if (!x->lists[i])
        x->lists[i] = NEWS(&r->main.arena, struct candidate, x->ids);
    return x->lists[i];
}

void runner_close(struct runner *r)
{
    struct room *x = r->room;
    struct join *j = r->p->j;
    if (!x)
        return;
    x->main = r->main;
    x->other = r->other;
    x->top = r->top;
    if (r->wide || r->stop || r->tired || r->main.wide || r->other.wide) {
        room_free(j, x);
        return;
    }
    pthread_mutex_lock(&j->rooms_lock);
    x->next = j->rooms;
    j->rooms = x;
    pthread_mutex_unlock(&j->rooms_lock);
}
