/*
 * Reading the configuration: see conf.h. libyaml gives a tree with marks; each
 * mapping has a table of the keys it may have.
 */
#include "serve/conf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "serve/conf_int.h"

/* --- memory ---------------------------------------------------------------
 */

struct conf_block {
    struct conf_block *next;
    size_t n;
    max_align_t data[];
};

void *conf_alloc(struct conf *c, size_t n)
{
    struct conf_block *b = calloc(1, sizeof *b + n);
    if (!b)
        return NULL;
    b->n = n;
    b->next = c->blocks;
    c->blocks = b;
    return b->data;
}

char *conf_copy(struct conf *c, const char *s, size_t n)
{
    char *p = conf_alloc(c, n + 1);
    if (p)
        memcpy(p, s, n);
    return p;
}

void conf_free(struct conf *c)
{
    if (!c)
        return;
    for (struct conf_block *b = c->blocks, *next; b; b = next) {
        next = b->next;
        explicit_bzero(b, sizeof *b + b->n);
        free(b);
    }
    free(c->file);
    free(c);
}

static void forget(const char *s)
{
    if (s)
        explicit_bzero((char *)(size_t)s, strlen(s));
}

void conf_forget(struct conf *c)
{
    for (size_t i = 0; i < c->n_people; i++)
        forget(c->people[i].password);
    for (size_t i = 0; i < c->n_datasets; i++) {
        forget(c->datasets[i].db);
        forget(c->datasets[i].password_file);
    }
}

void conf_follow(struct conf **c, const char *text)
{
    struct conf_problem bad;
    struct conf *new = conf_parse((*c)->file, text, strlen(text), &bad);
    forget(text);
    if (!new)
        return;
    conf_forget(new);
    conf_free(*c);
    *c = new;
}

/* --- a reader --------------------------------------------------------------
 */

void __attribute__((format(printf, 4, 5)))
conf_fail_at(struct conf_reader *r, size_t line, size_t column,
             const char *format, ...)
{
    va_list ap;
    if (r->failed)
        return;
    r->failed = true;
    int n = snprintf(r->bad->text, sizeof r->bad->text,
                     "%.300s:%zu:%zu: ", r->c->file, line, column);
    va_start(ap, format);
    vsnprintf(r->bad->text + n, sizeof r->bad->text - (size_t)n, format, ap);
    va_end(ap);
}

yaml_node_t *conf_node(struct conf_reader *r, int i)
{
    return yaml_document_get_node(&r->doc, i);
}

const char *conf_scalar(struct conf_reader *r, yaml_node_t *n, const char *what)
{
    if (n->type != YAML_SCALAR_NODE ||
        strlen((char *)n->data.scalar.value) != n->data.scalar.length) {
        FAIL(r, n, "%s must be a plain value", what);
        return "";
    }
    char *s =
        conf_copy(r->c, (char *)n->data.scalar.value, n->data.scalar.length);
    if (!s)
        FAIL(r, n, "out of memory");
    return s ? s : "";
}

/* Calls `take` for each pair; keys come once. */
void conf_each_pair(struct conf_reader *r, yaml_node_t *n, const char *what,
                    conf_take *take, void *ctx)
{
    if (n->type != YAML_MAPPING_NODE) {
        FAIL(r, n, "%s must be a mapping", what);
        return;
    }
    yaml_node_pair_t *from = n->data.mapping.pairs.start;
    for (yaml_node_pair_t *p = from; p < n->data.mapping.pairs.top; p++) {
        yaml_node_t *key = conf_node(r, p->key);
        const char *name = conf_scalar(r, key, "a key");
        for (yaml_node_pair_t *q = from; q < p && !r->failed; q++)
            if (!strcmp((char *)conf_node(r, q->key)->data.scalar.value, name))
                FAIL(r, key, "the key \"%s\" is there twice", name);
        if (r->failed)
            return;
        take(r, name, conf_node(r, p->value), ctx);
        if (r->failed)
            return;
    }
}

void conf_unknown(struct conf_reader *r, yaml_node_t *value, const char *key)
{
    size_t column = value->start_mark.column + 1, n = strlen(key) + 2;
    /* the key stands before its value, on the same line unless it is long */
    yaml_node_pair_t *p;
    for (yaml_node_t *m = r->doc.nodes.start; m < r->doc.nodes.top; m++)
        if (m->type == YAML_MAPPING_NODE)
            for (p = m->data.mapping.pairs.start; p < m->data.mapping.pairs.top;
                 p++)
                if (conf_node(r, p->value) == value) {
                    yaml_node_t *k = conf_node(r, p->key);
                    FAIL(r, k, "unknown key \"%.100s\"", key);
                    return;
                }
    conf_fail_at(r, value->start_mark.line + 1, column > n ? column - n : 1,
                 "unknown key \"%.100s\"", key);
}

/* --- values ----------------------------------------------------------------
 */

bool conf_yes_or_no(struct conf_reader *r, yaml_node_t *n, const char *what)
{
    const char *s = conf_scalar(r, n, what);
    bool yes = !strcmp(s, "yes") || !strcmp(s, "true") || !strcmp(s, "on");
    bool no = !strcmp(s, "no") || !strcmp(s, "false") || !strcmp(s, "off");
    if (!yes && !no)
        FAIL(r, n, "%s must be yes or no, not \"%.100s\"", what, s);
    return yes;
}

unsigned conf_whole(struct conf_reader *r, yaml_node_t *n, const char *what,
                    unsigned least, unsigned most)
{
    const char *s = conf_scalar(r, n, what);
    char *end;
    errno = 0;
    unsigned long v = isdigit((unsigned char)*s) ? strtoul(s, &end, 10) : 0;
    if (!isdigit((unsigned char)*s) || *end || errno || v < least || v > most)
        FAIL(r, n, "%s must be a whole number from %u to %u, not \"%.100s\"",
             what, least, most, s);
    return (unsigned)v;
}

long long conf_nanos(const char *s)
{
    long long v = 0;
    int digits = -1;
    for (const char *p = s; *p; p++) {
        if (*p == '.' && digits < 0 && p > s) {
            digits = 0;
            continue;
        }
        if (!isdigit((unsigned char)*p) || v > 1000000000000000000 ||
            digits == 9)
            return -1;
        v = v * 10 + (*p - '0');
        digits += digits >= 0;
    }
    for (digits = digits < 0 ? 0 : digits; digits < 9; digits++)
        if ((v *= 10) > 1000000000000000000)
            return -1;
    return *s ? v : -1;
}

const char *conf_amount(struct conf_reader *r, yaml_node_t *n, const char *what)
{
    const char *s = conf_scalar(r, n, what);
    if (!r->failed && conf_nanos(s) < 0)
        FAIL(r, n,
             "%s must be a decimal number with at most 9 digits behind "
             "the point, not \"%.100s\"",
             what, s);
    return s;
}

const char *conf_small(struct conf_reader *r, yaml_node_t *n, const char *what)
{
    const char *s = conf_scalar(r, n, what);
    char *end;
    double v = strtod(s, &end);
    if (!r->failed && (!isdigit((unsigned char)*s) || *end || !(v < 1)))
        FAIL(r, n, "%s must be a number from 0 to below 1, not \"%.100s\"",
             what, s);
    return s;
}

/* "2 s", "500 ms", "2", "none". */
double conf_seconds(struct conf_reader *r, yaml_node_t *n, const char *what)
{
    const char *s = conf_scalar(r, n, what);
    char *end;
    if (!strcmp(s, "none"))
        return 0;
    double v = isdigit((unsigned char)*s) ? strtod(s, &end) : 0;
    if (v > 0)
        while (*end == ' ')
            end++;
    if (v > 0 && !strcmp(end, "ms"))
        v /= 1000;
    else if (!(v > 0) || (*end && strcmp(end, "s")))
        v = 0;
    if (!(v >= 0.01 && v <= 86400))
        FAIL(r, n,
             "%s must be a time like \"2 s\" (up to 86400 s) or none, "
             "not \"%.100s\"",
             what, s);
    return v;
}

/* --- the whole --------------------------------------------------------------
 */

static void take_limits(struct conf_reader *r, const char *key,
                        yaml_node_t *value, void *ctx)
{
    struct conf *c = ctx;
    if (!strcmp(key, "connections"))
        c->connections = conf_whole(r, value, key, 1, 10000);
    else if (!strcmp(key, "connections_each"))
        c->connections_each = conf_whole(r, value, key, 1, 10000);
    else if (!strcmp(key, "waiting"))
        c->waiting = conf_whole(r, value, key, 0, 1000);
    else if (!strcmp(key, "sign_in_seconds"))
        c->sign_in_seconds = conf_whole(r, value, key, 1, 600);
    else if (!strcmp(key, "idle_seconds"))
        c->idle_seconds = conf_whole(r, value, key, 1, 1000000);
    else
        conf_unknown(r, value, key);
}

struct sections {
    yaml_node_t *listen, *tls, *state, *datasets, *analysts, *owners, *limits;
};

static void take_section(struct conf_reader *r, const char *key,
                         yaml_node_t *value, void *ctx)
{
    struct sections *s = ctx;
    const struct {
        const char *key;
        yaml_node_t **to;
    } all[] = {{"listen", &s->listen},     {"tls", &s->tls},
               {"state", &s->state},       {"datasets", &s->datasets},
               {"analysts", &s->analysts}, {"owners", &s->owners},
               {"limits", &s->limits}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(key, all[i].key)) {
            *all[i].to = value;
            return;
        }
    conf_unknown(r, value, key);
}

static void check_listen(struct conf_reader *r, yaml_node_t *n)
{
    const struct conf *c = r->c;
    for (size_t i = 0; i < c->n_listen; i++) {
        const struct conf_listen *l = &c->listen[i];
        yaml_node_t *at = conf_node(r, n->data.sequence.items.start[i]);
        if (l->kind == CONF_POSTGRES && !c->tls_certificate)
            FAIL(r, at, "postgres on TCP needs tls: {certificate, key}");
        if (l->kind == CONF_HTTP && !l->loopback && !c->tls_certificate)
            FAIL(r, at, "http beyond loopback needs tls: {certificate, key}");
    }
    if (!r->failed && !c->n_listen)
        FAIL(r, n, "listen is empty");
}

static void read_sections(struct conf_reader *r, yaml_node_t *root,
                          const struct sections *s)
{
    struct conf *c = r->c;
    if (!s->listen || !s->state || !s->datasets || !s->analysts) {
        FAIL(r, root, "%s is missing",
             !s->listen     ? "listen"
             : !s->state    ? "state"
             : !s->datasets ? "datasets"
                            : "analysts");
        return;
    }
    c->state = conf_scalar(r, s->state, "state");
    if (!r->failed && *c->state != '/')
        FAIL(r, s->state, "state must be the absolute name of a folder");
    if (!r->failed && s->limits)
        conf_each_pair(r, s->limits, "limits", take_limits, c);
    if (!r->failed && s->tls)
        conf_each_pair(r, s->tls, "tls", conf_take_tls, c);
    if (!r->failed && s->tls && (!c->tls_certificate || !c->tls_key))
        FAIL(r, s->tls, "tls needs certificate and key");
    if (!r->failed)
        conf_read_listen(r, s->listen);
    if (!r->failed)
        check_listen(r, s->listen);
    if (!r->failed)
        conf_each_pair(r, s->datasets, "datasets", conf_take_datasets, c);
    if (!r->failed)
        conf_each_pair(r, s->analysts, "analysts", conf_take_analysts, NULL);
    if (!r->failed && s->owners)
        conf_each_pair(r, s->owners, "owners", conf_take_owners, NULL);
}

static void read_document(struct conf_reader *r)
{
    struct sections s = {0};
    yaml_node_t *root = yaml_document_get_root_node(&r->doc);
    if (!root) {
        conf_fail_at(r, 1, 1, "the file is empty");
        return;
    }
    r->c->datasets =
        conf_alloc(r->c, sizeof *r->c->datasets * CONF_DATASETS_MOST);
    r->c->people = conf_alloc(r->c, sizeof *r->c->people * CONF_ANALYSTS_MOST);
    if (!r->c->datasets || !r->c->people)
        conf_fail_at(r, 1, 1, "out of memory");
    else
        conf_each_pair(r, root, "the configuration", take_section, &s);
    if (!r->failed)
        read_sections(r, root, &s);
}

static void read_text(struct conf_reader *r, const char *text, size_t n)
{
    yaml_parser_t p;
    if (!yaml_parser_initialize(&p)) {
        conf_fail_at(r, 1, 1, "out of memory");
        return;
    }
    yaml_parser_set_input_string(&p, (const unsigned char *)text, n);
    if (!yaml_parser_load(&p, &r->doc)) {
        conf_fail_at(r, p.problem_mark.line + 1, p.problem_mark.column + 1,
                     "%s", p.problem ? p.problem : "not YAML");
    } else {
        read_document(r);
        yaml_document_delete(&r->doc);
    }
    yaml_parser_delete(&p);
}

struct conf *conf_parse(const char *file, const char *text, size_t n,
                        struct conf_problem *bad)
{
    struct conf *c = calloc(1, sizeof *c);
    char *name = strdup(file);
    struct conf_reader r = {.c = c, .bad = bad};
    if (!c || !name) {
        snprintf(bad->text, sizeof bad->text, "out of memory");
        free(c);
        free(name);
        return NULL;
    }
    c->file = name;
    c->connections = 100;
    c->connections_each = 10;
    c->waiting = 4;
    c->sign_in_seconds = 10;
    c->idle_seconds = 86400;
    mallopt(M_PERTURB, 0x5a); /* what libyaml gives back is overwritten */
    read_text(&r, text, n);
    mallopt(M_PERTURB, 0);
    if (!r.failed)
        return c;
    conf_free(c);
    return NULL;
}
