/* The universe of tests/prop/test_entity_universe.c, nothing left out. */
#define UNIVERSE_STRIDE 1
#include "prop/test_entity_universe.c"
