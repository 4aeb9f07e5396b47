/*
 * SET, SHOW, RESET, and what a connection begins with. An analyst's settings
 * have names of their own; whatever else begins with dpcount. is the owner's.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/front_int.h"

/* --- the table
 * ------------------------------------------------------------------
 */

enum setting_rule {
    RULE_ANY,
    RULE_BOOL,
    RULE_EPSILON,
    RULE_DELTA,
    RULE_AMOUNT,
    RULE_ENCODING,
    RULE_MS,
    RULE_FIXED /* cannot be changed; the same value again is fine */
};

static const struct {
    const char *name, *value;
    enum setting_rule rule;
} known[] = {
    {"dpcount.epsilon", "", RULE_EPSILON},
    {"dpcount.delta", "", RULE_DELTA},
    {"dpcount.groups", "", RULE_ANY},
    {"dpcount.mechanism", "", RULE_ANY},
    {"dpcount.beta", "", RULE_ANY},
    {"dpcount.filters", "", RULE_ANY},
    {"dpcount.error_budget", "", RULE_ANY},
    {"dpcount.guess", "", RULE_ANY},
    {"dpcount.fresh", "off", RULE_BOOL},
    {"dpcount.spend", "on", RULE_BOOL},
    {"dpcount.max_epsilon", "", RULE_AMOUNT},
    {"dpcount.error_columns", "off", RULE_BOOL},
    {"dpcount.notices", "on", RULE_BOOL},
    {"server_version", "15.0 (dpcount " DPC_VERSION ")", RULE_FIXED},
    {"server_version_num", "150000", RULE_FIXED},
    {"server_encoding", "UTF8", RULE_FIXED},
    {"client_encoding", "UTF8", RULE_ENCODING},
    {"DateStyle", "ISO, MDY", RULE_ANY},
    {"TimeZone", "UTC", RULE_ANY},
    {"integer_datetimes", "on", RULE_FIXED},
    {"standard_conforming_strings", "on", RULE_BOOL},
    {"IntervalStyle", "postgres", RULE_ANY},
    {"is_superuser", "off", RULE_FIXED},
    {"session_authorization", "", RULE_FIXED},
    {"default_transaction_read_only", "on", RULE_ANY},
    {"transaction_read_only", "on", RULE_ANY},
    {"default_transaction_isolation", "read committed", RULE_ANY},
    {"transaction_isolation", "read committed", RULE_ANY},
    {"in_hot_standby", "off", RULE_FIXED},
    {"application_name", "", RULE_ANY},
    {"extra_float_digits", "1", RULE_ANY},
    {"search_path", "\"$user\", public", RULE_ANY},
    {"statement_timeout", "0", RULE_MS},
    {"lock_timeout", "0", RULE_ANY},
    {"idle_in_transaction_session_timeout", "0", RULE_ANY},
    {"bytea_output", "hex", RULE_ANY},
    {"client_min_messages", "notice", RULE_ANY},
    {"row_security", "on", RULE_ANY},
    {"synchronize_seqscans", "on", RULE_ANY},
    {"geqo", "on", RULE_ANY},
    {"enable_seqscan", "on", RULE_ANY},
    {"jit", "off", RULE_ANY},
    {"ksqo", "on", RULE_ANY},
    {"max_identifier_length", "63", RULE_FIXED},
    {"max_index_keys", "32", RULE_FIXED},
    {"password_encryption", "scram-sha-256", RULE_FIXED},
    {"lc_monetary", "C", RULE_FIXED},
    {"lc_collate", "C", RULE_FIXED},
    {"lc_ctype", "C.UTF-8", RULE_FIXED},
};
enum { N_KNOWN = sizeof known / sizeof *known };

static struct front_setting *find(const struct front *f, const char *name)
{
    for (size_t i = 0; i < f->n_settings; i++)
        if (!strcasecmp(f->settings[i].name, name))
            return &f->settings[i];
    return NULL;
}

static void start_with(struct front *f, const char *name, const char *value)
{
    struct front_setting *s = find(f, name);
    snprintf(s->value, sizeof s->value, "%s", value);
    memcpy(s->initial, s->value, sizeof s->initial);
}

void settings_init(struct front *f)
{
    f->settings = calloc(N_KNOWN, sizeof *f->settings);
    if (!f->settings)
        front_fatal(f, "53200", "out of memory");
    for (size_t i = 0; i < N_KNOWN; i++) {
        f->settings[i].name = known[i].name;
        f->n_settings++;
        start_with(f, known[i].name, known[i].value);
    }
    start_with(f, "session_authorization", f->user);
    start_with(f, "dpcount.epsilon", f->dataset->epsilon);
    start_with(f, "dpcount.delta", f->dataset->delta);
    if (!f->may_spend)
        start_with(f, "dpcount.spend", "off");
}

bool setting_exists(const char *name)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (!strcmp(known[i].name, name))
            return true;
    return false;
}

const char *setting_value(const struct front *f, const char *name)
{
    const struct front_setting *s = find(f, name);
    return s ? s->value : "";
}

bool setting_on(const struct front *f, const char *name)
{
    return !strcmp(setting_value(f, name), "on");
}

/* --- checking
 * -------------------------------------------------------------------
 */

/* PostgreSQL's spellings; NULL: none of them. */
static const char *read_bool(const char *s)
{
    static const char *const yes[] = {"on", "true", "yes", "1", "t", "y"};
    static const char *const no[] = {"off", "false", "no", "0", "f", "n"};
    for (size_t i = 0; i < 6; i++) {
        if (!strcasecmp(s, yes[i]))
            return "on";
        if (!strcasecmp(s, no[i]))
            return "off";
    }
    return NULL;
}

/* PostgreSQL's spellings of a time, in milliseconds; negative: none of them. */
static long read_ms(const char *s)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"", 1},      {"us", 0.001},  {"ms", 1},      {"s", 1000},
                 {"min", 6e4}, {"h", 3600000}, {"d", 86400000}};
    char *end;
    if (!isdigit((unsigned char)*s))
        return -1;
    double v = strtod(s, &end);
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name))
            return v * units[i].ms < 2147483647.5 ? (long)(v * units[i].ms + .5)
                                                  : -1;
    return -1;
}

long setting_ms(const struct front *f, const char *name)
{
    return read_ms(setting_value(f, name));
}

static bool out_of_range(struct problem *bad, const char *name,
                         const char *value, const char *low, const char *high)
{
    problem_set(bad, "22023", "%s must be from %s to %s, not \"%.64s\"", name,
                low, high, value);
    snprintf(bad->hint, sizeof bad->hint, "The owner decides the range.");
    return false;
}

static bool check_epsilon(const struct front *f, const char *value,
                          struct problem *bad)
{
    const struct conf_dataset *d = f->dataset;
    long long v = conf_nanos(value);
    if (v < 0 || v < conf_nanos(d->epsilon_min) ||
        v > conf_nanos(d->epsilon_max))
        return out_of_range(bad, "dpcount.epsilon", value, d->epsilon_min,
                            d->epsilon_max);
    return true;
}

static bool check_delta(const struct front *f, const char *value,
                        struct problem *bad)
{
    char *end;
    double v = isdigit((unsigned char)*value) ? strtod(value, &end) : -1;
    if (!(v >= 0) || *end || v > strtod(f->dataset->delta_max, NULL))
        return out_of_range(bad, "dpcount.delta", value, "0",
                            f->dataset->delta_max);
    return true;
}

static bool check(struct front *f, const char *name, enum setting_rule rule,
                  const char **value, struct problem *bad)
{
    const char *as_bool;
    switch (rule) {
    case RULE_BOOL:
        as_bool = read_bool(*value);
        if (!as_bool)
            return problem_set(bad, "22023",
                               "parameter \"%s\" requires a Boolean value",
                               name);
        *value = as_bool;
        if (!strcmp(name, "dpcount.spend") && !strcmp(as_bool, "on") &&
            !f->may_spend)
            return problem_set(bad, "42501",
                               "the owner lets this user spend nothing");
        return true;
    case RULE_EPSILON:
        return check_epsilon(f, *value, bad);
    case RULE_DELTA:
        return check_delta(f, *value, bad);
    case RULE_AMOUNT:
        return !**value || conf_nanos(*value) >= 0 ||
               problem_set(bad, "22023", "%s must be a decimal number", name);
    case RULE_ENCODING:
        if (strcasecmp(*value, "UTF8") && strcasecmp(*value, "UTF-8") &&
            strcasecmp(*value, "unicode") && strcasecmp(*value, "auto") &&
            strcasecmp(*value, "SQL_ASCII"))
            return problem_set(bad, "22023",
                               "the only client_encoding here is UTF8");
        *value = "UTF8";
        return true;
    case RULE_MS:
        return read_ms(*value) >= 0 ||
               problem_set(bad, "22023",
                           "invalid value for parameter \"%s\": \"%.64s\"",
                           name, *value);
    case RULE_FIXED:
        return !strcmp(setting_value(f, name), *value) ||
               problem_set(bad, "55P02", "parameter \"%s\" cannot be changed",
                           name);
    default:
        return true;
    }
}

static enum setting_rule rule_of(const char *name)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (!strcasecmp(known[i].name, name))
            return known[i].rule;
    return RULE_ANY;
}

static bool unknown_name(const char *name, struct problem *bad)
{
    if (strncasecmp(name, "dpcount.", 8))
        return problem_set(bad, "42704",
                           "unrecognized configuration parameter \"%.100s\"",
                           name);
    problem_set(bad, "42501", "permission denied to set \"%.100s\"", name);
    snprintf(bad->hint, sizeof bad->hint, "The owner decides it.");
    return false;
}

/* What clients are told of when it changes. */
static bool is_reported(const char *name)
{
    return !strcmp(name, "application_name") ||
           !strcmp(name, "client_encoding") || !strcmp(name, "DateStyle") ||
           !strcmp(name, "TimeZone") || !strcmp(name, "IntervalStyle");
}

bool setting_put(struct front *f, const char *name, const char *value,
                 struct problem *bad)
{
    struct front_setting *s = find(f, name);
    if (!s)
        return unknown_name(name, bad);
    if (strlen(value) >= sizeof s->value)
        return problem_set(bad, "22023", "the value of %s is too long",
                           s->name);
    if (!check(f, s->name, rule_of(name), &value, bad))
        return false;
    bool changed = strcmp(s->value, value);
    snprintf(s->value, sizeof s->value, "%s", value);
    if (changed && is_reported(s->name))
        front_parameter_status(f, s->name, s->value);
    return true;
}

void settings_reset(struct front *f)
{
    for (size_t i = 0; i < f->n_settings; i++)
        memcpy(f->settings[i].value, f->settings[i].initial,
               sizeof f->settings[i].value);
}

/* --- statements
 * -------------------------------------------------------------------
 */

static void print_const(json_t *c, char *out, size_t size, bool *first)
{
    json_t *v = json_object_get(c, "A_Const");
    size_t n = strlen(out);
    const char *text = NULL;
    char number[64];
    if (!v)
        v = json_object_get(
            json_object_get(json_object_get(c, "TypeCast"), "arg"), "A_Const");
    json_t *s = json_object_get(v, "sval"), *i = json_object_get(v, "ival"),
           *d = json_object_get(v, "fval"), *b = json_object_get(v, "boolval");
    if (s) {
        text = json_string_value(json_object_get(s, "sval"));
    } else if (d) {
        text = json_string_value(json_object_get(d, "fval"));
    } else if (i) {
        snprintf(number, sizeof number, "%lld",
                 (long long)json_integer_value(json_object_get(i, "ival")));
        text = number;
    } else if (b) {
        text = json_is_true(json_object_get(b, "boolval")) ? "on" : "off";
    }
    if (n < size)
        snprintf(out + n, size - n, "%s%s", *first ? "" : ", ",
                 text ? text : "");
    *first = false;
}

static bool set_one(struct front *f, json_t *node, struct problem *bad)
{
    char value[FRONT_SETTING + 8] = "";
    bool first = true;
    size_t i;
    json_t *arg;
    const char *kind = json_string_value(json_object_get(node, "kind"));
    const char *name = json_string_value(json_object_get(node, "name"));
    if (!kind)
        return true;
    if (!strcmp(kind, "VAR_RESET_ALL")) {
        settings_reset(f);
        return true;
    }
    if (!strcmp(kind, "VAR_SET_MULTI"))
        return true; /* of transactions: nothing to choose */
    const struct front_setting *s = name ? find(f, name) : NULL;
    if (!s)
        return unknown_name(name ? name : "", bad);
    if (!strcmp(kind, "VAR_RESET") || !strcmp(kind, "VAR_SET_DEFAULT"))
        return setting_put(f, name, s->initial, bad);
    json_array_foreach(json_object_get(node, "args"), i, arg)
        print_const(arg, value, sizeof value, &first);
    return setting_put(f, name, value, bad);
}

bool settings_run(struct front *f, const struct statement *s,
                  struct front_rows *out, struct problem *bad)
{
    const char *kind = json_string_value(json_object_get(s->node, "kind"));
    bool reset = kind && strstr(kind, "RESET");
    snprintf(out->tag, sizeof out->tag, "%s", reset ? "RESET" : "SET");
    return set_one(f, s->node, bad);
}

static void show_all(struct front *f, struct front_pool *pool,
                     struct front_rows *out)
{
    static const char *const names[] = {"name", "setting", "description"};
    out->select = true;
    out->n_fields = 3;
    out->fields = front_alloc(pool, 3 * sizeof *out->fields);
    for (size_t i = 0; i < 3; i++)
        out->fields[i] = (struct front_field){names[i], OID_TEXT, -1, -1};
    out->n_rows = f->n_settings;
    out->cells = front_alloc(pool, 3 * out->n_rows * sizeof *out->cells);
    for (size_t i = 0; i < f->n_settings; i++) {
        out->cells[3 * i] = f->settings[i].name;
        out->cells[3 * i + 1] = front_copy(pool, f->settings[i].value,
                                           strlen(f->settings[i].value));
        out->cells[3 * i + 2] = "";
    }
}

bool settings_show(struct front *f, const struct statement *s,
                   struct front_pool *pool, struct front_rows *out,
                   struct problem *bad)
{
    const char *name = json_string_value(json_object_get(s->node, "name"));
    const char *value = NULL;
    snprintf(out->tag, sizeof out->tag, "SHOW");
    if (name && !strcmp(name, "all")) {
        show_all(f, pool, out);
        return true;
    }
    const struct front_setting *x = name ? find(f, name) : NULL;
    if (name && !strcasecmp(name, "dpcount.last"))
        value = f->last ? f->last : "";
    else if (x)
        value = x->value;
    if (!value)
        return problem_set(bad, "42704",
                           "unrecognized configuration parameter \"%.100s\"",
                           name ? name : "");
    make_column(pool, out, x ? x->name : "dpcount.last", &value, 1);
    return true;
}
