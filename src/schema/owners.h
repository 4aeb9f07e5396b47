/*
 * Entities and whose rows are whose. A policy names the tables whose rows are
 * entities (`entities`), and of every other private table along which columns
 * its rows belong to rows of another one (`owned_by`). A path of such edges
 * that ends at an entity's table gives every row one owner.
 *
 * All of this is public and settled before a row is read. What would weaken
 * the guarantee without a word is refused: a private table that belongs to
 * nobody, a foreign key to private rows about which nothing is said, owners
 * among public rows, rows that own themselves.
 */
#ifndef SCHEMA_OWNERS_H
#define SCHEMA_OWNERS_H

#include "schema/schema.h"

/* After everything else is known of the schema: finds tables and keys, sets
 * the paths of every table and `leads` of the columns they read, and the
 * default neighbours. E_POLICY, with the place in the policy where one is to
 * blame. Without entities it only refuses what needs them. */
enum status schema_settle_owners(struct schema *s, struct err *err) WARN_UNUSED;

/* After constraints that nobody enforces were left out: E_UNSEALED_OWNER if a
 * key that an ownership path looks up is among them. PRIVACY: two rows with
 * one key would give their dependants to either of two owners. */
enum status schema_check_lookups(const struct schema *s,
                                 struct err *err) WARN_UNUSED;

/* The refusal of a private table that belongs to nobody, also for one that a
 * rule made up. OK where the table is public or there are no entities. */
enum status schema_check_owned(const struct schema *s, uint32_t table,
                               struct err *err) WARN_UNUSED;

/* The declared key that an edge looks up; NULL: it was left out since. */
const struct degree *owner_edge_key(const struct schema *s,
                                    const struct owner_edge *e);
/* The table whose rows the path ends at. */
uint32_t owner_path_entity(const struct schema *s, uint32_t table,
                           const struct owner_path *p);

/* Does the table lead to the same one by another edge, too? */
bool owner_edge_has_twin(const struct table *t, const struct owner_edge *e);
/* "customer", "customer by orders", "node through src" */
void owner_path_print(struct sb *b, const struct schema *s, uint32_t table,
                      size_t path);
/* "lineitem: of one customer by orders and of one supplier", and a line for
 * each reference that is not ownership. Nothing for public tables. */
void owner_table_print(struct sb *b, const struct schema *s, uint32_t table);

#endif
