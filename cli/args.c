/*
 * Reading the command line. An option is --name VALUE or --name=VALUE, before
 * or after the query; "--" ends options. Unknown options, options of other
 * commands and repeated single ones are errors: a typo must not silently
 * change what is private or what is paid.
 */
#include "cli.h"

#include <string.h>

static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--format=json"))
            return true;
        if (!strcmp(argv[i], "--format") && i + 1 < argc &&
            !strcmp(argv[i + 1], "json"))
            return true;
    }
    return false;
}

enum { MAX_OPTIONS = 256 };

/* The option of that name, and its place in the table. */
static bool find_option(const char *name, size_t n, dpc_option *out, size_t *at)
{
    for (*at = 0; *at < MAX_OPTIONS && dpc_option_at(*at, out); ++*at)
        if (strlen(out->name) == n && !strncmp(out->name, name, n))
            return true;
    return false;
}

static const struct command *find_command(int argc, char **argv, int *used,
                                          bool *partly)
{
    *partly = false;
    for (size_t i = 0; i < n_commands; i++) {
        const struct command *c = &commands[i];
        if (strcmp(argv[1], c->name))
            continue;
        *partly = true;
        *used = c->sub ? 3 : 2;
        if (!c->sub || (argc > 2 && !strcmp(argv[2], c->sub)))
            return c;
    }
    return NULL;
}

/* Options that the program itself takes; false: one of the session's. */
static bool own_option(const dpc_option *o, const char *value,
                       struct invocation *inv, int *status)
{
    *status = 0;
    if (!strcmp(o->name, "help")) {
        inv->wants_help = true;
    } else if (!strcmp(o->name, "query-file")) {
        inv->query_file = value;
    } else if (!strcmp(o->name, "format")) {
        if (!value || (strcmp(value, "text") && strcmp(value, "json")))
            *status = usage_error(inv->json, "unknown format", value,
                                  "Choose text or json.");
    } else {
        return false;
    }
    return true;
}

/* A text that libpq would read: it may hold a password anywhere. */
static bool is_connection(const char *s)
{
    return strstr(s, "://") || strstr(s, "password");
}

/* Everybody on the machine may read the arguments of a process: once read, a
 * connection string is struck out. */
static void strike_out(char *s)
{
    if (s && is_connection(s))
        memset(s, 'x', strlen(s));
}

static int one_option(const dpc_option *o, size_t at, char *value, bool *seen,
                      dpc_session *s, struct invocation *inv)
{
    int status;
    if (!command_takes(inv->command, o))
        return usage_error(inv->json, "this command does not take option",
                           o->name, "See dpcount COMMAND --help.");
    if (seen[at] && !o->repeats)
        return usage_error(inv->json, "option given twice:", o->name, "");
    seen[at] = true;
    if (own_option(o, value, inv, &status))
        return status;
    if (!strcmp(o->name, "owner"))
        inv->owner_flag = true;
    if (dpc_set(s, o->name, o->argument ? value : "yes")) {
        print_error(s, NULL, inv->json);
        return DPC_USAGE;
    }
    if (!strcmp(o->name, "db"))
        strike_out(value);
    return 0;
}

static int long_option(int argc, char **argv, int *i, bool *seen,
                       dpc_session *s, struct invocation *inv)
{
    char *name = argv[*i] + 2;
    char *eq = strchr(name, '=');
    dpc_option o;
    size_t at;
    if (!find_option(name, eq ? (size_t)(eq - name) : strlen(name), &o, &at)) {
        if (eq)
            *eq = 0; /* its value may be a secret */
        return usage_error(inv->json, "unknown option", argv[*i],
                           "See dpcount --help.");
    }
    char *value = eq ? eq + 1 : NULL;
    if (o.argument && !value) {
        if (*i + 1 >= argc)
            return usage_error(inv->json, "this option needs a value:", o.name,
                               "");
        value = argv[++*i];
    } else if (!o.argument && value) {
        return usage_error(inv->json, "this option takes no value:", o.name,
                           "");
    }
    return one_option(&o, at, value, seen, s, inv);
}

static int take_query(const char *arg, struct invocation *inv)
{
    if (!strncmp(arg, "postgres", 8) && strstr(arg, "://"))
        return usage_error(inv->json,
                           "a connection string stands where a query should",
                           "", "Give it with --db.");
    if (!inv->command->question)
        return usage_error(inv->json, "this command takes no query:", arg, "");
    if (inv->query)
        return usage_error(inv->json, "more than one query:", arg,
                           "Put the query in quotes.");
    inv->query = arg;
    return 0;
}

static int rest(int argc, char **argv, int i, dpc_session *s,
                struct invocation *inv)
{
    bool seen[MAX_OPTIONS] = {false};
    bool only_query = false;
    int status = 0;
    for (; !status && i < argc; i++) {
        if (!only_query && !strcmp(argv[i], "--"))
            only_query = true;
        else if (!only_query && !strcmp(argv[i], "-h"))
            inv->wants_help = true;
        else if (!only_query && !strncmp(argv[i], "--", 2))
            status = long_option(argc, argv, &i, seen, s, inv);
        else
            status = take_query(argv[i], inv);
    }
    return status;
}

int args_read(int argc, char **argv, dpc_session *s, struct invocation *inv)
{
    int used = 2;
    bool partly;
    *inv = (struct invocation){.json = wants_json(argc, argv)};
    if (argc < 2)
        return usage_error(inv->json, "no command was given", "",
                           "See dpcount --help.");
    inv->wants_version = !strcmp(argv[1], "--version");
    inv->wants_help = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
                      !strcmp(argv[1], "help");
    if (inv->wants_version || inv->wants_help)
        return 0;
    inv->command = find_command(argc, argv, &used, &partly);
    if (!inv->command && partly && argc > 2 &&
        (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
        inv->wants_help = true;
        inv->group = argv[1];
        return 0;
    }
    if (!inv->command)
        return usage_error(inv->json,
                           partly ? "this command needs a second word:"
                                  : "unknown command",
                           argv[1], "See dpcount --help.");
    return rest(argc, argv, used, s, inv);
}
