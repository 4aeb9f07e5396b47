#!/usr/bin/env python3
"""Attacks that once told a row for next to nothing, by psql on two services whose data differ in one row: a private count
times public rows just above the largest number, a cycle that is walked only if somebody's row is there, a text that one
row makes gigabytes long. Everything that an analyst sees is the same but the paid number."""
import os
import re
import sqlite3
import sys

from beyond import PUBLIC, factors
from service import Service

BAD = []
POLICY = """
tables:
  hos: {privacy: public}
  pub: {privacy: public}
  pat: {privacy: private}
budget: {epsilon: 100}
"""


def check(ok, what, *more):
    if not ok:
        BAD.append(what)
        print("FAILED:", what, *more)


def service(victim):
    """Patient 7 has city 1 and the rare text, or not."""
    s = Service({"ann": "epsilon: 90"}, dataset="    pace: 2 s\n    memory: 256M\n    load_visible: yes\n    workers: 4\n", policy=POLICY,
                start=False)
    db = sqlite3.connect(s.path("h.db"))
    db.execute("CREATE TABLE pub(x INTEGER) STRICT")
    db.executemany("INSERT INTO pub VALUES(?)", [(i,) for i in range(PUBLIC)])
    db.execute("UPDATE pat SET h = 2, sex = 'F'")
    if victim:
        db.execute("UPDATE pat SET h = 1, sex = 'RARE' WHERE id = 7")
    db.commit()
    db.close()
    s.start()
    return s


def beyond(limit, m):
    """The count is above the limit if m patients or more match."""
    cuts = factors(limit // m + 1, 9)
    return ("SELECT count(*) FROM pat v, " + ", ".join(f"pub p{i}" for i in range(9)) + " WHERE v.h = 1 AND "
            + " AND ".join(f"p{i}.x < {c}" for i, c in enumerate(cuts)))


def questions():
    for m in (1, 2):
        for limit in (2**127, 2**128, 2**63):
            yield beyond(limit, m)
    yield ("SELECT count(DISTINCT v.id) FROM pat v, pub a, pub b, pub c, pub d WHERE v.id = 7 AND v.h = 1 AND a.x = b.x AND b.x = c.x"
           " AND c.x = d.x AND d.x = a.x AND b.x < d.x - 3000")
    text = "v.sex"
    for _ in range(8):
        text = f"replace({text}, 'R', 'RRRRRRRRRR')"
    yield f"SELECT count(*) FROM pat v WHERE length({text}) > 5"
    yield f"SELECT count(*) FROM pat v WHERE {text} LIKE '%RRRRRRRRRRRRRRRRR%A%E%E'"
    yield "SELECT count(*) FROM pat v WHERE 1000000 / nullif(v.h - 1, 0) > 3"
    yield "SELECT count(*) FROM pat v WHERE CAST(v.h AS bigint) * 9223372036854775807 > 0"


def seen(s, sql):
    """What psql shows, without the number, and without the error that was estimated and paid for."""
    p = s.psql("ann", "\\set VERBOSITY verbose", "set dpcount.epsilon = '0.05'", sql, options=("-t",))
    numbers = re.findall(r"^-?\d+$", p.stdout, re.M)
    told = re.sub(r"95 % within [\d.e+]+", "95 % within N", p.stderr)
    return p.returncode, re.sub(r"^-?\d+$", "N", p.stdout, flags=re.M), told, len(numbers), told.count("charged epsilon 0.05")


def main():
    with service(True) as a, service(False) as b:
        answered = paid = 0
        for sql in questions():
            x, y = seen(a, sql), seen(b, sql)
            check(x == y, "the same on both sides", sql, x, y)
            check(x[3] == 1 or "ERROR" in x[2], "an answer or a refusal", sql, x)
            answered += x[3]
            paid += x[4]
            check(a.spent("ann") == b.spent("ann"), "the same charge", sql)
            check("55000" not in x[2] + y[2], "nothing is locked", sql, x, y)
        check(answered >= 8, "most are answered", answered)
        check(paid >= answered - 1 and abs(a.spent("ann") - 0.05 * paid) < 1e-9, "paid, but for one that is 0 on all data", a.spent("ann"), paid)
        logs = [re.sub(r'"(time|receipt|address)":"[^"]*"|"session":\d+', "", "".join(
            line for line in open(s.log, encoding="utf-8") if '"answered"' in line or '"refused"' in line)) for s in (a, b)]
        check(logs[0] == logs[1], "the log is the same", *logs)
        print(f"{answered} answered, {paid} paid, the others refused, on both sides alike")
    return 1 if BAD else 0


sys.exit(main())
