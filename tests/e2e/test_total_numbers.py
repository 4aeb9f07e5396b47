#!/usr/bin/env python3
"""No size of a number is an outcome: counts beyond 128 bits, sensitivities that
are tiny or huge, and how long they take. A private count that is multiplied by
public rows to just above a limit must not show whether it reached it; both
engines give the same clamped number, and at once."""
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["DPC_SOURCE"], "tests", "harness"))
import pg  # noqa: E402
from beyond import PUBLIC, factors  # noqa: E402
from outside import ask, check, end, slower, write  # noqa: E402

MOST = 2**127 - 1
NODES = 120
FEW = 60
# tables that an owner would declare; pub is public
POLICY = """tables:
  patient: {columns: [id, hiv, site]}
  pub: {columns: {x: integer}, privacy: public}
"""


def attack(m, group):
    """Counts m patients with HIV or more: beyond 2^128, or 2^127, or less."""
    product = [f for limit in (2**128, 2**127) for f in factors(limit // m + 1, 9)]
    cuts = product[:9] if m % 2 else product[9:]
    where = " AND ".join(f"p{i}.x < {c}" for i, c in enumerate(cuts))
    tables = ", ".join(f"pub p{i}" for i in range(9))
    head = "SELECT v.site, COUNT(*)" if group else "SELECT COUNT(*)"
    tail = " GROUP BY v.site" if group else ""
    return f"{head} FROM patient v, {tables} WHERE v.hiv = 1 AND {where}{tail}"


def release(db, query, *more, epsilon="1e-5"):
    return ask("release", "--format", "json", "--db", db, "--ledger", f"{db}.l", "--epsilon", epsilon,
               *more, query)


def bisect(db, more, group, what):
    """The attack of an analyst who only looks whether there is an answer."""
    low, high, seen = 0, 64, set()
    while high - low > 1:
        middle = (low + high) // 2
        status, a = release(db, attack(middle, group), *more)
        check(f"{what}: {middle}", status == 0, f"{status} {a}")
        seen.add((status, tuple(sorted(a)) if isinstance(a, dict) else "text"))
        low, high = (middle, high) if status else (low, middle)
    check(f"{what}: the secret was found", low == 0, str(low))
    return seen


def chain(n, unequal=(), table="e"):
    cuts = [f"e{i}.y = e{i + 1}.x" for i in range(n - 1)] + [f"e{i}.x <> e{k}.y" for i, k in unequal]
    return "SELECT COUNT(*) FROM " + ", ".join(f"{table} e{i}" for i in range(n)) + " WHERE " + " AND ".join(cuts)


def processor():
    """Seconds that finished children computed: others may be busy, too."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def count(db, query, want, what, *more, limit=1):
    start, wall = processor(), time.monotonic()
    status, a = ask("count", "--format", "json", *db, *more, query)
    took = processor() - start
    # a server's seconds are not ours: only that it comes to an end
    check(f"{what}: wait", time.monotonic() - wall < slower(30), what)
    check(f"{what}", status == 0 and a.get("count") == min(want, MOST), f"{a}, not {min(want, MOST)}")
    check(f"{what}: clamped_at", status or ("clamped_at" in a) == (want >= MOST), str(a))
    check(f"{what}: time", took < slower(limit), f"{took:.2f} s")


def chains(db, what, *more):
    for n in list(range(7, 21)):
        count(db, chain(n), NODES ** (n + 1), f"{what}: chain of {n}", *more)
    # what is subtracted leaves all words, too; time is not the matter
    for n in (12, 22):
        want = FEW**n * (FEW - 1)
        count(db, chain(n, [(2, 4)], "f"), want, f"{what}: unequal chain of {n}", *more, limit=20)
    want = FEW**21 * (FEW - 1) ** 2
    count(db, chain(22, [(1, 3), (8, 10)], "f"), want, f"{what}: two inequalities", *more, limit=20)


def tiny_scale(name):
    """epsilon 900, beta 280: S on an empty table has 8,000 bits behind the point."""
    atoms = ", ".join(f"E(v{i},v{i + 1})" for i in range(6))
    unequal = ", ".join(f"v{i} != v{k}" for i in range(7) for k in range(i + 1, 7))
    rule = f"Q({','.join(f'v{i}' for i in range(7))}) :- {atoms}, {unequal}."
    return ask("release", "--format", "json", "--ledger", f"{name}.l", "--epsilon", "900", "--beta", "280", "--table",
               f"E(x,y)={name}.csv", rule)


folder = tempfile.TemporaryDirectory(prefix="dpc-numbers-")
os.chdir(folder.name)
write("policy.yaml", POLICY)
pub = "x\n" + "".join(f"{i}\n" for i in range(PUBLIC))
for name, secret in (("one", 37), ("two", 36)):
    rows = [(i, int(i < secret), "abc"[i % 3]) for i in range(200)]
    write(f"{name}/patient.csv", "id,hiv,site\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    write(f"{name}/pub.csv", pub)
for name in ("one.n", "two.n", "one.l", "two.l", "empty.l", "path.l", "post.l"):
    ask("budget", "init", "--ledger", name, "--epsilon", "1000", "--least-price", "0.00001")

# --- whether there is an answer tells nothing ---------------------------------
with_policy = ["--policy", "policy.yaml"]
for group in (False, True):
    keys = ["--groups", "a,b,c"] if group else []
    looks = [bisect(name, with_policy + keys, group, f"{name}, groups {group}") for name in ("one", "two")]
    check("neighbours look alike", looks[0] == looks[1] and len(looks[0]) == 1, str(looks))
status, a = release("one", attack(37, False), *with_policy, "--fresh")
check("clamped_at", status == 0 and a.get("clamped_at") == MOST and "above 2^127 - 1 are" in a["guarantee"], str(a))
status, a = release("one", attack(37, True), *with_policy, "--groups", "a,b,c", "--fresh")
check("clamped_at of three groups", status == 0 and a.get("clamped_at") == MOST // 3
      and "2^127 - 1 divided by 3" in a["guarantee"], str(a))
status, a = release("one", "SELECT COUNT(*) FROM patient", *with_policy, epsilon="1")
check("no word of it where it cannot matter", status == 0 and "clamped_at" not in a and "above" not in a["guarantee"], str(a))
status, a = ask("count", "--format", "json", "--db", "one", *with_policy, "--groups", "a,b,c", attack(1, True))
check("the owner sees it", status == 0 and a.get("clamped_at") == MOST // 3
      and all(g["count"] == MOST // 3 for g in a["groups"]), str(a))

# --- the same behind a negated subquery: three sums of 2^127 - 1 are no failure --
write("w.csv", "x\n-1\n")
for name, people in (("one", 2), ("two", 3)):
    write(f"{name}.csv", "x\n" + "".join(f"{i}\n" for i in range(people)))
    many = ", ".join(f"pub p{i}" for i in range(13))
    status, a = ask("release", "--format", "json", "--ledger", f"{name}.n", "--epsilon", "1", "--table", f"v(x)={name}.csv",
                    "--table", "w(x)=w.csv", "--table", "pub(x)=one/pub.csv", "--public", "pub",
                    f"SELECT COUNT(*) FROM v, {many} WHERE NOT EXISTS (SELECT 1 FROM w WHERE w.x = v.x)")
    check("negation beyond 2^128", status == 0 and a["clamped_at"] == MOST, f"{people} {a}")

# --- sizes of a sensitivity -----------------------------------------------------
write("empty.csv", "x,y\n")
write("path.csv", "x,y\n" + "".join(f"{i},{i + 1}\n" for i in range(6)))
found = [tiny_scale(name) for name in ("empty", "path")]
check("tiny sensitivities", [s for s, _ in found] == [0, 0], str(found))
check("alike", isinstance(found[0][1], dict) and found[0][1].keys() == found[1][1].keys(), str(found))

# --- time, and both engines -----------------------------------------------------
write("e.csv", "x,y\n" + "".join(f"{i},{k}\n" for i in range(NODES) for k in range(NODES)))
write("f.csv", "x,y\n" + "".join(f"{i},{k}\n" for i in range(FEW) for k in range(FEW)))
chains(["--table", "e(x,y)=e.csv", "--table", "f(x,y)=f.csv"], "embedded")
status, a = ask("sensitivity", "--format", "json", "--table", "e(x,y)=e.csv", chain(10))
check("residuals", status == 0 and a["seconds"]["residuals"] < slower(10), f"{status} {a if status else a['seconds']}")
if status == 0:
    ends = {tuple(r["removed"]): r["t"] for r in a["residuals"]}
    check("T without the first", ends[(0,)] == NODES**9, str(ends[(0,)]))
    check("T without the middle", ends[(4,)] == NODES**9, str(ends[(4,)]))

SQL = f"""
CREATE TABLE e AS SELECT i AS x, k AS y FROM generate_series(0, {NODES - 1}) i, generate_series(0, {NODES - 1}) k;
CREATE TABLE f AS SELECT i AS x, k AS y FROM generate_series(0, {FEW - 1}) i, generate_series(0, {FEW - 1}) k;
CREATE TABLE pub AS SELECT generate_series(0, {PUBLIC - 1}) AS x;
CREATE TABLE patient AS SELECT i AS id, (i < 37)::integer AS hiv, substr('abc', i % 3 + 1, 1) AS site
  FROM generate_series(0, 199) i;
ANALYZE;
"""
server = pg.start(needed=False)
if server:
    try:
        subprocess.run(["psql", "-qX", "-h", server, "-U", "postgres", "-c", SQL, "postgres"], check=True)
        url = pg.url(server)
        chains(["--db", url], "sql", "--engine", "sql")
        write("pg.yaml", "tables:\n  pub: {privacy: public}\n")
        for group in (False, True):
            keys = ["--groups", "a,b,c"] if group else []
            low, high = 0, 64
            while high - low > 1:
                middle = (low + high) // 2
                status, a = ask("release", "--format", "json", "--db", url, "--policy", "pg.yaml", "--ledger", "post.l",
                                "--epsilon", "1e-5", "--engine", "sql", *keys, attack(middle, group))
                check(f"sql: {middle}", status == 0, f"{status} {a}")
                low, high = (middle, high) if status else (low, middle)
            check("sql: the secret was found", low == 0, str(low))
    finally:
        pg.stop(server)
end()
