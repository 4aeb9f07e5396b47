/*
 * A data set before it is served: ledger, caps, version. See clerk.h.
 *
 * What is served is the sealed copy of a version that the owner named in the
 * configuration. A version that fails its check is told to the owner alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/clerk.h"
#include "serve/proc.h"

enum { PATH = 4096 };

/* Names of the files of a data set in STATE. */
static void clerk_ledger_path(const struct conf *c,
                              const struct conf_dataset *d, char *out,
                              size_t size)
{
    if (d->ledger)
        snprintf(out, size, "%s", d->ledger);
    else
        snprintf(out, size, "%s/%s.ledger", c->state, d->name);
}

static void clerk_copy_path(const struct conf *c, const struct conf_dataset *d,
                            char *out, size_t size)
{
    snprintf(out, size, "%s/%s-%s.sealed", c->state, d->name, d->version);
}

static bool set(dpc_dataset *d, const char *name, const char *value,
                dpc_error **err)
{
    return !value || !*value || dpc_dataset_set(d, name, value, err) == DPC_OK;
}

static bool set_limits(dpc_dataset *out, const struct conf_dataset *d,
                       dpc_error **err)
{
    char after[32], ladder[16];
    snprintf(after, sizeof after, "%.9g", d->pace);
    snprintf(ladder, sizeof ladder, "%u", d->misses);
    const char *seen = d->pace <= 0      ? "both" /* seats share, too */
                       : d->load_visible ? "load"
                                         : NULL;
    return set(out, "visible", seen, err) &&
           set(out, "respond-after", d->pace > 0 ? after : "none", err) &&
           set(out, "ladder", d->pace > 0 ? ladder : "none", err) &&
           set(out, "least-price", d->epsilon_min, err) &&
           set(out, "most-price", d->epsilon_max, err);
}

dpc_dataset *clerk_dataset(const struct conf *c, const struct conf_dataset *d,
                           bool sealed, dpc_error **err)
{
    char ledger[PATH], copy[PATH], log[PATH];
    dpc_dataset *out = NULL;
    clerk_ledger_path(c, d, ledger, sizeof ledger);
    clerk_copy_path(c, d, copy, sizeof copy);
    snprintf(log, sizeof log, "%s/owner.log", c->state);
    bool ok = dpc_dataset_new(&out) == DPC_OK &&
              set(out, "db", sealed ? copy : d->db, err) &&
              set(out, "policy", d->policy, err) &&
              set(out, "schema", sealed ? NULL : d->schema, err) &&
              set(out, "ledger", ledger, err) &&
              set(out, "memory", d->memory, err) &&
              set(out, "threads", "1", err) &&
              set(out, "owner-log", log, err) && set_limits(out, d, err);
    if (!ok) {
        dpc_dataset_free(out);
        return NULL;
    }
    return out;
}

/* --- for the owner ----------------------------------------------------------
 */

/* PRIVACY: why a version failed may depend on rows: it is the owner's. */
static int tell_owner(const struct conf *c, const struct conf_dataset *d,
                      const char *step, const dpc_error *e)
{
    char log[PATH];
    snprintf(log, sizeof log, "%s/owner.log", c->state);
    int fd =
        open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        dprintf(fd, "data set %s: %s: %s: %s. %s %s\n", d->name, step,
                dpc_error_code(e), dpc_error_message(e), dpc_error_detail(e),
                dpc_error_hint(e));
        close(fd);
    }
    proc_log("not-served", "dataset", d->name, "step", step, "code",
             dpc_error_code(e), "hint", "the reason is in owner.log", NULL);
    return 1;
}

/* --- the ledger -------------------------------------------------------------
 */

static void sum_of_caps(const struct conf *c, const struct conf_dataset *d,
                        char *epsilon, char *delta, size_t size)
{
    long long sum = 0;
    double deltas = 0;
    for (size_t i = 0; i < c->n_people; i++) {
        const struct conf_grant *g = conf_grant(&c->people[i], d);
        sum += g ? conf_nanos(g->epsilon) : 0;
        deltas += g ? strtod(g->delta, NULL) : 0;
    }
    snprintf(epsilon, size, "%lld.%09lld", sum / 1000000000, sum % 1000000000);
    snprintf(delta, size, "%.15g", deltas);
}

static dpc_status make_ledger(const struct conf *c,
                              const struct conf_dataset *d, dpc_dataset *set,
                              dpc_error **err)
{
    char epsilon[64], delta[64];
    dpc_result *r = NULL;
    dpc_status s;
    if (d->budget_epsilon) {
        s = dpc_budget_init(set, d->budget_epsilon,
                            d->budget_delta ? d->budget_delta : "0", &r, err);
    } else {
        s = dpc_budget_init(set, NULL, NULL, &r, err);
        if (s == DPC_USAGE && !strcmp(dpc_error_code(*err), "usage")) {
            dpc_error_free(*err);
            *err = NULL;
            sum_of_caps(c, d, epsilon, delta, sizeof epsilon);
            s = dpc_budget_init(set, epsilon, delta, &r, err);
        }
    }
    dpc_result_free(r);
    return s;
}

static dpc_status ledger_ready(const struct conf *c,
                               const struct conf_dataset *d, dpc_dataset *set,
                               dpc_error **err)
{
    char path[PATH];
    dpc_result *r = NULL;
    clerk_ledger_path(c, d, path, sizeof path);
    if (access(path, F_OK))
        return make_ledger(c, d, set, err);
    dpc_status s = dpc_budget_bind(set, &r, err);
    dpc_result_free(r);
    return s;
}

/* What the ledger allows the analyst; negative: has no account yet. */
static void allowed(const dpc_dataset *set, const char *analyst,
                    double *epsilon, double *delta)
{
    dpc_result *r = NULL;
    *epsilon = *delta = -1;
    if (dpc_budget_show(set, analyst, &r, NULL) == DPC_OK) {
        json_t *o = json_loads(dpc_result_json(r), 0, NULL);
        const char *who = json_string_value(json_object_get(o, "analyst"));
        if (o && who && !strcmp(who, analyst)) {
            *epsilon = json_number_value(json_object_get(o, "epsilon"));
            *delta = json_number_value(json_object_get(o, "delta"));
        }
        json_decref(o);
    }
    dpc_result_free(r);
}

/* Raises the ledger's cap to the configuration's; it is never lowered there,
 * so the smaller of the two is checked with every question. */
static dpc_status grant(const dpc_dataset *set, const char *analyst,
                        const struct conf_grant *g, dpc_error **err)
{
    char more[64], more_delta[64];
    double epsilon, delta;
    dpc_result *r = NULL;
    allowed(set, analyst, &epsilon, &delta);
    double add = strtod(g->epsilon, NULL) - (epsilon < 0 ? 0 : epsilon);
    double add_delta = strtod(g->delta, NULL) - (delta < 0 ? 0 : delta);
    if (epsilon >= 0 && add < 5e-10 && add_delta < 1e-30)
        return DPC_OK;
    snprintf(more, sizeof more, "%.9f", add > 0 ? add : 0);
    snprintf(more_delta, sizeof more_delta, "%.12g",
             add_delta > 0 ? add_delta : 0);
    dpc_status s =
        dpc_budget_grant(set, analyst, epsilon < 0 ? g->epsilon : more,
                         delta < 0 ? g->delta : more_delta, &r, err);
    dpc_result_free(r);
    return s;
}

static dpc_status grant_all(const struct conf *c, const struct conf_dataset *d,
                            const dpc_dataset *set, dpc_error **err)
{
    dpc_status s = DPC_OK;
    for (size_t i = 0; s == DPC_OK && i < c->n_people; i++) {
        const struct conf_grant *g = conf_grant(&c->people[i], d);
        if (g)
            s = grant(set, c->people[i].name, g, err);
    }
    return s;
}

/* --- the version ------------------------------------------------------------
 */

/* The password of the database is in this process only, and only now. */
static void take_password(const struct conf_dataset *d)
{
    char text[1024];
    FILE *f = d->password_file ? fopen(d->password_file, "re") : NULL;
    if (f && fgets(text, sizeof text, f)) {
        text[strcspn(text, "\n")] = 0;
        setenv("PGPASSWORD", text, 1);
    }
    explicit_bzero(text, sizeof text);
    if (f)
        fclose(f);
}

static dpc_status seal(const struct conf_dataset *d, const char *copy,
                       dpc_dataset *set_up, dpc_error **err)
{
    dpc_result *r = NULL;
    dpc_status s = DPC_USAGE;
    if (set(set_up, "version", d->version, err) &&
        set(set_up, "out", copy, err))
        s = dpc_dataset_open(set_up, DPC_OPEN_LATE, err);
    if (s == DPC_OK)
        s = dpc_seal(set_up, &r, err);
    dpc_result_free(r);
    return s;
}

bool clerk_check(const struct conf *c, const struct conf_dataset *d,
                 struct conf_problem *bad)
{
    char copy[PATH];
    dpc_error *e = NULL;
    clerk_copy_path(c, d, copy, sizeof copy);
    take_password(d);
    dpc_dataset *set_up = clerk_dataset(c, d, !access(copy, R_OK), &e);
    bool ok = set_up && dpc_dataset_open(set_up, 0, &e) == DPC_OK;
    if (!ok)
        snprintf(bad->text, sizeof bad->text,
                 "%.200s:%zu:%zu: data set \"%s\": %.300s. %.300s", c->file,
                 d->line, d->column, d->name, dpc_error_message(e),
                 dpc_error_hint(e));
    dpc_error_free(e);
    dpc_dataset_free(set_up);
    unsetenv("PGPASSWORD");
    return ok;
}

int clerk_prepare(const struct conf *c, const struct conf_dataset *d)
{
    char copy[PATH];
    dpc_error *e = NULL;
    clerk_copy_path(c, d, copy, sizeof copy);
    bool sealed = !access(copy, R_OK);
    umask(077);
    take_password(d);
    dpc_dataset *set_up = clerk_dataset(c, d, sealed, &e);
    if (!set_up || dpc_dataset_open(set_up, DPC_OPEN_LATE, &e) != DPC_OK)
        return tell_owner(c, d, "options", e);
    if (ledger_ready(c, d, set_up, &e) != DPC_OK)
        return tell_owner(c, d, "ledger", e);
    if (grant_all(c, d, set_up, &e) != DPC_OK)
        return tell_owner(c, d, "caps", e);
    dpc_dataset_free(set_up);
    if (sealed)
        return 0;
    set_up = clerk_dataset(c, d, false, &e);
    if (!set_up || seal(d, copy, set_up, &e) != DPC_OK)
        return tell_owner(c, d, "seal", e);
    dpc_dataset_free(set_up);
    return 0;
}
