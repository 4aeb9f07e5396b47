/* The public surface: thin, no logic. */
#include "dpcount.h"

const char *dpc_version(void)
{
    return DPC_VERSION;
}
