/*
 * Sign-in: see auth.h.
 *
 * For a name that nobody has the same messages are exchanged as for one that
 * somebody has (scram_verifier_mock), and the rejection is the same.
 * Guessing: after five wrong tries for one name from one place every try from
 * there is rejected for a second, then two, four, ... up to a minute. The
 * place is part of it, so that no stranger can lock somebody out.
 */
#include "serve/auth.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/ipc.h"
#include "serve/passwords.h"
#include "serve/proc.h"
#include "serve/websessions.h"
#include "serve/who.h"

enum {
    CLIENTS_MOST = 12000,
    PEERS_MOST = CONF_DATASETS_MOST + CONF_LIST_MOST,
    GUESSES = 1024, /* places that are remembered */
    TRIES = 5,
    DELAY_MOST_MS = 60000
};

enum client_state { CLIENT_NEW, CLIENT_FIRST, CLIENT_FINAL, CLIENT_SIGNED };

struct client {
    struct ipc ipc;
    enum client_state state;
    uint32_t pid, key, session;
    bool local, web; /* web: comes by HTTP */
    uid_t uid;
    char address[64], user[64], database[64], application[64];
    struct scram scram;
};

/* A channel to a data set's desk, or to a listener. */
struct auth_peer {
    struct ipc ipc;
    bool desk, web;
    char name[64];
};

struct guess {
    char user[64], address[64];
    unsigned failures;
    long blocked_until, last;
};

struct auth {
    struct conf *conf;
    struct ipc control;
    struct client *clients[CLIENTS_MOST];
    size_t n_clients;
    struct auth_peer peers[PEERS_MOST];
    size_t n_peers;
    struct guess guesses[GUESSES];
    unsigned char secret[SCRAM_KEY];
    unsigned char certificate[64]; /* hash of it, for channel binding */
    size_t n_certificate;
    uint32_t sessions;
};

/* --- the certificate --------------------------------------------------------
 */

/* RFC 5929: the hash of the certificate's signature, MD5 and SHA-1 replaced by
 * SHA-256. */
static void hash_certificate(struct auth *a)
{
    int md = NID_undef;
    unsigned n = 0;
    FILE *f =
        a->conf->tls_certificate ? fopen(a->conf->tls_certificate, "re") : NULL;
    X509 *x = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    a->n_certificate = 0;
    if (x && X509_get_signature_info(x, &md, NULL, NULL, NULL)) {
        const EVP_MD *type = md == NID_md5 || md == NID_sha1 || !md
                                 ? EVP_sha256()
                                 : EVP_get_digestbynid(md);
        if (type && X509_digest(x, type, a->certificate, &n))
            a->n_certificate = n;
    }
    X509_free(x);
    if (f)
        fclose(f);
}

/* --- guessing ---------------------------------------------------------------
 */

static struct guess *guess_of(struct auth *a, const struct client *c, bool make)
{
    struct guess *oldest = &a->guesses[0];
    for (size_t i = 0; i < GUESSES; i++) {
        struct guess *g = &a->guesses[i];
        if (!strcmp(g->user, c->user) && !strcmp(g->address, c->address) &&
            g->failures)
            return g;
        if (g->last < oldest->last)
            oldest = g;
    }
    if (!make)
        return NULL;
    *oldest = (struct guess){0};
    memcpy(oldest->user, c->user, sizeof oldest->user);
    memcpy(oldest->address, c->address, sizeof oldest->address);
    return oldest;
}

static bool blocked(struct auth *a, const struct client *c)
{
    const struct guess *g = guess_of(a, c, false);
    return g && proc_now_ms() < g->blocked_until;
}

static void failed(struct auth *a, const struct client *c)
{
    struct guess *g = guess_of(a, c, true);
    long now = proc_now_ms();
    if (now < g->blocked_until)
        return; /* tries while blocked do not prolong it */
    g->last = now;
    g->failures += g->failures < 32;
    if (g->failures >= TRIES) {
        unsigned steps = g->failures - TRIES;
        long delay = steps < 6 ? 1000L << steps : DELAY_MOST_MS;
        g->blocked_until = now + delay;
    }
}

static void forgiven(struct auth *a, const struct client *c)
{
    struct guess *g = guess_of(a, c, false);
    if (g)
        *g = (struct guess){0};
}

/* --- the outcome ------------------------------------------------------------
 */

static void reject(struct client *c, const char *state, const char *message)
{
    proc_log("rejected", "analyst", c->user, "address", c->address, "sqlstate",
             state, NULL);
    ipc_begin(&c->ipc, IPC_REJECT);
    wire_put_text(&c->ipc.out, state);
    wire_put_text(&c->ipc.out, message);
    ipc_end(&c->ipc);
}

static void reject_password(struct client *c)
{
    char text[160];
    snprintf(text, sizeof text,
             "password authentication failed for user \"%.63s\"", c->user);
    reject(c, "28P01", text);
}

static const struct conf_dataset *dataset_of(const struct auth *a,
                                             const struct client *c,
                                             const struct conf_person *p)
{
    const struct conf_dataset *d = conf_dataset(a->conf, c->database);
    if (d && conf_grant(p, d))
        return d;
    /* what clients ask for when nothing was said */
    if (!d && !strcmp(c->database, c->user) && p->n_grants == 1)
        return p->grants[0].dataset;
    return NULL;
}

static unsigned connections_of(const struct auth *a, const char *user)
{
    unsigned n = 0;
    for (size_t i = 0; i < a->n_clients; i++)
        n += a->clients[i]->state == CLIENT_SIGNED &&
             !strcmp(a->clients[i]->user, user);
    return n;
}

static struct auth_peer *desk_of(struct auth *a, const char *name)
{
    for (size_t i = 0; i < a->n_peers; i++)
        if (a->peers[i].desk && !a->peers[i].ipc.closed &&
            !strcmp(a->peers[i].name, name))
            return &a->peers[i];
    return NULL;
}

static bool hand_over(struct auth *a, struct client *c, struct auth_peer *desk,
                      bool owner, int *front_end)
{
    int ends[2];
    if (!ipc_pair(ends))
        return false;
    c->session = ++a->sessions;
    ipc_begin(&desk->ipc, IPC_SESSION);
    wire_put_text(&desk->ipc.out, c->user);
    wire_put_text(&desk->ipc.out, c->address);
    wire_put_text(&desk->ipc.out, c->application);
    wire_put32(&desk->ipc.out, c->session);
    wire_put8(&desk->ipc.out, owner);
    if (!ipc_end_with(&desk->ipc, ends[1])) {
        close(ends[0]);
        return false;
    }
    *front_end = ends[0];
    return true;
}

/* That it is no stranger any more. */
static void tell_listener(struct auth *a, const struct client *c)
{
    for (size_t i = 0; i < a->n_peers; i++) {
        struct auth_peer *p = &a->peers[i];
        if (p->desk || p->web || p->ipc.closed)
            continue;
        ipc_begin(&p->ipc, IPC_KNOWN);
        wire_put32(&p->ipc.out, c->pid);
        ipc_end(&p->ipc);
        ipc_flush(&p->ipc);
    }
}

static void signed_in(struct auth *a, struct client *c,
                      const struct conf_person *p, const char *final)
{
    const struct conf_dataset *d = dataset_of(a, c, p);
    struct auth_peer *desk = d ? desk_of(a, d->name) : NULL;
    char text[160];
    int end = -1;
    forgiven(a, c);
    if (!d) {
        snprintf(text, sizeof text, "database \"%.63s\" does not exist",
                 c->database);
        reject(c, "3D000", text);
        return;
    }
    if (connections_of(a, c->user) >= a->conf->connections_each) {
        reject(c, "53300", "too many connections of this user");
        return;
    }
    if (!desk || !hand_over(a, c, desk, false, &end)) {
        reject(c, "57P03", "the data set is not being served now");
        return;
    }
    c->state = CLIENT_SIGNED;
    tell_listener(a, c);
    proc_log("signed-in", "#session", (int64_t)c->session, "analyst", c->user,
             "dataset", d->name, "address", c->address, "application",
             c->application, NULL);
    ipc_begin(&c->ipc, IPC_SIGNED);
    wire_put_text(&c->ipc.out, final);
    wire_put_text(&c->ipc.out, c->user);
    wire_put_text(&c->ipc.out, d->name);
    wire_put8(&c->ipc.out, p->spend);
    wire_put32(&c->ipc.out, c->session);
    ipc_end_with(&c->ipc, end);
}

/* --- steps ------------------------------------------------------------------
 */

static bool peer_fits(const struct client *c, const struct conf_person *p)
{
    struct passwd pw, *found = NULL;
    char room[4096];
    if (!c->local || !p || !p->n_peers ||
        getpwuid_r(c->uid, &pw, room, sizeof room, &found) || !found)
        return false;
    for (size_t i = 0; i < p->n_peers; i++)
        if (!strcmp(p->peers[i], found->pw_name))
            return true;
    return false;
}

/* False: nobody has it, and it is made up. Both are done for every name, so
 * that the time does not tell which it was. */
static bool verifier_of(const struct auth *a, const char *user,
                        const struct conf_person *p, struct scram_verifier *out)
{
    struct scram_verifier mock;
    scram_verifier_mock(user, a->secret, &mock);
    bool exists = passwords_find(a->conf, p, out);
    if (!exists)
        *out = mock;
    return exists;
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

static void hello(struct auth *a, struct client *c, struct wire_in *in)
{
    copy_text(c->user, sizeof c->user, wire_get_text(in));
    copy_text(c->database, sizeof c->database, wire_get_text(in));
    copy_text(c->application, sizeof c->application, wire_get_text(in));
    bool tls = wire_get8(in);
    if (in->bad) {
        c->ipc.closed = true;
        return;
    }
    const struct conf_person *p = conf_person(a->conf, c->user);
    if (p && p->owner)
        p = NULL; /* owners use the console and the commands */
    if (peer_fits(c, p)) {
        signed_in(a, c, p, "");
        return;
    }
    c->scram = (struct scram){0};
    c->scram.exists = verifier_of(a, c->user, p, &c->scram.verifier);
    if (tls && a->n_certificate)
        c->scram.binding =
            (struct scram_binding){a->certificate, a->n_certificate};
    c->state = CLIENT_FIRST;
    ipc_begin(&c->ipc, IPC_ASK_SCRAM);
    wire_put8(&c->ipc.out, c->scram.binding.data != NULL);
    ipc_end(&c->ipc);
}

static void scram_step_first(struct client *c, struct wire_in *in)
{
    const char *mechanism = wire_get_text(in), *message = wire_get_text(in);
    if (in->bad || !scram_first(&c->scram, mechanism, message)) {
        reject(c, "08P01", "malformed SCRAM message");
        return;
    }
    c->state = CLIENT_FINAL;
    ipc_begin(&c->ipc, IPC_CONTINUE);
    wire_put_text(&c->ipc.out, c->scram.server_first);
    ipc_end(&c->ipc);
}

static void scram_step_final(struct auth *a, struct client *c,
                             struct wire_in *in)
{
    char final[SCRAM_MESSAGE];
    const char *message = wire_get_text(in);
    const struct conf_person *p = conf_person(a->conf, c->user);
    bool fits = scram_final(&c->scram, message, final, sizeof final);
    bool no = blocked(a, c);
    if (fits && !no && p && !p->owner) {
        signed_in(a, c, p, final);
        return;
    }
    failed(a, c);
    reject_password(c);
}

static void new_verifier(struct auth *a, struct client *c, struct wire_in *in)
{
    const char *text = wire_get_text(in);
    const struct conf_person *p = conf_person(a->conf, c->user);
    bool ok = !in->bad && p && passwords_store(a->conf, p, text);
    if (ok) /* whoever knew the old one is out of the console */
        web_session_end_user(c->user);
    proc_log("password", "analyst", c->user, "stored", ok ? "yes" : "no", NULL);
    ipc_begin(&c->ipc, IPC_STORED);
    wire_put8(&c->ipc.out, ok);
    ipc_end(&c->ipc);
}

static void cancel(struct auth *a, struct wire_in *in)
{
    uint32_t pid = wire_get32(in), key = wire_get32(in);
    for (size_t i = 0; i < a->n_clients && !in->bad; i++) {
        struct client *c = a->clients[i];
        if (c->state == CLIENT_SIGNED && c->pid == pid &&
            !CRYPTO_memcmp(&c->key, &key, sizeof key)) {
            ipc_begin(&c->ipc, IPC_CANCEL);
            ipc_end(&c->ipc);
        }
    }
}

/* --- browsers ---------------------------------------------------------------
 */

static void web_reply(struct client *c, bool ok, const char *what,
                      const char *json)
{
    ipc_begin(&c->ipc, IPC_WEB_REPLY);
    wire_put8(&c->ipc.out, ok);
    wire_put_text(&c->ipc.out, what);
    wire_put_text(&c->ipc.out, json);
    ipc_end(&c->ipc);
}

/* The same verifiers, the same delays, and the same work for a name that
 * nobody has. */
static void web_login(struct auth *a, struct client *c, const char *user,
                      const char *password, bool once)
{
    const struct conf_person *p = conf_person(a->conf, user);
    struct scram_verifier v;
    char token[WEB_TOKEN + 1];
    copy_text(c->user, sizeof c->user, user);
    bool exists = verifier_of(a, c->user, p, &v);
    bool fits = scram_password_fits(&v, password) && exists;
    bool no = blocked(a, c);
    if (fits && !no && web_session_new(user, once ? c->pid : 0, token)) {
        forgiven(a, c);
        proc_log("web-signed-in", "analyst", user, "address", c->address, NULL);
        web_reply(c, true, token, "");
    } else {
        failed(a, c);
        proc_log("rejected", "analyst", c->user, "address", c->address,
                 "sqlstate", "28P01", NULL);
        web_reply(c, false, "who", "");
    }
    explicit_bzero(&v, sizeof v);
    explicit_bzero(token, sizeof token);
}

static const struct conf_person *web_person(struct auth *a, const char *token)
{
    const char *user = web_session_user(token);
    return user ? conf_person(a->conf, user) : NULL;
}

static void web_who(struct auth *a, struct client *c, const char *token)
{
    const struct conf_person *p = web_person(a, token);
    char *json = p ? who_json(a->conf, p) : NULL;
    web_reply(c, json, json ? "" : "who", json ? json : "");
    free(json);
}

static void web_open(struct auth *a, struct client *c, const char *token,
                     const char *dataset)
{
    const struct conf_person *p = web_person(a, token);
    const struct conf_dataset *d = p ? conf_dataset(a->conf, dataset) : NULL;
    bool may = d && (p->owner || conf_grant(p, d));
    struct auth_peer *desk = may ? desk_of(a, d->name) : NULL;
    int end = -1;
    if (!p || !may || !desk) {
        web_reply(c, false, !p ? "who" : !may ? "dataset" : "busy", "");
        return;
    }
    copy_text(c->user, sizeof c->user, p->name);
    copy_text(c->application, sizeof c->application, "console");
    if (!hand_over(a, c, desk, p->owner, &end)) {
        web_reply(c, false, "busy", "");
        return;
    }
    ipc_begin(&c->ipc, IPC_SIGNED);
    wire_put_text(&c->ipc.out, "");
    wire_put_text(&c->ipc.out, p->name);
    wire_put_text(&c->ipc.out, d->name);
    wire_put8(&c->ipc.out, p->spend && !p->owner);
    wire_put32(&c->ipc.out, c->session);
    ipc_end_with(&c->ipc, end);
}

static void web_step(struct auth *a, struct client *c, struct wire_in *in)
{
    uint8_t what = wire_get8(in);
    const char *x = wire_get_text(in), *y = wire_get_text(in);
    if (!wire_at_end(in)) {
        c->ipc.closed = true;
    } else if (what == IPC_WEB_LOGIN || what == IPC_WEB_LOGIN_ONCE) {
        web_login(a, c, x, y, what == IPC_WEB_LOGIN_ONCE);
    } else if (what == IPC_WEB_WHO) {
        web_who(a, c, x);
    } else if (what == IPC_WEB_OUT) {
        web_session_end(x);
        web_reply(c, true, "", "");
    } else if (what == IPC_WEB_OPEN) {
        web_open(a, c, x, y);
    } else {
        c->ipc.closed = true;
    }
}

/* A message of a front: it may have been taken over by whoever sent it bytes,
 * so each is allowed only where it belongs. */
static void step(struct auth *a, struct client *c, char type,
                 struct wire_in *in)
{
    if (c->web != (type == IPC_WEB))
        c->ipc.closed = true;
    else if (type == IPC_WEB)
        web_step(a, c, in);
    else if (type == IPC_HELLO && c->state == CLIENT_NEW)
        hello(a, c, in);
    else if (type == IPC_FIRST && c->state == CLIENT_FIRST)
        scram_step_first(c, in);
    else if (type == IPC_FINAL && c->state == CLIENT_FINAL)
        scram_step_final(a, c, in);
    else if (type == IPC_VERIFIER && c->state == CLIENT_SIGNED)
        new_verifier(a, c, in);
    else if (type == IPC_CANCEL && c->state == CLIENT_NEW)
        cancel(a, in);
    else
        c->ipc.closed = true;
}

/* --- clients, peers, control ------------------------------------------------
 */

static void add_client(struct auth *a, struct auth_peer *from,
                       struct wire_in *in)
{
    int fd = ipc_take_fd(&from->ipc);
    struct client *c = calloc(1, sizeof *c);
    if (fd < 0 || !c || a->n_clients == CLIENTS_MOST) {
        if (fd >= 0)
            close(fd);
        free(c);
        return;
    }
    ipc_init(&c->ipc, fd, WIRE_BEFORE_MOST + 4096);
    c->web = from->web;
    c->pid = wire_get32(in);
    c->key = wire_get32(in);
    c->local = wire_get8(in);
    c->uid = wire_get32(in);
    copy_text(c->address, sizeof c->address, wire_get_text(in));
    a->clients[a->n_clients++] = c;
}

static void drop_client(struct auth *a, size_t i)
{
    struct client *c = a->clients[i];
    if (c->web)
        web_session_end_client(c->pid);
    if (c->state == CLIENT_SIGNED)
        proc_log("signed-out", "#session", (int64_t)c->session, "analyst",
                 c->user, NULL);
    ipc_fini(&c->ipc);
    explicit_bzero(c, sizeof *c);
    free(c);
    a->clients[i] = a->clients[--a->n_clients];
}

static void add_peer(struct auth *a, struct wire_in *in)
{
    const char *role = wire_get_text(in), *name = wire_get_text(in);
    int fd = ipc_take_fd(&a->control);
    bool desk = !strcmp(role, "desk"), web = !strcmp(role, "http");
    size_t i = 0;
    if (fd < 0)
        return;
    while (i < a->n_peers && !a->peers[i].ipc.closed &&
           (strcmp(a->peers[i].name, name) || a->peers[i].desk != desk ||
            a->peers[i].web != web))
        i++;
    if (i == PEERS_MOST) {
        close(fd);
        return;
    }
    if (i < a->n_peers)
        ipc_fini(&a->peers[i].ipc);
    else
        a->n_peers++;
    a->peers[i].desk = desk;
    a->peers[i].web = web;
    copy_text(a->peers[i].name, sizeof a->peers[i].name, name);
    ipc_init(&a->peers[i].ipc, fd, 4096);
}

/* People who are gone lose their connections. */
static void reload(struct auth *a, struct wire_in *in)
{
    struct conf_problem bad;
    const char *text = wire_get_text(in);
    struct conf *c = conf_parse(a->conf->file, text, strlen(text), &bad);
    if (!c)
        return;
    for (size_t i = 0; i < a->conf->n_people; i++)
        if (!conf_person(c, a->conf->people[i].name))
            web_session_end_user(a->conf->people[i].name);
    conf_free(a->conf);
    a->conf = c;
    hash_certificate(a);
    for (size_t i = a->n_clients; i-- > 0;) {
        const struct conf_person *p = conf_person(c, a->clients[i]->user);
        if (a->clients[i]->state == CLIENT_SIGNED && (!p || p->owner))
            drop_client(a, i);
    }
}

static void control(struct auth *a)
{
    char type;
    struct wire_in in;
    if (!ipc_fill(&a->control))
        _exit(0);
    while (ipc_next(&a->control, &type, &in)) {
        if (type == IPC_PEER)
            add_peer(a, &in);
        else if (type == IPC_RELOAD)
            reload(a, &in);
        else if (type == IPC_DRAIN)
            _exit(0);
    }
}

static void peer_ready(struct auth *a, struct auth_peer *p)
{
    char type;
    struct wire_in in;
    ipc_fill(&p->ipc);
    while (ipc_next(&p->ipc, &type, &in))
        if (type == IPC_CLIENT && !p->desk)
            add_client(a, p, &in);
    if (ipc_waits(&p->ipc))
        ipc_flush(&p->ipc);
}

static void client_ready(struct auth *a, struct client *c)
{
    char type;
    struct wire_in in;
    ipc_fill(&c->ipc);
    while (!c->ipc.closed && ipc_next(&c->ipc, &type, &in))
        step(a, c, type, &in);
    if (ipc_waits(&c->ipc))
        ipc_flush(&c->ipc);
}

/* --- the loop ---------------------------------------------------------------
 */

static size_t collect(struct auth *a, struct pollfd *p)
{
    size_t n = 0;
    p[n++] = (struct pollfd){.fd = a->control.fd, .events = POLLIN};
    for (size_t i = 0; i < a->n_peers; i++)
        p[n++] = (struct pollfd){
            .fd = a->peers[i].ipc.closed ? -1 : a->peers[i].ipc.fd,
            .events =
                (short)(POLLIN | (ipc_waits(&a->peers[i].ipc) ? POLLOUT : 0))};
    for (size_t i = 0; i < a->n_clients; i++)
        p[n++] = (struct pollfd){
            .fd = a->clients[i]->ipc.fd,
            .events = (short)(POLLIN |
                              (ipc_waits(&a->clients[i]->ipc) ? POLLOUT : 0))};
    return n;
}

static void serve_once(struct auth *a, struct pollfd *p)
{
    size_t n_peers = a->n_peers, n_clients = a->n_clients;
    size_t n = collect(a, p);
    if (poll(p, (nfds_t)n, -1) <= 0)
        return;
    for (size_t i = 0; i < n_clients; i++)
        if (p[1 + n_peers + i].revents)
            client_ready(a, a->clients[i]);
    for (size_t i = 0; i < n_peers; i++)
        if (p[1 + i].revents)
            peer_ready(a, &a->peers[i]);
    for (size_t i = a->n_clients; i-- > 0;)
        if (a->clients[i]->ipc.closed)
            drop_client(a, i);
    if (p[0].revents)
        control(a);
}

_Noreturn void auth_run(struct conf *c, int fd)
{
    static struct auth a;
    struct pollfd *p =
        calloc(1 + PEERS_MOST + CLIENTS_MOST, sizeof(struct pollfd));
    a.conf = c;
    ipc_init(&a.control, fd, CONF_FILE_MOST + 4096);
    hash_certificate(&a);
    if (!p || !passwords_secret(c, a.secret))
        _exit(1);
    for (;;)
        serve_once(&a, p);
}
