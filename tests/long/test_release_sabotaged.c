/*
 * The black-box audit on a sabotaged program: linked so that the release gets
 * its noise from tests/sabotaged/scale.c, with 0.8 of the scale. The audit
 * must notice.
 */
#define SABOTAGED 1
#include "test_release_blackbox.c"
