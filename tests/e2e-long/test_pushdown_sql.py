#!/usr/bin/env python3
"""Random SQL on random PostgreSQL databases: the database that counts itself
gives the number of the embedded engine, or refuses and says so."""
import json
import os
import random
import subprocess
import sys

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
import sqlgen  # noqa: E402

SEEDS, QUERIES = 8, 20


def fill(server, tables):
    sql = "DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n"
    sql += "".join(t.ddl() + ";\n" for t in tables)
    sql += "".join(sqlgen.insert_text(t, row) + ";\n" for t in tables for row in t.rows)
    subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", server, "-U", "postgres"], input=sql, text=True,
                   check=True, stderr=subprocess.DEVNULL)


def ask(url, engine, query):
    run = subprocess.run([BUILD + "/dpcount", "count", "--db", url, "--engine", engine, "--format", "json", query],
                         capture_output=True, text=True, check=False)
    return json.loads(run.stdout)


def main():
    first = int(os.environ.get("DPC_SEED", "1"))
    equal = refused = unreadable = 0
    with pg.server() as server:
        for seed in range(first, first + SEEDS):
            rng = random.Random(seed)
            tables = sqlgen.make_schema(rng, "odd one")
            queries = sqlgen.simple(rng, tables, True, QUERIES)
            fill(server, tables)
            for q in queries:
                want, got = (ask(pg.url(server), e, q.text()) for e in ("embedded", "sql"))
                if "count" not in want:
                    unreadable += 1
                elif "count" in got:
                    if want["count"] != got["count"]:
                        sys.exit(f"seed {seed}: {q.text()}: {got['count']}, not {want['count']}")
                    equal += 1
                elif got["error"]["code"] == "unsupported":
                    print(f"{got['error']['message']}: {q.text()}")
                    refused += 1
                else:
                    sys.exit(f"seed {seed}: {q.text()}: {got}")
    print(f"seeds {first}..{first + SEEDS - 1}: {equal} answers equal, pushdown refused {refused}, "
          f"{unreadable} refused by both")
    if equal < 10 * refused or equal < SEEDS * QUERIES / 2:
        sys.exit("too many are refused")


if __name__ == "__main__":
    main()
