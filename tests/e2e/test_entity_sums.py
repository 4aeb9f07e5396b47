#!/usr/bin/env python3
"""SUM and AVG where an entity is protected, from outside: what is left of each entity's sum against the definition, decimals,
NULLs, groups, keys from private rows, bounds from promises, what is refused and that nothing is paid for it."""
import os
import random
import tempfile
from fractions import Fraction as F

import outside
from outside import check, end

DDL = """CREATE TABLE customer (c INTEGER PRIMARY KEY, city TEXT NOT NULL);
CREATE TABLE orders (o INTEGER PRIMARY KEY, c INTEGER, m INTEGER, price NUMERIC(12,2), signed INTEGER);"""
POLICY = """
entities: [customer]
tables:
  customer: {privacy: private}
  orders: {owned_by: [{via: [c], table: customer}]%s}
"""
DATA = ["--db", "data", "--schema", "s.sql", "--policy", "p.yaml"]
ALL = "SELECT SUM(GREATEST(price, 0)) FROM orders"
OPEN = "SELECT SUM(CASE WHEN m < 3 THEN GREATEST(price, 0) ELSE 0 END) FROM orders"
MONTH = "SELECT m, SUM(GREATEST(price, 0)) FROM orders GROUP BY m"
CITY = "SELECT city, SUM(GREATEST(price, 0)) FROM orders JOIN customer USING (c) GROUP BY city"
SIGNED = "SELECT SUM(LEAST(GREATEST(signed, -5), 5)) FROM orders"


def ask(command, *args):
    return outside.ask(*command.split(), "--format", "json", *args)


def release(*args):
    return ask("release", "--ledger", "l", *DATA, *args)


def policy(promise=""):
    with open("p.yaml", "w") as f:
        f.write(POLICY % promise)


def spent():
    return ask("budget show", "--ledger", "l")[1]["spent"]


folder = tempfile.TemporaryDirectory(prefix="dpc-entity-sums-")
os.chdir(folder.name)
os.mkdir("data")
rng = random.Random(9)
orders = []
for c in range(1, 41):
    for k in range(c % 9 + 1):
        price = rng.choice([None, F(rng.randint(0, 3000), 100), F(rng.randint(0, 3000), 100), F(-3)])
        orders.append((100 * c + k, rng.choice([None, 99]) if c == 40 else c, rng.randint(1, 4), price, rng.randint(-4, 4)))
orders.append((9999, 1, 77, F(0), 0))  # the only row of its month weighs nothing


def text(v):
    return "" if v is None else f"{float(v):.2f}" if isinstance(v, F) else str(v)


with open("data/customer.csv", "w") as f:
    f.write("c,city\n" + "".join(f"{c},{'AB'[c % 2]}\n" for c in range(1, 40)))
with open("data/orders.csv", "w") as f:
    f.write("o,c,m,price,signed\n" + "".join(",".join(map(text, r)) + "\n" for r in orders))
with open("s.sql", "w") as f:
    f.write(DDL)
policy()
ask("budget init", "--ledger", "l", "--epsilon", "1000", "--delta", "0.5")


def owner(r):
    return ("row", r[0]) if r[1] is None else r[1]


def left(t, rows, months=None):
    """What is left of every owner's sum at t; with months: filled in their order."""
    has = {}
    for r in rows:
        has.setdefault(owner(r), {}).setdefault(r[2] if months else 0, []).append(max(F(0), r[3] or F(0)))
    out = {m: F(0) for m in months or [0]}
    for sums in has.values():
        may = t
        for m in out:
            part = min(may, sum(sums.get(m, [])))
            out[m] += part
            may -= part
    return out if months else out[0]


def noise(a, t):
    """Farther off is rarer than 1e-10."""
    return F(1) + 25 * t / F(67 * a["epsilon"], 100)


status, q = ask("quote", *DATA, "--epsilon", "1", ALL)
check("quote", status == 0 and q["mechanism"] == "election" and q["entity"]["owners"] == 1 and q["entity"]["static_upper"] == "inf", str(q))
for sql, rows in ((ALL, orders), (OPEN, [r for r in orders if r[2] < 3])):
    for epsilon in ("2", "100"):
        status, a = release("--epsilon", epsilon, sql)
        t = F(a["threshold"])
        check(f"sum at {epsilon}", status == 0 and abs(F(a["answer"]) - left(t, rows)) <= noise(a, t) and a["scale"] == 2
              and a["cut"] is True and "entities" in a["cut_estimate"], str(a))
check("large enough", t >= 20, str(t))
status, b = release("--epsilon", "100", OPEN)
check("repeated", b["repeated"] and b["answer"] == a["answer"] and b["threshold"] == a["threshold"], str(b))
status, a = release("--epsilon", "3", "--guess", "earlier", OPEN.replace("< 3", "< 4"))
status, b = release("--epsilon", "3", "--guess", str(-(-t // 1)), OPEN.replace("< 3", "< 4"))
check("a threshold that was told, in whole numbers", status == 0 and b["repeated"], str(a) + str(b))

status, a = release("--epsilon", "100", "--groups", "m=1,2,3,4,5", MONTH)
want = left(F(a["threshold"]), orders, [1, 2, 3, 4, 5])
found = {g["key"][0]: F(g["answer"]) for g in a["groups"]}
check("vector", status == 0 and all(abs(found[m] - want[m]) <= noise(a, F(a["threshold"])) for m in want), str(a) + str(want))
status, a = release("--epsilon", "100", "--groups", "city=A,B,C", CITY)
for g in a["groups"]:
    t = F(g["threshold"])
    want = left(t, [r for r in orders if isinstance(owner(r), int) and owner(r) < 40 and "AB"[owner(r) % 2] == g["key"][0]])
    check(f"each: {g['key'][0]}", abs(F(g["answer"]) - want) <= noise(a, t), str(g) + str(want))

# Keys from private rows: of a month whose rows weigh nothing nobody hears, whatever noise is drawn.
for i in range(6):
    status, a = release("--epsilon", f"{10 + i}", "--delta", "0.01", MONTH)
    shown = {g["key"][0]: g["answer"] for g in a["groups"]}
    check("found", status == 0 and 77 not in shown and all(F(v) >= F(a["key_threshold"]) for v in shown.values()), str(a))
status, a = release("--epsilon", "1", "--delta", "0.01", "--mechanism", "discrete-laplace", MONTH)
check("found, by a static bound: refused", status != 0 and a["error"]["code"] == "unsupported", str(a))

values = [max(F(0), r[3]) for r in orders if r[3] is not None]
status, a = release("--epsilon", "100", "SELECT AVG(LEAST(GREATEST(price, 0), 40)) FROM orders WHERE price IS NOT NULL")
check("average", status == 0 and abs(F(a["answer"]) - sum(values) / len(values)) < 3, str(a) + str(float(sum(values) / len(values))))
status, a = release("--epsilon", "100", "SELECT AVG(GREATEST(price, 0)) FROM orders WHERE price IS NOT NULL")
check("average, no upper end", status == 0 and abs(F(a["answer"]) - sum(values) / len(values)) < 3, str(a))

# Promises: a customer has at most 10 orders of at most 1 each.
policy(", at_most: [{per: [c], of: [o], k: 10}]")
ONE = "SELECT SUM(LEAST(GREATEST(signed, 0), 1)) FROM orders"
status, q = ask("quote", *DATA, "--epsilon", "1", ONE)
check("static", q["mechanism"] == "discrete-laplace" and q["entity"]["static_upper"] == 10 and q["error"]["p95"] == 30, str(q))
status, q = ask("quote", *DATA, "--epsilon", "1", SIGNED)
check("both signs, bounded", status == 0 and q["mechanism"] == "discrete-laplace" and q["entity"]["static_upper"] == 50, str(q))
status, a = release("--epsilon", "25", SIGNED)
check("both signs", status == 0 and abs(a["answer"] - sum(r[4] for r in orders)) <= 50, str(a))
policy()
status, q = ask("analyze", *DATA, ONE.replace(", 1)", ", 7)"))
check("advice", any(x["constraint"] == "orders: c -> * <= k" and x["upper"] == "7*k" for x in q["entity"]["advice"]), str(q["entity"]))

before = spent()
for sql in (SIGNED, "SELECT SUM(DISTINCT GREATEST(signed, 0)) FROM orders", "SELECT SUM(price) FROM orders"):
    status, a = release("--epsilon", "1", sql)
    check("refused: " + sql, status != 0 and a["error"]["code"] == "unsupported" and a["error"]["hint"], str(a))
check("nothing paid", spent() == before, str(spent()))
end()
