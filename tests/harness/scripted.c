/* Scripted bytes; the generator is xoshiro256** seeded by splitmix64. */
#include "harness/scripted.h"

static uint64_t rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t next_word(uint64_t s[4])
{
    uint64_t result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

static enum status fill(struct entropy *e, unsigned char *out, size_t n,
                        struct err *err)
{
    struct scripted *s = (struct scripted *)e;
    s->taken += n;
    while (s->script && n > 0) {
        if (s->script_at == s->script_n && s->repeat)
            s->script_at = 0;
        if (s->script_at == s->script_n)
            return err_set(err, E_ENTROPY, "end of script");
        *out++ = s->script[s->script_at++];
        n--;
    }
    for (; n > 0; n--, s->word_left--, s->word >>= 8) {
        if (s->word_left == 0) {
            s->word = next_word(s->state);
            s->word_left = 8;
        }
        *out++ = (unsigned char)s->word;
    }
    return OK;
}

struct entropy *scripted_seed(struct scripted *s, uint64_t seed)
{
    *s = (struct scripted){.base.fill = fill};
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        s->state[i] = z ^ z >> 31;
    }
    return &s->base;
}

struct entropy *scripted_bytes(struct scripted *s, const unsigned char *p,
                               size_t n, bool repeat)
{
    *s = (struct scripted){
        .base.fill = fill, .script = p, .script_n = n, .repeat = repeat};
    return &s->base;
}
