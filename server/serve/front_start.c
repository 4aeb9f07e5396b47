/*
 * From the first byte to the first statement: TLS, the first packet, sign-in.
 */
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/front_int.h"
#include "serve/proc.h"

enum { TLS_RECORD = 0x16 };

struct first_steps {
    long deadline;
    bool tried_tls, tried_gss;
    unsigned char *packet;
    struct wire_startup startup;
};

/* --- TLS ---------------------------------------------------------------------
 */

static bool begin_tls(struct front *f, struct first_steps *x, bool direct)
{
    long left = x->deadline - proc_now_ms();
    /* what came before the handshake would be taken as said inside it */
    if (!front_nothing_waits(f))
        return false;
    f->tls = tls_accept(f->client->tls, f->client->fd, (int)left, direct);
    return f->tls;
}

static bool asked_for_tls(struct front *f, struct first_steps *x)
{
    if (x->tried_tls || f->tls)
        return false;
    x->tried_tls = true;
    bool have = f->client->tls && !f->client->local;
    wire_put8(&f->out, have ? 'S' : 'N');
    if (have && !front_nothing_waits(f))
        return false;
    front_flush(f);
    return !have || begin_tls(f, x, false);
}

static bool asked_for_gss(struct front *f, struct first_steps *x)
{
    if (x->tried_gss || f->tls)
        return false;
    x->tried_gss = true;
    wire_put8(&f->out, 'N');
    front_flush(f);
    return true;
}

/* --- the first packet
 * ----------------------------------------------------------
 */

static void pass_cancel(struct front *f, const struct wire_startup *s)
{
    ipc_begin(&f->auth, IPC_CANCEL);
    wire_put32(&f->auth.out, s->pid);
    wire_put32(&f->auth.out, s->key);
    ipc_end(&f->auth);
    ipc_flush_all(&f->auth);
    front_end(f);
}

static bool read_packet(struct front *f, struct first_steps *x)
{
    unsigned char word[4];
    if (!front_bytes(f, word, sizeof word, x->deadline))
        return false;
    size_t n = (size_t)word[0] << 24 | (size_t)word[1] << 16 |
               (size_t)word[2] << 8 | word[3];
    if (n < WIRE_STARTUP_LEAST || n > WIRE_STARTUP_MOST)
        return false;
    free(x->packet);
    x->packet = malloc(n - 4);
    if (!x->packet || !front_bytes(f, x->packet, n - 4, x->deadline))
        return false;
    wire_read_startup(x->packet, n - 4, &x->startup);
    return true;
}

/* A TLS handshake without a request: what was read goes back to the reader of
 * OpenSSL, which needs it from the socket; so only a peek was made. */
static bool first_packet(struct front *f, struct first_steps *x)
{
    for (int i = 0; i < 4; i++) {
        if (!read_packet(f, x))
            return false;
        switch (x->startup.kind) {
        case WIRE_FIRST_TLS:
            if (!asked_for_tls(f, x))
                return false;
            break;
        case WIRE_FIRST_GSS:
            if (!asked_for_gss(f, x))
                return false;
            break;
        case WIRE_FIRST_CANCEL:
            pass_cancel(f, &x->startup);
            return false;
        case WIRE_FIRST_STARTUP:
            return true;
        case WIRE_FIRST_OLD:
            front_fatal(f, "0A000", "unsupported frontend protocol");
            return false;
        default:
            return false;
        }
    }
    return false;
}

/* --- sign-in
 * ---------------------------------------------------------------------
 */

static void negotiate(struct front *f, const struct wire_startup *s)
{
    if (!s->minor && !s->n_unknown)
        return;
    wire_begin(&f->out, 'v');
    wire_put32(&f->out, 0);
    wire_put32(&f->out, (uint32_t)s->n_unknown);
    for (size_t i = 0; i < s->n_unknown; i++)
        wire_put_text(&f->out, s->unknown[i]);
    wire_end(&f->out);
}

static bool from_auth(struct front *f, long deadline, char *type,
                      struct wire_in *in)
{
    long left = deadline - proc_now_ms();
    if (left <= 0 || !ipc_wait(&f->auth, (int)left, type, in))
        return false;
    if (*type != IPC_REJECT)
        return true;
    const char *state = wire_get_text(in), *message = wire_get_text(in);
    front_fatal(f, state, message);
    return false;
}

static void say_hello(struct front *f, const struct wire_startup *s)
{
    const char *application = wire_parameter(s, "application_name");
    ipc_begin(&f->auth, IPC_HELLO);
    wire_put_text(&f->auth.out, f->user);
    wire_put_text(&f->auth.out, f->database);
    wire_put_text(&f->auth.out, application ? application : "");
    wire_put8(&f->auth.out, f->tls != NULL);
    ipc_end(&f->auth);
}

/* SASLInitialResponse: mechanism, length, bytes. */
static bool read_initial(struct front *f, struct wire_in *in, char *message,
                         size_t size, const char **mechanism)
{
    (void)f;
    *mechanism = wire_get_text(in);
    uint32_t n = wire_get32(in);
    const unsigned char *p = n < size ? wire_get_bytes(in, n) : NULL;
    if (!p || !wire_at_end(in) || memchr(p, 0, n))
        return false;
    memcpy(message, p, n);
    message[n] = 0;
    return true;
}

static void offer_scram(struct front *f, bool plus)
{
    wire_begin(&f->out, 'R');
    wire_put32(&f->out, 10);
    if (plus)
        wire_put_text(&f->out, "SCRAM-SHA-256-PLUS");
    wire_put_text(&f->out, "SCRAM-SHA-256");
    wire_put8(&f->out, 0);
    wire_end(&f->out);
    front_flush(f);
}

static bool password_message(struct front *f, long deadline, struct wire_in *in)
{
    char type;
    return front_message(f, WIRE_BEFORE_MOST, deadline, &type, in) &&
           type == 'p';
}

/* The two messages of the client through auth. Leaves `in` at auth's last. */
static bool exchange(struct front *f, long deadline, bool plus,
                     struct wire_in *in)
{
    char type, message[2048];
    const char *mechanism;
    offer_scram(f, plus);
    if (!password_message(f, deadline, in) ||
        !read_initial(f, in, message, sizeof message, &mechanism))
        return false;
    ipc_begin(&f->auth, IPC_FIRST);
    wire_put_text(&f->auth.out, mechanism);
    wire_put_text(&f->auth.out, message);
    ipc_end(&f->auth);
    if (!from_auth(f, deadline, &type, in) || type != IPC_CONTINUE)
        return false;
    const char *text = wire_get_text(in);
    wire_begin(&f->out, 'R');
    wire_put32(&f->out, 11);
    wire_put_bytes(&f->out, text, strlen(text));
    wire_end(&f->out);
    front_flush(f);
    if (!password_message(f, deadline, in) || in->n >= sizeof message ||
        memchr(in->p, 0, in->n))
        return false;
    memcpy(message, in->p, in->n);
    message[in->n] = 0;
    ipc_begin(&f->auth, IPC_FINAL);
    wire_put_text(&f->auth.out, message);
    ipc_end(&f->auth);
    OPENSSL_cleanse(message, sizeof message);
    return from_auth(f, deadline, &type, in) && type == IPC_SIGNED;
}

static bool signed_in(struct front *f, struct wire_in *in)
{
    const char *final = wire_get_text(in);
    snprintf(f->user, sizeof f->user, "%s", wire_get_text(in));
    snprintf(f->database, sizeof f->database, "%s", wire_get_text(in));
    f->may_spend = wire_get8(in);
    f->session = wire_get32(in);
    f->dataset = conf_dataset(f->conf, f->database);
    int fd = ipc_take_fd(&f->auth);
    if (in->bad || fd < 0 || !f->dataset)
        return false;
    ipc_init(&f->desk, fd, IPC_REPLY_MOST);
    if (*final) {
        wire_begin(&f->out, 'R');
        wire_put32(&f->out, 12);
        wire_put_bytes(&f->out, final, strlen(final));
        wire_end(&f->out);
    }
    wire_message32(&f->out, 'R', 0);
    return true;
}

static bool sign_in(struct front *f, const struct first_steps *x)
{
    char type;
    struct wire_in in;
    const char *user = wire_parameter(&x->startup, "user");
    const char *database = wire_parameter(&x->startup, "database");
    if (!user || !*user)
        front_fatal(f, "28000", "no user name was given");
    if (wire_parameter(&x->startup, "replication"))
        front_fatal(f, "0A000", "replication is not offered");
    snprintf(f->user, sizeof f->user, "%s", user);
    snprintf(f->database, sizeof f->database, "%s",
             database && *database ? database : user);
    if (f->client->tls && !f->client->local && !f->tls)
        front_fatal(f, "28000", "this service needs TLS (sslmode=require)");
    negotiate(f, &x->startup);
    say_hello(f, &x->startup);
    if (!from_auth(f, x->deadline, &type, &in))
        return false;
    if (type == IPC_ASK_SCRAM && !exchange(f, x->deadline, wire_get8(&in), &in))
        return false;
    return (type == IPC_SIGNED || type == IPC_ASK_SCRAM) && signed_in(f, &in);
}

/* --- after it
 * -------------------------------------------------------------------
 */

void front_parameter_status(struct front *f, const char *name,
                            const char *value)
{
    wire_begin(&f->out, 'S');
    wire_put_text(&f->out, name);
    wire_put_text(&f->out, value);
    wire_end(&f->out);
}

/* -c name=value -c name=value, with backslashes before blanks. */
static bool take_options(struct front *f, const char *text, struct problem *bad)
{
    char word[FRONT_SETTING + 128];
    bool expect = false;
    while (*text) {
        size_t n = 0;
        while (*text == ' ')
            text++;
        for (; *text && *text != ' ' && n + 1 < sizeof word; text++) {
            if (*text == '\\' && text[1])
                text++;
            word[n++] = *text;
        }
        word[n] = 0;
        char *pair = word;
        if (!n)
            continue;
        if (!expect && !strcmp(word, "-c")) {
            expect = true;
            continue;
        }
        if (!expect && !strncmp(word, "--", 2))
            pair += 2;
        else if (!expect && !strncmp(word, "-c", 2))
            pair += 2;
        else if (!expect)
            return problem_set(bad, "42601",
                               "invalid command-line argument "
                               "for the server: %s",
                               word);
        expect = false;
        char *is = strchr(pair, '=');
        if (!is)
            return problem_set(bad, "42601", "-c %s requires a value", pair);
        *is = 0;
        if (!setting_put(f, pair, is + 1, bad))
            return false;
    }
    return true;
}

static bool take_parameters(struct front *f, const struct wire_startup *s,
                            struct problem *bad)
{
    for (size_t i = 0; i < s->n_parameters; i++) {
        const struct wire_parameter *p = &s->parameters[i];
        if (!strcmp(p->name, "user") || !strcmp(p->name, "database"))
            continue;
        if (!strcmp(p->name, "options")) {
            if (!take_options(f, p->value, bad))
                return false;
        } else if (!setting_put(f, p->name, p->value, bad)) {
            return false;
        }
    }
    return true;
}

static void tell_parameters(struct front *f)
{
    static const char *const names[] = {"server_version",
                                        "server_encoding",
                                        "client_encoding",
                                        "DateStyle",
                                        "TimeZone",
                                        "integer_datetimes",
                                        "standard_conforming_strings",
                                        "IntervalStyle",
                                        "is_superuser",
                                        "session_authorization",
                                        "default_transaction_read_only",
                                        "in_hot_standby",
                                        "application_name"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        front_parameter_status(f, names[i], setting_value(f, names[i]));
    wire_begin(&f->out, 'K');
    wire_put32(&f->out, f->client->pid);
    wire_put32(&f->out, f->client->key);
    wire_end(&f->out);
}

bool front_start(struct front *f)
{
    struct first_steps x = {.deadline = proc_now_ms() +
                                        1000L * f->conf->sign_in_seconds};
    struct problem bad = {.at = -1};
    unsigned char byte;
    if (f->client->tls && !f->client->local) {
        /* a peek: OpenSSL reads from the socket itself */
        if (!front_first_byte(f, x.deadline, &byte))
            return false;
        if (byte == TLS_RECORD && !begin_tls(f, &x, true))
            return false;
    }
    if (!first_packet(f, &x) || !sign_in(f, &x))
        return false;
    settings_init(f);
    if (!take_parameters(f, &x.startup, &bad))
        front_fatal(f, bad.state, bad.message);
    free(x.packet);
    tell_parameters(f);
    return true;
}
