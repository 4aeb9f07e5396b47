/* What is said of entities: whose rows are whose, the static bound (public),
 * and what is left when entities are cut (the owner's). */
#ifndef REPORT_ENTITY_REPORT_H
#define REPORT_ENTITY_REPORT_H

#include "base/json.h"
#include "release/evaluate.h"

/* "entity": of analyze and quote. Nothing without entities. */
void report_entity_json(struct json *j, struct count *q);
void report_entity_text(struct sb *b, struct count *q);
/* OWNER: "entity": of sensitivity. */
enum status report_entity_values(struct count *q, struct evaluated *data,
                                 struct json *j, struct sb *text,
                                 struct err *err) WARN_UNUSED;

#endif
