#!/usr/bin/env python3
"""1, '1' and '01' in columns of SQLite. With a type, of SQLite or of the policy, every equality is SQLite's own: joins, DISTINCT, GROUP BY,
IN, NOT IN. Where SQLite has no type it compares by the other side, so such a column is refused, with the fix, from the schema alone;
whether it is NULL can be asked. Rules take a cell for what its text says."""
import os
import random
import sqlite3
import tempfile

from outside import ask, check, end, run, write

folder = tempfile.TemporaryDirectory(prefix="dpc-untyped-")
os.chdir(folder.name)
CELLS = [1, 2, 10, 1.0, 1.5, "1", "01", "1.0", " 1", "1 ", "a", "A", "", "10", "-0", 0, -1, "1e1", "+1", None, None]
DECLARED = {"n": "", "b": "BLOB", "i": "INTEGER", "x": "TEXT", "s": "STRING", "d": "NUMERIC", "r": "REAL"}
# what can be compared in PostgreSQL's SQL
LIKE = [("x", "x"), ("i", "i"), ("i", "d"), ("i", "r"), ("d", "r"), ("d", "d"), ("r", "r"), ("s", "s")]
QUERIES = ["SELECT COUNT(DISTINCT {a}) FROM t", "SELECT COUNT(*) FROM t, u WHERE t.{a} = u.{b}", "SELECT COUNT(*) FROM t JOIN u ON t.{a} <> u.{b}",
           "SELECT COUNT(*) FROM t WHERE {a} IN (SELECT {b} FROM u)", "SELECT COUNT(*) FROM t WHERE {a} NOT IN (SELECT {b} FROM u WHERE {b} IS NOT NULL)",
           "SELECT COUNT(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.{b} = t.{a})",
           "SELECT COUNT(DISTINCT t.{a}) FROM t, u WHERE t.{a} = u.{a}",
           "SELECT COUNT(*) FROM (SELECT {a} FROM t UNION SELECT {a} FROM u) q"]
CONSTANTS = {"x": ["'1'", "'01'", "'a'", "''"], "i": ["1", "10", "0"], "d": ["1", "1.5"], "r": ["1", "1.5"], "s": ["'a'", "1", "'1'"]}


def fits(kind, v):
    """Cells that the column's type takes: others are NULL by rule, and check counts them."""
    if v is None or kind in "nbxs":
        return True
    if isinstance(v, str):
        return False
    return kind != "i" or v == int(v)


def build(name, seed):
    r = random.Random(seed)
    db = sqlite3.connect(name)
    for t in "tu":
        db.execute(f"CREATE TABLE {t}(id INTEGER PRIMARY KEY, {', '.join(f'{c} {d}' for c, d in DECLARED.items())})")
        for k in range(14):
            cells = [r.choice([v for v in CELLS if fits(c, v)]) for c in DECLARED]
            db.execute(f"INSERT INTO {t} VALUES ({', '.join('?' * (len(cells) + 1))})", [k, *cells])
    db.commit()
    return db


def same(db, name, query, theirs=None, *more):
    status, a = ask("count", "--format", "json", "--db", name, *more, query)
    want = db.execute(theirs or query).fetchone()[0]
    check("as SQLite", status == 0 and a["count"] == want, f"{name} {query} {want} {a}")


for seed in range(int(os.environ.get("DPC_ROUNDS", "2"))):
    name = f"d{seed}.db"
    db = build(name, seed)
    for a, b in LIKE:
        for query in QUERIES:
            same(db, name, query.format(a=a, b=b))
        status, out = ask("count", "--format", "json", "--db", name, "--delta", "0.9", f"SELECT {a}, COUNT(*) FROM t GROUP BY {a}")
        rows = db.execute(f"SELECT COUNT(*) FROM t GROUP BY {a} ORDER BY 1").fetchall()
        check("keys", status != 0 or sorted(r[-1] for r in out["rows"]) == [r[0] for r in rows], f"{name} {a} {rows} {out}")
    for c, values in CONSTANTS.items():
        for v in values:
            for op in ("{c} = {v}", "{c} <> {v}", "{c} IN ({v}, 2)" if v[0] != "'" else "{c} IN ({v}, 'zz')"):
                same(db, name, "SELECT COUNT(*) FROM t WHERE " + op.format(c=c, v=v))
    # no type: refused, whatever the rows are; but not whether there is a value
    for c in "nb":
        for query in QUERIES + ["SELECT COUNT(*) FROM t WHERE {a} = 1", "SELECT COUNT(*) FROM t WHERE {a} = '1'", "SELECT COUNT(*) FROM t WHERE length({a}) = 1",
                                "SELECT {a}, COUNT(*) FROM t GROUP BY {a}", "SELECT COUNT(*) FROM t JOIN u USING ({a})", "SELECT COUNT(*) FROM t NATURAL JOIN u",
                                "SELECT COUNT(*) FROM (SELECT * FROM t UNION SELECT * FROM u) q", "SELECT COUNT(*) FROM t WHERE ({a} = 1) IS NULL"]:
            status, out = ask("count", "--format", "json", "--db", name, query.format(a=c, b=c))
            check("refused with the fix", status == 2 and out["error"]["code"] == "type" and "text}" in out["error"]["hint"], f"{query} {c} {out}")
        for query in (f"SELECT COUNT({c}) FROM t", f"SELECT COUNT(*) FROM t WHERE {c} IS NULL", f"SELECT COUNT(*) FROM t WHERE {c} IS NOT NULL", "SELECT COUNT(*) FROM t"):
            same(db, name, query)
        # the policy's type is a cast
        write("text.yaml", f"tables: {{t: {{columns: {{{c}: text}}}}, u: {{columns: {{{c}: text}}}}}}\n")
        for query in QUERIES:
            q = query.format(a=c, b=c)
            theirs = q.replace(f"t.{c}", f"CAST(t.{c} AS TEXT)").replace(f"u.{c}", f"CAST(u.{c} AS TEXT)") if f".{c}" in q else \
                q.replace(f"({c})", f"(CAST({c} AS TEXT))").replace(f"E {c} ", f"E CAST({c} AS TEXT) ").replace(f"T {c} ", f"T CAST({c} AS TEXT) ").replace(f"COUNT(DISTINCT {c})", f"COUNT(DISTINCT CAST({c} AS TEXT))")
            if "1.0" not in [str(v) for v in (x[0] for x in db.execute(f"SELECT {c} FROM t UNION ALL SELECT {c} FROM u")) if isinstance(v, float)]:
                same(db, name, q, theirs, "--policy", "text.yaml")
    # sealed, the column is what it was
    db.close()
run("budget", "init", "--ledger", "l", "--epsilon", "1")
status, out = ask("seal", "--db", "d0.db", "--version", "v1", "--out", "sealed.db", "--ledger", "l")
if status == 0:
    status, out = ask("count", "--format", "json", "--db", "sealed.db", "SELECT COUNT(DISTINCT n) FROM t")
    check("refused of a sealed copy", status == 2, f"{status} {out}")
else:
    check("sealed", False, str(out))
status, out = ask("count", "--format", "json", "--db", "d0.db", "Q(x) :- t(_,x,_,_,_,_,_,_).")
check("a rule takes it", status == 0, str(out))
end()
