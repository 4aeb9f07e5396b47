/* The commands and options: one table each, from which parsing and help are
 * made. */
#include "cli.h"

#define ANY_BUDGET                                                             \
    (C_BUDGET_INIT | C_BUDGET_SHOW | C_BUDGET_HISTORY | C_BUDGET_GRANT)
#define BOOKED (C_BUDGET_SHOW | C_BUDGET_HISTORY | C_BUDGET_GRANT)
#define ASKS                                                                   \
    (C_ANALYZE | C_QUOTE | C_SENSITIVITY | C_COUNT | C_RELEASE | C_EXPLAIN)
#define SCHEMA (ASKS | C_CHECK | C_POLICY)
#define SOURCE (ASKS | C_CHECK | C_POLICY)
#define PRICED (C_QUOTE | C_RELEASE | C_EXPLAIN)

const struct command commands[] = {
    {"analyze", NULL, C_ANALYZE, dpc_analyze, NULL, false,
     "static analysis of a query; reads no data",
     "Says how much one row can change the count, whatever the data: an upper\n"
     "bound, a lower bound with a pair of databases that shows it, and which\n"
     "constraint would help if there is no bound.\n\n"
     "  dpcount analyze --schema schema.sql --policy policy.yaml \\\n"
     "      \"SELECT COUNT(*) FROM pat JOIN patdoc ON patdoc.pat = pat.id\"\n"
     "  dpcount analyze --constraint 'E: 1 -> 2 <= 3' "
     "'Q(x,z) :- E(x,y), E(y,z).'"},
    {"quote", NULL, C_QUOTE, dpc_quote, NULL, false,
     "mechanism, price and expected error, before spending",
     "Says what a release would do and cost. Nothing private is opened and\n"
     "nothing is spent.\n\n"
     "  dpcount quote --policy policy.yaml --schema schema.sql --epsilon 0.5 "
     "QUERY"},
    {"release", NULL, C_RELEASE, dpc_release, NULL, false,
     "one noisy answer, charged to the ledger",
     "Charges the ledger, counts, adds noise, answers. The charge is on the\n"
     "disk before the noise is drawn. The same question asked again gets the\n"
     "stored answer for free unless --fresh is given.\n\n"
     "  dpcount budget init --ledger h.ledger --epsilon 10\n"
     "  dpcount release --db hospital.db --policy policy.yaml \\\n"
     "      --ledger h.ledger --epsilon 0.5 \"SELECT COUNT(*) FROM pat\"\n\n"
     "GROUP BY answers for every key, named with --groups or listed in a\n"
     "public table. Keys that come from private rows need a --delta: then\n"
     "those whose noisy count reaches a public threshold are shown, and the\n"
     "rare ones, which could name somebody, stay hidden."},
    {"count", NULL, C_COUNT, dpc_count, NULL, true, "owner: the exact count",
     "The exact count, a private number: for the owner of the data only."},
    {"sensitivity", NULL, C_SENSITIVITY, dpc_sensitivity, NULL, true,
     "owner: every sensitivity measure on this instance",
     "Residual, elastic, smooth and global sensitivity on these data, all of\n"
     "them private numbers: for the owner of the data only.\n\n"
     "  dpcount sensitivity --table 'E(s,t)=graph.txt' --beta 0.1 \\\n"
     "      'Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, b != c, a != c.'"},
    {"budget", "init", C_BUDGET_INIT, NULL, dpc_budget_init, false,
     "make a ledger with a budget",
     "  dpcount budget init --ledger FILE --epsilon 10 --delta 1e-6\n"
     "  dpcount budget init --ledger FILE --policy policy.yaml"},
    {"budget", "show", C_BUDGET_SHOW, NULL, dpc_budget_show, false,
     "what is spent and what remains", "  dpcount budget show --ledger FILE"},
    {"budget", "history", C_BUDGET_HISTORY, NULL, dpc_budget_history, false,
     "every charge: query, price, answer, time",
     "  dpcount budget history --ledger FILE\n"
     "  dpcount budget history --ledger FILE --analyst ann"},
    {"budget", "grant", C_BUDGET_GRANT, NULL, dpc_budget_grant, false,
     "owner: enlarge a budget, or cap an analyst",
     "  dpcount budget grant --ledger FILE --epsilon 5\n"
     "  dpcount budget grant --ledger FILE --analyst ann --epsilon 1\n"
     "  dpcount budget grant --ledger FILE --dataset trial2 --epsilon 3\n"
     "The first enlarges the budget of the data; the second lets ann spend 1\n"
     "(more) of it, and no more than that; the third makes a budget for other\n"
     "data in the same ledger, or enlarges it."},
    {"explain", NULL, C_EXPLAIN, dpc_explain, NULL, false,
     "every stage of the query, as text or --dot",
     "  dpcount explain --schema schema.sql QUERY\n"
     "  dpcount explain --dot QUERY | dot -Tsvg > query.svg\n"
     "With --owner and a source also the private numbers of this instance."},
    {"policy", "init", C_POLICY, NULL, dpc_policy_init, false,
     "a commented policy file from the catalogue",
     "  dpcount policy init --db hospital.db > policy.yaml"},
    {"check", NULL, C_CHECK, NULL, dpc_check, true,
     "owner: do the declared keys and dependencies hold?",
     "Lists every declared key, dependency and bound that the data break,\n"
     "with rows that show it. Exit status 5 if there is one."},
};
const size_t n_commands = sizeof commands / sizeof commands[0];

const struct option options[] = {
    {"schema", "FILE.sql", SCHEMA | C_BUDGET_INIT, "CREATE TABLE statements"},
    {"policy", "FILE.yaml", SCHEMA | C_BUDGET_INIT,
     "what is private, dependencies, neighbours, budget"},
    {"private", "T[,T...]", SCHEMA,
     "these tables are private (as is every table not declared public)"},
    {"public", "T[,T...]", SCHEMA, "these tables are public"},
    {"constraint", "TEXT", SCHEMA,
     "'R: a -> b <= 3', 'R: (a, b) -> *', '|R| <= 1000'; may repeat"},
    {"neighbours", "KIND", SCHEMA, "add-drop-one (default) or change-one"},
    {"order", "K", SCHEMA, "neighbours differ in at most K rows"},
    {"db", "SOURCE", SOURCE | C_BUDGET_INIT,
     "FILE.db, sqlite:FILE, folder of CSV files, postgresql://..."},
    {"table", "'t(a,b)=FILE'", SOURCE, "a delimited file; may repeat"},
    {"groups", "KEYS", ASKS,
     "keys of GROUP BY: 'F,M' or 'sex=F,M'; may repeat"},
    {"param", "VALUE", ASKS, "value of $1, $2, ... in order; may repeat"},
    {"epsilon", "E", PRICED | C_BUDGET_INIT | C_BUDGET_GRANT,
     "the price in privacy: 1 is common, 0.1 is strict"},
    {"delta", "D", PRICED | C_BUDGET_INIT | C_BUDGET_GRANT,
     "probability with which the guarantee may fail; default 0"},
    {"rho", "R", PRICED, "price as zero-concentrated privacy, not epsilon"},
    {"mechanism", "NAME", PRICED, "instead of the one the program chooses"},
    {"beta", "B", PRICED | C_SENSITIVITY,
     "smoothness of the residual sensitivity"},
    {"filters", "KIND", PRICED | C_SENSITIVITY,
     "comparisons between tables in a residual: inside (default) or exact"},
    {"error-budget", "E|none", PRICED,
     "part of epsilon for an error estimate (smooth noise; default a tenth)"},
    {"ledger", "FILE", C_RELEASE | ANY_BUDGET, "the privacy budget"},
    {"dataset", "NAME", C_RELEASE | BOOKED, "which budget in the ledger"},
    {"analyst", "NAME", C_RELEASE | BOOKED, "who asks"},
    {"composition", "KIND", C_BUDGET_INIT, "sum (default) or zcdp"},
    {"fresh", NULL, C_RELEASE,
     "pay for a new answer to a question asked "
     "before"},
    {"deadline", "SECONDS", C_RELEASE,
     "answer then, not earlier, so that the time says nothing"},
    {"owner-log", "FILE", C_RELEASE,
     "where reasons of failures go that only the owner may see"},
    {"engine", "NAME", C_SENSITIVITY | C_COUNT | C_RELEASE,
     "embedded (default), sql: the PostgreSQL server counts, or auto"},
    {"threads", "N", C_SENSITIVITY | C_COUNT | C_RELEASE | C_CHECK | C_EXPLAIN,
     "threads for counting"},
    {"memory", "SIZE",
     C_SENSITIVITY | C_COUNT | C_RELEASE | C_CHECK | C_EXPLAIN,
     "limit on memory: 512M, 4G"},
    {"owner", NULL, C_EXPLAIN, "also the private numbers of this instance"},
    {"dot", NULL, C_EXPLAIN | C_ANALYZE, "a picture of the query for Graphviz"},
    {"witness-size", "N", C_ANALYZE,
     "where a row can change the count without limit: show a change by N"},
    {"query-file", "FILE", ASKS,
     "read the query from a file; - is standard "
     "input"},
    {"format", "text|json", ~0u,
     "output; JSON is one object, errors "
     "included"},
    {"help", NULL, ~0u, "this text"},
};
const size_t n_options = sizeof options / sizeof options[0];
_Static_assert(sizeof options / sizeof options[0] <= 64, "see one_option");
