/* What a person who signed in with a browser may know, as JSON. */
#ifndef SERVE_WHO_H
#define SERVE_WHO_H

#include "serve/conf.h"

/* {"user", "owner", "spend", "datasets": [...], "certificate"}; to be freed. */
char *who_json(const struct conf *c, const struct conf_person *p);

#endif
