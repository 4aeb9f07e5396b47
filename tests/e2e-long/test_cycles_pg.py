#!/usr/bin/env python3
"""Residuals of cyclic queries, computed by a PostgreSQL server on a graph of 29,000 edges: the numbers of the embedded
engine, each statement ends in time, and the program needs less than 100 MB. Under DPC_DATA lies the graph; without it the test is skipped."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import pg  # noqa: E402
from outside import DPCOUNT, check, end  # noqa: E402

GRAPH = os.path.join(os.environ.get("DPC_DATA", "/nowhere"), "ca-GrQc.txt")
DIFFERENT = ", ".join(f"{x} != {y}" for x, y in ("ab", "ac", "ad", "bc", "bd", "cd"))
PATTERNS = {
    "triangle": "Q(a,b,c) :- e(a,b), e(b,c), e(a,c), a != b, a != c, b != c.",
    "star": f"Q(a,b,c,d) :- e(a,b), e(a,c), e(a,d), {DIFFERENT}.",
    "rectangle": f"Q(a,b,c,d) :- e(a,b), e(b,c), e(c,d), e(d,a), {DIFFERENT}.",
    "two triangles": f"Q(a,b,c,d) :- e(a,b), e(a,c), e(b,c), e(a,d), e(b,d), {DIFFERENT}.",
}
# Of a statement, on a machine with other work; formed pair by pair the slowest would take hours.
MOST_SECONDS = 300


def fill(url):
    with open(GRAPH, encoding="utf-8") as f:
        rows = "".join("\t".join(line.split()) + "\n" for line in f if line[0] != "#")
    sql = "CREATE TABLE e(a int NOT NULL, b int NOT NULL, PRIMARY KEY (a, b));"
    subprocess.run(["psql", "-q", url, "-c", sql], check=True)
    subprocess.run(["psql", "-q", url, "-c", "COPY e FROM STDIN", "-c", "ANALYZE e"], input=rows, text=True, check=True)


def ask(url, engine, rule):
    with tempfile.TemporaryFile("w+") as out:
        p = subprocess.Popen([DPCOUNT, "sensitivity", "--db", url, "--engine", engine, "--beta", "0.1", "--format", "json", rule], stdout=out)
        _, status, use = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    # floor: what Python had when it forked
    check(f"{engine}: memory", engine != "sql" or use.ru_maxrss < 100 * 1024, use.ru_maxrss)
    if p.returncode:
        print(text)
        return None
    r = json.loads(text)
    return [r["count"], r["residual"], [(x["removed"], x["t"]) for x in r["residuals"]]]


def main():
    if not os.path.exists(GRAPH):
        print("skipped: no graph at DPC_DATA")
        sys.exit(77)
    with pg.server() as folder:
        url = f"host={folder} user=postgres options='-c statement_timeout={MOST_SECONDS}s'"
        fill(url)
        for name, rule in PATTERNS.items():
            want = ask(url, "embedded", rule)
            got = ask(url, "sql", rule)
            check(f"{name}: the numbers of the embedded engine", want is not None and got == want, f"{got}, not {want}")
    end()


main()
