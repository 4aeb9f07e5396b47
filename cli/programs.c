/* Commands that are programs of their own: the service and its passwords. */
#include <string.h>

#include "cli.h"
#include "serve/passwords.h"
#include "serve/serve.h"

static const char default_config[] = "/etc/dpcount/serve.yaml";

bool program_is(const struct command *c)
{
    return !strcmp(c->name, "serve") || !strcmp(c->name, "passwd");
}

int program_run(const struct invocation *inv)
{
    const char *config = inv->config;
    if (!strcmp(inv->command->name, "serve"))
        return serve_run(config ? config : default_config, inv->check_config);
    if (!inv->query)
        return usage_error(inv->json, "whose password?", "",
                           "dpcount passwd NAME");
    return passwords_command(inv->query, config);
}
