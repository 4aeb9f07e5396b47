/* What the files that fill the catalogue share. */
#ifndef CATALOGUE_CAT_BUILD_H
#define CATALOGUE_CAT_BUILD_H

#include "catalogue/catalogue_int.h"

struct cat_builder {
    struct catalogue c;
    const struct catalogue_source *source;
    uint32_t *tables; /* their OIDs */
    uint32_t oid;     /* the next */
    int rc;           /* SQLite's; nothing is done after a failure */
    struct {
        const char *name;
        uint32_t oid;
    } schemas[100];
    size_t n_schemas;
};

/* One statement, formatted as sqlite3_mprintf does. */
void cat_row(struct cat_builder *b, const char *format, ...);
uint32_t cat_next_oid(struct cat_builder *b);
const char *cat_schema_of(const struct catalogue_table *t);
void cat_class(struct cat_builder *b, uint32_t oid, const char *name,
               uint32_t schema, char kind, size_t columns, bool indexed,
               bool references);
void cat_attribute(struct cat_builder *b, uint32_t relation,
                   const struct catalogue_column *c, unsigned at, bool index);

/* cat_keys.c, cat_standard.c; names have room for 64 bytes */
void cat_fill_keys(struct cat_builder *b, size_t table, uint32_t schema);
void cat_fill_references(struct cat_builder *b, size_t table);
void cat_fill_standard(struct cat_builder *b);

#endif
