#!/usr/bin/env python3
"""A public table says how large it is: its rows, and how many share a value, bound what a private
row can do. Private tables are never measured."""
import os
import sqlite3
import tempfile

import outside
from outside import check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-sizes-")
os.chdir(folder.name)
POLICY = """tables:
  pat: {columns: {id: integer, sex: text}, key: [id]}
  visit: {columns: {id: integer, pat: integer, kind: integer}, key: [id]}
  kind: {%scolumns: {id: integer, name: text, part: integer}, key: [id]}
"""
write("public.yaml", POLICY % "privacy: public, ")
write("private.yaml", POLICY % "")
GROUPS = "SELECT k.id, COUNT(DISTINCT p.id) FROM pat p JOIN visit v ON v.pat = p.id JOIN kind k ON k.id = v.kind GROUP BY k.id"
PARTS = "SELECT COUNT(*) FROM visit v JOIN kind k ON k.part = v.kind"


def data(db, kinds, parts, visits=20):
    os.makedirs(db, exist_ok=True)
    write(f"{db}/pat.csv", "id,sex\n" + "".join(f"{i},F\n" for i in range(9)))
    write(f"{db}/visit.csv", "id,pat,kind\n" + "".join(f"{i},{i % 9},{i % 5}\n" for i in range(visits)))
    write(f"{db}/kind.csv", "id,name,part\n" + "".join(f"{i},k{i},{i % parts}\n" for i in range(kinds)))


def quote(query, *args):
    status, a = outside.ask("quote", "--format", "json", "--epsilon", "1", *args, query)
    return a if status == 0 else a["error"]


P = ["--policy", "public.yaml"]
data("d", 13, 4)
a = quote(GROUPS, *P, "--db", "d")
check("at most 13 groups", a.get("global_sensitivity") == 13 and a["mechanism"] == "discrete-laplace" and a["error"]["p95"] == 39, str(a))
status, a = outside.ask("analyze", "--format", "json", *P, PARTS)
check("not without the table", a["global_sensitivity"]["upper"] == "inf", str(a))
a = quote(PARTS, *P, "--db", "d")
check("rows that share a value", a.get("global_sensitivity") == 4, str(a))
data("more", 40, 40)
check("another table", quote(GROUPS, *P, "--db", "more").get("global_sensitivity") == 40 and quote(PARTS, *P, "--db", "more").get("global_sensitivity") == 1)
a = quote(PARTS, "--policy", "private.yaml", "--db", "d")
check("a private table is not measured", a.get("global_sensitivity") == "inf", str(a))
# equal rows of a table without a key count as often as they occur, and as they were measured
write("bag.yaml", open("public.yaml", encoding="utf-8").read().replace("part: integer}, key: [id]", "part: integer}"))
check("without a key", quote(PARTS, "--policy", "bag.yaml", "--db", "d").get("global_sensitivity") == 4)
data("twice", 4, 2)
write("twice/kind.csv", "id,name,part\n" + "1,k,1\n" * 3 + "2,k,2\n")
check("equal rows", quote(PARTS, "--policy", "bag.yaml", "--db", "twice").get("global_sensitivity") == 3)
outside.run("budget", "init", "--ledger", "bl", "--epsilon", "2")
status, a = outside.ask("release", "--format", "json", "--epsilon", "1", "--ledger", "bl", "--policy", "bag.yaml", "--db", "twice", PARTS)
check("hold of the content", status == 0 and a["error"]["p95"] == 9, str(a))
# neighbours have the same bounds: only the private rows differ
data("n", 13, 4, 21)
check("private rows do not matter", quote(GROUPS, *P, "--db", "n") == quote(GROUPS, *P, "--db", "d"))

# a release: what was measured is checked with the content, and the content may change
outside.run("budget", "init", "--ledger", "l", "--epsilon", "20")
L = ["release", "--format", "json", "--epsilon", "1", "--ledger", "l", *P]
status, a = outside.ask(*L, "--db", "d", PARTS)
check("released", status == 0 and a["error"]["p95"] == quote(PARTS, *P, "--db", "d")["error"]["p95"], f"{status} {a}")
data("d", 13, 1)
status, b = outside.ask(*L, "--db", "d", PARTS)
check("not the stored answer of another bound", status == 0 and not b["repeated"] and b["error"]["p95"] > a["error"]["p95"], f"{status} {b}")

# SQLite the same; a table beyond the limit is left alone
db = sqlite3.connect("s.db")
db.executescript("CREATE TABLE pat(id INTEGER PRIMARY KEY, sex TEXT); CREATE TABLE visit(id INTEGER PRIMARY KEY, pat INTEGER, kind INTEGER);"
                 "CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT, part INTEGER);")
db.executemany("INSERT INTO kind VALUES (?, 'k', ?)", [(i, i % 3) for i in range(12)])
db.commit()
check("SQLite", quote(GROUPS, *P, "--db", "s.db").get("global_sensitivity") == 12)
db.executemany("INSERT INTO kind VALUES (?, 'k', ?)", [(i, i % 3) for i in range(100, 30000)])
db.commit()
check("a large one", quote(GROUPS, *P, "--db", "s.db").get("global_sensitivity") == "inf")
end()
