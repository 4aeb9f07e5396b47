#!/usr/bin/env python3
"""When a service replies: exactly `pace` after the seat, whoever waits; work on
the seat's own processor, which is busy to the end; cancelled questions are
worked off; a miss doubles the pace for all, the next one locks for all."""
import os
import signal
import subprocess
import sys
import threading
import time

from checks import BAD, check
from driver import psycopg2
from outside import slower
from processes import all_of, named, processors, status
from service import Service

PACE = slower(1.2)
SLACK = slower(0.6)  # a busy machine is late


class Asked(threading.Thread):
    """A question of somebody, on its way."""

    def __init__(self, s, user, sql):
        super().__init__()
        self.con = psycopg2.connect(s.uri(user))
        self.con.autocommit = True
        self.sql = sql
        self.rows = self.code = self.text = None
        self.began = time.monotonic()
        self.start()

    def run(self):
        try:
            cur = self.con.cursor()
            cur.execute(self.sql)
            self.rows = cur.fetchall()
        except psycopg2.Error as e:
            self.code, self.text = e.pgcode, str(e)
        self.took = time.monotonic() - self.began

    def end(self):
        self.join()
        self.con.close()
        return self


def ask(s, user, sql):
    return Asked(s, user, sql).end()


def at(asked, moment, what):
    check(moment - 0.01 <= asked.took < moment + SLACK, f"{what}: at {moment:.2f} s", asked.took, asked.code, asked.text)


def on_time(s):
    a = ask(s, "ann", "select count(*) from pat where id < 10")
    at(a, PACE, "an answer")
    best = min([a.took] + [ask(s, "ann", f"select count(*) from pat where id < {i}").took for i in (100, 101)])
    check(best < 2 * PACE, "on time, once in three", best)
    check("does not cover" not in "".join(a.con.notices), "the guarantee covers time and load", a.con.notices)
    again = ask(s, "ann", "select count(*) from pat where id < 10")
    check(again.rows == a.rows and again.took < PACE, "a repetition is not paced", again.took)
    both = [Asked(s, n, "select count(*) from pat where id < 11") for n in ("ann", "bob")]
    took = [x.end().took for x in both]
    whole = max(x.began + x.took for x in both) - min(x.began for x in both)
    check(min(took) >= PACE - 0.01 and whole >= 2 * PACE - 0.02, "one seat: one after the other", took, whole)


def no_spinner(s):
    """It has the lowest priority, also when it ends."""
    end = time.monotonic() + 60
    while named(s, "dpcount-spin") and time.monotonic() < end:
        time.sleep(0.05)
    return not named(s, "dpcount-spin")


def processors_apart(s):
    """All that a question takes is done on the seat's processor, and nothing
    else is; while it is on its way that processor is busy."""
    seat = max(os.sched_getaffinity(0))
    check(no_spinner(s), "no spinner while nobody has the seat")
    a = Asked(s, "ann", "select count(*) from pat where id < 12")
    time.sleep(PACE / 2)
    seen = {}
    for pid, name in all_of(s).items():
        cpus = processors(pid)
        if cpus:
            seen.setdefault(name, []).append(cpus)
    spin = named(s, "dpcount-spin")
    check(len(spin) == 1 and processors(spin[0]) == {seat}, "a spinner on the seat's processor", seen)
    used = [int(x) for x in open(f"/proc/{spin[0]}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()[11:13]] if spin else []
    for name in ("dpcount-engine", "dpcount-steward"):
        check(name in seen and all(c == {seat} for c in seen[name]), f"{name} works on the seat's processor", seen)
    for name in ("dpcount-front", "dpcount-desk", "dpcount-auth", "dpcount-listene"):
        check(name in seen and all(seat not in c for c in seen[name]), f"{name} keeps off it", seen)
    clerks = seen.get("dpcount-clerk", [])
    check(sum(c == {seat} for c in clerks) == 1 and sum(seat not in c for c in clerks) == 2, "one clerk has the seat", clerks)
    check(all(status(p, "CoreDumping") in ("0", "") for p in all_of(s)), "no cores")
    a.end()
    check(no_spinner(s), "and none afterwards", used)
    # a look into the ledger, which is free, is done with the fronts
    ask(s, "ann", "select count(*) from pat where id < 12")
    check(all(seat not in processors(p) for p in named(s, "dpcount-steward")), "a repetition is looked up beside the seat")


def not_held_up(s):
    """Others take the seat's processor from the spinner, which has the lowest priority: a reply does not wait until it has
    come to its end."""
    seat = max(os.sched_getaffinity(0))
    others = [subprocess.Popen(["taskset", "-c", str(seat), "sh", "-c", "while :; do :; done"]) for _ in range(4)]
    try:
        for i in (30, 31, 32):
            at(ask(s, "bob", f"select count(*) from pat where id < {i}"), PACE, "a reply while others want the processor")
    finally:
        for p in others:
            p.kill()
            p.wait()


def detached(s):
    spent = s.spent("ann")
    a = Asked(s, "ann", "select count(*) from pat where id < 13")
    time.sleep(PACE / 3)
    a.con.cancel()
    a.end()
    check(a.code == "57014" and a.took < PACE, "cancelled at once", a.code, a.took)
    time.sleep(PACE)
    again = ask(s, "ann", "select count(*) from pat where id < 13")
    check(again.rows and again.took < PACE, "and stored: free", again.code, again.took)
    check(abs(s.spent("ann") - spent - 0.5) < 1e-9, "charged once", s.spent("ann"), spent)
    a = ask(s, "ann", "set statement_timeout = '1min'; select count(*) from pat where id < 33")
    check(a.rows, "a timeout with its unit", a.code, a.text)
    a = ask(s, "ann", f"set statement_timeout = '{PACE / 3:.3f} s'; select count(*) from pat where id < 34")
    check(a.code == "57014" and a.took < PACE and "due to statement timeout" in a.text, "and one that is over", a.code, a.text, a.took)
    time.sleep(PACE)
    a = ask(s, "ann", "set statement_timeout = '1 fortnight'")
    check(a.code == "22023", "and one that is none", a.code, a.text)


def doubled(s):
    engine = named(s, "dpcount-engine")[0]
    os.kill(engine, signal.SIGSTOP)
    a = Asked(s, "ann", "select count(*) from pat where id < 14")
    time.sleep(1.3 * PACE)
    os.kill(engine, signal.SIGCONT)
    at(a.end(), 2 * PACE, "a miss: the answer comes at twice the time")
    check(a.rows, "and it is an answer", a.code, a.text)
    at(ask(s, "bob", "select count(*) from pat where id < 15"), 2 * PACE, "so do all others from now on")
    s.stop()
    s.start()
    at(ask(s, "bob", "select count(*) from pat where id < 16"), 2 * PACE, "also after a restart")


def locked(s):
    spent = s.spent("ann")
    engine = named(s, "dpcount-engine")[0]
    os.kill(engine, signal.SIGSTOP)
    a = Asked(s, "ann", "select count(*) from pat where id < 17").end()
    os.kill(engine, signal.SIGCONT)
    at(a, 2 * PACE, "no rung is left: it ends at the moment")
    check(a.code == "55000", "locked", a.code, a.text)
    check("dpcount budget show --owner" in a.text, "the owner's command is named as it is", a.text)
    check(abs(s.spent("ann") - spent - 0.5) < 1e-9, "and charged", s.spent("ann"), spent)
    b = ask(s, "bob", "select count(*) from pat where id < 18")
    check(b.code == "55000" and b.text.split("\n")[0] == a.text.split("\n")[0], "for everybody", b.code, b.text, a.text)
    check(ask(s, "ann", "select count(*) from pat where id < 10").rows, "repetitions are given")
    p = s.run("budget", "unlock", "--ledger", s.path("state/hospital.ledger"))
    check(p.returncode == 0, "the owner unlocks", p)
    check(ask(s, "bob", "select count(*) from pat where id < 19").rows, "then it answers again")
    engine = named(s, "dpcount-engine")[0]
    os.kill(engine, signal.SIGSTOP)
    a = Asked(s, "ann", "select count(*) from pat where id < 35")
    time.sleep(PACE / 2)
    os.kill(engine, signal.SIGKILL)
    at(a.end(), 2 * PACE, "who has the rows is killed: it ends at the moment")
    check(a.code == "55000", "and is a lock", a.code, a.text)
    s.run("budget", "unlock", "--ledger", s.path("state/hospital.ledger"))
    check(ask(s, "bob", "select count(*) from pat where id < 36").rows, "another one has the rows then")


def locked_in_flight():
    """Two seats: when one question fails, so does the other that is on its
    way, whatever it found."""
    data = f"    pace: {PACE} s\n    misses: 0\n    workers: 2\n    load_visible: yes\n"
    with Service({"ann": "epsilon: 5", "bob": "epsilon: 5"}, dataset=data) as s:
        a = ask(s, "ann", "select count(*) from pat")
        check(a.rows and "does not cover how busy" in "".join(a.con.notices), "an answer; load_visible: said", a.con.notices)
        engine = named(s, "dpcount-engine")[0]
        os.kill(engine, signal.SIGSTOP)
        first = Asked(s, "ann", "select count(*) from pat where id < 20")
        time.sleep(PACE / 2)
        second = Asked(s, "bob", "select count(*) from pat where id < 21")
        first.join(60)  # its moment; the clock says nothing on a busy machine
        os.kill(engine, signal.SIGCONT)  # the second has half its time left
        first.end()
        second.end()
        check(first.code == "55000" and second.code == "55000", "both are locked", first.code, second.code, second.rows)
        at(second, PACE, "the second at its own moment")
        check(s.spent("ann") == 1.0 and s.spent("bob") == 0.5, "both are charged", s.spent("ann"), s.spent("bob"))


def main():
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: a seat needs a processor of its own")
        return 77
    with Service({"ann": "epsilon: 10", "bob": "epsilon: 9"}, dataset=f"    pace: {PACE} s\n    misses: 1\n") as s:
        ask(s, "ann", "select count(*) from pat where id < 9")  # loads
        on_time(s)
        processors_apart(s)
        not_held_up(s)
        detached(s)
        doubled(s)
        locked(s)
        check(s.stop() == 0, "ends with 0")
    locked_in_flight()
    return 1 if BAD else 0


sys.exit(main())
