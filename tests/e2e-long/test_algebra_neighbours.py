#!/usr/bin/env python3
"""Negation, unions, outer joins, thresholds and sums, asked of the program as an outsider would: SQLite counts each small database and its
neighbours. No row inserted, deleted or, where the guarantee says so, exchanged changes an answer by more than the local bound (ls_hat at
distance 0) or the global one, and the sequence of bounds is smooth between neighbours. Nothing of the engine's own code is used."""
import importlib.util
import os
import random
import sqlite3
import sys
import tempfile

from outside import ask

SOURCE = os.environ["DPC_SOURCE"]
spec = importlib.util.spec_from_file_location("diff", SOURCE + "/tests/e2e/test_algebra_diff.py")
diff = importlib.util.module_from_spec(spec)
spec.loader.exec_module(diff)
ROUNDS = int(os.environ.get("DPC_ROUNDS", "150"))
SEED = int(os.environ.get("DPC_SEED", "9000"))

OUTER = ["a LEFT JOIN b ON a.x = b.x", "a FULL JOIN b ON a.x = b.x", "c RIGHT JOIN a ON c.x = a.y", "a FULL JOIN b ON a.x = b.x AND a.y < b.z",
         "a LEFT JOIN b ON a.x = b.x LEFT JOIN c ON c.x = b.z", "a LEFT JOIN b ON a.x = b.x LEFT JOIN c ON c.x = a.y",
         "a LEFT JOIN b ON a.x = b.x JOIN c ON c.x = b.z", "a LEFT JOIN b ON a.x = b.x LEFT JOIN c ON c.x = coalesce(b.z, 1)",
         "c LEFT JOIN (a JOIN b ON a.x = b.x) ON c.x = a.y", "c LEFT JOIN (SELECT DISTINCT x, z FROM b) AS b ON c.x = b.x"]
WHAT = ["COUNT(*)", "COUNT(*)", "COUNT(*)", "COUNT(a.y)", "COUNT(b.z)", "COUNT(c.y)", "COUNT(DISTINCT a.x)", "COUNT(DISTINCT b.z)"]
SUMS = ["SUM(%s)", "SUM(%s)", "SUM(DISTINCT %s)"]


def number(rng, column):
    """For both: what SQLite adds up instead (its MIN and MAX of a NULL are NULL)."""
    lo, hi = rng.choice([(0, 2), (0, 1), (-1, 2), (1, 2), (-2, -1)])
    cut = f"LEAST(GREATEST({column}, {lo}), {hi})"
    theirs = f"CASE WHEN {column} IS NULL THEN {lo} ELSE MIN(MAX({column}, {lo}), {hi}) END"
    return cut, theirs


def outer(rng):
    source = rng.choice(OUTER)
    tables = [t for t in "abc" if f"{t} " in source.replace("(", " ") or f" {t} " in source or source.startswith(t)]
    def column():
        t = rng.choice(tables)
        return f"{t}.{rng.choice([c for c in diff.TABLES[t] if c not in ('s',) and not (c == 'x' and t == 'none')])}"
    if "AS b" in source:
        tables = ["c"]
    where = rng.choice(["", "", f" WHERE {column()} > 0", f" WHERE {column()} IS NULL", f" WHERE {column()} = 1 OR {column()} = 2",
                        f" WHERE NOT EXISTS (SELECT 1 FROM c AS n WHERE n.x = {column()})"])
    if rng.random() < 0.3:
        mine, theirs = number(rng, column())
        form = rng.choice(SUMS)
        return f"SELECT {form % mine} FROM {source}{where}", f"SELECT COALESCE({form % theirs}, 0) FROM {source}{where}"
    what = rng.choice([w for w in WHAT if w == "COUNT(*)" or w.split("(")[1].replace("DISTINCT ", "")[0] in tables])
    return (f"SELECT {what} FROM {source}{where}",) * 2


def summed(rng):
    g = diff.Gen(rng)
    item, scope = g.table()
    column = g.column(scope)
    where = [g.condition(scope, 1)] if rng.random() < 0.8 else None
    mine, theirs = number(rng, column)
    form = rng.choice(SUMS)
    return diff.text((form % mine, item, where), False), diff.text((f"COALESCE({form % theirs}, 0)", item, where), True)


def grouped(rng):
    t = rng.choice(["a", "b", "c", "a JOIN b ON a.x = b.x"])
    key = "a.x" if "JOIN" in t else "x"
    test = rng.choice(["COUNT(*) >= 2", "COUNT(*) = 1", "COUNT(*) < 3", f"COUNT(DISTINCT {'b.z' if 'JOIN' in t else 's' if t != 'c' else 'y'}) >= 2"])
    if rng.random() < 0.5:
        cap, having = rng.choice([1, 2, 3]), rng.choice(["", "", " HAVING COUNT(*) >= 2"])
        groups = f"(SELECT {key} AS k, COUNT(*) AS n FROM {t} GROUP BY {key}{having}) AS g"
        return f"SELECT SUM(LEAST(n, {cap})) FROM {groups}", f"SELECT COALESCE(SUM(MIN(n, {cap})), 0) FROM {groups}"
    return (f"SELECT COUNT(*) FROM (SELECT {key} FROM {t} GROUP BY {key} HAVING {test}) AS g",) * 2


def query(rng):
    kind = rng.choice(["tree", "tree", "outer", "outer", "sum", "group"])
    if kind == "tree":
        q = diff.Gen(rng).query()
        return diff.text(q, False), diff.text(q, True)
    return {"outer": outer, "sum": summed, "group": grouped}[kind](rng)


def row(rng, table, keys):
    cell = lambda: rng.choice([None, 0, 1, 2])
    if table == "a":
        return (cell(), cell(), rng.choice([None, "p", "q"]))
    if table == "b":
        return (cell(), rng.randrange(3), rng.choice([None, "p", "q"]))
    return (rng.choice([k for k in range(8) if k not in keys]), cell(), rng.randrange(3))


def neighbour(rng, db, exchange):
    """Changes db in place."""
    table = rng.choice("abc")
    ids = [r[0] for r in db.execute(f"SELECT rowid FROM {table}")]
    kind = rng.choice(["insert", "delete"] + ["exchange"] * 2 * exchange)
    if kind != "insert" and not ids:
        kind = "insert"
    if kind != "insert":
        db.execute(f"DELETE FROM {table} WHERE rowid = ?", (rng.choice(ids),))
    if kind != "delete":
        keys = [r[0] for r in db.execute("SELECT k FROM c")] if table == "c" else []
        db.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", row(rng, table, keys))
    return kind


def measured(path, text, *options):
    _, out = ask("sensitivity", "--format", "json", "--db", path, "--beta", "0.3", *options, text)
    if not isinstance(out, dict):
        sys.exit(f"{text}: {out}")
    if "error" in out:
        if out["error"]["code"] in ("unsupported", "too-large", "type"):
            return None
        sys.exit(f"{text}: {out}")
    return out


def main(tmp):
    pairs = queries = smooth = 0
    for n in range(ROUNDS):
        rng = random.Random(SEED + n)
        path = f"{tmp}/{n}.db"
        db = sqlite3.connect(path)
        diff.fill(rng, db)
        mine, theirs = query(rng)
        change = ["--neighbours", "change-one"] * (rng.random() < 0.3)
        out = measured(path, mine, *change)
        if out is None:
            continue
        queries += 1
        count = diff.by_sqlite(db, theirs)
        if count != out["count"]:
            sys.exit(f"seed {SEED + n}: SQLite {count}, dpcount {out['count']}: {mine}")
        _, static = ask("analyze", "--format", "json", "--db", path, *change, mine)
        exchange = bool(change) or "substitute" in static["neighbours"]
        local, upper = out["residual"]["ls_hat"], static["global_sensitivity"]["upper"]
        for k in range(40):
            other = sqlite3.connect(":memory:") if k else sqlite3.connect(f"{tmp}/{n}n.db")
            db.backup(other)
            kind = neighbour(rng, other, exchange)
            other.commit()
            moved = abs(diff.by_sqlite(other, theirs) - count)
            pairs += 1
            if moved > local[0] or (upper != "inf" and moved > upper):
                rows = {t: list(other.execute(f"SELECT * FROM {t}")) for t in "abc"}
                before = {t: list(db.execute(f"SELECT * FROM {t}")) for t in "abc"}
                sys.exit(f"seed {SEED + n}, {kind} {change}: moved by {moved}, local {local[0]}, global {upper}: {mine}\n{before}\n{rows}")
            if k == 0:
                near = measured(f"{tmp}/{n}n.db", mine, *change)["residual"]["ls_hat"]
                smooth += 1
                for x, y in ((local, near), (near, local)):
                    if any(p > q for p, q in zip(x, y[1:])):
                        sys.exit(f"seed {SEED + n}: not smooth {x} {y}: {mine}")
            other.close()
        db.close()
    print(f"{queries} of {ROUNDS} queries, {pairs} neighbours, {smooth} pairs of sequences")
    return queries < 0.8 * ROUNDS


with tempfile.TemporaryDirectory() as folder:
    sys.exit(main(folder))
