/* test_ledger_crash at every single point of death. */
#define STRIDE 1
#include "../fault/test_ledger_crash.c"
