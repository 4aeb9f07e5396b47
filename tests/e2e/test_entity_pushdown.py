#!/usr/bin/env python3
"""Owners found by PostgreSQL (--engine sql): what each has, the truncated counts
and the releases are those of the embedded engine, over random tables with NULL,
dangling and composite keys, chains, several paths, keys of texts that need
care, holders of NULLs in tables with and without keys. What the database cannot
do exactly is refused before a charge."""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import owned
import pg

ROUNDS = int(os.environ.get("ENTITY_ROUNDS", "2"))
random.seed(int(os.environ.get("ENTITY_SEED", "20264")))


def psql(folder, text):
    subprocess.run(["psql", "-qX", "-h", folder, "-U", "postgres", "-v", "ON_ERROR_STOP=1"], input=text, text=True, check=True, capture_output=True)


with tempfile.TemporaryDirectory() as top, pg.server() as server:
    policy = top + "/p.yaml"
    with open(policy, "w") as f:
        f.write(owned.POLICY)
    source = ["--db", pg.url(server)]
    for i in range(ROUNDS):
        n = random.choice([0, 3, 12, 40]) if i < ROUNDS - 1 else 40
        psql(server, "DROP SCHEMA public CASCADE; CREATE SCHEMA public;" + owned.SCHEMA + owned.data(n))
        for query, owners in owned.QUERIES + owned.SUMS:
            owned.compare(source, policy, query, owners)
    owned.releases(source, policy, top, owned.QUERIES + owned.SUMS, owned.GROUPED + owned.GROUPED_SUMS)
    psql(server, owned.many())
    for query, owners in owned.OF_MANY:
        owned.compare(source, policy, query, owners)
    owned.refusals(source, policy, top)
sys.exit(1 if owned.FAILED else 0)
