/* Numbers as they stand on the wire, the highest byte first. */
#ifndef BASE_BIGEND_H
#define BASE_BIGEND_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t be16_at(const char *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return be16toh(v);
}
static inline uint32_t be32_at(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return be32toh(v);
}
static inline uint64_t be64_at(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return be64toh(v);
}

#endif
