/*
 * Bytes of anybody who connects: the first packet, and both messages of a
 * sign-in, which must never succeed without the password. The first byte says
 * which.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/scram.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void startup(const uint8_t *data, size_t size)
{
    struct wire_startup s;
    size_t sum = 0;
    wire_read_startup(data, size, &s);
    for (size_t i = 0; i < s.n_parameters; i++)
        sum += strlen(s.parameters[i].name) + strlen(s.parameters[i].value);
    for (size_t i = 0; i < s.n_unknown; i++)
        sum += strlen(s.unknown[i]);
    if (sum > size)
        abort();
}

static void sign_in(const char *text, bool last)
{
    static struct scram_verifier v;
    char out[128];
    struct scram s = {.exists = true,
                      .binding = {(const unsigned char *)"hash", 4}};
    if (!v.iterations && !scram_verifier_make("password", &v))
        return;
    s.verifier = v;
    if (!last) {
        scram_first(&s, "SCRAM-SHA-256", text);
        scram_first(&s, "SCRAM-SHA-256-PLUS", text);
    } else if (scram_first(&s, "SCRAM-SHA-256", "n,,n=,r=abc") &&
               scram_final(&s, text, out, sizeof out)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scram_verifier v;
    char *text = size ? malloc(size) : NULL;
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (data[0] % 4 == 0)
        startup(data + 1, size - 1);
    else if (data[0] % 4 == 3)
        scram_verifier_read(text, &v);
    else
        sign_in(text, data[0] % 4 == 2);
    free(text);
    return 0;
}
