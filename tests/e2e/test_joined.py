#!/usr/bin/env python3
"""The same question asked by several at once is paid once: one draws, the others wait and get its answer. Other questions,
other analysts' and --fresh ones pay for themselves; if the one that draws is lost, all of them are locked."""
import json
import os
import signal
import subprocess
import tempfile
import time

from outside import DPCOUNT, ask, check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-joined-")
os.chdir(folder.name)
write("t.csv", "a,b\n" + "".join(f"{i % 97},{i % 89}\n" for i in range(20000)))
write("p.yaml", "tables:\n  t: {privacy: private, columns: {a: integer, b: integer}}\n")
write("slow.yaml", "tables:\n  t: {privacy: private, columns: {a: integer, b: integer}}\nlimits: {respond_after: 8}\n")
COUNT = "SELECT COUNT(*) FROM t WHERE a < 50"


def start(ledger, *more, policy="p.yaml", sql=COUNT):
    return subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", ledger, "--epsilon", "0.1", "--db", ".", "--policy", policy, *more, sql],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(p):
    out, err = p.communicate(timeout=300)
    try:
        return p.returncode, json.loads(out)
    except ValueError:
        return p.returncode, {"error": {"code": out + err}}


def spent(ledger):
    return ask("budget", "show", "--ledger", ledger, "--format", "json")[1]["spent"]


for turn in range(3):
    name = f"l{turn}"
    ask("budget", "init", "--ledger", name, "--epsilon", "10")
    got = [finish(p) for p in [start(name) for _ in range(6)]]
    check("all are answered", all(s == 0 for s, _ in got), str(got))
    check("with one answer", len({a.get("answer") for _, a in got}) == 1, str(got))
    check("one drew it", sum(not a.get("repeated") for _, a in got) == 1, str([a.get("repeated") for _, a in got]))
    check("paid once", spent(name) == 0.1, str(spent(name)))
    check("the ledger is whole", ask("budget", "verify", "--ledger", name)[0] == 0)

# two counts of which one is on its way, another question, and --fresh
ask("budget", "init", "--ledger", "m", "--epsilon", "10")
both = "SELECT COUNT(*), COUNT(DISTINCT a) FROM t WHERE a < 50"
got = [finish(p) for p in [start("m"), start("m", sql=both), start("m", sql="SELECT COUNT(*) FROM t"), start("m", "--fresh"), start("m", sql=both)]]
check("mixed", all(s == 0 for s, _ in got), str(got))
check("what differs is paid", 0.29 < spent("m") < 0.41, str(spent("m")))

# the one that draws is lost: locked for all, nobody hangs
ask("budget", "init", "--ledger", "n", "--epsilon", "10", "--db", ".", "--policy", "slow.yaml")
first = start("n", policy="slow.yaml")
keeper = None
while first.poll() is None and not keeper:
    time.sleep(0.05)
    if ask("budget", "show", "--ledger", "n", "--format", "json")[1]["spent"] > 0:
        # once it is charged the keeper is the only child
        with open(f"/proc/{first.pid}/task/{first.pid}/children", encoding="ascii") as f:
            keeper = next((int(child) for child in f.read().split()), None)
second = start("n", policy="slow.yaml")
time.sleep(1)
if keeper:
    os.kill(keeper, signal.SIGKILL)
got = [finish(first), finish(second)]
check("lost: locked for both", [(s, a.get("error", {}).get("code")) for s, a in got] == [(5, "locked")] * 2, str(got))
check("and paid once", spent("n") == 0.1, str(spent("n")))
end()
