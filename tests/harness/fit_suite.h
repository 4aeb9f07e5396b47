/*
 * Goodness of fit of every sampler for smooth sensitivities, at scales from
 * below one to 2^40, with forced refinement, and with defects that the same
 * fit must reject. The quick suite runs it short on fixed seeds, the long one
 * with many draws and fresh bytes.
 */
#ifndef HARNESS_FIT_SUITE_H
#define HARNESS_FIT_SUITE_H

#include <stdbool.h>

struct suite {
    unsigned draws; /* unit of the number of draws */
    double alpha;   /* chance of a false alarm per fit */
    bool fresh;     /* bytes of the kernel; else fixed seeds */
};

void suite_law(const struct suite *cfg);
void suite_ks(const struct suite *cfg, const char *off, bool rejected);
void suite_groups(const struct suite *cfg);
void suite_refined(const struct suite *cfg);
/* Defects: a scale 5 % off (cases from..to-1), one sign only and truncation,
 * alpha 5 % off, a wrong tail. */
void suite_scale_defect(const struct suite *cfg, unsigned from, unsigned to);
void suite_shape_defects(const struct suite *cfg);
void suite_alpha_defect(const struct suite *cfg);
void suite_tail_defect(const struct suite *cfg);

#endif
