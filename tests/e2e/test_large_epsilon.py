"""Above epsilon 4 the staircase is taken where its error is smaller; an
explicit choice stands."""
import json
import os
import subprocess
import sys
import tempfile

program = os.path.join(os.environ["DPC_BUILD"], "dpcount")
QUERY = "Q(a,b,c) :- E(a,b), E(b,c), E(a,c), a != b, b != c, a != c."
bad = count = 0


def run(*words):
    out = subprocess.run([program, *words, "--private", "E", "--format",
                          "json", QUERY], capture_output=True, text=True,
                         timeout=60)
    return json.loads(out.stdout)


def check(ok, what):
    global bad, count
    count += 1
    bad += not ok
    if not ok:
        print(what)


for epsilon, want in (("1", "smooth-laplace"), ("3", "smooth-laplace"),
                      ("10", "staircase"), ("20", "staircase")):
    chosen = run("quote", "--epsilon", epsilon)
    check(chosen["mechanism"] == want, f"{epsilon}: {chosen}")
    other = run("quote", "--epsilon", epsilon, "--mechanism", "smooth-laplace")
    check(other["mechanism"] == "smooth-laplace", f"{epsilon}: {other}")
    std = "std_in_units_of_sensitivity"
    check(chosen["error"][std] <= other["error"][std],
          f"{epsilon}: {chosen['error']} against {other['error']}")

with tempfile.TemporaryDirectory() as top:
    ledger, file = os.path.join(top, "l"), os.path.join(top, "e.txt")
    with open(file, "w") as edges:
        edges.writelines(f"{i} {j}\n" for i in range(12) for j in range(12)
                         if i != j)
    subprocess.run([program, "budget", "init", "--ledger", ledger,
                    "--epsilon", "100"], check=True, capture_output=True)
    out = run("release", "--epsilon", "20", "--ledger", ledger, "--table",
              f"E(s,t)={file}")
    # 1320 triangles; S is at least 30, so 20 S away is beyond belief
    check(out["mechanism"] == "staircase" and abs(out["answer"] - 1320) < 900,
          out)
print(f"{count - bad} passed, {bad} failed")
sys.exit(bad > 0)
