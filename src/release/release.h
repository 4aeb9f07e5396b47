/*
 * What the program does, one function for each question. Each fills a result
 * (JSON and text) or an error. See dpcount.h for what they mean to a user. What
 * neither charges nor draws is in report/report.h.
 */
#ifndef RELEASE_RELEASE_H
#define RELEASE_RELEASE_H

#include "release/session.h"

typedef enum status ask_fn(struct session *s, struct str query,
                           struct result *out, struct err *err);

ask_fn ask_release;
ask_fn ask_seal; /* OWNER */
ask_fn ask_budget_init, ask_budget_show, ask_budget_history, ask_budget_grant;
ask_fn ask_budget_bind, ask_budget_unlock, ask_budget_verify, ask_budget_adopt;

/* "3" or "3s" in nanoseconds. E_VALUE. */
enum status moment_seconds(struct str text, const char *what, int64_t *out,
                           struct err *err) WARN_UNUSED;
/* The error as {"error": {...}}. */
void report_error_json(struct sb *out, const struct err *e);

#endif
