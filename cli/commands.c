/* The commands: one table, from which parsing and help are made. The options
 * are the library's (dpc_option_at). */
#include "cli.h"

const struct command commands[] = {
    {"analyze", NULL, dpc_analyze, NULL, false,
     "static analysis of a query; reads no data",
     "Says how much one row can change the count, whatever the data: an upper\n"
     "bound, a lower bound with a pair of databases that shows it, and which\n"
     "constraint would help if there is no bound.\n\n"
     "  dpcount analyze --schema schema.sql --policy policy.yaml \\\n"
     "      \"SELECT COUNT(*) FROM pat JOIN patdoc ON patdoc.pat = pat.id\"\n"
     "  dpcount analyze --constraint 'E: 1 -> 2 <= 3' "
     "'Q(x,z) :- E(x,y), E(y,z).'"},
    {"quote", NULL, dpc_quote, NULL, false,
     "mechanism, price and expected error, before spending",
     "Says what a release would do and cost. Nothing private is opened and\n"
     "nothing is spent.\n\n"
     "  dpcount quote --policy policy.yaml --schema schema.sql --epsilon 0.5 "
     "QUERY"},
    {"release", NULL, dpc_release, NULL, false,
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
    {"count", NULL, dpc_count, NULL, true, "owner: the exact count",
     "The exact count, a private number: for the owner of the data only."},
    {"sensitivity", NULL, dpc_sensitivity, NULL, true,
     "owner: every sensitivity measure on this instance",
     "Residual, elastic, smooth and global sensitivity on these data, all of\n"
     "them private numbers: for the owner of the data only.\n\n"
     "  dpcount sensitivity --table 'E(s,t)=graph.txt' --beta 0.1 \\\n"
     "      'Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, b != c, a != c.'"},
    {"budget", "init", NULL, dpc_budget_init, false,
     "make a ledger with a budget",
     "  dpcount budget init --ledger FILE --epsilon 10 --delta 1e-6\n"
     "  dpcount budget init --ledger FILE --policy policy.yaml"},
    {"budget", "show", NULL, dpc_budget_show, false,
     "what is spent and what remains", "  dpcount budget show --ledger FILE"},
    {"budget", "history", NULL, dpc_budget_history, false,
     "every charge: query, price, answer, time",
     "  dpcount budget history --ledger FILE\n"
     "  dpcount budget history --ledger FILE --analyst ann"},
    {"budget", "grant", NULL, dpc_budget_grant, false,
     "owner: enlarge a budget, or cap an analyst",
     "  dpcount budget grant --ledger FILE --epsilon 5\n"
     "  dpcount budget grant --ledger FILE --analyst ann --epsilon 1\n"
     "  dpcount budget grant --ledger FILE --dataset trial2 --epsilon 3\n"
     "The first enlarges the budget of the data; the second lets ann spend 1\n"
     "(more) of it, and no more than that; the third makes a budget for other\n"
     "data in the same ledger, or enlarges it."},
    {"budget", "bind", NULL, dpc_budget_bind, false,
     "owner: from now on only this policy",
     "  dpcount budget bind --ledger FILE --db hospital.db --policy "
     "policy.yaml\n"
     "A release under another policy is then refused. Once something is spent\n"
     "the unit, the order, the kind of neighbours and what is private stay."},
    {"budget", "unlock", NULL, dpc_budget_unlock, false,
     "owner: release again after a failure",
     "  dpcount budget unlock --ledger FILE\n"
     "A release that fails after it was charged locks the data set, since\n"
     "failures can depend on private rows. Each unlock lets further failures\n"
     "tell a few bits; budget show has their sum."},
    {"budget", "verify", NULL, dpc_budget_verify, false,
     "is the ledger whole, and not an older state of itself?",
     "  dpcount budget verify --ledger FILE\n"
     "  dpcount budget verify --ledger FILE --head 12:5f0c...\n"
     "Checks the sums and the chain of events; with --head that the ledger\n"
     "passes through a head that was noted before."},
    {"budget", "adopt", NULL, dpc_budget_adopt, false,
     "owner: take a copy, or a ledger of version 0.1",
     "  dpcount budget adopt --ledger FILE\n"
     "A copy of a ledger is refused, since two would be two budgets. This\n"
     "takes it as the ledger, when the other one is gone. A ledger of version\n"
     "0.1 is brought to the present format; nothing that was spent is lost."},
    {"explain", NULL, dpc_explain, NULL, false,
     "every stage of the query, as text or --dot",
     "  dpcount explain --schema schema.sql QUERY\n"
     "  dpcount explain --dot QUERY | dot -Tsvg > query.svg\n"
     "With --owner and a source also the private numbers of this instance."},
    {"policy", "init", NULL, dpc_policy_init, false,
     "a commented policy file from the catalogue",
     "  dpcount policy init --db hospital.db > policy.yaml"},
    {"check", NULL, NULL, dpc_check, true,
     "owner: do the declared keys and dependencies hold?",
     "Lists every declared key, dependency and bound that the data break,\n"
     "with rows that show it. Exit status 5 if there is one."},
    {"seal", NULL, NULL, dpc_seal, true,
     "owner: check the data and give them a version",
     "Reads every table strictly, checks everything that is declared, and\n"
     "writes the content's fingerprint into the ledger under the name of\n"
     "--version. From then on releases from this source answer about that\n"
     "version, and refuse (stale) if the content is another. With --out the\n"
     "rows go into a file that nobody writes to again, for --db; a server is\n"
     "sealed only so.\n\n"
     "  dpcount seal --db clinic.db --policy policy.yaml --ledger c.ledger \\\n"
     "      --version 2024-06 --out clinic-2024-06.sealed"},
};
const size_t n_commands = sizeof commands / sizeof commands[0];
