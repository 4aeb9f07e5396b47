#!/usr/bin/env python3
"""The ledger from outside: several counts at one price, prices, analysts, another
policy, links, copies, old states, locks and bits, what the history tells, and
commands that only read."""
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from outside import DPCOUNT, ask, check, end, run, slower, write

folder = tempfile.TemporaryDirectory(prefix="dpc-owner-")
os.chdir(folder.name)
db = sqlite3.connect("d.db")
db.execute("CREATE TABLE p(id INTEGER PRIMARY KEY, age INTEGER)")
db.executemany("INSERT INTO p VALUES (?, ?)", [(i, i % 90) for i in range(200)])
db.commit()
DATA = ["--db", "d.db"]
COUNT = "SELECT COUNT(*) FROM p"


def init(name, *args, epsilon="1"):
    status, a = ask("budget", "init", "--format", "json", "--ledger", name, "--epsilon", epsilon, *args)
    check(f"init {name}", status == 0, a)


def release(name, *args, epsilon="0.1", query=COUNT):
    return ask("release", "--format", "json", "--ledger", name, "--epsilon", epsilon, *DATA, *args, query)


def show(name, *args):
    return ask("budget", "show", "--format", "json", "--ledger", name, *args)


def refused(what, got, status, code, name):
    """Refused with the code, and nothing was spent by it."""
    check(what, got[0] == status and isinstance(got[1], dict) and got[1].get("error", {}).get("code") == code, str(got))


# several counts: all or none
init("a")
check("0.6 is spent", release("a", epsilon="0.6")[0] == 0)
two = "SELECT COUNT(*), COUNT(DISTINCT age) FROM p"
refused("two counts at 0.3, 0.4 left", release("a", epsilon="0.3", query=two), 4, "budget", "a")
check("nothing of it was charged", show("a")[1]["spent"] == 0.6 and show("a")[1]["held"] == 0)
check("two counts at 0.2", release("a", epsilon="0.2", query=two)[0] == 0 and show("a")[1]["spent"] == 1)

# prices
init("b")
for price in ("1e-19", "0.0005", "0.12345678912", "1/3"):
    refused(f"price {price}", release("b", epsilon=price), 4, "price", "b")
check("no price was taken", show("b")[1]["spent"] == 0)
check("the least one", release("b", epsilon="0.001")[0] == 0)
check("is told exactly", show("b")[1]["least_price"] == "0.001")

# analysts
check("grant", ask("budget", "grant", "--ledger", "b", "--analyst", "ann", "--epsilon", "0.5")[0] == 0)
refused("eve", release("b", "--analyst", "eve"), 4, "unknown-analyst", "b")
refused("nobody", release("b"), 4, "unknown-analyst", "b")
check("ann", release("b", "--analyst", "ann")[0] == 0)
init("open", "--open")
ask("budget", "grant", "--ledger", "open", "--analyst", "ann", "--epsilon", "0.5")
check("open to all", release("open", "--analyst", "eve")[0] == 0 and release("open")[0] == 0)

# another policy: what the first charge fixed, and what the owner bound
init("c")
check("first", release("c")[0] == 0)
for other in (["--order", "2"], ["--neighbours", "change-one"], ["--public", "p"]):
    refused(str(other), release("c", *other, "--fresh"), 2, "policy-changed", "c")
check("a promise more is not another unit", release("c", "--constraint", "|p| <= 1000", "--fresh")[0] == 0)
check("spent", show("c")[1]["spent"] == 0.2)
check("bind", ask("budget", "bind", "--ledger", "c", *DATA)[0] == 0)
refused("bound in whole", release("c", "--constraint", "|p| <= 1000", "--fresh"), 2, "policy-changed", "c")
refused("bind another order", ask("budget", "bind", "--format", "json", "--ledger", "c", *DATA, "--order", "2"), 2,
        "policy-changed", "c")
init("bound", *DATA)
refused("bound at init", release("bound", "--order", "2"), 2, "policy-changed", "bound")
check("bound at init, fits", release("bound")[0] == 0)

# links and copies
os.link("c", "c2")
refused("hard link", release("c", "--fresh"), 2, "ledger", "c")
refused("hard link, other name", release("c2", "--fresh"), 2, "ledger", "c")
os.unlink("c2")
check("one name again", release("c", "--fresh")[0] == 0)
shutil.copy("c", "c3")
shutil.copy("c.key", "c3.key")
refused("copy", release("c3", "--fresh"), 2, "moved", "c3")
refused("copy, show", show("c3"), 2, "moved", "c3")
check("adopt", ask("budget", "adopt", "--ledger", "c3")[0] == 0)
check("adopted", release("c3", "--fresh")[0] == 0, str(release("c3", "--fresh")))
for mode in (0o620, 0o602):
    os.chmod("c", mode)
    refused(f"mode {mode:o}", release("c", "--fresh"), 2, "ledger", "c")
os.chmod("c", 0o600)

# an old state put back: only the anchor sees it
init("e", "--anchor", "heads")
check("anchored", release("e", "--anchor", "heads")[0] == 0)
shutil.copy("e", "old")
head = show("e", "--anchor", "heads")[1]["head"]
check("anchored twice", release("e", "--anchor", "heads", "--fresh")[0] == 0)
later = show("e")[1]["head"]
check("verify", ask("budget", "verify", "--ledger", "e", "--head", f"{head['n']}:{head['hash']}")[0] == 0)
with open("old", "rb") as old, open("e", "r+b") as e: # in place: inode and birth time stay
    e.write(old.read())
    e.truncate()
refused("old state", release("e", "--anchor", "heads", "--fresh"), 2, "rollback", "e")
check("without the anchor nobody sees it", show("e")[0] == 0)
refused("old state, by a head", ask("budget", "verify", "--format", "json", "--ledger", "e", "--head",
                                    f"{later['n']}:{later['hash']}"), 2, "rollback", "e")

# locks: a release that is killed with its keeper
init("f")
check("bits at init", show("f")[1]["unnoised_bits"] == 9.97)
check("before", release("f")[0] == 0)
os.mkfifo("slow")
p = subprocess.Popen([DPCOUNT, "release", "--ledger", "f", "--epsilon", "0.1", "--table", "t(a,b)=slow",
                      "SELECT COUNT(*) FROM t"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                     start_new_session=True)


def family(pid):
    """The process and all that it started, from /proc."""
    found, at = [pid], 0
    while at < len(found):
        for entry in os.listdir("/proc"):
            try:
                parent = int(open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            if parent == found[at]:
                found.append(int(entry))
        at += 1
    return found


for _ in range(200):
    if show("f")[1].get("held") == 1:
        break
    time.sleep(slower(0.05))
for pid in family(p.pid):
    os.kill(pid, signal.SIGKILL)
p.wait()
refused("locked", release("f", "--fresh"), 5, "locked", "f")
refused("locked for everybody", release("f", "--fresh", "--analyst", "bob"), 5, "locked", "f")
check("repeats are given", release("f")[1].get("repeated") is True)
now = show("f")[1]
check("shown", now["locked"] is True and now["spent"] == 0.2 and now["unnoised_bits"] == 9.97, str(now))
check("unlock", ask("budget", "unlock", "--ledger", "f")[0] == 0)
now = show("f")[1]
check("unlocked", now["locked"] is False and now["unlocks"] == 1 and now["unnoised_bits"] == 19.62, str(now))
check("goes on", release("f", "--fresh")[0] == 0)

# the history has the SQL as asked, by whom and when
SQL = "select   count(*)\nfrom p  where age > 30 -- old"
check("asked", release("f", query=SQL)[0] == 0)
entry = ask("budget", "history", "--format", "json", "--ledger", "f")[1]["history"][-1]
check("history", entry["sql"] == SQL and re.match(r"\d{4}-\d\d-\d\dT", entry["held_at"]), str(entry))
text = run("budget", "history", "--format", "text", "--ledger", "f").stdout
check("history, text", "where age > 30" in text and "failed and locked" in text, text)

# what only reads needs no right to write
os.makedirs("shelf", exist_ok=True)
init("shelf/g")
release("shelf/g")
how = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
os.chmod("shelf/g", 0o444)
os.chmod("shelf", 0o555)
os.chmod(".", 0o755)
for what in ("show", "history", "verify"):
    r = subprocess.run([DPCOUNT, "budget", what, "--ledger", "shelf/g", "--format", "json"], capture_output=True,
                       text=True, check=False, **how)
    check(f"{what} reads", r.returncode == 0, r.stdout + r.stderr)
os.chmod("shelf", 0o755)

help_ = run("budget", "--help").stdout
check("help", all(f"budget {x} " in help_ for x in ("init", "show", "history", "grant", "bind", "unlock", "verify", "adopt"))
      and "analyze" not in help_, help_)
db.close()
end()
