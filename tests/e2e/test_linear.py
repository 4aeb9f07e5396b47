#!/usr/bin/env python3
"""Reading a query and analysing it must not take time that grows with the
square of its length or worse: an analyst chooses how long it is. Each shape is
analysed at two sizes, the second four times the first; the processor time may
grow eightfold (linear is four, the margin is for a busy machine) plus half a
second. What cannot be linear must be refused at once."""
import os
import resource
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ["DPC_BUILD"], "dpcount")
DDL = "CREATE TABLE t (id int PRIMARY KEY, x int, d numeric, s text NOT NULL);"


def joined(sep, part, n):
    return sep.join(part(i) for i in range(n))


def ctes(n):
    return ("WITH c0 AS (SELECT * FROM t)"
            + "".join(f", c{i} AS (SELECT * FROM c{i - 1})" for i in range(1, n))
            + f" SELECT COUNT(*) FROM c{n - 1}")


COUNT = "SELECT COUNT(*) FROM t WHERE "
SHAPES = {  # name: (query of size n, first size)
    "lower bounds": (lambda n: COUNT + joined(" AND ", lambda i: f"x > {i}", n), 800),
    "falling bounds": (lambda n: COUNT + joined(" AND ", lambda i: f"x > {n - i}", n), 800),
    "decimal bounds": (lambda n: COUNT + joined(" AND ", lambda i: f"d <= {i}.5", n), 800),
    "texts": (lambda n: COUNT + joined(" AND ", lambda i: f"s >= 'k{i}'", n), 800),
    "between": (lambda n: COUNT + joined(" AND ", lambda i: f"x BETWEEN {i} AND {2 * n - i}", n), 800),
    "same condition": (lambda n: COUNT + joined(" AND ", lambda i: "x = 1", n), 2000),
    "or": (lambda n: COUNT + joined(" OR ", lambda i: f"x = {i}", n), 600),
    "in": (lambda n: COUNT + f"x IN ({joined(', ', str, n)})", 2000),
    "brackets": (lambda n: COUNT + "(" * n + "x = 1" + ")" * n, 40),
    "joins": (lambda n: "SELECT COUNT(*) FROM t t0"
              + "".join(f" JOIN t t{i} ON t{i}.id = t{i - 1}.id" for i in range(1, n)), 15),
    "counts": (lambda n: f"SELECT {joined(', ', lambda i: 'COUNT(*)', n)} FROM t", 20),
    "with": (ctes, 12),
    "derived": (lambda n: "SELECT COUNT(*) FROM " + "(SELECT * FROM " * n + "t" + ") q" * n, 10),
}
# Twice at each level, or as many counts as conditions.
TOO_LARGE = {
    "doubled": "WITH c0 AS (SELECT * FROM t)"
               + "".join(f", c{i} AS (SELECT a.* FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 40))
               + " SELECT COUNT(*) FROM c39",
    "counts": f"SELECT {joined(', ', lambda i: 'COUNT(*)', 4000)} FROM t WHERE "
              + joined(" AND ", lambda i: f"x > {i}", 4000),
}
folder = tempfile.TemporaryDirectory()
schema = os.path.join(folder.name, "schema.sql")
with open(schema, "w", encoding="utf-8") as f:
    f.write(DDL)
failures = 0


def analyze(query):
    """Status, processor time, messages."""
    text = os.path.join(folder.name, "query.sql")
    with open(text, "w", encoding="utf-8") as out:
        out.write(query)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        r = subprocess.run([PROGRAM, "analyze", "--schema", schema, "--query-file", text],
                           capture_output=True, text=True, check=False, timeout=60)
        status, said = r.returncode, r.stderr
    except subprocess.TimeoutExpired:
        status, said = -1, "no end after 60 s\n"
    return status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, said


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print(what)


for name, (make, n) in SHAPES.items():
    status, small, said = analyze(make(n))
    check(status == 0, f"{name} x {n}: status {status} {said[:200]}")
    status, large, said = analyze(make(4 * n))
    check(status == 0, f"{name} x {4 * n}: status {status} {said[:200]}")
    check(large <= 8 * small + 0.5, f"{name}: {n} take {small:.2f} s, {4 * n} take {large:.2f} s")
for name, query in TOO_LARGE.items():
    status, took, said = analyze(query)
    check(status == 6 and "hint:" in said and took < 1, f"{name}: status {status}, {took:.2f} s, {said[:200]}")
print(f"{len(SHAPES)} shapes, {failures} failures")
sys.exit(bool(failures))
