/*
 * The schema: tables, columns, keys, dependencies, private or public, and the
 * notion of neighbours. All of it is public knowledge. Built by readers
 * (CREATE TABLE, policy YAML, --constraint, a catalogue), then not changed,
 * except that a rule may add tables that nothing declared.
 *
 * One kind of constraint covers all: a degree
 * constraint (X, Y, k) says that every value of the columns X occurs with at
 * most k distinct values of the columns Y. FD: k = 1. Key: k = 1 and Y all
 * columns. Row bound: X empty, Y all columns. Distinct values: X empty.
 *
 * A row with a NULL in X is not constrained, as in SQL's UNIQUE: many rows may
 * have NULL in a unique column, two equal values it cannot hold.
 *
 * PRIVACY: a table that nothing declares public is private.
 */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include "base/vec.h"
#include "schema/value.h"

/* How the cells of a column are written where it is not as in SQL. */
struct cell_form {
    bool comma;        /* 1.234,56 */
    struct str format; /* DD.MM.YYYY; empty: as in SQL */
};

/* The numbers of numeric(p, s) and smallint: with no more digits than these
 * they fit. */
struct number_size {
    bool limited;
    uint16_t before, behind; /* the point */
};

/* numeric(p, s), where s may be negative: what fits for certain. */
static inline struct number_size schema_digits(long p, long s)
{
    bool plain = p >= 0 && s >= 0 && s <= p && p <= UINT16_MAX;
    return plain ? (struct number_size){true, (uint16_t)(p - s), (uint16_t)s}
                 : (struct number_size){true, 0, 0};
}

struct column {
    struct str name; /* may be empty for undeclared tables */
    enum type type;
    struct cell_form form;
    bool retypes;   /* its source has texts there and does not care for types */
    bool not_null;  /* true for undeclared tables */
    bool is_enum;   /* ordered by its declaration, not as its texts */
    bool is_padded; /* PostgreSQL's char(n), read without its padding */
    bool is_varchar; /* PostgreSQL's varchar, which becomes char(n) there */
    bool by_class;   /* its source keeps 1, '1' and '01' apart in it, which are
                        one   value here as long as nobody gives it a type */
    bool text_only;  /* read as text, but equal by rules of its own (inet) */
    bool guessed;    /* its name stands in a file's first line and nowhere else:
                        PRIVACY: without a header line that is a row */
    struct value *domain; /* public list of values for GROUP BY; may be NULL */
    size_t n_domain;
    bool has_scale; /* numeric(p, s): digits behind the point */
    uint8_t scale;
    /* Values are cut to this range when they are added up; as the policy writes
     * it; empty: no range. */
    struct str clip_lo, clip_hi;
    bool own_domain; /* by its type or a CHECK, not by the policy: NULL is not
                        listed */
    bool leads;      /* an ownership path reads it: see owners.h */
    uint32_t chars;  /* its texts have at most so many characters; 0: any */
    struct number_size digits;
    struct str comment; /* for people who look at the catalogue */
};

struct degree {
    uint32_t *x, *y; /* column positions from 0, rising, no repeats */
    size_t n_x, n_y;
    u128 k;            /* >= 1 */
    bool y_is_all;     /* said of rows: y is every column, also of a table whose
                          columns are not known yet */
    bool is_key;       /* declared as a key: identifies rows, not only values */
    bool measured;     /* read from a public table, not declared; of rows */
    uint32_t *written; /* x in the order in which it was declared */
    bool orders_differ; /* declared twice, in different orders */
    struct str text;    /* as declared, for messages; may be empty */
};

/* A foreign key, for messages, the policy generator and witnesses: it never
 * lowers an upper bound. */
struct foreign_key {
    uint32_t *cols, *ref_cols;
    size_t n_cols;
    struct str ref_table;
};

/* A CHECK, for witnesses: it never lowers an upper bound either. */
struct table_check {
    struct str condition; /* SQL; empty: it could not be read */
    /* the column that a domain's condition calls VALUE, or -1 */
    int64_t own;
};

/* Where a policy says something, for messages. */
struct policy_pos {
    long line, column; /* from 1; 0: nowhere */
};

/* One entry of `owned_by`: rows belong to the row of `table` whose key is in
 * their columns `via`. */
struct owner_edge {
    uint32_t *via; /* as written */
    uint32_t
        *key; /* columns of `table`, as many: set by schema_settle_owners */
    size_t n;
    struct str name;       /* of the table, as written */
    struct str *key_names; /* `key:` as written; NULL: not given */
    size_t n_key_names;
    uint32_t table;
    struct policy_pos at;
};

/* How the owner of a row is found: the row itself is the entity, or an edge
 * leads to a row whose own path goes on. */
struct owner_path {
    int32_t edge;  /* of the table's owned_by; -1: the row itself */
    uint32_t rest; /* path of the edge's table */
    /* The entity it ends at belongs to others in turn: they own whatever it
     * owns, so it need not be limited by itself. */
    bool nested;
};

enum { MAX_OWNER_PATHS = 16 };

enum privacy { PRIVACY_UNDECLARED, PRIVACY_PRIVATE, PRIVACY_PUBLIC };

struct table {
    struct str name;
    struct str namespace_; /* "public" and the like; empty: none given */
    struct str comment;    /* for people who look at the catalogue */
    struct column *cols;
    size_t n_cols;
    enum privacy privacy;
    bool declared;    /* false: made up from its use in a rule */
    bool arity_known; /* false: only constraints or lists named it so far */
    bool any_case;    /* its source does not tell names apart by case */
    bool is_refused;  /* a view or the like: known, but not to be queried */
    VEC(struct degree) degrees;
    VEC(struct foreign_key) fks;
    VEC(struct table_check) checks;
    uint64_t bytes_at_most; /* of all its texts together; 0: not declared */
    /* owners.h */
    bool is_entity;
    bool owned_given; /* the policy says owned_by, perhaps of nobody */
    VEC(struct owner_edge) owned_by;
    VEC(uint32_t) not_owned;      /* columns that refer, but do not own */
    VEC(struct owner_path) paths; /* by schema_settle_owners */
    struct policy_pos at, entity_at;
};

/* What the policy says of a table's file: known before the file is opened, so
 * that no row decides how it is read. */
struct file_form {
    struct str table;
    struct str *columns; /* of `columns:`, in this order */
    size_t n_columns;
    char delimiter; /* 0: not said */
    int header; /* 1: the first line has the names, 0: there is none, -1: not
                   said */
    struct str *nulls; /* unquoted, they stand for NULL */
    size_t n_nulls;
    struct policy_pos at; /* of what is for files only; line 0: nothing */
};

enum neighbours { ADD_DROP_ONE, CHANGE_ONE, ADD_DROP_ENTITY, CHANGE_ENTITY };

/* The owner's limits on releases, as texts of the policy; empty: not said. The
 * ledger keeps and reads them (ledger/ledger.h). */
struct policy_limits {
    struct str respond_after, ladder, memory, least_price, most_price, strict,
        work_at_most;
    struct str visible; /* not of the policy: time, load, both */
};

struct schema {
    struct arena *arena;
    VEC(struct table) tables;
    enum neighbours neighbours;
    bool neighbours_given;
    bool has_entities;  /* the unit is an entity with its rows, not a row */
    const char *policy; /* the file's name, for messages; may be NULL */
    struct policy_pos neighbours_at;
    uint32_t order; /* neighbours differ in at most this many rows, entities */
    uint64_t guess; /* of what an entity has at most; 0: none */
    struct str epsilon; /* budget of the policy file, decimal; empty: none */
    struct str delta;
    struct policy_limits limits;
    VEC(struct file_form) forms; /* by schema_read_forms */
};

void schema_init(struct schema *s, struct arena *a);
/* A copy that may be changed in the ways that a query changes a schema: texts
 * and lists that no reader touches are shared with the original, which must
 * outlive it. */
enum status schema_copy(struct schema *out, struct arena *a,
                        const struct schema *from, struct err *err) WARN_UNUSED;
/* All of it as bytes, and back; E_USAGE if they are not such bytes. */
void schema_write(struct sb *b, const struct schema *s);
struct bytes;
enum status schema_read(struct schema *s, struct bytes *from,
                        struct err *err) WARN_UNUSED;
/* The same of one value. */
void value_write(struct sb *b, const struct value *v);
struct value value_read(struct bytes *from);

/* Index of the table, or -1. Case-sensitive; SQL folds before it asks. A
 * table declared without namespace is found under any. */
long schema_find(const struct schema *s, struct str name);
/* The same, but falls back to the one table whose name differs only in case
 * (rules; SQL folds names itself). */
long schema_find_nocase(const struct schema *s, struct str name);
size_t schema_count_nocase(const struct schema *s, struct str name);
long table_find_column(const struct table *t, struct str name);

/* SQL: exactly, or in any case if `any_case` and the name was not quoted. */
bool name_matches(struct str have, bool any_case, struct str asked,
                  bool quoted);
/* The number of tables that an SQL name matches, the first in *out or -1. */
size_t schema_match(const struct schema *s, struct str name, bool quoted,
                    long *out);
/* A table of a policy: spelled as the catalogue does, with or without its
 * namespace; in any case where its source does not tell names apart. *out is -1
 * if there is none, and E_NAME if there is none but one that differs only in
 * case. */
enum status schema_find_declared(const struct schema *s, struct str name,
                                 long *out, struct err *err) WARN_UNUSED;
/* A table of an option: the same, but a name that is not quoted may also
 * stand for itself in lower case, as in SQL. */
enum status schema_find_option(const struct schema *s, struct str name,
                               bool quoted, long *out,
                               struct err *err) WARN_UNUSED;
/* By name, in any case if the table's source does not tell names apart. */
long table_match_column(const struct table *t, struct str name);
/* Takes the guessed names of private tables away: they are then asked for by
 * position only, and nothing shows them. */
void schema_hide_guessed(struct schema *s);
bool table_is_private(const struct table *t); /* undeclared counts as private */
/* Has a declared key: then its rows are a set, otherwise a bag. */
bool table_has_key(const struct table *t);

/* Adds a table with n columns; the returned index stays valid, pointers to
 * tables do not. */
enum status schema_add_table(struct schema *s, struct str name, size_t n_cols,
                             size_t *out_index, struct err *err) WARN_UNUSED;
/* At most k values of the columns y for one value of x. */
enum status table_add_degree(struct schema *s, size_t table, const uint32_t *x,
                             size_t n_x, const uint32_t *y, size_t n_y, u128 k,
                             struct str text, struct err *err) WARN_UNUSED;
/* The same with every column for y: a key (is_key and k = 1), or, with no x, a
 * bound on the rows. */
enum status table_add_whole(struct schema *s, size_t table, const uint32_t *x,
                            size_t n_x, u128 k, bool is_key, struct str text,
                            struct err *err) WARN_UNUSED;
/* Counts rows, duplicates included, and not only different values. */
bool degree_counts_rows(const struct degree *d);

/* Fixes the number of columns of an undeclared table by its use; E_NAME if it
 * was declared or used with another number. */
enum status schema_fix_arity(struct schema *s, size_t table, size_t n_cols,
                             struct err *err) WARN_UNUSED;

/*
 * Readers. Each adds to the schema; on failure the schema may hold part of
 * what was read, and the caller gives up.
 *
 * schema_read_constraint: 'R: a -> b <= 3', 'R: (a, b) -> *', '|R| <= 10',
 * 'R: () -> a <= 50'. Columns by name or position from 1. A relation that is
 * not known is added, undeclared, with as many columns as the constraint
 * names (its arity is fixed later by its use).
 */
enum status schema_read_constraint(struct schema *s, struct str text,
                                   struct err *err) WARN_UNUSED;
/* "T,T,...": sets the privacy of each; unknown tables are remembered. */
enum status schema_set_privacy(struct schema *s, struct str list,
                               enum privacy p, struct err *err) WARN_UNUSED;
/* Policy YAML; `file` is for messages. A table that the schema does not hold
 * yet must list its `columns:`; of one that it holds, they may give types to
 * columns that have none. */
enum status schema_read_policy(struct schema *s, struct str text,
                               const char *file, struct err *err) WARN_UNUSED;
/* Only its `budget:` and `limits:`: what the tables are need not be known. */
enum status schema_read_budget(struct schema *s, struct str text,
                               const char *file, struct err *err) WARN_UNUSED;
/* Only what it says of files, before they are opened. */
enum status schema_read_forms(struct schema *s, struct str text,
                              const char *file, struct err *err) WARN_UNUSED;
/* Of a table, its name in any case; NULL: nothing is said. */
const struct file_form *schema_form(const struct schema *s, struct str table);
/* How the table's cells are written, as a text; nothing where it is as in SQL.
 * PRIVACY: what is known of a content, was checked under it. */
void schema_print_form(struct sb *b, const struct schema *s,
                       const struct table *t);
/* A cell in its column's form, as SQL writes it; false: it has another form.
 * *out may point into buf. */
enum { CELL_FORM_TEXT = 128 };
bool schema_read_cell(const struct cell_form *f, struct str cell,
                      char buf[static CELL_FORM_TEXT], struct str *out);
/* Constraint text of a degree: "patdoc: pat -> doc <= 3". */
void degree_print(struct sb *b, const struct table *t, const struct degree *d);

/* The names of enum neighbours, for messages. */
#define NEIGHBOURS_KNOWN                                                       \
    "add-drop-one, change-one, add-drop-entity or change-entity"
/* By its name; false: there is no such one. */
bool schema_set_neighbours(struct schema *s, struct str name);

#endif
