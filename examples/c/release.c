/*
 * Two private answers from a SQLite file, paid from a ledger, and what is
 * left of the budget.
 *
 *     cc release.c $(pkg-config --cflags --libs dpcount) -o release
 *     ./release hospital.db new.ledger
 *
 * Without arguments the example database is taken from the folder that
 * DPC_EXAMPLES names, and the ledger is made in the current folder. The ledger
 * must be new: it belongs to the data for as long as they live, and a program
 * that makes one for each run protects nobody. Here the people are invented.
 */
#include <stdio.h>
#include <stdlib.h>
#include <dpcount.h>

static int complain(dpc_session *s)
{
    fprintf(stderr, "%s: %s\n", dpc_error_code(s), dpc_error_message(s));
    if (*dpc_error_hint(s))
        fprintf(stderr, "hint: %s\n", dpc_error_hint(s));
    return 0;
}

/* Each call takes the options that are set and leaves a result to free. */
static int open_budget(dpc_session *s, const char *ledger)
{
    dpc_result *r = NULL;
    int ok = dpc_set(s, "ledger", ledger) == DPC_OK &&
             dpc_set(s, "epsilon", "2") == DPC_OK &&
             dpc_budget_init(s, &r) == DPC_OK;
    dpc_result_free(r);
    return ok || complain(s);
}

static int ask(dpc_session *s, const char *epsilon, const char *query)
{
    dpc_result *r = NULL;
    int ok = dpc_set(s, "epsilon", epsilon) == DPC_OK &&
             dpc_release(s, query, &r) == DPC_OK;
    if (ok)
        printf("about %s: %s\n", dpc_result_answer(r, 0), query);
    dpc_result_free(r);
    return ok || complain(s);
}

static int show_budget(dpc_session *s)
{
    dpc_result *r = NULL;
    int ok = dpc_budget_show(s, &r) == DPC_OK;
    if (ok)
        printf("%s\n", dpc_result_json(r));
    dpc_result_free(r);
    return ok || complain(s);
}

int main(int argc, char **argv)
{
    char db[4096];
    const char *folder = getenv("DPC_EXAMPLES");
    const char *ledger = argc > 2 ? argv[2] : "example.ledger";
    dpc_session *s = NULL;

    if (argc > 1)
        snprintf(db, sizeof db, "%s", argv[1]);
    else
        snprintf(db, sizeof db, "%s/hospital.db", folder ? folder : ".");
    if (dpc_session_new(&s) != DPC_OK) {
        fputs("out of memory\n", stderr);
        return 1;
    }
    int ok = (dpc_set(s, "db", db) == DPC_OK &&
              dpc_set(s, "public", "hos") == DPC_OK &&
              dpc_set(s, "constraint", "patdoc: pat -> doc <= 3") == DPC_OK) ||
             complain(s);
    ok = ok && open_budget(s, ledger) &&
         ask(s, "0.5", "SELECT COUNT(*) FROM pat WHERE sex = 'F'") &&
         ask(s, "1",
             "SELECT COUNT(DISTINCT doc.id) FROM pat, doc, patdoc "
             "WHERE doc.specialty = 'O' AND patdoc.pat = pat.id "
             "AND patdoc.doc = doc.id") &&
         show_budget(s);
    dpc_session_free(s);
    return ok ? 0 : 1;
}
