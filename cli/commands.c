/* The commands: one table, from which parsing and help are made. The options
 * are the library's (dpc_option_at). */
#include "cli.h"

#define QUESTION(name)                                                         \
    static dpc_status name(const struct invocation *inv, dpc_result **out,     \
                           dpc_error **err)                                    \
    {                                                                          \
        return dpc_##name(inv->dataset, inv->asked, out, err);                 \
    }
#define COMMAND(name)                                                          \
    static dpc_status name(const struct invocation *inv, dpc_result **out,     \
                           dpc_error **err)                                    \
    {                                                                          \
        return dpc_##name(inv->dataset, out, err);                             \
    }
#define ACCOUNT(name)                                                          \
    static dpc_status name(const struct invocation *inv, dpc_result **out,     \
                           dpc_error **err)                                    \
    {                                                                          \
        return dpc_##name(inv->dataset, setting_of(inv, "analyst"), out, err); \
    }

QUESTION(analyze)
QUESTION(quote)
QUESTION(explain)
QUESTION(count)
QUESTION(sensitivity)
COMMAND(check)
COMMAND(seal)
COMMAND(calibrate)
COMMAND(policy_init)
COMMAND(policy_suggest)
COMMAND(budget_bind)
COMMAND(budget_unlock)
COMMAND(budget_verify)
COMMAND(budget_adopt)
ACCOUNT(budget_show)
ACCOUNT(budget_history)

static dpc_status release(const struct invocation *inv, dpc_result **out,
                          dpc_error **err)
{
    return dpc_release(inv->dataset, inv->asked, setting_of(inv, "analyst"),
                       out, err);
}

static dpc_status budget_init(const struct invocation *inv, dpc_result **out,
                              dpc_error **err)
{
    return dpc_budget_init(inv->dataset, setting_of(inv, "epsilon"),
                           setting_of(inv, "delta"), out, err);
}

static dpc_status budget_grant(const struct invocation *inv, dpc_result **out,
                               dpc_error **err)
{
    return dpc_budget_grant(inv->dataset, setting_of(inv, "analyst"),
                            setting_of(inv, "epsilon"),
                            setting_of(inv, "delta"), out, err);
}

const struct command commands[] = {
    {"analyze", NULL, true, analyze, false, false,
     "static analysis of a query; reads no data",
     "Says how much one row can change the count, whatever the data: an upper\n"
     "bound, a lower bound with a pair of databases that shows it, and which\n"
     "constraint would help if there is no bound.\n\n"
     "  dpcount analyze --schema schema.sql --policy policy.yaml \\\n"
     "      \"SELECT COUNT(*) FROM pat JOIN patdoc ON patdoc.pat = pat.id\"\n"
     "  dpcount analyze --constraint 'E: 1 -> 2 <= 3' "
     "'Q(x,z) :- E(x,y), E(y,z).'"},
    {"quote", NULL, true, quote, false, false,
     "mechanism, price and expected error, before spending",
     "Says what a release would do and cost. Nothing private is opened and\n"
     "nothing is spent.\n\n"
     "  dpcount quote --policy policy.yaml --schema schema.sql --epsilon 0.5 "
     "QUERY"},
    {"release", NULL, true, release, false, false,
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
    {"shell", NULL, false, NULL, false, false,
     "ask one question after the other",
     "Statements over several lines, ended by a semicolon; editing, history,\n"
     "\\d, \\budget, \\quote, \\timing, \\o FILE; \\? lists them. Every "
     "statement\n"
     "is a release; EXPLAIN SELECT ... is its quote.\n\n"
     "  dpcount shell --db hospital.db --policy policy.yaml \\\n"
     "      --ledger h.ledger --epsilon 0.5"},
    {"run", NULL, false, NULL, false, false, "ask the statements of a file",
     "As the shell, from a file; - is standard input. An error stops it,\n"
     "unless --keep-going is given; the exit status is that of the last "
     "one.\n\n"
     "  dpcount run --db hospital.db --policy policy.yaml \\\n"
     "      --ledger h.ledger --epsilon 0.5 --format csv questions.sql"},
    {"ask", NULL, true, release, false, true,
     "a release within what the owner's file allows",
     "Like release, for somebody who is not the owner: takes what a question\n"
     "may say, and everything else from the owner's configuration file. The\n"
     "data must be sealed.\n\n"
     "  dpcount --config clinic.yaml ask --epsilon 0.5 \"SELECT COUNT(*) FROM "
     "pat\""},
    {"count", NULL, true, count, true, false, "owner: the exact count",
     "The exact count, a private number: for the owner of the data only."},
    {"sensitivity", NULL, true, sensitivity, true, false,
     "owner: every sensitivity measure on this instance",
     "Residual, elastic, smooth and global sensitivity on these data, all of\n"
     "them private numbers: for the owner of the data only.\n\n"
     "  dpcount sensitivity --table 'E(s,t)=graph.txt' --beta 0.1 \\\n"
     "      'Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, b != c, a != c.'"},
    {"budget", "init", false, budget_init, false, false,
     "make a ledger with a budget",
     "  dpcount budget init --ledger FILE --epsilon 10 --delta 1e-6\n"
     "  dpcount budget init --ledger FILE --policy policy.yaml"},
    {"budget", "show", false, budget_show, false, false,
     "what is spent and what remains", "  dpcount budget show --ledger FILE"},
    {"budget", "history", false, budget_history, false, false,
     "every charge: query, price, answer, time",
     "  dpcount budget history --ledger FILE\n"
     "  dpcount budget history --ledger FILE --analyst ann"},
    {"budget", "grant", false, budget_grant, false, false,
     "owner: enlarge a budget, or cap an analyst",
     "  dpcount budget grant --ledger FILE --epsilon 5\n"
     "  dpcount budget grant --ledger FILE --analyst ann --epsilon 1\n"
     "  dpcount budget grant --ledger FILE --dataset trial2 --epsilon 3\n"
     "The first enlarges the budget of the data; the second lets ann spend 1\n"
     "(more) of it, and no more than that; the third makes a budget for other\n"
     "data in the same ledger, or enlarges it."},
    {"budget", "bind", false, budget_bind, false, false,
     "owner: from now on only this policy",
     "  dpcount budget bind --ledger FILE --db hospital.db --policy "
     "policy.yaml\n"
     "A release under another policy is then refused. Once something is spent\n"
     "the unit, the order, the kind of neighbours and what is private stay."},
    {"budget", "unlock", false, budget_unlock, false, false,
     "owner: release again after a failure",
     "  dpcount budget unlock --ledger FILE\n"
     "A release that fails after it was charged locks the data set, since\n"
     "failures can depend on private rows. Each unlock lets further failures\n"
     "tell a few bits; budget show has their sum."},
    {"budget", "verify", false, budget_verify, false, false,
     "is the ledger whole, and not an older state of itself?",
     "  dpcount budget verify --ledger FILE\n"
     "  dpcount budget verify --ledger FILE --head 12:5f0c...\n"
     "Checks the sums and the chain of events; with --head that the ledger\n"
     "passes through a head that was noted before."},
    {"budget", "adopt", false, budget_adopt, false, false,
     "owner: take a copy, or a ledger of version 0.1",
     "  dpcount budget adopt --ledger FILE\n"
     "A copy of a ledger is refused, since two would be two budgets. This\n"
     "takes it as the ledger, when the other one is gone. A ledger of version\n"
     "0.1 is brought to the present format; nothing that was spent is lost."},
    {"explain", NULL, true, explain, false, false,
     "every stage of the query, as text or --dot",
     "  dpcount explain --schema schema.sql QUERY\n"
     "  dpcount explain --dot QUERY | dot -Tsvg > query.svg\n"
     "With --owner and a source also the private numbers of this instance."},
    {"policy", "init", false, policy_init, false, false,
     "a commented policy file from the catalogue",
     "  dpcount policy init --db hospital.db > policy.yaml"},
    {"policy", "suggest", false, policy_suggest, true, false,
     "owner: what could be declared, and what it is worth",
     "Measures on the data: how many rows refer to one (with some room), "
     "small\n"
     "tables that look like lists of codes, types of columns that have none "
     "and\n"
     "how many cells break them. For a file of typical queries, one in each\n"
     "line, the error before and after each suggestion.\n\n"
     "  dpcount policy suggest --db hospital.db --policy policy.yaml \\\n"
     "      --queries typical.sql"},
    {"check", NULL, false, check, true, false,
     "owner: do the declared keys and dependencies hold?",
     "Lists every declared key, dependency and bound that the data break,\n"
     "with rows that show it. Exit status 5 if there is one."},
    {"serve", NULL, false, NULL, false, false,
     "analysts ask with their own tools, over PostgreSQL's protocol",
     "  dpcount serve --config /etc/dpcount/serve.yaml --check-config\n"
     "  dpcount serve --config /etc/dpcount/serve.yaml\n"
     "The first says in words what the configuration means; the second serves\n"
     "until it is told to end (SIGTERM); SIGHUP reads the configuration anew.\n"
     "docs/deploy.md leads from the package to the first analyst."},
    {"passwd", NULL, true, NULL, false, false,
     "owner: a password for an analyst of the service",
     "  dpcount passwd NAME\n"
     "  dpcount passwd NAME --config /etc/dpcount/serve.yaml\n"
     "Reads a password from the terminal (or standard input). The first "
     "prints\n"
     "the verifier that stands in the configuration in its place; the second\n"
     "stores it for the service."},
    {"seal", NULL, false, seal, true, false,
     "owner: check the data and give them a version",
     "Reads every table strictly, checks everything that is declared, and\n"
     "writes the content's fingerprint into the ledger under the name of\n"
     "--version. From then on releases from this source answer about that\n"
     "version, and refuse (stale) if the content is another. With --out the\n"
     "rows go into a file that nobody writes to again, for --db; a server is\n"
     "sealed only so.\n\n"
     "  dpcount seal --db clinic.db --policy policy.yaml --ledger c.ledger \\\n"
     "      --version 2024-06 --out clinic-2024-06.sealed"},
    {"calibrate", NULL, false, calibrate, false, false,
     "owner: what work_at_most fits respond_after on this machine",
     "Counts made-up graphs for a few seconds and tells how many steps of\n"
     "strict mode this machine does in the time of --respond-after.\n\n"
     "  dpcount calibrate --respond-after 60"},
};
const size_t n_commands = sizeof commands / sizeof commands[0];
