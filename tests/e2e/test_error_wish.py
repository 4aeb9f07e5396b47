#!/usr/bin/env python3
"""--error: the price for a wanted error. It is the least of three digits that gives it, a release at it has the error, and
where noise is measured on the data nothing is promised."""
import os
import tempfile

import outside
from outside import check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-wish-")
os.chdir(folder.name)
write("d/p.csv", "id,sex\n" + "".join(f"{i},{'FM'[i % 2]}\n" for i in range(50)))
write("d/v.csv", "id,pat\n" + "".join(f"{i},{i % 7}\n" for i in range(90)))
write("p.yaml", """tables:
  p: {columns: {id: integer, sex: text}, key: [id]}
  v: {columns: {id: integer, pat: integer}, key: [id]}
""")
S = ["--db", "d", "--policy", "p.yaml", "--format", "json"]
ONE, TWO = "SELECT COUNT(*) FROM p", "SELECT COUNT(*), COUNT(DISTINCT sex) FROM p"
MANY = "SELECT COUNT(*) FROM p JOIN v ON v.pat = p.id"


def quote(query, *args):
    return outside.ask("quote", *S, *args, query)[1]


for query in (ONE, TWO):
    for wanted in (1, 3, 10, 100):
        a = quote(query, "--error", str(wanted))
        e = a["for_error"]["epsilon"]
        counts = a.get("counts", [a])
        check(f"{wanted}: kept", all(c["error"]["p95"] <= wanted for c in counts), str(a))
        less = float(f"{e - 10 ** (len(str(int(e))) - 3 if e >= 1 else -3 - (len(str(int(1 / e))) - 1)):.9f}")
        b = quote(query, "--epsilon", f"{e * 0.985:.9f}", "--mechanism", "discrete-laplace")
        check(f"{wanted}: no less will do", any(c["error"]["p95"] > wanted for c in b.get("counts", [b])), f"{e} {less} {b}")
status, a = outside.ask("budget", "init", "--ledger", "l", "--epsilon", "10", "--format", "json")
status, a = outside.ask("release", *S, "--ledger", "l", "--error", "10", ONE)
check("released", status == 0 and a["error"]["p95"] <= 10 and a["epsilon"] == quote(ONE, "--error", "10")["for_error"]["epsilon"], str(a))
check("charged", abs(outside.ask("budget", "show", "--ledger", "l", "--format", "json")[1]["spent"] - a["epsilon"]) < 1e-9)
a = quote(ONE, "--error", "5%")
check("percentages", [c["count"] for c in a["for_error"]] == [100, 1000, 10000, 100000, 1000000]
      and a["for_error"][0]["epsilon"] > a["for_error"][1]["epsilon"] > a["for_error"][4]["epsilon"], str(a))
a = quote(MANY, "--error", "50")
check("no bound", a["for_error"]["epsilon_at_least"] > 0 and a["mechanism"] == "smooth-laplace", str(a))
status, a = outside.ask("release", *S, "--ledger", "l", "--error", "50", MANY)
check("not released", status == 3 and "beforehand" in a["error"]["message"], str(a))
status, a = outside.ask("release", *S, "--ledger", "l", "--error", "5%", ONE)
check("no percentage of a secret", status == 3 and "private" in a["error"]["message"], str(a))
for args, code in ((["--error", "0"], 2), (["--error", "x"], 2), (["--error", "3", "--epsilon", "1"], 2), (["--error", "1e-9"], 0)):
    status, a = outside.ask("quote", *S, *args, ONE)
    check(f"{args}", status == code, f"{status} {a}")
end()
