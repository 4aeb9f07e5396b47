/*
 * Counts that cost nothing: one row more or less of a private table changes
 * them by 0 (bound/PROOF.md), so they are no secret, and shown as they are.
 */
#include "num/open_scale.h"
#include "release/release_int.h"

enum status release_public_number(const struct choice *c,
                                  const struct secret_count *count, mpz_t out,
                                  struct err *err)
{
    if (c->kind != CHOICE_EXACT)
        return err_internal(err, "a private count without noise");
    secret_scale_of_count(count, out);
    return OK;
}
