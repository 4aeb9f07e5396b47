/* See who.h. Nothing here is a secret of anybody: no verifiers, no sources. */
#include "serve/who.h"

#include <jansson.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>

static json_t *text(const char *s)
{
    json_t *t = json_string(s ? s : "");
    return t ? t : json_string("");
}

static json_t *dataset(const struct conf_dataset *d, const struct conf_grant *g)
{
    json_t *o = json_object(), *e = json_object(), *x = json_object();
    json_object_set_new(o, "name", text(d->name));
    json_object_set_new(o, "version", text(d->version));
    json_object_set_new(o, "pace", json_real(d->pace));
    json_object_set_new(e, "default", text(d->epsilon));
    json_object_set_new(e, "min", text(d->epsilon_min));
    json_object_set_new(e, "max", text(d->epsilon_max));
    json_object_set_new(o, "epsilon", e);
    json_object_set_new(x, "default", text(d->delta));
    json_object_set_new(x, "max", text(d->delta_max));
    json_object_set_new(o, "delta", x);
    if (g && g->per_day)
        json_object_set_new(o, "per_day", text(g->per_day));
    return o;
}

static json_t *datasets(const struct conf *c, const struct conf_person *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_datasets; i++) {
        const struct conf_grant *g = conf_grant(p, &c->datasets[i]);
        if (g || p->owner)
            json_array_append_new(list, dataset(&c->datasets[i], g));
    }
    return list;
}

static json_t *certificate(const struct conf *c)
{
    FILE *f = c->tls_certificate ? fopen(c->tls_certificate, "re") : NULL;
    X509 *x = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    struct tm tm;
    char day[40] = "";
    if (x && ASN1_TIME_to_tm(X509_get0_notAfter(x), &tm))
        strftime(day, sizeof day, "%Y-%m-%d", &tm);
    X509_free(x);
    if (f)
        fclose(f);
    return *day ? json_pack("{s:s}", "until", day) : json_pack("n");
}

char *who_json(const struct conf *c, const struct conf_person *p)
{
    json_t *o = json_object();
    char *out;
    json_object_set_new(o, "user", text(p->name));
    json_object_set_new(o, "owner", json_boolean(p->owner));
    json_object_set_new(o, "spend", json_boolean(p->spend && !p->owner));
    json_object_set_new(o, "datasets", datasets(c, p));
    if (p->owner)
        json_object_set_new(o, "certificate", certificate(c));
    out = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return out;
}
