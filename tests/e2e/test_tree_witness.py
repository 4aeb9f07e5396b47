#!/usr/bin/env python3
"""Lower bounds of trees: the witness that `analyze` shows for a random query with negation, unions, outer joins, numbers of partners or
a sum is loaded into SQLite, which counts it before and after the change. Known cases are exact, some without limit, and declaring what
is advised bounds them as it says."""
import importlib.util
import os
import random
import re
import sqlite3
import tempfile

from outside import ask, check, end

spec = importlib.util.spec_from_file_location(
    "diff", os.path.join(os.environ["DPC_SOURCE"], "tests", "e2e", "test_algebra_diff.py"))
diff = importlib.util.module_from_spec(spec)
spec.loader.exec_module(diff)

folder = tempfile.TemporaryDirectory(prefix="dpc-witness-")
os.chdir(folder.name)
DDL = diff.DDL + "\nCREATE TABLE d (k INTEGER PRIMARY KEY NOT NULL, x INTEGER NOT NULL, y INTEGER);"
with open("s.sql", "w", encoding="utf-8") as f:
    f.write(DDL)
BASE = ["--format", "json", "--schema", "s.sql"]


def insert(db, table, row):
    db.execute("INSERT INTO %s VALUES (%s)" % (table, ",".join("?" * len(row))),
               [None if v is None else int(v) if re.fullmatch(r"-?\d+", v) else v for v in row])


def recount(out, sql):
    """What SQLite says of the two databases."""
    db = sqlite3.connect(":memory:")
    db.executescript(DDL)
    w = out["witness"]
    for table, rows in w["database"].items():
        for row in rows:
            insert(db, table, row)
    before = diff.by_sqlite(db, sql) or 0
    insert(db, w["change"]["relation"], w["change"]["insert"])
    return before, diff.by_sqlite(db, sql) or 0


def compare(sql, theirs):
    status, out = ask("analyze", *BASE, sql)
    if status:
        check("refused before any data", out["error"]["code"] in ("unsupported", "too-large", "type"), f"{sql} {out}")
        return None
    g = out["global_sensitivity"]
    number = lambda v: float(v)
    check("below the upper bound", number(g["lower"]) <= number(g["upper"]) and g["exact"] == (g["lower"] == g["upper"]), f"{sql} {g}")
    for name, r in out["per_relation"].items():
        check("each table's too", number(r["lower"]) <= max(number(r["gain"]), number(r["loss"])), f"{sql} {name} {r}")
    w = out["witness"]
    if not w:
        check("nothing is claimed without a witness", g["lower"] == 0, f"{sql} {g}")
        return 0
    before, after = recount(out, theirs)
    # sums with two signs are raised by the same number, so that none is negative
    raised = max(0, -before, -after)
    check("SQLite counts the same", (before + raised, after + raised) == (w["count_before"], w["count_after"]), f"{sql} {before} {after} {w}")
    check("which is the bound", abs(after - before) == (w["n"] if w.get("family") else g["lower"]), f"{sql} {g} {w}")
    return abs(after - before)


compared = found = 0
for seed in range(int(os.environ.get("DPC_SEED", "1")), int(os.environ.get("DPC_SEED", "1")) + int(os.environ.get("DPC_ROUNDS", "120"))):
    q = diff.Gen(random.Random(seed)).query()
    change = compare(diff.text(q, False), diff.text(q, True))
    compared += change is not None
    found += bool(change)
print("%d queries, %d with a witness" % (compared, found))
check("most have one", found * 2 > compared, f"{found} of {compared}")

# upper, lower, exact
KNOWN = [
    ("SELECT COUNT(*) FROM c WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.x = c.k)", 1, 1),
    ("SELECT COUNT(*) FROM d WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.x = d.x)", "inf", "inf"),
    ("SELECT COUNT(*) FROM d LEFT JOIN c ON c.k = d.x WHERE c.k IS NULL", "inf", "inf"),
    ("SELECT COUNT(*) FROM c WHERE (SELECT COUNT(*) FROM d WHERE d.x = c.k) >= 4", 1, 1),
    ("SELECT COUNT(*) FROM c WHERE (SELECT COUNT(*) FROM d WHERE d.x = c.k) < 4", 1, 1),
    ("SELECT COUNT(*) FROM (SELECT x FROM d GROUP BY x HAVING COUNT(*) = 3) g", 1, 1),
    ("SELECT COUNT(*) FROM (SELECT x FROM c UNION SELECT x FROM d) u", 1, 1),
    ("SELECT COUNT(*) FROM (SELECT x FROM c EXCEPT SELECT x FROM d) u", 1, 1),
    ("SELECT SUM(LEAST(GREATEST(y, 0), 20)) FROM d", 20, 20),
    ("SELECT SUM(LEAST(GREATEST(y, -30), 20)) FROM d", 30, 30),
    ("SELECT COUNT(*) FROM c WHERE x NOT IN (SELECT x FROM d)", "inf", "inf"),
]
for sql, upper, lower in KNOWN:
    theirs = sql.replace("LEAST", "MIN").replace("GREATEST", "MAX")
    status, out = ask("analyze", *BASE, sql)
    g = out.get("global_sensitivity", {})
    check("known", (g.get("upper"), g.get("lower"), g.get("exact")) == (upper, lower, upper == lower), f"{sql} {g}")
    compare(sql, theirs)
# Advice: declaring what it says gives the bound that it says.
FOLLOWED = [
    ("SELECT COUNT(*) FROM d WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.x = d.x)", [("d: x -> k <= k", "k")]),
    ("SELECT COUNT(*) FROM c LEFT JOIN d ON d.x = c.k", [("d: x -> k <= k", "k + 1")]),
    ("SELECT COUNT(*) FROM d LEFT JOIN c ON c.k = d.x WHERE c.k IS NULL", [("d: x -> k <= k", "k")]),
    ("SELECT SUM(LEAST(GREATEST(d.y, 0), 20)) FROM c JOIN d ON d.x = c.k", [("d: x -> k <= k", "20*k")]),
    ("SELECT COUNT(*) FROM (SELECT c.k FROM c JOIN d ON d.y = c.x UNION SELECT k FROM d) u", None),
    ("SELECT d.x, COUNT(*) FROM d WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.x = d.y) GROUP BY d.x", None),
]
for sql, want in FOLLOWED:
    for notion in ("add-drop-one", "change-one"):
        status, out = ask("analyze", *BASE, "--neighbours", notion, sql)
        given = [(a["constraint"], a["upper"]) for a in out["advice"]]
        check("advice", given and (want is None or notion == "change-one" or given == want), f"{sql} {given}")
        for constraint, upper in given:
            letters = {name: 3 + i for i, name in enumerate(sorted(set(re.findall(r"\bk\d*\b", upper + constraint.split("<=", 1)[1]))))}
            declared = []
            for one in constraint.split("; "):
                left, k = one.rsplit("<= ", 1)
                declared += ["--constraint", left + "<= %d" % letters[k]]
            says = eval(upper.replace("^", "**"), {"max": max}, letters)  # pylint: disable=eval-used
            status, out = ask("analyze", *BASE, "--neighbours", notion, *declared, sql)
            bound = out["global_sensitivity"]["upper"]
            check("followed", bound != "inf" and bound <= says and (want is None or bound == says), f"{sql} {declared} {bound} for {says}")

status, out = ask("analyze", *BASE, "--witness-size", "40", KNOWN[1][0])
check("as large as asked", out["witness"]["n"] >= 40, out["witness"]["n"])
end()
