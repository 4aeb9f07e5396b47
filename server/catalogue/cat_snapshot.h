/* A catalogue from what the library says is public about a data set. */
#ifndef CATALOGUE_CAT_SNAPSHOT_H
#define CATALOGUE_CAT_SNAPSHOT_H

#include "catalogue/catalogue.h"
#include "dpcount.h"

/*
 * As catalogue_build. `d` is open or imported; `database` is what clients see
 * as the database's name. Tables that questions may not name, and columns
 * without a name that may be shown, are left out. The comment of a table says
 * whose rows it has.
 */
bool catalogue_build_of(const dpc_dataset *d, const char *database,
                        unsigned char **out, size_t *n,
                        struct catalogue_error *err);

/* "private: rows of patient (by patient_id)": whose rows a table has. */
void catalogue_whose(const dpc_dataset *d, size_t table, char *out, size_t n);

#endif
