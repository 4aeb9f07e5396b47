#!/usr/bin/env python3
"""What someone meets who brings data of their own for the first time: the
policy that is written and its edits, types of CSV columns, tables of counts,
the history, views and virtual tables, and messages that say what to do."""
import json
import os
import re
import sqlite3
import tempfile

import outside
from outside import check, end, write


def run(*args):
    r = outside.run(*args)
    return r.returncode, r.stdout, r.stderr


def count(query, db, policy=None):
    status, out, err = run("count", "--db", db, *(["--policy", policy] if policy else []), query)
    return int(out) if status == 0 else err


def csv_types():
    """A file types no column. The policy can, and a mistake in it is none that passes in silence."""
    os.mkdir("csv")
    write("csv/stay.csv", "id,from_day,to_day,urgent\n1,2024-01-01,2024-01-09,t\n2,2024-03-01,2024-03-02,f\n3,2024-02-28,,\n")
    long = "SELECT COUNT(*) FROM stay WHERE to_day - from_day > 3 AND urgent"
    check("no types", 'type of column "to_day" is not declared' in str(count(long, "csv")), count(long, "csv"))
    policy = run("policy", "init", "--db", "csv")[1]
    line = next(x for x in policy.split("\n") if "columns:" in x)
    check("the policy declares the columns, and shows where types go",
          line == "    columns: [id, from_day, to_day, urgent]" and "{name: integer, ...}" in policy, policy)
    typed = "    columns: {id: text, from_day: date, to_day: date, urgent: boolean}"
    write("typed.yaml", policy.replace(line, typed))
    check("types of the policy", count(long, "csv", "typed.yaml") == 1, count(long, "csv", "typed.yaml"))
    for wrong, says in (("{from_dya: date}", 'no column "from_dya"'), ("{from_day: dat}", "unknown type"),
                        ("[from_day date]", "no column")):
        write("wrong.yaml", policy.replace(line, "    columns: " + wrong))
        status, _, err = run("check", "--db", "csv", "--policy", "wrong.yaml")
        check(f"columns {wrong}", status == 2 and says in err, err)
        check("its place is said once", err.count("wrong.yaml:") == 1, err)


def semicolons():
    """As spreadsheets write them where the comma is for decimals; the header decides."""
    os.mkdir("sheet")
    with open("sheet/p.csv", "wb") as f:
        f.write('\ufeffid;name;weight\r\n1;"Müller; Anna";70,5\r\n2;Bob;80\r\n3;;\r\n4;a,b,c;"1"\r\n'.encode())
    check("semicolons", count("SELECT COUNT(*) FROM p WHERE name LIKE 'M%a'", "sheet") == 1)
    check("empty fields", count("SELECT COUNT(name) FROM p", "sheet") == 3)
    check("commas in fields", count("SELECT COUNT(*) FROM p WHERE name = 'a,b,c' AND weight = 1", "sheet") == 1)
    check("decimal commas", count("SELECT COUNT(*) FROM p WHERE weight = '70,5'", "sheet") == 1)
    write("blank.txt", "1;2\n3;4\n5;6\n")
    status, out, err = run("count", "--table", "t(a integer, b integer)=blank.txt", "SELECT COUNT(*) FROM t WHERE a + b > 5")
    check("no header", status == 0 and out == "2\n", out + err)


def policy_edits():
    """Two foreign keys: what the comments suggest can be taken as it stands."""
    db = sqlite3.connect("two.db")
    db.executescript("CREATE TABLE a(id INTEGER PRIMARY KEY, v INT); CREATE TABLE b(id INTEGER PRIMARY KEY);"
                     "CREATE TABLE ab(id INTEGER PRIMARY KEY, a INT NOT NULL REFERENCES a(id), b INT REFERENCES b(id));"
                     "INSERT INTO a VALUES (1, 1), (2, 1); INSERT INTO b VALUES (1); INSERT INTO ab VALUES (1, 1, 1), (2, 2, 1)")
    db.close()
    policy = run("policy", "init", "--db", "two.db")[1]
    write("two.yaml", policy.replace("    # at_most:", "    at_most:").replace("    #   - {per", "      - {per").replace("k: K}", "k: 3}")
          .replace("# budget: {epsilon: E, delta: D}", "budget: {epsilon: 10, delta: 1e-6}"))
    check("no invented numbers", not re.search(r"(k|rows_at_most|epsilon|delta): [0-9]", policy), policy)
    check("lookups are pointed out", policy.count("it refers to nothing") == 2, policy)
    write("alone.yaml", policy)
    status, out, err = run("quote", "--policy", "alone.yaml", "--epsilon", "1", "SELECT COUNT(*) FROM ab JOIN a ON a.id = ab.a WHERE v > 3")
    check("quote with the policy alone", status == 0, out + err)
    status, out, err = run("check", "--db", "two.db", "--policy", "two.yaml")
    check("both bounds are read", status == 0 and "all 5 declared" in out, policy + out + err)
    status, out, err = run("budget", "init", "--ledger", "two.ledger", "--policy", "two.yaml")
    check("a budget from the policy alone", status == 0 and "epsilon 10 and delta 0.000001" in out, out + err)
    write("odd.yaml", "tables: {other: {privacy: public}}\n")
    status, _, err = run("check", "--db", "two.db", "--policy", "odd.yaml")
    check("an unknown table", status == 2 and "The tables are a, ab, b." in err, err)
    write("types.yaml", "tables: {a: {columns: {v: date}}}\n")
    status, _, err = run("check", "--db", "two.db", "--policy", "types.yaml")
    check("the catalogue's type stands", status == 2 and "of type integer, not date" in err, err)


def copies():
    """A row of a view or of a virtual table is a row of others too: refused before anything is charged."""
    db = sqlite3.connect("copies.db")
    db.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, x TEXT); INSERT INTO t VALUES (1, 'a');"
                     "CREATE VIEW v AS SELECT * FROM t; CREATE VIEW broken AS SELECT * FROM gone")
    full_text = True
    try:
        db.execute("CREATE VIRTUAL TABLE ft USING fts5(x)")
    except sqlite3.OperationalError:
        full_text = False
    db.commit()
    db.close()
    check("the table itself", count("SELECT COUNT(*) FROM t", "copies.db") == 1)
    run("budget", "init", "--ledger", "copies.ledger", "--epsilon", "1")
    for name in ["v"] + (["ft", "ft_content"] if full_text else []):
        for args in (["release", "--ledger", "copies.ledger", "--deadline", "0.2"], ["quote"]):
            status, out, err = run(*args, "--db", "copies.db", "--epsilon", "1", f"SELECT COUNT(*) FROM {name}")
            check(f"{args[0]} {name}", status == 3 and "Its rows are rows of other tables too" in err, out + err)
    spent = json.loads(run("budget", "show", "--ledger", "copies.ledger", "--format", "json")[1])["spent"]
    check("not charged", spent == 0, spent)
    policy = run("policy", "init", "--db", "copies.db")[1]
    check("said in the policy", "# not to be queried: v is a view" in policy and "\n  t:\n" in policy and
          "ft_content:" not in policy, policy)


def tables_of_counts():
    """Keys and numbers stand apart, and a key looks the same wherever it comes from."""
    db = sqlite3.connect("keys.db")
    db.executescript("CREATE TABLE p(id INTEGER PRIMARY KEY, town TEXT, smokes BOOLEAN)")
    db.executemany("INSERT INTO p(town, smokes) VALUES (?, ?)",
                   [("Garmisch-Partenkirchen", 1)] * 4000 + [("null", None)] * 3000 + [("Köln", 0)] * 2000)
    db.commit()
    db.close()
    query = "SELECT town, smokes, COUNT(*) FROM p GROUP BY town, smokes"
    out = run("count", "--db", "keys.db", query)[1]
    lines = ["town                    smokes  count", "Garmisch-Partenkirchen  true    4,000",
             "Köln                    false   2,000", "null                    NULL    3,000"]
    check("exact", sorted(out.splitlines()) == sorted(lines), out)
    groups = json.loads(run("count", "--db", "keys.db", "--format", "json", query)[1])["groups"]
    check("NULL is not a text", {"key": ["null", None], "count": 3000} in groups, groups)
    run("budget", "init", "--ledger", "keys.ledger", "--epsilon", "100", "--delta", "1e-3")
    release = ["release", "--db", "keys.db", "--ledger", "keys.ledger", "--epsilon", "10"]
    found = run(*release, "--delta", "1e-6", "--analyst", "ann", query)[1].splitlines()
    named = run(*release, "--groups", "town=Garmisch-Partenkirchen,Köln", "--groups", "smokes=true", query)[1].splitlines()
    check("found", found[1].startswith("Garmisch-Partenkirchen  true    "), found)
    check("named", named[1].startswith("Garmisch-Partenkirchen  true    ") and
          named[2].startswith("Köln                    true    "), named)
    one = run(*release, "SELECT COUNT(*) FROM p")[1].split()[1]
    past = run("budget", "history", "--ledger", "keys.ledger")[1].splitlines()
    check("history, headings", past[0].split() == ["time", "analyst", "epsilon", "answer", "receipt", "query"], past)
    check("history, groups", re.search(r"Z  ann +10, delta (1/1000000|0.000001)  3 answers  \w{24}  SELECT town, smokes", past[1]), past)
    check("history, answer", re.search(f"Z +10 +{one.replace(',', '')} +\\w{{24}}  SELECT COUNT", past[3]), past)
    mine = run("budget", "history", "--ledger", "keys.ledger", "--analyst", "ann")[1].splitlines()
    check("history of one analyst", len(mine) == 2 and mine[1].split() == past[1].split(), mine)


def messages():
    status, _, err = run("count", "--db", "no.db", "SELECT COUNT(*) FROM t")
    check("no file", status == 5 and "No such file" in err and "a folder of CSV files" in err, err)
    status, _, err = run("count", "--db", "csv/stay.csv", "SELECT COUNT(*) FROM stay")
    check("one file", status == 5 and "--table 'name=FILE'" in err, err)
    status, _, err = run("count", "--db", "mysql://ann:secret@host/db", "SELECT COUNT(*) FROM t")
    check("another database", status == 5 and "not known" in err and "secret" not in err, err)
    status, _, err = run("analyze", "--db", "two.db", "SELECT a, b, COUNT(*) FROM ab GROUP BY a")
    check("a column that is no key", status == 3 and "GROUP BY, or leave it out" in err, err)
    status, _, err = run("count", "--db", "postgresql:///x?host=" + os.getcwd(), "SELECT COUNT(*) FROM t")
    check("no server", status == 5 and "psql takes the same" in err and "Database \"x\" on" in err, err)
    status, _, err = run("count", "--db", "service=none-such", "SELECT COUNT(*) FROM t")
    check("no service", status == 5 and "none-such" in err and "detail" not in err, err)
    status, _, err = run("budget", "init", "--ledger", "x.ledger", "--dataset", "d", "--epsilon", "1")
    check("init has no dataset", status == 2 and not os.path.exists("x.ledger"), err)
    run("budget", "init", "--ledger", "y.ledger", "--epsilon", "1")
    status, _, err = run("budget", "show", "--ledger", "y.ledger", "--dataset", "d")
    check("how to make a dataset", status == 2 and "budget grant --dataset" in err, err)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    csv_types()
    semicolons()
    policy_edits()
    copies()
    tables_of_counts()
    messages()
    end()
