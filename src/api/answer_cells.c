/* Results: see dpcount.h. */
#include "api/api_int.h"

#include <string.h>

size_t dpc_result_columns(const dpc_result *r)
{
    return r->r.columns.n;
}

size_t dpc_result_rows(const dpc_result *r)
{
    return r->r.n_rows;
}

const char *dpc_result_column(const dpc_result *r, size_t column,
                              dpc_type *type, dpc_role *role)
{
    if (column >= r->r.columns.n)
        return NULL;
    const struct result_column *c = &r->r.columns.p[column];
    if (type)
        *type = (dpc_type)c->type;
    if (role)
        *role = (dpc_role)c->role;
    return c->name.p;
}

const char *dpc_result_cell(const dpc_result *r, size_t row, size_t column)
{
    if (row >= r->r.n_rows || column >= r->r.columns.n)
        return NULL;
    return r->r.cells.p[row * r->r.columns.n + column].p;
}

size_t dpc_result_parameters(const dpc_result *r)
{
    return r->r.parameters.n;
}

dpc_type dpc_result_parameter(const dpc_result *r, size_t i)
{
    return i < r->r.parameters.n ? (dpc_type)r->r.parameters.p[i]
                                 : DPC_TYPE_UNKNOWN;
}

const char *dpc_result_price(const dpc_result *r, const char *which)
{
    if (!strcmp(which, "epsilon"))
        return r->r.epsilon.p;
    if (!strcmp(which, "delta"))
        return r->r.delta.p;
    return !strcmp(which, "rho") ? r->r.rho.p : NULL;
}

const char *dpc_result_guarantee(const dpc_result *r, size_t i)
{
    return i < r->r.guarantees.n ? r->r.guarantees.p[i].p : NULL;
}

const char *dpc_result_receipt(const dpc_result *r, size_t i)
{
    return i < r->r.receipts.n ? r->r.receipts.p[i].p : NULL;
}

int dpc_result_repeated(const dpc_result *r)
{
    return r->r.repeated;
}

const char *dpc_result_json(const dpc_result *r)
{
    return r->r.json.p ? r->r.json.p : "";
}

const char *dpc_result_text(const dpc_result *r)
{
    return r->r.text.p ? r->r.text.p : "";
}

void dpc_result_free(dpc_result *r)
{
    result_free((struct result *)r);
}
