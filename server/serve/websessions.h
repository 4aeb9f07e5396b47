/*
 * Who is signed in with a browser: names of sessions, 256 random bits each,
 * kept as hashes by the process that signs in. They end after 12 hours, after
 * an hour without a request, and when one signs out.
 */
#ifndef SERVE_WEBSESSIONS_H
#define SERVE_WEBSESSIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { WEB_TOKEN = 64 };

/* `client` is not 0: it ends with that connection. False: no random bytes. */
bool web_session_new(const char *user, uint32_t client,
                     char token[WEB_TOKEN + 1]);
/* Whose it is, and that it is used; NULL: nobody's. */
const char *web_session_user(const char *token);
void web_session_end(const char *token);
void web_session_end_client(uint32_t client);
void web_session_end_user(const char *user);

#endif
