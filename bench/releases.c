/*
 * Many releases in one process: speed and memory. For bench/load-releases,
 * which makes the data and the ledger and starts several of these at once.
 *
 *   bench-releases LEDGER DB RELEASES SECONDS
 *
 * Releases are fresh, so each is held, drawn and committed. Stops at the
 * number or the time, whichever comes first. The first tenth is warming up:
 * memory is compared between its end and the end of all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <dpcount.h>

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Kilobytes in memory now. */
static long resident(void)
{
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &size, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int release(const dpc_dataset *d, dpc_question *const q[2], long i)
{
    dpc_result *r = NULL;
    dpc_error *e = NULL;
    /* mostly the cheap one: it is the ledger that is under load */
    dpc_status status = dpc_release(d, q[i % 20 == 0], NULL, &r, &e);
    if (status != DPC_OK)
        fprintf(stderr, "release %ld: %s %s\n", i, dpc_error_message(e),
                dpc_error_detail(e));
    dpc_error_free(e);
    dpc_result_free(r);
    return status;
}

static int make(char **argv, dpc_dataset **d, dpc_question *q[2])
{
    static const char *const queries[] = {
        "SELECT COUNT(*) FROM pat WHERE age > 40",
        "SELECT COUNT(*) FROM pat p JOIN visit v ON v.pat = p.id",
    };
    int bad = dpc_dataset_new(d) ||
              dpc_dataset_set(*d, "ledger", argv[1], NULL) ||
              dpc_dataset_set(*d, "db", argv[2], NULL) ||
              dpc_dataset_open(*d, 0, NULL);
    for (int i = 0; !bad && i < 2; i++)
        bad = dpc_question_new(queries[i], &q[i]) ||
              dpc_question_set(q[i], "epsilon", "0.001", NULL) ||
              dpc_question_set(q[i], "fresh", "yes", NULL);
    return bad;
}

int main(int argc, char **argv)
{
    dpc_dataset *d = NULL;
    dpc_question *q[2] = {NULL, NULL};
    struct rusage use;
    if (argc != 5 || make(argv, &d, q))
        return 2;
    long n = atol(argv[3]), done = 0, early = 0;
    double seconds = atof(argv[4]), start = now();
    while (done < n && now() - start < seconds) {
        if (release(d, q, done))
            return 1;
        done++;
        if (!early && (done * 10 >= n || now() - start > seconds / 10))
            early = resident();
    }
    double took = now() - start;
    getrusage(RUSAGE_SELF, &use);
    printf("{\"releases\": %ld, \"seconds\": %.3f, \"early_kb\": %ld,"
           " \"late_kb\": %ld, \"peak_kb\": %ld}\n",
           done, took, early, resident(), use.ru_maxrss);
    dpc_question_free(q[0]);
    dpc_question_free(q[1]);
    dpc_dataset_free(d);
    return 0;
}
