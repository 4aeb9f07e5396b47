/* Stored verifiers: see passwords.h. */
#include "serve/passwords.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "serve/proc.h"

enum { LINE = 1024, PATH = 4096 };

static const char *replaced(const struct conf_person *p)
{
    return p->password ? p->password : "-";
}

/* Name, replaced verifier, verifier; false: not such a line. */
static bool split(char *line, char **name, char **old, char **verifier)
{
    char *save = NULL;
    *name = strtok_r(line, " \n", &save);
    *old = strtok_r(NULL, " \n", &save);
    *verifier = strtok_r(NULL, " \n", &save);
    return *verifier != NULL;
}

static FILE *open_stored(const struct conf *c)
{
    char path[PATH];
    struct stat st;
    snprintf(path, sizeof path, "%s/passwords", c->state);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_mode & 077) {
        close(fd);
        return NULL;
    }
    return fdopen(fd, "r");
}

/* Every line is read as if it were the one. */
static bool find_stored(const struct conf *c, const struct conf_person *p,
                        struct scram_verifier *out)
{
    char line[LINE], *name, *old, *verifier;
    struct scram_verifier one;
    bool found = false;
    FILE *f = open_stored(c);
    while (f && fgets(line, sizeof line, f)) {
        if (!split(line, &name, &old, &verifier) ||
            !scram_verifier_read(verifier, &one) || strcmp(name, p->name) ||
            strcmp(old, replaced(p)))
            continue;
        *out = one;
        found = true;
    }
    explicit_bzero(&one, sizeof one);
    explicit_bzero(line, sizeof line);
    if (f)
        fclose(f);
    return found;
}

/* Read where there is none. */
static const char nobodys[] =
    "SCRAM-SHA-256$4096:AAAAAAAAAAAAAAAAAAAAAA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

bool passwords_find(const struct conf *c, const struct conf_person *p,
                    struct scram_verifier *out)
{
    static const struct conf_person nobody = {.name = ""};
    struct scram_verifier own;
    bool has = p && p->password;
    bool good = scram_verifier_read(has ? p->password : nobodys, &own) && has;
    bool stored = find_stored(c, p ? p : &nobody, out);
    if (good && !stored)
        *out = own;
    explicit_bzero(&own, sizeof own);
    return p && (stored || good);
}

/* --- storing ----------------------------------------------------------------
 */

/* All lines but those of the person. */
static bool copy_others(const struct conf *c, const struct conf_person *p,
                        FILE *to)
{
    char line[LINE], copy[LINE], *name, *old, *verifier;
    FILE *f = open_stored(c);
    while (f && fgets(line, sizeof line, f)) {
        memcpy(copy, line, sizeof copy);
        if (split(copy, &name, &old, &verifier) && strcmp(name, p->name))
            fputs(line, to);
    }
    explicit_bzero(line, sizeof line);
    explicit_bzero(copy, sizeof copy);
    if (f)
        fclose(f);
    return !ferror(to);
}

static bool sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && !fsync(fd);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool passwords_store(const struct conf *c, const struct conf_person *p,
                     const char *verifier)
{
    char path[PATH], next[PATH];
    struct scram_verifier v;
    snprintf(path, sizeof path, "%s/passwords", c->state);
    snprintf(next, sizeof next, "%s/passwords.new", c->state);
    if (!scram_verifier_read(verifier, &v) || strpbrk(verifier, " \n"))
        return false;
    int fd =
        open(next, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return false;
    bool ok = copy_others(c, p, f) &&
              fprintf(f, "%s %s %s\n", p->name, replaced(p), verifier) > 0 &&
              !fflush(f) && !fsync(fileno(f));
    ok &= !fclose(f);
    return ok && !rename(next, path) && sync_folder(c->state);
}

bool passwords_secret(const struct conf *c, unsigned char out[SCRAM_KEY])
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/scram.secret", c->state);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && read(fd, out, SCRAM_KEY) == SCRAM_KEY;
    if (fd >= 0)
        close(fd);
    if (ok)
        return true;
    fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    ok = fd >= 0 && proc_random(out, SCRAM_KEY) &&
         write(fd, out, SCRAM_KEY) == SCRAM_KEY;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* --- the command ------------------------------------------------------------
 */

static bool read_line(const char *prompt, char *out, size_t size)
{
    struct termios was, quiet;
    bool terminal = isatty(0) && !tcgetattr(0, &was);
    if (terminal) {
        fputs(prompt, stderr);
        quiet = was;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(0, TCSAFLUSH, &quiet);
    }
    bool ok = fgets(out, (int)size, stdin) != NULL;
    if (terminal) {
        tcsetattr(0, TCSAFLUSH, &was);
        fputc('\n', stderr);
    }
    if (ok)
        out[strcspn(out, "\n")] = 0;
    return ok;
}

static int store_or_print(const char *name, const char *config,
                          const char *verifier)
{
    struct conf_problem bad = {{0}};
    if (!config) {
        puts(verifier);
        return 0;
    }
    struct conf *c = conf_read(config, &bad);
    const struct conf_person *p = c ? conf_person(c, name) : NULL;
    bool ok = p && passwords_store(c, p, verifier);
    if (!c)
        fprintf(stderr, "dpcount: %s\n", bad.text);
    else if (!p)
        fprintf(stderr, "dpcount: %s does not name \"%.64s\"\n", config, name);
    else if (!ok)
        fprintf(stderr, "dpcount: could not write %s/passwords: %s\n", c->state,
                strerror(errno));
    conf_free(c);
    return ok ? 0 : p ? 5 : 2;
}

int passwords_command(const char *name, const char *config)
{
    char first[256], second[256], text[512];
    struct scram_verifier v;
    bool ok = read_line("Password: ", first, sizeof first);
    if (ok && isatty(0)) {
        ok = read_line("Again: ", second, sizeof second);
        if (ok && strcmp(first, second)) {
            fputs("dpcount: the two are not the same\n", stderr);
            ok = false;
        }
        explicit_bzero(second, sizeof second);
    }
    if (ok && !scram_verifier_make(first, &v)) {
        fputs("dpcount: a password is one or more printable ASCII "
              "characters\n",
              stderr);
        ok = false;
    }
    explicit_bzero(first, sizeof first);
    if (!ok || !scram_verifier_write(&v, text, sizeof text))
        return 2;
    return store_or_print(name, config, text);
}
