/*
 * What the command line says about files: --table 'edge(src,dst)=FILE', and
 * folders of NAME.csv. Names keep their spelling; SQL names that are not quoted
 * match them in any case.
 */
#include "source/csv/unpack.h"
#include "source/source_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status bad_spec(struct str text, const char *what, struct err *err)
{
    err_set(err, E_USAGE, "--table \"%.*s\": %s", PSTR(text), what);
    err_hint(err, "Write --table 'edge(src,dst)=FILE', or --table edge=FILE "
                  "for a file whose first line names the columns.");
    return E_USAGE;
}

/* What is read of a file is of the file that was opened first, and no process
 * of a release opens it again. Another one keeps its place: opening a pipe
 * waits, and what cannot be opened is told when it is read. */
static void file_keep(const struct source *src, struct src_table *t)
{
    struct stat st;
    if (src->tables.n > SOURCE_KEPT || stat(t->path.p, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return;
    t->kept = open(t->path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (t->kept < 0 || (fstat(t->kept, &st) == 0 && S_ISREG(st.st_mode)))
        return;
    close(t->kept);
    t->kept = -1;
}

/* "src integer": what stands behind the last blank, if it is a type. */
static void take_type(struct str *name, enum type *out)
{
    const char *blank = memrchr(name->p, ' ', name->n);
    *out = T_UNKNOWN;
    if (!blank)
        return;
    struct str left = {name->p, (size_t)(blank - name->p)};
    struct str type = {blank + 1, name->n - left.n - 1};
    if (type_find(type, out))
        *name = str_trim(left);
}

/* "src, dst", perhaps with types */
static enum status split_names(struct source *src, struct src_table *t,
                               struct str list, struct str text,
                               struct err *err)
{
    t->n_cols = 1;
    for (size_t i = 0; i < list.n; i++)
        t->n_cols += list.p[i] == ',';
    t->cols = NEWS(&src->arena, struct src_column, t->n_cols);
    if (!t->cols)
        return err_nomem(err);
    for (size_t i = 0; i < t->n_cols; i++) {
        const char *comma = memchr(list.p, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        struct str name = str_trim((struct str){list.p, n});
        take_type(&name, &t->cols[i].type);
        if (!name.n)
            return bad_spec(text, "a column has no name", err);
        t->cols[i].name = str_copy(&src->arena, name);
        if (!t->cols[i].name.p)
            return err_nomem(err);
        list.p += n + (comma != NULL);
        list.n -= n + (comma != NULL);
    }
    return OK;
}

/* `header: no`: the policy has the names. */
static enum status form_names(struct source *src, struct src_table *t,
                              struct err *err)
{
    t->n_cols = t->form->n_columns;
    t->cols = NEWS(&src->arena, struct src_column, t->n_cols + 1);
    for (size_t i = 0; t->cols && i < t->n_cols; i++)
        t->cols[i].name = t->form->columns[i];
    return t->cols ? OK : err_nomem(err);
}

static enum status header_names(struct source *src, struct src_table *t,
                                struct err *err)
{
    struct str *names;
    if (t->form && t->form->header == 0)
        return form_names(src, t, err);
    TRY(file_header(&src->arena, t, &names, &t->n_cols, err));
    t->has_header = true;
    t->cols = NEWS(&src->arena, struct src_column, t->n_cols);
    for (size_t i = 0; t->cols && i < t->n_cols; i++) {
        t->cols[i].name = str_copy(&src->arena, names[i]);
        if (!t->cols[i].name.p)
            return err_nomem(err);
    }
    return t->cols ? OK : err_nomem(err);
}

static enum status check_names(const struct src_table *t, struct err *err)
{
    for (size_t i = 0; i < t->n_cols; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq_nocase(t->cols[i].name, t->cols[j].name)) {
                /* PRIVACY: which, is not said: it may be a row */
                err_set(err, E_SOURCE,
                        "two columns of table \"%.*s\" have one name",
                        PSTR(t->name));
                err_hint(err, "In files the case of letters does not tell "
                              "names apart. For a file whose first line is a "
                              "row write --table 'name(col,col)=FILE'.");
                return E_SOURCE;
            }
    return OK;
}

enum status spec_add_file(struct source *src, struct str text, struct err *err)
{
    const char *eq = memchr(text.p, '=', text.n);
    if (!eq)
        return bad_spec(text, "there is no \"=\"", err);
    struct str left = str_trim((struct str){text.p, (size_t)(eq - text.p)});
    struct str path = {eq + 1, text.n - (size_t)(eq - text.p) - 1};
    const char *paren = memchr(left.p, '(', left.n);
    struct str name = left;
    if (paren)
        name = str_trim((struct str){left.p, (size_t)(paren - left.p)});
    if (!name.n || !path.n)
        return bad_spec(text, "a name is missing", err);
    if (paren && left.p[left.n - 1] != ')')
        return bad_spec(text, "the list of columns is not closed", err);
    struct src_table *t = source_add(src);
    if (!t)
        return err_nomem(err);
    t->kind = SRC_FILE;
    t->comments = true;
    t->name = str_copy(&src->arena, name);
    t->path = str_copy(&src->arena, path);
    if (!t->name.p || !t->path.p)
        return err_nomem(err);
    t->form = schema_form(src->schema, t->name);
    file_keep(src, t);
    struct str list = {paren ? paren + 1 : NULL,
                       paren ? (size_t)(left.p + left.n - paren) - 2 : 0};
    TRY(paren ? split_names(src, t, list, text, err)
              : header_names(src, t, err));
    return check_names(t, err);
}

static enum status add_csv(struct source *src, const char *dir,
                           const char *file, struct err *err)
{
    size_t n = unpack_name(str_of(file)) - 4;
    struct src_table *t = source_add(src);
    if (!t)
        return err_nomem(err);
    t->kind = SRC_FILE;
    t->name = str_copy(&src->arena, (struct str){file, n});
    t->path = str_printf(&src->arena, "%s/%s", dir, file);
    if (!t->name.p || !t->path.p)
        return err_nomem(err);
    t->form = schema_form(src->schema, t->name);
    file_keep(src, t);
    TRY(header_names(src, t, err));
    return check_names(t, err);
}

static int csv_only(const struct dirent *e)
{
    size_t n = unpack_name(str_of(e->d_name));
    return n > 4 && e->d_name[0] != '.' &&
           !memcmp(e->d_name + n - 4, ".csv", 4);
}

enum status spec_add_folder(struct source *src, const char *path,
                            struct err *err)
{
    struct dirent **list;
    int n = scandir(path, &list, csv_only, alphasort);
    if (n < 0)
        return err_set(err, E_SOURCE, "could not open folder \"%s\": %s", path,
                       strerror(errno));
    enum status s = OK;
    for (int i = 0; i < n; i++) {
        if (s == OK)
            s = add_csv(src, path, list[i]->d_name, err);
        free(list[i]);
    }
    free(list);
    if (s == OK && n == 0 && !src->tables.n)
        s = err_set(err, E_SOURCE,
                    "folder \"%s\" has no .csv and no .parquet file", path);
    return s;
}
