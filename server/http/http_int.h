/* What the files of the HTTP front share. */
#ifndef HTTP_HTTP_INT_H
#define HTTP_HTTP_INT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpcount.h"
#include "serve/ipc.h"
#include "serve/reply.h"

enum {
    HTTP_BODY_MOST = 1 << 20,
    HTTP_CHANNELS_MOST = 16,   /* data sets that one connection looks at */
    HTTP_TOKEN = 64,           /* characters of a session's name */
    HTTP_SECONDS_REQUEST = 30, /* from one answer to the end of a request */
    HTTP_HISTORY_MOST = 200
};

/* --- requests and answers --------------------------------------------------
 */

/* What came: bytes of anybody. Texts are never NULL. */
struct http_request {
    const char *method, *path, *query_before, *query_limit;
    const char *host, *origin, *x_dpc, *cookie, *authorization, *content_type;
    const char *etag; /* If-None-Match */
    const unsigned char *body;
    size_t n_body;
    bool tls;
};

struct http_answer {
    unsigned status;
    const char *type;          /* Content-Type */
    const unsigned char *body; /* of a file; else json */
    size_t n_body;
    json_t *json;
    char cookie[200]; /* Set-Cookie; "": none */
    char etag[80];
    bool retry; /* Retry-After */
};

/* --- http_check.c: what can be said of a request by itself ------------------
 */

/* The value of our cookie, into `out`; false: none, or not of its form. */
bool http_cookie(const char *header, bool tls, char out[HTTP_TOKEN + 1]);
/* "Basic ..." as name and password; false: not of this form. */
bool http_basic(const char *header, char *user, size_t n_user, char *password,
                size_t n_password);
/* May this POST come from where it says? With a cookie the origin must be
 * named and our own. */
bool http_same_origin(const struct http_request *r, bool by_cookie);
/* "datasets/NAME/REST": the parts, decoded. False: not of this form. */
bool http_dataset_path(const char *path, char *name, size_t n_name,
                       const char **rest);
/* An object, not too deep; NULL: answer 400. */
json_t *http_body(const struct http_request *r);
/* The body of a quote or release as a question. False: why says what. */
bool http_question(const json_t *o, struct question_text *out,
                   const char **why);

/* --- http_session.c: channels to the process that signs in and to desks -----
 */

struct http_channel {
    char dataset[64];
    struct ipc desk;
    dpc_dataset *snapshot;
    uint32_t request;
    bool spend, open;
};

struct http_session {
    struct ipc auth;
    char token[HTTP_TOKEN + 1]; /* whose channels these are */
    char basic[300];            /* the header that was checked */
    char user[64];
    struct http_channel channels[HTTP_CHANNELS_MOST];
    size_t n_channels;
    bool broken; /* the process that signs in is gone */
};

/* Signs in; false: wrong, or blocked. */
bool http_sign_in(struct http_session *s, const char *user,
                  const char *password, bool transient,
                  char token[HTTP_TOKEN + 1]);
void http_sign_out(struct http_session *s, const char *token);
/* What is known about who this is; NULL: not signed in. */
json_t *http_who(struct http_session *s, const char *token);
/* A channel to the data set, as whoever the token is. NULL: none, with why
 * (a status of HTTP). */
struct http_channel *http_channel(struct http_session *s, const char *token,
                                  const char *dataset, unsigned *status);
/* Sends and waits; false: the data set is no longer served. */
bool http_ask(struct http_channel *c, const struct question_text *q,
              struct reply *out);
bool http_ledger(struct http_channel *c, char type, struct reply *out);

/* --- http_json.c -------------------------------------------------------------
 */

/* JSON of the library, integers beyond 64 bits as texts; NULL: malformed. */
json_t *http_read_json(const char *text);
json_t *http_error(const char *code, const char *message, const char *detail,
                   const char *hint, long position);
unsigned http_status_of(const char *code);
json_t *http_tables(const dpc_dataset *d);
json_t *http_quote_json(const dpc_result *r);
json_t *http_reply_json(const struct reply *r);
/* The last first; `before` is a receipt. */
json_t *http_history_page(json_t *history, const char *before, size_t limit);

/* --- http_api.c, http_assets.c -----------------------------------------------
 */

void http_api(struct http_session *s, const struct http_request *r,
              struct http_answer *out);
/* A file of the console; false: there is none. */
bool http_asset(const struct http_request *r, struct http_answer *out);

/* --- http_front.c
 * ------------------------------------------------------------- */

struct http_connection {
    int fd, auth;
    bool tls;
    const char *certificate, *key, *minimum; /* PEM texts */
};
_Noreturn void http_front(const struct http_connection *c);

#endif
