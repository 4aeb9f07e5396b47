#!/usr/bin/env python3
"""What version 0.1.0 got wrong without harm to the guarantee, one by one: crashes, bounds that were false, wrong counts, hints
that mislead. Each is asked of the program from outside. Elsewhere: witnesses that the schema does not admit
(test_witness_admitted.py), equality in columns without a type (test_untyped_sqlite.py), how often progress is called (unit/test_progress.c), pages
that drift (test_readme.py, test_texts.py), data that hung on the compiler (test_bench_data.sh)."""
import os
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
from outside import ask, check, end, run, write  # noqa: E402

SOURCE = os.environ["DPC_SOURCE"]
folder = tempfile.TemporaryDirectory(prefix="dpc-mended-")
os.chdir(folder.name)


def constants_compared():
    """A comparison of two constants survived normalisation: a crash."""
    write("R.csv", "-1\n0.5\n")
    status, a = ask("sensitivity", "--table", "R(c1)=R.csv", "--format", "json", "Q(x) :- R(x), x > -1, x > 'a', x < -1.")
    check("constants compared", status == 0 and a["count"] == 0, f"{status} {a}")


def order_of_constraints():
    """A bound on rows, and a key, were lost by the order of --constraint."""
    def upper(query, *constraints):
        args = [x for c in constraints for x in ("--constraint", c)]
        return ask("analyze", "--format", "json", *args, query)[1]["global_sensitivity"]["upper"]
    query, rows = "Q(x,y) :- R(x,y), S(z).", ["R: () -> 1 <= 4", "|R| <= 4"]
    check("order of bounds", upper(query, *rows) == upper(query, *rows[::-1]) == 4)
    query, keys = "Q(x,y,z) :- R(x,y), R(x,z).", ["R: 1 -> 1, 2", "R: 1 -> *"]
    check("order of keys", upper(query, *keys) == upper(query, *keys[::-1]))


def nullable_unique():
    """UNIQUE on a nullable column: the witness broke it, and check did not see two equal rows."""
    write("m3.sql", "CREATE TABLE m3(a int unique, b int);")
    status, a = ask("analyze", "--format", "json", "--schema", "m3.sql", "SELECT COUNT(*) FROM m3 x, m3 y WHERE x.a = y.a")
    check("UNIQUE bounds the join", status == 0 and a["global_sensitivity"]["upper"] == 1, str(a))
    os.makedirs("m3", exist_ok=True)
    write("m3/m3.csv", "a,b\n1,1\n1,1\n")
    status, a = ask("check", "--format", "json", "--schema", "m3.sql", "--db", "m3")
    check("two equal rows break UNIQUE", status != 0 or not a.get("holds", True), f"{status} {a}")


def loops_are_no_triangle():
    """smooth.value was below the local sensitivity where atoms have loops."""
    write("E.csv", "".join(f"{x},{y}\n" for x in range(1, 5) for y in range(1, 5)))
    status, a = ask("sensitivity", "--format", "json", "--table", "E(a,b)=E.csv",
                    "Q(a,b,c) :- E(c,a), E(b,b), E(c,c), a != b, a != c, b != c.")
    smooth = a["smooth"] and a["smooth"]["value"]
    check("loops", status == 0 and (smooth is None or smooth >= 15), str(a)[:300])


def empty_groups():
    """count left out groups of count 0 that are known."""
    os.makedirs("g", exist_ok=True)
    write("g/g.csv", "id,sex\n1,F\n2,F\n")
    write("g.sql", "CREATE TABLE g(id integer PRIMARY KEY, sex text NOT NULL CHECK (sex IN ('F', 'M')));")
    status, a = ask("count", "--format", "json", "--db", "g", "--schema", "g.sql", "SELECT sex, COUNT(*) FROM g GROUP BY sex")
    check("a group of count 0", status == 0 and a["rows"] == [["F", 2], ["M", 0]], str(a))


def untyped_columns():
    """SQLite keeps '01', '1' and 1 apart in a column without a type; they were merged. Now it needs one."""
    db = sqlite3.connect("u.db")
    db.executescript("CREATE TABLE t(a); INSERT INTO t VALUES ('01'), ('1'), (1), (NULL);")
    db.close()
    write("u.yaml", "tables: {t: {columns: {a: text}}}\n")
    write("i.yaml", "tables: {t: {columns: {a: integer}}}\n")
    status, a = ask("count", "--format", "json", "--db", "u.db", "SELECT COUNT(DISTINCT a) FROM t")
    check("'01', '1' and 1", status == 2 and "{a: text}" in str(a), f"{status} {a}")
    counts = [ask("count", "--format", "json", "--db", "u.db", "--policy", p, "SELECT COUNT(DISTINCT a) FROM t")[1]["count"] for p in ("u.yaml", "i.yaml")]
    check("'01' and '1' with a type", counts == [2, 1], str(counts))


def wrong_without_types():
    """Decimal commas and dates were compared as texts; the value of an enum that it does not have was answered."""
    write("w.csv", "id,height,born\n1,\"180,5\",31.12.2023\n2,\"99,5\",01.01.2024\n")
    write("enum.sql", "CREATE TYPE sex AS ENUM ('F', 'M'); CREATE TABLE p(id integer PRIMARY KEY, gender sex);")
    write("w.yaml", "tables: {w: {columns: {id: integer, height: {type: decimal, comma: yes}, born: {type: date, format: DD.MM.YYYY}}}}\n")
    for condition in ("height > 180", "born > '2023-12-31'"):
        query = f"SELECT COUNT(*) FROM w WHERE {condition}"
        status, a = ask("count", "--format", "json", "--table", "w=w.csv", query)
        check("compared without a type", status != 0 and "type" in str(a), str(a))
        status, a = ask("count", "--format", "json", "--table", "w=w.csv", "--policy", "w.yaml", query)
        check("compared with a type", status == 0 and a["count"] == 1, str(a))
    status, a = ask("quote", "--format", "json", "--schema", "enum.sql", "--epsilon", "1", "SELECT COUNT(*) FROM p WHERE gender = 'female'")
    check("no value of the enum", status != 0 and "female" in str(a), str(a))


def files_as_they_are():
    """Parquet was read as text, markers of NULL were texts, | was no delimiter."""
    with open("one.csv", "wb") as f:
        f.write(b"PAR1\x15\x04\x15\x10PAR1")
    status, a = ask("count", "--format", "json", "--table", "one(a)=one.csv", "SELECT COUNT(*) FROM one")
    check("binary files", status == 5 and "Parquet" in str(a), str(a))
    with open("one.csv", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    status, a = ask("count", "--format", "json", "--table", "one(a)=one.csv", "SELECT COUNT(*) FROM one")
    check("pictures", status == 5 and "PNG" in str(a), str(a))
    write("bar.txt", "id|v\n1|\\N\n2|NULL\n3|x\n")
    write("bar.yaml", "tables: {bar: {columns: {id: integer, v: text}, delimiter: '|', header: yes, nulls: ['\\N', 'NULL']}}\n")
    status, a = ask("count", "--format", "json", "--table", "bar=bar.txt", "--policy", "bar.yaml", "SELECT COUNT(v) FROM bar")
    check("delimiter and NULLs", status == 0 and a["count"] == 1, str(a))


def hints():
    """Hints that double counted or could not be followed."""
    write("h.sql", "CREATE TABLE h(id integer PRIMARY KEY, a integer);")
    status, a = ask("quote", "--format", "json", "--schema", "h.sql", "--epsilon", "1",
                    "SELECT COUNT(*) FROM (SELECT a FROM h UNION SELECT id FROM h) x")
    check("UNION is answered", status == 0, str(a))
    status, a = ask("quote", "--format", "json", "--schema", "h.sql", "--epsilon", "1", "SELECT a, COUNT(*) FROM h GROUP BY a")
    check("a delta is missing", status == 3 and "delta" in str(a) and "smaller epsilon" not in str(a), str(a))
    status, a = ask("quote", "--format", "json", "--schema", "h.sql", "--epsilon", "1", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 5) COUNT(*) FROM h")
    status, b = ask("quote", "--format", "json", "--schema", "h.sql", "--error", "5x", "SELECT COUNT(*) FROM h")
    check("what an error is", status == 2 and "5%" in b["error"]["hint"], str(b))
    check("two prices", status == 2 and "epsilon is 5" in str(a), str(a))


def readers():
    """Casts of constants, references without columns, files of .import."""
    status, a = ask("quote", "--format", "json", "--schema", "h.sql", "--epsilon", "1",
                    "SELECT COUNT(*) FROM h WHERE CAST('A' AS VARCHAR(10)) = 'A'")
    check("a cast of a constant", status == 0, str(a))
    db = sqlite3.connect("r.db")
    db.executescript("CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p INT REFERENCES p, height TEXT);"
                     "INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, '9'), (1, '10');")
    db.close()
    text = ask("policy", "init", "--format", "json", "--db", "r.db")[1]["policy"]
    check("REFERENCES p", "refers to p" in text, text)
    write("r.yaml", "tables: {c: {columns: {p: integer, height: integer}}}\n")
    status, a = ask("count", "--format", "json", "--db", "r.db", "--policy", "r.yaml", "SELECT COUNT(*) FROM c WHERE height > 9")
    check("types for .import", status == 0 and a["count"] == 1, str(a))


def as_asked():
    """analyze accepted what quote refuses; keys were SQL literals; the history had no SQL."""
    run("budget", "init", "--ledger", "l", "--epsilon", "9", "--delta", "0.001")
    query = "SELECT sex, COUNT(*) FROM g GROUP BY sex"
    status, a = ask("release", "--format", "json", "--db", "g", "--schema", "g.sql", "--ledger", "l", "--epsilon", "1", query)
    check("plain keys with names", status == 0 and a["columns"][0]["name"] == "sex" and a["rows"][0][0] == "F", str(a))
    check("the SQL in the history", query in run("budget", "history", "--ledger", "l").stdout.replace("\n", " ") or
          query in run("budget", "history", "--ledger", "l", "--format", "csv").stdout)
    check("help of budget", run("budget", "--help").stdout.startswith(("usage: dpcount budget", "Usage: dpcount budget")) or
          "history" in run("budget", "--help").stdout)
    thirteen = "Q() :- " + ", ".join(f"R(x{i},x{i + 1})" for i in range(13)) + "."
    check("13 atoms, both alike", ask("analyze", "--format", "json", thirteen)[0] == ask("quote", "--format", "json", "--epsilon", "1", thirteen)[0])


def small_public_table():
    """Who joins a public table of 13 rows is in at most 13 groups: 95 % within 39, not 416 of smooth noise."""
    os.makedirs("k", exist_ok=True)
    write("k/pat.csv", "id\n" + "".join(f"{i}\n" for i in range(50)))
    write("k/visit.csv", "id,pat,kind\n" + "".join(f"{i},{i % 50},{i % 13}\n" for i in range(600)))
    write("k/kind.csv", "id,name\n" + "".join(f"{i},k{i}\n" for i in range(13)))
    policy = """tables:
  pat: {columns: {id: integer}, key: [id]}
  visit: {columns: {id: integer, pat: integer, kind: integer}, key: [id]}
  kind: {%scolumns: {id: integer, name: text}, key: [id]}
"""
    query = "SELECT k.id, COUNT(DISTINCT p.id) FROM pat p JOIN visit v ON v.pat = p.id JOIN kind k ON k.id = v.kind GROUP BY k.id"
    write("k.yaml", policy % "privacy: public, ")
    run("budget", "init", "--ledger", "kl", "--epsilon", "9")
    status, a = ask("release", "--format", "json", "--db", "k", "--policy", "k.yaml", "--ledger", "kl", "--epsilon", "1", query)
    check("13 groups", status == 0 and a["mechanism"] == "discrete-laplace" and a["error"]["p95"] == 39 and len(a["rows"]) == 13, str(a))
    # with 70 rows the declared bound is less, and plain noise on it less than smooth noise at its least
    write("k/kind.csv", "id,name\n" + "".join(f"{i},k{i}\n" for i in range(70)))
    bound = "kind: integer}, key: [id], at_most: [{per: [pat], of: [kind], k: 60}]}"
    write("b.yaml", (policy % "privacy: public, ").replace("kind: integer}, key: [id]}", bound))
    status, a = ask("quote", "--format", "json", "--policy", "b.yaml", "--db", "k", "--epsilon", "1", query)
    check("plain noise where it is less", status == 0 and a["mechanism"] == "discrete-laplace" and a["error"]["p95"] == 180, str(a))


for test in (constants_compared, order_of_constraints, nullable_unique, loops_are_no_triangle, empty_groups, untyped_columns,
             wrong_without_types, files_as_they_are, hints, readers, as_asked, small_public_table):
    test()
end()
