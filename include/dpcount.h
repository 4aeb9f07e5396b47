/*
 * dpcount: differentially private counts over relational data.
 *
 * A session holds options (the long options of the program, without the
 * dashes) and the last error. Every question is one call that takes the
 * session and gives a result, which has a JSON form (a stable contract) and
 * a text form (for people; may change).
 *
 *     dpc_session *s;
 *     dpc_result *r;
 *     if (dpc_session_new(&s)) return 1;
 *     dpc_set(s, "db", "hospital.db");
 *     dpc_set(s, "policy", "policy.yaml");
 *     dpc_set(s, "ledger", "hospital.ledger");
 *     dpc_set(s, "epsilon", "0.5");
 *     if (dpc_release(s, "SELECT COUNT(*) FROM pat", &r) == DPC_OK)
 *         puts(dpc_result_json(r));
 *     else
 *         fprintf(stderr, "%s\n", dpc_error_message(s));
 *     dpc_result_free(r);
 *     dpc_session_free(s);
 *
 * Rules for all functions
 * - Errors: a function that can fail returns a dpc_status; dpc_error_*()
 *   tell the story of the session's last failed call. Out of memory is an
 *   error like any other; nothing aborts.
 * - Ownership: the caller frees sessions and results; a result outlives its
 *   session. Texts that a function returns belong to the object they came
 *   from. Texts passed in are copied. On failure *out is NULL; freeing NULL
 *   is allowed.
 * - Texts are UTF-8 and end with NUL.
 * - Threads: a session is used by one thread at a time; different sessions
 *   are independent, also on one ledger, also in different processes.
 * - PRIVACY: calls marked OWNER return private numbers. The others return
 *   nothing that depends on private rows, except the answer of dpc_release,
 *   which the ledger was charged for.
 */
#ifndef DPCOUNT_H
#define DPCOUNT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DPC_API __attribute__((visibility("default")))
#else
#define DPC_API
#endif

/* "0.1.0". Since 0.1. */
DPC_API const char *dpc_version(void);

/* What a call ended with; also the exit status of the program. Since 0.1. */
typedef enum dpc_status {
    DPC_OK = 0,
    DPC_USAGE = 2,    /* usage, syntax, unknown name, bad value, no ledger */
    DPC_REFUSED = 3,  /* unsupported query or unbounded sensitivity */
    DPC_BUDGET = 4,   /* the privacy budget does not suffice */
    DPC_SOURCE = 5,   /* a data source or the ledger's disk failed */
    DPC_LIMIT = 6,    /* a limit of memory, time or size; cancelled */
    DPC_INTERNAL = 70 /* a defect, or no random bytes */
} dpc_status;

typedef struct dpc_session dpc_session;
typedef struct dpc_result dpc_result;

/* --- sessions ------------------------------------------------------------- */

/* DPC_LIMIT when memory is out. Since 0.1. */
DPC_API dpc_status dpc_session_new(dpc_session **out);
DPC_API void dpc_session_free(dpc_session *s);

/*
 * Sets an option. Repeatable options (table, constraint, private, public,
 * groups, param) add to what was set; the others replace it. Flags (fresh,
 * owner, dot) take "yes" or "no". Values are checked when they are used.
 * DPC_USAGE for an unknown name. Since 0.1.
 */
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
 *   db            FILE.db, sqlite:FILE, folder of CSV files, postgresql://...
 *   table         a delimited file; may repeat
 *   engine        embedded (default), sql: the PostgreSQL server counts, or
 *                 auto
 *   threads       threads for counting
 *   memory        limit on memory: 512M, 4G
 *   deadline      answer then, not earlier, so that the time says nothing
 *   owner-log     where reasons of failures go that only the owner may see
 *   ledger        the privacy budget
 *   dataset       which budget in the ledger
 *   analyst       who asks
 *   composition   sum (default) or zcdp
 *   least-price   least epsilon of a count (default: a thousandth of the
 *                 budget)
 *   open          analysts without an account may ask too (yes or no)
 *   anchor        file that gets the head of every event of the ledger
 *   head          a head that was noted: does the ledger pass through it?
 *   version       the name of the data as they are now
 *   out           write a sealed copy, for --db
 *   accept-nulls  cells that are not of their type are NULL (yes or no)
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
 *   error-budget  part of epsilon for an error estimate (smooth noise; default
 *                 a tenth)
 *   guess         how many results one entity has at most, about (entities)
 *   groups        keys of GROUP BY: 'F,M' or 'sex=F,M'; may repeat
 *   param         value of $1, $2, ... in order; may repeat
 *   fresh         pay for a new answer to a question asked before (yes or no)
 *   dot           a picture of the query for Graphviz (yes or no)
 *   witness-size  where a row can change the count without limit: show a
 *                 change by N
 *
 * options: end */
/* clang-format on */
DPC_API dpc_status dpc_set(dpc_session *s, const char *name, const char *value);

/* What there is to set, as a table: for help, completion and forms. Since
 * 0.2. */
typedef struct dpc_option {
    const char *name;     /* "error-budget" */
    const char *argument; /* "E|none"; NULL: a flag, "yes" or "no" */
    int repeats;          /* may be set more than once */
    int analyst;          /* 1: what is asked and paid; 0: the owner's */
    int program;          /* 1: an option of the program dpcount only */
    const char *commands; /* that take it: "quote,budget init", or "*" */
    const char *section;  /* of the manual: "RELEASE" */
    const char *since;    /* "0.1" */
    const char *help;     /* one line */
    const char *manual;   /* a paragraph */
} dpc_option;
/* The i-th option from 0. Returns 0, and leaves *out alone, beyond the last. */
DPC_API int dpc_option_at(size_t i, dpc_option *out);

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
DPC_API void dpc_set_progress(dpc_session *s, dpc_progress_fn fn, void *ctx);

/* --- errors: of the last failed call of the session ----------------------- */

DPC_API const char *dpc_error_code(const dpc_session *s); /* "unknown-name" */
DPC_API const char *dpc_error_message(const dpc_session *s);
DPC_API const char *dpc_error_detail(const dpc_session *s); /* may be "" */
DPC_API const char *dpc_error_hint(const dpc_session *s);   /* may be "" */
/* Byte offset in the query from 0, or -1. Since 0.1. */
DPC_API long dpc_error_position(const dpc_session *s);
/* File, line and column (from 1; 0 if there is none). Since 0.1. */
DPC_API const char *dpc_error_file(const dpc_session *s, long *line,
                                   long *column);
/* {"error": {...}}; belongs to the session until its next call. Since 0.1. */
DPC_API const char *dpc_error_json(dpc_session *s);

/* --- questions that open no data ------------------------------------------ */

/* Static analysis: global sensitivity, witness, advice. Since 0.1. */
DPC_API dpc_status dpc_analyze(dpc_session *s, const char *query,
                               dpc_result **out);
/* Mechanism, price and expected error before spending. Since 0.1. */
DPC_API dpc_status dpc_quote(dpc_session *s, const char *query,
                             dpc_result **out);
/* Every stage of the query in words, or as a graph (option dot). With option
 * owner: OWNER, includes private numbers. Since 0.1. */
DPC_API dpc_status dpc_explain(dpc_session *s, const char *query,
                               dpc_result **out);
/* A commented policy file from the catalogue of the source. Since 0.1. */
DPC_API dpc_status dpc_policy_init(dpc_session *s, dpc_result **out);

/* --- the release ---------------------------------------------------------- */

/*
 * One noisy answer, charged to the ledger before the noise is drawn.
 * DPC_BUDGET: nothing was charged or drawn. A failure whose reason depends
 * on private rows is one fixed error, and is charged. Since 0.1.
 */
DPC_API dpc_status dpc_release(dpc_session *s, const char *query,
                               dpc_result **out);
/* The answers of a release as decimal texts: one, or one for each group; for a
 * SELECT with several COUNTs those of the first, then of the second, ...
 * NULL beyond the last and for other results. Since 0.1. */
DPC_API size_t dpc_result_count(const dpc_result *r);
DPC_API const char *dpc_result_answer(const dpc_result *r, size_t i);
/* The key of the i-th answer of a GROUP BY as a JSON array: ["F", 1]. NULL
 * beyond the last and without GROUP BY. Since 0.1. */
DPC_API const char *dpc_result_key(const dpc_result *r, size_t i);

/* --- OWNER: private numbers ----------------------------------------------- */

/* The exact count. Since 0.1. */
DPC_API dpc_status dpc_count(dpc_session *s, const char *query,
                             dpc_result **out);
/* Every sensitivity measure on this instance. Since 0.1. */
DPC_API dpc_status dpc_sensitivity(dpc_session *s, const char *query,
                                   dpc_result **out);
/* Do the declared keys and dependencies hold? If not: DPC_SOURCE, and *out
 * tells what does not hold and which rows show it. Since 0.1. */
DPC_API dpc_status dpc_check(dpc_session *s, dpc_result **out);
/* Reads everything strictly, checks everything declared, and gives the content
 * a name in the ledger. Options version, out, accept-nulls. Since 0.2. */
DPC_API dpc_status dpc_seal(dpc_session *s, dpc_result **out);

/* --- the ledger ----------------------------------------------------------- */

/* Options ledger, epsilon, delta, composition. Since 0.1. */
DPC_API dpc_status dpc_budget_init(dpc_session *s, dpc_result **out);
/* Options ledger, dataset, analyst. Since 0.1. */
DPC_API dpc_status dpc_budget_show(dpc_session *s, dpc_result **out);
DPC_API dpc_status dpc_budget_history(dpc_session *s, dpc_result **out);
/* OWNER. Options ledger, dataset, analyst, epsilon, delta: adds. Since 0.1. */
DPC_API dpc_status dpc_budget_grant(dpc_session *s, dpc_result **out);
/* OWNER. Options ledger, dataset and those of the schema: from now on only
 * releases under this policy. Since 0.2. */
DPC_API dpc_status dpc_budget_bind(dpc_session *s, dpc_result **out);
/* OWNER. Ends a lock. Options ledger, dataset. Since 0.2. */
DPC_API dpc_status dpc_budget_unlock(dpc_session *s, dpc_result **out);
/* Options ledger, anchor, head. Since 0.2. */
DPC_API dpc_status dpc_budget_verify(dpc_session *s, dpc_result **out);
/* OWNER. Takes a copy, or a ledger of version 0.1. Since 0.2. */
DPC_API dpc_status dpc_budget_adopt(dpc_session *s, dpc_result **out);

/* --- results -------------------------------------------------------------- */

DPC_API const char *dpc_result_json(const dpc_result *r); /* one object */
DPC_API const char *dpc_result_text(const dpc_result *r);
DPC_API void dpc_result_free(dpc_result *r);

#ifdef __cplusplus
}
#endif
#endif
