/*
 * Weights of several words, for graphs whose numbers leave 64 bits: a graph
 * with `words` not 0 has unary weights of so many words for each id, and its
 * edges may have weights beyond 32 bits (csr.wide).
 */
#ifndef JOIN_WIDE_GRAPH_H
#define JOIN_WIDE_GRAPH_H

#include "join/graph/graph.h"
#include "join/words.h"

/* A factor of one word for each id, with the words of the graph; remembered
 * by `name`. */
enum status wide_unary(struct join *j, const uint64_t *from, uint32_t n,
                       uint32_t words, uint32_t name, const uint64_t **out,
                       struct err *err) WARN_UNUSED;
/* out := x * y, by id; x NULL: ones. */
void wide_times(const uint64_t *x, const uint64_t *y, uint32_t n,
                uint32_t words, uint64_t *out);
/* out[u] := the neighbours of u combined the way of the variable's kind, and
 * so often as its twins ask. */
void wide_message(const struct gvar *v, const struct csr *c, uint32_t words,
                  uint64_t *out);
/* out[i] := the weight of the pair (i, i). */
void wide_diagonal(const struct csr *c, uint32_t n, uint32_t words,
                   uint64_t *out);
/* z := z * the weight of pair e. */
void wide_by_weight(uint64_t *z, const struct csr *c, uint32_t e,
                    uint32_t words);
/* The pair's place, or NO_ID. */
uint32_t wide_pair(const struct csr *c, uint32_t l, uint32_t r);
/* z := z to the power, or times z - 1, z - 2, ... */
void wide_power(uint64_t *z, uint32_t power, bool falling, uint32_t words);

#endif
