#!/usr/bin/env python3
"""Two services whose data differ in one row, which decides how much work a question is: without a pace the times of
replies tell which is which, with one they do not. PAIRS of questions (40), asked in turns."""
import os
import random
import sqlite3
import sys
import time

from checks import BAD, check
from driver import psycopg2
from outside import slower
from samples import kolmogorov
from service import Service

PACE = slower(1)
PAIRS = int(os.environ.get("PAIRS", "40"))
POLICY = """
tables:
  hos: {privacy: public}
  big: {privacy: public}
  pat: {privacy: private}
budget: {epsilon: 1000}
"""
# paths of four steps without a cycle; patient 7 decides whether they are walked
QUERY = ("SELECT COUNT(DISTINCT p.id) FROM pat p, big a, big b, big c, big d, big e WHERE p.id = 7 AND p.h = 1 AND a.y = b.x"
         " AND b.y = c.x AND c.y = d.x AND d.y = e.x AND e.y = a.x AND a.x < c.x + 3000")


def service(pace, h, n=28):
    s = Service({"ann": "epsilon: 900"}, dataset=f"    pace: {pace}\n", policy=POLICY, start=False)
    db = sqlite3.connect(s.path("h.db"))
    db.execute("CREATE TABLE big(x INTEGER, y INTEGER) STRICT")
    db.executemany("INSERT INTO big VALUES(?, ?)", [(k * n + i, (k + 1) * n + j) for k in range(3) for i in range(n) for j in range(n)])
    db.executemany("INSERT INTO big VALUES(?, ?)", [(3 * n + i, 10 ** 6 + i) for i in range(n)] + [(10 ** 6 + i + n, i) for i in range(n)])
    db.execute("UPDATE pat SET h = ? WHERE id = 7", (h,))
    db.commit()
    db.close()
    s.start()
    return s


def asker(s):
    c = psycopg2.connect(s.uri("ann", more="options='-c dpcount.epsilon=0.1 -c dpcount.fresh=on'"))
    c.autocommit = True
    return c.cursor()


def seconds(cur):
    began = time.monotonic()
    cur.execute(QUERY)
    return time.monotonic() - began


def times(pace, pairs):
    """Of the one and of the other, in pairs of random order."""
    with service(pace, 1) as a, service(pace, 2) as b:
        both = asker(a), asker(b)
        took = [], []
        for cur in both:
            seconds(cur)  # loads
        for _ in range(pairs):
            for k in random.sample((0, 1), 2):
                took[k].append(seconds(both[k]))
    return took


def tell(took, what):
    p = kolmogorov(*took)
    every = sorted(took[0] + took[1])
    print(f"{what}: {len(took[0])} questions on each side, {every[0]:.3f} to {every[-1]:.3f} s, "
          f"95 % within {every[int(0.95 * len(every))]:.3f} s; the same on both sides: p = {p:.2g}")
    return p, every


def main():
    p, _ = tell(times("none", 30), "without a pace")
    check(p < 1e-6, "without a pace the times tell", p)
    for again in range(2):  # by chance in one run of a thousand, and again in one of a million
        p, every = tell(times(f"{PACE} s", PAIRS), f"a pace of {PACE} s")
        check(every[0] >= PACE - 0.001, "none is early", every[0])
        check(every[-1] < 2 * PACE, "no work was late, for the pace would have doubled", every[-1])
        check(every[int(0.9 * len(every))] < PACE + slower(0.6), "and few are late", every)
        if p > 0.001:
            break
        check(not again, "with a pace they do not", p)
    return 1 if BAD else 0


sys.exit(main())
