#!/usr/bin/env python3
"""Owners found by DuckDB (--engine sql): the numbers of the embedded engine, over
random tables (tests/harness/owned.py). Sums and Parquet rows without a key are
refused before a charge."""
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import duck
import owned

os.environ["DPCOUNT_LIBDUCKDB"] = duck.library()
ROUNDS = int(os.environ.get("ENTITY_ROUNDS", "2"))
random.seed(int(os.environ.get("ENTITY_SEED", "20265")))


def make(path, *texts):
    if os.path.exists(path):
        os.remove(path)
    with duck.Duck(path) as d:
        for text in texts:
            d.run(text)


with tempfile.TemporaryDirectory() as top:
    policy, path = top + "/p.yaml", top + "/d.db"
    with open(policy, "w") as f:
        f.write(owned.POLICY)
    source = ["--db", "duckdb:" + path]
    for i in range(ROUNDS):
        n = random.choice([0, 3, 12, 40]) if i < ROUNDS - 1 else 40
        make(path, owned.SCHEMA, owned.data(n))
        for query, owners in owned.QUERIES:
            owned.compare(source, policy, query, owners)
    owned.releases(source, policy, top, owned.QUERIES, owned.GROUPED)
    for i, (query, _) in enumerate(owned.SUMS):
        o = owned.release(source, policy, f"{top}/s{i}", query, "--epsilon", "1", "--engine", "sql")
        owned.check(o.get("error", {}).get("code") == "unsupported", f"{query}: {o}")
    owned.refusals(source, policy, top)
    make(path, owned.SCHEMA, owned.many())
    for query, owners in owned.OF_MANY:
        owned.compare(source, policy, query, owners)
    with duck.Duck(path) as d:
        d.run(f"COPY edge TO '{top}/edge.parquet' (FORMAT parquet); COPY node TO '{top}/node.parquet' (FORMAT parquet)")
    with open(policy, "w") as f:
        f.write("entities: [node]\ntables:\n  node: {key: [v]}\n  edge: {owned_by: [{via: [src], table: node}, {via: [dst], table: node}]}\n")
    files = ["--table", f"edge={top}/edge.parquet", "--table", f"node={top}/node.parquet"]
    o = owned.release(files, policy, top + "/p", "SELECT COUNT(*) FROM edge", "--epsilon", "1", "--engine", "sql")
    owned.check("without a key" in o.get("error", {}).get("message", ""), f"rows of Parquet that hold a NULL: {o}")
    with open(policy, "w") as f:
        f.write("entities: [node]\ntables:\n  node: {key: [v]}\n  edge: {not_null: [src, dst], owned_by: [{via: [src], table: node}, {via: [dst], table: node}]}\n")
    owned.compare(files, policy, "SELECT COUNT(*) FROM edge", 2)
sys.exit(1 if owned.FAILED else 0)
