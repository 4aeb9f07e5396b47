/*
 * Weights of several words: see wide_graph.h. Every loop is the one of graph.c
 * with words in place of checked products.
 */
#include "join/graph/wide_graph.h"

enum status wide_unary(struct join *j, const uint64_t *from, uint32_t n,
                       uint32_t words, uint32_t name, const uint64_t **out,
                       struct err *err)
{
    uint32_t key[3] = {UINT32_MAX - 1, name, words};
    struct str k = {(const char *)key, sizeof key};
    uint64_t *found = map_find(&j->factors, k);
    if (found) {
        *out = (const uint64_t *)(uintptr_t)*found;
        return OK;
    }
    uint64_t *w = NEWS(&j->arena, uint64_t, (size_t)n * words);
    k.p = arena_strdup(&j->arena, k.p, k.n);
    if (!w || !k.p)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        w[(size_t)i * words] = from[i];
    *out = w;
    return map_put(&j->factors, k, (uint64_t)(uintptr_t)w, NULL)
               ? OK
               : err_nomem(err);
}

void wide_times(const uint64_t *x, const uint64_t *y, uint32_t n,
                uint32_t words, uint64_t *out)
{
    for (size_t i = 0; i < n; i++) {
        words_copy(out + i * words, y + i * words, words);
        if (x)
            words_mul(out + i * words, x + i * words, words, words);
    }
}

void wide_by_weight(uint64_t *z, const struct csr *c, uint32_t e,
                    uint32_t words)
{
    uint64_t w = c->w ? c->w[e] : 1;
    if (c->wide)
        words_mul(z, c->wide + (size_t)e * c->wide_words, c->wide_words, words);
    else if (w != 1)
        words_mul(z, &w, 1, words);
}

uint32_t wide_pair(const struct csr *c, uint32_t l, uint32_t r)
{
    uint32_t at = csr_seek(c, l, r);
    return at == c->off[l + 1] || c->adj[at] != r ? NO_ID : at;
}

void wide_power(uint64_t *z, uint32_t power, bool falling, uint32_t words)
{
    uint64_t by[WORDS_MOST], one[WORDS_MOST];
    words_copy(by, z, words);
    words_set(one, 1, words);
    for (uint32_t i = 1; i < power && !words_zero(z, words); i++) {
        if (falling)
            words_sub(by, one, words); /* z >= i: the product is not 0 yet */
        words_mul(z, by, words, words);
    }
}

void wide_message(const struct gvar *v, const struct csr *c, uint32_t words,
                  uint64_t *out)
{
    uint64_t x[WORDS_MOST];
    for (uint32_t u = 0; u < c->n_left; u++) {
        uint64_t *sum = out + (size_t)u * words;
        words_set(sum, 0, words);
        for (uint32_t e = c->off[u]; e < c->off[u + 1]; e++) {
            if (v->unary)
                words_copy(x, v->unary + (size_t)c->adj[e] * words, words);
            else
                words_set(x, 1, words);
            wide_by_weight(x, c, e, words);
            if (v->kind == W_SUM)
                words_add(sum, x, words);
            else if (v->kind == W_EXISTS && !words_zero(x, words))
                words_set(sum, 1, words);
            else if (v->kind == W_MAX && words_cmp(x, sum, words) > 0)
                words_copy(sum, x, words);
        }
        wide_power(sum, 1u + v->twins, v->twins > 0, words);
    }
}

void wide_diagonal(const struct csr *c, uint32_t n, uint32_t words,
                   uint64_t *out)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t e = wide_pair(c, i, i);
        words_set(out + (size_t)i * words, e != NO_ID, words);
        if (e != NO_ID)
            wide_by_weight(out + (size_t)i * words, c, e, words);
    }
}
