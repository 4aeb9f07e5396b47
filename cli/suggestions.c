/* "Did you mean": the name that is fewest changes away. */
#include <string.h>

#include "cli.h"

enum { LONGEST = 40, MOST_CHANGES = 2 };

/* Letters to insert, delete, replace or swap to get from a to b. */
static unsigned changes(const char *a, const char *b)
{
    unsigned d[LONGEST + 1][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return MOST_CHANGES + 1;
    for (size_t i = 0; i <= n; i++)
        for (size_t k = 0; k <= m; k++) {
            if (!i || !k) {
                d[i][k] = (unsigned)(i + k);
                continue;
            }
            unsigned best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            if (d[i - 1][k] + 1 < best)
                best = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < best)
                best = d[i][k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
                a[i - 2] == b[k - 1] && d[i - 2][k - 2] + 1 < best)
                best = d[i - 2][k - 2] + 1;
            d[i][k] = best;
        }
    return d[n][m];
}

static void consider(const char *asked, const char *name, unsigned *least,
                     const char **best)
{
    unsigned c = changes(asked, name);
    if (c < *least && c < strlen(name)) {
        *least = c;
        *best = name;
    }
}

const char *nearest_command(const char *asked)
{
    unsigned least = MOST_CHANGES + 1;
    const char *best = NULL;
    for (size_t i = 0; i < n_commands; i++)
        consider(asked, commands[i].name, &least, &best);
    return best;
}

const char *nearest_sub(const char *name, const char *asked)
{
    unsigned least = MOST_CHANGES + 1;
    const char *best = NULL;
    for (size_t i = 0; i < n_commands; i++)
        if (commands[i].sub && !strcmp(commands[i].name, name))
            consider(asked, commands[i].sub, &least, &best);
    return best;
}

const char *nearest_option(const char *asked)
{
    unsigned least = MOST_CHANGES + 1;
    const char *best = NULL;
    dpc_option o;
    for (size_t i = 0; dpc_option_at(i, &o); i++)
        consider(asked, o.name, &least, &best);
    return best;
}
