/*
 * Parameters and cells in binary: the first byte is the type, the rest the
 * value. What cannot be read is a problem with its SQLSTATE; any text is
 * written in binary, or not at all.
 */
#include <stdint.h>
#include <stdlib.h>

#include "serve/front_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t types[] = {
    OID_BOOL,   OID_NAME,        OID_INT8,    OID_INT2,   OID_INT4,
    OID_TEXT,   OID_OID,         OID_FLOAT4,  OID_FLOAT8, OID_UNKNOWN,
    OID_BPCHAR, OID_VARCHAR,     OID_DATE,    OID_TIME,   OID_TIMESTAMP,
    OID_UUID,   OID_TIMESTAMPTZ, OID_NUMERIC, 0,          77};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct front_pool pool = {0};
    struct problem bad = {.at = -1};
    struct wire_out out;
    if (!size)
        return 0;
    uint32_t type = types[data[0] % (sizeof types / sizeof *types)];
    wire_out_init(&out, 1 << 20);
    const char *text = param_text(&pool, type, data + 1, size - 1, &bad);
    if (!text && !*bad.state)
        abort();
    if (text)
        cell_binary(&out, type, text);
    text = front_copy(&pool, (const char *)data + 1, size - 1);
    cell_binary(&out, type, text);
    wire_out_fini(&out);
    front_release(&pool);
    return 0;
}
