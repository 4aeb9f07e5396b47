#!/usr/bin/env python3
"""The constructs of tests/e2e/test_algebra_diff.py, thousands of queries: counted
in rows of SQLite, in rows of PostgreSQL and by PostgreSQL itself (--engine sql),
against both databases' own answers."""
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import sqlite3

import pg

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
spec = importlib.util.spec_from_file_location("diff", SOURCE + "/tests/e2e/test_algebra_diff.py")
diff = importlib.util.module_from_spec(spec)
spec.loader.exec_module(diff)
ROUNDS = int(os.environ.get("DPC_ROUNDS", "100"))


def literal(v):
    return "NULL" if v is None else str(v) if isinstance(v, int) else "'%s'" % v


def psql(folder, text):
    r = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "postgres", "-d", "postgres"],
                       input=text, capture_output=True, text=True, check=False)
    if r.returncode:
        sys.exit(r.stderr)
    return r.stdout.split()


def program(source, sql, *options):
    r = subprocess.run([BUILD + "/dpcount", "count", "--format", "json", "--db", source, *options, sql],
                       capture_output=True, text=True, check=False)
    return json.loads(r.stdout)


def load(folder, db):
    text = "DROP TABLE IF EXISTS a, b, c;" + diff.DDL
    for t in diff.TABLES:
        for row in db.execute("SELECT * FROM " + t):
            text += "INSERT INTO %s VALUES (%s);" % (t, ", ".join(map(literal, row)))
    psql(folder, text)


equal = asked = pushed = tried = 0
with pg.server() as folder, tempfile.TemporaryDirectory() as tmp:
    source = "host=%s user=postgres dbname=postgres" % folder
    for seed in range(ROUNDS):
        rng = random.Random(7000 + seed)
        path = tmp + "/%d.db" % seed
        db = sqlite3.connect(path)
        diff.fill(rng, db)
        load(folder, db)
        queries = [diff.Gen(rng).query() for _ in range(20)]
        theirs = psql(folder, "".join(diff.text(q, False) + ";\n" for q in queries))
        for n, (q, want) in enumerate(zip(queries, theirs)):
            sql = diff.text(q, False)
            if str(diff.by_sqlite(db, diff.text(q, True))) != want:
                sys.exit("the two databases differ: %s" % sql)
            asked += 1
            # every fifth one through the driver of PostgreSQL, and two by the server
            by_server = n % 5 in (1, 2)
            got = program(source if n % 5 < 3 else path, sql, *["--engine", "sql"] * by_server)
            tried += by_server
            pushed += by_server and "error" not in got
            if "error" in got and got["error"]["code"] in ("unsupported", "too-large", "type"):
                continue
            if str(got.get("count")) != want:
                sys.exit("seed %d: PostgreSQL %s, dpcount %s\n%s" % (seed, want, got, sql))
            equal += 1
print("%d of %d answers equal, %d of %d by the server" % (equal, asked, pushed, tried))
sys.exit(equal < 0.9 * asked or pushed < 0.9 * tried)
