/* See load_rows.h. */
#include "harness/load_rows.h"

#include "store/builder.h"

enum status store_load_text(struct store_loader *l, const struct str *vals,
                            struct err *err)
{
    TRY(loader_room(l, err));
    for (size_t i = 0; i < l->n_cols; i++)
        TRY(vals[i].p ? cell_text(l, i, vals[i], err) : cell_null(l, i, err));
    return loader_end_row(l, err);
}

enum status store_load_values(struct store_loader *l, const struct value *vals,
                              struct err *err)
{
    TRY(loader_room(l, err));
    for (size_t i = 0; i < l->n_cols; i++)
        TRY(cell_value(l, i, &vals[i], err));
    return loader_end_row(l, err);
}
