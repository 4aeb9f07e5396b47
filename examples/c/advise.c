/*
 * Before any data exist: how sensitive are these queries, and what would have
 * to be declared to bound them? Shows errors and cancelling, too.
 *
 *   cc advise.c $(pkg-config --cflags --libs dpcount) -o advise
 *   ./advise schema.sql "SELECT COUNT(*) FROM ..." ...
 *
 * Without arguments it asks about friends in a graph.
 */
#include <stdio.h>
#include <time.h>

#include <dpcount.h>

/* Gives up on a query after ten seconds. */
static int still_time(void *ctx, const char *what, unsigned long long done,
                      unsigned long long total)
{
    const time_t *start = ctx;
    (void)what, (void)done, (void)total;
    return time(NULL) - *start < 10;
}

static void complain(const dpc_error *e, const char *query)
{
    long at = dpc_error_position(e);
    printf("  %s: %s\n", dpc_error_code(e), dpc_error_message(e));
    if (at >= 0)
        printf("  at: %.30s\n", query + at);
    if (dpc_error_hint(e)[0])
        printf("  %s\n", dpc_error_hint(e));
}

static void ask(const dpc_dataset *d, const char *query, time_t *start)
{
    dpc_question *q = NULL;
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    printf("%s\n", query);
    if (dpc_question_new(query, &q))
        return;
    dpc_question_progress(q, still_time, start);
    if (dpc_analyze(d, q, &r, &e) == DPC_OK)
        printf("%s\n", dpc_result_text(r));
    else
        complain(e, query);
    dpc_error_free(e);
    dpc_result_free(r);
    dpc_question_free(q);
}

int main(int argc, char **argv)
{
    static const char *const own[] = {
        "Q(x, y) :- friend(x, y), friend(y, x).",
        "Q(x, z) :- friend(x, y), friend(y, z).",
        "Q(x) :- friend(x, ",
    };
    time_t start = time(NULL);
    dpc_dataset *d;
    dpc_error *e = NULL;
    int i;
    if (dpc_dataset_new(&d))
        return 1;
    if ((argc > 1 && dpc_dataset_set(d, "schema", argv[1], &e)) ||
        dpc_dataset_open(d, 0, &e)) {
        complain(e, "");
        return 1;
    }
    for (i = 2; i < argc; i++)
        ask(d, argv[i], &start);
    for (i = 0; argc < 3 && i < 3; i++)
        ask(d, own[i], &start);
    dpc_dataset_free(d);
    return 0;
}
