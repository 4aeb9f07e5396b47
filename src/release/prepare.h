/*
 * The public side of every command: schema and policy, the query read and
 * normalised, its global sensitivity. PRIVACY: opens a source for its
 * catalogue at most; sees no row.
 */
#ifndef RELEASE_PREPARE_H
#define RELEASE_PREPARE_H

#include "bound/bound.h"
#include "release/session.h"

struct prepared {
    struct session *session;
    struct arena arena; /* all of this */
    struct schema schema;
    struct source *source;     /* NULL: none asked for */
    struct str text;           /* the query as given */
    struct str epsilon, delta; /* of the options, or of the query */
    struct cq *query;          /* as written */
    struct str *group_names;   /* of SQL's GROUP BY; may be fewer than keys */
    size_t n_group_names;
    const struct cq *normal;
    struct bound bound;
    unsigned threads;
    bool owner_counts; /* OWNER: keys may be found without a price */
    bool keys_found;   /* by group_keys: the embedded engine has to list them */
    bool filters_exact; /* PRIVACY: one treatment, for every T_F of the query */
};

void prepared_init(struct prepared *p, struct session *s);
void prepared_fini(struct prepared *p);

enum source_need { SOURCE_NONE, SOURCE_OPTIONAL, SOURCE_REQUIRED };

/* Reads --schema, the catalogue, --policy, --constraint, --private, ... */
enum status prepare_schema(struct prepared *p, enum source_need need,
                           struct err *err) WARN_UNUSED;
/* The budget of --policy; with --db or --schema the whole policy is read. */
enum status prepare_budget(struct prepared *p, struct err *err) WARN_UNUSED;
/* Reads the query: SQL, or a rule if it contains ":-". */
enum status prepare_query(struct prepared *p, struct str text,
                          struct err *err) WARN_UNUSED;
/* Normalises and bounds; `thorough`: with witness and advice. */
enum status prepare_bound(struct prepared *p, bool thorough,
                          struct err *err) WARN_UNUSED;

/* "insert or delete one row of: edge" */
struct str prepare_neighbours_text(struct prepared *p);

#endif
