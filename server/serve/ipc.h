/*
 * Messages between the processes of the service: those of the wire protocol
 * (a type, a length, a body) over pairs of unix sockets, with a descriptor
 * where one is handed over. Nothing blocks but ipc_wait and ipc_flush_all.
 *
 * PRIVACY: who asks is which channel a question comes from; no message has a
 * field for it. Whatever comes from a front is read as a stranger's.
 */
#ifndef SERVE_IPC_H
#define SERVE_IPC_H

#include "wire/wire.h"

enum {
    IPC_FDS = 8,               /* descriptors that may wait in a channel */
    IPC_FRONT_MOST = 2 << 20,  /* a message of a front */
    IPC_REPLY_MOST = 256 << 20 /* a message to a front */
};

/* Types of messages. */
enum ipc_type {
    /* supervisor to its children */
    IPC_PEER = 'p',   /* text role, text name; descriptor */
    IPC_DRAIN = 't',  /* end what runs, then exit */
    IPC_RELOAD = 'r', /* text of the configuration */
    IPC_READY = 'y',  /* child to supervisor: it works */
    /* listener to auth */
    IPC_CLIENT = 'c', /* u32 pid, u32 key, u8 local, u32 uid, text address;
                         descriptor: the front's channel */
    IPC_CANCEL = 'x', /* u32 pid, u32 key */
    /* auth to listener */
    IPC_KNOWN = 'k', /* u32 pid: that connection has signed in */
    /* front to auth */
    IPC_HELLO = 'h',    /* text user, database, application; u8 tls */
    IPC_FIRST = 'i',    /* text mechanism, message */
    IPC_FINAL = 'f',    /* text message */
    IPC_VERIFIER = 'v', /* text verifier: a new password of one's own */
    /* auth to front */
    IPC_ASK_SCRAM = 's',
    IPC_CONTINUE = 'n', /* text message */
    IPC_SIGNED = 'o',   /* text final message, analyst, data set; u8 spend,
                           u32 session; descriptor: channel to the desk */
    IPC_REJECT = 'e',   /* text sqlstate, message */
    IPC_STORED = 'w',   /* u8: was the verifier stored? */
    /* front of HTTP to auth */
    IPC_WEB = 'L', /* u8 enum ipc_web, two texts */
    /* auth to it; IPC_SIGNED when a channel was asked for */
    IPC_WEB_REPLY = 'M', /* u8 ok, text token or reason, text JSON */
    /* auth to desk */
    IPC_SESSION = 'a', /* text analyst, address, application; u32 session;
                          u8 owner; descriptor */
    /* front to desk: all begin with u32 number of the request */
    IPC_ASK = 'A',   /* u8 flags; question */
    IPC_QUOTE = 'Q', /* question */
    IPC_BUDGET = 'B',
    IPC_HISTORY = 'H',
    IPC_DETACH = 'D',
    IPC_OWNER = 'O', /* of an owner's channel only */
    /* desk to front */
    IPC_CATALOGUE = 'C', /* u8: 0 snapshot, 1 catalogue; u32 size; descriptor */
    IPC_REPLY = 'R',     /* u32 number, u8 ok, text JSON */
};

/* What a front of HTTP asks, and its two texts. */
enum ipc_web {
    IPC_WEB_LOGIN = 1,  /* user, password */
    IPC_WEB_LOGIN_ONCE, /* the same; the session ends with the connection */
    IPC_WEB_WHO,        /* token */
    IPC_WEB_OUT,        /* token */
    IPC_WEB_OPEN        /* token, data set */
};

struct ipc {
    int fd;
    unsigned char *in;
    size_t n_in, cap_in, taken, most;
    struct wire_out out;
    size_t sent;
    int fds[IPC_FDS]; /* that came and nobody took */
    size_t n_fds;
    int give;    /* to be sent with the next byte; -1: none */
    bool closed; /* the other side is gone, or sent nonsense */
};

void ipc_init(struct ipc *c, int fd, size_t most);
void ipc_fini(struct ipc *c); /* closes */
bool ipc_pair(int out[2]);

/* Reads what is there. False: closed. */
bool ipc_fill(struct ipc *c);
/* The next whole message, or false. It stays until the next call. */
bool ipc_next(struct ipc *c, char *type, struct wire_in *in);
/* The oldest descriptor that came; -1: none. */
int ipc_take_fd(struct ipc *c);

/* Sends a message that `out` holds; ends with ipc_flush. */
void ipc_begin(struct ipc *c, char type);
void ipc_end(struct ipc *c);
/* A message with a descriptor; blocks until it is sent; closes `fd` here. */
bool ipc_end_with(struct ipc *c, int fd);
/* Sends what the other side takes now. */
void ipc_flush(struct ipc *c);
bool ipc_waits(const struct ipc *c); /* is something left to be sent? */
bool ipc_flush_all(struct ipc *c);   /* blocks */
/* Blocks until a message is there; false: closed, or `ms` passed (-1: ever) */
bool ipc_wait(struct ipc *c, int ms, char *type, struct wire_in *in);

#endif
