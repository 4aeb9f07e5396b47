#!/usr/bin/env python3
"""UNIQUE on columns that may be NULL: NULLs do not collide, equal values do. The bound is compared with every small
database that SQLite itself accepts, `check` with what SQLite refuses."""
import itertools
import os
import sqlite3
import tempfile

import outside
from outside import check, end

TABLE = "CREATE TABLE m(a int UNIQUE, b int, c int, UNIQUE (b, c))"
CELLS = (None, 1, 2)
QUERIES = {  # the largest change of one row that three rows can show, None: none is exact
    "SELECT COUNT(*) FROM m x, m y WHERE x.a = y.a": 1,
    "SELECT COUNT(*) FROM m x JOIN m y USING (a)": 1,
    "SELECT COUNT(*) FROM m x": 1,
    "SELECT COUNT(DISTINCT a) FROM m": 1,
    "SELECT COUNT(*) FROM m x, m y WHERE x.b = y.b AND x.c = y.c": 1,
    "SELECT COUNT(*) FROM m x, m y WHERE x.b = y.b": None,
    "SELECT COUNT(*) FROM m x, m y WHERE x.a = 1 AND y.a = 2": None,
    "SELECT COUNT(*) FROM m x, m y WHERE x.a = 1 AND y.a IS NULL": None,
    "SELECT COUNT(DISTINCT x.b) FROM m x, m y WHERE x.a = y.b": None,
    "SELECT COUNT(*) FROM m x, m y WHERE x.a = y.a AND NOT EXISTS (SELECT 1 FROM m z WHERE z.b = x.c)": None,
    "SELECT COUNT(*) FROM m x, m y WHERE x.a = y.a AND x.b + 1 = 2 AND NOT EXISTS (SELECT 1 FROM m z WHERE z.b = y.c)": None,
    "SELECT COUNT(*) FROM m x LEFT JOIN m y ON x.a = y.a": None,
    "SELECT COUNT(*) FROM m x WHERE NOT EXISTS (SELECT 1 FROM m y, m z WHERE y.a = z.a AND y.b = x.b AND z.c = 1)": None,
}


def open_table():
    db = sqlite3.connect(":memory:")
    db.execute(TABLE)
    return db


def fits(rows):
    """As SQLite decides it."""
    db = open_table()
    try:
        db.executemany("INSERT INTO m VALUES (?, ?, ?)", rows)
    except sqlite3.IntegrityError:
        return False
    return True


def count(rows, query):
    db = open_table()
    db.executemany("INSERT INTO m VALUES (?, ?, ?)", rows)
    return db.execute(query).fetchone()[0]


folder = tempfile.TemporaryDirectory(prefix="dpc-unique-")
os.chdir(folder.name)
outside.write("m.sql", TABLE + ";")
made = sqlite3.connect("m.db")
made.execute(TABLE)
made.commit()
made.close()
ROWS = list(itertools.product(CELLS, repeat=3))
SMALL = [r for r in ROWS if r[2] != 2]
databases = [d for n in (1, 2, 3) for d in itertools.combinations_with_replacement(SMALL if n == 3 else ROWS, n) if fits(d)]
for query, exact in QUERIES.items():
    known = {(): count((), query)} | {d: count(d, query) for d in databases}
    most = 0
    for d in databases:
        for i in range(len(d)):
            less = known.get(d[:i] + d[i + 1:])
            most = max(most, abs(known[d] - less))
    for source in (["--schema", "m.sql"], ["--db", "m.db"]):
        status, a = outside.ask("analyze", *source, "--format", "json", query)
        upper = a["global_sensitivity"]["upper"] if status == 0 else 0
        check(f"bound {query}", upper == "inf" or upper >= most, f"{upper} below {most}")
        check(f"exact {query}", exact is None or upper == exact == most, f"{upper}, {most} by trying")
        w = a["witness"]
        if not w:
            continue
        rows = [[None if c in ("null", None) else c for c in r] for r in w["database"].get("m", []) + [w["change"]["insert"]]]
        check(f"witness {query}", fits(rows), str(w))

# what a key makes one row is one atom: nothing is left that evaluation could not read
outside.write("m.csv", "a,b,c\n1,2,3\n,2,4\n,,1\n5,1,2\n")
for query in QUERIES:
    rows = [(1, 2, 3), (None, 2, 4), (None, None, 1), (5, 1, 2)]
    status, a = outside.ask("sensitivity", "--schema", "m.sql", "--table", "m=m.csv", "--format", "json", query)
    check(f"measured {query}", status == 0 and a["count"] == count(rows, query), str(a)[:300])

for rows in itertools.product([(None, 1, 1), (1, 1, None), (1, None, None), (2, 1, 1), (2, 2, 2)], repeat=3):
    outside.write("m.csv", "a,b,c\n" + "".join(",".join("" if c is None else str(c) for c in r) + "\n" for r in rows))
    a = outside.ask("check", "--schema", "m.sql", "--table", "m=m.csv", "--format", "json")[1]
    check(f"check {rows}", a["holds"] == fits(rows), str(a))
end()
