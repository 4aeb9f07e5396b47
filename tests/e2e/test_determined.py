#!/usr/bin/env python3
"""Columns that the keys of GROUP BY determine, as PostgreSQL takes them: they are keys as well, so that they come from public rows or
pass the threshold; never where the key may be missing, or the rows are those of a union."""
import os
import sqlite3
import tempfile

from outside import ask, check, end

folder = tempfile.TemporaryDirectory(prefix="dpc-determined-")
os.chdir(folder.name)
db = sqlite3.connect("d.db")
db.executescript("""CREATE TABLE p (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL);
CREATE TABLE o (id INTEGER PRIMARY KEY NOT NULL, p INTEGER NOT NULL REFERENCES p(id), who TEXT NOT NULL);
CREATE TABLE two (a INTEGER NOT NULL, b INTEGER NOT NULL, c TEXT NOT NULL, PRIMARY KEY (a, b));
INSERT INTO p VALUES (1, 'one', 'x'), (2, 'two', 'x'), (3, 'one', 'y'); INSERT INTO two VALUES (1, 1, 'k'), (1, 2, 'k'), (2, 1, 'l');
INSERT INTO o VALUES (1, 1, 'ann'), (2, 1, 'bob'), (3, 3, 'cem'), (4, 2, 'ann'), (5, 2, 'ann'), (6, 2, 'dee');""")
db.commit()
BASE = ["--format", "json", "--db", "d.db", "--private", "o", "--public", "p,two"]

SAME = [
    "SELECT p.id, p.name, COUNT(*) FROM o JOIN p ON p.id = o.p GROUP BY p.id ORDER BY p.id",
    "SELECT p.name, COUNT(*) FROM o JOIN p ON p.id = o.p GROUP BY p.id ORDER BY 2 DESC, p.id",
    "SELECT p.name || '/' || p.kind AS label, COUNT(*) AS n FROM o JOIN p ON p.id = o.p GROUP BY p.id HAVING p.kind = 'x' ORDER BY p.name",
    "SELECT p.id, COUNT(*) FROM o JOIN p ON p.id = o.p GROUP BY p.id ORDER BY p.kind DESC, p.name DESC, p.id",
    "SELECT p.kind, COUNT(o.id), COUNT(DISTINCT o.who) FROM p LEFT JOIN o ON p.id = o.p GROUP BY p.id ORDER BY p.id",
    "SELECT t.a, t.b, t.c, COUNT(*) FROM o JOIN two t ON t.a = o.p GROUP BY t.a, t.b ORDER BY t.a, t.b",
]
for sql in SAME:
    status, out = ask("count", *BASE, sql)
    want = [list(r) for r in db.execute(sql)]
    check("the same rows", status == 0 and [r for r in out["rows"] if r[-1]] == want, f"{sql} {out} {want}")

REFUSED = [
    "SELECT t.a, t.c, COUNT(*) FROM o JOIN two t ON t.a = o.p GROUP BY t.a",  # half of a key
    "SELECT p.id, o.who, COUNT(*) FROM o JOIN p ON p.id = o.p GROUP BY p.id",  # another table
    "SELECT q.id, p.name, COUNT(*) FROM o JOIN p ON p.id = o.p JOIN p q ON q.kind = p.kind GROUP BY q.id",  # another use of the table
    "SELECT u.id, u.name, COUNT(*) FROM (SELECT id, name FROM p UNION SELECT id, kind FROM p) u GROUP BY u.id",
    "SELECT p.id + 1, p.name, COUNT(*) FROM o JOIN p ON p.id = o.p GROUP BY p.id + 1",
]
for sql in REFUSED:
    status, out = ask("quote", *BASE, "--epsilon", "1", sql)
    check("refused", status == 3 and "GROUP BY key" in out["error"]["message"], f"{sql} {out}")

# PRIVACY: the key of a private table's row is released past a threshold only, and so is what it determines.
sql = "SELECT o.id, o.who, COUNT(*) FROM o GROUP BY o.id"
status, out = ask("quote", *BASE, "--epsilon", "1", sql)
check("private keys need a delta", status == 3, out)
status, out = ask("count", *BASE, sql)
check("both are keys", status == 0 and sorted(g["key"] for g in out["groups"])[0] == [1, "ann"], out)
end()
