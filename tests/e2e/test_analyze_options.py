"""analyze: a picture, and witnesses of the size that was asked for."""
import json
import os
import shutil
import subprocess
import sys

program = os.path.join(os.environ["DPC_BUILD"], "dpcount")
bad = count = 0


def run(*words):
    return subprocess.run([program, "analyze", *words], capture_output=True,
                          text=True, timeout=60)


def check(ok, what):
    global bad, count
    count += 1
    bad += not ok
    if not ok:
        print(what)


for query in ["Q(x) :- R(x), S(y).", "Q(x) :- R(x,y), S(y).",
              "Q(x) :- R(x), S(y), x < y.",
              "Q(x,y) :- E(x,z), E(z,y), x != y."]:
    for n in (1, 7, 100):
        out = json.loads(run("--witness-size", str(n), "--format", "json",
                             query).stdout)
        w = out["witness"]
        check(w["family"] and abs(w["count_after"] - w["count_before"]) >= n,
              f"{query}: no witness of size {n}: {w}")
for n in ("0", "-1", "x", "10001"):
    check(run("--witness-size", n, "Q(x) :- R(x).").returncode == 2,
          f"witness size {n} is accepted")

picture = run("--dot", "Q(x,y) :- R(x,y), S(y,'a\"b'), x != y.")
check(picture.stdout.startswith("graph query {"), picture.stdout)
if shutil.which("dot"):
    drawn = subprocess.run(["dot", "-Tsvg"], input=picture.stdout, text=True,
                           capture_output=True, timeout=60)
    check(drawn.returncode == 0 and "<svg" in drawn.stdout, drawn.stderr)
print(f"{count - bad} passed, {bad} failed")
sys.exit(bad > 0)
