"""Declared constraints on a live database: what the server enforces lowers the noise, all
else is left out, a public decision that is told; no row decides anything."""
import os
import subprocess
import sys
import tempfile

import outside
import pg
from outside import ask, check, run, write

JOIN = "SELECT COUNT(*) FROM visit v, visit w WHERE v.pat = w.pat"
POLICY = """
tables:
  visit:
    privacy: private
    at_most: [{per: [pat], of: [day], k: 2}]
    rows_at_most: 10
    not_null: [note]
"""


def release(url, book, query, *more):
    return ask("release", "--db", url, "--ledger", book, "--epsilon", "1", "--format", "json",
               "--fresh", *more, query)


def live(folder):
    """A false at_most, a true one, none: the same mechanism, and said why."""
    def sql(text):
        subprocess.run(["psql", "-qX", "-h", folder, "-U", "postgres", "-c", text], check=True)
    url = pg.url(folder)
    sql("CREATE TABLE visit(id int PRIMARY KEY, pat int, day int, note text)")
    sql("INSERT INTO visit SELECT i, i, i, '' FROM generate_series(1, 5) i")
    check("init", run("budget", "init", "--ledger", "l", "--epsilon", "1000").returncode == 0)
    write("p.yaml", POLICY)
    write("bare.yaml", "tables: {visit: {privacy: private}}\n")
    seen = []
    for rows in ("", "INSERT INTO visit SELECT i, 7, i, NULLIF(i, 100)::text FROM generate_series(100, 200) i"):
        if rows:
            sql(rows)
        status, out = release(url, "l", JOIN, "--policy", "p.yaml")
        seen.append((status, out.get("mechanism"), out.get("reason")))
    check("no row decides:", seen[0] == seen[1] and seen[0][0] == 0, seen)
    status, out = release(url, "l", JOIN, "--policy", "bare.yaml")
    check("as if nobody had said it:", out.get("mechanism") == seen[0][1], (out, seen))
    told = seen[0][2] or ""
    for part in ("visit: pat -> day <= 2", "|visit| <= 10", "visit.note NOT NULL"):
        check(f"told: {part}", part in told, told)
    check("not the server's own", "visit: id" not in told, told)
    status, out = ask("analyze", "--db", url, "--policy", "p.yaml", "--format", "json", JOIN)
    check("analyze agrees", status == 0 and out["global_sensitivity"]["upper"] in ("inf", None), out)
    status, out = ask("check", "--db", url, "--policy", "p.yaml", "--format", "json")
    check("check still checks all", status == 5, out)


def keys(folder):
    """Which UNIQUE is a key: not those of types whose values share a text."""
    def sql(text):
        subprocess.run(["psql", "-qX", "-h", folder, "-U", "postgres", "-c", text], check=True)
    url = pg.url(folder)
    sql("CREATE TABLE k(a int NOT NULL, b text NOT NULL, c regproc NOT NULL, d inet NOT NULL, "
        "e int, f text)")
    for col in "abcd":
        sql(f"CREATE UNIQUE INDEX ON k({col})")
    sql("CREATE UNIQUE INDEX ON k(e) WHERE e > 3; CREATE UNIQUE INDEX ON k(lower(f))")
    out = run("policy", "init", "--db", url).stdout
    line = [x for x in out.splitlines() if "keys: [" in x]
    check("keys of k:", line == ["    keys: [[a], [b], [d]]"], out)


def main():
    with tempfile.TemporaryDirectory() as top, pg.server() as server:
        os.chdir(top)
        live(server)
        keys(server)
        outside.end()


if __name__ == "__main__":
    sys.exit(main())
