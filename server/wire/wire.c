/* Messages of the wire protocol: see wire.h. */
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------
 */

struct wire_in wire_in_of(const void *p, size_t n)
{
    return (struct wire_in){.p = p, .n = n};
}

const unsigned char *wire_get_bytes(struct wire_in *in, size_t n)
{
    if (in->bad || n > in->n - in->at) {
        in->bad = true;
        return NULL;
    }
    const unsigned char *p = in->p + in->at;
    in->at += n;
    return p;
}

uint8_t wire_get8(struct wire_in *in)
{
    const unsigned char *p = wire_get_bytes(in, 1);
    return p ? p[0] : 0;
}

uint16_t wire_get16(struct wire_in *in)
{
    const unsigned char *p = wire_get_bytes(in, 2);
    if (!p)
        return 0;
    return (uint16_t)((unsigned)p[0] << 8 | p[1]);
}

uint32_t wire_get32(struct wire_in *in)
{
    const unsigned char *p = wire_get_bytes(in, 4);
    return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
                   (uint32_t)p[2] << 8 | p[3]
             : 0;
}

const char *wire_get_text(struct wire_in *in)
{
    const unsigned char *from = in->p + in->at;
    const unsigned char *end =
        in->bad || in->at == in->n ? NULL : memchr(from, 0, in->n - in->at);
    if (!end) {
        in->bad = true;
        return "";
    }
    in->at += (size_t)(end - from) + 1;
    return (const char *)from;
}

bool wire_at_end(const struct wire_in *in)
{
    return !in->bad && in->at == in->n;
}

/* --- writing ---------------------------------------------------------------
 */

void wire_out_init(struct wire_out *out, size_t most)
{
    *out = (struct wire_out){.most = most};
}

void wire_out_fini(struct wire_out *out)
{
    free(out->p);
    *out = (struct wire_out){0};
}

static bool room(struct wire_out *out, size_t n)
{
    if (out->failed || n > out->most - out->n) {
        out->failed = true;
        return false;
    }
    if (out->n + n <= out->cap)
        return true;
    size_t cap = out->cap ? out->cap : 512;
    while (cap < out->n + n)
        cap *= 2;
    unsigned char *p = realloc(out->p, cap);
    if (!p) {
        out->failed = true;
        return false;
    }
    out->p = p;
    out->cap = cap;
    return true;
}

void wire_put_bytes(struct wire_out *out, const void *p, size_t n)
{
    if (!n || !room(out, n))
        return;
    memcpy(out->p + out->n, p, n);
    out->n += n;
}

void wire_put8(struct wire_out *out, uint8_t v)
{
    wire_put_bytes(out, &v, 1);
}

void wire_put16(struct wire_out *out, uint16_t v)
{
    unsigned char b[] = {(unsigned char)(v >> 8), (unsigned char)v};
    wire_put_bytes(out, b, sizeof b);
}

void wire_put32(struct wire_out *out, uint32_t v)
{
    unsigned char b[] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                         (unsigned char)(v >> 8), (unsigned char)v};
    wire_put_bytes(out, b, sizeof b);
}

void wire_put_text(struct wire_out *out, const char *s)
{
    wire_put_bytes(out, s, strlen(s) + 1);
}

void wire_begin(struct wire_out *out, char type)
{
    wire_put8(out, (uint8_t)type);
    out->start = out->n;
    wire_put32(out, 0);
}

/* The length counts itself and what follows, not the type. */
void wire_end(struct wire_out *out)
{
    if (out->failed)
        return;
    size_t n = out->n - out->start;
    unsigned char *p = out->p + out->start;
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(n >> (8 * (3 - i)));
}

void wire_message32(struct wire_out *out, char type, uint32_t v)
{
    wire_begin(out, type);
    wire_put32(out, v);
    wire_end(out);
}

void wire_message0(struct wire_out *out, char type)
{
    wire_begin(out, type);
    wire_end(out);
}

/* --- the first packet ------------------------------------------------------
 */

enum {
    CODE_CANCEL = 80877102,
    CODE_TLS = 80877103,
    CODE_GSS = 80877104,
};

static bool is_extension(const char *name)
{
    return !strncmp(name, "_pq_.", 5);
}

/* Pairs of texts, ended by an empty name. */
static void read_parameters(struct wire_in *in, struct wire_startup *out)
{
    for (;;) {
        const char *name = wire_get_text(in);
        if (in->bad || !*name)
            return;
        const char *value = wire_get_text(in);
        bool extension = is_extension(name);
        size_t *n = extension ? &out->n_unknown : &out->n_parameters;
        if (*n == WIRE_PARAMETERS_MOST) {
            in->bad = true;
            return;
        }
        if (extension)
            out->unknown[(*n)++] = name;
        else
            out->parameters[(*n)++] = (struct wire_parameter){name, value};
    }
}

static enum wire_first read_version(struct wire_in *in, uint32_t code,
                                    struct wire_startup *out)
{
    if (code >> 16 != 3)
        return WIRE_FIRST_OLD;
    out->minor = (uint16_t)code;
    read_parameters(in, out);
    return wire_at_end(in) ? WIRE_FIRST_STARTUP : WIRE_FIRST_BAD;
}

void wire_read_startup(const void *p, size_t n, struct wire_startup *out)
{
    struct wire_in in = wire_in_of(p, n);
    uint32_t code = wire_get32(&in);
    *out = (struct wire_startup){.kind = WIRE_FIRST_BAD};
    if (in.bad)
        return;
    if (code == CODE_TLS || code == CODE_GSS) {
        if (wire_at_end(&in))
            out->kind = code == CODE_TLS ? WIRE_FIRST_TLS : WIRE_FIRST_GSS;
    } else if (code == CODE_CANCEL) {
        out->pid = wire_get32(&in);
        out->key = wire_get32(&in);
        if (wire_at_end(&in))
            out->kind = WIRE_FIRST_CANCEL;
    } else {
        out->kind = read_version(&in, code, out);
    }
}

const char *wire_parameter(const struct wire_startup *s, const char *name)
{
    for (size_t i = 0; i < s->n_parameters; i++)
        if (!strcmp(s->parameters[i].name, name))
            return s->parameters[i].value;
    return NULL;
}

/* --- reports ---------------------------------------------------------------
 */

static void put_field(struct wire_out *out, char which, const char *text)
{
    if (!text || !*text)
        return;
    wire_put8(out, (uint8_t)which);
    wire_put_text(out, text);
}

void wire_put_report(struct wire_out *out, const struct wire_report *r)
{
    char at[24];
    snprintf(at, sizeof at, "%lu", r->position);
    wire_begin(out, !strcmp(r->severity, "NOTICE") ? 'N' : 'E');
    put_field(out, 'S', r->severity);
    put_field(out, 'V', r->severity);
    put_field(out, 'C', r->state);
    put_field(out, 'M', r->message);
    put_field(out, 'D', r->detail);
    put_field(out, 'H', r->hint);
    put_field(out, 'P', r->position ? at : NULL);
    wire_put8(out, 0);
    wire_end(out);
}

unsigned long wire_position(const char *text, size_t at)
{
    unsigned long n = 1;
    for (size_t i = 0; i < at && text[i]; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}
