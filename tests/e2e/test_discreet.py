#!/usr/bin/env python3
"""What a release must not tell while it works or fails: row counts on a
terminal, whether loading was over when it was stopped, private tables that an
exact answer does not need. And the edges of the smooth sensitivity."""
import datetime
import json
import os
import pty
import signal
import subprocess
import tempfile
import time

from outside import DPCOUNT, ask as run, check, end, slower

# a private file has columns that are declared
DATA = ["--db", "data", "--policy", "columns.yaml"]



def release(*args, epsilon="0.1", ledger="l"):
    return run("release", "--format", "json", "--ledger", ledger, "--epsilon", epsilon, *args)


def spent():
    return run("budget", "show", "--format", "json", "--ledger", "l")[1]["spent"]


def slow_table(name):
    """A named pipe: loading waits until somebody writes it."""
    os.mkfifo(name)
    return ["--table", f"t(a,b)={name}"]


def on_terminal(args, pipe, seconds):
    """Runs the program with a terminal as standard error; feeds rows for a
    while, then lets the file end."""
    master, slave = pty.openpty()
    p = subprocess.Popen([DPCOUNT] + args, stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    rows = 0
    with open(pipe, "w") as f:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            f.write("".join(f"{rows + i},{i}\n" for i in range(3000)))
            rows += 3000
            time.sleep(0.02)
    out, _ = p.communicate(timeout=slower(30))
    os.set_blocking(master, False)
    try:
        shown = os.read(master, 1 << 20).decode()
    except OSError:
        shown = ""
    os.close(master)
    return p.returncode, out, shown


folder = tempfile.TemporaryDirectory(prefix="dpc-discreet-")
os.chdir(folder.name)
run("budget", "init", "--ledger", "l", "--epsilon", "100")
COUNT = "SELECT COUNT(*) FROM t"

# progress of a release: that it works, not on what nor how much
source = slow_table("pipe1")
status, out, shown = on_terminal(["release", "--ledger", "l", "--epsilon", "0.1", *source, COUNT], "pipe1", 1.6)
check("release with progress", status == 0, f"{status} {out} {shown}")
check("progress is shown", "working" in shown, repr(shown))
check("no numbers of rows", not set("%,") & set(shown) and "counting" not in shown, repr(shown))

# stopped while loading: the program ends at once, the release is charged, runs to its end and is stored
before = spent()
source = slow_table("pipe2")
p = subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.1", *source, COUNT],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
with open("pipe2", "w") as f:
    f.write("1,2\n" * 400000)
    p.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, _ = p.communicate(timeout=slower(30))
    took = time.monotonic() - start
    f.write("1,2\n" * 400000)
check("cancelled while loading", p.returncode == 6 and json.loads(out)["error"]["code"] == "cancelled", out)
check("at once", took < slower(0.4), str(took))
check("and charged", abs(spent() - before - 0.1) < 1e-9, str(spent() - before))
for _ in range(100):
    last = run("budget", "history", "--format", "json", "--ledger", "l")[1]["history"][-1]
    if last["committed_at"]:
        break
    time.sleep(slower(0.1))
check("and stored", abs(last["answer"]["answers"][0] - 800000) < 400, str(last))

# a load that outlasts the deadline ends there, charged
source = slow_table("pipe3")
start = time.monotonic()
p = subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.1", "--deadline", str(slower(0.5)),
                      "--fresh", *source, COUNT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
try:
    with open("pipe3", "w") as f:
        while p.poll() is None and time.monotonic() < start + slower(3):
            f.write("1,2\n" * 20000)
            time.sleep(0.01)
except BrokenPipeError:
    pass
out, _ = p.communicate(timeout=slower(30))
took = time.monotonic() - start
check("deadline while loading", p.returncode == 5 and json.loads(out)["error"]["code"] == "locked" and took < slower(2),
      f"{p.returncode} {out} {took}")
run("budget", "unlock", "--ledger", "l")

# with a deadline the ledger, which anybody may watch, tells no time that depends on rows: it is charged before loading
# and committed at the deadline
before, start = spent(), time.monotonic()
p = subprocess.Popen([DPCOUNT, "release", "--format", "json", "--ledger", "l", "--epsilon", "0.1", "--deadline", str(slower(1)),
                      "--fresh", *slow_table("pipe4"), COUNT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while spent() <= before and time.monotonic() < start + slower(6):
    time.sleep(0.02)
check("charged before loading", spent() > before)
with open("pipe4", "w") as f:
    f.write("1,2\n" * 3)
p.communicate(timeout=slower(30))
with open("few.csv", "w") as f:
    f.write("1,2\n" * 3)
start = time.time()
status, a = release("--deadline", str(slower(0.7)), "--fresh", "--table", "t(a,b)=few.csv", COUNT)
last = run("budget", "history", "--format", "json", "--ledger", "l")[1]["history"][-1]
at = datetime.datetime.fromisoformat(last["committed_at"].replace("Z", "+00:00")).timestamp()
check("committed at the deadline", status == 0 and at >= start + slower(0.7) - 0.01, f"{start} {last}")

# an answer that no private row changes does not read them
os.mkdir("data")
with open("columns.yaml", "w") as f:
    f.write("tables: {t: {columns: [a, b]}, code: {columns: [c, d]}, u: {columns: [a, b]}}\n")
with open("data/t.csv", "w") as f:
    f.write("a,b\n1,1\n1,2\n1\n")  # malformed
with open("data/code.csv", "w") as f:
    f.write("c,d\n")
with open("data/u.csv", "w") as f:
    f.write("a,b\n1,1\n1,2\n")
before = spent()
status, a = release(*DATA, "SELECT COUNT(*) FROM t WHERE a = 1 AND a = 2")
check("no private row is read", status == 0 and a["answer"] == 0 and a["epsilon"] == 0 and a["error"]["p95"] == 0, str(a))
check("and nothing is paid", spent() == before)

# a question about other tables is refused for it like any other
status, a = release(*DATA, "SELECT COUNT(*) FROM u")
check("malformed file", status == 5 and a["error"]["code"] == "data" and spent() == before, str(a))
os.remove("data/t.csv")

# an empty public table makes the smooth sensitivity 0: noise all the same
status, a = release(*DATA, "--public", "code", "--mechanism", "smooth-laplace",
                    "SELECT COUNT(*) FROM u JOIN code ON code.c = u.a JOIN u v ON v.b = code.d", epsilon="1")
check("sensitivity 0", status == 0 and a["error"]["p95"] > 0, str(a))

# a public table does not make noise measured on data look better
QUERY = "SELECT COUNT(*) FROM u JOIN code ON code.c = u.a"
status, a = run("quote", "--format", "json", *DATA, "--public", "code", "--constraint", "code: c -> *",
                "--epsilon", "1", QUERY)
check("small global sensitivity", status == 0 and a["mechanism"] == "discrete-laplace", str(a))
# (without the data: of those at hand its size is known, and it is empty)
with open("apart.sql", "w", encoding="utf-8") as f:
    f.write("CREATE TABLE u(a INTEGER, b INTEGER); CREATE TABLE code(c INTEGER, d INTEGER);")
status, a = run("quote", "--format", "json", "--schema", "apart.sql", "--public", "code", "--constraint", "|code| <= 100000000",
                "--epsilon", "1", QUERY)
check("large global sensitivity", status == 0 and a["mechanism"] == "smooth-laplace", str(a))

# an error estimate of next to no budget is settled before the charge
run("budget", "init", "--ledger", "other", "--epsilon", "100") # here code is private
for query in ("SELECT COUNT(*) FROM u", "Q(a,b,c) :- u(a,b), u(b,c)."):
    for tiny in ("0.00000001", "0.000000001"):
        status, a = release(*DATA, "--mechanism", "smooth-laplace", "--beta", "0.1", "--error-budget", tiny,
                            query, epsilon="1", ledger="other")
        check("tiny error budget", status == 0 and a["error"]["basis"] == "released", f"{query} {tiny} {a}")

end()
