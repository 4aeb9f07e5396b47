#!/usr/bin/env python3
"""The SQL front end against PostgreSQL and SQLite, thousands of random queries.

PostgreSQL is a server that the test starts; where there is none it is left out
with a message, unless CI is set.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import sqlgen  # noqa: E402

first = int(os.environ.get("DPC_SEED", "100000"))


def run(n_seeds, n_queries, oracle, name, full):
    seeds = range(first, first + n_seeds)
    compared, refused, failure = sqlgen.compare(seeds, n_queries, oracle, name, full)
    print("%s: seeds %d..%d: %d answers equal, %d queries refused" % (
        name, seeds[0], seeds[-1], compared, refused))
    if failure:
        sys.exit(failure)
    if compared < 4 * refused or compared < n_seeds * 10:
        sys.exit("too many queries are refused")


def command(n_seeds, n_queries, full, answers, source, name):
    seeds = range(first, first + n_seeds)
    equal, failure = sqlgen.command_differs(seeds, n_queries, full, answers, source)
    print("dpcount count, %s: seeds %d..%d: %d answers equal" % (
        name, seeds[0], seeds[-1], equal))
    if failure:
        sys.exit(failure)


with tempfile.TemporaryDirectory() as tmp:
    command(20, 20, False, sqlgen.by_sqlite, sqlgen.sqlite_file(tmp + "/random.db"), "SQLite")
run(120, 25, sqlgen.by_sqlite, "SQLite", False)
server = sqlgen.Postgres()
try:
    if server.folder:
        run(15, 150, server.answers, "PostgreSQL", True)
        command(5, 40, True, server.answers, server.url, "PostgreSQL")
finally:
    server.stop()
