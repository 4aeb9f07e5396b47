/* Answers of the shell: as a table, CSV, JSON or Markdown; tables and columns.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <jansson.h>

#include "shell.h"

bool shell_form_of(const char *name, enum shell_form *out)
{
    static const char *const names[] = {"text", "csv", "json", "markdown"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) {
            *out = (enum shell_form)i;
            return true;
        }
    return false;
}

/* Characters, not bytes: of UTF-8 those that do not continue one. */
static int width(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void pad(FILE *to, int n)
{
    while (n-- > 0)
        fputc(' ', to);
}

static bool is_number(const dpc_result *r, size_t c)
{
    dpc_type t = DPC_TYPE_UNKNOWN;
    dpc_result_column(r, c, &t, NULL);
    return t == DPC_TYPE_BIGINT || t == DPC_TYPE_NUMERIC ||
           t == DPC_TYPE_DOUBLE;
}

static int column_width(const dpc_result *r, size_t c)
{
    int most = width(dpc_result_column(r, c, NULL, NULL));
    for (size_t i = 0; i < dpc_result_rows(r); i++) {
        const char *s = dpc_result_cell(r, i, c);
        int n = s ? width(s) : 4;
        most = n > most ? n : most;
    }
    return most;
}

/* What a terminal would obey is not sent. */
static void plain(FILE *to, const char *s)
{
    for (; *s; s++)
        fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, to);
}

static void table_cell(FILE *to, const dpc_result *r, size_t c, const char *s,
                       int wide, bool last)
{
    int left = wide - width(s);
    bool number = is_number(r, c);
    fputs(c ? " | " : " ", to);
    pad(to, number ? left : 0);
    plain(to, s);
    pad(to, number || last ? 0 : left);
}

static void print_grid(FILE *to, const dpc_result *r, bool markdown)
{
    size_t n = dpc_result_columns(r);
    int *wide = calloc(n + 1, sizeof *wide);
    if (!wide)
        return;
    for (size_t c = 0; c < n; c++)
        wide[c] = column_width(r, c);
    for (size_t c = 0; c < n; c++) {
        if (markdown && !c)
            fputc('|', to);
        table_cell(to, r, c, dpc_result_column(r, c, NULL, NULL), wide[c],
                   c + 1 == n && !markdown);
    }
    fputs(markdown ? " |\n" : "\n", to);
    for (size_t c = 0; c < n; c++) {
        fputs(markdown ? (c ? "|" : "|") : (c ? "+" : ""), to);
        for (int i = 0; i < wide[c] + 1; i++)
            fputc('-', to);
        fputc(markdown && is_number(r, c) ? ':' : '-', to);
    }
    fputs(markdown ? "|\n" : "\n", to);
    for (size_t i = 0; i < dpc_result_rows(r); i++) {
        for (size_t c = 0; c < n; c++) {
            const char *s = dpc_result_cell(r, i, c);
            if (markdown && !c)
                fputc('|', to);
            table_cell(to, r, c, s ? s : "NULL", wide[c],
                       c + 1 == n && !markdown);
        }
        fputs(markdown ? " |\n" : "\n", to);
    }
    free(wide);
}

static void csv_cell(FILE *to, const char *s)
{
    bool quoted = !*s || strpbrk(s, ",\"\n\r");
    if (quoted)
        fputc('"', to);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', to);
        fputc(*s, to);
    }
    if (quoted)
        fputc('"', to);
}

static void print_csv(FILE *to, const dpc_result *r)
{
    size_t n = dpc_result_columns(r);
    for (size_t c = 0; c < n; c++) {
        fputs(c ? "," : "", to);
        csv_cell(to, dpc_result_column(r, c, NULL, NULL));
    }
    fputs("\n", to);
    for (size_t i = 0; i < dpc_result_rows(r); i++) {
        for (size_t c = 0; c < n; c++) {
            const char *s = dpc_result_cell(r, i, c);
            fputs(c ? "," : "", to);
            if (s)
                csv_cell(to, s);
        }
        fputs("\n", to);
    }
}

/* The error and what is left stand in the JSON. */
static void print_foot(FILE *to, const dpc_result *r)
{
    json_t *j = json_loads(dpc_result_json(r), 0, NULL);
    const json_t *first = json_array_get(json_object_get(j, "counts"), 0);
    const json_t *from = first ? first : j;
    const json_t *p95 =
        json_object_get(json_object_get(from, "expected_error"), "p95");
    const json_t *left =
        json_object_get(json_object_get(from, "budget"), "remaining");
    size_t n = dpc_result_rows(r);
    fprintf(to, "(%zu row%s", n, n == 1 ? "" : "s");
    if (json_is_number(p95))
        fprintf(to, "; 95 %% within %.6g", json_number_value(p95));
    const char *price = dpc_result_price(r, "epsilon");
    if (dpc_result_repeated(r))
        fputs("; asked before: free", to);
    else if (price)
        fprintf(to, "; epsilon %s", price);
    if (json_is_number(left))
        fprintf(to, "; %.6g left", json_number_value(left));
    fputs(")\n", to);
    json_decref(j);
}

void shell_print(FILE *to, enum shell_form form, const dpc_result *r)
{
    bool rows = dpc_result_rows(r) || form == FORM_CSV;
    if (form == FORM_JSON || !dpc_result_columns(r) || !rows) {
        fputs(form == FORM_JSON ? dpc_result_json(r) : dpc_result_text(r), to);
        fputs(form == FORM_JSON ? "\n" : "", to);
    } else if (form == FORM_CSV) {
        print_csv(to, r);
    } else {
        print_grid(to, r, form == FORM_MARKDOWN);
        if (form == FORM_TABLE)
            print_foot(to, r);
    }
    fflush(to);
}

/* --- tables ----------------------------------------------------------------
 */

static const char *const type_names[] = {
    "",     "bigint",  "numeric", "double precision",
    "text", "boolean", "date",    "timestamp",
    "time", "uuid"};

static void print_link(FILE *to, const dpc_dataset *d, size_t table,
                       const dpc_link *l)
{
    dpc_column c;
    for (size_t i = 0; i < l->n; i++)
        if (dpc_column_at(d, table, l->columns[i], &c))
            fprintf(to, "%s%s", i ? ", " : "", c.name);
}

static const char *privacy_of(const dpc_table *t)
{
    return !t->is_queried    ? "not to be asked about"
           : !t->is_private  ? "public"
           : t->is_entity    ? "private, protected with all that is theirs"
           : t->n_owners > 0 ? "private, owned"
                             : "private";
}

void shell_print_tables(FILE *to, const dpc_dataset *d)
{
    dpc_table t;
    for (size_t i = 0; dpc_table_at(d, i, &t); i++)
        fprintf(to, "  %-24s %s\n", t.name, privacy_of(&t));
}

bool shell_print_table(FILE *to, const dpc_dataset *d, const char *name)
{
    dpc_table t;
    dpc_column c;
    dpc_link l;
    size_t at = 0;
    while (dpc_table_at(d, at, &t) && strcasecmp(t.name, name))
        at++;
    if (!dpc_table_at(d, at, &t))
        return false;
    fprintf(to, "%s: %s\n", t.name, privacy_of(&t));
    for (size_t i = 0; dpc_column_at(d, at, i, &c); i++)
        fprintf(to, "  %-24s %s%s\n", c.name, type_names[c.type],
                c.not_null ? " not null" : "");
    for (size_t i = 0; dpc_key_at(d, at, i, &l); i++) {
        fputs("  key: ", to);
        print_link(to, d, at, &l);
        fputs("\n", to);
    }
    for (size_t i = 0; dpc_reference_at(d, at, i, &l); i++) {
        fputs("  ", to);
        print_link(to, d, at, &l);
        fprintf(to, " refers to %s\n", l.table);
    }
    for (size_t i = 0; dpc_owner_at(d, at, i, &l); i++) {
        fprintf(to, "  belongs to %s by ", l.table);
        print_link(to, d, at, &l);
        fputs("\n", to);
    }
    return true;
}
