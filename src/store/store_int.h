/* What the files of the store share and others do not need. */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include "store/store.h"

/* Frees the columns; the table is then not loaded. */
void store_table_clear(struct store *st, size_t table);

#endif
