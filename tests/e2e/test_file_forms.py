#!/usr/bin/env python3
"""Files say what they are: types, decimal commas, dates, markers of NULL, delimiters and
header lines come from the policy, and what is no text is refused by its first bytes.
Without a declared type SQL neither orders nor computes."""
import os
import sqlite3
import tempfile

import outside
from outside import check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-forms-")
os.chdir(folder.name)


def ask(*args):
    return outside.ask(*args, "--format", "json")


def count(query, *args):
    status, a = ask("count", *args, query)
    return a["count"] if status == 0 else a["error"]


# --- no type, no order -----------------------------------------------------------------
write("csv/p.csv", 'id,height,born,gender\n1,"180,5",31.12.2023,F\n2,"1.170,5",01.02.1990,M\n3,181,2.3.2001,F\n'
      '4,180.5,1990-01-01,M\n5,,,\n6,tall,32.12.2023,F\n')
for where, column in (("height > 180", "height"), ("born < '2000-01-01'", "born"), ("height + 1 = 5", "height"),
                      ("extract(year FROM born) = 1990", "born"), ("born > DATE '2000-01-01'", "born"),
                      ("height BETWEEN 1 AND 2", "height"), ("abs(height) = 1", "height"), ("-height = 1", "height"),
                      ("coalesce(height, 0) > 180", "height"), ("(height > 180 OR id = 1)", "height"),
                      ("greatest(height, 5) = 5", "height"), ("p.height < ALL (SELECT q.id FROM p q)", "height")):
    e = count(f"SELECT COUNT(*) FROM p WHERE {where}", "--db", "csv")
    check(f"untyped {where}", isinstance(e, dict) and e["code"] == "type" and f'"{column}"' in e["message"]
          and f"columns: {{{column}:" in e["hint"], str(e))
check("equality needs none", count("SELECT COUNT(*) FROM p WHERE height = '180,5'", "--db", "csv") == 1)
check("rules order cells", count("Q(x) :- p(x, h, b, g), h < 'a'.", "--db", "csv") == 4)
check("texts are texts", count("SELECT COUNT(*) FROM p WHERE height LIKE '1%'", "--db", "csv") == 4)

# --- types of the policy ---------------------------------------------------------------
write("p.yaml", """tables:
  p:
    columns: {id: integer, height: {type: decimal, comma: yes}, born: {type: date, format: DD.MM.YYYY}, gender: text}
""")
P = ["--db", "csv", "--policy", "p.yaml"]
check("comma", count("SELECT COUNT(*) FROM p WHERE height > 180", *P) == 3, "180,5 1.170,5 181")
check("thousands", count("SELECT COUNT(*) FROM p WHERE height = 1170.5", *P) == 1)
check("no number", count("SELECT COUNT(*) FROM p WHERE height IS NULL", *P) == 3, "180.5, empty, tall")
check("dates", count("SELECT COUNT(*) FROM p WHERE born >= '2000-01-01'", *P) == 2)
check("one digit", count("SELECT COUNT(*) FROM p WHERE born = '2001-03-02'", *P) == 1)
check("no dates", count("SELECT COUNT(*) FROM p WHERE born IS NULL", *P) == 3)
status, a = ask("check", *P)
check("check counts them", "height" in str(a) and "2" in str(a), str(a))
# a sealed copy has the values, not the texts that they were written as
outside.run("budget", "init", "--ledger", "l", "--epsilon", "1")
status, a = ask("seal", *P, "--ledger", "l", "--version", "1", "--out", "copy.db", "--accept-nulls")
check("sealed", status == 0, str(a))
for where, n in (("height > 180", 3), ("height = 1170.5", 1), ("born >= '2000-01-01'", 2), ("height IS NULL", 3)):
    check(f"copy {where}", count(f"SELECT COUNT(*) FROM p WHERE {where}", "--db", "copy.db", "--policy", "p.yaml") == n)

# --- NULL, delimiters, headers ---------------------------------------------------------
write("bar/t.csv", 'a|b\n1|\\N\n2|NULL\n3|"NULL"\n4|-1\n5|x|\n'.replace("5|x|\n", "5|x\n"))
check("bars are found", count("SELECT COUNT(b) FROM t", "--db", "bar") == 5)
write("bar.yaml", "tables: {t: {delimiter: '|', header: yes, nulls: ['\\N', 'NULL', '-1'], columns: {a: integer, b: text}}}\n")
check("markers", count("SELECT COUNT(b) FROM t", "--db", "bar", "--policy", "bar.yaml") == 2)
write("head/t.csv", "x,y\n1,2\n")
check("a header", count("SELECT COUNT(*) FROM t", "--db", "head") == 1)
write("head.yaml", "tables: {t: {header: no, delimiter: ',', columns: [x, y]}}\n")
check("no header", count("SELECT COUNT(*) FROM t", "--db", "head", "--policy", "head.yaml") == 2)
# the separator of a file without header is the policy's, whatever its first row looks like
write("first/t.csv", "a\tb,c\nd,e\n")
write("comma.yaml", "tables: {t: {header: no, delimiter: ',', columns: [x, y]}}\n")
check("not guessed from a row", count("SELECT COUNT(*) FROM t", "--db", "first", "--policy", "comma.yaml") == 2)
check("nor with --table", count("SELECT COUNT(*) FROM t", "--table", "t(x,y)=first/t.csv", "--policy", "comma.yaml") == 2)
check("typed --table", count("SELECT COUNT(*) FROM t WHERE x > 1", "--table", "t(x integer, y integer)=head/t.csv") == 0)

# --- mistakes stand where they are -----------------------------------------------------
for text, what in (("columns: {id: {type: date, format: DD.MM}}", "no format"),
                   ("columns: {id: {type: date, format: DD.MM.YYYY DD}}", "no format"),
                   ("columns: {id: {type: text, format: DD.MM.YYYY}}", "a format is for"),
                   ("columns: {id: {type: text, comma: yes}}", "a comma is for"),
                   ("columns: {id: {comma: yes}}", "needs its"), ("columns: {id: {type: integer, komma: yes}}", "unknown key"),
                   ("delimiter: x", "unknown delimiter"), ("header: perhaps", "yes or no"), ("header: no", "to be named"),
                   ("nulls: NULL", "a list")):
    write("bad.yaml", f"tables: {{p: {{{text}}}}}\n")
    status, a = ask("count", "--db", "csv", "--policy", "bad.yaml", "SELECT COUNT(*) FROM p")
    check(f"mistake {text}", status == 2 and what in a["error"]["message"] and a["error"].get("line") == 1, str(a))

# --- SQLite: all TEXT, as .import makes it ---------------------------------------------
db = sqlite3.connect("imp.db")
db.execute("CREATE TABLE imp(a TEXT, b, c TEXT)")
db.executemany("INSERT INTO imp VALUES (?, ?, ?)", [("1", "2,5", "31.12.2023"), ("x", "3", ""), ("12", 7.5, 20240101), ("01", None, None)])
db.execute("CREATE TABLE parent(id INTEGER PRIMARY KEY, n TEXT)")
db.execute("CREATE TABLE child(id INTEGER PRIMARY KEY, pid INTEGER REFERENCES parent)")
db.execute("CREATE TABLE two(x INT, y INT, PRIMARY KEY (x, y))")
db.execute("CREATE TABLE toward(x INT, y INT, FOREIGN KEY (x, y) REFERENCES two)")
db.commit()
write("imp.yaml", "tables: {imp: {columns: {a: integer, b: {type: numeric, comma: yes}, c: {type: date, format: DD.MM.YYYY}}}}\n")
S = ["--db", "imp.db", "--policy", "imp.yaml"]
check("texts of SQLite", count("SELECT COUNT(*) FROM imp WHERE a > 1", *S) == 1)
check("numbers stay", count("SELECT COUNT(*) FROM imp WHERE b > 2", *S) == 3)
check("dates of SQLite", count("SELECT COUNT(*) FROM imp WHERE c > DATE '2020-01-01'", *S) == 1)
write("imp2.yaml", "tables: {imp: {nulls: ['x']}}\n")
e = count("SELECT COUNT(*) FROM imp", "--db", "imp.db", "--policy", "imp2.yaml")
check("for files only", isinstance(e, dict) and "for files" in e["message"], str(e))
text = outside.run("policy", "init", "--db", "imp.db", "--entities", "parent,two", "--format", "text").stdout
check("REFERENCES without columns", "{via: [pid], table: parent, key: [id]}" in text and "via: [x, \"y\"], table: two" in text, text)

# --- enums -----------------------------------------------------------------------------
write("e.sql", "CREATE TYPE g AS ENUM ('F', 'M'); CREATE TABLE x(id int PRIMARY KEY, gender g);")
for where in ("gender = 'female'", "gender IN ('F', 'X')", "'m' <> gender", "id = 1 OR gender = ''"):
    status, a = ask("quote", "--schema", "e.sql", "--epsilon", "1", f"SELECT COUNT(*) FROM x WHERE {where}")
    check(f"enum {where}", status == 2 and a["error"]["code"] == "type" and "'F', 'M'" in a["error"]["hint"], str(a))
status, a = ask("quote", "--schema", "e.sql", "--epsilon", "1", "SELECT COUNT(*) FROM x WHERE gender IN ('F', 'M')")
check("its own values", status == 0, str(a))

# --- what is no text -------------------------------------------------------------------
for name, data in (("Parquet", b"PAR1\x15\x04\x15\x10abcPAR1"), ("gzip", b"\x1f\x8b\x08\x00abc"), ("zip", b"PK\x03\x04abc"),
                   ("SQLite", b"SQLite format 3\0abc"), ("zstd", b"\x28\xb5\x2f\xfdabc"), ("xz", b"\xfd7zXZ\0abc"),
                   ("UTF-16", "a,b\n1,2\n".encode("utf-16")), ("bzip2", b"BZh91AY&SY\0"), ("DuckDB", b"\1" * 8 + b"DUCK\0")):
    with open("binary", "wb") as f:
        f.write(data)
    e = count("SELECT COUNT(*) FROM b", "--table", "b(x)=binary")
    check(f"binary {name}", isinstance(e, dict) and e["code"] == "source" and name in e["message"] + e["hint"], str(e))
write("texts", "PAR1\nBZh\nORC\nDUCK\n%PDF-1\n")
check("texts that begin alike", count("SELECT COUNT(*) FROM t", "--table", "t(x)=texts") == 5)
end()
