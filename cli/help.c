/* Help, made from the commands and the library's table of options. */
#include <string.h>

#include "cli.h"

static bool is_listed(const dpc_option *o, const char *name)
{
    size_t n = strlen(name);
    const char *at = o->commands;
    if (!strcmp(at, "*"))
        return true;
    for (; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, n) && (!at[n] || at[n] == ','))
            return true;
    }
    return false;
}

/* The shell takes what its releases take. */
bool command_takes(const struct command *c, const dpc_option *o)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s%s", c->name, c->sub ? " " : "",
             c->sub ? c->sub : "");
    bool shell = !c->run && strcmp(o->name, "query-file");
    return is_listed(o, name) || (shell && is_listed(o, "release"));
}

static void command_line(FILE *to, const struct command *c)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s%s", c->name, c->sub ? " " : "",
             c->sub ? c->sub : "");
    fprintf(to, "  %-16s %s\n", name, c->summary);
}

void help_main(FILE *to)
{
    fprintf(to,
            "dpcount %s: differentially private counts over joins of "
            "private tables\n\n",
            dpc_version());
    fprintf(to, "usage: dpcount COMMAND [options] [QUERY]\n\n");
    for (size_t i = 0; i < n_commands; i++)
        command_line(to, &commands[i]);
    fprintf(to,
            "\nA query is SQL (SELECT COUNT(*) FROM ...) or a rule:\n"
            "  Q(x, y) :- R(x, 'O', z), S(z, y), x != y.\n\n"
            "dpcount COMMAND --help explains a command and lists its "
            "options.\n"
            "dpcount completion bash (or zsh) prints completions for the "
            "shell.\n\n"
            "exit status: 0 done, 2 usage or unknown name, 3 refused, 4 "
            "budget exhausted,\n"
            "             5 data source failed, 6 resource limit, 70 internal "
            "error\n");
}

void help_group(FILE *to, const char *name)
{
    fprintf(to, "usage: dpcount %s COMMAND [options]\n\n", name);
    for (size_t i = 0; i < n_commands; i++)
        if (!strcmp(commands[i].name, name))
            command_line(to, &commands[i]);
    fprintf(to,
            "\ndpcount %s COMMAND --help explains a command and lists its "
            "options.\n",
            name);
}

void help_command(FILE *to, const struct command *c)
{
    bool asks = c->summary[strlen(c->summary) - 1] == '?';
    fprintf(to, "usage: dpcount %s%s%s [options]%s\n\n%s%s\n\n%s\n\noptions:\n",
            c->name, c->sub ? " " : "", c->sub ? c->sub : "",
            c->question               ? " QUERY"
            : !strcmp(c->name, "run") ? " FILE"
                                      : "",
            c->summary, asks ? "" : ".", c->help);
    dpc_option o;
    for (size_t i = 0; dpc_option_at(i, &o); i++) {
        char left[64];
        if (!command_takes(c, &o))
            continue;
        snprintf(left, sizeof left, "--%s %s", o.name,
                 o.argument ? o.argument : "");
        fprintf(to, "  %-22s %s\n", left, o.help);
    }
}
