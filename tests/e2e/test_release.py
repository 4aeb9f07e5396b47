#!/usr/bin/env python3
"""Releases from outside: what is charged, what is repeated, what locks,
groups, deadlines, both kinds of neighbours, cancelling."""
import json
import os
import signal
import subprocess
import tempfile
import time

import outside
from outside import DPCOUNT, check, end, slower, write

# a private file has columns that are declared
DATA = ["--db", "data", "--policy", "columns.yaml"]



def run(*args):
    r = outside.run(*args)
    try:
        return r.returncode, json.loads(r.stdout), r.stderr
    except ValueError:
        return r.returncode, r.stdout, r.stderr


def release(*args, epsilon="0.1", ledger="l"):
    return run("release", "--format", "json", "--ledger", ledger, "--epsilon", epsilon, *DATA, *args)


def elsewhere(*args):
    """Under another policy, so with another ledger."""
    elsewhere.n = getattr(elsewhere, "n", 0) + 1
    name = f"other{elsewhere.n}"
    run("budget", "init", "--ledger", name, "--epsilon", "100", "--delta", "1e-5")
    return release(*args, ledger=name)


def spent(*args):
    return run("budget", "show", "--format", "json", "--ledger", "l", *args)[1]["spent"]


folder = tempfile.TemporaryDirectory(prefix="dpc-release-")
os.chdir(folder.name)
write("columns.yaml", "tables: {pat: {columns: [id, sex]}, visit: {columns: [pat, day]}, code: {columns: [code]}}\n")
write("data/pat.csv", "id,sex\n" + "".join(f"{i},{'FM'[i % 2]}\n" for i in range(500)))
write("data/visit.csv", "pat,day\n" + "".join(f"{i % 500},{i}\n" for i in range(900)))
write("data/code.csv", "code\nF\nM\nX\n")
run("budget", "init", "--ledger", "l", "--epsilon", "100", "--delta", "1e-5")
COUNT = "SELECT COUNT(*) FROM pat"
JOIN = "SELECT COUNT(*) FROM pat JOIN visit ON visit.pat = pat.id"

# asked twice: paid once; --fresh pays again; another analyst pays
first = release(COUNT)[1]
again = release(COUNT)[1]
check("repeat", again["answer"] == first["answer"] and again["receipt"] == first["receipt"] and again["repeated"])
check("free", spent() == 0.1, str(spent()))
fresh = release("--fresh", COUNT)[1]
check("fresh", fresh["receipt"] != first["receipt"] and spent() == 0.2)
other = release("--analyst", "ann", COUNT)[1]
check("analyst", other["receipt"] != first["receipt"] and spent() == 0.3)
check("same text", release("select  count(*) from PAT")[1]["receipt"] == fresh["receipt"])
check("other price", not release(COUNT, epsilon="0.2")[1]["repeated"])
check("near", abs(first["answer"] - 500) < 400)
time.sleep(0.01)
write("data/pat.csv", "id,sex\n" + "".join(f"{i},{'FM'[i % 2]}\n" for i in range(501)))
check("what was written does not show", release(COUNT)[1]["repeated"])

# mechanisms
status, a, _ = release(JOIN)
check("smooth", status == 0 and a["mechanism"] == "smooth-laplace" and a["calibration"] == "residual", str(a))
check("estimate", a["error"]["basis"] == "released" and a["error"]["p95"] > 0)
check("no secret", not {"s", "scale", "sensitivity", "count", "residual"} & set(a))
a = release("--error-budget", "none", JOIN)[1]
check("no estimate", a["error"] is None)
a = release("--constraint", "pat: id -> *", "--constraint", "visit: (pat, day) -> *",
            "--constraint", "visit: pat -> day <= 2", JOIN)[1]
check("bounded", a["mechanism"] == "discrete-laplace" and a["calibration"] == "global" and
      a["error"]["basis"] == "public", str(a))
for name in ("generalized-cauchy", "smooth-laplace"):
    a = release("--mechanism", name, "--beta", "0.01", "--error-budget", "none", JOIN)[1]
    check(name, a.get("mechanism") == name, str(a))
a = release("--mechanism", "discrete-gaussian", "--delta", "1e-7", COUNT)[1]
check("gaussian", a.get("mechanism") == "discrete-gaussian" and a["delta"] == 1e-7, str(a))
status, a, _ = release("--public", "pat,visit,code", JOIN)
check("not under another policy than the ledger's", status == 2 and a["error"]["code"] == "policy-changed", str(a))
run("budget", "init", "--ledger", "open.ledger", "--epsilon", "1")
status, a, _ = release("--public", "pat,visit,code", JOIN, ledger="open.ledger")
check("public", status == 0 and a["answer"] == 900 and a["epsilon"] == 0 and a["receipt"] is None, str(a))

# groups: every key, one price, l1 twice as large when rows are replaced
before = spent()
a = release("--groups", "F,M,X", "SELECT sex, COUNT(*) FROM pat GROUP BY sex")[1]
check("groups", [g["key"] for g in a["groups"]] == [["F"], ["M"], ["X"]], str(a))
check("one price", abs(spent() - before - 0.1) < 1e-9)
b = elsewhere("--groups", "F,M,X", "--neighbours", "change-one", "SELECT sex, COUNT(*) FROM pat GROUP BY sex")[1]
check("change-one", 1.7 < b["error"]["p95"] / a["error"]["p95"] < 2.3, f"{a['error']} {b['error']}")
smooth = [run("quote", "--format", "json", "--epsilon", "1", *DATA, "--groups", "F,M", "--neighbours", kind,
              "SELECT sex, COUNT(*) FROM pat JOIN visit ON visit.pat = pat.id GROUP BY sex")[1]
          for kind in ("add-drop-one", "change-one")]
check("change-one, smooth", smooth[1]["error"]["least_sensitivity"] == 2 * smooth[0]["error"]["least_sensitivity"],
      str(smooth))
c = elsewhere("--order", "3", COUNT)[1]
check("order", 2.5 < c["error"]["p95"] / first["error"]["p95"] < 3.5, str(c["error"]))
a = elsewhere("--public", "code", "SELECT c.code, COUNT(*) FROM pat p JOIN code c ON c.code = p.sex GROUP BY c.code")[1]
check("public keys", [g["key"] for g in a["groups"]] == [["F"], ["M"], ["X"]], str(a))
status, a, _ = release("SELECT sex, COUNT(*) FROM pat GROUP BY sex")
check("private keys", status == 3 and "--groups" in a["error"]["hint"])

# a constraint that does not hold stops every question alike, and nothing is charged
before = spent()
for constraint in ("pat: sex -> id <= 3", "|visit| <= 5"):
    for query in (JOIN, COUNT, "SELECT COUNT(*) FROM code"):
        status, a, err = release("--fresh", "--constraint", constraint, query)
        check(f"{constraint} for {query}", status == 5 and a["error"]["code"] == "data", f"{status} {a} {err}")
check("uncharged", spent() == before, f"{before} {spent()}")

# locked: one text, charged, reason in the owner's log only
status, a, err = release("--owner-log", "log", "--fresh", "--memory", "1100K", JOIN)
check("locked", status == 5 and a["error"]["code"] == "locked", f"{status} {a} {err}")
check("it locks", release("--fresh", COUNT)[1]["error"]["code"] == "locked")
check("unlock", run("budget", "unlock", "--ledger", "l")[0] == 0)
check("charged", abs(spent() - before - 0.1) < 1e-9, f"{before} {spent()}")
log = open("log").read().splitlines()
check("log", len(log) == 1 and os.stat("log").st_mode & 0o777 == 0o600, str(log))

# a deadline is kept, by answers and by failures
for what, wanted, more in (("deadline", 0, [COUNT]),
                           ("deadline of a failure", 5, ["--memory", "1100K", JOIN])):
    start = time.monotonic()
    status, a, _ = release("--deadline", str(slower(0.4)), "--fresh", *more)
    took = time.monotonic() - start
    check(what, status == wanted and slower(0.4) <= took < slower(3), f"{status} {took}")
check("unlock", run("budget", "unlock", "--ledger", "l")[0] == 0)

# caps
run("budget", "grant", "--ledger", "l", "--analyst", "bob", "--epsilon", "0.15")
check("cap", release("--analyst", "bob", COUNT)[0] == 0 and release("--fresh", "--analyst", "bob", COUNT)[0] == 4)
check("balance of bob", spent("--analyst", "bob") == 0.1)

# zCDP
run("budget", "init", "--ledger", "z", "--epsilon", "1", "--delta", "1e-6", "--composition", "zcdp")
z = run("release", "--format", "json", "--ledger", "z", "--rho", "0.01", *DATA, COUNT)[1]
check("zcdp", z.get("mechanism") == "discrete-gaussian" and z.get("rho") == 0.01, str(z))

# a bound whose square needs more than 128 bits: the noise keeps growing with it
wide = [run("quote", "--format", "json", "--rho", "0.5", "--mechanism", "discrete-gaussian", *DATA,
            "--constraint", f"|visit| <= {10 ** n}", "--constraint", "|pat| <= 1",
            "SELECT COUNT(*) FROM pat, visit")[1] for n in (18, 19, 20, 30)]
check("wide gaussian", [round(w["error"]["std"] / 10 ** n, 6) for n, w in zip((18, 19, 20, 30), wide)] == [1.0] * 4,
      str([w["error"] for w in wide]))
z = run("release", "--format", "json", "--ledger", "z", "--rho", "0.005", *DATA, JOIN)[1]
check("zcdp join", z.get("mechanism") == "arsinh-normal", str(z))
check("zcdp runs out", run("release", "--format", "json", "--ledger", "z", "--rho", "0.1", *DATA, COUNT)[0] == 4)

# cancelling a long count: prompt, and nothing is charged before the hold
write("big/e.csv", "a,b\n" + "".join(f"{i},{j}\n" for i in range(250) for j in range(250)))
p = subprocess.Popen([DPCOUNT, "count", "--db", "big", "Q(a,b,c,d) :- e(a,b), e(b,c), e(c,d), e(d,a), a < c, b < d, a < b."],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
time.sleep(slower(1))
p.send_signal(signal.SIGINT)
start = time.monotonic()
out, err = p.communicate(timeout=slower(30))
check("cancel", p.returncode in (0, 6) and time.monotonic() - start < slower(10), f"{p.returncode} {err}")

# two owners' commands warn
check("warning", "private" in run("count", *DATA, COUNT)[2])
status, a, _ = run("check", "--format", "json", *DATA, "--constraint", "pat: sex -> id <= 3")
check("check", status == 5 and a["holds"] is False and a["violations"][0]["found"] == 251, str(a))
status, a, _ = run("check", "--format", "json", *DATA, "--constraint", "pat: id -> *")
check("check holds", status == 0 and a["holds"] is True)

end()
