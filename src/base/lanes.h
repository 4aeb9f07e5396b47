/*
 * Several small values compared at once. Where the processor has no such
 * instruction, and in the tests, by a plain loop with the same answer.
 */
#ifndef BASE_LANES_H
#define BASE_LANES_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LANES_BYTES = 16 };

/* Bit i: v[i] == x, of eight words. */
static inline unsigned lanes_words_plain(const uint32_t *v, uint32_t x)
{
    unsigned m = 0;
    for (unsigned i = 0; i < 8; i++)
        m |= (unsigned)(v[i] == x) << i;
    return m;
}

/* Bit i: p[i] is a, b, c or d, of LANES_BYTES bytes. */
static inline unsigned lanes_bytes_plain(const char *p, char a, char b, char c,
                                         char d)
{
    unsigned m = 0;
    for (unsigned i = 0; i < LANES_BYTES; i++)
        m |= (unsigned)(p[i] == a || p[i] == b || p[i] == c || p[i] == d) << i;
    return m;
}

#ifdef __SSE2__
static inline unsigned lanes_words(const uint32_t *v, uint32_t x)
{
    __m128i k = _mm_set1_epi32((int)x);
    __m128i a = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)v), k);
    __m128i b = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(v + 4)), k);
    __m128i both = _mm_packs_epi32(a, b);
    return (unsigned)_mm_movemask_epi8(
        _mm_packs_epi16(both, _mm_setzero_si128()));
}

static inline unsigned lanes_bytes(const char *p, char a, char b, char c,
                                   char d)
{
    __m128i w = _mm_loadu_si128((const __m128i *)p);
    __m128i ab = _mm_or_si128(_mm_cmpeq_epi8(w, _mm_set1_epi8(a)),
                              _mm_cmpeq_epi8(w, _mm_set1_epi8(b)));
    __m128i cd = _mm_or_si128(_mm_cmpeq_epi8(w, _mm_set1_epi8(c)),
                              _mm_cmpeq_epi8(w, _mm_set1_epi8(d)));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(ab, cd));
}
#else
static inline unsigned lanes_words(const uint32_t *v, uint32_t x)
{
    return lanes_words_plain(v, x);
}

static inline unsigned lanes_bytes(const char *p, char a, char b, char c,
                                   char d)
{
    return lanes_bytes_plain(p, a, b, c, d);
}
#endif

#endif
