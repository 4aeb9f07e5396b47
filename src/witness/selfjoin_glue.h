/*
 * Several copies of a query that share one row b: what the answers that one
 * row can bring about look like together (PROOF.md, "Gluing").
 */
#ifndef WITNESS_SELFJOIN_GLUE_H
#define WITNESS_SELFJOIN_GLUE_H

#include "logic/tableau.h"

enum { GLUE_MAX = 10 };

struct glue {
    const struct tab *phi;
    struct tab *g;           /* the copies, merged and chased; may be unsat */
    uint32_t n;              /* copies */
    uint32_t atom[GLUE_MAX]; /* copy c maps this atom of phi to b */
    uint32_t b;              /* atom of g */
};

/* The same before merging: its number in any structure that stems from g. */
uint32_t glue_raw(const struct tab *phi, uint32_t c, uint32_t e);
/* The element of copy c that stands for element e of phi, merged. */
uint32_t glue_el(const struct glue *gl, uint32_t c, uint32_t e);
/* The atom of copy c that stands for atom i of phi, merged. */
uint32_t glue_atom(const struct glue *gl, uint32_t c, uint32_t i);
/* Are the rows of all copies one row? Not if two cells could not be merged:
 * computed ones, or constants of which it is not known if they differ. */
bool glue_is_one(const struct glue *gl);
enum status glue_make(struct arena *a, const struct tab *phi,
                      const uint32_t *atoms, uint32_t n, struct glue *out,
                      struct err *err) WARN_UNUSED;

/*
 * Newness (exact for functional dependencies): is there a database in which
 * the copies have different answers and none of them survives without b?
 * FAILS is a proof that there is none; FOUND gives the database in gl->g
 * (without regard to filters).
 */
enum newness { NEW_FAILS, NEW_FOUND, NEW_GAVE_UP };
enum status newness_search(struct arena *a, struct glue *gl, struct work *work,
                           enum newness *out, struct err *err) WARN_UNUSED;

#endif
