/* Help, made from the tables in commands.c. */
#include <string.h>

#include "cli.h"

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
            "options.\n\n"
            "exit status: 0 done, 2 usage or unknown name, 3 refused, 4 "
            "budget exhausted,\n"
            "             5 data source failed, 6 resource limit, 70 internal "
            "error\n");
}

void help_command(FILE *to, const struct command *c)
{
    bool asks = c->summary[strlen(c->summary) - 1] == '?';
    fprintf(to, "usage: dpcount %s%s%s [options]%s\n\n%s%s\n\n%s\n\noptions:\n",
            c->name, c->sub ? " " : "", c->sub ? c->sub : "",
            c->question ? " QUERY" : "", c->summary, asks ? "" : ".", c->help);
    for (size_t i = 0; i < n_options; i++) {
        char left[64];
        if (!(options[i].bits & c->bit))
            continue;
        snprintf(left, sizeof left, "--%s %s", options[i].name,
                 options[i].arg ? options[i].arg : "");
        fprintf(to, "  %-22s %s\n", left, options[i].help);
    }
}
