#!/usr/bin/env python3
"""Each read, and each exchange with a server, of the process that has the rows fails once: the release is
answered or locked, and nothing else. The disk of the ledger is full from some write on: refused before the
charge, or ledger-io with the charge held, the same on neighbours. A full file system, where one can be made."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import pg
from outside import DPCOUNT, ask, check, end, write

SHIM = os.path.join(os.environ["DPC_BUILD"], "tests", "libfault_shim.so")
if not os.path.exists(SHIM):
    print("skipped: the shim is not built")
    sys.exit(77)
folder = tempfile.TemporaryDirectory(prefix="dpc-faults-")
os.chdir(folder.name)
COUNT = "SELECT COUNT(*) FROM t x JOIN t y ON x.a = y.b"
ROWS = [(i % 7, i % 11) for i in range(300)]
write("csv/t.csv", "a,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS))
db = sqlite3.connect("t.db")
db.execute("CREATE TABLE t(a INTEGER, b INTEGER)")
db.executemany("INSERT INTO t VALUES (?, ?)", ROWS)
db.commit()
db.close()
write("p.yaml", "tables:\n  t: {privacy: private, columns: {a: integer, b: integer}}\n")


def release(ledger, source, kind, depth, at, *more):
    """Exit status, answer, and whether the fault happened."""
    if os.path.exists("mark"):
        os.remove("mark")
    env = dict(os.environ, LD_PRELOAD=SHIM, DPC_FAULT_KIND=kind, DPC_FAULT_DEPTH=str(depth), DPC_FAULT_AT=str(at),
               DPC_FAULT_MARK=os.path.abspath("mark"))
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"
    p = subprocess.run([DPCOUNT, "release", "--format", "json", "--ledger", ledger, "--epsilon", "0.01", "--fresh", *source, *more, COUNT],
                       capture_output=True, text=True, check=False, timeout=120, env=env)
    try:
        answer = json.loads(p.stdout)
    except ValueError:
        answer = {"error": {"code": p.stdout + p.stderr}}
    return p.returncode, answer, os.path.exists("mark")


def show(ledger):
    return ask("budget", "show", "--ledger", ledger, "--format", "json")[1]


def init(ledger):
    ask("budget", "init", "--ledger", ledger, "--epsilon", "1000", "--least-price", "0.01")


def sweep(name, source, *more, most):
    """Every read fails once; with many of them some are left out at the end."""
    init(name)
    locked = happened = at = 0
    texts = set()
    while True:
        at += 1 if at < most else max(1, at // 3)
        spent = show(name)["spent"]
        status, a, fault = release(name, source, "read", 2, at, *more)
        happened += fault
        code = a.get("error", {}).get("code")
        check(f"{name} {at}: answered or locked", (status, code) in ((0, None), (5, "locked")), f"{status} {a}")
        check(f"{name} {at}: charged", show(name)["spent"] > spent, "")
        if status == 5:
            locked += 1
            texts.add(json.dumps(a["error"]))
            check("the next question", ask("release", "--ledger", name, "--epsilon", "0.01", "--format", "json", *source,
                                           "SELECT COUNT(*) FROM t")[1]["error"]["code"] == "locked")
            ask("budget", "unlock", "--ledger", name)
        if not fault or at > 2000:
            break
    check(f"{name}: faults happened and locked", happened >= 2 and locked >= 1, f"{happened} {locked}")
    check(f"{name}: one text", len(texts) <= 1, str(texts))
    print(f"{name}: {happened} faults, {locked} locks")


sweep("csv.ledger", ["--db", "csv", "--policy", "p.yaml"], most=8)
sweep("sqlite.ledger", ["--db", "t.db", "--policy", "p.yaml"], most=8)

# a disk that is full from the n-th write of the keeper on; one row more or less makes no difference
write("more/t.csv", "a,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS + [(3, 3)]))
seen = {}
for at in list(range(1, 9)) + [10, 14, 20]:
    outcome = []
    for side in ("csv", "more"):
        name = f"full-{side}-{at}.ledger"
        init(name)
        status, a, fault = release(name, ["--db", side, "--policy", "p.yaml"], "write", 1, at)
        code = a.get("error", {}).get("code")
        spent = show(name)
        check(f"full {at}", (status, code) in ((0, None), (5, "ledger-io"), (5, "locked")), f"{status} {a}")
        check(f"full {at}: verified", ask("budget", "verify", "--ledger", name)[0] == 0)
        if status == 0:
            check("an answer is charged", spent["spent"] > 0, str(spent))
        outcome.append((status, code, spent["spent"], fault))
    check(f"full {at}: the same on neighbours", outcome[0] == outcome[1], str(outcome))
    seen[at] = outcome[0][1]
check("a full disk is told as such", "ledger-io" in seen.values(), str(seen))
print("writes:", seen)

# a small file system of its own that has so many KB left when the question comes
mount = ["unshare", "--mount", "--map-root-user", "sh", "-c",
         "mkdir -p full && mount -t tmpfs -o size=600k none full && exec \"$@\"", "sh"]
script = f"""
import json, os, subprocess
def ask(*args):
    p = subprocess.run([{DPCOUNT!r}, *args], capture_output=True, text=True)
    try:
        return p.returncode, json.loads(p.stdout).get("error", {{}}).get("code")
    except ValueError:
        return p.returncode, p.stdout + p.stderr
out = {{"csv": [], "more": []}}
for left in (200, 48, 40, 32, 24, 16, 8, 0):
    for side in out:
        for f in os.listdir("full"):
            os.remove("full/" + f)
        subprocess.run([{DPCOUNT!r}, "budget", "init", "--ledger", "full/l", "--epsilon", "10"], capture_output=True)
        free = os.statvfs("full").f_bavail * os.statvfs("full").f_frsize
        with open("full/fill", "wb") as f:
            f.write(bytes(max(0, free - 1024 * left)))
        out[side].append(ask("release", "--ledger", "full/l", "--epsilon", "0.1", "--format", "json", "--db", side, "--policy", "p.yaml",
                             "SELECT COUNT(*) FROM t"))
print(json.dumps(out))
"""
if shutil.which("unshare") and subprocess.run([*mount, "true"], capture_output=True, check=False).returncode == 0:
    p = subprocess.run([*mount, sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    got = json.loads(p.stdout) if p.returncode == 0 else {"csv": p.stderr, "more": p.stdout}
    check("a full file system: the same on neighbours", got["csv"] == got["more"], str(got))
    check("answered, or told as such", all(x in ([0, None], [5, "ledger-io"], [5, "locked"], [2, "ledger"]) for x in got["csv"]), str(got))
    check("one of each", [0, None] in got["csv"] and [5, "ledger-io"] in got["csv"], str(got))
    print("file system:", got["csv"])
else:
    print("no file system of its own could be made")

server = pg.start(needed=False)
if server:
    try:
        subprocess.run(["psql", "-q", pg.url(server)], input="CREATE TABLE t(a int, b int); INSERT INTO t SELECT i % 7, i % 11 FROM generate_series(1, 300) i;",
                       text=True, check=True, capture_output=True)
        sweep("pg.ledger", ["--db", pg.url(server), "--policy", "p.yaml"], most=6)
        sweep("sql.ledger", ["--db", pg.url(server), "--policy", "p.yaml"], "--engine", "sql", most=6)
    finally:
        pg.stop(server)
end()
