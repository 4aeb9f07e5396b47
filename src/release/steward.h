/*
 * The steward: a process that asks for whoever has the data set open. It is
 * forked when the data set is opened, while the program has one thread, and
 * has neither rows nor an open ledger. A child of it goes the whole way of
 * release.c; children stay for the next question (post.h), with the ledger
 * open, for making a process and opening the ledger took most of the time. The
 * rows are in the engine (row_engine.h), which the steward starts, and starts
 * again if it is gone. PRIVACY: a child has no private row, only noisy answers,
 * and the engine's worker, which has, is new for each question.
 *
 *   program      steward      child                  engine      worker
 *   asks ------> gives to --> admits, holds
 *   waits                     (keeper) -----------> loads ----> counts, draws
 *   answer <----------------- commits <------------------------ noisy answers
 *
 * So a program may have threads, and its releases are still isolated.
 */
#ifndef RELEASE_STEWARD_H
#define RELEASE_STEWARD_H

#include "release/session.h"

/* Forks it; `base` is what the open data set has read. Only for a process with
 * one thread. */
enum status steward_start(const struct prepared *base, int *out,
                          struct err *err) WARN_UNUSED;
/* ask_release, done there; s->steward is its descriptor. */
enum status steward_release(struct session *s, struct str query,
                            struct result *out, struct err *err) WARN_UNUSED;

#endif
