/*
 * The engine: a process that has the rows of a data set, loaded when a
 * question first needs them and kept for the next, and forks a worker for
 * each charged question.
 *
 * The keeper (keeper.c) asks it after the hold: which columns, of which
 * content, which question, and the law that was paid for. The engine loads
 * what is missing; the worker has the rows by the fork, reads the question
 * again, refuses to draw by any other law, and sends noisy answers.
 *
 * PRIVACY: rows are those of the content whose fingerprint the question was
 * admitted with; another content is loaded anew. The ledger is in another
 * process. What does not fit the memory limit is not kept: the worker then
 * loads for itself.
 */
#ifndef RELEASE_ROW_ENGINE_H
#define RELEASE_ROW_ENGINE_H

#include "release/child.h"

struct prepared;
struct release;

/* Forks the engine of an open data set; its descriptor is for
 * engine_evaluate. Only for a process with one thread. */
enum status engine_start(const struct prepared *base, int *out,
                         struct err *err) WARN_UNUSED;
/* Before the hold, the source is open: remembers which columns the question
 * needs and what their tables' catalogue is. */
enum status engine_remember(struct release *r, struct err *err) WARN_UNUSED;
/* Can the engine answer this question? */
bool engine_serves(const struct release *r);
/* After the hold: noisy answers as release_work gives them. */
enum status engine_evaluate(struct release *r, const struct child_limits *l,
                            struct str *out, struct err *err) WARN_UNUSED;

#endif
