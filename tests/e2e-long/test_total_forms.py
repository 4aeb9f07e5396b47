#!/usr/bin/env python3
"""A private count times public rows, for every form of question and around every width of numbers (64, 127, 128 bits):
the answer, its refusal and all texts are the same whether two or three persons match."""
import concurrent.futures
import json
import os
import sqlite3
import subprocess
import tempfile

from outside import DPCOUNT, check, end, slower, write

SIDES = {"two": 2, "three": 3}
TABLES = "tables: {p: {key: [id]}, v: {%sclip: {n: [-4, 9]}}, pub: {privacy: public}, u: {privacy: public}}\n"
OWNED = "not_null: [pid], owned_by: [{via: [pid], table: p}], "
FORMS = [("SELECT COUNT(*) FROM p, {t} WHERE p.h = 1 AND {w}", []),
         ("SELECT p.g, COUNT(*) FROM p, {t} WHERE p.h = 1 AND {w} GROUP BY p.g", ["--groups", "a,b,c"]),
         ("SELECT p.g, COUNT(*) FROM p, {t} WHERE p.h = 1 AND {w} GROUP BY p.g", ["--delta", "0.001"]),
         ("SELECT SUM(n) FROM v, {t} WHERE {w}", []),
         ("SELECT AVG(n) FROM v, {t} WHERE {w}", []),
         ("SELECT COUNT(*) FROM p, {t} WHERE {w} AND NOT EXISTS (SELECT 1 FROM v WHERE v.pid = p.id AND v.n > 0)", []),
         ("SELECT COUNT(*) FROM p, {t} WHERE {w} AND (p.h = 1 OR EXISTS (SELECT 1 FROM v WHERE v.pid = p.id))", []),
         ("SELECT COUNT(*) FROM p LEFT JOIN v ON v.pid = p.id, {t} WHERE p.h = 1 AND {w}", []),
         ("SELECT COUNT(*) FROM (SELECT p.id FROM p, {t} WHERE p.h = 1 AND {w} UNION ALL SELECT v.pid FROM v, {t} WHERE {w}) o", []),
         ("SELECT COUNT(*) FROM p WHERE (SELECT COUNT(*) FROM v, {t} WHERE v.pid = p.id AND {w}) > 5", []),
         ("SELECT SUM(LEAST(c, 1000)) FROM (SELECT COUNT(*) AS c FROM p, {t} WHERE p.h = 1 AND {w} GROUP BY p.id) o", []),
         ("SELECT COUNT(*), COUNT(DISTINCT p.g) FROM p, {t} WHERE p.h = 1 AND {w}", []),
         ("SELECT COUNT(*) FROM p a, p b, {t} WHERE a.h = 1 AND b.h = 1 AND a.id <> b.id AND {w}", []),
         ("SELECT COUNT(*) FROM p RIGHT JOIN u ON u.id = p.id, {t} WHERE {w}", []),
         ("SELECT 100.0 * COUNT(*) / COUNT(DISTINCT p.id) FROM p, {t} WHERE p.h = 1 AND {w}", [])]


def run(side, *args):
    return subprocess.run([DPCOUNT, *args], cwd=side, capture_output=True, text=True, check=False, timeout=slower(200))


def make(side, n):
    os.makedirs(side)
    db = sqlite3.connect(f"{side}/d.db")
    db.executescript("CREATE TABLE p(id INTEGER PRIMARY KEY, h INTEGER, g TEXT); CREATE TABLE v(pid INTEGER, n INTEGER);"
                     "CREATE TABLE pub(y INTEGER); CREATE TABLE u(id INTEGER PRIMARY KEY)")
    db.executemany("INSERT INTO p VALUES (?, ?, ?)", [(i, 1, "ab"[i % 2]) for i in range(n)] + [(100 + i, 0, "c") for i in range(3)])
    db.executemany("INSERT INTO v VALUES (?, ?)", [(i, i) for i in range(n)] + [(101, 3)])
    db.executemany("INSERT INTO pub VALUES (?)", [(i,) for i in range(64)])
    db.executemany("INSERT INTO u VALUES (?)", [(i,) for i in range(3)])
    db.commit()
    db.close()
    write(f"{side}/rows.yaml", TABLES % "")
    write(f"{side}/persons.yaml", "entities: [p]\n" + TABLES % OWNED)
    for unit in ("rows", "persons"):
        r = run(side, "budget", "init", "--ledger", unit, "--epsilon", "1000", "--delta", "0.5", "--least-price", "0.001")
        check("init", r.returncode == 0, r.stderr)


def times(bits):
    """Public tables and a condition, with 3 * 2^(bits - 3) rows together: twice as many have fewer than 2^bits, three times
    as many have more."""
    n, rest = divmod(bits - 7, 6)
    tables = [f"pub y{i}" for i in range(n)] + ["pub yr", "pub ys"]
    return ", ".join(tables), f"yr.y < {2 ** rest} AND ys.y < 48"


def ask(job):
    (query, more), bits, unit = job
    tables, where = times(bits)
    seen = []
    for side in SIDES:
        r = run(side, "release", "--db", "d.db", "--policy", unit + ".yaml", "--ledger", unit, "--epsilon", "0.001", "--fresh", "--format", "json",
                *more, query.format(t=tables, w=where))
        said = json.loads(r.stdout)
        seen.append((r.returncode, said["error"] if r.returncode else sorted(said), r.stderr))
    check(f"{unit}, {bits} bits: {query}", seen[0] == seen[1] and seen[0][0] in (0, 3), seen)
    return seen[0][0] == 0


with tempfile.TemporaryDirectory(prefix="dpc-total-") as folder:
    os.chdir(folder)
    for name, n in SIDES.items():
        make(name, n)
    jobs = [(form, bits, unit) for bits in (64, 127, 128) for unit in ("rows", "persons") for form in FORMS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answered = sum(pool.map(ask, jobs))
    print(f"{len(jobs)} asked, {answered} answered")
    check("enough was answered", answered >= 60, str(answered))
    end()
