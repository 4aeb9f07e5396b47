/* What the files of a front share. */
#ifndef SERVE_FRONT_INT_H
#define SERVE_FRONT_INT_H

#include <jansson.h>

#include "dpcount.h"
#include "serve/front.h"
#include "serve/ipc.h"
#include "serve/reply.h"

enum {
    FRONT_NAMED_MOST = 256, /* prepared statements, and portals */
    FRONT_OUT_MOST = 256 << 20,
    FRONT_SETTING = 512, /* bytes of a setting's value */
};

/* OIDs of PostgreSQL's types. */
enum {
    OID_BOOL = 16,
    OID_NAME = 19,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_OID = 26,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_UNKNOWN = 705,
    OID_BPCHAR = 1042,
    OID_VARCHAR = 1043,
    OID_DATE = 1082,
    OID_TIME = 1083,
    OID_TIMESTAMP = 1114,
    OID_TIMESTAMPTZ = 1184,
    OID_NUMERIC = 1700,
    OID_UUID = 2950
};

/* --- memory that is given back together ------------------------------------
 */

struct pool_piece;
struct front_pool {
    struct pool_piece *pieces;
};
void *front_alloc(struct front_pool *p, size_t n); /* zeroed; exits without */
char *front_copy(struct front_pool *p, const char *s, size_t n);
void front_release(struct front_pool *p);

/* --- problems ---------------------------------------------------------------
 */

struct problem {
    char state[6]; /* "": none */
    char message[512], detail[1024], hint[512];
    long at; /* byte from 0 in the statement; -1: none */
};
bool __attribute__((format(printf, 3, 4)))
problem_set(struct problem *p, const char *state, const char *format, ...);
/* Always false, as problem_set. */
bool problem_of(struct problem *p, const struct reply *r);
bool problem_of_error(struct problem *p, const dpc_error *e);

/* --- results ----------------------------------------------------------------
 */

struct front_field {
    const char *name;
    uint32_t type;
    int len, typmod;
};

/* All of it lives in a pool. */
struct front_rows {
    struct front_field *fields;
    size_t n_fields, n_rows;
    const char **cells; /* PostgreSQL's text form; NULL: NULL */
    char tag[80];       /* "SELECT" gets its number of rows when it is sent */
    bool select;        /* has rows */
};

/* --- statements -------------------------------------------------------------
 */

enum statement_kind {
    STATEMENT_EMPTY,
    STATEMENT_SELECT, /* of the owner's tables */
    STATEMENT_SYSTEM, /* of the catalogue */
    STATEMENT_OWN,    /* of dpcount.budget, history, tables */
    STATEMENT_EXPLAIN,
    STATEMENT_SET,
    STATEMENT_SHOW,
    STATEMENT_TRANSACTION,
    STATEMENT_DISCARD,
    STATEMENT_DEALLOCATE,
    STATEMENT_DECLARE,
    STATEMENT_FETCH,
    STATEMENT_CLOSE,
    STATEMENT_PASSWORD,
    STATEMENT_REFUSED
};

struct statement {
    enum statement_kind kind;
    char *sql;     /* of this statement alone */
    size_t offset; /* in the whole string, bytes */
    json_t *node;  /* of PostgreSQL's tree; NULL: empty */
    const char *type;
    bool explain_json;
    size_t inner; /* where the SELECT begins in an EXPLAIN or DECLARE */
};

struct statements {
    struct statement *list;
    size_t n;
    json_t *tree;
    struct front_pool pool;
};
/* Reads a string of statements. False: a syntax error. */
bool statements_read(const char *text, struct statements *out,
                     struct problem *bad);
void statements_free(struct statements *s);

/* --- the connection ---------------------------------------------------------
 */

struct prepared_statement {
    char *name;
    struct statements text; /* one, or none */
    uint32_t types[QUESTION_PARAMETERS_MOST];
    size_t n_types;
    char *whole;
};

struct front_portal {
    char *name;
    struct statement *s; /* in its own copy */
    struct statements text;
    char *whole;
    const char *parameters[QUESTION_PARAMETERS_MOST];
    size_t n_parameters;
    uint16_t *formats;
    size_t n_formats;
    struct front_pool pool;
    struct front_rows rows;
    bool ran, cursor;
    bool running, ended; /* closed by what runs in it */
    size_t at;           /* rows sent */
};

struct front_setting {
    const char *name;
    char value[FRONT_SETTING];
    char initial[FRONT_SETTING];
};

struct front {
    const struct front_client *client;
    const struct conf *conf;
    const struct conf_dataset *dataset;
    struct tls_conn *tls;
    struct ipc auth, desk;
    unsigned char *in;
    size_t n_in, cap_in, taken;
    struct wire_out out;
    char user[64], database[64];
    bool may_spend, cancelled, timed_out, skip_to_sync;
    uint32_t session, request;
    char transaction; /* I, T or E */
    dpc_dataset *snapshot;
    struct catalogue *catalogue;
    struct front_setting *settings;
    size_t n_settings;
    struct prepared_statement *prepared[FRONT_NAMED_MOST];
    struct front_portal *portals[FRONT_NAMED_MOST];
    char *last;        /* JSON of the last result */
    const char *whole; /* the string being run, for positions */
};

/* --- front_io.c -------------------------------------------------------------
 */

/* Sends what was written. */
void front_flush(struct front *f);
/* n bytes, before the first message; false: gone or too late. */
/* The first byte of all, which stays where it is. */
bool front_first_byte(struct front *f, long deadline, unsigned char *out);
bool front_bytes(struct front *f, void *out, size_t n, long deadline);
bool front_nothing_waits(const struct front *f);
/* A message of at most `most` bytes. False: the connection ends. */
bool front_message(struct front *f, size_t most, long deadline, char *type,
                   struct wire_in *in);
/* Waits for a reply of the desk while the client may cancel or go. False: the
 * connection ends. */
bool front_reply(struct front *f, uint32_t number, long timeout_ms,
                 struct reply *out);
void front_fatal(struct front *f, const char *state, const char *message);
_Noreturn void front_end(struct front *f);
bool front_take_snapshot(struct front *f, struct wire_in *in);

/* --- front_start.c ----------------------------------------------------------
 */
bool front_start(struct front *f);
void front_parameter_status(struct front *f, const char *name,
                            const char *value);

/* --- front_settings.c -------------------------------------------------------
 */
void settings_init(struct front *f);
bool setting_exists(const char *name); /* exactly so */
const char *setting_value(const struct front *f, const char *name);
bool setting_on(const struct front *f, const char *name);
long setting_ms(const struct front *f, const char *name);
bool setting_put(struct front *f, const char *name, const char *value,
                 struct problem *bad);
bool settings_run(struct front *f, const struct statement *s,
                  struct front_rows *out, struct problem *bad);
bool settings_show(struct front *f, const struct statement *s,
                   struct front_pool *pool, struct front_rows *out,
                   struct problem *bad);
/* For ParameterStatus, SHOW without a name. */
void settings_reset(struct front *f);

/* --- front_ask.c: the owner's tables ----------------------------------------
 */
bool talk_describe(struct front *f, const char *sql, size_t n_parameters,
                   struct front_pool *pool, struct front_rows *out,
                   uint32_t *types, size_t *n_types, struct problem *bad);
bool talk_release(struct front *f, const char *sql,
                  const char *const *parameters, size_t n,
                  struct front_pool *pool, struct front_rows *out,
                  struct problem *bad);
bool talk_explain(struct front *f, const struct statement *s,
                  const char *const *parameters, size_t n,
                  struct front_pool *pool, struct front_rows *out,
                  struct problem *bad);
/* {"budget"...}, {"history"...} of the ledger. NULL: problem. */
json_t *talk_ledger(struct front *f, char type, struct problem *bad);

/* --- front_own.c: dpcount.budget, dpcount.history, dpcount.tables ------------
 */
bool own_run(struct front *f, const char *sql, bool describe,
             struct front_pool *pool, struct front_rows *out,
             struct problem *bad);

/* --- front_run.c: any statement ---------------------------------------------
 */
bool run_statement(struct front *f, const struct statement *s,
                   const char *const *parameters, size_t n,
                   struct front_pool *pool, struct front_rows *out,
                   struct problem *bad);
bool describe_statement(struct front *f, const struct statement *s,
                        struct front_pool *pool, struct front_rows *out,
                        uint32_t *types, size_t *n_types, struct problem *bad);
void run_simple(struct front *f, const char *text);

/* --- front_extended.c --------------------------------------------------------
 */
bool extended_message(struct front *f, char type, struct wire_in *in);
void portal_close(struct front *f, const char *name, bool all);
void prepared_close(struct front *f, const char *name, bool all);
/* What a FETCH will give. */
void cursor_describe(struct front *f, const struct statement *s,
                     struct front_rows *out);
/* Runs DECLARE, FETCH, CLOSE. */
bool cursor_run(struct front *f, const struct statement *s,
                const char *const *parameters, size_t n,
                struct front_pool *pool, struct front_rows *out,
                struct problem *bad);

/* --- front_rows.c ------------------------------------------------------------
 */
void send_description(struct front *f, const struct front_rows *r,
                      const uint16_t *formats, size_t n_formats);
/* False: a value has no such form. */
bool send_rows(struct front *f, const struct front_rows *r, size_t from,
               size_t to, const uint16_t *formats, size_t n_formats,
               struct problem *bad);
void send_complete(struct front *f, const struct front_rows *r, size_t n);
uint32_t oid_of_type(dpc_type t);
int oid_len(uint32_t oid);
/* One column of texts. */
void make_column(struct front_pool *pool, struct front_rows *out,
                 const char *name, const char *const *cells, size_t n);

/* --- front_values.c: values in binary
 * ----------------------------------------- */
/* The text form of a parameter; NULL: problem. */
const char *param_text(struct front_pool *pool, uint32_t type,
                       const unsigned char *p, size_t n, struct problem *bad);
/* The binary form of a cell. */
bool cell_binary(struct wire_out *out, uint32_t type, const char *text);

/* --- front_report.c
 * ----------------------------------------------------------- */
void report_problem(struct front *f, const struct problem *p,
                    const struct statement *s);
void report_notice(struct front *f, const char *message, const char *detail);

/* --- front_jail.c
 * -------------------------------------------------------------- */
/* From here on no file can be opened, no connection made, no program run. */
bool front_jail(void);

#endif
