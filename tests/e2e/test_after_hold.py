#!/usr/bin/env python3
"""What could fail, or count wrongly, behind the charge: trivial thresholds over
groups, wide SELECT lists, tables of one row, cancelling before the hold, and the
folder in which `ask` looks for the owner's files."""
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
from outside import DPCOUNT, ask, check, end, run, write  # noqa: E402


def make(name, tables):
    db = sqlite3.connect(name)
    for table, (columns, rows) in tables.items():
        db.execute(f"CREATE TABLE {table} ({columns})")
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * (columns.count(',') + 1))})", rows)
    db.commit()
    db.close()


def count(db, query, *more):
    code, out = ask("count", "--db", db, *more, "--format", "json", query)
    return out.get("count") if code == 0 else out


def trivial_thresholds():
    """A threshold that everything meets counts groups, not their rows."""
    two = "x INTEGER, y INTEGER"
    make("d1.db", {"s": (two, [(1, 0)] * 50), "e": (two, [(0, 1)])})
    for having in ("HAVING COUNT(*) >= 1", "HAVING COUNT(*) > 0", "HAVING COUNT(*) >= 0", "HAVING COUNT(*) <> 0", ""):
        inner = "SELECT h.y, h.x, COUNT(*) AS n FROM s h, e i WHERE h.y = i.x"
        groups = f"GROUP BY h.y, h.x {having}"
        n = count("d1.db", f"SELECT SUM(LEAST(GREATEST(o.y, 1), 2)) FROM ({inner} {groups}) o")
        check(f"a sum over groups, {having}", n == 1, str(n))
        n = count("d1.db", f"SELECT COUNT(*) FROM ({inner} AND NOT EXISTS (SELECT 1 FROM e z WHERE z.y = 77) {groups}) o")
        check(f"a count of groups, {having}", n == 1, str(n))


def wide_lists():
    """Too many columns are refused before anything is charged, whatever the rows."""
    make("w.db", {"a": ("x INTEGER, w INTEGER", [(1, 2), (1, 2)]), "b": ("x INTEGER, v INTEGER", [(0, 1)])})
    run("budget", "init", "--ledger", "w", "--epsilon", "10")
    for columns in (", ".join(f"{i} AS c{i}" for i in range(256)), ", ".join(f"w AS c{i}" for i in range(256))):
        seen = [ask("release", "--db", "w.db", "--ledger", "w", "--epsilon", "1", "--format", "json",
                    f"SELECT COUNT(*) FROM (SELECT {columns}, x FROM a WHERE x = {x} UNION SELECT {columns}, x FROM a WHERE x = 99) o")
                for x in (1, 7)]
        check("a wide list", seen[0][0] == seen[1][0] != 5 and seen[0][1].get("error", {}).get("code") == "too-large", str(seen)[:300])
    shown = ask("budget", "show", "--ledger", "w", "--format", "json")[1]
    check("nothing was charged", shown["spent"] == 0 and not shown["locked"], str(shown)[:300])


def one_row():
    """A table of one row joined with itself by <>: no answer ever, and no failure."""
    make("t.db", {"a": ("x INTEGER, w INTEGER", [(1, 2)]), "b": ("x INTEGER, v INTEGER", [(0, 1)])})
    run("budget", "init", "--ledger", "t", "--epsilon", "10")
    for q in ("SELECT SUM(LEAST(GREATEST(v, 0), 3)) FROM a t, a p, b WHERE t.x <> p.x",
              "SELECT COUNT(*) FROM a t, a p, b WHERE t.x <> p.x AND NOT EXISTS (SELECT 1 FROM b q WHERE q.v = t.x)",
              "SELECT COUNT(*) FROM a t, a p, b WHERE t.x <> p.x"):
        for command in (["release", "--ledger", "t", "--epsilon", "1"], ["sensitivity"]):
            code, out = ask(*command, "--db", "t.db", "--public", "a", "--format", "json", q)
            check(f"{command[0]}: {q}", code == 0, str(out)[:300])


def cancelled_early():
    """Ctrl-C before the charge charges nothing and locks nobody out."""
    os.mkdir("many")
    write("many/p.csv", "x\n" + "".join(f"{i}\n" for i in range(600000)))
    write("many.yaml", "tables: {p: {columns: {x: integer}}}\n")
    run("budget", "init", "--ledger", "c", "--epsilon", "10")
    for i, wait in enumerate((0.01, 0.03, 0.05, 0.08, 0.12)):
        p = subprocess.Popen([DPCOUNT, "release", "--db", "many", "--policy", "many.yaml", "--ledger", "c", "--epsilon", "0.1",
                              f"SELECT COUNT(*) FROM p WHERE x < {i}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        p.send_signal(signal.SIGINT)
        p.wait()
        until = time.time() + 60
        while time.time() < until:  # one that was charged runs to its end
            shown = ask("budget", "show", "--ledger", "c", "--format", "json")[1]
            if shown["locked"] or not shown["held"]:
                break
            time.sleep(0.1)
        check(f"cancelled after {wait} s", not shown["locked"] and not shown["held"], str(shown)[:300])


def folder_of_ask():
    """Files of the owner's configuration are those beside it."""
    os.makedirs("owner")
    os.makedirs("evil")
    make("owner/h.db", {"pat": ("id INTEGER PRIMARY KEY, h INTEGER", [(1, 1), (2, 1), (3, 0)])})
    write("owner/p.yaml", "tables: {pat: {privacy: private}}\n")
    write("evil/p.yaml", "tables: {pat: {privacy: public}}\n")
    write("owner/c.yaml", "db: h.db\npolicy: p.yaml\nledger: l\nanalyst: ann\n")
    os.chmod("owner/c.yaml", 0o600)
    top = os.getcwd()
    os.chdir("owner")
    run("budget", "init", "--ledger", "l", "--epsilon", "10", "--db", "h.db", "--policy", "p.yaml")
    run("budget", "grant", "--ledger", "l", "--analyst", "ann", "--epsilon", "5")
    run("seal", "--ledger", "l", "--db", "h.db", "--policy", "p.yaml", "--version", "v")
    os.chdir(os.path.join(top, "evil"))
    r = run("--config", os.path.join(top, "owner", "c.yaml"), "ask", "--epsilon", "1", "--format", "json", "SELECT COUNT(*) FROM pat WHERE h = 1")
    check("the asker's folder does not matter", '"epsilon": 1' in r.stdout and "discrete-laplace" in r.stdout, r.stdout + r.stderr)
    os.chdir(os.path.join(top, "owner"))
    code, out = ask("release", "--db", "h.db", "--policy", "../evil/p.yaml", "--ledger", "l", "--analyst", "ann", "--epsilon", "1", "--format", "json",
                    "SELECT COUNT(*) FROM pat WHERE h = 1")
    check("no exact answer under another policy than the bound one", code == 2 and out["error"]["code"] == "policy-changed", str(out)[:300])
    os.chdir(top)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    trivial_thresholds()
    wide_lists()
    one_row()
    cancelled_early()
    folder_of_ask()
    end()
