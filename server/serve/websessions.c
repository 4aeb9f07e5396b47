/* Sessions of browsers: see websessions.h. */
#include "serve/websessions.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "serve/proc.h"

enum {
    SESSIONS = 4096, /* the one used longest ago makes room */
    LIFE_MS = 12 * 3600 * 1000,
    IDLE_MS = 3600 * 1000
};

struct web_session {
    unsigned char hash[32];
    char user[64]; /* "": free */
    long made, used;
    uint32_t client;
};

static struct web_session sessions[SESSIONS];

static bool hash_of(const char *token, unsigned char out[32])
{
    unsigned n = 0;
    return strlen(token) == WEB_TOKEN &&
           EVP_Digest(token, WEB_TOKEN, out, &n, EVP_sha256(), NULL) && n == 32;
}

static void clear(struct web_session *s)
{
    *s = (struct web_session){0};
}

static void expire(long now)
{
    for (size_t i = 0; i < SESSIONS; i++)
        if (sessions[i].user[0] && (now - sessions[i].made > LIFE_MS ||
                                    now - sessions[i].used > IDLE_MS))
            clear(&sessions[i]);
}

static struct web_session *room(void)
{
    struct web_session *oldest = &sessions[0];
    for (size_t i = 0; i < SESSIONS; i++) {
        if (!sessions[i].user[0])
            return &sessions[i];
        if (sessions[i].used < oldest->used)
            oldest = &sessions[i];
    }
    return oldest;
}

bool web_session_new(const char *user, uint32_t client,
                     char token[WEB_TOKEN + 1])
{
    unsigned char bytes[WEB_TOKEN / 2];
    long now = proc_now_ms();
    struct web_session *s;
    if (!proc_random(bytes, sizeof bytes))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    expire(now);
    s = room();
    *s = (struct web_session){.made = now, .used = now, .client = client};
    snprintf(s->user, sizeof s->user, "%s", user);
    return hash_of(token, s->hash);
}

/* Hashes of names are compared, so that time tells nothing about a name. */
static struct web_session *find(const char *token)
{
    unsigned char hash[32];
    if (!hash_of(token, hash))
        return NULL;
    expire(proc_now_ms());
    for (size_t i = 0; i < SESSIONS; i++)
        if (sessions[i].user[0] &&
            !CRYPTO_memcmp(sessions[i].hash, hash, sizeof hash))
            return &sessions[i];
    return NULL;
}

const char *web_session_user(const char *token)
{
    struct web_session *s = find(token);
    if (s)
        s->used = proc_now_ms();
    return s ? s->user : NULL;
}

void web_session_end(const char *token)
{
    struct web_session *s = find(token);
    if (s)
        clear(s);
}

void web_session_end_client(uint32_t client)
{
    for (size_t i = 0; i < SESSIONS; i++)
        if (sessions[i].user[0] && client && sessions[i].client == client)
            clear(&sessions[i]);
}

void web_session_end_user(const char *user)
{
    for (size_t i = 0; i < SESSIONS; i++)
        if (!strcmp(sessions[i].user, user))
            clear(&sessions[i]);
}
