#!/usr/bin/env python3
"""Black-box audit of elections through the built program, and of two that are sabotaged: noise of 0.8, scores times 2.

Groups whose key the owner determines are elected each for itself, so that one release over many equal groups is as many
independent elections of one small database. Every group has three customers of two orders each, or four. The event is a
threshold of 1 with an answer of at most 3: the fourth customer makes both less likely, by e^(-1/4) and e^(-3/4). The log
ratio less 4 of its standard errors must not exceed epsilon = 1: an honest program is rejected with probability below 1e-4.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

BUILD = os.environ["DPC_BUILD"]
GROUPS, OTHERS = 40000, 3
POLICY = """
entities: [customer]
tables:
  town: {privacy: public, columns: {t: integer}, key: [t]}
  customer: {columns: {c: integer, t: integer}, key: [c], not_null: [t], not_owned: [t]}
  orders: {columns: {o: integer, c: integer}, key: [o], not_null: [c], owned_by: [{via: [c], table: customer}],
           at_most: [{per: [c], of: [o], k: 2}]}
"""
QUERY = ("SELECT town.t, COUNT(*) FROM orders JOIN customer ON orders.c = customer.c JOIN town ON customer.t = town.t "
         "GROUP BY town.t")


def write(folder, each):
    os.makedirs(folder)
    with open(f"{folder}/town.csv", "w", encoding="ascii") as f:
        f.write("t\n" + "".join(f"{t}\n" for t in range(GROUPS)))
    n = GROUPS * each
    with open(f"{folder}/customer.csv", "w", encoding="ascii") as f:
        f.write("c,t\n" + "".join(f"{c},{c // each}\n" for c in range(n)))
    with open(f"{folder}/orders.csv", "w", encoding="ascii") as f:
        f.write("o,c\n" + "".join(f"{o},{o // 2}\n" for o in range(2 * n)))


def events(program, folder):
    ledger = f"{folder}/{os.path.basename(program)}"
    subprocess.run([program, "budget", "init", "--ledger", ledger, "--epsilon", "2"], check=True, stdout=subprocess.DEVNULL)
    r = subprocess.run([program, "release", "--db", folder, "--policy", "p.yaml", "--ledger", ledger, "--epsilon", "1",
                        "--error-budget", "none", "--mechanism", "election", "--format", "json", QUERY],
                       capture_output=True, text=True, check=False)
    a = json.loads(r.stdout)
    assert r.returncode == 0 and len(a["groups"]) == GROUPS, r.stdout[:500]
    return sum(1 for g in a["groups"] if g["threshold"] == 1 and g["answer"] <= OTHERS)


def certain_loss(name):
    program = os.path.join(BUILD, name)
    less, more = events(program, "small"), events(program, "large")
    loss, error = math.log(less / more), math.sqrt(1 / less + 1 / more)
    print(f"{name}: {less} and {more} of {GROUPS}, loss {loss:.4f} +- {error:.4f}")
    return loss - 4 * error


with tempfile.TemporaryDirectory(prefix="dpc-entity-audit-") as folder_:
    os.chdir(folder_)
    with open("p.yaml", "w", encoding="ascii") as f_:
        f_.write(POLICY)
    write("small", OTHERS)
    write("large", OTHERS + 1)
    bad = [n for n, fails in (("dpcount", False), ("tests/dpcount_sabotaged", True), ("tests/dpcount_loud", True))
           if (certain_loss(n) > 1) != fails]
    os.chdir("/")
print("wrong verdicts: " + ", ".join(bad) if bad else "the honest program passes, both others are rejected")
sys.exit(1 if bad else 0)
