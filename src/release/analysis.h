/* The static analysis as JSON and text, for analyze and explain. */
#ifndef RELEASE_ANALYSIS_H
#define RELEASE_ANALYSIS_H

#include "base/json.h"
#include "release/prepare.h"

void analysis_json(struct json *j, struct prepared *p); /* the members */
void analysis_text(struct sb *b, struct prepared *p);
/* OWNER: every sensitivity measure on this instance; members and lines. Opens
 * the data. */
enum status sensitivity_report(struct prepared *p, struct json *j,
                               struct sb *text, struct err *err) WARN_UNUSED;

#endif
