/* Advice and explanation: what is said about a bound. */
#ifndef BOUND_WORDS_H
#define BOUND_WORDS_H

#include "bound/bound.h"
#include "bound/upper.h"

/* Fills out->advice: dependencies that would make the bound finite, or, if
 * it is finite but large, smaller. */
enum status advice_make(struct arena *a, const struct upper *up,
                        struct work *work, struct bound *out,
                        struct err *err) WARN_UNUSED;
/* Fills out->explanation. */
enum status explain_make(struct arena *a, const struct upper *up,
                         struct bound *out, struct err *err) WARN_UNUSED;

/* Name of a column, or its position from 1 when it has none. */
void words_column(struct sb *b, const struct table *t, uint32_t col);
void words_element(struct sb *b, const struct tab *t, uint32_t e);
void words_atom(struct sb *b, const struct tab *t, uint32_t i);

#endif
