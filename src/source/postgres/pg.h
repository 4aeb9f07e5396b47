/*
 * PostgreSQL, inside the source module: one connection, one transaction
 * (REPEATABLE READ, READ ONLY) from the open to the close, so that catalogue,
 * rows and pushed-down counts see one state of the database.
 */
#ifndef SOURCE_PG_H
#define SOURCE_PG_H

#include "source/source_int.h"

/* libpq's PGconn and PGresult */
struct pg_conn;
struct pg_result;
struct sqlgen;

struct pg {
    struct pg_conn *conn;
    struct str password; /* never in a message; empty: none */
    struct str where;    /* host, port and database, for messages */
    struct str path;     /* the schemas of the search path, as name[] */
    bool is_citus;
};

/* The server's or libpq's last message as E_SOURCE, without the password. */
enum status pg_failed(struct source *src, const char *what,
                      const struct pg_result *res, struct err *err);
/* Runs one statement and waits, ticking; *out is to be cleared by the caller,
 * NULL on failure. Cancels on the server when the user stops. */
enum status pg_query(struct source *src, const char *sql, struct ticker *t,
                     struct pg_result **out, struct err *err) WARN_UNUSED;
/* Has the statement planned, not run. E_UNSUPPORTED with the server's detail
 * where that is a matter of SQL (SQLSTATE 0A000, 42xxx), else E_SOURCE with a
 * fixed text. The transaction goes on in either case. */
enum status pg_explain(struct source *src, struct str sql,
                       struct err *err) WARN_UNUSED;
/* SET LOCAL, which unlike set_config reaches the other servers of a cluster;
 * nothing where the server has no such setting or the role may not. */
enum status pg_set(struct source *src, const char *name, const char *value,
                   struct err *err) WARN_UNUSED;
/* The one number that a query gives; *out stays where it fails. */
enum status pg_attempt_number(struct source *src, const char *sql, double *out,
                              struct err *err) WARN_UNUSED;
/* Waits until the connection has input, ticking ten times a second. */
enum status pg_wait(struct source *src, struct ticker *t, uint64_t done,
                    struct err *err) WARN_UNUSED;

/* How SQL over the source's tables is written, for q. */
void pg_sqlgen(const struct source *src, const struct cq *q,
               struct sqlgen *out);
/* Texts that differ there differ here. */
bool pg_is_plain_encoding(const struct source *src);

enum status pg_catalogue(struct source *src, struct err *err) WARN_UNUSED;

/* Types of PostgreSQL that are read natively; others come as text. */
enum pg_oid {
    OID_BOOL = 16,
    OID_BYTEA = 17, /* of a text: pg_text.c */
    OID_CHAR = 18,
    OID_NAME = 19,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_OID = 26,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_BPCHAR = 1042,
    OID_VARCHAR = 1043,
    OID_DATE = 1082,
    OID_TIME = 1083,
    OID_TIMESTAMP = 1114,
    OID_TIMESTAMPTZ = 1184,
    OID_NUMERIC = 1700,
    OID_UUID = 2950,
};

/* pg_binary.c: one field of binary COPY into a cell. */
enum status pg_cell(struct store_loader *l, size_t i, uint32_t oid,
                    struct str data, struct err *err) WARN_UNUSED;

/* pg_text.c: texts of a database that is not in UTF-8 come as their bytes, for
 * the server's own conversion fails at some. */
struct pg_text {
    bool raw; /* as they are */
    char utf8[128][4];
    unsigned char n[128];
};
bool pg_text_is_bytes(const struct source *src, const struct src_column *c);
/* The bytes of a column that was written as text. E_UNSUPPORTED. */
enum status pg_text_sql(const struct source *src, struct sb *column,
                        struct sb *out, struct err *err) WARN_UNUSED;
/* What its bytes mean. */
enum status pg_text_open(struct source *src, struct pg_text *out,
                         struct err *err) WARN_UNUSED;
enum status pg_text_cell(const struct pg_text *t, struct store_loader *l,
                         size_t i, struct str data,
                         struct err *err) WARN_UNUSED;

/* pg_copy.c: the stream of rows. A row goes through pg_cell whole or fails. */
struct pg_copy {
    struct store_loader *l;
    uint32_t *oids;              /* of the loader's columns */
    bool started;                /* the header was seen */
    const struct pg_text *texts; /* of OID_BYTEA; NULL: there is none */
};
/* Columns of the server's 32-bit integers take no more room than that; before
 * room is reserved, at the latest the header does it. */
void pg_copy_begin(struct pg_copy *c);
/* One CopyData message: a row, the header or the trailer, or several. */
enum status pg_copy_message(struct pg_copy *c, struct str bytes,
                            struct err *err) WARN_UNUSED;

#endif
