#!/usr/bin/env python3
"""How long protecting people takes beside counting: bench/entity/speed.py FOLDER [ROWS [RUNS]]

With the build in build/ (bench targets too) and, for the graph, DPC_DATA. CPU seconds, user and system, of whole runs of the program, the
least of RUNS (3), and of bench-entity for pairs. What must hold, with 10,000,000 ROWS:

    one owner         a release takes at most twice the bare count of the same question, which
                      for a whole table is little more than looking for the ends of lines
    several owners    5 s for all thresholds that matter of as many pairs of owners
    GrQc triangles    1 s for a release with nodes protected
"""
import os
import random
import re
import resource
import shutil
import subprocess
import sys

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build")
PROGRAM = os.path.join(BUILD, "dpcount")
VISITS = """entities: [person]
tables:
  person: {columns: {id: integer}, key: [id]}
  visit: {columns: {id: integer, person: integer}, key: [id], not_null: [person], owned_by: [{via: [person], table: person}]}
"""
GRAPH = """entities: [node]
tables:
  node: {columns: {id: integer}, key: [id]}
  edge: {columns: {s: integer, t: integer}, not_null: [s, t], owned_by: [{via: [s], table: node}, {via: [t], table: node}]}
"""
TRIANGLES = "SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.t = b.s AND b.t = c.t AND a.s = c.s"


def cpu(runs, *command):
    """The least CPU of some runs, and the last output."""
    least = float("inf")
    for _ in range(runs):
        a = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        b = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime)
    return least, out


def make_visits(folder, rows):
    """A tenth as many people as visits, some with many."""
    rng, people = random.Random(1), max(1, rows // 10)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/person.csv", "w", encoding="ascii") as f:
        f.write("id\n" + "\n".join(map(str, range(1, people + 1))) + "\n")
    with open(folder + "/visit.csv", "w", encoding="ascii") as f:
        f.write("id,person\n")
        f.writelines(f"{i},{1 + int(people * rng.random() ** 2)}\n" for i in range(1, rows + 1))


def release(folder, runs, policy, query):
    """CPU of a release, each with a ledger of its own, and of the count."""
    with open(folder + "/policy.yaml", "w", encoding="ascii") as f:
        f.write(policy)
    ledger, least = folder + "-ledger", float("inf")
    source = ["--db", folder, "--policy", folder + "/policy.yaml"]
    for _ in range(runs):
        shutil.rmtree(ledger, ignore_errors=True)
        os.mkdir(ledger)
        subprocess.run([PROGRAM, "budget", "init", "--ledger", ledger + "/l", "--epsilon", "10"], check=True, stdout=subprocess.DEVNULL)
        least = min(least, cpu(1, PROGRAM, "release", *source, "--ledger", ledger + "/l", "--epsilon", "1", query)[0])
    return least, cpu(runs, PROGRAM, "count", *source, query)[0]


def tell(what, seconds, most, more=""):
    print(f"{what}: {seconds:.2f} s, at most {most:.2f}{more}{'' if seconds <= most else '  MISSED'}", flush=True)
    return seconds > most


def main(folder, rows, runs):
    missed = 0
    make_visits(folder + "/visits", rows)
    for name, query in (("one table", "SELECT COUNT(*) FROM visit"),
                        ("joined", "SELECT COUNT(*) FROM person p, visit v WHERE v.person = p.id")):
        some, bare = release(folder + "/visits", runs, VISITS, query)
        missed += tell(f"one owner, {rows} rows, {name}", some, 2 * bare, f" (the bare count {bare:.2f})")
    out = cpu(1, os.path.join(BUILD, "bench", "bench-entity"), "--pairs", str(rows))[1]
    missed += tell(f"several owners, {rows} pairs", float(re.search(r"([\d.]+) s$", out.strip())[1]), 5 * rows / 1e7)
    data = os.path.join(os.environ.get("DPC_DATA", ""), "ca-GrQc.txt")
    if os.path.exists(data):
        os.makedirs(folder + "/graph", exist_ok=True)
        with open(data, encoding="ascii") as f:
            pairs = {tuple(sorted(map(int, line.split()[:2]))) for line in f if line[:1].isdigit()}
        with open(folder + "/graph/edge.csv", "w", encoding="ascii") as f:
            f.write("s,t\n" + "".join(f"{s},{t}\n" for s, t in sorted(pairs) if s != t))
        with open(folder + "/graph/node.csv", "w", encoding="ascii") as f:
            f.write("id\n" + "".join(f"{v}\n" for v in sorted({v for p in pairs for v in p})))
        missed += tell("GrQc triangles", release(folder + "/graph", runs, GRAPH, TRIANGLES)[0], 1)
    return missed


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    sys.exit(1 if main(sys.argv[1], int((sys.argv[2:3] or ["10000000"])[0]), int((sys.argv[3:4] or ["3"])[0])) else 0)
