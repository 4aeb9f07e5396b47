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

static int fail(const dpc_error *e)
{
    fprintf(stderr, "%s\n%s\n", dpc_error_message(e), dpc_error_hint(e));
    return 1;
}

/* The owner says where the rows are and what is public, and makes a budget,
 * once. Tables that nobody declares public are private. */
static int open_hospital(const char *db, const char *ledger, dpc_dataset **d,
                         dpc_error **e)
{
    dpc_result *r = NULL;
    int bad = dpc_dataset_new(d) || dpc_dataset_set(*d, "db", db, e) ||
              dpc_dataset_set(*d, "public", "hos", e) ||
              dpc_dataset_set(*d, "ledger", ledger, e) ||
              dpc_budget_init(*d, "2", NULL, &r, e) ||
              dpc_dataset_open(*d, 0, e);
    dpc_result_free(r);
    return bad;
}

/* The analyst asks what it would cost, and then pays. */
static int ask(const dpc_dataset *d, dpc_question *q, dpc_error **e)
{
    dpc_result *r = NULL;
    if (dpc_question_set(q, "epsilon", "0.5", e) || dpc_quote(d, q, &r, e))
        return 1;
    printf("%s\n", dpc_result_text(r));
    dpc_result_free(r);
    if (dpc_release(d, q, NULL, &r, e))
        return 1;
    printf("about %s women, for epsilon %s\n\n", dpc_result_cell(r, 0, 0),
           dpc_result_price(r, "epsilon"));
    dpc_result_free(r);
    if (dpc_budget_show(d, NULL, &r, e))
        return 1;
    printf("%s", dpc_result_text(r));
    dpc_result_free(r);
    return 0;
}

int main(int argc, char **argv)
{
    const char *folder = getenv("DPC_EXAMPLES");
    const char *ledger = argc > 2 ? argv[2] : "count_private.ledger";
    char db[4096];
    dpc_dataset *d = NULL;
    dpc_question *q = NULL;
    dpc_error *e = NULL;
    snprintf(db, sizeof db, "%s%s",
             argc > 1 ? argv[1]
             : folder ? folder
                      : ".",
             argc > 1 ? "" : "/hospital.db");
    int bad =
        open_hospital(db, ledger, &d, &e) ||
        dpc_question_new("SELECT COUNT(*) FROM pat WHERE sex = 'F'", &q) ||
        ask(d, q, &e);
    if (bad)
        bad = fail(e);
    dpc_error_free(e);
    dpc_question_free(q);
    dpc_dataset_free(d);
    return bad;
}
