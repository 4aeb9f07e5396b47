/* Errors and notices of a front, with SQLSTATE and position. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "serve/front_int.h"
#include "serve/proc.h"

bool problem_set(struct problem *p, const char *state, const char *format, ...)
{
    va_list ap;
    *p = (struct problem){.at = -1};
    snprintf(p->state, sizeof p->state, "%s", state);
    va_start(ap, format);
    vsnprintf(p->message, sizeof p->message, format, ap);
    va_end(ap);
    return false;
}

/* --- SQLSTATE of the library's codes
 * -------------------------------------------
 */

static const struct {
    const char *code, *state;
} states[] = {
    {"syntax", "42601"},     {"type", "42804"},
    {"bad-value", "22023"},  {"usage", "22023"},
    {"price", "22023"},      {"unsupported", "0A000"},
    {"unbounded", "0A000"},  {"unsealed-owner", "0A000"},
    {"too-costly", "0A000"}, {"budget", "53400"},
    {"unpaid", "42501"},     {"unknown-analyst", "42501"},
    {"too-large", "54001"},  {"memory", "53200"},
    {"limit", "53200"},      {"cancelled", "57014"},
    {"detached", "57014"},   {"withheld", "58000"},
    {"ledger-io", "58030"},  {"locked", "55000"},
    {"source", "55000"},     {"data", "55000"},
    {"stale", "55000"},      {"ledger", "55000"},
    {"policy", "55000"},     {"policy-changed", "55000"},
    {"moved", "55000"},      {"rollback", "55000"},
    {"not-loaded", "55000"}, {"waiting", "53300"},
};

static const char *state_of(const char *code, const char *message,
                            const char *detail)
{
    if (!strcmp(code, "unknown-name"))
        return strstr(message, "column")      ? "42703"
               : strstr(message, "parameter") ? "42P02"
                                              : "42P01";
    if (!strcmp(code, "ledger-io") &&
        (strstr(message, "full") || strstr(detail, "full")))
        return "53100";
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!strcmp(states[i].code, code))
            return states[i].state;
    return "XX000";
}

/* The program's options are settings here: --error-budget is
 * dpcount.error_budget. Those of the owner's commands stay what they are. */
static void in_our_words(const char *from, char *out, size_t size)
{
    size_t n = 0;
    char name[64];
    while (*from && n + sizeof name < size) {
        size_t k = strncmp(from, "--", 2)
                       ? 0
                       : strspn(from + 2, "abcdefghijklmnopqrstuvwxyz-");
        int wrote =
            snprintf(name, sizeof name, "dpcount.%.*s", (int)k, from + 2);
        for (char *p = name; *p; p++)
            *p = *p == '-' ? '_' : *p;
        if (!k || wrote >= (int)sizeof name || !setting_exists(name)) {
            out[n++] = *from++;
            continue;
        }
        memcpy(out + n, name, (size_t)wrote);
        n += (size_t)wrote;
        from += 2 + k;
    }
    out[n] = 0;
}

static bool fill(struct problem *p, const char *code, const char *message,
                 const char *detail, const char *hint, long at)
{
    problem_set(p, state_of(code, message, detail), "%s", message);
    in_our_words(detail, p->detail, sizeof p->detail);
    in_our_words(hint, p->hint, sizeof p->hint);
    p->at = at;
    return false;
}

bool problem_of(struct problem *p, const struct reply *r)
{
    return fill(p, r->code, r->message, r->detail, r->hint, r->position);
}

bool problem_of_error(struct problem *p, const dpc_error *e)
{
    return fill(p, dpc_error_code(e), dpc_error_message(e), dpc_error_detail(e),
                dpc_error_hint(e), dpc_error_position(e));
}

/* --- sending
 * --------------------------------------------------------------------
 */

/* Other statements may hold a password. */
static const char *for_the_log(const struct statement *s)
{
    bool question =
        s && (s->kind == STATEMENT_SELECT || s->kind == STATEMENT_SYSTEM ||
              s->kind == STATEMENT_EXPLAIN);
    return question ? s->sql : NULL;
}

/* Positions count characters from 1 in the whole string. */
void report_problem(struct front *f, const struct problem *p,
                    const struct statement *s)
{
    struct wire_report r = {.severity = "ERROR",
                            .state = p->state,
                            .message = p->message,
                            .detail = *p->detail ? p->detail : NULL,
                            .hint = *p->hint ? p->hint : NULL};
    if (p->at >= 0 && f->whole) {
        size_t at = (size_t)p->at + (s ? s->offset : 0);
        if (at <= strlen(f->whole))
            r.position = wire_position(f->whole, at);
    }
    proc_log("error", "#session", (int64_t)f->session, "analyst", f->user,
             "sqlstate", p->state, "sql", for_the_log(s), NULL);
    wire_put_report(&f->out, &r);
}

void report_notice(struct front *f, const char *message, const char *detail)
{
    struct wire_report r = {.severity = "NOTICE",
                            .state = "00000",
                            .message = message,
                            .detail = *detail ? detail : NULL};
    wire_put_report(&f->out, &r);
}
