/*
 * The console's files, embedded. The browser keeps them under their tag, so
 * that a reload costs nothing; nothing is fetched from anywhere else.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "http/http_int.h"

#define EMBED(name, file)                                                      \
    __asm__(".section .rodata\n"                                               \
            ".balign 16\n" #name "_begin:\n.incbin \"" CONSOLE_FOLDER "/" file \
            "\"\n" #name "_end:\n.byte 0\n.previous\n");                       \
    extern const unsigned char name##_begin[]                                  \
        __attribute__((visibility("hidden")));                                 \
    extern const unsigned char name##_end[]                                    \
        __attribute__((visibility("hidden")))

EMBED(asset_html, "index.html");
EMBED(asset_css, "console.css");
EMBED(asset_js, "console.js");
EMBED(asset_icon, "icon.svg");

static void tag_of(const unsigned char *p, size_t n, char *out, size_t size)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n_hash = 0;
    EVP_Digest(p, n, hash, &n_hash, EVP_sha256(), NULL);
    snprintf(out, size, "\"%02x%02x%02x%02x%02x%02x%02x%02x\"", hash[0],
             hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]);
}

bool http_asset(const struct http_request *r, struct http_answer *out)
{
    static const struct {
        const char *path, *type;
        const unsigned char *begin, *end;
    } files[] = {
        {"/", "text/html; charset=utf-8", asset_html_begin, asset_html_end},
        {"/console.css", "text/css; charset=utf-8", asset_css_begin,
         asset_css_end},
        {"/console.js", "text/javascript; charset=utf-8", asset_js_begin,
         asset_js_end},
        {"/icon.svg", "image/svg+xml", asset_icon_begin, asset_icon_end}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].path, r->path))
            continue;
        out->status = 200;
        out->type = files[i].type;
        out->body = files[i].begin;
        out->n_body = (size_t)(files[i].end - files[i].begin);
        tag_of(out->body, out->n_body, out->etag, sizeof out->etag);
        if (!strcmp(out->etag, r->etag)) {
            out->status = 304;
            out->n_body = 0;
        }
        return true;
    }
    return false;
}
