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

static void complain(dpc_session *s, const char *query)
{
    long at = dpc_error_position(s);
    printf("  %s: %s\n", dpc_error_code(s), dpc_error_message(s));
    if (at >= 0)
        printf("  at: %.30s\n", query + at);
    if (dpc_error_hint(s)[0])
        printf("  %s\n", dpc_error_hint(s));
}

static void ask(dpc_session *s, const char *query)
{
    dpc_result *r;
    printf("%s\n", query);
    if (dpc_analyze(s, query, &r) == DPC_OK)
        printf("%s\n", dpc_result_text(r));
    else
        complain(s, query);
    dpc_result_free(r);
}

int main(int argc, char **argv)
{
    static const char *const own[] = {
        "Q(x, y) :- friend(x, y), friend(y, x).",
        "Q(x, z) :- friend(x, y), friend(y, z).",
        "Q(x) :- friend(x, ",
    };
    time_t start = time(NULL);
    dpc_session *s;
    int i;
    if (dpc_session_new(&s))
        return 1;
    dpc_set_progress(s, still_time, &start);
    if (argc > 1)
        dpc_set(s, "schema", argv[1]);
    for (i = 2; i < argc; i++)
        ask(s, argv[i]);
    for (i = 0; argc < 3 && i < 3; i++)
        ask(s, own[i]);
    dpc_session_free(s);
    return 0;
}
