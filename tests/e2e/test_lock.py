#!/usr/bin/env python3
"""What happens to a release after it was charged: answered or locked, and
nothing else. The worker is killed at many moments by several signals, runs
out of memory, is too slow; a lock refuses every later question before it is
charged, repeats are still given, the owner unlocks; replies come at the
owner's moment."""
import json
import os
import signal
import subprocess
import tempfile
import time

from outside import DPCOUNT, ask, check, end, slower, write

folder = tempfile.TemporaryDirectory(prefix="dpc-lock-")
os.chdir(folder.name)
write("few.csv", "".join(f"{i % 7},{i % 11}\n" for i in range(500)))
FEW = ["--table", "t(a,b)=few.csv"]
COUNT = "SELECT COUNT(*) FROM t"
TEXT = set()  # of every lock: one text


def init(name, *more):
    ask("budget", "init", "--ledger", name, "--epsilon", "100", *more)


def release(name, *args, epsilon="0.1"):
    return ask("release", "--format", "json", "--ledger", name, "--epsilon", epsilon, *args)


def show(name):
    return ask("budget", "show", "--format", "json", "--ledger", name)[1]


def is_locked(what, status, a):
    e = a.get("error", {}) if isinstance(a, dict) else {}
    check(what, status == 5 and e.get("code") == "locked", f"{status} {a}")
    TEXT.add(json.dumps(e))


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(x) for x in f.read().split()]
    except OSError:
        return []


def worker_of(pid):
    """The process at the end of the chain, once there are two below."""
    for keeper in children(pid):
        for worker in children(keeper):
            return worker
    return None


def feed_of(p):
    """The writing end of the pipe, once the worker reads; of nothing if the release ended before."""
    while p.poll() is None:
        try:
            f = os.open("pipe", os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(f, True)
            return f
        except OSError:
            time.sleep(0.002)
    return os.open("/dev/null", os.O_WRONLY)


# a release, its repetition, what it says of itself
init("l")
status, first = release("l", *FEW, COUNT)
check("answered", status == 0 and first["isolation"] == "process" and first["as_of"] and first["head"]["n"] > 0, str(first))
status, again = release("l", *FEW, COUNT)
check("repeated", status == 0 and again["repeated"] and again["as_of"] == first["as_of"] and again["answer"] == first["answer"], str(again))

# killed at 20 moments: answered or locked, the charge stays, nothing else is seen
os.mkfifo("pipe")
SLOW = ["--table", "t(a,b)=pipe"]
for i in range(20):
    before = show("l")["spent"]
    p = subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.1", "--fresh", "--threads", "1",
                          *SLOW, COUNT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    feed = feed_of(p)
    for k in range(i % 5):
        os.write(feed, b"1,2\n" * 2000)
        time.sleep(0.002 * k)
    worker = worker_of(p.pid)
    check("there is a worker", worker, str(i))
    os.kill(worker, (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)[i % 3])
    try:
        os.write(feed, b"1,2\n" * 100)
    except BrokenPipeError:
        pass
    os.close(feed)
    out, err = p.communicate(timeout=slower(30))
    check("nothing on standard error", err == "", err)
    is_locked(f"killed {i}", p.returncode, json.loads(out))
    check(f"charged {i}", abs(show("l")["spent"] - before - 0.1) < 1e-9)
    # every later question is refused unpaid, whoever asks; repeats are given
    status, a = release("l", "--fresh", *FEW, COUNT)
    is_locked(f"refused {i}", status, a)
    check(f"unpaid {i}", abs(show("l")["spent"] - before - 0.1) < 1e-9)
    if i == 0:
        status, a = release("l", *FEW, COUNT)
        check("repeat while locked", status == 0 and a["answer"] == first["answer"], str(a))
        status, a = ask("quote", "--format", "json", "--epsilon", "0.1", *FEW, COUNT)
        check("quote while locked", status == 0, str(a))
    check("unlock", ask("budget", "unlock", "--ledger", "l")[0] == 0)
status, a = release("l", "--fresh", *FEW, COUNT)
check("answered after unlock", status == 0, str(a))

# the keeper killed: the next one who opens the ledger finds it and locks
init("lk")
p = subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", "lk", "--epsilon", "0.1", *SLOW, COUNT],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
feed = feed_of(p)
worker, keeper = worker_of(p.pid), children(p.pid)[0]
os.kill(keeper, signal.SIGKILL)
out, _ = p.communicate(timeout=slower(30))
is_locked("keeper killed", p.returncode, json.loads(out))
for _ in range(100):
    if not os.path.exists(f"/proc/{worker}"):
        break
    time.sleep(slower(0.05))
check("the worker dies with it", not os.path.exists(f"/proc/{worker}"))
os.close(feed)
is_locked("next after a killed keeper", *release("lk", *FEW, COUNT))

# the program killed: the release goes on and is stored
init("lp")
p = subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", "lp", "--epsilon", "0.1", *SLOW, COUNT],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
feed = feed_of(p)
p.kill()
p.communicate()
os.write(feed, b"1,2\n" * 300)
os.close(feed)
for _ in range(100):
    last = ask("budget", "history", "--format", "json", "--ledger", "lp")[1]["history"][-1]
    if last["state"] == "committed":
        break
    time.sleep(slower(0.1))
check("goes on without the program", last["state"] == "committed" and abs(last["answer"]["answers"][0] - 300) < 400, str(last))

# memory: 64 MB are not enough for this
write("big.csv", "".join(f"{i},{(i * 7919) % 1000003}\n" for i in range(3000000)))
BIG = ["--table", "t(a,b)=big.csv"]
init("lm")
if not os.environ.get("DPC_SLOW"):
    is_locked("memory", *release("lm", "--memory", "16M", *BIG, "SELECT COUNT(*) FROM t x JOIN t y ON x.a = y.b"))

# the owner's moment: answers and locks come exactly then, and --deadline is not for the analyst's side of it
after = slower(4)
write("policy.yaml", f"limits: {{respond_after: {after}s}}\n")
ask("budget", "init", "--ledger", "lt", "--epsilon", "10", "--policy", "policy.yaml")
took = []
for table in (FEW, BIG):
    start = time.monotonic()
    status, a = release("lt", *table, COUNT)
    took.append(time.monotonic() - start)
    check("at the moment", status == 0 and after - 0.01 <= took[-1] < after + slower(5), f"{status} {took} {a}")
start = time.monotonic()
status, a = release("lt", *FEW, COUNT)
check("a repeat need not wait", status == 0 and a["repeated"] and time.monotonic() - start < after, str(a))
status, a = release("lt", "--deadline", "9", "--fresh", *FEW, COUNT)
check("no deadline of others", status == 2 and a["error"]["code"] == "usage", str(a))
start = time.monotonic()
p = subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", "lt", "--epsilon", "0.1", "--fresh", *SLOW, COUNT],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
feed = feed_of(p)
out, _ = p.communicate(timeout=slower(30))
took = time.monotonic() - start
is_locked("too slow", p.returncode, json.loads(out))
check("at the moment, not before", after - 0.01 <= took < after + slower(5), str(took))
os.close(feed)
bits = show("lt")["unnoised_bits"]
check("bits of the first lock", abs(float(bits) - 9.97) < 0.01, str(bits))

# the ladder: a miss doubles the time for this and all later questions, then it is a lock
write("ladder.yaml", f"limits: {{respond_after: {slower(0.7)}, ladder: 1}}\n")
ask("budget", "init", "--ledger", "ll", "--epsilon", "10", "--policy", "ladder.yaml")
for name, feed_at, expected in (("doubled", slower(1.0), 0), ("no rung left", None, 5)):
    start = time.monotonic()
    p = subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", "ll", "--epsilon", "0.1", "--fresh", *SLOW, COUNT],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    feed = feed_of(p)
    if feed_at:
        time.sleep(feed_at)
        os.write(feed, b"1,2\n" * 3)
        os.close(feed)
    out, _ = p.communicate(timeout=slower(30))
    took = time.monotonic() - start
    check(name, p.returncode == expected and slower(1.4) - 0.01 <= took < slower(9), f"{p.returncode} {took} {out}")
    if not feed_at:
        os.close(feed)

# two counts, and the budget is enough for one: none is charged
ask("budget", "init", "--ledger", "l2", "--epsilon", "1")
release("l2", *FEW, COUNT, epsilon="0.6")
spent = show("l2")["spent"]
status, a = release("l2", *FEW, "SELECT COUNT(*), COUNT(DISTINCT a) FROM t", epsilon="0.3")
check("both or none", status == 4 and a["error"]["code"] == "budget" and show("l2")["spent"] == spent, str(a))

check("one text for all", len(TEXT) == 1, str(TEXT))
end()
