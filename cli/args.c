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

bool find_option(const char *name, size_t n, dpc_option *out, size_t *at)
{
    for (*at = 0; *at < MAX_OPTIONS && dpc_option_at(*at, out); ++*at)
        if (strlen(out->name) == n && !strncmp(out->name, name, n))
            return true;
    return false;
}

const char *setting_of(const struct invocation *inv, const char *name)
{
    for (size_t i = inv->n_settings; i-- > 0;)
        if (!strcmp(inv->settings[i].name, name))
            return inv->settings[i].value;
    return NULL;
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

/* Is what it gives a table? */
static bool has_rows(const struct command *c)
{
    return !c->run || !strcmp(c->name, "release") || !strcmp(c->name, "ask") ||
           (c->sub && !strcmp(c->sub, "history"));
}

/* Options that the program itself takes; false: one of the library's. */
static bool own_option(const dpc_option *o, const char *value,
                       struct invocation *inv, int *status)
{
    *status = 0;
    if (!strcmp(o->name, "help")) {
        inv->wants_help = true;
    } else if (!strcmp(o->name, "query-file")) {
        inv->query_file = value;
    } else if (!strcmp(o->name, "config")) {
        inv->config = value;
    } else if (!strcmp(o->name, "check-config")) {
        inv->check_config = true;
    } else if (!strcmp(o->name, "format")) {
        bool rows = has_rows(inv->command);
        inv->form = value;
        if (!value ||
            (strcmp(value, "text") && strcmp(value, "json") &&
             (!rows || (strcmp(value, "csv") && strcmp(value, "markdown")))))
            *status = usage_error(inv->json, "unknown format", value,
                                  rows ? "Choose text, csv, json or markdown."
                                       : "Choose text or json.");
        inv->format_given = true;
    } else if (!strcmp(o->name, "plot")) {
        inv->plot = value;
    } else if (!strcmp(o->name, "keep-going")) {
        inv->keep_going = true;
    } else {
        return false;
    }
    return true;
}

static int one_option(const dpc_option *o, size_t at, const char *value,
                      bool *seen, struct invocation *inv)
{
    int status;
    if (!command_takes(inv->command, o))
        return usage_error(inv->json, "this command does not take option",
                           o->name, "See dpcount COMMAND --help.");
    if (seen[at] && !o->repeats)
        return usage_error(inv->json, "option given twice:", o->name, "");
    seen[at] = true;
    if (inv->command->pinned && o->side != DPC_SIDE_ANALYST)
        return usage_error(inv->json, "only the owner can say", o->name,
                           "It stands in the file of --config.");
    if (own_option(o, value, inv, &status))
        return status;
    if (!strcmp(o->name, "owner"))
        inv->owner_flag = true;
    if (inv->n_settings == MAX_SETTINGS)
        return usage_error(inv->json, "too many options", "", "");
    inv->settings[inv->n_settings++] =
        (struct setting){o->name, o->argument ? value : "yes"};
    return 0;
}

static int unknown(const struct invocation *inv, const char *message,
                   const char *what, const char *dashes, const char *meant)
{
    char hint[120] = "See dpcount --help.";
    if (meant)
        snprintf(hint, sizeof hint, "Did you mean %s%s? See dpcount --help.",
                 dashes, meant);
    return usage_error(inv->json, message, what, hint);
}

static int long_option(int argc, char **argv, int *i, bool *seen,
                       struct invocation *inv)
{
    char *name = argv[*i] + 2;
    char *eq = strchr(name, '=');
    dpc_option o;
    size_t at;
    if (!find_option(name, eq ? (size_t)(eq - name) : strlen(name), &o, &at)) {
        if (eq)
            *eq = 0; /* its value may be a secret */
        return unknown(inv, "unknown option", argv[*i], "--",
                       nearest_option(name));
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
    return one_option(&o, at, value, seen, inv);
}

static int take_query(const char *arg, struct invocation *inv)
{
    if (!strncmp(arg, "postgres", 8) && strstr(arg, "://"))
        return usage_error(inv->json,
                           "a connection string stands where a query should",
                           "", "Give it with --db.");
    bool file = !strcmp(inv->command->name, "run");
    if (!inv->command->question && !file)
        return usage_error(inv->json, "this command takes no query:", arg, "");
    if (inv->query && file)
        return usage_error(inv->json, "more than one file:", arg, "");
    if (inv->query)
        return usage_error(inv->json, "more than one query:", arg,
                           "Put the query in quotes.");
    inv->query = arg;
    return 0;
}

static int rest(int argc, char **argv, int i, bool *seen,
                struct invocation *inv)
{
    bool only_query = false;
    int status = 0;
    for (; !status && i < argc; i++) {
        if (!only_query && !strcmp(argv[i], "--"))
            only_query = true;
        else if (!only_query && !strcmp(argv[i], "-h"))
            inv->wants_help = true;
        else if (!only_query && !strncmp(argv[i], "--", 2))
            status = long_option(argc, argv, &i, seen, inv);
        else
            status = take_query(argv[i], inv);
    }
    return status;
}

/* --config FILE may stand before the command. */
static int config_first(int *argc, char ***argv, struct invocation *inv)
{
    if (*argc < 2 || strncmp((*argv)[1], "--config", 8) != 0)
        return 0;
    char *eq = (*argv)[1][8] == '=' ? (*argv)[1] + 9 : NULL;
    if (!eq && ((*argv)[1][8] || *argc < 3))
        return usage_error(inv->json, "this option needs a value:", "config",
                           "");
    inv->config = eq ? eq : (*argv)[2];
    *argc -= eq ? 1 : 2;
    *argv += eq ? 1 : 2; /* what was the program's name is not looked at */
    return 0;
}

/* Not found: neither the command, or it has no such second word. */
static int no_command(const struct invocation *inv, int argc, char **argv,
                      bool partly)
{
    char what[80], meant[80];
    if (!partly)
        return unknown(inv, "unknown command", argv[1], "",
                       nearest_command(argv[1]));
    if (argc < 3 || argv[2][0] == '-')
        return unknown(inv, "this command needs a second word:", argv[1], "",
                       NULL);
    const char *sub = nearest_sub(argv[1], argv[2]);
    snprintf(what, sizeof what, "%.30s %.40s", argv[1], argv[2]);
    snprintf(meant, sizeof meant, "%.30s %.40s", argv[1], sub ? sub : "");
    return unknown(inv, "unknown command", what, "", sub ? meant : NULL);
}

int args_read(int argc, char **argv, struct invocation *inv)
{
    int used = 2;
    bool partly, seen[MAX_OPTIONS] = {false};
    memset(inv, 0, sizeof *inv);
    inv->json = wants_json(argc, argv);
    int first = config_first(&argc, &argv, inv);
    if (first)
        return first;
    if (argc < 2)
        return usage_error(inv->json, "no command was given", "",
                           "See dpcount --help.");
    inv->wants_version = !strcmp(argv[1], "--version");
    inv->wants_help = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
                      !strcmp(argv[1], "help");
    if (inv->wants_version || inv->wants_help)
        return 0;
    if (!strcmp(argv[1], "completion")) {
        if (argc == 3 && completion_print(stdout, argv[2]))
            return -1;
        return usage_error(inv->json, "completion is for bash or zsh", "",
                           "dpcount completion bash");
    }
    inv->command = find_command(argc, argv, &used, &partly);
    if (!inv->command && partly && argc > 2 &&
        (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
        inv->wants_help = true;
        inv->group = argv[1];
        return 0;
    }
    if (!inv->command)
        return no_command(inv, argc, argv, partly);
    int status = rest(argc, argv, used, seen, inv);
    /* a service has a configuration of its own kind */
    bool done = status || inv->wants_help || program_is(inv->command);
    return done ? status : config_read(inv, seen);
}
