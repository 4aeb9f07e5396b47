/*
 * The supervisor: reads the configuration, opens sockets, starts the other
 * processes and starts them again when they end. It parses nothing that
 * clients send, and has neither rows nor a ledger.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http/http.h"
#include "serve/auth.h"
#include "serve/clerk.h"
#include "serve/desk.h"
#include "serve/ipc.h"
#include "serve/listener.h"
#include "serve/proc.h"
#include "serve/serve.h"
#include "serve/sockets.h"
#include "serve/tls.h"

enum {
    CHILDREN_MOST = 2 * CONF_DATASETS_MOST + 4,
    RESTART_MS = 500, /* not faster than this, doubling up to a minute */
    RESTART_MOST_MS = 60000
};

enum role { ROLE_AUTH, ROLE_LISTENER, ROLE_DESK, ROLE_HTTP };
static const char *const role_names[] = {"auth", "listener", "desk", "http"};

struct child {
    enum role role;
    char name[64]; /* of the data set */
    pid_t pid;     /* 0: ended */
    struct ipc control;
    long started, again_at, wait_ms;
    bool leaving; /* ends on purpose */
};

struct supervisor {
    struct conf *conf;
    const char *file;
    int sockets[CONF_LIST_MOST], http[CONF_LIST_MOST];
    size_t n_sockets, n_http;
    struct child children[CHILDREN_MOST];
    size_t n_children;
    bool stopping;
};

/* --- processors -------------------------------------------------------------
 */

static unsigned seats(const struct conf *c)
{
    unsigned n = 0;
    for (size_t i = 0; i < c->n_datasets; i++)
        if (c->datasets[i].pace > 0 && !c->datasets[i].load_visible)
            n += c->datasets[i].workers;
    return n;
}

/* Those that this process may use, by their numbers. */
static int processors(int list[CPU_SETSIZE])
{
    cpu_set_t set;
    int n = 0;
    if (sched_getaffinity(0, sizeof set, &set))
        return 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &set))
            list[n++] = i;
    return n;
}

static bool enough_processors(const struct conf *c, struct conf_problem *bad)
{
    int list[CPU_SETSIZE], all = processors(list);
    unsigned n = seats(c);
    if (!n || (int)n < all)
        return true;
    snprintf(bad->text, sizeof bad->text,
             "%.200s: %u workers need a processor each and one must be left, "
             "but there are %d; use fewer workers, or say load_visible: yes",
             c->file, n, all);
    return false;
}

/* The processors of this data set's seats, the last ones first; none: they
 * share. */
static size_t seats_of(const struct conf *c, const struct conf_dataset *d,
                       int out[CPU_SETSIZE])
{
    int list[CPU_SETSIZE], at = processors(list);
    if (d->pace <= 0 || d->load_visible)
        return 0;
    for (size_t i = 0; i < c->n_datasets && &c->datasets[i] != d; i++)
        if (c->datasets[i].pace > 0 && !c->datasets[i].load_visible)
            at -= (int)c->datasets[i].workers;
    for (size_t i = 0; i < d->workers; i++)
        out[i] = list[--at];
    return d->workers;
}

/* Everything but seats keeps off their processors. PRIVACY: what cannot be
 * kept off does not run. */
static void keep_off_seats(const struct conf *c)
{
    int list[CPU_SETSIZE], all = processors(list);
    unsigned n = seats(c);
    cpu_set_t set;
    if (!n)
        return;
    CPU_ZERO(&set);
    for (int i = 0; i < all - (int)n; i++)
        CPU_SET((size_t)list[i], &set);
    if (sched_setaffinity(0, sizeof set, &set)) {
        proc_log("no-processors", NULL);
        _exit(1);
    }
}

/* --- children ---------------------------------------------------------------
 */

static _Noreturn void become(struct supervisor *s, const struct child *c,
                             int fd)
{
    int keep[CONF_LIST_MOST + 1];
    size_t n = 0;
    keep[n++] = fd;
    if (c->role == ROLE_LISTENER)
        for (size_t i = 0; i < s->n_sockets; i++)
            keep[n++] = s->sockets[i];
    if (c->role == ROLE_HTTP)
        for (size_t i = 0; i < s->n_http; i++)
            keep[n++] = s->http[i];
    proc_keep_only(keep, n);
    const struct conf_dataset *d = conf_dataset(s->conf, c->name);
    int cpus[CPU_SETSIZE];
    size_t n_cpus = d ? seats_of(s->conf, d, cpus) : 0;
    keep_off_seats(s->conf);
    if (c->role == ROLE_AUTH)
        auth_run(s->conf, fd);
    if (c->role == ROLE_LISTENER)
        listener_run(s->conf, s->sockets, s->n_sockets, fd);
    if (c->role == ROLE_HTTP)
        http_run(s->conf, s->http, s->n_http, fd);
    desk_run(s->conf, d, n_cpus ? cpus : NULL, fd);
}

static void start(struct supervisor *s, struct child *c)
{
    int ends[2];
    char title[16];
    c->started = proc_now_ms();
    if (!ipc_pair(ends))
        return;
    snprintf(title, sizeof title, "dpcount-%s", role_names[c->role]);
    pid_t pid = proc_fork(title);
    if (!pid)
        become(s, c, ends[1]);
    close(ends[1]);
    c->pid = pid > 0 ? pid : 0;
    ipc_init(&c->control, ends[0], 4096);
}

static struct child *child_of(struct supervisor *s, enum role role,
                              const char *name)
{
    for (size_t i = 0; i < s->n_children; i++) {
        struct child *c = &s->children[i];
        if (c->role == role && !c->leaving && !strcmp(c->name, name))
            return c;
    }
    return NULL;
}

static void introduce(struct child *to, const char *role, const char *name,
                      int fd)
{
    ipc_begin(&to->control, IPC_PEER);
    wire_put_text(&to->control.out, role);
    wire_put_text(&to->control.out, name);
    ipc_end_with(&to->control, fd);
}

/* A channel between auth and a desk or the listener. */
static void connect_to_auth(struct supervisor *s, struct child *c)
{
    int ends[2];
    struct child *auth = child_of(s, ROLE_AUTH, "");
    if (!auth || !auth->pid || !c->pid || !ipc_pair(ends))
        return;
    introduce(auth, role_names[c->role], c->name, ends[0]);
    introduce(c, "auth", "", ends[1]);
}

static void start_and_connect(struct supervisor *s, struct child *c)
{
    start(s, c);
    if (c->role != ROLE_AUTH) {
        connect_to_auth(s, c);
        return;
    }
    for (size_t i = 0; i < s->n_children; i++)
        if (s->children[i].role != ROLE_AUTH && !s->children[i].leaving)
            connect_to_auth(s, &s->children[i]);
}

static struct child *add(struct supervisor *s, enum role role, const char *name)
{
    size_t i = 0;
    while (i < s->n_children && (s->children[i].pid || !s->children[i].leaving))
        i++;
    if (i == CHILDREN_MOST)
        return NULL;
    s->n_children += i == s->n_children;
    s->children[i] = (struct child){.role = role, .wait_ms = RESTART_MS};
    snprintf(s->children[i].name, sizeof s->children[i].name, "%s", name);
    start_and_connect(s, &s->children[i]);
    return &s->children[i];
}

/* --- endings ----------------------------------------------------------------
 */

static void ended(struct supervisor *s, struct child *c, int status)
{
    long now = proc_now_ms();
    c->pid = 0;
    ipc_fini(&c->control);
    if (s->stopping || c->leaving) {
        c->leaving = true;
        return;
    }
    if (now - c->started > RESTART_MOST_MS)
        c->wait_ms = RESTART_MS;
    c->again_at = now + c->wait_ms;
    c->wait_ms =
        c->wait_ms * 2 > RESTART_MOST_MS ? RESTART_MOST_MS : c->wait_ms * 2;
    proc_log("restart", "process", role_names[c->role], "dataset", c->name,
             "#status", (int64_t)status, NULL);
}

static void reap(struct supervisor *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < s->n_children; i++)
            if (s->children[i].pid == pid)
                ended(s, &s->children[i], status);
}

static void restart_due(struct supervisor *s)
{
    long now = proc_now_ms();
    for (size_t i = 0; i < s->n_children && !s->stopping; i++) {
        struct child *c = &s->children[i];
        if (!c->pid && !c->leaving && now >= c->again_at)
            start_and_connect(s, c);
    }
}

static void tell(struct child *c, char type, const char *text)
{
    if (!c->pid)
        return;
    ipc_begin(&c->control, type);
    if (text)
        wire_put_text(&c->control.out, text);
    ipc_end(&c->control);
    ipc_flush_all(&c->control);
}

/* Desks first: what runs is worked off, then their connections end, then those
 * who had them. */
static void stop(struct supervisor *s)
{
    if (s->stopping)
        return;
    s->stopping = true;
    proc_log("stopping", NULL);
    sockets_notify("STOPPING=1");
    for (size_t i = 0; i < s->n_children; i++)
        if (s->children[i].role != ROLE_AUTH)
            tell(&s->children[i], IPC_DRAIN, NULL);
}

static bool all_ended(struct supervisor *s)
{
    bool only_auth = true, none = true;
    struct child *auth = NULL;
    for (size_t i = 0; i < s->n_children; i++) {
        none &= !s->children[i].pid;
        if (s->children[i].role == ROLE_AUTH)
            auth = &s->children[i];
        else
            only_auth &= !s->children[i].pid;
    }
    if (only_auth && auth && auth->pid && !auth->leaving) {
        auth->leaving = true;
        tell(auth, IPC_DRAIN, NULL);
    }
    return none;
}

/* --- reload -----------------------------------------------------------------
 */

static bool same(const char *a, const char *b)
{
    return (!a && !b) || (a && b && !strcmp(a, b));
}

/* May the desk go on, with other caps at most? */
static bool same_dataset(const struct conf_dataset *a,
                         const struct conf_dataset *b)
{
    return same(a->db, b->db) && same(a->policy, b->policy) &&
           same(a->schema, b->schema) && same(a->version, b->version) &&
           same(a->ledger, b->ledger) && same(a->memory, b->memory) &&
           same(a->epsilon, b->epsilon) &&
           same(a->epsilon_min, b->epsilon_min) &&
           same(a->epsilon_max, b->epsilon_max) && same(a->delta, b->delta) &&
           same(a->delta_max, b->delta_max) && a->pace == b->pace &&
           a->misses == b->misses && a->workers == b->workers &&
           a->load_visible == b->load_visible;
}

static char *text_of(const char *file)
{
    char *text = calloc(1, CONF_FILE_MOST + 1);
    FILE *f = fopen(file, "re");
    size_t n = f && text ? fread(text, 1, CONF_FILE_MOST, f) : 0;
    if (f)
        fclose(f);
    if (!n || strlen(text) != n) {
        free(text);
        return NULL;
    }
    return text;
}

static void reload_desks(struct supervisor *s, const struct conf *old,
                         const char *text)
{
    for (size_t i = 0; i < s->n_children; i++) {
        struct child *c = &s->children[i];
        if (c->role != ROLE_DESK || c->leaving)
            continue;
        const struct conf_dataset *was = conf_dataset(old, c->name);
        const struct conf_dataset *now = conf_dataset(s->conf, c->name);
        if (was && now && same_dataset(was, now)) {
            tell(c, IPC_RELOAD, text);
            continue;
        }
        c->leaving = true;
        tell(c, IPC_DRAIN, NULL);
    }
    for (size_t i = 0; i < s->conf->n_datasets; i++)
        if (!child_of(s, ROLE_DESK, s->conf->datasets[i].name))
            add(s, ROLE_DESK, s->conf->datasets[i].name);
}

static bool check_tls(const struct conf *c, struct conf_problem *bad)
{
    char why[256];
    if (!c->tls_certificate)
        return true;
    struct tls *t = tls_open(c->tls_certificate, c->tls_key, c->tls_minimum,
                             why, sizeof why);
    if (!t)
        snprintf(bad->text, sizeof bad->text, "tls: %s", why);
    tls_close(t);
    return t;
}

/* Who is connected keeps off the seats as they were at the start. */
static bool same_seats(const struct conf *a, const struct conf *b,
                       struct conf_problem *bad)
{
    if (seats(a) == seats(b))
        return true;
    snprintf(bad->text, sizeof bad->text,
             "%.200s: another number of workers with processors of their own "
             "(%u, not %u) needs a restart",
             b->file, seats(b), seats(a));
    return false;
}

/* The old configuration stays if something is wrong with the new one. */
static void reload(struct supervisor *s)
{
    struct conf_problem bad = {{0}};
    struct conf *c = conf_read(s->file, &bad), *old = s->conf;
    char *text = c ? text_of(s->file) : NULL;
    if (!c || !conf_check_files(c, &bad) || !enough_processors(c, &bad) ||
        !same_seats(old, c, &bad) || !check_tls(c, &bad) || !text) {
        proc_log("reload", "problem", bad.text, NULL);
        conf_free(c);
        free(text);
        return;
    }
    s->conf = c;
    for (size_t i = 0; i < s->n_children; i++)
        if (s->children[i].role != ROLE_DESK)
            tell(&s->children[i], IPC_RELOAD, text);
    reload_desks(s, old, text);
    conf_free(old);
    explicit_bzero(text, strlen(text));
    free(text);
    proc_log("reload", NULL);
}

/* --- the loop ---------------------------------------------------------------
 */

static void on_signal(struct supervisor *s, int fd)
{
    struct signalfd_siginfo i;
    while (read(fd, &i, sizeof i) == sizeof i) {
        if (i.ssi_signo == SIGTERM || i.ssi_signo == SIGINT)
            stop(s);
        else if (i.ssi_signo == SIGHUP && !s->stopping)
            reload(s);
    }
}

static int loop(struct supervisor *s)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return 70;
    add(s, ROLE_AUTH, "");
    for (size_t i = 0; i < s->conf->n_datasets; i++)
        add(s, ROLE_DESK, s->conf->datasets[i].name);
    add(s, ROLE_LISTENER, "");
    if (s->n_http)
        add(s, ROLE_HTTP, "");
    proc_log("ready", NULL);
    sockets_notify("READY=1");
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 500) > 0)
            on_signal(s, fd);
        reap(s);
        restart_due(s);
        if (s->stopping && all_ended(s))
            return 0;
    }
}

/* --- the command ------------------------------------------------------------
 */

static int complain(const struct conf_problem *bad)
{
    fprintf(stderr, "dpcount: %s\n", bad->text);
    return 2;
}

static bool check_datasets(const struct conf *c, struct conf_problem *bad)
{
    for (size_t i = 0; i < c->n_datasets; i++)
        if (!clerk_check(c, &c->datasets[i], bad))
            return false;
    return true;
}

int serve_run(const char *config, bool check)
{
    static struct supervisor s;
    struct conf_problem bad = {{0}};
    s.file = config;
    s.conf = conf_read(config, &bad);
    if (!s.conf || !conf_check_files(s.conf, &bad) ||
        !enough_processors(s.conf, &bad) || !check_tls(s.conf, &bad)) {
        conf_free(s.conf);
        return complain(&bad);
    }
    if (check) {
        int status = check_datasets(s.conf, &bad) ? 0 : complain(&bad);
        if (!status)
            conf_tell(s.conf);
        conf_free(s.conf);
        return status;
    }
    int n = sockets_open(s.conf, false, s.sockets, CONF_LIST_MOST, &bad);
    if (n < 0)
        return complain(&bad);
    s.n_sockets = (size_t)n;
    n = sockets_open(s.conf, true, s.http, CONF_LIST_MOST, &bad);
    if (n < 0)
        return complain(&bad);
    s.n_http = (size_t)n;
    int status = loop(&s);
    sockets_remove(s.conf);
    conf_free(s.conf);
    return status;
}
