/*
 * Verifiers that analysts set themselves, in STATE/passwords: lines of a name,
 * the verifier of the configuration that it replaces ("-": none), and the new
 * one. If the owner changes the one in the configuration, that one holds.
 */
#ifndef SERVE_PASSWORDS_H
#define SERVE_PASSWORDS_H

#include "serve/conf.h"
#include "wire/scram.h"

/* What the person signs in with. False: with no password, or `p` is NULL, for a
 * name that nobody has: the same is done then, so that it takes as long. */
bool passwords_find(const struct conf *c, const struct conf_person *p,
                    struct scram_verifier *out);
/* Stores one, durably, by renaming. */
bool passwords_store(const struct conf *c, const struct conf_person *p,
                     const char *verifier);

/* The secret from which salts of names that nobody has are made; the same after
 * a restart, or a change would tell them apart. */
bool passwords_secret(const struct conf *c, unsigned char out[SCRAM_KEY]);

/* `dpcount passwd`: reads a password twice from the terminal (once from
 * another input) and prints its verifier, or stores it with a configuration.
 */
int passwords_command(const char *name, const char *config);

#endif
