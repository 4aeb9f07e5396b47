/* See nearest.h. */
#include "base/nearest.h"

enum { LONGEST = 40, MOST_CHANGES = 2 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Letters to insert, delete, replace or swap to get from a to b. */
static unsigned changes(struct str a, struct str b)
{
    unsigned d[LONGEST + 1][LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return MOST_CHANGES + 1;
    for (size_t i = 0; i <= a.n; i++)
        for (size_t k = 0; k <= b.n; k++) {
            if (!i || !k) {
                d[i][k] = (unsigned)(i + k);
                continue;
            }
            char x = lower(a.p[i - 1]), y = lower(b.p[k - 1]);
            unsigned best = d[i - 1][k - 1] + (x != y);
            if (d[i - 1][k] + 1 < best)
                best = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < best)
                best = d[i][k - 1] + 1;
            if (i > 1 && k > 1 && x == lower(b.p[k - 2]) &&
                lower(a.p[i - 2]) == y && d[i - 2][k - 2] + 1 < best)
                best = d[i - 2][k - 2] + 1;
            d[i][k] = best;
        }
    return d[a.n][b.n];
}

void nearest_begin(struct nearest *s, struct str asked)
{
    *s = (struct nearest){.asked = asked, .least = MOST_CHANGES + 1};
}

/* A short name is another one after two changes. */
void nearest_try(struct nearest *s, struct str name)
{
    unsigned c = changes(s->asked, name);
    if (c < s->least && 2 * (size_t)c < name.n) {
        s->least = c;
        s->best = name;
    }
}
