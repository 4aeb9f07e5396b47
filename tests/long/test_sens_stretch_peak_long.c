/* Thousands of the scans of test_sens_stretch_peak. */
#define STRETCH_ROUNDS 700
#include "../prop/test_sens_stretch_peak.c"
