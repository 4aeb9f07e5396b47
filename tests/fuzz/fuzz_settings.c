/*
 * Files of settings: the service's configuration, its stored verifiers, and the
 * program's dpcount.yaml. Reading never crashes or leaks; what is wrong is
 * said, with its file; no line of stored verifiers lets a person in whom it
 * does not name. The first byte says which.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/cli.h"
#include "serve/conf.h"
#include "serve/passwords.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned complaints;

/* --- what cli/config.c asks of the program -------------------------------- */

int usage_error(bool json, const char *message, const char *what,
                const char *hint)
{
    (void)json, (void)what, (void)hint;
    if (!*message)
        abort();
    complaints++;
    return DPC_USAGE;
}

bool command_takes(const struct command *c, const dpc_option *o)
{
    (void)c, (void)o;
    return true;
}

bool find_option(const char *name, size_t n, dpc_option *out, size_t *at)
{
    for (*at = 0; *at < MAX_OPTIONS && dpc_option_at(*at, out); ++*at)
        if (strlen(out->name) == n && !memcmp(out->name, name, n))
            return true;
    return false;
}

static void program(const char *text, size_t n)
{
    static struct invocation inv;
    static const struct command any = {.name = "release"};
    bool seen[MAX_OPTIONS] = {false};
    char path[64];
    int fd = memfd_create("dpcount.yaml", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, text, n) != (ssize_t)n || fchmod(fd, 0600))
        exit(1);
    inv = (struct invocation){.command = &any, .config = path};
    complaints = 0;
    int status = config_read(&inv, seen);
    if ((status != 0) != (complaints != 0) || inv.n_settings != inv.n_copies)
        abort();
    for (size_t i = 0; i < inv.n_settings; i++) {
        if (!strcmp(inv.settings[i].name, "query-file"))
            abort();
        free((char *)(uintptr_t)inv.settings[i].value);
    }
    close(fd);
}

/* --- the service ---------------------------------------------------------- */

static void service(const char *text, size_t n)
{
    struct conf_problem bad = {{0}};
    struct conf *c = conf_parse("serve.yaml", text, n, &bad);
    if (!c) {
        if (strncmp(bad.text, "serve.yaml", 10) != 0)
            abort();
        return;
    }
    for (size_t i = 0; i < c->n_people; i++)
        for (size_t k = 0; k < c->people[i].n_grants; k++)
            if (conf_nanos(c->people[i].grants[k].epsilon) < 0)
                abort();
    conf_forget(c);
    conf_free(c);
}

static char state[64];

static void leave(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/passwords", state);
    unlink(path);
    rmdir(state);
}

static void verifiers(const char *text, size_t n)
{
    char path[96];
    struct scram_verifier v;
    const struct conf c = {.state = state};
    const struct conf_person nobody = {.name = "no body"},
                             ann = {.name = "ann"};
    if (!state[0]) {
        strcpy(state, "/tmp/dpc-fuzz-XXXXXX");
        if (!mkdtemp(state))
            exit(1);
        atexit(leave);
    }
    snprintf(path, sizeof path, "%s/passwords", state);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, text, n) != (ssize_t)n)
        exit(1);
    close(fd);
    if (passwords_find(&c, &nobody, &v))
        abort();
    if (passwords_find(&c, &ann, &v) && !v.iterations)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(const char *, size_t) = {service, verifiers,
                                                          program};
    if (size)
        kinds[data[0] % 3]((const char *)data + 1, size - 1);
    return 0;
}
