/* Options of a session by name alone, whichever side they are of. */
#ifndef HARNESS_SESSION_SET_H
#define HARNESS_SESSION_SET_H

#include "release/session.h"

/* E_USAGE for an unknown name, E_NOMEM. */
enum status session_set(struct session *s, struct str name,
                        struct str value) WARN_UNUSED;

#endif
