#!/usr/bin/env python3
"""Entities on a PostgreSQL server: a key by which owners are found must be
enforced there, else `unsealed-owner`; and a filter of the query that the server
could apply must not split an entity, since owners are found in whole tables."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import pg

DPCOUNT = os.environ["DPC_BUILD"] + "/dpcount"
POLICY = """entities: [customer]
tables:
  customer: {key: [c]}
  orders: {key: [o], owned_by: [{via: [c], table: customer}]}
  lineitem: {key: [l], owned_by: [{via: [o], table: orders}]}
"""
DATA = """
INSERT INTO customer SELECT g, g %% 3 FROM generate_series(1, 3) g;
INSERT INTO orders SELECT g, CASE WHEN g %% 7 = 0 THEN NULL ELSE g %% 5 END FROM generate_series(1, 30) g;
INSERT INTO lineitem SELECT g, g %% 40, g %% 4 FROM generate_series(1, 200) g;
""".replace("%%", "%")
failed = 0


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAILED", what)


def psql(folder, text):
    subprocess.run(["psql", "-qX", "-h", folder, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-c", text], check=True, capture_output=True)


def run(folder, policy, command, query, *more):
    r = subprocess.run([DPCOUNT, command, "--format", "json", "--db", pg.url(folder), "--policy", policy, *more, query], capture_output=True, text=True)
    return r.returncode, json.loads(r.stdout)


def counted(source, policy, query, engine):
    """What both engines say; the embedded one has certain bounds beside each number."""
    e = run(source, policy, "sensitivity", query, "--engine", engine)[1]["entity"]
    return {**e, "truncated": [{k: x[k] for k in ("t", "lower", "upper")} for x in e["truncated"]]}


def contributions(where):
    """What each entity has, by the definition: order of item, customer of order."""
    has = {}
    for l in range(1, 201):
        o, q = l % 40, l % 4
        if not where(q):
            continue
        if not 1 <= o <= 30:
            u = ("orders", o)
        else:
            u = ("row", o) if o % 7 == 0 else ("customer", o % 5)
        has[u] = has.get(u, 0) + 1
    return sorted(has.values())


with tempfile.TemporaryDirectory() as top, pg.server() as server:
    policy = top + "/p.yaml"
    with open(policy, "w") as f:
        f.write(POLICY)
    for key in ("", " PRIMARY KEY"):
        psql(server, "DROP TABLE IF EXISTS customer, orders, lineitem")
        psql(server, f"CREATE TABLE customer (c integer PRIMARY KEY, nat integer); CREATE TABLE orders (o integer{key}, c integer);"
                     "CREATE TABLE lineitem (l integer PRIMARY KEY, o integer, qty integer);" + DATA)
        for command in ("analyze", "sensitivity"):
            code, o = run(server, policy, command, "SELECT COUNT(*) FROM lineitem")
            if not key:
                check(code == 3 and o["error"]["code"] == "unsealed-owner", f"{command} without a key: {code} {o}")
            else:
                check(code == 0, f"{command} with keys: {code} {o}")
    psql(server, "CREATE TABLE host (h inet PRIMARY KEY); CREATE TABLE visit (v integer PRIMARY KEY, h inet)")
    with open(top + "/h.yaml", "w") as f:
        f.write("entities: [customer, host]\ntables:\n  visit: {owned_by: [{via: [h], table: host}]}\n" + POLICY.split("tables:\n")[1])
    code, o = run(server, top + "/h.yaml", "analyze", "SELECT COUNT(*) FROM visit")
    check(code == 2 and "rules of its own" in o["error"]["message"], f"inet: {o}")
    psql(server, "DROP TABLE host, visit")
    for text, where in (("", lambda q: True), (" WHERE qty = 1", lambda q: q == 1), (" WHERE qty < 2", lambda q: q < 2)):
        code, o = run(server, policy, "sensitivity", "SELECT COUNT(*) FROM lineitem" + text)
        has = contributions(where)
        e = o.get("entity", {})
        check(code == 0 and e["entities"] == len(has) and e["largest"] == has[-1], f"{text}: {o} for {has}")
        for x in e.get("truncated", []):
            check(int(x["lower"]) == sum(min(h, x["t"]) for h in has) and x["lower"] == x["upper"], f"{text}: {x} for {has}")
    code, o = run(server, policy, "sensitivity", "SELECT COUNT(*) FROM lineitem l, orders o WHERE l.o = o.o AND o.c = 2")
    check(code == 0 and o["entity"]["owners"] == 1 and o["entity"]["entities"] == 1, f"filter on orders: {o}")
    # line items' owners are found by way of orders that the other atom's filter leaves out
    q = "SELECT COUNT(*) FROM lineitem l, orders o WHERE l.qty = o.o AND o.c = 2"
    numbers = [counted(server, policy, q, e) for e in ("sql", "embedded")]
    has = {}
    for l in range(1, 201):
        u = ("orders", l % 40) if not 1 <= l % 40 <= 30 or l % 40 % 7 == 0 else ("customer", l % 40 % 5)
        has.setdefault(u, 0)
        has[u] += l % 4 == 2
    check(numbers[0] == numbers[1] and numbers[0]["owners"] == 2 and numbers[0]["entities"] == len({u for u in has if has[u]} | {("customer", 2)}),
          f"filter on another atom: {numbers}")
    numbers = [counted(server, policy, "SELECT COUNT(*) FROM lineitem WHERE qty < 2", e) for e in ("sql", "embedded")]
    check(numbers[0] == numbers[1], f"--engine sql: {numbers}")
sys.exit(1 if failed else 0)
