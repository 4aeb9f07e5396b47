/* What the files of the desk share. */
#ifndef SERVE_DESK_INT_H
#define SERVE_DESK_INT_H

#include <sys/types.h>

#include "serve/clerk.h"
#include "serve/conf.h"
#include "serve/ipc.h"

enum {
    DESK_LOOKERS = 2, /* clerks without a seat */
    DESK_CLERKS_MOST = 64 + DESK_LOOKERS,
    DESK_SESSIONS_MOST = 10000,
    DESK_RETRY_MS = 30000
};

/* One connection: who asks is this, not a field. */
struct desk_session {
    struct ipc ipc;
    char analyst[64], address[64], application[64];
    uint32_t number;
    bool told;  /* has the public snapshot */
    bool owner; /* sees everybody's budget, and asks nothing */
};

enum desk_stage {
    STAGE_LOOK, /* waits for a clerk who looks into the ledger */
    STAGE_LOOKING,
    STAGE_SEAT, /* waits for a seat */
    STAGE_SEATED
};

struct desk_question {
    struct desk_question *next; /* first come, first served */
    struct desk_session *from;  /* NULL: nobody waits any more */
    char analyst[64];
    uint32_t number, session;
    enum clerk_job job;
    enum desk_stage stage;
    bool spend;
    unsigned char *body; /* the question as it came */
    size_t n;
    const char *sql; /* in the body, for the log */
};

struct desk_clerk {
    struct ipc ipc;
    pid_t pid, spinner;
    int cpu; /* -1: none of its own */
    bool seat, running;
    struct desk_question *busy;
};

struct desk {
    struct conf *conf;
    const struct conf_dataset *dataset;
    struct ipc control, auth;
    bool has_auth, draining, ready;
    pid_t preparing;
    long retry_at;
    dpc_dataset *open;
    int snapshot, catalogue; /* memory files; -1: none */
    size_t n_snapshot, n_catalogue;
    struct desk_clerk clerks[DESK_CLERKS_MOST];
    size_t n_clerks;
    struct desk_session *sessions[DESK_SESSIONS_MOST];
    size_t n_sessions;
    struct desk_question *questions;
    const int *cpus; /* of the seats; NULL: they share */
};

/* --- desk_queue.c: questions, clerks, seats ------------------------------- */

/* A message of a connection. */
void desk_message(struct desk *d, struct desk_session *s, char type,
                  struct wire_in *in);
/* A clerk's reply is there. */
void desk_replied(struct desk *d, struct desk_clerk *c, struct wire_in *in);
/* A clerk is gone. */
void desk_clerk_lost(struct desk *d, struct desk_clerk *c);
/* Nobody listens there any more. What runs is worked off. */
void desk_forget_session(struct desk *d, struct desk_session *s);
bool desk_is_idle(const struct desk *d);

/* --- desk_public.c: what fronts may know ---------------------------------- */

/* The snapshot and the catalogue as memory files. */
bool desk_publish(struct desk *d);
/* Hands them to a connection. */
void desk_tell(struct desk *d, struct desk_session *s);

/* --- desk_clerks.c -------------------------------------------------------- */

bool desk_start_clerk(struct desk *d, struct desk_clerk *c);
void desk_spin(struct desk_clerk *c);
void desk_stop_spinning(struct desk_clerk *c);

#endif
