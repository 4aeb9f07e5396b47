/*
 * Inside the reader of policy files: what policy.c and policy_owned.c share.
 * Every mistake is reported where it stands.
 */
#ifndef SCHEMA_POLICY_INT_H
#define SCHEMA_POLICY_INT_H

#include <yaml.h>

#include "schema/schema.h"

typedef VEC(uint32_t) cols_vec;

struct policy_reader {
    struct schema *s;
    yaml_document_t doc;
    const char *file;
    VEC(uint32_t) seen; /* tables read so far */
    bool budget_only;
    bool forms_only;
    struct err *err;
};

enum status policy_bad(struct policy_reader *r, const yaml_node_t *at,
                       enum status st, const char *fmt, ...) PRINTF(4, 5);
/* An error made elsewhere gets its place; its hint stays. */
enum status policy_place(struct policy_reader *r, const yaml_node_t *at);
struct policy_pos policy_place_of(const yaml_node_t *n);
enum status policy_unknown_key(struct policy_reader *r, const yaml_node_t *key,
                               const char *known);
enum status policy_unknown_table(struct policy_reader *r,
                                 const yaml_node_t *key);

yaml_node_t *policy_node(struct policy_reader *r, int id);
struct str policy_scalar(const yaml_node_t *n);
enum status policy_need(struct policy_reader *r, const yaml_node_t *n,
                        yaml_node_type_t type, const char *what);
yaml_node_t *policy_lookup(struct policy_reader *r, yaml_node_t *map,
                           const char *key);

/* Calls f for each pair of a mapping, or each item of a list. */
typedef enum status (*pair_fn)(struct policy_reader *r, yaml_node_t *key,
                               yaml_node_t *val, size_t table);
enum status policy_pairs(struct policy_reader *r, yaml_node_t *map,
                         size_t table, pair_fn f);
typedef enum status (*item_fn)(struct policy_reader *r, yaml_node_t *n,
                               size_t table);
enum status policy_items(struct policy_reader *r, yaml_node_t *n, size_t table,
                         item_fn f);
/* A column or a list of columns. */
enum status policy_read_columns(struct policy_reader *r, yaml_node_t *n,
                                size_t table, cols_vec *out);

/* policy_owned.c */
enum status policy_read_owned_by(struct policy_reader *r, yaml_node_t *n,
                                 size_t table);
enum status policy_read_not_owned(struct policy_reader *r, yaml_node_t *n,
                                  size_t table);
enum status policy_read_entities(struct policy_reader *r, yaml_node_t *n);

/* policy_forms.c: a type, or {type: date, format: DD.MM.YYYY}; and what is for
 * files only. */
enum status policy_read_type(struct policy_reader *r, yaml_node_t *n,
                             enum type *out, struct cell_form *form);
enum status policy_read_form(struct policy_reader *r, yaml_node_t *key,
                             yaml_node_t *val, size_t unused);

#endif
