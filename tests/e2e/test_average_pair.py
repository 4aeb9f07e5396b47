#!/usr/bin/env python3
"""The two numbers of an average with one draw, from outside: who gets it, what it promises, that a stored number of one average is none of
another, and by definition, over neighbours of random databases: what a row changes is within the sensitivities of the draw, all groups together."""
import os
import random
import sqlite3
import tempfile

from outside import ask, check, end, write

folder = tempfile.TemporaryDirectory(prefix="dpc-pair-")
os.chdir(folder.name)
rng = random.Random(18)
LO, HI, MOST = 1, 5, 3  # the clip; rows of b for one row of a

write("policy.yaml", f"""tables:
  a: {{privacy: private, columns: {{id: integer, g: integer, x: integer}}, not_null: [id, g], clip: {{x: [{LO}, {HI}]}}, keys: [[id]]}}
  b: {{privacy: private, columns: {{aid: integer, n: integer}}, not_null: [aid, n], keys: [[aid, n]], at_most: [{{per: [aid], of: [n], k: {MOST}}}]}}
""")


def make():
    a = [(i, rng.randrange(3), rng.choice([None, 0, 1, 2, 3, 4, 5, 9])) for i in range(rng.randrange(2, 9))]
    b = [(i, n) for i, _, _ in a + [(99, 0, 0)] for n in range(rng.randrange(MOST + 1))]
    return a, b


def save(a, b):
    write("a.csv", "id,g,x\n" + "".join(f"{i},{g},{'' if x is None else x}\n" for i, g, x in a))
    write("b.csv", "aid,n\n" + "".join(f"{i},{n}\n" for i, n in b))


DATA = ["--table", "a=a.csv", "--table", "b=b.csv", "--policy", "policy.yaml"]
JOIN = "FROM a JOIN b ON b.aid = a.id"
GROUPS = ["--groups", "0,1,2"]
save(*make())
ask("budget", "init", "--ledger", "sum", "--epsilon", "100")
ask("budget", "init", "--ledger", "rho", "--epsilon", "100", "--delta", "1e-6", "--composition", "zcdp")


def release(query, *more, ledger="sum"):
    status, out = ask("release", "--format", "json", *DATA, "--ledger", ledger, "--epsilon", "1", *more, query)
    check("released", status == 0, f"{query} {out}")
    return out.get("counts", [{}, {}])


def kinds(counts):
    return [c["mechanism"] for c in counts]


one = release("SELECT AVG(x) FROM a")
check("one draw", kinds(one) == ["joint-laplace"] * 2, one)
check("at the whole price", [c["epsilon"] for c in one] == [0.5, 0.5] and all("pair of sum and number" in c["guarantee"] and "e^1 " in c["guarantee"]
                                                                             for c in one), one)
check("for the change that both allow", all(c["neighbours"].startswith("insert or delete one row") for c in one), one)
again = release("SELECT AVG(x) FROM a")
check("stored", all(c["repeated"] for c in again) and [c["answer"] for c in again] == [c["answer"] for c in one], again)
shares = [release(f"SELECT AVG(CASE WHEN x > {n} THEN 1 ELSE 0 END) FROM a") for n in (2, 3)]
check("no number of another", not any(c["repeated"] for both in shares for c in both), shares)
check("rho: two draws", kinds(release("SELECT AVG(x) FROM a", ledger="rho")) == ["discrete-laplace"] * 2)
check("groups", kinds(release(f"SELECT g, AVG(x) {JOIN} GROUP BY g", *GROUPS)) == ["joint-laplace"] * 2)
check("named: two draws", kinds(release("SELECT AVG(x) FROM a", "--mechanism", "discrete-laplace")) == ["discrete-laplace"] * 2)
outer = "SELECT a.g, AVG(CASE WHEN b.n IS NULL THEN 5 ELSE 0 END) FROM a LEFT JOIN b ON b.aid = a.id GROUP BY a.g"
check("groups of a tree: two draws", kinds(release(outer, *GROUPS)) == ["discrete-laplace"] * 2)

# --- by definition ------------------------------------------------------------
KINDS = {
    f"SELECT AVG(x) {JOIN}": (f"SELECT 0, x {JOIN}", []),
    f"SELECT g, AVG(x) {JOIN} GROUP BY g": (f"SELECT g, x {JOIN}", GROUPS),
    "SELECT b.n, AVG(x) FROM a JOIN b ON b.aid = a.id GROUP BY b.n": ("SELECT b.n, x FROM a JOIN b ON b.aid = a.id", GROUPS),
    "SELECT AVG(x) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.aid = a.id AND b.n > 0)":
        ("SELECT 0, x FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.aid = a.id AND b.n > 0)", []),
}


def numbers(a, b, rows):
    """{group: [shifted sum, number]}, by SQLite."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE a(id, g, x)")
    db.execute("CREATE TABLE b(aid, n)")
    db.executemany("INSERT INTO a VALUES (?, ?, ?)", a)
    db.executemany("INSERT INTO b VALUES (?, ?)", b)
    out = {}
    for g, x in db.execute(rows):
        if x is not None:
            s = out.setdefault(g, [0, 0])
            s[0] += 2 * min(max(x, LO), HI) - (LO + HI)
            s[1] += 1
    db.close()
    return out


def cost(p, q, big, small, steps):
    """What a pair of neighbours costs, in steps of the draw."""
    total = 0
    for g in set(p) | set(q):
        ds, dn = (abs(x - y) for x, y in zip(p.get(g, [0, 0]), q.get(g, [0, 0])))
        total += max(-(-steps * ds // big), -(-steps * dn // small))
    return total


for query, (rows, more) in KINDS.items():
    status, quote = ask("quote", "--format", "json", *DATA, "--epsilon", "1", *more, query)
    both = quote.get("counts", [{}, {}])
    check("quoted", status == 0 and [c.get("mechanism") for c in both] == ["joint-laplace"] * 2, f"{query} {quote}")
    big, small = (c.get("global_sensitivity") or 0 for c in both)
    big = (HI - LO) * small if more else big
    check("the draw is for these", all(abs(c["error"]["std"] / (2 * n) - 1) < .1 for c, n in zip(both, (big, small)) if n), f"{query} {both}")
    steps = small * -(-16 // small) if small else 0
    worst = 0
    for _ in range(150 if small else 0):
        a, b = make()
        whole = numbers(a, b, rows)
        for i in range(len(a)):
            worst = max(worst, cost(whole, numbers(a[:i] + a[i + 1:], b, rows), big, small, steps))
        for i in range(len(b)):
            worst = max(worst, cost(whole, numbers(a, b[:i] + b[i + 1:], rows), big, small, steps))
    check("within epsilon", steps and worst <= steps, f"{query}: {worst} of {steps} steps, {big} and {small}")
    check("and not far below", steps and 2 * worst > steps, f"{query}: {worst} of {steps} steps")
end()
