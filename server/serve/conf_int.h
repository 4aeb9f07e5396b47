/* What the files of the configuration's reader share. */
#ifndef SERVE_CONF_INT_H
#define SERVE_CONF_INT_H

#include <yaml.h>

#include "serve/conf.h"

struct conf_reader {
    struct conf *c;
    yaml_document_t doc;
    struct conf_problem *bad;
    bool failed;
};

void __attribute__((format(printf, 4, 5)))
conf_fail_at(struct conf_reader *r, size_t line, size_t column,
             const char *format, ...);
#define FAIL(r, node, ...)                                                     \
    conf_fail_at(r, (node)->start_mark.line + 1,                               \
                 (node)->start_mark.column + 1, __VA_ARGS__)

typedef void conf_take(struct conf_reader *r, const char *key,
                       yaml_node_t *value, void *ctx);

yaml_node_t *conf_node(struct conf_reader *r, int i);
const char *conf_scalar(struct conf_reader *r, yaml_node_t *n,
                        const char *what);
/* Calls `take` for each pair; keys come once. */
void conf_each_pair(struct conf_reader *r, yaml_node_t *n, const char *what,
                    conf_take *take, void *ctx);
void conf_unknown(struct conf_reader *r, yaml_node_t *value, const char *key);
bool conf_yes_or_no(struct conf_reader *r, yaml_node_t *n, const char *what);
unsigned conf_whole(struct conf_reader *r, yaml_node_t *n, const char *what,
                    unsigned least, unsigned most);
const char *conf_amount(struct conf_reader *r, yaml_node_t *n,
                        const char *what);
const char *conf_small(struct conf_reader *r, yaml_node_t *n, const char *what);
double conf_seconds(struct conf_reader *r, yaml_node_t *n, const char *what);

/* --- conf_sections.c ------------------------------------------------------ */
void conf_read_listen(struct conf_reader *r, yaml_node_t *n);
conf_take conf_take_tls, conf_take_datasets, conf_take_analysts,
    conf_take_owners;

#endif
