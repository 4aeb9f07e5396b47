/*
 * Settings that are not arguments: a file (dpcount.yaml in the working folder,
 * $DPCOUNT_CONFIG, or --config FILE) and the environment (DPCOUNT_DB,
 * DPCOUNT_EPSILON, ...). Keys are the options of the library's table. A flag
 * wins over the environment, that over the file; of options that may repeat,
 * too, the nearest place that says them wins as a whole.
 *
 * PRIVACY: a file that others may write to could make tables public; it is
 * refused. For `ask` the owner's settings come from the file that was named
 * and from nowhere else.
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

enum { MAX_CONFIG = 1 << 20 };

static int complain(const struct invocation *inv, const char *path,
                    const char *what)
{
    char text[512];
    snprintf(text, sizeof text, "%.200s: %.200s", path, what);
    return usage_error(inv->json, text, "", "");
}

/* --- one setting ---------------------------------------------------------- */

static bool may_stand(const struct invocation *inv, const dpc_option *o)
{
    return strcmp(o->name, "config") && strcmp(o->name, "help") &&
           strcmp(o->name, "query-file") && command_takes(inv->command, o);
}

static int add(struct invocation *inv, const dpc_option *o, const char *value)
{
    char *copy = strdup(value);
    if (!copy || inv->n_settings == MAX_SETTINGS) {
        free(copy);
        return usage_error(inv->json, "too many options", "", "");
    }
    if (!strcmp(o->name, "format")) {
        inv->json |= !strcmp(copy, "json") && !inv->format_given;
        free(copy);
        return 0;
    }
    if (!strcmp(o->name, "owner") && !strcmp(copy, "yes"))
        inv->owner_flag = true;
    inv->settings[inv->n_settings++] = (struct setting){o->name, copy};
    inv->n_copies++;
    return 0;
}

static const char *flag_word(const char *value)
{
    return !strcmp(value, "true")    ? "yes"
           : !strcmp(value, "false") ? "no"
                                     : value;
}

/* --- the file ------------------------------------------------------------- */

struct config_reading {
    struct invocation *inv;
    const char *path;
    yaml_document_t *doc;
    const bool *seen; /* said by a flag already */
    bool taken[MAX_OPTIONS];
};

static const char *scalar(yaml_node_t *n)
{
    return n && n->type == YAML_SCALAR_NODE ? (char *)n->data.scalar.value
                                            : NULL;
}

static int add_value(struct config_reading *r, const dpc_option *o,
                     yaml_node_t *v)
{
    const char *text = scalar(v);
    if (!text)
        return complain(r->inv, r->path, "a value must be a text or a list");
    return add(r->inv, o, o->argument ? text : flag_word(text));
}

static int add_list(struct config_reading *r, const dpc_option *o,
                    yaml_node_t *v)
{
    int status = 0;
    if (!o->repeats)
        return complain(r->inv, r->path, "only one value is taken here");
    for (yaml_node_item_t *i = v->data.sequence.items.start;
         !status && i < v->data.sequence.items.top; i++)
        status = add_value(r, o, yaml_document_get_node(r->doc, *i));
    return status;
}

static int add_pair(struct config_reading *r, yaml_node_t *key,
                    yaml_node_t *value)
{
    dpc_option o;
    size_t at;
    char name[64];
    const char *k = scalar(key);
    snprintf(name, sizeof name, "%s", k ? k : "");
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    if (!k || !find_option(name, strlen(name), &o, &at) ||
        !strcmp(name, "config") || !strcmp(name, "help") ||
        !strcmp(name, "query-file")) {
        char text[128];
        snprintf(text, sizeof text, "unknown setting \"%.60s\"", name);
        return complain(r->inv, r->path, text);
    }
    if (r->taken[at])
        return complain(r->inv, r->path, "a setting stands there twice");
    r->taken[at] = true;
    if (r->seen[at] || !may_stand(r->inv, &o))
        return 0;
    return value && value->type == YAML_SEQUENCE_NODE ? add_list(r, &o, value)
                                                      : add_value(r, &o, value);
}

static int read_document(struct config_reading *r)
{
    yaml_node_t *root = yaml_document_get_root_node(r->doc);
    int status = 0;
    if (!root)
        return 0; /* empty */
    if (root->type != YAML_MAPPING_NODE)
        return complain(r->inv, r->path, "it must be a list of settings");
    for (yaml_node_pair_t *p = root->data.mapping.pairs.start;
         !status && p < root->data.mapping.pairs.top; p++)
        status = add_pair(r, yaml_document_get_node(r->doc, p->key),
                          yaml_document_get_node(r->doc, p->value));
    return status;
}

static int read_yaml(struct invocation *inv, const char *path, FILE *f,
                     const bool *seen)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    struct config_reading r = {
        .inv = inv, .path = path, .doc = &doc, .seen = seen};
    if (!yaml_parser_initialize(&parser))
        return complain(inv, path, "out of memory");
    yaml_parser_set_input_file(&parser, f);
    int status = DPC_USAGE;
    if (yaml_parser_load(&parser, &doc)) {
        status = read_document(&r);
        yaml_document_delete(&doc);
    } else {
        complain(inv, path, parser.problem ? parser.problem : "it is no YAML");
    }
    yaml_parser_delete(&parser);
    return status;
}

static int read_file(struct invocation *inv, const char *path, bool must,
                     const bool *seen)
{
    struct stat s;
    FILE *f = fopen(path, "re");
    if (!f)
        return must || errno != ENOENT ? complain(inv, path, strerror(errno))
                                       : 0;
    int status = 0;
    if (fstat(fileno(f), &s) != 0 || !S_ISREG(s.st_mode) ||
        s.st_size > MAX_CONFIG)
        status = complain(inv, path, "it is no small file");
    else if ((s.st_mode & 022) || (s.st_uid && s.st_uid != geteuid()))
        status = complain(inv, path,
                          "others may write to it (mode, or owner), and what "
                          "it says decides what is private");
    if (!status)
        status = read_yaml(inv, path, f, seen);
    fclose(f);
    return status;
}

/* --- the environment ------------------------------------------------------ */

static const char *variable(const dpc_option *o)
{
    char name[96] = "DPCOUNT_";
    size_t n = strlen(name);
    for (const char *c = o->name; *c && n + 1 < sizeof name; c++)
        name[n++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    name[n] = 0;
    return getenv(name);
}

static int read_environment(struct invocation *inv, bool *seen)
{
    dpc_option o;
    int status = 0;
    for (size_t i = 0; !status && i < MAX_OPTIONS && dpc_option_at(i, &o);
         i++) {
        const char *value = variable(&o);
        if (!value || seen[i] || !may_stand(inv, &o))
            continue;
        seen[i] = true;
        status = add(inv, &o, o.argument ? value : flag_word(value));
    }
    return status;
}

/* --- all ------------------------------------------------------------------ */

/* PRIVACY: files that the owner's file names are looked for beside it, not
 * where the asker stands, who could put a policy of his own there. */
static int go_to_folder(const struct invocation *inv, const char *file)
{
    char *real = realpath(file, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = 0;
    int status = slash && chdir(*real ? real : "/") == 0
                     ? 0
                     : complain(inv, file, strerror(errno));
    free(real);
    return status;
}

int config_read(struct invocation *inv, bool *seen)
{
    const char *file = inv->config ? inv->config : getenv("DPCOUNT_CONFIG");
    if (inv->command->pinned && !inv->config)
        return usage_error(inv->json, "no configuration was given", "",
                           "The owner's settings come from a file: dpcount "
                           "--config FILE ask QUERY.");
    if (!inv->command->pinned) {
        int status = read_environment(inv, seen);
        if (status)
            return status;
    }
    int status =
        read_file(inv, file ? file : "dpcount.yaml", file != NULL, seen);
    return status || !inv->command->pinned ? status : go_to_folder(inv, file);
}
