#!/usr/bin/env python3
"""Negation, unions, outer joins and thresholds where an entity is protected: the
count with and without each entity, by SQLite, never differs by more than the
bound says; the rows of one entity that decide about many others are seen."""
import os
import random
import sqlite3
import tempfile

import outside
from outside import check, end

POLICY = """
entities: [customer]
neighbours: %s
tables:
  orders: {owned_by: [{via: [c], table: customer}], at_most: [{per: [c], of: [o], k: 3}]}
  item: {owned_by: [{via: [o], table: orders}], at_most: [{per: [o], of: [i], k: 2}]}
  note: {owned_by: [{via: [c], table: customer}]}
"""
DDL = """CREATE TABLE customer (c INTEGER PRIMARY KEY NOT NULL, city TEXT);
CREATE TABLE orders (o INTEGER PRIMARY KEY NOT NULL, c INTEGER, k INTEGER);
CREATE TABLE item (i INTEGER PRIMARY KEY NOT NULL, o INTEGER);
CREATE TABLE note (n INTEGER PRIMARY KEY NOT NULL, c INTEGER);"""
TABLES = ["customer", "orders", "item", "note"]

# what is asked, and the bound: insert or delete, change
QUERIES = [
    ("SELECT COUNT(*) FROM customer x WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.c = x.c)", 1),
    ("SELECT COUNT(*) FROM customer x WHERE (SELECT COUNT(*) FROM orders o WHERE o.c = x.c) >= 2", 2),
    ("SELECT COUNT(*) FROM customer x WHERE (SELECT COUNT(*) FROM orders o WHERE o.c = x.c) = 1", 2),
    ("SELECT COUNT(*) FROM orders x WHERE NOT EXISTS (SELECT 1 FROM item i WHERE i.o = x.o)", 3),
    ("SELECT COUNT(*) FROM customer x LEFT JOIN orders o ON o.c = x.c", None),
    ("SELECT COUNT(*) FROM (SELECT c FROM orders WHERE k = 1 UNION SELECT c FROM orders WHERE k = 2) u", None),
    ("SELECT COUNT(*) FROM (SELECT c FROM orders EXCEPT SELECT c FROM note) u", None),
    ("SELECT COUNT(*) FROM (SELECT c FROM orders GROUP BY c HAVING COUNT(*) >= 2) g", None),
    ("SELECT COUNT(*) FROM (SELECT c FROM orders GROUP BY c HAVING COUNT(*) = 2) g", None),
    ("SELECT COUNT(*) FROM customer x WHERE city = 'A' OR EXISTS (SELECT 1 FROM note n WHERE n.c = x.c)", None),
    ("SELECT COUNT(*) FROM orders x WHERE x.c NOT IN (SELECT c FROM note WHERE c IS NOT NULL)", None),
    # not closed: one entity's rows decide about everybody's
    ("SELECT COUNT(*) FROM customer x WHERE NOT EXISTS (SELECT 1 FROM note n WHERE n.n = 3)", "inf"),
    ("SELECT COUNT(*) FROM orders x WHERE NOT EXISTS (SELECT 1 FROM orders y WHERE y.k = x.k AND y.o <> x.o)", "inf"),
    ("SELECT COUNT(*) FROM note x WHERE NOT EXISTS (SELECT 1 FROM orders y WHERE y.c = x.c)", "inf"),
    ("SELECT COUNT(*) FROM customer x WHERE x.c NOT IN (SELECT c FROM note)", "inf"),
]


def ask(command, *args):
    return outside.ask(*command.split(), "--format", "json", *args)


def rows_of(rng):
    rows = {"customer": [(i, rng.choice([None, "A", "B"])) for i in range(1, 5) if rng.random() < 0.8], "orders": [], "item": [], "note": []}
    per = {}
    for o in range(1, 8):
        c = rng.choice([None, 1, 2, 3, 4, 9])  # 9: nobody's row
        per[c] = per.get(c, 0) + 1
        if c is None or per[c] <= 3:
            rows["orders"].append((o, c, rng.choice([None, 1, 2])))
    per = {}
    for i in range(1, 7):
        o = rng.choice([None] + [r[0] for r in rows["orders"]] + [77])
        per[o] = per.get(o, 0) + 1
        if o is None or per[o] <= 2:
            rows["item"].append((i, o))
    rows["note"] = [(n, rng.choice([None, 1, 2, 3])) for n in range(1, 4) if rng.random() < 0.7]
    return rows


def owner(rows, table, row):
    """The entity a row belongs to: of a missing row or of a NULL it is one of its own."""
    if table == "customer":
        return ("customer", row[0])
    if table == "item":
        if row[1] is None:
            return ("item row", row[0])
        for o in rows["orders"]:
            if o[0] == row[1]:
                return owner(rows, "orders", o)
        return ("orders", row[1])
    return ("customer", row[1]) if row[1] is not None else (table + " row", row[0])


def count(rows, sql):
    db = sqlite3.connect(":memory:")
    db.executescript(DDL)
    for t in TABLES:
        for r in rows[t]:
            db.execute("INSERT INTO %s VALUES (%s)" % (t, ",".join("?" * len(r))), r)
    n = db.execute(sql).fetchone()[0]
    db.close()
    return n


folder = tempfile.TemporaryDirectory(prefix="dpc-entity-trees-")
os.chdir(folder.name)
outside.write("s.sql", DDL)
outside.write("p.yaml", POLICY % "add-drop-entity")
outside.write("q.yaml", POLICY % "change-entity")
bounds = []
for sql, want in QUERIES:
    found = []
    for policy in ("p.yaml", "q.yaml"):
        status, a = ask("analyze", "--schema", "s.sql", "--policy", policy, sql)
        check("analyze", status == 0, f"{sql} {a}")
        found.append(a["entity"]["static_upper"] if status == 0 else "inf")
    check("the bound", want is None or found[0] == want, f"{sql} {found}")
    status, a = ask("quote", "--schema", "s.sql", "--policy", "p.yaml", "--epsilon", "1", sql)
    check("answered if it is finite", (status == 0) == (found[0] != "inf"), f"{sql} {a}")
    check("never cut", status != 0 or a["mechanism"] == "discrete-laplace", f"{sql} {a}")
    bounds.append(found)
    status, a = ask("quote", "--schema", "s.sql", "--policy", "p.yaml", "--epsilon", "1", "--mechanism", "election", sql)
    check("no election", status == 3, f"{sql} {a}")

def only(rows, u):
    return {t: [r for r in rows[t] if owner(rows, t, r) == u] for t in TABLES}


def less(rows, u):
    return {t: [r for r in rows[t] if owner(rows, t, r) != u] for t in TABLES}


def exchanged(rows, other, u):
    """Other rows for the entity, under keys that nobody else has."""
    moved = lambda v: v if v is None else v + 100
    new = only(other, u)
    more = {"customer": new["customer"], "orders": [(moved(o), c, k) for o, c, k in new["orders"]],
            "item": [(moved(i), moved(o)) for i, o in new["item"]], "note": [(moved(n), c) for n, c in new["note"]]}
    kept = less(rows, u)
    return {t: kept[t] + more[t] for t in TABLES}


# C10: NULLs are entities of their own, so that a NULL-safe join is no ownership
status, a = ask("quote", "--schema", "s.sql", "--policy", "p.yaml", "--epsilon", "1",
                "SELECT COUNT(*) FROM orders x WHERE NOT EXISTS (SELECT 1 FROM note n WHERE n.c IS NOT DISTINCT FROM x.c)")
check("C10", status == 3, str(a))
status, a = ask("quote", "--schema", "s.sql", "--policy", "p.yaml", "--epsilon", "1",
                "SELECT COUNT(*) FROM orders x WHERE NOT EXISTS (SELECT 1 FROM note n WHERE n.c = x.c OR (n.c IS NULL AND x.c IS NULL))")
check("C10, written out", status == 3, str(a))

largest = [[0, 0] for _ in QUERIES]
for seed in range(int(os.environ.get("DPC_ROUNDS", "60"))):
    rows, other = rows_of(random.Random(seed)), rows_of(random.Random(1000 + seed))
    entities = sorted({owner(rows, t, r) for t in TABLES for r in rows[t]})
    without = [less(rows, u) for u in entities]
    changed = [exchanged(rows, other, ("customer", c)) for c in (1, 2, 3, 4)]
    for q, (sql, _) in enumerate(QUERIES):
        whole = count(rows, sql)
        largest[q][0] = max([largest[q][0]] + [abs(whole - count(w, sql)) for w in without])
        largest[q][1] = max([largest[q][1]] + [abs(whole - count(w, sql)) for w in changed])
for (sql, _), found, seen in zip(QUERIES, bounds, largest):
    for k in range(2):
        check("what one entity changes", found[k] == "inf" or seen[k] <= found[k], f"{sql}: {seen} of {found}")
    check("a bound that cannot fail says nothing", found[0] == "inf" or seen[0] > 0, sql)

# release: with the counts of the tree, not of its root
os.mkdir("data")
rows = rows_of(random.Random(3))
names = {"customer": "c,city", "orders": "o,c,k", "item": "i,o", "note": "n,c"}
for t in TABLES:
    outside.write("data/%s.csv" % t, names[t] + "\n" + "".join(",".join("" if v is None else str(v) for v in r) + "\n" for r in rows[t]))
ask("budget init", "--ledger", "l", "--epsilon", "1000")
for (sql, _), found in zip(QUERIES, bounds):
    status, a = ask("release", "--ledger", "l", "--db", "data", "--schema", "s.sql", "--policy", "p.yaml", "--epsilon", "60", sql)
    check("release", (status == 0) == (found[0] != "inf"), f"{sql} {a}")
    check("the count", status != 0 or abs(a["answer"] - count(rows, sql)) <= 2, f"{sql} {a} {count(rows, sql)}")
end()
