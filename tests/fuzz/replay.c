/*
 * Runs a fuzz target without a fuzzing engine: every file of the corpus
 * folders that are named, and a fixed number of mutants of each.
 *
 * A target is the usual LLVMFuzzerTestOneInput; it ends the process when its
 * property fails. The mutants come from a fixed seed, so that a failure comes
 * back; the input at hand is kept in the file named by DPC_FUZZ_INPUT, if set.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/size.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16, MUTANTS = 300 };

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

/* An exact copy on the heap, so that a sanitizer sees a read beyond it. */
static void run(const uint8_t *data, size_t n)
{
    const char *keep = getenv("DPC_FUZZ_INPUT");
    FILE *f = keep ? fopen(keep, "wb") : NULL;
    if (f) {
        fwrite(data, 1, n, f);
        fclose(f);
    }
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        exit(1);
    if (n)
        memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

/* Bytes changed, removed, or repeated elsewhere. */
static size_t mutate(uint8_t *p, size_t n, uint64_t *s)
{
    static const char spice[] = "():-,.'\"_<>=!*{}[]|/\\0919 \n\t#;@$%\x80\xff";
    for (uint64_t i = 1 + next(s) % 4; i && n; i--) {
        size_t at = next(s) % n, len = 1 + next(s) % 8;
        switch (next(s) % 4) {
        case 0:
            p[at] = (uint8_t)next(s);
            break;
        case 1:
            p[at] = (uint8_t)spice[next(s) % (sizeof spice - 1)];
            break;
        case 2:
            if (len > n - at)
                len = n - at;
            memmove(p + at, p + at + len, n - at - len);
            n -= len;
            break;
        default:
            if (len > n - at)
                len = n - at;
            if (n + len > MOST)
                break;
            memmove(p + at + len, p + at, n - at);
            n += len;
        }
    }
    return n;
}

static size_t replay_file(const char *path)
{
    static uint8_t seed[MOST], mutant[MOST];
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    size_t n = fread(seed, 1, sizeof seed, f);
    fclose(f);
    run(seed, n);
    uint64_t s = 0x9e3779b97f4a7c15u ^ n;
    for (unsigned i = test_size(MUTANTS); i > 0; i--) {
        memcpy(mutant, seed, n);
        run(mutant, mutate(mutant, n, &s));
    }
    return 1;
}

static size_t replay_folder(const char *folder)
{
    char path[4096];
    size_t files = 0;
    DIR *dir = opendir(folder);
    if (!dir)
        return 0;
    for (struct dirent *e; (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
            files += replay_file(path);
    }
    closedir(dir);
    return files;
}

int main(int argc, char **argv)
{
    size_t files = 0;
    for (int i = 1; i < argc; i++)
        files += replay_folder(argv[i]);
    printf("%zu files, %u mutants of each\n", files, test_size(MUTANTS));
    return files ? 0 : 1;
}
