"""analyze: a picture, witnesses of the size that was asked for, and NULLs on
the left of a dependency, which bind nothing."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

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
# Any number of rows may have a NULL in a, and each of them its own c: one row
# of s lets all of them in through b. Only a NOT NULL column a bounds them.
with tempfile.TemporaryDirectory() as top:
    for null, want in (("", "inf"), (" NOT NULL", 2)):
        schema = os.path.join(top, "s.sql")
        with open(schema, "w") as file:
            file.write(f"CREATE TABLE r(a int{null}, b int, c int);"
                       "CREATE TABLE s(a int);")
        out = json.loads(run(
            "--schema", schema, "--constraint", "r: b -> a <= 2",
            "--constraint", "r: a -> c", "--format", "json",
            "SELECT COUNT(*) FROM (SELECT DISTINCT r.a, r.c FROM r, s "
            "WHERE r.b = s.a) q").stdout)
        got = out["per_relation"]["s"]["upper"]
        check(got == want, f"a{null}: one row of s, upper {got}, not {want}")
print(f"{count - bad} passed, {bad} failed")
sys.exit(bad > 0)
