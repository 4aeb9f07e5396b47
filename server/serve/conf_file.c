/*
 * The configuration's file and the files it names: modes, links, owners. A
 * secret that others can read is no secret, so it is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/conf.h"

static bool problem(struct conf_problem *bad, const char *file,
                    const char *what)
{
    snprintf(bad->text, sizeof bad->text, "%.300s: %.300s", file, what);
    return false;
}

/* Readable by others, or under a second name. */
static bool secret_mode(const struct stat *st, const char *file,
                        struct conf_problem *bad)
{
    if (!S_ISREG(st->st_mode))
        return problem(bad, file, "is not a regular file");
    if (st->st_mode & 07)
        return problem(bad, file,
                       "others can read or write it; make it 0640 or 0600");
    if (st->st_mode & 020)
        return problem(bad, file, "its group can write it; make it 0640");
    if (st->st_nlink != 1)
        return problem(bad, file, "has several names (hard links)");
    return true;
}

static bool check_secret(const char *file, struct conf_problem *bad)
{
    struct stat st;
    if (stat(file, &st))
        return problem(bad, file, strerror(errno));
    if (!secret_mode(&st, file, bad))
        return false;
    return !access(file, R_OK) || problem(bad, file, "cannot be read");
}

/* It decides what analysts see, so not everybody may change it. */
static bool check_readable(const char *file, struct conf_problem *bad)
{
    struct stat st;
    if (access(file, R_OK) || stat(file, &st))
        return problem(bad, file, strerror(errno));
    return !(st.st_mode & 02) ||
           problem(bad, file, "others can write it; make it 0640");
}

/* Of a source that is a file or a folder. */
static bool check_source(const char *db, struct conf_problem *bad)
{
    struct stat st;
    return stat(db, &st) || !(st.st_mode & 02) ||
           problem(bad, db, "others can write it; make it 0640");
}

static bool check_state(const char *folder, struct conf_problem *bad)
{
    struct stat st;
    if (stat(folder, &st))
        return problem(bad, folder, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return problem(bad, folder, "is not a folder");
    if (st.st_mode & 077)
        return problem(bad, folder, "others can look into it; make it 0700");
    if (st.st_uid != geteuid())
        return problem(bad, folder, "belongs to another user");
    return !access(folder, R_OK | W_OK | X_OK) ||
           problem(bad, folder, "cannot be written");
}

bool conf_check_files(const struct conf *c, struct conf_problem *bad)
{
    if (geteuid() == 0)
        return problem(bad, c->file,
                       "the service does not run as root; use the user "
                       "dpcount (sudo -u dpcount)");
    if (!check_state(c->state, bad))
        return false;
    if (c->tls_key && (!check_secret(c->tls_key, bad) ||
                       !check_readable(c->tls_certificate, bad)))
        return false;
    for (size_t i = 0; i < c->n_datasets; i++) {
        const struct conf_dataset *d = &c->datasets[i];
        struct stat st;
        if (d->password_file && !check_secret(d->password_file, bad))
            return false;
        if (!check_readable(d->policy, bad) ||
            (d->schema && !check_readable(d->schema, bad)) ||
            !check_source(d->db, bad))
            return false;
        if (d->ledger && !stat(d->ledger, &st) && !check_secret(d->ledger, bad))
            return false;
    }
    return true;
}

/* --- reading ----------------------------------------------------------------
 */

static char *read_all(int fd, size_t *n)
{
    char *text = malloc(CONF_FILE_MOST + 1);
    ssize_t got = 0;
    *n = 0;
    while (text && *n <= CONF_FILE_MOST &&
           (got = read(fd, text + *n, CONF_FILE_MOST + 1 - *n)) > 0)
        *n += (size_t)got;
    if (text && (got < 0 || *n > CONF_FILE_MOST)) {
        explicit_bzero(text, *n);
        free(text);
        text = NULL;
    }
    return text;
}

struct conf *conf_read(const char *file, struct conf_problem *bad)
{
    struct stat st;
    struct conf *c = NULL;
    size_t n = 0;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        problem(bad, file, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    char *text = secret_mode(&st, file, bad) ? read_all(fd, &n) : NULL;
    if (text) {
        c = conf_parse(file, text, n, bad);
        explicit_bzero(text, n);
        free(text);
    } else if (!*bad->text) {
        problem(bad, file, "could not be read");
    }
    close(fd);
    return c;
}

/* --- looking up -------------------------------------------------------------
 */

const struct conf_dataset *conf_dataset(const struct conf *c, const char *name)
{
    for (size_t i = 0; i < c->n_datasets; i++)
        if (!strcmp(c->datasets[i].name, name))
            return &c->datasets[i];
    return NULL;
}

const struct conf_person *conf_person(const struct conf *c, const char *name)
{
    for (size_t i = 0; i < c->n_people; i++)
        if (!strcmp(c->people[i].name, name))
            return &c->people[i];
    return NULL;
}

const struct conf_grant *conf_grant(const struct conf_person *p,
                                    const struct conf_dataset *d)
{
    for (size_t i = 0; i < p->n_grants; i++)
        if (p->grants[i].dataset == d)
            return &p->grants[i];
    return NULL;
}

/* --- in words ---------------------------------------------------------------
 */

static void tell_grant(const struct conf_person *p, const struct conf_grant *g)
{
    const struct conf_dataset *d = g->dataset;
    printf("  %s may %s data set %s: epsilon %s in all", p->name,
           p->spend ? "ask about" : "repeat questions (spend: off) about",
           d->name, g->epsilon);
    if (strcmp(g->delta, "0"))
        printf(", delta %s", g->delta);
    if (g->per_day)
        printf(", at most %s a day", g->per_day);
    printf("; %s to %s a count\n", d->epsilon_min, d->epsilon_max);
}

static void tell_dataset(const struct conf_dataset *d)
{
    printf("data set %s, version %s: ", d->name, d->version);
    if (d->pace > 0)
        printf("replies come %g s after a question gets its worker; after %u "
               "misses it locks\n",
               d->pace, d->misses);
    else
        printf("replies come when they are ready: TIMES TELL ABOUT ROWS\n");
    struct stat st;
    if (!stat(d->db, &st) && (st.st_mode & 04))
        printf("  %s: EVERY USER OF THIS SYSTEM CAN READ IT\n", d->db);
    if (d->pace > 0 && d->load_visible)
        printf("  load_visible: how busy the machine is tells about rows\n");
}

void conf_tell(const struct conf *c)
{
    for (size_t i = 0; i < c->n_listen; i++) {
        const struct conf_listen *l = &c->listen[i];
        if (l->kind == CONF_UNIX)
            printf("listens on %s/.s.PGSQL.%u\n", l->path, l->port);
        else
            printf("listens on %s:%u (%s%s)\n", l->host, l->port,
                   l->kind == CONF_HTTP ? "http" : "postgres",
                   c->tls_certificate ? ", TLS" : "");
    }
    for (size_t i = 0; i < c->n_datasets; i++)
        tell_dataset(&c->datasets[i]);
    for (size_t i = 0; i < c->n_people; i++) {
        const struct conf_person *p = &c->people[i];
        printf("%s %s signs in %s%s%s\n", p->owner ? "owner" : "analyst",
               p->name, p->password ? "with a password" : "",
               p->password && p->n_peers ? " or " : "",
               p->n_peers ? "as a user of this system (unix socket)" : "");
        for (size_t k = 0; k < p->n_grants; k++)
            tell_grant(p, &p->grants[k]);
    }
}
