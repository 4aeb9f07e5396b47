/*
 * What a request over HTTP says by itself, in the hands of anybody: headers,
 * paths, bodies. The first byte says which. Lines are the headers.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void headers(char *text)
{
    char token[HTTP_TOKEN + 1], user[64], password[512], name[64];
    const char *rest, *line[4] = {"", "", "", ""};
    size_t n = 0;
    for (char *save = NULL, *l = strtok_r(text, "\n", &save); l && n < 4;
         l = strtok_r(NULL, "\n", &save))
        line[n++] = l;
    for (int tls = 0; tls < 2; tls++) {
        struct http_request r = {
            .host = line[0], .origin = line[1], .x_dpc = "1", .tls = tls};
        if (http_cookie(line[2], tls, token) && strlen(token) != HTTP_TOKEN)
            abort();
        /* with a cookie, only our own origin */
        if (http_same_origin(&r, true) &&
            (strlen(line[1]) < strlen(line[0]) || !*line[0] || !*line[1]))
            abort();
    }
    if (http_basic(line[3], user, sizeof user, password, sizeof password) &&
        strchr(user, ':'))
        abort();
    if (http_dataset_path(line[0], name, sizeof name, &rest) && !*name)
        abort();
}

/* No setting but an analyst's gets through. */
static void body(const uint8_t *data, size_t size)
{
    static struct question_text q;
    struct http_request r = {
        .content_type = "application/json", .body = data, .n_body = size};
    json_t *o = http_body(&r);
    const char *why = NULL;
    if (o && http_question(o, &q, &why)) {
        for (size_t i = 0; i < q.n_settings; i++)
            if (strcmp(q.settings[i].name, "epsilon") &&
                strcmp(q.settings[i].name, "delta") &&
                strcmp(q.settings[i].name, "groups") &&
                strcmp(q.settings[i].name, "fresh"))
                abort();
    } else if (o && (!why || !*why)) {
        abort();
    }
    json_decref(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = size ? malloc(size) : NULL;
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (data[0] % 3 == 0)
        headers(text);
    else if (data[0] % 3 == 1)
        body(data + 1, size - 1);
    else
        json_decref(http_read_json(text));
    free(text);
    return 0;
}
