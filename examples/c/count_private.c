/*
 * A private count in a dozen calls: quote, release, budget.
 *
 *   cc count_private.c $(pkg-config --cflags --libs dpcount) -o count_private
 *   ./count_private hospital.db new.ledger
 *
 * Without arguments it looks for hospital.db in the folder $DPC_EXAMPLES.
 */
#include <stdio.h>
#include <stdlib.h>

#include <dpcount.h>

static int fail(dpc_session *s)
{
    fprintf(stderr, "%s\n%s\n", dpc_error_message(s), dpc_error_hint(s));
    dpc_session_free(s);
    return 1;
}

int main(int argc, char **argv)
{
    const char *query = "SELECT COUNT(*) FROM pat WHERE sex = 'F'";
    const char *folder = getenv("DPC_EXAMPLES");
    const char *ledger = argc > 2 ? argv[2] : "count_private.ledger";
    char db[4096];
    dpc_session *s;
    dpc_result *r;
    snprintf(db, sizeof db, "%s%s",
             argc > 1 ? argv[1]
             : folder ? folder
                      : ".",
             argc > 1 ? "" : "/hospital.db");
    if (dpc_session_new(&s))
        return 1;

    /* The owner makes a budget, once. */
    dpc_set(s, "ledger", ledger);
    dpc_set(s, "epsilon", "2");
    if (dpc_budget_init(s, &r))
        return fail(s);
    dpc_result_free(r);

    /* The analyst asks what it would cost, and then pays. Tables that nobody
     * declares public are private. */
    dpc_set(s, "db", db);
    dpc_set(s, "public", "hos");
    dpc_set(s, "epsilon", "0.5");
    if (dpc_quote(s, query, &r))
        return fail(s);
    printf("%s\n", dpc_result_text(r));
    dpc_result_free(r);

    if (dpc_release(s, query, &r))
        return fail(s);
    printf("about %s women\n\n", dpc_result_answer(r, 0));
    dpc_result_free(r);

    if (dpc_budget_show(s, &r))
        return fail(s);
    printf("%s", dpc_result_text(r));
    dpc_result_free(r);
    dpc_session_free(s);
    return 0;
}
