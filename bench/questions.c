/*
 * Five different questions over one open data set of 400,000 visits: the first
 * finds nothing loaded (and the content new, so that it is checked), the others
 * find the rows in the engine. Prints the processor time of each, of all
 * processes that took part, as the kernel accounts for ended ones. In a folder
 * in memory (/dev/shm) syncing takes none of it.
 *
 *   bench-questions FOLDER [narrow]      writes the data there
 *
 * narrow: four columns of small numbers, which load as fast as anything can.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dpcount.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int ask(const dpc_dataset *d, const char *sql)
{
    dpc_question *q = NULL;
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    int bad = dpc_question_new(sql, &q) ||
              dpc_question_set(q, "epsilon", "1", &e) ||
              dpc_question_set(q, "fresh", "yes", &e) ||
              dpc_release(d, q, NULL, &r, &e);
    if (bad)
        fprintf(stderr, "%s: %s\n", sql, dpc_error_message(e));
    dpc_error_free(e);
    dpc_result_free(r);
    dpc_question_free(q);
    return bad;
}

enum { ROUNDS = 10, TIMES = 5, ROWS = 400000 };

static unsigned next(unsigned *x, unsigned n)
{
    *x = *x * 1664525 + 1013904223;
    return (*x >> 8) % n;
}

static void write_wide(FILE *f)
{
    unsigned x = 1;
    fprintf(f, "id,a,b,c,ward,admitted,left_at,cost,diagnosis,note\n");
    for (int i = 0; i < ROWS; i++) {
        unsigned day = next(&x, 28) + 1, month = next(&x, 12) + 1;
        fprintf(f, "%d,%u,%u,%u", i, next(&x, 1000), next(&x, 20),
                next(&x, 1000));
        fprintf(f, ",ward %u,2023-%02u-%02u,2024-%02u-%02u 12:%02u:00",
                next(&x, 40), month, day, month, day, next(&x, 60));
        fprintf(f, ",%u.%02u,%c%02u.%u,\"seen by %u, again in %u days\"\n",
                next(&x, 90000), next(&x, 100), 'A' + (int)next(&x, 26),
                next(&x, 100), next(&x, 10), next(&x, 5000), next(&x, 400));
    }
}

static void write_narrow(FILE *f)
{
    unsigned x = 1;
    fprintf(f, "id,a,b,c\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%d,%u,%u,%u\n", i, next(&x, 1000), next(&x, 20),
                next(&x, 1000));
}

static int write_files(const char *folder, int narrow)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/schema.sql", folder);
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    fprintf(f, "CREATE TABLE t(id int PRIMARY KEY, a int, b int, c int%s);\n",
            narrow ? ""
                   : ", ward text, admitted date, left_at timestamp, cost "
                     "numeric, diagnosis text, note text");
    fclose(f);
    snprintf(path, sizeof path, "%s/t.csv", folder);
    if (!(f = fopen(path, "w")))
        return 1;
    (narrow ? write_narrow : write_wide)(f);
    return fclose(f);
}

static int open_dataset(const char *folder, dpc_dataset **d)
{
    char table[4096], schema[4096], ledger[4096];
    dpc_result *r = NULL;
    snprintf(table, sizeof table, "t=%s/t.csv", folder);
    snprintf(schema, sizeof schema, "%s/schema.sql", folder);
    snprintf(ledger, sizeof ledger, "%s/ledger%d", folder, (int)getpid());
    int bad = dpc_dataset_new(d) ||
              dpc_dataset_set(*d, "ledger", ledger, NULL) ||
              dpc_dataset_set(*d, "schema", schema, NULL) ||
              dpc_dataset_set(*d, "table", table, NULL) ||
              dpc_budget_init(*d, "1000", NULL, &r, NULL) ||
              dpc_dataset_open(*d, 0, NULL);
    dpc_result_free(r);
    return bad;
}

static const char *const numbers[] = {
    "SELECT COUNT(*) FROM t WHERE a < 500 AND b > 3 AND c < 900",
    "SELECT COUNT(*) FROM t WHERE a BETWEEN 100 AND 200",
    "SELECT COUNT(*) FROM t WHERE b = 5 AND c > 50",
    "SELECT COUNT(*) FROM t WHERE a = 7",
    "SELECT COUNT(*) FROM t WHERE c IN (1, 2, 3)",
};
static const char *const visits[] = {
    "SELECT COUNT(*) FROM t WHERE ward = 'ward 3' AND a > 60 AND admitted "
    "< '2023-07-01' AND diagnosis LIKE 'C%' AND cost > 1000",
    "SELECT COUNT(*) FROM t WHERE ward = 'ward 5'",
    "SELECT COUNT(*) FROM t WHERE a = 50 AND diagnosis = 'C10.1'",
    "SELECT COUNT(*) FROM t WHERE admitted = '2023-02-01'",
    "SELECT COUNT(*) FROM t WHERE ward IN ('ward 1', 'ward 2')",
};

/* Opens the data set, asks the first question and the others `rounds` times;
 * -1: none at all. */
static int session(const char *folder, const char *const *sql, int rounds)
{
    dpc_dataset *d = NULL;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    int bad = open_dataset(folder, &d) || (rounds >= 0 && ask(d, sql[0]));
    for (int i = 0; !bad && i < rounds; i++)
        for (int k = 1; !bad && k < 5; k++)
            bad = ask(d, sql[k]);
    dpc_dataset_free(d);
    while (wait(NULL) > 0) /* all that it started have ended */
        continue;
    return bad;
}

/* Adds the milliseconds of a session, of all its processes. */
static int measure(const char *folder, const char *const *sql, int rounds,
                   double *ms)
{
    struct rusage u;
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(session(folder, sql, rounds));
    if (child < 0 || wait4(child, &status, 0, &u) < 0)
        return 1;
    *ms += 1e3 * (seconds(u.ru_utime) + seconds(u.ru_stime));
    return status;
}

int main(int argc, char **argv)
{
    int narrow = argc == 3 && !strcmp(argv[2], "narrow");
    const char *const *sql = narrow ? numbers : visits;
    double none = 0, one = 0, all = 0;
    if (argc < 2 || write_files(argv[1], narrow))
        return 2;
    sleep(3); /* a file that was just written is hashed for every question */
    for (int i = 0; i < TIMES; i++)
        if (measure(argv[1], sql, -1, &none) ||
            measure(argv[1], sql, 0, &one) ||
            measure(argv[1], sql, ROUNDS, &all))
            return 1;
    double first = (one - none) / TIMES,
           later = (all - one) / (TIMES * 4 * ROUNDS);
    printf("{\"rows\": %d, \"open_ms\": %.1f, \"first_ms\": %.1f, "
           "\"later_ms\": %.2f, \"share\": %.3f}\n",
           ROWS, none / TIMES, first, later, later / first);
    return 0;
}
