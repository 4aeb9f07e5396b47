#!/usr/bin/env python3
"""The two treatments of comparisons between tables, one for a whole query:
what sensitivity shows, and that releases keep them apart."""
import json
import os
import tempfile

from outside import check, end, run

BAND = "Q(x,y,z,w) :- r(x,y), s(x,z,w), z < y, y < w."


def ask(*args):
    r = run(*args)
    return r.returncode, r.stdout


def sensitivity(query, *args):
    status, out = ask("sensitivity", "--format", "json", "--db", "data", *args, query)
    check("sensitivity", status == 0, out)
    return json.loads(out), out


folder = tempfile.TemporaryDirectory(prefix="dpc-filters-")
os.chdir(folder.name)
os.mkdir("data")
with open("data/r.csv", "w") as f:
    f.write("x,y\n1,5\n1,25\n2,7\n")
with open("data/s.csv", "w") as f:
    f.write("x,z,w\n" + "".join(f"1,{10 * i},{10 * i + 9}\n" for i in range(6)))
with open("data/e.csv", "w") as f:
    f.write("a,b\n" + "".join(f"{i},{j}\n" for i in range(6) for j in range(i)))

# six intervals that do not overlap: a new y lies in one, or in any of them
kept = {}
for kind in ("inside", "exact"):
    a, _ = sensitivity(BAND, "--filters", kind)
    check("count", a["count"] == 2 and a["filters"] == kind, str(a))
    kept[kind] = {tuple(r["removed"]): r["t"] for r in a["residuals"]}
    check("local", a["local_upper"] == {"inside": 6, "exact": 2}[kind], str(a))
check("inside", kept["inside"] == {(0,): 6, (1,): 2, (0, 1): 1}, str(kept))
check("exact", kept["exact"] == {(0,): 1, (1,): 2, (0, 1): 1}, str(kept))
check("default", sensitivity(BAND)[0]["filters"] == "inside")
check("unknown", ask("sensitivity", "--db", "data", "--filters", "some", BAND)[0] == 2)

# the release takes the same treatment, and a stored answer is of one of them
ask("budget", "init", "--ledger", "l", "--epsilon", "1000", "--least-price", "0.01")
# (with a mechanism whose error shows the scale; the staircase rounds to 1 here)
with open("columns.yaml", "w") as f:
    f.write("tables: {r: {columns: [x, y]}, s: {columns: [x, z, w]}, e: {columns: [a, b]}}\n")
RELEASE = ["release", "--format", "json", "--ledger", "l", "--db", "data", "--policy", "columns.yaml", "--epsilon", "20", "--error-budget", "10",
           "--mechanism", "smooth-laplace"]
first = json.loads(ask(*RELEASE, BAND)[1])
again = json.loads(ask(*RELEASE, "--filters", "inside", BAND)[1])
exact = json.loads(ask(*RELEASE, "--filters", "exact", BAND)[1])
check("inside is the default", again["receipt"] == first["receipt"], str(again))
check("exact is another question", exact["receipt"] != first["receipt"] and not exact["repeated"], str(exact))
large = [json.loads(ask(*RELEASE, "--fresh", "--filters", kind, BAND)[1])["error"]["p95"]
         for kind in ("inside", "exact") for _ in range(9)]
check("smaller noise", sorted(large[:9])[4] > sorted(large[9:])[4], str(large))
check("refused before the charge", ask(*RELEASE, "--filters", "some", BAND)[0] == 2)

# the fields of the owner's view
a, text = sensitivity("Q(a,b,c) :- e(a,b), e(b,c), e(a,c), a != b, b != c, a != c.", "--beta", "0.1")
check("beta as given", '"beta": 0.1,' in text, text)
check("few removed first", [r["removed"] for r in a["residuals"]] ==
      [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]], str(a["residuals"]))
lower = max(r["t"] for r in a["residuals"])
check("optimality", a["neighbourhood_lower"] == lower and
      abs(a["optimality"] - a["residual"]["value"] / lower) < 1e-9, str(a))
a, _ = sensitivity("Q(a) :- e(a,b).")
check("no lower bound known", a["optimality"] is None and a["neighbourhood_lower"] is None, str(a))

end()
