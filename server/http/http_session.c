/*
 * Who a request is from, and its channels. The process that signs in keeps
 * the sessions; here is only what this connection needs: a channel to each
 * data set that it looked at, which is the analyst's and nobody else's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "http/http_int.h"

enum { AUTH_MS = 30000, SNAPSHOT_MS = 5000 };

/* --- the process that signs in
 * --------------------------------------------------- */

static bool send_web(struct http_session *s, enum ipc_web what, const char *a,
                     const char *b)
{
    ipc_begin(&s->auth, IPC_WEB);
    wire_put8(&s->auth.out, (uint8_t)what);
    wire_put_text(&s->auth.out, a);
    wire_put_text(&s->auth.out, b);
    ipc_end(&s->auth);
    s->broken = s->broken || !ipc_flush_all(&s->auth);
    return !s->broken;
}

/* The reply: IPC_WEB_REPLY or IPC_SIGNED. */
static char web_reply(struct http_session *s, struct wire_in *in)
{
    char type = 0;
    if (s->broken || !ipc_wait(&s->auth, AUTH_MS, &type, in)) {
        s->broken = true;
        return 0;
    }
    return type;
}

bool http_sign_in(struct http_session *s, const char *user,
                  const char *password, bool transient,
                  char token[HTTP_TOKEN + 1])
{
    struct wire_in in;
    const char *got;
    if (!send_web(s, transient ? IPC_WEB_LOGIN_ONCE : IPC_WEB_LOGIN, user,
                  password) ||
        web_reply(s, &in) != IPC_WEB_REPLY || !wire_get8(&in))
        return false;
    got = wire_get_text(&in);
    if (in.bad || strlen(got) != HTTP_TOKEN)
        return false;
    memcpy(token, got, HTTP_TOKEN + 1);
    return true;
}

static void close_channel(struct http_channel *c)
{
    if (!c->open)
        return;
    ipc_fini(&c->desk);
    dpc_dataset_free(c->snapshot);
    *c = (struct http_channel){0};
}

static void forget_channels(struct http_session *s)
{
    for (size_t i = 0; i < s->n_channels; i++)
        close_channel(&s->channels[i]);
    s->n_channels = 0;
}

void http_sign_out(struct http_session *s, const char *token)
{
    struct wire_in in;
    if (send_web(s, IPC_WEB_OUT, token, ""))
        web_reply(s, &in);
    forget_channels(s);
    s->token[0] = 0;
}

json_t *http_who(struct http_session *s, const char *token)
{
    struct wire_in in;
    json_t *o;
    if (!send_web(s, IPC_WEB_WHO, token, "") ||
        web_reply(s, &in) != IPC_WEB_REPLY || !wire_get8(&in))
        return NULL;
    wire_get_text(&in);
    o = json_loads(wire_get_text(&in), 0, NULL);
    return o;
}

/* --- data sets
 * --------------------------------------------------------------------- */

static void take_snapshot(struct http_channel *c, struct wire_in *in)
{
    bool catalogue = wire_get8(in);
    size_t n = wire_get32(in);
    int fd = ipc_take_fd(&c->desk);
    void *p;
    if (fd < 0)
        return;
    p = catalogue || c->snapshot ? MAP_FAILED
                                 : mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return;
    if (dpc_dataset_import(p, n, &c->snapshot, NULL) != DPC_OK)
        c->snapshot = NULL;
    munmap(p, n);
}

/* The snapshot comes by itself, once the data set is loaded. */
static void await_snapshot(struct http_channel *c)
{
    char type;
    struct wire_in in;
    for (int i = 0; !c->snapshot && i < 2; i++)
        if (!ipc_wait(&c->desk, SNAPSHOT_MS, &type, &in))
            return;
        else if (type == IPC_CATALOGUE)
            take_snapshot(c, &in);
}

static struct http_channel *open_channel(struct http_session *s,
                                         const char *token, const char *dataset,
                                         unsigned *status)
{
    struct http_channel *c = &s->channels[s->n_channels];
    struct wire_in in;
    char type;
    int fd;
    *status = 503;
    if (!send_web(s, IPC_WEB_OPEN, token, dataset))
        return NULL;
    type = web_reply(s, &in);
    if (type == IPC_WEB_REPLY) {
        const char *why;
        wire_get8(&in);
        why = wire_get_text(&in);
        *status = !strcmp(why, "who")       ? 401
                  : !strcmp(why, "dataset") ? 404
                                            : 503;
        return NULL;
    }
    fd = type == IPC_SIGNED ? ipc_take_fd(&s->auth) : -1;
    if (fd < 0)
        return NULL;
    wire_get_text(&in);
    snprintf(s->user, sizeof s->user, "%s", wire_get_text(&in));
    snprintf(c->dataset, sizeof c->dataset, "%s", wire_get_text(&in));
    c->spend = wire_get8(&in);
    c->open = true;
    ipc_init(&c->desk, fd, IPC_REPLY_MOST);
    s->n_channels++;
    await_snapshot(c);
    return c;
}

struct http_channel *http_channel(struct http_session *s, const char *token,
                                  const char *dataset, unsigned *status)
{
    *status = 200;
    if (strcmp(s->token, token)) {
        forget_channels(s);
        snprintf(s->token, sizeof s->token, "%s", token);
    }
    for (size_t i = 0; i < s->n_channels; i++) {
        struct http_channel *c = &s->channels[i];
        if (strcmp(c->dataset, dataset))
            continue;
        if (!c->desk.closed && c->snapshot)
            return c;
        close_channel(c);
        *c = s->channels[--s->n_channels];
        s->channels[s->n_channels] = (struct http_channel){0};
        break;
    }
    if (s->n_channels == HTTP_CHANNELS_MOST)
        forget_channels(s);
    return open_channel(s, token, dataset, status);
}

/* --- asking
 * -------------------------------------------------------------------------- */

static bool read_reply(struct http_channel *c, struct wire_in *in,
                       struct reply *out)
{
    size_t n = in->n - in->at;
    unsigned char *copy = malloc(n + 1);
    struct wire_in own;
    (void)c;
    if (!copy)
        return false;
    memcpy(copy, in->p + in->at, n);
    own = wire_in_of(copy, n);
    if (!reply_read(&own, out)) {
        free(copy);
        return false;
    }
    out->bytes = copy;
    return true;
}

static bool await_reply(struct http_channel *c, struct reply *out)
{
    char type;
    struct wire_in in;
    while (ipc_wait(&c->desk, -1, &type, &in)) {
        if (type == IPC_CATALOGUE)
            take_snapshot(c, &in);
        else if (type == IPC_REPLY && wire_get32(&in) == c->request)
            return read_reply(c, &in, out);
    }
    return false;
}

bool http_ask(struct http_channel *c, const struct question_text *q,
              struct reply *out)
{
    ipc_begin(&c->desk, IPC_ASK);
    wire_put32(&c->desk.out, ++c->request);
    question_write(&c->desk.out, q);
    ipc_end(&c->desk);
    return ipc_flush_all(&c->desk) && await_reply(c, out);
}

bool http_ledger(struct http_channel *c, char type, struct reply *out)
{
    ipc_begin(&c->desk, type);
    wire_put32(&c->desk.out, ++c->request);
    ipc_end(&c->desk);
    return ipc_flush_all(&c->desk) && await_reply(c, out);
}
