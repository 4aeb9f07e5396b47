/*
 * How much can one row change a count? Answered from the query and promises
 * about the data alone; no data are opened.
 *
 *     cc analyze.c $(pkg-config --cflags --libs dpcount) -o analyze
 *     ./analyze 'Q(d) :- Doc(d, h), Pat(p, h), PatDoc(p, d).' \
 *               'PatDoc: 1 -> 2 <= 3'
 *
 * Prints the JSON object that `dpcount analyze --format json` prints. Without
 * arguments it analyses the query above.
 */
#include <stdio.h>
#include <dpcount.h>

static int complain(dpc_session *s)
{
    fprintf(stderr, "%s\n", dpc_error_message(s));
    if (*dpc_error_hint(s))
        fprintf(stderr, "hint: %s\n", dpc_error_hint(s));
    return 1;
}

int main(int argc, char **argv)
{
    const char *query = "Q(d) :- Doc(d, h), Pat(p, h), PatDoc(p, d).";
    const char *promise = "PatDoc: 1 -> 2 <= 3";
    dpc_session *s = NULL;
    dpc_result *r = NULL;
    int failed = 0;

    if (argc > 1)
        query = argv[1];
    if (dpc_session_new(&s) != DPC_OK) {
        fputs("out of memory\n", stderr);
        return 1;
    }
    if (argc == 1)
        failed = dpc_set(s, "constraint", promise) != DPC_OK;
    for (int i = 2; !failed && i < argc; i++)
        failed = dpc_set(s, "constraint", argv[i]) != DPC_OK;
    if (failed || dpc_analyze(s, query, &r) != DPC_OK)
        failed = complain(s);
    else
        puts(dpc_result_json(r));
    dpc_result_free(r);
    dpc_session_free(s);
    return failed;
}
