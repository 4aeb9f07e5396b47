/*
 * Anchor files from anywhere: a ledger is refused exactly if the file has no
 * head, or the ledger lacks one of those with the largest number. The oracle
 * reads lines in its own way.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/ledger_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[80], anchor[96], heads[8][SHA256_HEX];
static int n_heads;

static void leave(void)
{
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", folder);
    if (system(cmd))
        return;
}

/* A ledger with a grant, so with the heads 1 and 2. */
static void prepare(void)
{
    struct mem m;
    struct ledger *l = NULL;
    struct err err;
    mpq_t one;
    strcpy(folder, "/dev/shm/dpc-fuzz-XXXXXX");
    if (!mkdtemp(folder) &&
        (strcpy(folder, "/tmp/dpc-fuzz-XXXXXX"), !mkdtemp(folder)))
        exit(1);
    atexit(leave);
    snprintf(path, sizeof path, "%s/l", folder);
    snprintf(anchor, sizeof anchor, "%s/anchor", folder);
    mem_init(&m, 0);
    mpq_init(one);
    mpq_set_ui(one, 1, 1);
    if (kit_create(path, COMPOSE_SUM, one, one, &err) != OK ||
        kit_open(&m, path, &l, &err) != OK ||
        ledger_grant(l, STR(""), STR(""), one, one, &err) != OK)
        exit(1);
    ledger_close(l);
    if (ledger_adopt(&m, path, anchor, &err) != OK)
        exit(1);
    FILE *f = fopen(anchor, "r");
    for (int n;
         f && n_heads < 8 && fscanf(f, "%d %64s", &n, heads[n_heads]) == 2;)
        n_heads++;
    fclose(f);
    mpq_clear(one);
}

/* "N HASH": 1 to 18 digits, not 0, a blank, 64 hexadecimal digits. */
static unsigned long long head_of(const char *line, size_t n)
{
    unsigned long long out = 0;
    size_t digits = 0;
    while (digits < n && line[digits] >= '0' && line[digits] <= '9')
        digits++;
    if (!digits || digits > 18 || n != digits + 65 || line[digits] != ' ')
        return 0;
    for (size_t i = digits + 1; i < n; i++)
        if (!memchr("0123456789abcdef", line[i], 16))
            return 0;
    for (size_t i = 0; i < digits; i++)
        out = out * 10 + (unsigned)(line[i] - '0');
    return out;
}

/* May the ledger be opened? */
static bool oracle(const char *text, size_t size)
{
    unsigned long long best = 0;
    bool good = false;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        if (!end)
            break;
        size_t n = (size_t)(end - text) - at;
        unsigned long long h = head_of(text + at, n);
        bool same =
            h && h <= (unsigned)n_heads && !memcmp(end - 64, heads[h - 1], 64);
        good = h > best ? same : h && h == best ? good && same : good;
        best = h > best ? h : best;
        at += n + 1;
    }
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem m;
    struct ledger *l = NULL;
    struct err err = {0};
    if (!folder[0])
        prepare();
    /* "@N" in the input stands for the N-th head of the ledger */
    static char text[1 << 18];
    size_t n = 0;
    for (size_t i = 0; i < size && n + 100 < sizeof text; i++)
        if (data[i] == '@' && i + 1 < size && data[i + 1] >= '1' &&
            data[i + 1] < '1' + n_heads) {
            memcpy(text + n, heads[data[++i] - '1'], 64);
            n += 64;
        } else {
            text[n++] = (char)data[i];
        }
    FILE *f = fopen(anchor, "wb");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f))
        exit(1);
    mem_init(&m, 0);
    struct ledger_access access = {.read_only = true, .anchor = anchor};
    enum status s = ledger_open(&m, path, &access, &l, &err);
    ledger_close(l);
    if (s != OK && s != E_ROLLBACK)
        abort();
    if ((s == OK) != oracle(text, n)) {
        fprintf(stderr, "opened: %d\n", s == OK);
        abort();
    }
    if (atomic_load(&m.used))
        abort();
    return 0;
}
