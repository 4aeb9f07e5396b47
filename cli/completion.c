/*
 * Completion for shells, made from the tables of commands and options: nothing
 * is said a second time. `dpcount completion bash` prints it.
 */
#include <string.h>

#include "cli.h"

static void name_of(const struct command *c, char out[static 32])
{
    snprintf(out, 32, "%s%s%s", c->name, c->sub ? " " : "",
             c->sub ? c->sub : "");
}

static void print_options(FILE *to, const struct command *c)
{
    dpc_option o;
    for (size_t i = 0; dpc_option_at(i, &o); i++)
        if (command_takes(c, &o) && (!c->pinned || o.side == DPC_SIDE_ANALYST))
            fprintf(to, " --%s", o.name);
}

/* The first words, each once. */
static void print_words(FILE *to)
{
    for (size_t i = 0; i < n_commands; i++)
        if (!i || strcmp(commands[i].name, commands[i - 1].name))
            fprintf(to, " %s", commands[i].name);
}

static void print_subs(FILE *to, const char *name)
{
    for (size_t i = 0; i < n_commands; i++)
        if (commands[i].sub && !strcmp(commands[i].name, name))
            fprintf(to, " %s", commands[i].sub);
}

/* Whole commands, then what their first words go on with. */
static void print_cases(FILE *to)
{
    for (size_t i = 0; i < n_commands; i++) {
        char name[32];
        name_of(&commands[i], name);
        fprintf(to, "    '%s') words='", name);
        print_options(to, &commands[i]);
        fprintf(to, "' ;;\n");
    }
    for (size_t i = 0; i < n_commands; i++) {
        const struct command *c = &commands[i];
        if (!c->sub || (i && !strcmp(c->name, commands[i - 1].name)))
            continue;
        fprintf(to, "    '%s '*) words='", c->name);
        print_subs(to, c->name);
        fprintf(to, "' ;;\n");
    }
}

/* Values of most options are files. */
static const char head[] =
    "_dpcount() {\n"
    "  local current=${COMP_WORDS[COMP_CWORD]} words=\n"
    "  local command=${COMP_WORDS[1]}\n"
    "  case $command in\n"
    "    %s) [ $COMP_CWORD -gt 2 ] && command+=\" ${COMP_WORDS[2]}\" ||\n"
    "      command+=' ' ;;\n"
    "  esac\n"
    "  if [ $COMP_CWORD = 1 ]; then\n"
    "    words='";
static const char middle[] = "'\n"
                             "  else\n"
                             "    case $command in\n";
static const char tail[] =
    "    esac\n"
    "  fi\n"
    "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
    "}\n"
    "complete -o default -F _dpcount dpcount\n";

static void print_twoword(FILE *to)
{
    const char *bar = "";
    for (size_t i = 0; i < n_commands; i++)
        if (commands[i].sub &&
            (!i || strcmp(commands[i].name, commands[i - 1].name))) {
            fprintf(to, "%s%s", bar, commands[i].name);
            bar = "|";
        }
}

static void print_head(FILE *to)
{
    const char *at = strstr(head, "%s");
    fprintf(to, "%.*s", (int)(at - head), head);
    print_twoword(to);
    fputs(at + 2, to);
}

bool completion_print(FILE *to, const char *shell)
{
    bool zsh = !strcmp(shell, "zsh");
    if (!zsh && strcmp(shell, "bash"))
        return false;
    if (zsh) /* zsh runs completions of bash */
        fputs("#compdef dpcount\nautoload -U +X bashcompinit && bashcompinit\n",
              to);
    print_head(to);
    print_words(to);
    fputs(middle, to);
    print_cases(to);
    fputs(tail, to);
    return true;
}
