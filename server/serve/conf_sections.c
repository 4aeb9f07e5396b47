/* The sections of the configuration: places to listen, data sets, people. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "serve/conf_int.h"
#include "wire/scram.h"

/* Questions at a time where replies have no moment: while some wait for the
 * disk others work. */
enum { WORKERS_UNPACED = 16 };

/* --- listen, tls ------------------------------------------------------------
 */

static bool is_loopback(const char *host)
{
    return !strncmp(host, "127.", 4) || !strcmp(host, "::1") ||
           !strcmp(host, "localhost");
}

static void address(struct conf_reader *r, yaml_node_t *n,
                    struct conf_listen *l)
{
    const char *s = conf_scalar(r, n, "an address");
    const char *colon = strrchr(s, ':');
    char *end = NULL;
    unsigned long port = colon && isdigit((unsigned char)colon[1])
                             ? strtoul(colon + 1, &end, 10)
                             : 65536;
    if (port > 65535 || (end && *end) || colon == s) {
        FAIL(r, n, "an address must be HOST:PORT, not \"%.100s\"", s);
        return;
    }
    bool brackets = *s == '[' && colon[-1] == ']';
    l->host = conf_copy(r->c, s + brackets,
                        (size_t)(colon - s) - 2 * (size_t)brackets);
    l->port = (unsigned)port;
    l->loopback = l->host && is_loopback(l->host);
}

static void take_listen(struct conf_reader *r, const char *key,
                        yaml_node_t *value, void *ctx)
{
    struct conf_listen *l = ctx;
    if (!strcmp(key, "unix")) {
        l->kind = CONF_UNIX;
        l->path = conf_scalar(r, value, "unix");
        if (!r->failed && (*l->path != '/' || strlen(l->path) > 80))
            FAIL(r, value, "unix must be the absolute name of a folder");
    } else if (!strcmp(key, "postgres")) {
        l->kind = CONF_POSTGRES;
        address(r, value, l);
    } else if (!strcmp(key, "http")) {
        l->kind = CONF_HTTP;
        address(r, value, l);
    } else if (!strcmp(key, "port")) {
        l->port = conf_whole(r, value, "port", 1, 65535);
    } else {
        conf_unknown(r, value, key);
    }
}

void conf_read_listen(struct conf_reader *r, yaml_node_t *n)
{
    if (n->type != YAML_SEQUENCE_NODE) {
        FAIL(r, n, "listen must be a list");
        return;
    }
    for (yaml_node_item_t *i = n->data.sequence.items.start;
         i < n->data.sequence.items.top && !r->failed; i++) {
        struct conf_listen *l = &r->c->listen[r->c->n_listen];
        if (r->c->n_listen == CONF_LIST_MOST) {
            FAIL(r, conf_node(r, *i), "too many places to listen at");
            return;
        }
        l->port = 5432;
        conf_each_pair(r, conf_node(r, *i), "an entry of listen", take_listen,
                       l);
        if (!r->failed && !l->path && !l->host)
            FAIL(r, conf_node(r, *i), "say unix, postgres or http");
        r->c->n_listen++;
    }
}

void conf_take_tls(struct conf_reader *r, const char *key, yaml_node_t *value,
                   void *ctx)
{
    struct conf *c = ctx;
    if (!strcmp(key, "certificate"))
        c->tls_certificate = conf_scalar(r, value, key);
    else if (!strcmp(key, "key"))
        c->tls_key = conf_scalar(r, value, key);
    else if (!strcmp(key, "minimum"))
        c->tls_minimum = conf_scalar(r, value, key);
    else
        conf_unknown(r, value, key);
    if (!r->failed && c->tls_minimum && strcmp(c->tls_minimum, "1.2") &&
        strcmp(c->tls_minimum, "1.3"))
        FAIL(r, value, "minimum must be \"1.2\" or \"1.3\"");
}

/* --- data sets --------------------------------------------------------------
 */

static void take_epsilon(struct conf_reader *r, const char *key,
                         yaml_node_t *value, void *ctx)
{
    struct conf_dataset *d = ctx;
    if (!strcmp(key, "default"))
        d->epsilon = conf_amount(r, value, "epsilon");
    else if (!strcmp(key, "min"))
        d->epsilon_min = conf_amount(r, value, "epsilon.min");
    else if (!strcmp(key, "max"))
        d->epsilon_max = conf_amount(r, value, "epsilon.max");
    else
        conf_unknown(r, value, key);
}

static void take_delta(struct conf_reader *r, const char *key,
                       yaml_node_t *value, void *ctx)
{
    struct conf_dataset *d = ctx;
    if (!strcmp(key, "default"))
        d->delta = conf_small(r, value, "delta");
    else if (!strcmp(key, "max"))
        d->delta_max = conf_small(r, value, "delta.max");
    else
        conf_unknown(r, value, key);
}

static void take_budget(struct conf_reader *r, const char *key,
                        yaml_node_t *value, void *ctx)
{
    struct conf_dataset *d = ctx;
    if (!strcmp(key, "epsilon"))
        d->budget_epsilon = conf_amount(r, value, "budget.epsilon");
    else if (!strcmp(key, "delta"))
        d->budget_delta = conf_small(r, value, "budget.delta");
    else
        conf_unknown(r, value, key);
}

static const char *password_file(struct conf_reader *r, yaml_node_t *n)
{
    const char *s = conf_scalar(r, n, "password");
    if (!r->failed && strncmp(s, "file:/", 6))
        FAIL(r, n,
             "the password of a database stands in a file: write "
             "file:/etc/dpcount/NAME.pw");
    return s + (r->failed ? 0 : 5);
}

/* Texts, by name; false: not one of them. */
static bool take_text(struct conf_reader *r, const char *key,
                      yaml_node_t *value, struct conf_dataset *d)
{
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"db", &d->db},         {"policy", &d->policy},
                 {"schema", &d->schema}, {"version", &d->version},
                 {"ledger", &d->ledger}, {"memory", &d->memory}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(key, texts[i].key)) {
            *texts[i].to = conf_scalar(r, value, key);
            return true;
        }
    return false;
}

static void take_dataset(struct conf_reader *r, const char *key,
                         yaml_node_t *value, void *ctx)
{
    struct conf_dataset *d = ctx;
    if (take_text(r, key, value, d))
        return;
    if (!strcmp(key, "password"))
        d->password_file = password_file(r, value);
    else if (!strcmp(key, "epsilon"))
        conf_each_pair(r, value, key, take_epsilon, d);
    else if (!strcmp(key, "delta"))
        conf_each_pair(r, value, key, take_delta, d);
    else if (!strcmp(key, "budget"))
        conf_each_pair(r, value, key, take_budget, d);
    else if (!strcmp(key, "pace"))
        d->pace = conf_seconds(r, value, key);
    else if (!strcmp(key, "misses"))
        d->misses = conf_whole(r, value, key, 0, 16);
    else if (!strcmp(key, "workers"))
        d->workers = conf_whole(r, value, key, 1, 64);
    else if (!strcmp(key, "load_visible"))
        d->load_visible = conf_yes_or_no(r, value, key);
    else if (!strcmp(key, "share_answers")) {
        if (conf_yes_or_no(r, value, key))
            FAIL(r, value,
                 "share_answers: yes is not offered: each analyst "
                 "has answers of their own");
    } else
        conf_unknown(r, value, key);
}

/* A name that is safe in file names, messages and URLs. */
static bool plain_name(const char *s)
{
    size_t n = strlen(s);
    for (const char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_-.@", *p))
            return false;
    return n && n < 64 && *s != '.' && *s != '-';
}

static void need(struct conf_reader *r, yaml_node_t *n, const char *name,
                 const char *value, const char *key)
{
    if (!value)
        FAIL(r, n, "data set \"%s\" needs %s", name, key);
}

static void check_dataset(struct conf_reader *r, yaml_node_t *n,
                          struct conf_dataset *d)
{
    need(r, n, d->name, d->db, "db");
    need(r, n, d->name, d->policy, "policy");
    need(r, n, d->name, d->version, "version: a name for the data as they are");
    need(r, n, d->name, d->epsilon, "epsilon: {default, min, max}");
    need(r, n, d->name, d->epsilon_min, "epsilon.min");
    need(r, n, d->name, d->epsilon_max, "epsilon.max");
    if (!r->failed && d->pace < 0)
        FAIL(r, n,
             "data set \"%s\" needs pace: when replies come, \"2 s\", or "
             "none (then times tell about rows)",
             d->name);
    if (r->failed)
        return;
    if (!d->workers)
        d->workers = d->pace > 0 ? 1 : WORKERS_UNPACED;
    if (!plain_name(d->version))
        FAIL(r, n, "a version is letters, digits and _-.");
    long long low = conf_nanos(d->epsilon_min),
              high = conf_nanos(d->epsilon_max);
    long long usual = conf_nanos(d->epsilon);
    if (!low)
        FAIL(r, n,
             "epsilon.min must be above 0: each question has a least "
             "price");
    else if (low > usual || usual > high)
        FAIL(r, n, "epsilon needs min <= default <= max");
    else if (strtod(d->delta, NULL) > strtod(d->delta_max, NULL))
        FAIL(r, n, "delta.default is above delta.max");
}

void conf_take_datasets(struct conf_reader *r, const char *key,
                        yaml_node_t *value, void *ctx)
{
    struct conf *c = ctx;
    struct conf_dataset *d = &c->datasets[c->n_datasets];
    if (!plain_name(key) || c->n_datasets == CONF_DATASETS_MOST) {
        FAIL(r, value,
             "the name of a data set is up to 63 letters, digits and "
             "_-.@, and there are at most %d",
             CONF_DATASETS_MOST);
        return;
    }
    *d = (struct conf_dataset){.name = key,
                               .line = value->start_mark.line + 1,
                               .column = value->start_mark.column + 1,
                               .pace = -1,
                               .misses = 3,
                               .memory = "",
                               .delta = "0",
                               .delta_max = "0"};
    c->n_datasets++;
    conf_each_pair(r, value, "a data set", take_dataset, d);
    if (!r->failed)
        check_dataset(r, value, d);
}

/* --- people -----------------------------------------------------------------
 */

static void take_grant(struct conf_reader *r, const char *key,
                       yaml_node_t *value, void *ctx)
{
    struct conf_grant *g = ctx;
    if (!strcmp(key, "epsilon"))
        g->epsilon = conf_amount(r, value, "epsilon");
    else if (!strcmp(key, "delta"))
        g->delta = conf_small(r, value, "delta");
    else if (!strcmp(key, "per_day"))
        g->per_day = conf_amount(r, value, "per_day");
    else
        conf_unknown(r, value, key);
}

static void take_grants(struct conf_reader *r, const char *key,
                        yaml_node_t *value, void *ctx)
{
    struct conf_person *p = ctx;
    struct conf_grant *g = &p->grants[p->n_grants++];
    g->dataset = conf_dataset(r->c, key);
    g->delta = "0";
    if (!g->dataset) {
        FAIL(r, value, "there is no data set \"%.100s\"", key);
        return;
    }
    conf_each_pair(r, value, "a budget", take_grant, g);
    if (!r->failed && !g->epsilon)
        FAIL(r, value, "%s needs a cap: {epsilon: E} for \"%s\"", p->name, key);
}

static void take_verifier(struct conf_reader *r, yaml_node_t *value,
                          struct conf_person *p)
{
    struct scram_verifier v;
    p->password = conf_scalar(r, value, "password");
    if (!r->failed && strcmp(p->password, "stored") &&
        !scram_verifier_read(p->password, &v))
        FAIL(r, value,
             "the password of \"%s\" must be a verifier "
             "(SCRAM-SHA-256$..., of %d iterations or more), as dpcount "
             "passwd prints it, or stored",
             p->name, SCRAM_ITERATIONS);
}

static void take_peers(struct conf_reader *r, yaml_node_t *n,
                       struct conf_person *p)
{
    if (n->type != YAML_SEQUENCE_NODE) {
        FAIL(r, n, "peer must be a list of users of this system");
        return;
    }
    for (yaml_node_item_t *i = n->data.sequence.items.start;
         i < n->data.sequence.items.top && !r->failed; i++) {
        if (p->n_peers == CONF_LIST_MOST) {
            FAIL(r, n, "too many peers");
            return;
        }
        p->peers[p->n_peers++] = conf_scalar(r, conf_node(r, *i), "a peer");
    }
}

static void take_person(struct conf_reader *r, const char *key,
                        yaml_node_t *value, void *ctx)
{
    struct conf_person *p = ctx;
    if (!strcmp(key, "password")) {
        take_verifier(r, value, p);
    } else if (!strcmp(key, "peer")) {
        take_peers(r, value, p);
    } else if (!p->owner && !strcmp(key, "spend")) {
        p->spend = conf_yes_or_no(r, value, key);
    } else if (!p->owner && !strcmp(key, "datasets")) {
        p->grants = conf_alloc(r->c, sizeof *p->grants * CONF_DATASETS_MOST);
        if (!p->grants)
            FAIL(r, value, "out of memory");
        else
            conf_each_pair(r, value, key, take_grants, p);
    } else {
        conf_unknown(r, value, key);
    }
}

static void add_person(struct conf_reader *r, const char *key,
                       yaml_node_t *value, bool owner)
{
    struct conf *c = r->c;
    if (!plain_name(key) || c->n_people == CONF_ANALYSTS_MOST) {
        FAIL(r, value,
             "a name is up to 63 letters, digits and _-.@, and there "
             "are at most %d",
             CONF_ANALYSTS_MOST);
        return;
    }
    if (conf_person(c, key)) {
        FAIL(r, value, "\"%s\" is there twice", key);
        return;
    }
    struct conf_person *p = &c->people[c->n_people++];
    *p = (struct conf_person){.name = key,
                              .owner = owner,
                              .spend = true,
                              .line = value->start_mark.line + 1,
                              .column = value->start_mark.column + 1};
    conf_each_pair(r, value, owner ? "an owner" : "an analyst", take_person, p);
    if (!r->failed && !p->password && !p->n_peers)
        FAIL(r, value, "\"%s\" has neither password nor peer", key);
    if (!r->failed && !owner && !p->n_grants)
        FAIL(r, value, "\"%s\" may use no data set: write datasets", key);
}

void conf_take_analysts(struct conf_reader *r, const char *key,
                        yaml_node_t *value, void *ctx)
{
    (void)ctx;
    add_person(r, key, value, false);
}

void conf_take_owners(struct conf_reader *r, const char *key,
                      yaml_node_t *value, void *ctx)
{
    (void)ctx;
    add_person(r, key, value, true);
}
