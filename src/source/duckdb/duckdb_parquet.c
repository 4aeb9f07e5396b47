/*
 * Tables of Parquet files: one file, all that a pattern names, or all of a
 * folder. They are opened when the source is, and read by their descriptors.
 * Their columns must be the same; DuckDB says so if not.
 */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "source/duckdb/duckdb_int.h"

static const char ending[] = ".parquet";

static bool ends(struct str s)
{
    size_t n = sizeof ending - 1;
    return s.n > n && !memcmp(s.p + s.n - n, ending, n);
}

static enum status open_files(struct source *src, struct duck_files *f,
                              const glob_t *g, struct err *err)
{
    f->paths = NEWS(&src->arena, struct str, g->gl_pathc);
    f->fds = NEWS(&src->arena, int, g->gl_pathc);
    if (!f->paths || !f->fds)
        return err_nomem(err);
    for (size_t i = 0; i < g->gl_pathc; i++) {
        int fd = open(g->gl_pathv[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return err_set(err, E_SOURCE, "could not open \"%s\": %m",
                           g->gl_pathv[i]);
        f->fds[i] = fd;
        f->paths[i] = str_copy(&src->arena, str_of(g->gl_pathv[i]));
        f->n = i + 1;
        if (!f->paths[i].p)
            return err_nomem(err);
    }
    return OK;
}

static enum status find_files(struct source *src, const char *pattern,
                              struct duck_files *f, struct err *err)
{
    glob_t g;
    enum status s;
    int rc = glob(pattern, GLOB_ERR | GLOB_NOCHECK, NULL, &g);
    if (rc == 0)
        s = open_files(src, f, &g, err);
    else if (rc == GLOB_NOSPACE)
        s = err_nomem(err);
    else
        s = err_set(err, E_SOURCE, "no file is called \"%s\"", pattern);
    globfree(&g);
    return s;
}

static enum status parquet_row(struct source *src, const struct duck_vector *v,
                               uint64_t row, struct err *err)
{
    return duck_add_column(src, &src->tables.p[src->tables.n - 1],
                           duck_text_at(&v[0], row), duck_text_at(&v[1], row),
                           false, err);
}

static enum status size_row(struct source *src, const struct duck_vector *v,
                            uint64_t row, struct err *err)
{
    u128 n = 0;
    struct str size = duck_text_at(&v[0], row);
    (void)err;
    if (!duck_is_null(&v[0], row) && count_read(size.p, size.n, &n))
        src->tables.p[src->tables.n - 1].believed_rows = (double)n;
    return OK;
}

/* As the files' last lines say: no row is read. */
static enum status count_rows(struct source *src, const struct src_table *t,
                              struct err *err)
{
    struct sb b;
    sb_init(&b, &src->arena);
    sb_cstr(&b, "SELECT sum(num_rows)::varchar FROM parquet_file_metadata([");
    for (size_t i = 0; i < t->parquet->n; i++)
        sb_printf(&b, "%s'/proc/self/fd/%d'", i ? ", " : "",
                  t->parquet->fds[i]);
    sb_cstr(&b, "])");
    return b.failed ? err_nomem(err)
                    : duck_each_row(src, src->parquet, b.p, 1, size_row, err);
}

static enum status add_table(struct source *src, struct str name,
                             const char *pattern, struct err *err)
{
    struct sb b;
    struct src_table *t = source_add(src);
    if (!t)
        return err_nomem(err);
    t->kind = SRC_DUCKDB;
    t->name = str_copy(&src->arena, name);
    t->path = str_copy(&src->arena, str_of(pattern));
    t->namespace_ = STR("");
    t->parquet = NEW(&src->arena, struct duck_files);
    if (!t->name.p || !t->path.p || !t->parquet)
        return err_nomem(err);
    TRY(find_files(src, pattern, t->parquet, err));
    if (!src->parquet)
        TRY(duck_connect(src, NULL, &src->parquet, err));
    sb_init(&b, &src->arena);
    sb_cstr(&b, "SELECT column_name, column_type FROM (DESCRIBE FROM ");
    duck_from(&b, t);
    sb_cstr(&b, ")");
    if (b.failed)
        return err_nomem(err);
    TRY(duck_each_row(src, src->parquet, b.p, 2, parquet_row, err));
    return count_rows(src, t, err);
}

static bool has_parquet(const char *folder)
{
    struct dirent *e;
    bool any = false;
    DIR *dir = opendir(folder);
    while (dir && !any && (e = readdir(dir)))
        any = ends(str_of(e->d_name));
    if (dir)
        closedir(dir);
    return any;
}

/* What stands behind "name=". */
static struct str path_of(struct str spec)
{
    const char *eq = memchr(spec.p, '=', spec.n);
    if (!eq)
        return STR("");
    return (struct str){eq + 1, spec.n - (size_t)(eq + 1 - spec.p)};
}

bool duckdb_is_parquet(struct str spec)
{
    char folder[4096];
    struct stat st;
    struct str path = path_of(spec);
    if (ends(path))
        return true;
    if (!path.n || path.n >= sizeof folder)
        return false;
    memcpy(folder, path.p, path.n);
    folder[path.n] = 0;
    return stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && has_parquet(folder);
}

enum status duckdb_add_spec(struct source *src, struct str spec,
                            struct err *err)
{
    struct str path = path_of(spec);
    struct str name = str_trim(
        (struct str){spec.p, spec.n > path.n ? spec.n - path.n - 1 : 0});
    if (!name.n || memchr(name.p, '(', name.n)) {
        err_set(err, E_USAGE, "--table \"%.*s\": no list of columns here",
                PSTR(spec));
        err_hint(err, "Parquet files name their columns: --table 'name=FILE"
                      ".parquet', 'name=FOLDER' or 'name=FOLDER/*.parquet'.");
        return E_USAGE;
    }
    struct str pattern = str_printf(&src->arena, "%.*s%s", PSTR(path),
                                    ends(path) ? "" : "/*.parquet");
    return pattern.p ? add_table(src, name, pattern.p, err) : err_nomem(err);
}

static int parquet_only(const struct dirent *e)
{
    return e->d_name[0] != '.' && ends(str_of(e->d_name));
}

enum status duckdb_add_folder(struct source *src, const char *path,
                              struct err *err)
{
    struct dirent **list;
    int n = scandir(path, &list, parquet_only, alphasort);
    enum status s = OK;
    for (int i = 0; i < n; i++) {
        struct str name = str_of(list[i]->d_name);
        struct str file = str_printf(&src->arena, "%s/%s", path, name.p);
        name.n -= sizeof ending - 1;
        if (s == OK)
            s = file.p ? add_table(src, name, file.p, err) : err_nomem(err);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return s;
}
