/*
 * Files that are no delimited text, by their first bytes. Read as text they
 * would give numbers that mean nothing.
 *
 * PRIVACY: a row of a text file may begin with the same letters. So a mark that
 * can be typed counts only together with a byte that no text has.
 */
#include "source/source_int.h"

#include <string.h>

static const struct {
    const char *bytes;
    unsigned char n, at;
    bool typed; /* all of it are characters that a text may begin with */
    const char *what, *instead;
} marks[] = {
    {"PAR1", 4, 0, true, "a Parquet file",
     "Give it a name that ends in .parquet (it needs DuckDB's library), or "
     "write "
     "it as CSV."},
    {"PARE", 4, 0, true, "an encrypted Parquet file", "Write it as CSV."},
    {"ARROW1", 6, 0, true, "an Arrow file", "Write it as CSV."},
    {"FEA1", 4, 0, true, "a Feather file", "Write it as CSV."},
    {"ORC", 3, 0, true, "an ORC file", "Write it as CSV."},
    {"Obj\1", 4, 0, false, "an Avro file", "Write it as CSV."},
    {"\x89HDF\r\n\x1a\n", 8, 0, false, "an HDF5 file", "Write it as CSV."},
    {"DUCK", 4, 8, true, "a DuckDB database", "Give it with --db duckdb:FILE."},
    {"SQLite format 3\0", 16, 0, false, "an SQLite database",
     "Give it with --db FILE."},
    {"PGDMP", 5, 0, true, "a dump of pg_dump",
     "Restore it, and give the database with --db."},
    {"PK\3\4", 4, 0, false, "a zip archive (or a spreadsheet)",
     "Unpack it, or save the sheet as CSV."},
    {"\xd0\xcf\x11\xe0", 4, 0, false, "an old spreadsheet",
     "Save the sheet as CSV."},
    {"\x1f\x8b", 2, 0, false, "compressed by gzip",
     "Give it a name that ends in .gz."},
    {"\x28\xb5\x2f\xfd", 4, 0, false, "compressed by zstd",
     "Give it a name that ends in .zst."},
    {"\xfd"
     "7zXZ",
     6, 0, false, "compressed by xz", "Unpack it with unxz."},
    {"7z\xbc\xaf\x27\x1c", 6, 0, false, "a 7z archive", "Unpack it."},
    {"\x89PNG\r\n\x1a\n", 8, 0, false, "a PNG picture",
     "Write its table as CSV."},
    {"\xff\xd8\xff", 3, 0, false, "a JPEG picture", "Write its table as CSV."},
    {"\x7f"
     "ELF",
     4, 0, false, "a program", "Name the file that has the table."},
    {"BZh", 3, 0, true, "compressed by bzip2", "Unpack it with bunzip2."},
    {"\xff\xfe", 2, 0, false, "text in UTF-16",
     "Write it in UTF-8, as with iconv -f UTF-16 -t UTF-8."},
    {"\xfe\xff", 2, 0, false, "text in UTF-16",
     "Write it in UTF-8, as with iconv -f UTF-16 -t UTF-8."},
    {"%PDF-", 5, 0, true, "a PDF document", "Write its table as CSV."},
};

static bool has_control(const char *p, size_t n)
{
    enum { LOOK = 256 };
    for (size_t i = 0; i < n && i < LOOK; i++)
        if ((unsigned char)p[i] < ' ' && !strchr("\t\r\n\f", p[i]))
            return true;
        else if (!p[i])
            return true;
    return false;
}

enum status file_is_text(const char *path, const char *p, size_t n,
                         struct err *err)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t at = marks[i].at, len = marks[i].n;
        if (n < at + len || memcmp(p + at, marks[i].bytes, len) ||
            (marks[i].typed && !has_control(p, n)))
            continue;
        err_set(err, E_SOURCE, "file \"%s\" is %s, not delimited text", path,
                marks[i].what);
        err_hint(err, "%s", marks[i].instead);
        return E_SOURCE;
    }
    return OK;
}
