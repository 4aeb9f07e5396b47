/*
 * The smallest program that uses the library: it prints the version.
 *
 *     cc version.c $(pkg-config --cflags --libs dpcount) -o version
 */
#include <stdio.h>
#include <dpcount.h>

int main(void)
{
    printf("%s\n", dpc_version());
    return 0;
}
