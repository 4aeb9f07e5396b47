#!/usr/bin/env python3
"""GROUP BY over unions and outer joins: each branch has keys of its own, so what
the first one says is not all. And what cannot be counted with negation is refused
before the charge, never a lock; why there is a lock, only the owner is told."""
import os
import sqlite3
import tempfile

from outside import ask, check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-tree-keys-")
os.chdir(folder.name)
for name, script in (("p.db", """CREATE TABLE P(x INT, y INT); CREATE TABLE S(a INT, b INT); CREATE TABLE Z(x INT);
                      INSERT INTO P VALUES (0, 0), (1, 0), (2, 0), (NULL, 1); INSERT INTO S VALUES (3, 1), (2, 1), (0, 0);
                      INSERT INTO Z VALUES (0), (7);"""),
                     ("i.db", "CREATE TABLE S(a INT UNIQUE, b INT); INSERT INTO S VALUES (0, 0);")):
    db = sqlite3.connect(name)
    db.executescript(script)
    db.close()
TABLES = ["--db", "p.db", "--private", "S", "--public", "P,Z"]
ask("budget", "init", "--ledger", "l", "--epsilon", "1000")

for query, keys in (
        ("SELECT S.b, COUNT(*) FROM S LEFT JOIN P ON P.x = S.a AND S.b = 1 GROUP BY S.b", [0, 1, 2]),
        ("SELECT u.v, COUNT(*) FROM (SELECT b AS v FROM S WHERE b = 1 UNION ALL SELECT a FROM S) u GROUP BY u.v", [0, 1, 2, 3]),
        ("SELECT S.b, COUNT(*) FROM S LEFT JOIN Z ON Z.x = S.b GROUP BY S.b", [0, 1])):
    db = sqlite3.connect("p.db")
    want = sorted(map(list, db.execute(query)))
    db.close()
    status, a = ask("count", "--format", "json", *TABLES, query)
    check("every key that occurs", status == 0 and sorted(a["rows"]) == want, f"{query} {a}")
    status, a = ask("release", "--format", "json", *TABLES, "--ledger", "l", "--epsilon", "1", query)
    check("keys must be named", status == 3, f"{query} {a}")
    status, a = ask("release", "--format", "json", *TABLES, "--ledger", "l", "--epsilon", "1", "--groups",
                    ",".join(map(str, keys)), query)
    check("named keys are all answered", status == 0 and [r[0] for r in a["rows"]] == keys, f"{query} {a}")

# A key all of whose rows have a partner has no answer, and is no key.
db = sqlite3.connect("p.db")
for query in ("SELECT S.b, COUNT(*) FROM S WHERE NOT EXISTS (SELECT 1 FROM Z WHERE Z.x = S.b) GROUP BY S.b",
              "SELECT P.y, COUNT(*) FROM P WHERE NOT EXISTS (SELECT 1 FROM S WHERE S.a = P.x AND S.b = P.y) GROUP BY P.y",
              "SELECT S.b, SUM(LEAST(GREATEST(S.a, 0), 5)) FROM S WHERE NOT EXISTS (SELECT 1 FROM Z WHERE Z.x = S.b) GROUP BY S.b"):
    want = sorted(map(list, db.execute(query.replace("LEAST(GREATEST(S.a, 0), 5)", "S.a"))))
    status, a = ask("count", "--format", "json", *TABLES, query)
    check("no keys without answers", status == 0 and [list(map(int, r)) for r in sorted(a["rows"])] == want, f"{query} {want} {a}")
db.close()

# What a nullable UNIQUE column makes one row is one atom: the rows that it may
# leave out are in the count, and no question fails for it after its charge.
db = sqlite3.connect("i.db")
db.execute("INSERT INTO S VALUES (NULL, 0), (NULL, 3), (3, 1)")
db.commit()
for query in ("SELECT COUNT(*) FROM S x LEFT JOIN S y ON x.a = y.a",
              "SELECT COUNT(*) FROM S x JOIN S y ON x.a = y.a WHERE NOT EXISTS (SELECT 1 FROM S z WHERE z.b = y.a)"):
    want = db.execute(query).fetchone()[0]
    status, a = ask("count", "--format", "json", "--db", "i.db", "--private", "S", query)
    check("as SQLite counts", status == 0 and a["count"] == want, f"{query} {want} {a}")
    status, a = ask("release", "--format", "json", "--db", "i.db", "--private", "S", "--ledger", "l", "--epsilon", "1", query)
    check("answered", status == 0 and abs(a["answer"] - want) < 60, f"{query} {a}")
db.close()
check("not locked", not ask("budget", "show", "--format", "json", "--ledger", "l")[1]["locked"])

write("big.csv", "".join(f"{i},{i * 7919 % 100003}\n" for i in range(300000)))
ask("release", "--format", "json", "--table", "t(a,b)=big.csv", "--memory", "2M", "--ledger", "l", "--epsilon", "1",
    "SELECT COUNT(*) FROM t x JOIN t y ON x.a = y.b")
for more, told in (([], False), (["--analyst", "eve"], False), (["--owner"], True)):
    status, a = ask("budget", "show", "--format", "json", "--ledger", "l", *more)
    check("the reason is the owner's", status == 0 and a["locked"] and ("reason" in a) == told, f"{more} {a}")
end()
