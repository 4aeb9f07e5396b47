/*
 * dpcount: differentially private counts over relational data.
 *
 * Two objects. A *data set* is the owner's: where the rows are, what is
 * private, the ledger, the limits. It is set up, opened once, and then only
 * read. A *question* is the analyst's: a query, what to pay, parameters. Every
 * call takes a data set and most take a question; it gives a result, which has
 * columns and cells, a JSON form (a stable contract) and a text form (for
 * people; may change), or an error.
 *
 *     dpc_dataset *d = NULL;
 *     dpc_question *q = NULL;
 *     dpc_result *r = NULL;
 *     dpc_error *e = NULL;
 *     if (!dpc_dataset_new(&d) &&
 *         !dpc_dataset_set(d, "db", "hospital.db", &e) &&
 *         !dpc_dataset_set(d, "policy", "policy.yaml", &e) &&
 *         !dpc_dataset_set(d, "ledger", "hospital.ledger", &e) &&
 *         !dpc_dataset_open(d, 0, &e) &&
 *         !dpc_question_new("SELECT COUNT(*) FROM pat", &q) &&
 *         !dpc_question_set(q, "epsilon", "0.5", &e) &&
 *         !dpc_release(d, q, "ann", &r, &e))
 *         printf("about %s\n", dpc_result_cell(r, 0, 0));
 *     else
 *         fprintf(stderr, "%s\n", dpc_error_message(e));
 *     dpc_error_free(e);
 *     dpc_result_free(r);
 *     dpc_question_free(q);
 *     dpc_dataset_free(d);
 *
 * (tests/unit/test_header_example.c compiles and runs these very lines.)
 *
 * Rules for all functions
 * - Errors: a function that can fail returns a dpc_status. Where it takes a
 *   dpc_error **, that gets what happened; it may be NULL for callers who do
 *   not care, and what it points to is overwritten, so free an earlier error
 *   first. Out of memory is an error like any other; nothing aborts.
 * - Ownership: the caller frees data sets, questions, results and errors, in
 *   any order once no call runs; a result outlives what it came from. Texts
 *   that a function returns belong to the object they came from. Texts passed
 *   in are copied. On failure *out is NULL; freeing NULL is allowed.
 * - Texts are UTF-8 and end with NUL. Those of a data set (a connection string
 *   may hold a password) are wiped when it is freed.
 * - Threads: an open data set is not changed by any call and may be used by
 *   many threads at once, and by children that were forked after it was
 *   opened. A question is used by one call at a time; only
 *   dpc_question_cancel may come from elsewhere. The library keeps no global
 *   state, installs no signal handlers and prints nothing.
 * - Processes: private rows are read in processes of their own, which the
 *   library starts. See dpc_dataset_open.
 * - PRIVACY: calls marked OWNER return private numbers. The others return
 *   nothing that depends on private rows, except the answer of dpc_release,
 *   which the ledger was charged for.
 *
 * What is not marked otherwise is there since version 0.2.
 */
#ifndef DPCOUNT_H
#define DPCOUNT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DPC_API __attribute__((visibility("default")))
#define DPC_CHECKED __attribute__((warn_unused_result))
#define DPC_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define DPC_API
#define DPC_CHECKED
#define DPC_NONNULL(...)
#endif

/* Of this header. While the major number is 0 a program is compiled for one
 * minor number; later ones only add. */
#define DPC_VERSION_MAJOR 0
#define DPC_VERSION_MINOR 2
#define DPC_VERSION_PATCH 0

/* Of the library: "0.2.0". Since 0.1. */
DPC_API const char *dpc_version(void);

/* What a call ended with; also the exit status of the program. Since 0.1. */
typedef enum dpc_status {
    DPC_OK = 0,
    DPC_USAGE = 2,    /* usage, syntax, unknown name, bad value, no ledger */
    DPC_REFUSED = 3,  /* unsupported query or unbounded sensitivity */
    DPC_BUDGET = 4,   /* the privacy budget does not suffice */
    DPC_SOURCE = 5,   /* a data source or the ledger's disk failed; locked */
    DPC_LIMIT = 6,    /* a limit of memory, time or size; cancelled */
    DPC_INTERNAL = 70 /* a defect, or no random bytes */
} dpc_status;

typedef struct dpc_dataset dpc_dataset;
typedef struct dpc_question dpc_question;
typedef struct dpc_result dpc_result;
typedef struct dpc_error dpc_error;

/* --- errors --------------------------------------------------------------- */

/* All accept NULL, which is "out of memory" (there was none for the error). */
DPC_API const char *dpc_error_code(const dpc_error *e); /* "unknown-name" */
DPC_API const char *dpc_error_message(const dpc_error *e);
DPC_API const char *dpc_error_detail(const dpc_error *e); /* may be "" */
DPC_API const char *dpc_error_hint(const dpc_error *e);   /* may be "" */
/* Byte offset in the query from 0, or -1. */
DPC_API long dpc_error_position(const dpc_error *e);
/* File ("": none), line and column (from 1; 0: none). */
DPC_API const char *dpc_error_file(const dpc_error *e, long *line,
                                   long *column);
/* {"error": {...}} */
DPC_API const char *dpc_error_json(const dpc_error *e);
DPC_API void dpc_error_free(dpc_error *e);

/* --- options -------------------------------------------------------------- */

/*
 * Both objects are set up by options: the long options of the program, without
 * the dashes. dpc_dataset_set takes the owner's, dpc_question_set the
 * analyst's; a name of the other side is DPC_USAGE, as is an unknown one.
 * Repeatable options (table, constraint, private, public, groups, param) add
 * to what was set; the others replace it. Flags take "yes" or "no". Values are
 * checked when they are used.
 */
/* clang-format off */
/* clang-format off */
/* options: begin
 *
 * The owner's:
 *   schema        CREATE TABLE statements
 *   policy        what is private, dependencies, neighbours, budget
 *   private       these tables are private (as is every table not declared
 *                 public)
 *   public        these tables are public
 *   constraint    'R: a -> b <= 3', 'R: (a, b) -> *', '|R| <= 1000'; may
 *                 repeat
 *   neighbours    add-drop-one (default), change-one; of entities:
 *                 add-drop-entity, change-entity
 *   entities      propose whose rows are whose: rows of these tables are
 *                 entities
 *   order         neighbours differ in at most K rows, or entities
 *   db            FILE.db, sqlite:FILE, duckdb:FILE, folder of files,
 *                 postgresql://...
 *   table         a delimited file, or t=FILE.parquet; may repeat
 *   engine        embedded (default), sql: the database counts, or auto
 *   queries       typical queries, one in each line
 *   threads       threads for counting
 *   memory        limit on memory: 512M, 4G
 *   deadline      answer then, not earlier, so that the time says nothing
 *   owner-log     where reasons of failures go that only the owner may see
 *   visible       what else those who ask can see; the guarantee then says so
 *   ledger        the privacy budget
 *   dataset       which budget in the ledger
 *   since         only charges from then on: 2026-03-01 or '2026-03-01 12:30'
 *                 (UTC)
 *   until         only charges up to then, the day or minute included
 *   composition   sum (default) or zcdp
 *   respond-after replies come so long after a question began
 *   ladder        how often respond-after may double
 *   most-price    most epsilon of a count
 *   least-price   least epsilon of a count (default: a thousandth of the
 *                 budget)
 *   open          analysts without an account may ask too (yes or no)
 *   anchor        file that gets the head of every event of the ledger
 *   head          a head that was noted: does the ledger pass through it?
 *   version       the name of the data as they are now
 *   out           write a sealed copy, for --db
 *   accept-nulls  cells that are not of their type are NULL (yes or no)
 *   sealed        release only from data that were sealed (yes or no)
 *   owner         add what is for the owner alone (yes or no)
 *
 * The analyst's:
 *   epsilon       the price in privacy: 1 is common, 0.1 is strict
 *   delta         probability with which the guarantee may fail; default 0
 *   rho           price as zero-concentrated privacy, not epsilon
 *   mechanism     instead of the one the program chooses
 *   beta          smoothness of the residual sensitivity
 *   filters       comparisons between tables in a residual: inside (default)
 *                 or exact
 *   error-budget  part of epsilon for an error estimate (smooth noise; by
 *                 default chosen)
 *   error         the epsilon for this error, not --epsilon: 95 % of answers
 *                 within N
 *   guess         how many results one entity has at most, about (entities)
 *   groups        keys of GROUP BY: 'F,M' or 'sex=F,M'; may repeat
 *   param         value of $1, $2, ... in order; may repeat
 *   fresh         pay for a new answer to a question asked before (yes or no)
 *   explain       say why this mechanism was chosen (yes or no)
 *   stored        answer only what was paid for before; spend nothing (yes or
 *                 no)
 *   spend-at-most refuse what would bring all that was spent above E
 *   dot           a picture of the query for Graphviz (yes or no)
 *   witness-size  where a row can change the count without limit: show a
 *                 change by N
 *
 * Arguments of calls, in neither:
 *   analyst       who asks
 *
 * options: end */
/* clang-format on */

typedef enum dpc_side {
    DPC_SIDE_OWNER,   /* dpc_dataset_set */
    DPC_SIDE_ANALYST, /* dpc_question_set */
    DPC_SIDE_CALL     /* an argument of calls: analyst */
} dpc_side;

/* What there is to set, as a table: for help, completion and forms. */
typedef struct dpc_option {
    const char *name;     /* "error-budget" */
    const char *argument; /* "E|none"; NULL: a flag, "yes" or "no" */
    int repeats;          /* may be set more than once */
    dpc_side side;
    int program;          /* 1: an option of the program dpcount only */
    const char *commands; /* that take it: "quote,budget init", or "*" */
    const char *section;  /* of the manual: "RELEASE" */
    const char *since;    /* "0.1" */
    const char *help;     /* one line */
    const char *manual;   /* a paragraph */
} dpc_option;
/* The i-th option from 0. Returns 0, and leaves *out alone, beyond the last. */
DPC_API int dpc_option_at(size_t i, dpc_option *out) DPC_NONNULL(2);

/*
 * Called from long calls, on the thread that made the call and at most ten
 * times a second, with what is being done and how much of it is done (total 0:
 * not known). Return 0 to cancel: the call fails with DPC_LIMIT. A release says
 * "working" and no numbers, for they would tell about private rows; one that is
 * cancelled once it was charged runs to its end without the caller, and the
 * same question gets its stored answer. Since 0.1.
 */
typedef int (*dpc_progress_fn)(void *ctx, const char *what,
                               unsigned long long done,
                               unsigned long long total);

/* --- the owner's side: data sets ------------------------------------------ */

/* DPC_LIMIT when memory is out. */
DPC_API dpc_status dpc_dataset_new(dpc_dataset **out) DPC_CHECKED
    DPC_NONNULL(1);
/* DPC_USAGE for an analyst's or an unknown option, and once it is open. */
DPC_API dpc_status dpc_dataset_set(dpc_dataset *d, const char *name,
                                   const char *value,
                                   dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
/* For dpc_dataset_open and calls that take no question; before the open. */
DPC_API void dpc_dataset_progress(dpc_dataset *d, dpc_progress_fn fn, void *ctx)
    DPC_NONNULL(1);
/* Ends what those are doing: async-signal-safe, from any thread. */
DPC_API void dpc_dataset_cancel(dpc_dataset *d) DPC_NONNULL(1);

/*
 * Reads what is declared: the catalogue of the source, schema, policy and
 * constraints. From now on the data set does not change: what is written to
 * schema and policy files later is not seen. No private row is read. A data
 * set without a source (no db, no table) can be asked what needs no rows.
 *
 * If the data set names a ledger and the program has one thread so far, two
 * processes are started: one that asks for this program, one that has the rows.
 * The columns that a release needs are then loaded when first needed, kept
 * within the option memory, and shared by all releases of one content of the
 * source; and the program may have threads from now on. They end when nobody
 * has the data set any more. In a program that had threads before, releases run
 * in the program itself; their JSON says "isolation": "none".
 *
 * DPC_OPEN_LATE: nothing is read now; every call reads what it needs. For
 * programs that make one call.
 *
 * The calls of the ledger need no open data set.
 */
enum { DPC_OPEN_LATE = 1 };
DPC_API dpc_status dpc_dataset_open(dpc_dataset *d, unsigned flags,
                                    dpc_error **err) DPC_CHECKED DPC_NONNULL(1);
/* No call may run. */
DPC_API void dpc_dataset_free(dpc_dataset *d);

/*
 * What is public about an open data set, as bytes: tables, constraints, what
 * is private, neighbours, values of public columns. For a process that must
 * never see rows or secrets: imported there, it can be asked all that needs no
 * rows (quote, describe, analyze, explain), and has no source and no ledger.
 * Free the bytes with dpc_bytes_free. DPC_USAGE: not open, or bytes of another
 * version of the library.
 */
DPC_API dpc_status dpc_dataset_export(const dpc_dataset *d, void **bytes,
                                      size_t *n, dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
DPC_API dpc_status dpc_dataset_import(const void *bytes, size_t n,
                                      dpc_dataset **out,
                                      dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 3);
DPC_API void dpc_bytes_free(void *bytes);

/* --- the catalogue of an open data set ------------------------------------ */

/* Types of columns, parameters and cells. */
typedef enum dpc_type {
    DPC_TYPE_UNKNOWN, /* not declared: as in the data */
    DPC_TYPE_BIGINT,
    DPC_TYPE_NUMERIC,
    DPC_TYPE_DOUBLE,
    DPC_TYPE_TEXT,
    DPC_TYPE_BOOLEAN,
    DPC_TYPE_DATE,
    DPC_TYPE_TIMESTAMP,
    DPC_TYPE_TIME,
    DPC_TYPE_UUID
} dpc_type;

typedef struct dpc_table {
    const char *name;
    const char *space; /* "public" and the like; "": none */
    const char *comment;
    int is_private;
    int is_entity;  /* its rows are what is protected, with all they own */
    int is_queried; /* 0: a view or the like; questions may not name it */
    size_t n_columns, n_keys, n_references, n_owners;
} dpc_table;

typedef struct dpc_column {
    const char *name; /* "": has none that may be shown */
    const char *comment;
    dpc_type type;
    int not_null;
} dpc_column;

/* A key, a foreign key, or how rows belong to those of another table. */
typedef struct dpc_link {
    const size_t *columns; /* n positions from 0 */
    size_t n;
    const char *table;      /* that is referred to; NULL for a key */
    const size_t *referred; /* n positions there; NULL: its key, or a key */
} dpc_link;

/* 0 while the data set is not open. */
DPC_API size_t dpc_dataset_tables(const dpc_dataset *d) DPC_NONNULL(1);
/* Each returns 0, and leaves *out alone, beyond the last. Texts and lists live
 * as long as the data set. */
DPC_API int dpc_table_at(const dpc_dataset *d, size_t table, dpc_table *out)
    DPC_NONNULL(1, 3);
DPC_API int dpc_column_at(const dpc_dataset *d, size_t table, size_t column,
                          dpc_column *out) DPC_NONNULL(1, 4);
DPC_API int dpc_key_at(const dpc_dataset *d, size_t table, size_t i,
                       dpc_link *out) DPC_NONNULL(1, 4);
DPC_API int dpc_reference_at(const dpc_dataset *d, size_t table, size_t i,
                             dpc_link *out) DPC_NONNULL(1, 4);
DPC_API int dpc_owner_at(const dpc_dataset *d, size_t table, size_t i,
                         dpc_link *out) DPC_NONNULL(1, 4);

/* --- the analyst's side: questions ---------------------------------------- */

/* SQL, or a rule. DPC_LIMIT when memory is out. */
DPC_API dpc_status dpc_question_new(const char *query,
                                    dpc_question **out) DPC_CHECKED
    DPC_NONNULL(1, 2);
/* DPC_USAGE for an owner's or an unknown option. */
DPC_API dpc_status dpc_question_set(dpc_question *q, const char *name,
                                    const char *value,
                                    dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
/* The value of $i, from 1; NULL is SQL's NULL. The option "param" adds to
 * these. */
DPC_API dpc_status dpc_question_param(dpc_question *q, size_t i,
                                      const char *value,
                                      dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1);
/* Behind each column of noisy numbers one with its error (DPC_ROLE_ERROR). */
DPC_API void dpc_question_error_columns(dpc_question *q, int yes)
    DPC_NONNULL(1);
DPC_API void dpc_question_progress(dpc_question *q, dpc_progress_fn fn,
                                   void *ctx) DPC_NONNULL(1);
/* Ends the call that runs with this question, or else the next one, as if its
 * progress function had returned 0: within a tenth of a second, async-signal-
 * safe, from any thread. */
DPC_API void dpc_question_cancel(dpc_question *q) DPC_NONNULL(1);
DPC_API void dpc_question_free(dpc_question *q);

/* --- calls that read no private row --------------------------------------- */

/* The columns that an answer will have, and the types of the parameters
 * (dpc_result_parameter). Parameters need no values yet. */
DPC_API dpc_status dpc_describe(const dpc_dataset *d, dpc_question *q,
                                dpc_result **out, dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
/* Static analysis: global sensitivity, witness, advice. */
DPC_API dpc_status dpc_analyze(const dpc_dataset *d, dpc_question *q,
                               dpc_result **out, dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
/* Mechanism, price and expected error before spending. */
DPC_API dpc_status dpc_quote(const dpc_dataset *d, dpc_question *q,
                             dpc_result **out, dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
/* Every stage of the query in words, or as a graph (option dot). With the
 * owner's option owner: OWNER, includes private numbers. */
DPC_API dpc_status dpc_explain(const dpc_dataset *d, dpc_question *q,
                               dpc_result **out, dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
/* A commented policy file from the catalogue of the source, for its owner. */
DPC_API dpc_status dpc_policy_init(const dpc_dataset *d, dpc_result **out,
                                   dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2);
/* OWNER: what could be declared of the data as they are, and what it would be
 * worth to the queries of the option queries. Private numbers. */
DPC_API dpc_status dpc_policy_suggest(const dpc_dataset *d, dpc_result **out,
                                      dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2);

/* --- the release ---------------------------------------------------------- */

/*
 * One noisy answer, charged to the ledger before the noise is drawn: to the
 * account of `analyst` (NULL or "": nobody in particular), whom the caller has
 * authenticated. DPC_BUDGET: nothing was charged or drawn. A failure whose
 * reason depends on private rows is one fixed error, and is charged.
 */
DPC_API dpc_status dpc_release(const dpc_dataset *d, dpc_question *q,
                               const char *analyst, dpc_result **out,
                               dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 4);

/* --- OWNER: private numbers ----------------------------------------------- */

/* The exact count. */
DPC_API dpc_status dpc_count(const dpc_dataset *d, dpc_question *q,
                             dpc_result **out, dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
/* Every sensitivity measure on this instance. */
DPC_API dpc_status dpc_sensitivity(const dpc_dataset *d, dpc_question *q,
                                   dpc_result **out,
                                   dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2, 3);
/* Do the declared keys and dependencies hold? If not: DPC_SOURCE, and *out
 * tells what does not hold and which rows show it. */
DPC_API dpc_status dpc_check(const dpc_dataset *d, dpc_result **out,
                             dpc_error **err) DPC_CHECKED DPC_NONNULL(1, 2);
/* Reads everything strictly, checks everything declared, and gives the content
 * a name in the ledger. Options version, out, accept-nulls. */
DPC_API dpc_status dpc_seal(const dpc_dataset *d, dpc_result **out,
                            dpc_error **err) DPC_CHECKED DPC_NONNULL(1, 2);
/* What work_at_most of strict mode this machine does in the time of the option
 * respond-after. A few seconds. */
DPC_API dpc_status dpc_calibrate(const dpc_dataset *d, dpc_result **out,
                                 dpc_error **err) DPC_CHECKED DPC_NONNULL(1, 2);

/* --- the ledger: option ledger; the data set need not be open --------------
 */

/* Makes it; options composition, least-price, open, policy. epsilon and delta
 * may be NULL: then the policy says them. */
DPC_API dpc_status dpc_budget_init(const dpc_dataset *d, const char *epsilon,
                                   const char *delta, dpc_result **out,
                                   dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 4);
/* What is spent and left: in all, or of one analyst (NULL or "": in all). */
DPC_API dpc_status dpc_budget_show(const dpc_dataset *d, const char *analyst,
                                   dpc_result **out,
                                   dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 3);
DPC_API dpc_status dpc_budget_history(const dpc_dataset *d, const char *analyst,
                                      dpc_result **out,
                                      dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 3);
/* OWNER. Adds to the budget, or to what one analyst may spend of it. */
DPC_API dpc_status dpc_budget_grant(const dpc_dataset *d, const char *analyst,
                                    const char *epsilon, const char *delta,
                                    dpc_result **out,
                                    dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 5);
/* OWNER. From now on only releases under this policy. */
DPC_API dpc_status dpc_budget_bind(const dpc_dataset *d, dpc_result **out,
                                   dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2);
/* OWNER. Ends a lock. */
DPC_API dpc_status dpc_budget_unlock(const dpc_dataset *d, dpc_result **out,
                                     dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2);
/* Options anchor, head. */
DPC_API dpc_status dpc_budget_verify(const dpc_dataset *d, dpc_result **out,
                                     dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2);
/* OWNER. Takes a copy, or a ledger of version 0.1. */
DPC_API dpc_status dpc_budget_adopt(const dpc_dataset *d, dpc_result **out,
                                    dpc_error **err) DPC_CHECKED
    DPC_NONNULL(1, 2);

/* --- results -------------------------------------------------------------- */

typedef enum dpc_role {
    DPC_ROLE_KEY,   /* of GROUP BY, or computed from keys: public, or shown */
    DPC_ROLE_COUNT, /* a noisy number, or computed from some */
    DPC_ROLE_ERROR  /* 95 % of the numbers before it are within this */
} dpc_role;

/* The rows of the SELECT: of a release; quote and describe have the columns
 * and no row. Of dpc_budget_history the charges; the other calls have neither.
 */
DPC_API size_t dpc_result_columns(const dpc_result *r) DPC_NONNULL(1);
DPC_API size_t dpc_result_rows(const dpc_result *r) DPC_NONNULL(1);
/* Its name, NULL beyond the last; type and role may be NULL. */
DPC_API const char *dpc_result_column(const dpc_result *r, size_t column,
                                      dpc_type *type, dpc_role *role)
    DPC_NONNULL(1);
/* The cell as PostgreSQL writes it as a text; NULL for NULL, and beyond the
 * last. */
DPC_API const char *dpc_result_cell(const dpc_result *r, size_t row,
                                    size_t column) DPC_NONNULL(1);
/* The parameters $1, $2, ... of dpc_describe. */
DPC_API size_t dpc_result_parameters(const dpc_result *r) DPC_NONNULL(1);
DPC_API dpc_type dpc_result_parameter(const dpc_result *r, size_t i)
    DPC_NONNULL(1);
/* What all numbers cost together (quote, release), as a decimal number:
 * "epsilon", "delta" or "rho"; NULL: no such price. A repeated answer cost it
 * when it was first given. */
DPC_API const char *dpc_result_price(const dpc_result *r, const char *which)
    DPC_NONNULL(1, 2);
/* What is promised, a sentence for each count (quote, release); NULL beyond
 * the last. */
DPC_API const char *dpc_result_guarantee(const dpc_result *r, size_t i)
    DPC_NONNULL(1);
/* The receipt of the i-th number's charge in the ledger (release); NULL beyond
 * the last, "": nothing was charged. */
DPC_API const char *dpc_result_receipt(const dpc_result *r, size_t i)
    DPC_NONNULL(1);
/* 1: all of it had been paid for before. */
DPC_API int dpc_result_repeated(const dpc_result *r) DPC_NONNULL(1);
DPC_API const char *dpc_result_json(const dpc_result *r) DPC_NONNULL(1);
DPC_API const char *dpc_result_text(const dpc_result *r) DPC_NONNULL(1);
DPC_API void dpc_result_free(dpc_result *r);

#ifdef __cplusplus
}
#endif
#endif
