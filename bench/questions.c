/*
 * Five different questions over one open data set of 400,000 visits: the first
 * finds nothing loaded (and the content new, so that it is checked), the others
 * find the rows in the engine. Prints the processor time of each, of all
 * processes that took part. Time spent in fsync is no processor time.
 *
 *   bench-questions FOLDER [narrow]      writes the data there
 *
 * narrow: four columns of small numbers, which load as fast as anything can.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <dpcount.h>

/* Ticks of a process and of its children that have ended; its parent. */
static long ticks_of(long pid, long *parent)
{
    char path[64], line[1024];
    long v[4] = {0};
    *parent = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    char *at = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (f)
        fclose(f);
    if (!at || sscanf(at,
                      ") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld "
                      "%ld %ld",
                      parent, &v[0], &v[1], &v[2], &v[3]) != 5)
        return 0;
    return v[0] + v[1] + v[2] + v[3];
}

static int is_ours(long pid)
{
    long parent = pid;
    for (int i = 0; i < 16 && parent > 1; i++) {
        if (parent == getpid())
            return 1;
        ticks_of(parent, &parent);
    }
    return 0;
}

/* Milliseconds of all processes that this one started, directly or not. */
static double used(void)
{
    long sum = 0, parent;
    DIR *d = opendir("/proc");
    struct dirent *e;
    while (d && (e = readdir(d))) {
        long pid = atol(e->d_name);
        if (pid > 0 && pid != getpid() && is_ours(pid))
            sum += ticks_of(pid, &parent);
    }
    if (d)
        closedir(d);
    return 1000.0 * (double)sum / (double)sysconf(_SC_CLK_TCK);
}

static double own(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + (double)t.tv_nsec / 1e6;
}

static int ask(const dpc_dataset *d, const char *sql, double *ms)
{
    dpc_question *q = NULL;
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    double before = used(), mine = own();
    int bad = dpc_question_new(sql, &q) ||
              dpc_question_set(q, "epsilon", "1", &e) ||
              dpc_question_set(q, "fresh", "yes", &e) ||
              dpc_release(d, q, NULL, &r, &e);
    if (bad)
        fprintf(stderr, "%s: %s\n", sql, dpc_error_message(e));
    mine = own() - mine;
    usleep(50000); /* the last process ends */
    *ms = used() - before + mine;
    dpc_error_free(e);
    dpc_result_free(r);
    dpc_question_free(q);
    return bad;
}

enum { ROUNDS = 10, ROWS = 400000 };

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
    snprintf(ledger, sizeof ledger, "%s/ledger", folder);
    int bad = dpc_dataset_new(d) ||
              dpc_dataset_set(*d, "ledger", ledger, NULL) ||
              dpc_dataset_set(*d, "schema", schema, NULL) ||
              dpc_dataset_set(*d, "table", table, NULL) ||
              dpc_budget_init(*d, "1000", NULL, &r, NULL) ||
              dpc_dataset_open(*d, 0, NULL);
    dpc_result_free(r);
    return bad;
}

int main(int argc, char **argv)
{
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
    dpc_dataset *d = NULL;
    double first = 0, ms, sum = 0;
    int narrow = argc == 3 && !strcmp(argv[2], "narrow");
    const char *const *sql = narrow ? numbers : visits;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (argc < 2 || write_files(argv[1], narrow))
        return 2;
    sleep(3); /* a file that was just written is hashed for every question */
    if (open_dataset(argv[1], &d) || ask(d, sql[0], &first))
        return 1;
    /* clock ticks are coarse: the mean of many */
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 1; k < 5; k++) {
            if (ask(d, sql[k], &ms))
                return 1;
            sum += ms;
        }
    double later = sum / (4 * ROUNDS);
    printf("{\"rows\": %d, \"first_ms\": %.0f, \"later_ms\": %.1f, "
           "\"share\": %.3f}\n",
           ROWS, first, later, later / first);
    dpc_dataset_free(d);
    return 0;
}
