#!/usr/bin/env python3
"""SUM and AVG in SQL through the program: random statements against SQLite in whole cents, golden values on a database like
TPC-H's, counterexamples to shortcuts that give too little noise, what the guarantee says, what is refused."""
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

BUILD = os.environ["DPC_BUILD"]
ROUNDS = int(os.environ.get("DPC_ROUNDS", "60"))
failures = []


def run(*args):
    r = subprocess.run([BUILD + "/dpcount", args[0], "--format", "json"] + list(args[1:]), capture_output=True, text=True)
    try:
        return json.loads(r.stdout)
    except ValueError:
        return {"error": {"message": r.stdout + r.stderr, "code": "crash"}}


def check(what, ok, *shown):
    if not ok:
        failures.append("%s: %s" % (what, " ".join(map(str, shown))))


# --- random statements: dpcount's and SQLite's side by side, sums in cents

SCHEMA = """CREATE TABLE a (id INTEGER PRIMARY KEY, g INTEGER NOT NULL, n INTEGER, d DECIMAL(8,2));
CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, w INTEGER, d DECIMAL(8,2));"""
POLICY = """tables:
  a: {privacy: private, clip: {n: [0, 5], d: [-1.50, 4.25]}}
  b: {privacy: private, clip: {w: [-3, 4], d: [0, 3]}}
"""
# what dpcount reads, what SQLite reads (in units), digits
VALUES = [
    ("{a}.n", "MIN(MAX({a}.n, 0), 5)", 0),
    ("{a}.d", "MIN(MAX(CAST(ROUND({a}.d * 100) AS INTEGER), -150), 425)", 2),
    ("{b}.w", "MIN(MAX({b}.w, -3), 4)", 0),
    ("{b}.d", "MIN(MAX(CAST(ROUND({b}.d * 100) AS INTEGER), 0), 300)", 2),
    ("LEAST(GREATEST({a}.n, 1), 3)", "CASE WHEN {a}.n IS NULL THEN 1 ELSE MIN(MAX({a}.n, 1), 3) END", 0),
    ("2 * {b}.w - 1", "MIN(MAX(2 * {b}.w - 1, -7), 7)", 0),
    ("CASE WHEN {a}.g = 1 THEN 1 ELSE 0 END", "CASE WHEN {a}.g = 1 THEN 1 ELSE 0 END", 0),
    ("COALESCE({b}.w, 2)", "MIN(MAX(COALESCE({b}.w, 2), -3), 4)", 0),
    ("CASE WHEN {b}.w > 0 THEN {a}.n END", "CASE WHEN {b}.w > 0 THEN MIN(MAX({a}.n, 0), 5) END", 0),
]
SOURCES = [
    ("a x", "x", None), ("b y", None, "y"), ("a x JOIN b y ON y.a = x.g", "x", "y"), ("a x LEFT JOIN b y ON y.a = x.id", "x", "y"),
    ("(SELECT * FROM a WHERE g > 0 UNION ALL SELECT * FROM a WHERE g < 2) x", "x", None),
    ("(SELECT g, n, d FROM a WHERE g > 0 UNION SELECT g, n, d FROM a WHERE g < 2) x", "x", None),
    ("(SELECT DISTINCT g, n, d FROM a) x", "x", None),
]
CONDITIONS = ["", " WHERE NOT EXISTS (SELECT 1 FROM b z WHERE z.a = {k})", " WHERE {k} IN (SELECT a FROM b WHERE w > 0)",
              " WHERE {k} > 0 AND {k} < 3", " WHERE {n} >= 1 AND {n} < 4", " WHERE {n} < -1", " WHERE {n} > 5"]


def fill(rng, db):
    def number(lo, hi):
        return rng.choice([None, rng.randrange(lo, hi)]) if rng.random() < 0.3 else rng.randrange(lo, hi)

    def cents():
        return None if rng.random() < 0.2 else rng.randrange(-300, 700) / 100
    for i in range(rng.randrange(12)):
        db.execute("INSERT INTO a VALUES (?, ?, ?, ?)", (i, rng.randrange(4), number(-2, 9), cents()))
    for i in range(rng.randrange(12)):
        db.execute("INSERT INTO b VALUES (?, ?, ?, ?)", (i, rng.randrange(4), number(-6, 8), cents()))
    db.commit()


def statement(rng):
    source, a, b = rng.choice(SOURCES)
    value = rng.choice([v for v in VALUES if ("{a}" not in v[0] or a) and ("{b}" not in v[0] or b)])
    mine, theirs = (v.format(a=a, b=b) for v in value[:2])
    key = "x.g" if a else "y.a"
    rest = " FROM " + source + rng.choice(CONDITIONS).format(k=key, n="x.n" if a else "y.w")
    kind = rng.choice(["SUM", "SUM", "SUM", "DISTINCT", "AVG", "FILTER"])
    if kind == "DISTINCT":
        return "SELECT SUM(DISTINCT %s)%s" % (mine, rest), "SELECT SUM(DISTINCT %s)%s" % (theirs, rest), value[2], kind
    if kind == "FILTER":
        return ("SELECT SUM(%s) FILTER (WHERE %s > 1)%s" % (mine, key, rest),
                "SELECT SUM(%s) FILTER (WHERE %s > 1)%s" % (theirs, key, rest), value[2], kind)
    if kind == "AVG":
        return "SELECT AVG(%s)%s" % (mine, rest), "SELECT SUM(%s), COUNT(%s)%s" % (theirs, theirs, rest), value[2], kind
    return "SELECT SUM(%s)%s" % (mine, rest), "SELECT SUM(%s)%s" % (theirs, rest), value[2], kind


def compare(rng, folder, number):
    path = os.path.join(folder, "t%d.db" % number)
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    fill(rng, db)
    for _ in range(4):
        mine, theirs, digits, kind = statement(rng)
        out = run("count", "--db", path, "--policy", os.path.join(folder, "p.yaml"), mine)
        want = db.execute(theirs).fetchone()
        if "rows" not in out:
            check("refused: " + mine, False, out)
            continue
        got = float(out["rows"][0][0])
        if kind == "AVG":
            if want[1]:
                check(mine, abs(got - want[0] / want[1] / 10 ** digits) < 1e-5, got, want)
            continue
        check(mine, round(got * 10 ** digits) == (want[0] or 0), got, want)
    db.close()


def differential(folder):
    rng = random.Random(11)
    with open(os.path.join(folder, "p.yaml"), "w") as f:
        f.write(POLICY)
    for number in range(ROUNDS):
        compare(rng, folder, number)


# --- golden values

TPCH = """tables:
  nation: {privacy: public, key: [n_nationkey]}
  customer: {privacy: private, key: [c_custkey]}
  orders: {privacy: private, key: [o_orderkey]}
  lineitem: {privacy: private, key: [l_orderkey, l_linenumber], columns: {l_quantity: integer}, clip: {l_quantity: [0, 50]}}
  supplier: {privacy: private, key: [s_suppkey]}
"""
JOINED = " FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey WHERE c_nationkey = 7"
GOLDEN = [
    ("SELECT SUM(l_quantity) FROM lineitem WHERE l_quantity < 24", 661175, [23, 23], {(0,): 23}),
    ("SELECT SUM(l_quantity)" + JOINED, 134936, [3358, 3657, 4006, 4405, 4854, 5353], {(0,): 3358, (1,): 299, (2,): 50}),
    ("SELECT SUM(LEAST(GREATEST(l_quantity, 0), 30))" + JOINED, 112742, [2761, 2971, 3211, 3481, 3781, 4111],
     {(0,): 2761, (1,): 210, (2,): 30}),
]


# Trees over the same rows: count, L, S.
TREES = [
    ("SELECT COUNT(*) FROM customer WHERE NOT EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey)", 1000, [1, 1], 1),
    ("SELECT COUNT(*) FROM customer WHERE NOT EXISTS (SELECT 1 FROM orders JOIN lineitem ON l_orderkey = o_orderkey"
     " WHERE o_custkey = c_custkey AND l_quantity = 50)", 1632, [1, 1], 1),
    ("SELECT COUNT(*) FROM orders LEFT JOIN lineitem ON l_orderkey = o_orderkey", 119652, [8, 9, 10, 11], 8.187308),
    ("SELECT COUNT(*) FROM customer LEFT JOIN orders ON o_custkey = c_custkey", 31000, [33, 34, 35, 36], 33),
    ("SELECT COUNT(*) FROM lineitem WHERE NOT EXISTS (SELECT 1 FROM supplier WHERE s_suppkey = l_suppkey AND s_nationkey = 7)",
     116031, [659, 660, 661], 659),
    ("SELECT COUNT(*) FROM (SELECT o_custkey FROM orders GROUP BY o_custkey HAVING COUNT(*) >= 3) g", 2000, [1, 1], 1),
    ("SELECT COUNT(*) FROM (SELECT o_custkey FROM orders GROUP BY o_custkey HAVING COUNT(*) = 10) g", 112, [1, 1], 1),
]
CAPPED = "SELECT SUM(LEAST(c, 5)) FROM (SELECT o_custkey, COUNT(*) AS c FROM orders GROUP BY o_custkey) g"


def golden_trees(data, policy):
    for sql, count, first, value in TREES:
        out = run("sensitivity", "--db", data, "--policy", policy, "--beta", "0.1", sql)
        check(sql, out.get("count") == count and out["residual"]["ls_hat"][:len(first)] == first
              and abs(out["residual"]["value"] - value) < 1e-5, out)
    out = run("sensitivity", "--db", data, "--policy", policy, CAPPED)
    check(CAPPED, out.get("count") == 10000 and out["residual"]["value"] == 1, out)
    out = run("sensitivity", "--db", data, "--policy", policy, "--neighbours", "change-one", TREES[-1][0])
    check("exchanged rows", out["residual"]["value"] == 2, out)


def golden(folder):
    made = os.path.join(BUILD, "bench", "make-tpch")
    if not os.path.exists(made):
        print("no make-tpch: golden values left out")
        return
    data, policy = os.path.join(folder, "tpch"), os.path.join(folder, "tpch.yaml")
    os.mkdir(data)
    subprocess.run([made, "0.02", "1", data], check=True, capture_output=True)
    with open(policy, "w") as f:
        f.write(TPCH)
    for sql, total, first, residuals in GOLDEN:
        out = run("sensitivity", "--db", data, "--policy", policy, "--beta", "0.1", sql)
        got = {tuple(r["removed"]): r["t"] for r in out.get("residuals", [])}
        check(sql, out.get("count") == total and out["residual"]["ls_hat"][:len(first)] == first
              and all(got[k] == v for k, v in residuals.items()), out)
        check(sql, out["residual"]["value"] == first[0], out.get("residual"))
    golden_trees(data, policy)


# --- counterexamples

def sensitivity(folder, tables, sql, *more):
    args = []
    for name, (columns, rows) in tables.items():
        path = os.path.join(folder, name + ".csv")
        with open(path, "w") as f:
            f.writelines(",".join("" if c is None else str(c) for c in row) + "\n" for row in rows)
        args += ["--table", "%s(%s)=%s" % (name, columns, path)]
    return run("sensitivity", "--beta", "0.1", "--schema", os.path.join(folder, "c.sql"), *args, *more, sql)


def counterexamples(folder):
    with open(os.path.join(folder, "c.sql"), "w") as f:
        f.write("CREATE TABLE l (k int NOT NULL, x int); CREATE TABLE r (k int NOT NULL, w int);")
    left = ("k,x", [(1, i) for i in range(50)])
    # one row of r takes 10 from each of 50 rows of l
    out = sensitivity(folder, {"l": left, "r": ("k,w", [(2, 0)])},
                      "SELECT SUM(LEAST(GREATEST(COALESCE(r.w, 10), 0), 10)) FROM l LEFT JOIN r ON l.k = r.k")
    check("a default that a row takes away", out.get("count") == 500 and out["residual"]["ls_hat"][0] >= 500, out)
    # shifted: replacing a row moves the sum of 2 x - (lo + hi) by twice its range
    sql = "SELECT AVG(LEAST(GREATEST(x, 100), 200)) FROM l WHERE x IS NOT NULL"
    for notion, want in (("add-drop-one", 100), ("change-one", 200)):
        out = sensitivity(folder, {"l": left, "r": ("k,w", [(2, 0)])}, sql, "--neighbours", notion)
        check("shifted, " + notion, out.get("counts", [{}])[0].get("residual", {}).get("value") == want, out)
    # negative weights: the larger of both sides, and their sum if rows are replaced
    sql = "SELECT SUM(LEAST(GREATEST(x, -3), 5)) FROM l"
    for notion, want in (("add-drop-one", 5), ("change-one", 8)):
        out = sensitivity(folder, {"l": left, "r": ("k,w", [(2, 0)])}, sql, "--neighbours", notion)
        check("two signs, " + notion, out.get("residual", {}).get("value") == want, out)


def nulls(folder):
    path = os.path.join(folder, "n.db")
    db = sqlite3.connect(path)
    db.executescript("CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, o INTEGER); "
                     "INSERT INTO t VALUES (1, 20, 1), (2, NULL, 2), (3, 150, 5);")
    db.close()
    policy = os.path.join(folder, "n.yaml")
    with open(policy, "w") as f:
        f.write("tables:\n  t: {privacy: private, clip: {x: [100, 200], o: [1, 4]}}\n")

    def value(sql):
        out = run("count", "--db", path, "--policy", policy, sql)
        return out["rows"][0][0] if "rows" in out else out
    # a NULL adds nothing to a shifted sum; 20 and 150 are cut to 100 and 150
    check("AVG with NULL", float(value("SELECT AVG(x) FROM t")) == 125, value("SELECT AVG(x) FROM t"))
    # LEAST and GREATEST leave NULL out, as in PostgreSQL
    check("clip in the query", float(value("SELECT SUM(LEAST(GREATEST(x, 10), 50)) FROM t WHERE id < 3")) == 30)
    # lo + hi is odd: half units are kept
    check("half units", float(value("SELECT AVG(o) FROM t")) == 7 / 3 or abs(float(value("SELECT AVG(o) FROM t")) - 7 / 3) < 1e-5)
    # ranges that conditions say, with a clip and without
    for sql, want in (("SUM(x) FROM t WHERE x > 150", 0), ("SUM(x) FROM t WHERE x < 50", 100), ("SUM(x) FROM t WHERE x > 149", 150),
                      ("SUM(id) FROM t WHERE id >= 2 AND 5 > id", 5), ("SUM(id) FROM t WHERE id BETWEEN 0 AND 2", 3),
                      ("SUM(CASE WHEN id BETWEEN 0 AND 2 THEN id END) FROM t", 3), ("SUM((x < 100)::int) FROM t", 1),
                      ("AVG(id) FROM t WHERE id BETWEEN 1 AND 2", 1.5), ("SUM((x / 7)::numeric(8, 2)) FROM t WHERE x = 150", None)):
        out = value("SELECT " + sql)
        check(sql, want is None and "error" in out or want is not None and float(out) == want, out)
    check("sum of nothing", float(value("SELECT SUM(x) FROM t WHERE id > 9")) == 0)
    return path, policy


# --- words, prices, refusals

def quoted(path, policy, sql, *more):
    return run("quote", "--db", path, "--policy", policy, "--epsilon", "1", *more, sql)


def words(path, policy):
    out = quoted(path, policy, "SELECT SUM(x) FROM t")
    check("one sign", out.get("neighbours", "").startswith("insert, delete or substitute"), out)
    out = quoted(path, policy, "SELECT SUM(LEAST(GREATEST(x, -1), 9)) FROM t")
    check("two signs", out.get("neighbours", "").startswith("insert or delete"), out)
    out = quoted(path, policy, "SELECT AVG(x) FROM t")
    check("an average is paid once", out.get("price") == 1 and [c["epsilon"] for c in out.get("counts", [])] == [0.5, 0.5], out)
    out = quoted(path, policy, "SELECT AVG(x), 2 * AVG(x), SUM(x) FROM t HAVING AVG(x) > 3 ORDER BY AVG(x)")
    check("each aggregate once", out.get("price") == 2, out.get("price"))
    for sql, code in [("SELECT SUM(id) FROM t", "unsupported"), ("SELECT SUM(x::real) FROM t", "unsupported"),
                      ("SELECT AVG(DISTINCT x) FROM t", "unsupported"), ("SELECT MAX(x) FROM t", "unsupported"),
                      ("SELECT SUM(a.x * b.x) FROM t a, t b WHERE a.id = b.o", "unsupported"),
                      ("SELECT o, SUM(x) FROM t GROUP BY o", "unsupported"), ("SELECT SUM(*) FROM t", "syntax")]:
        out = quoted(path, policy, sql)
        check("refused: " + sql, out.get("error", {}).get("code") == code, out)
    for notion in ("add-drop-one", "change-one"):
        out = run("analyze", "--policy", policy, "--table", "t(id,x,o)", "--neighbours", notion, "SELECT SUM(x) FROM t WHERE x < 120")
    out = quoted(path, policy, "SELECT o, SUM(x) FROM t GROUP BY o", "--groups", "1,2")
    check("public keys", out.get("groups") == 2, out)


def release(folder, path, policy):
    ledger = os.path.join(folder, "ledger.db")
    subprocess.run([BUILD + "/dpcount", "budget", "init", "--ledger", ledger, "--epsilon", "10"], capture_output=True)
    out = run("release", "--db", path, "--policy", policy, "--ledger", ledger, "--epsilon", "1", "SELECT AVG(x) FROM t")
    check("AVG answers", isinstance(out.get("answer"), str) and 100 <= float(out["answer"]) <= 200 and "shifted_sum" in out
          and "number" in out and out.get("price") == 1, out)
    again = run("release", "--db", path, "--policy", policy, "--ledger", ledger, "--epsilon", "1", "SELECT AVG(x) FROM t")
    check("repeated for free", again.get("answer") == out.get("answer") and again.get("counts", [{}])[0].get("repeated"), again)


def main():
    with tempfile.TemporaryDirectory() as folder:
        differential(folder)
        golden(folder)
        counterexamples(folder)
        path, policy = nulls(folder)
        words(path, policy)
        release(folder, path, policy)
    for f in failures[:8]:
        print(f[:1500])
    print("%d failures" % len(failures))
    sys.exit(bool(failures))


main()
