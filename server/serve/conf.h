/*
 * The service's configuration: one YAML file, read and checked as a whole.
 *
 * Nothing is on unless it is written down, and what is written down and not
 * known is an error with its line and column. All texts live in the
 * configuration's own memory, which is wiped when it is freed.
 */
#ifndef SERVE_CONF_H
#define SERVE_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    CONF_LIST_MOST = 16,     /* of peers, of addresses */
    CONF_DATASETS_MOST = 64, /* in one file */
    CONF_ANALYSTS_MOST = 10000,
    CONF_FILE_MOST = 4 << 20
};

enum conf_listen_kind { CONF_UNIX, CONF_POSTGRES, CONF_HTTP };

struct conf_listen {
    enum conf_listen_kind kind;
    const char *path; /* folder of the socket */
    const char *host;
    unsigned port;
    bool loopback;
};

struct conf_dataset {
    const char *name;
    const char *db, *policy, *schema, *version, *ledger;
    const char *password_file;                       /* NULL: none */
    const char *epsilon, *epsilon_min, *epsilon_max; /* decimal texts */
    const char *delta, *delta_max;
    const char *budget_epsilon, *budget_delta; /* "0": the sum of the caps */
    double pace;                               /* seconds; 0: none */
    unsigned misses, workers;
    const char *memory;
    bool load_visible;
    size_t line, column;
};

/* What an analyst may spend of a data set. */
struct conf_grant {
    const struct conf_dataset *dataset;
    const char *epsilon, *delta;
    const char *per_day; /* epsilon; NULL: no limit but the cap */
};

struct conf_person {
    const char *name;
    const char *password; /* a verifier, "stored", or NULL: none */
    const char *peers[CONF_LIST_MOST];
    size_t n_peers;
    bool owner;
    bool spend; /* may charged questions be asked at all? */
    struct conf_grant *grants;
    size_t n_grants;
    size_t line, column;
};

struct conf {
    char *file; /* name of the file, for messages */
    struct conf_listen listen[CONF_LIST_MOST];
    size_t n_listen;
    const char *tls_certificate, *tls_key, *tls_minimum; /* NULL: no TLS */
    const char *state;
    struct conf_dataset *datasets;
    size_t n_datasets;
    struct conf_person *people; /* analysts, then owners */
    size_t n_people;
    unsigned connections, connections_each, waiting;
    unsigned sign_in_seconds, idle_seconds;
    struct conf_block *blocks; /* where the texts are */
};

/* What is wrong, and where. */
struct conf_problem {
    char text[1024]; /* "serve.yaml:3:5: unknown key "lsten"" */
};

/* Reads and checks what can be checked without opening anything else. NULL and
 * a problem if something is wrong. */
struct conf *conf_read(const char *file, struct conf_problem *bad);
/* The same for a text that was read already; `file` is for messages. */
struct conf *conf_parse(const char *file, const char *text, size_t n,
                        struct conf_problem *bad);
void conf_free(struct conf *c); /* NULL allowed; wipes */

/* Files, modes, links: what --check-config looks at besides. */
bool conf_check_files(const struct conf *c, struct conf_problem *bad);
/* Prints in words what each analyst may do. */
void conf_tell(const struct conf *c);

const struct conf_dataset *conf_dataset(const struct conf *c, const char *name);
const struct conf_person *conf_person(const struct conf *c, const char *name);
const struct conf_grant *conf_grant(const struct conf_person *p,
                                    const struct conf_dataset *d);
/* Forgets verifiers, databases and passwords: for processes that talk to
 * strangers. */
void conf_forget(struct conf *c);
/* The same for a configuration that comes later: replaces *c, and wipes the
 * text. */
void conf_follow(struct conf **c, const char *text);

/* A number in [0, 10^9] with at most 9 digits behind the point, times 10^9;
 * -1 if the text is no such number. */
long long conf_nanos(const char *text);

/* --- for the parts of the reader ------------------------------------------ */

char *conf_copy(struct conf *c, const char *s, size_t n);
void *conf_alloc(struct conf *c, size_t n);

#endif
