/* The static analysis as JSON and text, for analyze and explain. */
#ifndef REPORT_ANALYSIS_H
#define REPORT_ANALYSIS_H

#include "base/json.h"
#include "release/evaluate.h"

void analysis_json(struct json *j, struct count *q); /* the members */
void analysis_text(struct sb *b, struct count *q);
/* OWNER: every sensitivity measure on this instance; members and lines. The
 * data were loaded. */
enum status sensitivity_report(struct count *q, struct evaluated *data,
                               struct json *j, struct sb *text,
                               struct err *err) WARN_UNUSED;

/* A constraint that would help, and the bound it would give. */
void analysis_advice(struct json *j, struct str constraint, struct str upper);
/* OWNER or not: the parts of a tree, from the query alone. */
void analysis_parts(struct json *j, const struct count *q);

#endif
