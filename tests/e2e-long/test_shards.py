#!/usr/bin/env python3
"""Tables spread over four PostgreSQL servers behind a coordinator
(postgres_fdw, foreign partitions): the same numbers as from one file."""
import json
import os
import random
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["DPC_SOURCE"], os.environ["DPC_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "harness"))
import pg  # noqa: E402
PROGRAM = os.path.join(BUILD, "dpcount")
SHARDS = 4

COUNTS = [
    "SELECT COUNT(*) FROM edge",
    "SELECT COUNT(DISTINCT src) FROM edge",
    "SELECT COUNT(*) FROM edge a JOIN node n ON a.dst = n.id WHERE n.kind = 'k1'",
    "SELECT COUNT(*) FROM edge a, edge b WHERE a.dst = b.src AND a.src <> b.dst",
]
RESIDUALS = [
    "Q(x, y, z) :- edge(x, y), edge(y, z), edge(z, x).",
    "Q(x, y, k) :- edge(x, y), node(y, k).",
]


class Server:
    def __init__(self):
        self.folder = pg.start()

    def sql(self, text):
        subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", self.folder,
                        "-U", "postgres"], input=text, text=True, check=True)

    def stop(self):
        pg.stop(self.folder)


def coordinate(coordinator, shards):
    sql = ("CREATE EXTENSION postgres_fdw;"
           "CREATE TABLE edge(src int, dst int) PARTITION BY HASH (src);"
           "CREATE TABLE node(id int, kind text) PARTITION BY HASH (id);")
    for i, shard in enumerate(shards):
        shard.sql("CREATE TABLE edge(src int, dst int); CREATE TABLE node(id int, kind text);")
        sql += (f"CREATE SERVER s{i} FOREIGN DATA WRAPPER postgres_fdw "
                f"OPTIONS (host '{shard.folder}', dbname 'postgres');"
                f"CREATE USER MAPPING FOR postgres SERVER s{i} OPTIONS (user 'postgres');")
        for table in "edge", "node":
            sql += (f"CREATE FOREIGN TABLE {table}_{i} PARTITION OF {table} FOR VALUES WITH "
                    f"(MODULUS {len(shards)}, REMAINDER {i}) SERVER s{i} "
                    f"OPTIONS (table_name '{table}');")
    coordinator.sql(sql)


def fill(coordinator, folder):
    r = random.Random(11)
    edges = [(r.randrange(120), r.randrange(120)) for _ in range(1500)]
    nodes = [(i, f"k{i % 4}") for i in range(150)]
    with open(os.path.join(folder, "edge.csv"), "w", encoding="utf-8") as f:
        f.write("src,dst\n" + "".join(f"{a},{b}\n" for a, b in edges))
    with open(os.path.join(folder, "node.csv"), "w", encoding="utf-8") as f:
        f.write("id,kind\n" + "".join(f"{a},{b}\n" for a, b in nodes))
    coordinator.sql(
        "INSERT INTO edge VALUES " + ",".join(map(str, edges)) + ";"
        "INSERT INTO node VALUES " + ",".join(map(str, nodes)) + ";")


def ask(command, source, query):
    run = subprocess.run([PROGRAM, command, "--format", "json", *source, query],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{command} {source} {query}: {run.stdout}{run.stderr}")
    full = json.loads(run.stdout)
    if command == "count":
        return full["count"]
    return json.dumps([full["count"], full["residual"], full["residuals"]])


def spread(shards):
    """Every server holds some of the rows, or the test shows nothing."""
    for shard in shards:
        out = subprocess.run(["psql", "-qAt", "-h", shard.folder, "-U", "postgres", "-c",
                              "SELECT count(*) FROM edge"],
                             capture_output=True, text=True, check=True)
        if int(out.stdout) < 100:
            sys.exit("the rows are not spread over the servers")


def main():
    servers = []
    try:
        for _ in range(SHARDS + 1):
            servers.append(Server())
        coordinator, shards = servers[0], servers[1:]
        coordinate(coordinator, shards)
        with tempfile.TemporaryDirectory() as folder:
            fill(coordinator, folder)
            spread(shards)
            url = f"postgresql:///postgres?host={coordinator.folder}&user=postgres"
            sources = {"csv": ["--db", folder], "embedded": ["--db", url],
                       "sql": ["--db", url, "--engine", "sql"]}
            for command, queries in ("count", COUNTS), ("sensitivity", RESIDUALS):
                for query in queries:
                    got = {name: ask(command, source, query)
                           for name, source in sources.items()}
                    if len(set(got.values())) != 1:
                        sys.exit(f"{query}: {got}")
    finally:
        for server in servers:
            server.stop()
    print(f"{len(COUNTS) + len(RESIDUALS)} queries agree over {SHARDS} servers")


if __name__ == "__main__":
    main()
