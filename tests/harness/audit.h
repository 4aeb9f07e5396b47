/*
 * Audit of a rounded mechanism by its exact probabilities: for neighbours at
 * the extremes of what the sensitivity allows, both probabilities of an
 * output are enclosed and the logarithm of their ratio is compared with
 * epsilon. No sampling error, and the tails are seen (to 10^5 S).
 */
#ifndef HARNESS_AUDIT_H
#define HARNESS_AUDIT_H

#include "noise/noise.h"

struct audit {
    unsigned compared;
    unsigned violated;  /* certainly above epsilon */
    unsigned uncertain; /* enclosure straddles epsilon */
    double worst;       /* largest loss / epsilon */
};

/* f + s Z against f' + s' Z. `shrink` multiplies both scales and nothing
 * else: 1 for an honest mechanism, less for a defect that must be seen.
 * `dense`: outputs per scale unit near the centre. */
void audit_smooth(const struct noise *n, mpq_srcptr s, const char *shrink,
                  unsigned dense, struct audit *out);

#endif
