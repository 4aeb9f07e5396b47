#!/usr/bin/env python3
"""Sums and averages over PostgreSQL, against the server's own numeric: decimals, NULLs, negatives, NaN, values beyond the clip,
joins, negation, outer joins, unions; a column of numeric(8, 2) is added up in cents whatever digits the clip is written with."""
import decimal
import os
import random
import subprocess
import sys
import tempfile

import pg
from outside import ask, check, end

rng = random.Random(5)
CLIP = {"n": (0, 5), "d": (-1, 4)}


def cut(column):
    lo, hi = CLIP[column.split(".")[1]]
    return f"CASE WHEN {column} IS NOT NULL THEN LEAST(GREATEST({column}, {lo}), {hi}) END"


def statements():
    for source, key in [("a x", "x.g"), ("a x JOIN a y ON y.g = x.id", "x.g"), ("a x LEFT JOIN a y ON y.g = x.id", "x.g")]:
        for column in ("x.n", "x.d") + (("y.d",) if "JOIN" in source else ()):
            for where in ("", f" WHERE NOT EXISTS (SELECT 1 FROM a z WHERE z.g = {key} AND z.n > 1)", f" WHERE {key} > 0"):
                tail = f" FROM {source}{where}"
                for name, distinct in (("SUM", ""), ("SUM", "DISTINCT "), ("AVG", "")):
                    yield f"SELECT {name}({distinct}{column}){tail}", f"SELECT {name}({distinct}{cut(column)}){tail}"
    for form in ("LEAST(GREATEST(x.d, 0.5), 2)", "ROUND(LEAST(GREATEST(x.w, 0), 9), 1)", "2 * LEAST(GREATEST(x.n, -1), 3) - 1",
                 "COALESCE(LEAST(x.n, 2), 1) * 0 + 3"):
        yield f"SELECT SUM({form}) FROM a x", f"SELECT SUM({form}) FROM a x"


def rows():
    for i in range(40):
        n = rng.choice(["NULL", rng.randrange(-3, 9)])
        d = rng.choice(["NULL", rng.randrange(-300, 700) / 100])
        w = rng.choice(["NULL", "'NaN'", round(rng.uniform(-2, 12), 5)])
        yield f"({i}, {rng.randrange(6)}, {n}, {d}, {w})"


with pg.server() as server, tempfile.TemporaryDirectory() as folder:
    def psql(text):
        r = subprocess.run(["psql", "-XAtq", "-h", server, "-U", "postgres", "-c", text], capture_output=True, text=True, check=False)
        if r.returncode:
            sys.exit(r.stderr)
        return r.stdout.strip()

    psql("CREATE TABLE a (id int PRIMARY KEY, g int NOT NULL, n int, d numeric(8, 2), w numeric); INSERT INTO a VALUES "
         + ", ".join(rows()))
    policy = os.path.join(folder, "p.yaml")
    with open(policy, "w") as f:
        f.write("tables:\n  a: {privacy: private, clip: {n: [0, 5], d: [-1, 4]}}\n")
    n = 0
    for mine, theirs in statements():
        status, out = ask("count", "--format", "json", "--db", pg.url(server), "--policy", policy, mine)
        if status or not isinstance(out, dict):
            check("answered", False, f"{mine} {out}")
            continue
        n += 1
        want = psql(theirs)
        status, pushed = ask("count", "--format", "json", "--db", pg.url(server), "--policy", policy, "--engine", "sql", mine)
        check("by the server", status == 0 and pushed["rows"] == out["rows"], f"{mine} {pushed} {out['rows']}")
        got = decimal.Decimal(str(out["rows"][0][0]))
        if want == "NaN" or (not want and "AVG" in mine):
            continue
        check("the server's sum", abs(got - decimal.Decimal(want or "0")) < decimal.Decimal("0.00001"), f"{mine}: {got}, not {want}")
    print(f"{n} statements")
end()
