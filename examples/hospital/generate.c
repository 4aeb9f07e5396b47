/*
 * Makes the hospital database: invented people, the same rows every time.
 *
 *     hospital_generate SCHEMA.sql FOLDER
 *
 * writes into FOLDER: hospital/{hos,pat,doc,patdoc,visit}.csv and hospital.db
 * with at most three attending doctors per patient, and hospital-one/ and
 * hospital-one.db where each patient has the first of them only. The rows
 * come from a fixed seed, so that counts in the documentation stay true; both
 * forms are written from one pass over them.
 *
 * Shape: 40 hospitals in 8 states; doctors and patients crowd into the larger
 * hospitals; four of five doctors attend patients of their own hospital. Most
 * patients have a handful of visits, a few come every other day.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sqlite3.h>

enum { N_HOS = 40, N_DOC = 450, N_PAT = 3200, MOST_DOCTORS = 3 };
enum { MOST_VISITS = 180 };

static const char *const states[] = {
    "California", "Florida", "Illinois",     "Indiana",
    "New York",   "Ohio",    "Pennsylvania", "Texas",
};
static const char *const wards[] = {"dialysis", "emergency", "surgery",
                                    "ambulance"};
static const char specialties[] = "OOCCEGNPS"; /* twice: more of them */

struct database {
    const char *loc[N_HOS];
    char specialty[N_DOC];
    int doc_hos[N_DOC];
    char sex[N_PAT];
    int pat_hos[N_PAT];
    int attends[N_PAT][MOST_DOCTORS]; /* -1: none */
    int visits[N_PAT];
};

/* splitmix64: tiny and the same everywhere, which is all that is asked. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(uint64_t *state, int n)
{
    return (int)(next(state) % (uint64_t)n);
}

/* The smaller of two picks: low numbers are the large hospitals. */
static int pick_hospital(uint64_t *state)
{
    int a = below(state, N_HOS), b = below(state, N_HOS);
    return a < b ? a : b;
}

static int pick_doctor(const struct database *d, int hospital, uint64_t *state)
{
    int doc = below(state, N_DOC);
    bool own_house = below(state, 5) < 4;
    for (int i = 0; own_house && i < N_DOC; i++) {
        int candidate = (doc + i) % N_DOC;
        if (d->doc_hos[candidate] == hospital)
            return candidate;
    }
    return doc;
}

static void assign_doctors(struct database *d, int pat, uint64_t *state)
{
    int wanted = 1 + (below(state, 3) == 0) + (below(state, 9) == 0);
    int n = 0;
    for (int i = 0; i < MOST_DOCTORS; i++)
        d->attends[pat][i] = -1;
    while (n < wanted) {
        int doc = pick_doctor(d, d->pat_hos[pat], state);
        bool again = false;
        for (int i = 0; i < n; i++)
            again |= d->attends[pat][i] == doc;
        if (!again)
            d->attends[pat][n++] = doc;
        else
            wanted--; /* in a small hospital there may be no other */
    }
}

/* One in two hundred has dialysis, every other day or so. */
static void invent_visits(struct database *d)
{
    uint64_t state = 2;
    for (int i = 0; i < N_PAT; i++) {
        d->visits[i] = below(&state, 4) + below(&state, 4);
        if (below(&state, 20) == 0)
            d->visits[i] += below(&state, 25);
        if (below(&state, 200) == 0)
            d->visits[i] = MOST_VISITS - below(&state, 60);
    }
}

static void invent(struct database *d)
{
    uint64_t state = 1;
    for (int i = 0; i < N_HOS; i++)
        d->loc[i] = states[below(&state, 8)];
    for (int i = 0; i < N_DOC; i++) {
        d->specialty[i] =
            specialties[below(&state, (int)sizeof specialties - 1)];
        d->doc_hos[i] = pick_hospital(&state);
    }
    for (int i = 0; i < N_PAT; i++) {
        d->sex[i] = below(&state, 100) < 52 ? 'F' : 'M';
        d->pat_hos[i] = pick_hospital(&state);
        assign_doctors(d, i, &state);
    }
    invent_visits(d);
}

/* --- the two forms ------------------------------------------------------ */

struct out {
    FILE *csv;
    sqlite3_stmt *insert;
    bool failed;
};

/* One row of two to four fields; ids are numbers, `text` is not. */
static void row(struct out *o, const char *text, int text_at, const int *ids,
                int n_ids)
{
    for (int i = 0, id = 0; i < n_ids + (text ? 1 : 0); i++) {
        bool is_text = text && i == text_at;
        if (i)
            fputc(',', o->csv);
        if (is_text) {
            fputs(text, o->csv);
            sqlite3_bind_text(o->insert, i + 1, text, -1, SQLITE_TRANSIENT);
        } else {
            fprintf(o->csv, "%d", ids[id]);
            sqlite3_bind_int(o->insert, i + 1, ids[id++]);
        }
    }
    fputc('\n', o->csv);
    if (sqlite3_step(o->insert) != SQLITE_DONE)
        o->failed = true;
    sqlite3_reset(o->insert);
}

static void hos_rows(struct out *o, const struct database *d, int most)
{
    (void)most;
    for (int i = 0; i < N_HOS; i++)
        row(o, d->loc[i], 1, (int[]){i + 1}, 1);
}

static void pat_rows(struct out *o, const struct database *d, int most)
{
    (void)most;
    for (int i = 0; i < N_PAT; i++)
        row(o, (char[]){d->sex[i], 0}, 1, (int[]){i + 1, d->pat_hos[i] + 1}, 2);
}

static void doc_rows(struct out *o, const struct database *d, int most)
{
    (void)most;
    for (int i = 0; i < N_DOC; i++)
        row(o, (char[]){d->specialty[i], 0}, 1,
            (int[]){i + 1, d->doc_hos[i] + 1}, 2);
}

static void patdoc_rows(struct out *o, const struct database *d, int most)
{
    for (int i = 0; i < N_PAT; i++)
        for (int j = 0; j < most; j++)
            if (d->attends[i][j] >= 0)
                row(o, NULL, 0, (int[]){i + 1, d->attends[i][j] + 1}, 2);
}

static void visit_rows(struct out *o, const struct database *d, int most)
{
    uint64_t state = 3;
    int id = 0;
    (void)most;
    for (int i = 0; i < N_PAT; i++)
        for (int j = 0; j < d->visits[i]; j++) {
            int ward = d->visits[i] > 100 ? 0 : 1 + below(&state, 3);
            int day = 1 + (d->visits[i] > 100 ? 2 * j + below(&state, 2)
                                              : below(&state, 365));
            row(o, wards[ward], 3, (int[]){++id, i + 1, day}, 3);
        }
}

static const struct {
    const char *name, *header, *insert;
    void (*rows)(struct out *, const struct database *, int most);
} tables[] = {
    {"hos", "id,loc", "INSERT INTO hos VALUES (?, ?)", hos_rows},
    {"pat", "id,sex,hos", "INSERT INTO pat VALUES (?, ?, ?)", pat_rows},
    {"doc", "id,specialty,hos", "INSERT INTO doc VALUES (?, ?, ?)", doc_rows},
    {"patdoc", "pat,doc", "INSERT INTO patdoc VALUES (?, ?)", patdoc_rows},
    {"visit", "id,pat,day,ward", "INSERT INTO visit VALUES (?, ?, ?, ?)",
     visit_rows},
};

static bool write_table(size_t t, const char *folder, sqlite3 *db,
                        const struct database *d, int most)
{
    char path[4096];
    struct out o = {0};
    snprintf(path, sizeof path, "%s/%s.csv", folder, tables[t].name);
    o.csv = fopen(path, "w");
    if (!o.csv) {
        fprintf(stderr, "could not write %s: %s\n", path, strerror(errno));
        return false;
    }
    fprintf(o.csv, "%s\n", tables[t].header);
    if (sqlite3_prepare_v2(db, tables[t].insert, -1, &o.insert, NULL))
        o.failed = true;
    else
        tables[t].rows(&o, d, most);
    sqlite3_finalize(o.insert);
    bool written = !ferror(o.csv);
    written &= fclose(o.csv) == 0;
    if (!written || o.failed)
        fprintf(stderr, "could not write table %s: %s\n", tables[t].name,
                o.failed ? sqlite3_errmsg(db) : strerror(errno));
    return written && !o.failed;
}

static bool write_all(const char *folder, const char *name, const char *schema,
                      const struct database *d, int most)
{
    char csv[2048], file[2048];
    sqlite3 *db = NULL;
    snprintf(csv, sizeof csv, "%s/%s", folder, name);
    snprintf(file, sizeof file, "%s/%s.db", folder, name);
    if (mkdir(csv, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "could not make %s: %s\n", csv, strerror(errno));
        return false;
    }
    remove(file);
    bool ok = sqlite3_open(file, &db) == SQLITE_OK &&
              sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK;
    if (!ok)
        fprintf(stderr, "could not make %s: %s\n", file, sqlite3_errmsg(db));
    for (size_t t = 0; ok && t < sizeof tables / sizeof *tables; t++)
        ok = write_table(t, csv, db, d, most);
    ok = ok && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return ok;
}

static bool read_text(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(out, 1, size - 1, f) : 0;
    bool ok = f && !ferror(f) && n < size - 1;
    out[n] = 0;
    if (!ok)
        fprintf(stderr, "could not read %s\n", path);
    if (f)
        fclose(f);
    return ok;
}

int main(int argc, char **argv)
{
    static struct database d;
    char schema[8192];
    if (argc != 3) {
        fprintf(stderr, "usage: %s SCHEMA.sql FOLDER\n", argv[0]);
        return 2;
    }
    if (!read_text(argv[1], schema, sizeof schema))
        return 1;
    invent(&d);
    return write_all(argv[2], "hospital", schema, &d, MOST_DOCTORS) &&
                   write_all(argv[2], "hospital-one", schema, &d, 1)
               ? 0
               : 1;
}
