/*
 * Fingerprints that are known already: of files whose names, sizes and times
 * are what they were when they were hashed, so that not every question has to
 * hash them again. In memory that the children of one steward share.
 *
 * PRIVACY: what is loaded is compared with the fingerprint byte by byte all
 * the same; a file that was changed under an old time stamp makes that fail.
 * Nothing younger than two seconds is written down, since a second change
 * could have the same time.
 */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/sha256.h"
#include "release/validity.h"

enum { ROOM = 1 << 16, YOUNG = 2 };

/* Whole only if the check fits what is before it: whoever reads while another
 * writes sees that. */
struct known_print {
    unsigned char stamp[SHA256_BYTES];
    uint64_t n;
    unsigned char print[ROOM];
    unsigned char check[SHA256_BYTES];
};

void *validity_known_new(void)
{
    void *p = mmap(NULL, sizeof(struct known_print), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void validity_known_free(void *known)
{
    if (known)
        munmap(known, sizeof(struct known_print));
}

void validity_known_inherit(void *known, bool yes)
{
    if (known)
        madvise(known, sizeof(struct known_print),
                yes ? MADV_DOFORK : MADV_DONTFORK);
}

static void hash_of(const void *p, size_t n, unsigned char out[SHA256_BYTES])
{
    struct sha256 h;
    sha256_init(&h);
    sha256_add(&h, p, n);
    sha256_end(&h, out);
}

static void check_of(const struct known_print *k,
                     unsigned char out[SHA256_BYTES])
{
    struct sha256 h;
    sha256_init(&h);
    sha256_add(&h, k->stamp, sizeof k->stamp);
    sha256_add(&h, &k->n, sizeof k->n);
    sha256_add(&h, k->print, k->n <= ROOM ? (size_t)k->n : 0);
    sha256_end(&h, out);
}

bool validity_known_get(struct prepared *p, struct validity *v)
{
    unsigned char stamp[SHA256_BYTES], check[SHA256_BYTES];
    struct known_print *k = p->session->known && v->stamp.n
                                ? NEW(&p->arena, struct known_print)
                                : NULL;
    if (!k)
        return false;
    memcpy(k, p->session->known, sizeof *k);
    hash_of(v->stamp.p, v->stamp.n, stamp);
    check_of(k, check);
    if (k->n > ROOM || memcmp(k->check, check, sizeof check) != 0 ||
        memcmp(k->stamp, stamp, sizeof stamp) != 0)
        return false;
    v->print.each = (struct source_hash *)(void *)k->print;
    v->print.n = (size_t)k->n / sizeof(struct source_hash);
    return true;
}

void validity_known_put(struct prepared *p, const struct validity *v)
{
    struct timespec now;
    struct known_print *k = p->session->known;
    size_t n = v->print.n * sizeof *v->print.each;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!k || !v->stamp.n || n > ROOM || now.tv_sec - v->newest < YOUNG)
        return;
    memset(k->check, 0, sizeof k->check);
    hash_of(v->stamp.p, v->stamp.n, k->stamp);
    k->n = n;
    memcpy(k->print, v->print.each, n);
    unsigned char check[SHA256_BYTES];
    check_of(k, check);
    memcpy(k->check, check, sizeof check);
}
