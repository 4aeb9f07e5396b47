#!/usr/bin/env python3
"""Trees and sums by PostgreSQL itself (--engine sql): counts and residual sensitivities are those of the embedded engine over
the same server, the server's own count is the same, groups too, and a release is answered."""
import os
import random
import subprocess
import sys
import tempfile

import pg
from outside import ask, check, end

rng = random.Random(11)
QUERIES = """
SELECT COUNT(*) FROM a WHERE (a.x, a.y) NOT IN (SELECT b.x, b.y FROM b)
SELECT COUNT(*) FROM a WHERE a.x = 3 OR EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND b.y < a.y)
SELECT COUNT(*) FROM a, b WHERE a.x = b.x AND (a.y = 1 OR b.y = 2)
SELECT COUNT(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND NOT EXISTS (SELECT 1 FROM c WHERE c.x = b.y))
SELECT COUNT(*) FROM a WHERE (SELECT COUNT(*) FROM c WHERE c.x = a.x) >= 2
SELECT COUNT(*) FROM a WHERE (SELECT COUNT(DISTINCT c.z) FROM c WHERE c.x = a.x) < 2
SELECT COUNT(*) FROM (SELECT x, s FROM a UNION SELECT x, s FROM b) u
SELECT COUNT(*) FROM (SELECT x FROM c UNION ALL SELECT x FROM b) u WHERE x > 1
SELECT COUNT(*) FROM (SELECT x FROM a INTERSECT SELECT x FROM c) u
SELECT COUNT(*) FROM a LEFT JOIN b ON a.x = b.x
SELECT COUNT(*) FROM a FULL JOIN c ON a.x = c.x
SELECT COUNT(*) FROM a LEFT JOIN b ON a.x = b.x LEFT JOIN c ON c.x = b.y WHERE c.z IS NULL OR b.s = 'q'
SELECT COUNT(*) FROM (SELECT DISTINCT a.x, b.s FROM a LEFT JOIN b ON a.x = b.x) u
SELECT COUNT(*) FROM (SELECT x FROM a GROUP BY x HAVING COUNT(*) BETWEEN 2 AND 4) u
SELECT COUNT(DISTINCT a.x) FROM a, b WHERE a.y = b.y AND NOT EXISTS (SELECT 1 FROM c WHERE c.x = a.x AND c.z = b.x)
SELECT COUNT(*) FROM a WHERE a.y + 1 NOT IN (SELECT b.y * 2 FROM b WHERE b.s LIKE 'p%')
SELECT SUM(LEAST(GREATEST(w, 0), 10)) FROM a
SELECT SUM(LEAST(GREATEST(w, -5), 10)) FROM a
SELECT SUM(DISTINCT LEAST(GREATEST(w, 0), 10)) FROM a
SELECT SUM(LEAST(GREATEST(b.d, -1), 3)) FROM b
SELECT SUM(LEAST(GREATEST(b.d, 0), 3)) FROM a JOIN b ON a.x = b.x WHERE a.y > 1
SELECT SUM(LEAST(GREATEST(a.w, 0), 10)) FROM a LEFT JOIN b ON a.x = b.x
SELECT SUM(LEAST(GREATEST(a.w, 0), 10)) FROM a WHERE NOT EXISTS (SELECT 1 FROM b, c WHERE b.x = a.x AND c.x = b.y)
SELECT SUM(w) FROM (SELECT DISTINCT x, LEAST(GREATEST(w, 0), 10) AS w FROM a) u
""".strip().splitlines()


def cells():
    def some(n):
        return rng.choice(["NULL"] + [str(i) for i in range(n)])
    for i in range(40):
        yield f"INSERT INTO a VALUES ({i}, {some(6)}, {rng.randrange(5)}, {some(15)}, '{rng.choice('pqr')}');"
    for i in range(30):
        d = rng.choice(["NULL", str(rng.randrange(-300, 700) / 100)])
        yield f"INSERT INTO b VALUES ({i}, {some(6)}, {rng.randrange(5)}, {d}, '{rng.choice('pqs')}');"
    for i in range(20):
        yield f"INSERT INTO c VALUES ({some(6)}, {some(4)});"


with pg.server() as server, tempfile.TemporaryDirectory() as folder:
    ledger = os.path.join(folder, "l")

    def psql(text):
        r = subprocess.run(["psql", "-XAtq", "-h", server, "-U", "postgres"], input=text, capture_output=True, text=True, check=False)
        if r.returncode:
            sys.exit(r.stderr)
        return r.stdout.strip()

    psql("CREATE TABLE a (id int PRIMARY KEY, x int, y int NOT NULL, w int, s text NOT NULL CHECK (s IN ('p', 'q', 'r')));"
         "CREATE TABLE b (id int PRIMARY KEY, x int, y int NOT NULL, d numeric(8, 2), s text NOT NULL);"
         "CREATE TABLE c (x int, z int);" + "".join(cells()))
    base = ["--format", "json", "--db", pg.url(server)]
    for text in QUERIES:
        _, here = ask("sensitivity", *base, text)
        status, there = ask("sensitivity", *base, "--engine", "sql", text)
        if status:
            check("by the server", False, f"{text} {there}")
            continue
        check("one count", here["count"] == there["count"], f"{text} {here['count']} {there['count']}")
        check("one sensitivity", here["residual"]["ls_hat"] == there["residual"]["ls_hat"], f"{text}")
        theirs = psql(text + ";")
        if "SUM" not in text or "." not in theirs:
            check("the server's own", int(theirs or 0) == here["count"], f"{text} {theirs}")

    ask("budget", "init", "--ledger", ledger, "--epsilon", "100")
    text = "SELECT s, COUNT(*), SUM(LEAST(GREATEST(w, 0), 10)) FROM a WHERE x NOT IN (SELECT x FROM b WHERE x > 3) GROUP BY s ORDER BY s"
    status, out = ask("release", *base, "--engine", "sql", "--ledger", ledger, "--epsilon", "20", "--groups", "s=p,q,r", text)
    want = [line.split("|") for line in psql(text + ";").splitlines()]
    check("released by the server", status == 0 and len(out["rows"]) == 3, out)
    for row, line in zip(out.get("rows", []), want):
        check("near the truth", abs(int(row[1]) - int(line[1])) < 60 and abs(int(row[2]) - int(line[2])) < 600, f"{row} {line}")
    status, out = ask("release", *base, "--engine", "sql", "--ledger", ledger, "--epsilon", "1",
                      "SELECT COUNT(*) FROM a LEFT JOIN b ON a.x = b.x")
    check("noise measured by the server", status == 0 and out["mechanism"].startswith("smooth"), out)
end()
