/* The policy's entities, owned_by and not_owned: see owners.h. Tables and keys
 * are looked up when all tables are known (owners.c). */
#include "schema/policy_int.h"

struct policy_pos policy_place_of(const yaml_node_t *n)
{
    return (struct policy_pos){(long)n->start_mark.line + 1,
                               (long)n->start_mark.column + 1};
}

static enum status known_owner(struct policy_reader *r, yaml_node_t *key,
                               yaml_node_t *val, size_t table)
{
    struct str k = policy_scalar(key);
    (void)val;
    (void)table;
    if (str_is(k, "via") || str_is(k, "table") || str_is(k, "key"))
        return OK;
    return policy_unknown_key(r, key, "via, table, key");
}

/* The names of a list; what they stand for is looked up when all tables are
 * known. */
static enum status names(struct policy_reader *r, yaml_node_t *n,
                         struct str **out, size_t *n_out)
{
    bool one = n->type == YAML_SCALAR_NODE;
    if (!one)
        TRY(policy_need(r, n, YAML_SEQUENCE_NODE, "a list of names"));
    yaml_node_item_t *items = one ? NULL : n->data.sequence.items.start;
    *n_out = one ? 1 : (size_t)(n->data.sequence.items.top - items);
    *out = NEWS(r->s->arena, struct str, *n_out + 1);
    if (!*out)
        return err_nomem(r->err);
    for (size_t i = 0; i < *n_out; i++) {
        yaml_node_t *item = one ? n : policy_node(r, items[i]);
        TRY(policy_need(r, item, YAML_SCALAR_NODE, "a name"));
        (*out)[i] = str_copy(r->s->arena, policy_scalar(item));
        if (!(*out)[i].p)
            return err_nomem(r->err);
    }
    return OK;
}

/* {via: [o_custkey], table: customer} */
static enum status read_owner(struct policy_reader *r, yaml_node_t *n,
                              size_t table)
{
    cols_vec via = {0};
    TRY(policy_pairs(r, n, table, known_owner));
    yaml_node_t *cols = policy_lookup(r, n, "via"),
                *target = policy_lookup(r, n, "table");
    yaml_node_t *key = policy_lookup(r, n, "key");
    if (!cols || !target)
        return policy_bad(r, n, E_POLICY,
                          "owned_by needs \"via\" and \"table\"");
    TRY(policy_need(r, target, YAML_SCALAR_NODE, "a table"));
    TRY(policy_read_columns(r, cols, table, &via));
    if (!via.n)
        return policy_bad(r, cols, E_POLICY, "\"via\" needs a column");
    struct owner_edge e = {.via = via.p, .n = via.n, .at = policy_place_of(n)};
    e.name = str_copy(r->s->arena, policy_scalar(target));
    if (key)
        TRY(names(r, key, &e.key_names, &e.n_key_names));
    if (!e.name.p || !VEC_PUSH(r->s->arena, &r->s->tables.p[table].owned_by, e))
        return err_nomem(r->err);
    return OK;
}

enum status policy_read_owned_by(struct policy_reader *r, yaml_node_t *n,
                                 size_t table)
{
    r->s->tables.p[table].owned_given = true;
    return policy_items(r, n, table, read_owner);
}

enum status policy_read_not_owned(struct policy_reader *r, yaml_node_t *n,
                                  size_t table)
{
    cols_vec x = {0};
    TRY(policy_read_columns(r, n, table, &x));
    for (size_t i = 0; i < x.n; i++)
        if (!VEC_PUSH(r->s->arena, &r->s->tables.p[table].not_owned, x.p[i]))
            return err_nomem(r->err);
    return OK;
}

/* entities: [customer, supplier]; read after the tables. */
static enum status read_entity(struct policy_reader *r, yaml_node_t *n,
                               size_t unused)
{
    long t;
    (void)unused;
    TRY(policy_need(r, n, YAML_SCALAR_NODE, "a table"));
    if (schema_find_declared(r->s, policy_scalar(n), &t, r->err) != OK)
        return policy_place(r, n);
    if (t < 0 || !r->s->tables.p[t].arity_known)
        return policy_unknown_table(r, n);
    if (r->s->tables.p[t].is_entity)
        return policy_bad(r, n, E_POLICY, "table \"%.*s\" is given twice",
                          PSTR(policy_scalar(n)));
    r->s->tables.p[t].is_entity = true;
    r->s->tables.p[t].entity_at = policy_place_of(n);
    return OK;
}

enum status policy_read_entities(struct policy_reader *r, yaml_node_t *n)
{
    r->s->has_entities = true;
    TRY(policy_items(r, n, 0, read_entity));
    if (n->data.sequence.items.top == n->data.sequence.items.start)
        return policy_bad(r, n, E_POLICY, "\"entities\" needs a table");
    return OK;
}
